//  SPDX-License-Identifier: Apache-2.0
#include "common/tree.h"
#include "common/hash.h"
#include "common/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

//  What lies deep comes up instead of being gone down to: a folder that is not empty is moved into the top, where it
//  has a number, and is emptied when its turn comes. So the depth costs nothing, no path is longer than one name, two
//  folders are open at a time, and each thing is looked at once.
struct ag_tree {
    char *dir;
    int top;
    char mark[17];       //  what the moved ones are called: this and a number
    uint64_t first, end; //  their numbers: of the first that is there, of the next that comes
    DIR *stream;         //  of the first one, while it is emptied
    size_t left;         //  what could not be taken away,
    int error;           //  why, and what it was: the first of them
    char name[64];
};

static void
leave (struct ag_tree *self, const char *name, int error)
{
    if (self->left++)
        return;
    self->error = error;
    snprintf (self->name, sizeof self->name, "%.63s", name);
}

static void
number (const struct ag_tree *self, uint64_t which, char name[40])
{
    snprintf (name, 40, "%s.%" PRIu64, self->mark, which);
}

//  What ran in a folder may have closed it, with which the house of an ordinary user could do nothing; root is refused
//  nothing, and changes no mode.
static int
move_up (struct ag_tree *self, int dir, const char *name)
{
    char to[40];
    number (self, self->end, to);
    if (geteuid())
        fchmodat (dir, name, 0700, 0);
    int rc = renameat (dir, name, self->top, to);
    self->end += !rc;
    return rc;
}

//  A mount point is busy in either way, so none is ever moved or looked into.
static void
take_one (struct ag_tree *self, int dir, const char *name)
{
    if (!unlinkat (dir, name, 0))
        return;
    int error = errno;
    if (!unlinkat (dir, name, AT_REMOVEDIR))
        return;
    if ((errno == ENOTEMPTY || errno == EEXIST) && !move_up (self, dir, name))
        return;
    leave (self, name, errno == ENOTDIR ? error : errno);
}

static void
look_into (struct ag_tree *self, const char *folder)
{
    int fd = openat (self->top, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    self->stream = fd < 0 ? NULL : fdopendir (fd);
    if (self->stream)
        return;
    leave (self, folder, errno);
    if (fd >= 0)
        close (fd);
}

//  Take the next thing in it away, but for what has a number already: a listing of the top may show it. False: there
//  was none, and the folder is closed.
static bool
take_next (struct ag_tree *self)
{
    struct dirent *entry = self->stream ? readdir (self->stream) : NULL;
    if (entry) {
        if (strcmp (entry->d_name, ".") && strcmp (entry->d_name, "..") &&
            strncmp (entry->d_name, self->mark, strlen (self->mark)))
            take_one (self, dirfd (self->stream), entry->d_name);
        return true;
    }
    if (self->stream)
        closedir (self->stream);
    self->stream = NULL;
    return false;
}

static void
begin (struct ag_tree *self, const char *dir)
{
    uint8_t random[8];
    ag_random (random, sizeof random);
    ag_hex (random, sizeof random, self->mark);
    self->dir = ag_xstrdup (dir);
    self->top = open (dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static void
end (struct ag_tree *self)
{
    if (self->stream)
        closedir (self->stream);
    if (self->top >= 0)
        close (self->top);
    if (remove (self->dir) && errno != ENOENT && !self->left)
        leave (self, self->dir, errno);
}

static void
say_left (struct ag_tree *self)
{
    if (self->left)
        ag_log (AG_WARN, "%s: %zu things in it cannot be taken away, the first is %s: %s",
                self->dir, self->left, self->name, strerror (self->error));
    self->left = 0;
}

ag_tree_t *
ag_tree_new (const char *dir)
{
    struct ag_tree *self = ag_xcalloc (1, sizeof *self);
    mkdir (dir, 0700);
    begin (self, dir);
    return self;
}

void
ag_tree_take (ag_tree_t *self, const char *path)
{
    if (move_up (self, AT_FDCWD, path))
        ag_tree_remove (path);
}

static bool
step (struct ag_tree *self, size_t most)
{
    char name[40];
    for (; most && self->first < self->end; most--) {
        number (self, self->first, name);
        if (!self->stream)
            look_into (self, name);
        if (take_next (self))
            continue;
        if (unlinkat (self->top, name, AT_REMOVEDIR))
            leave (self, name, errno);
        self->first++;
    }
    return self->first < self->end;
}

bool
ag_tree_step (ag_tree_t *self, size_t most)
{
    if (self->first == self->end)
        return false;
    bool more = step (self, most);
    if (!more)
        say_left (self);
    return more;
}

void
ag_tree_destroy (ag_tree_t **self_p)
{
    if (*self_p) {
        end (*self_p);
        free ((*self_p)->dir);
        free (*self_p);
    }
    *self_p = NULL;
}

void
ag_tree_remove (const char *dir)
{
    struct ag_tree self = {0};
    begin (&self, dir);
    if (self.top >= 0) {
        look_into (&self, ".");
        while (take_next (&self))
            ;
        while (step (&self, SIZE_MAX))
            ;
    }
    end (&self);
    say_left (&self);
    free (self.dir);
}
