//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/invocation.h"
#include "common/answer.h"
#include "supervisor/budget.h"
#include "supervisor/cursor.h"
#include "supervisor/fleet.h"
#include "supervisor/invoke.h"
#include "supervisor/reads.h"

#include <string.h>

static struct ag_str
name_of (const struct ag_invocation *self)
{
    struct ag_str name = {0};
    ag_map_text (ag_buf_str (&self->behavior), "name", &name);
    return name;
}

int
ag_invocation_tell (struct ag_house *house, const struct ag_invocation *self, enum ag_type type,
                    uint64_t cause, struct ag_buf *payload, uint64_t *seq, struct ag_err *err)
{
    struct ag_run *run;
    struct ag_draft draft = {.type = ag_type_name (type),
                             .payload = ag_buf_str (payload),
                             .actor = AG_LIT ("runtime"),
                             .frame = ag_buf_str (&self->frame),
                             .cause = cause};
    int rc = ag_run_get (house->journal, self->run, &run, err) ||
             ag_journal_append (house->journal, run, &draft, seq, err);
    ag_buf_fini (payload);
    return rc ? -1 : 0;
}

//  Caused by the trigger.
static int
append (struct ag_house *house, const struct ag_invocation *self, enum ag_type type,
        struct ag_buf *payload, uint64_t *seq, struct ag_err *err)
{
    return ag_invocation_tell (house, self, type, self->event, payload, seq, err);
}

//  {behavior, event_id, …} with more fields to come; the caller closes it with its count.
static size_t
open_payload (const struct ag_invocation *self, struct ag_buf *out)
{
    size_t map = ag_open_map (out);
    ag_put_lit (out, "behavior");
    ag_put_text (out, name_of (self));
    ag_put_lit (out, "event_id");
    ag_put_evt (out, self->event);
    return map;
}

void
ag_invocation_write (const struct ag_invocation *self, struct ag_str pairs, uint32_t count,
                     struct ag_buf *out)
{
    size_t map = open_payload (self, out);
    ag_buf_add_str (out, pairs);
    ag_close (out, map, 2 + count);
}

int
ag_invocation_note (struct ag_house *house, const struct ag_invocation *self, enum ag_type type,
                    struct ag_str pairs, uint32_t count, struct ag_err *err)
{
    struct ag_buf payload = {0};
    uint64_t seq;
    ag_invocation_write (self, pairs, count, &payload);
    return append (house, self, type, &payload, &seq, err);
}

bool
ag_invocation_write_matched (const struct ag_invocation *self, struct ag_buf *out)
{
    struct ag_str pattern;
    struct ag_buf pairs = {0};
    if (ag_map_text (ag_buf_str (&self->behavior), "pattern", &pattern))
        return false;
    ag_put_pair_uint (&pairs, "matches_count", self->matches.count);
    ag_put_pair_text (&pairs, "pattern", pattern);
    ag_invocation_write (self, ag_buf_str (&pairs), 2, out);
    ag_buf_fini (&pairs);
    return true;
}

enum ag_type
ag_invocation_write_started (const struct ag_invocation *self, const struct ag_event *trigger,
                             uint32_t attempt, struct ag_buf *out)
{
    struct ag_str type = {0}, object = {0};
    bool relation = !ag_map_text (ag_buf_str (&self->behavior), "relation_type", &type);
    size_t map = open_payload (self, out);
    ag_put_pair_text (out, "triggering_event_type", trigger->type);
    ag_map_text (trigger->payload, "id", &object);
    if (relation)
        ag_put_pair_text (out, "relation_type", type);
    else
        ag_put_pair_or_null (out, "triggering_object_id", object);
    ag_put_pair_uint (out, "attempt", attempt);
    if (relation)
        ag_put_pair_text (out, "relation_id", ag_buf_str (&self->relation));
    ag_close (out, map, relation ? 6 : 5);
    return relation ? AG_EV_RELATION_BEHAVIOR_STARTED : AG_EV_BEHAVIOR_STARTED;
}

//  Its pattern was found, if it has one, and it starts.
static int
append_started (struct ag_house *house, struct ag_invocation *self, const struct ag_event *trigger,
                struct ag_err *err)
{
    struct ag_buf payload = {0};
    uint64_t seq;
    if (ag_invocation_write_matched (self, &payload) &&
        append (house, self, AG_EV_PATTERN_MATCHED, &payload, &seq, err))
        return -1;
    enum ag_type type = ag_invocation_write_started (self, trigger, self->attempt + 1, &payload);
    return append (house, self, type, &payload, &self->started, err);
}

int
ag_invocation_begin (struct ag_house *house, struct ag_invocation *self, struct ag_buf *answer,
                     struct ag_err *err)
{
    struct ag_run *run;
    struct ag_buf hold = {0};
    struct ag_event event = {0};
    int rc = ag_run_get (house->journal, self->run, &run, err);
    if (!rc)
        rc = ag_journal_read (house->journal, run, self->event, &hold, &event, err);
    if (!rc) {
        ag_buf_clear (&self->frame);
        if (event.frame.p)
            ag_buf_add_str (&self->frame, event.frame);
        rc = append_started (house, self, &event, err);
    }
    if (!rc) {
        ag_run_touch (house->journal, run);
        run->head.used[AG_USED_CALLS]++;
        self->at = self->started;
        self->attempt++;
        self->since_us = ag_queue_clock_us();
        rc = ag_invoke_write (house->journal, run, self, &event, answer, err);
    }
    ag_buf_fini (&hold);
    return rc;
}

static void
put_part (struct ag_buf *out, uint32_t *fields, const char *key, struct ag_str text)
{
    if (!text.p)
        return;
    ag_put_pair_text (out, key, text);
    ++*fields;
}

void
ag_invocation_write_failed (const struct ag_invocation *self, const struct ag_failure *failure,
                            struct ag_buf *out)
{
    uint32_t fields = 2;
    size_t map = open_payload (self, out);
    put_part (out, &fields, "exception_type", failure->type);
    put_part (out, &fields, "message", failure->message);
    put_part (out, &fields, "traceback", failure->traceback);
    put_part (out, &fields, "reason", failure->reason);
    ag_close (out, map, fields);
}

//  behavior.failed closes it.
static int
close_failed (struct ag_house *house, struct ag_invocation *self, const struct ag_failure *failure,
              struct ag_err *err)
{
    struct ag_buf payload = {0};
    uint64_t seq;
    ag_invocation_write_failed (self, failure, &payload);
    int rc = append (house, self, AG_EV_BEHAVIOR_FAILED, &payload, &seq, err);
    if (!rc)
        ag_queue_close (house, self->run);
    return rc;
}

int
ag_invocation_give_up (struct ag_house *house, struct ag_invocation *self, const struct ag_err *why,
                       const char *reason, struct ag_err *err)
{
    struct ag_failure failure = ag_failure_of (AG_FAILED_NOT_HANDED_OUT, why->text, reason);
    return close_failed (house, self, &failure, err);
}

static int
append_completed (struct ag_house *house, const struct ag_invocation *self,
                  const struct ag_applied *applied, struct ag_err *err)
{
    struct ag_buf payload = {0};
    uint64_t seq;
    size_t map = open_payload (self, &payload);
    const struct {
        const char *key;
        uint32_t count;
    } counts[] = {{"objects_created", applied->objects},
                  {"relations_created", applied->relations},
                  {"patches_applied", applied->patches},
                  {"patches_proposed", applied->proposed},
                  {"events_emitted", applied->emitted}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        ag_put_lit (&payload, counts[i].key);
        ag_put_uint (&payload, counts[i].count);
    }
    ag_close (&payload, map, 7);
    return append (house, self, AG_EV_BEHAVIOR_COMPLETED, &payload, &seq, err);
}

static int
append_reads (struct ag_house *house, const struct ag_invocation *self, struct ag_err *err)
{
    if (!self->read_count)
        return 0;
    struct ag_buf payload = {0};
    uint64_t seq;
    ag_reads_write (self, name_of (self), &payload);
    return append (house, self, AG_EV_CONTEXT_READ, &payload, &seq, err);
}

//  AG_E_BUDGET when what was just done crosses a limit of the run; self->over says which.
static int
check_budget (struct ag_house *house, struct ag_run *run, struct ag_invocation *self,
              const struct ag_applied *applied, struct ag_err *err)
{
    struct ag_budget budget = ag_queue_budget (house, run->number);
    ag_run_touch (house->journal, run);
    run->head.used[AG_USED_PATCHES] += applied->patches;
    if (ag_budget_crosses (&budget, run, AG_NET_EVENTS, 0))
        self->over = AG_NET_EVENTS;
    else if (applied->patches && ag_budget_crosses (&budget, run, AG_USED_PATCHES, 0))
        self->over = AG_USED_PATCHES;
    else
        return 0;
    return ag_fail (err, AG_E_BUDGET, "%s of the run is %llu and this would make %llu",
                    ag_budget_name (self->over), (unsigned long long)budget.limits[self->over],
                    (unsigned long long)ag_budget_used (run, self->over));
}

struct ag_policy
ag_invocation_policy (struct ag_house *house, const struct ag_invocation *self)
{
    struct ag_unit *unit = ag_fleet_unit (house, self->run, self->host);
    return ag_policy_of (unit ? ag_buf_str (&unit->spec) : AG_LIT ("\x80"),
                         ag_buf_str (&self->behavior));
}

int
ag_invocation_commit (struct ag_house *house, struct ag_run *run, struct ag_invocation *self,
                      const struct ag_policy *policy, struct ag_str ops, struct ag_applied *applied,
                      struct ag_err *err)
{
    struct ag_author author = {.actor = name_of (self),
                               .frame = ag_buf_str (&self->frame),
                               .cause = self->event,
                               .read_at = self->at,
                               .mint = &self->mint,
                               .policy = policy};
    struct ag_mark mark = ag_journal_mark (house->journal);
    int rc = append_reads (house, self, err);
    if (!rc && ops.p)
        rc = ag_operations_apply (house->journal, run, ops, &author, applied, err);
    if (!rc)
        rc = append_completed (house, self, applied, err);
    if (!rc)
        rc = check_budget (house, run, self, applied, err);
    if (rc)
        ag_journal_rollback (house->journal, &mark);
    return rc;
}

void
ag_invocation_answer (const struct ag_applied *applied, struct ag_buf *out)
{
    struct ag_answer answer = ag_answer_begin (out, "ok", (struct ag_str){0});
    ag_answer_key (&answer, "ids");
    if (applied->ids.n)
        ag_put_value (out, ag_buf_str (&applied->ids));
    else
        ag_put_list (out, 0);
    ag_answer_end (&answer);
}

static int
again (struct ag_house *house, struct ag_invocation *self, struct ag_buf *answer,
       struct ag_err *err)
{
    if (++self->contentions > AG_CONTENTIONS) {
        struct ag_failure failure =
            ag_failure_of (AG_FAILED_CONTENTION,
                           "what it read was changed by somebody else each time", "contention");
        ag_answer_ok (answer, (struct ag_str){0});
        return close_failed (house, self, &failure, err);
    }
    ag_queue_again (house, self->run);
    struct ag_answer made = ag_answer_begin (answer, "again", (struct ag_str){0});
    ag_answer_end (&made);
    return 0;
}

static int
exhausted (struct ag_house *house, struct ag_invocation *self, const struct ag_err *why,
           struct ag_err *err)
{
    uint64_t number = self->run;
    uint32_t over = self->over;
    struct ag_failure failure =
        ag_failure_of (AG_FAILED_BUDGET, why->text, ag_budget_reason (over));
    return close_failed (house, self, &failure, err) || ag_queue_exhaust (house, number, over, err)
               ? -1
               : 0;
}

//  The operations were refused: the invocation failed, the worker goes on.
static int
refused (struct ag_house *house, struct ag_invocation *self, const struct ag_err *why,
         struct ag_buf *answer, struct ag_err *err)
{
    struct ag_failure failure = ag_failure_refused (why);
    struct ag_answer made = ag_answer_begin (answer, "ok", (struct ag_str){0});
    ag_answer_key (&made, "failed");
    ag_put_bool (answer, true);
    ag_answer_key (&made, "code");
    ag_put_lit (answer, ag_code_name (why->code));
    ag_answer_key (&made, "message");
    ag_put_lit (answer, why->text);
    ag_answer_end (&made);
    if (why->code == AG_E_BUDGET)
        return exhausted (house, self, why, err);
    return close_failed (house, self, &failure, err);
}

static int
diverged (struct ag_house *house, struct ag_invocation *self, struct ag_buf *answer,
          struct ag_err *err)
{
    struct ag_failure failure = ag_failure_of (
        AG_FAILED_DIVERGED,
        "it ran again and asked for something else after an effect that cannot be repeated",
        "effect.diverged");
    ag_answer_ok (answer, (struct ag_str){0});
    return close_failed (house, self, &failure, err);
}

//  It asked for something that its policy forbids, and was told so; nothing of it lands.
static int
denied (struct ag_house *house, struct ag_invocation *self, struct ag_buf *answer,
        struct ag_err *err)
{
    struct ag_err why;
    ag_fail (&why, AG_E_POLICY, "%.*s", AG_STR_ARG (ag_buf_str (&self->denied)));
    return refused (house, self, &why, answer, err);
}

//  What it asked for leaves it no other end, whatever it says now: 1 when that is written, 0, -1.
static int
can_only_fail (struct ag_house *house, struct ag_invocation *self, struct ag_buf *answer,
               struct ag_err *err)
{
    if (self->diverged)
        return diverged (house, self, answer, err) ? -1 : 1;
    if (self->denied.n)
        return denied (house, self, answer, err) ? -1 : 1;
    return 0;
}

static int
decline (struct ag_house *house, struct ag_invocation *self, struct ag_buf *answer,
         struct ag_err *err)
{
    if (ag_invocation_note (house, self, AG_EV_BEHAVIOR_DECLINED, (struct ag_str){0}, 0, err))
        return -1;
    ag_queue_close (house, self->run);
    ag_answer_ok (answer, (struct ag_str){0});
    return 0;
}

bool
ag_invocation_breaks (enum ag_code code)
{
    return code == AG_E_STORE || code == AG_E_CORRUPT || code == AG_E_DISK_FULL ||
           code == AG_E_SYSTEM;
}

int
ag_invocation_done (struct ag_house *house, struct ag_invocation *self,
                    const struct ag_msg_done *done, struct ag_buf *answer, struct ag_err *err)
{
    struct ag_run *run;
    struct ag_buf ops = {0};
    struct ag_applied applied = {0};
    int rc = can_only_fail (house, self, answer, err);
    if (rc)
        return rc < 0 ? -1 : 0;
    if (done->declined)
        return decline (house, self, answer, err);
    if (ag_run_get (house->journal, self->run, &run, err))
        return -1;
    rc = ag_reads_stale (house->journal, run, self, err);
    if (rc)
        return rc < 0 ? -1 : again (house, self, answer, err);
    if (done->ops.p)
        rc = ag_value_normalise (done->ops, &ops, err);
    struct ag_policy policy = ag_invocation_policy (house, self);
    if (!rc)
        rc = ag_invocation_commit (house, run, self, &policy,
                                   done->ops.p ? ag_buf_str (&ops) : done->ops, &applied, err);
    if (!rc) {
        ag_invocation_answer (&applied, answer);
        ag_queue_close (house, self->run);
    } else if (err->code == AG_E_CONTENTION)
        rc = again (house, self, answer, err);
    else if (!ag_invocation_breaks (err->code)) {
        struct ag_err why = *err;
        rc = refused (house, self, &why, answer, err);
    }
    ag_applied_fini (&applied);
    ag_buf_fini (&ops);
    return rc;
}

int
ag_invocation_fail (struct ag_house *house, struct ag_invocation *self,
                    const struct ag_msg_fail *fail, struct ag_buf *answer, struct ag_err *err)
{
    struct ag_buf normal = {0};
    int rc = can_only_fail (house, self, answer, err);
    if (rc)
        return rc < 0 ? -1 : 0;
    rc = ag_value_normalise (fail->error, &normal, err);
    if (!rc) {
        struct ag_failure failure = ag_failure_own (ag_buf_str (&normal));
        rc = close_failed (house, self, &failure, err);
    }
    ag_buf_fini (&normal);
    ag_answer_ok (answer, (struct ag_str){0});
    return rc;
}

int
ag_invocation_died (struct ag_house *house, struct ag_invocation *self,
                    const struct ag_death *death, struct ag_err *err)
{
    self->deaths += !death->by_house;
    if (self->deaths < death->attempts) {
        ag_queue_again (house, self->run);
        return 0;
    }
    struct ag_failure failure = ag_failure_of (AG_FAILED_CRASHED, death->why, "worker.crashed");
    failure.traceback = death->stderr_tail;
    return close_failed (house, self, &failure, err);
}
