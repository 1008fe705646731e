/*  script_state - what the files of the script host share: one Lua state at work, and its tables.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_SCRIPT_STATE_H
#define AG_SCRIPT_STATE_H
#include "worker/pool.h"
#include "worker/script.h"

#include <lauxlib.h>
#include <lua.h>

enum ag_trip { AG_TRIP_NONE, AG_TRIP_MEMORY, AG_TRIP_TIME };
enum ag_phase { AG_REGISTERING, AG_LOADING, AG_RUNNING, AG_IN_TOOL };

//  A tool of a pack; schema: its declared arguments.
struct ag_tool {
    const struct ag_pack *pack;
    struct ag_str name, schema;
};

//  One Lua state at work; every function of the environment reaches it through `ag_act`.
struct ag_act {
    lua_State *L;
    struct ag_pool pool;
    agsup_t *link;
    ag_script_t *script;
    const struct ag_pack *pack;
    const char *grants;
    enum ag_phase phase;
    struct ag_tool tool; //  that is called; its arguments are in value, what it gives in reply
    struct ag_script_limits limits;
    enum ag_trip tripped;
    bool marked;   //  the loaded state can be put back
    unsigned work; //  since the clock was last read
    uint64_t deadline_ns, random[4];
    //  The invocation, and what it has done so far.
    struct ag_str invoke;
    struct ag_buf ops;
    uint32_t op_count;
    uint64_t next_object, next_relation;
    char tag[32];
    //  What loading found.
    struct ag_buf *behaviors, *tools;
    uint32_t behavior_count, tool_count;
    //  For values and answers on their way; owned here, so that a Lua error leaks nothing.
    struct ag_buf value, reply;
    //  The last error, clean and bounded.
    struct ag_buf message, traceback;
};

struct ag_act *ag_act (lua_State *L);

//  Keys of tables in the registry; the script cannot reach them.
enum ag_slot {
    AG_SLOT_LIST = 1,  //  metatable of lists
    AG_SLOT_ENV,       //  the globals of the pack
    AG_SLOT_LOADED,    //  module name -> value
    AG_SLOT_BEHAVIORS, //  name -> function
    AG_SLOT_TOOLS,     //  name -> function
    AG_SLOT_THINGS,    //  id -> bytes of an object or relation as it is now; see script_graph.c
    AG_SLOT_MADE,      //  1.. -> id and id -> true: what this invocation made
    AG_SLOT_GRAPH,     //  what a behaviour is given
    AG_SLOT_CTX,
};
void ag_slot_push (lua_State *L, enum ag_slot slot);
void ag_slot_set (lua_State *L, enum ag_slot slot); //  pops the value

//  script.c: whose tool a name means, "tool" or "pack.tool": 1; 0: of no pack that is here; -1: of two packs.
int ag_script_tool (const ag_script_t *script, struct ag_str name, struct ag_tool *tool,
                    struct ag_err *err);
//  Call act->tool of another pack, in a state of its own within what this one has left. AG_E_FAILED: its error.
int ag_script_lend (struct ag_act *act, struct ag_err *err);
int ag_call_tool (lua_State *L); //  script_ctx.c: act->tool, in this state
//  script_guard.c: memory, time and the way a script ends.
void *ag_guard_alloc (void *arg, void *p, size_t old, size_t size);
void ag_guard_start (struct ag_act *act);
void ag_guard_trip (struct ag_act *act, enum ag_trip why);
//  Account for work that the count hook cannot see; raises when the time is up. AG_GUARD_NOW: look now.
#define AG_GUARD_NOW SIZE_MAX
void ag_guard_spend (lua_State *L, size_t work);
bool ag_guard_go_on (void *act);     //  the same for a loop in C (an ag_spend_fn)
int ag_guard_handler (lua_State *L); //  message handler: keeps message and traceback in the act
int ag_guard_pcall (lua_State *L);   //  the script's pcall: catches no trip

//  Raise what a C function failed with, as an error of the script at the place of its call.
int ag_raise (lua_State *L, const struct ag_err *err);
//  The same for what the link failed with. When it is lost the process ends: a script must not go on by catching that.
int ag_raise_link (lua_State *L);

//  script_value.c: values between Lua and msgpack. nil is no value; ag.null is null. An integer above
//  2^63-1 becomes a float. A table is a list when ag.list made it or when it has the keys 1..n (n > 0),
//  else a map; keys of maps are written in the order of their bytes.
void ag_lua_push (lua_State *L, struct ag_str value);
void ag_lua_put (lua_State *L, int index, struct ag_buf *out, const char *what);
struct ag_str ag_lua_text (lua_State *L, int index); //  checked string argument

//  A function let in from a library of Lua: as it is, or our own with the original as its upvalue.
struct ag_entry {
    const char *name;
    lua_CFunction own; //  NULL: Lua's
};
//  Opens the library out of sight and leaves a table of what is let in on the stack.
void ag_let_in (lua_State *L, const char *name, lua_CFunction open, const struct ag_entry *entries);

//  Push what tostring shows of a value: of a table or function its type, never its address.
void ag_push_shown (lua_State *L, int index);
//  Make the table on top of the stack raise for a field it does not have, naming those it has.
void ag_make_strict (lua_State *L, const char *name, const char *fields);

//  The rest of the environment: each sets fields of the globals on top of the stack, or pushes a table.
void ag_open_base (lua_State *L);   //  script_base.c: globals, math, table, utf8
void ag_open_string (lua_State *L); //  script_string.c
void ag_open_ag (lua_State *L);     //  script_ag.c: ag
int ag_print (lua_State *L);        //  script_ctx.c: print
int ag_sort (lua_State *L);         //  script_sort.c: table.sort
int ag_require (lua_State *L);      //  script.c: require
void ag_seed_random (struct ag_act *act, struct ag_str seed);
int ag_random_number (lua_State *L); //  () in [0, 1), (n) in 1..n, (m, n) in m..n
#endif
