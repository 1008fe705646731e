//  SPDX-License-Identifier: Apache-2.0
//  The numbers are those of the reference's conformance cases; tests/conformance/README has the table.
#include "supervisor/promote_test.h"

static struct ag_run *
fork_with (struct core *self, uint64_t parent, uint64_t at, struct ag_birth birth)
{
    struct ag_run *fork;
    must (self, ag_fork (self->journal, core_run (self, parent), at, &birth, &fork, &self->err));
    return fork;
}

static int
try_fork (struct core *self, uint64_t parent, uint64_t at, const char *label)
{
    struct ag_run *fork;
    struct ag_birth birth = {.kind = AG_FORK, .label = ag_str (label)};
    return ag_fork (self->journal, core_run (self, parent), at, &birth, &fork, &self->err);
}

static void
f_01_a_fork_knows_its_parent_its_cut_and_its_label (void **state)
{
    struct core *self = *state;
    uint64_t run = base (self);
    struct ag_buf spec = value_of (self, "{'walls':['none']}");
    uint64_t fork = fork_with (self, run, 3,
                               (struct ag_birth){.kind = AG_TRIAL,
                                                 .effects = AG_EFFECTS_REPLAY,
                                                 .label = AG_LIT ("branch-A"),
                                                 .spec = ag_buf_str (&spec)})
                        ->number;
    core_again (self);
    struct ag_run *found = core_run (self, fork);
    assert_string_equal (found->id, "r2");
    assert_int_equal (found->parent, run);
    assert_int_equal (found->above->number, run);
    assert_int_equal (found->cut, 3);
    assert_int_equal (found->head.tip, 3);
    assert_int_equal (found->kind, AG_TRIAL);
    assert_int_equal (found->effects, AG_EFFECTS_REPLAY);
    assert_int_equal (found->depth, 1);
    assert_int_equal (found->created_us, CORE_TIME);
    assert_string_equal (found->label, "branch-A");
    assert_string_equal (json_of (self, found->spec), "{'walls':['none']}");
    ag_buf_fini (&spec);
}

static void
f_02_what_a_fork_does_leaves_its_parent_alone (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    core_apply (self, fork,
                "[{'op':'remove_object','id':'task#1'},{'op':'add_object','type':'note'}]");
    assert_int_equal (core_tip (self, run), 5);
    assert_string_equal (objects (self, run), "{'task#1':{'title':'base','status':'open'}}");
    assert_string_equal (objects (self, fork), "{'note#r2.1':{}}");
    core_apply (self, run,
                "[{'op':'patch_object','id':'task#1','data':{'status':'done'}},"
                " {'op':'add_object','type':'note'}]");
    core_again (self); //  f_03
    assert_string_equal (objects (self, fork), "{'note#r2.1':{}}");
    assert_string_equal (core_state (self, fork, AG_OBJECT, 5),
                         "{'task#1':{'title':'base','status':'open'}}");
}

//  What is rolled back has a level of its own, and sees everything above.
static void
scratch_stands_one_deeper (struct core *self, uint64_t run)
{
    struct ag_birth birth = {.scratch = true};
    struct ag_mark mark = ag_journal_mark (self->journal);
    uint64_t scratch = fork_with (self, run, core_tip (self, run), birth)->number;
    core_apply (self, scratch, "[{'op':'add_object','type':'n'}]");
    assert_non_null (strstr (objects (self, scratch), "'n#r2.1':{}"));
    assert_non_null (strstr (objects (self, scratch), "'n#rj.1':{}"));
    refuses (self, try_fork (self, scratch, core_tip (self, scratch), ""), AG_E_DEPTH, "17 forks");
    ag_journal_rollback (self->journal, &mark);
}

static void
f_04_forks_fork_to_sixteen_levels_and_no_further (void **state)
{
    struct core *self = *state;
    uint64_t run = base (self);
    for (unsigned depth = 1; depth <= AG_RUN_DEPTH; depth++) {
        run = core_fork (self, run);
        assert_int_equal (core_run (self, run)->depth, depth);
        core_apply (self, run, "[{'op':'add_object','type':'n','data':{}}]");
        if (depth % 5 == 0)
            core_again (self);
    }
    refuses (self, try_fork (self, run, core_tip (self, run), ""), AG_E_DEPTH, "16 forks deep");
    scratch_stands_one_deeper (self, run);
    assert_non_null (strstr (objects (self, run), "'n#r2.1':{},'n#r3.1':{},'n#r4.1':{}"));
    for (unsigned depth = AG_RUN_DEPTH; depth > 0; depth--) {
        uint64_t above = core_run (self, run)->parent;
        promote (self, run);
        run = above;
    }
    assert_non_null (strstr (objects (self, run), "'n#rh.1':{}"));
}

static void
f_06_an_unknown_event_is_no_cut (void **state)
{
    struct core *self = *state;
    uint64_t run = base (self);
    refuses (self, try_fork (self, run, 999, ""), AG_E_NOT_FOUND, "run r1 has no event evt_999");
    refuses (self, try_fork (self, run, 0, ""), AG_E_NOT_FOUND, "run r1 has no event");
}

static void
f_07_forks_of_one_point_mint_different_ids_unless_they_go_on_with_the_parents (void **state)
{
    struct core *self = *state;
    uint64_t run = base (self);
    struct ag_birth on = {.kind = AG_FORK, .continue_ids = true};
    uint64_t tagged = core_fork (self, run), same = fork_with (self, run, 5, on)->number;
    core_apply (self, run, "[{'op':'add_object','type':'n'},{'op':'add_object','type':'n'}]");
    uint64_t past = fork_with (self, run, 6, on)->number;
    const char *ops = "[{'op':'add_object','type':'n','as':'a'},"
                      " {'op':'patch_object','id':'@a','data':{'x':1}},"
                      " {'op':'add_relation','source':'@a','target':'@a','type':'r'}]";
    core_again (self);
    core_apply (self, tagged, ops);
    core_apply (self, same, ops);
    core_apply (self, past, ops);
    assert_non_null (strstr (objects (self, tagged), "'n#r2.1':{'x':1}"));
    assert_string_equal (relations (self, tagged), "{'rel_r2.001':{}}");
    assert_non_null (strstr (payload_of (self, tagged, 7), "'id':'patch_r2.001'"));
    assert_non_null (strstr (objects (self, same), "'n#2':{'x':1}"));
    assert_string_equal (relations (self, same), "{'rel_001':{}}");
    assert_non_null (strstr (objects (self, past), "'n#2':{},'n#3':{'x':1}"));
    //  A tag is never nested, and a fork of a fork that goes on carries its parent's.
    uint64_t nested = core_fork (self, tagged), child = fork_with (self, tagged, 8, on)->number;
    core_apply (self, nested, ops);
    core_apply (self, child, ops);
    assert_non_null (strstr (objects (self, nested), "'n#r5.1':{'x':1}"));
    core_apply (self, nested,
                "[{'op':'add_object','type':'n','id':'n#70'},"
                " {'op':'add_object','type':'n'}]");
    assert_non_null (strstr (objects (self, nested), "'n#70':{},"));
    assert_non_null (strstr (objects (self, nested), "'n#r5.2':{}"));
    assert_non_null (strstr (objects (self, child), "'n#r2.1':{'x':1},'n#r2.2':{'x':1}"));
    //  Before its parent's own cut nothing has its parent's tag yet.
    uint64_t early = fork_with (self, tagged, 3, on)->number;
    core_apply (self, early, ops);
    assert_non_null (strstr (objects (self, early), "'n#r2.1':{'x':1}"));
}

struct ids {
    struct core *core;
    struct ag_buf text;
};

static bool
collect (void *arg, const struct ag_event *event)
{
    struct ids *ids = arg;
    ag_buf_text (&ids->text, "%u:%u ", (unsigned)event->run, (unsigned)event->seq);
    return true;
}

static void
f_08_a_fork_reads_its_parents_events_up_to_the_cut_and_then_its_own (void **state)
{
    struct core *self = *state;
    struct ids ids = {self, {0}};
    uint64_t run = base (self), fork = core_fork_at (self, run, 3);
    core_apply (self, fork, "[{'op':'emit','type':'mine'}]");
    uint64_t below = core_fork_at (self, fork, 2), child = core_fork (self, fork);
    core_apply (self, below, "[{'op':'emit','type':'mine'}]");
    core_apply (self, child, "[{'op':'emit','type':'mine'}]");
    must (self, ag_journal_scan (self->journal, core_run (self, child), 0, UINT64_MAX, collect,
                                 &ids, &self->err));
    ag_buf_text (&ids.text, "/ ");
    must (self,
          ag_journal_scan (self->journal, core_run (self, below), 1, 3, collect, &ids, &self->err));
    ag_buf_text (&ids.text, "/ ");
    must (self,
          ag_journal_scan (self->journal, core_run (self, child), 2, 4, collect, &ids, &self->err));
    ag_buf_add (&ids.text, "", 1);
    assert_string_equal ((char *)ids.text.p, "1:1 1:2 1:3 2:4 4:5 / 1:2 3:3 / 1:3 2:4 ");
    ag_buf_fini (&ids.text);
}

static void
f_11_what_the_parent_used_is_not_what_the_fork_used (void **state)
{
    struct core *self = *state;
    uint64_t run = base (self);
    ag_run_touch (self->journal, core_run (self, run));
    core_run (self, run)->head.used[AG_USED_COST] = 7;
    uint64_t fork = core_fork (self, run);
    core_again (self);
    assert_int_equal (core_run (self, run)->head.used[AG_USED_COST], 7);
    assert_int_equal (core_run (self, fork)->head.used[AG_USED_COST], 0);
}

static void
an_empty_run_can_be_forked_and_promoted_into (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p"), fork = core_fork (self, run);
    assert_int_equal (core_run (self, fork)->cut, 0);
    core_apply (self, fork, "[{'op':'add_object','type':'n'}]");
    core_again (self);
    assert_planned (self, fork, "computed_against", "''");
    assert_planned (self, fork, "forked_at_event", "null");
    promote (self, fork);
    assert_string_equal (objects (self, run), "{'n#r2.1':{}}");
    refuses (self, try_fork (self, run, 0, ""), AG_E_NOT_FOUND, "run r1 has no event");
}

static void
the_chain_of_a_fork_goes_on_from_any_cut (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    uint8_t chains[600][AG_HASH];
    for (int seq = 1; seq < 600; seq++) {
        core_append (self, run, seq % 3 ? "fact" : "runtime.idle", "{}");
        memcpy (chains[seq], core_run (self, run)->head.chain, AG_HASH);
        if (seq % 100 == 0)
            core_again (self);
    }
    static const uint64_t cuts[] = {1, 255, 256, 257, 511, 512, 513, 598, 599};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        const struct ag_run *fork = core_run (self, core_fork_at (self, run, cuts[i]));
        assert_memory_equal (fork->head.chain, chains[cuts[i]], AG_HASH);
        assert_int_equal (fork->head.facts, cuts[i] - cuts[i] / 3);
    }
}

static void
labels_are_unique_and_no_ids (void **state)
{
    struct core *self = *state;
    uint64_t run = base (self);
    refuses (self, try_fork (self, run, 5, "p"), AG_E_EXISTS, "called `p` already");
    refuses (self, try_fork (self, run, 5, "r1x"), AG_E_USAGE, "`r1x` looks like a run id");
    refuses (self, try_fork (self, run, 5, "a b"), AG_E_USAGE, "a space");
    refuses (self, try_fork (self, run, 5, "a@b"), AG_E_USAGE, "'@'");
    must (self, try_fork (self, run, 5, "reader"));
    assert_int_equal (core_run (self, 2)->parent, run);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (f_01_a_fork_knows_its_parent_its_cut_and_its_label),
        core_test (f_02_what_a_fork_does_leaves_its_parent_alone),
        core_test (f_04_forks_fork_to_sixteen_levels_and_no_further),
        core_test (f_06_an_unknown_event_is_no_cut),
        core_test (f_07_forks_of_one_point_mint_different_ids_unless_they_go_on_with_the_parents),
        core_test (f_08_a_fork_reads_its_parents_events_up_to_the_cut_and_then_its_own),
        core_test (f_11_what_the_parent_used_is_not_what_the_fork_used),
        core_test (an_empty_run_can_be_forked_and_promoted_into),
        core_test (the_chain_of_a_fork_goes_on_from_any_cut),
        core_test (labels_are_unique_and_no_ids),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
