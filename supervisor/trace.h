/*  trace - the invocations that a run's log tells of, one after the other, each with how it ended.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_TRACE_H
#define AG_TRACE_H
#include "supervisor/queue.h"

//  One invocation that ended. Its last attempt counts; the ones before it left nothing but effects.
struct ag_traced {
    uint64_t event, started; //  its trigger, and behavior.started of the attempt that ended
    uint64_t first, end;     //  what it committed: first .. end, which says how it ended
    uint32_t attempt;
    enum ag_type outcome;         //  AG_EV_BEHAVIOR_COMPLETED, _FAILED or _DECLINED
    struct ag_buf name, relation; //  relation empty: a function behaviour
    bool outside; //  it failed by what the log does not hold: a crash, contention, a budget
};

//  Where one is in the log; begin with {.at = the run's cut, .until = a tip}.
struct ag_trace {
    uint64_t at, until;
    struct ag_traced item;
};
void ag_trace_fini (struct ag_trace *self);

//  Look at events from `at` on, a bounded number: 1 when item is the next invocation that ended, 0 when there
//  are more events to look at, -1. At the end of the log `at` is `until`.
int ag_trace_next (ag_journal_t *journal, const struct ag_run *run, struct ag_trace *self,
                   struct ag_err *err);

//  The numbers that it minted from, as the queue's cursor knew them when it was handed out. AG_E_CORRUPT.
int ag_trace_mint (ag_journal_t *journal, const struct ag_run *run, const struct ag_traced *item,
                   struct ag_mint *mint, struct ag_err *err);
#endif
