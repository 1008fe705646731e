//  SPDX-License-Identifier: Apache-2.0
#include "worker/script_graph.h"

#include <stdlib.h>
#include <string.h>

//  Copies of loaded states, of all packs together, take this part of a script's memory at most, which the rest that is
//  not the script's has room for (large blocks that a script changes are kept beside their copies), and so many bytes.
//  A state for which there is no room is loaded again for each invocation.
enum { COPIES_PART = 8, COPIES_BYTES = 64 << 20 };

struct place {
    char *behavior;
    const struct ag_pack *pack;
};

struct ag_script {
    agsup_t *link;
    const struct ag_packs *packs;
    const char *grants;
    struct ag_script_limits limits;
    struct place *places; //  which pack has which behaviour
    size_t count;
    struct ag_buf tools; //  as they were registered, one after the other
    struct ag_act *acts; //  one a pack; with a state once an invocation needed it
    struct ag_act *used; //  whose state is not yet what it was
    size_t room;         //  for copies of more states
    const char *met;     //  type of what the last load failed by; NULL: nothing was loaded
};

//  What there is of an invocation outside of its state.
static void
forget (struct ag_act *act)
{
    ag_buf_fini (&act->ops);
    ag_buf_fini (&act->value);
    ag_buf_fini (&act->reply);
    ag_buf_fini (&act->message);
    ag_buf_fini (&act->traceback);
}

static void
act_fini (struct ag_act *act)
{
    ag_pool_fini (&act->pool); //  that is all that a state has
    forget (act);
    act->L = NULL;
}

ag_script_t *
ag_script_new (agsup_t *link, const struct ag_packs *packs, const char *grants,
               struct ag_script_limits limits)
{
    ag_script_t *self = ag_xcalloc (1, sizeof *self);
    self->link = link;
    self->packs = packs;
    self->grants = grants;
    self->limits = limits;
    self->room = limits.memory_bytes / COPIES_PART;
    if (self->room > COPIES_BYTES)
        self->room = COPIES_BYTES;
    self->acts = ag_xcalloc (packs->count ? packs->count : 1, sizeof *self->acts);
    return self;
}

void
ag_script_destroy (ag_script_t **self_p)
{
    ag_script_t *self = *self_p;
    if (!self)
        return;
    for (size_t i = 0; i < self->packs->count; i++)
        act_fini (&self->acts[i]);
    free (self->acts);
    for (size_t i = 0; i < self->count; i++)
        free (self->places[i].behavior);
    free (self->places);
    ag_buf_fini (&self->tools);
    free (self);
    *self_p = NULL;
}

//  Files of the pack.

static int
keep (lua_State *L, const void *bytes, size_t n, void *arg)
{
    (void)L;
    ag_buf_add (arg, bytes, n);
    return 0;
}

static void
compile (lua_State *L, struct ag_pack_file *file)
{
    const struct ag_pack *pack = ag_act (L)->pack;
    const char *name =
        lua_pushfstring (L, "@%s/%s", lua_pushlstring (L, pack->name.p, pack->name.n),
                         lua_pushlstring (L, file->path.p, file->path.n));
    int rc = luaL_loadbufferx (L, file->bytes.p, file->bytes.n, name, "t");
    if (!rc)
        lua_dump (L, keep, &file->compiled, 0);
    else if (rc != LUA_ERRMEM)
        ag_buf_add_str (&file->fault, ag_lua_text (L, -1));
    lua_settop (L, 0);
}

//  A pack brings text only. All of it is compiled once, before any of it runs: a parser counts the calls that it
//  stands in and takes memory and time, which a `require` would meet or not by what was required before in this
//  process. It saves time too (16 KiB: 0.9 ms from text, a tenth of that from byte code). A fault is for who
//  requires the file.
static int
compile_all (lua_State *L)
{
    const struct ag_pack *pack = ag_act (L)->pack;
    for (size_t i = 0; i < pack->count; i++) {
        struct ag_str path = pack->files[i].path;
        if (path.n >= 4 && !memcmp (path.p + path.n - 4, ".lua", 4))
            compile (L, &pack->files[i]);
        ag_guard_spend (L, AG_GUARD_NOW);
    }
    return 0;
}

//  Push the function that a file of the pack is; without byte code and without a fault it was too large to compile.
static void
load_file (lua_State *L, const struct ag_pack_file *file)
{
    if (file->fault.n) {
        lua_pushlstring (L, (const char *)file->fault.p, file->fault.n);
        lua_error (L);
    }
    if (!file->compiled.n) {
        ag_guard_trip (ag_act (L), AG_TRIP_MEMORY);
        luaL_error (L, "not enough memory");
    }
    if (luaL_loadbufferx (L, (const char *)file->compiled.p, file->compiled.n, "=pack", "b"))
        lua_error (L);
    ag_slot_push (L, AG_SLOT_ENV);
    lua_setupvalue (L, -2, 1);
}

//  The file that a module's name stands for: "a.b" is a/b.lua.
static const struct ag_pack_file *
find_module (lua_State *L, const char *name)
{
    luaL_gsub (L, name, ".", "/");
    lua_pushliteral (L, ".lua");
    lua_concat (L, 2);
    const struct ag_pack_file *file = ag_pack_find (ag_act (L)->pack, ag_lua_text (L, -1));
    if (!file)
        luaL_error (L, "require \"%s\": the pack has no file %s; nothing else can be required",
                    name, lua_tostring (L, -1));
    return file;
}

//  Closes a loading: after an error nothing stands for the module (upvalue: its path), so the next who requires it
//  meets the error itself.
static int
end_loading (lua_State *L)
{
    if (lua_isnil (L, 2))
        return 0;
    ag_slot_push (L, AG_SLOT_LOADED);
    lua_pushvalue (L, lua_upvalueindex (1));
    lua_pushnil (L);
    lua_rawset (L, -3);
    return 0;
}

//  A table that is its own metatable, with the path on top of the stack.
static void
begin_loading (lua_State *L)
{
    lua_pushcclosure (L, end_loading, 1);
    lua_createtable (L, 0, 1);
    lua_insert (L, -2);
    lua_setfield (L, -2, "__close");
    lua_pushvalue (L, -1);
    lua_setmetatable (L, -2);
    lua_toclose (L, -1);
}

//  While a module loads, false stands for it: who meets that requires in a circle. What stands there goes by the path,
//  since "a/b" is the file of "a.b".
int
ag_require (lua_State *L)
{
    enum { NAME = 1, PATH, LOADED };
    const char *name = luaL_checkstring (L, NAME);
    const struct ag_pack_file *file = find_module (L, name);
    lua_settop (L, NAME);
    lua_pushlstring (L, file->path.p, file->path.n);
    ag_slot_push (L, AG_SLOT_LOADED);
    lua_pushvalue (L, PATH);
    int type = lua_rawget (L, LOADED);
    if (type == LUA_TBOOLEAN && !lua_toboolean (L, -1))
        return luaL_error (L, "require \"%s\" is a circle: it is loading already", name);
    if (type != LUA_TNIL)
        return 1;
    lua_pushvalue (L, PATH);
    begin_loading (L);
    lua_pushvalue (L, PATH);
    lua_pushboolean (L, 0);
    lua_rawset (L, LOADED);
    load_file (L, file);
    lua_call (L, 0, 1);
    if (!lua_toboolean (L, -1)) {
        lua_pop (L, 1);
        lua_pushboolean (L, 1);
    }
    lua_pushvalue (L, PATH);
    lua_pushvalue (L, -2);
    lua_rawset (L, LOADED);
    return 1;
}

//  A state at work. Everything in it happens in protected calls: a lack of memory has to be an error.

static int
set_up (lua_State *L)
{
    const struct ag_pack_file *main_file = ag_pack_find (ag_act (L)->pack, AG_LIT ("main.lua"));
    lua_gc (L, LUA_GCSTOP); //  what is made here stays
    for (int slot = AG_SLOT_LIST; slot <= AG_SLOT_MADE; slot++) {
        lua_newtable (L);
        ag_slot_set (L, (enum ag_slot)slot);
    }
    ag_open_base (L);
    lua_pushvalue (L, -1);
    ag_slot_set (L, AG_SLOT_ENV);
    ag_open_string (L);
    ag_open_ag (L);
    ag_open_graph (L);
    ag_open_ctx (L);
    lua_gc (L, LUA_GCRESTART);
    if (!main_file)
        return luaL_error (L, "the pack has no main.lua");
    load_file (L, main_file);
    lua_call (L, 0, 0);
    return 0;
}

//  Call a C function without arguments under the guard; 0, or -1 with act->message filled.
static int
protect (struct ag_act *act, lua_CFunction fn)
{
    lua_pushcfunction (act->L, ag_guard_handler);
    lua_pushcfunction (act->L, fn);
    int rc = lua_pcall (act->L, 0, 0, 1);
    if (rc == LUA_ERRMEM)
        ag_guard_trip (act, AG_TRIP_MEMORY);
    lua_settop (act->L, 0);
    if (!rc && !act->tripped)
        return 0;
    if (act->tripped) {
        ag_buf_clear (&act->message);
        if (act->tripped == AG_TRIP_MEMORY)
            ag_buf_text (&act->message,
                         "out of memory: more than %zu bytes, the script's part of the net memory",
                         act->limits.memory_bytes);
        else
            ag_buf_text (&act->message, "out of time: more than %d ms", (int)act->limits.wall_ms);
    }
    return -1;
}

static void
act_init (struct ag_act *act, ag_script_t *self, const struct ag_pack *pack)
{
    *act =
        (struct ag_act){.link = self->link, .script = self, .pack = pack, .grants = self->grants};
    act->limits = self->limits;
    act->pool.most = self->limits.memory_bytes;
    act->L = lua_newstate (ag_guard_alloc, act);
    if (!act->L) {
        ag_buf_text (&act->message, "out of memory: %zu bytes hold no script",
                     act->limits.memory_bytes);
        act->tripped = AG_TRIP_MEMORY;
        return;
    }
    *(struct ag_act **)lua_getextraspace (act->L) = act;
    ag_guard_start (act);
}

//  Loading, to learn what a pack registers.

static const struct place *
find_place (const ag_script_t *self, struct ag_str behavior)
{
    for (size_t i = 0; i < self->count; i++)
        if (ag_str_is (behavior, self->places[i].behavior))
            return &self->places[i];
    return NULL;
}

//  Take down the names of what one pack registered: `list` is behaviour after behaviour.
static int
take_down (ag_script_t *self, const struct ag_pack *pack, struct ag_str list, struct ag_err *err)
{
    struct ag_cursor in = ag_cursor (list);
    for (struct ag_str behavior, name; !ag_take (&in, &behavior);) {
        ag_map_text (behavior, "name", &name);
        const struct place *other = find_place (self, name);
        if (other)
            return ag_fail (err, AG_E_PACK, "behavior \"%.*s\" is in two packs, %.*s and %.*s",
                            AG_STR_ARG (name), AG_STR_ARG (other->pack->name),
                            AG_STR_ARG (pack->name));
        self->places = ag_xrealloc (self->places, (self->count + 1) * sizeof *self->places);
        self->places[self->count++] = (struct place){ag_str_dup (name), pack};
    }
    return 0;
}

struct found {
    struct ag_buf behaviors, tools;
    uint32_t behavior_count, tool_count;
};

//  By enum ag_trip.
static const char *const failure_types[] = {"script.error", "net.memory", "net.wall"};

const char *
ag_script_failure (const ag_script_t *self)
{
    return self->met ? self->met : failure_types[0];
}

static int
load_pack (ag_script_t *self, const struct ag_pack *pack, struct found *found, struct ag_err *err)
{
    struct ag_act act;
    size_t before = found->behaviors.n;
    act_init (&act, self, pack);
    act.behaviors = &found->behaviors;
    act.tools = &found->tools;
    int rc = act.L && !protect (&act, compile_all) ? protect (&act, set_up) : -1;
    if (rc)
        ag_fail (err, act.tripped ? AG_E_NET : AG_E_PACK, "pack %.*s: %.*s",
                 AG_STR_ARG (pack->name), AG_STR_ARG (ag_buf_str (&act.message)));
    self->met = failure_types[act.tripped];
    found->behavior_count += act.behavior_count;
    found->tool_count += act.tool_count;
    act_fini (&act);
    struct ag_str added = {(const char *)found->behaviors.p + before, found->behaviors.n - before};
    return rc ? rc : take_down (self, pack, added, err);
}

int
ag_script_load (ag_script_t *self, struct ag_buf *behaviors, struct ag_buf *tools,
                struct ag_err *err)
{
    struct found found = {0};
    int rc = 0;
    for (size_t i = 0; !rc && i < self->packs->count; i++)
        rc = load_pack (self, &self->packs->list[i], &found, err);
    if (!rc) {
        ag_put_list (behaviors, found.behavior_count);
        ag_put_value (behaviors, ag_buf_str (&found.behaviors));
        ag_put_list (tools, found.tool_count);
        ag_put_value (tools, ag_buf_str (&found.tools));
        ag_buf_add_str (&self->tools, ag_buf_str (&found.tools));
    }
    ag_buf_fini (&found.behaviors);
    ag_buf_fini (&found.tools);
    return rc;
}

//  Running.

//  Push a part of the invocation; true when it is there.
static bool
push_part (lua_State *L, const char *key)
{
    struct ag_str value;
    if (ag_map_get (ag_act (L)->invoke, key, &value) || ag_kind_of (value) == AG_NULL)
        return false;
    ag_lua_push (L, value);
    return true;
}

static void
read_mint (struct ag_act *act)
{
    struct ag_str mint = {0}, tag = {0};
    ag_map_get (act->invoke, "mint", &mint);
    ag_map_uint (mint, "object", &act->next_object);
    ag_map_uint (mint, "relation", &act->next_relation);
    ag_map_text (mint, "tag", &tag);
    snprintf (act->tag, sizeof act->tag, "%.*s", AG_STR_ARG (tag));
}

static int
run_behavior (lua_State *L)
{
    struct ag_act *act = ag_act (L);
    struct ag_str name = {0}, view = {0}, seed = {0};
    ag_map_text (act->invoke, "behavior", &name);
    ag_map_get (act->invoke, "view", &view);
    ag_map_get (act->invoke, "seed", &seed);
    act->phase = AG_RUNNING;
    ag_seed_random (act, seed);
    read_mint (act);
    ag_learn_view (L, view);
    lua_settop (L, 0);
    ag_slot_push (L, AG_SLOT_BEHAVIORS);
    lua_pushlstring (L, name.p, name.n);
    lua_rawget (L, -2);
    int arguments = push_part (L, "relation");
    if (!push_part (L, "event"))
        luaL_error (L, "the invocation has no event");
    ag_slot_push (L, AG_SLOT_GRAPH);
    ag_push_ctx (L);
    lua_call (L, arguments + 3, 0);
    return 0;
}

static void
put_failure (const struct ag_act *act, struct ag_buf *out)
{
    ag_put_map (out, 3);
    ag_put_lit (out, "type");
    ag_put_lit (out, failure_types[act->tripped]);
    ag_put_lit (out, "message");
    ag_put_text (out, ag_buf_str (&act->message));
    ag_put_lit (out, "traceback");
    ag_put_text (out, ag_buf_str (&act->traceback));
}

//  The state can be put back to what it is now, where there is room for that; else it is loaded each time.
static void
remember (ag_script_t *self, struct ag_act *act)
{
    size_t bytes = ag_pool_bytes (&act->pool);
    if (bytes > self->room)
        return;
    self->room -= bytes;
    ag_pool_mark (&act->pool);
    act->marked = true;
}

//  A state that has loaded the pack; -1 with act->message.
static int
load_state (struct ag_act *act, ag_script_t *self, const struct ag_pack *pack)
{
    act_fini (act);
    act_init (act, self, pack);
    act->phase = AG_LOADING;
    if (!act->L || protect (act, set_up))
        return -1;
    lua_gc (act->L, LUA_GCCOLLECT);
    remember (self, act);
    return 0;
}

//  As if the pack had been loaded just now: nothing is carried from one invocation to the next.
void
ag_script_rewind (ag_script_t *self)
{
    struct ag_act *act = self->used;
    self->used = NULL;
    if (!act)
        return;
    if (!act->marked) {
        act_fini (act);
        return;
    }
    ag_pool_rewind (&act->pool);
    forget (act);
    act->tripped = AG_TRIP_NONE;
    act->phase = AG_LOADING;
    act->work = act->op_count = 0;
    act->next_object = act->next_relation = 0;
}

//  Tools.

static bool
is_full_name (struct ag_str name, struct ag_str pack, struct ag_str tool)
{
    return name.n == pack.n + 1 + tool.n && !memcmp (name.p, pack.p, pack.n) &&
           name.p[pack.n] == '.' && !memcmp (name.p + pack.n + 1, tool.p, tool.n);
}

static bool
read_tool (const ag_script_t *self, struct ag_str one, struct ag_tool *tool)
{
    struct ag_str pack;
    if (ag_map_text (one, "name", &tool->name) || ag_map_text (one, "pack", &pack) ||
        ag_map_get (one, "schema", &tool->schema))
        return false;
    for (size_t i = 0; i < self->packs->count; i++)
        if (ag_str_eq (self->packs->list[i].name, pack)) {
            tool->pack = &self->packs->list[i];
            return true;
        }
    return false;
}

int
ag_script_tool (const ag_script_t *self, struct ag_str name, struct ag_tool *tool,
                struct ag_err *err)
{
    struct ag_cursor in = ag_cursor (ag_buf_str (&self->tools));
    struct ag_tool one = {NULL, {0}, {0}}, found[2] = {one, one};
    int count = 0;
    for (struct ag_str value; !ag_take (&in, &value);) {
        if (!read_tool (self, value, &one))
            continue;
        if (is_full_name (name, one.pack->name, one.name)) {
            *tool = one;
            return 1;
        }
        if (count < 2 && ag_str_eq (name, one.name))
            found[count++] = one;
    }
    *tool = found[0];
    if (count < 2)
        return count;
    return ag_fail (err, AG_E_USAGE, "two packs have a tool %.*s: write %.*s.%.*s or %.*s.%.*s",
                    AG_STR_ARG (name), AG_STR_ARG (found[0].pack->name), AG_STR_ARG (name),
                    AG_STR_ARG (found[1].pack->name), AG_STR_ARG (name));
}

int
ag_script_lend (struct ag_act *act, struct ag_err *err)
{
    struct ag_act other;
    size_t left = act->pool.most - ag_pool_bytes (&act->pool);
    act_init (&other, act->script, act->tool.pack);
    size_t begun = ag_pool_bytes (&other.pool);
    other.limits.memory_bytes = other.pool.most = left > begun ? left : begun;
    other.deadline_ns = act->deadline_ns;
    other.phase = AG_LOADING;
    other.tool = act->tool;
    other.invoke = act->invoke;
    memcpy (other.random, act->random, sizeof other.random);
    int rc = other.L ? protect (&other, set_up) : -1;
    if (!rc) {
        other.phase = AG_IN_TOOL;
        ag_buf_clear (&other.value);
        ag_buf_add_str (&other.value, ag_buf_str (&act->value));
        rc = protect (&other, ag_call_tool);
    }
    memcpy (act->random, other.random, sizeof other.random);
    if (other.tripped)
        ag_guard_trip (act, other.tripped);
    if (rc)
        ag_fail (err, AG_E_FAILED, "%.*s", AG_STR_ARG (ag_buf_str (&other.message)));
    else {
        ag_buf_clear (&act->reply);
        ag_buf_add_str (&act->reply, ag_buf_str (&other.reply));
    }
    act_fini (&other);
    return rc;
}

static enum ag_ran
run (ag_script_t *self, const struct ag_pack *pack, struct ag_str invoke, struct ag_buf *out)
{
    struct ag_act *act = &self->acts[pack - self->packs->list];
    ag_script_rewind (self);
    self->used = act;
    bool good = act->L || !load_state (act, self, pack);
    if (good) {
        act->invoke = invoke;
        ag_guard_start (act);
        good = !protect (act, run_behavior);
    }
    enum ag_ran ran = good ? AG_RAN : act->tripped ? AG_TRIPPED : AG_RAISED;
    if (good) {
        ag_put_list (out, act->op_count);
        ag_put_value (out, ag_buf_str (&act->ops));
    } else
        put_failure (act, out);
    return ran;
}

enum ag_ran
ag_script_run (ag_script_t *self, struct ag_str invoke, struct ag_buf *out)
{
    struct ag_str name = AG_LIT ("?");
    ag_map_text (invoke, "behavior", &name);
    const struct place *place = find_place (self, name);
    if (!place) {
        struct ag_act none = {0};
        ag_buf_text (&none.message, "no pack of this worker has a behaviour %.*s",
                     AG_STR_ARG (name));
        put_failure (&none, out);
        ag_buf_fini (&none.message);
        return AG_RAISED;
    }
    return run (self, place->pack, invoke, out);
}
