/*  verify - whether a run is what its chain says, and its state index what its events say.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_VERIFY_H
#define AG_VERIFY_H
#include "supervisor/run.h"

//  A walk over the own events of one run, to be taken in steps. `{0}` with the run's number begins it;
//  `ag_verify_fini` ends it.
struct ag_verify {
    uint64_t run;
    struct ag_run_head head; //  as the events so far make it
    uint64_t mint;
    uint64_t archived;  //  own events up to here lie in the archive
    uint64_t events;    //  own events seen
    uint64_t first_bad; //  sequence; 0 with a reason: the record, the head or the index
    char reason[200];   //  empty: nothing wrong found
    bool begun;
    //  What imported events say that this house would have refused; it is kept, and nothing is wrong.
    uint64_t odd_count;
    struct ag_buf odd; //  [{event, what}, ...] of the first AG_ODD_LISTED, without the list's head
};
enum { AG_ODD_LISTED = 100 };
void ag_verify_fini (struct ag_verify *self);

//  Check up to `limit` more events: chain, density, checkpoints, and at the end the head. 1 when there is
//  more to do, 0 when done or when something is wrong (see reason), -1 when the store fails.
int ag_verify_step (ag_journal_t *journal, struct ag_verify *self, uint64_t limit,
                    struct ag_err *err);
//  Rebuild the run's state index from its events and compare; costs as much as the run is long. Leaves
//  nothing behind.
int ag_verify_state (ag_journal_t *journal, struct ag_verify *self, struct ag_err *err);
//  {run, events, first_bad, reason, odd_count, odd}
void ag_verify_write (const struct ag_verify *self, struct ag_buf *out);
#endif
