/*  loop - one poll loop: sockets, descriptors, timers, signals, and a hook at the end of each turn.
 *
 *  A turn: sleep until something is ready; run the timers that are due; read the ready sources round robin,
 *  one piece at a time, until all are empty or the turn's bounds are reached; run the end-of-turn hook.
 *  What is left over keeps the next turn from sleeping. So a flood on one source costs the others one
 *  piece of delay, and a turn is bounded in count (a source) and in time (all of them).
 *
 *  Contexts, sockets and descriptors are the caller's and outlive their registration. Any handler may add
 *  and remove sources and timers, its own too. Lack of memory ends the process.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_LOOP_H
#define AG_LOOP_H
#include "common/err.h"
#include <stdint.h>

enum {
    AG_TURN_PIECES = 256, //  of one source in one turn
    AG_TURN_MS = 2        //  of reading in one turn
};

typedef struct ag_loop ag_loop_t;

//  Read one message, or one bounded piece of a descriptor, without waiting. True: there may be more;
//  false: it is empty now. A descriptor at its end or in error stays ready: its handler removes it.
typedef bool ag_ready_fn (void *context);
typedef void ag_call_fn (void *context);
typedef void ag_signal_fn (void *context, int signal);

ag_loop_t *ag_loop_new (void);
void ag_loop_destroy (ag_loop_t **self_p);

//  Watch for input, level-triggered on both kinds. A source is added once. The handler of a socket may find
//  it empty; it returns false only after libzmq said EAGAIN. Others may use the socket too; not a private
//  one, which nobody calls but its handler, or to read it to EAGAIN: it costs nothing while it is silent.
void ag_loop_add_socket (ag_loop_t *self, void *socket, ag_ready_fn *fn, void *context);
void ag_loop_add_private (ag_loop_t *self, void *socket, ag_ready_fn *fn, void *context);
void ag_loop_add_fd (ag_loop_t *self, int fd, ag_ready_fn *fn, void *context);
void ag_loop_remove_socket (ag_loop_t *self, void *socket);
void ag_loop_remove_fd (ag_loop_t *self, int fd);

//  Call fn after delay_ms, then every period_ms (0: once). Returns a number for ag_loop_cancel, never 0.
//  A period that was missed is not made up for. Cancelling a timer that is gone does nothing.
uint64_t ag_loop_timer (ag_loop_t *self, int64_t delay_ms, int64_t period_ms, ag_call_fn *fn,
                        void *context);
void ag_loop_cancel (ag_loop_t *self, uint64_t timer);
//  Another turn comes after this time at the latest, for work that goes on without anything to read.
void ag_loop_again (ag_loop_t *self, int64_t delay_ms);

//  Block SIGTERM, SIGINT and SIGHUP for this thread and the threads it will make, and hand them to fn.
//  Before the ZeroMQ context exists; at most once.
int ag_loop_signals (ag_loop_t *self, ag_signal_fn *fn, void *context, struct ag_err *err);

//  Called once at the end of each turn, also of one in which nothing was read.
void ag_loop_at_turn_end (ag_loop_t *self, ag_call_fn *fn, void *context);

//  Turns until ag_loop_stop; the turn in which it was called still comes to its end. -1 when polling fails.
int ag_loop_run (ag_loop_t *self, struct ag_err *err);
void ag_loop_stop (ag_loop_t *self);
//  One turn that sleeps at most wait_ms (-1: as long as there is nothing to do); for tests.
int ag_loop_turn (ag_loop_t *self, int64_t wait_ms, struct ag_err *err);

//  Monotonic milliseconds.
int64_t ag_now_ms (void);
#endif
