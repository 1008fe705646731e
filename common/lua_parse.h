/*  lua_parse - whether bytes are Lua 5.4 source, and which names it uses how.
 *
 *  Takes exactly what the loader of Lua 5.4.4 takes as text, but for limits: where this is the stricter one (see
 *  lua_scope.h) the fault is AG_LUA_LIMIT. It keeps no tree: who listens is told in passing. It never recurses deeper
 *  than most_levels, and what it keeps is bounded by the tokens (AG_LUA_TOKENS).
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_LUA_PARSE_H
#define AG_LUA_PARSE_H
#include "common/lua_scope.h"

//  As deep as Lua itself goes: its C levels, of which none is in use.
enum { AG_LUA_LEVELS = 199 };

enum ag_lua_suffix { AG_LUA_ALONE, AG_LUA_FIELD, AG_LUA_INDEX, AG_LUA_METHOD, AG_LUA_CALL };

//  A name in an expression or in front of `=`, with what stands behind it.
struct ag_lua_use {
    struct ag_lua_token name;
    enum ag_lua_role role;
    enum ag_lua_suffix suffix; //  the first one
    struct ag_lua_token field; //  of .field
    struct ag_lua_token text;  //  the text that is the only argument of a call; kind 0: none
    bool called;               //  .field is called at once
    bool assigned; //  it, with all its suffixes, is assigned to or defined as a function
    bool bound;    //  it is `local x = name ARGUMENTS`, a whole statement outside of every block
};

//  What a listener hears, each before the parse goes on; NULL: nothing of it.
struct ag_lua_events {
    void (*token) (void *arg, const struct ag_lua_token *token); //  each but the end
    void (*use) (void *arg, const struct ag_lua_use *use); //  each name that stands for a value
    void (*method) (void *arg, const struct ag_lua_token *name);    //  :name, called
    void (*attribute) (void *arg, const struct ag_lua_token *name); //  <name>
    void *arg;
};

//  AG_LUA_FINE, or what is wrong first, with its place in fault.
enum ag_lua_wrong ag_lua_parse (struct ag_str source, uint32_t most_levels,
                                const struct ag_lua_events *events, struct ag_lua_fault *fault);
#endif
