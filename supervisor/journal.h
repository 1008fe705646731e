/*  journal - events in, events out: the order of everything, and one batch a turn.
 *
 *  The journal gives each event its sequence in its run and its number in the stream of the whole store,
 *  carries the run's chain, and gathers a turn's writes. A request takes a mark, does its work, and rolls
 *  back to the mark when it fails: what it put and every head it touched are as before. A commit writes
 *  the turn with one sync. Floors above put their own small records into the same batch.
 *
 *  After a failed commit nothing of the turn is in memory: heads are read again from the store, which is
 *  reopened first if it has to be. A turn whose fate was unknown and that proves durable is seen by the
 *  stream number, which then stands after its events: replay from the last number you published.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_JOURNAL_H
#define AG_JOURNAL_H
#include "supervisor/batch.h"
#include "supervisor/event.h"

typedef struct ag_journal ag_journal_t;
struct ag_run;
struct ag_cache;

//  The store is borrowed and outlives the journal. Costs a few reads, however much the store holds.
ag_journal_t *ag_journal_new (ag_store_t *store, struct ag_err *err);
//  What was not committed is dropped.
void ag_journal_destroy (ag_journal_t **self_p);

//  Where time comes from (microseconds since 1970); the real clock unless set.
typedef uint64_t (*ag_clock_fn) (void *arg);
void ag_journal_set_clock (ag_journal_t *self, ag_clock_fn clock, void *arg);
uint64_t ag_journal_now (ag_journal_t *self);

ag_store_t *ag_journal_store (ag_journal_t *self);
ag_batch_t *ag_journal_batch (ag_journal_t *self);
//  Present data of objects, for the floor that patches them.
struct ag_cache *ag_journal_cache (ag_journal_t *self);
//  The last stream number given out, this turn included.
uint64_t ag_journal_stream (const ag_journal_t *self);
//  Events of this turn; with `ag_batch_bytes` they say when to cut it.
size_t ag_journal_count (const ag_journal_t *self);

struct ag_mark {
    size_t batch, undo, events, bytes;
    uint64_t stream, next_run;
};
//  Marks nest: a later one is gone when an earlier one is rolled back to.
struct ag_mark ag_journal_mark (ag_journal_t *self);
void ag_journal_rollback (ag_journal_t *self, const struct ag_mark *mark);

//  Write everything, on disk when it returns 0. A turn without writes costs nothing.
int ag_journal_commit (ag_journal_t *self, struct ag_err *err);
//  Try again what a failed commit could not do itself: open the store and read it anew. Until then every
//  call answers AG_E_STORE.
int ag_journal_recover (ag_journal_t *self, struct ag_err *err);

//  Says whether to go on. It may read, but not write.
typedef bool (*ag_event_fn) (void *arg, const struct ag_event *event);
//  The events of the last commit, in stream order, until something is appended again.
void ag_journal_committed (ag_journal_t *self, ag_event_fn fn, void *arg);

//  A new event. Payload is a normal map; type and payload are the caller's responsibility (operations
//  check them). For graph events use graph.h, which keeps the state index in step.
struct ag_draft {
    struct ag_str type, payload;
    struct ag_str actor, frame; //  p NULL: none
    uint64_t cause;             //  sequence; 0: none
    uint32_t flags;
    uint64_t time_us; //  0: now, but of an imported event
};
//  An imported event gets no number in the stream and is in no list of committed ones.
//  AG_E_TOO_LARGE when it would take more than AG_EVENT_BYTES; nothing is changed then.
int ag_journal_append (ag_journal_t *self, struct ag_run *run, const struct ag_draft *draft,
                       uint64_t *seq, struct ag_err *err);
//  The same for what the house itself says: actor runtime. Ends the payload, also on failure; seq may be NULL.
int ag_journal_tell (ag_journal_t *self, struct ag_run *run, enum ag_type type, uint64_t cause,
                     struct ag_buf *payload, uint64_t *seq, struct ag_err *err);

//  One event of a run, inherited ones included; hold is emptied and the event borrows from it.
//  AG_E_NOT_FOUND. `event->run` is the run that holds it.
int ag_journal_read (ag_journal_t *self, const struct ag_run *run, uint64_t seq,
                     struct ag_buf *hold, struct ag_event *event, struct ag_err *err);
//  Events of a run with after < seq <= until, in order, inherited ones included.
int ag_journal_scan (ag_journal_t *self, const struct ag_run *run, uint64_t after, uint64_t until,
                     ag_event_fn fn, void *arg, struct ag_err *err);
//  Own events of a run of the types that are kept findable (pack.*), after < seq <= until.
int ag_journal_scan_type (ag_journal_t *self, const struct ag_run *run, struct ag_str type,
                          uint64_t after, uint64_t until, ag_event_fn fn, void *arg,
                          struct ag_err *err);
//  Committed events of the whole store with a stream number above after, in stream order.
int ag_stream_scan (ag_journal_t *self, uint64_t after, ag_event_fn fn, void *arg,
                    struct ag_err *err);
#endif
