//  Tools of several packs in one worker: which one a name means, and what it sees.
//  SPDX-License-Identifier: Apache-2.0
#include "worker/fake_test.h"

//  Packs p and q; p's behaviour has this body. Up to its first request.
static void
begin (struct fake *fake, const char *body, const char *more)
{
    fake_start (fake, NULL);
    assert_non_null (strstr (fake_hear (fake), "\"do\":\"hello\""));
    fake_say (
        fake,
        "{\"do\":\"welcome\",\"limits\":{\"wall_ms\":5000},\"packs\":[{\"name\":\"p\",\"settings\":"
        "{},\"files\":[{\"path\":\"main.lua\",\"bytes\":\"ag.tool { name = 'twice', args = { text "
        "= 'string' }, function (args) return args.text .. args.text end } ag.behavior { name = "
        "'b', on = { 'x' }, function (event, graph, ctx) %s end }\"}]},{\"name\":\"q\","
        "\"settings\":{\"word\":\"hi\"},\"files\":[{\"path\":\"main.lua\",\"bytes\":\"local n = 0 "
        "ag.tool { name = 'twice', args = { text = 'string' }, function (args, ctx) n = n + 1 "
        "return { ctx.settings.word, args.text, n } end } %s\"}]}]}",
        body, more);
    assert_non_null (strstr (fake_hear (fake), "\"do\":\"register\""));
    fake_say (fake, "{\"do\":\"ok\"}");
    assert_string_equal (fake_hear (fake), "{\"do\":\"next\"}");
    fake_say (fake, "{\"do\":\"invoke\",\"behavior\":\"b\",\"event\":{\"id\":\"evt_001\",\"type\":"
                    "\"x\",\"payload\":{}},\"mint\":{\"object\":1,\"relation\":1},\"seed\":\"7\"}");
}

//  The next request is this effect, which the worker does itself: what it gave.
static void
gives (struct fake *fake, const char *tool, const char *outcome)
{
    char *head = ag_xprintf ("{\"do\":\"effect\",\"tool\":\"%s\",", tool),
         *whole = ag_xprintf ("{\"do\":\"outcome\",%s}", outcome);
    const char *heard = fake_hear (fake);
    if (strncmp (heard, head, strlen (head)))
        fail_msg ("%s", heard);
    fake_say (fake, "{\"do\":\"go\"}");
    assert_string_equal (fake_hear (fake), whole);
    fake_say (fake, "{\"do\":\"ok\"}");
    free (head);
    free (whole);
}

static void
a_name_that_two_packs_have_is_refused_and_the_full_one_always_works (void **state)
{
    struct fake fake;
    (void)state;
    begin (&fake,
           "local ok, why = pcall (ctx.call, 'twice', { text = 'a' }) graph.emit ('said', { why = "
           "why }) ctx.call ('p.twice', { text = 'a' }) ctx.call ('q.twice', { text = 'b' }) "
           "ctx.call ('q.twice', { text = 'c' }) assert (not pcall (ctx.call, 'q.twice', { text = "
           "1 })) ctx.call ('solo', {})",
           "ag.tool { name = 'solo', args = {}, function () return 7 end }");
    gives (&fake, "p.twice", "\"output\":\"aa\"");
    gives (&fake, "q.twice", "\"output\":[\"hi\",\"b\",1]");
    gives (&fake, "q.twice", "\"output\":[\"hi\",\"c\",1]"); //  nothing is kept from call to call
    gives (&fake, "solo", "\"output\":7");
    const char *done = fake_hear (&fake);
    if (!strstr (done, "two packs have a tool twice: write p.twice or q.twice"))
        fail_msg ("%s", done);
    fake_say (&fake, "{\"do\":\"stop\",\"reason\":\"test\"}");
    assert_int_equal (fake_end (&fake), 0);
}

static void
a_tool_of_another_pack_has_no_effects_and_its_error_is_the_effect_s (void **state)
{
    struct fake fake;
    (void)state;
    begin (&fake,
           "local nothing, why = ctx.call ('broken', {}) local none, how = ctx.call ('greedy', {}) "
           "graph.emit ('said', { why = why, how = how })",
           "ag.tool { name = 'broken', args = {}, function () error ('no', 0) end } ag.tool { name "
           "= 'greedy', args = {}, function (args, ctx) return ctx.call ('twice', {}) end }");
    gives (&fake, "broken", "\"error\":{\"type\":\"failed\",\"message\":\"no\"}");
    assert_non_null (strstr (fake_hear (&fake), "\"tool\":\"greedy\""));
    fake_say (&fake, "{\"do\":\"go\"}");
    const char *outcome = fake_hear (&fake);
    if (!strstr (outcome, "ctx has no call; it has settings, now, random, log"))
        fail_msg ("%s", outcome);
    fake_say (&fake, "{\"do\":\"ok\"}");
    assert_non_null (strstr (fake_hear (&fake), "\"why\":\"no\""));
    fake_say (&fake, "{\"do\":\"stop\",\"reason\":\"test\"}");
    assert_int_equal (fake_end (&fake), 0);
}

static void
a_tool_of_another_pack_has_the_memory_and_the_time_that_its_caller_has_left (void **state)
{
    struct fake fake;
    (void)state;
    begin (&fake, "pcall (ctx.call, 'endless', {}) graph.emit ('never', {})",
           "ag.tool { name = 'endless', args = {}, function () local t = {} while true do t[#t + "
           "1] = ('x'):rep (1e6) .. #t end end }");
    assert_non_null (strstr (fake_hear (&fake), "\"tool\":\"endless\""));
    fake_say (&fake, "{\"do\":\"go\"}");
    const char *outcome = fake_hear (&fake);
    if (!strstr (outcome, "\"do\":\"outcome\",\"error\":") || !strstr (outcome, "out of "))
        fail_msg ("%s", outcome);
    fake_say (&fake, "{\"do\":\"ok\"}");
    const char *failed = fake_hear (&fake);
    if (!strstr (failed, "\"do\":\"fail\"") || !strstr (failed, "\"type\":\"net."))
        fail_msg ("%s", failed);
    fake_say (&fake, "{\"do\":\"ok\"}");
    assert_int_equal (fake_end (&fake), 7);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_name_that_two_packs_have_is_refused_and_the_full_one_always_works),
        cmocka_unit_test (a_tool_of_another_pack_has_no_effects_and_its_error_is_the_effect_s),
        cmocka_unit_test (
            a_tool_of_another_pack_has_the_memory_and_the_time_that_its_caller_has_left),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
