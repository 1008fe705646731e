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

//  The record has an effect at the place where the worker asked for no more.
static int
differ_unasked (const struct ag_judged *self, struct ag_err *err)
{
    struct ag_buf hold = {0};
    struct ag_event event;
    struct ag_run *run;
    uint64_t seq;
    int rc = ag_effect_next (self->house, self->open, &seq, err);
    if (rc <= 0 || seq < self->item->started) //  an attempt before may have asked for more
        return rc < 0 ? -1 : 0;
    rc = ag_run_get (self->house->journal, self->open->run, &run, err) ||
                 ag_journal_read (self->house->journal, run, seq, &hold, &event, err)
             ? -1
             : 1;
    if (rc > 0)
        ag_differ (seq, "payload", event.payload, (struct ag_str){0}, self->difference);
    ag_buf_fini (&hold);
    return rc;
}

static void
put_asked (struct ag_str tool, struct ag_str args, struct ag_buf *out)
{
    ag_put_map (out, 2);
    ag_put_lit (out, "tool");
    ag_put_text (out, tool);
    ag_put_lit (out, "args");
    ag_put_value (out, args);
}

//  It asks for something else than the record has at this place, or for more than the record has.
static int
differ_effect (const struct ag_judged *self, const struct ag_msg_effect *effect, uint64_t seq,
               struct ag_err *err)
{
    struct ag_buf hold = {0}, args = {0}, recorded = {0}, found = {0};
    struct ag_str tool = {0}, known = AG_LIT ("\x80");
    struct ag_event event = {0};
    struct ag_run *run;
    char path[40];
    int rc = ag_value_normalise (effect->args, &args, err);
    if (!rc)
        rc = ag_run_get (self->house->journal, self->open->run, &run, err);
    if (!rc && seq)
        rc = ag_journal_read (self->house->journal, run, seq, &hold, &event, err);
    if (!rc) {
        put_asked (effect->tool, ag_buf_str (&args), &found);
        snprintf (path, sizeof path, "effects[%u]", self->open->effects - 1);
        if (seq) {
            ag_map_text (event.payload, "tool", &tool);
            ag_map_get (event.payload, "args", &known);
            put_asked (tool, known, &recorded);
        }
        ag_differ (seq ? seq : self->item->end, seq ? "payload" : path, ag_buf_str (&recorded),
                   ag_buf_str (&found), self->difference);
    }
    ag_buf_fini (&hold);
    ag_buf_fini (&args);
    ag_buf_fini (&recorded);
    ag_buf_fini (&found);
    return rc ? -1 : 1;
}

int
ag_judge_effect (const struct ag_judged *self, const struct ag_msg_effect *effect,
                 struct ag_buf *answer, struct ag_err *err)
{
    uint64_t requested = 0;
    int rc = ag_effect_from_record (self->house, self->open, effect, answer, &requested, err);
    *self->compared += rc > 0 && requested;
    if (rc)
        return rc < 0 ? -1 : 0;
    return differ_effect (self, effect, requested, err);
}

//  What the worker would commit, in the scratch fork; AG_E_… of the operations as a live commit has them.
static int
commit (const struct ag_judged *self, struct ag_str ops, struct ag_run **scratch,
        struct ag_applied *applied, struct ag_err *err)
{
    struct ag_run *run;
    struct ag_birth birth = {.kind = AG_FORK, .continue_ids = true};
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
compare_failure (const struct ag_judged *self, struct ag_str type, struct ag_str message,
                 struct ag_err *err)
{
    struct ag_buf hold = {0}, found = {0}, recorded = {0};
    struct ag_str known_type = {0}, known = {0};
    struct ag_event event;
    struct ag_run *run;
    if (self->item->outcome != AG_EV_BEHAVIOR_FAILED)
        return differ_outcome (self, AG_EV_BEHAVIOR_FAILED, message);
    if (ag_run_get (self->house->journal, self->open->run, &run, err) ||
        ag_journal_read (self->house->journal, run, self->item->end, &hold, &event, err)) {
        ag_buf_fini (&hold);
        return -1;
    }
    ag_map_text (event.payload, "exception_type", &known_type);
    ag_map_text (event.payload, "message", &known);
    const struct ag_str sides[2][2] = {{known_type, known}, {type, message}};
    for (int i = 0; i < 2; i++) {
        struct ag_buf *out = i ? &found : &recorded;
        ag_put_map (out, 2);
        ag_put_lit (out, "exception_type");
        ag_put_text (out, sides[i][0]);
        ag_put_lit (out, "message");
        ag_put_text (out, sides[i][1]);
    }
    ++*self->compared;
    int rc = ag_differ (self->item->end, "payload", ag_buf_str (&recorded), ag_buf_str (&found),
                        self->difference);
    ag_buf_fini (&hold);
    ag_buf_fini (&found);
    ag_buf_fini (&recorded);
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

//  Errors of the store are ours; any other refusal is what the behaviour meets.
static bool
is_ours (enum ag_code code)
{
    return code == AG_E_STORE || code == AG_E_CORRUPT || code == AG_E_DISK_FULL ||
           code == AG_E_SYSTEM || code == AG_E_DEPTH;
}

static int
judge_commit (const struct ag_judged *self, struct ag_str ops, struct ag_buf *answer,
              struct ag_err *err)
{
    struct ag_applied applied = {0};
    struct ag_run *scratch = NULL;
    struct ag_mark mark = ag_journal_mark (self->house->journal);
    int rc = commit (self, ops, &scratch, &applied, err);
    if (rc && !is_ours (err->code)) {
        struct ag_err why = *err;
        rc = compare_failure (self, AG_LIT ("OperationRefused"), ag_str (why.text), err);
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
        ++*self->compared;
        return rc || self->item->outcome == AG_EV_BEHAVIOR_DECLINED
                   ? rc
                   : differ_outcome (self, AG_EV_BEHAVIOR_DECLINED, (struct ag_str){0});
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
    struct ag_str type = AG_LIT ("Error"), message = AG_LIT ("");
    if (self->open->denied.n)
        return judge_commit (self, (struct ag_str){0}, answer, err);
    ag_answer_ok (answer, (struct ag_str){0});
    int rc = differ_unasked (self, err);
    if (!rc)
        rc = ag_value_normalise (fail->error, &normal, err);
    if (!rc) {
        ag_map_text (ag_buf_str (&normal), "type", &type);
        ag_map_text (ag_buf_str (&normal), "message", &message);
        rc = compare_failure (self, type, message, err);
    }
    ag_buf_fini (&normal);
    return rc;
}
