/*  bench_floor - floors that only make sense beside a house: what plain libzmq and plain RocksDB do.
 *
 *  Usage: bench_floor proxy TIMES BYTES       one round trip through a ROUTER-DEALER proxy, three processes
 *         bench_floor puts DIR KEYS BYTES TIMES   one synced batch of so many keys of so many bytes
 *         bench_floor reopen DIR              of a store that lies there, by a program that does nothing else
 *         bench_floor spawn PROGRAM TIMES     to its first message on the ROUTER that it is told
 *
 *  Prints lines `name<TAB>value`; times are medians in microseconds.
 *  SPDX-License-Identifier: Apache-2.0
 */
#include "tests/bench/bench.h"

#include <rocksdb/c.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

extern char **environ;

enum { WARM = 200 };

static char front[64], back[64];

static void
print_median (double *values, size_t count)
{
    printf ("p50_us\t%.6g\n", median (values, count));
}

/*  proxy  */

_Noreturn static void
be_proxy (void)
{
    void *context = zmq_ctx_new();
    void *router = zmq_socket (context, ZMQ_ROUTER), *dealer = zmq_socket (context, ZMQ_DEALER);
    zmq_bind (router, front);
    zmq_bind (dealer, back);
    zmq_proxy (router, dealer, NULL);
    _exit (1);
}

_Noreturn static void
be_echo (void)
{
    void *context = zmq_ctx_new(), *socket = zmq_socket (context, ZMQ_ROUTER);
    zmq_connect (socket, back);
    for (zmq_msg_t frame;;) {
        zmq_msg_init (&frame);
        if (zmq_msg_recv (&frame, socket, 0) < 0)
            _exit (1);
        zmq_msg_send (&frame, socket, zmq_msg_more (&frame) ? ZMQ_SNDMORE : 0);
    }
}

static int
proxy (char **argv)
{
    int times = atoi (argv[0]), bytes = atoi (argv[1]);
    double *each = calloc ((size_t)times, sizeof *each);
    char *text = calloc (1, (size_t)bytes);
    snprintf (front, sizeof front, "ipc:///tmp/bench-front-%d", (int)getpid());
    snprintf (back, sizeof back, "ipc:///tmp/bench-back-%d", (int)getpid());
    pid_t between = fork();
    if (between == 0)
        be_proxy();
    pid_t far = fork();
    if (far == 0)
        be_echo();
    void *context = zmq_ctx_new(), *socket = zmq_socket (context, ZMQ_DEALER);
    zmq_connect (socket, front);
    for (int i = -WARM; i < times; i++) {
        double begin = now_us();
        zmq_send (socket, text, (size_t)bytes, 0);
        zmq_recv (socket, text, (size_t)bytes, 0);
        if (i >= 0)
            each[i] = now_us() - begin;
    }
    print_median (each, (size_t)times);
    kill (between, SIGKILL);
    kill (far, SIGKILL);
    waitpid (between, NULL, 0);
    waitpid (far, NULL, 0);
    zmq_close (socket);
    zmq_ctx_term (context);
    unlink (front + strlen ("ipc://"));
    unlink (back + strlen ("ipc://"));
    free (text);
    free (each);
    return 0;
}

/*  RocksDB  */

static void
must (char *why)
{
    if (!why)
        return;
    fprintf (stderr, "bench_floor: %s\n", why);
    exit (1);
}

static int
puts_synced (char **argv)
{
    int keys = atoi (argv[1]), bytes = atoi (argv[2]), times = atoi (argv[3]);
    char *why = NULL, *value = calloc (1, (size_t)bytes + 1);
    double *each = calloc ((size_t)times, sizeof *each);
    uint64_t key[2] = {1, 0};
    rocksdb_options_t *options = rocksdb_options_create();
    rocksdb_writeoptions_t *write = rocksdb_writeoptions_create();
    rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
    rocksdb_options_set_create_if_missing (options, 1);
    rocksdb_writeoptions_set_sync (write, 1);
    rocksdb_t *db = rocksdb_open (options, argv[0], &why);
    must (why);
    for (int i = 0; i < times; i++) {
        double begin = now_us();
        rocksdb_writebatch_clear (batch);
        for (int n = 0; n < keys; n++) {
            key[1] = __builtin_bswap64 ((uint64_t)i * (uint64_t)keys + (uint64_t)n);
            rocksdb_writebatch_put (batch, (char *)key, sizeof key, value, (size_t)bytes);
        }
        rocksdb_write (db, write, batch, &why);
        must (why);
        each[i] = now_us() - begin;
    }
    print_median (each, (size_t)times);
    rocksdb_writebatch_destroy (batch);
    rocksdb_writeoptions_destroy (write);
    rocksdb_close (db);
    rocksdb_options_destroy (options);
    free (each);
    free (value);
    return 0;
}

static int
reopen (char **argv)
{
    enum { MOST = 64 };
    char *why = NULL;
    size_t count;
    rocksdb_options_t *options = rocksdb_options_create();
    double begin = now_us();
    char **names = rocksdb_list_column_families (options, argv[0], &count, &why);
    must (why);
    const rocksdb_options_t *each[MOST];
    rocksdb_column_family_handle_t *handles[MOST];
    if (count > MOST)
        must ("too many column families");
    for (size_t i = 0; i < count; i++)
        each[i] = options;
    rocksdb_t *db = rocksdb_open_column_families (options, argv[0], (int)count,
                                                  (const char *const *)names, each, handles, &why);
    must (why);
    printf ("us\t%.6g\n", now_us() - begin);
    for (size_t i = 0; i < count; i++)
        rocksdb_column_family_handle_destroy (handles[i]);
    rocksdb_close (db);
    rocksdb_list_column_families_destroy (names, count);
    rocksdb_options_destroy (options);
    return 0;
}

/*  spawn  */

//  The program says one byte on descriptor 3 when it begins, then a message.
static double
one_spawn (char *program, char *endpoint, void *router)
{
    char *argv[] = {program, endpoint, "L", NULL}, text[64];
    posix_spawn_file_actions_t files;
    pid_t pid;
    posix_spawn_file_actions_init (&files);
    posix_spawn_file_actions_addopen (&files, 3, "/dev/null", O_WRONLY, 0);
    double begin = now_us();
    if (posix_spawn (&pid, program, &files, NULL, argv, environ)) {
        perror (program);
        exit (1);
    }
    zmq_recv (router, text, sizeof text, 0);
    zmq_recv (router, text, sizeof text, 0);
    double spent = now_us() - begin;
    waitpid (pid, NULL, 0);
    posix_spawn_file_actions_destroy (&files);
    return spent;
}

static int
spawn (char **argv)
{
    int times = atoi (argv[1]);
    double *each = calloc ((size_t)times, sizeof *each);
    void *context = zmq_ctx_new(), *router = zmq_socket (context, ZMQ_ROUTER);
    snprintf (front, sizeof front, "ipc:///tmp/bench-spawn-%d", (int)getpid());
    zmq_bind (router, front);
    for (int i = 0; i < times; i++)
        each[i] = one_spawn (argv[0], front, router);
    print_median (each, (size_t)times);
    zmq_close (router);
    zmq_ctx_term (context);
    unlink (front + strlen ("ipc://"));
    free (each);
    return 0;
}

int
main (int argc, char **argv)
{
    if (argc == 4 && !strcmp (argv[1], "proxy"))
        return proxy (argv + 2);
    if (argc == 6 && !strcmp (argv[1], "puts"))
        return puts_synced (argv + 2);
    if (argc == 3 && !strcmp (argv[1], "reopen"))
        return reopen (argv + 2);
    if (argc == 4 && !strcmp (argv[1], "spawn"))
        return spawn (argv + 2);
    fprintf (stderr,
             "usage: bench_floor proxy TIMES BYTES | puts DIR KEYS BYTES TIMES | reopen DIR |"
             " spawn PROGRAM TIMES\n");
    return 2;
}
