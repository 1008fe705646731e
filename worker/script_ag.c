//  script_ag - the table `ag`: what a pack registers while it loads, and help with texts and lists.
//  SPDX-License-Identifier: Apache-2.0
#include "common/heard.h"
#include "worker/script_state.h"
#include "worker/text.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 8 << 20 };

//  One kind of thing that a pack registers by a table of fields with the function as its last entry.
struct kind {
    const char *word; //  "behavior"
    const char *call; //  "function (event, graph, ctx)"
    const char *parameters[5];
    const char *fields[10];
};

static const struct kind behavior = {
    "behavior",
    "function (event, graph, ctx)",
    {"event", "graph", "ctx"},
    {"name", "on", "where", "pattern", "view", "activate_after", "priority"},
};
static const struct kind relation_behavior = {
    "relation_behavior",
    "function (relation, event, graph, ctx)",
    {"relation", "event", "graph", "ctx"},
    {"name", "relation", "on", "where", "pattern", "view", "activate_after", "priority"},
};
static const struct kind tool = {
    "tool",
    "function (args, ctx)",
    {"args", "ctx"},
    {"name", "args"},
};

//  Raise: what is wrong with the thing called name, and what to write.
static int
wrong (lua_State *L, const struct kind *kind, const char *name, const char *what)
{
    return luaL_error (L, "%s \"%s\": %s", kind->word, name, what);
}

static int
index_of (const char *const *list, const char *word)
{
    for (int i = 0; list[i]; i++)
        if (!strcmp (list[i], word))
            return i;
    return -1;
}

//  Of the fields that it does not have the first by bytes is named: the order of the table is another in every run.
static void
check_fields (lua_State *L, const struct kind *kind, const char *name)
{
    const char *first = NULL;
    lua_pushnil (L); //  the place of first
    int at = lua_gettop (L);
    for (lua_pushnil (L); lua_next (L, 1); lua_settop (L, at + 1)) {
        bool is_function = lua_isinteger (L, -2) && lua_tointeger (L, -2) == 1;
        ag_push_shown (L, -2);
        const char *field = lua_tostring (L, -1);
        if (is_function || index_of (kind->fields, field) >= 0 ||
            (first && strcmp (field, first) >= 0))
            continue;
        first = field;
        lua_copy (L, -1, at);
    }
    if (first)
        wrong (L, kind, name, lua_pushfstring (L, "no field is called \"%s\"", first));
    lua_pop (L, 1);
}

//  The function is on top of the stack. Fewer parameters than are given is Lua's own habit; more, or a
//  known name in another place, is a mistake.
static void
check_signature (lua_State *L, const struct kind *kind, const char *name)
{
    int expected = 0;
    while (kind->parameters[expected])
        expected++;
    const char *parameter;
    for (int i = 0; (parameter = lua_getlocal (L, NULL, i + 1)); i++) {
        int place = index_of (kind->parameters, parameter);
        if (i < expected && (place == i || place < 0))
            continue;
        const char *why = i >= expected ? "is one too many" : "stands in another place";
        wrong (L, kind, name,
               lua_pushfstring (L, "parameter %d, %s, %s; write %s", i + 1, parameter, why,
                                kind->call));
    }
}

//  Checks the table at index 1; pushes name and function and returns the name.
static const char *
check (lua_State *L, const struct kind *kind)
{
    struct ag_act *act = ag_act (L);
    if (act->phase != AG_REGISTERING && act->phase != AG_LOADING)
        luaL_error (L, "ag.%s is for the time a pack loads: call it at the top level", kind->word);
    luaL_checktype (L, 1, LUA_TTABLE);
    if (lua_getfield (L, 1, "name") != LUA_TSTRING || !lua_rawlen (L, -1))
        luaL_error (L, "ag.%s: name = \"...\" is missing", kind->word);
    const char *name = lua_tostring (L, -1);
    check_fields (L, kind, name);
    if (lua_rawgeti (L, 1, 1) != LUA_TFUNCTION)
        wrong (L, kind, name,
               lua_pushfstring (L, "its function is missing; write %s ... end as the last entry",
                                kind->call));
    check_signature (L, kind, name);
    return name;
}

static void
put_field (lua_State *L, const char *field, const char *as, struct ag_buf *out, uint32_t *pairs)
{
    if (lua_getfield (L, 1, field) != LUA_TNIL) {
        ag_put_lit (out, as);
        ag_lua_put (L, -1, out, field);
        ++*pairs;
    }
    lua_pop (L, 1);
}

//  The type on top of the stack.
static void
check_type (lua_State *L, const struct kind *kind, const char *name)
{
    struct ag_buf *why = &ag_act (L)->value;
    ag_buf_clear (why);
    if (!ag_heard (ag_lua_text (L, -1), AG_BEHAVIOR, why))
        wrong (L, kind, name,
               lua_pushfstring (L, "on: %s", lua_pushlstring (L, (const char *)why->p, why->n)));
}

static void
check_on (lua_State *L, const struct kind *kind, const char *name)
{
    bool pattern = lua_getfield (L, 1, "pattern") != LUA_TNIL;
    bool any = lua_getfield (L, 1, "on") == LUA_TNIL && pattern; //  it hears every event
    bool list = lua_istable (L, -1) && lua_rawlen (L, -1);
    for (lua_Unsigned i = 1; list && i <= lua_rawlen (L, -1); i++) {
        list = lua_rawgeti (L, -1, (lua_Integer)i) == LUA_TSTRING;
        if (list)
            check_type (L, kind, name);
        lua_pop (L, 1);
    }
    if (!list && !any)
        wrong (L, kind, name, "on is a list of event types; write on = { \"goal.created\" }");
    lua_pop (L, 2);
}

//  Name and function are on top of the stack: into the slot, refusing a second of that name.
static void
keep (lua_State *L, const struct kind *kind, enum ag_slot slot)
{
    ag_slot_push (L, slot);
    lua_pushvalue (L, -3);
    if (lua_rawget (L, -2) != LUA_TNIL)
        wrong (L, kind, lua_tostring (L, -4), "a second one of that name");
    lua_pop (L, 1);
    lua_insert (L, -3);
    lua_rawset (L, -3);
    lua_pop (L, 1);
}

//  Value first, list after: a value that is refused leaves nothing half written.
static int
register_behavior (lua_State *L, const struct kind *kind)
{
    struct ag_act *act = ag_act (L);
    static const char *const same[] = {"on",   "where",          "pattern",
                                       "view", "activate_after", "priority"};
    uint32_t pairs = 2;
    const char *name = check (L, kind);
    check_on (L, kind, name);
    if (kind == &relation_behavior && lua_getfield (L, 1, "relation") != LUA_TSTRING)
        wrong (L, kind, name, "relation = \"...\" is missing: the type of the relations it is for");
    lua_settop (L, 3);
    ag_buf_clear (&act->value);
    size_t at = ag_open_map (&act->value);
    ag_put_lit (&act->value, "name");
    ag_put_lit (&act->value, name);
    ag_put_lit (&act->value, "pack");
    ag_put_text (&act->value, act->pack->name);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        put_field (L, same[i], same[i], &act->value, &pairs);
    put_field (L, "relation", "relation_type", &act->value, &pairs);
    ag_close (&act->value, at, pairs);
    keep (L, kind, AG_SLOT_BEHAVIORS);
    if (act->phase == AG_REGISTERING) {
        ag_put_value (act->behaviors, ag_buf_str (&act->value));
        act->behavior_count++;
    }
    return 0;
}

static int
ag_behavior (lua_State *L)
{
    return register_behavior (L, &behavior);
}

static int
ag_relation_behavior (lua_State *L)
{
    return register_behavior (L, &relation_behavior);
}

static int
ag_tool (lua_State *L)
{
    struct ag_act *act = ag_act (L);
    const char *name = check (L, &tool);
    ag_buf_clear (&act->value);
    ag_put_map (&act->value, 3);
    ag_put_lit (&act->value, "name");
    ag_put_lit (&act->value, name);
    ag_put_lit (&act->value, "pack");
    ag_put_text (&act->value, act->pack->name);
    ag_put_lit (&act->value, "schema");
    if (lua_getfield (L, 1, "args") != LUA_TTABLE)
        wrong (L, &tool, name, "args = { name = \"type\" } is missing");
    ag_lua_put (L, -1, &act->value, "args");
    lua_pop (L, 1);
    keep (L, &tool, AG_SLOT_TOOLS);
    if (act->phase == AG_REGISTERING) {
        ag_put_value (act->tools, ag_buf_str (&act->value));
        act->tool_count++;
    }
    return 0;
}

//  Texts.

static struct ag_str
bounded_text (lua_State *L, int index)
{
    struct ag_str text = ag_lua_text (L, index);
    luaL_argcheck (L, text.n <= MOST_TEXT, index, "more than 8 MiB");
    ag_guard_spend (L, text.n >> 3);
    return text;
}

static int
ag_text_similarity (lua_State *L)
{
    lua_pushnumber (L, ag_similarity (bounded_text (L, 1), bounded_text (L, 2)));
    return 1;
}

static int
ag_text_containment (lua_State *L)
{
    lua_pushnumber (L, ag_containment (bounded_text (L, 1), bounded_text (L, 2)));
    return 1;
}

static int
ag_text_utf8 (lua_State *L)
{
    struct ag_act *act = ag_act (L);
    struct ag_str text = bounded_text (L, 1);
    lua_Integer most = luaL_optinteger (L, 2, (lua_Integer)text.n);
    ag_buf_clear (&act->value);
    ag_clean (text, most > 0 ? (size_t)most : 0, &act->value);
    lua_pushlstring (L, (const char *)act->value.p, act->value.n);
    return 1;
}

//  Upvalues of an iterator: the text, and where the rest of it starts.
static struct ag_str
rest_of_text (lua_State *L)
{
    struct ag_str text = ag_lua_text (L, lua_upvalueindex (1));
    size_t at = (size_t)lua_tointeger (L, lua_upvalueindex (2));
    return (struct ag_str){text.p + at, text.n - at};
}

static void
go_on_from (lua_State *L, size_t at)
{
    lua_pushinteger (L, (lua_Integer)at);
    lua_replace (L, lua_upvalueindex (2));
}

static int
next_line (lua_State *L)
{
    struct ag_str rest = rest_of_text (L);
    size_t at = (size_t)lua_tointeger (L, lua_upvalueindex (2));
    if (!rest.n)
        return lua_pushnil (L), 1;
    const char *end = memchr (rest.p, '\n', rest.n);
    size_t n = end ? (size_t)(end - rest.p) : rest.n;
    go_on_from (L, at + n + (end != NULL));
    lua_pushlstring (L, rest.p, n && rest.p[n - 1] == '\r' ? n - 1 : n);
    return 1;
}

static int
next_word (lua_State *L)
{
    struct ag_str rest = rest_of_text (L), word;
    size_t at = (size_t)lua_tointeger (L, lua_upvalueindex (2)), before = rest.n;
    if (!ag_word (&rest, &word))
        return lua_pushnil (L), 1;
    go_on_from (L, at + before - rest.n);
    lua_pushlstring (L, word.p, word.n);
    return 1;
}

static int
iterate (lua_State *L, lua_CFunction next)
{
    ag_lua_text (L, 1);
    lua_settop (L, 1);
    lua_pushinteger (L, 0);
    lua_pushcclosure (L, next, 2);
    return 1;
}

static int
ag_lines (lua_State *L)
{
    return iterate (L, next_line);
}

static int
ag_words (lua_State *L)
{
    return iterate (L, next_word);
}

//  Marks a table as a list, so that it is one even while it is empty.
static int
ag_list (lua_State *L)
{
    if (lua_isnoneornil (L, 1)) {
        lua_settop (L, 0);
        lua_newtable (L);
    }
    luaL_checktype (L, 1, LUA_TTABLE);
    lua_settop (L, 1);
    ag_slot_push (L, AG_SLOT_LIST);
    lua_setmetatable (L, 1);
    return 1;
}

static const luaL_Reg functions[] = {
#define AG(name, kind, own) {name, own},
#include "schemas/script.def"
    {NULL, NULL},
};

static const char field_names[] =
#define AG(name, kind, own) ", " name
#include "schemas/script.def"
    ;

void
ag_open_ag (lua_State *L)
{
    luaL_newlib (L, functions);
    lua_pushlightuserdata (L, NULL);
    lua_setfield (L, -2, "null");
    ag_make_strict (L, "ag", field_names + 2);
    lua_setfield (L, -2, "ag");
}

static int
no_such_field (lua_State *L)
{
    ag_push_shown (L, 2);
    return luaL_error (L, "%s has no %s; it has %s", lua_tostring (L, lua_upvalueindex (1)),
                       lua_tostring (L, -1), lua_tostring (L, lua_upvalueindex (2)));
}

void
ag_make_strict (lua_State *L, const char *name, const char *fields)
{
    lua_createtable (L, 0, 1);
    lua_pushstring (L, name);
    lua_pushstring (L, fields);
    lua_pushcclosure (L, no_such_field, 2);
    lua_setfield (L, -2, "__index");
    lua_setmetatable (L, -2);
}
