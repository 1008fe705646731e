/*  wanted - whether what is due is to be handed out now: its pattern, its relation, and events still to come.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_WANTED_H
#define AG_WANTED_H
#include "supervisor/cursor.h"

//  Look at the open invocation as the run stands now. 1: it is wanted, and holds the matches of its pattern. 0: it is
//  closed: it does not apply (without a word, or with behavior.declined when it had been started), it was put off
//  (behavior.scheduled), or it cannot be (behavior.failed). -1.
int ag_wanted (struct ag_house *house, struct ag_queue *queue, struct ag_run *run,
               struct ag_err *err);

//  Is the open invocation of a pack that is out of force?
bool ag_wanted_is_out (const struct ag_queue *queue);
//  Close it: without a word, or with behavior.declined when it had been started.
int ag_wanted_drop (struct ag_house *house, struct ag_invocation *open, struct ag_err *err);

//  Find the pattern of its behaviour as the graph is at `open->at`; what was looked at is what it asked for. 1 when
//  there is none, or it is found; 0, -1.
int ag_wanted_pattern (struct ag_house *house, struct ag_run *run, struct ag_invocation *open,
                       const struct ag_event *event, struct ag_err *err);
#endif
