/*  hints - which events of a turn monitors are told of.
 *
 *  A hint says that the log has something new; the log itself is read by who wants to miss nothing. So of each
 *  topic (a run and a type) the newest event is enough, and a list of a hundred costs what a single event does.
 *  Bounded in count and bytes: the topics that were quiet longest are left out, the newest event never.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_HINTS_H
#define AG_HINTS_H
#include "supervisor/event.h"

enum { AG_HINTS = 64, AG_HINTS_BYTES = 4 << 20 };

//  {0} is none. In stream order; they borrow what the events that were added borrow.
struct ag_hints {
    struct ag_event events[AG_HINTS];
    size_t count, bytes; //  bytes: of the stored events
};

//  Events come in stream order.
void ag_hints_add (struct ag_hints *self, const struct ag_event *event);
#endif
