//  script_string - the table `string`: plain searches at full speed, patterns within the time of the
//  invocation, results of bounded length, no addresses, no byte code.
//  SPDX-License-Identifier: Apache-2.0
#include "worker/pattern.h"
#include "worker/script_state.h"

#include <lualib.h>
#include <string.h>

enum { MOST_BYTES = 64 << 20 };

struct search {
    struct ag_pattern pattern;
    struct ag_str subject;
    struct ag_match match;
};

static void
prepare (lua_State *L, struct search *search, struct ag_str subject, struct ag_str pattern,
         bool anchors)
{
    struct ag_err err;
    search->subject = subject;
    if (ag_pattern_read (&search->pattern, pattern, anchors, &err))
        ag_raise (L, &err);
}

//  Find from `at` on; raises when the time is up.
static bool
find (lua_State *L, struct search *search, size_t at)
{
    struct ag_act *act = ag_act (L);
    int rc = ag_pattern_find (&search->pattern, search->subject, at, ag_guard_go_on, act,
                              &search->match);
    if (rc < 0)
        ag_guard_spend (L, AG_GUARD_NOW); //  this raises
    return rc > 0;
}

static void
push_piece (lua_State *L, const struct search *search, unsigned i)
{
    const struct ag_match *match = &search->match;
    const char *s = search->subject.p;
    if (i == 0 && !search->pattern.captures)
        lua_pushlstring (L, s + match->start, match->end - match->start);
    else if (i >= search->pattern.captures)
        luaL_error (L, "the pattern has no capture %d", (int)i + 1);
    else if (match->captures[i].position)
        lua_pushinteger (L, (lua_Integer)match->captures[i].at + 1);
    else
        lua_pushlstring (L, s + match->captures[i].at, match->captures[i].n);
}

//  The captures, or the whole match when there are none and that is wanted.
static int
push_captures (lua_State *L, const struct search *search, bool whole)
{
    unsigned n = search->pattern.captures;
    n = n ? n : whole;
    luaL_checkstack (L, (int)n, "too many captures");
    for (unsigned i = 0; i < n; i++)
        push_piece (L, search, i);
    return (int)n;
}

//  The start that an optional argument means: from 0, negative from the end.
static size_t
start_of (lua_State *L, int index, size_t n)
{
    lua_Integer at = luaL_optinteger (L, index, 1);
    if (at > 0)
        return (size_t)at - 1;
    if (at == 0 || (lua_Unsigned)-at >= n)
        return 0;
    return n - (size_t)-at;
}

static int
find_plain (lua_State *L, struct ag_str s, struct ag_str what, size_t at)
{
    const char *found = memmem (s.p + at, s.n - at, what.p, what.n);
    ag_guard_spend (L, s.n >> 6);
    if (!found)
        return lua_pushnil (L), 1;
    lua_pushinteger (L, found - s.p + 1);
    lua_pushinteger (L, found - s.p + (lua_Integer)what.n);
    return 2;
}

static bool
has_specials (struct ag_str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] && strchr ("^$*+?.([%-", text.p[i]))
            return true;
    return false;
}

static int
find_or_match (lua_State *L, bool finding)
{
    struct search search;
    struct ag_str s = ag_lua_text (L, 1), what = ag_lua_text (L, 2);
    size_t at = start_of (L, 3, s.n);
    if (at > s.n)
        return lua_pushnil (L), 1;
    if (finding && (lua_toboolean (L, 4) || !has_specials (what)))
        return find_plain (L, s, what, at);
    prepare (L, &search, s, what, true);
    if (!find (L, &search, at))
        return lua_pushnil (L), 1;
    if (!finding)
        return push_captures (L, &search, true);
    lua_pushinteger (L, (lua_Integer)search.match.start + 1);
    lua_pushinteger (L, (lua_Integer)search.match.end);
    return 2 + push_captures (L, &search, false);
}

static int
string_find (lua_State *L)
{
    return find_or_match (L, true);
}

static int
string_match (lua_State *L)
{
    return find_or_match (L, false);
}

//  The next match that is not the empty one at the end of the last (last: SIZE_MAX before the first).
static bool
find_next (lua_State *L, struct search *search, size_t at, size_t last)
{
    if (at > search->subject.n || !find (L, search, at))
        return false;
    if (search->match.end != last)
        return true;
    return !search->pattern.anchored && at < search->subject.n && find (L, search, at + 1);
}

//  Upvalues: subject, pattern, where to go on, where the last match ended.
static int
gmatch_next (lua_State *L)
{
    struct search search;
    struct ag_str subject = ag_lua_text (L, lua_upvalueindex (1));
    prepare (L, &search, subject, ag_lua_text (L, lua_upvalueindex (2)), false);
    size_t at = (size_t)lua_tointeger (L, lua_upvalueindex (3));
    size_t last = (size_t)lua_tointeger (L, lua_upvalueindex (4));
    if (!find_next (L, &search, at, last))
        return lua_pushnil (L), 1;
    lua_pushinteger (L, (lua_Integer)search.match.end);
    lua_pushvalue (L, -1);
    lua_replace (L, lua_upvalueindex (3));
    lua_replace (L, lua_upvalueindex (4));
    return push_captures (L, &search, true);
}

static int
string_gmatch (lua_State *L)
{
    struct ag_str subject = ag_lua_text (L, 1);
    ag_lua_text (L, 2);
    size_t at = start_of (L, 3, subject.n);
    lua_settop (L, 2);
    lua_pushinteger (L, (lua_Integer)(at > subject.n ? subject.n + 1 : at));
    lua_pushinteger (L, -1);
    lua_pushcclosure (L, gmatch_next, 4);
    return 1;
}

//  gsub: what stands in argument 3 for each match.

static void
add_template (lua_State *L, const struct search *search, luaL_Buffer *out)
{
    struct ag_str text = ag_lua_text (L, 3);
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] != '%') {
            luaL_addchar (out, text.p[i]);
            continue;
        }
        char c = ++i < text.n ? text.p[i] : 0;
        if (c == '%')
            luaL_addchar (out, '%');
        else if (c == '0')
            luaL_addlstring (out, search->subject.p + search->match.start,
                             search->match.end - search->match.start);
        else if (c >= '1' && c <= '9') {
            push_piece (L, search, (unsigned)(c - '1'));
            luaL_tolstring (L, -1, NULL); //  a position capture is a number
            lua_remove (L, -2);
            luaL_addvalue (out);
        } else
            luaL_error (L, "a %% in the replacement is followed by 0 to 9 or %%");
    }
}

//  Argument 3 is a function or a table; false or nil keeps the match as it is.
static void
add_answer (lua_State *L, const struct search *search, luaL_Buffer *out)
{
    if (lua_type (L, 3) == LUA_TFUNCTION) {
        lua_pushvalue (L, 3);
        lua_call (L, push_captures (L, search, true), 1);
    } else {
        push_piece (L, search, 0);
        lua_rawget (L, 3);
    }
    if (!lua_toboolean (L, -1)) {
        lua_pop (L, 1);
        lua_pushlstring (L, search->subject.p + search->match.start,
                         search->match.end - search->match.start);
    } else if (!lua_isstring (L, -1))
        luaL_error (L, "a replacement is a text, not a %s", luaL_typename (L, -1));
    luaL_addvalue (out);
}

static int
string_gsub (lua_State *L)
{
    struct search search;
    struct ag_str s = ag_lua_text (L, 1), pattern = ag_lua_text (L, 2);
    int type = lua_type (L, 3);
    bool answers = type == LUA_TFUNCTION || type == LUA_TTABLE;
    luaL_argexpected (L, answers || lua_isstring (L, 3), 3, "string, table or function");
    lua_Integer most = luaL_optinteger (L, 4, (lua_Integer)s.n + 1), count = 0;
    prepare (L, &search, s, pattern, true);
    luaL_Buffer out;
    luaL_buffinit (L, &out);
    size_t at = 0, last = SIZE_MAX;
    while (count < most && find_next (L, &search, at, last)) {
        luaL_addlstring (&out, s.p + at, search.match.start - at);
        (answers ? add_answer : add_template) (L, &search, &out);
        at = last = search.match.end;
        count++;
        if (search.pattern.anchored)
            break;
    }
    luaL_addlstring (&out, s.p + at, s.n - at);
    luaL_pushresult (&out);
    lua_pushinteger (L, count);
    return 2;
}

static int
string_rep (lua_State *L)
{
    struct ag_str s = ag_lua_text (L, 1);
    lua_Integer n = luaL_checkinteger (L, 2);
    size_t between = 0;
    luaL_optlstring (L, 3, "", &between);
    size_t each = s.n + between ? s.n + between : 1;
    luaL_argcheck (L, n <= 0 || (lua_Unsigned)n <= MOST_BYTES / each, 2,
                   "the result would be longer than 64 MiB");
    lua_settop (L, 3);
    lua_pushvalue (L, lua_upvalueindex (1));
    lua_insert (L, 1);
    lua_call (L, 3, 1);
    return 1;
}

//  Tables and functions are shown without their address; %p is refused.
static int
string_format (lua_State *L)
{
    struct ag_str format = ag_lua_text (L, 1);
    const char *p = format.p, *end = format.p + format.n;
    int n = lua_gettop (L), argument = 1;
    while ((p = memchr (p, '%', (size_t)(end - p)))) {
        p += 1 + strspn (p + 1, "-+ #0123456789.");
        if (*p == 'p')
            return luaL_error (L, "string.format has no %%p here: an address differs in every run");
        argument += *p != '%';
        int type = argument <= n ? lua_type (L, argument) : LUA_TNONE;
        if (*p == 's' && type != LUA_TSTRING && type != LUA_TNONE) {
            ag_push_shown (L, argument);
            lua_replace (L, argument);
        }
        p += p < end;
    }
    lua_pushvalue (L, lua_upvalueindex (1));
    lua_insert (L, 1);
    lua_call (L, n, 1);
    return 1;
}

static const struct ag_entry entries[] = {
#define STRING(name, kind, own) {name, own},
#include "schemas/script.def"
    {NULL, NULL},
};

//  A text's methods are the same functions: the metatable that luaopen_string made knows all of them, so
//  its index is set anew, and what reads it gets false.
void
ag_open_string (lua_State *L)
{
    ag_let_in (L, "string", luaopen_string, entries);
    lua_pushliteral (L, "");
    if (lua_getmetatable (L, -1)) {
        lua_pushvalue (L, -3);
        lua_setfield (L, -2, "__index");
        lua_pushboolean (L, 0);
        lua_setfield (L, -2, "__metatable");
        lua_pop (L, 1);
    }
    lua_pop (L, 1);
    lua_setfield (L, -2, "string");
}
