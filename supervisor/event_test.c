//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static void
the_table_says_who_may_append_a_type (void **state)
{
    (void)state;
    static const struct {
        const char *type;
        enum ag_writer writer;
        bool queued, lifecycle;
    } rows[] = {
        {"goal.created", AG_BY_CLIENT, true, false},
        {"goal.anything", AG_BY_HOUSE, false, false},
        {"object.created", AG_BY_OPERATION, true, false},
        {"behavior.started", AG_BY_HOUSE, false, true},
        {"behavior.of.a.kind.to.come", AG_BY_HOUSE, false, true},
        {"promote.applied", AG_BY_HOUSE, true, false},
        {"pack.settings_overridden", AG_BY_HOUSE, false, false},
        {"llm.requested", AG_BY_HOUSE, false, false},
        {"task.completed", AG_BY_ANYONE, true, false},
        {"behaviors.started", AG_BY_ANYONE, true, false},
        {"object", AG_BY_ANYONE, true, false},
        {"", AG_BY_ANYONE, true, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ag_rule rule = ag_type_rule (ag_str (rows[i].type));
        assert_int_equal (rule.writer, rows[i].writer);
        assert_int_equal (rule.queued, rows[i].queued);
        assert_int_equal (rule.lifecycle, rows[i].lifecycle);
    }
    for (int type = 0; type < AG_EV_COUNT; type++)
        assert_int_equal (ag_type_of (ag_type_name ((enum ag_type)type)), type);
    assert_int_equal (ag_type_of (AG_LIT ("task.completed")), AG_EV_COUNT);
}

static void
an_event_id_has_one_form (void **state)
{
    (void)state;
    static const uint64_t numbers[] = {1, 42, 999, 1000, 1234567, UINT64_MAX};
    static const char *const none[] = {"",
                                       "evt_",
                                       "evt_42",
                                       "evt_0042",
                                       "evt_000",
                                       "evt_-12",
                                       "evt_04a",
                                       "evt_ 42",
                                       "EVT_042",
                                       "xevt_042",
                                       "evt_0420x",
                                       "evt_18446744073709551616",
                                       "evt_99999999999999999999999"};
    char text[AG_EVT_TEXT];
    uint64_t seq;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        ag_evt_text (numbers[i], text);
        assert_int_equal (ag_evt_read (ag_str (text), &seq), 0);
        assert_true (seq == numbers[i]);
    }
    ag_evt_text (42, text);
    assert_string_equal (text, "evt_042");
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal (ag_evt_read (ag_str (none[i]), &seq), -1);
}

static void
an_event_id_may_be_written_by_people_without_its_zeros (void **state)
{
    (void)state;
    static const char *const all[] = {"evt_7", "evt_07", "evt_007", "evt_0007"};
    static const char *const none[] = {
        "evt_", "evt_0", "evt_-7", "7", "evt_18446744073709551617", "evt_99999999999999999999"};
    uint64_t seq = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++, seq = 0) {
        assert_int_equal (ag_evt_guess (ag_str (all[i]), &seq), 0);
        assert_int_equal (seq, 7);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal (ag_evt_guess (ag_str (none[i]), &seq), -1);
}

static void
times_are_written_as_rfc_3339 (void **state)
{
    (void)state;
    static const struct {
        uint64_t time_us;
        const char *text;
    } rows[] = {
        {0, "1970-01-01T00:00:00.000000Z"},
        {951782399999999, "2000-02-28T23:59:59.999999Z"},
        {951782400000000, "2000-02-29T00:00:00.000000Z"},
        {1709251199000001, "2024-02-29T23:59:59.000001Z"},
        {1735689600000000, "2025-01-01T00:00:00.000000Z"},
        {4107542400000000, "2100-03-01T00:00:00.000000Z"},
    };
    char text[AG_TIME_TEXT];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ag_time_text (rows[i].time_us, text);
        assert_string_equal (text, rows[i].text);
    }
}

static void
an_event_cut_short_or_of_another_shape_is_corrupt (void **state)
{
    (void)state;
    struct ag_buf stored = {0};
    struct ag_event event = {.stream = 70000,
                             .time_us = 1,
                             .cause = 3,
                             .flags = AG_BLOCK,
                             .type = AG_LIT ("t"),
                             .actor = AG_LIT ("a"),
                             .payload = AG_LIT ("\x81\xa1k\x01")},
                    again;
    struct ag_err err;
    ag_event_encode (&event, &stored);
    ag_buf_add (&stored, "12345678", AG_SEED);
    assert_int_equal (ag_event_decode (1, 9, ag_buf_str (&stored), &again, &err), 0);
    assert_int_equal (again.stream, 70000);
    assert_int_equal (again.cause, 3);
    assert_int_equal (again.flags, AG_BLOCK);
    assert_true (ag_str_eq (again.payload, event.payload));
    assert_null (again.frame.p);
    assert_memory_equal (again.seed, "12345678", AG_SEED);
    for (size_t n = 0; n < 16; n++) {
        assert_int_equal (
            ag_event_decode (1, 9, (struct ag_str){(char *)stored.p, n}, &again, &err), -1);
        assert_int_equal (err.code, AG_E_CORRUPT);
        assert_non_null (strstr (err.text, "event 9 of run number 1"));
    }
    ag_buf_fini (&stored);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (the_table_says_who_may_append_a_type),
        cmocka_unit_test (an_event_id_may_be_written_by_people_without_its_zeros),
        cmocka_unit_test (an_event_id_has_one_form),
        cmocka_unit_test (times_are_written_as_rfc_3339),
        cmocka_unit_test (an_event_cut_short_or_of_another_shape_is_corrupt),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
