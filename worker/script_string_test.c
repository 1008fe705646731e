//  Our string functions against Lua's own: the same answers for what both accept.
//  SPDX-License-Identifier: Apache-2.0
#include "worker/script_state.h"

#include <lualib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

//  Called with subject, pattern and replacement: all answers as one text, or an error.
static const char probe[] = "local s, p, r = ...\n"
                            "local out = {}\n"
                            "local function add (...)\n"
                            "    local n = select ('#', ...)\n"
                            "    for i = 1, n do out[#out + 1] = tostring ((select (i, ...))) end\n"
                            "    out[#out + 1] = ';'\n"
                            "end\n"
                            "add (string.find (s, p))\n"
                            "add (string.find (s, p, -3))\n"
                            "add (string.match (s, p, 2))\n"
                            "for a, b in string.gmatch (s, p) do add (a, b) end\n"
                            "add (string.gsub (s, p, r))\n"
                            "add (string.gsub (s, p, function (a, b) return b end, 2))\n"
                            "add (s:gsub (p, { a = 'X', ['12'] = 7 }))\n"
                            "return table.concat (out, ' ')\n";

static struct ag_act act;

static lua_State *
ours (void)
{
    act = (struct ag_act){.pool = {.most = 64 << 20}, .limits = {64 << 20, 20000}};
    act.L = lua_newstate (ag_guard_alloc, &act);
    *(struct ag_act **)lua_getextraspace (act.L) = &act;
    ag_guard_start (&act);
    lua_newtable (act.L); //  for the metatable of lists, which nothing here makes
    ag_slot_set (act.L, AG_SLOT_LIST);
    ag_open_base (act.L);
    ag_open_string (act.L);
    luaL_loadbuffer (act.L, probe, sizeof probe - 1, "=probe");
    lua_insert (act.L, 1);
    lua_setupvalue (act.L, 1, 1);
    return act.L;
}

static lua_State *
theirs (void)
{
    lua_State *L = luaL_newstate();
    luaL_openlibs (L);
    luaL_loadbuffer (L, probe, sizeof probe - 1, "=probe");
    return L;
}

//  The probe's answer on top of the stack; false: it raised, and the error is.
static bool
ask (lua_State *L, struct ag_str s, struct ag_str p, const char *r)
{
    lua_settop (L, 1);
    lua_pushvalue (L, 1);
    lua_pushlstring (L, s.p, s.n);
    lua_pushlstring (L, p.p, p.n);
    lua_pushstring (L, r);
    return lua_pcall (L, 3, 1, 0) == LUA_OK;
}

static unsigned
draw (unsigned *seed, unsigned n)
{
    *seed = *seed * 1103515245 + 12345;
    return *seed / 65536 % n;
}

static struct ag_str
make_text (unsigned *seed, char *room, const char *const *pieces, unsigned kinds, unsigned most)
{
    size_t n = 0;
    for (unsigned left = draw (seed, most + 1); left; left--) {
        const char *piece = pieces[draw (seed, kinds)];
        memcpy (room + n, piece, strlen (piece));
        n += strlen (piece);
    }
    return (struct ag_str){room, n};
}

static void
random_patterns_mean_what_they_mean_in_lua (void **state)
{
    static const char *const letters[] = {"a", "b", "1", "2", " ", "(", ")", ".", "-", "A", "]"};
    static const char *const items[] = {
        "a",     "b",      ".",  "%a", "%d",   "%s",     "%W",     "[ab]",   "[^a]",
        "[%d-]", "[]a]",   "a*", ".-", "%w+",  "b?",     ".*",     "(",      ")",
        "()",    "%1",     "%2", "^",  "$",    "%b()",   "%f[%w]", "[a-b1]", "-",
        "%-",    "[%a-z]", "%.", "+",  "[^]]", "%f[^a]", "(.)%1",  "(%w+)",
    };
    lua_State *a = ours(), *b = theirs();
    unsigned seed = 7, same = 0;
    char subject[64], pattern[128];
    (void)state;
    for (int i = 0; i < 30000; i++) {
        struct ag_str s = make_text (&seed, subject, letters, sizeof letters / sizeof *letters, 12);
        struct ag_str p = make_text (&seed, pattern, items, sizeof items / sizeof *items, 7);
        const char *r = draw (&seed, 2) ? "<%0>" : "<%1%%>";
        bool mine = ask (a, s, p, r), its = ask (b, s, p, r);
        //  we may refuse as malformed what Lua has only not reached, never take what Lua refuses
        bool alike = mine ? its && !strcmp (lua_tostring (a, -1), lua_tostring (b, -1))
                          : !its || strstr (lua_tostring (a, -1), "malformed pattern");
        if (!alike)
            fail_msg ("'%.*s' with '%.*s': %s, in Lua %s", AG_STR_ARG (s), AG_STR_ARG (p),
                      lua_tostring (a, -1), lua_tostring (b, -1));
        same += mine;
    }
    assert_true (same > 5000);
    lua_close (a);
    ag_pool_fini (&act.pool);
    lua_close (b);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (random_patterns_mean_what_they_mean_in_lua),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
