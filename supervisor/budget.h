/*  budget - what a run may use up: counted by the supervisor in the run's head, stopped between invocations.
 *
 *      spec.budget = {max_events, max_behavior_calls, max_llm_calls, max_tool_calls, max_patches, max_depth,
 *                     max_seconds, max_cost_usd}, null: no limit; and spec.nets.events
 *
 *  A dimension is used up when used >= limit. See docs/design/governance.md.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_BUDGET_H
#define AG_BUDGET_H
#include "supervisor/run.h"

//  A dimension is an enum ag_use, or the events that a run has appended itself.
enum { AG_NET_EVENTS = AG_USES, AG_DIMENSIONS };
#define AG_UNLIMITED UINT64_MAX

struct ag_budget {
    uint64_t limits[AG_DIMENSIONS]; //  in what the head counts: events, calls, millionths
};

struct ag_budget ag_budget_of (struct ag_str spec);
//  "max_events", "net.events"; and the reason of an invocation that met its end: "budget.events_exhausted".
const char *ag_budget_name (uint32_t dimension);
const char *ag_budget_reason (uint32_t dimension);
uint64_t ag_budget_used (const struct ag_run *run, uint32_t dimension);
//  Would so much more cross the limit?
bool ag_budget_crosses (const struct ag_budget *budget, const struct ag_run *run,
                        uint32_t dimension, uint64_t more);

//  True when nothing more is handed out, because of the dimension. Events are counted where they are looked at,
//  depth where the trigger is known.
bool ag_budget_is_spent (const struct ag_budget *budget, const struct ag_run *run,
                         uint32_t *dimension);
//  How many events the chain of causes of an event holds, itself included; no further than most + 1.
int ag_budget_depth (ag_journal_t *journal, const struct ag_run *run, uint64_t seq, uint64_t most,
                     uint64_t *depth, struct ag_err *err);

//  {used, limits, cost_used_usd, cost_limit_usd}, the first two by the names of the dimensions; null: no limit.
void ag_budget_snapshot (const struct ag_budget *budget, const struct ag_run *run,
                         struct ag_buf *out);

//  Append the budget of a fork: of each dimension what is given ({KEY: value}; p NULL: nothing), else what is left
//  to the parent. AG_E_USAGE names what is no dimension or no limit.
int ag_budget_of_fork (const struct ag_budget *budget, const struct ag_run *parent,
                       struct ag_str given, struct ag_buf *out, struct ag_err *err);
#endif
