/*  bench_store - what the log costs without a house, in a store that nobody else has open.
 *
 *  Usage: bench_store DIR fork RUN TIMES       the store's part of a fork, with its sync: median, microseconds
 *         bench_store DIR scan RUN TIMES       events of a run, each read whole: events/s, of the fastest time
 *         bench_store DIR depth OBJECTS TIMES  an object that a root has, read in a fork and in a fork of 16 levels
 *         bench_store DIR promote ENTITIES     of a fork that made so many objects: microseconds, planned and written
 *
 *  The last two make what they measure. Prints lines `name<TAB>value`.
 *  SPDX-License-Identifier: Apache-2.0
 */
#include "supervisor/fork.h"
#include "supervisor/operation.h"
#include "supervisor/promote.h"
#include "supervisor/state.h"
#include "tests/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST = 1000, DEPTH = 16 };

struct bench {
    ag_journal_t *journal;
    struct ag_err err;
};

static void
must (const struct bench *self, int rc)
{
    if (!rc)
        return;
    fprintf (stderr, "bench_store: %s\n", self->err.text);
    exit (1);
}

static void
print_median (const char *name, double *each, size_t times)
{
    printf ("%s\t%.6g\n", name, median (each, times));
    free (each);
}

static void
commit (struct bench *self)
{
    must (self, ag_journal_commit (self->journal, &self->err));
}

static struct ag_run *
find (struct bench *self, const char *name)
{
    struct ag_run *run;
    must (self, ag_run_find (self->journal, ag_str (name), &run, &self->err));
    return run;
}

static struct ag_run *
get (struct bench *self, uint64_t number)
{
    struct ag_run *run;
    must (self, ag_run_get (self->journal, number, &run, &self->err));
    return run;
}

//  A fork of the run's tip; its number, since pointers end with each commit.
static uint64_t
fork_of (struct bench *self, struct ag_run *run)
{
    struct ag_birth birth = {.kind = AG_FORK};
    struct ag_run *fork;
    must (self, ag_fork (self->journal, run, run->head.tip, &birth, &fork, &self->err));
    uint64_t number = fork->number;
    commit (self);
    return number;
}

static uint64_t
root (struct bench *self)
{
    struct ag_birth birth = {0};
    struct ag_run *run;
    must (self, ag_run_create (self->journal, &birth, &run, &self->err));
    return run->number;
}

//  Objects PREFIX:from and so on.
static void
add_objects (struct bench *self, uint64_t number, const char *prefix, size_t count)
{
    struct ag_author author = {.actor = AG_LIT ("user")};
    for (size_t n = 0; n < count;) {
        struct ag_buf ops = {0};
        struct ag_applied applied = {0};
        size_t end = n + LIST < count ? n + LIST : count;
        ag_put_list (&ops, (uint32_t)(end - n));
        for (; n < end; n++) {
            ag_put_map (&ops, 4);
            ag_put_lit (&ops, "op");
            ag_put_lit (&ops, "add_object");
            ag_put_lit (&ops, "type");
            ag_put_lit (&ops, "task");
            ag_put_lit (&ops, "id");
            ag_put_textf (&ops, "%s:%zu", prefix, n);
            ag_put_lit (&ops, "data");
            ag_put_map (&ops, 1);
            ag_put_lit (&ops, "title");
            ag_put_lit (&ops, "read the copyright file of a package and say what it allows");
        }
        must (self, ag_operations_apply (self->journal, get (self, number), ag_buf_str (&ops),
                                         &author, &applied, &self->err));
        commit (self);
        ag_applied_fini (&applied);
        ag_buf_fini (&ops);
    }
}

static void
measure_fork (struct bench *self, const char *name, size_t times)
{
    double *each = ag_xcalloc (times, sizeof *each);
    for (size_t i = 0; i < times; i++) {
        double begin = now_us();
        fork_of (self, find (self, name));
        each[i] = now_us() - begin;
    }
    print_median ("p50_us", each, times);
}

struct scanned {
    uint64_t events, bytes;
};

static bool
scanned (void *arg, const struct ag_event *event)
{
    struct scanned *self = arg;
    self->events++;
    self->bytes += event->type.n + event->payload.n;
    return true;
}

static void
measure_scan (struct bench *self, const char *name, size_t times)
{
    double best = 0;
    for (size_t i = 0; i < times; i++) {
        struct scanned seen = {0};
        struct ag_run *run = find (self, name);
        double begin = now_us();
        must (self,
              ag_journal_scan (self->journal, run, 0, run->head.tip, scanned, &seen, &self->err));
        double rate = (double)seen.events / (now_us() - begin) * 1e6;
        best = rate > best ? rate : best;
    }
    printf ("events_per_s\t%.6g\n", best);
}

static double
one_read (struct bench *self, uint64_t number, size_t n)
{
    struct ag_entity entity = {0};
    char id[32];
    struct ag_run *run = get (self, number);
    snprintf (id, sizeof id, "task:%zu", n);
    double begin = now_us();
    int found =
        ag_state_get (self->journal, run, AG_OBJECT, ag_str (id), AG_NOW, &entity, &self->err);
    double spent = now_us() - begin;
    must (self, found == 1 ? 0 : -1);
    ag_entity_fini (&entity);
    return spent;
}

//  Each level has made something of its own.
static void
measure_depth (struct bench *self, const char *objects, size_t times)
{
    size_t count = strtoul (objects, NULL, 10);
    uint64_t levels[DEPTH + 1] = {root (self)};
    double *shallow = ag_xcalloc (times, sizeof *shallow), *deep = ag_xcalloc (times, sizeof *deep);
    add_objects (self, levels[0], "task", count);
    for (int i = 1; i <= DEPTH; i++) {
        char prefix[24];
        snprintf (prefix, sizeof prefix, "level%d", i);
        levels[i] = fork_of (self, get (self, levels[i - 1]));
        add_objects (self, levels[i], prefix, LIST);
    }
    for (size_t i = 0; i < times; i++) {
        size_t n = i * 7919 % count;
        deep[i] = one_read (self, levels[DEPTH], n);
        shallow[i] = one_read (self, levels[1], (n + count / 2) % count);
    }
    print_median ("shallow_us", shallow, times);
    print_median ("deep_us", deep, times);
}

static void
measure_promote (struct bench *self, const char *entities)
{
    size_t count = strtoul (entities, NULL, 10);
    uint64_t parent = root (self);
    commit (self);
    uint64_t number = fork_of (self, get (self, parent));
    add_objects (self, number, "task", count);
    double begin = now_us();
    ag_plan_t *plan = ag_promote_plan (self->journal, get (self, number), count, &self->err);
    must (self, plan ? 0 : -1);
    must (self, ag_promote_apply (self->journal, plan, &self->err));
    commit (self);
    printf ("us\t%.6g\n", now_us() - begin);
    ag_plan_destroy (&plan);
}

int
main (int argc, char **argv)
{
    struct bench self = {0};
    size_t times = argc > 4 ? strtoul (argv[4], NULL, 10) : 1;
    if (argc < 4) {
        fprintf (stderr, "usage: bench_store DIR fork|scan|depth|promote …\n");
        return 2;
    }
    ag_store_t *store = ag_store_rocks_new (argv[1], &self.err);
    must (&self, store ? 0 : -1);
    self.journal = ag_journal_new (store, &self.err);
    must (&self, self.journal ? 0 : -1);
    if (!strcmp (argv[2], "fork"))
        measure_fork (&self, argv[3], times);
    if (!strcmp (argv[2], "scan"))
        measure_scan (&self, argv[3], times);
    if (!strcmp (argv[2], "depth"))
        measure_depth (&self, argv[3], times);
    if (!strcmp (argv[2], "promote"))
        measure_promote (&self, argv[3]);
    ag_journal_destroy (&self.journal);
    ag_store_destroy (&store);
    return 0;
}
