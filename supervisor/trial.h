/*  trial - packs that are tried in a fork, under nets, by a process that has one life; and the verdict on them.
 *
 *  The verdict is the supervisor's: from what it did and counted, the net that fired and how the process ended. It is
 *  in the log of the parent (trial.finished) when the process is proved to be gone. See docs/design/trial.md.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_TRIAL_H
#define AG_TRIAL_H
#include "common/wire.h"
#include "supervisor/fleet.h"

struct ag_trial;

//  Make the fork and, when its packs are what their pins say, its process; when not, its report is there at once.
//  AG_E_USAGE; AG_E_BUSY: too many at once; else as for ag_fork.
int ag_trial_begin (struct ag_house *house, struct ag_run *parent, uint64_t at,
                    const struct ag_msg_trial *msg, struct ag_run **run, struct ag_err *err);
//  Append the report of a trial: 1, 0 when it has not ended, -1. AG_E_USAGE: the run is no trial.
int ag_trial_report (struct ag_house *house, const struct ag_run *run, struct ag_buf *out,
                     struct ag_err *err);

//  Once a turn, until it is false: put in what is next in each scenario, stop what is done, end what is over.
bool ag_trials_pump (struct ag_house *house);
//  Those that an earlier house left open are closed.
int ag_trials_close (struct ag_house *house, struct ag_err *err);
void ag_trials_destroy (struct ag_house *house);

//  What the session of its unit says. Its host registered: as ag_queue_register, when it is what the manifests say.
int ag_trial_register (struct ag_house *house, struct ag_unit *unit, struct ag_str behaviors,
                       struct ag_str tools, struct ag_err *err);
//  A request was handled: AG_E_BUDGET when the events are more than the trial may have.
int ag_trial_check (struct ag_house *house, const struct ag_unit *unit, struct ag_err *err);
//  A request was refused: true when that ends the trial, which is seen to here.
bool ag_trial_refused (struct ag_house *house, struct ag_unit *unit, const struct ag_err *why);
//  Its host gives up what it has in hand, or could not load its packs: {type, message}.
void ag_trial_failed (struct ag_unit *unit, struct ag_str error);
//  Its process is gone, or could not be started: the verdict. why: the house ended it; NULL: as the unit says.
void ag_trial_lost (struct ag_unit *unit, const char *why);
#endif
