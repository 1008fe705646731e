/*  admit - who may connect to the broker: nobody that the nursery made.
 *
 *  The token is the wall, this is the second one: a worker that got hold of the token still cannot drive
 *  the house. Refused is a process that is unknown (0), is gone, was started after the connection was made
 *  (the number belongs to another by now), or descends from the broker's own parent.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_ADMIT_H
#define AG_ADMIT_H
#include "common/net.h"

//  0, or -1 and why. The nursery is the broker's parent; accepted_ms when the newest connection of that
//  process was accepted (ag_guard_accepted_ms), -1 when there is none.
int ag_admit (const struct ag_peer *peer, pid_t nursery, int64_t accepted_ms, struct ag_err *err);
#endif
