//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/budget.h"
#include "supervisor/core_graph_test.h"

static struct ag_budget
budget_of (struct core *self, const char *spec)
{
    struct ag_buf value = value_of (self, spec);
    struct ag_budget budget = ag_budget_of (ag_buf_str (&value));
    ag_buf_fini (&value);
    return budget;
}

static void
a_limit_that_is_not_there_is_none (void **state)
{
    struct core *self = *state;
    struct ag_budget none = budget_of (self, "{}"),
                     some = budget_of (self, "{'budget':{'max_events':3,'max_seconds':2,"
                                             "'max_cost_usd':'1.25','max_patches':null},"
                                             "'nets':{'events':7}}");
    for (int i = 0; i < AG_DIMENSIONS; i++)
        assert_true (none.limits[i] == AG_UNLIMITED);
    assert_int_equal (some.limits[AG_USED_EVENTS], 3);
    assert_int_equal (some.limits[AG_USED_US], 2000000);
    assert_int_equal (some.limits[AG_USED_COST], 1250000);
    assert_int_equal (some.limits[AG_NET_EVENTS], 7);
    assert_true (some.limits[AG_USED_PATCHES] == AG_UNLIMITED);
    none = budget_of (self, "{'budget':{},'nets':{'events':0}}");
    assert_true (none.limits[AG_NET_EVENTS] == AG_UNLIMITED);
}

static void
a_budget_is_spent_when_as_much_is_used_as_it_allows (void **state)
{
    static const struct {
        const char *spec;
        enum ag_use use;
        uint64_t last; //  that may be used
        const char *name;
    } rows[] = {
        {"{'budget':{'max_behavior_calls':2}}", AG_USED_CALLS, 1, "max_behavior_calls"},
        {"{'budget':{'max_llm_calls':1}}", AG_USED_MODELS, 0, "max_llm_calls"},
        {"{'budget':{'max_tool_calls':5}}", AG_USED_TOOLS, 4, "max_tool_calls"},
        {"{'budget':{'max_patches':2}}", AG_USED_PATCHES, 1, "max_patches"},
        {"{'budget':{'max_seconds':1}}", AG_USED_US, 999999, "max_seconds"},
        {"{'budget':{'max_cost_usd':'0.000002'}}", AG_USED_COST, 1, "max_cost_usd"},
    };
    struct core *self = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ag_budget budget = budget_of (self, rows[i].spec);
        struct ag_run run = {0};
        uint32_t dimension;
        run.head.used[rows[i].use] = rows[i].last;
        assert_false (ag_budget_is_spent (&budget, &run, &dimension));
        run.head.used[rows[i].use]++;
        assert_true (ag_budget_is_spent (&budget, &run, &dimension));
        assert_string_equal (ag_budget_name (dimension), rows[i].name);
        run.head.used[rows[i].use]++;
        assert_true (ag_budget_is_spent (&budget, &run, &dimension));
    }
}

static void
what_would_cross_a_limit_is_told_before (void **state)
{
    struct core *self = *state;
    struct ag_budget budget =
        budget_of (self, "{'budget':{'max_cost_usd':'1'},'nets':{'events':3}}");
    struct ag_run run = {.cut = 10, .head = {.tip = 13}};
    assert_false (ag_budget_crosses (&budget, &run, AG_NET_EVENTS, 0));
    assert_true (ag_budget_crosses (&budget, &run, AG_NET_EVENTS, 1));
    run.head.used[AG_USED_COST] = 400000;
    assert_false (ag_budget_crosses (&budget, &run, AG_USED_COST, 600000));
    assert_true (ag_budget_crosses (&budget, &run, AG_USED_COST, 600001));
    assert_false (ag_budget_crosses (&budget, &run, AG_USED_TOOLS, UINT64_MAX));
}

static void
the_depth_of_an_event_is_the_length_of_its_chain_of_causes (void **state)
{
    struct core *self = *state;
    uint64_t number = core_root (self, "p"), depth;
    struct ag_run *run = core_run (self, number);
    for (uint64_t i = 0; i < 5; i++) {
        uint64_t seq;
        struct ag_draft draft = {.type = AG_LIT ("x"), .payload = AG_LIT ("\x80"), .cause = i};
        must (self, ag_journal_append (self->journal, run, &draft, &seq, &self->err));
    }
    for (uint64_t seq = 1; seq <= 5; seq++) {
        must (self, ag_budget_depth (self->journal, run, seq, 100, &depth, &self->err));
        assert_int_equal (depth, seq);
    }
    must (self, ag_budget_depth (self->journal, run, 5, 2, &depth, &self->err));
    assert_int_equal (depth, 3); //  no further than it has to
}

static void
a_snapshot_says_what_is_used_and_what_may_be (void **state)
{
    struct core *self = *state;
    struct ag_budget budget = budget_of (
        self, "{'budget':{'max_events':3,'max_seconds':2,'max_cost_usd':'1.25'},'nets':{}}");
    struct ag_run run = {
        .head = {.tip = 4,
                 .used = {[AG_USED_EVENTS] = 1, [AG_USED_US] = 1999999, [AG_USED_COST] = 12500}}};
    struct ag_buf out = {0};
    ag_budget_snapshot (&budget, &run, &out);
    assert_string_equal (
        json_of (self, ag_buf_str (&out)),
        "{'used':{'max_events':1,'max_behavior_calls':0,'max_tool_calls':0,'max_llm_calls':0,"
        "'max_patches':0,'max_depth':0,'max_seconds':1,'net.events':4},"
        "'limits':{'max_events':3,'max_behavior_calls':null,'max_tool_calls':null,"
        "'max_llm_calls':null,'max_patches':null,'max_depth':null,'max_seconds':2,"
        "'net.events':null},'cost_used_usd':'0.0125','cost_limit_usd':'1.25'}");
    ag_buf_fini (&out);
}

static const char *
fork_of (struct core *self, const struct ag_budget *budget, const struct ag_run *parent,
         const char *given)
{
    struct ag_buf out = {0}, map = {0};
    if (given)
        map = value_of (self, given);
    int rc = ag_budget_of_fork (budget, parent, ag_buf_str (&map), &out, &self->err);
    const char *text = rc ? NULL : json_of (self, ag_buf_str (&out));
    ag_buf_fini (&out);
    ag_buf_fini (&map);
    return text;
}

static void
a_fork_gets_what_is_left_to_its_parent_or_what_is_given (void **state)
{
    struct core *self = *state;
    struct ag_budget budget =
        budget_of (self, "{'budget':{'max_events':10,'max_behavior_calls':2,'max_depth':4,"
                         "'max_cost_usd':'1'}}");
    struct ag_run parent = {.head = {.used = {[AG_USED_EVENTS] = 4,
                                              [AG_USED_CALLS] = 3,
                                              [AG_USED_DEPTH] = 4,
                                              [AG_USED_COST] = 250000}}};
    assert_string_equal (fork_of (self, &budget, &parent, NULL),
                         "{'max_events':6,'max_behavior_calls':0,'max_tool_calls':null,"
                         "'max_llm_calls':null,'max_cost_usd':'0.75','max_patches':null,"
                         "'max_depth':4,'max_seconds':null}");
    assert_string_equal (
        fork_of (self, &budget, &parent, "{'max_events':100,'max_cost_usd':'5','max_seconds':1}"),
        "{'max_events':100,'max_behavior_calls':0,'max_tool_calls':null,"
        "'max_llm_calls':null,'max_cost_usd':'5','max_patches':null,"
        "'max_depth':4,'max_seconds':1}");
    assert_null (fork_of (self, &budget, &parent, "{'max_evnts':1}"));
    refuses (self, -1, AG_E_USAGE, "a budget has no `max_evnts`");
    assert_null (fork_of (self, &budget, &parent, "{'max_events':'1'}"));
    refuses (self, -1, AG_E_USAGE, "max_events of a budget is a number");
    assert_null (fork_of (self, &budget, &parent, "{'max_cost_usd':1}"));
    refuses (self, -1, AG_E_USAGE, "dollars as text");
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (a_limit_that_is_not_there_is_none),
        core_test (a_budget_is_spent_when_as_much_is_used_as_it_allows),
        core_test (what_would_cross_a_limit_is_told_before),
        core_test (the_depth_of_an_event_is_the_length_of_its_chain_of_causes),
        core_test (a_snapshot_says_what_is_used_and_what_may_be),
        core_test (a_fork_gets_what_is_left_to_its_parent_or_what_is_given),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
