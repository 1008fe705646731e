/*  scratch - a private directory of a fault test, gone with everything in it at the end.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_SCRATCH_H
#define AG_SCRATCH_H
#include <assert.h>
#include <ftw.h>
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

static inline int
scratch_remove_one (const char *path, const struct stat *info, int kind, struct FTW *ftw)
{
    (void)info;
    (void)kind;
    (void)ftw;
    return remove (path);
}

static inline void
scratch_remove (const char *dir)
{
    nftw (dir, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}
#endif
