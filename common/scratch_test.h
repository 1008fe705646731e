/*  scratch - a directory for one test: scratch_begin and scratch_end are its setup and teardown.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_SCRATCH_TEST_H
#define AG_SCRATCH_TEST_H
#include "common/buf.h"
#include "common/tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char scratch[] = "/tmp/agsup-test-XXXXXX";

static inline int
scratch_begin (void **state)
{
    (void)state;
    strcpy (scratch + strlen (scratch) - 6, "XXXXXX");
    return mkdtemp (scratch) ? 0 : -1;
}

static inline int
scratch_end (void **state)
{
    (void)state;
    ag_tree_remove (scratch);
    return access (scratch, F_OK) ? 0 : -1;
}

//  A file in it.
static inline void
scratch_put (const char *path, const char *text)
{
    char *name = ag_xprintf ("%s/%s", scratch, path);
    FILE *file = fopen (name, "w");
    assert_non_null (file);
    fputs (text, file);
    fclose (file);
    free (name);
}
#endif
