//  Requests about trials.
//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/commands.h"
#include "supervisor/retention.h"
#include "supervisor/trial.h"

int
ag_command_trial (struct ag_command *command, struct ag_err *err)
{
    const struct ag_msg_trial *msg = &command->msg->trial;
    struct ag_house *house = command->house;
    struct ag_run *parent, *run;
    uint64_t at;
    if (ag_point_find (house->journal, msg->point, &parent, &at, err) ||
        ag_discard_check (parent, err))
        return -1;
    if (parent->number == house->fleet_run)
        return ag_fail (err, AG_E_USAGE, "the fleet's own run cannot be forked");
    if (ag_trial_begin (house, parent, at, msg, &run, err))
        return -1;
    struct ag_answer answer = ag_command_begin (command);
    ag_answer_key (&answer, "run_id");
    ag_put_lit (command->answer, run->id);
    ag_answer_end (&answer);
    return 0;
}

//  It waits for the end as `wait` does; a trial ends also when nobody waits.
int
ag_command_tried (struct ag_command *command, struct ag_err *err)
{
    const struct ag_msg_tried *msg = &command->msg->tried;
    struct ag_buf report = {0};
    struct ag_run *run;
    int rc = ag_run_find (command->house->journal, msg->run, &run, err)
                 ? -1
                 : ag_trial_report (command->house, run, &report, err);
    if (rc > 0 || (rc == 0 && !ag_command_hold (command, msg->wait_ms))) {
        struct ag_answer answer = ag_command_begin (command);
        ag_command_merge (&answer, ag_buf_str (&report));
        ag_answer_key (&answer, "done");
        ag_put_bool (command->answer, rc > 0);
        ag_answer_end (&answer);
    }
    ag_buf_fini (&report);
    return rc < 0 ? -1 : 0;
}
