//  Runs that come from elsewhere.
//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/commands.h"
#include "supervisor/fleet.h"
#include "supervisor/import.h"

#include <string.h>

static int
check_name (struct ag_str name, struct ag_err *err)
{
    if (memchr (name.p, 0, name.n))
        return ag_fail (err, AG_E_USAGE, "the name of an import holds no NUL");
    return 0;
}

int
ag_command_import (struct ag_command *command, struct ag_err *err)
{
    const struct ag_msg_import *msg = &command->msg->import;
    struct ag_import_page page = {.name = msg->name,
                                  .number = msg->page,
                                  .word = msg->word.p ? msg->word : AG_LIT ("item"),
                                  .items = msg->items};
    struct ag_import_count count;
    if (check_name (msg->name, err) || ag_import_page (command->house->journal, &page, &count, err))
        return -1;
    struct ag_answer answer = ag_command_begin (command);
    ag_answer_key (&answer, "runs");
    ag_put_uint (command->answer, count.runs);
    ag_answer_key (&answer, "events");
    ag_put_uint (command->answer, count.events);
    ag_answer_end (&answer);
    return 0;
}

//  A name stands for one thing: a service's is no label.
static int
check_label (void *arg, struct ag_str label, struct ag_err *err)
{
    struct ag_unit *unit = ag_fleet_named (arg, label);
    if (!unit || unit->run)
        return 0;
    return ag_fail (err, AG_E_EXISTS, "a service is called `%.*s` already", AG_STR_ARG (label));
}

int
ag_command_import_end (struct ag_command *command, struct ag_err *err)
{
    const struct ag_msg_import_end *msg = &command->msg->import_end;
    struct ag_buf shown = {0};
    int rc = check_name (msg->name, err);
    if (!rc)
        rc = ag_import_end (command->house->journal, msg->name, msg->label, check_label,
                            command->house, &shown, err);
    if (!rc) {
        struct ag_answer answer = ag_command_begin (command);
        ag_command_merge (&answer, ag_buf_str (&shown));
        ag_answer_end (&answer);
    }
    ag_buf_fini (&shown);
    return rc;
}

int
ag_command_import_drop (struct ag_command *command, struct ag_err *err)
{
    int more = check_name (command->msg->import_drop.name, err);
    if (!more)
        more = ag_import_drop (command->house->journal, command->msg->import_drop.name, err);
    if (more < 0)
        return -1;
    struct ag_answer answer = ag_command_begin (command);
    ag_answer_key (&answer, "more");
    ag_put_bool (command->answer, more > 0);
    ag_answer_end (&answer);
    return 0;
}
