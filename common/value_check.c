//  SPDX-License-Identifier: Apache-2.0
#include "common/value_inside.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

//  Where a check stands: the way back to the top is the chain of these on the stack.
struct step {
    const struct step *up;
    struct ag_str key; //  no bytes behind it: an element of a list
    uint32_t index;
};

struct check {
    struct ag_cursor in;
    struct ag_cursor all;
    const uint8_t *kept; //  from here on the bytes are normal as they are and not yet in out
    struct ag_buf *out;
    struct ag_buf pairs; //  struct ag_pair of the large maps that are open
    struct ag_err *err;
};

//  A map with so many keys compares each with all others; a larger one sorts them.
enum { FEW_KEYS = 16 };

/*  UTF-8  */

static bool
is_ascii_word (const uint8_t *p)
{
    uint64_t word;
    memcpy (&word, p, sizeof word);
    return (word & 0x8080808080808080u) == 0;
}

//  Length of the character of several bytes at p, 0 when it is none.
static size_t
character (const uint8_t *p, size_t left)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = *p < 0xc0 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf8 ? 4 : 0;
    if (n == 0 || n > left)
        return 0;
    uint32_t point = *p & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        point = point << 6 | (p[i] & 0x3f);
    }
    bool surrogate = point >= 0xd800 && point < 0xe000;
    return point < least[n] || point > 0x10ffff || surrogate ? 0 : n;
}

size_t
ag_utf8_prefix (struct ag_str text)
{
    const uint8_t *p = (const uint8_t *)text.p;
    size_t at = 0;
    while (at < text.n) {
        size_t left = text.n - at, n = 1;
        if (left >= 8 && is_ascii_word (p + at))
            n = 8;
        else if (p[at] >= 0x80)
            n = character (p + at, left);
        if (n == 0)
            break;
        at += n;
    }
    return at;
}

bool
ag_utf8 (struct ag_str text)
{
    return ag_utf8_prefix (text) == text.n;
}

/*  Refusals: "payload.data.items[3]: NaN"  */

struct path {
    char text[160];
    size_t n;
};

static void
add (struct path *path, const char *format, ...)
{
    va_list list;
    va_start (list, format);
    int n = vsnprintf (path->text + path->n, sizeof path->text - path->n, format, list);
    va_end (list);
    path->n += n > 0 ? (size_t)n : 0;
    if (path->n >= sizeof path->text)
        path->n = sizeof path->text - 1;
}

static void
add_steps (struct path *path, const struct step *at)
{
    if (!at)
        return;
    add_steps (path, at->up);
    if (at->key.p)
        add (path, "%s%.*s", at->up ? "." : "", AG_STR_ARG (at->key));
    else
        add (path, "[%u]", at->index);
}

//  At most n bytes of text, cut between characters.
static struct ag_str
beginning (struct ag_str text, size_t n)
{
    return (struct ag_str){text.p,
                           ag_utf8_prefix ((struct ag_str){text.p, text.n < n ? text.n : n})};
}

static int
refuse (struct check *self, const struct step *at, const char *format, ...)
{
    struct path path = {.n = 0}, what = {.n = 0};
    add_steps (&path, at);
    va_list list;
    va_start (list, format);
    vsnprintf (what.text, sizeof what.text, format, list);
    va_end (list);

    bool cut = path.n == sizeof path.text - 1;
    struct ag_str shown = beginning ((struct ag_str){path.text, path.n}, path.n);
    ag_fail (self->err, AG_E_BAD_VALUE, "%.*s%s%s%s", AG_STR_ARG (shown), cut ? "..." : "",
             at ? ": " : "", what.text);
    for (char *c = self->err->text; *c; c++)
        if ((uint8_t)*c < 0x20 || *c == 0x7f)
            *c = '?'; //  a key may hold what moves a terminal's cursor
    return -1;
}

static int
refuse_head (struct check *self, const struct step *at)
{
    if (self->in.p == self->in.end)
        return refuse (self, at, "the bytes end where a value should be");
    uint8_t lead = *self->in.p;
    if (lead == 0xc1)
        return refuse (self, at, "byte 0xc1, which is no msgpack");
    if ((lead >= 0xc7 && lead <= 0xc9) || (lead >= 0xd4 && lead <= 0xd8))
        return refuse (self, at, "a msgpack ext type (0x%02x)", lead);
    return refuse (self, at, "0x%02x claims more than the %zu bytes that follow it", lead,
                   (size_t)(self->in.end - self->in.p) - 1);
}

static int
refuse_text (struct check *self, const struct step *at, const char *what, struct ag_str text)
{
    size_t good = ag_utf8_prefix (text);
    return refuse (self, at, "%s that is not UTF-8 (0x%02x at byte %zu)", what,
                   (uint8_t)text.p[good], good);
}

static int
refuse_twice (struct check *self, const struct step *at, struct ag_str key)
{
    return refuse (self, at, "key \"%.*s\" occurs twice", AG_STR_ARG (beginning (key, 60)));
}

/*  Normal form: bytes that are normal already are copied in one piece  */

static size_t
uint_size (uint64_t u)
{
    return u < 0x80 ? 1 : u <= UINT8_MAX ? 2 : u <= UINT16_MAX ? 3 : u <= UINT32_MAX ? 5 : 9;
}

static size_t
int_size (int64_t i)
{
    return i >= -32 ? 1 : i >= INT8_MIN ? 2 : i >= INT16_MIN ? 3 : i >= INT32_MIN ? 5 : 9;
}

static size_t
text_size (size_t n)
{
    return n < 32 ? 1 : n <= UINT8_MAX ? 2 : n <= UINT16_MAX ? 3 : 5;
}

static size_t
count_size (uint32_t count)
{
    return count < 16 ? 1 : count <= UINT16_MAX ? 3 : 5;
}

//  Is a head that was read from used bytes at p the one that a writer would make?
static bool
is_shortest (const struct ag_head *head, const uint8_t *p, size_t used)
{
    switch (head->kind) {
    case AG_UINT:
        return used == uint_size (head->u) && (*p < 0xd0 || *p > 0xd3);
    case AG_INT:
        return used == int_size (head->i);
    case AG_FLOAT:
        return used == 9;
    case AG_TEXT:
        return used - head->s.n == text_size (head->s.n);
    case AG_LIST:
    case AG_MAP:
        return used == count_size (head->count);
    default:
        return true;
    }
}

static void
keep_until (struct check *self, const uint8_t *to)
{
    ag_buf_add (self->out, self->kept, (size_t)(to - self->kept));
    self->kept = to;
}

//  The next head, in out in its shortest form.
static int
next (struct check *self, const struct step *at, struct ag_head *head)
{
    const uint8_t *from = self->in.p;
    if (ag_next (&self->in, head))
        return refuse_head (self, at);
    if (!is_shortest (head, from, (size_t)(self->in.p - from))) {
        keep_until (self, from);
        ag_put_head (self->out, head);
        self->kept = self->in.p;
    }
    return 0;
}

/*  The walk  */

static int value (struct check *self, const struct step *at, int depth);

static int
list (struct check *self, const struct step *at, uint32_t count, int depth)
{
    for (uint32_t i = 0; i < count; i++) {
        struct step step = {at, {NULL, 0}, i};
        if (value (self, &step, depth))
            return -1;
    }
    return 0;
}

static int
key (struct check *self, const struct step *at, struct ag_str *text)
{
    struct ag_head head;
    const uint8_t *from = self->in.p;
    *text = (struct ag_str){NULL, 0};
    if (next (self, at, &head))
        return -1;
    if (head.kind != AG_TEXT)
        return refuse (self, at, "a key that is no text (0x%02x)", *from);
    if (!ag_utf8 (head.s))
        return refuse_text (self, at, "a key", head.s);
    *text = head.s;
    return 0;
}

static int
small_map (struct check *self, const struct step *at, uint32_t count, int depth)
{
    struct ag_str keys[FEW_KEYS];
    for (uint32_t i = 0; i < count; i++) {
        if (key (self, at, &keys[i]))
            return -1;
        for (uint32_t j = 0; j < i; j++)
            if (ag_str_eq (keys[i], keys[j]))
                return refuse_twice (self, at, keys[i]);
        struct step step = {at, keys[i], 0};
        if (value (self, &step, depth))
            return -1;
    }
    return 0;
}

static int
unique (struct check *self, const struct step *at, struct ag_pair *pairs, size_t n)
{
    ag_pairs_sort (self->all, pairs, n);
    for (size_t i = 1; i < n; i++) {
        struct ag_str again = ag_key_at (self->all, pairs[i].at);
        if (ag_str_eq (ag_key_at (self->all, pairs[i - 1].at), again))
            return refuse_twice (self, at, again);
    }
    return 0;
}

static uint32_t
here (const struct check *self)
{
    return (uint32_t)(self->in.p - self->all.p);
}

//  Keys are compared once all are known, so that many keys cost a sort. What that takes is bounded by
//  what stands behind it: an ag_pair for two bytes or more.
static int
large_map (struct check *self, const struct step *at, uint32_t count, int depth)
{
    size_t mark = self->pairs.n;
    for (uint32_t i = 0; i < count; i++) {
        struct ag_pair pair = {.at = here (self)};
        struct step step = {at, {NULL, 0}, 0};
        if (key (self, at, &step.key) || value (self, &step, depth))
            return -1;
        pair.end = here (self);
        ag_buf_add (&self->pairs, &pair, sizeof pair);
    }
    int rc = unique (self, at, (struct ag_pair *)(void *)(self->pairs.p + mark), count);
    self->pairs.n = mark;
    return rc;
}

static int
number (struct check *self, const struct step *at, double f)
{
    if (isfinite (f))
        return 0;
    return refuse (self, at, "%s", isnan (f) ? "NaN" : f > 0 ? "infinity" : "-infinity");
}

//  depth: how many levels may still open here.
static int
value (struct check *self, const struct step *at, int depth)
{
    struct ag_head head;
    if (next (self, at, &head))
        return -1;
    if (depth == 0 && (head.kind == AG_LIST || head.kind == AG_MAP))
        return refuse (self, at, "more than %d levels deep", AG_DEPTH);
    switch (head.kind) {
    case AG_FLOAT:
        return number (self, at, head.f);
    case AG_TEXT:
        return ag_utf8 (head.s) ? 0 : refuse_text (self, at, "text", head.s);
    case AG_BYTES:
        return refuse (self, at, "msgpack bin, %zu bytes that are no text", head.s.n);
    case AG_LIST:
        return list (self, at, head.count, depth - 1);
    case AG_MAP:
        return head.count <= FEW_KEYS ? small_map (self, at, head.count, depth - 1)
                                      : large_map (self, at, head.count, depth - 1);
    default:
        return 0;
    }
}

static int
whole (struct check *self)
{
    if (self->in.end - self->in.p > UINT32_MAX)
        return refuse (self, NULL, "%zu bytes are too many", (size_t)(self->in.end - self->in.p));
    if (value (self, NULL, AG_DEPTH))
        return -1;
    if (self->in.p != self->in.end)
        return refuse (self, NULL, "%zu bytes after the end", (size_t)(self->in.end - self->in.p));
    keep_until (self, self->in.p);
    return 0;
}

int
ag_value_normalise (struct ag_str bytes, struct ag_buf *out, struct ag_err *err)
{
    struct ag_cursor in = ag_cursor (bytes);
    struct check self = {in, in, in.p, out, {0}, err};
    size_t before = out->n;
    int rc = whole (&self);
    if (rc)
        out->n = before;
    ag_buf_fini (&self.pairs);
    return rc;
}
