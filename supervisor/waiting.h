/*  waiting - what waits for a decision: proposed patches, and objects that need an approval.
 *
 *  Each is decided once. What was proposed stands in the event that made it; whether it still waits is in the
 *  state index, so every point and every fork knows what waited there.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_WAITING_H
#define AG_WAITING_H
#include "supervisor/state.h"

//  The event by which a patch or an approval was proposed, inherited ones included. AG_E_NOT_FOUND: there never
//  was one of this id; AG_E_DECIDED: it waits no more, and how it ended. hold is emptied; the event
//  borrows from it.
int ag_waiting_find (ag_journal_t *journal, const struct ag_run *run, enum ag_entity_kind kind,
                     struct ag_str id, struct ag_buf *hold, struct ag_event *event,
                     struct ag_err *err);

//  An operator's decision about an approval: approval.granted and object.created in one batch, or
//  approval.denied. Put the id of the object into `id`, or why not (p NULL: no reason given).
int ag_approval_grant (ag_journal_t *journal, struct ag_run *run, struct ag_str approval,
                       struct ag_str by, struct ag_buf *id, struct ag_err *err);
int ag_approval_deny (ag_journal_t *journal, struct ag_run *run, struct ag_str approval,
                      struct ag_str by, struct ag_str reason, struct ag_err *err);
#endif
