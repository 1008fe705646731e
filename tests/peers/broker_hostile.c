//  Hostile clients of the broker: each is answered or cut, and an honest one does not notice.
//  SPDX-License-Identifier: Apache-2.0
#include "tests/peers/house.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

static struct house house;
static void *honest;

static int
setup (void **state)
{
    (void)state;
    house_open (&house, 0);
    honest = house_connect (&house, ZMQ_DEALER);
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

//  The honest client is served at once.
static void
expect_service (void)
{
    client_ask (&house, honest, "honest", 0);
    supervisor_serve (&house);
    assert_string_equal (client_hear (honest, 30000).id, "honest");
}

static int
hostile (void)
{
    int fd = raw_connect (house.home.client);
    assert_true (fd >= 0);
    assert_int_equal (raw_handshake (fd, "DEALER"), 0);
    return fd;
}

static int
count_of (const char *bytes, size_t n, const char *word)
{
    int count = 0;
    const char *at = bytes, *end = bytes + n;
    while ((at = memmem (at, (size_t)(end - at), word, strlen (word)))) {
        at++;
        count++;
    }
    return count;
}

//  One error with this code comes, then the connection ends, within 5 s.
static void
expect_last_word (int fd, const char *code)
{
    char bytes[2000];
    size_t n = 0;
    struct timeval patience = {5, 0};
    setsockopt (fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ssize_t rc;
    while ((rc = recv (fd, bytes + n, sizeof bytes - n, 0)) > 0)
        n += (size_t)rc;
    assert_int_equal (rc, 0);
    if (!memmem (bytes, n, code, strlen (code)))
        fail_msg ("no %s in %zu bytes", code, n);
    assert_int_equal (count_of (bytes, n, "retryable"), 1); //  each error says so once
    close (fd);
}

static void
send_map (int fd, const char *word, const char *token)
{
    struct ag_buf map = {0};
    ag_put_map (&map, token ? 2 : 1);
    ag_put_lit (&map, "do");
    ag_put_lit (&map, word);
    if (token) {
        ag_put_lit (&map, "token");
        ag_put_lit (&map, token);
    }
    assert_int_equal (raw_frame (fd, 0, map.n, map.p, map.n), 0);
    ag_buf_fini (&map);
}

static void
a_wrong_token_is_refused_by_name_and_the_connection_ends (void **state)
{
    (void)state;
    char near[AG_TOKEN + 1];
    snprintf (near, sizeof near, "%.*s%c", AG_TOKEN - 1, house.token,
              house.token[AG_TOKEN - 1] == '0' ? '1' : '0');
    const char *tokens[] = {NULL, "", "x", near};
    for (size_t i = 0; i < 4; i++) {
        int fd = hostile();
        send_map (fd, "status", tokens[i]);
        expect_last_word (fd, i == 1 ? "bad_message" : "not_allowed");
    }
    expect_service();
}

static void
a_request_of_another_side_is_refused (void **state)
{
    (void)state;
    const char *words[] = {"next", "hello", "link", "done"};
    for (size_t i = 0; i < 4; i++) {
        int fd = hostile();
        send_map (fd, words[i], house.token);
        expect_last_word (fd, "not_allowed");
    }
    expect_service();
}

static void
a_wrong_word_or_value_is_answered_and_does_not_cost_the_next_request (void **state)
{
    (void)state;
    const char *words[] = {"evnts", "events", "events", "goal"};
    for (int i = 0; i < 4; i++) {
        struct ag_buf map = {0};
        ag_put_map (&map, 3);
        ag_put_lit (&map, "do");
        ag_put_lit (&map, words[i]);
        ag_put_lit (&map, "token");
        ag_put_lit (&map, house.token);
        ag_put_lit (&map, "limit");
        if (i == 1)
            ag_put_lit (&map, "x");
        else
            ag_put_int (&map, -1);
        assert_int_equal (zmq_send (honest, map.p, map.n, 0), map.n);
        assert_string_equal (client_hear (honest, 30000).code, "bad_message");
        expect_service();
        ag_buf_fini (&map);
    }
}

static void
bytes_that_are_no_request_are_answered_once_and_dropped (void **state)
{
    (void)state;
    static const struct {
        size_t n;
        const char *bytes;
    } garbage[] = {
        {0, ""},
        {1, "\xc1"},
        {7, "garbage"},
        {6, "\xdf\x0a\x0a\x9b\x9b\x9b"}, //  claims 168 million pairs
        {5, "\xdd\x00\x80\x00\x00"},     //  claims 8 million elements
        {5, "\xdb\xff\xff\xff\xff"},     //  claims 4 GB of text
        {8, "\x81\xa2"
            "do\xdb\xff\xff\xff"},
        {5, "\x81\xa2"
            "do\x01"},
        {1, "\x80"},
    };
    for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
        int fd = hostile();
        for (int times = 0; times < 3; times++)
            raw_frame (fd, 0, garbage[i].n, garbage[i].bytes, garbage[i].n);
        expect_last_word (fd, "bad_message");
    }
    struct ag_parts nothing;
    assert_int_equal (supervisor_hear (&house, 50, &nothing), 0);
    expect_service();
}

static void
what_is_too_large_is_refused_with_its_reason_or_by_libzmq (void **state)
{
    (void)state;
    char *bytes = calloc (1, 8 * MB);
    int fd = hostile();
    raw_frame (fd, RAW_MORE, 5 * MB, bytes, 5 * MB);
    raw_frame (fd, 0, 5 * MB, bytes, 5 * MB);
    expect_last_word (fd, "too_large");
    fd = hostile();
    for (int i = 0; i < 20; i++)
        raw_frame (fd, i < 19 ? RAW_MORE : 0, 1, "x", 1);
    expect_last_word (fd, "too_large");
    fd = hostile();
    raw_frame (fd, 0, 8 * MB + 1, bytes, 1);
    assert_true (raw_is_cut (fd, 30000));
    close (fd);
    fd = hostile();
    raw_frame (fd, 0, UINT64_MAX, bytes, 1);
    assert_true (raw_is_cut (fd, 30000));
    close (fd);
    free (bytes);
    expect_service();
}

//  10,000 requests in one go and not one answer read: nearly all are told `busy`.
static void
a_flood_of_requests_costs_the_flooder_alone (void **state)
{
    (void)state;
    void *flooder = house_connect (&house, ZMQ_DEALER);
    size_t before = house_memory (&house);
    for (int i = 0; i < 10000; i++)
        client_ask (&house, flooder, "flood", i % 100 ? 0 : 50000);
    int64_t start_ms = ag_now_ms();
    client_ask (&house, honest, "honest", 0);
    struct answer answer = {0};
    for (int served = 0; served < 10001 && !answer.word[0]; served++) {
        supervisor_serve (&house);
        answer = client_hear (honest, 0);
    }
    answer = answer.word[0] ? answer : client_hear (honest, 30000);
    assert_string_equal (answer.id, "honest");
    assert_true (ag_now_ms() - start_ms < 30000);
    assert_true (house_memory (&house) < before + 64 * MB);
    int busy = 0;
    while ((answer = client_hear (flooder, 300)).word[0])
        busy += !strcmp (answer.code, "busy");
    print_message ("%d of 10000 were told to wait\n", busy);
}

//  Less than the memory at which the guard would look: it is the queue that is full.
enum { LARGE = 65536 };

static void
a_client_that_reads_no_answers_is_cut_before_it_costs_much (void **state)
{
    (void)state;
    size_t before = house_memory (&house);
    int fd = hostile();
    char *large = calloc (1, LARGE);
    int answered = 0, cut = 0;
    while (!cut && answered < 1000) {
        struct ag_parts parts;
        struct ag_buf request = {0};
        struct ag_msg msg = {.type = AG_MSG_status, .token = ag_str (house.token)};
        ag_wire_write (&msg, &request);
        cut = raw_frame (fd, 0, request.n, request.p, request.n);
        ag_buf_fini (&request);
        if (!cut && supervisor_hear (&house, 2000, &parts) > 0) {
            supervisor_answer (&house, &parts, (struct ag_str){large, LARGE});
            answered++;
        } else
            cut = 1;
        ag_parts_fini (&parts);
    }
    print_message ("cut after %d answers of 64 KiB\n", answered);
    assert_true (answered < 300);
    assert_true (house_memory (&house) < before + 32 * MB);
    close (fd);
    free (large);
    expect_service();
}

static void
an_endless_message_is_cut_on_both_sockets (void **state)
{
    (void)state;
    static char bytes[65536];
    const char *paths[] = {house.home.client, house.home.monitor};
    const char *types[] = {"DEALER", "SUB"};
    for (int i = 0; i < 2; i++) {
        size_t most = 0, frame = i ? 1000 : sizeof bytes;
        pid_t pid = fork();
        if (pid == 0) {
            int fd = raw_connect (paths[i]);
            if (fd < 0 || raw_handshake (fd, types[i]))
                _exit (1);
            while (!raw_frame (fd, RAW_MORE, frame, bytes, frame))
                continue;
            _exit (0);
        }
        int status = -1;
        for (int64_t end_ms = ag_now_ms() + 30000; ag_now_ms() < end_ms;) {
            size_t now = house_memory (&house);
            most = now > most ? now : most;
            expect_service();
            if (waitpid (pid, &status, WNOHANG) == pid)
                break;
        }
        print_message ("%s: most %zu MB\n", types[i], most / MB);
        if (status < 0)
            kill (pid, SIGKILL);
        assert_int_equal (status, 0);
        assert_true (most < (size_t)400 * MB);
    }
}

static void
what_the_nursery_started_is_not_admitted (void **state)
{
    (void)state;
    assert_int_equal (house_connect_as_worker (&house, house.home.client), 1);
    assert_int_equal (house_connect_as_worker (&house, house.home.monitor), 1);
    expect_service();
    pid_t pid = fork();
    if (pid == 0) {
        int fd = raw_connect (house.home.client);
        _exit (fd < 0 || raw_handshake (fd, "DEALER"));
    }
    int status = -1;
    waitpid (pid, &status, 0);
    assert_int_equal (status, 0);
}

static void
a_crowd_does_not_take_its_descriptors (void **state)
{
    (void)state;
    house_close (&house);
    house_open (&house, 4096);
    honest = house_connect (&house, ZMQ_DEALER);
    supervisor_open (&house);
    supervisor_expect_link (&house, 0);
    expect_service();
    int fds[600], cut = 0;
    for (int i = 0; i < 600; i++)
        fds[i] = raw_connect (house.home.client);
    const int beyond = 600 + 1 - 4096 / 8;
    int64_t end_ms = ag_now_ms() + 30000;
    while (cut < beyond && ag_now_ms() < end_ms)
        for (int i = 0; i < 600; i++)
            if (fds[i] >= 0 && raw_is_cut (fds[i], 1)) {
                close (fds[i]);
                fds[i] = -1;
                cut++;
            }
    assert_in_range (cut, beyond, 600); //  on a slow machine, handshakes that took too long too
    for (int i = 0; i < 600; i++)
        if (fds[i] >= 0)
            close (fds[i]);
    expect_service();
    assert_int_equal (house_end_broker (&house, SIGTERM), 0);
}

static void
too_few_descriptors_are_refused_at_the_start (void **state)
{
    (void)state;
    house_close (&house);
    house_open (&house, 1024);
    assert_int_equal (house_end_broker (&house, 0), 1);
}

int
main (void)
{
#define T(name) cmocka_unit_test_setup_teardown (name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T (a_wrong_token_is_refused_by_name_and_the_connection_ends),
        T (a_request_of_another_side_is_refused),
        T (a_wrong_word_or_value_is_answered_and_does_not_cost_the_next_request),
        T (bytes_that_are_no_request_are_answered_once_and_dropped),
        T (what_is_too_large_is_refused_with_its_reason_or_by_libzmq),
        T (a_flood_of_requests_costs_the_flooder_alone),
        T (a_client_that_reads_no_answers_is_cut_before_it_costs_much),
        T (an_endless_message_is_cut_on_both_sockets),
        T (what_the_nursery_started_is_not_admitted),
        T (a_crowd_does_not_take_its_descriptors),
        T (too_few_descriptors_are_refused_at_the_start),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
