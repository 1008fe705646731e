//  SPDX-License-Identifier: Apache-2.0
#include "common/zap.h"
#include "common/raw_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 30000 };

struct bench {
    char dir[32], path[64], domain[32];
    void *context, *router, *dealer;
    ag_loop_t *loop;
    ag_zap_t *zap;
    struct ag_peer asked; //  about whom the handler was asked last
    pid_t admitted;
};

static int
decide (void *context, struct ag_str domain, const struct ag_peer *peer, struct ag_err *err)
{
    struct bench *self = context;
    self->asked = *peer;
    snprintf (self->domain, sizeof self->domain, "%.*s", AG_STR_ARG (domain));
    if (peer->pid != self->admitted)
        return ag_fail (err, AG_E_NOT_ALLOWED, "process %d is a stranger", (int)peer->pid);
    return 0;
}

static int
setup (void **state)
{
    static struct bench bench;
    struct ag_err err;
    bench = (struct bench){.dir = "/tmp/agsup-zap-XXXXXX", .admitted = getpid()};
    assert_non_null (mkdtemp (bench.dir));
    snprintf (bench.path, sizeof bench.path, "%s/a.sock", bench.dir);
    bench.context = ag_net_context();
    bench.loop = ag_loop_new();
    bench.zap = ag_zap_new (bench.context, bench.loop, decide, &bench, &err);
    assert_non_null (bench.zap);
    bench.router = ag_net_socket (bench.context, &(struct ag_net){ZMQ_ROUTER, 8, 8, "front"});
    assert_int_equal (ag_net_bind (bench.router, bench.path, 0600, &err), 0);
    bench.dealer = ag_net_socket (bench.context, &(struct ag_net){ZMQ_DEALER, 8, 8, NULL});
    assert_int_equal (ag_net_connect (bench.dealer, bench.path, &err), 0);
    *state = &bench;
    return 0;
}

static int
teardown (void **state)
{
    struct bench *self = *state;
    ag_zap_destroy (&self->zap);
    ag_loop_destroy (&self->loop);
    zmq_setsockopt (self->dealer, ZMQ_LINGER, &(int){0}, sizeof (int));
    zmq_close (self->dealer);
    zmq_close (self->router);
    zmq_ctx_term (self->context);
    unlink (self->path);
    return rmdir (self->dir);
}

//  Whether the house lets a message through within the time.
static int
heard (struct bench *self, int within_ms)
{
    struct ag_err err;
    struct ag_parts parts = {0};
    int got = 0;
    for (int64_t end_ms = ag_now_ms() + within_ms; !got && ag_now_ms() < end_ms;) {
        assert_int_equal (ag_loop_turn (self->loop, 5, &err), 0);
        got = ag_net_recv (self->router, 100, &parts, &err);
    }
    ag_parts_fini (&parts);
    return got;
}

static void
say_hello (struct bench *self)
{
    struct ag_err err;
    assert_int_equal (ag_net_send (self->dealer, &AG_LIT ("hello"), 1, &err), 0);
}

static void
who_is_admitted_is_heard_and_known_by_process_user_and_domain (void **state)
{
    struct bench *self = *state;
    say_hello (self);
    assert_int_equal (heard (self, PATIENCE_MS), 1);
    assert_int_equal (self->asked.pid, getpid());
    assert_int_equal (self->asked.uid, geteuid());
    assert_string_equal (self->domain, "front");
}

//  The answer to a question is given in the turn that asks it. Whether libzmq comes again is its own affair.
static void
who_is_refused_is_never_heard (void **state)
{
    struct bench *self = *state;
    self->admitted = 1;
    say_hello (self);
    for (int64_t end_ms = ag_now_ms() + PATIENCE_MS; !self->asked.pid && ag_now_ms() < end_ms;)
        assert_int_equal (heard (self, 50), 0);
    assert_int_equal (self->asked.pid, getpid());
    assert_int_equal (heard (self, 200), 0);
}

static void
the_process_is_the_one_that_connected_not_the_one_that_says_so (void **state)
{
    struct bench *self = *state;
    struct ag_err err;
    pid_t child = fork();
    if (child == 0) {
        int fd = raw_connect (self->path);
        _exit (fd < 0 || raw_handshake (fd, "DEALER"));
    }
    int status = -1;
    self->admitted = child;
    for (int64_t end_ms = ag_now_ms() + PATIENCE_MS; ag_now_ms() < end_ms;) {
        assert_int_equal (ag_loop_turn (self->loop, 5, &err), 0);
        if (waitpid (child, &status, WNOHANG) == child)
            break;
    }
    assert_int_equal (status, 0); //  the dealer of this process was asked about too, and refused
}

int
main (void)
{
#define T(name) cmocka_unit_test_setup_teardown (name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T (who_is_admitted_is_heard_and_known_by_process_user_and_domain),
        T (who_is_refused_is_never_heard),
        T (the_process_is_the_one_that_connected_not_the_one_that_says_so),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
