//  What a behaviour sees of the objects that it changes.
//  SPDX-License-Identifier: Apache-2.0
#include "worker/fake_test.h"

//  What a behaviour with this body is answered: `say` emits, and the view has object o#1.
static void
body_says (const char *body, const char *expected)
{
    struct fake fake;
    char *source =
        ag_xprintf ("ag.behavior { name = 'b', on = { 'x' }, function (event, graph, ctx)\n"
                    "local function say (v) graph.emit ('said', { v = v }) end\n%s\nend }",
                    body);
    fake_begin (&fake, (const char *[]){"main.lua", source, NULL}, "{\"wall_ms\":10000}");
    const char *heard = fake_invoke (
        &fake, ",\"view\":{\"objects\":[{\"id\":\"o#1\",\"type\":\"o\",\"data\":{\"c\":"
               "1,\"a\":{\"x\":2},\"bb\":3,\"b\":4},\"version\":7}]}");
    char *wanted = ag_xprintf ("{\"v\":%s}", expected);
    if (!strstr (heard, wanted))
        fail_msg ("%s: %.2000s, without %s", body, heard, wanted);
    assert_int_equal (fake_stop (&fake), 0);
    free (wanted);
    free (source);
}

//  The data that came has its keys in no order.
static void
a_patch_sets_fields_and_keeps_the_others (void **state)
{
    (void)state;
    body_says ("graph.patch ('o#1', { d = 5, bb = {}, a = ag.null })\nsay (graph.get ('o#1'))",
               "{\"data\":{\"a\":null,\"b\":4,\"bb\":{},\"c\":1,\"d\":5},\"id\":\"o#1\",\"type\":"
               "\"o\",\"version\":8}");
    body_says ("graph.patch ('o#1', {})\ngraph.patch ('o#1', { z = 1 })\ngraph.patch ('o#1', { z = "
               "2, b = 5 })\nsay (graph.get ('o#1').data)",
               "{\"a\":{\"x\":2},\"b\":5,\"bb\":3,\"c\":1,\"z\":2}");
    body_says ("graph.replace ('o#1', { d = 5 })\nsay (graph.get ('o#1').data)", "{\"d\":5}");
    body_says ("graph.replace ('o#1', {})\nsay (graph.get ('o#1').data)", "{}");
}

static void
a_patch_of_many_fields_takes_little_time (void **state)
{
    (void)state;
    body_says ("local old, new, n, sum = {}, {}, 0, 0\n"
               "for i = 1, 40000 do old['f' .. i], new['f' .. (i + 20000)] = 1, 2 end\n"
               "graph.patch ('o#1', old)\n"
               "graph.patch ('o#1', new)\n"
               "for _, v in pairs (graph.get ('o#1').data) do\n"
               "    n = n + 1\n"
               "    if type (v) == 'number' then sum = sum + v end\n"
               "end\n"
               "say ({ n, sum })",
               "[60004,100008]");
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_patch_sets_fields_and_keeps_the_others),
        cmocka_unit_test (a_patch_of_many_fields_takes_little_time),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
