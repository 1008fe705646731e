/*  agsupd_inside - what the parts of agsupd share: agsupd.c (the loop), down.c (the ways down), talk.c (the
 *  supervisor).
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_AGSUPD_INSIDE_H
#define AG_AGSUPD_INSIDE_H
#include <poll.h>
#include "common/home.h"
#include "supervisor/nursery/agsupd.h"
#include "supervisor/nursery/brood.h"
#include "supervisor/nursery/resident.h"

//  Each is entered once and only from the left.
enum ag_phase { AG_UP, AG_STOPPING, AG_DRAINING, AG_GIVING_UP };

struct agsupd {
    const struct ag_agsupd_options *options;
    struct ag_home home;
    struct ag_cgroups cgroups;
    struct ag_procs procs;
    struct ag_brood brood;
    struct ag_resident residents[AG_HOUSES];
    int lock, signals, pair, ready_fd;
    const char *config; //  until a supervisor has been ready with it
    enum ag_phase phase;
    uint64_t deadline_ms; //  of the phase
    uint64_t closing_ms; //  until a supervisor that closed its end must be gone; 0 while it has not
    int status;
    bool owe_stop, owe_house, owe_current, full, deaths;
    struct pollfd polls[2 + AG_CHILDREN_MAX];
};

//  down.c: ask the supervisor to end the fleet; what a signal means; end all that is left, for nobody gives
//  orders any more.
void ag_house_stop (struct agsupd *self);
void ag_house_signalled (struct agsupd *self);
void ag_house_drain (struct agsupd *self);
//  Nothing is left, and that was wanted. A phase took too long: true when even SIGKILL did not help.
bool ag_house_is_over (const struct agsupd *self);
bool ag_house_hurry (struct agsupd *self, uint64_t now_ms);

//  talk.c: do what the supervisor asks for; tell it what it is owed; close the pair.
void ag_house_hear (struct agsupd *self);
void ag_house_say (struct agsupd *self);
void ag_house_hang_up (struct agsupd *self);
#endif
