//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/nursery/wall.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

//  The kernel's numbers: the header of the build machine is older than the kernels we run on.
enum { VERSION = 1 << 0, PATH_BENEATH = 1, SCOPE_ABSTRACT_AND_SIGNAL = 3 };
enum {
    EXECUTE = 1 << 0,
    WRITE_FILE = 1 << 1,
    READ_FILE = 1 << 2,
    READ_DIR = 1 << 3,
    TRUNCATE = 1 << 14,
    IOCTL_DEV = 1 << 15,
    OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV,
};

struct ruleset {
    uint64_t files, net, scoped;
};

struct __attribute__ ((packed)) beneath {
    uint64_t allowed;
    int32_t parent;
};

//  All rights about files that a version of the interface knows.
static uint64_t
rights (int version)
{
    static const uint8_t bits[] = {0, 13, 14, 15, 15, 16};
    return (1u << bits[version < 5 ? version : 5]) - 1;
}

static int
allow (int rules, int fd, uint64_t allowed)
{
    struct stat st;
    if (fstat (fd, &st) < 0)
        return -1;
    if (!S_ISDIR (st.st_mode))
        allowed &= OF_FILES;
    struct beneath rule = {allowed, fd};
    return (int)syscall (SYS_landlock_add_rule, rules, PATH_BENEATH, &rule, 0);
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
    uint64_t reading = EXECUTE | READ_FILE | READ_DIR;
    bool has_dir = strcmp (dir, "/"); //  the root is where a child without a directory stands
    return allow_paths (rules, readable, reading) || allow_paths (rules, own, all) ||
                   allow (rules, program, reading) || (has_dir && allow_path (rules, dir, all)) ||
                   allow_path (rules, "/dev/null", READ_FILE | WRITE_FILE)
               ? -1
               : 0;
}

int
ag_wall_landlock (char *const *readable, char *const *own, const char *dir, int program)
{
    int version = (int)syscall (SYS_landlock_create_ruleset, NULL, 0, VERSION);
    if (version < 1)
        return -1;
    struct ruleset set = {rights (version), 0, version >= 6 ? SCOPE_ABSTRACT_AND_SIGNAL : 0};
    size_t size = version >= 6 ? sizeof set : sizeof set.files;
    int rules = (int)syscall (SYS_landlock_create_ruleset, &set, size, 0);
    if (rules < 0)
        return -1;
    int rc = allow_all (rules, set.files, readable, own, dir, program) ||
                     syscall (SYS_landlock_restrict_self, rules, 0)
                 ? -1
                 : 0;
    close (rules);
    return rc;
}
