/*  proc - what the kernel says about a process that is not ours.
 *
 *  A number may belong to another process a moment later; who decides by these compares start times.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_PROC_H
#define AG_PROC_H
#include "common/err.h"
#include <stdint.h>
#include <sys/types.h>

struct ag_proc {
    pid_t parent;
    int64_t started_ms; //  of the clock of ag_now_ms, rounded down to a tick (10 ms)
};

//  AG_E_NOT_FOUND: there is no such process.
int ag_proc_read (pid_t pid, struct ag_proc *out, struct ag_err *err);

//  1: pid descends from ancestor; 0: it does not (nor does ancestor from itself); -1: that cannot be told.
int ag_proc_descends (pid_t pid, pid_t ancestor, struct ag_err *err);
#endif
