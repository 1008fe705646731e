//  SPDX-License-Identifier: Apache-2.0
#include "common/json.h"
#include "common/value_inside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const char *start, *p, *end;
    size_t line; //  that it starts on
    struct ag_buf *out;
    struct ag_buf text; //  of one string with escapes
    struct ag_buf keys; //  struct key of the objects that are open
    struct ag_err *err;
    char quote; //  that the string being read began with
    //  Of a template; NULL: it is none.
    ag_json_hole_fn *hole;
    void *hole_arg;
};

//  A count of what so many bytes hold fits into 32 bits.
enum { MOST_BYTES = 1 << 30 };

//  Where a key stands: in what is written, and in what is read.
struct key {
    size_t offset;
    const char *at;
};

//  Refuse what stands at `at`, which the reader has passed or reached.
static int
refuse (struct reader *self, const char *at, const char *what)
{
    size_t line = self->line, column = 1;
    for (const char *p = self->start; p < at; p++)
        if (*p == '\n') {
            line++;
            column = 1;
        } else if ((*p & 0xc0) != 0x80)
            column++;
    return ag_fail (self->err, AG_E_BAD_VALUE, "line %zu, column %zu: %s", line, column, what);
}

//  The same, where something else was expected, with what is there instead.
static int
expected (struct reader *self, const char *what)
{
    char text[120], found[16] = "the end";
    if (self->p < self->end)
        snprintf (found, sizeof found, *self->p > 0x20 && *self->p < 0x7f ? "'%c'" : "0x%02x",
                  (unsigned char)*self->p);
    snprintf (text, sizeof text, "%s where %s should be", found, what);
    return refuse (self, self->p, text);
}

static void
skip_space (struct reader *self)
{
    while (self->p < self->end && memchr (" \t\r\n", *self->p, 4))
        self->p++;
}

static bool
accept (struct reader *self, char c)
{
    if (self->p == self->end || *self->p != c)
        return false;
    self->p++;
    return true;
}

/*  Strings  */

static int
hex4 (struct reader *self, unsigned *unit)
{
    *unit = 0;
    for (int i = 0; i < 4; i++, self->p++) {
        char c = self->p < self->end ? *self->p : 0;
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return expected (self, "a hexadecimal digit");
        *unit = *unit << 4 | (unsigned)digit;
    }
    return 0;
}

static void
add_utf8 (struct ag_buf *buf, unsigned c)
{
    uint8_t b[4];
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const uint8_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        b[i] = (uint8_t)(0x80 | (c & 0x3f));
    b[0] = (uint8_t)(lead[n] | c);
    ag_buf_add (buf, b, n);
}

//  What follows \u, with its second half where it is the first of a pair.
static int
code_point (struct reader *self)
{
    const char *at = self->p - 2;
    unsigned c, low;
    if (hex4 (self, &c))
        return -1;
    if (c >= 0xd800 && c < 0xe000) {
        bool pair = c < 0xdc00 && accept (self, '\\') && accept (self, 'u');
        if (!pair)
            return refuse (self, at, "a surrogate without its other half");
        if (hex4 (self, &low))
            return -1;
        if (low < 0xdc00 || low > 0xdfff)
            return refuse (self, at, "a surrogate without its other half");
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    }
    add_utf8 (&self->text, c);
    return 0;
}

static int
escape (struct reader *self)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    if (accept (self, 'u'))
        return code_point (self);
    const char *letter = self->p < self->end && *self->p ? strchr (letters, *self->p) : NULL;
    if (!letter)
        return expected (self, "an escape (one of \"\\/bfnrtu)");
    ag_buf_add (&self->text, &meanings[letter - letters], 1);
    self->p++;
    return 0;
}

//  The first quote of a string.
static bool
open_string (struct reader *self)
{
    self->quote = self->hole && self->p < self->end && *self->p == '\'' ? '\'' : '"';
    return accept (self, self->quote);
}

//  Up to a quote, a backslash, a control character, the % of a template or the end.
static struct ag_str
plain (struct reader *self)
{
    const char *from = self->p;
    while (self->p < self->end && *self->p != self->quote && *self->p != '\\' &&
           (uint8_t)*self->p >= 0x20 && !(self->hole && *self->p == '%'))
        self->p++;
    return (struct ag_str){from, (size_t)(self->p - from)};
}

//  A string behind its first quote: a borrow of what is read, or of self->text where it has escapes.
static int
string (struct reader *self, struct ag_str *text)
{
    *text = plain (self);
    if (accept (self, self->quote))
        return 0;
    ag_buf_clear (&self->text);
    ag_buf_add_str (&self->text, *text);
    while (accept (self, '\\')) {
        if (escape (self))
            return -1;
        ag_buf_add_str (&self->text, plain (self));
    }
    if (self->hole && accept (self, '%'))
        return refuse (self, self->p - 1, "a % within a text: give the whole text as %s");
    if (!accept (self, self->quote))
        return expected (self, self->p < self->end ? "an escape of it" : "a closing quote");
    *text = ag_buf_str (&self->text);
    return 0;
}

/*  Numbers  */

static size_t
digits (struct reader *self)
{
    const char *from = self->p;
    while (self->p < self->end && *self->p >= '0' && *self->p <= '9')
        self->p++;
    return (size_t)(self->p - from);
}

//  Passes what follows the whole part; *is_float when there is something.
static int
fraction (struct reader *self, bool *is_float)
{
    *is_float = false;
    if (accept (self, '.')) {
        *is_float = true;
        if (!digits (self))
            return expected (self, "a digit");
    }
    if (accept (self, 'e') || accept (self, 'E')) {
        *is_float = true;
        if (!accept (self, '-'))
            accept (self, '+');
        if (!digits (self))
            return expected (self, "a digit");
    }
    return 0;
}

static int
put_float (struct reader *self, const char *from)
{
    char *text = ag_str_dup ((struct ag_str){from, (size_t)(self->p - from)});
    double f = strtod (text, NULL);
    free (text);
    if (!isfinite (f))
        return refuse (self, from, "a number that is too large for a double");
    ag_put_float (self->out, f);
    return 0;
}

static int
put_integer (struct reader *self, const char *from)
{
    bool negative = *from == '-';
    uint64_t most = negative ? (uint64_t)INT64_MAX + 1 : UINT64_MAX, u = 0;
    for (const char *p = from + negative; p < self->p; p++) {
        unsigned digit = (unsigned)(*p - '0');
        if (u > (most - digit) / 10)
            return refuse (self, from, "an integer outside -2^63..2^64-1");
        u = u * 10 + digit;
    }
    if (negative)
        ag_put_int (self->out, (int64_t)(0 - u));
    else
        ag_put_uint (self->out, u);
    return 0;
}

static int
number (struct reader *self)
{
    const char *from = self->p;
    bool is_float;
    accept (self, '-');
    if (!accept (self, '0') && !digits (self))
        return expected (self, self->p > from ? "a digit" : "a value");
    if (fraction (self, &is_float))
        return -1;
    return is_float ? put_float (self, from) : put_integer (self, from);
}

/*  Lists and objects: one byte is left for the head, which most often is enough  */

static void
close_head (struct ag_buf *out, size_t at, const struct ag_head *head)
{
    size_t end = out->n;
    ag_put_head (out, head);
    uint8_t bytes[5];
    size_t n = out->n - end;
    memcpy (bytes, out->p + end, n);
    memmove (out->p + at + n, out->p + at + 1, end - at - 1);
    memcpy (out->p + at, bytes, n);
    out->n = end + n - 1;
}

static int value (struct reader *self, int depth);

static int
list (struct reader *self, int depth)
{
    size_t at = self->out->n;
    struct ag_head head = {AG_LIST, .count = 0};
    ag_buf_grow (self->out, 1);
    skip_space (self);
    while (!accept (self, ']')) {
        if (head.count++ > 0 && !accept (self, ','))
            return expected (self, "',' or ']'");
        if (value (self, depth))
            return -1;
    }
    close_head (self->out, at, &head);
    return 0;
}

static struct ag_str
key_text (const struct ag_buf *out, const struct key *key)
{
    return ag_key_at ((struct ag_cursor){out->p + key->offset, out->p + out->n}, 0);
}

static int
compare (const void *a, const void *b, void *out)
{
    const struct key *one = a, *two = b;
    int order = ag_str_cmp (key_text (out, one), key_text (out, two));
    return order ? order : (one->at > two->at) - (one->at < two->at);
}

//  No key that was added behind mark occurs twice; they are forgotten.
static int
unique (struct reader *self, size_t mark)
{
    if (self->keys.n == mark)
        return 0;
    struct key *keys = (struct key *)(void *)(self->keys.p + mark);
    size_t n = (self->keys.n - mark) / sizeof *keys;
    qsort_r (keys, n, sizeof *keys, compare, self->out);
    for (size_t i = 1; i < n; i++)
        if (ag_str_eq (key_text (self->out, &keys[i - 1]), key_text (self->out, &keys[i])))
            return refuse (self, keys[i].at, "this key occurs twice");
    self->keys.n = mark;
    return 0;
}

//  What a template leaves to its arguments, behind its %.
static int
hole (struct reader *self)
{
    const char *at = self->p - 1;
    struct ag_err why;
    if (!self->hole (self->hole_arg, &self->p, self->end, self->out, &why))
        return 0;
    return refuse (self, at, why.text);
}

static int
member_key (struct reader *self)
{
    struct ag_str text;
    size_t at = self->out->n;
    const char *from = self->p;
    if (self->hole && accept (self, '%')) {
        if (hole (self))
            return -1;
        text = (struct ag_str){(const char *)self->out->p + at, self->out->n - at};
        return ag_kind_of (text) == AG_TEXT ? 0 : refuse (self, from, "a key that is no text");
    }
    if (!open_string (self))
        return expected (self, "a key in quotes");
    if (string (self, &text))
        return -1;
    ag_put_text (self->out, text);
    return 0;
}

static int
member (struct reader *self, int depth)
{
    skip_space (self);
    struct key one = {self->out->n, self->p};
    if (member_key (self))
        return -1;
    ag_buf_add (&self->keys, &one, sizeof one);
    skip_space (self);
    if (!accept (self, ':'))
        return expected (self, "':'");
    return value (self, depth);
}

static int
object (struct reader *self, int depth)
{
    size_t at = self->out->n, mark = self->keys.n;
    struct ag_head head = {AG_MAP, .count = 0};
    ag_buf_grow (self->out, 1);
    skip_space (self);
    while (!accept (self, '}')) {
        if (head.count++ > 0 && !accept (self, ','))
            return expected (self, "',' or '}'");
        if (member (self, depth))
            return -1;
    }
    if (unique (self, mark))
        return -1;
    close_head (self->out, at, &head);
    return 0;
}

/*  Values  */

static bool
word (struct reader *self, struct ag_str word)
{
    size_t left = (size_t)(self->end - self->p);
    if (left < word.n || memcmp (self->p, word.p, word.n))
        return false;
    self->p += word.n;
    return true;
}

static int
scalar (struct reader *self)
{
    struct ag_str text;
    if (self->hole && accept (self, '%'))
        return hole (self);
    if (open_string (self)) {
        if (string (self, &text))
            return -1;
        ag_put_text (self->out, text);
    } else if (word (self, AG_LIT ("null")))
        ag_put_null (self->out);
    else if (word (self, AG_LIT ("true")))
        ag_put_bool (self->out, true);
    else if (word (self, AG_LIT ("false")))
        ag_put_bool (self->out, false);
    else
        return number (self);
    return 0;
}

//  A value and the space around it. depth: how many levels may still open here.
static int
value (struct reader *self, int depth)
{
    skip_space (self);
    char c = self->p < self->end ? *self->p : 0;
    if (depth == 0 && (c == '[' || c == '{'))
        return refuse (self, self->p, "too many levels deep");
    int rc = accept (self, '[')   ? list (self, depth - 1)
             : accept (self, '{') ? object (self, depth - 1)
                                  : scalar (self);
    skip_space (self);
    return rc;
}

static int
whole (struct reader *self)
{
    struct ag_str text = {self->start, (size_t)(self->end - self->start)};
    if (text.n > MOST_BYTES)
        return ag_fail (self->err, AG_E_TOO_LARGE, "%zu bytes of JSON", text.n);
    size_t good = ag_utf8_prefix (text);
    if (good < text.n)
        return refuse (self, self->start + good, "a byte that is not UTF-8");
    if (value (self, AG_DEPTH_WRAPPED))
        return -1;
    return self->p == self->end ? 0 : expected (self, "the end");
}

static int
run (struct reader *self, struct ag_str text)
{
    size_t before = self->out->n;
    self->start = self->p = text.p;
    self->end = text.n ? text.p + text.n : text.p;
    int rc = whole (self);
    if (rc)
        self->out->n = before;
    ag_buf_fini (&self->text);
    ag_buf_fini (&self->keys);
    return rc;
}

int
ag_json_read (struct ag_str text, struct ag_buf *out, struct ag_err *err)
{
    return ag_json_read_line (text, 1, out, err);
}

int
ag_json_read_line (struct ag_str text, uint64_t line, struct ag_buf *out, struct ag_err *err)
{
    struct reader self = {.line = line, .out = out, .err = err};
    return run (&self, text);
}

int
ag_json_fill (struct ag_str form, ag_json_hole_fn *fn, void *arg, struct ag_buf *out,
              struct ag_err *err)
{
    struct reader self = {.line = 1, .out = out, .err = err, .hole = fn, .hole_arg = arg};
    return run (&self, form);
}
