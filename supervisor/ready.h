/*  ready - whether a service's process may be counted on, and who belongs to whose process tree.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_READY_H
#define AG_READY_H
#include "supervisor/fleet.h"

//  By the service's `ready`: 1 it is, 0 not yet, -1 its time is up. Without one it is ready at once.
//  Never waits: a TCP connection is begun and looked at again at the next call.
int ag_ready_check (const struct ag_unit *unit, int64_t in_state_ms);
#endif
