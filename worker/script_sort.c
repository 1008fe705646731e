//  script_sort - table.sort: a merge sort, so that elements of which neither is less keep their order. Lua's own
//  takes its pivot from the clock, and with it what becomes of ties and how often it asks.
//
//  The elements are sorted in a copy and come back at the end: an order that raises leaves the table as it was.
//  SPDX-License-Identifier: Apache-2.0
#include "worker/script_state.h"

#include <lauxlib.h>

//  Places on the stack: the arguments, and two copies of the elements, from one of which runs are merged to the other.
enum { TABLE = 1, ORDER, FROM, TO };

//  STEP: what one comparison counts for, besides the texts that it reads.
enum { MOST_ELEMENTS = 1000000, STEP = 8, BYTES_SHIFT = 5 };

//  Whether the value on top of the stack has to stand before the one below it.
static bool
is_before (lua_State *L)
{
    if (lua_isnil (L, ORDER)) {
        ag_guard_spend (L, STEP + (lua_rawlen (L, -1) >> BYTES_SHIFT));
        return lua_compare (L, -1, -2, LUA_OPLT);
    }
    ag_guard_spend (L, STEP);
    lua_pushvalue (L, ORDER);
    lua_pushvalue (L, -2);
    lua_pushvalue (L, -4);
    lua_call (L, 2, 1);
    bool yes = lua_toboolean (L, -1);
    lua_pop (L, 1);
    return yes;
}

//  Merge the runs low..middle - 1 and middle..end - 1.
static void
merge (lua_State *L, lua_Integer low, lua_Integer middle, lua_Integer end)
{
    lua_Integer left = low, right = middle;
    for (lua_Integer i = low; i < end; i++) {
        bool second = left == middle;
        if (left < middle && right < end) {
            lua_rawgeti (L, FROM, left);
            lua_rawgeti (L, FROM, right);
            second = is_before (L);
            lua_pop (L, 2);
        }
        lua_rawgeti (L, FROM, second ? right++ : left++);
        lua_rawseti (L, TO, i);
    }
}

static lua_Integer
least (lua_Integer a, lua_Integer b)
{
    return a < b ? a : b;
}

static void
copy (lua_State *L, int from, int to, lua_Integer n)
{
    for (lua_Integer i = 1; i <= n; i++) {
        lua_rawgeti (L, from, i);
        lua_rawseti (L, to, i);
    }
    ag_guard_spend (L, (size_t)n);
}

//  Runs of 1, then of 2, of 4 and so on.
int
ag_sort (lua_State *L)
{
    luaL_checktype (L, TABLE, LUA_TTABLE);
    lua_Integer n = (lua_Integer)lua_rawlen (L, TABLE);
    luaL_argcheck (L, n <= MOST_ELEMENTS, TABLE, "more than 1000000 elements");
    if (!lua_isnoneornil (L, ORDER))
        luaL_checktype (L, ORDER, LUA_TFUNCTION);
    lua_settop (L, ORDER);
    lua_createtable (L, (int)n, 0);
    lua_createtable (L, (int)n, 0);
    copy (L, TABLE, FROM, n);
    for (lua_Integer run = 1; run < n; run *= 2) {
        for (lua_Integer low = 1; low <= n; low += 2 * run)
            merge (L, low, least (low + run, n + 1), least (low + 2 * run, n + 1));
        lua_pushvalue (L, FROM); //  the two change places
        lua_copy (L, TO, FROM);
        lua_replace (L, TO);
    }
    copy (L, FROM, TABLE, n);
    return 0;
}
