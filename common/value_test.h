/*  value_test - how the tests of value write msgpack: as hex, the way its specification prints it.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_VALUE_TEST_H
#define AG_VALUE_TEST_H
#include "common/value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

//  A copy of exactly its size on the heap, so that a read past its end is seen; free with drop.
static inline struct ag_str
exact (const void *bytes, size_t n)
{
    char *p = ag_xmalloc (n);
    if (n)
        memcpy (p, bytes, n);
    return (struct ag_str){p, n};
}

static inline void
drop (struct ag_str bytes)
{
    free ((char *)bytes.p);
}

//  The bytes of "82 a161 01"; spaces are for the reader.
static inline struct ag_str
hex (const char *text)
{
    struct ag_buf buf = {0};
    for (; *text; text += *text == ' ' ? 1 : 2)
        if (*text != ' ') {
            const char digits[3] = {text[0], text[1], 0};
            ag_buf_add (&buf, &(uint8_t){(uint8_t)strtoul (digits, NULL, 16)}, 1);
        }
    struct ag_str bytes = exact (buf.p, buf.n);
    ag_buf_fini (&buf);
    return bytes;
}

//  out holds what the hex says; it is emptied.
static inline void
assert_bytes (struct ag_buf *out, const char *expected)
{
    struct ag_str want = hex (expected);
    char *text = ag_xmalloc (2 * out->n + 1), *wanted = ag_xmalloc (2 * want.n + 1);
    ag_hex (out->p, out->n, text);
    ag_hex (want.p, want.n, wanted);
    assert_string_equal (text, wanted);
    free (text);
    free (wanted);
    drop (want);
    ag_buf_fini (out);
}
#endif
