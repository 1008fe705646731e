/*  run - one event log: its record, its head, its place in the lineage, and how people name it.
 *
 *  The record is written once, in the run's creating batch. The head is kept in memory, changes with
 *  every event and is written once a batch. A pointer to a run lives until the next commit, or until a
 *  rollback to before the run was made: keep the number, and ask again (it is one look-up).
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_RUN_H
#define AG_RUN_H
#include "supervisor/ids.h"
#include "supervisor/journal.h"

enum { AG_RUN_DEPTH = 16, AG_ORIGIN_BYTES = 64 }; //  forks of forks; without the NUL

enum ag_run_kind { AG_ROOT, AG_FORK, AG_TRIAL };
enum ag_effects { AG_EFFECTS_CACHE, AG_EFFECTS_LIVE, AG_EFFECTS_REPLAY };

//  What a run has used so far; counted by the floors above, kept in the head.
enum ag_use {
    AG_USED_EVENTS, //  dispatched
    AG_USED_CALLS,  //  invocations
    AG_USED_TOOLS,
    AG_USED_MODELS,
    AG_USED_COST,    //  millionths of a dollar
    AG_USED_PATCHES, //  applied
    AG_USED_DEPTH, //  of the deepest trigger, where that is limited: 1 for an event that nothing caused
    AG_USED_US, //  microseconds in invocations
    AG_USES
};

struct ag_run_head {
    uint64_t tip;   //  sequence of the last event, inherited ones included; 0: none
    uint64_t facts; //  how many of them are not bookkeeping of the house
    uint64_t minted[AG_MINTED_KINDS]; //  highest number minted or seen, by enum ag_minted_kind
    uint8_t chain[AG_HASH];           //  after the tip
    uint64_t used[AG_USES];           //  by this run itself
};

struct ag_run {
    uint64_t number;
    char id[AG_RUN_TEXT];
    //  Record.
    uint64_t parent, cut; //  0, 0: a root
    enum ag_run_kind kind;
    enum ag_effects effects;
    uint64_t mint; //  the run whose tag new ids carry; 0: plain ids
    uint64_t created_us;
    uint32_t depth;                   //  how many ancestors
    char label[AG_LABEL_BYTES + 1];   //  empty: none
    char origin[AG_ORIGIN_BYTES + 1]; //  its name where it was imported from; empty: it began here
    struct ag_run_head base;          //  where its own events begin
    struct ag_str spec;               //  a value of the fleet floor; null when none was given
    //  In memory.
    bool hidden;                //  in the making: nobody finds it by name or in a list
    bool discarded;             //  its label is free; what it holds is read no more
    bool untyped;               //  known: no pack in it ever declared a type
    uint64_t archived;          //  own events up to here may lie in the archive
    const struct ag_run *above; //  the parent, NULL for a root
    struct ag_run_head head;
    uint64_t index; //  where its state stands: its number, but while `verify` rebuilds it
};

//  What a new run is made of; `{0}` is a plain one without label.
struct ag_birth {
    enum ag_run_kind kind; //  of a fork: AG_FORK or AG_TRIAL
    enum ag_effects effects;
    bool continue_ids; //  a fork goes on with its parent's counters and tag instead of its own
    bool hidden;       //  until ag_run_show
    bool scratch; //  rolled back before the turn ends: it may stand one deeper than what is kept
    struct ag_str label, spec;
    struct ag_str origin; //  at most AG_ORIGIN_BYTES without NUL
};

//  A new root run. AG_E_EXISTS: the label is taken. AG_E_USAGE: it can be none. An id that is a label is skipped.
int ag_run_create (ag_journal_t *journal, const struct ag_birth *birth, struct ag_run **run,
                   struct ag_err *err);

//  The run of a number. AG_E_NOT_FOUND; AG_E_CORRUPT when its head disagrees with its events.
int ag_run_get (ag_journal_t *journal, uint64_t number, struct ag_run **run, struct ag_err *err);

//  A hidden run is there from now on, under a label or none. AG_E_EXISTS, AG_E_USAGE: as for ag_run_create.
int ag_run_show (ag_journal_t *journal, struct ag_run *run, struct ag_str label,
                 struct ag_err *err);
//  A run is discarded from now on, and its label is free.
void ag_run_discard (ag_journal_t *journal, struct ag_run *run);
//  Numbers of runs that are made later are above this one.
void ag_run_skip (ag_journal_t *journal, uint64_t number);
//  True when the run of this number was taken back, and nothing stands in its place yet.
bool ag_run_is_gone (ag_journal_t *journal, uint64_t number);

//  The run that text names: a label (an agent's root run carries its name), else a run id. Ids are counted:
//  whatever an id begins with is the id of another run, no prefix to look for. AG_E_NOT_FOUND.
int ag_run_find (ag_journal_t *journal, struct ag_str text, struct ag_run **run,
                 struct ag_err *err);
//  RUN, RUN@tip, RUN@42, RUN@evt_042, RUN@start (before its first work, in AG_LOOKED_EVENTS); an empty tip is 0.
int ag_point_find (ag_journal_t *journal, struct ag_str text, struct ag_run **run, uint64_t *seq,
                   struct ag_err *err);

//  Runs with a number above after, in order of their numbers; or only the direct forks of one. The
//  callback says whether to go on; it may read, but not write.
typedef bool (*ag_run_fn) (void *arg, struct ag_run *run);
int ag_run_scan (ag_journal_t *journal, uint64_t after, ag_run_fn fn, void *arg,
                 struct ag_err *err);
int ag_run_children (ag_journal_t *journal, uint64_t parent, uint64_t after, ag_run_fn fn,
                     void *arg, struct ag_err *err);

//  Each id that an event names in a form that some run mints.
typedef void ag_minted_fn (void *arg, enum ag_minted_kind kind, const struct ag_minted *minted);
void ag_event_minted (const struct ag_event *event, ag_minted_fn *fn, void *arg);

//  To be called before anything in the head is changed; the journal writes it with the batch.
void ag_run_touch (ag_journal_t *journal, struct ag_run *run);

//  The run of a lineage that holds event seq itself.
const struct ag_run *ag_run_holder (const struct ag_run *run, uint64_t seq);
//  The head as it was after event seq of the run, inherited ones included, without what was used. At most
//  255 events are read. The chain is that of the run that holds seq, minted what a continuing fork needs.
int ag_run_head_at (ag_journal_t *journal, const struct ag_run *run, uint64_t seq,
                    struct ag_run_head *head, struct ag_err *err);
#endif
