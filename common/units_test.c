//  SPDX-License-Identifier: Apache-2.0
#include "common/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static void
a_span_is_a_number_and_a_unit (void **state)
{
    (void)state;
    const struct {
        const char *text;
        uint64_t ms;
    } spans[] = {{"250ms", 250},    {"1s", 1000}, {"2m", 120000}, {"24h", 86400000},
                 {"7d", 604800000}, {"0", 0},     {"0s", 0}};
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
        uint64_t ms = 99;
        assert_int_equal (ag_ms_read (ag_str (spans[i].text), &ms), 0);
        assert_int_equal (ms, spans[i].ms);
    }
}

static void
a_size_is_a_number_and_a_unit (void **state)
{
    (void)state;
    uint64_t bytes;
    assert_int_equal (ag_bytes_read (AG_LIT ("256MiB"), &bytes), 0);
    assert_int_equal (bytes, 256 << 20);
    assert_int_equal (ag_bytes_read (AG_LIT ("2kB"), &bytes), 0);
    assert_int_equal (bytes, 2000);
    assert_int_equal (ag_bytes_read (AG_LIT ("8388607TiB"), &bytes), 0);
    assert_int_equal (bytes, 8388607ull << 40);
}

static void
anything_else_is_refused (void **state)
{
    (void)state;
    const char *const wrong[] = {"",
                                 "1",
                                 "s",
                                 "1 s",
                                 "1s ",
                                 "-1s",
                                 "+1s",
                                 "1.5s",
                                 "1S",
                                 "1min",
                                 "0x10s",
                                 "9223372036854775808ms",
                                 "1sm",
                                 "1h1m",
                                 "200000000000000d",
                                 "99999999999999999999999s"};
    uint64_t n;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal (ag_ms_read (ag_str (wrong[i]), &n), -1);
    assert_int_equal (ag_bytes_read (AG_LIT ("256mib"), &n), -1);
    assert_int_equal (ag_bytes_read (AG_LIT ("8388608TiB"), &n), -1);
    assert_int_equal (ag_bytes_read ((struct ag_str){0}, &n), -1);
}

static void
a_span_of_numbers_is_in_order (void **state)
{
    (void)state;
    uint64_t first, last;
    assert_int_equal (ag_span_read (AG_LIT ("62000-62999"), &first, &last), 0);
    assert_int_equal (first, 62000);
    assert_int_equal (last, 62999);
    assert_int_equal (ag_span_read (AG_LIT ("7-7"), &first, &last), 0);
    const char *const wrong[] = {"",     "1",    "1-",   "-1",    "2-1",
                                 "1-2 ", " 1-2", "1--2", "1-2-3", "a-b"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal (ag_span_read (ag_str (wrong[i]), &first, &last), -1);
}

static void
a_name_cannot_be_taken_for_a_run (void **state)
{
    (void)state;
    const char *const right[] = {"a",   "auditor", "second_opinion-2", "rl",         "r",
                                 "r0a", "r_1",     "reader",           "researcher", "red"};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        assert_null (ag_name_wrong (ag_str (right[i])));
    const char *const wrong[] = {"",    "A",   "1a",  "_a", "-a",  "a b",
                                 "a/b", "a.b", "a@1", "ä",  "r3f", "ra1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_non_null (ag_name_wrong (ag_str (wrong[i])));
    char longest[64];
    memset (longest, 'a', sizeof longest);
    assert_null (ag_name_wrong ((struct ag_str){longest, 63}));
    assert_non_null (ag_name_wrong ((struct ag_str){longest, 64}));
}

static void
dollars_are_counted_in_millionths_and_rounded_up (void **state)
{
    (void)state;
    const struct {
        const char *text, *back;
        uint64_t micros;
    } rows[] = {{"0", "0", 0},
                {"1.50", "1.5", 1500000},
                {"0.0125", "0.0125", 12500},
                {"12", "12", 12000000},
                {"0.0000001", "0.000001", 1},
                {"0.0000010", "0.000001", 1},
                {"0.9999999", "1", 1000000},
                {"9223372036854.775807", "9223372036854.775807", INT64_MAX}};
    const char *const wrong[] = {"",  ".5", "1.", "-1", "1e3", "1,5", "$1", "9223372036854.775808",
                                 " 1"};
    uint64_t micros;
    char text[AG_USD_TEXT];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal (ag_usd_read (ag_str (rows[i].text), &micros), 0);
        assert_int_equal (micros, rows[i].micros);
        ag_usd_text (micros, text);
        assert_string_equal (text, rows[i].back);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal (ag_usd_read (ag_str (wrong[i]), &micros), -1);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_span_is_a_number_and_a_unit),
        cmocka_unit_test (a_size_is_a_number_and_a_unit),
        cmocka_unit_test (anything_else_is_refused),
        cmocka_unit_test (a_span_of_numbers_is_in_order),
        cmocka_unit_test (dollars_are_counted_in_millionths_and_rounded_up),
        cmocka_unit_test (a_name_cannot_be_taken_for_a_run),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
