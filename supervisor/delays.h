/*  delays - what a run's queue hands out only after more events: the note `delayed`.
 *
 *  A tick is an event that the queue took. What was put off at tick T for N events is due at the event that is
 *  tick T + N, after that event's own behaviours. The note is written in the batch that changes the list, so
 *  that a restart and a fork at any event find it as it stood.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_DELAYS_H
#define AG_DELAYS_H
#include "supervisor/run.h"

enum { AG_DELAYS_MAX = 1000 };

struct ag_delay {
    uint64_t event, fire_at; //  sequence of the trigger; tick
    uint32_t host;
    struct ag_buf name, relation; //  of the behaviour; of a relation behaviour the id
};

//  In order of fire_at, then as they came.
struct ag_delays {
    struct ag_delay *list;
    uint32_t count;
    bool changed; //  since it was saved
};
void ag_delays_fini (struct ag_delays *self);

int ag_delays_load (ag_journal_t *journal, struct ag_run *run, struct ag_delays *self,
                    struct ag_err *err);
void ag_delays_save (ag_journal_t *journal, struct ag_run *run, struct ag_delays *self);

//  AG_E_TOO_LARGE over AG_DELAYS_MAX.
int ag_delays_add (struct ag_delays *self, uint64_t event, uint64_t fire_at, uint32_t host,
                   struct ag_str name, struct ag_str relation, struct ag_err *err);
//  The entry, or NULL.
const struct ag_delay *ag_delays_find (const struct ag_delays *self, uint64_t event,
                                       struct ag_str name, struct ag_str relation);
//  Forget what was due at this tick or before.
void ag_delays_drop (struct ag_delays *self, uint64_t tick);
#endif
