/*  turn - the heart: gather, work, write, acknowledge, publish.
 *
 *  The loop reads the sockets, the nursery and the pipes; every request does its work on the journal's
 *  batch at once. At the end of the turn the queues move, one write with one sync makes it true, and only
 *  then is anything said. Of a turn that has nothing to say but to scripts, which reach nobody else, that is
 *  said at once, and the write may wait for the next turns', 5 ms at most. A disk that is nearly full is
 *  noticed before: workers are not read from until there is room again, clients are told.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_TURN_H
#define AG_TURN_H
#include "supervisor/house.h"

//  The broker's socket, before the log is open: the broker connects meanwhile, and is admitted and heard when the
//  loop runs. ag_turn_end closes it, also when nothing else began.
int ag_turn_listen (struct ag_house *house, struct ag_err *err);
//  The workers' socket, nursery, timers and the end-of-turn hook onto the loop.
//  Without room at the start (house->lacking) only the broker is served: reads while there is a journal, else
//  nothing but the reason; it ends when there is room, or to try again, and the next supervisor begins in order.
int ag_turn_begin (struct ag_house *house, struct ag_err *err);
//  The disk has too little room for a turn: AG_E_DISK_FULL.
bool ag_turn_lacks_room (struct ag_house *house, struct ag_err *err);
void ag_turn_end (struct ag_house *house);
#endif
