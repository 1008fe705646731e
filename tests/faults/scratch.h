/*  scratch - a private directory of a fault test, gone with everything in it at the end.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_SCRATCH_H
#define AG_SCRATCH_H
#include "common/tree.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCRATCH = 48 };

static inline void
scratch_make (char dir[SCRATCH])
{
    strcpy (dir, "/tmp/ag_fault.XXXXXX");
    char *made = mkdtemp (dir);
    assert (made);
}

static inline void
scratch_remove (const char *dir)
{
    ag_tree_remove (dir);
}
#endif
