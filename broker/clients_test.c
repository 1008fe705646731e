//  The parts of clients that a real broker shows only after minutes; the rest is in tests/peers.
//  SPDX-License-Identifier: Apache-2.0
#include "broker/clients.h"
#include "common/answer.h"
#include "common/wire.h"
#include "common/zap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int
admit (void *context, struct ag_str domain, const struct ag_peer *peer, struct ag_err *err)
{
    (void)context, (void)domain, (void)peer, (void)err;
    return 0;
}

static void
a_request_that_nobody_answers_is_told_so_in_the_end (void **state)
{
    (void)state;
    char dir[] = "/tmp/agsup-clients-XXXXXX", path[64];
    struct ag_err err;
    assert_non_null (mkdtemp (dir));
    snprintf (path, sizeof path, "%s/a.sock", dir);
    void *context = ag_net_context();
    ag_loop_t *loop = ag_loop_new();
    ag_zap_t *zap = ag_zap_new (context, loop, admit, NULL, &err);
    struct ag_clients_setting setting = {path, AG_LIT ("token"), {1 << 30, 10}, 50};
    ag_clients_t *clients = ag_clients_new (context, loop, &setting, &err);
    assert_non_null (clients);
    void *dealer = ag_net_socket (context, &(struct ag_net){ZMQ_DEALER, 8, 8, NULL});
    assert_int_equal (ag_net_connect (dealer, path, &err), 0);

    struct ag_msg msg = {.type = AG_MSG_status, .token = AG_LIT ("token"), .id = AG_LIT ("mine")};
    struct ag_buf request = {0};
    ag_wire_write (&msg, &request);
    assert_int_equal (ag_net_send (dealer, &(struct ag_str){(char *)request.p, request.n}, 1, &err),
                      0);
    struct ag_parts answer;
    int got = 0;
    for (int64_t end_ms = ag_now_ms() + 30000; !got && ag_now_ms() < end_ms;) {
        assert_int_equal (ag_loop_turn (loop, 20, &err), 0);
        got = ag_net_recv (dealer, 10000, &answer, &err);
    }
    struct ag_str word, id;
    assert_int_equal (got, 1);
    assert_int_equal (ag_map_text (ag_part (&answer, 0), "id", &id), 0);
    assert_true (ag_str_is (id, "mine"));
    assert_int_equal (ag_answer_read (ag_part (&answer, 0), &word, &err), -1);
    assert_int_equal (err.code, AG_E_TIMEOUT);

    ag_parts_fini (&answer);
    ag_buf_fini (&request);
    zmq_close (dealer);
    ag_clients_destroy (&clients);
    ag_zap_destroy (&zap);
    ag_loop_destroy (&loop);
    zmq_ctx_term (context);
    rmdir (dir);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_request_that_nobody_answers_is_told_so_in_the_end),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
