/*  bench_pattern - what it costs to look for a pattern after an event, in a small graph and in a large one.
 *
 *  Usage: bench_pattern DIR SMALL LARGE TIMES. Two runs of one store have so many objects; each object but the
 *  first needs one before it, at most eight need the same. TIMES patches in each run, in turns, go round 50
 *  objects that lie all over the graph, and the pattern is looked for after each: what is measured is the
 *  search, not a cold disk. DIR is made and gets the store. Prints medians in microseconds.
 *  SPDX-License-Identifier: Apache-2.0
 */
#include "supervisor/cypher_match.h"
#include "supervisor/operation.h"
#include "tests/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>

enum { LIST = 1000, DEGREE = 8, PLACES = 50 };

static const char pattern[] = "(t:task {status: 'open'})-[:needs]->(d:task {status: 'open'}) "
                              "WHERE NOT EXISTS {(t)-[:needs]->(e:task {status: 'late'})}";

static void
must (int rc, const struct ag_err *err)
{
    if (!rc)
        return;
    fprintf (stderr, "bench_pattern: %s\n", err->text);
    exit (1);
}

static void
put (struct ag_buf *out, const char *key, const char *text)
{
    ag_put_lit (out, key);
    ag_put_lit (out, text);
}

static void
put_id (struct ag_buf *out, const char *key, size_t n)
{
    ag_put_lit (out, key);
    ag_put_textf (out, "task:%zu", n);
}

static void
put_data (struct ag_buf *out, size_t n)
{
    ag_put_lit (out, "data");
    ag_put_map (out, 2);
    put (out, "status", "open");
    ag_put_lit (out, "n");
    ag_put_uint (out, n);
}

static uint32_t
add_object (struct ag_buf *out, size_t n)
{
    ag_put_map (out, 4);
    put (out, "op", "add_object");
    put (out, "type", "task");
    put_id (out, "id", n);
    put_data (out, n);
    if (!n)
        return 1;
    ag_put_map (out, 4);
    put (out, "op", "add_relation");
    put (out, "type", "needs");
    put_id (out, "source", n);
    put_id (out, "target", (n - 1) / DEGREE);
    return 2;
}

static void
apply (ag_journal_t *journal, uint64_t number, const struct ag_buf *ops, uint32_t count)
{
    struct ag_err err;
    struct ag_run *run;
    struct ag_buf list = {0};
    struct ag_applied applied = {0};
    struct ag_author author = {.actor = AG_LIT ("user")};
    ag_put_list (&list, count);
    ag_buf_add_str (&list, ag_buf_str (ops));
    must (ag_run_get (journal, number, &run, &err), &err);
    must (ag_operations_apply (journal, run, ag_buf_str (&list), &author, &applied, &err), &err);
    must (ag_journal_commit (journal, &err), &err);
    ag_applied_fini (&applied);
    ag_buf_fini (&list);
}

static void
fill (ag_journal_t *journal, uint64_t run, size_t objects)
{
    struct ag_buf ops = {0};
    for (size_t n = 0; n < objects;) {
        uint32_t count = 0;
        ag_buf_clear (&ops);
        for (size_t end = n + LIST; n < objects && n < end; n++)
            count += add_object (&ops, n);
        apply (journal, run, &ops, count);
    }
    ag_buf_fini (&ops);
}

//  A patch somewhere, and what the search after it takes.
static double
one_search (ag_journal_t *journal, uint64_t number, const struct ag_cypher *cypher, size_t object)
{
    struct ag_err err;
    struct ag_run *run;
    struct ag_event event;
    struct ag_buf op = {0}, hold = {0};
    struct ag_matches matches = {0};
    ag_put_map (&op, 3);
    put (&op, "op", "patch_object");
    put_id (&op, "id", object);
    put_data (&op, object + 1);
    apply (journal, number, &op, 1);
    must (ag_run_get (journal, number, &run, &err), &err);
    struct ag_invocation reader = {.at = run->head.tip};
    must (ag_journal_read (journal, run, run->head.tip, &hold, &event, &err), &err);
    double begin = now_us();
    must (ag_cypher_match (journal, run, cypher, &event, &reader, &matches, &err), &err);
    double spent = now_us() - begin;
    if (!matches.count) {
        fprintf (stderr, "bench_pattern: object %zu has no match\n", object);
        exit (1);
    }
    ag_buf_fini (&op);
    ag_buf_fini (&hold);
    ag_buf_fini (&reader.reads);
    ag_buf_fini (&matches.list);
    return spent;
}

struct graph {
    uint64_t run;
    size_t objects;
    double *each;
};

static void
make (ag_journal_t *journal, struct graph *graph, const char *objects, size_t times)
{
    struct ag_err err;
    struct ag_run *run;
    struct ag_birth birth = {0};
    must (ag_run_create (journal, &birth, &run, &err), &err);
    *graph = (struct graph){run->number, strtoul (objects, NULL, 10), NULL};
    graph->each = ag_xcalloc (times, sizeof *graph->each);
    fill (journal, graph->run, graph->objects);
}

static void
print (const char *name, struct graph *graph, size_t times)
{
    printf ("%s\t%.6g\n", name, median (graph->each, times));
    free (graph->each);
}

int
main (int argc, char **argv)
{
    struct ag_err err;
    struct graph graphs[2];
    if (argc != 5) {
        fprintf (stderr, "usage: bench_pattern DIR SMALL LARGE TIMES\n");
        return 2;
    }
    size_t times = strtoul (argv[4], NULL, 10);
    struct ag_cypher *cypher = ag_xmalloc (sizeof *cypher);
    must (ag_cypher_read (cypher, ag_str (pattern), &err), &err);
    ag_store_t *store = ag_store_rocks_new (argv[1], &err);
    must (store ? 0 : -1, &err);
    ag_journal_t *journal = ag_journal_new (store, &err);
    must (journal ? 0 : -1, &err);
    make (journal, &graphs[0], argv[2], times);
    make (journal, &graphs[1], argv[3], times);
    for (size_t i = 0; i < 2 * times; i++) {
        struct graph *graph = &graphs[i % 2];
        //  One of those that others need: the first eighth.
        size_t object = i / 2 % PLACES * ((graph->objects - 1) / DEGREE / PLACES);
        graph->each[i / 2] = one_search (journal, graph->run, cypher, object);
    }
    print ("small_us", &graphs[0], times);
    print ("large_us", &graphs[1], times);
    ag_journal_destroy (&journal);
    ag_store_destroy (&store);
    free (cypher);
    return 0;
}
