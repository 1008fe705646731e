/*  archive - older events of a run, packed into chunks that are read as if they still stood in the log.
 *
 *  Below the journal, which reads through it: see docs/design/retention.md for the forms. A chunk never
 *  changes; nothing is ever taken out of it.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_ARCHIVE_H
#define AG_ARCHIVE_H
#include "supervisor/batch.h"

//  How far a run is kept otherwise than event by event; all 0: not at all.
struct ag_retained {
    uint64_t covered;  //  the newest snapshot says what stood at this event,
    uint64_t marker;   //  and is this one
    uint64_t archived; //  own events up to here lie in the archive
};
int ag_retained_get (ag_batch_t *batch, uint64_t run, struct ag_retained *retained,
                     struct ag_err *err);
void ag_retained_put (ag_batch_t *batch, uint64_t run, const struct ag_retained *retained);

//  The chunks used last, unpacked: so many, and no more than 8 MiB of them beside the newest.
enum { AG_UNPACKED = 32, AG_UNPACKED_BYTES = 8 << 20 };
struct ag_archive {
    struct ag_chunk {
        uint64_t run, first, last; //  run 0: empty
        uint64_t used;             //  when it was asked for last
        struct ag_buf events;
    } chunks[AG_UNPACKED];
    uint64_t clock;
    int newest; //  where the last event was found
};
//  Forget them: what they hold may not have been written.
void ag_archive_forget (struct ag_archive *self);

//  The stored bytes of an event, appended to out: 1, 0 when it is not there, -1. AG_E_CORRUPT names the run
//  and the events that a damaged chunk was to hold.
int ag_archive_get (struct ag_archive *self, ag_batch_t *batch, uint64_t run, uint64_t seq,
                    struct ag_buf *out, struct ag_err *err);

//  Move events after < seq <= until of a run into one chunk, as many as it holds: how many, or -1. They must
//  all stand in the log. The caller puts ag_retained in the same batch.
int ag_archive_move (ag_batch_t *batch, uint64_t run, uint64_t after, uint64_t until,
                     struct ag_err *err);
#endif
