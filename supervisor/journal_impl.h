/*  journal_impl - what the files of journal and run share and nobody else includes.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_JOURNAL_IMPL_H
#define AG_JOURNAL_IMPL_H
#include "supervisor/archive.h"
#include "supervisor/cache.h"
#include "supervisor/held.h"
#include "supervisor/key.h"
#include "supervisor/run.h"
#include <bsd/sys/queue.h>
#include <bsd/sys/tree.h>

enum {
    AG_CHECKPOINT = 256, //  events of a run from one checkpoint to the next
    AG_NAMED = 64        //  labels that are remembered
};

//  An open run. Its place in the journal stays the same while it is open.
struct ag_open {
    struct ag_run run; //  first, so that one is found from the other
    RB_ENTRY (ag_open) link;
    TAILQ_ENTRY (ag_open) dirty_link;
    bool dirty;      //  its head has to be written with this turn
    uint64_t marked; //  the newest mark before which its head was saved
};
RB_HEAD (ag_open_runs, ag_open);
TAILQ_HEAD (ag_open_list, ag_open);

//  What a request did to a run, and how it was before.
enum ag_done { AG_DONE_HEAD, AG_DONE_MADE, AG_DONE_SHOWN, AG_DONE_DISCARDED };
struct ag_undo {
    enum ag_done done;
    struct ag_open *open;
    struct ag_run_head head; //  of AG_DONE_HEAD alone, as the next one
    uint64_t marked;
};

//  An event of this turn; its bytes lie in `bytes`.
struct ag_turn_event {
    uint64_t run, seq;
    size_t at, n;
};

struct ag_journal {
    ag_store_t *store;
    ag_batch_t *batch;
    struct ag_open_runs runs;
    struct ag_open_list dirty;
    size_t open_count;
    uint64_t named[AG_NAMED]; //  runs that were found by a label, by its hash: only worth a look

    struct ag_undo *undo;
    size_t undo_count, undo_room;
    uint64_t marks; //  given so far

    struct ag_turn_event *events;
    size_t event_count, event_room;
    struct ag_buf bytes;
    bool committed; //  the events are those of the last commit

    uint64_t stream, next_run;
    uint64_t stream_begin;          //  stream before this turn
    uint64_t kept_run, kept_stream; //  next_run and stream as they stand in the store's counters
    bool count;                     //  write them with this turn, however little they changed
    bool lost;                      //  after a failed commit, until the store is read again
    bool dead;                      //  the store has to be reopened for that

    ag_clock_fn clock;
    void *clock_arg;
    struct ag_cache cache;
    struct ag_archive archive;
    struct ag_held held;
};

int ag_journal_read_counters (ag_journal_t *self, struct ag_err *err);
//  The events of the last commit end where a new turn begins.
void ag_journal_begin_turn (ag_journal_t *self);

struct ag_open *ag_open_find (ag_journal_t *self, uint64_t number);
//  Link a run that was read, or made (then it is undone with the request).
void ag_open_add (ag_journal_t *self, struct ag_open *open, bool made);
//  A hidden run, without a label yet, is about to be shown, or a run to be discarded: undone with the request.
void ag_open_change (ag_journal_t *self, struct ag_run *run, enum ag_done done);
//  Forget every open run; nothing is dirty.
void ag_open_clear (ag_journal_t *self);

//  Take in an event of the log that this one is made again from: 1, or 0 when the run's chain does not lead
//  to it. The bytes are those of the store, seed included.
int ag_journal_adopt (ag_journal_t *self, struct ag_run *run, const struct ag_event *event,
                      struct ag_str bytes);

//  A new run that begins as base says, under a parent or none; puts all its records.
int ag_run_make (ag_journal_t *self, const struct ag_birth *birth, const struct ag_run *parent,
                 const struct ag_run_head *base, struct ag_run **run, struct ag_err *err);

//  What is stored of a run, without a look at its events; spec is the caller's to free. AG_E_NOT_FOUND,
//  AG_E_CORRUPT.
int ag_run_read_record (ag_journal_t *self, uint64_t number, struct ag_run *run,
                        struct ag_err *err);
int ag_run_read_head (ag_journal_t *self, struct ag_run *run, struct ag_err *err);

//  Stored forms.
void ag_head_encode (const struct ag_run_head *head, bool used, struct ag_buf *out);
int ag_head_decode (struct ag_str bytes, bool used, struct ag_run_head *head);

//  What an event does to a head: one more event, its chain, its ids.
void ag_head_add (struct ag_run_head *head, uint64_t mint, const struct ag_event *event);
#endif
