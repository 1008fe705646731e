//  What a script can see is the same in every run: no addresses, no order of a hash table, nothing of the
//  invocations before.
//  SPDX-License-Identifier: Apache-2.0
#include "worker/fake_test.h"

//  What a behaviour with this body says, as JSON; `top` stands before it.
static void
body_says (const char *top, const char *body, const char *expected)
{
    struct fake fake;
    char *source =
        ag_xprintf ("%s\nag.behavior { name = 'b', on = { 'x' }, function (event, graph, ctx)\n"
                    "local function why (f, ...) return (select (2, pcall (f, ...))) end\n"
                    "local function say (v) graph.emit ('said', { v = v }) end\n%s\nend }",
                    top, body);
    char *wanted = ag_xprintf ("\"payload\":{\"v\":%s}}],\"next\":true}", expected);
    fake_begin (&fake, (const char *[]){"main.lua", source, NULL}, NULL);
    const char *heard = fake_invoke (&fake, "");
    if (!strstr (heard, wanted))
        fail_msg ("%s: %s, without %s", body, heard, wanted);
    assert_int_equal (fake_stop (&fake), 0);
    free (wanted);
    free (source);
}

static void
an_error_shows_no_address (void **state)
{
    (void)state;
    body_says ("ag.tool { name = 'n', args = {}, function () end }",
               "local list = {}\n"
               "for i, t in ipairs ({ graph, ctx, ag }) do\n"
               "    for j, key in ipairs ({ {}, print, ag.null }) do\n"
               "        list[#list + 1] = why (function () return t[key] end):match (': (.-);')\n"
               "    end\n"
               "end\n"
               "say (table.concat (list, ', '))",
               "\"graph has no table, graph has no function, graph has no null, "
               "ctx has no table, ctx has no function, ctx has no null, "
               "ag has no table, ag has no function, ag has no null\"");
    body_says ("ag.tool { name = 'n', args = {}, function () end }",
               "say (why (ctx.call, 'n', { [print] = 1 }))",
               "\"args: a table with other keys than texts, or than 1 to n without a hole\"");
}

//  Each function with each three of the values that have an address.
static void
no_function_says_an_address_whatever_it_is_given (void **state)
{
    (void)state;
    body_says ("",
               "local values, tried = { {}, print, ag.null, { {} } }, 0\n"
               "local base = { assert, error, ipairs, next, pairs, pcall, print, require, select, "
               "tonumber, tostring, type }\n"
               "local function try (name, f, ...)\n"
               "    local _, text = pcall (f, ...)\n"
               "    tried = tried + 1\n"
               "    if type (text) == 'string' and text:find ('0x', 1, true) then\n"
               "        error (name .. ': ' .. text)\n"
               "    end\n"
               "end\n"
               "local function try_all (t, first)\n"
               "    for name, f in pairs (t) do\n"
               "        for i = 1, type (f) == 'function' and 16 or 0 do\n"
               "            local a, b = values[(i - 1) // 4 + 1], values[(i - 1) % 4 + 1]\n"
               "            try (name, f, first or a, first and a or b, b)\n"
               "        end\n"
               "    end\n"
               "end\n"
               "for _, t in ipairs ({ base, string, table, math, utf8, ag, graph, ctx }) do\n"
               "    try_all (t)\n"
               "    if t ~= graph and t ~= ctx then try_all (t, '%s%d') end\n"
               "end\n"
               "say (tried > 2000)",
               "true");
}

//  Texts lie in a table by a seed that each state has its own of.
static void
of_many_mistakes_the_first_in_the_order_of_bytes_is_named (void **state)
{
    static const char top[] =
        "local function why (f, ...) return (select (2, pcall (f, ...))) end\n"
        "local many = {}\n"
        "for i = 10, 99 do many['f' .. i] = 'string' end\n"
        "ag.tool { name = 'n', args = many, function () end }\n"
        "ag.tool { name = 'm', args = {}, function () end }\n"
        "local b = { name = 'z', on = { 'x' }, [2] = true, [1] = function () end }\n"
        "for i = 10, 99 do b['f' .. i] = true end\n"
        "local two = why (ag.behavior, b)\n"
        "b[2] = nil\n"
        "local field = why (ag.behavior, b)\n";
    (void)state;
    body_says (top, "say ({ two, field, why (ctx.call, 'n', {}), why (ctx.call, 'm', many) })",
               "[\"behavior \\\"z\\\": no field is called \\\"2\\\"\","
               "\"behavior \\\"z\\\": no field is called \\\"f10\\\"\","
               "\"n: f10 is a string, not a nil\",\"m takes no f10\"]");
    body_says (top, "say (why (ctx.call, 'm', { 1 }))",
               "\"bad argument #2 to '?' (a map of arguments, not a list)\"");
}

static void
every_key_that_has_a_place_in_the_order_has_one_place (void **state)
{
    (void)state;
    body_says ("",
               "local t = { [{}] = 1, [print] = 2 }\n"
               "say (why (pairs, t))",
               "\"a key that is no number, text or boolean has no place in an order\"");
    body_says ("",
               "local order = {}\n"
               "for i = 1, 64 do\n"
               "    local t = {}\n"
               "    for j = 1, i // 2 do t['k' .. j] = 0 end\n"
               "    if i % 2 == 0 then t[2^63] = 0 end\n"
               "    t[math.maxinteger] = 0\n"
               "    t[2^63] = 0\n"
               "    order[math.type ((next (t)))] = true\n"
               "end\n"
               "say (order)",
               "{\"integer\":true}");
}

//  `#` says 4 of the one, which has 4 entries, and 2 of the other.
static void
a_table_with_a_hole_is_refused_in_the_same_words_whatever_its_length (void **state)
{
    static const char words[] =
        "data.t: a table with other keys than texts, or than 1 to n without a hole";
    char *both = ag_xprintf ("[\"%s\",\"%s\"]", words, words);
    (void)state;
    body_says ("",
               "local four, two = { 1, 2, nil, 4, x = 5 }, { 1, 2, [4] = 4, x = 5 }\n"
               "say ({ why (graph.emit, 'x', { t = four }), why (graph.emit, 'x', { t = two }) })",
               both);
    free (both);
}

//  A parser counts levels of calls, byte code does not; and what is wrong with a file is found once.
static void
what_a_require_comes_to_does_not_depend_on_the_one_before (void **state)
{
    static const char body[] =
        "ag.behavior { name = 'b', on = { 'x' }, function (event, graph, ctx)\n"
        "    local function nested (n, f, ...)\n"
        "        if n == 0 then return pcall (f, ...) end\n"
        "        return select (2, pcall (nested, n - 1, f, ...))\n"
        "    end\n"
        "    local ok, deep = nested (150, require, 'deep')\n"
        "    local _, broken = pcall (require, 'broken')\n"
        "    graph.emit ('said', { ok = ok, deep = type (deep), broken = broken })\n"
        "end }";
    static const char said[] = "{\"broken\":\"p/broken.lua:2: unexpected symbol near '='\","
                               "\"deep\":\"table\",\"ok\":true}";
    char deep[] = "return ____________________________________________________________"
                  "____________________________________________________________";
    struct fake fake;
    (void)state;
    memset (strchr (deep, '_'), '{', 60);
    memset (strchr (deep, '_'), '}', 60);
    fake_begin (&fake,
                (const char *[]){"main.lua", body, "deep.lua", deep, "broken.lua", "\n=", NULL},
                NULL);
    for (int i = 0; i < 2; i++) {
        const char *heard = fake_invoke (&fake, "");
        if (!strstr (heard, said))
            fail_msg ("%d: %s, without %s", i, heard, said);
        fake_say (&fake, "{\"do\":\"ok\"}");
        fake_hear (&fake);
    }
    assert_int_equal (fake_stop (&fake), 0);
}

//  Its parser needs more than the 6 MiB of a script.
static void
a_file_that_no_memory_compiles_is_the_limit_of_who_requires_it (void **state)
{
    enum { TABLES = 600000 };
    static const char body[] =
        "ag.behavior { name = 'b', on = { 'x' }, function (event, graph, ctx)\n"
        "    if event.payload.big then pcall (require, 'big') end\n"
        "    graph.emit ('said', {})\n"
        "end }";
    struct ag_buf big = {0};
    struct fake fake;
    (void)state;
    ag_buf_text (&big, "return {");
    for (int i = 0; i < TABLES; i++)
        ag_buf_add (&big, "{},", 3);
    ag_buf_add (&big, "}", 2);
    fake_start (&fake, NULL);
    fake_hear (&fake);
    fake_welcome_files (&fake,
                        (const char *[]){"main.lua", body, "big.lua", (const char *)big.p, NULL},
                        "{\"memory\":8388608}", NULL);
    ag_buf_fini (&big);
    assert_non_null (strstr (fake_hear (&fake), "{\"do\":\"register\""));
    fake_say (&fake, "{\"do\":\"ok\"}");
    fake_hear (&fake);
    assert_non_null (strstr (fake_invoke (&fake, ""), "\"said\""));
    fake_say (&fake, "{\"do\":\"ok\"}");
    fake_hear (&fake);
    fake_say (&fake, "{\"do\":\"invoke\",\"behavior\":\"b\",\"event\":{\"type\":\"x\",\"payload\":{"
                     "\"big\":true}},\"mint\":{\"object\":1,\"relation\":1},\"seed\":1}");
    assert_non_null (strstr (fake_hear (&fake), "\"type\":\"net.memory\""));
    fake_say (&fake, "{\"do\":\"ok\"}");
    assert_int_equal (fake_end (&fake), 7);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (an_error_shows_no_address),
        cmocka_unit_test (no_function_says_an_address_whatever_it_is_given),
        cmocka_unit_test (of_many_mistakes_the_first_in_the_order_of_bytes_is_named),
        cmocka_unit_test (every_key_that_has_a_place_in_the_order_has_one_place),
        cmocka_unit_test (a_table_with_a_hole_is_refused_in_the_same_words_whatever_its_length),
        cmocka_unit_test (what_a_require_comes_to_does_not_depend_on_the_one_before),
        cmocka_unit_test (a_file_that_no_memory_compiles_is_the_limit_of_who_requires_it),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
