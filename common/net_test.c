//  SPDX-License-Identifier: Apache-2.0
#include "common/net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

struct bench {
    char dir[32], path[64];
    void *context, *router, *dealers[2]; //  closed also when a test fails in the middle
    int dealer_count;
};

static const struct ag_net a_router = {ZMQ_ROUTER, 16, 2, NULL};
static const struct ag_net a_dealer = {ZMQ_DEALER, 16, 16, NULL};

static int
setup (void **state)
{
    static struct bench bench;
    strcpy (bench.dir, "/tmp/agsup-net-XXXXXX");
    assert_non_null (mkdtemp (bench.dir));
    snprintf (bench.path, sizeof bench.path, "%s/a.sock", bench.dir);
    bench.dealer_count = 0;
    bench.context = ag_net_context();
    bench.router = ag_net_socket (bench.context, &a_router);
    *state = &bench;
    return 0;
}

static int
teardown (void **state)
{
    struct bench *self = *state;
    zmq_close (self->router);
    while (self->dealer_count)
        zmq_close (self->dealers[--self->dealer_count]);
    zmq_ctx_term (self->context);
    unlink (self->path);
    return rmdir (self->dir);
}

static void *
connected (struct bench *self)
{
    struct ag_err err;
    void *dealer = ag_net_socket (self->context, &a_dealer);
    self->dealers[self->dealer_count++] = dealer;
    assert_int_equal (ag_net_connect (dealer, self->path, &err), 0);
    return dealer;
}

static int
await (void *socket, size_t max_bytes, struct ag_parts *parts, struct ag_err *err)
{
    zmq_pollitem_t item = {socket, 0, ZMQ_POLLIN, 0};
    assert_int_equal (zmq_poll (&item, 1, 5000), 1);
    return ag_net_recv (socket, max_bytes, parts, err);
}

//  How a caller uses it: bind, receive with the peer's identity, answer, receive the answer.
static void
a_message_arrives_with_the_process_that_sent_it (void **state)
{
    struct bench *self = *state;
    struct ag_err err;
    struct ag_parts parts, answer;
    assert_int_equal (ag_net_bind (self->router, self->path, 0600, &err), 0);
    assert_int_equal (ag_net_recv (self->router, 1000, &parts, &err), 0);
    void *dealer = connected (self);
    assert_int_equal (ag_net_send (dealer, &AG_LIT ("hello"), 1, &err), 0);
    assert_int_equal (await (self->router, 1000, &parts, &err), 1);
    assert_int_equal (parts.count, 2);
    assert_true (ag_str_is (ag_part (&parts, 1), "hello"));
    assert_int_equal (parts.peer.pid, getpid());
    assert_int_equal (parts.peer.uid, geteuid());
    assert_int_equal (ag_peer_pid (parts.peer.fd), getpid());
    struct ag_str back[] = {ag_part (&parts, 0), AG_LIT ("welcome")};
    assert_int_equal (ag_net_send (self->router, back, 2, &err), 0);
    ag_parts_fini (&parts);
    assert_int_equal (await (dealer, 1000, &answer, &err), 1);
    assert_true (ag_str_is (ag_part (&answer, 0), "welcome"));
    ag_parts_fini (&answer);
}

static void
a_message_beyond_the_bounds_is_read_away_and_the_next_one_is_whole (void **state)
{
    struct bench *self = *state;
    struct ag_err err;
    struct ag_parts parts;
    assert_int_equal (ag_net_bind (self->router, self->path, 0600, &err), 0);
    void *dealer = connected (self);
    struct ag_str frames[20], large[] = {AG_LIT ("123456"), AG_LIT ("7890"), AG_LIT ("last")};
    for (int i = 0; i < 20; i++)
        frames[i] = AG_LIT ("x");
    assert_int_equal (ag_net_send (dealer, frames, 20, &err), 0);
    assert_int_equal (ag_net_send (dealer, large, 3, &err), 0);
    assert_int_equal (ag_net_send (dealer, &AG_LIT ("fits"), 1, &err), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal (await (self->router, 14, &parts, &err), -1);
        assert_int_equal (err.code, AG_E_TOO_LARGE);
        assert_int_equal (parts.count, i ? 2 : AG_NET_FRAMES);
        assert_int_equal (parts.peer.pid, getpid());
        ag_parts_fini (&parts);
    }
    assert_int_equal (await (self->router, 14, &parts, &err), 1);
    assert_true (ag_str_is (ag_part (&parts, 1), "fits"));
    ag_parts_fini (&parts);
}

static void
sending_never_waits_and_says_why_it_could_not (void **state)
{
    struct bench *self = *state;
    struct ag_err err;
    struct ag_parts parts;
    assert_int_equal (ag_net_bind (self->router, self->path, 0600, &err), 0);
    struct ag_str nobody[] = {AG_LIT ("nobody"), AG_LIT ("x")};
    assert_int_equal (ag_net_send (self->router, nobody, 2, &err), -1);
    assert_int_equal (err.code, AG_E_NOT_FOUND);
    void *dealer = connected (self);
    assert_int_equal (ag_net_send (dealer, &AG_LIT ("x"), 1, &err), 0);
    assert_int_equal (await (self->router, 100, &parts, &err), 1);
    char *large = calloc (1, 1 << 20);
    struct ag_str flood[] = {ag_part (&parts, 0), {large, 1 << 20}};
    int sent = 0;
    while (sent < 100 && !ag_net_send (self->router, flood, 2, &err))
        sent++;
    assert_in_range (sent, 1, 50);
    assert_int_equal (err.code, AG_E_BUSY);
    ag_parts_fini (&parts);
    free (large);
}

static void
dropping_a_peer_ends_its_connection_and_no_other (void **state)
{
    struct bench *self = *state;
    struct ag_err err;
    struct ag_parts parts;
    assert_int_equal (ag_net_bind (self->router, self->path, 0600, &err), 0);
    void *bad = connected (self), *good = connected (self);
    assert_int_equal (ag_net_send (bad, &AG_LIT ("bad"), 1, &err), 0);
    assert_int_equal (await (self->router, 100, &parts, &err), 1);
    struct ag_str bad_id = {(char[8]){0}, ag_part (&parts, 0).n};
    memcpy ((char *)bad_id.p, ag_part (&parts, 0).p, bad_id.n);
    struct ag_peer stranger = parts.peer;
    stranger.pid = 1; //  the number belongs to somebody else by now: nothing happens
    ag_peer_drop (&stranger);
    struct ag_str back[] = {bad_id, AG_LIT ("still there")};
    assert_int_equal (ag_net_send (self->router, back, 2, &err), 0);
    ag_peer_drop (&parts.peer);
    ag_parts_fini (&parts);
    err.code = AG_OK;
    for (int i = 0; i < 500 && err.code != AG_E_NOT_FOUND; i++) {
        usleep (10000);
        ag_net_send (self->router, back, 2, &err);
    }
    assert_int_equal (err.code, AG_E_NOT_FOUND);
    assert_int_equal (ag_net_send (good, &AG_LIT ("good"), 1, &err), 0);
    assert_int_equal (await (self->router, 100, &parts, &err), 1);
    assert_true (ag_str_is (ag_part (&parts, 1), "good"));
    ag_parts_fini (&parts);
}

static void
binding_replaces_a_stale_socket_and_nothing_else (void **state)
{
    struct bench *self = *state;
    struct ag_err err;
    close (open (self->path, O_CREAT | O_WRONLY, 0644));
    assert_int_equal (ag_net_bind (self->router, self->path, 0600, &err), -1);
    assert_int_equal (err.code, AG_E_EXISTS);
    ag_net_unbind (self->router, self->path);
    assert_int_equal (unlink (self->path), 0);

    int stale = socket (AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy (address.sun_path, self->path);
    assert_int_equal (bind (stale, (struct sockaddr *)&address, sizeof address), 0);
    close (stale);
    assert_int_equal (ag_net_bind (self->router, self->path, 0600, &err), 0);
    struct stat st;
    assert_int_equal (lstat (self->path, &st), 0);
    assert_int_equal (st.st_mode & 07777, 0600);
    ag_net_unbind (self->router, self->path);
    assert_int_equal (lstat (self->path, &st), -1);
}

static void
a_path_of_107_bytes_binds_and_of_108_is_refused_by_name (void **state)
{
    struct bench *self = *state;
    struct ag_err err;
    char path[AG_NET_PATH + 2];
    int n = snprintf (path, sizeof path, "%s/", self->dir);
    memset (path + n, 'x', sizeof path - (size_t)n);
    path[AG_NET_PATH + 1] = 0;
    assert_int_equal (ag_net_bind (self->router, path, 0600, &err), -1);
    assert_non_null (strstr (err.text, "108"));
    path[AG_NET_PATH] = 0;
    assert_int_equal (ag_net_bind (self->router, path, 0600, &err), 0);
    ag_net_unbind (self->router, path);
}

static void
only_an_address_of_the_kernel_is_believed (void **state)
{
    (void)state;
    struct ag_peer peer;
    assert_int_equal (ag_peer_parse (AG_LIT ("localhost:1000:100:4711"), &peer), 0);
    assert_int_equal (peer.uid, 1000);
    assert_int_equal (peer.pid, 4711);
    const char *wrong[] = {"",
                           "localhost",
                           "localhost:",
                           "localhost:1:2",
                           "localhost:1:2:",
                           "localhost:1:2:3:4",
                           "localhost:1:2:-3",
                           "localhost:1:2:3x",
                           "localhost:1:2:99999999999",
                           "127.0.0.1:1:2:3"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal (ag_peer_parse (ag_str (wrong[i]), &peer), -1);
        assert_int_equal (peer.pid, 0);
    }
}

int
main (void)
{
#define T(name) cmocka_unit_test_setup_teardown (name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T (a_message_arrives_with_the_process_that_sent_it),
        T (a_message_beyond_the_bounds_is_read_away_and_the_next_one_is_whole),
        T (sending_never_waits_and_says_why_it_could_not),
        T (dropping_a_peer_ends_its_connection_and_no_other),
        T (binding_replaces_a_stale_socket_and_nothing_else),
        T (a_path_of_107_bytes_binds_and_of_108_is_refused_by_name),
        T (only_an_address_of_the_kernel_is_believed),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
