//  SPDX-License-Identifier: Apache-2.0
#include "broker/dismiss.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct leaving {
    int fd;      //  ours, a duplicate
    ino_t inode; //  of the connection
    int64_t end_ms;
};

struct ag_dismiss {
    ag_loop_t *loop;
    uint64_t timer; //  0: none is set
    struct leaving all[AG_DISMISS_MOST];
    size_t count;
};

//  They stand in the order in which they came, and so of their ends.
static void
end_first (ag_dismiss_t *self)
{
    shutdown (self->all[0].fd, SHUT_RDWR);
    close (self->all[0].fd);
    memmove (self->all, self->all + 1, --self->count * sizeof *self->all);
}

static void
end_due (void *context)
{
    ag_dismiss_t *self = context;
    int64_t now_ms = ag_now_ms();
    while (self->count && self->all[0].end_ms <= now_ms)
        end_first (self);
    self->timer = 0;
    if (self->count)
        self->timer = ag_loop_timer (self->loop, AG_DISMISS_MS / 4, 0, end_due, self);
}

ag_dismiss_t *
ag_dismiss_new (ag_loop_t *loop)
{
    ag_dismiss_t *self = ag_xcalloc (1, sizeof *self);
    self->loop = loop;
    return self;
}

void
ag_dismiss_destroy (ag_dismiss_t **self_p)
{
    ag_dismiss_t *self = *self_p;
    if (!self)
        return;
    ag_loop_cancel (self->loop, self->timer);
    while (self->count)
        close (self->all[--self->count].fd);
    free (self);
    *self_p = NULL;
}

void
ag_dismiss (ag_dismiss_t *self, const struct ag_peer *peer)
{
    if (ag_dismissed (self, peer))
        return;
    int fd = peer->fd < 0 ? -1 : fcntl (peer->fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return;
    if (!peer->pid || ag_peer_pid (fd) != peer->pid) {
        close (fd); //  that connection is gone
        return;
    }
    if (self->count == AG_DISMISS_MOST)
        end_first (self);
    if (!self->timer)
        self->timer = ag_loop_timer (self->loop, AG_DISMISS_MS, 0, end_due, self);
    self->all[self->count++] =
        (struct leaving){fd, ag_peer_inode (fd), ag_now_ms() + AG_DISMISS_MS};
}

bool
ag_dismissed (const ag_dismiss_t *self, const struct ag_peer *peer)
{
    if (!self->count)
        return false;
    ino_t inode = ag_peer_inode (peer->fd);
    for (size_t i = 0; i < self->count; i++)
        if (inode && self->all[i].inode == inode)
            return true;
    return false;
}
