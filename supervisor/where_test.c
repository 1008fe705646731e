//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/where.h"
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
    for (const char *c = json; *c; c++) {
        char one = *c;
        if (one == '\'')
            one = '"';
        ag_buf_add (out, &one, 1);
    }
    struct ag_buf text = *out;
    *out = (struct ag_buf){0};
    if (ag_json_read (ag_buf_str (&text), out, &err))
        fail_msg ("%s: %s", json, err.text);
    ag_buf_fini (&text);
    return ag_buf_str (out);
}

static void
check (const char *where, const char *payload, bool expected)
{
    struct ag_buf one = {0}, two = {0};
    struct ag_err err;
    if (ag_where_check (value (where, &one), &err))
        fail_msg ("%s: %s", where, err.text);
    if (ag_where_holds (ag_buf_str (&one), value (payload, &two)) != expected)
        fail_msg ("%s over %s is not %d", where, payload, expected);
    ag_buf_fini (&one);
    ag_buf_fini (&two);
}

static void
each_operator_holds_where_it_should_and_nowhere_else (void **state)
{
    (void)state;
    static const struct {
        const char *op;
        bool below, equal, above;
    } rows[] = {
        {"'=='", false, true, false}, {"'!='", true, false, true}, {"'<'", true, false, false},
        {"'<='", true, true, false},  {"'>'", false, false, true}, {"'>='", false, true, true},
    };
    static const char *const threes[][3] = {
        {"1", "2", "3"},
        {"-2", "-1", "0"},
        {"1.5", "2.0", "2.5"},
        {"'a'", "'b'", "'c'"},
        {"9007199254740992.0", "9007199254740993", "9007199254740994.0"}};
    char where[128], payload[64];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t j = 0; j < sizeof threes / sizeof *threes; j++)
            for (int k = 0; k < 3; k++) {
                snprintf (where, sizeof where, "{'a.b':{%s:%s}}", rows[i].op, threes[j][1]);
                snprintf (payload, sizeof payload, "{'a':{'b':%s}}", threes[j][k]);
                check (where, payload,
                       k == 0   ? rows[i].below
                       : k == 1 ? rows[i].equal
                                : rows[i].above);
            }
}

static void
in_and_not_in_look_for_an_equal_value (void **state)
{
    (void)state;
    check ("{'s':{'in':['open','due']}}", "{'s':'due'}", true);
    check ("{'s':{'in':['open','due']}}", "{'s':'done'}", false);
    check ("{'s':{'in':[1]}}", "{'s':1.0}", true);
    check ("{'s':{'in':[1]}}", "{'s':true}", false);
    check ("{'s':{'not in':['open']}}", "{'s':'done'}", true);
    check ("{'s':{'not in':['open']}}", "{'s':'open'}", false);
}

static void
an_order_of_unlike_kinds_of_null_and_of_nothing_does_not_hold (void **state)
{
    (void)state;
    static const char *const ops[] = {"<", "<=", ">", ">="};
    static const char *const pairs[][2] = {
        {"1", "{'n':'1'}"},   {"'a'", "{'n':1}"},     {"1", "{'n':true}"}, {"true", "{'n':true}"},
        {"1", "{'n':null}"},  {"null", "{'n':null}"}, {"1", "{}"},         {"null", "{}"},
        {"[1]", "{'n':[1]}"}, {"1", "{'n':{'n':1}}"}};
    char where[64];
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        for (size_t j = 0; j < sizeof pairs / sizeof *pairs; j++) {
            snprintf (where, sizeof where, "{'n':{'%s':%s}}", ops[i], pairs[j][0]);
            check (where, pairs[j][1], false);
        }
}

static void
what_is_not_there_counts_as_null (void **state)
{
    (void)state;
    check ("{'s':null}", "{}", true);
    check ("{'s':null}", "{'s':null}", true);
    check ("{'s':null}", "{'s':0}", false);
    check ("{'s':{'!=':'done'}}", "{}", true);
    check ("{'s':{'!=':null}}", "{}", false);
    check ("{'s':{'in':[null]}}", "{}", true);
    check ("{'s':{'not in':['done']}}", "{}", true);
    check ("{'s.t':1}", "{'s':1}", false);
}

static void
several_operators_and_several_paths_all_have_to_hold (void **state)
{
    (void)state;
    const char *where = "{'n':{'>':1,'<=':3,'!=':2},'c':'d'}";
    check (where, "{'n':3,'c':'d'}", true);
    check (where, "{'n':2,'c':'d'}", false);
    check (where, "{'n':4,'c':'d'}", false);
    check (where, "{'n':3,'c':'e'}", false);
    check ("{}", "{}", true);
    check ("{'m':{'==':{'a':1}}}", "{'m':{'a':1.0}}", true);
}

static void
an_unknown_operator_is_refused_by_name (void **state)
{
    (void)state;
    static const struct {
        const char *where, *says;
    } bad[] = {{"{'a.b':{'~':1}}", "`where` of `a.b` has no operator `~`"},
               {"{'a':{'==':1,'IN':[1]}}", "has no operator `IN`"},
               {"{'a':{'=':1}}", "has no operator `=`"},
               {"{'a':{'in':1}}", "`in` is followed by a list"},
               {"{'a':{'not in':'abc'}}", "`not in` is followed by a list"},
               {"{'a':{}}", "names no operator"},
               {"[1]", "is a map of paths"}};
    struct ag_buf hold = {0};
    struct ag_err err;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal (ag_where_check (value (bad[i].where, &hold), &err), -1);
        if (err.code != AG_E_BAD_MESSAGE || !strstr (err.text, bad[i].says))
            fail_msg ("%s: %s", bad[i].where, err.text);
    }
    ag_buf_fini (&hold);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (each_operator_holds_where_it_should_and_nowhere_else),
        cmocka_unit_test (in_and_not_in_look_for_an_equal_value),
        cmocka_unit_test (an_order_of_unlike_kinds_of_null_and_of_nothing_does_not_hold),
        cmocka_unit_test (what_is_not_there_counts_as_null),
        cmocka_unit_test (several_operators_and_several_paths_all_have_to_hold),
        cmocka_unit_test (an_unknown_operator_is_refused_by_name),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
