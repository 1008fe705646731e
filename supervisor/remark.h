/*  remark - what is done, or runs, all the same, and people should know of.
 *
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_REMARK_H
#define AG_REMARK_H
#include "common/answer.h"
#include "supervisor/fleet.h"

//  A `remark` in the answer when a fork is promoted that has still work to do.
void ag_remark_busy (struct ag_house *house, const struct ag_run *fork, struct ag_answer *answer);

#endif
