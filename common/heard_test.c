//  SPDX-License-Identifier: Apache-2.0
#include "common/heard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void
assert_heard (const char *type, enum ag_hearer hearer, const char *wanted)
{
    struct ag_buf why = {0};
    assert_int_equal (ag_heard (ag_str (type), hearer, &why), !wanted);
    ag_buf_add (&why, "", 1);
    assert_string_equal ((const char *)why.p, wanted ? wanted : "");
    ag_buf_fini (&why);
}

static void
own_types_are_free_and_those_of_the_house_are_known (void **state)
{
    (void)state;
    static const char *const free_ones[] = {
        "goal", "gaol.created", "goals.created",  "task.created",   "on.work", "Goal.created",
        "x",    "goal.created", "object.removed", "promote.applied"};
    for (size_t i = 0; i < sizeof free_ones / sizeof *free_ones; i++) {
        assert_heard (free_ones[i], AG_BEHAVIOR, NULL);
        assert_heard (free_ones[i], AG_OTHER_AGENT, NULL);
    }
}

static void
a_type_that_the_house_never_writes_is_refused_with_the_one_that_was_meant (void **state)
{
    (void)state;
    assert_heard ("goal.creted", AG_BEHAVIOR,
                  "`goal.creted` never comes: the house alone has types in goal.*; did you mean "
                  "`goal.created`?");
    assert_heard ("behavior.compleeted", AG_OTHER_AGENT,
                  "`behavior.compleeted` never comes: the house alone has types in behavior.*; did "
                  "you mean `behavior.completed`?");
    assert_heard (
        "llm.something_else_altogether", AG_BEHAVIOR,
        "`llm.something_else_altogether` never comes: the house alone has types in llm.*");
    assert_heard ("goal.", AG_OTHER_AGENT,
                  "`goal.` never comes: the house alone has types in goal.*");
}

//  What is never queued is not what was meant either.
static void
what_is_given_to_no_behaviour_can_still_be_heard_by_another_agent (void **state)
{
    (void)state;
    assert_heard ("behavior.failed", AG_OTHER_AGENT, NULL);
    assert_heard (
        "behavior.failed", AG_BEHAVIOR,
        "`behavior.failed` is given to no behavior; another agent can have it by `hears`");
    assert_heard ("behavior.faild", AG_BEHAVIOR,
                  "`behavior.faild` never comes: the house alone has types in behavior.*");
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (own_types_are_free_and_those_of_the_house_are_known),
        cmocka_unit_test (
            a_type_that_the_house_never_writes_is_refused_with_the_one_that_was_meant),
        cmocka_unit_test (what_is_given_to_no_behaviour_can_still_be_heard_by_another_agent),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
