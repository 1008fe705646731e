//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/trial_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

//  A process that ended by itself with a status, or by a signal.
static struct ag_unit
ended (int status, int signal)
{
    return (struct ag_unit){.exited = true,
                            .by_itself = true,
                            .exit_code = signal ? -1 : status,
                            .signal = signal,
                            .inner = true};
}

static void
only_what_was_told_to_stop_and_ends_well_by_itself_has_completed (void **state)
{
    (void)state;
    struct ag_trial told = {.told_ms = 1}, untold = {0};
    struct ag_unit well = ended (0, 0), killed = ended (0, 0), never = {0};
    killed.by_itself = false;
    assert_int_equal (ag_trial_judge (&told, &well), AG_OUTCOME_COMPLETED);
    assert_int_equal (ag_trial_judge (&untold, &well), AG_OUTCOME_CRASHED);
    assert_int_equal (ag_trial_judge (&told, &killed), AG_OUTCOME_CRASHED);
    assert_int_equal (ag_trial_judge (&told, &never), AG_OUTCOME_CRASHED);
    assert_int_equal (ag_trial_judge (&told, NULL), AG_OUTCOME_CRASHED);
    for (int status = 1; status < 256; status++) {
        struct ag_unit other = ended (status, 0);
        assert_int_equal (ag_trial_judge (&told, &other), AG_OUTCOME_CRASHED);
    }
    for (int signal = 1; signal < 32; signal++) {
        struct ag_unit other = ended (0, signal);
        assert_int_equal (ag_trial_judge (&told, &other), AG_OUTCOME_CRASHED);
    }
}

static void
a_net_goes_before_all_else_and_the_wall_clock_before_the_others (void **state)
{
    (void)state;
    struct ag_unit well = ended (0, 0), limit = ended (0, 11);
    limit.fired = AG_FIRED_MEMORY;
    struct ag_trial wall = {.told_ms = 1, .net = AG_TRIAL_WALL, .unfit = true, .refused = true};
    assert_int_equal (ag_trial_judge (&wall, &well), AG_OUTCOME_LIMITS_EXCEEDED);
    assert_int_equal (ag_trial_fired (&wall, &limit), AG_TRIAL_WALL);
    struct ag_trial plain = {.told_ms = 1};
    assert_int_equal (ag_trial_judge (&plain, &limit), AG_OUTCOME_LIMITS_EXCEEDED);
    assert_int_equal (ag_trial_fired (&plain, &limit), AG_TRIAL_MEMORY);
    limit.fired = AG_FIRED_CPU;
    assert_int_equal (ag_trial_fired (&plain, &limit), AG_TRIAL_CPU);
    limit.fired = AG_FIRED_FILE_SIZE;
    assert_int_equal (ag_trial_fired (&plain, &limit), AG_TRIAL_FILE_SIZE);
    struct ag_trial unfit = {.unfit = true, .refused = true}, refused = {.refused = true};
    assert_int_equal (ag_trial_judge (&unfit, NULL), AG_OUTCOME_MATERIALIZATION_FAILED);
    assert_int_equal (ag_trial_judge (&refused, &well), AG_OUTCOME_SCENARIO_FAILED);
}

static void
a_host_is_believed_about_its_own_limit_only_when_it_ends_so (void **state)
{
    (void)state;
    struct ag_trial self = {.said = AG_TRIAL_MEMORY};
    struct ag_unit host = ended (7, 0), program = ended (7, 0), other = ended (3, 0);
    program.inner = false;
    assert_int_equal (ag_trial_fired (&self, &host), AG_TRIAL_MEMORY);
    assert_int_equal (ag_trial_fired (&self, &program), AG_TRIAL_NONE);
    assert_int_equal (ag_trial_fired (&self, &other), AG_TRIAL_NONE);
    assert_int_equal (ag_trial_judge (&self, &program), AG_OUTCOME_CRASHED);
}

static void
assert_tail (const char *text, const char *expected)
{
    struct ag_str tail = ag_trial_tail (ag_str (text));
    assert_int_equal (tail.n, strlen (expected));
    assert_memory_equal (tail.p, expected, tail.n);
}

static void
the_tail_is_twenty_lines_and_fifteen_hundred_characters_at_most (void **state)
{
    (void)state;
    struct ag_buf lines = {0}, last = {0};
    assert_tail ("", "");
    assert_tail ("\n \n", "");
    assert_tail ("one\ntwo\n\n", "one\ntwo");
    for (int i = 1; i <= 50; i++)
        ag_buf_text (&lines, "line %d\n", i);
    for (int i = 31; i <= 50; i++)
        ag_buf_text (&last, "line %d%s", i, i < 50 ? "\n" : "");
    ag_buf_add (&lines, "", 1);
    ag_buf_add (&last, "", 1);
    assert_tail ((char *)lines.p, (char *)last.p);
    ag_buf_clear (&lines);
    for (int i = 0; i < 2000; i++)
        ag_buf_text (&lines, "\u00e9");
    struct ag_str tail = ag_trial_tail (ag_buf_str (&lines));
    assert_int_equal (tail.n, 3000);
    assert_true (ag_utf8 (tail));
    ag_buf_fini (&lines);
    ag_buf_fini (&last);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (only_what_was_told_to_stop_and_ends_well_by_itself_has_completed),
        cmocka_unit_test (a_net_goes_before_all_else_and_the_wall_clock_before_the_others),
        cmocka_unit_test (a_host_is_believed_about_its_own_limit_only_when_it_ends_so),
        cmocka_unit_test (the_tail_is_twenty_lines_and_fifteen_hundred_characters_at_most),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
