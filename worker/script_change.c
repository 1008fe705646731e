//  script_change - the table `graph`, its changes: gathered in the list for `done`, visible at once to
//  the reads of the same invocation.
//  SPDX-License-Identifier: Apache-2.0
#include "worker/script_graph.h"
#include "common/items.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_OPS_BYTES = 7 << 20 };

//  The map at index, {} when it is absent, as bytes in act->value.
static struct ag_str
read_data (lua_State *L, int index)
{
    struct ag_act *act = ag_act (L);
    ag_buf_clear (&act->value);
    if (lua_isnoneornil (L, index))
        ag_put_map (&act->value, 0);
    else {
        luaL_checktype (L, index, LUA_TTABLE);
        ag_lua_put (L, index, &act->value, "data");
    }
    if (ag_kind_of (ag_buf_str (&act->value)) != AG_MAP)
        luaL_argerror (L, index, "a map of fields, not a list");
    return ag_buf_str (&act->value);
}

//  Opens an operation of so many fields in the list for `done`; its data is in act->value.
static struct ag_buf *
add_op (lua_State *L, const char *op, uint32_t fields)
{
    struct ag_act *act = ag_act (L);
    if (act->phase != AG_RUNNING)
        luaL_error (L, "a tool does not change the graph; let the behaviour that calls it do it");
    if (act->ops.n + act->value.n > MOST_OPS_BYTES)
        luaL_error (
            L, "more than 7 MiB of changes in one invocation; emit events and spread the work");
    act->op_count++;
    ag_put_map (&act->ops, fields + 1);
    ag_put_lit (&act->ops, "op");
    ag_put_lit (&act->ops, op);
    return &act->ops;
}

static void
put (struct ag_buf *out, const char *name, struct ag_str text)
{
    ag_put_lit (out, name);
    ag_put_text (out, text);
}

static void
put_data (struct ag_buf *out, const char *name, struct ag_str data)
{
    ag_put_lit (out, name);
    ag_put_value (out, data);
}

//  The id that the caller gave, or the next one of the block that this invocation may mint from.
static struct ag_str
new_id (lua_State *L, struct ag_str given, const char *format, struct ag_str type, uint64_t *next)
{
    struct ag_act *act = ag_act (L);
    struct ag_str thing, id = given;
    if (!given.p) {
        char dotted[40], text[400];
        snprintf (dotted, sizeof dotted, "%s%s", act->tag, *act->tag ? "." : "");
        int n = snprintf (text, sizeof text, format, AG_STR_ARG (type), dotted, (*next)++);
        id.p = lua_pushlstring (L, text, (size_t)n);
        id.n = (size_t)n;
    }
    enum ag_known before = ag_known (L, id, &thing);
    if (before == AG_PRESENT || before == AG_REMOVED)
        luaL_error (L, "id %s is used already; an id names one thing in a run for ever", id.p);
    return id;
}

//  Note that this invocation made it; the thing is in act->reply. Pushes the id.
static int
made (lua_State *L, struct ag_str id)
{
    ag_know (L, id, AG_PRESENT, ag_buf_str (&ag_act (L)->reply));
    ag_slot_push (L, AG_SLOT_MADE);
    lua_pushlstring (L, id.p, id.n);
    lua_pushvalue (L, -1);
    lua_rawseti (L, -3, (lua_Integer)lua_rawlen (L, -3) + 1);
    lua_pushvalue (L, -1);
    lua_pushboolean (L, 1);
    lua_rawset (L, -4);
    return 1;
}

//  An object as it is after a change, in act->reply.
static void
keep_object (lua_State *L, struct ag_str id, struct ag_str type, struct ag_str data,
             uint64_t version)
{
    struct ag_buf *out = &ag_act (L)->reply;
    ag_buf_clear (out);
    ag_put_map (out, 4);
    put (out, "id", id);
    put (out, "type", type);
    put_data (out, "data", data);
    ag_put_lit (out, "version");
    ag_put_uint (out, version);
}

static int
graph_add_object (lua_State *L)
{
    struct ag_act *act = ag_act (L);
    struct ag_str type = ag_check_id (L, 1), data = read_data (L, 2),
                  given = ag_check_option (L, 3, "id");
    struct ag_str id = new_id (L, given, "%.*s#%s%" PRIu64, type, &act->next_object);
    struct ag_buf *op = add_op (L, "add_object", 3);
    put (op, "type", type);
    put_data (op, "data", data);
    put (op, "id", id);
    keep_object (L, id, type, data, 1);
    return made (L, id);
}

//  The object at argument 1, which has to exist.
static struct ag_str
need_object (lua_State *L, const char *function)
{
    struct ag_str id = ag_check_id (L, 1), thing = ag_look_up (L, id);
    if (!thing.p)
        luaL_error (L, "graph.%s: there is no object %s", function, id.p);
    if (ag_thing_text (thing, "source").p)
        luaL_error (L, "graph.%s: %s is a relation, and a relation does not change", function,
                    id.p);
    return thing;
}

//  What one pair of a map counts for, besides its bytes.
enum { PAIR = 16, BYTES_SHIFT = 6 };

//  Push an array of the keys of a map that came from Lua, which stand in the order of their bytes.
static const struct ag_str *
push_keys (lua_State *L, struct ag_str map)
{
    struct ag_items pairs = ag_pairs_of (map);
    struct ag_str value, *keys = lua_newuserdatauv (L, ((size_t)pairs.left + 1) * sizeof *keys, 0);
    for (struct ag_str *key = keys; ag_pairs_next (&pairs, key, &value); key++)
        ;
    return keys;
}

//  The fields of base that over does not have, then those of over, as one map; keys: those of over, sorted.
static void
merge (struct ag_str base, struct ag_str over, const struct ag_str *keys, struct ag_buf *out)
{
    uint32_t kept = 0;
    struct ag_str key, value;
    struct ag_items old = ag_pairs_of (base), new = ag_pairs_of (over);
    size_t at = ag_open_map (out);
    while (ag_pairs_next (&old, &key, &value))
        if (!bsearch (&key, keys, new.left, sizeof *keys, ag_str_order)) {
            ag_put_text (out, key);
            ag_put_value (out, value);
            kept++;
        }
    ag_buf_add (out, new.in.p, (size_t)(new.in.end - new.in.p));
    ag_close (out, at, kept + new.left);
}

//  Account for a merge before it is begun, since it must not be left by an error.
static void
spend (lua_State *L, struct ag_str base, struct ag_str over)
{
    size_t pairs = (size_t)ag_pairs_of (base).left + ag_pairs_of (over).left;
    ag_guard_spend (L, PAIR * pairs + ((base.n + over.n) >> BYTES_SHIFT));
}

static int
change (lua_State *L, const char *function, const char *op_name, bool whole)
{
    struct ag_str thing = need_object (L, function), id = ag_lua_text (L, 1), old = {0};
    struct ag_buf merged = {0};
    uint64_t version = 0;
    luaL_checktype (L, 2, LUA_TTABLE);
    struct ag_str data = read_data (L, 2);
    struct ag_buf *op = add_op (L, op_name, 2);
    put (op, "id", id);
    put_data (op, "data", data);
    if (!whole)
        ag_map_get (thing, "data", &old);
    ag_map_uint (thing, "version", &version);
    const struct ag_str *keys = push_keys (L, data);
    spend (L, old, data);
    merge (old, data, keys, &merged);
    keep_object (L, id, ag_thing_text (thing, "type"), ag_buf_str (&merged), version + 1);
    ag_buf_fini (&merged);
    ag_know (L, id, AG_PRESENT, ag_buf_str (&ag_act (L)->reply));
    return 0;
}

static int
graph_patch (lua_State *L)
{
    return change (L, "patch", "patch_object", false);
}

static int
graph_replace (lua_State *L)
{
    return change (L, "replace", "replace_object", true);
}

//  Relations that go with an object need no mark of their own: passes asks for both ends.
static int
drop (lua_State *L, const char *function, const char *op_name)
{
    struct ag_str id = ag_check_id (L, 1), thing;
    enum ag_known before = ag_known (L, id, &thing);
    if (before == AG_REMOVED || before == AG_ABSENT)
        luaL_error (L, "graph.%s: there is no %s", function, id.p);
    ag_buf_clear (&ag_act (L)->value);
    put (add_op (L, op_name, 1), "id", id);
    ag_know (L, id, AG_REMOVED, thing);
    return 0;
}

static int
graph_remove (lua_State *L)
{
    return drop (L, "remove", "remove_object");
}

static int
graph_unrelate (lua_State *L)
{
    return drop (L, "unrelate", "remove_relation");
}

static int
graph_relate (lua_State *L)
{
    struct ag_act *act = ag_act (L);
    struct ag_str source = ag_check_id (L, 1), target = ag_check_id (L, 2),
                  type = ag_check_id (L, 3);
    struct ag_str data = read_data (L, 4), given = ag_check_option (L, 5, "id"), thing;
    if (ag_known (L, source, &thing) == AG_REMOVED || ag_known (L, target, &thing) == AG_REMOVED)
        luaL_error (L, "graph.relate: an end was removed by this invocation");
    struct ag_str id = new_id (L, given, "%.*srel_%s%03" PRIu64, AG_LIT (""), &act->next_relation);
    for (int i = 0; i < 2; i++) {
        struct ag_buf *out = i ? &act->reply : add_op (L, "add_relation", 5);
        if (i) {
            ag_buf_clear (out);
            ag_put_map (out, 5);
        }
        put (out, "id", id);
        put (out, "source", source);
        put (out, "target", target);
        put (out, "type", type);
        put_data (out, "data", data);
    }
    return made (L, id);
}

static int
graph_emit (lua_State *L)
{
    struct ag_str type = ag_check_id (L, 1), payload = read_data (L, 2);
    struct ag_buf *op = add_op (L, "emit", 2);
    put (op, "type", type);
    put_data (op, "payload", payload);
    return 0;
}

//  Options of graph.propose: what each adds to the operation; the evidence is in act->reply.
struct proposal {
    bool replace;
    struct ag_str rationale, evidence; //  p NULL: none
};

static struct proposal
read_proposal (lua_State *L, int index)
{
    struct proposal options = {0};
    struct ag_buf *evidence = &ag_act (L)->reply;
    if (lua_isnoneornil (L, index))
        return options;
    luaL_checktype (L, index, LUA_TTABLE);
    lua_getfield (L, index, "replace");
    options.replace = lua_toboolean (L, -1);
    if (lua_getfield (L, index, "rationale") != LUA_TNIL)
        options.rationale = ag_lua_text (L, -1);
    if (lua_getfield (L, index, "evidence") != LUA_TNIL) {
        ag_buf_clear (evidence);
        ag_lua_put (L, -1, evidence, "evidence");
        options.evidence = ag_buf_str (evidence);
        luaL_argcheck (L, ag_kind_of (options.evidence) == AG_LIST, index, "evidence is a list");
    }
    return options;
}

//  graph.propose (id, fields, { replace =, rationale =, evidence = }): what the invocation calls the patch.
static int
graph_propose (lua_State *L)
{
    struct ag_act *act = ag_act (L);
    struct ag_str thing = need_object (L, "propose"), id = ag_lua_text (L, 1);
    uint64_t version = 0;
    char name[24];
    luaL_checktype (L, 2, LUA_TTABLE);
    struct proposal options = read_proposal (L, 3);
    struct ag_str data = read_data (L, 2);
    ag_map_uint (thing, "version", &version);
    snprintf (name, sizeof name, "@patch-%u", (unsigned)act->op_count + 1);
    struct ag_buf *op = add_op (L, "propose_patch",
                                5 + (options.rationale.p != NULL) + (options.evidence.p != NULL));
    put (op, "id", id);
    put_data (op, "data", data);
    put (op, "change", options.replace ? AG_LIT ("replace") : AG_LIT ("update"));
    ag_put_lit (op, "expected_version");
    ag_put_uint (op, version);
    put (op, "as", ag_str (name + 1));
    if (options.rationale.p)
        put (op, "rationale", options.rationale);
    if (options.evidence.p)
        put_data (op, "evidence", options.evidence);
    lua_pushstring (L, name);
    return 1;
}

static int
graph_apply (lua_State *L)
{
    struct ag_str patch = ag_lua_text (L, 1);
    ag_buf_clear (&ag_act (L)->value);
    put (add_op (L, "apply_patch", 1), "patch", patch);
    return 0;
}

static int
graph_reject (lua_State *L)
{
    struct ag_str patch = ag_lua_text (L, 1), reason = {0};
    if (!lua_isnoneornil (L, 2))
        reason = ag_lua_text (L, 2);
    ag_buf_clear (&ag_act (L)->value);
    struct ag_buf *op = add_op (L, "reject_patch", 1 + (reason.p != NULL));
    put (op, "patch", patch);
    if (reason.p)
        put (op, "reason", reason);
    return 0;
}

static const luaL_Reg functions[] = {
    {"add_object", graph_add_object}, {"patch", graph_patch},   {"replace", graph_replace},
    {"remove", graph_remove},         {"relate", graph_relate}, {"add_relation", graph_relate},
    {"unrelate", graph_unrelate},     {"emit", graph_emit},     {"propose", graph_propose},
    {"apply", graph_apply},           {"reject", graph_reject}, {NULL, NULL},
};

void
ag_add_changes (lua_State *L)
{
    luaL_setfuncs (L, functions, 0);
}
