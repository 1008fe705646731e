//  SPDX-License-Identifier: Apache-2.0
#include "common/spawn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include "common/buf.h"
#include "common/spawn_wire.h"

static const char NONCE[] = "0123456789abcdef0123456789abcdef";

struct pair {
    ag_nursery_t *supervisor;
    int nursery;
};

static void
pair_init (struct pair *self)
{
    int ends[2];
    assert_int_equal (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    self->supervisor = ag_nursery_new (ends[0]);
    self->nursery = ends[1];
}

static void
pair_fini (struct pair *self)
{
    ag_nursery_destroy (&self->supervisor);
    close (self->nursery);
}

static struct ag_spawn
sleeper (uint64_t id)
{
    static const char *const argv[] = {"sleep", "100", NULL}, *const env[] = {"PATH=/bin", NULL};
    return (struct ag_spawn){
        .id = id, .kind = AG_CHILD_WORKER, .nonce = NONCE, .uid = 7, .argv = argv, .env = env};
}

static int
hear (int fd, struct ag_spawn_request *request, int *image)
{
    int fds[AG_PACKET_FDS];
    bool lost;
    int got = ag_packet_receive (fd, request, sizeof *request, fds, &lost);
    *image = fds[0];
    return got;
}

static void
a_spawn_arrives_with_a_sealed_image_of_its_strings (void **state)
{
    (void)state;
    struct pair pair;
    pair_init (&pair);
    struct ag_err err;
    struct ag_spawn spawn = sleeper (42);
    assert_int_equal (ag_nursery_spawn (pair.supervisor, &spawn, &err), 0);

    struct ag_spawn_request request;
    int image;
    assert_int_equal (hear (pair.nursery, &request, &image), 1);
    assert_int_equal (request.what, AG_SPAWN_START);
    assert_int_equal (request.id, 42);
    assert_int_equal (request.uid, 7);
    assert_string_equal (request.nonce, NONCE);
    assert_int_equal (fcntl (image, F_GET_SEALS),
                      F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
    assert_int_equal (fcntl (image, F_GETFD), FD_CLOEXEC);

    uint8_t bytes[200];
    struct ag_image head;
    ssize_t n = pread (image, bytes, sizeof bytes, 0);
    memcpy (&head, bytes, sizeof head);
    assert_int_equal (head.counts[AG_IMAGE_ARGV], 2);
    assert_int_equal (head.counts[AG_IMAGE_ENV], 1);
    static const char strings[] = "\1\0\0\0/\0\5\0\0\0sleep\0\3\0\0\000100\0\11\0\0\0PATH=/bin";
    assert_int_equal (n, sizeof head + sizeof strings);
    assert_memory_equal (bytes + sizeof head, strings, sizeof strings);
    close (image);
    pair_fini (&pair);
}

static void
what_does_not_fit_an_image_is_refused_by_name (void **state)
{
    (void)state;
    struct pair pair;
    pair_init (&pair);
    char *big = ag_xcalloc (1, AG_IMAGE_MAX + 1);
    memset (big, 'x', AG_IMAGE_MAX);
    const char *env[] = {big, NULL};
    struct ag_spawn spawn = sleeper (1);
    spawn.env = env;
    struct ag_err err;
    assert_int_equal (ag_nursery_spawn (pair.supervisor, &spawn, &err), -1);
    assert_int_equal (err.code, AG_E_TOO_LARGE);
    big[AG_IMAGE_MAX - 100] = 0;
    assert_int_equal (ag_nursery_spawn (pair.supervisor, &spawn, &err), 0);
    free (big);
    pair_fini (&pair);
}

//  A nursery that does not read delays its supervisor's requests, never the supervisor.
static void
requests_wait_in_memory_and_arrive_in_order (void **state)
{
    (void)state;
    enum { MANY = 3000 };
    struct pair pair;
    pair_init (&pair);
    for (uint64_t id = 0; id < MANY; id++)
        ag_nursery_kill (pair.supervisor, id, (uint32_t)id * 2);
    assert_int_equal (ag_nursery_poll (pair.supervisor), POLLIN | POLLOUT);

    struct ag_nursery_event event;
    struct ag_err err;
    for (uint64_t id = 0; id < MANY; id++) {
        struct ag_spawn_request request;
        int image;
        if (hear (pair.nursery, &request, &image) < 0) {
            assert_int_equal (errno, EAGAIN);
            assert_int_equal (ag_nursery_next (pair.supervisor, &event, &err), 0);
            ag_nursery_ack (pair.supervisor, MANY + id); //  joins at the end of the line
            assert_int_equal (hear (pair.nursery, &request, &image), 1);
        }
        assert_int_equal (request.id, id);
        assert_int_equal (request.value, id * 2);
        assert_int_equal (image, -1);
    }
    pair_fini (&pair);
}

static void
events_bring_their_descriptors_and_an_end_is_an_error (void **state)
{
    (void)state;
    struct pair pair;
    pair_init (&pair);
    struct ag_nursery_event event = {.what = AG_NURSERY_SPAWNED, .id = 5, .pid = 77}, got;
    struct ag_err err;
    int ends[2];
    assert_int_equal (pipe (ends), 0);
    assert_int_equal (ag_nursery_next (pair.supervisor, &got, &err), 0);
    assert_int_equal (ag_packet_send (pair.nursery, &event, sizeof event, ends, 2), 0);
    assert_int_equal (ag_nursery_next (pair.supervisor, &got, &err), 1);
    assert_int_equal (got.pid, 77);
    assert_int_equal (write (got.output[1], "x", 1), 1);
    close (got.output[0]);
    close (got.output[1]);
    event.what = AG_NURSERY_EXITED;
    assert_int_equal (ag_packet_send (pair.nursery, &event, sizeof event, NULL, 0), 0);
    assert_int_equal (ag_nursery_next (pair.supervisor, &got, &err), 1);
    assert_int_equal (got.output[0], -1);
    close (ends[0]);
    close (ends[1]);
    shutdown (pair.nursery, SHUT_RDWR);
    assert_int_equal (ag_nursery_next (pair.supervisor, &got, &err), -1);
    assert_non_null (strstr (err.text, "nursery is gone"));
    pair_fini (&pair);
}

//  Out of descriptors, the output of a child cannot be received: then nobody could read it, so it is ended.
static void
a_child_whose_output_is_lost_is_ended (void **state)
{
    (void)state;
    struct pair pair;
    pair_init (&pair);
    struct ag_nursery_event event = {.what = AG_NURSERY_SPAWNED, .id = 5}, got;
    struct ag_err err;
    int fds[2] = {pair.nursery, pair.nursery}, next = dup (0);
    struct rlimit old, low;
    getrlimit (RLIMIT_NOFILE, &old);
    low = (struct rlimit){(rlim_t)next + 1, old.rlim_max}; //  room for one of the two
    close (next);
    assert_int_equal (ag_packet_send (pair.nursery, &event, sizeof event, fds, 2), 0);
    setrlimit (RLIMIT_NOFILE, &low);
    int rc = ag_nursery_next (pair.supervisor, &got, &err);
    setrlimit (RLIMIT_NOFILE, &old);
    assert_int_equal (rc, 1);
    assert_int_equal (got.output[0], -1);
    assert_int_equal (got.output[1], -1);
    struct ag_spawn_request request;
    int image, again = dup (0);
    assert_int_equal (again, next);
    close (again);
    assert_int_equal (hear (pair.nursery, &request, &image), 1);
    assert_int_equal (request.what, AG_SPAWN_KILL);
    assert_int_equal (request.id, 5);
    pair_fini (&pair);
}

static void
a_packet_of_another_size_is_refused_with_its_descriptors (void **state)
{
    (void)state;
    struct pair pair;
    pair_init (&pair);
    struct ag_nursery_event got;
    struct ag_err err;
    int next = dup (0);
    close (next);
    assert_int_equal (ag_packet_send (pair.nursery, "short", 5, &pair.nursery, 1), 0);
    assert_int_equal (ag_nursery_next (pair.supervisor, &got, &err), -1);
    int again = dup (0);
    assert_int_equal (again, next);
    close (again);
    pair_fini (&pair);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_spawn_arrives_with_a_sealed_image_of_its_strings),
        cmocka_unit_test (what_does_not_fit_an_image_is_refused_by_name),
        cmocka_unit_test (requests_wait_in_memory_and_arrive_in_order),
        cmocka_unit_test (events_bring_their_descriptors_and_an_end_is_an_error),
        cmocka_unit_test (a_child_whose_output_is_lost_is_ended),
        cmocka_unit_test (a_packet_of_another_size_is_refused_with_its_descriptors),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
