//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/nursery/cgroup.h"
#include "common/group.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH = 16 }; //  of groups that a program makes below its own

static int
open_home (struct ag_cgroups *self)
{
    if (mkdirat (self->parent, self->name, 0755) < 0 && errno != EEXIST)
        return -1;
    int dir = openat (self->parent, self->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir >= 0 && faccessat (dir, "cgroup.kill", W_OK, 0) < 0) {
        int error = errno; //  a kernel before 5.14, or not ours to write
        close (dir);
        errno = error;
        return -1;
    }
    return dir;
}

static int
put (int dir, const char *group, const char *file, const char *text)
{
    char path[NAME_MAX + 32];
    snprintf (path, sizeof path, "%s/%s", group, file);
    int fd = openat (dir, path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = write (fd, text, strlen (text));
    int error = errno;
    close (fd);
    errno = error;
    return n < 0 ? -1 : 0;
}

//  Controllers are handed down level by level, each by itself: one that is not ours keeps no other away. What
//  came of it shows in the groups of children.
static void
hand_down (const struct ag_cgroups *self)
{
    static const char *const controllers[] = {"+memory", "+pids"};
    for (size_t i = 0; i < sizeof controllers / sizeof *controllers; i++) {
        put (self->parent, ".", "cgroup.subtree_control", controllers[i]);
        put (self->dir, ".", "cgroup.subtree_control", controllers[i]);
    }
}

void
ag_cgroups_open (struct ag_cgroups *self, const char *home_id)
{
    *self = (struct ag_cgroups){.dir = -1};
    snprintf (self->name, sizeof self->name, "agsup-%s", home_id);
    self->parent = ag_group_open (NULL);
    if (self->parent >= 0)
        self->dir = open_home (self);
    if (self->dir < 0)
        self->error = errno;
    else
        hand_down (self);
}

//  cgroup.events counts the groups below as well; a group that does not exist holds nothing.
static bool
empty (int dir, const char *group)
{
    char path[NAME_MAX + 32], text[128];
    snprintf (path, sizeof path, "%s/cgroup.events", group);
    int fd = openat (dir, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT;
    ssize_t n = read (fd, text, sizeof text - 1);
    close (fd);
    text[n > 0 ? n : 0] = 0;
    return strstr (text, "populated 0");
}

//  A program may have made groups below its own. They are removed as far as they go: an empty group that
//  stays is no process that stays.
static void
remove_below (int dir, const char *group, int depth)
{
    if (!unlinkat (dir, group, AT_REMOVEDIR) || errno != EBUSY || depth == 0)
        return;
    int fd = openat (dir, group, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *list = fd < 0 ? NULL : fdopendir (fd);
    if (!list)
        return;
    for (struct dirent *entry; (entry = readdir (list));)
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
            remove_below (fd, entry->d_name, depth - 1);
    closedir (list);
    unlinkat (dir, group, AT_REMOVEDIR);
}

bool
ag_cgroups_sweep (struct ag_cgroups *self)
{
    int fd = self->dir < 0 ? -1 : openat (self->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd < 0 ? NULL : fdopendir (fd);
    if (!list)
        return true;
    bool clean = true;
    for (struct dirent *entry; (entry = readdir (list));) {
        if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
            continue;
        put (self->dir, entry->d_name, "cgroup.kill", "1");
        if (empty (self->dir, entry->d_name))
            remove_below (self->dir, entry->d_name, DEPTH);
        else
            clean = false;
    }
    closedir (list);
    return clean;
}

void
ag_cgroups_close (struct ag_cgroups *self)
{
    if (self->dir >= 0) {
        close (self->dir);
        unlinkat (self->parent, self->name, AT_REMOVEDIR);
    }
    if (self->parent >= 0)
        close (self->parent);
    self->dir = self->parent = -1;
}

static void
group_name (char name[24], uint64_t id)
{
    snprintf (name, 24, "%llu", (unsigned long long)id);
}

int
ag_cgroup_make (const struct ag_cgroups *self, uint64_t id, uint64_t unused)
{
    char name[24];
    (void)unused;
    group_name (name, id);
    if (self->dir < 0)
        return errno = self->error, -1;
    return mkdirat (self->dir, name, 0755) < 0 && errno != EEXIST ? -1 : 0;
}

static int
limit (const struct ag_cgroups *self, uint64_t id, const char *file, uint64_t value)
{
    char name[24], text[24];
    group_name (name, id);
    snprintf (text, sizeof text, "%llu", (unsigned long long)value);
    if (self->dir < 0)
        return errno = self->error, -1;
    return put (self->dir, name, file, text);
}

//  A kernel without swap has no memory.swap.max.
int
ag_cgroup_limit_memory (const struct ag_cgroups *self, uint64_t id, uint64_t bytes)
{
    if (limit (self, id, "memory.max", bytes) || limit (self, id, "memory.oom.group", 1))
        return -1;
    return limit (self, id, "memory.swap.max", 0) && errno != ENOENT ? -1 : 0;
}

int
ag_cgroup_limit_processes (const struct ag_cgroups *self, uint64_t id, uint64_t count)
{
    return limit (self, id, "pids.max", count);
}

bool
ag_cgroup_out_of_memory (const struct ag_cgroups *self, uint64_t id)
{
    char name[24], path[64], text[512];
    group_name (name, id);
    snprintf (path, sizeof path, "%s/memory.events", name);
    int fd = openat (self->dir, path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read (fd, text, sizeof text - 1);
    if (fd >= 0)
        close (fd);
    text[n > 0 ? n : 0] = 0;
    const char *kills = strstr (text, "oom_kill ");
    return kills && kills[9] != '0';
}

int
ag_cgroup_fd (const struct ag_cgroups *self, uint64_t id)
{
    char name[24];
    group_name (name, id);
    return openat (self->dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int
ag_cgroup_join (const struct ag_cgroups *self, uint64_t id)
{
    char name[24];
    group_name (name, id);
    return put (self->dir, name, "cgroup.procs", "0");
}

int
ag_cgroup_kill (const struct ag_cgroups *self, uint64_t id)
{
    char name[24];
    group_name (name, id);
    return put (self->dir, name, "cgroup.kill", "1");
}

bool
ag_cgroup_gone (const struct ag_cgroups *self, uint64_t id)
{
    char name[24];
    group_name (name, id);
    if (!empty (self->dir, name))
        return false;
    remove_below (self->dir, name, DEPTH);
    return true;
}
