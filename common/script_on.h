/*  script_on - the event types that a pack's Lua waits for, as far as they stand on the page.
 *
 *  Fed with all tokens of a file, it finds the plain texts of `on = { "x", "y" }` in ag.behavior { ... } and
 *  ag.relation_behavior { ... }, in front of their function. What is put together elsewhere the worker sees.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_SCRIPT_ON_H
#define AG_SCRIPT_ON_H
#include "common/lua_lex.h"

struct ag_script_on {
    int place;                //  inside: what was seen of it
    uint32_t depth;           //  open brackets since the call's own
    int last;                 //  kind of the token before
    struct ag_lua_token text; //  of the list, until it is known to stand alone
};

//  One token more; true: text is a type that is waited for. `{0}` is the beginning of a file.
bool ag_script_on (struct ag_script_on *self, const struct ag_lua_token *token);
#endif
