//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/trial_report.h"
#include "common/items.h"
#include "supervisor/walls.h"
#include "common/answer.h"
#include "supervisor/spec.h"
#include "supervisor/unit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAIL_LINES = 20, TAIL_CHARACTERS = 1500, HOST_MET_A_LIMIT = 7 };

static const char *const outcomes[] = {"completed", "scenario_failed", "limits_exceeded",
                                       "materialization_failed", "crashed"};
static const char *const net_names[] = {NULL, "wall", "events", "memory", "cpu", "file_size"};

void
ag_trial_say (struct ag_trial *self, const char *format, ...)
{
    va_list list;
    if (self->detail[0])
        return;
    va_start (list, format);
    vsnprintf (self->detail, sizeof self->detail, format, list);
    va_end (list);
    ag_unit_mend (self->detail); //  a worker's own words, or cut in a character
}

/*  The verdict  */

enum ag_trial_net
ag_trial_fired (const struct ag_trial *self, const struct ag_unit *unit)
{
    static const enum ag_trial_net kernel[] = {[AG_FIRED_MEMORY] = AG_TRIAL_MEMORY,
                                               [AG_FIRED_CPU] = AG_TRIAL_CPU,
                                               [AG_FIRED_FILE_SIZE] = AG_TRIAL_FILE_SIZE};
    if (self->net || !unit)
        return self->net;
    if (unit->exited && unit->fired)
        return kernel[unit->fired];
    return unit->exited && unit->inner && unit->exit_code == HOST_MET_A_LIMIT ? self->said
                                                                              : AG_TRIAL_NONE;
}

enum ag_outcome
ag_trial_judge (const struct ag_trial *self, const struct ag_unit *unit)
{
    if (ag_trial_fired (self, unit))
        return AG_OUTCOME_LIMITS_EXCEEDED;
    if (self->unfit)
        return AG_OUTCOME_MATERIALIZATION_FAILED;
    if (self->refused)
        return AG_OUTCOME_SCENARIO_FAILED;
    bool ended = unit && unit->exited && unit->by_itself && !unit->signal && !unit->exit_code;
    return ended && self->told_ms ? AG_OUTCOME_COMPLETED : AG_OUTCOME_CRASHED;
}

/*  The report  */

struct ag_str
ag_trial_tail (struct ag_str text)
{
    size_t lines = 0, characters = 0, at;
    while (text.n && (text.p[text.n - 1] == '\n' || text.p[text.n - 1] == ' '))
        text.n--;
    for (at = text.n; at > 0; at--) {
        lines += text.p[at - 1] == '\n';
        characters += (text.p[at - 1] & 0xc0) != 0x80;
        if (lines == TAIL_LINES || characters > TAIL_CHARACTERS)
            break;
    }
    while (at < text.n && (text.p[at] & 0xc0) == 0x80)
        at++;
    return (struct ag_str){text.p + at, text.n - at};
}

//  What it appended; that it was stopped is the house's word.
struct counts {
    uint64_t events, invocations, failures;
};

static bool
count_event (void *arg, const struct ag_event *event)
{
    struct counts *counts = arg;
    counts->events += !ag_str_eq (event->type, ag_type_name (AG_EV_RUNTIME_BUDGET_EXHAUSTED));
    bool failed = ag_str_eq (event->type, ag_type_name (AG_EV_BEHAVIOR_FAILED));
    counts->failures += failed;
    counts->invocations +=
        failed || ag_str_eq (event->type, ag_type_name (AG_EV_BEHAVIOR_COMPLETED));
    return true;
}

static void
put_number_or_null (struct ag_answer *report, const char *key, bool there, int64_t number)
{
    ag_answer_key (report, key);
    if (there)
        ag_put_int (report->out, number);
    else
        ag_put_null (report->out);
}

static void
put_text_or_null (struct ag_answer *report, const char *key, struct ag_str text)
{
    ag_answer_key (report, key);
    if (text.n)
        ag_put_text (report->out, text);
    else
        ag_put_null (report->out);
}

//  Append each net that was asked for and does not hold.
static void
say_degraded (const struct ag_unit *unit, struct ag_buf *text)
{
    struct ag_buf nets = {0};
    struct ag_str row, asked, name, reason;
    ag_walls_nets (unit, &nets);
    for (struct ag_items items = ag_items_of (ag_buf_str (&nets)); ag_items_next (&items, &row);) {
        bool held = true;
        ag_map_bool (row, "in_force", &held);
        if (held || ag_map_get (row, "asked", &asked) || ag_kind_of (asked) == AG_NULL ||
            ag_map_text (row, "name", &name) || ag_map_text (row, "reason", &reason))
            continue;
        ag_buf_text (text, "%s[degraded: the %.*s net is off: %.*s]", text->n ? " " : "",
                     AG_STR_ARG (name), AG_STR_ARG (reason));
    }
    ag_buf_fini (&nets);
}

//  Why the trial ended so, and which nets did not hold.
static void
put_detail (struct ag_trial *self, const struct ag_unit *unit, enum ag_outcome outcome,
            struct ag_answer *report)
{
    struct ag_buf text = {0};
    if (outcome != AG_OUTCOME_COMPLETED && unit && unit->reason[0])
        ag_trial_say (self, "%s", unit->reason);
    ag_buf_text (&text, "%s", self->detail);
    if (unit && unit->exited)
        say_degraded (unit, &text);
    ag_answer_key (report, "detail");
    ag_put_text (report->out, ag_buf_str (&text));
    ag_buf_fini (&text);
}

static void
put_tail (const struct ag_unit *unit, enum ag_outcome outcome, struct ag_answer *report)
{
    struct ag_buf tail = {0};
    if (unit && outcome != AG_OUTCOME_COMPLETED)
        ag_output_tail (unit->output, &tail);
    put_text_or_null (report, "stderr_tail", ag_trial_tail (ag_buf_str (&tail)));
    ag_buf_fini (&tail);
}

//  None, where no process of it ran to an end.
static void
put_walls (const struct ag_unit *unit, struct ag_answer *report)
{
    ag_answer_key (report, "nets");
    if (unit)
        ag_walls_nets (unit, report->out);
    else
        ag_put_list (report->out, 0);
    ag_answer_key (report, "layers");
    if (unit)
        ag_walls_layers (unit, report->out);
    else
        ag_put_list (report->out, 0);
}

int
ag_trial_write (struct ag_trial *self, struct ag_run *run, const struct ag_unit *unit,
                struct ag_buf *out, struct ag_err *err)
{
    struct counts counts = {0};
    bool ran = unit && unit->exited;
    if (ag_journal_scan (self->house->journal, run, run->cut, run->head.tip, count_event, &counts,
                         err))
        return -1;
    enum ag_outcome outcome = ag_trial_judge (self, unit);
    enum ag_trial_net net = ag_trial_fired (self, unit);
    struct ag_answer report = {.out = out, .at = ag_open_map (out)};
    put_text_or_null (&report, "outcome", ag_str (outcomes[outcome]));
    put_text_or_null (&report, "fork_run_id", ag_str (run->id));
    put_number_or_null (&report, "events_appended", true, (int64_t)counts.events);
    put_number_or_null (&report, "invocations", true, (int64_t)counts.invocations);
    put_number_or_null (&report, "behavior_failures", true, (int64_t)counts.failures);
    put_number_or_null (&report, "exit_code", ran && !unit->signal, ran ? unit->exit_code : 0);
    put_number_or_null (&report, "signal", ran && unit->signal, ran ? unit->signal : 0);
    put_text_or_null (&report, "net", net ? ag_str (net_names[net]) : (struct ag_str){0});
    put_detail (self, unit, outcome, &report);
    put_tail (unit, outcome, &report);
    put_walls (ran ? unit : NULL, &report);
    put_text_or_null (&report, "bundle_hash", ag_str (self->hash));
    ag_answer_end (&report);
    return 0;
}
