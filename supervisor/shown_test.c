//  What lies around an object, as a behaviour sees it.
//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/shown.h"
#include "supervisor/core_graph_test.h"

#include <time.h>

//  What is shown around an object of a run at its tip; the caller ends both.
struct walk {
    struct ag_invocation invocation;
    struct ag_shown shown;
};

static void
walk (struct core *core, uint64_t run, const char *object, uint64_t depth, struct ag_str types,
      struct walk *walk)
{
    *walk = (struct walk){0};
    walk->shown = (struct ag_shown){.journal = core->journal,
                                    .run = core_run (core, run),
                                    .at = AG_NOW,
                                    .invocation = &walk->invocation,
                                    .types = types,
                                    .limit = AG_PAGE_THINGS,
                                    .bytes_left = AG_SHOWN_BYTES,
                                    .err = &core->err};
    must (core, ag_shown_around (&walk->shown, ag_str (object), depth));
}

static void
walk_fini (struct walk *walk)
{
    ag_buf_fini (&walk->invocation.reads);
    ag_shown_fini (&walk->shown);
}

//  Ids of a list of things, as "a b c".
static const char *
ids_of (const struct ag_buf *things, char text[200])
{
    struct ag_cursor in = ag_cursor (ag_buf_str (things));
    struct ag_str thing, id;
    size_t n = 0;
    text[0] = 0;
    while (!ag_take (&in, &thing) && !ag_map_text (thing, "id", &id))
        n += (size_t)snprintf (text + n, 200 - n, "%s%.*s", n ? " " : "", AG_STR_ARG (id));
    return text;
}

static void
what_lies_around_is_shown_ring_by_ring_and_each_thing_once (void **state)
{
    static const char *const objects[] = {"a", "a b c", "a b c d", "a b c d e", "a b c d e"};
    static const char *const relations[] = {"", "r1 r2", "r1 r2 r3 r4", "r1 r2 r3 r4 r5",
                                            "r1 r2 r3 r4 r5"};
    struct core *core = *state;
    char text[200];
    uint64_t run = core_root (core, "root");
    for (const char *id = "abcde"; *id; id++) {
        char ops[80];
        snprintf (ops, sizeof ops, "[{'op':'add_object','id':'%c','type':'%s'}]", *id,
                  *id == 'b' ? "skipped" : "t");
        core_apply (core, run, ops);
    }
    core_apply (core, run,
                "[{'op':'add_relation','id':'r1','type':'x','source':'a','target':'b'},"
                "{'op':'add_relation','id':'r2','type':'x','source':'c','target':'a'},"
                "{'op':'add_relation','id':'r3','type':'x','source':'b','target':'c'},"
                "{'op':'add_relation','id':'r4','type':'x','source':'b','target':'d'},"
                "{'op':'add_relation','id':'r5','type':'x','source':'d','target':'e'}]");
    struct walk seen;
    for (uint64_t depth = 0; depth < 5; depth++) {
        walk (core, run, "a", depth, (struct ag_str){0}, &seen);
        assert_string_equal (ids_of (&seen.shown.objects, text), objects[depth]);
        assert_string_equal (ids_of (&seen.shown.relations, text), relations[depth]);
        assert_false (seen.shown.more);
        walk_fini (&seen);
    }
    walk (core, run, "a", 2, AG_LIT ("\x91\xa1t"), &seen);
    assert_string_equal (ids_of (&seen.shown.objects, text), "a c d");
    walk_fini (&seen);
}

//  A hub with as many relations as are shown, each with a long list in its data: every one is met from both ends.
static uint64_t
hub (struct core *core, int leaves)
{
    uint64_t run = core_root (core, "root");
    struct ag_buf ops = {0};
    ag_buf_text (&ops, "[{'op':'add_object','id':'hub','type':'t'}");
    for (int i = 0; i < leaves; i++) {
        ag_buf_text (&ops,
                     ",{'op':'add_object','id':'n%d','type':'t'},{'op':'add_relation','type':'x',"
                     "'source':'hub','target':'n%d','data':{'list':[0",
                     i, i);
        for (int n = 0; n < 1500; n++)
            ag_buf_text (&ops, ",1");
        ag_buf_text (&ops, "]}}");
    }
    ag_buf_text (&ops, "]");
    core_apply (core, run, (const char *)ops.p);
    ag_buf_fini (&ops);
    return run;
}

static void
a_walk_costs_what_it_shows_however_much_that_holds (void **state)
{
    enum { LEAVES = 900, SECONDS = 10 };
    struct core *core = *state;
    uint64_t run = hub (core, LEAVES);
    struct walk seen;
    clock_t begin = clock();
    walk (core, run, "hub", 2, (struct ag_str){0}, &seen);
    assert_int_equal (seen.shown.relation_count, LEAVES);
    assert_int_equal (seen.shown.object_count, 1 + LEAVES);
    assert_true (clock() - begin < SECONDS * CLOCKS_PER_SEC);
    walk_fini (&seen);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (what_lies_around_is_shown_ring_by_ring_and_each_thing_once),
        core_test (a_walk_costs_what_it_shows_however_much_that_holds),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
