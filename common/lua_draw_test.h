/*  lua_draw - chunks of Lua by a grammar, for tests: most are right, and where Lua draws a line some are on each side.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_LUA_DRAW_TEST_H
#define AG_LUA_DRAW_TEST_H
#include "common/buf.h"

#include <stdio.h>
#include <string.h>

struct draw {
    uint64_t state;
    struct ag_buf out;
    int depth;
};

static uint64_t
below (struct draw *self, uint64_t n)
{
    uint64_t z = self->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (z ^ z >> 31) % n;
}

static bool
once_in (struct draw *self, uint64_t n)
{
    return below (self, n) == 0;
}

static void
put (struct draw *self, const char *text)
{
    ag_buf_add (&self->out, text, strlen (text));
    ag_buf_add (&self->out, once_in (self, 9) ? "\n" : " ", 1);
}

#define PICK(self, list) ((list)[below ((self), sizeof (list) / sizeof *(list))])

static const char *const names[] = {"a", "b", "c", "x", "self", "_ENV", "_G1", "t", "string"};
static const char *const labels[] = {"l", "m", "continue"};
static const char *const numbers[] = {
    "0",
    "1",
    "007",
    "3.",
    ".5",
    "3.0e1",
    "1e+9",
    "1E-9",
    "0x1F",
    "0Xa.8p1",
    "0x.8",
    "0x1p4",
    "0x1P-",
    "1e999",
    "1..2",
    "1e",
    "1e+",
    "0x",
    "0x.",
    "0xp1",
    "3x",
    "08.5.",
    "0xep1",
    "1n",
    "0b1",
    "3_",
    "1e5e5",
    "0x1p4a",
    "5..",
    ".0x1",
    "0x1e+1",
    "1.e3",
    "9223372036854775808",
    "0xffffffffffffffffff",
    "1E",
    "0xg",
};
static const char *const texts[] = {
    "''",
    "\"a\"",
    "'\\n\\065\\x41'",
    "'\\u{7fffffff}'",
    "'\\u{80000000}'",
    "'\\x4'",
    "'\\999'",
    "'\\z  \n b'",
    "'a\\\nb'",
    "'a\nb'",
    "[[a]]",
    "[==[a]]]==]",
    "[=[a]]",
    "[[\n]]",
    "'\\q'",
    "'\\u{}'",
    "'\\u{41'",
    "\"\\'\"",
    "[=a]",
    "'\\255\\256'",
    "'",
    "'\\",
    "'\\0'",
    "'\\u41'",
    "--[[c]] 1",
    "--[==[ ]] ]==] 'x'",
    "--c\n1",
    "'\\\r\n'",
    "'\xff'",
    "[[\r\n\r]]",
    "'\\xfg'",
    "'\\25'",
};
static const char *const binaries[] = {
    "+",  "-", "*",  "/",  "//", "%", "^", "..", "==",  "~=", "<",
    "<=", ">", ">=", "<<", ">>", "&", "|", "~",  "and", "or"};
static const char *const unaries[] = {"-", "not", "#", "~"};
static const char *const oddities[] = {
    "$",    "!",    "\\",      "@",     "\x01",  "end", "until",
    "then", "do",   "<",       "(",     ")",     "}",   "{",
    "]",    "=",    "::",      ":",     ".",     "...", "..",
    "goto", "if",   "return",  "in",    ",",     ";",   "function",
    "\"",   "--[[", "<close>", "local", "break", "nil", "\xef\xbb\xbf",
    "\r",   "\v",   "#",       "0x",    "a.b",   "~=",  "else",
};

static void expression (struct draw *self);
static void block (struct draw *self);

static void
list (struct draw *self, void (*item) (struct draw *self), uint64_t most)
{
    uint64_t n = 1 + below (self, most);
    for (uint64_t i = 0; i < n; i++) {
        if (i)
            put (self, ",");
        item (self);
    }
}

static void
name (struct draw *self)
{
    put (self, PICK (self, names));
}

static void
function (struct draw *self)
{
    put (self, "(");
    if (!once_in (self, 3))
        list (self, name, 3);
    else if (once_in (self, 2))
        put (self, "...");
    put (self, ")");
    block (self);
    put (self, "end");
}

static void
table (struct draw *self)
{
    put (self, "{");
    for (uint64_t i = below (self, 4); i > 0; i--) {
        if (once_in (self, 3))
            name (self), put (self, "=");
        else if (once_in (self, 4))
            put (self, "["), expression (self), put (self, "] =");
        expression (self);
        put (self, once_in (self, 2) ? "," : ";");
    }
    put (self, "}");
}

static void
arguments (struct draw *self)
{
    if (once_in (self, 4))
        put (self, once_in (self, 40) ? PICK (self, texts) : "'s'");
    else if (once_in (self, 4))
        table (self);
    else {
        put (self, "(");
        if (!once_in (self, 3))
            list (self, expression, 3);
        put (self, ")");
    }
}

//  A name, then suffixes; a call at the end or not.
static void
suffixed (struct draw *self, bool call)
{
    if (once_in (self, 5))
        put (self, "("), expression (self), put (self, ")");
    else
        name (self);
    for (uint64_t i = below (self, 3); i > 0; i--)
        switch (below (self, 4)) {
        case 0:
            put (self, "."), name (self);
            break;
        case 1:
            put (self, "["), expression (self), put (self, "]");
            break;
        case 2:
            put (self, ":"), name (self), arguments (self);
            break;
        default:
            arguments (self);
        }
    if (call)
        arguments (self);
}

static void
simple (struct draw *self)
{
    switch (below (self, 10)) {
    case 0:
        put (self, once_in (self, 20) ? PICK (self, numbers) : "12");
        break;
    case 1:
        put (self, once_in (self, 20) ? PICK (self, texts) : "\"t\"");
        break;
    case 2:
        put (self, once_in (self, 2) ? "nil" : "true");
        break;
    case 3:
        put (self, once_in (self, 12) ? "..." : "false");
        break;
    case 4:
        table (self);
        break;
    case 5:
        put (self, "function"), function (self);
        break;
    default:
        suffixed (self, once_in (self, 2));
    }
}

static void
expression (struct draw *self)
{
    if (self->depth > 5 || self->out.n > 4000) {
        put (self, "1");
        return;
    }
    self->depth++;
    if (once_in (self, 6))
        put (self, PICK (self, unaries));
    simple (self);
    if (once_in (self, 3))
        put (self, PICK (self, binaries)), expression (self);
    self->depth--;
}

static void
local_name (struct draw *self)
{
    name (self);
    if (once_in (self, 12))
        put (self, once_in (self, 20) ? "<constant>" : once_in (self, 3) ? "<close>" : "<const>");
}

static void
locals (struct draw *self)
{
    put (self, "local");
    if (once_in (self, 4)) {
        put (self, "function"), name (self), function (self);
        return;
    }
    list (self, local_name, 3);
    if (!once_in (self, 4))
        put (self, "="), list (self, expression, 3);
}

static void
target (struct draw *self)
{
    if (once_in (self, 2))
        name (self);
    else {
        suffixed (self, once_in (self, 20));
        if (!once_in (self, 40))
            put (self, "."), name (self);
    }
}

static void
function_statement (struct draw *self)
{
    put (self, "function");
    name (self);
    while (once_in (self, 2))
        put (self, "."), name (self);
    if (once_in (self, 3))
        put (self, ":"), name (self);
    function (self);
}

static void
loop (struct draw *self)
{
    put (self, "for");
    if (once_in (self, 2)) {
        name (self), put (self, "="), expression (self), put (self, ","), expression (self);
        if (once_in (self, 3))
            put (self, ","), expression (self);
    } else
        list (self, name, 3), put (self, "in"), list (self, expression, 3);
    put (self, "do");
    block (self);
    put (self, "end");
}

static void
condition (struct draw *self)
{
    put (self, "if"), expression (self), put (self, "then");
    block (self);
    while (once_in (self, 3))
        put (self, "elseif"), expression (self), put (self, "then"), block (self);
    if (once_in (self, 3))
        put (self, "else"), block (self);
    put (self, "end");
}

static void
jump (struct draw *self)
{
    switch (below (self, 5)) {
    case 0:
        put (self, "goto"), put (self, PICK (self, labels));
        break;
    case 1:
        put (self, "do goto"), put (self, PICK (self, labels)), put (self, "end");
        break;
    case 2:
        put (self, "while true do if a then break end"), block (self), put (self, "end");
        break;
    case 3:
        put (self, once_in (self, 3) ? "break" : "repeat break until true");
        break;
    default:
        put (self, "::"), put (self, PICK (self, labels)), put (self, "::");
    }
}

static void
statement (struct draw *self)
{
    switch (below (self, 16)) {
    case 0:
    case 1:
    case 2:
        locals (self);
        break;
    case 3:
    case 4:
        list (self, target, 2), put (self, "="), list (self, expression, 2);
        break;
    case 5:
    case 6:
        suffixed (self, true);
        break;
    case 7:
        condition (self);
        break;
    case 8:
        put (self, "while"), expression (self), put (self, "do"), block (self), put (self, "end");
        break;
    case 9:
        loop (self);
        break;
    case 10:
        put (self, "repeat"), block (self), put (self, "until"), expression (self);
        break;
    case 11:
        function_statement (self);
        break;
    case 12:
        if (once_in (self, 2))
            jump (self);
        break;
    default:
        put (self, "do"), block (self), put (self, once_in (self, 2) ? "end ;" : "end");
    }
}

static void
block (struct draw *self)
{
    if (self->depth > 5 || self->out.n > 4000)
        return;
    self->depth++;
    for (uint64_t i = below (self, 4); i > 0; i--)
        statement (self);
    if (once_in (self, 6)) {
        put (self, "return");
        if (once_in (self, 2))
            list (self, expression, 2);
    }
    self->depth--;
}

//  Labels, jumps to them, and locals that these may not jump over.
static void
draw_jumps (struct draw *self)
{
    static const char *const leaves[] = {"goto l",
                                         "goto m",
                                         "::l::",
                                         "::m::",
                                         ";",
                                         "x = 1",
                                         "local x",
                                         "goto l local x",
                                         "local x ::l::",
                                         "do local x goto l end",
                                         "while x do break end",
                                         "goto m local y <const> = x"};
    self->depth++;
    for (uint64_t i = 1 + below (self, 4); i > 0; i--) {
        uint64_t kind = self->depth > 3 ? 9 : below (self, 10);
        static const char *const openings[] = {"do", "repeat", "while x do", "local function f ()"};
        if (kind < 4) {
            put (self, openings[kind]);
            draw_jumps (self);
            put (self, kind == 1 ? "until x" : "end");
        } else
            put (self, PICK (self, leaves));
    }
    self->depth--;
}

//  So many of what has a limit, from under it to over it.
static void
repeat (struct draw *self, const char *before, const char *each, const char *after, uint64_t n)
{
    put (self, before);
    for (uint64_t i = 0; i < n; i++) {
        char text[64];
        snprintf (text, sizeof text, each, (int)i);
        put (self, text);
    }
    put (self, after);
}

static const struct {
    const char *before, *each, *after;
    unsigned from, to;
} wide[] = {
    {"f (a", ", %1$d", ")", 200, 270},
    {"local v", ", v%1$d", "= 1", 195, 203},
    {"local v", ", v%1$d", "", 195, 203},
    {"return a", ", a", "", 200, 270},
    {"return", "-", "1", 190, 205},
    {"return", "not (", "1", 90, 100},
    {"return a", ".. a", "", 190, 205},
    {"return a", "+ a", "", 190, 205},
    {"return a", "^ a", "", 190, 205},
    {"local function f (v", ", v%1$d", ") end", 195, 203},
    {"", "::l%1$d::", "", 190, 205},
    {"", ";", "", 190, 205},
    {"", "do", "", 190, 205},
    {"", "x,", "x = 1", 190, 205},
    {"x", ", x.y", "= 1", 60, 130},
    {"return", "{", "", 190, 205},
    {"return", "function () return", "", 95, 105},
    {"return { 1", ", a", "}", 40, 300},
    {"goto l", "local v%1$d", "::l::", 0, 2},
    {"", "if a then elseif a then", "end", 190, 205},
    {"", "local a", "", 195, 203},
    {"", "local a <const> = 1", "", 195, 203},
    {"for i = 1, 2 do", "local v%1$d", "end", 190, 200},
    {"for i in a do", "local v%1$d", "end", 190, 200},
};

static void
draw_wide (struct draw *self)
{
    uint64_t i = below (self, sizeof wide / sizeof *wide);
    uint64_t n = wide[i].from + below (self, wide[i].to - wide[i].from + 1);
    repeat (self, wide[i].before, wide[i].each, wide[i].after, n);
    for (uint64_t k = 0; !strcmp (wide[i].after, "") && k < n && i != 2 && i != 3; k++)
        put (self, !strcmp (wide[i].each, "{")         ? "}"
                   : !strcmp (wide[i].each, "do")      ? "end"
                   : strstr (wide[i].each, "function") ? "end"
                                                       : "");
    for (uint64_t k = 0; strstr (wide[i].each, "(") && strstr (wide[i].each, "not") && k < n; k++)
        put (self, ")");
}

//  Functions in each other, with locals that the innermost one uses: about as many as there may be upvalues.
static void
draw_upvalues (struct draw *self)
{
    uint64_t first = 100 + below (self, 60), second = 100 + below (self, 60);
    repeat (self, "local v", ", v%1$d", "", first);
    repeat (self, "local function f () local w", ", w%1$d", "", second);
    repeat (self, "local function g () return v", ", v%1$d + 1", "", 0);
    repeat (self, "", "; x = v%1$d", "", first);
    repeat (self, "", "; x = w%1$d", "", second);
    put (self, "end end");
}
#endif
