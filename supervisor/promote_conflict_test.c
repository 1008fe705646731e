//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/promote_test.h"

//  The plan has exactly this many conflicts, the first of this kind, on this id, with these words; and
//  nothing of it can be applied.
static void
assert_conflict (struct core *self, uint64_t fork, int count, const char *kind, const char *id,
                 const char *words)
{
    struct ag_buf out = {0};
    struct ag_str list, first, text;
    struct ag_head head;
    ag_plan_t *plan = plan_of (self, fork);
    ag_plan_write (plan, true, &out);
    assert_int_equal (ag_map_get (ag_buf_str (&out), "conflicts", &list), 0);
    struct ag_cursor in = ag_cursor (list);
    assert_int_equal (ag_next (&in, &head), 0);
    assert_int_equal (head.count, count);
    assert_int_equal (ag_take (&in, &first), 0);
    assert_int_equal (ag_map_text (first, "kind", &text), 0);
    assert_true (ag_str_is (text, kind));
    assert_int_equal (ag_map_text (first, "id", &text), 0);
    assert_true (ag_str_is (text, id));
    assert_int_equal (ag_map_text (first, "detail", &text), 0);
    if (!memmem (text.p, text.n, words, strlen (words)))
        fail_msg ("`%.*s` does not say `%s`", AG_STR_ARG (text), words);

    struct ag_run *parent = core_run (self, core_run (self, fork)->parent);
    uint64_t tip = parent->head.tip;
    refuses (self, ag_promote_apply (self->journal, plan, &self->err), AG_E_CONFLICT, id);
    assert_int_equal (core_tip (self, parent->number), tip);
    ag_plan_destroy (&plan);
    ag_buf_fini (&out);
}

/*  Conflicts  */

//  What each side does after the cut, and the one conflict that follows.
struct both {
    const char *fork, *parent, *kind, *id, *words;
};

static void
assert_both (struct core *self, const struct both *both)
{
    uint64_t fork, run = base_fork (self, &fork);
    core_apply (self, fork, both->fork);
    core_apply (self, run, both->parent);
    assert_conflict (self, fork, 1, both->kind, both->id, both->words);
}

#define CONFLICT(name, ...)                                                                        \
    static void name (void **state)                                                                \
    {                                                                                              \
        assert_both (*state, &(struct both){__VA_ARGS__});                                         \
    }

CONFLICT (p_07_edits_on_both_sides_conflict, SET_DONE, SET_GONE, "both_changed", "task#1",
          "changed on both sides")
CONFLICT (p_08_identical_edits_conflict_too, SET_DONE, SET_DONE, "both_changed", "task#1",
          "identically")
CONFLICT (p_09_one_id_created_on_both_sides, NOTE ("fork"), NOTE ("parent"), "both_changed",
          "note#2", "both sides")
CONFLICT (p_10_removed_here_edited_there, REMOVE, SET_GONE, "both_changed", "task#1", "both sides")
CONFLICT (p_11_edited_here_removed_there, SET_DONE, REMOVE, "both_changed", "task#1", "both sides")
CONFLICT (p_12_removed_on_both_sides, REMOVE, REMOVE, "both_changed", "task#1",
          "removed on both sides")
CONFLICT (p_14_a_relation_to_what_the_parent_removed,
          "[{'op':'add_object','type':'note','as':'n'},"
          " {'op':'add_relation','source':'@n','target':'task#1','type':'annotates'}]",
          REMOVE, "dangling_relation", "rel_r2.001", "task#1")
CONFLICT (p_15_removing_what_the_parent_relates_to, REMOVE,
          "[{'op':'add_object','type':'note','as':'n'},"
          " {'op':'add_relation','source':'@n','target':'task#1','type':'annotates'}]",
          "orphaning_removal", "task#1", "rel_001")
CONFLICT (an_id_that_the_parent_used_and_removed_is_not_free, NOTE ("fork"),
          "[{'op':'add_object','type':'note','id':'note#2'},{'op':'remove_object','id':'note#2'}]",
          "both_changed", "note#2", "both sides")

static void
p_13_one_conflict_and_nothing_is_applied (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    core_apply (self, fork, "[{'op':'add_object','type':'note'}]");
    core_apply (self, fork, SET_DONE);
    core_apply (self, run, SET_GONE);
    assert_conflict (self, fork, 1, "both_changed", "task#1", "both sides");
    assert_planned (self, fork, "object_creates", "[{'id':'note#r2.1','type':'note','data':{}}]");
    assert_string_equal (objects (self, run), "{'task#1':{'title':'base','status':'cancelled'}}");
}

static void
p_17_a_clean_plan_can_grow_stale (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    core_apply (self, fork, SET_DONE);
    ag_plan_t *plan = plan_of (self, fork);
    assert_true (ag_plan_is_promotable (plan));
    core_apply (self, run, SET_GONE);
    refuses (self, ag_promote_apply (self->journal, plan, &self->err), AG_E_TIP_MOVED, "r1");
    ag_plan_destroy (&plan);
    assert_conflict (self, fork, 1, "both_changed", "task#1", "both sides");
    assert_planned (self, fork, "computed_against", "'evt_006'");
}

//  a = task#1, b = task#2, rel_001 from a to b; the fork has removed a.
static uint64_t
fork_without_a (struct core *self, uint64_t *fork)
{
    uint64_t run = base (self);
    core_apply (self, run,
                "[{'op':'add_object','type':'task'},"
                " {'op':'add_relation','source':'task#1','target':'task#2','type':'blocks'}]");
    *fork = core_fork (self, run);
    core_apply (self, *fork, REMOVE);
    return run;
}

static void
p_50_relations_go_before_the_object_they_touched (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = fork_without_a (self, &fork);
    assert_planned (self, fork, "relation_removes", "['rel_001']");
    assert_planned (self, fork, "object_removes", "['task#1']");
    promote (self, fork);
    static const char *const log[] = {"promote.applied runtime 0 0",
                                      "relation.removed promote:r2 8 3",
                                      "object.removed promote:r2 8 3", NULL};
    assert_log (self, run, 8, log);
}

static void
p_51_a_relation_that_both_sides_lost (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = fork_without_a (self, &fork);
    core_apply (self, run, "[{'op':'remove_relation','id':'rel_001'}]");
    assert_conflict (self, fork, 1, "both_changed", "rel_001", "removed on both sides");
}

static void
p_52_a_relation_that_the_parent_added_is_not_orphaned (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = fork_without_a (self, &fork);
    core_apply (self, run,
                "[{'op':'add_relation','source':'task#2','target':'task#1','type':'blocks'}]");
    assert_conflict (self, fork, 1, "orphaning_removal", "task#1", "of the parent: rel_002");
}

static void
p_53_a_relation_to_what_never_was_cannot_arise (void **state)
{
    struct core *self = *state;
    uint64_t fork;
    base_fork (self, &fork);
    refuses (self,
             core_try (self, fork,
                       "[{'op':'add_relation','source':'task#1','target':'ghost#9','type':'m'}]"),
             AG_E_NOT_FOUND, "ghost#9");
}

static void
p_54_a_relation_to_an_object_in_conflict_does_not_dangle (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    core_apply (self, fork, NOTE ("fork"));
    core_apply (self, fork,
                "[{'op':'add_relation','source':'note#2','target':'task#1','type':'r'}]");
    core_apply (self, run, NOTE ("parent"));
    assert_conflict (self, fork, 1, "both_changed", "note#2", "both sides");
}

static void
p_55_what_the_parent_removed_alone_stays_removed (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    core_apply (self, fork,
                "[{'op':'add_object','type':'note'},{'op':'add_object','type':'note'}]");
    core_apply (self, run, REMOVE);
    promote (self, fork);
    assert_string_equal (objects (self, run), "{'note#r2.1':{},'note#r2.2':{}}");
}

static void
p_60_conflicts_are_sorted_and_the_first_eight_are_told (void **state)
{
    struct core *self = *state;
    uint64_t run = base (self);
    char text[100];
    for (int i = 0; i < 9; i++) {
        snprintf (text, sizeof text, "[{'op':'add_object','type':'t','id':'t%d'}]", i);
        core_apply (self, run, text);
    }
    core_apply (self, run, "[{'op':'add_object','type':'t','id':'x'}]");
    uint64_t fork = core_fork (self, run);
    for (int i = 0; i < 9; i++) {
        snprintf (text, sizeof text, "[{'op':'patch_object','id':'t%d','data':{'n':1}}]", i);
        core_apply (self, fork, text);
        core_apply (self, run, text);
    }
    core_apply (self, fork,
                "[{'op':'add_relation','source':'t1','target':'x','type':'r','id':'dangles'},"
                " {'op':'remove_object','id':'task#1'}]");
    core_apply (self, run,
                "[{'op':'remove_object','id':'x'},"
                " {'op':'add_relation','source':'t1','target':'task#1','type':'r','id':'o'}]");
    assert_conflict (self, fork, 11, "both_changed", "t0", "identically");
    ag_plan_t *plan = plan_of (self, fork);
    refuses (self, ag_promote_apply (self->journal, plan, &self->err), AG_E_CONFLICT,
             "both_changed t7, ... and 3 more");
    ag_plan_destroy (&plan);
    const char *all = planned (self, fork, "conflicts");
    const char *last = strstr (all, "'t8'"), *dangling = strstr (all, "dangling_relation");
    const char *orphaning = strstr (all, "orphaning_removal");
    assert_true (last && dangling && orphaning && last < dangling && dangling < orphaning);
}

static void
a_fork_lives_on_and_is_promoted_again (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    core_apply (self, fork, "[{'op':'add_object','type':'note','data':{'n':1}}]");
    promote (self, fork);
    core_apply (self, fork, "[{'op':'patch_object','id':'note#r2.1','data':{'n':2}}]");
    core_apply (self, fork, SET_DONE);
    core_again (self);
    assert_planned (self, fork, "base_event", "'evt_006'");
    assert_planned (self, fork, "object_creates", "[]");
    promote (self, fork);
    assert_string_equal (objects (self, run),
                         "{'note#r2.1':{'n':2},'task#1':{'title':'base','status':'done'}}");
    //  What this fork wrote is its base now: only what the parent does after it is a change.
    core_apply (self, run, "[{'op':'patch_object','id':'note#r2.1','data':{'n':3}}]");
    core_apply (self, fork, "[{'op':'patch_object','id':'note#r2.1','data':{'n':4}}]");
    assert_conflict (self, fork, 1, "both_changed", "note#r2.1", "changed on both sides");
}

static void
p_57_siblings_that_go_on_with_the_parents_ids_collide (void **state)
{
    struct core *self = *state;
    uint64_t run = base (self), forks[2];
    for (int i = 0; i < 2; i++) {
        struct ag_run *fork;
        struct ag_birth birth = {.kind = AG_FORK, .continue_ids = true};
        must (self, ag_fork (self->journal, core_run (self, run), 5, &birth, &fork, &self->err));
        forks[i] = fork->number;
        core_apply (self, forks[i], "[{'op':'add_object','type':'note'}]");
    }
    promote (self, forks[0]);
    assert_conflict (self, forks[1], 1, "both_changed", "note#2", "both sides");
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (p_13_one_conflict_and_nothing_is_applied),
        core_test (p_17_a_clean_plan_can_grow_stale),
        core_test (p_50_relations_go_before_the_object_they_touched),
        core_test (p_51_a_relation_that_both_sides_lost),
        core_test (p_52_a_relation_that_the_parent_added_is_not_orphaned),
        core_test (p_53_a_relation_to_what_never_was_cannot_arise),
        core_test (p_54_a_relation_to_an_object_in_conflict_does_not_dangle),
        core_test (p_55_what_the_parent_removed_alone_stays_removed),
        core_test (p_60_conflicts_are_sorted_and_the_first_eight_are_told),
        core_test (a_fork_lives_on_and_is_promoted_again),
        core_test (p_57_siblings_that_go_on_with_the_parents_ids_collide),
        core_test (p_07_edits_on_both_sides_conflict),
        core_test (p_08_identical_edits_conflict_too),
        core_test (p_09_one_id_created_on_both_sides),
        core_test (p_10_removed_here_edited_there),
        core_test (p_11_edited_here_removed_there),
        core_test (p_12_removed_on_both_sides),
        core_test (p_14_a_relation_to_what_the_parent_removed),
        core_test (p_15_removing_what_the_parent_relates_to),
        core_test (an_id_that_the_parent_used_and_removed_is_not_free),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
