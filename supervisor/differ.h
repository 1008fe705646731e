/*  differ - the first place where what was recorded and what was found are not the same.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_DIFFER_H
#define AG_DIFFER_H
#include "supervisor/run.h"

enum { AG_DIFFER_BYTES = 4096 }; //  of a value that is shown whole

struct ag_difference {
    uint64_t event;                //  recorded; 0: there is no difference
    struct ag_buf path;            //  "type", "payload.object.data.n", "payload.evidence[2]"
    struct ag_buf recorded, found; //  values; null where there is none
};
void ag_difference_fini (struct ag_difference *self);
//  {event_id, path, recorded, found}
void ag_difference_write (const struct ag_difference *self, struct ag_buf *out);

//  True when it has been filled in: they differ, and this is where. Values are normal; p NULL: none.
bool ag_differ (uint64_t event, const char *path, struct ag_str recorded, struct ag_str found,
                struct ag_difference *difference);

//  The same for the payload of a recorded event, but for what is of its time.
bool ag_differ_payload (const struct ag_event *recorded, struct ag_str found,
                        struct ag_difference *difference);

//  Compare events first..last of one run, one by one, with those under the same sequences of another: type,
//  actor, frame, cause and payload; times and the names of runs are left out. 1 when they differ, 0, -1.
int ag_differ_events (ag_journal_t *journal, const struct ag_run *recorded,
                      const struct ag_run *found, uint64_t first, uint64_t last,
                      struct ag_difference *difference, struct ag_err *err);
#endif
