/*  again - what an event of a log is to a run that does the same again: done by itself, or put in from outside.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_AGAIN_H
#define AG_AGAIN_H
#include "client/pick.h"

enum ag_again {
    AG_AGAIN_DONE,     //  the run did something: behaviours worked before what comes next
    AG_AGAIN_NOTHING,  //  it says itself again, or is of another event
    AG_AGAIN_PUT_IN,   //  it came from outside, as a goal or an operation
    AG_AGAIN_LEFT_OUT, //  so did this, but it is of that run alone: why says how
};
//  An event as `log` shows it.
enum ag_again ag_again_kind (struct ag_str event, const char **why);
//  Append the operation that an event to be put in was made by; of a goal there is none.
void ag_again_operation (struct ag_str event, struct ag_buf *out);

//  What was not put in: maps {event_id, type, reason}, one after the other.
struct ag_again_left {
    struct ag_buf list;
    uint32_t count;
};
void ag_again_leave_out (struct ag_again_left *self, struct ag_str event, const char *why);
#endif
