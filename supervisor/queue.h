/*  queue - each run's events to its behaviours: first in first out, one invocation at a time.
 *
 *  The supervisor keeps the queue; workers only answer. Where a queue stands is a note of the run (its
 *  cursor), written in the batch that moves it, so a restart goes on exactly there and a fork at a past
 *  point finds where it stood then. See docs/design/queue.md.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_QUEUE_H
#define AG_QUEUE_H
#include "supervisor/house.h"
#include "supervisor/operation.h"

struct ag_session;

//  Where a pattern was found.
struct ag_matches {
    uint32_t count;     //  different matches
    struct ag_buf list; //  maps {variable: id}, one after the other: the first AG_MATCH_SHOWN
};

enum { AG_CONTENTIONS = 5 };

//  An effect that was answered with go and has no outcome yet.
struct ag_pending {
    bool open, idempotent, model;
    uint64_t reserved; //  of its cost, counted as used until the outcome says
    struct ag_buf tool, args;
    uint8_t content[AG_HASH], place[AG_HASH]; //  keys of the record
    uint64_t requested; //  sequence of tool.requested; 0: written with the outcome
    int64_t since_ms;
};

//  The invocation that is open in a run: handed out, or to be handed out again.
struct ag_invocation {
    uint64_t run, event, started; //  sequences of the trigger and of behavior.started
    uint64_t at;                  //  what it reads
    uint32_t host, deaths, contentions;
    uint32_t attempt;       //  how often it was handed out
    struct ag_buf behavior; //  its element of the registration
    struct ag_buf relation; //  id, of a relation behaviour
    struct ag_buf frame;    //  id of its frame; empty: none
    bool delayed;           //  it was put off before
    uint64_t checked;       //  the tip at which it was found to be wanted; 0: never
    struct ag_matches matches;
    struct ag_mint mint;
    struct ag_session *session; //  NULL: nobody has it now
    uint32_t effects;           //  ordinal of the next one
    struct ag_buf reads;        //  what it asked for: see reads.h
    uint32_t read_count;
    struct ag_pending pending;
    bool diverged;        //  it asked for something else than before: it can only fail
    struct ag_buf denied; //  what its policy said no to: it can only fail; empty: nothing
    uint32_t over;        //  dimension of the budget that its commit would have crossed
    int64_t since_us;     //  handed out at; 0: not now
    uint64_t timer;       //  of the wall clock; 0: none
};

struct ag_queues *ag_queues_new (struct ag_house *house);
void ag_queues_destroy (struct ag_queues **self_p);

//  Something happened in a run (an event, a worker that waits): its queue is moved in this turn.
void ag_queues_touch (struct ag_house *house, uint64_t run);
//  Move every touched queue as far as it goes. What cannot be read stops the run and is logged.
void ag_queues_pump (struct ag_house *house);
//  The same for one run, before the turn's end: a worker that waits has its next invocation at once.
void ag_queue_pump (struct ag_house *house, uint64_t run);
//  Forget what is in memory; every queue is read again from the store (after a failed commit).
void ag_queues_forget (struct ag_house *house);
//  Forget those of runs that exist no more; their numbers are given again.
void ag_queues_forget_gone (struct ag_house *house);
//  Nothing will move in a run any more: its queue is not kept in memory.
void ag_queues_release (struct ag_house *house, uint64_t run);

//  The open invocation of a run, or NULL.
struct ag_invocation *ag_queue_open (struct ag_house *house, uint64_t run);
//  How the run stands: nothing open, nothing due, everything looked at. A run without hosts always is.
bool ag_queue_idle (struct ag_house *house, uint64_t run);
//  Events not looked at yet.
uint64_t ag_queue_length (struct ag_house *house, uint64_t run);

//  Packs came into force or went out of it: nothing of the latter is handed out, and what is in hand is declined.
int ag_queue_packs (struct ag_house *house, uint64_t run, struct ag_err *err);
//  A name in the spec's policies that none of the run's behaviours has, once all hosts registered; p NULL: none.
struct ag_str ag_queue_policy_of_nobody (struct ag_house *house, uint64_t run, struct ag_str spec);
//  A host said what it can do (a checked list): noted unless it is what is in force already. AG_E_BAD_MESSAGE: a name
//  is of another host.
int ag_queue_register (struct ag_house *house, uint64_t run, uint32_t host, struct ag_str behaviors,
                       struct ag_str tools, struct ag_err *err);

//  A clock that never goes back, for what an invocation takes.
int64_t ag_queue_clock_us (void);
//  How the open invocation ended: it is closed and the queue stands after it. Appends nothing itself.
void ag_queue_close (struct ag_house *house, uint64_t run);
//  It is to be handed out again: a death (counted unless the house caused it) or contention.
void ag_queue_again (struct ag_house *house, uint64_t run);

//  A dimension of the run's budget is used up: runtime.budget_exhausted is appended and nothing is handed out until
//  its limit is raised.
int ag_queue_exhaust (struct ag_house *house, uint64_t run, uint32_t dimension, struct ag_err *err);
//  By what, as the configuration names it; NULL: it is not.
const char *ag_queue_exhausted_by (struct ag_house *house, uint64_t run);
//  What a run may use up, by the spec of its first host.
struct ag_budget;
struct ag_budget ag_queue_budget (struct ag_house *house, uint64_t run);
#endif
