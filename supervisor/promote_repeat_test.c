//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/promote_test.h"

/*  Repeats and siblings  */

static void
p_56_a_repeat_with_nothing_new_answers_the_earlier_marker (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    struct ag_buf out = {0};
    struct ag_str value;
    core_apply (self, fork, SET_DONE);
    promote (self, fork);
    core_apply (self, run, "[{'op':'emit','type':'noise'}]");
    core_apply (self, fork, "[{'op':'emit','type':'noise'}]");
    core_again (self);
    must (self, promote_into (self, fork, &out));
    assert_int_equal (ag_map_text (ag_buf_str (&out), "marker_event_id", &value), 0);
    assert_true (ag_str_is (value, "evt_006"));
    assert_int_equal (ag_map_get (ag_buf_str (&out), "applied_event_ids", &value), 0);
    assert_string_equal (json_of (self, value), "[]");
    assert_int_equal (core_tip (self, run), 8);
    ag_buf_fini (&out);
}

//  Patched, made, and made and removed: each is compared with what the promote before wrote, not with the cut.
static void
a_repeat_carries_only_what_changed_since_the_promote_before (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    core_apply (self, fork, SET_DONE);
    core_apply (self, fork, NOTE ("one"));
    core_apply (self, fork,
                "[{'op':'add_object','type':'note','id':'gone'},"
                " {'op':'remove_object','id':'gone'}]");
    promote (self, fork);
    core_apply (self, fork, SET_GONE);
    core_apply (self, fork, "[{'op':'patch_object','id':'note#2','data':{'of':'two'}}]");
    assert_planned (self, fork, "conflicts", "[]");
    promote (self, fork);
    assert_string_equal (objects (self, run),
                         "{'note#2':{'of':'two'},'task#1':{'title':'base','status':'cancelled'}}");
    core_apply (self, fork, "[{'op':'remove_object','id':'note#2'}]");
    promote (self, fork);
    assert_planned (self, fork, "is_empty", "true");

    core_apply (self, fork, SET_DONE);
    core_apply (self, run, SET_DONE);
    refuses (self, promote_into (self, fork, NULL), AG_E_CONFLICT, "both_changed task#1");
}

static void
p_57_siblings_that_each_create_are_both_adopted (void **state)
{
    struct core *self = *state;
    uint64_t first, run = base_fork (self, &first);
    uint64_t second = core_fork_at (self, run, 5);
    core_apply (self, first, "[{'op':'add_object','type':'note'}]");
    core_apply (self, second, "[{'op':'add_object','type':'note'}]");
    promote (self, first);
    promote (self, second);
    assert_string_equal (objects (self, run), "{'note#r2.1':{},'note#r3.1':{},"
                                              "'task#1':{'title':'base','status':'open'}}");
}

/*  Orders  */

static void
p_58_the_block_has_one_order (void **state)
{
    struct core *self = *state;
    uint64_t run = base (self);
    core_apply (self, run,
                "[{'op':'add_object','type':'t','id':'b'},{'op':'add_object','type':'t','id':'a'},"
                " {'op':'add_relation','source':'b','target':'a','type':'r','id':'z'},"
                " {'op':'add_relation','source':'a','target':'b','type':'r','id':'y'}]");
    uint64_t fork = core_fork (self, run);
    core_apply (self, fork,
                "[{'op':'add_object','type':'t','id':'d'},{'op':'add_object','type':'t','id':'c'},"
                " {'op':'add_relation','source':'d','target':'c','type':'r','id':'x'},"
                " {'op':'remove_object','id':'b'},{'op':'remove_object','id':'a'}]");
    core_apply (self, fork, SET_DONE);
    promote (self, fork);
    static const char *const log[] = {
        "promote.applied runtime 0 0",      "relation.removed promote:r2 10 3",
        "relation.removed promote:r2 10 3", "object.removed promote:r2 10 3",
        "object.removed promote:r2 10 3",   "object.created promote:r2 10 3",
        "object.created promote:r2 10 3",   "patch.applied promote:r2 10 3",
        "relation.created promote:r2 10 3", NULL};
    assert_log (self, run, 10, log);
    static const char *const ids[] = {"'y'", "'z'", "'a'", "'b'", "'c'", "'d'", "'task#1'", "'x'"};
    for (uint64_t i = 0; i < 8; i++)
        assert_non_null (strstr (payload_of (self, run, 11 + i), ids[i]));
}

static void
p_59_ids_are_in_the_order_of_their_bytes (void **state)
{
    struct core *self = *state;
    uint64_t fork;
    base_fork (self, &fork);
    for (int i = 0; i < 11; i++)
        core_apply (self, fork, "[{'op':'add_object','type':'n'}]");
    const char *text = planned (self, fork, "object_creates");
    const char *ten = strstr (text, "n#r2.10"), *eleven = strstr (text, "n#r2.11");
    const char *two = strstr (text, "n#r2.2'");
    assert_true (ten && eleven && two && ten < eleven && eleven < two);
}

static void
a_promote_of_too_many_entities_is_refused_by_name (void **state)
{
    struct core *self = *state;
    uint64_t fork;
    base_fork (self, &fork);
    core_apply (self, fork,
                "[{'op':'add_object','type':'n'},{'op':'add_object','type':'n'},"
                " {'op':'add_object','type':'n'}]");
    ag_plan_t *plan = ag_promote_plan (self->journal, core_run (self, fork), 2, &self->err);
    assert_null (plan);
    refuses (self, -1, AG_E_TOO_LARGE, "more than 2 entities (promote.max_entities)");
    plan = ag_promote_plan (self->journal, core_run (self, fork), 3, &self->err);
    assert_non_null (plan);
    ag_plan_destroy (&plan);
}

//  2,100 ids of 256 bytes do not fit: the marker counts and hashes them.
static void
a_marker_whose_lists_are_too_long_counts_them (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    struct ag_buf list = {0};
    struct ag_author author = {.actor = AG_LIT ("user")};
    struct ag_applied applied = {0};
    ag_put_list (&list, 2100);
    for (int i = 0; i < 2100; i++) {
        ag_put_map (&list, 3);
        ag_put_lit (&list, "op");
        ag_put_lit (&list, "add_object");
        ag_put_lit (&list, "type");
        ag_put_lit (&list, "t");
        ag_put_lit (&list, "id");
        ag_put_textf (&list, "%0250d", i);
    }
    must (self, ag_operations_apply (self->journal, core_run (self, fork), ag_buf_str (&list),
                                     &author, &applied, &self->err));
    promote (self, fork);
    const char *marker = payload_of (self, run, 6);
    assert_non_null (strstr (marker, "'counts':{'objects_created':2100,'objects_patched':0,"));
    assert_non_null (strstr (marker, "'block_final_event':'evt_2106'"));
    assert_null (strstr (marker, "'objects_created':["));
    refuses (self, try_cut (self, run, 2105), AG_E_SLICED, "evt_2106");
    ag_applied_fini (&applied);
    ag_buf_fini (&list);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (p_56_a_repeat_with_nothing_new_answers_the_earlier_marker),
        core_test (a_repeat_carries_only_what_changed_since_the_promote_before),
        core_test (p_57_siblings_that_each_create_are_both_adopted),
        core_test (p_58_the_block_has_one_order),
        core_test (p_59_ids_are_in_the_order_of_their_bytes),
        core_test (a_promote_of_too_many_entities_is_refused_by_name),
        core_test (a_marker_whose_lists_are_too_long_counts_them),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
