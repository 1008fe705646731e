/*  held - events that were read and are soon asked for again, or come next.
 *
 *  A queue reads what it hands out twice and in order, one event a turn, so the journal keeps the bytes of the event
 *  that was read last of a run; and when the one behind it is asked for next and there are more, it reads a
 *  stretch of them at once. An event does not change, but one of this turn may be taken back: then forget them all.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_HELD_H
#define AG_HELD_H
#include "supervisor/batch.h"

//  Of the runs that were read last: of each so many events and bytes. What is larger is not held.
enum { AG_HELD_RUNS = 8, AG_HELD_EVENTS = 32, AG_HELD_BYTES = 16 << 10 };

struct ag_held {
    struct ag_stretch {
        uint64_t run, first; //  run 0: empty
        uint64_t used;       //  when it was asked for last
        size_t count, ends[AG_HELD_EVENTS];
        struct ag_buf bytes;
    } runs[AG_HELD_RUNS];
    uint64_t clock;
};

//  The stored bytes of an event, p NULL when it is not held; a borrow until the next call.
struct ag_str ag_held_get (struct ag_held *self, uint64_t run, uint64_t seq);
//  One that was read takes the place of what is held of its run.
void ag_held_put (struct ag_held *self, uint64_t run, uint64_t seq, struct ag_str bytes);
//  Before events after < seq <= until are read, all of them in the log: when the one at `after` was read last,
//  those behind it are held from now on.
int ag_held_ahead (struct ag_held *self, ag_batch_t *batch, uint64_t run, uint64_t after,
                   uint64_t until, struct ag_err *err);
void ag_held_forget (struct ag_held *self);
void ag_held_fini (struct ag_held *self);
#endif
