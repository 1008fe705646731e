/*  repair - a new home from what is whole in a damaged one, which is not changed.
 *
 *  Of each run the longest prefix is kept whose chain is right, never a part of a promote; a fork only where its
 *  parent is kept up to the cut. Heads, checkpoints, stream and state index are made again from the events. The new
 *  store has an identity of its own, so that no monitor takes it for the old one.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_REPAIR_H
#define AG_REPAIR_H
#include "supervisor/store.h"

//  From: a home that nobody holds, or a copy of one. To: a folder that is empty or not there. Appends to report
//  {ok, from, to, events, events_lost, runs: [{run, label, events, first_lost, reason}],
//   files: [{file, reason}]}; events_lost counts what the store's own counter says, null when that is lost too.
//  ok: nothing was lost. AG_E_RUNNING, AG_E_USAGE, AG_E_EXISTS, AG_E_FORMAT; AG_E_CORRUPT when nothing can
//  be read at all.
int ag_repair (const char *from, const char *to, struct ag_buf *report, struct ag_err *err);
#endif
