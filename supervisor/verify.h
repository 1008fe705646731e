/*  verify - whether a run is what its chain says, and its state index what its events say.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_VERIFY_H
#define AG_VERIFY_H
#include "supervisor/retention.h"

//  What a walk looks at, one after the other. After the end there is no step.
enum ag_verify_phase {
    AG_VERIFY_BEGIN,
    AG_VERIFY_CHAIN,
    AG_VERIFY_INDEX,
    AG_VERIFY_WHOLE, //  things made whole
    AG_VERIFY_HASH,
    AG_VERIFY_END
};

//  A walk over what is on disk of one run, in steps, while the house may go on: nothing is open between two of
//  them. `{0}` with the first fields begins it; `ag_verify_fini` ends it, whatever was found.
struct ag_verify {
    uint64_t run;
    bool state;         //  its state index too: written a second time, in memory, and compared
    size_t index_bytes; //  that this may take; 0: AG_VERIFY_BYTES
    //  Found so far.
    uint64_t events;    //  own events seen; of those that the run had when the walk began
    uint64_t first_bad; //  sequence; 0 with a reason: the record, the head or the index
    char reason[200];   //  empty: nothing wrong found
    //  What imported events say that this house would have refused; it is kept, and nothing is wrong.
    uint64_t odd_count;
    struct ag_buf odd; //  [{event, what}, ...] of the first AG_ODD_LISTED, without the list's head
    //  The walk's own.
    ag_journal_t *journal; //  holds the index that is written again; never committed
    enum ag_verify_phase phase;
    struct ag_run_head head; //  as the events so far make it
    struct ag_run_head until;
    uint64_t mint;
    uint64_t archived; //  own events up to here lie in the archive
    uint64_t applied;  //  events up to here are in the index that is written again
    unsigned row;      //  of the keys that are compared, and the last one of it
    struct ag_buf at;
    uint64_t marker; //  of the snapshot whose hash is taken
    struct ag_snapshot snapshot;
};
enum { AG_ODD_LISTED = 100, AG_VERIFY_BYTES = 512 << 20 };
void ag_verify_fini (struct ag_verify *self);
//  What was found and what was held is forgotten; the same begins over another run.
void ag_verify_next (struct ag_verify *self, uint64_t run);

//  Look at up to `limit` more events, keys or entities: 1 when there is more to do, 0 when done or when something
//  is wrong (see reason), -1 when the store fails. What the run appends meanwhile is taken into the index before
//  more of it is compared, so both tell of the same events. AG_E_NOT_FOUND: there is no such run.
//  AG_E_TOO_LARGE: its index takes more memory than it may.
int ag_verify_step (ag_store_t *store, struct ag_verify *self, uint32_t limit, struct ag_err *err);
//  {run, label, events, first_bad, reason, odd_count, odd}; label p NULL: it has none.
void ag_verify_write (const struct ag_verify *self, struct ag_str label, struct ag_buf *out);
#endif
