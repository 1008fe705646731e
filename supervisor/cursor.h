/*  cursor - where one run's queue stands: in memory, as a note of the run, and as its log tells.
 *
 *  The floor below queue.c: reads and writes the journal, knows no process and no session.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_CURSOR_H
#define AG_CURSOR_H
#include "supervisor/delays.h"
#include "supervisor/queue.h"
#include <uthash.h>

enum { AG_HOSTS = 2 };

//  One behaviour that is due for the event in hand; of a relation behaviour, for one relation.
struct ag_due {
    uint32_t host, place; //  place: in registration order
    uint64_t event;       //  the one in hand, or an earlier one when it was put off
    bool delayed;
    int64_t priority;
    struct ag_str behavior,
        name;               //  its element of the registration in force, which the queue holds
    struct ag_buf relation; //  id; empty for a function behaviour
};

//  A registration that is not its host's present one, for the events that it was in force for.
struct ag_registration {
    uint32_t host;
    uint64_t from, until; //  sequences
    struct ag_buf behaviors;
};

struct ag_queue {
    uint64_t run;
    uint64_t next;        //  event in hand, or the next one to look at
    uint64_t tick;        //  events taken so far, the one in hand included
    bool in_hand;         //  its behaviours are in the list, `due` is the next of them
    bool active;          //  something was looked at since the last runtime.idle
    uint32_t exhausted;   //  a budget is used up: 1 + its dimension
    uint64_t spent_limit; //  what the limit of that was; the run goes on when it is raised
    uint64_t most_events; //  that may be dispatched; not stored
    bool spent;           //  no event was looked at because of that; not stored
    bool changed;         //  since it was saved
    bool touched;         //  there may be something to do
    uint32_t due, count;
    struct ag_due *list;
    struct ag_registration *earlier; //  that entries of the list borrow from
    uint32_t earlier_count;
    struct ag_buf
        left_out; //  [name, why, ...]: behaviours with more to do for an event than is handed out,
    uint64_t left_out_at; //  and that event; empty once it was told
    struct {
        uint64_t seq; //  of worker.registered; 0: never
        struct ag_buf behaviors;
    } hosts[AG_HOSTS];
    uint32_t host_count;    //  0: the run has none
    struct ag_buf disabled; //  texts: packs out of force, of which nothing is handed out
    bool is_open;
    struct ag_invocation open;
    struct ag_delays delays;
    UT_hash_handle hh;
};

//  Read where it stands. In a fork that is where the parent's stood at the cut; an invocation that was started
//  there counts as done.
struct ag_queue *ag_queue_load (ag_journal_t *journal, struct ag_run *run, struct ag_err *err);
void ag_queue_free (struct ag_queue *self);
void ag_queue_save (ag_journal_t *journal, struct ag_run *run, struct ag_queue *self);

//  Look at events from `next` on, a bounded number: 1 when one is in hand or there are more to look at, 0
//  at the end, -1. What the event is due to too often is left out: whoever looks tells of it.
int ag_queue_look (ag_journal_t *journal, struct ag_run *run, struct ag_queue *self,
                   struct ag_err *err);
//  The due behaviour becomes the open invocation, with the run's present counters.
void ag_queue_open_due (struct ag_run *run, struct ag_queue *self);
void ag_queue_clear_open (struct ag_queue *self);
//  The event in hand is finished.
void ag_queue_next_event (struct ag_queue *self);

//  What a host of a run registered last, at or below a sequence: as a note is read (record.h).
int ag_registration_get (ag_journal_t *journal, const struct ag_run *run, uint32_t host,
                         uint64_t at, struct ag_buf *behaviors, uint64_t *seq, struct ag_err *err);
//  Append worker.registered and keep the list, unless it is the one in force.
int ag_queue_note_host (ag_journal_t *journal, struct ag_run *run, struct ag_queue *self,
                        uint32_t host, struct ag_str behaviors, struct ag_str tools,
                        struct ag_err *err);
#endif
