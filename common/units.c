//  SPDX-License-Identifier: Apache-2.0
#include "common/units.h"
#include "common/hash.h"

#include <inttypes.h>
#include <stdio.h>

struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit times[] = {
    {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}, {NULL, 0},
};

static const struct unit sizes[] = {
    {"B", 1},
    {"kB", 1000},
    {"MB", 1000000},
    {"GB", 1000000000},
    {"TB", 1000000000000},
    {"KiB", 1ull << 10},
    {"MiB", 1ull << 20},
    {"GiB", 1ull << 30},
    {"TiB", 1ull << 40},
    {NULL, 0},
};

//  The digits at the start of text, which then begins behind them.
static int
digits (struct ag_str *text, uint64_t *number)
{
    const char *start = text->p;
    for (*number = 0; text->n && *text->p >= '0' && *text->p <= '9'; text->p++, text->n--)
        if (__builtin_mul_overflow (*number, 10, number) ||
            __builtin_add_overflow (*number, (uint64_t)(*text->p - '0'), number))
            return -1;
    return text->p == start ? -1 : 0;
}

static int
quantity (struct ag_str text, const struct unit *unit, uint64_t *result)
{
    uint64_t number;
    if (digits (&text, &number))
        return -1;
    if (!number && !text.n) {
        *result = 0;
        return 0;
    }
    while (unit->name && !ag_str_is (text, unit->name))
        unit++;
    if (!unit->name || __builtin_mul_overflow (number, unit->factor, result))
        return -1;
    return *result > INT64_MAX ? -1 : 0;
}

int
ag_ms_read (struct ag_str text, uint64_t *ms)
{
    return quantity (text, times, ms);
}

int
ag_bytes_read (struct ag_str text, uint64_t *bytes)
{
    return quantity (text, sizes, bytes);
}

int
ag_span_read (struct ag_str text, uint64_t *first, uint64_t *last)
{
    if (digits (&text, first) || !ag_str_starts (text, "-"))
        return -1;
    text = (struct ag_str){text.p + 1, text.n - 1};
    return digits (&text, last) || text.n || *first > *last ? -1 : 0;
}

//  The digits behind the point: six count, any other than 0 after them makes it one more.
static int
millionths (struct ag_str text, uint64_t *number)
{
    bool more = false;
    uint64_t factor = 100000;
    *number = 0;
    if (!text.n)
        return -1;
    for (size_t i = 0; i < text.n; i++, factor /= 10) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return -1;
        *number += factor * (uint64_t)(text.p[i] - '0');
        more = more || (!factor && text.p[i] != '0');
    }
    *number += more;
    return 0;
}

int
ag_usd_read (struct ag_str text, uint64_t *micros)
{
    uint64_t part = 0;
    if (digits (&text, micros) || __builtin_mul_overflow (*micros, 1000000, micros))
        return -1;
    if (text.n && (text.p[0] != '.' || millionths ((struct ag_str){text.p + 1, text.n - 1}, &part)))
        return -1;
    return __builtin_add_overflow (*micros, part, micros) || *micros > INT64_MAX ? -1 : 0;
}

void
ag_usd_text (uint64_t micros, char text[AG_USD_TEXT])
{
    int n =
        snprintf (text, AG_USD_TEXT, "%" PRIu64 ".%06" PRIu64, micros / 1000000, micros % 1000000);
    while (text[n - 1] == '0')
        n--;
    text[text[n - 1] == '.' ? n - 1 : n] = 0;
}

static bool
name_byte (char c, size_t at)
{
    bool letter = c >= 'a' && c <= 'z';
    return letter || (at && ((c >= '0' && c <= '9') || c == '_' || c == '-'));
}

bool
ag_looks_like_run (struct ag_str text)
{
    uint64_t number;
    bool digit = false;
    for (size_t i = 0; i < text.n && !digit; i++)
        digit = text.p[i] >= '0' && text.p[i] <= '9';
    return digit && text.p[0] == 'r' &&
           !ag_base32_read ((struct ag_str){text.p + 1, text.n - 1}, &number);
}

const char *
ag_name_wrong (struct ag_str text)
{
    if (!text.n || text.n > 63)
        return "is not 1 to 63 bytes long";
    for (size_t i = 0; i < text.n; i++)
        if (!name_byte (text.p[i], i))
            return "is not a lower-case letter followed by a-z, 0-9, _ or -";
    return ag_looks_like_run (text) ? "looks like the id of a run: r, digits and letters" : NULL;
}
