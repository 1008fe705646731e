/*  child - one worker or service, from its request to the acknowledgement of its end.
 *
 *  SETTING_UP -> RUNNING -> LEAVING (asked to go, until a deadline) -> ENDING (being killed) -> GONE. A
 *  child whose first process ends by itself goes to ENDING too: what it left behind is ended. What the
 *  supervisor has not been told yet stands in `owed`, a bit for each event; nothing is queued elsewhere.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_CHILD_H
#define AG_CHILD_H
#include "supervisor/nursery/birth.h"

enum ag_stage { AG_SETTING_UP, AG_RUNNING, AG_LEAVING, AG_ENDING, AG_GONE };

struct ag_child {
    struct ag_nursery_event fact; //  all that is known
    struct ag_rlimits limits;
    enum ag_stage stage;
    uint32_t owed;  //  1u << enum ag_nursery_what
    bool ran;       //  its program was started
    bool exited;    //  its first process is reaped
    bool killed;    //  by us
    bool dismissed; //  its tree has still to be told to go
    uint32_t left;  //  processes seen of it in the last look
    uint64_t deadline_ms;
    int pidfd, report, output[2];
    const struct ag_cgroups *cgroups;
};

//  Start it. Nothing is returned: a start that fails is the whole life of this child.
void ag_child_init (struct ag_child *self, const struct ag_birth *birth,
                    const struct ag_spawn_request *request, int image);
//  Read what its set-up reports.
void ag_child_hear (struct ag_child *self);
//  Reap its first process, which has ended.
void ag_child_reap (struct ag_child *self);
//  Begin its end, or bring it forward.
void ag_child_end (struct ag_child *self, uint32_t grace_ms, uint64_t now_ms);
//  SIGKILL for its first process, and for its control group; the rest of a tree is the walk's.
void ag_child_kill (struct ag_child *self);
//  Whether its control group or pid namespace says that nothing is left.
bool ag_child_empty (const struct ag_child *self);
//  Nothing of it is left.
void ag_child_finish (struct ag_child *self);
//  A new supervisor knows nothing: owe it what it has to know.
void ag_child_retell (struct ag_child *self);
//  Send the first event that is owed; 0, or -1 with errno when it cannot be sent now.
int ag_child_say (struct ag_child *self, int pair);
void ag_child_fini (struct ag_child *self);
#endif
