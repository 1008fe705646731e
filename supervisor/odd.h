/*  odd - what an imported event says that an operation of this house would have refused.
 *
 *  It is kept as it was; `verify` names it.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_ODD_H
#define AG_ODD_H
#include "supervisor/state.h"

//  1 when it is, with a sentence; 0; -1 when the store fails. Reads the state index as it stands.
int ag_odd (ag_journal_t *journal, const struct ag_run *run, const struct ag_event *event,
            struct ag_buf *why, struct ag_err *err);
#endif
