//  SPDX-License-Identifier: Apache-2.0
#include "common/script_on.h"

#include <string.h>

//  Where in `ag . behavior ( { on = { "x"` the tokens so far end.
enum place { OUTSIDE, AG, DOT, CALLED, IN_TABLE, ON, EQUALS, IN_LIST };

static bool
is_name (const struct ag_lua_token *token, const char *name)
{
    return token->kind == AG_LUA_NAME && ag_str_is (token->text, name);
}

static bool
is_one_of (const struct ag_lua_token *token, const char *characters)
{
    while (*characters && token->kind != *characters)
        characters++;
    return *characters != 0;
}

static enum place
begin (const struct ag_lua_token *token)
{
    return is_name (token, "ag") ? AG : OUTSIDE;
}

//  Between the fields of the call's own table.
static enum place
in_table (struct ag_script_on *self, const struct ag_lua_token *token)
{
    bool field = self->last == '{' || self->last == ',' || self->last == ';';
    if (token->kind == AG_LUA_FUNCTION)
        return OUTSIDE;
    if (self->depth == 1 && field && is_name (token, "on"))
        return ON;
    if (is_one_of (token, "{(["))
        self->depth++;
    else if (is_one_of (token, "})]"))
        self->depth--;
    return self->depth ? IN_TABLE : OUTSIDE;
}

//  A text counts once what stands behind it shows that it is the whole entry.
static enum place
in_list (struct ag_script_on *self, const struct ag_lua_token *token)
{
    if (token->kind == AG_LUA_STRING && self->last != AG_LUA_STRING)
        self->text = *token;
    else if (!is_one_of (token, ",;}"))
        return OUTSIDE;
    return token->kind == '}' ? IN_TABLE : IN_LIST;
}

//  In quotes, without escapes.
static bool
is_plain (const struct ag_lua_token *text)
{
    return *text->text.p != '[' && !memchr (text->text.p, '\\', text->text.n);
}

static enum place
next (struct ag_script_on *self, const struct ag_lua_token *token)
{
    switch ((enum place)self->place) {
    case OUTSIDE:
        return self->last == '.' || self->last == ':' ? OUTSIDE : begin (token);
    case AG:
        return token->kind == '.' ? DOT : begin (token);
    case DOT:
        return is_name (token, "behavior") || is_name (token, "relation_behavior") ? CALLED
                                                                                   : OUTSIDE;
    case CALLED:
        self->depth = 1;
        return token->kind == '(' ? CALLED : token->kind == '{' ? IN_TABLE : begin (token);
    case IN_TABLE:
        return in_table (self, token);
    case ON:
        return token->kind == '=' ? EQUALS : in_table (self, token);
    case EQUALS:
        return token->kind == '{' ? IN_LIST : in_table (self, token);
    case IN_LIST:
        break;
    }
    return in_list (self, token);
}

bool
ag_script_on (struct ag_script_on *self, const struct ag_lua_token *token)
{
    bool found = self->place == IN_LIST && self->last == AG_LUA_STRING && is_plain (&self->text) &&
                 is_one_of (token, ",;}");
    self->place = next (self, token);
    self->last = token->kind;
    return found;
}
