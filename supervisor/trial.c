//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/trial.h"
#include "common/log.h"
#include "supervisor/budget.h"
#include "supervisor/fork.h"
#include "supervisor/frame.h"
#include "supervisor/operation.h"
#include "supervisor/queue.h"
#include "supervisor/record.h"
#include "supervisor/spec.h"
#include "supervisor/trial_report.h"
#include "supervisor/trial_spec.h"
#include "supervisor/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIALS_MAX = 64, END_MS = 5000 };

static struct ag_unit *
unit_of (const struct ag_trial *self)
{
    return ag_fleet_unit (self->house, self->run, 0);
}

/*  The end  */

//  Trials that are open, in the fleet's run: the next house closes what it finds there.
static int
note_open (struct ag_house *house, struct ag_err *err)
{
    struct ag_run *fleet, *run;
    struct ag_buf list = {0};
    uint32_t count = 0;
    size_t at = ag_open_list (&list);
    if (ag_run_get (house->journal, house->fleet_run, &fleet, err))
        return -1;
    for (struct ag_trial *one = house->trials; one; one = one->next)
        if (one->stage != AG_TRIAL_OVER && !ag_run_get (house->journal, one->run, &run, err)) {
            ag_put_lit (&list, run->id);
            count++;
        }
    ag_close (&list, at, count);
    ag_note_put (house->journal, fleet, AG_LIT ("trials"), fleet->head.tip, ag_buf_str (&list));
    ag_buf_fini (&list);
    return 0;
}

//  In the trial's own log: that the wall clock ended it, and after which event.
static int
append_wall (struct ag_house *house, struct ag_run *run, struct ag_str spec, struct ag_err *err)
{
    struct ag_str nets = {0};
    struct ag_buf payload = {0};
    uint64_t wall_ms = 0;
    ag_map_get (spec, "nets", &nets);
    ag_map_uint (nets, "wall_ms", &wall_ms);
    ag_put_map (&payload, 2);
    ag_put_lit (&payload, "wall_clock_seconds");
    ag_put_float (&payload, (double)wall_ms / 1000);
    ag_put_lit (&payload, "stop_position");
    ag_put_map (&payload, 1);
    ag_put_pair_uint (&payload, "accepted_sequence", run->head.tip);
    return ag_journal_tell (house->journal, run, AG_EV_TRIAL_WALL_CLOCK_EXHAUSTED, 0, &payload,
                            NULL, err);
}

//  Under its own name, because notes are inherited.
static struct ag_str
report_name (const struct ag_run *run, char name[AG_RUN_TEXT + 8])
{
    snprintf (name, AG_RUN_TEXT + 8, "report/%s", run->id);
    return ag_str (name);
}

static void
note_report (ag_journal_t *journal, const struct ag_run *run, struct ag_str report)
{
    char name[AG_RUN_TEXT + 8];
    ag_note_put (journal, run, report_name (run, name), run->head.tip, report);
}

//  The report: in the log of the parent, unless that is discarded, and with the trial.
static int
put_report (struct ag_house *house, struct ag_trial *self, struct ag_run *run, struct ag_str spec,
            struct ag_err *err)
{
    struct ag_buf report = {0}, payload = {0}, normal = {0};
    struct ag_run *parent;
    int rc = ag_trial_write (self, run, unit_of (self), &report, err);
    if (!rc)
        rc = ag_value_normalise (ag_buf_str (&report), &normal, err);
    if (!rc && self->net == AG_TRIAL_WALL)
        rc = append_wall (house, run, spec, err);
    if (!rc)
        rc = ag_run_get (house->journal, self->parent, &parent, err);
    if (!rc) {
        note_report (house->journal, run, ag_buf_str (&normal));
        ag_buf_add_str (&payload, ag_buf_str (&normal));
    }
    if (!rc && !parent->discarded) {
        rc = ag_journal_tell (house->journal, parent, AG_EV_TRIAL_FINISHED, 0, &payload, NULL, err);
        ag_queues_touch (house, self->parent); //  its queue goes on behind it
    }
    ag_buf_fini (&report);
    ag_buf_fini (&normal);
    ag_buf_fini (&payload);
    return rc;
}

//  Once: whatever comes later changes nothing.
static int
finish (struct ag_house *house, struct ag_trial *self, struct ag_err *err)
{
    struct ag_run *run;
    struct ag_buf spec = {0};
    uint64_t seq;
    if (self->stage == AG_TRIAL_OVER)
        return 0;
    int rc = ag_run_get (house->journal, self->run, &run, err) ||
                     ag_note_get (house->journal, run, AG_LIT ("spec"), run->head.tip, &spec, &seq,
                                  err) < 0
                 ? -1
                 : put_report (house, self, run, ag_buf_str (&spec), err);
    self->stage = AG_TRIAL_OVER;
    if (self->timer)
        ag_loop_cancel (house->daemon->loop, self->timer);
    self->timer = 0;
    ag_buf_fini (&spec);
    return rc;
}

static void
close_trial (struct ag_trial *self)
{
    struct ag_err err;
    if (finish (self->house, self, &err) || note_open (self->house, &err))
        ag_log_err (AG_ERROR, &err, "the report of a trial is not in its parent's log");
}

void
ag_trial_lost (struct ag_unit *unit, const char *why)
{
    if (why)
        ag_trial_say (unit->trial, "the house ended it: %s", why);
    close_trial (unit->trial);
    unit->wanted = false;
    ag_output_remove (unit->output);
}

//  It is ended now; the verdict follows its process.
static void
end (struct ag_trial *self, const char *why)
{
    struct ag_unit *unit = unit_of (self);
    ag_trial_say (self, "%s", why);
    if (unit && unit->child)
        ag_unit_kill (self->house, unit, "%s", why);
    else if (unit)
        ag_trial_lost (unit, NULL);
}

static void
wall_over (void *context)
{
    struct ag_trial *self = context;
    self->timer = 0;
    self->net = AG_TRIAL_WALL;
    self->detail[0] = 0;
    end (self, "the wall clock ran out; its process was killed");
}

static void
events_over (struct ag_trial *self)
{
    self->net = self->net ? self->net : AG_TRIAL_EVENTS;
    end (self, "the budget of events ran out");
}

/*  The beginning  */

static void
free_trial (struct ag_trial *self)
{
    ag_buf_fini (&self->scenario);
    free (self);
}

//  What it was asked to do; else the goal that the configuration gave the parent.
static int
read_scenario (struct ag_trial *self, const struct ag_run *parent, uint64_t at,
               struct ag_str scenario, struct ag_err *err)
{
    struct ag_buf note = {0};
    struct ag_str goal;
    uint64_t seq;
    if (scenario.p)
        return ag_value_normalise (scenario, &self->scenario, err);
    int rc = ag_note_get (self->house->journal, parent, AG_LIT ("goal"), at, &note, &seq, err);
    bool there = rc > 0 && !ag_map_text (ag_buf_str (&note), "goal", &goal);
    ag_put_list (&self->scenario, there);
    if (there) {
        ag_put_map (&self->scenario, 2);
        ag_put_pair_text (&self->scenario, "op", AG_LIT ("goal"));
        ag_put_pair_text (&self->scenario, "text", goal);
    }
    ag_buf_fini (&note);
    return rc < 0 ? -1 : 0;
}

//  What its process is started with is a note of it, in place of the parent's.
static int
note_spec (struct ag_trial *self, const struct ag_run *parent, uint64_t at,
           const struct ag_msg_trial *msg, const struct ag_candidates *candidates,
           struct ag_run *run, struct ag_err *err)
{
    ag_journal_t *journal = self->house->journal;
    struct ag_buf known = {0}, spec = {0};
    uint64_t seq;
    int rc = ag_note_get (journal, parent, AG_LIT ("spec"), at, &known, &seq, err) < 0 ? -1 : 0;
    if (!rc)
        rc = ag_trial_spec (journal, known.n ? ag_buf_str (&known) : AG_LIT ("\x80"), msg,
                            candidates, &spec, err);
    if (!rc)
        ag_note_put (journal, run, AG_LIT ("spec"), run->head.tip, ag_buf_str (&spec));
    ag_buf_fini (&known);
    ag_buf_fini (&spec);
    return rc;
}

//  Its spec and its unit, from bytes that are what their pins say.
static int
materialise (struct ag_trial *self, const struct ag_run *parent, uint64_t at,
             const struct ag_msg_trial *msg, struct ag_run *run, struct ag_err *err)
{
    struct ag_candidates candidates = {0};
    int rc = ag_candidates_read (msg, &candidates, err);
    memcpy (self->hash, candidates.hash, sizeof self->hash);
    if (!rc)
        rc = note_spec (self, parent, at, msg, &candidates, run, err);
    if (!rc)
        rc = ag_fleet_adopt (self->house, run, true, err);
    ag_candidates_fini (&candidates);
    return rc;
}

static int
add (struct ag_trial *self, struct ag_err *err)
{
    struct ag_house *house = self->house;
    struct ag_unit *unit = unit_of (self);
    self->next = house->trials;
    house->trials = self;
    if (note_open (house, err)) {
        house->trials = self->next;
        return -1;
    }
    unit->trial = self;
    self->timer = ag_loop_timer (house->daemon->loop, (int64_t)ag_unit_net (unit, "wall_ms"), 0,
                                 wall_over, self);
    ag_unit_is_due (house, unit);
    return 0;
}

//  1: it goes on in the house's list; 0: it has come to its end.
static int
begin (struct ag_trial *self, const struct ag_run *parent, uint64_t at,
       const struct ag_msg_trial *msg, struct ag_run *run, struct ag_err *err)
{
    if (!materialise (self, parent, at, msg, run, err))
        return add (self, err) ? -1 : 1;
    if (err->code != AG_E_PACK)
        return -1;
    self->unfit = true;
    ag_trial_say (self, "%s", err->text);
    return note_spec (self, parent, at, msg, NULL, run, err) || finish (self->house, self, err) ? -1
                                                                                                : 0;
}

static int
check_room (const struct ag_house *house, struct ag_err *err)
{
    uint32_t count = 0;
    for (const struct ag_trial *one = house->trials; one; one = one->next)
        count++;
    return count < TRIALS_MAX ? 0 : ag_fail (err, AG_E_BUSY, "%d trials run already", TRIALS_MAX);
}

int
ag_trial_begin (struct ag_house *house, struct ag_run *parent, uint64_t at,
                const struct ag_msg_trial *msg, struct ag_run **run, struct ag_err *err)
{
    struct ag_birth birth = {.kind = AG_TRIAL, .effects = AG_EFFECTS_REPLAY};
    struct ag_trial *self = ag_xcalloc (1, sizeof *self);
    self->house = house;
    self->parent = parent->number;
    int rc = ag_trial_ask_check (msg, err) || check_room (house, err) ||
                     read_scenario (self, parent, at, msg->scenario, err) ||
                     ag_fork (house->journal, parent, at, &birth, run, err)
                 ? -1
                 : 0;
    if (!rc) {
        self->run = (*run)->number;
        rc = begin (self, parent, at, msg, *run, err);
    }
    if (rc <= 0)
        free_trial (self);
    return rc < 0 ? -1 : 0;
}

int
ag_trial_report (struct ag_house *house, const struct ag_run *run, struct ag_buf *out,
                 struct ag_err *err)
{
    char name[AG_RUN_TEXT + 8];
    uint64_t seq;
    if (run->kind != AG_TRIAL)
        return ag_fail (err, AG_E_USAGE, "%s is no trial", run->id);
    return ag_note_get (house->journal, run, report_name (run, name), run->head.tip, out, &seq,
                        err);
}

/*  What its session says  */

int
ag_trial_register (struct ag_house *house, struct ag_unit *unit, struct ag_str behaviors,
                   struct ag_str tools, struct ag_err *err)
{
    struct ag_run *run;
    if (ag_trial_check_surface (ag_buf_str (&unit->spec), !unit->inner, behaviors, tools, err) ||
        ag_run_get (house->journal, unit->run, &run, err) ||
        ag_spec_announce (house->journal, run, ag_buf_str (&unit->spec), (struct ag_str){0}, err) ||
        ag_queue_packs (house, unit->run, err) ||
        ag_queue_register (house, unit->run, 0, behaviors, tools, err))
        return -1;
    unit->trial->stage = AG_TRIAL_WORKING;
    return 0;
}

int
ag_trial_check (struct ag_house *house, const struct ag_unit *unit, struct ag_err *err)
{
    struct ag_run *run;
    struct ag_budget budget = ag_queue_budget (house, unit->run);
    if (ag_run_get (house->journal, unit->run, &run, err))
        return -1;
    if (!ag_budget_crosses (&budget, run, AG_NET_EVENTS, 0))
        return 0;
    return ag_fail (err, AG_E_BUDGET, "a trial of %" PRIu64 " events would have %" PRIu64,
                    budget.limits[AG_NET_EVENTS], ag_budget_used (run, AG_NET_EVENTS));
}

bool
ag_trial_refused (struct ag_house *house, struct ag_unit *unit, const struct ag_err *why)
{
    struct ag_trial *self = unit->trial;
    struct ag_err err;
    if (why->code == AG_E_BUDGET) {
        if (ag_queue_exhaust (house, self->run, AG_NET_EVENTS, &err))
            ag_log_err (AG_ERROR, &err, "the end of a trial's events is not in its log");
        events_over (self);
        return true;
    }
    if (self->stage != AG_TRIAL_LOADING || why->code == AG_E_BAD_MESSAGE)
        return false;
    self->unfit = true;
    end (self, why->text);
    return true;
}

void
ag_trial_failed (struct ag_unit *unit, struct ag_str error)
{
    struct ag_trial *self = unit->trial;
    struct ag_str type = {0}, message = {0};
    ag_map_text (error, "type", &type);
    ag_map_text (error, "message", &message);
    self->said = ag_str_is (type, "net.memory") ? AG_TRIAL_MEMORY
                 : ag_str_is (type, "net.wall") ? AG_TRIAL_WALL
                                                : self->said;
    self->unfit = self->unfit || self->stage == AG_TRIAL_LOADING;
    if (self->unfit || self->said)
        ag_trial_say (self, "%.*s", AG_STR_ARG (message));
}

/*  The scenario  */

static int
apply_step (struct ag_house *house, struct ag_run *run, struct ag_str step, struct ag_err *err)
{
    const struct ag_author user = {.actor = AG_LIT ("user")};
    struct ag_applied applied = {0};
    struct ag_goal goal = {0};
    struct ag_str op = {0};
    struct ag_buf list = {0};
    uint64_t seq;
    ag_map_text (step, "op", &op);
    if (ag_str_is (op, "goal")) {
        if (ag_map_text (step, "text", &goal.text))
            return ag_fail (err, AG_E_BAD_OPERATION, "goal: text is missing");
        return ag_goal_append (house->journal, run, &goal, &seq, err);
    }
    if (ag_kind_of (step) == AG_MAP)
        ag_put_list (&list, 1);
    ag_buf_add_str (&list, step);
    int rc = ag_operations_apply (house->journal, run, ag_buf_str (&list), &user, &applied, err);
    ag_applied_fini (&applied);
    ag_buf_fini (&list);
    return rc;
}

//  The next step of the scenario, whole or not at all.
static void
take_step (struct ag_trial *self, struct ag_unit *unit, struct ag_str step)
{
    struct ag_house *house = self->house;
    struct ag_mark mark = ag_journal_mark (house->journal);
    struct ag_run *run;
    struct ag_err err;
    self->step++;
    if (!ag_run_get (house->journal, self->run, &run, &err) &&
        !apply_step (house, run, step, &err) && !ag_trial_check (house, unit, &err)) {
        ag_queues_touch (house, self->run);
        return;
    }
    ag_journal_rollback (house->journal, &mark);
    if (err.code == AG_E_BUDGET) {
        ag_trial_refused (house, unit, &err);
        return;
    }
    self->refused = true;
    ag_trial_say (self, "step %u of the scenario: %s", self->step, err.text);
}

//  Everything was done: its process is told to end, and has a while for it.
static void
stop (struct ag_trial *self, struct ag_unit *unit)
{
    self->stage = AG_TRIAL_STOPPING;
    self->told_ms = ag_now_ms();
    ag_session_stop (self->house, unit->session, "the trial is done");
}

//  True when something was put in, so that its queue may move.
static bool
work (struct ag_trial *self, struct ag_unit *unit)
{
    struct ag_str step;
    if (ag_queue_exhausted_by (self->house, self->run)) {
        events_over (self);
        return false;
    }
    if (!ag_queue_idle (self->house, self->run) || !unit->session ||
        unit->session->state != AG_SESSION_WAITING)
        return false;
    if (!self->refused && !ag_list_nth (ag_buf_str (&self->scenario), self->step, &step)) {
        take_step (self, unit, step);
        return true;
    }
    stop (self, unit);
    return false;
}

static bool
move (struct ag_trial *self)
{
    struct ag_unit *unit = unit_of (self);
    if (!unit) { //  its run was discarded before it was started
        ag_trial_say (self, "it was discarded");
        close_trial (self);
        return false;
    }
    if (ag_unit_is_doomed (unit))
        return false;
    if (self->stage == AG_TRIAL_STOPPING && ag_now_ms() - self->told_ms > END_MS)
        end (self, "it did not end when it was told to");
    return self->stage == AG_TRIAL_WORKING && work (self, unit);
}

static void
drop (struct ag_house *house, struct ag_trial **at)
{
    struct ag_trial *self = *at;
    struct ag_unit *unit = unit_of (self);
    *at = self->next;
    if (self->timer)
        ag_loop_cancel (house->daemon->loop, self->timer);
    if (unit) {
        unit->trial = NULL;
        ag_fleet_drop (house, unit);
    }
    ag_queues_release (house, self->run);
    free_trial (self);
}

bool
ag_trials_pump (struct ag_house *house)
{
    bool moved = false;
    for (struct ag_trial **at = &house->trials; *at;) {
        struct ag_trial *self = *at;
        moved = (self->stage != AG_TRIAL_OVER && move (self)) || moved;
        if (self->stage == AG_TRIAL_OVER)
            drop (house, at);
        else
            at = &self->next;
    }
    return moved;
}

void
ag_trials_destroy (struct ag_house *house)
{
    while (house->trials)
        drop (house, &house->trials);
}

/*  After a restart  */

//  What its process printed before.
static void
remove_output (struct ag_house *house, const struct ag_run *run)
{
    ag_output_t *output = ag_output_new (house->daemon->home.log, run->id, house->daemon->loop);
    ag_output_remove (output);
    ag_output_destroy (&output);
}

//  What it had is not known any more: it is never taken up again.
static int
close_one (struct ag_house *house, struct ag_str id, struct ag_err *err)
{
    struct ag_run *run;
    struct ag_trial self = {.house = house};
    if (ag_run_find (house->journal, id, &run, err))
        return -1;
    self.run = run->number;
    self.parent = run->parent;
    ag_trial_say (&self, "the house ended while it ran, and a trial is not taken up again");
    remove_output (house, run);
    return finish (house, &self, err);
}

int
ag_trials_close (struct ag_house *house, struct ag_err *err)
{
    struct ag_run *fleet;
    struct ag_buf list = {0};
    struct ag_cursor in;
    struct ag_head head = {0}, id;
    uint64_t seq;
    if (ag_run_get (house->journal, house->fleet_run, &fleet, err))
        return -1;
    int rc =
        ag_note_get (house->journal, fleet, AG_LIT ("trials"), fleet->head.tip, &list, &seq, err);
    in = ag_cursor (ag_buf_str (&list));
    bool some = rc > 0 && !ag_next (&in, &head) && head.count;
    for (uint32_t i = 0; rc > 0 && i < head.count && !ag_next (&in, &id); i++)
        rc = close_one (house, id.s, err) ? -1 : 1;
    if (rc > 0 && some)
        rc = note_open (house, err);
    ag_buf_fini (&list);
    return rc < 0 ? -1 : 0;
}
