/*  start - the first half of `agsup up`, for which libc is enough: agsupd starts while the rest of agsup is loaded.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_START_H
#define AG_START_H
#include "client/parse.h"

#include <limits.h>
#include <sys/types.h>

//  The nursery that was spawned, and where its log is and began.
struct ag_started {
    pid_t pid;
    off_t from;
    char log[PATH_MAX];
};

//  With --detach agsupd is spawned; without it this process becomes agsupd. AG_E_CONFIG without a configuration,
//  AG_E_RUNNING when a house stands in the home already. Another command than `up` starts nothing.
int ag_start (const struct ag_call *call, struct ag_started *started, struct ag_err *err);
#endif
