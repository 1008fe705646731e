/*  cypher - patterns of the graph: a locked subset of Cypher, read into a small tree.
 *
 *      pattern := chain [WHERE bool]                 chain := node (rel node)*
 *      node    := ( [var] [:type] [{key: literal, …}] )
 *      rel     := -[ [var] :type ]->  |  <-[ [var] :type ]-
 *      bool    := unary (AND unary)*
 *      unary   := NOT EXISTS { chain } | NOT unary | ( bool ) | path op (literal | path)
 *      op      := = <> != < <= > >=                  literal := number | string | true | false | null
 *
 *  Keywords in any case. A name that is no word stands in backquotes. What else Cypher has is refused with the
 *  word, what it is, its place and what to write instead. Everything is bounded; the tree borrows from the text
 *  and from itself, so neither may move.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_CYPHER_H
#define AG_CYPHER_H
#include "supervisor/where.h"

enum {
    AG_CYPHER_BYTES = 4096,
    AG_CYPHER_PLACES = 32, //  nodes and relations, all chains together
    AG_CYPHER_CHAINS = 8,
    AG_CYPHER_PROPS = 32,
    AG_CYPHER_TESTS = 32,
    AG_CYPHER_DEPTH = 16, //  of ( ) and NOT
    AG_CYPHER_HOLD = 2 * AG_CYPHER_BYTES
};

struct ag_cypher_prop {
    struct ag_str key, value; //  a normal value
};

//  Nodes and relations of a chain take turns: even places of it are nodes. Places with the same variable
//  share a slot, and so are the same thing in a match.
struct ag_cypher_place {
    uint32_t slot;
    struct ag_str type; //  p NULL: any
    uint32_t props, prop_count;
    bool forward; //  of a relation: it starts at the node to its left
};

struct ag_cypher_slot {
    struct ag_str name; //  n 0: it has none
    bool relation;
};

struct ag_cypher_chain {
    uint32_t first, count; //  places
    uint32_t slots;        //  from which slot on they are its own; those below are the pattern's
    bool inverted;         //  of NOT EXISTS under another NOT: that it exists is asked for
};

struct ag_cypher_side {
    int slot;           //  -1: a literal
    struct ag_str text; //  a dotted path into the thing's data, or the literal as a normal value
};

enum ag_cypher_kind { AG_CYPHER_COMPARE, AG_CYPHER_NOT_EXISTS, AG_CYPHER_NOT, AG_CYPHER_AND };
struct ag_cypher_test {
    enum ag_cypher_kind kind;
    uint32_t a, b; //  of NOT and AND: tests; of NOT EXISTS a: its chain
    enum ag_compare compare;
    struct ag_cypher_side left, right;
};

struct ag_cypher {
    struct ag_cypher_chain chains[AG_CYPHER_CHAINS]; //  the first is the pattern itself
    struct ag_cypher_place places[AG_CYPHER_PLACES];
    struct ag_cypher_slot slots[AG_CYPHER_PLACES];
    struct ag_cypher_prop props[AG_CYPHER_PROPS];
    struct ag_cypher_test tests[AG_CYPHER_TESTS];
    uint32_t chain_count, place_count, slot_count, prop_count, test_count;
    int where; //  its test; -1: none
    char hold[AG_CYPHER_HOLD];
    size_t held;
};

//  AG_E_BAD_MESSAGE says what is wrong and where, counted in bytes from 1.
int ag_cypher_read (struct ag_cypher *self, struct ag_str text, struct ag_err *err);
#endif
