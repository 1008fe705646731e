//  That the parser takes what Lua takes is asked in lua_agree_test.c; here are its limits to the number, its places and
//  what it tells.
//  SPDX-License-Identifier: Apache-2.0
#include "common/lua_parse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static const struct ag_lua_events deaf = {0};

//  Before, each n times with its number, after.
static enum ag_lua_wrong
verdict (const char *before, const char *each, int n, const char *after)
{
    struct ag_buf source = {0};
    struct ag_lua_fault fault;
    ag_buf_text (&source, "%s", before);
    for (int i = 0; i < n; i++)
        ag_buf_text (&source, each, i);
    ag_buf_text (&source, "%s", after);
    enum ag_lua_wrong wrong = ag_lua_parse (ag_buf_str (&source), AG_LUA_LEVELS, &deaf, &fault);
    ag_buf_fini (&source);
    return wrong;
}

static void
a_function_has_200_locals (void **state)
{
    (void)state;
    assert_int_equal (verdict ("", "local v%d ", 200, ""), AG_LUA_FINE);
    assert_int_equal (verdict ("", "local v%d ", 201, ""), AG_LUA_LIMIT);
    assert_int_equal (verdict ("", "do local v%d end ", 1000, ""), AG_LUA_FINE);
    assert_int_equal (verdict ("", "local function f () local a, b, c, d, e, f, g, h, i ", 100, ""),
                      AG_LUA_SYNTAX); //  the ends are missing
    assert_int_equal (verdict ("", "local function f () local a, b, c, d, e, f, g, h, i ", 101, ""),
                      AG_LUA_LIMIT);
    assert_int_equal (verdict ("for i = 1, 2 do ", "local v%d ", 196, "end"), AG_LUA_FINE);
    assert_int_equal (verdict ("for i = 1, 2 do ", "local v%d ", 197, "end"), AG_LUA_LIMIT);
    assert_int_equal (verdict ("", "do local v%d end ", AG_LUA_MADE, ""), AG_LUA_FINE);
    assert_int_equal (verdict ("", "do local v%d end ", AG_LUA_MADE + 1, ""), AG_LUA_LIMIT);
}

static void
a_function_has_255_upvalues (void **state)
{
    static const char head[] = "local function f () ";
    struct ag_buf before = {0};
    (void)state;
    for (int i = 0; i < 128; i++)
        ag_buf_text (&before, "local a%d ", i);
    ag_buf_text (&before, "%s", head);
    for (int i = 0; i < 128; i++)
        ag_buf_text (&before, "local v%d ", i);
    ag_buf_text (&before, "return function () local x ");
    for (int i = 0; i < 128; i++)
        ag_buf_text (&before, "x = a%d ", i);
    ag_buf_add (&before, "", 1);
    assert_int_equal (verdict ((char *)before.p, "x = v%d ", 127, "end end"), AG_LUA_FINE);
    assert_int_equal (verdict ((char *)before.p, "x = v%d ", 128, "end end"), AG_LUA_LIMIT);
    assert_int_equal (verdict ((char *)before.p, "x = v%d ", 127, "x = free end end"),
                      AG_LUA_LIMIT); //  _ENV is one
    ag_buf_fini (&before);
}

static void
nothing_stands_deeper_than_the_levels_that_are_asked_for (void **state)
{
    struct ag_lua_fault fault;
    (void)state;
    assert_int_equal (verdict ("return ", "- ", 197, "1"), AG_LUA_FINE);
    assert_int_equal (verdict ("return ", "- ", 198, "1"), AG_LUA_NESTING);
    assert_int_equal (verdict ("", "do ", 200000, ""), AG_LUA_NESTING);
    assert_int_equal (ag_lua_parse (AG_LIT ("return ((1))"), 4, &deaf, &fault), AG_LUA_FINE);
    assert_int_equal (ag_lua_parse (AG_LIT ("return ((1))"), 3, &deaf, &fault), AG_LUA_NESTING);
    assert_int_equal (fault.column, 10);
}

static void
loops_calls_and_jumps_are_bounded (void **state)
{
    (void)state;
    assert_int_equal (verdict ("for i = 1, 2 do ", "f() ", 10000, "end"), AG_LUA_FINE);
    assert_int_equal (verdict ("for i = 1, 2 do ", "f() ", 11000, "end"), AG_LUA_LIMIT);
    assert_int_equal (verdict ("f (1", ", %d", 240, ")"), AG_LUA_FINE);
    assert_int_equal (verdict ("f (1", ", %d", 260, ")"), AG_LUA_LIMIT);
    assert_int_equal (verdict ("return { 1", ", %d", 5000, "}"), AG_LUA_FINE);
    assert_int_equal (verdict ("", "goto l ", AG_LUA_JUMPS, "::l::"), AG_LUA_FINE);
    assert_int_equal (verdict ("", "goto l ", AG_LUA_JUMPS + 1, "::l::"), AG_LUA_LIMIT);
    assert_int_equal (verdict ("", "::l%d:: do end ", AG_LUA_JUMPS + 1, ""), AG_LUA_LIMIT);
}

static void
a_fault_has_its_place_and_says_what_was_expected (void **state)
{
    static const struct {
        const char *source, *text;
        unsigned line, column;
    } faults[] = {
        {"if x\nthen y ()", "end for that of line 1 expected, not the end", 2, 10},
        {"x = = 1", "an expression expected, not =", 1, 5},
        {"x = 1\n  y", "= or a call expected, not the end", 2, 4},
        {"local x <const> = 1\nx = 2", "x is a constant", 2, 1},
        {"f ()\nbreak", "break outside of a loop", 2, 1},
        {"do goto a end", "no visible label a for goto", 1, 9},
        {"::a::\n::a::", "the label stands in line 2 too", 1, 3},
        {"goto a\nlocal x ::a:: x = 1", "a goto jumps into the scope of a local", 1, 6},
        {"function f () return ... end", "... outside of a function with ...", 1, 22},
        {"return 1 x ()", "the end expected, not x", 1, 10},
        {"(a) = 1", "a name or a field before it expected, not =", 1, 5},
    };
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct ag_lua_fault fault;
        ag_lua_parse (ag_str (faults[i].source), AG_LUA_LEVELS, &deaf, &fault);
        assert_string_equal (fault.text, faults[i].text);
        assert_int_equal (fault.line, faults[i].line);
        assert_int_equal (fault.column, faults[i].column);
    }
}

static void
hear_use (void *arg, const struct ag_lua_use *use)
{
    static const char *const roles[] = {"free", "local", "parameter"};
    static const char *const suffixes[] = {"", ".", "[]", ":", "()"};
    ag_buf_text (arg, "%s %.*s%s%.*s%s%s%s; ", roles[use->role], AG_STR_ARG (use->name.text),
                 suffixes[use->suffix], AG_STR_ARG (use->field.text), use->called ? "()" : "",
                 use->assigned ? " =" : "", use->bound ? " bound" : "");
}

static void
hear_method (void *arg, const struct ag_lua_token *name)
{
    ag_buf_text (arg, "method %.*s; ", AG_STR_ARG (name->text));
}

static void
each_use_of_a_name_is_told_with_what_stands_behind_it (void **state)
{
    static const struct {
        const char *source, *told;
    } uses[] = {
        {"a = b", "free a =; free b; "},
        {"local a = a", "free a; "},
        {"local a; a.b.c = a", "local a.b =; local a; "},
        {"function f (p) return function () return p end end", "free f =; parameter p; "},
        {"function a.b:c () self.x () end", "free a.b =; parameter self.x(); "},
        {"a.b (c) 'd'", "free c; free a.b(); "},
        {"a:b ()", "method b; free a:; "},
        {"a[b], c = 1", "free b; free a[] =; free c =; "},
        {"local x = require 'y'", "free require() bound; "},
        {"local x = require 'y' .. z", "free require(); free z; "},
        {"local x = require 'y'.z", "free require(); "},
        {"do local x = require 'y' end", "free require(); "},
        {"for i = i, 2 do local j = i end", "free i; local i; "},
        {"repeat local x until x", "local x; "},
        {"local t = { x = y, [z] = 1, w }", "free y; free z; free w; "},
        {"(a).b ()", "free a; "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        struct ag_buf told = {0};
        struct ag_lua_events events = {NULL, hear_use, hear_method, NULL, &told};
        struct ag_lua_fault fault;
        assert_int_equal (ag_lua_parse (ag_str (uses[i].source), AG_LUA_LEVELS, &events, &fault),
                          AG_LUA_FINE);
        ag_buf_add (&told, "", 1);
        assert_string_equal ((char *)told.p, uses[i].told);
        ag_buf_fini (&told);
    }
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_function_has_200_locals),
        cmocka_unit_test (a_function_has_255_upvalues),
        cmocka_unit_test (nothing_stands_deeper_than_the_levels_that_are_asked_for),
        cmocka_unit_test (loops_calls_and_jumps_are_bounded),
        cmocka_unit_test (a_fault_has_its_place_and_says_what_was_expected),
        cmocka_unit_test (each_use_of_a_name_is_told_with_what_stands_behind_it),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
