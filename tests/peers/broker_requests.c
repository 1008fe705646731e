//  Honest clients of the broker: requests, answers, credits, and a supervisor that comes and goes.
//  SPDX-License-Identifier: Apache-2.0
#include "tests/peers/house.h"

#include <signal.h>

static struct house house;

static int
setup (void **state)
{
    (void)state;
    house_open (&house, 0);
    return 0;
}

static int
teardown (void **state)
{
    (void)state;
    house_close (&house);
    return 0;
}

static void
expect (void *client, const char *word, const char *id)
{
    struct answer answer = client_hear (client, 30000);
    assert_string_equal (answer.word, word);
    assert_string_equal (answer.id, id);
}

static void
a_request_reaches_the_supervisor_and_its_answer_comes_back_to_any_kind_of_socket (void **state)
{
    (void)state;
    supervisor_open (&house);
    supervisor_expect_link (&house, 0);
    void *dealer = house_connect (&house, ZMQ_DEALER), *req = house_connect (&house, ZMQ_REQ);
    void *careful = house_connect (&house, ZMQ_REQ);
    zmq_setsockopt (careful, ZMQ_REQ_CORRELATE, &(int){1}, sizeof (int));
    zmq_setsockopt (careful, ZMQ_REQ_RELAXED, &(int){1}, sizeof (int));
    client_ask (&house, dealer, "one", 0);
    supervisor_serve (&house);
    expect (dealer, "ok", "one");
    client_ask (&house, req, "two", 0);
    supervisor_serve (&house);
    expect (req, "ok", "two");
    client_ask (&house, careful, "three", 0);
    supervisor_serve (&house);
    expect (careful, "ok", "three");
}

static void
answers_find_their_way_in_any_order (void **state)
{
    (void)state;
    struct ag_parts parts[4];
    void *clients[] = {house_connect (&house, ZMQ_DEALER), house_connect (&house, ZMQ_DEALER)};
    supervisor_open (&house);
    supervisor_expect_link (&house, 0);
    const char *ids[] = {"a0", "b0", "a1", "b1"};
    for (int i = 0; i < 4; i++) {
        client_ask (&house, clients[i % 2], ids[i], 0);
        assert_int_equal (supervisor_hear (&house, 30000, &parts[i]), 1);
    }
    for (int i = 3; i >= 0; i--) {
        struct ag_buf answer = {0};
        ag_answer_ok (&answer, ag_str (ids[i]));
        supervisor_answer (&house, &parts[i], ag_buf_str (&answer));
        supervisor_answer (&house, &parts[i], ag_buf_str (&answer)); //  once is enough
        ag_buf_fini (&answer);
        ag_parts_fini (&parts[i]);
    }
    expect (clients[0], "ok", "a1");
    expect (clients[0], "ok", "a0");
    expect (clients[1], "ok", "b1");
    expect (clients[1], "ok", "b0");
    assert_string_equal (client_hear (clients[0], 100).word, "");
}

static void
requests_wait_for_a_supervisor_in_their_order (void **state)
{
    (void)state;
    char id[16];
    void *client = house_connect (&house, ZMQ_DEALER);
    for (int i = 0; i < 20; i++) {
        snprintf (id, sizeof id, "%d", i);
        client_ask (&house, client, id, i % 5 ? 0 : 100000);
    }
    assert_string_equal (client_hear (client, 200).word, "");
    supervisor_open (&house);
    supervisor_expect_link (&house, 0);
    for (int i = 0; i < 20; i++) {
        snprintf (id, sizeof id, "%d", i);
        supervisor_serve (&house);
        expect (client, "ok", id);
    }
}

static void
after_a_restart_link_comes_first_and_what_was_asked_is_asked_again_under_its_id (void **state)
{
    (void)state;
    struct ag_parts old, again;
    void *client = house_connect (&house, ZMQ_DEALER);
    supervisor_open (&house);
    supervisor_expect_link (&house, 0);
    client_ask (&house, client, "lost", 0);
    assert_int_equal (supervisor_hear (&house, 30000, &old), 1);
    supervisor_close (&house);
    supervisor_open (&house);
    supervisor_expect_link (&house, 0);
    client_ask (&house, client, "lost", 0);
    assert_int_equal (supervisor_hear (&house, 30000, &again), 1);
    assert_true (ag_be64 (ag_part (&again, 1).p) != ag_be64 (ag_part (&old, 1).p));
    //  The handle of the earlier life stands for nothing.
    struct ag_str stale[] = {ag_part (&again, 0), ag_part (&old, 1), AG_LIT ("stale")};
    struct ag_err err;
    assert_int_equal (ag_net_send (house.supervisor, stale, 3, &err), 0);
    struct ag_buf answer = {0};
    ag_answer_ok (&answer, AG_LIT ("lost"));
    supervisor_answer (&house, &again, ag_buf_str (&answer));
    ag_buf_fini (&answer);
    ag_parts_fini (&old);
    ag_parts_fini (&again);
    expect (client, "ok", "lost");
    assert_string_equal (client_hear (client, 100).word, "");
}

static void
the_supervisor_may_restart_many_times_under_load (void **state)
{
    (void)state;
    void *client = house_connect (&house, ZMQ_DEALER);
    for (int life = 0; life < 10; life++) {
        supervisor_open (&house);
        supervisor_expect_link (&house, 0);
        for (int i = 0; i < 20; i++)
            client_ask (&house, client, "x", 0);
        for (int i = 0; i < life; i++)
            supervisor_serve (&house);
        supervisor_close (&house);
        while (client_hear (client, 0).word[0])
            continue;
    }
    supervisor_open (&house);
    supervisor_expect_link (&house, 0);
    while (supervisor_hear (&house, 300, &(struct ag_parts){0}) >
           0) //  what came while nobody was there
        continue;
    client_ask (&house, client, "last", 0);
    supervisor_serve (&house);
    struct answer answer;
    do
        answer = client_hear (client, 30000);
    while (!strcmp (answer.id, "x"));
    assert_string_equal (answer.id, "last");
}

static void
the_sixty_fifth_outstanding_request_is_busy_and_the_client_goes_on (void **state)
{
    (void)state;
    void *client = house_connect (&house, ZMQ_DEALER), *other = house_connect (&house, ZMQ_DEALER);
    supervisor_open (&house);
    supervisor_expect_link (&house, 0);
    for (int i = 0; i < 64; i++)
        client_ask (&house, client, "fits", 0);
    client_ask (&house, client, "too many", 0);
    struct answer answer = client_hear (client, 30000);
    assert_string_equal (answer.code, "busy");
    assert_string_equal (answer.id, "too many");
    client_ask (&house, other, "other", 0);
    for (int i = 0; i < 65; i++)
        supervisor_serve (&house);
    expect (other, "ok", "other");
    for (int i = 0; i < 64; i++)
        expect (client, "ok", "fits");
    client_ask (&house, client, "again", 0);
    supervisor_serve (&house);
    expect (client, "ok", "again");
}

static void
more_bytes_than_the_credit_are_busy (void **state)
{
    (void)state;
    void *client = house_connect (&house, ZMQ_DEALER);
    supervisor_open (&house);
    supervisor_expect_link (&house, 0);
    for (int i = 0; i < 3; i++)
        client_ask (&house, client, "large", 7 * MB);
    assert_string_equal (client_hear (client, 30000).code, "busy");
    supervisor_serve (&house);
    supervisor_serve (&house);
    expect (client, "ok", "large");
    expect (client, "ok", "large");
}

static void
what_a_client_asked_is_taken_back_when_its_connection_ends (void **state)
{
    (void)state;
    struct ag_parts asked, forgotten;
    supervisor_open (&house);
    supervisor_expect_link (&house, 0);
    void *client = ag_net_socket (house.context, &(struct ag_net){ZMQ_DEALER, 8, 8, NULL});
    void *other = house_connect (&house, ZMQ_DEALER);
    struct ag_err err;
    assert_int_equal (ag_net_connect (client, house.home.client, &err), 0);
    client_ask (&house, client, "gone", 0);
    assert_int_equal (supervisor_hear (&house, 5000, &asked), 1);
    client_ask (&house, other, "stays", 0);
    supervisor_serve (&house);
    expect (other, "ok", "stays");
    assert_int_equal (supervisor_hear (&house, 1500, &forgotten), 0); //  it still waits
    zmq_close (client);
    assert_int_equal (supervisor_hear (&house, 5000, &forgotten), 1);
    assert_int_equal (forgotten.count, 3);
    assert_true (ag_str_eq (ag_part (&forgotten, 1), ag_part (&asked, 1)));
    assert_int_equal (ag_part (&forgotten, 2).n, 0);
    ag_parts_fini (&asked);
    ag_parts_fini (&forgotten);
}

static void
a_signal_ends_it_in_order_and_takes_its_sockets_away (void **state)
{
    (void)state;
    house_connect (&house, ZMQ_DEALER);
    assert_int_equal (access (house.home.client, F_OK), 0);
    assert_int_equal (house_end_broker (&house, SIGTERM), 0);
    assert_int_equal (access (house.home.client, F_OK), -1);
    assert_int_equal (access (house.home.monitor, F_OK), -1);
}

int
main (void)
{
#define T(name) cmocka_unit_test_setup_teardown (name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T (a_request_reaches_the_supervisor_and_its_answer_comes_back_to_any_kind_of_socket),
        T (answers_find_their_way_in_any_order),
        T (requests_wait_for_a_supervisor_in_their_order),
        T (after_a_restart_link_comes_first_and_what_was_asked_is_asked_again_under_its_id),
        T (the_supervisor_may_restart_many_times_under_load),
        T (the_sixty_fifth_outstanding_request_is_busy_and_the_client_goes_on),
        T (more_bytes_than_the_credit_are_busy),
        T (what_a_client_asked_is_taken_back_when_its_connection_ends),
        T (a_signal_ends_it_in_order_and_takes_its_sockets_away),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
