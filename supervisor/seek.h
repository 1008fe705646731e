/*  seek - the search of cypher_match: variables bound one after the other along a chain.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_SEEK_H
#define AG_SEEK_H
#include "supervisor/cypher_match.h"
#include "supervisor/reads.h"
#include <uthash.h>

//  Something that was looked at; read once, its data when it is first asked for.
struct ag_thing {
    enum ag_entity_kind kind;
    struct ag_str id;
    bool alive, whole;
    struct ag_tip tip;
    struct ag_entity entity;
    UT_hash_handle hh;
    char key[];
};

struct ag_seen;

struct ag_seek {
    ag_journal_t *journal;
    struct ag_run *run;
    const struct ag_cypher *cypher;
    struct ag_invocation *reader;
    struct ag_matches *matches;
    struct ag_err *err;
    uint32_t reads;
    size_t bytes;                                   //  of data
    struct ag_thing *known;                         //  by kind and id
    const struct ag_thing *slots[AG_CYPHER_PLACES]; //  what is bound; NULL: nothing
    struct ag_seen *read, *found; //  what was noted as read; matches, to count each once
};
void ag_seek_fini (struct ag_seek *self);

//  Note once that something was asked for.
int ag_seek_note (struct ag_seek *self, enum ag_read kind, struct ag_str text);
//  What is known of a thing, which may be dead; NULL: failed. An object is noted; a relation is known by the object
//  whose relation it is.
const struct ag_thing *ag_seek_thing (struct ag_seek *self, enum ag_entity_kind kind,
                                      struct ag_str id);
//  The relations of an object, each a unit of work.
int ag_seek_relations (struct ag_seek *self, struct ag_str object, ag_id_fn fn, void *arg);

//  Every match of the pattern in which this thing stands at a place of its chain; in which any does.
int ag_seek_from (struct ag_seek *self, uint32_t place, struct ag_str id);
int ag_seek_everywhere (struct ag_seek *self);
#endif
