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
must_read (const char *list)
{
    struct ag_buf hold = {0};
    struct ag_err err;
    if (ag_match_check (value (list, &hold), &err))
        fail_msg ("%s: %s", list, err.text);
    ag_buf_fini (&hold);
}

static void
a_registration_is_checked_and_each_mistake_is_named (void **state)
{
    (void)state;
    static const struct {
        const char *list, *says;
        enum ag_code code;
    } bad[] = {
        {"{}", "is a list", AG_E_BAD_MESSAGE},
        {"[1]", "behavior 1: a behavior is a map", AG_E_BAD_MESSAGE},
        {"[{\"on\":[\"x\"]}]", "behavior 1: a behavior has a name", AG_E_BAD_MESSAGE},
        {"[{\"name\":\"\",\"on\":[\"x\"]}]", "has a name", AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\"}]", "names at least one event type", AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":[]}]", "names at least one event type", AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":[1]}]", "list of event types", AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":[\"*\"]}]", "`*` in `on`", AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":[\"task.*\"]}]", "`task.*` in `on`", AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":\"x\"}]", "`on` of a behavior is of the wrong kind",
         AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":[\"x\"]},{\"name\":\"a\",\"on\":[\"y\"]}]", "two behaviors",
         AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":[\"x\"],\"speed\":1}]", "no field `speed`", AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":[\"x\"],\"pattern\":\"(a) OR (b)\"}]",
         "`OR` at 5 (an alternative) is not part of the language: register one behaviour",
         AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":[\"x\"],\"pattern\":1}]",
         "`pattern` of a behavior is of the wrong kind", AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":[\"x\"],\"where\":{\"n\":{\"~\":1}}}]",
         "`where` of `n` has no operator `~`", AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":[\"x\"],\"view\":{\"around\":\"payload.id\"}}]",
         "`view`: around is a path like", AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":[\"x\"],\"view\":{\"around\":\"event.id\"}}]",
         "`view`: around is a path like", AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":[\"x\"],\"view\":{\"depth\":1}}]", "add `around`",
         AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":[\"x\"],\"view\":{\"around\":\"event.payload.id\",\"depth\":9}}]",
         "depth is 0 to 8", AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":[\"x\"],\"view\":{\"around\":\"event.payload.id\",\"types\":[]}}"
         "]",
         "types is a list", AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":[\"x\"],\"view\":{\"recent_events\":1001}}]",
         "recent_events is 0 to 1000", AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":[\"x\"],\"view\":{\"limit\":1}}]", "`view` has no field `limit`",
         AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":[\"x\"],\"activate_after\":0}]",
         "`activate_after` is 0: it counts events of the run, not time", AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":[\"x\"],\"activate_after\":true}]",
         "`activate_after` is true: it counts events", AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":[\"x\"],\"activate_after\":-1}]",
         "`activate_after` is -1: it counts events", AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":[\"x\"],\"activate_after\":1.5}]",
         "`activate_after` is 1.5: it counts events", AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":[\"x\"],\"activate_after\":\"5m\"}]",
         "`activate_after` is \"5m\": it counts events", AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":[\"x\"],\"activate_after\":\"10 seconds\"}]",
         "not time; write a whole number", AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":[\"x\"],\"activate_after\":\"0 events\"}]", "it counts events",
         AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":[\"x\"],\"activate_after\":\"events\"}]", "it counts events",
         AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":[\"x\"],\"activate_after\":1000000001}]", "it counts events",
         AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":[\"x\"],\"priority\":\"high\"}]",
         "`priority` of a behavior is of the wrong kind", AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":[\"x\"]},{\"name\":\"b\",\"on\":[\"x\",\"goal.creted\"]}]",
         "behavior 2 (`b`): `on` of a behavior: `goal.creted` never comes: the house alone has "
         "types in "
         "goal.*; did you mean `goal.created`?",
         AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":[\"runtime.idle\"]}]", "`runtime.idle` is given to no behavior",
         AG_E_BAD_MESSAGE},
        {"[{\"name\":\"a\",\"on\":[\"x\"],\"priority\":1.5}]",
         "`priority` of a behavior is of the wrong kind", AG_E_BAD_MESSAGE},
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
    must_read ("[{\"name\":\"a\",\"pattern\":\"(a:task)\"}]");
    must_read ("[{\"name\":\"a\",\"on\":[],\"pattern\":\"(a:task)\",\"priority\":-3,"
               "\"view\":{\"around\":\"event.payload.a.b\",\"depth\":0,\"types\":[\"t\"],"
               "\"recent_events\":5}}]");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal (ag_match_check (value (bad[i].list, &list), &err), -1);
        if (err.code != bad[i].code || !strstr (err.text, bad[i].says))
            fail_msg ("%s: %s", bad[i].list, err.text);
    }
    ag_buf_fini (&list);
}

//  Each thing that is shown is compared with all of them.
static void
a_view_names_a_hundred_types_at_most (void **state)
{
    (void)state;
    for (int types = 100; types <= 101; types++) {
        struct ag_buf list = {0}, json = {0};
        struct ag_err err;
        ag_buf_text (&json, "[{\"name\":\"a\",\"on\":[\"x\"],\"view\":{\"around\":"
                            "\"event.payload.id\",\"types\":[\"t\"");
        for (int i = 1; i < types; i++)
            ag_buf_text (&json, ",\"t\"");
        ag_buf_text (&json, "]}}]");
        int rc = ag_match_check (value ((const char *)json.p, &list), &err);
        assert_int_equal (rc, types == 100 ? 0 : -1);
        ag_buf_fini (&list);
        ag_buf_fini (&json);
    }
}

static void
delays_are_counted_in_events_and_priorities_are_integers (void **state)
{
    (void)state;
    static const struct {
        const char *behavior;
        uint64_t delay;
        int64_t priority;
    } rows[] = {
        {"{\"name\":\"a\"}", 0, 0},
        {"{\"activate_after\":3,\"priority\":-7}", 3, -7},
        {"{\"activate_after\":\"3\",\"priority\":7}", 3, 7},
        {"{\"activate_after\":\"1 event\",\"priority\":18446744073709551615}", 1, INT64_MAX},
        {"{\"activate_after\":\"12 events\"}", 12, 0}};
    struct ag_buf hold = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ag_str behavior = value (rows[i].behavior, &hold);
        assert_int_equal (ag_match_delay (behavior), rows[i].delay);
        assert_int_equal (ag_match_priority (behavior), rows[i].priority);
    }
    ag_buf_fini (&hold);
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
types_and_where_say_which_events_are_wanted (void **state)
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
    const char *any = "{\"name\":\"a\",\"pattern\":\"(a)\",\"where\":{\"n\":{\">\":1}}}";
    assert_true (wants (any, "whatever", "{\"n\":2}"));
    assert_false (wants (any, "whatever", "{\"n\":1}"));
}

static bool
count (void *arg, struct ag_str text)
{
    int *seen = arg;
    ++*seen;
    return ag_str_is (text, "stop");
}

static void
every_text_of_a_value_but_its_keys_is_met_until_one_is_enough (void **state)
{
    (void)state;
    struct ag_buf hold = {0};
    int seen = 0;
    assert_false (
        ag_match_texts (value ("{\"a\":[\"b\",{\"c\":\"d\"}],\"e\":1}", &hold), count, &seen));
    assert_int_equal (seen, 2);
    seen = 0;
    const char *nested =
        "[[],{},{\"k\":{},\"l\":[{\"m\":[\"a\"]},\"b\"],\"n\":\"c\"},\"d\",[[[\"e\"]]],\"f\"]";
    assert_false (ag_match_texts (value (nested, &hold), count, &seen));
    assert_int_equal (seen, 6);
    seen = 0;
    assert_false (ag_match_texts (value ("\"a\"", &hold), count, &seen));
    assert_int_equal (seen, 1);
    seen = 0;
    assert_true (ag_match_texts (value ("[\"a\",\"stop\",\"b\"]", &hold), count, &seen));
    assert_int_equal (seen, 2);
    ag_buf_fini (&hold);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_registration_is_checked_and_each_mistake_is_named),
        cmocka_unit_test (a_view_names_a_hundred_types_at_most),
        cmocka_unit_test (delays_are_counted_in_events_and_priorities_are_integers),
        cmocka_unit_test (types_and_where_say_which_events_are_wanted),
        cmocka_unit_test (every_text_of_a_value_but_its_keys_is_met_until_one_is_enough),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
