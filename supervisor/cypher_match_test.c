//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/core_graph_test.h"
#include "supervisor/cypher_match.h"
#include "supervisor/reads.h"

/*  What an event's pattern matches, as JSON in the order in which it is found; "!" and the error.  */
static const char *
find (struct core *core, uint64_t number, const char *pattern, uint64_t seq)
{
    struct ag_run *run = core_run (core, number);
    struct ag_invocation reader = {.at = run->head.tip};
    struct ag_matches matches = {0};
    struct ag_buf hold = {0}, list = {0};
    struct ag_event event;
    struct ag_cypher *cypher = ag_xmalloc (sizeof *cypher);
    must (core, ag_cypher_read (cypher, ag_str (pattern), &core->err));
    must (core, ag_journal_read (core->journal, run, seq, &hold, &event, &core->err));
    int rc = ag_cypher_match (core->journal, run, cypher, &event, &reader, &matches, &core->err);
    ag_put_list (&list, matches.count < AG_MATCH_SHOWN ? matches.count : AG_MATCH_SHOWN);
    ag_buf_add_str (&list, ag_buf_str (&matches.list));
    const char *text = rc ? core->err.text : json_of (core, ag_buf_str (&list));
    ag_buf_fini (&reader.reads);
    ag_buf_fini (&matches.list);
    ag_buf_fini (&hold);
    ag_buf_fini (&list);
    free (cypher);
    return text;
}

#define finds(pattern, seq, expected) assert_string_equal (find (core, run, pattern, seq), expected)

static uint64_t
apply (struct core *core, uint64_t run, const char *ops)
{
    core_apply (core, run, ops);
    return core_tip (core, run);
}

#define TASK(id, status)                                                                           \
    "{'op':'add_object','id':'" id "','type':'task','data':{'status':'" status "','n':1}}"
#define NEEDS(id, source, target)                                                                  \
    "{'op':'add_relation','id':'" id "','type':'needs','source':'" source "','target':'" target "'}"
#define PATCH(id, status) "[{'op':'patch_object','id':'" id "','data':{'status':'" status "'}}]"
#define UNRELATE(id)      "[{'op':'remove_relation','id':'" id "'}]"

//  a needs b needs c; d stands alone.
static uint64_t
tasks (struct core *core)
{
    uint64_t run = core_root (core, NULL);
    core_apply (core, run,
                "[" TASK ("a", "open") "," TASK ("b", "open") "," TASK ("c", "open") "," TASK (
                    "d", "open") "," NEEDS ("ab", "a", "b") "," NEEDS ("bc", "b", "c") "]");
    return run;
}

static void
the_matches_of_an_event_are_those_that_it_touches (void **state)
{
    struct core *core = *state;
    uint64_t run = tasks (core);
    finds ("(t:task)", 1, "[{'t':'a'}]");
    finds ("(t:note)", 1, "[]");
    finds ("(x:task)-[:needs]->(y)", 2, "[{'x':'b','y':'c'},{'x':'a','y':'b'}]");
    finds ("(x:task)-[:needs]->(y)", 4, "[]");
    finds ("(x)-[r:needs]->(y)", 5, "[{'x':'a','r':'ab','y':'b'}]");
    finds ("(x)<-[:needs]-(y)", 5, "[{'x':'b','y':'a'}]");
    finds ("(x)-[:needs]->(y)-[:needs]->(z)", 6, "[{'x':'a','y':'b','z':'c'}]");
    finds ("(x)-[:wants]->(y)", 5, "[]");
    uint64_t patch = apply (core, run, PATCH ("b", "done"));
    finds ("(x)-[:needs]->(y:task {status:'done'})", patch, "[{'x':'a','y':'b'}]");
    finds ("(x)-[:needs]->(y:task {status:'open'})", patch, "[{'x':'b','y':'c'}]");
    finds ("(:task)-[:needs]->(:task)", patch, "[{}]");
}

static void
one_thing_may_stand_at_several_places_and_a_variable_is_one_thing (void **state)
{
    struct core *core = *state;
    uint64_t run = tasks (core);
    uint64_t loop = apply (core, run, "[" NEEDS ("dd", "d", "d") "]");
    finds ("(x)-[:needs]->(y)", loop, "[{'x':'d','y':'d'}]");
    finds ("(x)-[:needs]->(x)", loop, "[{'x':'d'}]");
    finds ("(x)-[:needs]->(y)-[:needs]->(x)", loop, "[{'x':'d','y':'d'}]");
    finds ("(x)-[r:needs]->(y)-[r:needs]->(z)", loop, "[{'x':'d','r':'dd','y':'d','z':'d'}]");
    finds ("(x)-[:needs]->(x)", 5, "[]");
    //  Both of b's neighbours may be the same one. That d needs itself is not touched.
    uint64_t other = apply (core, run, "[" NEEDS ("db", "d", "b") "]");
    finds ("(x)-[:needs]->(y)<-[:needs]-(z)", other,
           "[{'x':'d','y':'b','z':'a'},{'x':'d','y':'b','z':'d'},{'x':'a','y':'b','z':'d'}]");
    finds ("(x)-[:needs]->(y)<-[:needs]-(z) WHERE x.id <> z.id", other,
           "[{'x':'d','y':'b','z':'a'},{'x':'a','y':'b','z':'d'}]");
}

static void
where_looks_at_the_data_and_then_at_the_thing_itself (void **state)
{
    struct core *core = *state;
    uint64_t run = tasks (core);
    finds ("(t) WHERE t.status = 'open' AND t.n <= 1.0 AND NOT t.n > 1", 1, "[{'t':'a'}]");
    finds ("(t) WHERE t.nothing = null", 1, "[{'t':'a'}]");
    finds ("(t) WHERE t.nothing > 0", 1, "[]");
    finds ("(t) WHERE NOT (t.n = 1 AND t.status = 'done')", 1, "[{'t':'a'}]");
    finds ("(t) WHERE t.id = 'a' AND t.type = 'task'", 1, "[{'t':'a'}]");
    finds ("(x)-[r:needs]->(y) WHERE r.source = 'a' AND r.target = y.id AND r.type = 'needs'", 5,
           "[{'x':'a','r':'ab','y':'b'}]");
    finds ("(x)-[:needs]->(y) WHERE x.n = y.n AND x.id < y.id", 5, "[{'x':'a','y':'b'}]");
    uint64_t odd = apply (core, run,
                          "[{'op':'add_object','id':'e','type':'task','data':{'type':'odd',"
                          "'deep':{'er':[1]}}}]");
    finds ("(t) WHERE t.type = 'odd' AND t.deep.er <> 1 AND t.id = 'e'", odd, "[{'t':'e'}]");
}

#define READY "(t:task {status:'open'}) WHERE NOT EXISTS {(t)-[:needs]->(d:task {status:'open'})}"

static void
not_exists_becomes_true_by_a_relation_that_is_removed (void **state)
{
    struct core *core = *state;
    uint64_t run = tasks (core);
    finds (READY, 2, "[]");
    finds (READY, 3, "[{'t':'c'}]");
    uint64_t removed = apply (core, run, UNRELATE ("ab"));
    finds (READY, removed, "[{'t':'a'}]");
    //  Far from the end that is shared.
    run = tasks (core);
    removed = apply (core, run, UNRELATE ("bc"));
    finds ("(t:task) WHERE NOT EXISTS {(t)-[:needs]->(m)-[:needs]->(n)}", removed,
           "[{'t':'b'},{'t':'a'},{'t':'c'}]");
}

static void
not_exists_becomes_true_by_a_property_that_is_patched (void **state)
{
    struct core *core = *state;
    uint64_t run = tasks (core);
    uint64_t patch = apply (core, run, PATCH ("b", "done"));
    finds (READY, patch, "[{'t':'a'}]");
    //  Two steps away.
    patch = apply (core, run, PATCH ("c", "done"));
    finds ("(t:task) WHERE NOT EXISTS {(t)-[:needs]->(m)-[:needs]->(n {status:'open'})} AND t.id = "
           "'a'",
           patch, "[{'t':'a'}]");
    //  An event that only names the object touches it as well.
    uint64_t named = core_append (core, run, "task.completed", "{'about':{'task':'b'}}");
    finds (READY, named, "[{'t':'a'}]");
}

static void
what_removes_an_object_is_seen_by_its_relations (void **state)
{
    struct core *core = *state;
    uint64_t run = tasks (core);
    uint64_t before = core_tip (core, run);
    uint64_t tip = apply (core, run, "[{'op':'remove_object','id':'b'}]");
    assert_int_equal (tip, before + 3);
    finds (READY, before + 1, "[]"); //  the object
    finds (READY, before + 2, "[{'t':'a'}]");
    finds (READY, before + 3, "[{'t':'c'}]");
}

static void
a_new_thing_makes_true_only_what_is_asked_to_exist (void **state)
{
    struct core *core = *state;
    uint64_t run = tasks (core);
    core_apply (core, run, PATCH ("d", "done"));
    uint64_t made = apply (core, run, "[" NEEDS ("cd", "c", "d") "]");
    finds (READY, made, "[]");
    finds ("(t:task) WHERE NOT (NOT EXISTS {(t)-[:needs]->(d {status:'done'})})", made,
           "[{'t':'c'}]");
}

static void
a_not_exists_that_shares_nothing_is_about_the_whole_graph (void **state)
{
    struct core *core = *state;
    uint64_t run = tasks (core);
    const char *unlocked = "(t:task {status:'open'}) WHERE NOT EXISTS {(:lock)}";
    core_apply (core, run, PATCH ("d", "done"));
    uint64_t locked = apply (core, run, "[{'op':'add_object','id':'l','type':'lock','data':{}}]");
    finds (unlocked, locked, "[]");
    finds (unlocked, 1, "[]");
    uint64_t gone = apply (core, run, "[{'op':'remove_object','id':'l'}]");
    finds (unlocked, gone, "[{'t':'a'},{'t':'b'},{'t':'c'}]");
    finds (unlocked, 1, "[{'t':'a'}]");
}

static void
an_event_that_names_nothing_asks_the_whole_graph (void **state)
{
    struct core *core = *state;
    uint64_t run = tasks (core);
    uint64_t tick = core_append (core, run, "tick", "{'why':'nothing here'}");
    finds ("(x:task)-[:needs]->(y)", tick, "[{'x':'a','y':'b'},{'x':'b','y':'c'}]");
    finds ("(x)-[:needs]->(y:task)", tick, "[{'x':'a','y':'b'},{'x':'b','y':'c'}]");
    finds ("(x)", tick, "[{'x':'a'},{'x':'b'},{'x':'c'},{'x':'d'}]");
    uint64_t named = core_append (core, run, "tick", "{'id':'d'}");
    finds ("(x)", named, "[{'x':'d'}]");
    named = core_append (core, run, "tick", "{'relation':'ab'}");
    finds ("(x)-[:needs]->(y)", named, "[{'x':'a','y':'b'}]");
}

static void
add_many (struct core *core, uint64_t run, int from, int to)
{
    struct ag_buf ops = {0};
    ag_buf_text (&ops, "[{'op':'add_object','id':'t%d','type':'task','data':{}}", from);
    for (int i = from + 1; i < to; i++)
        ag_buf_text (&ops, ",{'op':'add_object','id':'t%d','type':'task','data':{}}", i);
    ag_buf_text (&ops, "]");
    ag_buf_add (&ops, "", 1);
    core_apply (core, run, (const char *)ops.p);
    ag_buf_fini (&ops);
}

static void
the_work_and_the_matches_are_bounded_and_the_error_says_what_narrows_them (void **state)
{
    struct core *core = *state;
    uint64_t run = core_root (core, NULL);
    add_many (core, run, 0, AG_MATCH_COUNT);
    uint64_t tick = core_append (core, run, "tick", "{}");
    assert_int_equal (strncmp (find (core, run, "(t:task)", tick), "[{'t':'t0'}", 11), 0);
    add_many (core, run, AG_MATCH_COUNT, AG_MATCH_COUNT + 1);
    assert_non_null (strstr (find (core, run, "(t:task)", tick), "more than 10000 matches"));
    assert_int_equal (core->err.code, AG_E_TOO_LARGE);
    assert_string_equal (find (core, run, "(t:task) WHERE t.n = 1", tick), "[]");
    add_many (core, run, AG_MATCH_COUNT + 1, AG_MATCH_READS + 1);
    assert_non_null (strstr (find (core, run, "(t:task) WHERE t.n = 1", tick),
                             "looks at more than 20000 things: name a type"));
}

//  What was looked at, also in vain, belongs to what the invocation asked for.
static void
what_the_search_looked_at_is_stale_when_it_changes (void **state)
{
    struct core *core = *state;
    uint64_t run = tasks (core);
    static const struct {
        const char *ops;
        bool stale;
    } rows[] = {{PATCH ("a", "x"), false}, {PATCH ("b", "x"), true},
                {PATCH ("c", "x"), true},  {"[" NEEDS ("old", "a", "d") "]", false},
                {PATCH ("d", "x"), false}, {"[" NEEDS ("new", "b", "d") "]", true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ag_run *self = core_run (core, run);
        struct ag_invocation reader = {.at = self->head.tip};
        struct ag_matches matches = {0};
        struct ag_buf hold = {0};
        struct ag_event event;
        struct ag_cypher *cypher = ag_xmalloc (sizeof *cypher);
        must (core, ag_cypher_read (cypher,
                                    AG_LIT ("(t:task) WHERE NOT EXISTS "
                                            "{(t)-[:needs]->(d {status:'gone'})}"),
                                    &core->err));
        must (core, ag_journal_read (core->journal, self, 2, &hold, &event, &core->err));
        //  b, and c which it needs; a is met on the way to b.
        must (core,
              ag_cypher_match (core->journal, self, cypher, &event, &reader, &matches, &core->err));
        assert_int_equal (matches.count, 1);
        core_apply (core, run, rows[i].ops);
        int stale = ag_reads_stale (core->journal, self, &reader, &core->err);
        if (stale != rows[i].stale)
            fail_msg ("%s: %d", rows[i].ops, stale);
        ag_buf_fini (&reader.reads);
        ag_buf_fini (&matches.list);
        ag_buf_fini (&hold);
        free (cypher);
    }
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (the_matches_of_an_event_are_those_that_it_touches),
        core_test (one_thing_may_stand_at_several_places_and_a_variable_is_one_thing),
        core_test (where_looks_at_the_data_and_then_at_the_thing_itself),
        core_test (not_exists_becomes_true_by_a_relation_that_is_removed),
        core_test (not_exists_becomes_true_by_a_property_that_is_patched),
        core_test (what_removes_an_object_is_seen_by_its_relations),
        core_test (a_new_thing_makes_true_only_what_is_asked_to_exist),
        core_test (a_not_exists_that_shares_nothing_is_about_the_whole_graph),
        core_test (an_event_that_names_nothing_asks_the_whole_graph),
        core_test (the_work_and_the_matches_are_bounded_and_the_error_says_what_narrows_them),
        core_test (what_the_search_looked_at_is_stale_when_it_changes),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
