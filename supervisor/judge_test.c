//  Recorded invocations, done again and held against the log; and how the log is read for them.
//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/judge_test.h"

static void
an_invocation_that_does_the_same_is_as_recorded_and_nothing_of_it_is_stored (void **state)
{
    struct fixture self;
    init (&self, state);
    record_one (&self);
    self.core->time_us += 60000000; //  what it says of its time is another
    struct ag_invocation open = again (&self);
    assert_string_equal (judge_done (&self, &open, OPS), "same");
    assert_int_equal (self.compared, 3);
    fini (&self);
}

static void
the_first_difference_is_named_by_its_event_and_its_path (void **state)
{
    static const struct {
        const char *ops, *says;
    } rows[] = {
        {"[" TASK "{'op':'add_relation','source':'@t','target':'@t','type':'other'}]",
         "evt_004 payload.relation.type: 'self', 'other'"},
        {"[{'op':'add_object','type':'task','data':{'n':2,'of':{'list':[1,2]}}}]",
         "evt_003 payload.object.data.n: 1, 2"},
        {"[{'op':'add_object','type':'task','data':{'n':1,'of':{'list':[1,2,3]}}}]",
         "evt_003 payload.object.data.of.list[2]: null, 3"},
        {"[{'op':'add_object','type':'task','data':{'n':1}}]",
         "evt_003 payload.object.data.of: {'list':[1,2]}, null"},
        {"[{'op':'add_object','type':'task','data':{'n':1,'of':{'list':[1,2],'more':true}}}]",
         "evt_003 payload.object.data.of.more: null, true"},
        {"[" TASK "{'op':'emit','type':'x','payload':{}}]",
         "evt_004 type: 'relation.created', 'x'"},
        {"[]", "evt_003 type: 'object.created', 'behavior.completed'"},
        {"[" TASK "{'op':'add_relation','source':'@t','target':'@t','type':'self'},"
         "{'op':'emit','type':'x','payload':{}}]",
         "evt_005 type: 'behavior.completed', 'x'"},
        {"[{'op':'remove_object','id':'nothing'}]",
         "evt_005 type: 'behavior.completed', 'behavior.failed: operation 1 (remove_object): there "
         "is no object `nothing`'"},
    };
    struct fixture self;
    init (&self, state);
    record_one (&self);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        self.trace = (struct ag_trace){0};
        struct ag_invocation open = again (&self);
        assert_string_equal (judge_done (&self, &open, rows[i].ops), rows[i].says);
        ag_trace_fini (&self.trace);
        self.trace = (struct ag_trace){0};
    }
    fini (&self);
}

static void
what_came_from_outside_in_between_does_not_matter (void **state)
{
    struct fixture self;
    init (&self, state);
    tell (&self, EVENT);
    struct ag_invocation by = begin (&self, 1, 1);
    tell (&self, "[{'op':'add_object','id':'mine','type':'note','data':{}}]");
    effect (&self, &by, "{'n':1}", "'one'");
    tell (&self, "[{'op':'remove_object','id':'mine'}]");
    done (&self, &by, "[" TASK "{'op':'add_object','type':'task','data':{}}]");
    tell (&self, "[{'op':'add_object','type':'task','data':{}}]");
    struct ag_invocation open = again (&self);
    assert_int_equal (self.trace.item.first, core_tip (self.core, self.run) - 3);
    assert_string_equal (judge_effect (&self, &open, "look", "{'n':1}"), "same");
    assert_string_equal (
        judge_done (&self, &open, "[" TASK "{'op':'add_object','type':'task','data':{}}]"), "same");
    fini (&self);
}

static void
only_the_attempt_that_ended_counts_and_what_ended_by_itself_is_left_out (void **state)
{
    struct fixture self;
    init (&self, state);
    struct ag_err err;
    tell (&self, EVENT);
    struct ag_invocation first = begin (&self, 1, 1);
    effect (&self, &first, "{'n':1}", "'one'");
    effect (&self, &first, "{'n':2}", "'two'");
    end (&first);
    struct ag_invocation second = begin (&self, 1, 2);
    done (&self, &second, OPS);
    tell (&self, EVENT);
    struct ag_invocation third = begin (&self, core_tip (self.core, self.run), 1);
    struct ag_death death = {.why = "signal 9", .attempts = 1};
    must (self.core, ag_invocation_died (&self.house, &third, &death, &err));
    end (&third);
    struct ag_invocation open = again (&self);
    assert_int_equal (open.attempt, 2);
    assert_string_equal (judge_effect (&self, &open, "look", "{'n':1}"), "same");
    assert_string_equal (judge_done (&self, &open, OPS),
                         "same"); //  the second effect was an earlier attempt's
    open = again (&self);
    assert_true (self.trace.item.outside);
    end (&open);
    fini (&self);
}

static void
another_effect_one_more_and_one_less_are_told (void **state)
{
    static const struct {
        const char *tool, *args, *says;
    } rows[] = {
        {"look", "{'n':1,'at':{'k':'a'}}", "same"},
        {"look", "{'n':1,'at':{'k':'b'}}", "evt_003 payload.args.at.k: 'a', 'b'"},
        {"touch", "{'n':1,'at':{'k':'a'}}", "evt_003 payload.tool: 'look', 'touch'"},
    };
    struct fixture self;
    init (&self, state);
    tell (&self, EVENT);
    struct ag_invocation by = begin (&self, 1, 1);
    effect (&self, &by, "{'n':1,'at':{'k':'a'}}", "'one'");
    done (&self, &by, OPS);
    struct ag_invocation open = again (&self);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        open.effects = 0;
        assert_string_equal (judge_effect (&self, &open, rows[i].tool, rows[i].args), rows[i].says);
    }
    assert_string_equal (judge_effect (&self, &open, "look", "{'n':2}"),
                         "evt_007 effects[1]: null, {'tool':'look','args':{'n':2}}");
    open.effects = 0;
    assert_non_null (
        strstr (judge_done (&self, &open, OPS), "evt_004 payload: {'behavior':'work'"));
    fini (&self);
}

static void
a_failure_of_its_own_fails_again_with_the_same_words (void **state)
{
    static const struct {
        const char *error, *says;
    } rows[] = {
        {"{'type':'E','message':'no','traceback':'elsewhere'}", "same"},
        {"{'type':'E','message':'yes'}", "evt_003 payload.message: 'no', 'yes'"},
        {"{'type':'F','message':'no'}", "evt_003 payload.exception_type: 'E', 'F'"},
    };
    struct fixture self;
    init (&self, state);
    tell (&self, EVENT);
    struct ag_invocation by = begin (&self, 1, 1);
    give_up (&self, &by, "{'type':'E','message':'no','traceback':'here'}");
    tell (&self, EVENT);
    by = begin (&self, core_tip (self.core, self.run), 1);
    done (&self, &by, "[{'op':'remove_object','id':'nothing'}]");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        self.trace = (struct ag_trace){0};
        struct ag_invocation open = again (&self);
        assert_string_equal (judge_fail (&self, &open, rows[i].error), rows[i].says);
        if (i < 2)
            ag_trace_fini (&self.trace);
    }
    struct ag_invocation open = again (&self);
    assert_string_equal (judge_done (&self, &open, "[{'op':'remove_object','id':'nothing'}]"),
                         "same");
    fini (&self);
}

//  Whether it then says so itself or goes on as if nothing had been.
static void
what_its_policy_forbade_fails_again_and_an_effect_before_it_is_missed (void **state)
{
    struct fixture self;
    init (&self, state);
    tell (&self, EVENT);
    struct ag_invocation by = begin (&self, 1, 1);
    effect (&self, &by, "{'n':1}", "'one'");
    ag_buf_text (&by.denied, "it may not");
    give_up (&self, &by, "{'type':'E','message':'it may not'}");
    for (int i = 0; i < 4; i++) {
        self.trace = (struct ag_trace){0};
        struct ag_invocation open = again (&self);
        bool asks = i % 2;
        if (asks)
            assert_string_equal (judge_effect (&self, &open, "look", "{'n':1}"), "same");
        ag_buf_text (&open.denied, "it may not");
        const char *says = i < 2 ? judge_fail (&self, &open, "{'type':'E','message':'it may not'}")
                                 : judge_done (&self, &open, OPS);
        if (asks)
            assert_string_equal (says, "same");
        else
            assert_non_null (strstr (says, "evt_004 payload: {'behavior':'work'"));
        ag_trace_fini (&self.trace);
    }
    self.trace = (struct ag_trace){0};
    fini (&self);
}

static void
what_was_refused_and_is_accepted_now_is_a_difference (void **state)
{
    struct fixture self;
    init (&self, state);
    tell (&self, EVENT);
    struct ag_invocation by = begin (&self, 1, 1);
    done (&self, &by, "[{'op':'remove_object','id':'nothing'}]");
    struct ag_invocation open = again (&self);
    assert_string_equal (judge_done (&self, &open, OPS),
                         "evt_003 type: 'behavior.failed', 'behavior.completed'");
    fini (&self);
}

static void
a_removal_with_what_it_takes_along_is_one_commit (void **state)
{
    struct fixture self;
    init (&self, state);
    record_one (&self);
    tell (&self, EVENT);
    struct ag_invocation by = begin (&self, core_tip (self.core, self.run), 1);
    done (&self, &by, "[{'op':'remove_object','id':'task#1'}]");
    struct ag_invocation open = again (&self);
    assert_string_equal (judge_done (&self, &open, OPS), "same");
    open = again (&self);
    assert_int_equal (self.trace.item.end - self.trace.item.first, 2);
    assert_string_equal (judge_done (&self, &open, "[{'op':'remove_object','id':'task#1'}]"),
                         "same");
    fini (&self);
}

static void
a_run_as_deep_as_runs_go_is_done_again_too (void **state)
{
    struct fixture self;
    init (&self, state);
    for (int depth = 0; depth < AG_RUN_DEPTH; depth++) {
        tell (&self, "[{'op':'add_object','type':'task','data':{}}]");
        self.run = core_fork (self.core, self.run);
    }
    tell (&self, EVENT);
    uint64_t cut = core_run (self.core, self.run)->cut;
    struct ag_invocation by = begin (&self, cut + 1, 1);
    done (&self, &by, OPS);
    self.trace.at = cut;
    struct ag_invocation open = again (&self);
    assert_string_equal (judge_done (&self, &open, OPS), "same");
    fini (&self);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (an_invocation_that_does_the_same_is_as_recorded_and_nothing_of_it_is_stored),
        core_test (the_first_difference_is_named_by_its_event_and_its_path),
        core_test (what_came_from_outside_in_between_does_not_matter),
        core_test (only_the_attempt_that_ended_counts_and_what_ended_by_itself_is_left_out),
        core_test (another_effect_one_more_and_one_less_are_told),
        core_test (a_failure_of_its_own_fails_again_with_the_same_words),
        core_test (what_its_policy_forbade_fails_again_and_an_effect_before_it_is_missed),
        core_test (what_was_refused_and_is_accepted_now_is_a_difference),
        core_test (a_removal_with_what_it_takes_along_is_one_commit),
        core_test (a_run_as_deep_as_runs_go_is_done_again_too),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
