/*  bench_store - the store's part of a fork, with its sync, in a store that nobody else has open.
 *
 *  Usage: bench_store DIR RUN TIMES. Prints the median in microseconds.
 *  SPDX-License-Identifier: Apache-2.0
 */
#include "supervisor/fork.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void
must (int rc, const struct ag_err *err)
{
    if (!rc)
        return;
    fprintf (stderr, "bench_store: %s\n", err->text);
    exit (1);
}

static double
now_us (void)
{
    struct timespec time;
    clock_gettime (CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static int
compare (const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double
one_fork (ag_journal_t *journal, const char *name)
{
    struct ag_err err;
    struct ag_run *run, *fork;
    struct ag_birth birth = {.kind = AG_FORK};
    double begin = now_us();
    must (ag_run_find (journal, ag_str (name), &run, &err), &err);
    must (ag_fork (journal, run, run->head.tip, &birth, &fork, &err), &err);
    must (ag_journal_commit (journal, &err), &err);
    return now_us() - begin;
}

int
main (int argc, char **argv)
{
    struct ag_err err;
    if (argc != 4) {
        fprintf (stderr, "usage: bench_store DIR RUN TIMES\n");
        return 2;
    }
    size_t times = strtoul (argv[3], NULL, 10);
    double *each = ag_xcalloc (times, sizeof *each);
    ag_store_t *store = ag_store_rocks_new (argv[1], &err);
    must (store ? 0 : -1, &err);
    ag_journal_t *journal = ag_journal_new (store, &err);
    must (journal ? 0 : -1, &err);
    for (size_t i = 0; i < times; i++)
        each[i] = one_fork (journal, argv[2]);
    qsort (each, times, sizeof *each, compare);
    printf ("p50_us\t%.6g\n", each[times / 2]);
    ag_journal_destroy (&journal);
    ag_store_destroy (&store);
    free (each);
    return 0;
}
