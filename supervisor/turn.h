/*  turn - the heart: gather, work, write, acknowledge, publish.
 *
 *  The loop reads the sockets, the nursery and the pipes; every request does its work on the journal's
 *  batch at once. At the end of the turn the queues move, one write with one sync makes it true, and only
 *  then is anything said. A disk that is nearly full is noticed before: workers are not read from until
 *  there is room again, clients are told.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_TURN_H
#define AG_TURN_H
#include "supervisor/house.h"

//  Sockets, nursery, timers and the end-of-turn hook onto the loop.
int ag_turn_begin (struct ag_house *house, struct ag_err *err);
void ag_turn_end (struct ag_house *house);
#endif
