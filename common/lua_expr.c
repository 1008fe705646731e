//  lua_expr - expressions of Lua.
//  SPDX-License-Identifier: Apache-2.0
#include "common/lua_inside.h"

enum { UNARY = 12, FLUSH = 50 }; //  priority; items of a table that Lua keeps in registers

static const struct binary {
    int kind, left, right; //  priorities
} binaries[] = {
    {'+', 10, 10},         {'-', 10, 10},     {'*', 11, 11},         {'%', 11, 11},
    {'^', 14, 13},         {'/', 11, 11},     {AG_LUA_IDIV, 11, 11}, {'&', 6, 6},
    {'|', 4, 4},           {'~', 5, 5},       {AG_LUA_SHL, 7, 7},    {AG_LUA_SHR, 7, 7},
    {AG_LUA_CONCAT, 9, 8}, {AG_LUA_EQ, 3, 3}, {AG_LUA_NE, 3, 3},     {'<', 3, 3},
    {'>', 3, 3},           {AG_LUA_LE, 3, 3}, {AG_LUA_GE, 3, 3},     {AG_LUA_AND, 2, 2},
    {AG_LUA_OR, 1, 1},
};

static const struct binary *
binary_of (int kind)
{
    for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++)
        if (binaries[i].kind == kind)
            return &binaries[i];
    return NULL;
}

/*  Names and what stands behind them  */

void
ag_lua_variable (struct ag_lua_parser *self, struct ag_lua_expr *expr)
{
    struct ag_lua_token name = ag_lua_expect_name (self);
    *expr = (struct ag_lua_expr){.kind = AG_LUA_NAMED};
    if (name.kind != AG_LUA_NAME)
        return;
    struct ag_lua_found found = ag_lua_find (&self->scope, name.text);
    expr->fixed = found.fixed;
    expr->use = (struct ag_lua_use){.name = name, .role = found.role};
}

//  Only the first suffix says something about the name; a call as the second calls its field.
void
ag_lua_add_suffix (struct ag_lua_expr *expr, enum ag_lua_suffix suffix)
{
    bool call = suffix == AG_LUA_CALL || suffix == AG_LUA_METHOD;
    if (expr->suffixes == 0)
        expr->use.suffix = suffix;
    else if (expr->suffixes == 1)
        expr->use.called = suffix == AG_LUA_CALL;
    expr->suffixes++;
    expr->kind = call ? AG_LUA_CALLED : AG_LUA_INDEXED;
}

static bool
is_bound (const struct ag_lua_parser *self, const struct ag_lua_expr *expr)
{
    return self->bind == expr->use.name.text.p && expr->suffixes == 1 &&
           expr->use.suffix == AG_LUA_CALL && !ag_lua_is (self, ',') &&
           !binary_of (self->lex.token.kind);
}

void
ag_lua_tell (struct ag_lua_parser *self, struct ag_lua_expr *expr, bool assigned)
{
    if (!self->events->use || expr->use.name.kind != AG_LUA_NAME)
        return;
    expr->use.assigned = assigned;
    expr->use.bound = is_bound (self, expr);
    self->events->use (self->events->arg, &expr->use);
}

static void
add_field (struct ag_lua_parser *self, struct ag_lua_expr *expr)
{
    ag_lua_pass (self);
    struct ag_lua_token field = ag_lua_expect_name (self);
    if (!expr->suffixes)
        expr->use.field = field;
    ag_lua_add_suffix (expr, AG_LUA_FIELD);
}

static void
read_index (struct ag_lua_parser *self)
{
    ag_lua_pass (self);
    ag_lua_expression (self);
    ag_lua_expect (self, ']');
}

static void read_table (struct ag_lua_parser *self);

//  A text, a table, or a list in brackets. The token of a text that stands alone.
static struct ag_lua_token
read_arguments (struct ag_lua_parser *self)
{
    struct ag_lua_token opening = self->lex.token, text = {0};
    if (ag_lua_is (self, AG_LUA_STRING))
        text = opening, ag_lua_pass (self);
    else if (ag_lua_is (self, '{'))
        read_table (self);
    else if (ag_lua_take (self, '(')) {
        if (ag_lua_is (self, AG_LUA_STRING) && ag_lua_look_ahead (&self->lex)->kind == ')')
            text = self->lex.token;
        if (!ag_lua_is (self, ')'))
            ag_lua_expressions (self);
        ag_lua_match (self, ')', &opening);
    } else
        ag_lua_wrong_token (self, "arguments of a function");
    return text;
}

static void
add_call (struct ag_lua_parser *self, struct ag_lua_expr *expr)
{
    struct ag_lua_token text = read_arguments (self);
    if (!expr->suffixes)
        expr->use.text = text;
    ag_lua_add_suffix (expr, AG_LUA_CALL);
}

static void
add_method (struct ag_lua_parser *self, struct ag_lua_expr *expr)
{
    ag_lua_pass (self);
    struct ag_lua_token name = ag_lua_expect_name (self);
    if (self->events->method && name.kind == AG_LUA_NAME)
        self->events->method (self->events->arg, &name);
    read_arguments (self);
    ag_lua_add_suffix (expr, AG_LUA_METHOD);
}

static void
add_index (struct ag_lua_parser *self, struct ag_lua_expr *expr)
{
    read_index (self);
    ag_lua_add_suffix (expr, AG_LUA_INDEX);
}

typedef void suffix_fn (struct ag_lua_parser *self, struct ag_lua_expr *expr);
static const struct {
    int kind;
    suffix_fn *add;
} suffixes[] = {
    {'.', add_field}, {'[', add_index}, {':', add_method},
    {'(', add_call},  {'{', add_call},  {AG_LUA_STRING, add_call},
};

static suffix_fn *
suffix_of (int kind)
{
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (suffixes[i].kind == kind)
            return suffixes[i].add;
    return NULL;
}

static void
read_primary (struct ag_lua_parser *self, struct ag_lua_expr *expr)
{
    struct ag_lua_token opening = self->lex.token;
    *expr = (struct ag_lua_expr){.kind = AG_LUA_VALUE};
    if (ag_lua_is (self, AG_LUA_NAME))
        ag_lua_variable (self, expr);
    else if (ag_lua_take (self, '(')) {
        ag_lua_expression (self);
        ag_lua_match (self, ')', &opening);
    } else
        ag_lua_wrong_token (self, "an expression");
}

//  What a suffix is added to waits in two registers at most: a function and its object, a table and its key.
void
ag_lua_suffixed (struct ag_lua_parser *self, struct ag_lua_expr *expr)
{
    uint32_t held = ag_lua_held (&self->scope);
    suffix_fn *add;
    read_primary (self, expr);
    while ((add = suffix_of (self->lex.token.kind))) {
        ag_lua_hold (&self->scope, 2);
        add (self, expr);
        ag_lua_hold_again (&self->scope, held);
    }
}

/*  Tables  */

//  True for an item of the list, false for `key = value`.
static bool
read_item (struct ag_lua_parser *self)
{
    bool named = ag_lua_is (self, AG_LUA_NAME) && ag_lua_look_ahead (&self->lex)->kind == '=';
    bool keyed = ag_lua_is (self, '[');
    if (keyed)
        read_index (self);
    else if (named)
        ag_lua_pass (self);
    if (keyed || named) {
        ag_lua_hold (&self->scope, 1);
        ag_lua_expect (self, '=');
    }
    ag_lua_expression (self);
    return !keyed && !named;
}

static void
read_table (struct ag_lua_parser *self)
{
    struct ag_lua_token opening = self->lex.token;
    uint32_t held = ag_lua_held (&self->scope), pending = 0;
    ag_lua_pass (self);
    while (!ag_lua_is (self, '}')) {
        ag_lua_hold_again (&self->scope, held);
        ag_lua_hold (&self->scope, 1 + pending);
        pending = (pending + read_item (self)) % FLUSH;
        if (!ag_lua_take (self, ',') && !ag_lua_take (self, ';'))
            break;
    }
    ag_lua_match (self, '}', &opening);
    ag_lua_hold_again (&self->scope, held);
}

/*  Expressions  */

static void
read_dots (struct ag_lua_parser *self)
{
    if (!ag_lua_is_variadic (&self->scope))
        ag_lua_fail (&self->lex, AG_LUA_SYNTAX, &self->lex.token,
                     "... outside of a function with ...");
    ag_lua_pass (self);
}

static void
read_function (struct ag_lua_parser *self)
{
    struct ag_lua_token opening = self->lex.token;
    ag_lua_pass (self);
    ag_lua_body (self, &opening, false);
}

static const struct {
    int kind;
    void (*read) (struct ag_lua_parser *self);
} simples[] = {
    {AG_LUA_NUMBER, ag_lua_pass},
    {AG_LUA_STRING, ag_lua_pass},
    {AG_LUA_NIL, ag_lua_pass},
    {AG_LUA_TRUE, ag_lua_pass},
    {AG_LUA_FALSE, ag_lua_pass},
    {AG_LUA_DOTS, read_dots},
    {'{', read_table},
    {AG_LUA_FUNCTION, read_function},
};

static void
read_simple (struct ag_lua_parser *self)
{
    struct ag_lua_expr expr;
    for (size_t i = 0; i < sizeof simples / sizeof *simples; i++)
        if (ag_lua_is (self, simples[i].kind)) {
            simples[i].read (self);
            return;
        }
    ag_lua_suffixed (self, &expr);
    ag_lua_tell (self, &expr, false);
}

static bool
is_unary (int kind)
{
    return kind == AG_LUA_NOT || kind == '-' || kind == '~' || kind == '#';
}

//  An operand, then operators that bind closer than the limit, each with its right side.
static void
read_operation (struct ag_lua_parser *self, int limit)
{
    uint32_t held = ag_lua_held (&self->scope);
    const struct binary *binary;
    ag_lua_enter (self);
    if (is_unary (self->lex.token.kind)) {
        ag_lua_pass (self);
        read_operation (self, UNARY);
    } else
        read_simple (self);
    while ((binary = binary_of (self->lex.token.kind)) && binary->left > limit) {
        ag_lua_pass (self);
        ag_lua_hold (&self->scope, 1);
        read_operation (self, binary->right);
        ag_lua_hold_again (&self->scope, held);
    }
    ag_lua_leave (self);
}

void
ag_lua_expression (struct ag_lua_parser *self)
{
    read_operation (self, 0);
}

uint32_t
ag_lua_expressions (struct ag_lua_parser *self)
{
    uint32_t count = 0;
    do {
        ag_lua_expression (self);
        ag_lua_hold (&self->scope, 1);
        count++;
    } while (ag_lua_take (self, ','));
    return count;
}
