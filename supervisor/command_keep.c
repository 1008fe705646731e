//  Requests about what a run's past costs and who needs it.
//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/commands.h"
#include "supervisor/fleet.h"
#include "supervisor/queue.h"
#include "supervisor/retention.h"

#include <stdio.h>

enum { SNAPSHOT_ENTITIES = 256, ARCHIVE_CHUNKS = 8 }; //  of one request

static void
put_evt (struct ag_answer *answer, const char *key, uint64_t seq)
{
    ag_answer_key (answer, key);
    ag_put_evt (answer->out, seq);
}

static struct ag_answer
begin (struct ag_command *command, const struct ag_run *run)
{
    struct ag_answer answer = ag_command_begin (command);
    ag_answer_key (&answer, "run");
    ag_put_lit (answer.out, run->id);
    ag_answer_key (&answer, "label");
    ag_command_label (run, answer.out);
    return answer;
}

static void
answer_unfinished (struct ag_command *command, const struct ag_run *run,
                   const struct ag_snapshot *snapshot)
{
    struct ag_answer answer = begin (command, run);
    ag_answer_key (&answer, "objects");
    ag_put_uint (answer.out, snapshot->objects);
    ag_answer_key (&answer, "relations");
    ag_put_uint (answer.out, snapshot->relations);
    ag_answer_key (&answer, "more");
    ag_put_bool (answer.out, true);
    ag_answer_end (&answer);
}

//  What the marker says.
static int
answer_snapshot (struct ag_command *command, const struct ag_run *run, uint64_t marker,
                 struct ag_err *err)
{
    struct ag_buf hold = {0};
    struct ag_event event;
    int rc = ag_journal_read (command->house->journal, run, marker, &hold, &event, err);
    if (!rc) {
        struct ag_answer answer = begin (command, run);
        ag_command_merge (&answer, event.payload);
        put_evt (&answer, "event_id", marker);
        ag_answer_key (&answer, "more");
        ag_put_bool (answer.out, false);
        ag_answer_end (&answer);
    }
    ag_buf_fini (&hold);
    return rc;
}

int
ag_command_snapshot (struct ag_command *command, struct ag_err *err)
{
    ag_journal_t *journal = command->house->journal;
    struct ag_snapshot snapshot = {0};
    struct ag_run *run;
    uint64_t marker;
    if (ag_run_find (journal, command->msg->snapshot.run, &run, err))
        return -1;
    int rc = ag_snapshot_step (journal, run, SNAPSHOT_ENTITIES, &snapshot, &marker, err);
    if (rc > 0)
        answer_unfinished (command, run, &snapshot);
    if (rc == 0) {
        ag_queues_touch (command->house, run->number); //  it has an event more to look at
        rc = answer_snapshot (command, run, marker, err);
    }
    ag_snapshot_fini (&snapshot);
    return rc < 0 ? -1 : 0;
}

int
ag_command_archive (struct ag_command *command, struct ag_err *err)
{
    ag_journal_t *journal = command->house->journal;
    struct ag_retained retained;
    struct ag_run *run;
    if (ag_run_find (journal, command->msg->archive.run, &run, err))
        return -1;
    int rc = ag_archive_step (journal, run, ARCHIVE_CHUNKS, &retained, err);
    if (rc < 0)
        return -1;
    struct ag_answer answer = begin (command, run);
    put_evt (&answer, "archived_through", retained.archived);
    put_evt (&answer, "covers_through", retained.covered);
    ag_answer_key (&answer, "more");
    ag_put_bool (answer.out, rc > 0);
    ag_answer_end (&answer);
    return 0;
}

/*  Kept  */

static void
put_reason (struct ag_buf *out, const char *reason, const struct ag_run *run, uint64_t event)
{
    ag_put_map (out, 3);
    ag_put_lit (out, "reason");
    ag_put_lit (out, reason);
    ag_put_lit (out, "run");
    ag_put_lit (out, run->id);
    ag_put_lit (out, "event");
    ag_put_evt (out, event);
}

//  What the run itself has still to do.
static void
put_work (struct ag_house *house, const struct ag_run *run, struct ag_buf *out, uint32_t *count)
{
    struct ag_invocation *open = ag_queue_open (house, run->number);
    uint64_t length = ag_queue_length (house, run->number);
    if (open) {
        put_reason (out, "open-invocation", run, open->at);
        ++*count;
    }
    if (length) {
        put_reason (out, "queue", run, run->head.tip - length + 1);
        ++*count;
    }
}

static void
answer_kept (struct ag_command *command, const struct ag_run *run,
             const struct ag_retained *retained, struct ag_buf *reasons, uint32_t count)
{
    struct ag_answer answer = begin (command, run);
    put_evt (&answer, "tip", run->head.tip);
    put_evt (&answer, "covers_through", retained->covered);
    put_evt (&answer, "archived_through", retained->archived);
    ag_answer_key (&answer, "discarded");
    ag_put_bool (answer.out, run->discarded);
    ag_answer_key (&answer, "reasons");
    ag_put_list (answer.out, count);
    ag_buf_add_str (answer.out, ag_buf_str (reasons));
    ag_answer_end (&answer);
}

int
ag_command_kept (struct ag_command *command, struct ag_err *err)
{
    struct ag_house *house = command->house;
    struct ag_retained retained;
    struct ag_buf reasons = {0};
    struct ag_run *run;
    uint32_t count = 0;
    if (ag_run_find (house->journal, command->msg->kept.run, &run, err) ||
        ag_retained_get (ag_journal_batch (house->journal), run->number, &retained, err))
        return -1;
    int rc = ag_kept_write (house->journal, run, &reasons, &count, err);
    if (!rc) {
        put_work (house, run, &reasons, &count);
        answer_kept (command, run, &retained, &reasons, count);
    }
    ag_buf_fini (&reasons);
    return rc;
}

//  Its processes are ended; that nothing is left of them, `wait --ended` tells.
int
ag_command_discard (struct ag_command *command, struct ag_err *err)
{
    struct ag_house *house = command->house;
    struct ag_run *run;
    if (ag_run_find (house->journal, command->msg->discard.fork, &run, err) ||
        ag_discard (house->journal, run, err))
        return -1;
    ag_fleet_dismiss (house, run);
    struct ag_answer answer = begin (command, run);
    ag_answer_key (&answer, "state");
    ag_put_lit (answer.out, "discarded");
    ag_answer_end (&answer);
    return 0;
}
