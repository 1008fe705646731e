//  SPDX-License-Identifier: Apache-2.0
#include "common/buf.h"

#include <assert.h>
#include <endian.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHORT_TEXT = 32, FIRST_ROOM = 256 };

bool
ag_str_starts (struct ag_str a, const char *prefix)
{
    size_t n = strlen (prefix);
    return a.n >= n && (n == 0 || !memcmp (a.p, prefix, n));
}

int
ag_str_cmp (struct ag_str a, struct ag_str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n ? memcmp (a.p, b.p, n) : 0;
    return order ? order : (a.n > b.n) - (a.n < b.n);
}

int
ag_str_order (const void *a, const void *b)
{
    return ag_str_cmp (*(const struct ag_str *)a, *(const struct ag_str *)b);
}

char *
ag_str_dup (struct ag_str s)
{
    char *copy = ag_xmalloc (s.n + 1);
    if (s.n)
        memcpy (copy, s.p, s.n);
    copy[s.n] = 0;
    return copy;
}

uint8_t *
ag_buf_grow (struct ag_buf *buf, size_t n)
{
    if (buf->room - buf->n < n) {
        size_t room = buf->room ? buf->room : FIRST_ROOM;
        while (room - buf->n < n)
            room *= 2;
        buf->p = ag_xrealloc (buf->p, room);
        buf->room = room;
    }
    uint8_t *start = buf->p + buf->n;
    buf->n += n;
    return start;
}

void
ag_buf_add (struct ag_buf *buf, const void *bytes, size_t n)
{
    if (n)
        memcpy (ag_buf_grow (buf, n), bytes, n);
}

void
ag_buf_add_str (struct ag_buf *buf, struct ag_str s)
{
    ag_buf_add (buf, s.p, s.n);
}

static void
put_text (struct ag_buf *buf, const char *format, va_list list)
{
    va_list again;
    va_copy (again, list);
    ag_buf_grow (buf, SHORT_TEXT); //  which most fit
    buf->n -= SHORT_TEXT;
    size_t room = buf->room - buf->n;
    int n = vsnprintf ((char *)buf->p + buf->n, room, format, list);
    assert (n >= 0);
    char *start = (char *)ag_buf_grow (buf, (size_t)n + 1);
    if ((size_t)n >= room)
        vsnprintf (start, (size_t)n + 1, format, again);
    va_end (again);
    buf->n--; //  the NUL is not content
}

void
ag_buf_text (struct ag_buf *buf, const char *format, ...)
{
    va_list list;
    va_start (list, format);
    put_text (buf, format, list);
    va_end (list);
}

void
ag_buf_line (struct ag_buf *buf, const char *format, ...)
{
    va_list list;
    size_t from = buf->n;
    va_start (list, format);
    put_text (buf, format, list);
    va_end (list);
    for (uint8_t *p = buf->p + from; p < buf->p + buf->n; p++)
        if (*p < ' ' || *p == 127)
            *p = '?';
    ag_buf_add (buf, "\n", 1);
}

void
ag_buf_be64 (struct ag_buf *buf, uint64_t value)
{
    value = htobe64 (value);
    ag_buf_add (buf, &value, sizeof value);
}

uint64_t
ag_be64 (const void *p)
{
    uint64_t value;
    memcpy (&value, p, sizeof value);
    return be64toh (value);
}

void
ag_buf_clear (struct ag_buf *buf)
{
    buf->n = 0;
}

void
ag_buf_fini (struct ag_buf *buf)
{
    free (buf->p);
    *buf = (struct ag_buf){0};
}

struct ag_str
ag_buf_str (const struct ag_buf *buf)
{
    return (struct ag_str){(const char *)buf->p, buf->n};
}

void *
ag_xmalloc (size_t n)
{
    void *p = malloc (n ? n : 1);
    assert (p);
    return p;
}

void *
ag_xcalloc (size_t n, size_t size)
{
    void *p = calloc (n ? n : 1, size ? size : 1);
    assert (p);
    return p;
}

void *
ag_xrealloc (void *p, size_t n)
{
    p = realloc (p, n ? n : 1);
    assert (p);
    return p;
}

char *
ag_xstrdup (const char *text)
{
    return ag_str_dup (ag_str (text));
}

char *
ag_xprintf (const char *format, ...)
{
    char *text = NULL;
    va_list list;
    va_start (list, format);
    int n = vasprintf (&text, format, list);
    va_end (list);
    assert (n >= 0 && text);
    return text;
}
