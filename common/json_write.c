//  SPDX-License-Identifier: Apache-2.0
#include "common/json.h"
#include "common/value_inside.h"

#include <assert.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct writer {
    struct ag_cursor in;
    struct ag_buf *out;
    enum ag_json_style style;
};

static void
add (struct ag_buf *out, const char *text)
{
    ag_buf_add_str (out, ag_str (text));
}

/*  Text  */

//  The bytes at p that cannot stand for themselves: 0, 1, or 2 for one of the C1 controls.
static size_t
special (const uint8_t *p, size_t left)
{
    if (*p < 0x20 || *p == '"' || *p == '\\' || *p == 0x7f)
        return 1;
    return *p == 0xc2 && left > 1 && p[1] < 0xa0 ? 2 : 0;
}

static void
escape (struct ag_buf *out, unsigned c)
{
    static const char codes[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *code = c ? memchr (codes, (int)c, sizeof codes - 1) : NULL;
    if (code)
        ag_buf_add (out, (const char[]){'\\', letters[code - codes]}, 2);
    else
        ag_buf_text (out, "\\u%04x", c);
}

//  Valid UTF-8, in quotes.
static void
quoted (struct ag_buf *out, struct ag_str text)
{
    const uint8_t *p = (const uint8_t *)text.p, *from = p, *end = text.n ? p + text.n : p;
    add (out, "\"");
    while (p < end) {
        size_t n = special (p, (size_t)(end - p));
        if (n == 0) {
            p++;
            continue;
        }
        ag_buf_add (out, from, (size_t)(p - from));
        escape (out, p[n - 1]);
        from = p += n;
    }
    ag_buf_add (out, from, (size_t)(p - from));
    add (out, "\"");
}

static void
hex (struct ag_buf *out, struct ag_str bytes)
{
    add (out, "\"");
    char *text = (char *)ag_buf_grow (out, 2 * bytes.n + 1);
    ag_hex (bytes.p, bytes.n, text);
    out->n--; //  the NUL is not content
    add (out, "\"");
}

static void
text (struct ag_buf *out, struct ag_str text)
{
    if (ag_utf8 (text))
        quoted (out, text);
    else
        hex (out, text);
}

/*  Numbers  */

//  15 digits are enough for what people write, 17 for every double; what is below the normal range has
//  fewer that count.
static void
number (struct ag_buf *out, double f)
{
    if (!isfinite (f)) {
        add (out, "null");
        return;
    }
    char digits[32];
    for (int n = fabs (f) < DBL_MIN ? 1 : 15; n <= 17; n++) {
        snprintf (digits, sizeof digits, "%.*g", n, f);
        if (strtod (digits, NULL) == f)
            break;
    }
    add (out, digits);
    if (!strpbrk (digits, ".e"))
        add (out, ".0");
}

/*  Values  */

static void value (struct writer *self, int depth);

//  Between two parts of a list or map that stands at depth: a new line where lines are wanted.
static void
line (struct writer *self, int depth)
{
    if (self->style == AG_JSON_PRETTY)
        ag_buf_text (self->out, "\n%*s", 2 * depth, "");
}

static struct ag_head
next (struct writer *self)
{
    struct ag_head head;
    int rc = ag_next (&self->in, &head);
    assert (!rc);
    return head;
}

static void
list (struct writer *self, uint32_t count, int depth)
{
    add (self->out, "[");
    for (uint32_t i = 0; i < count; i++) {
        add (self->out, i ? "," : "");
        line (self, depth + 1);
        value (self, depth + 1);
    }
    if (count)
        line (self, depth);
    add (self->out, "]");
}

static void
key (struct writer *self)
{
    struct ag_str bytes;
    struct ag_cursor at = self->in;
    int rc = ag_take (&self->in, &bytes);
    assert (!rc);
    struct ag_head head;
    if (!ag_next (&at, &head) && head.kind == AG_TEXT)
        text (self->out, head.s);
    else
        hex (self->out, bytes);
}

static void
map (struct writer *self, uint32_t count, int depth)
{
    add (self->out, "{");
    for (uint32_t i = 0; i < count; i++) {
        add (self->out, i ? "," : "");
        line (self, depth + 1);
        key (self);
        add (self->out, self->style == AG_JSON_PRETTY ? ": " : ":");
        value (self, depth + 1);
    }
    if (count)
        line (self, depth);
    add (self->out, "}");
}

static void
value (struct writer *self, int depth)
{
    assert (depth <= AG_DEPTH_WRAPPED);
    struct ag_head head = next (self);
    switch (head.kind) {
    case AG_NULL:
        add (self->out, "null");
        break;
    case AG_BOOL:
        add (self->out, head.b ? "true" : "false");
        break;
    case AG_INT:
        ag_buf_text (self->out, "%" PRId64, head.i);
        break;
    case AG_UINT:
        ag_buf_text (self->out, "%" PRIu64, head.u);
        break;
    case AG_FLOAT:
        number (self->out, head.f);
        break;
    case AG_TEXT:
    case AG_BYTES:
        text (self->out, head.s);
        break;
    case AG_LIST:
        list (self, head.count, depth);
        break;
    case AG_MAP:
        map (self, head.count, depth);
        break;
    }
}

void
ag_json_write (struct ag_str bytes, enum ag_json_style style, struct ag_buf *out)
{
    struct writer self = {ag_cursor (bytes), out, style};
    value (&self, 0);
}
