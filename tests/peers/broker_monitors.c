//  Monitors of the broker: what is published reaches them as it is, and none of them can delay another.
//  SPDX-License-Identifier: Apache-2.0
#include "tests/peers/house.h"

#include <stdlib.h>

static struct house house;

static int
setup (void **state)
{
    (void)state;
    house_open (&house, 0);
    supervisor_open (&house);
    supervisor_expect_link (&house, 0);
    return 0;
}

static int
teardown (void **state)
{
    (void)state;
    house_close (&house);
    return 0;
}

//  A monitor whose subscription the supervisor knows of.
static void *
monitor (const char *topic, uint64_t audience)
{
    void *socket = house_connect (&house, ZMQ_SUB);
    assert_int_equal (zmq_setsockopt (socket, ZMQ_SUBSCRIBE, topic, strlen (topic)), 0);
    supervisor_expect_link (&house, audience);
    return socket;
}

static void
expect (void *socket, const char *topic, const char *header, size_t body)
{
    struct ag_parts parts;
    struct ag_err err;
    zmq_pollitem_t item = {socket, 0, ZMQ_POLLIN, 0};
    assert_int_equal (zmq_poll (&item, 1, 30000), 1);
    assert_int_equal (ag_net_recv (socket, 4 * MB, &parts, &err), 1);
    assert_int_equal (parts.count, 3);
    assert_true (ag_str_is (ag_part (&parts, 0), topic));
    assert_true (ag_str_is (ag_part (&parts, 1), header));
    assert_int_equal (ag_part (&parts, 2).n, body);
    ag_parts_fini (&parts);
}

static void
expect_silence (void *socket, int wait_ms)
{
    zmq_pollitem_t item = {socket, 0, ZMQ_POLLIN, 0};
    assert_int_equal (zmq_poll (&item, 1, wait_ms), 0);
}

static void
a_publication_reaches_who_subscribed_to_it_as_it_is (void **state)
{
    (void)state;
    void *all = monitor ("", 1), *one = monitor ("run/r1/", 2);
    supervisor_publish (&house, AG_LIT ("run/r1/task.completed"), AG_LIT ("h1"), AG_LIT ("body"));
    supervisor_publish (&house, AG_LIT ("run/r2/task.completed"), AG_LIT ("h2"), AG_LIT ("body"));
    supervisor_publish (&house, AG_LIT ("beat"), AG_LIT ("h3"), AG_LIT (""));
    expect (all, "run/r1/task.completed", "h1", 4);
    expect (all, "run/r2/task.completed", "h2", 4);
    expect (all, "beat", "h3", 0);
    expect (one, "run/r1/task.completed", "h1", 4);
    expect_silence (one, 50);
}

static void
the_supervisor_is_told_when_the_audience_changes_and_on_every_new_link (void **state)
{
    (void)state;
    void *first = monitor ("a", 1);
    monitor ("b", 2);
    supervisor_close (&house);
    supervisor_open (&house);
    supervisor_expect_link (&house, 2);
    assert_int_equal (zmq_setsockopt (first, ZMQ_UNSUBSCRIBE, "a", 1), 0);
    supervisor_expect_link (&house, 1);
    zmq_close (house.sockets[--house.socket_count]);
    supervisor_expect_link (&house, 0);
}

//  Connected and subscribed to everything, and never reads.
static int
sleeper (uint64_t audience)
{
    int fd = raw_connect (house.home.monitor);
    assert_true (fd >= 0);
    assert_int_equal (raw_handshake (fd, "SUB"), 0);
    assert_int_equal (raw_frame (fd, 0, 2, "\1r", 2), 0);
    supervisor_expect_link (&house, audience);
    return fd;
}

static void
publish_in_steps (void *awake, int steps, int step, size_t body)
{
    char header[16], *bytes = calloc (1, body);
    for (int i = 0; i < steps; i++) {
        snprintf (header, sizeof header, "%d", i);
        for (int j = 0; j < step; j++)
            supervisor_publish (&house, AG_LIT ("run/r1/x"), ag_str (header),
                                (struct ag_str){bytes, body});
        for (int j = 0; j < step; j++)
            expect (awake, "run/r1/x", header, body);
    }
    free (bytes);
}

static void
a_monitor_that_sleeps_loses_and_delays_nobody (void **state)
{
    (void)state;
    void *awake = monitor ("", 1);
    int fd = sleeper (2);
    size_t before = house_memory (&house);
    publish_in_steps (awake, 50, 100, 1000);
    assert_true (house_memory (&house) < before + 16 * MB);
    close (fd);
}

//  1,000 publications may wait for it, and a thousand large ones are a gigabyte.
static void
a_monitor_that_sleeps_is_cut_when_what_waits_for_it_is_large (void **state)
{
    (void)state;
    void *awake = monitor ("", 1);
    int fd = sleeper (2);
    size_t most = 0;
    struct ag_parts parts;
    for (int i = 0; i < 900 && !supervisor_hear (&house, 0, &parts); i++) {
        publish_in_steps (awake, 1, 1, MB);
        size_t now = house_memory (&house);
        most = now > most ? now : most;
        usleep (5000);
    }
    assert_int_equal (parts.count, 3); //  `link`: one monitor less
    ag_parts_fini (&parts);
    assert_true (raw_is_cut (fd, 1000));
    print_message ("cut at %zu MB\n", most / MB);
    assert_true (most < (size_t)500 * MB);
    publish_in_steps (awake, 10, 10, 1000);
    close (fd);
}

static void
a_monitor_that_sends_what_is_no_subscription_is_cut (void **state)
{
    (void)state;
    void *awake = monitor ("", 1);
    static char topic[3000] = {1};
    static const struct {
        size_t n;
        const char *bytes;
    } wrong[] = {{sizeof topic, topic}, {5, "hello"}, {1, "\2"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int fd = raw_connect (house.home.monitor);
        assert_int_equal (raw_handshake (fd, "SUB"), 0);
        assert_int_equal (raw_frame (fd, 0, wrong[i].n, wrong[i].bytes, wrong[i].n), 0);
        assert_true (raw_is_cut (fd, 30000));
        close (fd);
    }
    publish_in_steps (awake, 1, 1, 10);
}

static void
too_many_subscriptions_end_the_monitor_that_made_them (void **state)
{
    (void)state;
    void *awake = monitor ("", 1);
    int fd = raw_connect (house.home.monitor);
    assert_int_equal (raw_handshake (fd, "SUB"), 0);
    char topic[16];
    for (int i = 0; i < 10100; i++) {
        int n = snprintf (topic, sizeof topic, "\1t%d", i);
        if (raw_frame (fd, 0, (uint64_t)n, topic, (size_t)n))
            break;
    }
    assert_true (raw_is_cut (fd, 30000));
    close (fd);
    publish_in_steps (awake, 1, 1, 10);
}

int
main (void)
{
#define T(name) cmocka_unit_test_setup_teardown (name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T (a_publication_reaches_who_subscribed_to_it_as_it_is),
        T (the_supervisor_is_told_when_the_audience_changes_and_on_every_new_link),
        T (a_monitor_that_sleeps_loses_and_delays_nobody),
        T (a_monitor_that_sleeps_is_cut_when_what_waits_for_it_is_large),
        T (a_monitor_that_sends_what_is_no_subscription_is_cut),
        T (too_many_subscriptions_end_the_monitor_that_made_them),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
