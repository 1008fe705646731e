/*  invoke - what a worker is shown: the invocation itself, and answers to its `get`.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_INVOKE_H
#define AG_INVOKE_H
#include "supervisor/invocation.h"

//  {do: invoke, invocation, attempt, behavior, event, frame, relation?, matches?, matches_count?, view {objects,
//  relations, events, truncated?}, mint, seed, now}. The view is what the behaviour asks for, which counts as asked
//  for by the invocation. Without `around` it holds the live things that the first AG_INVOKE_TEXTS texts of
//  the event name, AG_INVOKE_NAMED at most, and those do not.
enum { AG_INVOKE_NAMED = 16, AG_INVOKE_TEXTS = 1000, AG_INVOKE_EVENTS_BYTES = 2 << 20 };
int ag_invoke_write (ag_journal_t *journal, struct ag_run *run, struct ag_invocation *invocation,
                     const struct ag_event *event, struct ag_buf *answer, struct ag_err *err);
#endif
