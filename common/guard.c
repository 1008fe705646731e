//  SPDX-License-Identifier: Apache-2.0
#include "common/guard.h"
#include "common/log.h"

#include <assert.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <linux/sockios.h>
#include <unistd.h>

//  One connection, found by its descriptor.
struct link {
    bool open;
    pid_t pid;
    int64_t accepted_ms;
    bool waits;           //  input was seen to wait in this look
    int looks;            //  with input waiting, since it last delivered
    uint64_t first_bytes; //  memory at the first of those
    int unread;           //  bytes the peer had not taken at the last look
    int64_t unread_ms;    //  since when it has been that number
};

struct ag_guard {
    ag_loop_t *loop;
    void *socket, *monitor;
    struct ag_guard_limits limits;
    struct link *links; //  by descriptor
    size_t room;
    struct ag_guard_counts counts;
    size_t read;  //  messages since the last look
    bool drained; //  nothing more was there, since the last look
    int statm;
    uint64_t timer;
    bool looking;
    uint64_t least_bytes; //  memory since we are looking
    int64_t said_ms;      //  when a cut was last logged: a flood of them is one line
    int64_t trim_ms;      //  give freed memory back at this time; 0: nothing to give
};

static struct link *
link_of (ag_guard_t *self, int fd)
{
    return fd >= 0 && (size_t)fd < self->room && self->links[fd].open ? &self->links[fd] : NULL;
}

static void
cut (ag_guard_t *self, int fd, const char *why)
{
    struct link *link = &self->links[fd];
    int64_t now_ms = ag_now_ms();
    self->counts.cut++;
    if (now_ms - self->said_ms > 1000)
        ag_log (AG_WARN, "cut a connection: pid=%d why=\"%s\" cut=%zu", (int)link->pid, why,
                self->counts.cut);
    self->said_ms = now_ms;
    self->trim_ms = now_ms + 2 * AG_GUARD_REST_MS;
    ag_peer_drop (&(struct ag_peer){.pid = link->pid, .fd = fd});
    *link = (struct link){.open = true, .pid = link->pid, .accepted_ms = link->accepted_ms};
}

static void
opened (ag_guard_t *self, int fd)
{
    if ((size_t)fd >= self->room) {
        size_t room = 2 * (size_t)fd + 64;
        self->links = ag_xrealloc (self->links, room * sizeof *self->links);
        memset (self->links + self->room, 0, (room - self->room) * sizeof *self->links);
        self->room = room;
    }
    self->counts.connections += !self->links[fd].open;
    self->links[fd] =
        (struct link){.open = true, .pid = ag_peer_pid (fd), .accepted_ms = ag_now_ms()};
    if (self->counts.connections > self->limits.connections)
        cut (self, fd, "too many connections");
}

static void
closed (ag_guard_t *self, int fd)
{
    if (link_of (self, fd)) {
        self->links[fd].open = false;
        self->counts.connections--;
    }
}

//  An event: 16 bits of what, 32 bits of value (the descriptor); then a frame with the endpoint.
static bool
read_event (void *context)
{
    ag_guard_t *self = context;
    struct ag_parts event;
    struct ag_err err;
    uint16_t what;
    int32_t fd;
    if (ag_net_recv (self->monitor, 4096, &event, &err) == 0)
        return false;
    struct ag_str head = ag_part (&event, 0);
    assert (head.n == sizeof what + sizeof fd);
    memcpy (&what, head.p, sizeof what);
    memcpy (&fd, head.p + sizeof what, sizeof fd);
    ag_parts_fini (&event);
    if (what == ZMQ_EVENT_ACCEPTED)
        opened (self, fd);
    else
        closed (self, fd);
    return true;
}

//  All that is there now; the bound is what libzmq can hold before its own thread waits for us.
static void
read_events (ag_guard_t *self)
{
    for (int i = 0; i < 2048 && read_event (self); i++)
        continue;
}

//  Resident pages that are ours alone: the second number of statm without the third.
static uint64_t
memory_bytes (const ag_guard_t *self)
{
    char text[128], *at = text;
    ssize_t n = pread (self->statm, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    strtoul (at, &at, 10);
    unsigned long resident = strtoul (at, &at, 10), shared = strtoul (at, &at, 10);
    return (resident - shared) * (uint64_t)sysconf (_SC_PAGESIZE);
}

//  Whose input waits. libzmq takes in slow input at once, so once memory grows the question is asked
//  again and again for a while: what waits for a hundredth of the time is seen too.
static void
find_waiting (ag_guard_t *self, bool grown)
{
    int64_t end_ms = ag_now_ms() + AG_GUARD_STARE_MS;
    do {
        for (int fd = 0; (size_t)fd < self->room; fd++) {
            struct link *link = &self->links[fd];
            int waiting = 0;
            if (link->open && !link->waits)
                link->waits = !ioctl (fd, FIONREAD, &waiting) && waiting;
        }
    } while (grown && ag_now_ms() < end_ms);
}

static void
look_at_input (ag_guard_t *self, int fd, uint64_t memory)
{
    struct link *link = &self->links[fd];
    if (!link->waits)
        return;
    link->waits = false;
    if (!link->looks++)
        link->first_bytes = memory;
    if (link->looks >= AG_GUARD_LOOKS && memory > link->first_bytes + AG_GUARD_GROWTH)
        cut (self, fd, "a message without end while memory is short");
}

static void
look_at_output (ag_guard_t *self, int fd, int64_t now_ms)
{
    struct link *link = &self->links[fd];
    int unread = 0;
    if (ioctl (fd, SIOCOUTQ, &unread) || unread != link->unread || !unread) {
        link->unread = unread;
        link->unread_ms = now_ms;
    } else if (now_ms - link->unread_ms >= AG_GUARD_UNREAD_MS)
        cut (self, fd, "reads nothing while memory is short");
}

//  Input that waits proves nothing when we are the slow ones: each connection must have had its turn at
//  the socket, which libzmq reads in rotation.
static bool
had_turns (const ag_guard_t *self)
{
    int events = 0;
    zmq_getsockopt (self->socket, ZMQ_EVENTS, &events, &(size_t){sizeof events});
    return self->drained || !(events & ZMQ_POLLIN) || self->read >= self->counts.connections;
}

static void
look (ag_guard_t *self, uint64_t memory)
{
    int64_t now_ms = ag_now_ms();
    bool fair = had_turns (self);
    self->least_bytes = memory < self->least_bytes ? memory : self->least_bytes;
    if (fair)
        find_waiting (self, memory > self->least_bytes + AG_GUARD_GROWTH);
    for (int fd = 0; (size_t)fd < self->room; fd++) {
        if (self->links[fd].open && fair)
            look_at_input (self, fd, memory);
        if (self->links[fd].open)
            look_at_output (self, fd, now_ms);
    }
    if (fair) {
        self->read = 0;
        self->drained = false;
    }
}

static void
forget_looks (ag_guard_t *self)
{
    for (size_t fd = 0; fd < self->room; fd++)
        self->links[fd].looks = self->links[fd].unread = 0;
}

static void
watch (void *context)
{
    ag_guard_t *self = context;
    if (self->trim_ms && ag_now_ms() >= self->trim_ms) {
        self->trim_ms = 0;
        malloc_trim (0);
    }
    uint64_t memory = memory_bytes (self);
    bool above = memory > self->limits.memory_bytes;
    if (above)
        look (self, memory);
    if (above == self->looking)
        return;
    self->looking = above;
    self->least_bytes = memory;
    forget_looks (self);
    int64_t period_ms = above ? AG_GUARD_LOOK_MS : AG_GUARD_REST_MS;
    ag_loop_cancel (self->loop, self->timer);
    self->timer = ag_loop_timer (self->loop, period_ms, period_ms, watch, self);
}

ag_guard_t *
ag_guard_new (void *zmq_context, ag_loop_t *loop, void *socket, struct ag_guard_limits limits)
{
    ag_guard_t *self = ag_xmalloc (sizeof *self);
    *self = (ag_guard_t){.loop = loop, .socket = socket, .limits = limits};
    self->statm = open ("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    char endpoint[64];
    snprintf (endpoint, sizeof endpoint, "inproc://guard-%p", (void *)self);
    int rc = zmq_socket_monitor (socket, endpoint, ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED);
    assert (rc == 0);
    self->monitor = ag_net_socket (zmq_context, &(struct ag_net){ZMQ_PAIR, 1, 1, NULL});
    rc = zmq_connect (self->monitor, endpoint);
    assert (rc == 0 && self->statm >= 0);
    ag_loop_add_private (loop, self->monitor, read_event, self);
    self->timer = ag_loop_timer (loop, AG_GUARD_REST_MS, AG_GUARD_REST_MS, watch, self);
    return self;
}

//  The events are read to the end first: libzmq's thread waits for room with the lock that stopping takes.
void
ag_guard_destroy (ag_guard_t **self_p)
{
    ag_guard_t *self = *self_p;
    if (!self)
        return;
    read_events (self);
    zmq_socket_monitor (self->socket, NULL, 0);
    ag_loop_remove_socket (self->loop, self->monitor);
    ag_loop_cancel (self->loop, self->timer);
    zmq_close (self->monitor);
    close (self->statm);
    free (self->links);
    free (self);
    *self_p = NULL;
}

int
ag_guard_recv (ag_guard_t *self, size_t max_bytes, struct ag_parts *parts, struct ag_err *err)
{
    int got = ag_net_recv (self->socket, max_bytes, parts, err);
    if (got == 0) {
        self->drained = true;
        return 0;
    }
    self->read++;
    struct link *link = link_of (self, parts->peer.fd);
    if (link)
        link->looks = 0;
    return got;
}

int64_t
ag_guard_accepted_ms (ag_guard_t *self, pid_t pid)
{
    int64_t accepted_ms = -1;
    read_events (self);
    for (size_t fd = 0; fd < self->room; fd++) {
        const struct link *link = &self->links[fd];
        if (link->open && link->pid == pid && link->accepted_ms > accepted_ms)
            accepted_ms = link->accepted_ms;
    }
    return accepted_ms;
}

struct ag_guard_counts
ag_guard_counts (const ag_guard_t *self)
{
    return self->counts;
}
