/*  failure - what behavior.failed says went wrong, and which of it the house alone can say.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_FAILURE_H
#define AG_FAILURE_H
#include "common/value.h"

//  p NULL: left out. It borrows from what it is made of.
struct ag_failure {
    struct ag_str type, message, traceback, reason;
};

//  The house's own: it refused the operations, or something else kept the behaviour from its end.
enum ag_failed {
    AG_FAILED_REFUSED,
    AG_FAILED_CRASHED,
    AG_FAILED_CONTENTION,
    AG_FAILED_DIVERGED,
    AG_FAILED_NOT_HANDED_OUT,
    AG_FAILED_BUDGET
};
struct ag_failure ag_failure_of (enum ag_failed failed, const char *message, const char *reason);
struct ag_failure ag_failure_refused (const struct ag_err *why);

//  Of the error that a worker gives, a normal value. The house's types are not its to say: such a one is an `Error`.
struct ag_failure ag_failure_own (struct ag_str error);

//  A behavior.failed of this payload has its cause outside the log, so that running again would not show it.
bool ag_failure_is_outside (struct ag_str payload);
#endif
