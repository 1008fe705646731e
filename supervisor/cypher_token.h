/*  cypher_token - the words and signs of a pattern, one after the other.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_CYPHER_TOKEN_H
#define AG_CYPHER_TOKEN_H
#include "common/buf.h"
#include "common/err.h"

enum ag_token_kind {
    AG_TOKEN_END,
    AG_TOKEN_NAME,   //  a word; with dots between words a path
    AG_TOKEN_QUOTED, //  `a name`, without its backquotes
    AG_TOKEN_NUMBER,
    AG_TOKEN_STRING, //  with its quotes, ' or "
    AG_TOKEN_SIGN    //  any other character, one by one
};

struct ag_token {
    enum ag_token_kind kind;
    struct ag_str text;
    size_t at; //  where it begins, in bytes
};

struct ag_tokens {
    struct ag_str all;
    size_t next;
    struct ag_token token; //  the one in hand
};
//  None is in hand yet.
struct ag_tokens ag_tokens (struct ag_str text);
//  AG_E_BAD_MESSAGE: a quote that is not closed.
int ag_tokens_next (struct ag_tokens *self, struct ag_err *err);
#endif
