/*  buf - borrowed strings and one growing byte buffer.
 *
 *  `struct ag_str` borrows: it points into bytes that somebody else owns and lives as long as they do.
 *  `struct ag_buf` owns its bytes; `{0}` is an empty one, `ag_buf_fini` frees it. Adding may move the
 *  bytes, so a borrow into a buffer ends with the next addition. Lack of memory ends the process.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_BUF_H
#define AG_BUF_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct ag_str {
    const char *p;
    size_t n;
};

//  A literal or any C string as a borrow; "%.*s" with AG_STR_ARG prints one.
#define AG_LIT(text)  ((struct ag_str){(text), sizeof (text) - 1})
#define AG_STR_ARG(s) (int)(s).n, (s).p ? (s).p : ""
static inline struct ag_str
ag_str (const char *text)
{
    return (struct ag_str){text, text ? strlen (text) : 0};
}

static inline bool
ag_str_eq (struct ag_str a, struct ag_str b)
{
    return a.n == b.n && (a.n == 0 || !memcmp (a.p, b.p, a.n));
}

static inline bool
ag_str_is (struct ag_str a, const char *text)
{
    return ag_str_eq (a, ag_str (text));
}

bool ag_str_starts (struct ag_str a, const char *prefix);
//  Order by bytes, shorter first: <0, 0, >0.
int ag_str_cmp (struct ag_str a, struct ag_str b);
//  The same of two struct ag_str by their places, for qsort and bsearch.
int ag_str_order (const void *a, const void *b);
//  A copy that ends with NUL; the caller frees it.
char *ag_str_dup (struct ag_str s);

struct ag_buf {
    uint8_t *p;
    size_t n, room;
};

void ag_buf_add (struct ag_buf *buf, const void *bytes, size_t n);
void ag_buf_add_str (struct ag_buf *buf, struct ag_str s);
void ag_buf_text (struct ag_buf *buf, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));
//  The same as one line: a control character in it becomes a question mark, and a newline follows.
void ag_buf_line (struct ag_buf *buf, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));
//  Room for n more bytes, which the caller fills; returns where they start.
uint8_t *ag_buf_grow (struct ag_buf *buf, size_t n);
void ag_buf_be64 (struct ag_buf *buf, uint64_t value);
//  Forget the content, keep the room.
void ag_buf_clear (struct ag_buf *buf);
void ag_buf_fini (struct ag_buf *buf);
//  What the buffer holds, as a borrow.
struct ag_str ag_buf_str (const struct ag_buf *buf);

uint64_t ag_be64 (const void *p);

//  Memory that is there or the process ends. Free with free().
void *ag_xmalloc (size_t n);
void *ag_xcalloc (size_t n, size_t size);
void *ag_xrealloc (void *p, size_t n);
char *ag_xstrdup (const char *text);
char *ag_xprintf (const char *format, ...) __attribute__ ((format (printf, 1, 2)));
#endif
