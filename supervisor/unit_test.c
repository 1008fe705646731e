//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/unit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static void
the_table_moves_a_unit_and_nothing_else_does (void **state)
{
    (void)state;
    struct ag_unit unit = {0};
    assert_string_equal (ag_unit_state_name (unit.state), "parked");
    ag_unit_move (NULL, &unit, AG_WHAT_TAKE); //  not in this state
    assert_int_equal (unit.state, AG_UNIT_PARKED);
    static const struct {
        enum ag_unit_what what;
        const char *state;
    } life[] = {
        {AG_WHAT_WAIT, "waiting"},   {AG_WHAT_START, "starting"}, {AG_WHAT_HELLO, "ready"},
        {AG_WHAT_TAKE, "busy"},      {AG_WHAT_GIVE, "ready"},     {AG_WHAT_TAKE, "busy"},
        {AG_WHAT_DIED, "backoff"},   {AG_WHAT_START, "starting"}, {AG_WHAT_GIVE_UP, "failed"},
        {AG_WHAT_HELLO, "failed"},   {AG_WHAT_IDLE, "parked"},    {AG_WHAT_STOP, "stopped"},
        {AG_WHAT_START, "starting"}, {AG_WHAT_END, "ended"}};
    for (size_t i = 0; i < sizeof life / sizeof *life; i++) {
        ag_unit_move (NULL, &unit, life[i].what);
        assert_string_equal (ag_unit_state_name (unit.state), life[i].state);
    }
}

static void
the_first_death_is_answered_at_once_and_later_ones_wait_longer (void **state)
{
    (void)state;
    struct ag_unit unit = {0};
    assert_int_equal (ag_unit_delay (&unit, 20, 60000), 0);
    int64_t base = 100;
    for (int i = 0; i < 12; i++, base = 2 * base < 30000 ? 2 * base : 30000) {
        int64_t delay = ag_unit_delay (&unit, 20, 60000);
        assert_in_range (delay, base - base / 4, base + base / 4);
    }
}

static void
one_death_too_many_in_the_period_is_the_last (void **state)
{
    (void)state;
    struct ag_unit unit = {0};
    for (int i = 0; i < 5; i++)
        assert_true (ag_unit_delay (&unit, 5, 60000) >= 0);
    assert_int_equal (ag_unit_delay (&unit, 5, 60000), -1);
    for (int i = 0; i < AG_UNIT_DEATHS; i++) //  long ago
        unit.deaths[i] -= 120000;
    assert_int_equal (ag_unit_delay (&unit, 5, 60000), 0);
    struct ag_unit never = {0};
    assert_int_equal (ag_unit_delay (&never, 0, 60000), -1);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (the_table_moves_a_unit_and_nothing_else_does),
        cmocka_unit_test (the_first_death_is_answered_at_once_and_later_ones_wait_longer),
        cmocka_unit_test (one_death_too_many_in_the_period_is_the_last),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
