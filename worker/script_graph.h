/*  script_graph - what the two halves of the table `graph` share: what is known of each id.
 *
 *  What was read and what was changed is kept by id in one table, as the bytes of the whole object or
 *  relation: an answer of the supervisor only fills in what is not known yet, so own changes always win.
 *  Each function leaves the stack as it was; what is returned borrows from the table.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_SCRIPT_GRAPH_H
#define AG_SCRIPT_GRAPH_H
#include "worker/script_state.h"

enum ag_known { AG_UNKNOWN, AG_ABSENT, AG_REMOVED, AG_PRESENT };

//  What is known of an id; thing is filled when it is present.
enum ag_known ag_known (lua_State *L, struct ag_str id, struct ag_str *thing);
void ag_know (lua_State *L, struct ag_str id, enum ag_known what, struct ag_str thing);
//  The thing as it is now, asked for when nothing is known; p NULL when there is none.
struct ag_str ag_look_up (lua_State *L, struct ag_str id);
//  Make known what the invocation came with: the objects and relations of its view.
void ag_learn_view (lua_State *L, struct ag_str view);

//  A text field of an object or relation, p NULL when it has none of that name.
struct ag_str ag_thing_text (struct ag_str thing, const char *name);

//  A checked id or type: an argument, or a field of the table at index, p NULL when it is not there. It
//  lives as long as the argument.
struct ag_str ag_check_id (lua_State *L, int index);
struct ag_str ag_check_option (lua_State *L, int index, const char *name);

//  script_change.c: adds its functions to the table on top of the stack.
void ag_add_changes (lua_State *L);

//  The tables that a behaviour is given, into their slots; of ctx what is known before there is an invocation.
void ag_open_graph (lua_State *L);
void ag_open_ctx (lua_State *L); //  script_ctx.c
void ag_push_ctx (lua_State *L); //  with what the invocation brings
#endif
