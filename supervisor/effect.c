//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/effect.h"
#include "common/answer.h"
#include "common/units.h"
#include "supervisor/blob.h"
#include "supervisor/budget.h"
#include "supervisor/invocation.h"
#include "supervisor/record.h"

#include <stdio.h>
#include <string.h>

//  Everything that is the same for the two events of one effect.
struct call {
    struct ag_house *house;
    struct ag_run *run;
    struct ag_invocation *invocation;
    struct ag_str behavior, tool, args;
    const uint8_t *content;
    uint32_t ordinal;
    bool idempotent, hit, model;
    uint64_t cost; //  millionths: estimated, then what it was
};

static struct ag_str
tag_of (const struct ag_run *run, char text[16])
{
    if (!run->mint)
        return (struct ag_str){0};
    text[0] = 'r';
    ag_base32 (run->mint, text + 1);
    return ag_str (text);
}

//  What is asked for, blind to the run's own tag, so that a sibling that does the same finds it.
static void
content_key (const struct ag_run *run, struct ag_str tool, struct ag_str args, uint8_t key[AG_HASH])
{
    char tag[16];
    uint8_t hash[AG_HASH];
    ag_value_hash (args, tag_of (run, tag), hash);
    ag_hash (tool, (struct ag_str){(const char *)hash, sizeof hash}, key);
}

//  Where it is asked: trigger, behaviour, relation, ordinal.
static void
place_key (const struct ag_invocation *self, struct ag_str behavior, uint32_t ordinal,
           uint8_t key[AG_HASH])
{
    struct ag_buf bytes = {0};
    ag_buf_be64 (&bytes, self->event);
    ag_buf_be64 (&bytes, ordinal);
    ag_buf_add_str (&bytes, behavior);
    ag_buf_add (&bytes, "", 1);
    ag_buf_add_str (&bytes, ag_buf_str (&self->relation));
    ag_hash (AG_LIT ("place"), ag_buf_str (&bytes), key);
    ag_buf_fini (&bytes);
}

static void
put_common (const struct call *call, struct ag_buf *out)
{
    char hex[2 * AG_HASH + 1];
    ag_hex (call->content, AG_HASH, hex);
    ag_put_lit (out, "behavior");
    ag_put_text (out, call->behavior);
    ag_put_lit (out, "tool");
    ag_put_text (out, call->tool);
    ag_put_lit (out, "args_hash");
    ag_put_lit (out, hex);
    ag_put_lit (out, "call_id");
    ag_put_textf (out, "call_%llu_%u", (unsigned long long)call->invocation->event, call->ordinal);
    ag_put_lit (out, "cache_hit");
    ag_put_bool (out, call->hit);
    ag_put_lit (out, "deterministic");
    ag_put_bool (out, call->idempotent);
}

static int
append (const struct call *call, enum ag_type type, struct ag_buf *payload, uint64_t cause,
        uint64_t *seq, struct ag_err *err)
{
    return ag_invocation_tell (call->house, call->invocation, type, cause, payload, seq, err);
}

static void
put_requested (const struct call *call, struct ag_buf *out)
{
    ag_put_map (out, 7);
    put_common (call, out);
    ag_put_lit (out, "args");
    ag_put_value (out, call->args);
}

static int
append_requested (const struct call *call, uint64_t *seq, struct ag_err *err)
{
    struct ag_buf payload = {0};
    put_requested (call, &payload);
    return append (call, AG_EV_TOOL_REQUESTED, &payload, call->invocation->event, seq, err);
}

//  Output or error: a normal value; the other is null.
static int
append_responded (const struct call *call, struct ag_str output, struct ag_str error,
                  double seconds, uint64_t cause, uint64_t *seq, struct ag_err *err)
{
    struct ag_buf payload = {0};
    ag_put_map (&payload, 10);
    put_common (call, &payload);
    ag_put_lit (&payload, "output");
    if (output.p)
        ag_put_value (&payload, output);
    else
        ag_put_null (&payload);
    ag_put_lit (&payload, "error");
    if (error.p)
        ag_put_value (&payload, error);
    else
        ag_put_null (&payload);
    ag_put_lit (&payload, "latency_seconds");
    ag_put_float (&payload, seconds);
    char cost[AG_USD_TEXT];
    ag_usd_text (call->hit ? 0 : call->cost, cost);
    ag_put_lit (&payload, "cost_usd");
    ag_put_lit (&payload, cost);
    return append (call, AG_EV_TOOL_RESPONDED, &payload, cause, seq, err);
}

static void
refuse (struct ag_buf *answer, const char *code, const char *message)
{
    struct ag_answer made = ag_answer_begin (answer, "refused", (struct ag_str){0});
    ag_answer_key (&made, "code");
    ag_put_lit (answer, code);
    ag_answer_key (&made, "message");
    ag_put_lit (answer, message);
    ag_answer_end (&made);
}

//  `word {output}` or `word {error}`, blobs whole again.
static int
answer_with (ag_journal_t *journal, const char *word, struct ag_str output, struct ag_str error,
             struct ag_buf *answer, struct ag_err *err)
{
    struct ag_answer made = ag_answer_begin (answer, word, (struct ag_str){0});
    bool failed = error.p && ag_kind_of (error) != AG_NULL;
    ag_answer_key (&made, failed ? "error" : "output");
    int rc = 0;
    if (failed)
        ag_put_value (answer, error);
    else
        rc = ag_blobs_in (journal, output, answer, err);
    ag_answer_end (&made);
    return rc;
}

static int
answer_recorded (ag_journal_t *journal, const struct ag_event *event, struct ag_buf *answer,
                 struct ag_err *err)
{
    struct ag_str output = AG_LIT ("\xc0"), error = {0};
    ag_map_get (event->payload, "output", &output);
    ag_map_get (event->payload, "error", &error);
    return answer_with (journal, "result", output, error, answer, err);
}

//  The same place was reached before: 1 when the answer is made, 0 when it is as if it never was, -1.
static int
from_own_record (const struct call *call, const uint8_t place[AG_HASH], struct ag_buf *answer,
                 struct ag_err *err)
{
    ag_journal_t *journal = call->house->journal;
    struct ag_buf hold = {0};
    struct ag_event event;
    struct ag_str hash = {0};
    uint64_t seq;
    char hex[2 * AG_HASH + 1];
    bool repeatable = false;
    int rc = ag_effect_get (journal, call->run->number, place, &seq, err);
    if (rc > 0 && ag_journal_read (journal, call->run, seq, &hold, &event, err))
        rc = -1;
    if (rc > 0) {
        ag_hex (call->content, AG_HASH, hex);
        ag_map_text (event.payload, "args_hash", &hash);
        ag_map_bool (event.payload, "deterministic", &repeatable);
        bool answered = ag_str_eq (event.type, ag_type_name (AG_EV_TOOL_RESPONDED));
        if (!ag_str_is (hash, hex)) {
            call->invocation->diverged = !repeatable;
            rc = repeatable ? 0 : 1;
            if (rc)
                refuse (answer, "effect.diverged",
                        "it asks for something else than the first time");
        } else if (answered)
            rc = answer_recorded (journal, &event, answer, err) ? -1 : 1;
        else
            refuse (answer, "unknown",
                    "it was asked for and its outcome is not known; an operator decides");
    }
    ag_buf_fini (&hold);
    return rc;
}

//  The newest answer to the same content in this run or an ancestor.
static int
find_content (const struct call *call, struct ag_buf *hold, struct ag_event *event,
              struct ag_err *err)
{
    uint64_t seq;
    for (const struct ag_run *run = call->run; run; run = run->above) {
        int rc = ag_effect_get (call->house->journal, run->number, call->content, &seq, err);
        if (rc < 0)
            return -1;
        if (rc > 0)
            return ag_journal_read (call->house->journal, run, seq, hold, event, err) ? -1 : 1;
    }
    return 0;
}

static int
record (const struct call *call, const uint8_t place[AG_HASH], struct ag_str output,
        struct ag_str error, double seconds, uint64_t requested, struct ag_err *err)
{
    ag_journal_t *journal = call->house->journal;
    uint64_t seq;
    if (!requested && append_requested (call, &requested, err))
        return -1;
    if (append_responded (call, output, error, seconds, requested, &seq, err))
        return -1;
    ag_effect_put (journal, call->run->number, place, seq);
    if (!error.p)
        ag_effect_put (journal, call->run->number, call->content, seq);
    ag_run_touch (journal, call->run);
    call->run->head.used[call->model ? AG_USED_MODELS : AG_USED_TOOLS]++;
    return 0;
}

static int
from_ancestors (struct call *call, const uint8_t place[AG_HASH], struct ag_buf *answer,
                struct ag_err *err)
{
    struct ag_buf hold = {0};
    struct ag_event event;
    int rc = find_content (call, &hold, &event, err);
    if (rc > 0) {
        struct ag_str output = AG_LIT ("\xc0");
        ag_map_get (event.payload, "output", &output);
        call->hit = true;
        rc = record (call, place, output, (struct ag_str){0}, 0, 0, err) ? -1 : 1;
        if (rc > 0 &&
            answer_with (call->house->journal, "result", output, (struct ag_str){0}, answer, err))
            rc = -1;
    }
    ag_buf_fini (&hold);
    return rc;
}

//  Nobody knows the answer: the worker does it, after what cannot be repeated is on disk.
static int
go (const struct call *call, const uint8_t place[AG_HASH], struct ag_buf *answer,
    struct ag_err *err)
{
    struct ag_pending *pending = &call->invocation->pending;
    pending->requested = 0;
    if (!call->idempotent) {
        if (append_requested (call, &pending->requested, err))
            return -1;
        ag_effect_put (call->house->journal, call->run->number, place, pending->requested);
    }
    ag_buf_clear (&pending->tool);
    ag_buf_clear (&pending->args);
    ag_buf_add_str (&pending->tool, call->tool);
    ag_buf_add_str (&pending->args, call->args);
    memcpy (pending->content, call->content, AG_HASH);
    memcpy (pending->place, place, AG_HASH);
    pending->idempotent = call->idempotent;
    pending->model = call->model;
    pending->reserved = call->cost;
    if (call->cost) {
        ag_run_touch (call->house->journal, call->run);
        call->run->head.used[AG_USED_COST] += call->cost;
    }
    pending->since_ms = ag_now_ms();
    pending->open = true;
    struct ag_answer made = ag_answer_begin (answer, "go", (struct ag_str){0});
    ag_answer_end (&made);
    return 0;
}

//  The budget does not reach for it: refused before anything is done.
static bool
is_beyond (const struct call *call, uint32_t dimension, uint64_t more, struct ag_buf *answer)
{
    struct ag_budget budget = ag_queue_budget (call->house, call->run->number);
    char message[120];
    if (!ag_budget_crosses (&budget, call->run, dimension, more))
        return false;
    snprintf (message, sizeof message, "%s of the run is used up", ag_budget_name (dimension));
    refuse (answer, ag_budget_reason (dimension), message);
    return true;
}

//  Why a fork does not do itself what the record lacks; NULL: it does.
static const char *
withheld (const struct call *call)
{
    if (!call->run->parent || call->run->effects == AG_EFFECTS_LIVE)
        return NULL;
    if (call->run->effects == AG_EFFECTS_REPLAY)
        return "not_recorded";
    return call->idempotent ? NULL : "not_repeatable";
}

static int
refuse_withheld (const struct call *call, const char *code, struct ag_buf *answer)
{
    refuse (answer, code,
            call->run->kind == AG_TRIAL
                ? "a trial does no effect: it is served what the record of its parent has"
                : "a fork is served from the record; start it with --effects live for this");
    return 0;
}

static int
ask (struct call *call, struct ag_buf *answer, struct ag_err *err)
{
    uint8_t place[AG_HASH];
    place_key (call->invocation, call->behavior, call->ordinal, place);
    int rc = from_own_record (call, place, answer, err);
    if (rc)
        return rc < 0 ? -1 : 0;
    if (is_beyond (call, call->model ? AG_USED_MODELS : AG_USED_TOOLS, 1, answer))
        return 0;
    if (call->run->parent && call->run->effects != AG_EFFECTS_LIVE)
        rc = from_ancestors (call, place, answer, err);
    if (rc)
        return rc < 0 ? -1 : 0;
    const char *code = withheld (call);
    if (code)
        return refuse_withheld (call, code, answer);
    uint64_t least = call->cost ? call->cost : 1; //  nothing is done when nothing is left
    return is_beyond (call, AG_USED_COST, least, answer) ? 0 : go (call, place, answer, err);
}

//  Dollars as a worker writes them; p NULL: otherwise.
static int
read_cost (struct ag_str text, uint64_t otherwise, uint64_t *micros, struct ag_err *err)
{
    *micros = otherwise;
    if (!text.p || !ag_usd_read (text, micros))
        return 0;
    return ag_fail (err, AG_E_BAD_MESSAGE,
                    "a cost is dollars as text, such as \"0.0125\", not `%.*s`", AG_STR_ARG (text));
}

//  Its policy forbids it: refused before anything is done, and the invocation can only fail.
static bool
is_forbidden (const struct call *call, struct ag_buf *answer)
{
    struct ag_err why;
    struct ag_invocation *self = call->invocation;
    struct ag_policy policy = ag_invocation_policy (call->house, self);
    if (!ag_policy_check (&policy, AG_MAY_CALL, call->tool, &why))
        return false;
    ag_buf_clear (&self->denied);
    ag_buf_text (&self->denied, "%s", why.text);
    refuse (answer, ag_code_name (why.code), why.text);
    return true;
}

//  The next effect of an invocation; its arguments are put into args, its key into content.
static int
prepare (struct ag_house *house, struct ag_invocation *self, const struct ag_msg_effect *effect,
         uint8_t content[AG_HASH], struct call *call, struct ag_buf *args, struct ag_err *err)
{
    *call = (struct call){.house = house,
                          .invocation = self,
                          .tool = effect->tool,
                          .content = content,
                          .ordinal = self->effects++,
                          .idempotent = effect->idempotent,
                          .model = effect->model};
    ag_map_text (ag_buf_str (&self->behavior), "name", &call->behavior);
    if (ag_run_get (house->journal, self->run, &call->run, err) ||
        read_cost (effect->estimate_usd, 0, &call->cost, err) ||
        ag_value_normalise (effect->args, args, err))
        return -1;
    call->args = ag_buf_str (args);
    content_key (call->run, call->tool, call->args, content);
    return 0;
}

int
ag_effect_ask (struct ag_house *house, struct ag_invocation *self,
               const struct ag_msg_effect *effect, struct ag_buf *answer, struct ag_err *err)
{
    struct ag_buf args = {0};
    uint8_t content[AG_HASH];
    struct call call;
    int rc = prepare (house, self, effect, content, &call, &args, err);
    if (!rc && !is_forbidden (&call, answer))
        rc = ask (&call, answer, err);
    ag_buf_fini (&args);
    return rc;
}

//  What no record was made of, because it was refused; as `ask` would now.
static bool
is_refused (const struct call *call, struct ag_buf *answer)
{
    if (is_beyond (call, call->model ? AG_USED_MODELS : AG_USED_TOOLS, 1, answer))
        return true;
    const char *code = withheld (call);
    if (code)
        refuse_withheld (call, code, answer);
    return code || is_beyond (call, AG_USED_COST, call->cost ? call->cost : 1, answer);
}

static int
from_record (const struct call *call, struct ag_buf *answer, uint64_t *requested,
             struct ag_err *err)
{
    ag_journal_t *journal = call->house->journal;
    uint8_t place[AG_HASH];
    char hex[2 * AG_HASH + 1];
    uint64_t seq;
    struct ag_buf hold = {0};
    struct ag_event event;
    struct ag_str hash = {0};
    place_key (call->invocation, call->behavior, call->ordinal, place);
    int rc = ag_effect_get (journal, call->run->number, place, &seq, err);
    if (rc == 0)
        return is_refused (call, answer);
    if (rc > 0 && ag_journal_read (journal, call->run, seq, &hold, &event, err))
        rc = -1;
    if (rc > 0) {
        bool answered = ag_str_eq (event.type, ag_type_name (AG_EV_TOOL_RESPONDED));
        *requested = answered ? event.cause : seq;
        ag_hex (call->content, AG_HASH, hex);
        ag_map_text (event.payload, "args_hash", &hash);
        if (!ag_str_is (hash, hex))
            rc = 0;
        else if (answered)
            rc = answer_recorded (journal, &event, answer, err) ? -1 : 1;
        else
            refuse (answer, "unknown",
                    "it was asked for and its outcome is not known; an operator decides");
    }
    ag_buf_fini (&hold);
    return rc;
}

int
ag_effect_from_record (struct ag_house *house, struct ag_invocation *self,
                       const struct ag_msg_effect *effect, struct ag_buf *answer,
                       struct ag_buf *asked, uint64_t *requested, struct ag_err *err)
{
    struct ag_buf args = {0};
    uint8_t content[AG_HASH];
    struct call call;
    *requested = 0;
    int rc = prepare (house, self, effect, content, &call, &args, err);
    if (!rc && is_forbidden (&call, answer))
        rc = 1;
    else if (!rc)
        rc = from_record (&call, answer, requested, err);
    if (rc >= 0)
        put_requested (&call, asked);
    ag_buf_fini (&args);
    return rc;
}

int
ag_effect_next (struct ag_house *house, const struct ag_invocation *self, uint64_t *seq,
                struct ag_err *err)
{
    uint8_t place[AG_HASH];
    struct ag_str behavior = {0};
    ag_map_text (ag_buf_str (&self->behavior), "name", &behavior);
    place_key (self, behavior, self->effects, place);
    return ag_effect_get (house->journal, self->run, place, seq, err);
}

int
ag_effect_outcome (struct ag_house *house, struct ag_invocation *self,
                   const struct ag_msg_outcome *outcome, struct ag_buf *answer, struct ag_err *err)
{
    struct ag_pending *pending = &self->pending;
    struct ag_buf output = {0}, error = {0};
    struct call call = {.house = house,
                        .invocation = self,
                        .tool = ag_buf_str (&pending->tool),
                        .args = ag_buf_str (&pending->args),
                        .content = pending->content,
                        .ordinal = self->effects - 1,
                        .idempotent = pending->idempotent,
                        .model = pending->model};
    ag_map_text (ag_buf_str (&self->behavior), "name", &call.behavior);
    int rc = ag_run_get (house->journal, self->run, &call.run, err);
    if (!rc)
        rc = read_cost (outcome->cost_usd, pending->reserved, &call.cost, err);
    if (!rc && outcome->error.p)
        rc = ag_value_normalise (outcome->error, &error, err);
    else if (!rc)
        rc = ag_blobs_out (house->journal, outcome->output.p ? outcome->output : AG_LIT ("\xc0"),
                           &output, err);
    struct ag_str error_value = outcome->error.p ? ag_buf_str (&error) : (struct ag_str){0};
    double seconds = (double)(ag_now_ms() - pending->since_ms) / 1000.0;
    if (!rc)
        rc = record (&call, pending->place, ag_buf_str (&output), error_value, seconds,
                     pending->requested, err);
    if (!rc) {
        call.run->head.used[AG_USED_COST] += call.cost - pending->reserved;
        pending->open = false;
        rc = answer_with (house->journal, "ok", ag_buf_str (&output), error_value, answer, err);
    }
    ag_buf_fini (&output);
    ag_buf_fini (&error);
    return rc;
}
