//  SPDX-License-Identifier: Apache-2.0
#include "worker/pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool
spend_from (void *arg)
{
    unsigned *left = arg;
    return *left && --*left;
}

//  Match and show it as "start-end capture capture": "-" for no match, "!" and why for a bad pattern.
static const char *
show (const char *subject, const char *pattern)
{
    static char text[600];
    struct ag_pattern read;
    struct ag_match match;
    struct ag_err err;
    unsigned left = 1000;
    if (ag_pattern_read (&read, ag_str (pattern), true, &err)) {
        snprintf (text, sizeof text, "!%s", err.text);
        return text;
    }
    if (ag_pattern_find (&read, ag_str (subject), 0, spend_from, &left, &match) != 1)
        return "-";
    int n = snprintf (text, sizeof text, "%zu-%zu", match.start, match.end);
    for (unsigned i = 0; i < read.captures; i++) {
        struct ag_capture *capture = &match.captures[i];
        if (capture->position)
            n += snprintf (text + n, sizeof text - (size_t)n, " @%zu", capture->at);
        else
            n += snprintf (text + n, sizeof text - (size_t)n, " %.*s", (int)capture->n,
                           subject + capture->at);
    }
    return text;
}

static void
each_item_of_a_pattern_matches_what_the_manual_says (void **state)
{
    static const char *const cases[][3] = {
        {"hello world", "o w", "4-7"},
        {"key = value", "^(%w+)%s*=%s*(.-)$", "0-11 key value"},
        {"aaa", "a-$", "0-3"},
        {"aXb", "%u", "1-2"},
        {"aXb", "[^%l]", "1-2"},
        {"f(a(b)c)d", "%b()", "1-8"},
        {"THE (quick) fox", "%f[%a]%a+%f[%A]", "0-3"},
        {"say \"hi\" now", "([\"'])(.-)%1", "4-8 \" hi"},
        {"abc", "()b()", "1-2 @1 @2"},
        {"a]b", "[]]", "1-2"},
        {"a-b", "[a-]+", "0-2"},
        {"x^y", "x^y", "0-3"},
        {"cost $5", "%$%d?", "5-7"},
        {"", ".*", "0-0"},
        {"abc", "^b", "-"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal (show (cases[i][0], cases[i][1]), cases[i][2]);
}

static void
a_malformed_pattern_is_refused_before_it_is_tried (void **state)
{
    static const char *const bad[] = {"[a", "(a", "a)", "%", "%b(", "%fa", "%1", "(%1)", "[%"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_true (*show ("zzz", bad[i]) == '!');
}

//  Sixty characters and five lazy items are 5 million combinations.
static void
a_pattern_that_never_ends_is_stopped_by_its_caller (void **state)
{
    struct ag_pattern read;
    struct ag_match match;
    struct ag_err err;
    unsigned left = 50;
    char subject[4001];
    (void)state;
    memset (subject, 'a', sizeof subject - 1);
    subject[sizeof subject - 1] = 0;
    assert_int_equal (ag_pattern_read (&read, AG_LIT (".-.-.-.-.-b"), true, &err), 0);
    assert_int_equal (ag_pattern_find (&read, ag_str (subject), 0, spend_from, &left, &match), -1);
    assert_int_equal (left, 0);
}

static void
a_pattern_of_too_many_items_is_refused_with_a_way_out (void **state)
{
    char pattern[AG_PATTERN_ITEMS + 2];
    (void)state;
    memset (pattern, 'a', sizeof pattern - 1);
    pattern[sizeof pattern - 1] = 0;
    assert_non_null (strstr (show ("x", pattern), "find (s, text, 1, true)"));
    pattern[AG_PATTERN_ITEMS] = 0;
    assert_string_equal (show ("x", pattern), "-");
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (each_item_of_a_pattern_matches_what_the_manual_says),
        cmocka_unit_test (a_malformed_pattern_is_refused_before_it_is_tried),
        cmocka_unit_test (a_pattern_that_never_ends_is_stopped_by_its_caller),
        cmocka_unit_test (a_pattern_of_too_many_items_is_refused_with_a_way_out),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
