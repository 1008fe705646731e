/*  state_index - how events are written into the state index, for the floors that append or check them.
 *
 *  The index is a function of the events: `ag_graph_*` writes it as it appends, `verify` writes it again
 *  from the log; both through these calls.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_STATE_INDEX_H
#define AG_STATE_INDEX_H
#include "supervisor/graph.h"
#include "supervisor/key.h"

//  Every so many versions of an object hold its data whole.
enum { AG_WHOLE = 16 };

//  Source, target: of a relation.
void ag_state_create (ag_journal_t *journal, const struct ag_run *run, enum ag_entity_kind kind,
                      struct ag_str id, struct ag_str type, struct ag_str source,
                      struct ag_str target, uint64_t seq);
//  The same where the id named something before, which was removed since or ends with this; both tips whole.
void ag_state_create_again (ag_journal_t *journal, const struct ag_run *run,
                            enum ag_entity_kind kind, struct ag_str id, const struct ag_tip *before,
                            const struct ag_tip *now);
//  Before: what the object was; data: what it is now.
void ag_state_patch (ag_journal_t *journal, const struct ag_run *run, struct ag_str id,
                     const struct ag_tip *before, enum ag_patch_op op, struct ag_str data,
                     uint64_t seq);
void ag_state_remove (ag_journal_t *journal, const struct ag_run *run, enum ag_entity_kind kind,
                      struct ag_str id, const struct ag_tip *before, uint64_t seq);

//  A patch or an approval that waits for a decision; and its end: 1, 0 when nothing of that id waits, -1.
void ag_state_propose (ag_journal_t *journal, const struct ag_run *run, enum ag_entity_kind kind,
                       struct ag_str id, uint64_t seq);
int ag_state_decide (ag_journal_t *journal, const struct ag_run *run, enum ag_entity_kind kind,
                     struct ag_str id, uint64_t seq, struct ag_err *err);

//  What an event says, whatever its type, written into the index of a run whose earlier events were. An
//  imported one may change or remove what is not there, without effect, make an id again, and takes
//  an object's relations along in silence; what it proposes waits for nobody here.
int ag_state_apply (ag_journal_t *journal, const struct ag_run *run, const struct ag_event *event,
                    struct ag_err *err);

//  Data of an entity in the version that the tip names; out is replaced.
int ag_state_data (ag_journal_t *journal, enum ag_entity_kind kind, struct ag_str id,
                   const struct ag_tip *tip, struct ag_buf *out, struct ag_err *err);

//  An entity made whole under the sequence of its version, in the run that holds it, so that reading it needs no
//  event. Derived: a snapshot writes it, and it is asked for only where events lie in the archive.
struct ag_whole {
    uint64_t seq;
    struct ag_str data, provenance;
};
void ag_whole_put (ag_journal_t *journal, const struct ag_entity *entity);
//  The newest at or below a point: 1, 0, -1. It borrows from hold, which is replaced.
int ag_whole_get (ag_journal_t *journal, const struct ag_run *run, enum ag_entity_kind kind,
                  struct ag_str id, uint64_t at, struct ag_buf *hold, struct ag_whole *whole,
                  struct ag_err *err);
int ag_whole_decode (struct ag_str value, struct ag_whole *whole);

//  Under which an object's present data stands in the cache, and how it gets there: event seq left it so.
void ag_state_data_key (const struct ag_run *run, struct ag_str id, struct ag_key *key);
void ag_state_keep (ag_journal_t *journal, const struct ag_run *run, struct ag_str id, uint64_t seq,
                    struct ag_str data);

//  Stored forms. What is read borrows from the value; holder and hold are left alone.
int ag_tip_decode (struct ag_str value, struct ag_tip *tip);
//  A creation has no version, until its id is made again: then it has one, whose data is the tip as it was
//  before that.
enum ag_version_op { AG_VERSION_UPDATE, AG_VERSION_REPLACE, AG_VERSION_REMOVE, AG_VERSION_CREATE };
struct ag_version {
    enum ag_version_op op;
    uint64_t version;
    struct ag_str data; //  p NULL: stands in the event and those before it
};
int ag_version_decode (struct ag_str value, struct ag_version *version);
#endif
