/*  print - answers of the house as text for people, on stdout.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_PRINT_H
#define AG_PRINT_H
#include "client/look.h"

//  One event on one line: id, time, [type], what it says. named: begin with the run's label.
void ag_print_event (const struct ag_look *look, struct ag_str event, bool named);
//  {entity, chain: [event]} as an indented chain, newest first.
void ag_print_why (const struct ag_look *look, struct ag_str answer);

//  {failures: [event]}, by what they broke in, with the last words of each.
void ag_print_failures (const struct ag_look *look, struct ag_str answer);

void ag_print_status (const struct ag_look *look, struct ag_str answer);
//  A list of runs as a tree of parents and forks.
void ag_print_tree (const struct ag_look *look, struct ag_str runs);
//  {runs: [{run, state}]}
void ag_print_states (const struct ag_look *look, struct ag_str answer);

void ag_print_objects (const struct ag_look *look, struct ag_str answer);
//  {object|relation|event: ...}
void ag_print_thing (const struct ag_look *look, struct ag_str answer);

//  {approvals, patches}: what waits for a decision.
void ag_print_waiting (const struct ag_look *look, struct ag_str answer);

//  {packs: [{run, label, name, version, description, bundle_hash, object_types, relation_types}]}
void ag_print_packs (const struct ag_look *look, struct ag_str answer);

//  {used, limits, cost_used_usd, cost_limit_usd}
void ag_print_budget (const struct ag_look *look, struct ag_str answer);

//  The report of a trial.
void ag_print_trial (const struct ag_look *look, struct ag_str report);
//  A promote, done or planned.
void ag_print_plan (const struct ag_look *look, struct ag_str answer);
//  {run, invocations, compared_events, skipped, divergence}
void ag_print_replay (const struct ag_look *look, struct ag_str answer);
//  {run, fork_run_id, effects, put_in, left_out: [{event_id, type, reason}], diff}
void ag_print_again (const struct ag_look *look, struct ag_str answer);
void ag_print_diff (const struct ag_look *look, struct ag_str answer);

//  {ok, checks: [{name, ok, detail, hint}]}
void ag_print_checks (const struct ag_look *look, struct ag_str answer);
//  {ok, runs: [{run, events, first_bad, reason}]}
void ag_print_verify (const struct ag_look *look, struct ag_str answer);

//  {run, tip, covers_through, archived_through, discarded, reasons: [{reason, run, event, id?}]}
void ag_print_kept (const struct ag_look *look, struct ag_str answer);
//  {ok, from, to, events, events_lost, runs: [{run, label, events, first_lost, reason}], files: [{file, reason}]}
void ag_print_repair (const struct ag_look *look, struct ag_str report);

//  A value on the rest of a line: text bare, anything else as JSON, cut at `most` bytes.
void ag_print_value (struct ag_str value, size_t most);
#endif
