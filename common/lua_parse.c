//  SPDX-License-Identifier: Apache-2.0
#include "common/lua_parse.h"
#include "common/lua_inside.h"

#include <stdio.h>

enum { FOR_TOKENS = 32767 }; //  a quarter of the instructions that a loop of Lua jumps over

/*  Tokens  */

void
ag_lua_pass (struct ag_lua_parser *self)
{
    if (self->events->token && !ag_lua_is (self, AG_LUA_EOS))
        self->events->token (self->events->arg, &self->lex.token);
    ag_lua_next (&self->lex);
}

bool
ag_lua_take (struct ag_lua_parser *self, int kind)
{
    bool there = ag_lua_is (self, kind);
    if (there)
        ag_lua_pass (self);
    return there;
}

void
ag_lua_wrong_token (struct ag_lua_parser *self, const char *expected)
{
    const struct ag_lua_token *token = &self->lex.token;
    if (token->kind == AG_LUA_EOS)
        ag_lua_fail (&self->lex, AG_LUA_SYNTAX, token, "%s expected, not the end", expected);
    else
        ag_lua_fail (&self->lex, AG_LUA_SYNTAX, token, "%s expected, not %.*s", expected,
                     token->text.n < 40 ? (int)token->text.n : 40, token->text.p);
}

void
ag_lua_expect (struct ag_lua_parser *self, int kind)
{
    char room[2];
    if (!ag_lua_take (self, kind))
        ag_lua_wrong_token (self, ag_lua_kind_text (kind, room));
}

void
ag_lua_match (struct ag_lua_parser *self, int kind, const struct ag_lua_token *opening)
{
    char room[2], expected[48];
    if (ag_lua_take (self, kind))
        return;
    snprintf (expected, sizeof expected, "%s for that of line %u", ag_lua_kind_text (kind, room),
              opening->line);
    ag_lua_wrong_token (self, expected);
}

struct ag_lua_token
ag_lua_expect_name (struct ag_lua_parser *self)
{
    struct ag_lua_token token = self->lex.token;
    ag_lua_expect (self, AG_LUA_NAME);
    return token;
}

void
ag_lua_enter (struct ag_lua_parser *self)
{
    if (++self->level > self->most_levels)
        ag_lua_fail (&self->lex, AG_LUA_NESTING, &self->lex.token,
                     "more than %u levels in each other", self->most_levels);
}

void
ag_lua_leave (struct ag_lua_parser *self)
{
    self->level--;
}

static bool
ends_block (const struct ag_lua_parser *self, bool until)
{
    int kind = self->lex.token.kind;
    return kind == AG_LUA_ELSE || kind == AG_LUA_ELSEIF || kind == AG_LUA_END ||
           kind == AG_LUA_EOS || (until && kind == AG_LUA_UNTIL);
}

/*  Blocks and functions  */

static void read_statement (struct ag_lua_parser *self);

static void
read_statements (struct ag_lua_parser *self)
{
    bool last = false;
    while (!last && !ends_block (self, true)) {
        last = ag_lua_is (self, AG_LUA_RETURN);
        read_statement (self);
    }
}

static void
read_block (struct ag_lua_parser *self)
{
    ag_lua_open_block (&self->scope, false);
    read_statements (self);
    ag_lua_close_block (&self->scope);
}

static void
read_parameters (struct ag_lua_parser *self, bool method)
{
    uint32_t count = method;
    bool more = !ag_lua_is (self, ')');
    if (method)
        ag_lua_declare (&self->scope, AG_LIT ("self"))->parameter = true;
    while (more) {
        if (ag_lua_take (self, AG_LUA_DOTS)) {
            ag_lua_set_variadic (&self->scope);
            break;
        }
        struct ag_lua_token name = ag_lua_expect_name (self);
        ag_lua_declare (&self->scope, name.text)->parameter = true;
        count++;
        more = ag_lua_take (self, ',');
    }
    ag_lua_activate (&self->scope, count);
}

void
ag_lua_body (struct ag_lua_parser *self, const struct ag_lua_token *opening, bool method)
{
    ag_lua_open_function (&self->scope, false);
    ag_lua_expect (self, '(');
    read_parameters (self, method);
    ag_lua_expect (self, ')');
    read_statements (self);
    ag_lua_match (self, AG_LUA_END, opening);
    ag_lua_close_function (&self->scope);
}

/*  Statements; each begins at its first token  */

static void
read_if (struct ag_lua_parser *self)
{
    struct ag_lua_token opening = self->lex.token;
    do {
        ag_lua_pass (self);
        ag_lua_expression (self);
        ag_lua_expect (self, AG_LUA_THEN);
        read_block (self);
    } while (ag_lua_is (self, AG_LUA_ELSEIF));
    if (ag_lua_take (self, AG_LUA_ELSE))
        read_block (self);
    ag_lua_match (self, AG_LUA_END, &opening);
}

static void
read_while (struct ag_lua_parser *self)
{
    struct ag_lua_token opening = self->lex.token;
    ag_lua_pass (self);
    ag_lua_expression (self);
    ag_lua_open_block (&self->scope, true);
    ag_lua_expect (self, AG_LUA_DO);
    read_block (self);
    ag_lua_match (self, AG_LUA_END, &opening);
    ag_lua_close_block (&self->scope);
}

static void
read_do (struct ag_lua_parser *self)
{
    struct ag_lua_token opening = self->lex.token;
    ag_lua_pass (self);
    read_block (self);
    ag_lua_match (self, AG_LUA_END, &opening);
}

//  Its condition sees the locals of the block.
static void
read_repeat (struct ag_lua_parser *self)
{
    struct ag_lua_token opening = self->lex.token;
    ag_lua_open_block (&self->scope, true);
    ag_lua_open_block (&self->scope, false);
    ag_lua_pass (self);
    read_statements (self);
    ag_lua_match (self, AG_LUA_UNTIL, &opening);
    ag_lua_expression (self);
    ag_lua_close_block (&self->scope);
    ag_lua_close_block (&self->scope);
}

//  Locals that Lua keeps a loop with; no name is like theirs.
static void
declare_hidden (struct ag_lua_parser *self, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        ag_lua_declare (&self->scope, AG_LIT ("(for state)"));
}

static void
read_loop (struct ag_lua_parser *self, uint32_t hidden, uint32_t count)
{
    ag_lua_hold_again (&self->scope, 0);
    ag_lua_activate (&self->scope, hidden);
    ag_lua_expect (self, AG_LUA_DO);
    uint32_t start = self->lex.count;
    ag_lua_open_block (&self->scope, false);
    ag_lua_activate (&self->scope, count);
    read_block (self);
    ag_lua_close_block (&self->scope);
    if (self->lex.count - start > FOR_TOKENS)
        ag_lua_fail (&self->lex, AG_LUA_LIMIT, &self->lex.token, "more than %d tokens in a for",
                     FOR_TOKENS);
}

static void
read_for_numbers (struct ag_lua_parser *self, struct ag_str name)
{
    declare_hidden (self, 3);
    ag_lua_declare (&self->scope, name);
    ag_lua_pass (self);
    ag_lua_expression (self);
    ag_lua_hold (&self->scope, 1);
    ag_lua_expect (self, ',');
    ag_lua_expression (self);
    ag_lua_hold (&self->scope, 1);
    if (ag_lua_take (self, ','))
        ag_lua_expression (self);
    read_loop (self, 3, 1);
}

static void
read_for_each (struct ag_lua_parser *self, struct ag_str name)
{
    uint32_t count = 1;
    declare_hidden (self, 4);
    ag_lua_declare (&self->scope, name);
    for (; ag_lua_take (self, ','); count++)
        ag_lua_declare (&self->scope, ag_lua_expect_name (self).text);
    ag_lua_expect (self, AG_LUA_IN);
    ag_lua_expressions (self);
    read_loop (self, 4, count);
}

static void
read_for (struct ag_lua_parser *self)
{
    struct ag_lua_token opening = self->lex.token;
    ag_lua_open_block (&self->scope, true);
    ag_lua_pass (self);
    struct ag_lua_token name = ag_lua_expect_name (self);
    if (ag_lua_is (self, '='))
        read_for_numbers (self, name.text);
    else if (ag_lua_is (self, ',') || ag_lua_is (self, AG_LUA_IN))
        read_for_each (self, name.text);
    else
        ag_lua_wrong_token (self, "= or in");
    ag_lua_match (self, AG_LUA_END, &opening);
    ag_lua_close_block (&self->scope);
}

static void
check_fixed (struct ag_lua_parser *self, const struct ag_lua_expr *expr)
{
    const struct ag_str name = expr->use.name.text;
    if (expr->kind == AG_LUA_NAMED && expr->fixed)
        ag_lua_fail (&self->lex, AG_LUA_SYNTAX, &expr->use.name, "%.*s is a constant",
                     name.n < 40 ? (int)name.n : 40, name.p);
}

//  function a.b:c (...) ... end
static void
read_function (struct ag_lua_parser *self)
{
    struct ag_lua_token opening = self->lex.token;
    struct ag_lua_expr expr;
    bool method = false;
    ag_lua_pass (self);
    ag_lua_variable (self, &expr);
    while (!method && (ag_lua_is (self, '.') || ag_lua_is (self, ':'))) {
        method = ag_lua_is (self, ':');
        ag_lua_pass (self);
        struct ag_lua_token field = ag_lua_expect_name (self);
        if (!expr.suffixes)
            expr.use.field = field;
        ag_lua_add_suffix (&expr, AG_LUA_FIELD);
    }
    ag_lua_tell (self, &expr, true);
    ag_lua_body (self, &opening, method);
    check_fixed (self, &expr);
}

static void
read_local_function (struct ag_lua_parser *self, const struct ag_lua_token *opening)
{
    ag_lua_declare (&self->scope, ag_lua_expect_name (self).text);
    ag_lua_activate (&self->scope, 1);
    ag_lua_body (self, opening, false);
}

//  True for <close>.
static bool
read_attribute (struct ag_lua_parser *self, struct ag_lua_var *var)
{
    if (!ag_lua_take (self, '<'))
        return false;
    struct ag_lua_token name = ag_lua_expect_name (self);
    bool close = ag_str_is (name.text, "close");
    ag_lua_expect (self, '>');
    if (!close && !ag_str_is (name.text, "const"))
        ag_lua_fail (&self->lex, AG_LUA_SYNTAX, &name, "an attribute is const or close");
    if (self->events->attribute)
        self->events->attribute (self->events->arg, &name);
    var->fixed = true;
    return close;
}

static void
read_locals (struct ag_lua_parser *self)
{
    uint32_t count = 0, closes = 0;
    do {
        struct ag_lua_token name = ag_lua_expect_name (self);
        struct ag_lua_var *var = ag_lua_declare (&self->scope, name.text);
        closes += read_attribute (self, var);
        if (closes > 1)
            ag_lua_fail (&self->lex, AG_LUA_SYNTAX, &name, "more than one <close> in a list");
        count++;
    } while (ag_lua_take (self, ','));
    if (ag_lua_take (self, '=')) {
        if (count == 1 && ag_lua_is_top (&self->scope))
            self->bind = self->lex.token.text.p;
        ag_lua_expressions (self);
        self->bind = NULL;
    }
    ag_lua_activate (&self->scope, count);
}

static void
read_local (struct ag_lua_parser *self)
{
    ag_lua_pass (self);
    struct ag_lua_token opening = self->lex.token;
    if (ag_lua_take (self, AG_LUA_FUNCTION))
        read_local_function (self, &opening);
    else
        read_locals (self);
}

//  No-op statements behind a label belong to it: it may still be the last thing of its block.
static void
read_label (struct ag_lua_parser *self)
{
    ag_lua_pass (self);
    struct ag_lua_token name = ag_lua_expect_name (self);
    ag_lua_expect (self, AG_LUA_LABEL);
    while (ag_lua_is (self, ';') || ag_lua_is (self, AG_LUA_LABEL))
        read_statement (self);
    ag_lua_check_label (&self->scope, &name);
    ag_lua_label (&self->scope, &name, ends_block (self, false));
}

static void
read_break (struct ag_lua_parser *self)
{
    ag_lua_goto (&self->scope, &self->lex.token);
    ag_lua_pass (self);
}

static void
read_goto (struct ag_lua_parser *self)
{
    ag_lua_pass (self);
    struct ag_lua_token name = ag_lua_expect_name (self);
    if (name.kind == AG_LUA_NAME)
        ag_lua_goto (&self->scope, &name);
}

static void
read_return (struct ag_lua_parser *self)
{
    ag_lua_pass (self);
    if (!ends_block (self, true) && !ag_lua_is (self, ';'))
        ag_lua_expressions (self);
    ag_lua_take (self, ';');
}

//  a, b.c = ...: a target may wait in three registers.
static void
read_assignment (struct ag_lua_parser *self, struct ag_lua_expr *target)
{
    struct ag_lua_expr next;
    if (target->kind != AG_LUA_NAMED && target->kind != AG_LUA_INDEXED)
        ag_lua_wrong_token (self, "a name or a field before it");
    check_fixed (self, target);
    ag_lua_tell (self, target, true);
    ag_lua_hold (&self->scope, 3);
    if (ag_lua_take (self, ',')) {
        ag_lua_suffixed (self, &next);
        ag_lua_enter (self);
        read_assignment (self, &next);
        ag_lua_leave (self);
    } else {
        ag_lua_expect (self, '=');
        ag_lua_expressions (self);
    }
}

static void
read_call (struct ag_lua_parser *self)
{
    struct ag_lua_expr expr;
    ag_lua_suffixed (self, &expr);
    if (ag_lua_is (self, '=') || ag_lua_is (self, ',')) {
        read_assignment (self, &expr);
        return;
    }
    ag_lua_tell (self, &expr, false);
    if (expr.kind != AG_LUA_CALLED)
        ag_lua_wrong_token (self, "= or a call");
}

static const struct {
    int kind;
    void (*read) (struct ag_lua_parser *self);
} statements[] = {
    {';', ag_lua_pass},
    {AG_LUA_IF, read_if},
    {AG_LUA_WHILE, read_while},
    {AG_LUA_DO, read_do},
    {AG_LUA_FOR, read_for},
    {AG_LUA_REPEAT, read_repeat},
    {AG_LUA_FUNCTION, read_function},
    {AG_LUA_LOCAL, read_local},
    {AG_LUA_LABEL, read_label},
    {AG_LUA_RETURN, read_return},
    {AG_LUA_BREAK, read_break},
    {AG_LUA_GOTO, read_goto},
};

static void
read_statement (struct ag_lua_parser *self)
{
    size_t i = 0;
    ag_lua_enter (self);
    while (i < sizeof statements / sizeof *statements && !ag_lua_is (self, statements[i].kind))
        i++;
    if (i < sizeof statements / sizeof *statements)
        statements[i].read (self);
    else
        read_call (self);
    ag_lua_hold_again (&self->scope, 0);
    ag_lua_leave (self);
}

enum ag_lua_wrong
ag_lua_parse (struct ag_str source, uint32_t most_levels, const struct ag_lua_events *events,
              struct ag_lua_fault *fault)
{
    struct ag_lua_parser self = {.events = events, .most_levels = most_levels};
    ag_lua_lex_init (&self.lex, source);
    ag_lua_scope_init (&self.scope, &self.lex);
    ag_lua_open_function (&self.scope, true);
    ag_lua_next (&self.lex);
    read_statements (&self);
    if (!ag_lua_is (&self, AG_LUA_EOS))
        ag_lua_wrong_token (&self, "the end");
    ag_lua_close_function (&self.scope);
    ag_lua_scope_fini (&self.scope);
    *fault = self.lex.fault;
    return fault->wrong;
}
