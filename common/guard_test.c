//  SPDX-License-Identifier: Apache-2.0
#include "common/guard.h"
#include "common/raw_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

//  Freed memory counts as ours until the sanitizer lets go of it.
const char *__asan_default_options (void);
const char *
__asan_default_options (void)
{
    return "quarantine_size_mb=1";
}

enum { MB = 1 << 20, BUDGET = 32 * MB, BOUND = 200 * MB };

struct bench {
    char dir[32], path[64];
    pid_t hostile;
    int start; //  writing a byte lets the hostile child begin
    void *context, *router, *honest;
    ag_loop_t *loop;
    ag_guard_t *guard;
    uint64_t before, most;
    int echoed;
};

static uint64_t
resident (void)
{
    unsigned long pages = 0;
    FILE *file = fopen ("/proc/self/statm", "r");
    assert_int_equal (fscanf (file, "%*u %lu", &pages), 1);
    fclose (file);
    return (uint64_t)pages * (uint64_t)sysconf (_SC_PAGESIZE);
}

//  What a hostile peer does, in a process of its own; its exit status says how it went.
typedef int hostile_fn (const char *path);

//  Fork before any ZeroMQ thread exists.
static void
hire (struct bench *self, hostile_fn *fn)
{
    int fds[2];
    char byte;
    assert_int_equal (pipe (fds), 0);
    self->hostile = fork();
    if (self->hostile == 0) {
        close (fds[1]);
        _exit (read (fds[0], &byte, 1) == 1 ? fn (self->path) : 99);
    }
    close (fds[0]);
    self->start = fds[1];
}

static bool
echo_one (void *context)
{
    struct bench *self = context;
    struct ag_parts parts;
    struct ag_err err;
    int got = ag_guard_recv (self->guard, AG_NET_FRAME_BYTES, &parts, &err);
    if (got > 0 && parts.count == 2) {
        struct ag_str back[] = {ag_part (&parts, 0), ag_part (&parts, 1)};
        ag_net_send (self->router, back, 2, &err);
    }
    ag_parts_fini (&parts);
    return got != 0;
}

static void
measure (void *context)
{
    struct bench *self = context;
    uint64_t now = resident();
    if (now > self->most)
        self->most = now;
}

static void
open_house (struct bench *self, size_t connections)
{
    struct ag_err err;
    self->context = ag_net_context();
    self->loop = ag_loop_new();
    self->router = ag_net_socket (self->context, &(struct ag_net){ZMQ_ROUTER, 16, 64, NULL});
    self->before = self->most = resident();
    self->guard = ag_guard_new (self->context, self->loop, self->router,
                                (struct ag_guard_limits){self->before + BUDGET, connections});
    assert_int_equal (ag_net_bind (self->router, self->path, 0600, &err), 0);
    ag_loop_add_socket (self->loop, self->router, echo_one, self);
    ag_loop_timer (self->loop, 0, 5, measure, self);
    self->honest = ag_net_socket (self->context, &(struct ag_net){ZMQ_DEALER, 64, 64, NULL});
    zmq_setsockopt (self->honest, ZMQ_RECONNECT_IVL, &(int){-1}, sizeof (int));
    assert_int_equal (ag_net_connect (self->honest, self->path, &err), 0);
}

static int
setup (void **state)
{
    static struct bench bench;
    bench = (struct bench){.dir = "/tmp/agsup-guard-XXXXXX"};
    assert_non_null (mkdtemp (bench.dir));
    snprintf (bench.path, sizeof bench.path, "%s/a.sock", bench.dir);
    *state = &bench;
    return 0;
}

static int
teardown (void **state)
{
    struct bench *self = *state;
    if (self->hostile) {
        kill (self->hostile, SIGKILL);
        waitpid (self->hostile, NULL, 0);
        close (self->start);
    }
    ag_guard_destroy (&self->guard);
    ag_loop_destroy (&self->loop);
    zmq_close (self->honest);
    zmq_close (self->router);
    zmq_ctx_term (self->context);
    unlink (self->path);
    return rmdir (self->dir);
}

//  One question of n bytes to the house and its answer; the connection must be the same all along, since
//  it does not come back once it is cut.
static void
ask (struct bench *self, size_t n)
{
    struct ag_parts answer;
    struct ag_err err;
    char *bytes = calloc (1, n);
    assert_int_equal (ag_net_send (self->honest, &(struct ag_str){bytes, n}, 1, &err), 0);
    free (bytes);
    int64_t end_ms = ag_now_ms() + 30000;
    int got = 0;
    while (!got && ag_now_ms() < end_ms) {
        assert_int_equal (ag_loop_turn (self->loop, 5, &err), 0);
        got = ag_net_recv (self->honest, AG_NET_FRAME_BYTES, &answer, &err);
    }
    assert_int_equal (got, 1);
    assert_int_equal (answer.bytes, n);
    ag_parts_fini (&answer);
    self->echoed++;
}

//  Let the hostile peer begin and go on asking until it is gone; its exit status.
static int
outlive (struct bench *self, int within_ms, size_t n)
{
    int status = -1;
    int64_t end_ms = ag_now_ms() + within_ms;
    assert_int_equal (write (self->start, "x", 1), 1);
    while (ag_now_ms() < end_ms) {
        ask (self, n);
        if (waitpid (self->hostile, &status, WNOHANG) == self->hostile) {
            self->hostile = 0;
            close (self->start);
            return WEXITSTATUS (status);
        }
    }
    return -1;
}

static int
endless (const char *path, size_t frame, int pause_us)
{
    int fd = raw_connect (path);
    char *bytes = calloc (1, frame);
    if (fd < 0 || !bytes || raw_handshake (fd, "DEALER"))
        return 1;
    while (!raw_frame (fd, RAW_MORE, frame, bytes, frame))
        if (pause_us)
            usleep ((useconds_t)pause_us);
    return 0;
}

static int
endless_fast (const char *path)
{
    return endless (path, 65536, 0);
}

static int
endless_small (const char *path)
{
    return endless (path, 100, 0);
}

static int
endless_slow (const char *path)
{
    return endless (path, 256 << 10, 5000);
}

//  10 MB/s: libzmq has taken it in before anybody looks.
static int
endless_slower (const char *path)
{
    return endless (path, 64 << 10, 6000);
}

static void
expect_cut (struct bench *self, hostile_fn *fn, int within_ms)
{
    hire (self, fn);
    open_house (self, 100);
    ask (self, 100);
    assert_int_equal (outlive (self, within_ms, 100), 0);
    assert_int_equal (ag_guard_counts (self->guard).cut, 1);
    print_message ("grew by %lu MB, %d answers meanwhile\n", (self->most - self->before) / MB,
                   self->echoed);
    assert_true (self->most - self->before < BOUND);
    ask (self, 100);
}

static void
an_endless_message_is_cut_and_nobody_else_notices (void **state)
{
    expect_cut (*state, endless_fast, 30000);
}

static void
an_endless_message_of_small_frames_is_cut (void **state)
{
    expect_cut (*state, endless_small, 30000);
}

static void
an_endless_message_that_drips_is_cut (void **state)
{
    expect_cut (*state, endless_slow, 30000);
}

static void
an_endless_message_that_trickles_is_cut (void **state)
{
    expect_cut (*state, endless_slower, 30000);
}

static void
an_endless_message_is_cut_when_nobody_else_is_there (void **state)
{
    struct bench *self = *state;
    struct ag_err err;
    hire (self, endless_fast);
    open_house (self, 100);
    assert_int_equal (write (self->start, "x", 1), 1);
    int64_t end_ms = ag_now_ms() + 30000;
    while (!ag_guard_counts (self->guard).cut && ag_now_ms() < end_ms)
        assert_int_equal (ag_loop_turn (self->loop, 100, &err), 0);
    assert_int_equal (ag_guard_counts (self->guard).cut, 1);
    assert_true (self->most - self->before < BOUND);
}

//  Above the budget all the time, for reasons of its own.
static void
large_messages_of_an_honest_peer_pass_while_memory_is_short (void **state)
{
    struct bench *self = *state;
    open_house (self, 100);
    char *ours = malloc (2 * BUDGET);
    memset (ours, 1, 2 * BUDGET);
    int64_t end_ms = ag_now_ms() + 1000;
    while (ag_now_ms() < end_ms)
        ask (self, AG_NET_FRAME_BYTES - 1000);
    assert_int_equal (ag_guard_counts (self->guard).cut, 0);
    assert_true (ours[BUDGET] == 1);
    free (ours);
}

//  Asks and never reads; the exit status says whether it was cut.
static int
greedy (const char *path)
{
    int fd = raw_connect (path);
    char *bytes = calloc (1, MB);
    if (fd < 0 || raw_handshake (fd, "DEALER"))
        return 1;
    for (int i = 0; i < 60; i++)
        raw_frame (fd, 0, MB, bytes, MB);
    for (int i = 0; i < 60; i++) {
        if (raw_frame (fd, 0, 1, "x", 1))
            return 0;
        usleep (100000);
    }
    return 2;
}

static void
a_peer_that_leaves_its_answers_unread_is_cut_when_memory_is_short (void **state)
{
    struct bench *self = *state;
    hire (self, greedy);
    open_house (self, 100);
    assert_int_equal (outlive (self, 8000, 100), 0);
    assert_int_equal (ag_guard_counts (self->guard).cut, 1);
}

static int
crowd (const char *path)
{
    int fds[64], cut = 0;
    for (int i = 0; i < 64; i++)
        fds[i] = raw_connect (path);
    for (int i = 0; i < 64; i++)
        cut += raw_is_cut (fds[i], i < 9 ? 50 : 5000);
    return cut;
}

static void
connections_beyond_the_limit_are_cut_at_once (void **state)
{
    struct bench *self = *state;
    hire (self, crowd);
    open_house (self, 10);
    ask (self, 100);
    assert_int_equal (outlive (self, 8000, 100), 64 - 9);
}

static void
a_connection_is_known_by_its_process_from_when_it_was_accepted (void **state)
{
    struct bench *self = *state;
    int64_t before_ms = ag_now_ms();
    open_house (self, 10);
    assert_int_equal (ag_guard_accepted_ms (self->guard, 1), -1);
    ask (self, 100);
    int64_t accepted_ms = ag_guard_accepted_ms (self->guard, getpid());
    assert_in_range (accepted_ms, before_ms, ag_now_ms());
    assert_int_equal (ag_guard_counts (self->guard).connections, 1);
}

int
main (void)
{
#define T(name) cmocka_unit_test_setup_teardown (name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T (an_endless_message_is_cut_and_nobody_else_notices),
        T (an_endless_message_of_small_frames_is_cut),
        T (an_endless_message_that_drips_is_cut),
        T (an_endless_message_that_trickles_is_cut),
        T (an_endless_message_is_cut_when_nobody_else_is_there),
        T (large_messages_of_an_honest_peer_pass_while_memory_is_short),
        T (a_peer_that_leaves_its_answers_unread_is_cut_when_memory_is_short),
        T (connections_beyond_the_limit_are_cut_at_once),
        T (a_connection_is_known_by_its_process_from_when_it_was_accepted),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
