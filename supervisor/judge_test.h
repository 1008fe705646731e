/*  judge_test - recorded invocations in a run of their own, and doing them again.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_JUDGE_TEST_H
#define AG_JUDGE_TEST_H
#include "supervisor/core_state_test.h"
#include "supervisor/cursor.h"
#include "supervisor/effect.h"
#include "supervisor/fleet.h"
#include "supervisor/invocation.h"
#include "supervisor/judge.h"

struct fixture {
    struct core *core;
    struct ag_house house;
    uint64_t run;
    struct ag_trace trace;
    struct ag_difference difference;
    uint64_t compared;
    const char *key, *value; //  what the behaviour registers beside its name; NULL: nothing
};

static inline void
init (struct fixture *self, void **state)
{
    *self = (struct fixture){.core = *state};
    self->house.journal = self->core->journal;
    self->house.fleet = ag_fleet_new (&self->house);
    self->house.queues = ag_queues_new (&self->house);
    self->run = core_root (self->core, "");
}

static inline void
fini (struct fixture *self)
{
    ag_trace_fini (&self->trace);
    ag_difference_fini (&self->difference);
    ag_queues_destroy (&self->house.queues);
    ag_fleet_destroy (&self->house.fleet);
}

static inline void
end (struct ag_invocation *by)
{
    ag_buf_fini (&by->behavior);
    ag_buf_fini (&by->relation);
    ag_buf_fini (&by->frame);
    ag_buf_fini (&by->reads);
    ag_buf_fini (&by->denied);
    ag_buf_fini (&by->pending.tool);
    ag_buf_fini (&by->pending.args);
}

static inline void
put_behavior (const struct fixture *self, struct ag_str name, struct ag_buf *out)
{
    ag_put_map (out, self->key ? 2 : 1);
    ag_put_pair_text (out, "name", name);
    if (self->key)
        ag_put_pair_text (out, self->key, ag_str (self->value));
}

//  `work` begins for the run's newest event that is none of the house, as a queue would have it.
static inline struct ag_invocation
begin (struct fixture *self, uint64_t event, uint32_t attempt)
{
    struct ag_run *run = core_run (self->core, self->run);
    struct ag_queue queue = {.is_open = true};
    struct ag_buf answer = {0};
    queue.open = (struct ag_invocation){.run = self->run,
                                        .event = event,
                                        .attempt = attempt - 1,
                                        .matches = {.count = 2},
                                        .mint = {.object = run->head.minted[AG_MINTED_OBJECT],
                                                 .relation = run->head.minted[AG_MINTED_RELATION],
                                                 .mine = true}};
    put_behavior (self, AG_LIT ("work"), &queue.open.behavior);
    ag_buf_add_str (&queue.open.relation, AG_LIT ("rel_001"));
    must (self->core, ag_invocation_begin (&self->house, &queue.open, &answer, &self->core->err));
    ag_queue_save (self->core->journal, run, &queue);
    ag_buf_fini (&answer);
    return queue.open;
}

//  ops NULL: it declines.
static inline void
done (struct fixture *self, struct ag_invocation *by, const char *ops)
{
    struct ag_buf list = value_of (self->core, ops ? ops : "[]"), answer = {0};
    struct ag_msg_done msg = {.ops = ag_buf_str (&list), .declined = !ops};
    must (self->core, ag_invocation_done (&self->house, by, &msg, &answer, &self->core->err));
    ag_buf_fini (&list);
    ag_buf_fini (&answer);
    end (by);
}

static inline void
give_up (struct fixture *self, struct ag_invocation *by, const char *error)
{
    struct ag_buf map = value_of (self->core, error), answer = {0};
    struct ag_msg_fail msg = {.error = ag_buf_str (&map)};
    must (self->core, ag_invocation_fail (&self->house, by, &msg, &answer, &self->core->err));
    ag_buf_fini (&map);
    ag_buf_fini (&answer);
    end (by);
}

static inline void
effect (struct fixture *self, struct ag_invocation *by, const char *args, const char *output)
{
    struct ag_buf given = value_of (self->core, args), came = value_of (self->core, output),
                  answer = {0};
    struct ag_msg_effect ask = {
        .tool = AG_LIT ("look"), .args = ag_buf_str (&given), .idempotent = true};
    struct ag_msg_outcome outcome = {.output = ag_buf_str (&came)};
    must (self->core, ag_effect_ask (&self->house, by, &ask, &answer, &self->core->err));
    must (self->core, ag_effect_outcome (&self->house, by, &outcome, &answer, &self->core->err));
    ag_buf_fini (&given);
    ag_buf_fini (&came);
    ag_buf_fini (&answer);
}

static inline void
tell (struct fixture *self, const char *ops)
{
    core_apply (self->core, self->run, ops);
}

//  The next traced invocation, to be done again.
static inline struct ag_invocation
again (struct fixture *self)
{
    struct ag_run *run = core_run (self->core, self->run);
    struct ag_traced *item = &self->trace.item;
    self->trace.until = run->head.tip;
    int rc = ag_trace_next (self->core->journal, run, &self->trace, &self->core->err);
    assert_int_equal (rc, 1);
    struct ag_invocation made = {.run = self->run,
                                 .event = item->event,
                                 .started = item->started,
                                 .at = item->started,
                                 .attempt = item->attempt,
                                 .matches = {.count = 2}};
    must (self->core, ag_trace_mint (self->core->journal, run, item, &made.mint, &self->core->err));
    put_behavior (self, ag_buf_str (&item->name), &made.behavior);
    ag_buf_add_str (&made.relation, AG_LIT ("rel_001"));
    return made;
}

static inline struct ag_judged
judged (struct fixture *self, struct ag_invocation *open)
{
    return (struct ag_judged){&self->house, open, &self->trace.item, &self->difference,
                              &self->compared};
}

//  "same", or "evt_… PATH: RECORDED, FOUND". Nothing of it is stored.
static inline const char *
verdict (struct fixture *self, int rc)
{
    static char text[400];
    char recorded[120], event[AG_EVT_TEXT];
    if (rc < 0)
        fail_msg ("%s", self->core->err.text);
    if (rc == 0)
        return "same";
    ag_evt_text (self->difference.event, event);
    snprintf (recorded, sizeof recorded, "%s",
              json_of (self->core, ag_buf_str (&self->difference.recorded)));
    snprintf (text, sizeof text, "%s %.*s: %s, %s", event,
              AG_STR_ARG (ag_buf_str (&self->difference.path)), recorded,
              json_of (self->core, ag_buf_str (&self->difference.found)));
    return text;
}

static inline const char *
judge_done (struct fixture *self, struct ag_invocation *open, const char *ops)
{
    struct ag_buf list = value_of (self->core, ops ? ops : "[]"), answer = {0};
    struct ag_msg_done msg = {.ops = ag_buf_str (&list), .declined = !ops};
    struct ag_judged one = judged (self, open);
    uint64_t tip = core_tip (self->core, self->run),
             stream = ag_journal_stream (self->core->journal);
    size_t batch = ag_batch_bytes (ag_journal_batch (self->core->journal));
    int rc = ag_judge_done (&one, &msg, &answer, &self->core->err);
    assert_int_equal (core_tip (self->core, self->run), tip);
    assert_int_equal (ag_journal_stream (self->core->journal), stream);
    assert_int_equal (ag_batch_bytes (ag_journal_batch (self->core->journal)), batch);
    ag_buf_fini (&list);
    ag_buf_fini (&answer);
    end (open);
    return verdict (self, rc);
}

static inline const char *
judge_fail (struct fixture *self, struct ag_invocation *open, const char *error)
{
    struct ag_buf map = value_of (self->core, error), answer = {0};
    struct ag_msg_fail msg = {.error = ag_buf_str (&map)};
    struct ag_judged one = judged (self, open);
    int rc = ag_judge_fail (&one, &msg, &answer, &self->core->err);
    ag_buf_fini (&map);
    ag_buf_fini (&answer);
    end (open);
    return verdict (self, rc);
}

static inline const char *
judge_effect (struct fixture *self, struct ag_invocation *open, const char *tool, const char *args)
{
    struct ag_buf given = value_of (self->core, args), answer = {0};
    struct ag_msg_effect msg = {
        .tool = ag_str (tool), .args = ag_buf_str (&given), .idempotent = true};
    struct ag_judged one = judged (self, open);
    int rc = ag_judge_effect (&one, &msg, &answer, &self->core->err);
    ag_buf_fini (&given);
    ag_buf_fini (&answer);
    return verdict (self, rc);
}

#define EVENT "[{'op':'emit','type':'on.work','payload':{}}]"
#define TASK  "{'op':'add_object','type':'task','data':{'n':1,'of':{'list':[1,2]}},'as':'t'},"
#define OPS   "[" TASK "{'op':'add_relation','source':'@t','target':'@t','type':'self'}]"

//  Events 1 to 5: the trigger, started, two made things, completed.
static inline void
record_one (struct fixture *self)
{
    tell (self, EVENT);
    struct ag_invocation by = begin (self, 1, 1);
    done (self, &by, OPS);
}
#endif
