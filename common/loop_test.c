//  SPDX-License-Identifier: Apache-2.0
#include "common/loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

struct bench {
    ag_loop_t *loop;
    void *context, *in, *out;
    int read, ticks, ends, signal;
    uint64_t timer;
};

static bool
read_one (void *context)
{
    struct bench *self = context;
    char bytes[64];
    if (zmq_recv (self->in, bytes, sizeof bytes, ZMQ_DONTWAIT) < 0)
        return false;
    self->read++;
    return true;
}

static void
end_turn (void *context)
{
    ((struct bench *)context)->ends++;
}

static void
tick (void *context)
{
    ((struct bench *)context)->ticks++;
}

static int
setup (void **state)
{
    static struct bench bench;
    bench = (struct bench){.loop = ag_loop_new(), .context = zmq_ctx_new()};
    bench.in = zmq_socket (bench.context, ZMQ_PULL);
    bench.out = zmq_socket (bench.context, ZMQ_PUSH);
    assert_int_equal (zmq_bind (bench.in, "inproc://loop"), 0);
    assert_int_equal (zmq_connect (bench.out, "inproc://loop"), 0);
    ag_loop_add_socket (bench.loop, bench.in, read_one, &bench);
    ag_loop_at_turn_end (bench.loop, end_turn, &bench);
    *state = &bench;
    return 0;
}

static int
teardown (void **state)
{
    struct bench *self = *state;
    ag_loop_destroy (&self->loop);
    zmq_close (self->in);
    zmq_close (self->out);
    zmq_ctx_term (self->context);
    return 0;
}

static void
turn (struct bench *self, int64_t wait_ms)
{
    struct ag_err err;
    assert_int_equal (ag_loop_turn (self->loop, wait_ms, &err), 0);
}

//  How a caller uses it: everything that is there is read, then the turn's end comes once.
static void
a_turn_reads_what_is_there_and_ends_once (void **state)
{
    struct bench *self = *state;
    for (int i = 0; i < 5; i++)
        zmq_send (self->out, "x", 1, 0);
    turn (self, 1000);
    assert_int_equal (self->read, 5);
    assert_int_equal (self->ends, 1);
    turn (self, 0);
    assert_int_equal (self->ends, 2);
}

//  Any call on a socket may take libzmq's signal in, and then its descriptor says nothing.
static void
a_message_is_read_whoever_took_its_signal_in (void **state)
{
    struct bench *self = *state;
    int events;
    turn (self, 0);
    zmq_send (self->out, "x", 1, 0);
    zmq_getsockopt (self->in, ZMQ_EVENTS, &events, &(size_t){sizeof events});
    int64_t start_ms = ag_now_ms();
    turn (self, 5000);
    assert_int_equal (self->read, 1);
    assert_true (ag_now_ms() - start_ms < 2500);
}

//  Silent since it was read to its end, or since it was asked and had nothing; then by its descriptor alone.
static void
a_private_socket_is_heard_however_often_it_was_silent (void **state)
{
    struct bench *self = *state;
    ag_loop_remove_socket (self->loop, self->in);
    turn (self, 0);
    ag_loop_add_private (self->loop, self->in, read_one, self);
    turn (self, 0);
    for (int i = 1; i <= 3; i++) {
        zmq_send (self->out, "x", 1, 0);
        turn (self, 5000);
        assert_int_equal (self->read, 2 * i - 1);
        turn (self, 0);
        zmq_send (self->out, "x", 1, 0);
        turn (self, 5000);
        assert_int_equal (self->read, 2 * i);
    }
}

static void
a_flood_is_read_in_bounded_turns_without_sleeping_between_them (void **state)
{
    struct bench *self = *state;
    for (int i = 0; i < 600; i++)
        zmq_send (self->out, "x", 1, ZMQ_DONTWAIT);
    int64_t start_ms = ag_now_ms();
    turn (self, 5000);
    assert_in_range (self->read, 1, AG_TURN_PIECES);
    for (int turns = 0; self->read < 600 && turns < 600; turns++)
        turn (self, 5000);
    assert_int_equal (self->read, 600);
    assert_true (ag_now_ms() - start_ms < 2000);
}

static int order[64], ordered;

static bool
endless (void *context)
{
    if (ordered < 64)
        order[ordered++] = *(int *)context;
    return true;
}

static void
sources_take_turns_one_piece_each (void **state)
{
    struct bench *self = *state;
    int a[2], b[2], names[2] = {1, 2};
    assert_int_equal (pipe (a) | pipe (b), 0);
    assert_int_equal (write (a[1], "x", 1) + write (b[1], "x", 1), 2);
    ag_loop_add_fd (self->loop, a[0], endless, &names[0]);
    ag_loop_add_fd (self->loop, b[0], endless, &names[1]);
    ordered = 0;
    turn (self, 1000);
    assert_int_equal (ordered, 64);
    for (int i = 1; i < 64; i++)
        assert_int_not_equal (order[i], order[i - 1]);
    ag_loop_remove_fd (self->loop, a[0]);
    ag_loop_remove_fd (self->loop, b[0]);
    for (int i = 0; i < 2; i++) {
        close (a[i]);
        close (b[i]);
    }
}

//  The slow one takes the whole turn; the other must have had its piece all the same.
static bool
slow (void *context)
{
    (void)context;
    usleep (3000);
    return true;
}

static void
a_slow_source_costs_the_others_one_piece (void **state)
{
    struct bench *self = *state;
    int fd[2];
    assert_int_equal (pipe (fd), 0);
    assert_int_equal (write (fd[1], "x", 1), 1);
    ag_loop_add_fd (self->loop, fd[0], slow, NULL);
    for (int i = 0; i < 3; i++)
        zmq_send (self->out, "x", 1, 0);
    for (int i = 1; i <= 3; i++) {
        int64_t start_ms = ag_now_ms();
        turn (self, 1000);
        assert_int_equal (self->read, i);
        assert_true (ag_now_ms() - start_ms < 500);
    }
    ag_loop_remove_fd (self->loop, fd[0]);
    close (fd[0]);
    close (fd[1]);
}

static void
a_timer_fires_once_or_until_it_is_cancelled (void **state)
{
    struct bench *self = *state;
    ag_loop_timer (self->loop, 5, 0, tick, self);
    int64_t start_ms = ag_now_ms();
    while (ag_now_ms() - start_ms < 40)
        turn (self, 10);
    assert_int_equal (self->ticks, 1);
    uint64_t timer = ag_loop_timer (self->loop, 0, 5, tick, self);
    for (int i = 0; i < 4; i++)
        turn (self, 1000);
    assert_in_range (self->ticks, 4, 6);
    ag_loop_cancel (self->loop, timer);
    int ticks = self->ticks;
    for (int i = 0; i < 3; i++)
        turn (self, 10);
    assert_int_equal (self->ticks, ticks);
}

static void
cancel_itself (void *context)
{
    struct bench *self = context;
    self->ticks++;
    ag_loop_cancel (self->loop, self->timer);
    ag_loop_remove_socket (self->loop, self->in);
    for (int i = 0; i < 100; i++) //  the tables move while they are walked
        ag_loop_timer (self->loop, 60000, 0, tick, self);
    ag_loop_add_socket (self->loop, self->in, read_one, self);
}

static void
a_handler_may_remove_and_add_while_the_loop_walks (void **state)
{
    struct bench *self = *state;
    self->timer = ag_loop_timer (self->loop, 0, 1, cancel_itself, self);
    turn (self, 1000);
    zmq_send (self->out, "x", 1, 0);
    usleep (3000);
    turn (self, 1000);
    turn (self, 10);
    assert_int_equal (self->ticks, 1);
    assert_int_equal (self->read, 1);
}

static void
on_signal (void *context, int number)
{
    struct bench *self = context;
    self->signal = number;
    ag_loop_stop (self->loop);
}

static void
a_signal_is_an_event_and_stop_ends_the_run_after_its_turn (void **state)
{
    struct bench *self = *state;
    struct ag_err err;
    assert_int_equal (ag_loop_signals (self->loop, on_signal, self, &err), 0);
    pthread_kill (pthread_self(), SIGHUP);
    assert_int_equal (ag_loop_run (self->loop, &err), 0);
    assert_int_equal (self->signal, SIGHUP);
    assert_int_equal (self->ends, 1);
    sigset_t none;
    sigemptyset (&none);
    pthread_sigmask (SIG_SETMASK, &none, NULL);
}

int
main (void)
{
#define T(name) cmocka_unit_test_setup_teardown (name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T (a_turn_reads_what_is_there_and_ends_once),
        T (a_message_is_read_whoever_took_its_signal_in),
        T (a_flood_is_read_in_bounded_turns_without_sleeping_between_them),
        T (sources_take_turns_one_piece_each),
        T (a_slow_source_costs_the_others_one_piece),
        T (a_timer_fires_once_or_until_it_is_cancelled),
        T (a_private_socket_is_heard_however_often_it_was_silent),
        T (a_handler_may_remove_and_add_while_the_loop_walks),
        T (a_signal_is_an_event_and_stop_ends_the_run_after_its_turn),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
