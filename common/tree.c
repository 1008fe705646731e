//  SPDX-License-Identifier: Apache-2.0
#include "common/tree.h"
#include "common/log.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>

enum { DESCRIPTORS = 16 };

static int
remove_one (const char *path, const struct stat *info, int kind, struct FTW *at)
{
    (void)info;
    (void)kind;
    (void)at;
    if (remove (path))
        ag_log (AG_WARN, "%s is left behind: %s", path, strerror (errno));
    return 0;
}

void
ag_tree_remove (const char *dir)
{
    nftw (dir, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}
