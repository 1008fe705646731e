//  table.sort in the real worker.
//  SPDX-License-Identifier: Apache-2.0
#include "worker/fake_test.h"

//  What a worker says of a body that ends by calling `say`; the caller frees it.
static char *
said (const char *body)
{
    struct fake fake;
    char *source =
        ag_xprintf ("ag.behavior { name = 'b', on = { 'x' }, function (event, graph, ctx)\n"
                    "local function say (v) graph.emit ('said', { v = v }) end\n"
                    "local function mixed (n) local t = {} for i = 1, n do t[i] = i * 7919 %% n "
                    "end return t end\n%s\nend }",
                    body);
    fake_begin (&fake, (const char *[]){"main.lua", source, NULL}, NULL);
    char *heard = ag_xstrdup (fake_invoke (&fake, ""));
    assert_int_equal (fake_stop (&fake), 0);
    free (source);
    return heard;
}

static void
body_says (const char *body, const char *expected)
{
    char *heard = said (body), *wanted = ag_xprintf ("{\"v\":%s}", expected);
    if (!strstr (heard, wanted))
        fail_msg ("%s: %s, without %s", body, heard, wanted);
    free (wanted);
    free (heard);
}

static void
elements_of_every_number_are_sorted (void **state)
{
    (void)state;
    body_says ("for n = 0, 70 do\n"
               "    local t = mixed (n)\n"
               "    table.sort (t)\n"
               "    for i = 1, n - 1 do assert (t[i] <= t[i + 1], n) end\n"
               "    assert (#t == n and (n < 2 or t[n] > t[1]))\n"
               "end\n"
               "local t, u = mixed (5000), { 'b', '', 'a', 'aa', 'B' }\n"
               "table.sort (t, function (a, b) return a > b end)\n"
               "for i = 1, 4999 do assert (t[i] > t[i + 1]) end\n"
               "table.sort (u)\n"
               "say (u)",
               "[\"\",\"B\",\"a\",\"aa\",\"b\"]");
}

static void
elements_of_which_neither_is_less_keep_their_order (void **state)
{
    (void)state;
    body_says ("local t = {}\n"
               "for i = 1, 3000 do t[i] = { i % 7, i } end\n"
               "table.sort (t, function (a, b) return a[1] < b[1] end)\n"
               "for i = 1, 2999 do\n"
               "    local a, b = t[i], t[i + 1]\n"
               "    assert (a[1] < b[1] or a[1] == b[1] and a[2] < b[2])\n"
               "end\n"
               "say (true)",
               "true");
}

//  The first, the middle and the last element are the least: where Lua's own sort meets that, it reads the clock.
static void
the_questions_to_an_order_are_the_same_in_every_run (void **state)
{
    static const char body[] = "local t, asked, sum = mixed (4000), 0, 0\n"
                               "t[1], t[2000], t[4000] = -1, -2, -3\n"
                               "table.sort (t, function (a, b)\n"
                               "    asked = asked + 1\n"
                               "    sum = (sum * 31 + a * 7 + b) % 1000000007\n"
                               "    return a < b\n"
                               "end)\n"
                               "say ({ asked, sum })";
    (void)state;
    char *first = said (body);
    assert_non_null (strstr (first, "\"v\":["));
    for (int i = 0; i < 3; i++) {
        char *again = said (body);
        assert_string_equal (again, first);
        free (again);
    }
    free (first);
}

static void
an_order_that_raises_leaves_the_table_as_it_was (void **state)
{
    (void)state;
    body_says ("local t, n = { 3, 1, 2 }, 0\n"
               "local ok, why = pcall (table.sort, t, function (a, b)\n"
               "    n = n + 1\n"
               "    if n > 2 then error ('enough', 0) end\n"
               "    return a < b\n"
               "end)\n"
               "say ({ ok, why, t })",
               "[false,\"enough\",[3,1,2]]");
    body_says ("local function why (...) return (select (2, pcall (table.sort, ...))) end\n"
               "say ({ why ({ 1, 'a' }), why ({ {}, {} }), why (1), why ({}, 1) })",
               "[\"attempt to compare string with number\",\"attempt to compare two table values\","
               "\"bad argument #1 to '?' (table expected, got number)\","
               "\"bad argument #2 to '?' (function expected, got number)\"]");
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (elements_of_every_number_are_sorted),
        cmocka_unit_test (elements_of_which_neither_is_less_keep_their_order),
        cmocka_unit_test (the_questions_to_an_order_are_the_same_in_every_run),
        cmocka_unit_test (an_order_that_raises_leaves_the_table_as_it_was),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
