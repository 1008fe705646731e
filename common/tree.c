//  SPDX-License-Identifier: Apache-2.0
#include "common/tree.h"
#include "common/hash.h"
#include "common/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

//  What lies deep comes up instead of being gone down to: a folder that is not empty is moved into the top, where it
//  has a number, and is emptied when its turn comes. So the depth costs nothing, no path is longer than one name, two
//  folders are open at a time, and each thing is looked at once.
struct tree {
    int top;
    char mark[17]; //  what the moved ones are called: this and a number
    uint64_t end;  //  the number of the next
    size_t left;   //  what could not be taken away,
    int error;     //  why, and what it was: the first of them
    char name[64];
};

static void
leave (struct tree *self, const char *name, int error)
{
    if (self->left++)
        return;
    self->error = error;
    snprintf (self->name, sizeof self->name, "%.63s", name);
}

static void
number (const struct tree *self, uint64_t which, char name[40])
{
    snprintf (name, 40, "%s.%" PRIu64, self->mark, which);
}

//  A mount point is busy in either way, so none is ever moved or looked into.
static void
take_one (struct tree *self, int dir, const char *name)
{
    char to[40];
    if (!unlinkat (dir, name, 0))
        return;
    int error = errno;
    if (!unlinkat (dir, name, AT_REMOVEDIR))
        return;
    if (errno == ENOTEMPTY || errno == EEXIST) {
        number (self, self->end, to);
        if (!renameat (dir, name, self->top, to)) {
            self->end++;
            return;
        }
    }
    leave (self, name, errno == ENOTDIR ? error : errno);
}

//  All but what has a number already, which a listing of the top may show.
static void
take_each (struct tree *self, const char *folder)
{
    int fd = openat (self->top, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir (fd);
    if (!stream) {
        leave (self, folder, errno);
        if (fd >= 0)
            close (fd);
        return;
    }
    for (struct dirent *entry; (entry = readdir (stream));)
        if (strcmp (entry->d_name, ".") && strcmp (entry->d_name, "..") &&
            strncmp (entry->d_name, self->mark, strlen (self->mark)))
            take_one (self, fd, entry->d_name);
    closedir (stream);
}

static void
take_all (struct tree *self)
{
    char name[40];
    uint8_t random[8];
    ag_random (random, sizeof random);
    ag_hex (random, sizeof random, self->mark);
    take_each (self, ".");
    for (uint64_t i = 0; i < self->end; i++) {
        number (self, i, name);
        take_each (self, name);
        if (unlinkat (self->top, name, AT_REMOVEDIR))
            leave (self, name, errno);
    }
}

void
ag_tree_remove (const char *dir)
{
    struct tree self = {.top = open (dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    if (self.top >= 0) {
        take_all (&self);
        close (self.top);
    }
    if (remove (dir) && errno != ENOENT)
        leave (&self, dir, errno);
    if (self.left)
        ag_log (
            AG_WARN,
            "%s is left behind, and in it what cannot be taken away: %zu things, the first %s: %s",
            dir, self.left, self.name, strerror (self.error));
}
