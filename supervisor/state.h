/*  state - what events make of the graph: objects and relations, readable at any sequence.
 *
 *  The index is derived from the events and versioned by sequence; data stands in the events it refers
 *  to, and whole in every 16th version. A fork holds only what it changed itself: everything else is
 *  its parent's at the cut. `at` is a sequence of the run, or AG_NOW for its tip.
 *  Objects and relations are separate name spaces. An id names one thing in a run for ever; in an imported
 *  log alone it may be made again, and names at each point what it named there.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_STATE_H
#define AG_STATE_H
#include "supervisor/run.h"

#define AG_NOW UINT64_MAX

//  Patches and approvals are in the index too, alive while they wait for a decision; they have a tip and no
//  data of their own: what was proposed stands in the event that made them.
enum ag_entity_kind { AG_OBJECT = 'o', AG_RELATION = 'r', AG_PATCH = 'p', AG_APPROVAL = 'a' };

//  What the index itself knows of an entity at a point; texts borrow from `hold`.
struct ag_tip {
    uint64_t seq;     //  of the event that made it what it is
    uint64_t created; //  of the event that made it
    uint64_t version; //  1 when made
    bool live;        //  false: removed at seq
    bool again;       //  its id had named something before
    struct ag_str type, source, target;
    const struct ag_run *holder; //  the run of the lineage that holds this version
    struct ag_buf hold;
};
void ag_tip_fini (struct ag_tip *tip);

//  1 when the entity exists or existed at the point, 0 when its id was never used there, -1.
//  The tip is `{0}` or one used before.
int ag_state_tip (ag_journal_t *journal, const struct ag_run *run, enum ag_entity_kind kind,
                  struct ag_str id, uint64_t at, struct ag_tip *tip, struct ag_err *err);

//  An entity with its data; everything borrows from what the entity holds.
struct ag_entity {
    enum ag_entity_kind kind;
    struct ag_str id, type;
    struct ag_str source, target; //  of a relation
    struct ag_str data;           //  a map
    struct ag_str provenance;     //  a map
    uint64_t version, seq, created;
    struct ag_tip tip;
    struct ag_buf name, birth, built; //  what the texts borrow from
};
void ag_entity_fini (struct ag_entity *entity);

//  1 when it is alive at the point, 0 when not, -1. The entity is `{0}` or one used before.
int ag_state_get (ag_journal_t *journal, const struct ag_run *run, enum ag_entity_kind kind,
                  struct ag_str id, uint64_t at, struct ag_entity *entity, struct ag_err *err);

//  As `objects --json` shows it: {id, type, data, version, provenance}, or for a relation
//  {id, source, target, type, data, provenance}.
void ag_entity_write (const struct ag_entity *entity, struct ag_buf *out);

//  What is alive at a point, in order of the ids as bytes, from the first id after `after`. The callback
//  gets the id and says whether to go on; it may read, but not write.
typedef bool (*ag_id_fn) (void *arg, struct ag_str id);
//  Everything of a kind; costs as much as ever existed in the runs of the lineage.
int ag_state_scan (ag_journal_t *journal, const struct ag_run *run, enum ag_entity_kind kind,
                   uint64_t at, struct ag_str after, ag_id_fn fn, void *arg, struct ag_err *err);
//  Of one type: costs what is alive, at a past point what ever was of that type.
int ag_state_scan_type (ag_journal_t *journal, const struct ag_run *run, enum ag_entity_kind kind,
                        struct ag_str type, uint64_t at, struct ag_str after, ag_id_fn fn,
                        void *arg, struct ag_err *err);
//  Relations that start or end at an object.
int ag_state_relations (ag_journal_t *journal, const struct ag_run *run, struct ag_str object,
                        uint64_t at, struct ag_str after, ag_id_fn fn, void *arg,
                        struct ag_err *err);

//  What waits for a decision at a point, in order of the ids: patches or approvals. Costs what waits; at a
//  past point what ever did.
int ag_state_waiting (ag_journal_t *journal, const struct ag_run *run, enum ag_entity_kind kind,
                      uint64_t at, struct ag_str after, ag_id_fn fn, void *arg, struct ag_err *err);

//  The entity that a graph event names; false for any other event.
struct ag_change {
    enum ag_entity_kind kind;
    struct ag_str id;
};
bool ag_change_of (const struct ag_event *event, struct ag_change *change);
#endif
