//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/nursery/wall.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "common/landlock.h"

enum {
    READING = AG_LANDLOCK_EXECUTE | AG_LANDLOCK_READ | AG_LANDLOCK_LIST,
    OF_FILES = AG_LANDLOCK_EXECUTE | AG_LANDLOCK_WRITE | AG_LANDLOCK_READ | AG_LANDLOCK_TRUNCATE |
               AG_LANDLOCK_IOCTL,
};

static int
allow (int rules, int fd, uint64_t allowed)
{
    struct stat st;
    if (fstat (fd, &st) < 0)
        return -1;
    if (!S_ISDIR (st.st_mode))
        allowed &= OF_FILES;
    return ag_landlock_allow (rules, fd, allowed);
}

static int
allow_path (int rules, const char *path, uint64_t allowed)
{
    int fd = open (path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
    int rc = allow (rules, fd, allowed);
    close (fd);
    return rc;
}

static int
allow_paths (int rules, char *const *paths, uint64_t allowed)
{
    for (; *paths; paths++)
        if (allow_path (rules, *paths, allowed))
            return -1;
    return 0;
}

static int
allow_all (int rules, uint64_t all, char *const *readable, char *const *own, const char *dir,
           int program)
{
    bool has_dir = strcmp (dir, "/"); //  the root is where a child without a directory stands
    return allow_paths (rules, readable, READING) || allow_paths (rules, own, all) ||
                   allow (rules, program, READING) || (has_dir && allow_path (rules, dir, all)) ||
                   allow_path (rules, "/dev/null", AG_LANDLOCK_READ | AG_LANDLOCK_WRITE)
               ? -1
               : 0;
}

int
ag_wall_landlock (char *const *readable, char *const *own, const char *dir, int program)
{
    int abi = ag_landlock_abi();
    if (abi < 1)
        return -1;
    struct ag_landlock all = ag_landlock_all (abi);
    all.net = 0; //  that is granted, or refused, by other walls
    int rules = ag_landlock_rules (abi, &all);
    if (rules < 0)
        return -1;
    int rc = allow_all (rules, all.files, readable, own, dir, program) || ag_landlock_enter (rules)
                 ? -1
                 : 0;
    close (rules);
    return rc;
}
