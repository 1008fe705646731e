/*  lua_lex - the tokens of Lua 5.4 source, with their places, from bytes that may be hostile.
 *
 *  Takes exactly the tokens that the lexer of Lua 5.4.4 takes. It allocates nothing and reads each byte once or twice.
 *  The first thing that is wrong is kept; from then on the source is at its end, so that whoever reads tokens ends soon
 *  without looking for faults.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_LUA_LEX_H
#define AG_LUA_LEX_H
#include "common/buf.h"

//  A token of one character is that character.
enum ag_lua_kind {
    AG_LUA_AND = 257, //  the words of Lua, in order
    AG_LUA_BREAK,
    AG_LUA_DO,
    AG_LUA_ELSE,
    AG_LUA_ELSEIF,
    AG_LUA_END,
    AG_LUA_FALSE,
    AG_LUA_FOR,
    AG_LUA_FUNCTION,
    AG_LUA_GOTO,
    AG_LUA_IF,
    AG_LUA_IN,
    AG_LUA_LOCAL,
    AG_LUA_NIL,
    AG_LUA_NOT,
    AG_LUA_OR,
    AG_LUA_REPEAT,
    AG_LUA_RETURN,
    AG_LUA_THEN,
    AG_LUA_TRUE,
    AG_LUA_UNTIL,
    AG_LUA_WHILE,
    AG_LUA_IDIV,
    AG_LUA_CONCAT,
    AG_LUA_DOTS,
    AG_LUA_EQ,
    AG_LUA_GE,
    AG_LUA_LE,
    AG_LUA_NE,
    AG_LUA_SHL,
    AG_LUA_SHR,
    AG_LUA_LABEL, //  ::
    AG_LUA_EOS,
    AG_LUA_NUMBER,
    AG_LUA_NAME,
    AG_LUA_STRING,
};

struct ag_lua_token {
    int kind;
    uint32_t line, column; //  from 1; a column is a byte
    struct ag_str text;    //  as it stands in the source: of a string with its quotes
    bool unseen;           //  a string: an escape in it makes a character that nobody sees
};

enum ag_lua_wrong { AG_LUA_FINE, AG_LUA_SYNTAX, AG_LUA_NESTING, AG_LUA_LIMIT };

struct ag_lua_fault {
    enum ag_lua_wrong wrong;
    uint32_t line, column;
    char text[120]; //  what is wrong; may hold bytes of the source
};

struct ag_lua_lex {
    struct ag_lua_token token;        //  at hand, once ag_lua_next was called
    struct ag_lua_token ahead;        //  the one behind it, when kind is not 0
    uint32_t count;                   //  tokens so far
    struct ag_lua_fault fault;        //  the first
    const char *p, *end, *line_start; //  inside: what is to be read
    uint32_t line;
};

enum { AG_LUA_TOKENS = 1 << 18 };

void ag_lua_lex_init (struct ag_lua_lex *self, struct ag_str source);
void ag_lua_next (struct ag_lua_lex *self);
const struct ag_lua_token *ag_lua_look_ahead (struct ag_lua_lex *self);
//  Keep what is wrong with a token, if it is the first; ends the source.
void ag_lua_fail (struct ag_lua_lex *self, enum ag_lua_wrong wrong, const struct ag_lua_token *at,
                  const char *format, ...) __attribute__ ((format (printf, 4, 5)));
//  How a kind of token is written.
const char *ag_lua_kind_text (int kind, char room[2]);
#endif
