//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/commands.h"
#include "supervisor/cursor.h"
#include "supervisor/budget.h"
#include "supervisor/fleet.h"
#include "supervisor/fork.h"
#include "supervisor/frame.h"
#include "supervisor/operation.h"
#include "supervisor/promote.h"
#include "supervisor/queue.h"
#include "supervisor/record.h"
#include "supervisor/remark.h"
#include "supervisor/retention.h"
#include "supervisor/spec.h"
#include "supervisor/unit.h"

#include <stdio.h>
#include <string.h>

enum {
    LABEL_ROOM = AG_LABEL_BYTES + 16,
    FORKS_BYTES = 64 << 20, //  of what the forks of a request start with
    GRACE_MS = 5000,        //  from the word to end to the end by force,
    STOP_MS = 30000         //  and for all of a stop
};

//  The open invocation's block of ids, which anybody else steps over.
static struct ag_author
author (struct ag_house *house, const struct ag_run *run, struct ag_mint *block)
{
    struct ag_author user = {.actor = AG_LIT ("user")};
    struct ag_invocation *open = ag_queue_open (house, run->number);
    if (!open)
        return user;
    *block = open->mint;
    block->mine = false;
    user.mint = block;
    return user;
}

static void
put_run (struct ag_answer *answer, const struct ag_run *run, const char *state)
{
    char parent[14];
    ag_answer_key (answer, "run_id");
    ag_put_lit (answer->out, run->id);
    ag_answer_key (answer, "label");
    if (run->label[0])
        ag_put_lit (answer->out, run->label);
    else
        ag_put_null (answer->out);
    ag_answer_key (answer, "parent_run_id");
    if (run->parent) {
        ag_base32 (run->parent, parent);
        ag_put_textf (answer->out, "r%s", parent);
    } else
        ag_put_null (answer->out);
    ag_answer_key (answer, "forked_at_event");
    ag_put_evt (answer->out, run->cut);
    ag_answer_key (answer, "state");
    ag_put_lit (answer->out, state);
}

//  A name stands for one thing, so that `stop NAME` says which: a service's is no label.
static int
check_free (struct ag_house *house, struct ag_str label, struct ag_err *err)
{
    struct ag_unit *unit = label.p ? ag_fleet_named (house, label) : NULL;
    if (!unit || unit->run)
        return 0;
    return ag_fail (err, AG_E_EXISTS, "a service is called `%.*s` already", AG_STR_ARG (label));
}

int
ag_command_create (struct ag_command *command, struct ag_err *err)
{
    struct ag_birth birth = {.label = command->msg->create.label};
    struct ag_run *run;
    if (check_free (command->house, birth.label, err) ||
        ag_run_create (command->house->journal, &birth, &run, err))
        return -1;
    struct ag_answer answer = ag_command_begin (command);
    put_run (&answer, run, "idle");
    ag_answer_end (&answer);
    return 0;
}

static void
answer_event (struct ag_command *command, const struct ag_run *run, uint64_t seq)
{
    struct ag_answer answer = ag_command_begin (command);
    ag_answer_key (&answer, "run");
    ag_put_lit (command->answer, run->id);
    ag_answer_key (&answer, "event_id");
    ag_put_evt (command->answer, seq);
    ag_remark_unattended (command->house, run, &answer);
    ag_answer_end (&answer);
}

static int
append_goal (struct ag_command *command, struct ag_run *run, const struct ag_goal *goal,
             uint64_t *seq, struct ag_err *err)
{
    if (ag_goal_append (command->house->journal, run, goal, seq, err))
        return -1;
    ag_queues_touch (command->house, run->number);
    return 0;
}

int
ag_command_goal (struct ag_command *command, struct ag_err *err)
{
    const struct ag_msg_goal *msg = &command->msg->goal;
    struct ag_goal goal = {msg->text, msg->constraints, msg->success_criteria, msg->permissions};
    struct ag_run *run;
    uint64_t seq;
    if (ag_command_run (command, msg->run, &run, err) ||
        append_goal (command, run, &goal, &seq, err))
        return -1;
    answer_event (command, run, seq);
    return 0;
}

//  An event of the client's own type: the same as one `emit`.
int
ag_command_tell (struct ag_command *command, struct ag_err *err)
{
    const struct ag_msg_tell *tell = &command->msg->tell;
    ag_journal_t *journal = command->house->journal;
    struct ag_run *run;
    struct ag_mint block;
    struct ag_buf raw = {0}, ops = {0};
    struct ag_applied applied = {0};
    ag_put_list (&raw, 1);
    ag_put_map (&raw, 3);
    ag_put_lit (&raw, "op");
    ag_put_lit (&raw, "emit");
    ag_put_lit (&raw, "type");
    ag_put_text (&raw, tell->type);
    ag_put_lit (&raw, "payload");
    ag_put_value (&raw, tell->payload);
    int rc = ag_command_run (command, tell->run, &run, err);
    if (!rc)
        rc = ag_value_normalise (ag_buf_str (&raw), &ops, err);
    if (!rc) {
        struct ag_author user = author (command->house, run, &block);
        rc = ag_operations_apply (journal, run, ag_buf_str (&ops), &user, &applied, err);
    }
    if (!rc) {
        ag_queues_touch (command->house, run->number);
        answer_event (command, run, applied.last);
    }
    ag_applied_fini (&applied);
    ag_buf_fini (&raw);
    ag_buf_fini (&ops);
    return rc;
}

//  "evt_042" that must be a run's tip.
static int
check_tip (const struct ag_run *run, struct ag_str expect, struct ag_err *err)
{
    uint64_t seq;
    char tip[AG_EVT_TEXT];
    if (!expect.p)
        return 0;
    if (ag_evt_read (expect, &seq))
        return ag_fail (err, AG_E_USAGE, "%.*s is no event id", AG_STR_ARG (expect));
    ag_evt_text (run->head.tip, tip);
    if (seq != run->head.tip)
        return ag_fail (err, AG_E_TIP_MOVED, "the tip of %s is %s, not %.*s", run->id, tip,
                        AG_STR_ARG (expect));
    return 0;
}

static void
answer_applied (struct ag_command *command, const struct ag_run *run,
                const struct ag_applied *applied)
{
    struct ag_answer answer = ag_command_begin (command);
    ag_answer_key (&answer, "run");
    ag_put_lit (command->answer, run->id);
    ag_answer_key (&answer, "first_event");
    ag_put_evt (command->answer, applied->first);
    ag_answer_key (&answer, "last_event");
    ag_put_evt (command->answer, applied->last);
    ag_answer_key (&answer, "ids");
    if (applied->ids.n)
        ag_put_value (command->answer, ag_buf_str (&applied->ids));
    else
        ag_put_list (command->answer, 0);
    ag_remark_unattended (command->house, run, &answer);
    ag_answer_end (&answer);
}

int
ag_command_apply (struct ag_command *command, struct ag_err *err)
{
    const struct ag_msg_apply *apply = &command->msg->apply;
    ag_journal_t *journal = command->house->journal;
    struct ag_run *run;
    struct ag_mint block;
    struct ag_buf ops = {0};
    struct ag_applied applied = {0};
    int rc = ag_command_run (command, apply->run, &run, err);
    if (!rc)
        rc = check_tip (run, apply->expect, err);
    if (!rc)
        rc = ag_value_normalise (apply->ops, &ops, err);
    if (!rc) {
        struct ag_author user = author (command->house, run, &block);
        rc = ag_operations_apply (journal, run, ag_buf_str (&ops), &user, &applied, err);
    }
    if (!rc) {
        ag_queues_touch (command->house, run->number);
        answer_applied (command, run, &applied);
    }
    ag_applied_fini (&applied);
    ag_buf_fini (&ops);
    return rc;
}

//  A fork's birth from the words of the request.
static int
birth_of (const struct ag_msg_fork *fork, struct ag_birth *birth, struct ag_err *err)
{
    static const char *const effects[] = {"cache", "live", "replay"};
    *birth = (struct ag_birth){.kind = AG_FORK, .continue_ids = ag_str_is (fork->ids, "continue")};
    if (fork->ids.p && !birth->continue_ids && !ag_str_is (fork->ids, "tagged"))
        return ag_fail (err, AG_E_USAGE, "ids is tagged or continue, not %.*s",
                        AG_STR_ARG (fork->ids));
    if (!fork->effects.p)
        return 0;
    for (int i = 0; i < 3; i++)
        if (ag_str_is (fork->effects, effects[i])) {
            birth->effects = (enum ag_effects)i;
            return 0;
        }
    return ag_fail (err, AG_E_USAGE, "effects is cache, live or replay, not %.*s",
                    AG_STR_ARG (fork->effects));
}

//  What the forks of a request start with, the same for all: their parent's spec with the changes, and what is lost by
//  them (spec.h). 1, 0 when the parent has none, -1.
static int
make_spec (struct ag_command *command, const struct ag_run *parent, uint64_t at,
           struct ag_buf *spec, struct ag_buf *lost, struct ag_err *err)
{
    const struct ag_msg_fork *msg = &command->msg->fork;
    ag_journal_t *journal = command->house->journal;
    struct ag_buf known = {0}, given = {0}, budget = {0};
    uint64_t seq;
    int rc = ag_note_get (journal, parent, AG_LIT ("spec"), at, &known, &seq, err);
    if (rc == 0 && (msg->set.p || msg->packs.p || msg->budget.p))
        rc = ag_fail (err, AG_E_USAGE, "run %s has no packs and no budget to change", parent->id);
    if (rc <= 0) {
        ag_buf_fini (&known);
        return rc;
    }
    struct ag_budget limits = ag_budget_of (ag_buf_str (&known));
    rc = msg->budget.p ? ag_value_normalise (msg->budget, &given, err) : 0;
    if (!rc)
        rc = ag_budget_of_fork (&limits, parent, msg->budget.p ? ag_buf_str (&given) : msg->budget,
                                &budget, err);
    if (!rc)
        rc = ag_spec_of_fork (journal, ag_buf_str (&known), msg->set, msg->packs,
                              ag_buf_str (&budget), lost, spec, err);
    ag_buf_fini (&known);
    ag_buf_fini (&given);
    ag_buf_fini (&budget);
    return rc ? -1 : 1;
}

static int
give_spec (struct ag_command *command, struct ag_run *fork, struct ag_str spec, struct ag_err *err)
{
    const struct ag_msg_fork *msg = &command->msg->fork;
    ag_journal_t *journal = command->house->journal;
    if ((msg->set.p || msg->packs.p) && ag_spec_announce (journal, fork, spec, msg->set, err))
        return -1;
    ag_note_put (journal, fork, AG_LIT ("spec"), fork->head.tip, spec);
    return 0;
}

//  Units of a fork that has hosts, remembered so that a restart finds them.
static int
give_units (struct ag_command *command, struct ag_run *fork, struct ag_err *err)
{
    struct ag_house *house = command->house;
    struct ag_run *fleet;
    char name[32];
    bool wanted = !command->msg->fork.no_start;
    snprintf (name, sizeof name, "fork/%s", fork->id);
    if (ag_run_get (house->journal, house->fleet_run, &fleet, err))
        return -1;
    ag_note_put (house->journal, fleet, ag_str (name), fleet->head.tip, AG_LIT ("\xc3"));
    if (ag_fleet_adopt (house, fork, wanted, err))
        return -1;
    for (uint32_t host = 0; !wanted && host < AG_HOSTS; host++) {
        struct ag_unit *unit = ag_fleet_unit (house, fork->number, host);
        if (unit && ag_fleet_want (house, unit, false, err))
            return -1;
    }
    return 0;
}

//  spec: p NULL when it has none.
static int
fork_one (struct ag_command *command, struct ag_run *parent, uint64_t at,
          const struct ag_birth *birth, struct ag_str spec, struct ag_run **fork,
          struct ag_err *err)
{
    const struct ag_msg_fork *msg = &command->msg->fork;
    struct ag_goal goal = {.text = msg->goal};
    uint64_t seq;
    if (check_free (command->house, birth->label, err) ||
        ag_fork (command->house->journal, parent, at, birth, fork, err))
        return -1;
    if (spec.p && give_spec (command, *fork, spec, err))
        return -1;
    if (msg->goal.p && append_goal (command, *fork, &goal, &seq, err))
        return -1;
    return spec.p ? give_units (command, *fork, err) : 0;
}

//  Several forks: label-1, label-2, …
static int
fork_several (struct ag_command *command, struct ag_run *parent, uint64_t at,
              const struct ag_birth *birth, struct ag_str spec, struct ag_str lost,
              struct ag_err *err)
{
    const struct ag_msg_fork *msg = &command->msg->fork;
    struct ag_answer answer = ag_command_begin (command);
    ag_answer_key (&answer, "forks");
    ag_put_list (command->answer, (uint32_t)msg->count);
    for (uint64_t i = 1; i <= msg->count; i++) {
        char label[LABEL_ROOM];
        struct ag_run *fork;
        snprintf (label, sizeof label, "%.*s-%llu", AG_STR_ARG (msg->label), (unsigned long long)i);
        struct ag_birth own = *birth;
        own.label = msg->label.p ? ag_str (label) : (struct ag_str){0};
        if (fork_one (command, parent, at, &own, spec, &fork, err))
            return -1;
        struct ag_answer one = {.out = command->answer, .at = ag_open_map (command->answer)};
        put_run (&one, fork, msg->no_start ? "stopped" : "parked");
        ag_answer_end (&one);
    }
    ag_command_put_texts (&answer, "not_kept", lost);
    ag_answer_end (&answer);
    return 0;
}

static int
fork_single (struct ag_command *command, struct ag_run *parent, uint64_t at, struct ag_birth *birth,
             struct ag_str spec, struct ag_str lost, struct ag_err *err)
{
    const struct ag_msg_fork *msg = &command->msg->fork;
    struct ag_run *fork;
    birth->label = msg->label;
    if (fork_one (command, parent, at, birth, spec, &fork, err))
        return -1;
    struct ag_answer answer = ag_command_begin (command);
    put_run (&answer, fork, msg->no_start ? "stopped" : "parked");
    ag_command_put_texts (&answer, "not_kept", lost);
    ag_answer_end (&answer);
    return 0;
}

int
ag_command_fork (struct ag_command *command, struct ag_err *err)
{
    const struct ag_msg_fork *msg = &command->msg->fork;
    struct ag_birth birth;
    struct ag_buf spec = {0}, lost = {0};
    struct ag_run *parent;
    uint64_t at;
    if (birth_of (msg, &birth, err) ||
        ag_point_find (command->house->journal, msg->point, &parent, &at, err) ||
        ag_discard_check (parent, err))
        return -1;
    if (parent->number == command->house->fleet_run)
        return ag_fail (err, AG_E_USAGE, "the fleet's own run cannot be forked");
    int rc = make_spec (command, parent, at, &spec, &lost, err);
    if (rc > 0 && spec.n > FORKS_BYTES / (msg->count ? msg->count : 1)) //  they are one batch
        rc = ag_fail (err, AG_E_TOO_LARGE, "%llu forks, each with %zu bytes of packs, at once",
                      (unsigned long long)msg->count, spec.n);
    struct ag_str given = rc > 0 ? ag_buf_str (&spec) : (struct ag_str){0};
    if (rc >= 0)
        rc = msg->count > 1
                 ? fork_several (command, parent, at, &birth, given, ag_buf_str (&lost), err)
                 : fork_single (command, parent, at, &birth, given, ag_buf_str (&lost), err);
    ag_buf_fini (&spec);
    ag_buf_fini (&lost);
    return rc;
}

int
ag_command_promote (struct ag_command *command, struct ag_err *err)
{
    const struct ag_msg_promote *msg = &command->msg->promote;
    ag_journal_t *journal = command->house->journal;
    struct ag_run *fork, *parent = NULL;
    if (ag_command_run (command, msg->fork, &fork, err))
        return -1;
    if (fork->parent && ag_run_get (journal, fork->parent, &parent, err))
        return -1;
    if (parent && check_tip (parent, msg->expect, err))
        return -1;
    ag_plan_t *plan = ag_promote_plan (journal, fork, 0, err);
    if (!plan)
        return -1;
    struct ag_buf shape = {0};
    struct ag_answer answer = ag_command_begin (command);
    int rc = 0;
    bool apply = !msg->dry_run && ag_plan_is_promotable (plan);
    if (apply)
        rc = ag_promote_apply (journal, plan, err);
    if (!rc) {
        ag_plan_write (plan, msg->dry_run, &shape);
        ag_command_merge (&answer, ag_buf_str (&shape));
        ag_answer_key (&answer, "from_label");
        ag_command_label (fork, answer.out);
        ag_answer_key (&answer, "into_label");
        ag_command_label (fork->above, answer.out);
        ag_remark_busy (command->house, fork, &answer);
        ag_answer_end (&answer);
    }
    if (!rc && apply)
        ag_queues_touch (command->house, fork->parent);
    ag_buf_fini (&shape);
    ag_plan_destroy (&plan);
    return rc;
}

//  A run's units, or a service; each of them is changed.
typedef int change_fn (struct ag_house *house, struct ag_unit *unit, struct ag_err *err);

static int
each_unit (struct ag_command *command, struct ag_str name, change_fn *change, bool *running,
           struct ag_err *err)
{
    struct ag_house *house = command->house;
    struct ag_unit *service = ag_fleet_named (house, name);
    struct ag_run *run = NULL;
    if (!service || service->run) {
        service = NULL;
        if (ag_command_run (command, name, &run, err))
            return -1;
    }
    size_t found = 0;
    for (uint32_t host = 0; host < AG_HOSTS; host++) {
        struct ag_unit *unit = run ? ag_fleet_unit (house, run->number, host) : service;
        if (!unit || (!run && host > 0))
            continue;
        found++;
        if (change (house, unit, err))
            return -1;
        *running = *running || unit->child;
    }
    return found ? 0 : ag_fail (err, AG_E_NOT_FOUND, "%.*s has no processes", AG_STR_ARG (name));
}

static int
start_unit (struct ag_house *house, struct ag_unit *unit, struct ag_err *err)
{
    unit->due = true;
    if (!unit->child) //  whatever it waits for
        ag_unit_move (house, unit, AG_WHAT_IDLE);
    unit->death_count = unit->failed = 0;
    if (unit->run)
        ag_queues_touch (house, unit->run);
    return unit->wanted ? 0 : ag_fleet_want (house, unit, true, err);
}

static int
stop_unit (struct ag_house *house, struct ag_unit *unit, struct ag_err *err)
{
    if (unit->wanted && ag_fleet_want (house, unit, false, err))
        return -1;
    if (unit->child)
        ag_unit_end (house, unit, AG_END_STOP, GRACE_MS);
    else
        ag_unit_move (house, unit, AG_WHAT_STOP);
    return 0;
}

static int
look_unit (struct ag_house *house, struct ag_unit *unit, struct ag_err *err)
{
    (void)house;
    (void)unit;
    (void)err;
    return 0;
}

static int
restart_unit (struct ag_house *house, struct ag_unit *unit, struct ag_err *err)
{
    if (unit->child)
        ag_unit_end (house, unit, AG_END_RESTART, GRACE_MS);
    return unit->child ? 0 : start_unit (house, unit, err);
}

static struct ag_answer
begin_unit (struct ag_command *command, struct ag_str name, const char *state)
{
    struct ag_answer answer = ag_command_begin (command);
    ag_answer_key (&answer, "name");
    ag_put_text (command->answer, name);
    ag_answer_key (&answer, "state");
    ag_put_lit (command->answer, state);
    return answer;
}

//  With the folders of packs that have changed since: it starts with what was loaded.
static int
answer_started (struct ag_command *command, struct ag_str name, struct ag_err *err)
{
    struct ag_house *house = command->house;
    struct ag_unit *unit = ag_fleet_named (house, name);
    struct ag_buf dirs = {0};
    struct ag_run *run;
    if (!unit || unit->run) {
        if (ag_command_run (command, name, &run, err))
            return -1;
        unit = ag_fleet_unit (house, run->number, 0);
        if (unit)
            ag_spec_changed (ag_fleet_agent (house, run->label), ag_buf_str (&unit->spec), &dirs);
    }
    struct ag_answer answer = begin_unit (command, name, "starting");
    ag_command_put_texts (&answer, "changed", ag_buf_str (&dirs));
    ag_answer_end (&answer);
    ag_buf_fini (&dirs);
    return 0;
}

int
ag_command_start (struct ag_command *command, struct ag_err *err)
{
    bool running = false;
    if (each_unit (command, command->msg->start.run, start_unit, &running, err))
        return -1;
    return answer_started (command, command->msg->start.run, err);
}

//  Answered when it is proved that nothing is left.
int
ag_command_stop (struct ag_command *command, struct ag_err *err)
{
    bool running = false;
    change_fn *change = command->until_ms ? look_unit : stop_unit; //  ordered once, then waited for
    if (each_unit (command, command->msg->stop.run, change, &running, err) &&
        !(command->until_ms && err->code == AG_E_NOT_FOUND)) //  of a trial nothing is left then
        return -1;
    if (running && ag_command_hold (command, STOP_MS))
        return 0;
    if (running)
        return ag_fail (err, AG_E_TIMEOUT, "%.*s has not ended yet",
                        AG_STR_ARG (command->msg->stop.run));
    struct ag_answer answer = begin_unit (command, command->msg->stop.run, "stopped");
    ag_answer_end (&answer);
    return 0;
}

int
ag_command_restart (struct ag_command *command, struct ag_err *err)
{
    bool running = false;
    if (each_unit (command, command->msg->restart.run, restart_unit, &running, err))
        return -1;
    return answer_started (command, command->msg->restart.run, err);
}

int
ag_command_down (struct ag_command *command, struct ag_err *err)
{
    (void)err;
    ag_nursery_down (command->house->nursery);
    ag_answer_ok (command->answer, command->msg->id);
    return 0;
}
