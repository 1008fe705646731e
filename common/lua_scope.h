/*  lua_scope - what a name stands for at a place of Lua source: functions, blocks, locals, upvalues, labels.
 *
 *  Keeps to the rules and limits of Lua 5.4.4 (200 locals and 255 upvalues a function, labels by block, no jump into
 *  the scope of a local). Stricter it is with what costs more to know or to look up: a constant of compile time counts
 *  as an upvalue, registers are counted from above, fewer locals, labels and jumps are seen at a time. What is refused
 *  as too much may be taken by Lua, never the other way round.
 *  Faults go to the lexer. What is kept is bounded by these limits and by the number of tokens.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_LUA_SCOPE_H
#define AG_LUA_SCOPE_H
#include "common/lua_lex.h"

enum {
    AG_LUA_LOCALS = 200,   //  at a time
    AG_LUA_VISIBLE = 1000, //  of all functions around a place
    AG_LUA_MADE = 32000,   //  locals, one after the other
    AG_LUA_UPVALUES = 255,
    AG_LUA_REGISTERS = 248,
    AG_LUA_JUMPS = 1000, //  labels that are seen at a time; jumps that wait for one
};

enum ag_lua_role { AG_LUA_FREE, AG_LUA_LOCAL_NAME, AG_LUA_PARAMETER };

struct ag_lua_var {
    struct ag_str name;
    bool fixed, parameter; //  <const> or <close>
};

struct ag_lua_found {
    enum ag_lua_role role;
    bool fixed;
};

struct ag_lua_scope {
    struct ag_lua_lex *lex;
    struct ag_lua_var *vars; //  of all open functions
    struct ag_lua_jump *labels, *gotos;
    struct ag_lua_block *blocks;
    struct ag_lua_function *functions;
    uint32_t var_count, label_count, goto_count, block_count, function_count;
    uint32_t var_room, label_room, goto_room, block_room, function_room;
};

void ag_lua_scope_init (struct ag_lua_scope *self, struct ag_lua_lex *lex);
void ag_lua_scope_fini (struct ag_lua_scope *self);
//  A function opens and closes its outermost block too.
void ag_lua_open_function (struct ag_lua_scope *self, bool variadic);
void ag_lua_close_function (struct ag_lua_scope *self);
void ag_lua_set_variadic (struct ag_lua_scope *self);
bool ag_lua_is_variadic (const struct ag_lua_scope *self);
//  In the main function, outside of every other block.
bool ag_lua_is_top (const struct ag_lua_scope *self);
void ag_lua_open_block (struct ag_lua_scope *self, bool loop);
void ag_lua_close_block (struct ag_lua_scope *self);
//  A new local, which is not seen before it is activated; its place, for as long as nothing is closed.
struct ag_lua_var *ag_lua_declare (struct ag_lua_scope *self, struct ag_str name);
void ag_lua_activate (struct ag_lua_scope *self, uint32_t count);
struct ag_lua_found ag_lua_find (struct ag_lua_scope *self, struct ag_str name);
void ag_lua_goto (struct ag_lua_scope *self, const struct ag_lua_token *name);
//  Last: nothing but the end of the block follows.
void ag_lua_check_label (struct ag_lua_scope *self, const struct ag_lua_token *name);
void ag_lua_label (struct ag_lua_scope *self, const struct ag_lua_token *name, bool last);
//  Values that wait in registers of the function at hand: change their number, and set it back.
uint32_t ag_lua_held (const struct ag_lua_scope *self);
void ag_lua_hold (struct ag_lua_scope *self, uint32_t more);
void ag_lua_hold_again (struct ag_lua_scope *self, uint32_t held);
#endif
