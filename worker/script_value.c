//  SPDX-License-Identifier: Apache-2.0
#include "worker/script_state.h"

#include "common/value.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 60, MOST_BYTES = 8 << 20 };

//  Values to Lua.

static void push_value (lua_State *L, struct ag_cursor *in);

static void
push_list (lua_State *L, struct ag_cursor *in, uint32_t count)
{
    lua_createtable (L, (int)(count < 65536 ? count : 65536), 0);
    for (uint32_t i = 1; i <= count; i++) {
        push_value (L, in);
        lua_rawseti (L, -2, i);
    }
    ag_slot_push (L, AG_SLOT_LIST);
    lua_setmetatable (L, -2);
}

static void
push_map (lua_State *L, struct ag_cursor *in, uint32_t count)
{
    lua_createtable (L, 0, (int)(count < 65536 ? count : 65536));
    for (uint32_t i = 0; i < count; i++) {
        push_value (L, in);
        push_value (L, in);
        if (lua_type (L, -2) != LUA_TSTRING)
            luaL_error (L, "the supervisor sent a map whose key is no text");
        lua_rawset (L, -3);
    }
}

static void
push_value (lua_State *L, struct ag_cursor *in)
{
    struct ag_head head;
    luaL_checkstack (L, 6, "a value is too deep");
    if (ag_next (in, &head))
        luaL_error (L, "the supervisor sent a malformed value");
    switch (head.kind) {
    case AG_NULL:
        lua_pushlightuserdata (L, NULL);
        return;
    case AG_BOOL:
        lua_pushboolean (L, head.b);
        return;
    case AG_INT:
        lua_pushinteger (L, head.i);
        return;
    case AG_FLOAT:
        lua_pushnumber (L, head.f);
        return;
    case AG_LIST:
        push_list (L, in, head.count);
        return;
    case AG_MAP:
        push_map (L, in, head.count);
        return;
    case AG_TEXT:
    case AG_BYTES:
        lua_pushlstring (L, head.s.p, head.s.n);
        return;
    case AG_UINT:
        if (head.u <= INT64_MAX)
            lua_pushinteger (L, (lua_Integer)head.u);
        else
            lua_pushnumber (L, (lua_Number)head.u);
    }
}

void
ag_lua_push (lua_State *L, struct ag_str value)
{
    struct ag_cursor in = ag_cursor (value);
    push_value (L, &in);
}

//  Lua to values. A place is where in the value we are, for the error that names it.

struct place {
    const struct place *up;
    struct ag_str key; //  p NULL: an index
    lua_Integer index;
    const char *what; //  of the outermost
    int depth;
};

static void
name_place (const struct place *place, luaL_Buffer *text)
{
    if (!place->up) {
        luaL_addstring (text, place->what);
        return;
    }
    name_place (place->up, text);
    char number[32];
    lua_Integer index = place->index;
    snprintf (number, sizeof number, "[%lld]", (long long)index);
    if (!place->key.p) {
        luaL_addstring (text, number);
        return;
    }
    luaL_addchar (text, '.');
    luaL_addlstring (text, place->key.p, place->key.n < 64 ? place->key.n : 64);
}

static int
refuse (lua_State *L, const struct place *place, const char *why)
{
    luaL_Buffer text;
    luaL_buffinit (L, &text);
    name_place (place, &text);
    luaL_addstring (&text, ": ");
    luaL_addstring (&text, why);
    luaL_pushresult (&text);
    luaL_where (L, 1);
    lua_insert (L, -2);
    lua_concat (L, 2);
    return lua_error (L);
}

static void put_value (lua_State *L, int at, struct ag_buf *out, const struct place *place);

static void
put_text (lua_State *L, int at, struct ag_buf *out, const struct place *place)
{
    struct ag_str text;
    text.p = lua_tolstring (L, at, &text.n);
    if (!ag_utf8 (text))
        refuse (L, place, "text that is not UTF-8; ag.utf8 (text) makes it so");
    ag_put_text (out, text);
}

static void
put_number (lua_State *L, int at, struct ag_buf *out, const struct place *place)
{
    if (lua_isinteger (L, at))
        ag_put_int (out, lua_tointeger (L, at));
    else if (isfinite (lua_tonumber (L, at)))
        ag_put_float (out, lua_tonumber (L, at));
    else
        refuse (L, place, "not a number or infinite");
}

static void
put_list (lua_State *L, int at, lua_Integer n, struct ag_buf *out, const struct place *place)
{
    ag_put_list (out, (uint32_t)n);
    for (lua_Integer i = 1; i <= n; i++) {
        struct place element = {place, {0}, i, NULL, place->depth + 1};
        lua_rawgeti (L, at, i);
        put_value (L, lua_gettop (L), out, &element);
        lua_pop (L, 1);
    }
}

//  The keys live as long as the table that holds them, which nobody changes meanwhile.
static struct ag_str *
sorted_keys (lua_State *L, int at, size_t n, const struct place *place)
{
    struct ag_str *keys = lua_newuserdatauv (L, (n + 1) * sizeof *keys, 0);
    size_t i = 0;
    for (lua_pushnil (L); lua_next (L, at); lua_pop (L, 1)) {
        if (lua_type (L, -2) != LUA_TSTRING)
            refuse (L, place, "a table with other keys than texts, or than 1 to n without a hole");
        keys[i].p = lua_tolstring (L, -2, &keys[i].n);
        i++;
    }
    qsort (keys, n, sizeof *keys, ag_str_order);
    return keys;
}

static void
put_map (lua_State *L, int at, size_t n, struct ag_buf *out, const struct place *place)
{
    struct ag_str *keys = sorted_keys (L, at, n, place);
    ag_put_map (out, (uint32_t)n);
    for (size_t i = 0; i < n; i++) {
        struct place entry = {place, keys[i], 0, NULL, place->depth + 1};
        lua_pushlstring (L, keys[i].p, keys[i].n);
        put_text (L, lua_gettop (L), out, &entry);
        lua_rawget (L, at);
        put_value (L, lua_gettop (L), out, &entry);
        lua_pop (L, 1);
    }
    lua_pop (L, 1);
}

//  Whether the keys 1 to n are all there. Each is asked for: where there is a hole, `#` differs from run to run.
static bool
is_whole (lua_State *L, int at, size_t n)
{
    bool there = true;
    for (size_t i = 1; there && i <= n; i++) {
        there = lua_rawgeti (L, at, (lua_Integer)i) != LUA_TNIL;
        lua_pop (L, 1);
    }
    return there;
}

//  With entries, or marked by ag.list, and as many entries as there are keys from 1 on: a list.
static void
put_table (lua_State *L, int at, struct ag_buf *out, const struct place *place)
{
    size_t entries = 0;
    bool marked = lua_getmetatable (L, at);
    lua_pop (L, marked);
    for (lua_pushnil (L); lua_next (L, at); lua_pop (L, 1))
        entries++;
    ag_guard_spend (L, entries);
    if ((marked || entries) && is_whole (L, at, entries))
        put_list (L, at, (lua_Integer)entries, out, place);
    else if (marked)
        refuse (L, place, "a list with other keys than 1 to n without a hole");
    else
        put_map (L, at, entries, out, place);
}

static void
put_value (lua_State *L, int at, struct ag_buf *out, const struct place *place)
{
    luaL_checkstack (L, 8, "a value is too deep");
    if (place->depth > DEPTH)
        refuse (L, place, "deeper than 60 levels; does a table contain itself?");
    if (out->n > MOST_BYTES)
        refuse (L, place, "a value of more than 8 MiB");
    switch (lua_type (L, at)) {
    case LUA_TBOOLEAN:
        ag_put_bool (out, lua_toboolean (L, at));
        return;
    case LUA_TNUMBER:
        put_number (L, at, out, place);
        return;
    case LUA_TSTRING:
        put_text (L, at, out, place);
        return;
    case LUA_TLIGHTUSERDATA:
        ag_put_null (out);
        return;
    case LUA_TTABLE:
        put_table (L, at, out, place);
        return;
    case LUA_TNIL:
        refuse (L, place, "nil is no value; ag.null is");
        return;
    default:
        refuse (L, place, "a function is no value");
    }
}

void
ag_lua_put (lua_State *L, int index, struct ag_buf *out, const char *what)
{
    struct place place = {.what = what};
    put_value (L, lua_absindex (L, index), out, &place);
}

struct ag_str
ag_lua_text (lua_State *L, int index)
{
    struct ag_str text;
    text.p = luaL_checklstring (L, index, &text.n);
    return text;
}
