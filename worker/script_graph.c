//  script_graph - the table `graph`, its reads: the run as this invocation sees it.
//  SPDX-License-Identifier: Apache-2.0
#include "worker/script_graph.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PAGES = 10000, MOST_DEPTH = 8 };

//  In the table stand: nothing, false, 0, or the bytes.

//  What is known of an id; the bytes are a borrow from the table. As all below, leaves the stack alone.
enum ag_known
ag_known (lua_State *L, struct ag_str id, struct ag_str *thing)
{
    ag_slot_push (L, AG_SLOT_THINGS);
    lua_pushlstring (L, id.p, id.n);
    int type = lua_rawget (L, -2);
    if (type == LUA_TSTRING)
        thing->p = lua_tolstring (L, -1, &thing->n);
    lua_pop (L, 2);
    return type == LUA_TSTRING   ? AG_PRESENT
           : type == LUA_TNUMBER ? AG_REMOVED
           : type == LUA_TNIL    ? AG_UNKNOWN
                                 : AG_ABSENT;
}

void
ag_know (lua_State *L, struct ag_str id, enum ag_known what, struct ag_str thing)
{
    ag_slot_push (L, AG_SLOT_THINGS);
    lua_pushlstring (L, id.p, id.n);
    if (what == AG_PRESENT)
        lua_pushlstring (L, thing.p, thing.n);
    else if (what == AG_REMOVED)
        lua_pushinteger (L, 0);
    else
        lua_pushboolean (L, 0);
    lua_rawset (L, -3);
    lua_pop (L, 1);
}

struct ag_str
ag_thing_text (struct ag_str thing, const char *name)
{
    struct ag_str text = {0};
    ag_map_text (thing, name, &text);
    return text;
}

//  Asking.

//  The elements of a list of an answer, one after the other: learned where they are new.
static bool
learn_next (lua_State *L, struct ag_cursor *in, struct ag_str *id)
{
    struct ag_str thing, before;
    if (ag_take (in, &thing))
        return false;
    *id = ag_thing_text (thing, "id");
    if (!id->p)
        luaL_error (L, "the supervisor sent a thing without an id");
    if (ag_known (L, *id, &before) == AG_UNKNOWN)
        ag_know (L, *id, AG_PRESENT, thing);
    return true;
}

static struct ag_cursor
open_list (struct ag_str answer, const char *key)
{
    struct ag_str list = {0};
    struct ag_head head;
    ag_map_get (answer, key, &list);
    struct ag_cursor in = ag_cursor (list);
    if (ag_next (&in, &head) || head.kind != AG_LIST)
        in.p = in.end;
    return in;
}

static void
learn_all (lua_State *L, struct ag_str answer, const char *key)
{
    struct ag_str id;
    struct ag_cursor in = open_list (answer, key);
    while (learn_next (L, &in, &id))
        ;
}

//  What the supervisor has for {what: of}; a page goes on behind `after`, unless its p is NULL.
static struct ag_str
ask (lua_State *L, const char *what, struct ag_str of, struct ag_str after)
{
    struct ag_act *act = ag_act (L);
    struct agsup_value answer;
    if (act->phase != AG_RUNNING)
        luaL_error (L, "a tool does not read the graph; give it what it needs as args");
    int rc = after.p ? agsup_get (act->link, &answer, "{%s: %.*s, 'after': %.*s}", what,
                                  AG_STR_ARG (of), AG_STR_ARG (after))
                     : agsup_get (act->link, &answer, "{%s: %.*s}", what, AG_STR_ARG (of));
    if (rc)
        ag_raise_link (L);
    return (struct ag_str){answer.bytes, answer.size};
}

//  The thing as it is now, asked for when it is not known: a borrow; p NULL when there is none.
struct ag_str
ag_look_up (lua_State *L, struct ag_str id)
{
    struct ag_str thing = {0};
    if (ag_known (L, id, &thing) == AG_UNKNOWN) {
        struct ag_str answer = ask (L, "id", id, (struct ag_str){0});
        learn_all (L, answer, "objects");
        learn_all (L, answer, "relations");
        if (ag_known (L, id, &thing) == AG_UNKNOWN)
            ag_know (L, id, AG_ABSENT, thing);
    }
    return thing;
}

//  Append to the list on top of the stack the ids that the supervisor has for a question, page by page.
static void
ask_ids (lua_State *L, const char *what, struct ag_str of, const char *key)
{
    struct ag_act *act = ag_act (L);
    struct ag_str after = {0};
    bool more = true;
    for (int page = 0; more && page < MOST_PAGES; page++) {
        struct ag_str id = {0}, answer = ask (L, what, of, after);
        struct ag_cursor in = open_list (answer, key);
        while (learn_next (L, &in, &id)) {
            lua_pushlstring (L, id.p, id.n);
            lua_rawseti (L, -2, (lua_Integer)lua_rawlen (L, -2) + 1);
        }
        if (ag_map_bool (answer, "more", &more) || !id.p)
            return;
        ag_map_text (answer, "next", &id);
        ag_buf_clear (&act->reply);
        ag_buf_add_str (&act->reply, id);
        after = ag_buf_str (&act->reply);
    }
}

//  Scans: the ids of all pages and of all that was made here, sorted; then those that pass.

struct sieve {
    bool relations;
    struct ag_str type, of; //  p NULL: any
};

static bool
was_removed (lua_State *L, struct ag_str id)
{
    struct ag_str thing;
    return ag_known (L, id, &thing) == AG_REMOVED;
}

static bool
passes (lua_State *L, const struct sieve *sieve, struct ag_str thing)
{
    struct ag_str source = ag_thing_text (thing, "source"),
                  target = ag_thing_text (thing, "target");
    if (sieve->relations != (source.p != NULL))
        return false;
    if (sieve->type.p && !ag_str_eq (sieve->type, ag_thing_text (thing, "type")))
        return false;
    if (!sieve->relations)
        return true;
    if (sieve->of.p && !ag_str_eq (source, sieve->of) && !ag_str_eq (target, sieve->of))
        return false;
    return !was_removed (L, source) && !was_removed (L, target);
}

//  Push an array of the texts in the list below it, sorted and each once; how many is in n.
static struct ag_str *
push_sorted (lua_State *L, size_t *n)
{
    size_t count = lua_rawlen (L, -1), kept = 0;
    struct ag_str *ids = lua_newuserdatauv (L, (count + 1) * sizeof *ids, 0);
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti (L, -2, (lua_Integer)i + 1);
        ids[i].p = lua_tolstring (L, -1, &ids[i].n);
        lua_pop (L, 1);
    }
    qsort (ids, count, sizeof *ids, ag_str_order);
    ag_guard_spend (L, 4 * count);
    for (size_t i = 0; i < count; i++)
        if (!i || !ag_str_eq (ids[i], ids[kept - 1]))
            ids[kept++] = ids[i];
    *n = kept;
    return ids;
}

static void
push_list (lua_State *L)
{
    lua_newtable (L);
    ag_slot_push (L, AG_SLOT_LIST);
    lua_setmetatable (L, -2);
}

//  Replace the list of ids on top of the stack by the list of the things that pass, in order of id.
static void
sift (lua_State *L, const struct sieve *sieve)
{
    size_t n, kept = 0;
    struct ag_str *ids = push_sorted (L, &n), thing;
    push_list (L);
    for (size_t i = 0; i < n; i++)
        if (ag_known (L, ids[i], &thing) == AG_PRESENT && passes (L, sieve, thing)) {
            ag_lua_push (L, thing);
            lua_rawseti (L, -2, (lua_Integer)++kept);
        }
    lua_replace (L, -3);
    lua_pop (L, 1);
}

static void
add_made (lua_State *L)
{
    ag_slot_push (L, AG_SLOT_MADE);
    for (lua_Integer i = 1; lua_rawgeti (L, -1, i) != LUA_TNIL; i++)
        lua_rawseti (L, -3, (lua_Integer)lua_rawlen (L, -3) + 1);
    lua_pop (L, 2);
}

static void
push_objects (lua_State *L, struct ag_str type)
{
    struct sieve sieve = {.type = type};
    lua_newtable (L);
    ask_ids (L, "type", type, "objects");
    add_made (L);
    sift (L, &sieve);
}

//  What was made here is not asked for: the supervisor does not know it yet.
static void
push_relations (lua_State *L, struct ag_str of, struct ag_str type)
{
    struct sieve sieve = {true, type, of};
    lua_newtable (L);
    ag_slot_push (L, AG_SLOT_MADE);
    lua_pushlstring (L, of.p, of.n);
    bool made = lua_rawget (L, -2) != LUA_TNIL;
    lua_pop (L, 2);
    if (!made && !was_removed (L, of))
        ask_ids (L, "relations_of", of, "relations");
    add_made (L);
    sift (L, &sieve);
}

//  Arguments.

//  What the supervisor takes as an id or a type.
static bool
is_id (struct ag_str id)
{
    bool good = id.n && id.n <= 256 && ag_utf8 (id);
    for (size_t i = 0; good && i < id.n; i++)
        good = (unsigned char)id.p[i] > ' ' && id.p[i] != 127 && id.p[i] != '@';
    return good;
}

static const char id_rule[] =
    "an id or type is 1 to 256 bytes without space, control character or @";

struct ag_str
ag_check_id (lua_State *L, int index)
{
    struct ag_str id = ag_lua_text (L, index);
    luaL_argcheck (L, is_id (id), index, id_rule);
    return id;
}

struct ag_str
ag_check_option (lua_State *L, int index, const char *name)
{
    struct ag_str id = {0};
    if (lua_isnoneornil (L, index))
        return id;
    luaL_checktype (L, index, LUA_TTABLE);
    if (lua_getfield (L, index, name) != LUA_TNIL) {
        id = ag_lua_text (L, -1);
        luaL_argcheck (L, is_id (id), index, id_rule);
    }
    lua_pop (L, 1);
    return id;
}

//  The functions.

static int
graph_get (lua_State *L)
{
    struct ag_str thing = ag_look_up (L, ag_check_id (L, 1));
    if (thing.p)
        ag_lua_push (L, thing);
    else
        lua_pushnil (L);
    return 1;
}

static int
graph_objects (lua_State *L)
{
    luaL_checktype (L, 1, LUA_TTABLE);
    struct ag_str type = ag_check_option (L, 1, "type");
    luaL_argcheck (L, type.n, 1, "write graph.objects { type = \"...\" }");
    push_objects (L, type);
    return 1;
}

static int
graph_relations (lua_State *L)
{
    luaL_checktype (L, 1, LUA_TTABLE);
    struct ag_str of = ag_check_option (L, 1, "of");
    luaL_argcheck (L, of.n, 1, "write graph.relations { of = id } or { of = id, type = \"...\" }");
    push_relations (L, of, ag_check_option (L, 1, "type"));
    return 1;
}

//  Append value (an index) to the list and mark it, unless it is marked already.
static void
note (lua_State *L, int value, int list, int seen)
{
    value = lua_absindex (L, value);
    lua_pushvalue (L, value);
    if (lua_rawget (L, seen) == LUA_TNIL) {
        lua_pushvalue (L, value);
        lua_pushboolean (L, 1);
        lua_rawset (L, seen);
        lua_pushvalue (L, value);
        lua_rawseti (L, list, (lua_Integer)lua_rawlen (L, list) + 1);
    }
    lua_pop (L, 1);
}

enum { NODES = 3, EDGES, SEEN }; //  places on the stack of graph_around

//  Note every relation of an object, and what is at its other end.
static void
spread (lua_State *L, struct ag_str node)
{
    push_relations (L, node, (struct ag_str){0});
    lua_Integer n = (lua_Integer)lua_rawlen (L, -1);
    for (lua_Integer i = 1; i <= n; i++) {
        lua_rawgeti (L, -1, i);
        lua_getfield (L, -1, "id");
        note (L, -1, EDGES, SEEN);
        lua_getfield (L, -2, "source");
        note (L, -1, NODES, SEEN);
        lua_getfield (L, -3, "target");
        note (L, -1, NODES, SEEN);
        lua_pop (L, 4);
    }
    lua_pop (L, 1);
}

//  Breadth first, along relations in both directions, from an object to so many steps away.
static int
graph_around (lua_State *L)
{
    struct sieve objects = {0}, relations = {.relations = true};
    ag_check_id (L, 1);
    lua_Integer depth = luaL_optinteger (L, 2, 1), done = 0;
    luaL_argcheck (L, depth >= 0 && depth <= MOST_DEPTH, 2, "depth is 0 to 8");
    lua_settop (L, 2);
    for (int i = NODES; i <= SEEN; i++)
        lua_newtable (L);
    note (L, 1, NODES, SEEN);
    for (lua_Integer step = 0, end; step <= depth; step++)
        for (end = (lua_Integer)lua_rawlen (L, NODES); done < end; lua_settop (L, SEEN)) {
            lua_rawgeti (L, NODES, ++done);
            ag_look_up (L, ag_lua_text (L, -1));
            if (step < depth)
                spread (L, ag_lua_text (L, -1));
        }
    lua_newtable (L);
    lua_pushvalue (L, NODES);
    sift (L, &objects);
    lua_setfield (L, -2, "objects");
    lua_pushvalue (L, EDGES);
    sift (L, &relations);
    lua_setfield (L, -2, "relations");
    return 1;
}

static const luaL_Reg functions[] = {
    {"get", graph_get},
    {"objects", graph_objects},
    {"relations", graph_relations},
    {"around", graph_around},
    {NULL, NULL},
};

void
ag_learn_view (lua_State *L, struct ag_str view)
{
    learn_all (L, view, "objects");
    learn_all (L, view, "relations");
}

static const char field_names[] =
#define GRAPH(name) ", " name
#include "schemas/script.def"
    ;

void
ag_open_graph (lua_State *L)
{
    luaL_newlib (L, functions);
    ag_add_changes (L);
    ag_make_strict (L, "graph", field_names + 2);
    ag_slot_set (L, AG_SLOT_GRAPH);
}
