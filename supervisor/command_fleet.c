//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/commands.h"
#include "supervisor/cursor.h"
#include "supervisor/fleet.h"
#include "supervisor/queue.h"
#include "supervisor/record.h"
#include "supervisor/remark.h"
#include "supervisor/retention.h"
#include "supervisor/state.h"
#include "supervisor/unit.h"
#include "supervisor/waiting.h"
#include "supervisor/walls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TREE_LIMIT = 1000, STATUS_FORKS = 1000, WAIT_RUNS = 1000 };
enum { WAIT_APPROVALS = 16 }; //  of each run

//  The state of a run for people: discarded, or its units', the busiest first.
static const char *
state_of (struct ag_house *house, const struct ag_run *run)
{
    static const enum ag_unit_state order[] = {AG_UNIT_FAILED,  AG_UNIT_BUSY,    AG_UNIT_STARTING,
                                               AG_UNIT_BACKOFF, AG_UNIT_WAITING, AG_UNIT_READY,
                                               AG_UNIT_PARKED,  AG_UNIT_STOPPED};
    if (run->discarded)
        return "discarded";
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        for (uint32_t host = 0; host < AG_HOSTS; host++) {
            const struct ag_unit *unit = ag_fleet_unit (house, run->number, host);
            if (unit && unit->state == order[i])
                return ag_unit_state_name (unit->state);
        }
    return run->kind == AG_TRIAL ? "ended" : "idle";
}

//  The second number of statm, in pages.
static uint64_t
resident (void)
{
    char text[128] = "", *at = text;
    FILE *file = fopen ("/proc/self/statm", "re");
    bool got = file && fgets (text, sizeof text, file);
    if (file)
        fclose (file);
    if (!got)
        return 0;
    strtoul (at, &at, 10);
    return strtoul (at, NULL, 10) * (uint64_t)sysconf (_SC_PAGESIZE);
}

static void
put_text_or_null (struct ag_buf *out, const char *text)
{
    if (text && text[0])
        ag_put_lit (out, text);
    else
        ag_put_null (out);
}

//  A monotonic time as wall clock, for people.
static void
put_time (struct ag_house *house, struct ag_buf *out, int64_t at_ms)
{
    char text[AG_TIME_TEXT];
    int64_t ago_us = (ag_now_ms() - at_ms) * 1000;
    ag_time_text ((uint64_t)((int64_t)ag_journal_now (house->journal) - ago_us), text);
    ag_put_lit (out, text);
}

static void
put_reason (const struct ag_unit *unit, struct ag_buf *out)
{
    struct ag_buf why = {0};
    ag_unit_why (unit, &why);
    if (why.n)
        ag_put_text (out, ag_buf_str (&why));
    else
        ag_put_null (out);
    ag_buf_fini (&why);
}

//  What holds a process that is there. A service has no nets.
static void
put_walls (const struct ag_unit *unit, struct ag_answer *map)
{
    struct ag_buf *out = map->out;
    ag_answer_key (map, "nets");
    if (unit->pid && unit->run)
        ag_walls_nets (unit, out);
    else
        ag_put_list (out, 0);
    ag_answer_key (map, "layers");
    if (unit->pid)
        ag_walls_layers (unit, out);
    else
        ag_put_list (out, 0);
}

//  What it has in hand since `since`: the behaviour, its trigger, and how often that was handed out.
static void
put_invocation (struct ag_house *house, const struct ag_unit *unit, struct ag_buf *out)
{
    const struct ag_invocation *open =
        unit->state == AG_UNIT_BUSY ? ag_queue_open (house, unit->run) : NULL;
    struct ag_str behavior = {0};
    if (!open || open->session != unit->session) {
        ag_put_null (out);
        return;
    }
    ag_map_text (ag_buf_str (&open->behavior), "name", &behavior);
    ag_put_map (out, 3);
    ag_put_pair_text (out, "behavior", behavior);
    ag_put_lit (out, "event_id");
    ag_put_evt (out, open->event);
    ag_put_lit (out, "attempt");
    ag_put_uint (out, open->attempt);
}

static void
put_unit (struct ag_house *house, const struct ag_unit *unit, struct ag_buf *out)
{
    struct ag_run *run = NULL;
    struct ag_err err;
    if (unit->run && ag_run_get (house->journal, unit->run, &run, &err))
        run = NULL;
    struct ag_answer map = {.out = out, .at = ag_open_map (out)};
    ag_answer_key (&map, "name");
    ag_put_lit (out, unit->name);
    ag_answer_key (&map, "run");
    put_text_or_null (out, run ? run->id : NULL);
    ag_answer_key (&map, "state");
    ag_put_lit (out, ag_unit_state_name (unit->state));
    ag_answer_key (&map, "pid");
    if (unit->pid)
        ag_put_uint (out, (uint64_t)unit->pid);
    else
        ag_put_null (out);
    ag_answer_key (&map, "since");
    put_time (house, out, unit->since_ms);
    ag_answer_key (&map, "restarts");
    ag_put_uint (out, unit->restarts);
    ag_answer_key (&map, "reason");
    put_reason (unit, out);
    ag_answer_key (&map, "remark");
    put_text_or_null (out, unit->remark);
    ag_answer_key (&map, "next_try");
    if (unit->state == AG_UNIT_BACKOFF)
        put_time (house, out, unit->next_try_ms);
    else
        ag_put_null (out);
    ag_answer_key (&map, "invocation");
    put_invocation (house, unit, out);
    ag_answer_key (&map, "events");
    ag_put_uint (out, run ? run->head.tip : 0);
    ag_answer_key (&map, "queue");
    ag_put_uint (out, run ? ag_queue_length (house, unit->run) : 0);
    ag_answer_key (&map, "idle");
    ag_put_bool (out, !run || ag_queue_idle (house, unit->run));
    ag_answer_key (&map, "exhausted_by");
    put_text_or_null (out, run ? ag_queue_exhausted_by (house, unit->run) : NULL);
    put_walls (unit, &map);
    ag_answer_end (&map);
}

static uint64_t
count_forks (struct ag_house *house)
{
    uint64_t count = 0;
    for (struct ag_unit *unit = ag_fleet_first (house); unit; unit = unit->next)
        count += !unit->replay && unit->fork;
    return count;
}

//  Units of forks, or all others; of more forks than fit a glance those that only wait for work stay out. How many
//  were put.
static uint32_t
put_units (struct ag_house *house, bool forks, uint64_t all, struct ag_buf *out)
{
    size_t list = ag_open_list (out);
    uint32_t count = 0;
    bool many = forks && all > STATUS_FORKS;
    for (struct ag_unit *unit = ag_fleet_first (house); unit; unit = unit->next)
        if (!unit->replay && unit->fork == forks &&
            (!many || (unit->state != AG_UNIT_PARKED && count < STATUS_FORKS))) {
            put_unit (house, unit, out);
            count++;
        }
    ag_close (out, list, count);
    return count;
}

int
ag_command_status (struct ag_command *command, struct ag_err *err)
{
    (void)err;
    struct ag_house *house = command->house;
    const struct ag_home *home = &house->daemon->home;
    struct ag_buf *out = command->answer;
    struct ag_answer answer = ag_command_begin (command);
    ag_answer_key (&answer, "home");
    ag_put_lit (out, home->dir);
    ag_answer_key (&answer, "epoch");
    ag_put_uint (out, ag_store_epoch (ag_journal_store (house->journal)));
    ag_answer_key (&answer, "stream");
    ag_put_uint (out, ag_journal_stream (house->journal));
    ag_answer_key (&answer, "sockets");
    ag_put_map (out, 2);
    ag_put_lit (out, "client");
    ag_put_textf (out, "ipc://%s", home->client);
    ag_put_lit (out, "monitor");
    ag_put_textf (out, "ipc://%s", home->monitor);
    ag_answer_key (&answer, "supervisor");
    ag_put_map (out, 2);
    ag_put_lit (out, "pid");
    ag_put_uint (out, (uint64_t)getpid());
    ag_put_lit (out, "rss_bytes");
    ag_put_uint (out, resident());
    ag_answer_key (&answer, "disk_full");
    if (house->full)
        ag_put_textf (out, "the disk of %s is nearly full: nothing is started or written",
                      home->dir);
    else
        ag_put_null (out);
    ag_answer_key (&answer, "agents");
    put_units (house, false, 0, out);
    ag_answer_key (&answer, "forks");
    uint64_t forks = count_forks (house);
    uint32_t shown = put_units (house, true, forks, out);
    ag_answer_key (&answer, "forks_left_out");
    ag_put_uint (out, forks - shown);
    ag_answer_end (&answer);
    return 0;
}

struct tree {
    struct ag_house *house;
    uint64_t limit;
    uint32_t count, looked;
    bool more, all; //  all: discarded forks too
    uint64_t last;
    struct ag_buf runs;
};

static bool
add_run (void *arg, struct ag_run *run)
{
    static const char *const kinds[] = {"root", "fork", "trial"};
    struct tree *tree = arg;
    char parent[14];
    if (tree->looked >= tree->limit) {
        tree->more = true;
        return false;
    }
    const char *state = state_of (tree->house, run);
    tree->looked++;
    tree->last = run->number;
    if (!tree->all && !strcmp (state, "discarded"))
        return true;
    struct ag_buf *out = &tree->runs;
    ag_put_map (out, 9);
    ag_put_lit (out, "run");
    ag_put_lit (out, run->id);
    ag_put_lit (out, "label");
    put_text_or_null (out, run->label);
    ag_put_lit (out, "parent_run_id");
    if (run->parent) {
        ag_base32 (run->parent, parent);
        ag_put_textf (out, "r%s", parent);
    } else
        ag_put_null (out);
    ag_put_lit (out, "forked_at_event");
    ag_put_evt (out, run->cut);
    ag_put_lit (out, "state");
    ag_put_lit (out, state);
    ag_put_lit (out, "tip");
    ag_put_evt (out, run->head.tip);
    ag_put_lit (out, "kind");
    ag_put_lit (out, kinds[run->kind]);
    ag_put_lit (out, "ids");
    put_text_or_null (out, !run->parent ? NULL : run->mint == run->number ? "tagged" : "continue");
    ag_put_lit (out, "origin");
    put_text_or_null (out, run->origin);
    tree->count++;
    return true;
}

int
ag_command_tree (struct ag_command *command, struct ag_err *err)
{
    const struct ag_msg_tree *msg = &command->msg->tree;
    struct tree tree = {
        .house = command->house, .limit = msg->limit ? msg->limit : TREE_LIMIT, .all = msg->all};
    int rc = ag_run_scan (command->house->journal, msg->after, add_run, &tree, err);
    if (!rc) {
        struct ag_answer answer = ag_command_begin (command);
        ag_answer_key (&answer, "runs");
        ag_put_list (command->answer, tree.count);
        ag_buf_add_str (command->answer, ag_buf_str (&tree.runs));
        ag_answer_key (&answer, "more");
        ag_put_bool (command->answer, tree.more);
        ag_answer_key (&answer, "after");
        ag_put_uint (command->answer, tree.last);
        ag_answer_end (&answer);
    }
    ag_buf_fini (&tree.runs);
    return rc;
}

//  A run is ended when none of its units may run again by itself.
static bool
is_ended (struct ag_house *house, uint64_t run)
{
    for (uint32_t host = 0; host < AG_HOSTS; host++) {
        const struct ag_unit *unit = ag_fleet_unit (house, run, host);
        if (unit && unit->state != AG_UNIT_STOPPED && unit->state != AG_UNIT_FAILED &&
            unit->state != AG_UNIT_ENDED)
            return false;
    }
    return true;
}

//  Some of the approvals that an idle run waits for.
struct approvals {
    struct ag_house *house;
    struct ag_run *run;
    struct ag_buf *out;
    uint32_t count;
    struct ag_err *err;
    int rc;
};

static bool
add_approval (void *arg, struct ag_str id)
{
    struct approvals *self = arg;
    struct ag_buf hold = {0};
    struct ag_event event;
    struct ag_str type = {0};
    self->rc = ag_waiting_find (self->house->journal, self->run, AG_APPROVAL, id, &hold, &event,
                                self->err);
    if (!self->rc) {
        ag_map_text (event.payload, "object_type", &type);
        ag_put_map (self->out, 2);
        ag_put_lit (self->out, "approval_id");
        ag_put_text (self->out, id);
        ag_put_lit (self->out, "object_type");
        ag_put_text (self->out, type);
        self->count++;
    }
    ag_buf_fini (&hold);
    return !self->rc && self->count < WAIT_APPROVALS;
}

static int
put_approvals (struct ag_house *house, struct ag_run *run, struct ag_buf *out, struct ag_err *err)
{
    struct approvals self = {.house = house, .run = run, .out = out, .err = err};
    size_t list = ag_open_list (out);
    int rc = ag_state_waiting (house->journal, run, AG_APPROVAL, AG_NOW, (struct ag_str){0},
                               add_approval, &self, err);
    ag_close (out, list, self.count);
    return rc || self.rc ? -1 : 0;
}

//  A host that starts, or is about to, may register what the run is to do.
static bool
is_coming (struct ag_house *house, uint64_t run)
{
    for (uint32_t host = 0; host < AG_HOSTS; host++) {
        const struct ag_unit *unit = ag_fleet_unit (house, run, host);
        if (unit && ag_unit_is_coming (unit) && !ag_unit_waits_in_vain (house, unit))
            return true;
    }
    return false;
}

//  Is it so, what this run is waited for?
static bool
is_there (struct ag_command *command, const struct ag_run *run)
{
    struct ag_house *house = command->house;
    bool ended = is_ended (house, run->number);
    if (command->msg->wait.ended)
        return ended;
    return (ag_queue_idle (house, run->number) && !is_coming (house, run->number)) ||
           (ended && strcmp (state_of (house, run), "idle"));
}

//  How one run stands; what an idle one waits for.
static int
put_waited (struct ag_house *house, struct ag_run *run, struct ag_buf *out, struct ag_err *err)
{
    ag_put_map (out, 6);
    ag_put_lit (out, "run");
    ag_put_lit (out, run->id);
    ag_put_lit (out, "label");
    ag_command_label (run, out);
    ag_put_lit (out, "forked_at_event");
    ag_put_evt (out, run->cut);
    ag_put_lit (out, "state");
    ag_put_lit (out, state_of (house, run));
    ag_put_lit (out, "exhausted_by");
    put_text_or_null (out, ag_queue_exhausted_by (house, run->number));
    ag_put_lit (out, "approvals");
    if (ag_queue_idle (house, run->number))
        return put_approvals (house, run, out, err);
    ag_put_list (out, 0);
    return 0;
}

//  What an agent that the configuration lost has to do is never done.
static int
check_attended (struct ag_house *house, const struct ag_run *run, struct ag_err *err)
{
    if (!ag_is_unattended (house, run))
        return 0;
    return ag_fail (err, AG_E_FAILED,
                    "nobody works on %s: its agent is not in the configuration any more",
                    run->label[0] ? run->label : run->id);
}

//  Go through the runs of the list: see whether all are there, or put how each stands (out not NULL).
static int
each_waited (struct ag_command *command, bool *done, struct ag_buf *out, struct ag_err *err)
{
    struct ag_house *house = command->house;
    struct ag_cursor in = ag_cursor (command->msg->wait.runs);
    struct ag_head list, name;
    struct ag_run *run;
    if (ag_next (&in, &list))
        return ag_fail (err, AG_E_BAD_MESSAGE, "runs is a list of names");
    if (list.count > WAIT_RUNS)
        return ag_fail (err, AG_E_TOO_LARGE, "a wait is for %d runs at most, not %u", WAIT_RUNS,
                        list.count);
    if (out)
        ag_put_list (out, list.count);
    for (uint32_t i = 0; i < list.count; i++) {
        if (ag_next (&in, &name) || name.kind != AG_TEXT)
            return ag_fail (err, AG_E_BAD_MESSAGE, "runs is a list of names");
        if (ag_run_find (house->journal, name.s, &run, err) ||
            (!command->msg->wait.ended && check_attended (house, run, err)) ||
            (out && put_waited (house, run, out, err)))
            return -1;
        *done = *done && is_there (command, run);
    }
    return 0;
}

int
ag_command_wait (struct ag_command *command, struct ag_err *err)
{
    bool done = true;
    if (each_waited (command, &done, NULL, err))
        return -1;
    if (!done && ag_command_hold (command, command->msg->wait.wait_ms))
        return 0;
    struct ag_answer answer = ag_command_begin (command);
    ag_answer_key (&answer, "runs");
    if (each_waited (command, &done, command->answer, err))
        return -1;
    ag_answer_key (&answer, "done");
    ag_put_bool (command->answer, done);
    ag_answer_end (&answer);
    return 0;
}

static struct ag_unit *
unit_named (struct ag_house *house, struct ag_str name, struct ag_err *err)
{
    struct ag_run *run;
    struct ag_unit *unit = ag_fleet_named (house, name);
    if (unit)
        return unit;
    if (ag_run_find (house->journal, name, &run, err))
        return NULL;
    unit = ag_fleet_unit (house, run->number, 0);
    if (!unit)
        ag_fail (err, AG_E_NOT_FOUND, "%.*s has no processes", AG_STR_ARG (name));
    return unit;
}

int
ag_command_output (struct ag_command *command, struct ag_err *err)
{
    const struct ag_msg_output *msg = &command->msg->output;
    struct ag_unit *unit = unit_named (command->house, msg->run, err);
    struct ag_buf text = {0};
    uint64_t next;
    int rc = unit ? ag_output_read (unit->output, msg->after, &text, &next, err) : -1;
    if (!rc && (text.n || !ag_command_hold (command, msg->wait_ms))) {
        struct ag_answer answer = ag_command_begin (command);
        ag_answer_key (&answer, "text");
        if (ag_utf8 (ag_buf_str (&text)))
            ag_put_text (command->answer, ag_buf_str (&text));
        else
            ag_put_bytes (command->answer, ag_buf_str (&text));
        ag_answer_key (&answer, "after");
        ag_put_uint (command->answer, next);
        ag_answer_end (&answer);
    }
    ag_buf_fini (&text);
    return rc;
}
