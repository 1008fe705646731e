//  SPDX-License-Identifier: Apache-2.0
#include "worker/fake_test.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
start_with (struct fake *fake, const char *source)
{
    fake_begin (fake, (const char *[]){"main.lua", source, NULL}, NULL);
}

//  What a behaviour with this body says, as JSON.
static void
body_says (const char *body, const char *expected)
{
    struct fake fake;
    char *source =
        ag_xprintf ("ag.behavior { name = 'b', on = { 'x' }, function (event, graph, ctx)\n"
                    "local function say (v) graph.emit ('said', { v = v }) end\n%s\nend }",
                    body);
    char *wanted = ag_xprintf ("\"payload\":{\"v\":%s}}],\"next\":true}", expected);
    start_with (&fake, source);
    const char *heard = fake_invoke (&fake, "");
    if (!strstr (heard, wanted))
        fail_msg ("%s: %s, without %s", body, heard, wanted);
    assert_int_equal (fake_stop (&fake), 0);
    free (wanted);
    free (source);
}

static void
texts_are_read_by_lines_and_words_and_compared (void **state)
{
    (void)state;
    body_says (
        "local t = {}\nfor line in ag.lines ('a\\r\\n\\nb c') do t[#t + 1] = line end\nsay (t)",
        "[\"a\",\"\",\"b c\"]");
    body_says ("local t = {}\nfor word in ag.words ('Do, as -you- like.') do t[#t + 1] = word "
               "end\nsay (t)",
               "[\"Do\",\"as\",\"you\",\"like\"]");
    body_says ("say ({ ag.similarity ('a b', 'A, b!'), ag.similarity ('a', 'b'), ag.containment "
               "('', 'a') })",
               "[1.0,0.0,1.0]");
    body_says ("say (ag.utf8 ('gr\\252n\\0', 4))", "\"gr?n\"");
}

static void
values_keep_their_kinds_in_both_directions (void **state)
{
    (void)state;
    body_says ("say ({ 1, 1.0, -1, math.maxinteger, true, ag.null, '', {}, ag.list {} })",
               "[1,1.0,-1,9223372036854775807,true,null,\"\",{},[]]");
    body_says ("say ({ b = 1, a = { 2 }, ['z z'] = ag.null })", "{\"a\":[2],\"b\":1,\"z z\":null}");
    body_says ("say ({ type (ag.null), tostring (ag.null), ag.null == ag.null })",
               "[\"null\",\"null\",true]");
    body_says ("local t = {}\nfor k in pairs ({ z = 1, a = 1, [true] = 1, [2] = 1, [1.5] = 1, [-1] "
               "= 1 }) do "
               "t[#t + 1] = tostring (k) end\nsay (t)",
               "[\"-1\",\"1.5\",\"2\",\"a\",\"z\",\"true\"]");
    body_says ("say (next ({}) == nil and (next ({ b = 1, a = 2 })) == 'a')", "true");
}

static void
event_and_view_arrive_as_they_were_sent (void **state)
{
    struct fake fake;
    (void)state;
    start_with (&fake, "ag.behavior { name = 'b', on = { 'x' }, function (event, graph, ctx)\n"
                       "assert (ctx.now == 'then' and #ctx.view.events == 1)\n"
                       "graph.emit ('said', { event = event, got = graph.get ('o#1'), none = "
                       "graph.get ('o#2') })\n"
                       "end }");
    assert_string_equal (
        fake_invoke (&fake,
                     ",\"now\":\"then\",\"view\":{\"objects\":[{\"id\":\"o#1\",\"type\":\"o\","
                     "\"data\":{\"n\":null,\"l\":[]},\"version\":1}],\"events\":[{}]}"),
        "{\"do\":\"get\",\"id\":\"o#2\"}");
    fake_say (&fake, "{\"do\":\"ok\",\"objects\":[],\"relations\":[],\"more\":false}");
    assert_non_null (strstr (
        fake_hear (&fake),
        "{\"event\":{\"payload\":{},\"type\":\"x\"},\"got\":{\"data\":{\"l\":[],\"n\":null},"
        "\"id\":\"o#1\",\"type\":\"o\",\"version\":1}}"));
    assert_int_equal (fake_stop (&fake), 0);
}

static void
a_relation_behaviour_is_given_its_relation_first (void **state)
{
    struct fake fake;
    (void)state;
    start_with (&fake, "ag.relation_behavior { name = 'b', relation = 'needs', on = { 'x' },\n"
                       "function (relation, event, graph, ctx)\n"
                       "graph.emit (event.type .. relation.id, {})\n"
                       "end }");
    assert_non_null (
        strstr (fake_invoke (&fake, ",\"relation\":{\"id\":\"rel_007\",\"type\":\"needs\"}"),
                "\"xrel_007\""));
    assert_int_equal (fake_stop (&fake), 0);
}

static void
modules_are_files_of_the_pack_loaded_once_a_state (void **state)
{
    static const char *const files[] = {
        "main.lua",
        "local a, again = require 'lib.a', require 'lib.a'\n"
        "ag.behavior { name = 'b', on = { 'x' }, function (event, graph, ctx)\n"
        "    graph.emit ('said', { same = a == again, n = a.n, shared = SHARED })\n"
        "end }",
        "lib/a.lua",
        "SHARED = (SHARED or 0) + 1\nreturn { n = 5 }",
        NULL,
    };
    static const char *const circle[] = {"main.lua", "require 'a'", "a.lua", "require 'b'",
                                         "b.lua",    "require 'a'", NULL};
    struct fake fake;
    (void)state;
    fake_begin (&fake, files, NULL);
    for (int i = 0; i < 2; i++)
        assert_non_null (strstr (fake_invoke (&fake, ""), "{\"n\":5,\"same\":true,\"shared\":1}"));
    assert_int_equal (fake_stop (&fake), 0);
    fake_start (&fake, NULL);
    fake_hear (&fake);
    fake_welcome_files (&fake, circle, NULL, NULL);
    fake_unloaded (&fake);
    assert_non_null (strstr (fake.last_log, "p/b.lua:1: require \"a\" is a circle"));
    assert_int_equal (fake_end (&fake), 2);
}

//  An error ends a loading, so the next who requires the module meets the same one; and a file is one module, however
//  it is called.
static void
what_a_module_failed_by_is_said_to_each_who_requires_it (void **state)
{
    static const char *const files[] = {
        "main.lua",
        "ag.behavior { name = 'b', on = { 'x' }, function (event, graph, ctx)\n"
        "    local said = {}\n"
        "    for i = 1, 2 do\n"
        "        for _, name in ipairs { 'raises', 'broken' } do\n"
        "            said[#said + 1] = select (2, pcall (require, name))\n"
        "        end\n"
        "    end\n"
        "    graph.emit ('said', { said = said, one = require 'lib.a' == require 'lib/a' })\n"
        "end }",
        "raises.lua",
        "error 'it cannot'",
        "broken.lua",
        "x = = 1",
        "lib/a.lua",
        "return {}",
        NULL,
    };
    struct fake fake;
    (void)state;
    fake_begin (&fake, files, NULL);
    assert_non_null (strstr (fake_invoke (&fake, ""),
                             "{\"one\":true,\"said\":[\"p/raises.lua:1: it cannot\","
                             "\"p/broken.lua:1: unexpected symbol near '='\","
                             "\"p/raises.lua:1: it cannot\","
                             "\"p/broken.lua:1: unexpected symbol near '='\"]}"));
    assert_int_equal (fake_stop (&fake), 0);
}

static void
lines_for_people_are_said_once_clean_and_bounded (void **state)
{
    struct fake fake;
    (void)state;
    start_with (&fake, "print ('loading', 1, {})\n"
                       "ag.behavior { name = 'b', on = { 'x' }, function (event, graph, ctx)\n"
                       "    ctx.log ('warn', 'w\\27' .. ('x'):rep (10000))\n"
                       "end }");
    assert_int_equal (fake.log_lines, 1);
    assert_string_equal (fake.last_log, "loading\t1\ttable");
    fake_invoke (&fake, "");
    assert_int_equal (fake.log_lines, 2);
    assert_memory_equal (fake.last_log, "w?xxx", 5);
    assert_int_equal (fake_stop (&fake), 0);
}

static void
again_and_ok_lead_to_the_next_invocation (void **state)
{
    static const char *const answers[] = {"{\"do\":\"again\"}", "{\"do\":\"ok\",\"ids\":[]}"};
    struct fake fake;
    (void)state;
    start_with (&fake,
                "ag.behavior { name = 'b', on = { 'x' }, function (event, graph, ctx) end }");
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal (fake_invoke (&fake, ""), "{\"do\":\"done\",\"ops\":[],\"next\":true}");
        fake_say (&fake, "%s", answers[i]);
        assert_string_equal (fake_hear (&fake), "{\"do\":\"next\"}");
    }
    assert_int_equal (fake_end (&fake), 0);
}

//  Globals, fields of what the house gives, what a function holds, small and large; and after an error too.
static void
carries_nothing (unsigned many)
{
    static const char body[] =
        "local held, many = { n = 0 }, {}\n"
        "for i = 1, %u do many[i] = i end\n"
        "ag.behavior { name = 'b', on = { 'x' }, function (event, graph, ctx)\n"
        "    count, held.n = (count or 0) + 1, held.n + 1\n"
        "    string.seen = (string.seen or 0) + 1\n"
        "    many[1000], many[#many + 1] = many[1000] + 1, ('x'):rep (100000)\n"
        "    graph.emit ('n', { n = count, s = string.seen, h = held.n, m = many[1000], l = #many "
        "})\n"
        "    if ctx.frame then error ('raised') end\n"
        "end }";
    char *source = ag_xprintf (body, many);
    char *said = ag_xprintf ("{\"h\":1,\"l\":%u,\"m\":1001,\"n\":1,\"s\":1}", many + 1);
    struct fake fake;
    fake_begin (&fake, (const char *[]){"main.lua", source, NULL}, "{\"memory\":25165824}");
    for (int i = 0; i < 3; i++) {
        assert_non_null (strstr (fake_invoke (&fake, ""), said));
        assert_non_null (strstr (fake_invoke (&fake, ",\"frame\":{\"id\":\"f\"}"), "raised"));
    }
    assert_int_equal (fake_stop (&fake), 0);
    free (source);
    free (said);
}

static void
nothing_is_carried_from_one_invocation_to_the_next (void **state)
{
    (void)state;
    carries_nothing (1000);
    carries_nothing (300000); //  4 MiB of 18: a state that is not copied
}

//  Bytes of a process in memory.
static size_t
resident (pid_t pid)
{
    char text[128];
    snprintf (text, sizeof text, "/proc/%d/statm", (int)pid);
    FILE *file = fopen (text, "re");
    assert_non_null (file);
    assert_non_null (fgets (text, sizeof text, file));
    fclose (file);
    return strtoul (strchr (text, ' '), NULL, 10) * (size_t)sysconf (_SC_PAGESIZE);
}

//  What is freed goes back to the system at once, in workers of all tests after this.
static void
let_freed_memory_go (void)
{
    const char *given = getenv ("ASAN_OPTIONS");
    char *options = ag_xprintf ("%s:quarantine_size_mb=0:thread_local_quarantine_size_kb=0:"
                                "allocator_release_to_os_interval_ms=0",
                                given ? given : "");
    setenv ("ASAN_OPTIONS", options, 1);
    setenv ("MALLOC_MMAP_THRESHOLD_", "32768", 1);
    free (options);
}

//  What it holds in the end is little.
static void
a_pack_that_takes_much_to_load_is_loaded_again_and_takes_no_memory_meanwhile (void **state)
{
    enum { BYTES = 64 << 20, WAIT_MS = 5000 };
    static const char source[] =
        "local n, many = 0, {}\n"
        "for i = 1, 1000000 do many[i] = { i } end\n"
        "many = nil\n"
        "ag.behavior { name = 'b', on = { 'x' }, function (event, graph, ctx)\n"
        "    n = n + 1\n"
        "    graph.emit ('n', { n = n })\n"
        "end }";
    struct fake fake;
    (void)state;
    let_freed_memory_go();
    start_with (&fake, source);
    for (int i = 0; i < 2; i++)
        assert_non_null (strstr (fake_invoke (&fake, ""), "{\"n\":1}"));
    for (int ms = 0; resident (fake.pid) > BYTES && ms < WAIT_MS; ms += 10)
        poll (NULL, 0, 10);
    if (resident (fake.pid) > BYTES)
        fail_msg ("%zu bytes are held", resident (fake.pid));
    assert_int_equal (fake_stop (&fake), 0);
}

static void
a_behaviour_that_no_pack_has_is_a_failure (void **state)
{
    struct fake fake;
    (void)state;
    start_with (&fake, "");
    assert_non_null (strstr (fake_invoke (&fake, ""),
                             "\"message\":\"no pack of this worker has a behaviour b\""));
    assert_int_equal (fake_stop (&fake), 0);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (texts_are_read_by_lines_and_words_and_compared),
        cmocka_unit_test (values_keep_their_kinds_in_both_directions),
        cmocka_unit_test (event_and_view_arrive_as_they_were_sent),
        cmocka_unit_test (a_relation_behaviour_is_given_its_relation_first),
        cmocka_unit_test (modules_are_files_of_the_pack_loaded_once_a_state),
        cmocka_unit_test (what_a_module_failed_by_is_said_to_each_who_requires_it),
        cmocka_unit_test (lines_for_people_are_said_once_clean_and_bounded),
        cmocka_unit_test (again_and_ok_lead_to_the_next_invocation),
        cmocka_unit_test (nothing_is_carried_from_one_invocation_to_the_next),
        cmocka_unit_test (a_behaviour_that_no_pack_has_is_a_failure),
        cmocka_unit_test (
            a_pack_that_takes_much_to_load_is_loaded_again_and_takes_no_memory_meanwhile),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
