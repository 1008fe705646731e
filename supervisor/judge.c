//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/judge.h"
#include "common/answer.h"
#include "supervisor/effect.h"
#include "supervisor/fork.h"
#include "supervisor/invocation.h"

#include <stdio.h>

//  The record ends this way and the worker ended that way.
static int
differ_outcome (const struct ag_judged *self, enum ag_type found, struct ag_str why)
{
    struct ag_buf recorded = {0}, now = {0};
    ag_put_text (&recorded, ag_type_name (self->item->outcome));
    if (why.n)
        ag_put_textf (&now, "%.*s: %.*s", AG_STR_ARG (ag_type_name (found)), AG_STR_ARG (why));
    else
        ag_put_text (&now, ag_type_name (found));
    ag_differ (self->item->end, "type", ag_buf_str (&recorded), ag_buf_str (&now),
               self->difference);
    ag_buf_fini (&recorded);
    ag_buf_fini (&now);
    return 1;
}

//  One recorded event; hold is to be freed also on failure.
static int
recorded (const struct ag_judged *self, uint64_t seq, struct ag_buf *hold, struct ag_event *event,
          struct ag_err *err)
{
    struct ag_run *run;
    if (ag_run_get (self->house->journal, self->open->run, &run, err))
        return -1;
    return ag_journal_read (self->house->journal, run, seq, hold, event, err);
}

//  A payload that the record has, and what it would be now.
static int
compare_payload (const struct ag_judged *self, uint64_t seq, struct ag_str found,
                 struct ag_err *err)
{
    struct ag_buf hold = {0};
    struct ag_event event;
    int rc = recorded (self, seq, &hold, &event, err);
    if (!rc)
        rc = ag_differ_payload (&event, found, self->difference);
    ++*self->compared;
    ag_buf_fini (&hold);
    return rc;
}

int
ag_judge_started (const struct ag_judged *self, const struct ag_event *trigger, struct ag_err *err)
{
    struct ag_buf found = {0};
    int rc = 0;
    if (ag_invocation_write_matched (self->open, &found))
        rc = compare_payload (self, self->item->started - 1, ag_buf_str (&found), err);
    ag_buf_clear (&found);
    if (!rc) {
        ag_invocation_write_started (self->open, trigger, self->item->attempt, &found);
        rc = compare_payload (self, self->item->started, ag_buf_str (&found), err);
    }
    ag_buf_fini (&found);
    return rc;
}

//  The record has an effect at the place where the worker asked for no more.
static int
differ_unasked (const struct ag_judged *self, struct ag_err *err)
{
    struct ag_buf hold = {0};
    struct ag_event event;
    uint64_t seq;
    int rc = ag_effect_next (self->house, self->open, &seq, err);
    if (rc <= 0 || seq < self->item->started) //  an attempt before may have asked for more
        return rc < 0 ? -1 : 0;
    rc = recorded (self, seq, &hold, &event, err) ? -1 : 1;
    if (rc > 0)
        ag_differ (seq, "payload", event.payload, (struct ag_str){0}, self->difference);
    ag_buf_fini (&hold);
    return rc;
}

//  What it asks for, held against the tool.requested at this place: what people know an effect by comes first.
static int
compare_effect (const struct ag_judged *self, uint64_t seq, struct ag_str asked, struct ag_err *err)
{
    static const char *const first[][2] = {{"tool", "payload.tool"}, {"args", "payload.args"}};
    struct ag_buf hold = {0};
    struct ag_event event;
    int rc = recorded (self, seq, &hold, &event, err);
    for (size_t i = 0; !rc && i < sizeof first / sizeof *first; i++) {
        struct ag_str one = {0}, other = {0};
        ag_map_get (event.payload, first[i][0], &one);
        ag_map_get (asked, first[i][0], &other);
        rc = ag_differ (seq, first[i][1], one, other, self->difference);
    }
    if (!rc)
        rc = ag_differ_payload (&event, asked, self->difference);
    ag_buf_fini (&hold);
    return rc;
}

//  It asks for more than the record has.
static int
differ_beyond (const struct ag_judged *self, struct ag_str asked)
{
    struct ag_buf found = {0};
    struct ag_str tool = {0}, args = {0};
    char path[40];
    ag_map_text (asked, "tool", &tool);
    ag_map_get (asked, "args", &args);
    ag_put_map (&found, 2);
    ag_put_lit (&found, "tool");
    ag_put_text (&found, tool);
    ag_put_lit (&found, "args");
    ag_put_value (&found, args);
    snprintf (path, sizeof path, "effects[%u]", self->open->effects - 1);
    ag_differ (self->item->end, path, (struct ag_str){0}, ag_buf_str (&found), self->difference);
    ag_buf_fini (&found);
    return 1;
}

int
ag_judge_effect (const struct ag_judged *self, const struct ag_msg_effect *effect,
                 struct ag_buf *answer, struct ag_err *err)
{
    uint64_t requested = 0;
    struct ag_buf asked = {0};
    int rc =
        ag_effect_from_record (self->house, self->open, effect, answer, &asked, &requested, err);
    bool known = rc > 0;
    *self->compared += known && requested;
    if (rc >= 0 && requested)
        rc = compare_effect (self, requested, ag_buf_str (&asked), err);
    else if (rc >= 0)
        rc = known ? 0 : differ_beyond (self, ag_buf_str (&asked));
    ag_buf_fini (&asked);
    return rc;
}

//  What the worker would commit, in the scratch fork; AG_E_… of the operations as a live commit has them.
static int
commit (const struct ag_judged *self, struct ag_str ops, struct ag_run **scratch,
        struct ag_applied *applied, struct ag_err *err)
{
    struct ag_run *run;
    struct ag_birth birth = {.kind = AG_FORK, .continue_ids = true, .scratch = true};
    struct ag_policy policy = ag_invocation_policy (self->house, self->open);
    struct ag_invocation there = *self->open;
    if (ag_run_get (self->house->journal, self->open->run, &run, err) ||
        ag_fork (self->house->journal, run, self->item->first - 1, &birth, scratch, err))
        return -1;
    if (self->open->denied.n)
        return ag_fail (err, AG_E_POLICY, "%.*s", AG_STR_ARG (ag_buf_str (&self->open->denied)));
    there.run = (*scratch)->number;
    return ag_invocation_commit (self->house, *scratch, &there, &policy, ops, applied, err);
}

static int
compare_failure (const struct ag_judged *self, const struct ag_failure *failure, struct ag_err *err)
{
    struct ag_buf found = {0};
    if (self->item->outcome != AG_EV_BEHAVIOR_FAILED)
        return differ_outcome (self, AG_EV_BEHAVIOR_FAILED, failure->message);
    ag_invocation_write_failed (self->open, failure, &found);
    int rc = compare_payload (self, self->item->end, ag_buf_str (&found), err);
    ag_buf_fini (&found);
    return rc;
}

static int
compare_decline (const struct ag_judged *self, struct ag_err *err)
{
    struct ag_buf found = {0};
    if (self->item->outcome != AG_EV_BEHAVIOR_DECLINED)
        return differ_outcome (self, AG_EV_BEHAVIOR_DECLINED, (struct ag_str){0});
    ag_invocation_write (self->open, (struct ag_str){0}, 0, &found);
    int rc = compare_payload (self, self->item->end, ag_buf_str (&found), err);
    ag_buf_fini (&found);
    return rc;
}

//  The record has a commit, and so has the worker.
static int
compare_commit (const struct ag_judged *self, const struct ag_run *scratch, struct ag_err *err)
{
    struct ag_run *run;
    if (ag_run_get (self->house->journal, self->open->run, &run, err))
        return -1;
    *self->compared += self->item->end - self->item->first + 1;
    return ag_differ_events (self->house->journal, run, scratch, self->item->first, self->item->end,
                             self->difference, err);
}

static int
judge_commit (const struct ag_judged *self, struct ag_str ops, struct ag_buf *answer,
              struct ag_err *err)
{
    struct ag_applied applied = {0};
    struct ag_run *scratch = NULL;
    struct ag_mark mark = ag_journal_mark (self->house->journal);
    int rc = commit (self, ops, &scratch, &applied, err);
    if (rc && !ag_invocation_breaks (err->code)) {
        struct ag_err why = *err;
        struct ag_failure failure = ag_failure_refused (&why);
        rc = compare_failure (self, &failure, err);
    } else if (!rc && self->item->outcome == AG_EV_BEHAVIOR_COMPLETED)
        rc = compare_commit (self, scratch, err);
    else if (!rc)
        rc = differ_outcome (self, AG_EV_BEHAVIOR_COMPLETED, (struct ag_str){0});
    ag_journal_rollback (self->house->journal, &mark);
    ag_invocation_answer (&applied, answer);
    ag_applied_fini (&applied);
    return rc;
}

int
ag_judge_done (const struct ag_judged *self, const struct ag_msg_done *done, struct ag_buf *answer,
               struct ag_err *err)
{
    struct ag_buf ops = {0};
    int rc = differ_unasked (self, err);
    bool declined = done->declined && !self->open->denied.n; //  what was refused can only fail
    if (rc || declined) {
        ag_answer_ok (answer, (struct ag_str){0});
        return rc ? rc : compare_decline (self, err);
    }
    if (done->ops.p)
        rc = ag_value_normalise (done->ops, &ops, err);
    if (!rc)
        rc = judge_commit (self, done->ops.p ? ag_buf_str (&ops) : done->ops, answer, err);
    ag_buf_fini (&ops);
    return rc;
}

int
ag_judge_fail (const struct ag_judged *self, const struct ag_msg_fail *fail, struct ag_buf *answer,
               struct ag_err *err)
{
    struct ag_buf normal = {0};
    int rc = differ_unasked (self, err);
    if (!rc && self->open->denied.n)
        return judge_commit (self, (struct ag_str){0}, answer, err);
    ag_answer_ok (answer, (struct ag_str){0});
    if (!rc)
        rc = ag_value_normalise (fail->error, &normal, err);
    if (!rc) {
        struct ag_failure failure = ag_failure_own (ag_buf_str (&normal));
        rc = compare_failure (self, &failure, err);
    }
    ag_buf_fini (&normal);
    return rc;
}
