//  SPDX-License-Identifier: Apache-2.0
#include "common/value_inside.h"

#include <assert.h>
#include <msgpack.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SHORT_TEXT = 31 }; //  bytes, whose number stands in the lead byte

static int
append (void *out, const char *bytes, size_t n)
{
    ag_buf_add (out, bytes, n);
    return 0;
}

static msgpack_packer
packer (struct ag_buf *out)
{
    return (msgpack_packer){out, append};
}

void
ag_put_null (struct ag_buf *out)
{
    msgpack_packer to = packer (out);
    msgpack_pack_nil (&to);
}

void
ag_put_bool (struct ag_buf *out, bool b)
{
    msgpack_packer to = packer (out);
    if (b)
        msgpack_pack_true (&to);
    else
        msgpack_pack_false (&to);
}

void
ag_put_int (struct ag_buf *out, int64_t i)
{
    msgpack_packer to = packer (out);
    msgpack_pack_int64 (&to, i);
}

void
ag_put_uint (struct ag_buf *out, uint64_t u)
{
    msgpack_packer to = packer (out);
    msgpack_pack_uint64 (&to, u);
}

void
ag_put_float (struct ag_buf *out, double f)
{
    msgpack_packer to = packer (out);
    msgpack_pack_double (&to, f);
}

//  A short text, as every key is, by hand: half of what an event costs to encode is these.
void
ag_put_text (struct ag_buf *out, struct ag_str s)
{
    assert (s.n <= UINT32_MAX);
    if (s.n <= SHORT_TEXT) {
        uint8_t *to = ag_buf_grow (out, s.n + 1);
        to[0] = (uint8_t)(0xa0 | s.n);
        if (s.n)
            memcpy (to + 1, s.p, s.n);
        return;
    }
    msgpack_packer to = packer (out);
    msgpack_pack_str (&to, s.n);
    ag_buf_add_str (out, s);
}

void
ag_put_lit (struct ag_buf *out, const char *text)
{
    ag_put_text (out, ag_str (text));
}

void
ag_put_bytes (struct ag_buf *out, struct ag_str s)
{
    assert (s.n <= UINT32_MAX);
    msgpack_packer to = packer (out);
    msgpack_pack_bin (&to, s.n);
    ag_buf_add_str (out, s);
}

void
ag_put_list (struct ag_buf *out, uint32_t count)
{
    msgpack_packer to = packer (out);
    msgpack_pack_array (&to, count);
}

void
ag_put_map (struct ag_buf *out, uint32_t pairs)
{
    msgpack_packer to = packer (out);
    msgpack_pack_map (&to, pairs);
}

void
ag_put_value (struct ag_buf *out, struct ag_str value)
{
    ag_buf_add_str (out, value);
}

void
ag_put_textf (struct ag_buf *out, const char *format, ...)
{
    va_list list, again;
    va_start (list, format);
    va_copy (again, list);
    int n = vsnprintf (NULL, 0, format, list);
    va_end (list);
    assert (n >= 0);
    msgpack_packer to = packer (out);
    msgpack_pack_str (&to, (size_t)n);
    char *text = (char *)ag_buf_grow (out, (size_t)n + 1);
    vsnprintf (text, (size_t)n + 1, format, again);
    va_end (again);
    out->n--; //  the NUL is not content
}

//  The 32-bit heads, by hand: the packer would choose the short form of a count that is not known yet.
static size_t
open_head (struct ag_buf *out, uint8_t lead)
{
    size_t at = out->n;
    ag_buf_add (out, (uint8_t[5]){lead}, 5);
    return at;
}

size_t
ag_open_list (struct ag_buf *out)
{
    return open_head (out, 0xdd);
}

size_t
ag_open_map (struct ag_buf *out)
{
    return open_head (out, 0xdf);
}

void
ag_close (struct ag_buf *out, size_t at, uint32_t count)
{
    assert (at + 5 <= out->n && (out->p[at] == 0xdd || out->p[at] == 0xdf));
    for (int i = 4; i > 0; i--, count >>= 8)
        out->p[at + (size_t)i] = (uint8_t)count;
}

void
ag_put_head (struct ag_buf *out, const struct ag_head *head)
{
    switch (head->kind) {
    case AG_NULL:
        ag_put_null (out);
        break;
    case AG_BOOL:
        ag_put_bool (out, head->b);
        break;
    case AG_INT:
        ag_put_int (out, head->i);
        break;
    case AG_UINT:
        ag_put_uint (out, head->u);
        break;
    case AG_FLOAT:
        ag_put_float (out, head->f);
        break;
    case AG_TEXT:
        ag_put_text (out, head->s);
        break;
    case AG_BYTES:
        ag_put_bytes (out, head->s);
        break;
    case AG_LIST:
        ag_put_list (out, head->count);
        break;
    case AG_MAP:
        ag_put_map (out, head->count);
        break;
    }
}

void
ag_put_pair_text (struct ag_buf *out, const char *key, struct ag_str text)
{
    ag_put_lit (out, key);
    ag_put_text (out, text);
}

void
ag_put_pair_or_null (struct ag_buf *out, const char *key, struct ag_str text)
{
    ag_put_lit (out, key);
    if (text.p)
        ag_put_text (out, text);
    else
        ag_put_null (out);
}

void
ag_put_pair_value (struct ag_buf *out, const char *key, struct ag_str value)
{
    ag_put_lit (out, key);
    ag_put_value (out, value);
}

void
ag_put_pair_uint (struct ag_buf *out, const char *key, uint64_t number)
{
    ag_put_lit (out, key);
    ag_put_uint (out, number);
}
