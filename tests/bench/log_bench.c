/*  log_bench - what the log costs: events and patches a second, a fork, a promote.
 *
 *  Usage: log_bench [EVENTS]. Prints one line a number. The store lies in a directory of its own, which is
 *  removed at the end.
 *  SPDX-License-Identifier: Apache-2.0
 */
#include "common/json.h"
#include "supervisor/diff.h"
#include "supervisor/fork.h"
#include "supervisor/operation.h"
#include "supervisor/promote.h"

#include <assert.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

struct bench {
    ag_store_t *store;
    ag_journal_t *journal;
    uint64_t run;
    struct ag_err err;
};

static void
must (struct bench *self, int rc)
{
    if (!rc)
        return;
    fprintf (stderr, "log_bench: %s\n", self->err.text);
    exit (1);
}

static double
now (void)
{
    struct timespec time;
    clock_gettime (CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

//  Processor time of all threads.
static double
spent (void)
{
    struct rusage usage;
    getrusage (RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static struct ag_run *
run_of (struct bench *self, uint64_t number)
{
    struct ag_run *run;
    must (self, ag_run_get (self->journal, number, &run, &self->err));
    return run;
}

static void
put (struct ag_buf *out, const char *key, const char *text)
{
    ag_put_lit (out, key);
    ag_put_lit (out, text);
}

//  {op, ...} number n of a list; what it does to the n-th object.
typedef void (*op_fn) (struct ag_buf *out, unsigned n);

static void
emit_op (struct ag_buf *out, unsigned n)
{
    ag_put_map (out, 3);
    put (out, "op", "emit");
    put (out, "type", "task.measured");
    ag_put_lit (out, "payload");
    ag_put_map (out, 2);
    ag_put_lit (out, "n");
    ag_put_uint (out, n);
    put (out, "text",
         "what an agent has to say about one file, in a line or two of plain words, "
         "as it would in earnest; and what it found.");
}

static void
add_op (struct ag_buf *out, unsigned n)
{
    ag_put_map (out, 4);
    put (out, "op", "add_object");
    put (out, "type", "task");
    ag_put_lit (out, "id");
    ag_put_textf (out, "task#%u", n);
    ag_put_lit (out, "data");
    ag_put_map (out, 3);
    put (out, "title", "read the copyright file");
    put (out, "status", "open");
    ag_put_lit (out, "n");
    ag_put_uint (out, n);
}

static void
patch_op (struct ag_buf *out, unsigned n)
{
    ag_put_map (out, 3);
    put (out, "op", "patch_object");
    ag_put_lit (out, "id");
    ag_put_textf (out, "task#%u", n % 1000);
    ag_put_lit (out, "data");
    ag_put_map (out, 2);
    put (out, "status", n & 1 ? "done" : "open");
    ag_put_lit (out, "n");
    ag_put_uint (out, n);
}

static void
apply (struct bench *self, uint64_t run, op_fn op, unsigned from, unsigned count)
{
    struct ag_buf list = {0};
    struct ag_author author = {.actor = AG_LIT ("user")};
    struct ag_applied applied = {0};
    ag_put_list (&list, count);
    for (unsigned i = 0; i < count; i++)
        op (&list, from + i);
    must (self, ag_operations_apply (self->journal, run_of (self, run), ag_buf_str (&list), &author,
                                     &applied, &self->err));
    ag_applied_fini (&applied);
    ag_buf_fini (&list);
}

//  Batches of 100 with one sync each.
static void
rate (struct bench *self, const char *name, op_fn op, unsigned count)
{
    double begin = now(), before = spent();
    for (unsigned n = 0; n < count; n += 100) {
        apply (self, self->run, op, n, 100);
        must (self, ag_journal_commit (self->journal, &self->err));
    }
    printf ("%-44s %10.0f /s, %6.2f us of processor each\n", name, count / (now() - begin),
            (spent() - before) * 1e6 / count);
}

static uint64_t
fork_at (struct bench *self, const char *name, uint64_t at)
{
    struct ag_run *fork;
    struct ag_birth birth = {.kind = AG_FORK};
    double begin = now();
    must (self, ag_fork (self->journal, run_of (self, self->run), at, &birth, &fork, &self->err));
    uint64_t number = fork->number;
    printf ("%-44s %10.3f ms\n", name, (now() - begin) * 1e3);
    must (self, ag_journal_commit (self->journal, &self->err));
    printf ("%-44s %10.3f ms\n", "  with its sync", (now() - begin) * 1e3);
    return number;
}

static void
promote (struct bench *self, uint64_t fork)
{
    double begin = now();
    ag_plan_t *plan = ag_promote_plan (self->journal, run_of (self, fork), 0, &self->err);
    must (self, plan ? 0 : -1);
    printf ("%-44s %10.3f ms\n", "plan of 100 entities", (now() - begin) * 1e3);
    must (self, ag_promote_apply (self->journal, plan, &self->err));
    printf ("%-44s %10.3f ms\n", "promote of 100 entities", (now() - begin) * 1e3);
    must (self, ag_journal_commit (self->journal, &self->err));
    printf ("%-44s %10.3f ms\n", "  with its sync", (now() - begin) * 1e3);
    ag_plan_destroy (&plan);
}

static void
compare (struct bench *self, uint64_t fork)
{
    struct ag_buf out = {0};
    struct ag_diff_page page = {0};
    double begin = now();
    must (self, ag_diff (self->journal, run_of (self, self->run), AG_NOW, run_of (self, fork),
                         AG_NOW, &page, &out, &self->err));
    printf ("%-44s %10.3f ms\n", "diff of 100 entities", (now() - begin) * 1e3);
    ag_buf_fini (&out);
}

static void
measure (struct bench *self, unsigned events)
{
    rate (self, "emit", emit_op, events);
    rate (self, "add_object", add_op, events / 10);
    rate (self, "patch_object of 1000 objects", patch_op, events / 5);
    uint64_t tip = run_of (self, self->run)->head.tip;
    printf ("%-44s %10llu\n", "events", (unsigned long long)tip);
    fork_at (self, "fork in the middle", tip / 2 + 77);
    uint64_t fork = fork_at (self, "fork at the tip", tip);
    apply (self, fork, patch_op, 0, 50);
    apply (self, fork, add_op, 50000000, 50);
    must (self, ag_journal_commit (self->journal, &self->err));
    compare (self, fork);
    promote (self, fork);
}

static int
remove_one (const char *path, const struct stat *info, int kind, struct FTW *ftw)
{
    (void)info, (void)kind, (void)ftw;
    return remove (path);
}

int
main (int argc, char **argv)
{
    char own[] = "/tmp/log_bench.XXXXXX";
    unsigned events = argc > 1 ? (unsigned)atoi (argv[1]) : 1000000;
    struct bench self = {0};
    struct ag_run *run;
    struct ag_birth birth = {.label = AG_LIT ("bench")};
    assert (events >= 10000 && mkdtemp (own));
    self.store = ag_store_rocks_new (own, &self.err);
    must (&self, self.store ? 0 : -1);
    self.journal = ag_journal_new (self.store, &self.err);
    must (&self, self.journal ? 0 : -1);
    must (&self, ag_run_create (self.journal, &birth, &run, &self.err));
    self.run = run->number;
    measure (&self, events);
    ag_journal_destroy (&self.journal);
    ag_store_destroy (&self.store);
    nftw (own, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return 0;
}
