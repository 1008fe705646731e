//  script_ctx - the table `ctx`: settings, time and chance of the invocation, and the way out of it, which
//  is always an effect that the supervisor records.
//  SPDX-License-Identifier: Apache-2.0
#include "worker/files.h"
#include "worker/script_graph.h"
#include "worker/text.h"

#include <stdlib.h>
#include <string.h>

//  As far as the rows of messages.def go.
enum { MOST_LINE = 4096, MOST_NAME = 128, MOST_PATH = 4096, MOST_ARGS_BYTES = 1 << 20 };

//  One line for the agent's output. Loading again for an invocation says nothing a second time.
static void
say (lua_State *L, const char *level, struct ag_str text)
{
    struct ag_act *act = ag_act (L);
    if (act->phase == AG_LOADING)
        return;
    ag_buf_clear (&act->reply);
    ag_clean (text, MOST_LINE, &act->reply);
    if (agsup_log (act->link, level, "%.*s", AG_STR_ARG (ag_buf_str (&act->reply))))
        ag_raise_link (L);
}

int
ag_print (lua_State *L)
{
    int n = lua_gettop (L);
    luaL_Buffer line;
    luaL_buffinit (L, &line);
    for (int i = 1; i <= n; i++) {
        if (i > 1)
            luaL_addchar (&line, '\t');
        ag_push_shown (L, i);
        luaL_addvalue (&line);
    }
    luaL_pushresult (&line);
    say (L, "info", ag_lua_text (L, -1));
    return 0;
}

//  ctx.log (text) or ctx.log (level, text).
static int
ctx_log (lua_State *L)
{
    static const char *const words[] = {"error", "warn", "info", "debug", NULL};
    bool with_level = !lua_isnone (L, 2);
    const char *level = with_level ? words[luaL_checkoption (L, 1, NULL, words)] : "info";
    ag_push_shown (L, with_level ? 2 : 1);
    say (L, level, ag_lua_text (L, -1));
    return 0;
}

//  Effects. What this process does itself writes its output, or fails.
typedef int do_fn (lua_State *L, struct ag_buf *output, struct ag_err *err);

//  Push what became of an effect: its output, or nil and why there is none.
static int
push_outcome (lua_State *L, bool failed, struct ag_str output)
{
    struct ag_str message = AG_LIT ("no reason was recorded");
    if (!failed) {
        ag_lua_push (L, output);
        return 1;
    }
    ag_map_text (output, "message", &message);
    lua_pushnil (L);
    lua_pushlstring (L, message.p, message.n);
    return 2;
}

static void
put_error (struct ag_buf *out, const struct ag_err *err)
{
    ag_put_map (out, 2);
    ag_put_lit (out, "type");
    ag_put_lit (out, ag_code_name (err->code));
    ag_put_lit (out, "message");
    struct ag_buf clean = {0};
    ag_clean (ag_str (err->text), sizeof err->text, &clean);
    ag_put_text (out, ag_buf_str (&clean));
    ag_buf_fini (&clean);
}

//  Tell what came of it: the output in act->reply, or why there is none.
static int
tell (struct ag_act *act, bool good, struct agsup_value *output)
{
    struct agsup_value value = {act->reply.p, act->reply.n};
    return good ? agsup_outcome (act->link, output, "{'output': %p}", (void *)&value)
                : agsup_outcome (act->link, output, "{'error': %p}", (void *)&value);
}

static void
keep_error (struct ag_act *act, const struct ag_err *err)
{
    ag_buf_clear (&act->reply);
    put_error (&act->reply, err);
}

//  Do it here and tell what came of it; a trip on the way is told too, and goes on.
static int
do_here (lua_State *L, do_fn *fn, struct agsup_value *output)
{
    struct ag_act *act = ag_act (L);
    struct ag_err err;
    ag_buf_clear (&act->reply);
    bool good = !fn (L, &act->reply, &err);
    if (!good)
        keep_error (act, &err);
    int became = tell (act, good, output);
    if (became < 0 && good && !strcmp (agsup_code (act->link), ag_code_name (AG_E_TOO_LARGE))) {
        ag_link_error (act->link, &err); //  it was done: that it gave too much is recorded
        keep_error (act, &err);
        became = tell (act, false, output);
    }
    ag_guard_spend (L, AG_GUARD_NOW);
    return became;
}

//  Ask for an effect with the arguments in act->value.
static int
effect (lua_State *L, const char *tool, bool idempotent, do_fn *fn)
{
    struct ag_act *act = ag_act (L);
    struct agsup_value args = {act->value.p, act->value.n}, output;
    if (act->phase != AG_RUNNING)
        return luaL_error (L, "a tool has no effects; let the behaviour that calls it have them");
    int became = agsup_effect (act->link, &output, "{'tool': %s, 'args': %p, 'idempotent': %hhd}",
                               tool, (void *)&args, idempotent);
    if (became == AGSUP_GO && !fn)
        return luaL_error (L, "%s: nothing here can do it", tool);
    if (became == AGSUP_GO)
        became = do_here (L, fn, &output);
    if (became < 0)
        return ag_raise_link (L);
    if (became == AGSUP_REFUSED)
        return luaL_error (L, "%s was refused: %s", tool,
                           agsup_text (act->link, output, "message", "no reason given"));
    return push_outcome (L, became == AGSUP_FAILED, (struct ag_str){output.bytes, output.size});
}

static void
put_path (lua_State *L)
{
    struct ag_act *act = ag_act (L);
    struct ag_str path = ag_lua_text (L, 1);
    luaL_argcheck (L, ag_utf8 (path) && path.n <= MOST_PATH, 1,
                   "a path is UTF-8 and at most 4096 bytes");
    ag_buf_clear (&act->value);
    ag_put_map (&act->value, 1);
    ag_put_lit (&act->value, "path");
    ag_put_text (&act->value, path);
}

static int
do_read (lua_State *L, struct ag_buf *output, struct ag_err *err)
{
    return ag_file_read (ag_act (L)->grants, ag_lua_text (L, 1), output, err);
}

static int
do_list (lua_State *L, struct ag_buf *output, struct ag_err *err)
{
    return ag_file_list (ag_act (L)->grants, ag_lua_text (L, 1), output, err);
}

//  ctx.read (path): the bytes and their hash, or nil and why not.
static int
ctx_read (lua_State *L)
{
    put_path (L);
    int n = effect (L, "file.read", true, do_read);
    if (n == 2)
        return n;
    int at = lua_gettop (L);
    luaL_checktype (L, at, LUA_TTABLE);
    if (lua_getfield (L, at, "text") == LUA_TNIL)
        lua_getfield (L, at, "bytes");
    lua_getfield (L, at, "hash");
    return 2;
}

//  ctx.list (directory): the names in it, or nil and why not.
static int
ctx_list (lua_State *L)
{
    put_path (L);
    return effect (L, "file.list", true, do_list);
}

//  The tables.

static void
push_field (lua_State *L, struct ag_str map, const char *key)
{
    struct ag_str value;
    if (ag_map_get (map, key, &value))
        lua_pushnil (L);
    else
        ag_lua_push (L, value);
}

//  As the invocation has it; nil when it does not say.
static void
set_now (lua_State *L)
{
    push_field (L, ag_act (L)->invoke, "now");
    lua_setfield (L, -2, "now");
}

//  What also a tool sees.
static void
push_base (lua_State *L)
{
    struct ag_act *act = ag_act (L);
    lua_newtable (L);
    ag_lua_push (L, act->pack->settings.p ? act->pack->settings : AG_LIT ("\x80"));
    lua_setfield (L, -2, "settings");
    lua_pushcfunction (L, ag_random_number);
    lua_setfield (L, -2, "random");
    lua_pushcfunction (L, ctx_log);
    lua_setfield (L, -2, "log");
}

//  Tools of packs: functions that see their arguments and nothing of the run.

int
ag_call_tool (lua_State *L)
{
    struct ag_act *act = ag_act (L);
    ag_slot_push (L, AG_SLOT_TOOLS);
    lua_pushlstring (L, act->tool.name.p, act->tool.name.n);
    lua_rawget (L, -2);
    ag_lua_push (L, ag_buf_str (&act->value)); //  a copy: a tool shares nothing with its caller
    push_base (L);
    set_now (L);
    ag_make_strict (L, "ctx", "settings, now, random, log (in a tool)");
    lua_call (L, 2, 1);
    if (lua_isnil (L, -1))
        lua_pushlightuserdata (L, NULL);
    ag_buf_clear (&act->reply);
    ag_lua_put (L, -1, &act->reply, "output");
    return 0;
}

static int
do_tool (lua_State *L, struct ag_buf *output, struct ag_err *err)
{
    struct ag_act *act = ag_act (L);
    (void)output;
    if (act->tool.pack != act->pack)
        return ag_script_lend (act, err);
    lua_pushcfunction (L, ag_call_tool);
    act->phase = AG_IN_TOOL;
    int rc = lua_pcall (L, 0, 0, 0);
    act->phase = AG_RUNNING;
    if (rc == LUA_ERRMEM)
        ag_guard_trip (act, AG_TRIP_MEMORY);
    if (!rc)
        return 0;
    const char *text = lua_tostring (L, -1);
    ag_fail (err, AG_E_FAILED, "%s", text ? text : "an error that is not a text");
    lua_pop (L, 1);
    return -1;
}

//  Push the next key of a map, over which the cursor stands, as a text of Lua; false: there is none.
static bool
push_next_key (lua_State *L, struct ag_cursor *in)
{
    struct ag_str key, value;
    if (ag_take (in, &key) || ag_take (in, &value))
        return false;
    ag_lua_push (L, key);
    return true;
}

//  The declared arguments of a tool are there, of their types, and no others: args and declared are maps whose
//  keys stand in the order of their bytes, so that the same one is named in every run.
static void
check_args (lua_State *L, const char *tool, struct ag_str args, struct ag_str declared)
{
    struct ag_cursor wanted = ag_cursor (declared), given = ag_cursor (args);
    struct ag_head head;
    ag_lua_push (L, declared);
    int schema = lua_gettop (L);
    for (ag_next (&wanted, &head); push_next_key (L, &wanted); lua_settop (L, schema)) {
        lua_pushvalue (L, -1);
        lua_rawget (L, schema);
        lua_pushvalue (L, -2);
        lua_rawget (L, 2);
        const char *type = lua_tostring (L, -2), *has = luaL_typename (L, -1);
        if (!type || strcmp (type, has))
            luaL_error (L, "%s: %s is a %s, not a %s", tool, lua_tostring (L, -3), type, has);
    }
    for (ag_next (&given, &head); push_next_key (L, &given); lua_settop (L, schema)) {
        lua_pushvalue (L, -1);
        if (lua_rawget (L, schema) == LUA_TNIL)
            luaL_error (L, "%s takes no %s", tool, lua_tostring (L, -2));
    }
    lua_pop (L, 1);
}

//  ctx.call (tool, args) or ctx.call (tool, args, { idempotent = true }).
static int
ctx_call (lua_State *L)
{
    struct ag_act *act = ag_act (L);
    struct ag_str name = ag_lua_text (L, 1);
    const char *tool = name.p;
    struct ag_err err;
    luaL_argcheck (L, name.n && name.n <= MOST_NAME && ag_utf8 (name), 1, "the name of a tool");
    luaL_checktype (L, 2, LUA_TTABLE);
    bool idempotent =
        lua_istable (L, 3) && (lua_getfield (L, 3, "idempotent"), lua_toboolean (L, -1));
    int ours = ag_script_tool (act->script, name, &act->tool, &err);
    if (ours < 0)
        return ag_raise (L, &err);
    ag_buf_clear (&act->value);
    ag_lua_put (L, 2, &act->value, "args");
    struct ag_str args = ag_buf_str (&act->value);
    luaL_argcheck (L, args.n <= MOST_ARGS_BYTES, 2, "args of more than 1 MiB");
    luaL_argcheck (L, !ours || ag_kind_of (args) == AG_MAP, 2, "a map of arguments, not a list");
    if (ours)
        check_args (L, tool, args, act->tool.schema);
    return effect (L, tool, ours || idempotent, ours ? do_tool : NULL);
}

static const luaL_Reg functions[] = {
    {"call", ctx_call},
    {"read", ctx_read},
    {"list", ctx_list},
    {NULL, NULL},
};

static const char field_names[] =
#define CTX(name) ", " name
#include "schemas/script.def"
    ;

//  What is the same in every invocation.
void
ag_open_ctx (lua_State *L)
{
    push_base (L);
    luaL_setfuncs (L, functions, 0);
    ag_make_strict (L, "ctx", field_names + 2);
    ag_slot_set (L, AG_SLOT_CTX);
}

//  A field of the invocation: what is sent for it when that is a table, else this value.
static void
set_field (lua_State *L, const char *key, struct ag_str other)
{
    push_field (L, ag_act (L)->invoke, key);
    if (!lua_istable (L, -1)) {
        lua_pop (L, 1);
        ag_lua_push (L, other);
    }
    lua_setfield (L, -2, key);
}

void
ag_push_ctx (lua_State *L)
{
    ag_slot_push (L, AG_SLOT_CTX);
    set_now (L);
    set_field (L, "view", AG_LIT ("\x80"));
    set_field (L, "frame", AG_LIT ("\xc2"));
    set_field (L, "matches", AG_LIT ("\x90"));
}
