//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/commands.h"
#include "supervisor/state.h"

#include <string.h>

enum { CHAIN_EVENTS = 200 };

//  The events that made a thing what it is, newest change first, each followed by its causes. Where a promote
//  brought a change, the fork's own events follow the marker.
struct chain {
    struct ag_command *command;
    struct ag_run *run;
    struct {
        uint64_t run, seq; //  of the run that holds it
    } seen[CHAIN_EVENTS];
    uint32_t count;
    struct ag_buf events;
};

static bool
is_full (const struct chain *chain)
{
    return chain->count == CHAIN_EVENTS || chain->events.n >= AG_ANSWER_LIST_BYTES;
}

static bool
is_new (const struct chain *chain, uint64_t seq)
{
    uint64_t run = ag_run_holder (chain->run, seq)->number;
    for (uint32_t i = 0; i < chain->count; i++)
        if (chain->seen[i].seq == seq && chain->seen[i].run == run)
            return false;
    return seq && !is_full (chain);
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
        chain->seen[chain->count].run = event.run;
        chain->seen[chain->count++].seq = seq;
        ag_event_write (&event, chain->run->id, label, &chain->events);
        seq = event.cause < seq ? event.cause : 0;
    }
    ag_buf_fini (&hold);
    return rc;
}

static int follow_versions (struct chain *chain, enum ag_entity_kind kind, struct ag_str id,
                            uint64_t at, struct ag_err *err);

//  A change that a promote brought has its story in the fork, up to the tip that was promoted. What an
//  imported promote says of a run means no run of this store.
static int
follow_fork (struct chain *chain, enum ag_entity_kind kind, struct ag_str id, uint64_t seq,
             struct ag_err *err)
{
    ag_journal_t *journal = chain->command->house->journal;
    struct ag_run *here = chain->run, *fork;
    struct ag_buf hold = {0};
    struct ag_event event;
    struct ag_str from, tip;
    struct ag_err none;
    uint64_t at;
    int rc = ag_journal_read (journal, here, seq, &hold, &event, err);
    bool brought = !rc && event.flags & AG_BLOCK && !(event.flags & AG_IMPORTED);
    if (brought)
        rc = ag_journal_read (journal, here, event.cause, &hold, &event, err);
    if (!rc && brought && !ag_map_text (event.payload, "from_run", &from) &&
        !ag_map_text (event.payload, "fork_tip", &tip) && !ag_evt_read (tip, &at) &&
        !ag_run_find (journal, from, &fork, &none)) {
        chain->run = fork;
        rc = follow_versions (chain, kind, id, at, err) < 0 ? -1 : 0;
        chain->run = here;
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
        bool first = is_new (chain, tip.seq);
        rc = follow_causes (chain, tip.seq, err);
        if (!rc && first)
            rc = follow_fork (chain, kind, id, tip.seq, err);
        if (rc || is_full (chain))
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
        ag_answer_key (&answer, "more");
        ag_put_bool (command->answer, is_full (&chain));
        ag_answer_end (&answer);
    }
    ag_buf_fini (&chain.events);
    if (!found)
        return ag_fail (err, AG_E_NOT_FOUND,
                        at < chain.run->head.tip ? "run %s had no `%.*s` up to this point"
                                                 : "run %s never had `%.*s`",
                        chain.run->id, AG_STR_ARG (msg->entity));
    return found < 0 ? -1 : 0;
}
