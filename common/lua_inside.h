/*  lua_inside - what the two halves of the parser share: statements (lua_parse.c) and expressions (lua_expr.c).
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_LUA_INSIDE_H
#define AG_LUA_INSIDE_H
#include "common/lua_parse.h"

struct ag_lua_parser {
    struct ag_lua_lex lex;
    struct ag_lua_scope scope;
    const struct ag_lua_events *events;
    uint32_t level, most_levels;
    const char *bind; //  where the value of `local NAME =` starts, outside of every block
};

enum ag_lua_expr_kind { AG_LUA_VALUE, AG_LUA_CALLED, AG_LUA_NAMED, AG_LUA_INDEXED };

//  What stands in front of `=`, or is a call.
struct ag_lua_expr {
    enum ag_lua_expr_kind kind;
    bool fixed;            //  a constant
    uint32_t suffixes;     //  so many
    struct ag_lua_use use; //  of the name at its start; name.kind 0: it starts with none
};

//  Tokens.
static inline bool
ag_lua_is (const struct ag_lua_parser *self, int kind)
{
    return self->lex.token.kind == kind;
}
void ag_lua_pass (struct ag_lua_parser *self);
bool ag_lua_take (struct ag_lua_parser *self, int kind);
void ag_lua_expect (struct ag_lua_parser *self, int kind);
//  The kind that ends what a token began.
void ag_lua_match (struct ag_lua_parser *self, int kind, const struct ag_lua_token *opening);
struct ag_lua_token ag_lua_expect_name (struct ag_lua_parser *self);
void ag_lua_wrong_token (struct ag_lua_parser *self, const char *expected);
//  Each level of recursion; what is too deep is a fault.
void ag_lua_enter (struct ag_lua_parser *self);
void ag_lua_leave (struct ag_lua_parser *self);

//  Expressions.
void ag_lua_expression (struct ag_lua_parser *self);
uint32_t ag_lua_expressions (struct ag_lua_parser *self); //  a, b, ...: how many; they are held
void ag_lua_suffixed (struct ag_lua_parser *self, struct ag_lua_expr *expr);
void ag_lua_variable (struct ag_lua_parser *self, struct ag_lua_expr *expr);
void ag_lua_add_suffix (struct ag_lua_expr *expr, enum ag_lua_suffix suffix);
void ag_lua_tell (struct ag_lua_parser *self, struct ag_lua_expr *expr, bool assigned);

//  Statements.
void ag_lua_body (struct ag_lua_parser *self, const struct ag_lua_token *opening, bool method);
#endif
