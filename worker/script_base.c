//  script_base - the globals of a pack, and what math, table and utf8 keep of Lua's own.
//
//  Left out is what reaches out (io, os, debug, package, load and its kin), what carries code or state
//  where nobody looks (coroutine, metatables, the raw functions, collectgarbage), and what differs from
//  run to run. Replaced is what shows addresses or the order of a hash table, and what can work for ever
//  inside one call.
//  SPDX-License-Identifier: Apache-2.0
#include "worker/script_state.h"

#include "common/hash.h"

#include <lualib.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ELEMENTS = 1000000 };

//  pairs in a fixed order: numbers ascending, then texts by their bytes, then false and true.

enum rank { NUMBER, TEXT, BOOLEAN };

struct key {
    enum rank rank;
    bool integral;
    lua_Integer i;
    lua_Number n;
    struct ag_str text;
};

static int
by_order (const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    if (x->rank != y->rank)
        return (int)x->rank - (int)y->rank;
    if (x->rank == TEXT)
        return ag_str_cmp (x->text, y->text);
    if (x->integral && y->integral)
        return (x->i > y->i) - (x->i < y->i);
    if (x->n == y->n) //  2^63 and the greatest integer
        return (int)y->integral - (int)x->integral;
    return x->n < y->n ? -1 : 1;
}

static void
read_key (lua_State *L, int index, struct key *key)
{
    int type = lua_type (L, index);
    key->rank = type == LUA_TNUMBER ? NUMBER : type == LUA_TSTRING ? TEXT : BOOLEAN;
    key->integral = type == LUA_TNUMBER && lua_isinteger (L, index);
    if (type == LUA_TSTRING)
        key->text.p = lua_tolstring (L, index, &key->text.n);
    else if (type == LUA_TNUMBER) {
        key->i = lua_tointeger (L, index);
        key->n = lua_tonumber (L, index);
    } else if (type == LUA_TBOOLEAN)
        key->n = lua_toboolean (L, index);
    else
        luaL_error (L, "a key that is no number, text or boolean has no place in an order");
}

static size_t
count_entries (lua_State *L, int table)
{
    size_t n = 0;
    for (lua_pushnil (L); lua_next (L, table); lua_pop (L, 1))
        n++;
    ag_guard_spend (L, n);
    return n;
}

//  Pushes a list of the keys of the table at index 1, in order.
static void
push_keys (lua_State *L)
{
    luaL_checktype (L, 1, LUA_TTABLE);
    size_t n = count_entries (L, 1), i = 0;
    struct key *keys = lua_newuserdatauv (L, (n + 1) * sizeof *keys, 0);
    lua_createtable (L, (int)(n < MOST_ELEMENTS ? n : MOST_ELEMENTS), 0);
    for (lua_pushnil (L); lua_next (L, 1); lua_pop (L, 1))
        read_key (L, -2, &keys[i++]);
    qsort (keys, n, sizeof *keys, by_order);
    ag_guard_spend (L, 8 * n);
    for (i = 0; i < n; i++) {
        if (keys[i].rank == TEXT)
            lua_pushlstring (L, keys[i].text.p, keys[i].text.n);
        else if (keys[i].rank == BOOLEAN)
            lua_pushboolean (L, keys[i].n != 0);
        else if (keys[i].integral)
            lua_pushinteger (L, keys[i].i);
        else
            lua_pushnumber (L, keys[i].n);
        lua_rawseti (L, -2, (lua_Integer)i + 1);
    }
    lua_remove (L, -2);
}

//  Upvalues: the list of keys, and how many were given.
static int
next_pair (lua_State *L)
{
    lua_Integer i = lua_tointeger (L, lua_upvalueindex (2));
    do {
        lua_settop (L, 1);
        if (lua_rawgeti (L, lua_upvalueindex (1), ++i) == LUA_TNIL)
            return 1;
        lua_pushvalue (L, -1);
    } while (lua_rawget (L, 1) == LUA_TNIL);
    lua_pushinteger (L, i);
    lua_replace (L, lua_upvalueindex (2));
    return 2;
}

static int
base_pairs (lua_State *L)
{
    push_keys (L);
    lua_pushinteger (L, 0);
    lua_pushcclosure (L, next_pair, 2);
    lua_pushvalue (L, 1);
    return 2;
}

//  next (t): the first pair, or nil for an empty table. Going on by next (t, key) is what pairs is for.
static int
base_next (lua_State *L)
{
    if (!lua_isnoneornil (L, 2))
        return luaL_error (L, "next (t, key) is not here: write for key, value in pairs (t)");
    lua_settop (L, 1);
    push_keys (L);
    if (lua_rawgeti (L, 2, 1) == LUA_TNIL)
        return 1;
    lua_pushvalue (L, -1);
    lua_rawget (L, 1);
    return 2;
}

void
ag_push_shown (lua_State *L, int index)
{
    int type = lua_type (L, index);
    if (type == LUA_TTABLE || type == LUA_TFUNCTION)
        lua_pushstring (L, lua_typename (L, type));
    else if (type == LUA_TLIGHTUSERDATA)
        lua_pushliteral (L, "null");
    else
        luaL_tolstring (L, index, NULL);
}

static int
base_tostring (lua_State *L)
{
    luaL_checkany (L, 1);
    ag_push_shown (L, 1);
    return 1;
}

static int
base_type (lua_State *L)
{
    luaL_checkany (L, 1);
    lua_pushstring (L, lua_islightuserdata (L, 1) ? "null" : luaL_typename (L, 1));
    return 1;
}

//  Random numbers: xoshiro256**, seeded from the invocation.

static uint64_t
rotate (uint64_t x, int k)
{
    return x << k | x >> (64 - k);
}

static uint64_t
random_bits (uint64_t s[4])
{
    uint64_t bits = rotate (s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate (s[3], 45);
    return bits;
}

void
ag_seed_random (struct ag_act *act, struct ag_str seed)
{
    uint8_t hash[AG_HASH];
    ag_hash (AG_LIT ("agsup.random"), seed, hash);
    memcpy (act->random, hash, sizeof act->random);
}

//  Below or at most, without favour: the least mask that covers it, again when above.
static uint64_t
random_up_to (uint64_t s[4], uint64_t most)
{
    uint64_t mask = UINT64_MAX >> (most ? __builtin_clzll (most) : 63), bits;
    do
        bits = random_bits (s) & mask;
    while (bits > most);
    return bits;
}

int
ag_random_number (lua_State *L)
{
    uint64_t *state = ag_act (L)->random;
    if (lua_isnone (L, 1)) {
        lua_pushnumber (L, (lua_Number)(random_bits (state) >> 11) * 0x1p-53);
        return 1;
    }
    lua_Integer low = lua_isnone (L, 2) ? 1 : luaL_checkinteger (L, 1);
    lua_Integer high = luaL_checkinteger (L, lua_isnone (L, 2) ? 1 : 2);
    luaL_argcheck (L, low <= high, lua_gettop (L), "interval is empty");
    uint64_t most = (uint64_t)high - (uint64_t)low;
    lua_pushinteger (L, (lua_Integer)(random_up_to (state, most) + (uint64_t)low));
    return 1;
}

//  Functions of table that take time by the length of a table: counted, then Lua's own (the upvalue).

//  In this call and not in one of its own, so that its errors say where.
static int
call_original (lua_State *L)
{
    return lua_tocfunction (L, lua_upvalueindex (1)) (L);
}

//  What reads a text from end to end and makes nothing of it that would be counted.
static int
counted_text (lua_State *L)
{
    if (lua_type (L, 1) == LUA_TSTRING)
        ag_guard_spend (L, lua_rawlen (L, 1) >> 4);
    return call_original (L);
}

static int
counted (lua_State *L)
{
    luaL_checktype (L, 1, LUA_TTABLE);
    ag_guard_spend (L, lua_rawlen (L, 1) / 4);
    return call_original (L);
}

//  A range of the arguments `from` and `from + 1`, when they are there.
static void
check_range (lua_State *L, int from)
{
    lua_Integer low = luaL_optinteger (L, from, 1), high = luaL_optinteger (L, from + 1, 0);
    bool wide = high > low && (lua_Unsigned)high - (lua_Unsigned)low >= MOST_ELEMENTS;
    luaL_argcheck (L, !wide, from, "a range of more than 1000000 elements");
    ag_guard_spend (L, high > low ? (size_t)(high - low) : 0);
}

static int
table_move (lua_State *L)
{
    luaL_checkinteger (L, 2);
    luaL_checkinteger (L, 3);
    check_range (L, 2);
    return call_original (L);
}

static int
table_concat (lua_State *L)
{
    check_range (L, 3);
    return counted (L);
}

static int
table_unpack (lua_State *L)
{
    check_range (L, 2);
    return call_original (L);
}

//  What stands in script.def, and nothing else.

static const struct ag_entry base_entries[] = {
#define GLOBAL(name, own) {name, own},
#include "schemas/script.def"
    {NULL, NULL},
};

static const struct ag_entry math_entries[] = {
#define MATH(name, kind, own) {name, own},
#include "schemas/script.def"
    {NULL, NULL},
};

static const struct ag_entry table_entries[] = {
#define TABLE(name, kind, own) {name, own},
#include "schemas/script.def"
    {NULL, NULL},
};

static const struct ag_entry utf8_entries[] = {
#define UTF8(name, kind, own) {name, own},
#include "schemas/script.def"
    {NULL, NULL},
};

void
ag_let_in (lua_State *L, const char *name, lua_CFunction open, const struct ag_entry *entries)
{
    lua_newtable (L);
    luaL_requiref (L, name, open, 0);
    for (const struct ag_entry *entry = entries; entry->name; entry++) {
        lua_getfield (L, -1, entry->name);
        if (entry->own)
            lua_pushcclosure (L, entry->own, 1);
        lua_setfield (L, -3, entry->name);
    }
    lua_pop (L, 1);
}

void
ag_open_base (lua_State *L)
{
    ag_let_in (L, "_G", luaopen_base, base_entries);
    ag_let_in (L, "math", luaopen_math, math_entries);
    lua_setfield (L, -2, "math");
    ag_let_in (L, "table", luaopen_table, table_entries);
    lua_setfield (L, -2, "table");
    ag_let_in (L, "utf8", luaopen_utf8, utf8_entries);
    lua_setfield (L, -2, "utf8");
}
