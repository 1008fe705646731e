//  What work costs, counted in what the store is asked: it follows the change, not the history, the prefix or the
//  graph. Each is a weakness of the reference; tests/conformance/README has the table.
//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/core_count_test.h"
#include "supervisor/core_queue_test.h"
#include "supervisor/promote_test.h"
#include "supervisor/retention.h"

enum { FEW = 10, MANY = 3000 };

static void
add_noise (struct core *self, uint64_t run, int events)
{
    for (int i = 0; i < events; i++)
        core_append (self, run, "noise", "{}");
}

//  Objects of a type, and a relation to each from the one before it where a relation type is given.
static void
add_objects (struct core *self, uint64_t run, int count, const char *type, const char *relation)
{
    struct ag_buf ops = {0};
    ag_buf_text (&ops, "[");
    for (int i = 0; i < count; i++) {
        ag_buf_text (&ops, "%s{'op':'add_object','type':'%s','id':'%s%d'}", i ? "," : "", type,
                     type, i);
        if (relation && i)
            ag_buf_text (&ops, ",{'op':'add_relation','type':'%s','source':'%s%d','target':'%s%d'}",
                         relation, type, i - 1, type, i);
    }
    ag_buf_text (&ops, "]");
    ag_buf_add (&ops, "", 1);
    core_apply (self, run, (const char *)ops.p);
    ag_buf_fini (&ops);
}

//  9.1-1, 9.1-2: planning and applying a promote of one patch, after so many events and beside so many objects.
static size_t
cost_of_a_promote (int events, int things)
{
    void *own;
    core_open (&own);
    struct core *self = own;
    uint64_t run = base (self);
    add_objects (self, run, things, "t", "r");
    add_noise (self, run, events);
    uint64_t fork = core_fork (self, run);
    core_apply (self, fork, SET_DONE);
    add_noise (self, run, events);
    count_from_here (self);
    promote (self, fork);
    core_commit (self);
    size_t reads = counted_reads();
    assert_int_equal (counted.batches, 1);
    assert_string_equal (planned (self, fork, "is_empty"), "true");
    core_close (&own);
    return reads;
}

static void
a_promote_costs_its_delta_whatever_the_history_and_the_graph (void **state)
{
    size_t small = cost_of_a_promote (FEW, FEW);
    assert_true (small < 100);
    //  A checkpoint may lie a little nearer or farther, and nothing else.
    assert_in_range (cost_of_a_promote (MANY, FEW), small - 10, small + 10);
    assert_in_range (cost_of_a_promote (FEW, MANY), small - 10, small + 10);
    (void)state;
}

//  9.1-4: the check for orphans asks for the relations of what is removed, not for all of the parent.
static size_t
cost_of_a_removal (int others)
{
    void *own;
    core_open (&own);
    struct core *self = own;
    uint64_t run = base (self);
    add_objects (self, run, 5, "gone", "r");
    add_objects (self, run, others, "t", "r");
    uint64_t fork = core_fork (self, run);
    core_apply (self, fork,
                "[{'op':'remove_object','id':'gone1'},{'op':'remove_object','id':'gone3'}]");
    count_from_here (self);
    promote (self, fork);
    size_t reads = counted_reads();
    core_close (&own);
    return reads;
}

static void
a_promoted_removal_costs_its_own_relations_whatever_others_there_are (void **state)
{
    size_t small = cost_of_a_removal (FEW);
    assert_in_range (cost_of_a_removal (MANY), small - 10, small + 10);
    (void)state;
}

//  9.1-3: to look at the next event, and to read one, is not to read the log.
static size_t
cost_of_looking (int events)
{
    void *own;
    core_open (&own);
    struct core *self = own;
    struct ag_run *run = run_with (self, "[{\"name\":\"a\",\"on\":[\"job\"]}]");
    uint64_t number = run->number;
    add_noise (self, number, events);
    struct ag_queue *queue = load (self, run);
    assert_false (look (self, run, queue));
    ag_queue_save (self->journal, run, queue);
    ag_queue_free (queue);
    append (self, run, "job", "{}", 0);
    count_from_here (self);
    run = core_run (self, number);
    queue = load (self, run);
    assert_true (look (self, run, queue));
    size_t reads = counted_reads();
    ag_queue_free (queue);
    core_close (&own);
    return reads;
}

static void
a_queue_that_is_read_again_looks_at_what_is_new_and_not_at_the_log (void **state)
{
    size_t small = cost_of_looking (FEW);
    assert_in_range (cost_of_looking (MANY), small - 2, small + 2);
    assert_true (small < 50);
    (void)state;
}

static bool
count_id (void *arg, struct ag_str id)
{
    (void)id;
    ++*(int *)arg;
    return true;
}

//  9.1-5: what lies at an object, of a type, and the removal of an object cost what is found.
static size_t
cost_of_scans (int others)
{
    void *own;
    core_open (&own);
    struct core *self = own;
    uint64_t run = base (self);
    int found = 0;
    add_objects (self, run, 5, "few", "r");
    add_objects (self, run, others, "t", "s");
    count_from_here (self);
    must (self, ag_state_relations (self->journal, core_run (self, run), AG_LIT ("few2"), AG_NOW,
                                    AG_LIT (""), count_id, &found, &self->err));
    assert_int_equal (found, 2);
    must (self, ag_state_scan_type (self->journal, core_run (self, run), AG_RELATION, AG_LIT ("r"),
                                    AG_NOW, AG_LIT (""), count_id, &found, &self->err));
    must (self, ag_state_scan_type (self->journal, core_run (self, run), AG_OBJECT, AG_LIT ("few"),
                                    AG_NOW, AG_LIT (""), count_id, &found, &self->err));
    assert_int_equal (found, 2 + 4 + 5);
    core_apply (self, run, "[{'op':'remove_object','id':'few2'}]");
    size_t reads = counted_reads();
    core_close (&own);
    return reads;
}

static void
scans_and_a_cascade_cost_what_they_find (void **state)
{
    size_t small = cost_of_scans (FEW);
    assert_int_equal (cost_of_scans (MANY), small);
    assert_true (small < 100);
    (void)state;
}

//  9.1-6: a fork is as many keys whatever lies before its cut, and all of them are one batch (9.3-4).
static void
cost_of_a_fork (int events, size_t *writes, size_t *reads)
{
    void *own;
    core_open (&own);
    struct core *self = own;
    uint64_t run = base (self);
    add_objects (self, run, events, "t", NULL);
    count_from_here (self);
    core_fork_at (self, run, core_tip (self, run) - 3);
    core_commit (self);
    assert_int_equal (counted.batches, 1);
    *writes = counted.writes;
    *reads = counted_reads();
    core_close (&own);
}

static void
a_fork_copies_nothing_of_what_lies_before_its_cut (void **state)
{
    size_t writes, reads, many_writes, many_reads;
    cost_of_a_fork (FEW, &writes, &reads);
    cost_of_a_fork (MANY, &many_writes, &many_reads);
    assert_int_equal (many_writes, writes);
    assert_true (writes < 20);
    assert_true (many_reads <= 300 && reads <= 300); //  from the last checkpoint on
    (void)state;
}

//  9.1-8: who refers to a run's past is asked of the index.
static size_t
cost_of_being_kept (int events)
{
    void *own;
    core_open (&own);
    struct core *self = own;
    struct ag_buf out = {0};
    uint32_t count = 0;
    uint64_t fork, run = base_fork (self, &fork);
    core_apply (self, run, "[{'op':'propose_patch','id':'task#1','data':{'n':1}}]");
    add_noise (self, run, events);
    add_noise (self, fork, events);
    count_from_here (self);
    must (self, ag_kept_write (self->journal, core_run (self, run), &out, &count, &self->err));
    assert_int_equal (count, 2);
    size_t reads = counted_reads();
    ag_buf_fini (&out);
    core_close (&own);
    return reads;
}

static void
why_a_run_is_kept_is_told_without_reading_a_log (void **state)
{
    size_t small = cost_of_being_kept (FEW);
    assert_int_equal (cost_of_being_kept (MANY), small);
    (void)state;
}

//  9.1-7: many events, many entities: one batch; and 9.3-1, nothing comes between a marker and its delta.
static void
a_promote_of_a_hundred_entities_is_one_batch_and_one_stretch_of_the_log (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    add_objects (self, fork, 100, "t", NULL);
    count_from_here (self);
    core_append (self, run, "before", "{}");
    promote (self, fork);
    core_append (self, run, "after", "{}");
    core_commit (self);
    assert_int_equal (counted.batches, 1);
    struct ag_buf hold = {0};
    struct ag_event event;
    for (uint64_t seq = 8; seq < 108; seq++) {
        must (self, ag_journal_read (self->journal, core_run (self, run), seq, &hold, &event,
                                     &self->err));
        assert_int_equal (event.cause, 7);
        assert_true (event.flags & AG_QUIESCENT);
    }
    //  9.3-2: only the delta is quiescent, whatever else is appended in the same turn.
    for (uint64_t seq = 6; seq <= 108; seq += 102) {
        must (self, ag_journal_read (self->journal, core_run (self, run), seq, &hold, &event,
                                     &self->err));
        assert_false (event.flags & AG_QUIESCENT);
    }
    ag_buf_fini (&hold);
}

//  9.3-3: a plan of a fork that went on meanwhile is not applied.
static void
a_plan_of_a_fork_that_moved_since_is_refused (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    core_apply (self, fork, SET_DONE);
    ag_plan_t *plan = plan_of (self, fork);
    core_apply (self, fork, SET_GONE);
    refuses (self, ag_promote_apply (self->journal, plan, &self->err), AG_E_TIP_MOVED, "r2");
    ag_plan_destroy (&plan);
    assert_int_equal (core_tip (self, run), 5);
}

static size_t
cost_of_new_objects (struct core *self, uint64_t run, int count)
{
    struct ag_buf ops = {0};
    ag_buf_text (&ops, "[");
    for (int i = 0; i < count; i++)
        ag_buf_text (&ops, "%s{'op':'add_object','type':'t'}", i ? "," : "");
    ag_buf_text (&ops, "]");
    ag_buf_add (&ops, "", 1);
    count_from_here (self);
    core_apply (self, run, (const char *)ops.p);
    ag_buf_fini (&ops);
    return counted_reads();
}

//  The counter says that a number is new; a name in the run's own form raises it, and is looked for.
static void
a_number_that_was_never_given_is_not_looked_for (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    assert_true (cost_of_new_objects (self, run, 500) < FEW);
    core_apply (self, run, "[{'op':'add_object','type':'t','id':'t#509'}]");
    refuses (self, core_try (self, run, "[{'op':'add_object','type':'t','id':'t#509'}]"),
             AG_E_EXISTS, "t#509");
    refuses (self, core_try (self, run, "[{'op':'add_object','type':'t','id':'t#499'}]"),
             AG_E_EXISTS, "t#499");
    core_apply (self, run, "[{'op':'add_object','type':'t'}]");
    assert_non_null (strstr (objects (self, run), "'t#510'"));
    uint64_t fork = core_fork (self, run);
    assert_true (cost_of_new_objects (self, fork, 500) < 2 * FEW);
}

//  9.2-6: a number is no bool, and equal numbers are no change.
static void
what_is_equal_in_the_hosts_language_alone_is_promoted (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    core_apply (self, run, "[{'op':'add_object','type':'t','id':'x','data':{'a':1,'b':1}}]");
    uint64_t fork = core_fork (self, run);
    core_apply (self, fork, "[{'op':'patch_object','id':'x','data':{'a':1.0,'b':1}}]");
    assert_planned (self, fork, "is_empty", "true");
    core_apply (self, fork, "[{'op':'patch_object','id':'x','data':{'b':true}}]");
    assert_planned (self, fork, "is_empty", "false");
    promote (self, fork);
    assert_non_null (strstr (objects (self, run), "'b':true"));
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_promote_costs_its_delta_whatever_the_history_and_the_graph),
        cmocka_unit_test (a_promoted_removal_costs_its_own_relations_whatever_others_there_are),
        cmocka_unit_test (a_queue_that_is_read_again_looks_at_what_is_new_and_not_at_the_log),
        cmocka_unit_test (scans_and_a_cascade_cost_what_they_find),
        cmocka_unit_test (a_fork_copies_nothing_of_what_lies_before_its_cut),
        cmocka_unit_test (why_a_run_is_kept_is_told_without_reading_a_log),
        core_test (a_promote_of_a_hundred_entities_is_one_batch_and_one_stretch_of_the_log),
        core_test (a_plan_of_a_fork_that_moved_since_is_refused),
        core_test (a_number_that_was_never_given_is_not_looked_for),
        core_test (what_is_equal_in_the_hosts_language_alone_is_promoted),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
