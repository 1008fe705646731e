/*  mismatch - what a script host registered, held against the manifests of its packs.
 *
 *  In a run a pack that is at odds with its manifest works all the same: its log says so once for each bundle, and the
 *  unit that runs it has a remark as long as it is so. A trial refuses it: it asks with ag_mismatch_lines before
 *  anything is appended.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_MISMATCH_H
#define AG_MISMATCH_H
#include "supervisor/journal.h"

//  Append "pack NAME: …" for each mismatch of the packs of a spec's host (common/surface.h), a line each; how many. A
//  host without packs is never at odds.
size_t ag_mismatch_lines (struct ag_str spec, uint32_t host, struct ag_str behaviors,
                          struct ag_str tools, struct ag_buf *lines);

//  Append pack.mismatched for each pack that is at odds and was not said to be so yet as it is, and to remark what is
//  so now, for people. A log line with each event.
int ag_mismatch_tell (ag_journal_t *journal, struct ag_run *run, struct ag_str spec, uint32_t host,
                      struct ag_str behaviors, struct ag_str tools, struct ag_buf *remark,
                      struct ag_err *err);
#endif
