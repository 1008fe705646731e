/*  declared - the packs in force in a run, the types that they declare, and data held against them.
 *
 *  What is in force is a note of the run, `types`: [{pack, types: {object: {TYPE: SCHEMA}, relation: …}}]. It follows
 *  from pack.loaded and pack.disabled and is written in their batch, so a past point and a fork know what was in
 *  force there, and `verify --state` makes it again. A type that nobody declares takes any data.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_DECLARED_H
#define AG_DECLARED_H
#include "common/schema.h"
#include "supervisor/state.h"

enum {
    AG_DECLARED_BYTES = 512 << 10, //  of all types in force in a run
    AG_DEFAULTS_BYTES = 64 << 20   //  that one list or promote may add as defaults
};

struct ag_declared {
    struct ag_buf note;
    struct ag_declared_type *list; //  sorted
    size_t count;
    size_t defaults; //  bytes that were added
    bool never;      //  nothing was ever declared in the run
};

//  What is in force at a sequence. `{0}` is nothing; fini takes that too.
int ag_declared_read (ag_journal_t *journal, const struct ag_run *run, uint64_t at,
                      struct ag_declared *self, struct ag_err *err);
void ag_declared_fini (struct ag_declared *self);

//  Who declares the type; p NULL: nobody.
struct ag_str ag_declared_by (const struct ag_declared *self, enum ag_entity_kind kind,
                              struct ag_str type);
//  The canonical form of data into hold, which is emptied first, when somebody declares the type: 1, or 0 with
//  nothing done, or -1. AG_E_TYPE tells the first thing that does not fit and how many there are.
int ag_declared_fit (struct ag_declared *self, enum ag_entity_kind kind, struct ag_str type,
                     struct ag_str data, struct ag_buf *hold, struct ag_err *err);
//  The same with each of them reported: 1, 0, or -1 when something was.
int ag_declared_look (struct ag_declared *self, enum ag_entity_kind kind, struct ag_str type,
                      struct ag_str data, struct ag_buf *hold, ag_schema_fn *fn, void *arg);
//  May a relation of the type go from an object of one type to one of another? AG_E_TYPE.
int ag_declared_fit_ends (struct ag_declared *self, struct ag_str type, struct ag_str source,
                          struct ag_str target, struct ag_err *err);
int ag_declared_look_ends (struct ag_declared *self, struct ag_str type, struct ag_str source,
                           struct ag_str target, ag_schema_fn *fn, void *arg);

//  The table {object, relation} of one pack; empty when it declares none.
struct ag_str ag_declared_of (const struct ag_declared *self, struct ag_str pack);
//  Append object_types and relation_types, two pairs: the sorted names of a table {object, relation}.
void ag_declared_put_names (struct ag_str types, struct ag_buf *out);
//  What stands in the note after an event that says what came into force or went out of it. AG_E_PACK: a type is
//  declared by another pack that is in force, or all of them take too much.
int ag_declared_next (struct ag_str before, bool loaded, struct ag_str payload,
                      struct ag_buf *after, struct ag_err *err);
//  Append pack.loaded or pack.disabled, and the note with it. Ends the payload, also on failure.
int ag_declared_tell (ag_journal_t *journal, struct ag_run *run, enum ag_type type,
                      struct ag_buf *payload, struct ag_err *err);

//  What is noted of a pack: its bundle hash while it is in force, null since it is not. Reading: 1, 0 when it was never
//  loaded, -1; hold is emptied first.
int ag_force_get (ag_journal_t *journal, const struct ag_run *run, struct ag_str pack,
                  struct ag_buf *hold, struct ag_err *err);
void ag_force_put (ag_journal_t *journal, const struct ag_run *run, struct ag_str pack,
                   struct ag_str value);
//  Append the names of those in force, or of those out of it: texts, one after the other.
int ag_force_list (ag_journal_t *journal, const struct ag_run *run, bool in_force,
                   struct ag_buf *names, struct ag_err *err);
#endif
