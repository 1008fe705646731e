/*  fork - a new run that begins as another run was at one of its events; nothing is copied.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_FORK_H
#define AG_FORK_H
#include "supervisor/run.h"

//  Costs the same wherever the cut is. Birth kind AG_ROOT counts as AG_FORK. The caller puts what the
//  fork starts with (packs, settings, goal) into the same batch.
//  AG_E_NOT_FOUND: the run has no event `at` (0 is the tip of an empty run). AG_E_SLICED: at lies inside
//  a promote block. AG_E_DEPTH. AG_E_EXISTS, AG_E_USAGE: the label, as for ag_run_create.
int ag_fork (ag_journal_t *journal, struct ag_run *parent, uint64_t at,
             const struct ag_birth *birth, struct ag_run **fork, struct ag_err *err);

//  Whether a run may be cut at its event: 0, or AG_E_SLICED.
int ag_fork_check (ag_journal_t *journal, const struct ag_run *run, uint64_t at,
                   struct ag_err *err);
#endif
