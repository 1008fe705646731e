/*  record - small things that other floors keep in the same batch as their events.
 *
 *  All of them are read as this turn left them and written with the turn.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_RECORD_H
#define AG_RECORD_H
#include "supervisor/run.h"

//  Answers to request ids, per principal. Reading: 1, 0 when the id was never answered, -1; hold is
//  emptied and the answer borrows from it.
struct ag_request {
    uint8_t hash[AG_HASH]; //  of the request
    uint64_t time_us;
    struct ag_str answer;
};
void ag_request_put (ag_journal_t *journal, struct ag_str principal, struct ag_str id,
                     const struct ag_request *request);
int ag_request_get (ag_journal_t *journal, struct ag_str principal, struct ag_str id,
                    struct ag_buf *hold, struct ag_request *request, struct ag_err *err);
//  Drop answers older than before_us among the next `limit` ones; `place` keeps where to go on from and
//  is empty again after the last.
int ag_request_sweep (ag_journal_t *journal, uint64_t before_us, size_t limit, struct ag_buf *place,
                      struct ag_err *err);

//  Notes: what a run knew under a name at a sequence (its queue's cursor, a host's registration, a pack
//  in force). A fork sees its parent's at the cut. Reading: the newest at or below `at`: 1, 0, -1; hold
//  is emptied first. Names are 1 to 256 bytes without NUL.
void ag_note_put (ag_journal_t *journal, const struct ag_run *run, struct ag_str name, uint64_t seq,
                  struct ag_str value);
int ag_note_get (ag_journal_t *journal, const struct ag_run *run, struct ag_str name, uint64_t at,
                 struct ag_buf *hold, uint64_t *seq, struct ag_err *err);
//  Names that start with prefix and have a note at the point, each once, in byte order.
typedef bool (*ag_note_fn) (void *arg, struct ag_str name);
int ag_note_scan (ag_journal_t *journal, const struct ag_run *run, struct ag_str prefix,
                  uint64_t at, ag_note_fn fn, void *arg, struct ag_err *err);

//  Counters: one number under a name of a run, not inherited (how far another run was heard).
void ag_count_put (ag_journal_t *journal, uint64_t run, struct ag_str name, uint64_t value);
void ag_count_drop (ag_journal_t *journal, uint64_t run, struct ag_str name);
int ag_count_get (ag_journal_t *journal, uint64_t run, struct ag_str name, uint64_t *value,
                  struct ag_err *err);

//  Effects: the sequence of the event that holds the answer, by a key of 32 bytes; one run's own.
void ag_effect_put (ag_journal_t *journal, uint64_t run, const uint8_t key[AG_HASH], uint64_t seq);
int ag_effect_get (ag_journal_t *journal, uint64_t run, const uint8_t key[AG_HASH], uint64_t *seq,
                   struct ag_err *err);

//  Blobs: bytes stored once under their BLAKE2b hash. AG_E_TOO_LARGE over AG_BLOB_BYTES. Reading appends
//  to out: 1, 0, -1.
enum { AG_BLOB_BYTES = 16 << 20 };
int ag_blob_put (ag_journal_t *journal, struct ag_str bytes, uint8_t hash[AG_HASH],
                 struct ag_err *err);
int ag_blob_get (ag_journal_t *journal, const uint8_t hash[AG_HASH], struct ag_buf *out,
                 struct ag_err *err);
#endif
