//  SPDX-License-Identifier: Apache-2.0
#include "common/value.h"

#include <endian.h>
#include <string.h>

//  The forms with a lead byte from 0xc0 to 0xdf: what they are and how many bytes of a number follow.
//  Forms without a name (ext and the byte that msgpack never uses) are none.
enum form { NONE, NIL, YES, NO, BIN, F32, F64, UNSIGNED, SIGNED, STR, ARRAY, PAIRS };

static const struct {
    uint8_t form, width;
} forms[32] = {
    [0x00] = {NIL, 0},      [0x02] = {NO, 0},       [0x03] = {YES, 0},      [0x04] = {BIN, 1},
    [0x05] = {BIN, 2},      [0x06] = {BIN, 4},      [0x0a] = {F32, 4},      [0x0b] = {F64, 8},
    [0x0c] = {UNSIGNED, 1}, [0x0d] = {UNSIGNED, 2}, [0x0e] = {UNSIGNED, 4}, [0x0f] = {UNSIGNED, 8},
    [0x10] = {SIGNED, 1},   [0x11] = {SIGNED, 2},   [0x12] = {SIGNED, 4},   [0x13] = {SIGNED, 8},
    [0x19] = {STR, 1},      [0x1a] = {STR, 2},      [0x1b] = {STR, 4},      [0x1c] = {ARRAY, 2},
    [0x1d] = {ARRAY, 4},    [0x1e] = {PAIRS, 2},    [0x1f] = {PAIRS, 4},
};

struct ag_cursor
ag_cursor (struct ag_str bytes)
{
    const uint8_t *p = (const uint8_t *)bytes.p;
    return (struct ag_cursor){p, bytes.n ? p + bytes.n : p};
}

//  As wide as a form has it: 0, 1, 2, 4 or 8 bytes.
static uint64_t
big_endian (const uint8_t *p, size_t width)
{
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (width) {
    case 1:
        return *p;
    case 2:
        memcpy (&two, p, sizeof two);
        return be16toh (two);
    case 4:
        memcpy (&four, p, sizeof four);
        return be32toh (four);
    case 8:
        memcpy (&eight, p, sizeof eight);
        return be64toh (eight);
    }
    return 0;
}

/*  What follows a lead byte, from p on. Each returns where the head ends, or NULL when the bytes cannot hold
 *  what it claims.  */

static const uint8_t *
borrow (const uint8_t *p, const uint8_t *end, struct ag_head *head, enum ag_kind kind, uint64_t n)
{
    head->kind = kind;
    head->s = (struct ag_str){(const char *)p, (size_t)n};
    return n > (size_t)(end - p) ? NULL : p + n;
}

static const uint8_t *
list (const uint8_t *p, const uint8_t *end, struct ag_head *head, uint64_t n)
{
    head->kind = AG_LIST;
    head->count = (uint32_t)n;
    return n > (size_t)(end - p) ? NULL : p;
}

static const uint8_t *
map (const uint8_t *p, const uint8_t *end, struct ag_head *head, uint64_t n)
{
    head->kind = AG_MAP;
    head->count = (uint32_t)n;
    return n > (size_t)(end - p) / 2 ? NULL : p;
}

static void
unsigned_int (struct ag_head *head, uint64_t number)
{
    head->kind = AG_UINT;
    head->u = number;
}

static void
signed_int (struct ag_head *head, uint64_t number, size_t width)
{
    int unused = 64 - 8 * (int)width;
    int64_t i = (int64_t)(number << unused) >> unused;
    head->kind = i < 0 ? AG_INT : AG_UINT;
    head->i = i;
}

static double
widened (uint64_t number)
{
    uint32_t bits = (uint32_t)number;
    float f;
    memcpy (&f, &bits, sizeof f);
    return (double)f;
}

static double
as_double (uint64_t bits)
{
    double f;
    memcpy (&f, &bits, sizeof f);
    return f;
}

static const uint8_t *
long_form (const uint8_t *p, const uint8_t *end, struct ag_head *head)
{
    uint8_t lead = *p++;
    size_t width = forms[lead & 0x1f].width;
    if (width > (size_t)(end - p))
        return NULL;
    uint64_t number = big_endian (p, width);
    p += width;

    switch ((enum form)forms[lead & 0x1f].form) {
    case NONE:
        return NULL;
    case NIL:
        head->kind = AG_NULL;
        return p;
    case YES:
    case NO:
        *head = (struct ag_head){AG_BOOL, .b = lead & 1};
        return p;
    case UNSIGNED:
        unsigned_int (head, number);
        return p;
    case SIGNED:
        signed_int (head, number, width);
        return p;
    case F32:
        *head = (struct ag_head){AG_FLOAT, .f = widened (number)};
        return p;
    case F64:
        *head = (struct ag_head){AG_FLOAT, .f = as_double (number)};
        return p;
    case STR:
        return borrow (p, end, head, AG_TEXT, number);
    case BIN:
        return borrow (p, end, head, AG_BYTES, number);
    case ARRAY:
        return list (p, end, head, number);
    case PAIRS:
        return map (p, end, head, number);
    }
    return NULL;
}

//  The forms whose lead byte holds the number itself.
static const uint8_t *
short_form (const uint8_t *p, const uint8_t *end, struct ag_head *head)
{
    uint8_t lead = *p++;
    if (lead < 0x80)
        unsigned_int (head, lead);
    else if (lead < 0x90)
        return map (p, end, head, lead & 0x0f);
    else if (lead < 0xa0)
        return list (p, end, head, lead & 0x0f);
    else if (lead < 0xc0)
        return borrow (p, end, head, AG_TEXT, lead & 0x1f);
    else
        signed_int (head, lead, 1);
    return p;
}

int
ag_next (struct ag_cursor *in, struct ag_head *head)
{
    const uint8_t *p = in->p;
    if (p == in->end)
        return -1;
    p = *p >= 0xc0 && *p < 0xe0 ? long_form (p, in->end, head) : short_form (p, in->end, head);
    if (!p)
        return -1;
    in->p = p;
    return 0;
}

//  Of a value that its lead byte tells whole, which most are; 0: another, or there are not so many.
static size_t
small_bytes (const struct ag_cursor *in)
{
    if (in->p == in->end)
        return 0;
    uint8_t lead = *in->p;
    size_t n = lead < 0x80 || lead >= 0xe0   ? 1
               : lead >= 0xa0 && lead < 0xc0 ? 1 + (lead & 0x1f)
                                             : 0;
    return n <= (size_t)(in->end - in->p) ? n : 0;
}

static int
skip (struct ag_cursor *in, uint64_t values, int depth)
{
    for (struct ag_head head; values > 0; values--) {
        size_t small = small_bytes (in);
        in->p += small;
        if (small)
            continue;
        if (ag_next (in, &head))
            return -1;
        if (head.kind != AG_LIST && head.kind != AG_MAP)
            continue;
        uint64_t parts = head.kind == AG_MAP ? 2 * (uint64_t)head.count : head.count;
        if (depth == 0 || skip (in, parts, depth - 1))
            return -1;
    }
    return 0;
}

int
ag_take (struct ag_cursor *in, struct ag_str *value)
{
    struct ag_cursor at = *in;
    if (skip (&at, 1, AG_DEPTH_WRAPPED))
        return -1;
    *value = (struct ag_str){(const char *)in->p, (size_t)(at.p - in->p)};
    *in = at;
    return 0;
}

//  From a map to the value of a key in it, whose end is not looked for.
static int
seek (struct ag_cursor *in, struct ag_str key)
{
    struct ag_head head;
    if (ag_next (in, &head) || head.kind != AG_MAP)
        return -1;
    for (uint32_t pairs = head.count; pairs > 0; pairs--) {
        struct ag_head name;
        if (ag_next (in, &name) || name.kind != AG_TEXT)
            return -1;
        if (ag_str_eq (name.s, key))
            return 0;
        if (skip (in, 1, AG_DEPTH_WRAPPED))
            return -1;
    }
    return -1;
}

int
ag_map_find (struct ag_str bytes, struct ag_str key, struct ag_str *value)
{
    struct ag_cursor in = ag_cursor (bytes);
    return seek (&in, key) ? -1 : ag_take (&in, value);
}

int
ag_map_get (struct ag_str bytes, const char *key, struct ag_str *value)
{
    return ag_map_find (bytes, ag_str (key), value);
}

int
ag_map_path (struct ag_str bytes, struct ag_str path, struct ag_str *value)
{
    struct ag_cursor in = ag_cursor (bytes);
    for (;;) {
        const char *dot = path.n ? memchr (path.p, '.', path.n) : NULL;
        size_t n = dot ? (size_t)(dot - path.p) : path.n;
        if (seek (&in, (struct ag_str){path.p, n}))
            return -1;
        if (!dot)
            return ag_take (&in, value);
        path = (struct ag_str){dot + 1, path.n - n - 1};
    }
}

static int
get_kind (struct ag_str bytes, const char *key, enum ag_kind kind, struct ag_head *head)
{
    struct ag_cursor in = ag_cursor (bytes);
    return seek (&in, ag_str (key)) || ag_next (&in, head) || head->kind != kind ? -1 : 0;
}

int
ag_map_text (struct ag_str bytes, const char *key, struct ag_str *text)
{
    struct ag_head head;
    if (get_kind (bytes, key, AG_TEXT, &head))
        return -1;
    *text = head.s;
    return 0;
}

int
ag_map_uint (struct ag_str bytes, const char *key, uint64_t *number)
{
    struct ag_head head;
    if (get_kind (bytes, key, AG_UINT, &head))
        return -1;
    *number = head.u;
    return 0;
}

int
ag_map_bool (struct ag_str bytes, const char *key, bool *yes)
{
    struct ag_head head;
    if (get_kind (bytes, key, AG_BOOL, &head))
        return -1;
    *yes = head.b;
    return 0;
}

enum ag_kind
ag_kind_of (struct ag_str value)
{
    struct ag_cursor in = ag_cursor (value);
    struct ag_head head;
    return ag_next (&in, &head) ? AG_NULL : head.kind;
}

int
ag_list_nth (struct ag_str list, uint32_t n, struct ag_str *element)
{
    struct ag_cursor in = ag_cursor (list);
    struct ag_head head;
    if (ag_next (&in, &head) || head.kind != AG_LIST || n >= head.count)
        return -1;
    for (uint32_t i = 0; i <= n; i++)
        if (ag_take (&in, element))
            return -1;
    return 0;
}

bool
ag_map_text_is (struct ag_str map, const char *key, struct ag_str text)
{
    struct ag_str found;
    return !ag_map_text (map, key, &found) && ag_str_eq (found, text);
}

int
ag_list_find (struct ag_str list, const char *key, struct ag_str text, struct ag_str *element)
{
    struct ag_cursor in = ag_cursor (list);
    struct ag_head head;
    if (ag_next (&in, &head) || head.kind != AG_LIST)
        return -1;
    for (uint32_t i = 0; i < head.count && !ag_take (&in, element); i++)
        if (ag_map_text_is (*element, key, text))
            return 0;
    return -1;
}

struct ag_texts
ag_texts_of (struct ag_str map, const char *key)
{
    struct ag_str list;
    struct ag_head head;
    struct ag_texts self = {0};
    if (ag_map_get (map, key, &list))
        return self;
    self.in = ag_cursor (list);
    if (!ag_next (&self.in, &head) && head.kind == AG_LIST)
        self.left = head.count;
    return self;
}

bool
ag_texts_next (struct ag_texts *self, struct ag_str *text)
{
    struct ag_head head;
    if (!self->left || ag_next (&self->in, &head) || head.kind != AG_TEXT)
        return false;
    self->left--;
    *text = head.s;
    return true;
}
