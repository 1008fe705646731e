//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/nursery/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "common/buf.h"

//  The new root is put together here before it becomes one. The trees that go there are taken first, so
//  that it hides nothing of what is to be seen.
#define BASE "/tmp"

enum { TREES = 256 };

struct tree {
    const char *path;
    int fd;
};

struct work {
    struct tree trees[TREES];
    size_t count;
    char *const *covered; //  those of the hidden paths before this one
    bool based;
};

//  A copy of what is mounted at a path and below, without a place yet.
static int
take (struct work *work, const char *path, uint64_t attributes)
{
    struct mount_attr attr = {.attr_set = attributes};
    int fd = open_tree (AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
    if (work->count == TREES) {
        close (fd);
        return errno = E2BIG, -1;
    }
    work->trees[work->count++] = (struct tree){path, fd};
    return mount_setattr (fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof attr);
}

static int
take_all (struct work *work, char *const *paths, uint64_t attributes)
{
    for (; *paths; paths++) {
        bool made = !strcmp (*paths, "/proc") || !strcmp (*paths, "/dev"); //  of our own making
        if (!made && take (work, *paths, attributes))
            return -1;
    }
    return 0;
}

static int
take_devices (struct work *work)
{
    static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                          "/dev/urandom"};
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        if (take (work, devices[i], MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC))
            return -1;
    return 0;
}

//  The place of a tree below a directory ("" is the root), with the directories above it; NULL with errno.
static char *
make_place (const char *below, const struct tree *tree)
{
    struct stat st;
    if (fstat (tree->fd, &st))
        return NULL;
    bool directory = S_ISDIR (st.st_mode);
    char *place = ag_xprintf ("%s%s", below, tree->path);
    for (char *p = place + strlen (below) + 1; (p = strchr (p, '/')); *p++ = '/') {
        *p = 0;
        mkdir (place, 0755);
    }
    int fd = directory ? mkdir (place, 0755) : open (place, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (!directory && fd >= 0)
        close (fd);
    return place;
}

//  Empty, but for the places of what is its own.
static int
cover (struct work *work, const struct work *kept)
{
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
    for (char *const *path; *(path = work->covered);) {
        if (mount ("none", *path, "tmpfs", MS_NOSUID | MS_NODEV, "size=4k,mode=755"))
            return -1;
        work->covered++;
        for (size_t i = 0; i < kept->count; i++)
            if (!make_place ("", &kept->trees[i]))
                return -1;
        if (mount_setattr (AT_FDCWD, *path, 0, &attr, sizeof attr))
            return -1;
    }
    return 0;
}

//  What is its own is taken before it is hidden, the rest after.
static int
collect (struct work *work, const struct ag_mounts *self)
{
    const uint64_t own = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    struct work kept = {.count = 0};
    work->covered = self->hidden;
    if (mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) || take_all (&kept, self->own, own) ||
        cover (work, &kept) || take_all (work, self->readable, own | MOUNT_ATTR_RDONLY) ||
        (strcmp (self->dir, "/") && take (work, self->dir, own)) || take_devices (work) ||
        (!self->proc && take (work, "/proc", own | MOUNT_ATTR_NOEXEC)))
        return -1;
    for (size_t i = 0; i < kept.count && work->count < TREES; i++)
        work->trees[work->count++] = kept.trees[i];
    return 0;
}

static int
put_tree (const struct tree *tree)
{
    const char *place = make_place (BASE, tree);
    return place ? move_mount (tree->fd, "", AT_FDCWD, place, MOVE_MOUNT_F_EMPTY_PATH) : -1;
}

static int
build (struct work *work, const struct ag_mounts *self)
{
    if (mount ("none", BASE, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755"))
        return -1;
    work->based = true;
    for (size_t i = 0; i < work->count; i++)
        if (put_tree (&work->trees[i]))
            return -1;
    if (!self->proc)
        return 0;
    mkdir (BASE "/proc", 0755);
    return mount ("proc", BASE "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
}

//  The old root lies on the new one for a moment. Past that there is no way back: who cannot let go of it ends.
static int
change_root (const char *dir)
{
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
    if (mount_setattr (AT_FDCWD, BASE, 0, &attr, sizeof attr) || chdir (BASE) ||
        syscall (SYS_pivot_root, ".", "."))
        return -1;
    if (umount2 (".", MNT_DETACH) || chdir ("/") || chdir (dir))
        _exit (127);
    return 0;
}

//  The namespace goes on as one that shows what is outside.
static void
undo (const struct work *work, const struct ag_mounts *self)
{
    if (work->based)
        umount2 (BASE, MNT_DETACH);
    for (char *const *path = self->hidden; path != work->covered; path++)
        umount2 (*path, MNT_DETACH);
}

int
ag_mounts_enter (const struct ag_mounts *self)
{
    struct work work = {.covered = self->hidden};
    mode_t mask = umask (022);
    int rc = collect (&work, self) || build (&work, self) || change_root (self->dir) ? -1 : 0;
    int error = errno;
    if (rc)
        undo (&work, self);
    for (size_t i = 0; i < work.count; i++)
        close (work.trees[i].fd);
    umask (mask);
    errno = error;
    return rc;
}
