/*  retention - a horizon, an archive below it, who refers to a run's past, and forks that are done with.
 *
 *  Nothing is deleted and nothing refuses anything else: see docs/design/retention.md. Long work is taken in
 *  steps, one a request; how far it came is a record of the run, written with the step.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_RETENTION_H
#define AG_RETENTION_H
#include "supervisor/archive.h"
#include "supervisor/run.h"

//  A snapshot that is being made.
struct ag_snapshot {
    uint64_t at; //  the point: the run's tip when it began
    uint64_t objects, relations;
    bool in_relations;     //  objects are done
    uint8_t hash[AG_HASH]; //  of the entities so far
    struct ag_buf after;   //  id of the last one of its kind
};
void ag_snapshot_fini (struct ag_snapshot *self);

//  Take up to `limit` more entities of a run into its snapshot, beginning one when there is none: 1 when there
//  is more to do; 0 when the marker is appended, or nothing came since the last one: `marker` is its
//  sequence; -1. AG_E_USAGE: the run is empty.
int ag_snapshot_step (ag_journal_t *journal, struct ag_run *run, uint32_t limit,
                      struct ag_snapshot *self, uint64_t *marker, struct ag_err *err);
//  Take up to `limit` more entities of the state at `self->at` into its hash, and write nothing: 1 when there are
//  more, 0, -1. Read through the index of this run.
int ag_snapshot_page (ag_journal_t *journal, const struct ag_run *run, uint32_t limit,
                      struct ag_snapshot *self, struct ag_err *err);

//  Move up to `chunks` chunks of own events that the newest snapshot covers: 1 when more are left, 0, -1.
//  AG_E_USAGE: there is no snapshot.
int ag_archive_step (ag_journal_t *journal, struct ag_run *run, int chunks,
                     struct ag_retained *retained, struct ag_err *err);

//  Append [{reason, run, event, id}, …] to out: who refers to the run's past, AG_KEPT_MAX at most of each.
enum { AG_KEPT_MAX = 100 };
int ag_kept_write (ag_journal_t *journal, struct ag_run *run, struct ag_buf *out, uint32_t *count,
                   struct ag_err *err);

//  End a fork in the log: runtime.discarded, and its label is free. AG_E_USAGE: a root. AG_E_KEPT: it has forks
//  that are not discarded. Doing it again changes nothing.
int ag_discard (ag_journal_t *journal, struct ag_run *run, struct ag_err *err);
//  0, or AG_E_DISCARDED.
int ag_discard_check (const struct ag_run *run, struct ag_err *err);
#endif
