//  SPDX-License-Identifier: Apache-2.0
#include "common/lua_lex.h"
#include "common/unseen.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

//  The locale says nothing here: letters and digits are those of ASCII.

static bool
is_digit (int c)
{
    return c >= '0' && c <= '9';
}

static bool
is_hex (int c)
{
    return is_digit (c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool
is_letter (int c)
{
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int
hex_value (int c)
{
    return is_digit (c) ? c - '0' : (c | 32) - 'a' + 10;
}

//  The byte at hand, or -1 at the end.
static int
here (const struct ag_lua_lex *self)
{
    return self->p < self->end ? (unsigned char)*self->p : -1;
}

static bool
is_end_of_line (int c)
{
    return c == '\n' || c == '\r';
}

//  Two different characters in a row are one end.
static void
pass_line (struct ag_lua_lex *self)
{
    int first = here (self);
    self->p++;
    if (is_end_of_line (here (self)) && here (self) != first)
        self->p++;
    self->line++;
    self->line_start = self->p;
}

static bool
pass (struct ag_lua_lex *self, int c)
{
    bool there = here (self) == c;
    self->p += there;
    return there;
}

static struct ag_lua_token
place (const struct ag_lua_lex *self)
{
    return (struct ag_lua_token){.line = self->line,
                                 .column = (uint32_t)(self->p - self->line_start) + 1};
}

void
ag_lua_fail (struct ag_lua_lex *self, enum ag_lua_wrong wrong, const struct ag_lua_token *at,
             const char *format, ...)
{
    struct ag_lua_fault *fault = &self->fault;
    va_list list;
    if (!fault->wrong) {
        fault->wrong = wrong;
        fault->line = at->line;
        fault->column = at->column;
        va_start (list, format);
        vsnprintf (fault->text, sizeof fault->text, format, list);
        va_end (list);
    }
    self->p = self->end;
    self->token.kind = AG_LUA_EOS;
    self->ahead.kind = 0;
}

static void
wrong_here (struct ag_lua_lex *self, const char *what)
{
    struct ag_lua_token at = place (self);
    ag_lua_fail (self, AG_LUA_SYNTAX, &at, "%s", what);
}

/*  Numbers  */

static size_t
span (struct ag_str *text, bool (*is) (int c))
{
    size_t n = 0;
    for (; text->n && is ((unsigned char)*text->p); n++, text->p++, text->n--)
        ;
    return n;
}

static bool
starts (struct ag_str *text, const char *characters)
{
    bool there = text->n && *text->p && strchr (characters, *text->p);
    text->p += there;
    text->n -= there;
    return there;
}

//  Digits with a point among them or not, then an exponent or none; what strtod takes of this form.
static bool
is_numeral (struct ag_str text)
{
    bool hex = text.n > 1 && text.p[0] == '0' && (text.p[1] | 32) == 'x';
    if (hex)
        text = (struct ag_str){text.p + 2, text.n - 2};
    size_t digits = span (&text, hex ? is_hex : is_digit);
    if (starts (&text, "."))
        digits += span (&text, hex ? is_hex : is_digit);
    if (digits && starts (&text, hex ? "pP" : "eE")) {
        starts (&text, "+-");
        digits = span (&text, is_digit);
    }
    return digits && !text.n;
}

//  As far as Lua takes characters for one, be they a number or not. A point in front of it is taken already.
static int
read_number (struct ag_lua_lex *self, const struct ag_lua_token *at)
{
    const char *start = at->text.p;
    bool hex = pass (self, '0') && (pass (self, 'x') || pass (self, 'X'));
    for (int c; (c = here (self)) >= 0; self->p++) {
        if ((c | 32) == (hex ? 'p' : 'e')) {
            int sign = self->p + 1 < self->end ? self->p[1] : 0;
            self->p += sign == '+' || sign == '-';
        } else if (!is_hex (c) && c != '.')
            break;
    }
    self->p += is_letter (here (self));
    struct ag_str text = {start, (size_t)(self->p - start)};
    if (!is_numeral (text))
        ag_lua_fail (self, AG_LUA_SYNTAX, at, "malformed number near %.*s",
                     text.n < 40 ? (int)text.n : 40, text.p);
    return AG_LUA_NUMBER;
}

/*  Texts  */

//  What a string is made of, while it is read.
struct content {
    struct ag_utf8_char at_hand;
    bool escaped, unseen; //  a byte of the character at hand is an escape; an unseen one was found
};

static void
put_code (struct content *content, uint32_t code)
{
    content->unseen |= ag_is_unseen (code);
    content->at_hand.left = 0;
}

static void
put_byte (struct content *content, uint8_t byte, bool escaped)
{
    bool starts_one = (byte & 0xc0) != 0x80;
    content->escaped = escaped || (content->escaped && !starts_one);
    if (ag_utf8_char_add (&content->at_hand, byte) && content->escaped)
        content->unseen |= byte >= 0x80 && ag_is_unseen (content->at_hand.code);
}

static void
read_hex (struct ag_lua_lex *self, struct content *content)
{
    int value = 0;
    for (int i = 0; i < 2; i++, self->p++) {
        if (!is_hex (here (self))) {
            wrong_here (self, "hexadecimal digit expected in an escape");
            return;
        }
        value = value * 16 + hex_value (here (self));
    }
    put_byte (content, (uint8_t)value, true);
}

static void
read_code (struct ag_lua_lex *self, struct content *content)
{
    uint32_t code = 0;
    if (!pass (self, '{') || !is_hex (here (self))) {
        wrong_here (self, "an escape \\u is followed by {, hexadecimal digits and }");
        return;
    }
    for (; is_hex (here (self)); self->p++) {
        if (code > 0x7fffffffu >> 4) {
            wrong_here (self, "a character by \\u is too large");
            return;
        }
        code = code * 16 + (uint32_t)hex_value (here (self));
    }
    if (pass (self, '}'))
        put_code (content, code);
    else
        wrong_here (self, "an escape \\u{ ends with }");
}

static void
read_decimal (struct ag_lua_lex *self, struct content *content)
{
    int value = 0;
    for (int i = 0; i < 3 && is_digit (here (self)); i++, self->p++)
        value = value * 10 + here (self) - '0';
    if (value > 255)
        wrong_here (self, "a decimal escape is too large");
    put_byte (content, (uint8_t)value, true);
}

static void
pass_space (struct ag_lua_lex *self)
{
    for (int c; (c = here (self)) == ' ' || (c >= '\t' && c <= '\r');)
        if (is_end_of_line (c))
            pass_line (self);
        else
            self->p++;
}

//  What stands behind a backslash.
static void
read_escape (struct ag_lua_lex *self, struct content *content)
{
    int c = here (self);
    if (is_end_of_line (c))
        pass_line (self);
    else if (is_digit (c))
        read_decimal (self, content);
    else if (pass (self, 'x'))
        read_hex (self, content);
    else if (pass (self, 'u'))
        read_code (self, content);
    else if (pass (self, 'z'))
        pass_space (self);
    else if (c > 0 && strchr ("abfnrtv\\\"'", c)) {
        self->p++;
        put_byte (content, 0, true);
    } else if (c >= 0)
        wrong_here (self, "invalid escape sequence");
}

static int
read_string (struct ag_lua_lex *self, struct ag_lua_token *at)
{
    struct content content = {0};
    int quote = here (self);
    self->p++;
    while (!pass (self, quote)) {
        int c = here (self);
        if (c < 0 || is_end_of_line (c)) {
            ag_lua_fail (self, AG_LUA_SYNTAX, at, "unfinished string");
            break;
        }
        self->p++;
        if (c == '\\')
            read_escape (self, &content);
        else
            put_byte (&content, (uint8_t)c, false);
    }
    at->unseen = content.unseen;
    return AG_LUA_STRING;
}

//  At a bracket: how many `=` stand between it and a second one, or -1 when there is no second one.
static int
level_of_bracket (const struct ag_lua_lex *self)
{
    const char *p = self->p + 1;
    while (p < self->end && *p == '=')
        p++;
    return p < self->end && *p == *self->p ? (int)(p - self->p) - 1 : -1;
}

//  From the opening bracket to behind the closing one.
static int
read_long (struct ag_lua_lex *self, int level, const struct ag_lua_token *at)
{
    self->p += level + 2;
    while (here (self) >= 0)
        if (is_end_of_line (here (self)))
            pass_line (self);
        else if (here (self) == ']' && level_of_bracket (self) == level) {
            self->p += level + 2;
            return AG_LUA_STRING;
        } else
            self->p++;
    ag_lua_fail (self, AG_LUA_SYNTAX, at, "unfinished long string or comment");
    return AG_LUA_EOS;
}

/*  Tokens  */

static void
pass_comment (struct ag_lua_lex *self)
{
    struct ag_lua_token at = place (self);
    self->p += 2;
    int level = here (self) == '[' ? level_of_bracket (self) : -1;
    if (level >= 0)
        read_long (self, level, &at);
    while (level < 0 && here (self) >= 0 && !is_end_of_line (here (self)))
        self->p++;
}

static void
pass_blank (struct ag_lua_lex *self)
{
    for (;;) {
        int c = here (self);
        if (is_end_of_line (c))
            pass_line (self);
        else if (c == ' ' || c == '\t' || c == '\v' || c == '\f')
            self->p++;
        else if (c == '-' && self->end - self->p > 1 && self->p[1] == '-')
            pass_comment (self);
        else
            return;
    }
}

static const char *const words[] = {
    "and",      "break",  "do",   "else", "elseif", "end",   "false", "for",
    "function", "goto",   "if",   "in",   "local",  "nil",   "not",   "or",
    "repeat",   "return", "then", "true", "until",  "while",
};

static int
read_word (struct ag_lua_lex *self)
{
    struct ag_str text = {self->p, 0};
    while (is_letter (here (self)) || is_digit (here (self)))
        self->p++;
    text.n = (size_t)(self->p - text.p);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (ag_str_is (text, words[i]))
            return AG_LUA_AND + (int)i;
    return AG_LUA_NAME;
}

static const struct {
    char text[3];
    int kind;
} pairs[] = {
    {"//", AG_LUA_IDIV}, {"==", AG_LUA_EQ},  {">=", AG_LUA_GE},  {"<=", AG_LUA_LE},
    {"~=", AG_LUA_NE},   {"<<", AG_LUA_SHL}, {">>", AG_LUA_SHR}, {"::", AG_LUA_LABEL},
};

static int
read_points (struct ag_lua_lex *self, const struct ag_lua_token *at)
{
    self->p++;
    if (pass (self, '.'))
        return pass (self, '.') ? AG_LUA_DOTS : AG_LUA_CONCAT;
    return is_digit (here (self)) ? read_number (self, at) : '.';
}

static int
read_bracket (struct ag_lua_lex *self, const struct ag_lua_token *at)
{
    int level = level_of_bracket (self);
    if (level >= 0)
        return read_long (self, level, at);
    self->p++;
    if (here (self) == '=')
        wrong_here (self, "invalid delimiter of a long string");
    return '[';
}

static int
read_sign (struct ag_lua_lex *self)
{
    int c = here (self);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (self->end - self->p > 1 && !memcmp (self->p, pairs[i].text, 2)) {
            self->p += 2;
            return pairs[i].kind;
        }
    self->p++;
    return c;
}

static int
read_token (struct ag_lua_lex *self, struct ag_lua_token *at)
{
    int c = here (self);
    if (c < 0)
        return AG_LUA_EOS;
    if (is_letter (c))
        return read_word (self);
    if (is_digit (c))
        return read_number (self, at);
    if (c == '"' || c == '\'')
        return read_string (self, at);
    if (c == '.')
        return read_points (self, at);
    return c == '[' ? read_bracket (self, at) : read_sign (self);
}

//  A fault on the way has made the token at hand the end.
static void
read (struct ag_lua_lex *self, struct ag_lua_token *token)
{
    pass_blank (self);
    struct ag_lua_token at = place (self);
    at.text.p = self->p;
    at.kind = read_token (self, &at);
    if (self->fault.wrong)
        at.kind = AG_LUA_EOS;
    at.text.n = (size_t)(self->p - at.text.p);
    *token = at;
    if (++self->count > AG_LUA_TOKENS && at.kind != AG_LUA_EOS) {
        ag_lua_fail (self, AG_LUA_LIMIT, &at, "more than %d tokens in a file", AG_LUA_TOKENS);
        token->kind = AG_LUA_EOS;
    }
}

void
ag_lua_lex_init (struct ag_lua_lex *self, struct ag_str source)
{
    *self = (struct ag_lua_lex){.p = source.p, .end = source.p + source.n, .line_start = source.p};
    self->line = 1;
}

void
ag_lua_next (struct ag_lua_lex *self)
{
    if (self->ahead.kind) {
        self->token = self->ahead;
        self->ahead.kind = 0;
    } else
        read (self, &self->token);
}

const struct ag_lua_token *
ag_lua_look_ahead (struct ag_lua_lex *self)
{
    struct ag_lua_token ahead;
    if (!self->ahead.kind) {
        read (self, &ahead);
        self->ahead = ahead;
    }
    return &self->ahead;
}

const char *
ag_lua_kind_text (int kind, char room[2])
{
    static const char *const others[] = {
        "//", "..", "...", "==",      ">=",       "<=",     "~=",
        "<<", ">>", "::",  "the end", "a number", "a name", "a text"};
    if (kind < AG_LUA_AND) {
        room[0] = (char)kind;
        room[1] = 0;
        return room;
    }
    return kind < AG_LUA_IDIV ? words[kind - AG_LUA_AND] : others[kind - AG_LUA_IDIV];
}
