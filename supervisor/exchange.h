/*  exchange - what one line of an export says: an event, or the run that the events after it are of.
 *
 *  Only what can be kept exactly is taken: whatever is accepted here is written again as it was. What an
 *  event means for the graph of its run is import.h's concern.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_EXCHANGE_H
#define AG_EXCHANGE_H
#include "supervisor/event.h"

//  {id, type, payload, actor, frame_id, caused_by, timestamp}; an absent field is null, or "" of the time.
//  Fills what the event says (not run and stream), with AG_IMPORTED, AG_QUIESCENT and the form of its time.
//  It borrows from map, its payload from `payload`, which is emptied first. AG_E_BAD_VALUE says what is
//  wrong and why it cannot be kept.
int ag_exchange_event (struct ag_str map, struct ag_buf *payload, struct ag_event *event,
                       struct ag_err *err);

//  {run_id, label, parent_run_id, forked_at_event_id, ids}; borrows from map.
struct ag_exchange_run {
    struct ag_str id, label, parent; //  label, parent: p NULL when there is none
    uint64_t cut;                    //  in the parent; 0: it was empty
    bool continues; //  ids go on with the parent's: ids is "continue", not "tagged"
};
bool ag_exchange_is_run (struct ag_str map);
int ag_exchange_run (struct ag_str map, struct ag_exchange_run *run, struct ag_err *err);
#endif
