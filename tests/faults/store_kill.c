/*  store_kill - what was acknowledged survives SIGKILL whole, and nothing is half there.
 *
 *  A child writes numbered batches whose content follows from their number, and reports each acknowledged
 *  number through a pipe. The parent kills it at a random moment, opens the store and checks what was written
 *  since the kill before; each WHOLE kills, and after the last, every batch and that there is nothing else.
 *  AG_KILLS sets how often (20), AG_SEED the moments (printed).
 *  SPDX-License-Identifier: Apache-2.0
 */
#include "common/tree.h"
#include "supervisor/batch.h"

#include <assert.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LIVES_AT_MOST_S = 60, LONGEST_LIFE_MS = 250, WHOLE = 20 };

static const struct ag_str last_key = {"\1last", 5};

//  A good enough scramble, so that sizes and bytes follow from numbers.
static uint64_t
scramble (uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static size_t
keys_of (uint64_t batch)
{
    return 1 + scramble (batch) % 120;
}

static enum ag_table
table_of (uint64_t batch, size_t i)
{
    return AG_EVENT + (batch + i) % (AG_TABLES - AG_EVENT);
}

static void
make_key (uint64_t batch, size_t i, struct ag_buf *key)
{
    ag_buf_clear (key);
    ag_buf_add (key, "\1", 1);
    ag_buf_be64 (key, batch);
    ag_buf_be64 (key, i);
}

static void
make_value (uint64_t batch, size_t i, struct ag_buf *value)
{
    ag_buf_clear (value);
    uint64_t seed = scramble (batch * 1000 + i);
    for (size_t n = seed % 200; n > 0; n--)
        ag_buf_be64 (value, seed = scramble (seed));
}

static void
put_batch (ag_batch_t *batch, uint64_t number)
{
    struct ag_buf key = {0}, value = {0};
    for (size_t i = 0; i < keys_of (number); i++) {
        make_key (number, i, &key);
        make_value (number, i, &value);
        ag_batch_put (batch, table_of (number, i), ag_buf_str (&key), ag_buf_str (&value));
    }
    ag_buf_clear (&value);
    ag_buf_be64 (&value, number);
    ag_batch_put (batch, AG_META, last_key, ag_buf_str (&value));
    ag_buf_fini (&key);
    ag_buf_fini (&value);
}

static uint64_t
read_last (ag_store_t *store)
{
    struct ag_err err;
    struct ag_buf value = {0};
    int rc = ag_store_get (store, AG_META, last_key, &value, &err);
    assert (rc >= 0);
    uint64_t last = rc ? ag_be64 (value.p) : 0;
    ag_buf_fini (&value);
    return last;
}

static ag_store_t *
open_store (const char *dir)
{
    struct ag_err err;
    ag_store_t *store = ag_store_rocks_new (dir, &err);
    if (!store) {
        fprintf (stderr, "open: %s\n", err.text);
        exit (1);
    }
    return store;
}

//  The child: writes until it is killed.
static int
write_for_ever (const char *dir)
{
    prctl (PR_SET_PDEATHSIG, SIGKILL);
    alarm (LIVES_AT_MOST_S);
    struct ag_err err;
    ag_store_t *store = open_store (dir);
    ag_batch_t *batch = ag_batch_new (store);
    for (uint64_t number = read_last (store) + 1;; number++) {
        put_batch (batch, number);
        if (ag_batch_write (batch, &err) == 0) {
            if (write (STDOUT_FILENO, &number, sizeof number) != sizeof number)
                return 1;
        } else {
            fprintf (stderr, "write: %s\n", err.text);
            return 1;
        }
    }
}

//  One life of the child; returns the last number that it acknowledged, 0 for none.
static uint64_t
live_and_kill (const char *self, const char *dir)
{
    int ends[2];
    assert (pipe (ends) == 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init (&actions);
    posix_spawn_file_actions_adddup2 (&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose (&actions, ends[0]);
    posix_spawn_file_actions_addclose (&actions, ends[1]);
    char *const args[] = {(char *)self, (char *)dir, NULL};
    pid_t pid;
    assert (posix_spawn (&pid, self, &actions, NULL, args, environ) == 0);
    posix_spawn_file_actions_destroy (&actions);
    close (ends[1]);

    //  Most die while they write, some while they open the store.
    if (rand() % 4)
        poll (&(struct pollfd){.fd = ends[0], .events = POLLIN}, 1, LIVES_AT_MOST_S * 1000);
    usleep ((useconds_t)(rand() % LONGEST_LIFE_MS) * 1000);
    kill (pid, SIGKILL);
    uint64_t number, acknowledged = 0;
    while (read (ends[0], &number, sizeof number) == sizeof number)
        acknowledged = number;
    close (ends[0]);
    int status;
    assert (waitpid (pid, &status, 0) == pid);
    if (!WIFSIGNALED (status) || WTERMSIG (status) != SIGKILL) {
        fprintf (stderr, "the writer ended by itself: status %d\n", status);
        exit (1);
    }
    return acknowledged;
}

static void
check_batch (ag_store_t *store, uint64_t number)
{
    struct ag_err err;
    struct ag_buf key = {0}, wanted = {0}, found = {0};
    for (size_t i = 0; i < keys_of (number); i++) {
        make_key (number, i, &key);
        make_value (number, i, &wanted);
        ag_buf_clear (&found);
        int rc = ag_store_get (store, table_of (number, i), ag_buf_str (&key), &found, &err);
        if (rc != 1 || !ag_str_eq (ag_buf_str (&found), ag_buf_str (&wanted))) {
            fprintf (stderr, "batch %" PRIu64 " key %zu of %zu: rc %d, %zu bytes, not %zu\n",
                     number, i, keys_of (number), rc, found.n, wanted.n);
            exit (1);
        }
    }
    ag_buf_fini (&key);
    ag_buf_fini (&wanted);
    ag_buf_fini (&found);
}

//  Every table holds exactly the keys of the batches up to the last one.
static void
check_nothing_else (ag_store_t *store, uint64_t last)
{
    struct ag_err err;
    struct ag_str key, value;
    size_t wanted = 0, found = 0;
    for (uint64_t number = 1; number <= last; number++)
        wanted += keys_of (number);
    for (enum ag_table table = AG_EVENT; table < AG_TABLES; table++) {
        ag_scan_t *scan = ag_store_scan (store, table, AG_LIT (""), AG_LIT (""));
        while (ag_scan_next (scan, &key, &value, &err) == 1)
            found++;
        ag_scan_destroy (&scan);
    }
    if (found != wanted) {
        fprintf (stderr, "%zu keys of %" PRIu64 " batches, not %zu\n", found, last, wanted);
        exit (1);
    }
}

//  Checks the store after a kill, batches from a number on or everything (0); returns the last batch it holds.
static uint64_t
check (const char *dir, uint64_t acknowledged, uint64_t from, uint64_t *epoch)
{
    ag_store_t *store = open_store (dir);
    uint64_t last = read_last (store);
    if (last < acknowledged || (acknowledged && last > acknowledged + 1)) {
        fprintf (stderr, "%" PRIu64 " acknowledged, %" PRIu64 " stored\n", acknowledged, last);
        exit (1);
    }
    for (uint64_t number = from ? from : 1; number <= last; number++)
        check_batch (store, number);
    if (!from)
        check_nothing_else (store, last);
    assert (ag_store_epoch (store) > *epoch);
    *epoch = ag_store_epoch (store);
    ag_store_destroy (&store);
    return last;
}

static unsigned
setting (const char *name, unsigned otherwise)
{
    const char *text = getenv (name);
    return text ? (unsigned)strtoul (text, NULL, 10) : otherwise;
}

int
main (int argc, char **argv)
{
    if (argc == 2)
        return write_for_ever (argv[1]);

    unsigned kills = setting ("AG_KILLS", 20), seed = setting ("AG_SEED", (unsigned)time (NULL));
    char home[] = "/tmp/ag_store_kill.XXXXXX", dir[64];
    assert (mkdtemp (home));
    snprintf (dir, sizeof dir, "%s/store", home);
    printf ("AG_SEED=%u AG_KILLS=%u\n", seed, kills);
    fflush (stdout);
    srand (seed);

    uint64_t epoch = 0, last = 0, in_flight = 0;
    for (unsigned i = 0; i < kills; i++) {
        uint64_t acknowledged = live_and_kill ("/proc/self/exe", dir);
        bool whole = (i + 1) % WHOLE == 0 || i + 1 == kills;
        last = check (dir, acknowledged ? acknowledged : last, whole ? 0 : last + 1, &epoch);
        in_flight += acknowledged && last == acknowledged + 1;
    }
    printf ("%u kills, %" PRIu64 " batches whole, %" PRIu64
            " of them stored but not yet acknowledged\n",
            kills, last, in_flight);
    ag_tree_remove (home);
    return last ? 0 : 1;
}
