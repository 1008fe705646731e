/*  core_queue_test - runs with a queue for tests.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_CORE_QUEUE_TEST_H
#define AG_CORE_QUEUE_TEST_H
#include "supervisor/core_test.h"
#include "supervisor/cursor.h"
#include "supervisor/due.h"
#include "supervisor/record.h"

static inline struct ag_str
value (struct core *core, const char *json, struct ag_buf *out)
{
    ag_buf_clear (out);
    must (core, ag_json_read (ag_str (json), out, &core->err));
    return ag_buf_str (out);
}

static inline uint64_t
append (struct core *core, struct ag_run *run, const char *type, const char *payload,
        uint64_t cause)
{
    struct ag_buf hold = {0};
    uint64_t seq;
    struct ag_draft draft = {
        .type = ag_str (type), .payload = value (core, payload, &hold), .cause = cause};
    must (core, ag_journal_append (core->journal, run, &draft, &seq, &core->err));
    ag_buf_fini (&hold);
    return seq;
}

//  A run with one script host, registered with these behaviours at event 1.
static inline struct ag_run *
run_with (struct core *core, const char *behaviors)
{
    struct ag_birth birth = {0};
    struct ag_run *run;
    struct ag_buf hold = {0};
    must (core, ag_run_create (core->journal, &birth, &run, &core->err));
    ag_note_put (core->journal, run, AG_LIT ("spec"), 0,
                 value (core, "{\"hosts\":[{\"kind\":\"script\"}]}", &hold));
    struct ag_queue *queue = ag_queue_load (core->journal, run, &core->err);
    assert_non_null (queue);
    must (core, ag_queue_note_host (core->journal, run, queue, 0, value (core, behaviors, &hold),
                                    (struct ag_str){0}, &core->err));
    ag_queue_save (core->journal, run, queue);
    ag_queue_free (queue);
    ag_buf_fini (&hold);
    return run;
}

static inline struct ag_queue *
load (struct core *core, struct ag_run *run)
{
    struct ag_queue *queue = ag_queue_load (core->journal, run, &core->err);
    if (!queue)
        fail_msg ("%s", core->err.text);
    return queue;
}

//  Look until something is in hand or the end is reached.
static inline bool
look (struct core *core, struct ag_run *run, struct ag_queue *queue)
{
    int more = 1;
    while (more > 0 && !queue->in_hand)
        more = ag_queue_look (core->journal, run, queue, &core->err);
    assert_true (more >= 0);
    return queue->in_hand;
}

static inline const char *
name_of (struct ag_queue *queue, uint32_t i)
{
    static char text[64];
    snprintf (text, sizeof text, "%.*s", AG_STR_ARG (queue->list[i].name));
    return text;
}
#endif
