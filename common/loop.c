//  SPDX-License-Identifier: Apache-2.0
#include "common/loop.h"
#include "common/buf.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

struct source {
    void *socket;    //  NULL: the descriptor
    int fd;          //  of a socket: ZMQ_FD
    ag_ready_fn *fn; //  NULL: removed in this turn
    void *context;
    bool more;    //  it had more when it was last left
    bool private; //  nobody calls it but fn
    bool silent;  //  private, and read to its end: its descriptor tells of what comes next
};

struct timer {
    uint64_t number;
    int64_t due_ms, period_ms;
    ag_call_fn *fn; //  NULL: cancelled in this turn
    void *context;
};

struct ag_loop {
    struct source *sources;
    struct pollfd *items; //  of the same sources, in the same order
    size_t count, room;
    struct timer *timers;
    size_t timer_count, timer_room;
    uint64_t timer_last;
    size_t first; //  the source that is read first in the next turn
    bool changed, stopped;
    ag_call_fn *turn_end;
    void *turn_context;
    int signal_fd;
    ag_signal_fn *signal;
    void *signal_context;
};

int64_t
ag_now_ms (void)
{
    struct timespec now;
    clock_gettime (CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C (1000) + now.tv_nsec / 1000000;
}

ag_loop_t *
ag_loop_new (void)
{
    ag_loop_t *self = ag_xcalloc (1, sizeof *self);
    self->signal_fd = -1;
    return self;
}

void
ag_loop_destroy (ag_loop_t **self_p)
{
    ag_loop_t *self = *self_p;
    if (!self)
        return;
    if (self->signal_fd >= 0)
        close (self->signal_fd);
    free (self->sources);
    free (self->items);
    free (self->timers);
    free (self);
    *self_p = NULL;
}

static struct source *
find (ag_loop_t *self, const void *socket, int fd)
{
    for (size_t i = 0; i < self->count; i++) {
        struct source *source = &self->sources[i];
        if (source->fn && (socket ? source->socket == socket : !source->socket && source->fd == fd))
            return source;
    }
    return NULL;
}

static void
add (ag_loop_t *self, struct source source)
{
    assert (source.fn && (source.socket || source.fd >= 0) &&
            !find (self, source.socket, source.fd));
    if (self->count == self->room) {
        self->room = self->room ? 2 * self->room : 16;
        self->sources = ag_xrealloc (self->sources, self->room * sizeof *self->sources);
        self->items = ag_xrealloc (self->items, self->room * sizeof *self->items);
    }
    self->sources[self->count] = source;
    self->items[self->count] = (struct pollfd){source.fd, POLLIN, 0};
    self->count++;
}

static int
descriptor (void *socket)
{
    int fd, rc = zmq_getsockopt (socket, ZMQ_FD, &fd, &(size_t){sizeof fd});
    assert (rc == 0);
    return fd;
}

void
ag_loop_add_socket (ag_loop_t *self, void *socket, ag_ready_fn *fn, void *context)
{
    add (self, (struct source){socket, descriptor (socket), fn, context, .more = false});
}

void
ag_loop_add_private (ag_loop_t *self, void *socket, ag_ready_fn *fn, void *context)
{
    add (self, (struct source){socket, descriptor (socket), fn, context, .private = true});
}

void
ag_loop_add_fd (ag_loop_t *self, int fd, ag_ready_fn *fn, void *context)
{
    add (self, (struct source){NULL, fd, fn, context, .more = false});
}

//  The slot stays until the turn is over: somebody may be walking over it.
static void
forget (ag_loop_t *self, const void *socket, int fd)
{
    struct source *source = find (self, socket, fd);
    if (source) {
        source->fn = NULL;
        self->changed = true;
    }
}

void
ag_loop_remove_socket (ag_loop_t *self, void *socket)
{
    forget (self, socket, -1);
}

void
ag_loop_remove_fd (ag_loop_t *self, int fd)
{
    forget (self, NULL, fd);
}

//  Drop the slots of what was removed.
static void
sweep (ag_loop_t *self)
{
    size_t kept = 0, timers = 0;
    for (size_t i = 0; i < self->count; i++)
        if (self->sources[i].fn) {
            self->sources[kept] = self->sources[i];
            self->items[kept++] = self->items[i];
        }
    for (size_t i = 0; i < self->timer_count; i++)
        if (self->timers[i].fn)
            self->timers[timers++] = self->timers[i];
    self->count = kept;
    self->timer_count = timers;
    self->changed = false;
}

uint64_t
ag_loop_timer (ag_loop_t *self, int64_t delay_ms, int64_t period_ms, ag_call_fn *fn, void *context)
{
    assert (fn && delay_ms >= 0 && period_ms >= 0);
    if (self->timer_count == self->timer_room) {
        self->timer_room = self->timer_room ? 2 * self->timer_room : 16;
        self->timers = ag_xrealloc (self->timers, self->timer_room * sizeof *self->timers);
    }
    self->timers[self->timer_count++] =
        (struct timer){++self->timer_last, ag_now_ms() + delay_ms, period_ms, fn, context};
    return self->timer_last;
}

void
ag_loop_cancel (ag_loop_t *self, uint64_t number)
{
    for (size_t i = 0; i < self->timer_count; i++)
        if (self->timers[i].number == number) {
            self->timers[i].fn = NULL;
            self->changed = true;
        }
}

static void
do_nothing (void *context)
{
    (void)context;
}

void
ag_loop_again (ag_loop_t *self, int64_t delay_ms)
{
    ag_loop_timer (self, delay_ms, 0, do_nothing, NULL);
}

static bool
read_signal (void *context)
{
    ag_loop_t *self = context;
    struct signalfd_siginfo info;
    if (read (self->signal_fd, &info, sizeof info) != sizeof info)
        return false;
    self->signal (self->signal_context, (int)info.ssi_signo);
    return true;
}

int
ag_loop_signals (ag_loop_t *self, ag_signal_fn *fn, void *context, struct ag_err *err)
{
    assert (self->signal_fd < 0);
    sigset_t set;
    sigemptyset (&set);
    sigaddset (&set, SIGTERM);
    sigaddset (&set, SIGINT);
    sigaddset (&set, SIGHUP);
    pthread_sigmask (SIG_BLOCK, &set, NULL);
    self->signal_fd = signalfd (-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (self->signal_fd < 0)
        return ag_fail (err, AG_E_SYSTEM, "signalfd: %s", strerror (errno));
    self->signal = fn;
    self->signal_context = context;
    ag_loop_add_fd (self, self->signal_fd, read_signal, self);
    return 0;
}

void
ag_loop_at_turn_end (ag_loop_t *self, ag_call_fn *fn, void *context)
{
    self->turn_end = fn;
    self->turn_context = context;
}

void
ag_loop_stop (ag_loop_t *self)
{
    self->stopped = true;
}

//  A socket's descriptor tells only that libzmq has news for it. Any call on the socket may take the news in
//  and leave the descriptor silent while a message waits, and of a pipe that nobody tried to read there are
//  none. So each socket is asked before the sleep, but for private ones since their end was seen; what comes
//  later wakes it, and the handler finds out what it is.
static int
ask_sockets (ag_loop_t *self, struct ag_err *err)
{
    for (size_t i = 0; i < self->count; i++) {
        struct source *source = &self->sources[i];
        int events = 0, rc = 0;
        if (!source->socket || source->more || source->silent)
            continue;
        do
            rc = zmq_getsockopt (source->socket, ZMQ_EVENTS, &events, &(size_t){sizeof events});
        while (rc && errno == EINTR);
        if (rc)
            return ag_fail (err, AG_E_SYSTEM, "ZMQ_EVENTS: %s", zmq_strerror (errno));
        source->more = events & ZMQ_POLLIN;
        source->silent = source->private && !source->more;
    }
    return 0;
}

//  How long the turn may sleep: not at all with input left over, else until the next timer.
static int
patience (const ag_loop_t *self, int64_t wait_ms)
{
    for (size_t i = 0; i < self->count; i++)
        if (self->sources[i].more)
            return 0;
    int64_t now_ms = ag_now_ms();
    for (size_t i = 0; i < self->timer_count; i++) {
        int64_t left_ms = self->timers[i].due_ms > now_ms ? self->timers[i].due_ms - now_ms : 0;
        if (wait_ms < 0 || left_ms < wait_ms)
            wait_ms = left_ms;
    }
    return wait_ms > INT_MAX ? INT_MAX : (int)wait_ms;
}

//  The timers that were there when the turn began; one that is set by a handler waits for the next turn.
static void
run_timers (ag_loop_t *self)
{
    int64_t now_ms = ag_now_ms();
    size_t count = self->timer_count;
    for (size_t i = 0; i < count; i++) {
        struct timer timer = self->timers[i];
        if (!timer.fn || timer.due_ms > now_ms)
            continue;
        if (timer.period_ms)
            self->timers[i].due_ms = now_ms + timer.period_ms;
        else
            ag_loop_cancel (self, timer.number);
        timer.fn (timer.context);
    }
}

//  One piece of each source that has something; how many still have more.
static size_t
read_round (ag_loop_t *self, size_t count)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = (self->first + i) % count;
        struct source source = self->sources[at];
        if (!source.fn || !source.more)
            continue;
        source.more = source.fn (source.context);
        self->sources[at].more = source.more;
        self->sources[at].silent = source.private && !source.more;
        left += source.more;
    }
    return left;
}

static void
read_sources (ag_loop_t *self)
{
    size_t count = self->count, left = 0;
    for (size_t i = 0; i < count; i++) {
        self->sources[i].more |= self->items[i].revents != 0;
        left += self->sources[i].more;
    }
    int64_t end_ms = ag_now_ms() + AG_TURN_MS;
    for (int round = 0; left && round < AG_TURN_PIECES && ag_now_ms() <= end_ms; round++)
        left = read_round (self, count);
    self->first = count ? (self->first + 1) % count : 0;
}

int
ag_loop_turn (ag_loop_t *self, int64_t wait_ms, struct ag_err *err)
{
    if (self->changed)
        sweep (self);
    if (ask_sockets (self, err))
        return -1;
    int ready = poll (self->items, self->count, patience (self, wait_ms));
    if (ready < 0 && errno != EINTR)
        return ag_fail (err, AG_E_SYSTEM, "poll: %s", strerror (errno));
    run_timers (self);
    if (ready >= 0)
        read_sources (self);
    if (self->turn_end)
        self->turn_end (self->turn_context);
    return 0;
}

int
ag_loop_run (ag_loop_t *self, struct ag_err *err)
{
    self->stopped = false;
    while (!self->stopped)
        if (ag_loop_turn (self, -1, err))
            return -1;
    return 0;
}
