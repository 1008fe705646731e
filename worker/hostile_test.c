//  Snippets that try to get out, or to never end, in the real worker: each has one defined outcome.
//  SPDX-License-Identifier: Apache-2.0
#include "worker/fake_test.h"

enum outcome { HARMLESS, RAISES, MEMORY, TIME };

struct snippet {
    const char *name, *body;
    enum outcome outcome;
    const char *says; //  part of the error, or NULL
};

#define ABSENT(name)                                                                               \
    {                                                                                              \
        name " is not there", "assert (" name " == nil)", HARMLESS, NULL                           \
    }

static const struct snippet snippets[] = {
    ABSENT ("io"),
    ABSENT ("os"),
    ABSENT ("debug"),
    ABSENT ("package"),
    ABSENT ("load"),
    ABSENT ("loadstring"),
    ABSENT ("loadfile"),
    ABSENT ("dofile"),
    ABSENT ("collectgarbage"),
    ABSENT ("coroutine"),
    ABSENT ("setmetatable"),
    ABSENT ("getmetatable"),
    ABSENT ("rawset"),
    ABSENT ("rawget"),
    ABSENT ("xpcall"),
    ABSENT ("warn"),
    ABSENT ("_G"),
    ABSENT ("_VERSION"),
    ABSENT ("string.dump"),
    ABSENT ("string.pack"),
    ABSENT ("string.unpack"),
    ABSENT ("math.randomseed"),
    {"a text has no other methods than string", "return ('x'):dump ()", RAISES,
     "nil value (method 'dump')"},
    {"the environment is the curated one", "assert (_ENV.io == nil and _ENV.load == nil)", HARMLESS,
     NULL},
    {"a parameter called _ENV reaches nothing else",
     "local function f (_ENV) return io, os, debug end\nassert (f ({}) == nil)", HARMLESS, NULL},
    {"globals are the pack's own",
     "print, pairs = nil\nassert (ctx.log)\nstring = nil\nreturn ('x'):rep (2)", HARMLESS, NULL},
    {"require finds no module of Lua", "require 'io'", RAISES, "the pack has no file io.lua"},
    {"require climbs nowhere", "require '../../etc/passwd'", RAISES, "the pack has no file"},
    {"byte code in a text stays a text", "local s = '\\27Lua\\83\\0'\nassert (#s == 6)", HARMLESS,
     NULL},
    {"an endless loop", "while true do end", TIME, "out of time: more than 200 ms"},
    {"an endless loop that catches", "while true do pcall (function () while true do end end) end",
     TIME, NULL},
    {"fifty catches around endless loops",
     "for i = 1, 50 do pcall (function () while true do end end) end", TIME, NULL},
    {"catches inside catches", "local function f (n) while true do pcall (f, n + 1) end end\nf (0)",
     TIME, NULL},
    {"an endless loop in a sort", "table.sort ({ 3, 2, 1 }, function (a, b) while true do end end)",
     TIME, NULL},
    {"an order in C that never ends a sort",
     "local s, t = ('x'):rep (4e6), {}\nfor i = 1, 1e5 do t[i] = s end\ntable.sort (t)", TIME,
     NULL},
    {"an endless loop in a replacement", "('x'):gsub ('.', function () while true do end end)",
     TIME, NULL},
    {"stacked lazy items", "('a'):rep (200):find ('.-.-.-.-.-b')", TIME, NULL},
    {"stacked greedy items", "('a'):rep (200):match ('.*.*.*.*.*b')", TIME, NULL},
    {"lengths of a long text",
     "local s, f = ('x'):rep (8e6), utf8.len\nwhile true do f (s) f (s) f (s) f (s) end", TIME,
     NULL},
    {"a long number", "local s, f = (' '):rep (8e6), tonumber\nwhile true do f (s) f (s) f (s) end",
     TIME, NULL},
    {"optional items", "('a'):rep (60):match (('a?'):rep (60) .. ('a'):rep (61))", TIME, NULL},
    {"a costly pattern in a loop that catches",
     "while true do pcall (string.find, ('a'):rep (200), '.-.-.-.-.-b') end", TIME, NULL},
    {"inserts in front of a long list",
     "local t = {}\nfor i = 1, 300000 do t[i] = i end\nwhile true do table.insert (t, 1, 0) "
     "table.remove (t, 1) end",
     TIME, NULL},
    {"doubling a text", "local s = 'x'\nwhile true do s = s .. s end", MEMORY,
     "out of memory: more than 18874368"},
    {"doubling a text and catching it",
     "local s = 'x'\nwhile true do pcall (function () s = s .. s end) end", MEMORY, NULL},
    {"many small tables", "local t = {}\nwhile true do t = { t } end", MEMORY, NULL},
    {"many small texts", "local t = {}\nfor i = 1, 1e8 do t[i] = 'k' .. i end", MEMORY, NULL},
    {"texts of each size that are gone before the next",
     "for size = 50, 480, 16 do local t = {} for i = 1, 8 << 20, size + 40 do\n"
     "t[#t + 1] = ('x'):rep (size) .. i end end",
     MEMORY, "out of memory: more than 18874368"},
    {"repetition beyond its bound", "('x'):rep (1e9)", RAISES, "longer than 64 MiB"},
    {"repetition of nothing", "(''):rep (1e15)", RAISES, "longer than 64 MiB"},
    {"repetition with a separator", "('x'):rep (1e6, ('y'):rep (1e4))", RAISES,
     "longer than 64 MiB"},
    {"repetition within its bound and beyond the memory", "('x'):rep (6e7)", MEMORY, NULL},
    {"table.move over an astronomical range", "table.move ({}, 1, 3e7, 1)", RAISES,
     "more than 1000000 elements"},
    {"table.move at the ends of the integers",
     "table.move ({}, math.mininteger, math.maxinteger, 1)", RAISES, "more than 1000000"},
    {"table.unpack of a long range", "table.unpack ({}, 1, 1e8)", RAISES,
     "more than 1000000 elements"},
    {"table.concat of a long range", "table.concat ({}, '', 1, 1e15)", RAISES,
     "more than 1000000 elements"},
    {"unpack in a row", "select ('#', table.unpack ({}, 1, 999999))", RAISES, "too many results"},
    {"a bad order",
     "local t = {}\nfor i = 1, 100 do t[i] = i end\ntable.sort (t, function () return true end)",
     HARMLESS, NULL},
    {"deep recursion", "local function f () return 1 + f () end\nf ()", MEMORY, NULL},
    {"deep recursion in C", "local function f () return (('x'):gsub ('.', f)) end\nf ()", RAISES,
     "C stack overflow"},
    {"a deep nest of calls that catch", "local function f (n) return pcall (f, n + 1) end\nf (0)",
     HARMLESS, NULL},
    {"a value that contains itself", "local t = {}\nt.t = t\ngraph.emit ('x', t)", RAISES,
     "does a table contain itself?"},
    {"a value with a function", "graph.emit ('x', { f = print })", RAISES,
     "data.f: a function is no value"},
    {"a value with a hole", "graph.emit ('x', { l = { 1, nil, 3 } })", RAISES,
     "data.l: a table with other keys"},
    {"a value that is not a number", "graph.emit ('x', { n = 0 / 0 })", RAISES,
     "data.n: not a number"},
    {"a value that is no UTF-8", "graph.emit ('x', { s = '\\255' })", RAISES,
     "data.s: text that is not UTF-8"},
    {"a value that is too large",
     "local s = ('x'):rep (1e6)\ngraph.emit ('x', { s, s, s, s, s, s, s, s, s, s })", RAISES,
     "data[10]: a value of more than 8 MiB"},
    {"changes without end", "while true do graph.emit ('x', { s = ('x'):rep (1e5) }) end", RAISES,
     "more than 7 MiB of changes"},
    {"arguments that no message holds", "ctx.call ('t', { s = ('x'):rep (2e6) })", RAISES,
     "args of more than 1 MiB"},
    {"a type that no message holds", "graph.objects { type = ('x'):rep (300) }", RAISES,
     "1 to 256 bytes"},
    {"a change of more than the list holds",
     "local s = ('x'):rep (7e6)\ngraph.emit ('x', { s = s })\ngraph.emit ('x', { s = s })", RAISES,
     "more than 7 MiB of changes"},
    {"an order of tables by address", "for k in pairs ({ [{}] = 1 }) do end", RAISES,
     "has no place in an order"},
    {"an address by format", "('%p'):format ({})", RAISES, "an address differs in every run"},
    {"an address by format behind a zero", "('\\0%p'):format ({})", RAISES,
     "an address differs in every run"},
    {"an address by tostring",
     "assert (tostring ({}) == 'table' and ('%s'):format (print) == 'function')", HARMLESS, NULL},
    {"a name of another run", "graph.add_object ('x', {}, { id = 'a@b' })", RAISES,
     "1 to 256 bytes"},
    {"registering while running", "ag.behavior { name = 'z', on = { 'x' }, function () end }",
     RAISES, "is for the time a pack loads"},
    {"going on after an error of the supervisor's own tables",
     "event.payload = nil\nctx.settings = nil", HARMLESS, NULL},
};

enum { COUNT = sizeof snippets / sizeof *snippets };

static bool
check (const struct snippet *snippet, const char *heard)
{
    static const char *const types[] = {"\"do\":\"done\"", "\"type\":\"script.error\"",
                                        "\"type\":\"net.memory\"", "\"type\":\"net.wall\""};
    bool as_said = strstr (heard, types[snippet->outcome]) &&
                   (!snippet->says || strstr (heard, snippet->says));
    if (!as_said)
        print_error ("%s: %.600s\n", snippet->name, heard);
    return as_said;
}

//  A worker whose pack has each snippet as a behaviour named by its number.
static void
start (struct fake *fake, const char *limits)
{
    struct ag_buf source = {0};
    for (size_t i = 0; i < COUNT; i++)
        ag_buf_text (
            &source,
            "ag.behavior { name = 'b%zu', on = { 'x' }, function (event, graph, ctx)\n%s\nend }\n",
            i, snippets[i].body);
    ag_buf_add (&source, "", 1);
    fake_start (fake, NULL);
    fake_load (fake, (const char *)source.p, limits, NULL);
    fake_say (fake, "{\"do\":\"ok\"}");
    fake_hear (fake);
    ag_buf_fini (&source);
}

static const char *
run (struct fake *fake, size_t i)
{
    fake_say (fake,
              "{\"do\":\"invoke\",\"behavior\":\"b%zu\",\"event\":{\"type\":\"x\",\"payload\":{}},"
              "\"mint\":{\"object\":1,\"relation\":1},\"seed\":1}",
              i);
    return fake_hear (fake);
}

static void
what_does_no_harm_or_raises_leaves_the_worker_at_work (void **state)
{
    struct fake fake;
    size_t wrong = 0;
    (void)state;
    start (&fake, "{\"memory\":25165824}");
    for (size_t i = 0; i < COUNT; i++)
        if (snippets[i].outcome <= RAISES)
            wrong += !check (&snippets[i], run (&fake, i));
    fake_say (&fake, "{\"do\":\"stop\",\"reason\":\"idle\"}");
    assert_int_equal (fake_end (&fake), 0);
    assert_int_equal (wrong, 0);
}

enum { MOST_S = 3 }; //  for what is given 200 ms

static time_t
now_s (void)
{
    struct timespec now;
    clock_gettime (CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

static void
what_meets_a_limit_is_told_and_ends_the_worker_with_7 (void **state)
{
    size_t wrong = 0;
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        struct fake fake;
        if (snippets[i].outcome <= RAISES)
            continue;
        bool endless = snippets[i].outcome == TIME;
        start (&fake, endless ? "{\"wall_ms\":200,\"memory\":25165824}" : "{\"memory\":25165824}");
        time_t before = now_s();
        wrong += !check (&snippets[i], run (&fake, i));
        if (endless && now_s() - before > MOST_S)
            fail_msg ("%s: the clock is looked at too seldom", snippets[i].name);
        fake_say (&fake, "{\"do\":\"ok\"}");
        assert_int_equal (fake_end (&fake), 7);
    }
    assert_int_equal (wrong, 0);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (what_does_no_harm_or_raises_leaves_the_worker_at_work),
        cmocka_unit_test (what_meets_a_limit_is_told_and_ends_the_worker_with_7),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
