//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/commands.h"
#include "supervisor/state.h"

#include <string.h>

enum { CHAIN_EVENTS = 200 };

//  The events that made a thing what it is, newest change first, each followed by its causes.
struct chain {
    struct ag_command *command;
    struct ag_run *run;
    uint64_t seen[CHAIN_EVENTS];
    uint32_t count;
    struct ag_buf events;
};

static bool
is_new (const struct chain *chain, uint64_t seq)
{
    for (uint32_t i = 0; i < chain->count; i++)
        if (chain->seen[i] == seq)
            return false;
    return seq && chain->count < CHAIN_EVENTS;
}

//  Causes lie earlier, so this ends.
static int
follow_causes (struct chain *chain, uint64_t seq, struct ag_err *err)
{
    struct ag_buf hold = {0};
    struct ag_event event;
    int rc = 0;
    const char *label = chain->run->label[0] ? chain->run->label : NULL;
    while (!rc && is_new (chain, seq)) {
        rc = ag_journal_read (chain->command->house->journal, chain->run, seq, &hold, &event, err);
        if (rc)
            break;
        chain->seen[chain->count++] = seq;
        ag_event_write (&event, chain->run->id, label, &chain->events);
        seq = event.cause < seq ? event.cause : 0;
    }
    ag_buf_fini (&hold);
    return rc;
}

//  Its versions from the newest to the one that made it.
static int
follow_versions (struct chain *chain, enum ag_entity_kind kind, struct ag_str id, uint64_t at,
                 struct ag_err *err)
{
    ag_journal_t *journal = chain->command->house->journal;
    struct ag_tip tip = {0};
    int found = 0, rc = 1;
    while (at && (rc = ag_state_tip (journal, chain->run, kind, id, at, &tip, err)) > 0) {
        found = 1;
        rc = follow_causes (chain, tip.seq, err);
        if (rc || chain->count == CHAIN_EVENTS)
            break;
        at = tip.seq - 1;
    }
    ag_tip_fini (&tip);
    return rc < 0 ? -1 : found;
}

int
ag_command_why (struct ag_command *command, struct ag_err *err)
{
    const struct ag_msg_why *msg = &command->msg->why;
    struct chain chain = {.command = command};
    uint64_t at, seq = 0;
    if (ag_point_find (command->house->journal, msg->run, &chain.run, &at, err))
        return -1;
    int found;
    if (!ag_evt_read (msg->entity, &seq))
        found = follow_causes (&chain, seq, err) ? -1 : 1;
    else
        found = follow_versions (&chain, AG_OBJECT, msg->entity, at, err);
    if (!found)
        found = follow_versions (&chain, AG_RELATION, msg->entity, at, err);
    if (!found && !ag_evt_guess (msg->entity, &seq))
        found = follow_causes (&chain, seq, err) ? -1 : 1;
    if (found > 0) {
        struct ag_answer answer = ag_command_begin (command);
        ag_answer_key (&answer, "entity");
        ag_put_text (command->answer, msg->entity);
        ag_answer_key (&answer, "chain");
        ag_put_list (command->answer, chain.count);
        ag_buf_add_str (command->answer, ag_buf_str (&chain.events));
        ag_answer_end (&answer);
    }
    ag_buf_fini (&chain.events);
    if (!found)
        return ag_fail (err, AG_E_NOT_FOUND, "run %s never had %.*s", chain.run->id,
                        AG_STR_ARG (msg->entity));
    return found < 0 ? -1 : 0;
}
