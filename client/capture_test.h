/*  What is printed to stdout between begin and end, for tests.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_CAPTURE_TEST_H
#define AG_CAPTURE_TEST_H
#include "common/buf.h"
#include "common/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct capture {
    int saved;
    FILE *file;
};

static inline struct capture
capture_begin (void)
{
    struct capture self = {dup (STDOUT_FILENO), tmpfile()};
    assert_non_null (self.file);
    fflush (stdout);
    dup2 (fileno (self.file), STDOUT_FILENO);
    return self;
}

//  The text, which the caller frees.
static inline char *
capture_end (struct capture *self)
{
    fflush (stdout);
    dup2 (self->saved, STDOUT_FILENO);
    close (self->saved);
    long n = fseek (self->file, 0, SEEK_END) ? 0 : ftell (self->file);
    char *text = ag_xcalloc ((size_t)n + 1, 1);
    rewind (self->file);
    size_t got = fread (text, 1, (size_t)n, self->file);
    assert_int_equal (got, n);
    fclose (self->file);
    return text;
}

//  A value from JSON that is written with ' for ".
static inline struct ag_buf
value_of (const char *json)
{
    struct ag_buf value = {0};
    struct ag_err err;
    char *text = ag_xstrdup (json);
    for (char *p = text; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    if (ag_json_read (ag_str (text), &value, &err))
        fail_msg ("%s: %s", err.text, text);
    free (text);
    return value;
}

static inline void
assert_contains (const char *text, const char *part)
{
    if (!strstr (text, part))
        fail_msg ("\"%s\" is not in:\n%s", part, text);
}
#endif
