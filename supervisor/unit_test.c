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

//  Each in a period of its own, as where a program never says hello.
static void
starts_that_fail_wait_longer_however_long_each_took (void **state)
{
    (void)state;
    struct ag_unit unit = {.state = AG_UNIT_STARTING};
    assert_int_equal (ag_unit_delay (&unit, 1, 60000), 0);
    int64_t base = 100;
    for (int i = 0; i < 12; i++, base = 2 * base < 30000 ? 2 * base : 30000) {
        unit.deaths[i] -= 60001;
        int64_t delay = ag_unit_delay (&unit, 1, 60000);
        assert_in_range (delay, base - base / 4, base + base / 4);
    }
    unit.state = AG_UNIT_READY;
    unit.deaths[12] -= 60001;
    assert_int_equal (ag_unit_delay (&unit, 1, 60000), 0);
}

static void
assert_why (const struct ag_unit *unit, const char *why)
{
    struct ag_buf text = {0};
    ag_unit_why (unit, &text);
    ag_buf_add (&text, "", 1);
    assert_string_equal ((const char *)text.p, why);
    ag_buf_fini (&text);
}

static void
one_that_starts_is_silent_and_says_how_its_last_start_failed (void **state)
{
    (void)state;
    struct ag_unit unit = {.state = AG_UNIT_STARTING, .run = 1, .pid = 7, .since_ms = ag_now_ms()};
    assert_why (&unit, "");
    unit.since_ms -= 7000;
    assert_why (&unit, "it has not said hello for 7 s; it is given 60");
    struct ag_session session = {0};
    unit.session = &session;
    assert_why (&unit, "it has not loaded its packs for 7 s; it is given 60");
    unit.session = NULL;
    unit.failed = 1;
    strcpy (unit.failure, "signal 9");
    assert_why (&unit,
                "it has not said hello for 7 s; it is given 60; its last start failed: signal 9");
    unit.run = 0;
    assert_why (&unit, "it is not ready for 7 s; its last start failed: signal 9");
    unit.pid = 0;
    assert_why (&unit, "its last start failed: signal 9");
    strcpy (unit.reason, "it broke a rule");
    assert_why (&unit, "it broke a rule");
    unit.reason[0] = 0;
    unit.state = AG_UNIT_READY;
    assert_why (&unit, "");
}

static void
a_start_that_failed_is_forgotten_with_one_that_did_not (void **state)
{
    (void)state;
    struct ag_unit unit = {.state = AG_UNIT_STARTING, .run = 1, .since_ms = ag_now_ms()};
    strcpy (unit.failure, "signal 9");
    assert_int_equal (ag_unit_delay (&unit, 20, 60000), 0);
    assert_why (&unit, "its last start failed: signal 9");
    ag_unit_move (NULL, &unit, AG_WHAT_HELLO);
    ag_unit_move (NULL, &unit, AG_WHAT_IDLE);
    ag_unit_move (NULL, &unit, AG_WHAT_START);
    assert_why (&unit, "");
    unit.deaths[0] -= 60001;
    assert_int_equal (ag_unit_delay (&unit, 20, 60000), 0);
}

static void
words_that_are_no_text_become_one_from_their_end (void **state)
{
    (void)state;
    static const char *const rows[][2] = {{"", ""},
                                          {"\xc3\xa9t\xc3\xa9", "\xc3\xa9t\xc3\xa9"},
                                          {"\xc3\xa9t\xc3", "\xc3\xa9t?"},
                                          {"\xc3\xa9\xe2\x82", "\xc3\xa9??"},
                                          {"\xc3\xa9\xff \xc3\xa9", "\xc3\xa9? ??"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char words[16] = "";
        memcpy (words, rows[i][0], strlen (rows[i][0]));
        ag_unit_mend (words);
        assert_string_equal (words, rows[i][1]);
    }
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (the_table_moves_a_unit_and_nothing_else_does),
        cmocka_unit_test (the_first_death_is_answered_at_once_and_later_ones_wait_longer),
        cmocka_unit_test (one_death_too_many_in_the_period_is_the_last),
        cmocka_unit_test (starts_that_fail_wait_longer_however_long_each_took),
        cmocka_unit_test (one_that_starts_is_silent_and_says_how_its_last_start_failed),
        cmocka_unit_test (a_start_that_failed_is_forgotten_with_one_that_did_not),
        cmocka_unit_test (words_that_are_no_text_become_one_from_their_end),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
