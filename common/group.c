//  SPDX-License-Identifier: Apache-2.0
#include "common/group.h"
#include "common/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//  Where the version 2 hierarchy is mounted, and which of its groups is the root of that mount.
static bool
mounted (char root[PATH_MAX], char point[PATH_MAX])
{
    FILE *file = fopen ("/proc/self/mountinfo", "re");
    char line[2 * PATH_MAX];
    bool found = false;
    while (file && !found && fgets (line, sizeof line, file)) {
        const char *type = strstr (line, " - cgroup2 ");
        found = type && sscanf (line, "%*d %*d %*s %4095s %4095s", root, point) == 2;
    }
    if (file)
        fclose (file);
    return found;
}

//  The group of this process: what follows "0::".
static bool
own_group (char group[PATH_MAX])
{
    FILE *file = fopen ("/proc/self/cgroup", "re");
    char line[PATH_MAX + 8];
    bool found = false;
    while (file && !found && fgets (line, sizeof line, file))
        found = sscanf (line, "0::%4095[^\n]", group) == 1;
    if (file)
        fclose (file);
    return found;
}

int
ag_group_open (char **path)
{
    char root[PATH_MAX], point[PATH_MAX], group[PATH_MAX], own[2 * PATH_MAX];
    errno = ENOENT;
    if (!mounted (root, point) || !own_group (group))
        return -1;
    size_t skip = strcmp (root, "/") ? strlen (root) : 0;
    if (strncmp (group, root, skip) || strstr (group, "/.."))
        return errno = ENOENT, -1;
    const char *rest = group + skip;
    snprintf (own, sizeof own, "%s%s", point, strcmp (rest, "/") ? rest : "");
    int fd = open (own, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && path)
        *path = ag_xstrdup (own);
    return fd;
}
