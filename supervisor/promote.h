/*  promote - a fork's net effect into its parent: planned against the parent as it is now, then all of
 *  it or nothing.
 *
 *  The unit is the whole entity, the state is type, data and endpoints. The fork's change is the fork now
 *  against the fork at its last promote (else the cut); the parent's change is the parent now against
 *  what that fork's latest promote of the entity wrote (else the cut). Changed on both sides is a
 *  conflict, whatever the values; there is no force. A fork can live on and be promoted again.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_PROMOTE_H
#define AG_PROMOTE_H
#include "supervisor/run.h"

enum { AG_PROMOTE_ENTITIES = 10000 }; //  that one promote may carry

typedef struct ag_plan ag_plan_t;

//  What would be promoted, conflicts and warnings included; writes nothing. AG_E_LINEAGE: the run is a
//  root. AG_E_TOO_LARGE: more than max_entities (0: AG_PROMOTE_ENTITIES) would be carried.
ag_plan_t *ag_promote_plan (ag_journal_t *journal, struct ag_run *fork, uint64_t max_entities,
                            struct ag_err *err);
void ag_plan_destroy (ag_plan_t **self_p);

bool ag_plan_is_promotable (const ag_plan_t *self);

//  Carry the plan out, in the turn it was made in and before anything else is appended to either run.
//  AG_E_CONFLICT names the first conflicts, AG_E_TYPE the first thing that a type of the parent refuses. When
//  nothing has changed since the fork's last promote, nothing is appended and the marker is that promote's.
int ag_promote_apply (ag_journal_t *journal, ag_plan_t *plan, struct ag_err *err);

//  As `promote --json` shows it.
void ag_plan_write (const ag_plan_t *self, bool dry_run, struct ag_buf *out);
#endif
