/*  frame - a goal with what bounds it: constraints, success criteria, permissions.
 *
 *  A goal with any of these opens a frame. goal.created carries it whole; whatever is caused by that event,
 *  however indirectly, carries its id; a worker gets it with each such invocation. It is a note of the run,
 *  so a fork has its parent's.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_FRAME_H
#define AG_FRAME_H
#include "supervisor/run.h"

//  Lists of texts; p NULL: none.
struct ag_goal {
    struct ag_str text, constraints, success_criteria, permissions;
};

//  Append goal.created as the user's. AG_E_USAGE: a list holds something else than texts.
int ag_goal_append (ag_journal_t *journal, struct ag_run *run, const struct ag_goal *goal,
                    uint64_t *seq, struct ag_err *err);

//  Append {id, goal, constraints, success_criteria, permissions}, or null when id is of none (p NULL: of none).
int ag_frame_write (ag_journal_t *journal, const struct ag_run *run, struct ag_str id,
                    struct ag_buf *out, struct ag_err *err);
#endif
