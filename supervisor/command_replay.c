//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/commands.h"
#include "supervisor/replay.h"
#include "supervisor/run.h"

//  It waits for the end as `wait` does, asks again and again, and what nobody asks for ends by itself.
int
ag_command_replay (struct ag_command *command, struct ag_err *err)
{
    const struct ag_msg_replay *msg = &command->msg->replay;
    struct ag_house *house = command->house;
    struct ag_replay *replay;
    struct ag_run *run;
    if (house->lacking.code) {
        *err = house->lacking;
        return -1;
    }
    if (ag_command_room (house, err) || //  its processes would not be started
        ag_run_find (house->journal, msg->run, &run, err) ||
        ag_replay_ask (house, run, msg->ticket, &replay, err))
        return -1;
    if (!ag_replay_is_over (replay) && ag_command_hold (command, msg->wait_ms))
        return 0;
    struct ag_answer answer = ag_command_begin (command);
    ag_answer_key (&answer, "label");
    ag_command_label (run, answer.out);
    if (ag_replay_tell (house, replay, &answer, err))
        return -1;
    ag_answer_end (&answer);
    return 0;
}
