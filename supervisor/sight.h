/*  sight - what a behaviour's `view` asks for.
 *
 *  {around: "event.payload.PATH", depth, types: [type…], recent_events}. Around the object that the path names,
 *  `depth` relations far in either direction (1 unless said); types leaves out other objects but not what lies
 *  behind them; and so many of the newest events.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_SIGHT_H
#define AG_SIGHT_H
#include "common/value.h"

enum { AG_SIGHT_DEPTH = 8, AG_SIGHT_EVENTS = 1000, AG_SIGHT_TYPES = 100 };

struct ag_sight {
    struct ag_str around; //  a dotted path into the payload; p NULL: none
    struct ag_str types;  //  a list; p NULL: all
    uint64_t depth, recent_events;
};

//  A normal map. AG_E_BAD_MESSAGE names what is wrong.
int ag_sight_check (struct ag_str view, struct ag_err *err);
//  Of an element of a checked registration; without a view: nothing.
void ag_sight_of (struct ag_str behavior, struct ag_sight *sight);
#endif
