//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/match.h"
#include "common/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

static struct ag_str
value (const char *json, struct ag_buf *out)
{
    struct ag_err err;
    ag_buf_clear (out);
    if (ag_json_read (ag_str (json), out, &err))
        fail_msg ("%s", err.text);
    return ag_buf_str (out);
}

static void
a_registration_is_checked_and_what_is_not_built_is_refused_by_name (void **state)
{
    (void)state;
    static const struct {
        const char *list, *says;
        enum ag_code code;
    } bad[] = {
        {"{}", "is a list", AG_E_BAD_MESSAGE},
        {"[1]", "behavior 1: a behavior is a map", AG_E_BAD_MESSAGE},
        {"[{\"on\":[\"x\"]}]", "has a name", AG_E_BAD_MESSAGE},
        {"[{\"name\":\"\",\"on\":[\"x\"]}]", "has a name", AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\"}]", "`on` is missing", AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":[]}]", "at least one", AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":[1]}]", "list of event types", AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":\"x\"}]", "`on` of a behavior is of the wrong kind",
         AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":[\"x\"]},{\"name\":\"a\",\"on\":[\"y\"]}]", "two behaviors",
         AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":[\"x\"],\"speed\":1}]", "no field `speed`", AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":[\"x\"],\"pattern\":\"(a)\"}]", "`pattern`", AG_E_NOT_BUILT},
        {"[{\"name\":\"a\",\"on\":[\"x\"],\"view\":{}}]", "`view`", AG_E_NOT_BUILT},
        {"[{\"name\":\"a\",\"on\":[\"x\"],\"activate_after\":1}]", "`activate_after`",
         AG_E_NOT_BUILT},
        {"[{\"name\":\"a\",\"on\":[\"x\"],\"where\":{\"n\":{\">\":1}}}]", "beyond equality",
         AG_E_NOT_BUILT},
    };
    struct ag_buf list = {0};
    struct ag_err err;
    assert_int_equal (
        ag_match_check (value ("[{\"name\":\"a\",\"pack\":\"p\",\"on\":[\"x\"],\"where\":{\"n\":1},"
                               "\"relation_type\":\"r\"}]",
                               &list),
                        &err),
        0);
    assert_int_equal (ag_match_check (value ("[]", &list), &err), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal (ag_match_check (value (bad[i].list, &list), &err), -1);
        if (err.code != bad[i].code || !strstr (err.text, bad[i].says))
            fail_msg ("%s: %s", bad[i].list, err.text);
    }
    ag_buf_fini (&list);
}

static bool
wants (const char *behavior, const char *type, const char *payload)
{
    struct ag_buf one = {0}, two = {0};
    bool yes = ag_match_event (value (behavior, &one), ag_str (type), value (payload, &two));
    ag_buf_fini (&one);
    ag_buf_fini (&two);
    return yes;
}

static void
where_is_equality_of_values_at_paths (void **state)
{
    (void)state;
    const char *plain = "{\"name\":\"a\",\"on\":[\"x\",\"y\"]}";
    const char *narrow = "{\"name\":\"a\",\"on\":[\"x\"],\"where\":{\"a.b\":1,\"c\":\"d\"}}";
    assert_true (wants (plain, "y", "{}"));
    assert_false (wants (plain, "z", "{}"));
    assert_true (wants (narrow, "x", "{\"a\":{\"b\":1.0},\"c\":\"d\"}"));
    assert_false (wants (narrow, "x", "{\"a\":{\"b\":1},\"c\":\"e\"}"));
    assert_false (wants (narrow, "x", "{\"a\":{\"b\":true},\"c\":\"d\"}"));
    assert_false (wants (narrow, "x", "{\"a\":1,\"c\":\"d\"}"));
    assert_false (wants (narrow, "y", "{\"a\":{\"b\":1},\"c\":\"d\"}"));
}

static bool
count (void *arg, struct ag_str text)
{
    int *seen = arg;
    ++*seen;
    return ag_str_is (text, "stop");
}

static void
every_text_of_a_value_is_met_until_one_is_enough (void **state)
{
    (void)state;
    struct ag_buf hold = {0};
    int seen = 0;
    assert_false (
        ag_match_texts (value ("{\"a\":[\"b\",{\"c\":\"d\"}],\"e\":1}", &hold), count, &seen));
    assert_int_equal (seen, 5);
    seen = 0;
    assert_true (ag_match_texts (value ("[\"a\",\"stop\",\"b\"]", &hold), count, &seen));
    assert_int_equal (seen, 2);
    ag_buf_fini (&hold);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_registration_is_checked_and_what_is_not_built_is_refused_by_name),
        cmocka_unit_test (where_is_equality_of_values_at_paths),
        cmocka_unit_test (every_text_of_a_value_is_met_until_one_is_enough),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
