//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/outbox.h"
#include "common/net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

struct bench {
    void *context, *router, *worker;
    struct ag_route route;
    ag_outbox_t *outbox;
    int lost;
};

static const struct ag_net a_router = {ZMQ_ROUTER, 16, 2, NULL};
static const struct ag_net a_dealer = {ZMQ_DEALER, 2, 16, NULL};

//  The router knows the worker by the message that it sent.
static int
setup (void **state)
{
    static struct bench bench;
    struct ag_err err;
    struct ag_parts parts;
    bench = (struct bench){.context = ag_net_context(), .outbox = ag_outbox_new()};
    bench.router = ag_net_socket (bench.context, &a_router);
    bench.worker = ag_net_socket (bench.context, &a_dealer);
    zmq_pollitem_t item = {bench.router, 0, ZMQ_POLLIN, 0};
    if (zmq_bind (bench.router, "inproc://outbox") ||
        zmq_connect (bench.worker, "inproc://outbox") ||
        ag_net_send (bench.worker, &AG_LIT ("hello"), 1, &err) || zmq_poll (&item, 1, 5000) != 1 ||
        ag_net_recv (bench.router, 100, &parts, &err) != 1)
        return -1;
    struct ag_str id = ag_part (&parts, 0);
    bench.route = (struct ag_route){.socket = bench.router, .id_bytes = (uint8_t)id.n};
    memcpy (bench.route.id, id.p, id.n);
    ag_parts_fini (&parts);
    *state = &bench;
    return 0;
}

static int
teardown (void **state)
{
    struct bench *self = *state;
    ag_outbox_destroy (&self->outbox);
    zmq_close (self->router);
    zmq_close (self->worker);
    return zmq_ctx_term (self->context);
}

static void
lost (void *context, const struct ag_route *route)
{
    struct bench *self = context;
    assert_int_equal (route->id_bytes, self->route.id_bytes);
    self->lost++;
}

//  The next message at the worker is this; NULL: there is none.
static void
hears (struct bench *self, const char *text)
{
    struct ag_err err;
    struct ag_parts parts;
    assert_int_equal (ag_net_recv (self->worker, 100, &parts, &err), text ? 1 : 0);
    if (!text)
        return;
    assert_true (ag_str_is (ag_part (&parts, 0), text));
    ag_parts_fini (&parts);
}

static void
what_is_inner_goes_at_once_and_only_once (void **state)
{
    struct bench *self = *state;
    ag_outbox_put_inner (self->outbox, &self->route, AG_LIT ("one"));
    hears (self, NULL);
    ag_outbox_send_inner (self->outbox, lost, self);
    hears (self, "one");
    assert_true (ag_outbox_is_inner (self->outbox));
    ag_outbox_put_inner (self->outbox, &self->route, AG_LIT ("two"));
    ag_outbox_send (self->outbox, lost, self);
    hears (self, "two");
    hears (self, NULL);
    assert_false (ag_outbox_is_inner (self->outbox));
    ag_outbox_send (self->outbox, lost, self);
    hears (self, NULL);
    assert_int_equal (self->lost, 0);
}

static void
behind_what_waits_for_the_sync_what_is_inner_waits_too (void **state)
{
    struct bench *self = *state;
    ag_outbox_put (self->outbox, &self->route, AG_LIT ("on disk first"));
    ag_outbox_put_inner (self->outbox, &self->route, AG_LIT ("inner"));
    ag_outbox_send_inner (self->outbox, lost, self);
    hears (self, NULL);
    assert_false (ag_outbox_is_inner (self->outbox));
    ag_outbox_send (self->outbox, lost, self);
    hears (self, "on disk first");
    hears (self, "inner");
    hears (self, NULL);
}

static void
what_is_under_way_is_not_taken_back_and_what_waits_is_dropped_by_a_failed_write (void **state)
{
    struct bench *self = *state;
    struct ag_err err;
    ag_outbox_put_inner (self->outbox, &self->route, AG_LIT ("inner"));
    ag_outbox_send_inner (self->outbox, lost, self);
    ag_outbox_put (self->outbox, &self->route, AG_LIT ("on disk first"));
    ag_fail (&err, AG_E_DISK_FULL, "the disk is full");
    ag_outbox_fail (self->outbox, &err);
    ag_outbox_put_inner (self->outbox, &self->route, AG_LIT ("next"));
    ag_outbox_send_inner (self->outbox, lost, self);
    hears (self, "inner");
    hears (self, "next");
    hears (self, NULL);
}

//  Two are on the way to it at most; inproc, its own queue counts as well.
static void
a_worker_that_takes_nothing_is_told_of_by_each_way_of_sending (void **state)
{
    struct bench *self = *state;
    for (int i = 0; i < 5; i++) {
        ag_outbox_put_inner (self->outbox, &self->route, AG_LIT ("x"));
        ag_outbox_send_inner (self->outbox, lost, self);
    }
    assert_int_equal (self->lost, 1);
    ag_outbox_send (self->outbox, lost, self);
    assert_int_equal (self->lost, 1);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (what_is_inner_goes_at_once_and_only_once, setup, teardown),
        cmocka_unit_test_setup_teardown (behind_what_waits_for_the_sync_what_is_inner_waits_too,
                                         setup, teardown),
        cmocka_unit_test_setup_teardown (
            what_is_under_way_is_not_taken_back_and_what_waits_is_dropped_by_a_failed_write, setup,
            teardown),
        cmocka_unit_test_setup_teardown (
            a_worker_that_takes_nothing_is_told_of_by_each_way_of_sending, setup, teardown),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
