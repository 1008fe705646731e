//  SPDX-License-Identifier: Apache-2.0
#include "common/lua_scope.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct ag_lua_jump {
    struct ag_lua_token name;
    uint32_t active; //  locals of the function that are in scope there
};

struct ag_lua_block {
    uint32_t active, first_label, first_goto; //  how many there were before it
    bool loop;
};

struct ag_lua_function {
    uint32_t first_var, first_label, first_block;
    uint32_t active, made, held; //  locals in scope; declared so far; registers in use beside them
    uint32_t upvalue_count;
    uint32_t upvalues[AG_LUA_UPVALUES]; //  places of vars, or environment
    bool variadic;
};

//  In place of a local's.
static const uint32_t environment = UINT32_MAX - 1, none = UINT32_MAX;

//  Room for one more.
#define GROW(list, count, room)                                                                    \
    if ((count) == (room)) {                                                                       \
        (room) = (room) ? 2 * (room) : 16;                                                         \
        (list) = ag_xrealloc ((list), (room) * sizeof *(list));                                    \
    }

void
ag_lua_scope_init (struct ag_lua_scope *self, struct ag_lua_lex *lex)
{
    *self = (struct ag_lua_scope){.lex = lex};
}

void
ag_lua_scope_fini (struct ag_lua_scope *self)
{
    free (self->vars);
    free (self->labels);
    free (self->gotos);
    free (self->blocks);
    free (self->functions);
}

static struct ag_lua_function *
current (const struct ag_lua_scope *self)
{
    assert (self->function_count);
    return &self->functions[self->function_count - 1];
}

static struct ag_lua_block *
block_of (const struct ag_lua_scope *self)
{
    assert (self->block_count);
    return &self->blocks[self->block_count - 1];
}

static void
too_many (struct ag_lua_scope *self, int most, const char *what)
{
    ag_lua_fail (self->lex, AG_LUA_LIMIT, &self->lex->token, "more than %d %s in a function", most,
                 what);
}

/*  Functions and blocks  */

void
ag_lua_open_function (struct ag_lua_scope *self, bool variadic)
{
    GROW (self->functions, self->function_count, self->function_room);
    struct ag_lua_function *function = &self->functions[self->function_count++];
    *function = (struct ag_lua_function){.first_var = self->var_count,
                                         .first_label = self->label_count,
                                         .first_block = self->block_count,
                                         .variadic = variadic};
    if (self->function_count == 1)
        function->upvalues[function->upvalue_count++] = environment;
    ag_lua_open_block (self, false);
}

void
ag_lua_close_function (struct ag_lua_scope *self)
{
    ag_lua_close_block (self);
    self->var_count = current (self)->first_var;
    self->function_count--;
}

void
ag_lua_set_variadic (struct ag_lua_scope *self)
{
    current (self)->variadic = true;
}

bool
ag_lua_is_variadic (const struct ag_lua_scope *self)
{
    return current (self)->variadic;
}

bool
ag_lua_is_top (const struct ag_lua_scope *self)
{
    return self->block_count == 1;
}

void
ag_lua_open_block (struct ag_lua_scope *self, bool loop)
{
    GROW (self->blocks, self->block_count, self->block_room);
    self->blocks[self->block_count++] =
        (struct ag_lua_block){current (self)->active, self->label_count, self->goto_count, loop};
}

static void
undefined (struct ag_lua_scope *self, const struct ag_lua_token *name)
{
    if (name->kind == AG_LUA_BREAK)
        ag_lua_fail (self->lex, AG_LUA_SYNTAX, name, "break outside of a loop");
    else
        ag_lua_fail (self->lex, AG_LUA_SYNTAX, name, "no visible label %.*s for goto",
                     name->text.n < 40 ? (int)name->text.n : 40, name->text.p);
}

static bool
same_name (const struct ag_lua_token *a, const struct ag_lua_token *b)
{
    return a->kind == b->kind && ag_str_eq (a->text, b->text);
}

//  Jumps of this block that wait for the label are done with.
static void
settle (struct ag_lua_scope *self, const struct ag_lua_jump *label)
{
    uint32_t kept = block_of (self)->first_goto;
    for (uint32_t i = kept; i < self->goto_count; i++) {
        const struct ag_lua_jump *jump = &self->gotos[i];
        if (!same_name (&jump->name, &label->name))
            self->gotos[kept++] = *jump;
        else if (jump->active < label->active)
            ag_lua_fail (self->lex, AG_LUA_SYNTAX, &jump->name,
                         "a goto jumps into the scope of a local");
    }
    self->goto_count = kept;
}

//  Jumps that wait on go on from where the block began; none leaves its function.
void
ag_lua_close_block (struct ag_lua_scope *self)
{
    struct ag_lua_function *function = current (self);
    struct ag_lua_block *block = block_of (self);
    if (block->loop) {
        struct ag_lua_token word = {.kind = AG_LUA_BREAK, .text = AG_LIT ("break")};
        settle (self, &(struct ag_lua_jump){word, function->active});
    }
    function->active = block->active;
    self->var_count = function->first_var + function->active;
    self->label_count = block->first_label;
    for (uint32_t i = block->first_goto; i < self->goto_count; i++)
        self->gotos[i].active = block->active;
    self->block_count--;
    if (self->block_count == function->first_block && block->first_goto < self->goto_count) {
        undefined (self, &self->gotos[block->first_goto].name);
        self->goto_count = block->first_goto;
    }
}

/*  Names  */

struct ag_lua_var *
ag_lua_declare (struct ag_lua_scope *self, struct ag_str name)
{
    struct ag_lua_function *function = current (self);
    if (self->var_count - function->first_var >= AG_LUA_LOCALS)
        too_many (self, AG_LUA_LOCALS, "locals");
    else if (self->var_count >= AG_LUA_VISIBLE)
        too_many (self, AG_LUA_VISIBLE, "locals of others too");
    else if (function->made++ >= AG_LUA_MADE)
        too_many (self, AG_LUA_MADE, "locals, one after the other,");
    GROW (self->vars, self->var_count, self->var_room);
    struct ag_lua_var *var = &self->vars[self->var_count++];
    *var = (struct ag_lua_var){.name = name};
    return var;
}

void
ag_lua_activate (struct ag_lua_scope *self, uint32_t count)
{
    struct ag_lua_function *function = current (self);
    function->active += count;
    assert (function->first_var + function->active <= self->var_count);
}

//  The first byte tells most apart: this is what the time of a check goes into.
static bool
is_called (const struct ag_lua_var *var, struct ag_str name)
{
    return var->name.n == name.n && name.n && *var->name.p == *name.p &&
           !memcmp (var->name.p, name.p, name.n);
}

//  The place of the innermost local of that name, and in owner whose it is; none: nobody's.
static uint32_t
look_up (const struct ag_lua_scope *self, struct ag_str name, uint32_t *owner)
{
    for (uint32_t f = self->function_count; f-- > 0;) {
        const struct ag_lua_function *function = &self->functions[f];
        for (uint32_t i = function->first_var + function->active; i-- > function->first_var;)
            if (is_called (&self->vars[i], name)) {
                *owner = f;
                return i;
            }
    }
    *owner = 0;
    return none;
}

static bool
has_upvalue (const struct ag_lua_function *function, uint32_t place)
{
    for (uint32_t i = 0; i < function->upvalue_count; i++)
        if (function->upvalues[i] == place)
            return true;
    return false;
}

//  Each function inside of the owner has it as an upvalue then.
static void
reach (struct ag_lua_scope *self, uint32_t place, uint32_t owner)
{
    for (uint32_t f = self->function_count; f-- > owner + 1;) {
        struct ag_lua_function *function = &self->functions[f];
        if (has_upvalue (function, place))
            return;
        if (function->upvalue_count == AG_LUA_UPVALUES) {
            too_many (self, AG_LUA_UPVALUES, "upvalues");
            return;
        }
        function->upvalues[function->upvalue_count++] = place;
    }
}

struct ag_lua_found
ag_lua_find (struct ag_lua_scope *self, struct ag_str name)
{
    uint32_t owner, place = look_up (self, name, &owner);
    if (place == none) { //  a field of _ENV, which may be a local itself
        place = look_up (self, AG_LIT ("_ENV"), &owner);
        reach (self, place == none ? environment : place, owner);
        return (struct ag_lua_found){AG_LUA_FREE, false};
    }
    reach (self, place, owner);
    const struct ag_lua_var *var = &self->vars[place];
    return (struct ag_lua_found){var->parameter ? AG_LUA_PARAMETER : AG_LUA_LOCAL_NAME, var->fixed};
}

/*  Jumps  */

static const struct ag_lua_jump *
visible_label (const struct ag_lua_scope *self, const struct ag_lua_token *name)
{
    for (uint32_t i = current (self)->first_label; i < self->label_count; i++)
        if (same_name (&self->labels[i].name, name))
            return &self->labels[i];
    return NULL;
}

//  Backwards it needs no more than that the label is there.
void
ag_lua_goto (struct ag_lua_scope *self, const struct ag_lua_token *name)
{
    if (visible_label (self, name))
        return;
    if (self->goto_count >= AG_LUA_JUMPS)
        too_many (self, AG_LUA_JUMPS, "jumps");
    GROW (self->gotos, self->goto_count, self->goto_room);
    self->gotos[self->goto_count++] = (struct ag_lua_jump){*name, current (self)->active};
}

void
ag_lua_check_label (struct ag_lua_scope *self, const struct ag_lua_token *name)
{
    const struct ag_lua_jump *label = visible_label (self, name);
    if (label)
        ag_lua_fail (self->lex, AG_LUA_SYNTAX, name, "the label stands in line %u too",
                     label->name.line);
}

void
ag_lua_label (struct ag_lua_scope *self, const struct ag_lua_token *name, bool last)
{
    if (self->label_count >= AG_LUA_JUMPS)
        too_many (self, AG_LUA_JUMPS, "labels");
    GROW (self->labels, self->label_count, self->label_room);
    struct ag_lua_jump *label = &self->labels[self->label_count++];
    *label = (struct ag_lua_jump){*name, last ? block_of (self)->active : current (self)->active};
    settle (self, label);
}

/*  Registers  */

uint32_t
ag_lua_held (const struct ag_lua_scope *self)
{
    return current (self)->held;
}

void
ag_lua_hold (struct ag_lua_scope *self, uint32_t more)
{
    struct ag_lua_function *function = current (self);
    function->held += more;
    if (function->held + function->active > AG_LUA_REGISTERS)
        too_many (self, AG_LUA_REGISTERS, "values at a time");
}

void
ag_lua_hold_again (struct ag_lua_scope *self, uint32_t held)
{
    current (self)->held = held;
}
#undef GROW
