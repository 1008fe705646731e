/*  remark - what is done, or runs, all the same, and people should know of.
 *
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_REMARK_H
#define AG_REMARK_H
#include "common/answer.h"
#include "supervisor/fleet.h"

//  Whether a run has something to do and no unit that will: its agent is not in the configuration any more.
bool ag_is_unattended (struct ag_house *house, const struct ag_run *run);

//  A `remark` in the answer when something came into such a run,
void ag_remark_unattended (struct ag_house *house, const struct ag_run *run,
                           struct ag_answer *answer);
//  or when a fork is promoted that has still work to do.
void ag_remark_busy (struct ag_house *house, const struct ag_run *fork, struct ag_answer *answer);

//  A policy that names no behaviour holds nobody, as far as the behaviours are known: append so, and log it.
void ag_remark_policy (struct ag_house *house, const struct ag_unit *unit, struct ag_buf *remark);
//  It is the unit's remark; empty: it has none.
void ag_remark_set (struct ag_unit *unit, struct ag_str remark);
#endif
