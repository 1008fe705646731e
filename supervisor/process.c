//  SPDX-License-Identifier: Apache-2.0
#include "common/log.h"
#include "supervisor/fleet_inside.h"
#include "supervisor/invocation.h"
#include "supervisor/private.h"
#include "supervisor/ready.h"
#include "supervisor/record.h"
#include "supervisor/replay.h"
#include "supervisor/spec.h"
#include "supervisor/trial.h"
#include "supervisor/unit.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { IDLE_MS = 30000, GRACE_MS = 5000, LOOK_MS = 200, NEWS_MS = 500 };

static const char *const endings[] = {"died", "idle", "stopped", "restart", "down", "house"};

//  Start a unit's process. What cannot even be asked for counts as a death.
static void died (struct ag_house *house, struct ag_unit *unit, bool permanent);

static void
start (struct ag_house *house, struct ag_unit *unit)
{
    struct ag_launch launch = {0};
    struct ag_err err;
    uint8_t random[16];
    ag_random (random, sizeof random);
    ag_hex (random, sizeof random, unit->nonce);
    ag_unit_set_child (house->fleet, unit, house->fleet->next_child++);
    unit->ending = AG_END_NONE;
    ag_unit_move (house, unit, AG_WHAT_START);
    int rc = ag_spec_launch (house, unit, &launch, &err);
    if (!rc) {
        launch.spawn.id = unit->child;
        launch.spawn.nonce = unit->nonce;
        rc = ag_nursery_spawn (house->nursery, &launch.spawn, &err);
    }
    ag_launch_fini (&launch);
    if (rc) {
        snprintf (unit->reason, sizeof unit->reason, "%.*s", AG_UNIT_REASON - 1, err.text);
        ag_unit_mend (unit->reason);
        ag_private_remove (house, unit);
        ag_unit_set_child (house->fleet, unit, 0);
        died (house, unit, err.code == AG_E_CONFIG || err.code == AG_E_PACK);
    }
}

void
ag_unit_end (struct ag_house *house, struct ag_unit *unit, enum ag_ending why, uint32_t grace_ms)
{
    if (!unit->child)
        return;
    if (unit->ending == AG_END_NONE || why == AG_END_DOWN || why == AG_END_STOP)
        unit->ending = why;
    if (unit->session && unit->session->state == AG_SESSION_WAITING)
        ag_session_stop (house, unit->session, endings[why]);
    ag_nursery_kill (house->nursery, unit->child, grace_ms);
}

bool
ag_unit_is_doomed (const struct ag_unit *unit)
{
    return unit->child && unit->reason[0];
}

void
ag_unit_kill (struct ag_house *house, struct ag_unit *unit, const char *format, ...)
{
    va_list list;
    if (ag_unit_is_doomed (unit))
        return;
    va_start (list, format);
    vsnprintf (unit->reason, sizeof unit->reason, format, list);
    va_end (list);
    ag_unit_mend (unit->reason); //  a worker's own words, or cut in a character
    ag_log (AG_WARN, "unit=%s ended: %s", unit->name, unit->reason);
    if (unit->child)
        ag_nursery_kill (house->nursery, unit->child, 0);
}

static void
put_text (struct ag_buf *extra, const char *key, const char *text)
{
    ag_put_lit (extra, key);
    ag_put_lit (extra, text);
}

static void
put_number (struct ag_buf *extra, const char *key, int64_t number)
{
    ag_put_lit (extra, key);
    ag_put_int (extra, number);
}

//  A script host ends after an invocation that failed by a limit of its own.
static bool
met_limit (const struct ag_unit *unit)
{
    return unit->inner && unit->session && unit->session->state == AG_SESSION_READY &&
           unit->exit_code == ag_code_status (AG_E_NET);
}

//  The open invocation that a unit's process had: given to the next one, or failed.
static void
drop_invocation (struct ag_house *house, struct ag_unit *unit)
{
    if (unit->replay) {
        ag_replay_died (house, unit);
        return;
    }
    if (met_limit (unit)) //  the queue has moved on, as after the last death below
        unit->death_count = 0;
    struct ag_invocation *open = unit->run ? ag_queue_open (house, unit->run) : NULL;
    if (!open || !unit->session || open->session != unit->session)
        return;
    if (unit->trial) { //  its report says that it died
        ag_queue_again (house, unit->run);
        return;
    }
    struct ag_buf tail = {0};
    struct ag_err err;
    ag_output_tail (unit->output, &tail);
    struct ag_death death = {.by_house = unit->ending != AG_END_NONE,
                             .why = unit->reason,
                             .stderr_tail = ag_buf_str (&tail),
                             .attempts = ag_unit_attempts (unit)};
    bool last = !death.by_house && open->deaths + 1 >= death.attempts;
    if (ag_invocation_died (house, open, &death, &err)) {
        ag_log_err (AG_ERROR, &err, "the end of an invocation is not in its log");
        ag_queue_again (house, unit->run); //  its session is about to be freed
    }
    if (last) //  the queue moves on, so the next death is another story
        unit->death_count = 0;
    ag_buf_fini (&tail);
}

static void
tell_stopped (struct ag_house *house, struct ag_unit *unit, const struct ag_nursery_event *event)
{
    struct ag_buf extra = {0}, tail = {0};
    ag_output_tail (unit->output, &tail);
    put_number (&extra, "pid", unit->pid);
    put_number (&extra, "exit_code", event->code);
    put_number (&extra, "signal", event->signal);
    put_text (&extra, "reason", unit->ending ? endings[unit->ending] : unit->reason);
    put_text (&extra, "proof", ag_proof_name (event->proof));
    put_number (&extra, "max_rss_bytes", (int64_t)event->max_rss_bytes);
    ag_put_lit (&extra, "stderr_tail");
    ag_put_text (&extra, ag_buf_str (&tail));
    ag_unit_tell (house, unit, AG_EV_AGENT_STOPPED, ag_buf_str (&extra), 7);
    ag_buf_fini (&extra);
    ag_buf_fini (&tail);
}

static void
back_off (struct ag_house *house, struct ag_unit *unit, int64_t delay_ms)
{
    struct ag_buf extra = {0};
    char text[AG_TIME_TEXT];
    unit->next_try_ms = ag_now_ms() + delay_ms;
    memcpy (unit->failure, unit->reason, sizeof unit->failure);
    ag_unit_move (house, unit, AG_WHAT_DIED);
    ag_time_text (ag_journal_now (house->journal) + (uint64_t)delay_ms * 1000, text);
    put_text (&extra, "reason", unit->reason);
    put_text (&extra, "next_try", text);
    put_number (&extra, "delay_ms", delay_ms);
    ag_unit_tell (house, unit, AG_EV_AGENT_BACKOFF, ag_buf_str (&extra), 3);
    ag_buf_fini (&extra);
}

static void
give_up (struct ag_house *house, struct ag_unit *unit, const char *why)
{
    struct ag_buf extra = {0};
    char reason[2 * AG_UNIT_REASON];
    snprintf (reason, sizeof reason, "%s; last: %s", why, unit->reason);
    snprintf (unit->reason, sizeof unit->reason, "%.*s", AG_UNIT_REASON - 1, reason);
    ag_unit_mend (unit->reason);
    ag_unit_move (house, unit, AG_WHAT_GIVE_UP);
    put_text (&extra, "reason", unit->reason);
    put_number (&extra, "deaths", unit->death_count);
    put_number (&extra, "within_ms", (int64_t)ag_unit_restart (unit, "within_ms"));
    ag_unit_tell (house, unit, AG_EV_AGENT_GAVE_UP, ag_buf_str (&extra), 3);
    ag_buf_fini (&extra);
    ag_log (AG_ERROR, "unit=%s failed: %s", unit->name, unit->reason);
}

//  Nobody ended it on purpose: tried again, or not any more.
static void
died (struct ag_house *house, struct ag_unit *unit, bool permanent)
{
    struct ag_str policy = {0}, restart;
    if (unit->trial) {
        ag_trial_lost (unit, NULL);
        ag_unit_move (house, unit, AG_WHAT_END);
        return;
    }
    if (unit->replay) {
        ag_unit_move (house, unit, ag_replay_lost (house, unit) ? AG_WHAT_IDLE : AG_WHAT_END);
        return;
    }
    if (!ag_map_get (ag_buf_str (&unit->spec), "restart", &restart))
        ag_map_text (restart, "policy", &policy);
    if (ag_str_is (policy, "temporary") ||
        (ag_str_is (policy, "transient") && unit->exit_code == 0)) {
        ag_unit_move (house, unit, AG_WHAT_END);
        return;
    }
    uint64_t at_most = ag_unit_restart (unit, "at_most"),
             within = ag_unit_restart (unit, "within_ms");
    int64_t delay_ms = permanent ? -1 : ag_unit_delay (unit, at_most, within);
    if (delay_ms >= 0) {
        unit->restarts++;
        back_off (house, unit, delay_ms);
        return;
    }
    char why[80];
    snprintf (why, sizeof why, "more than %" PRIu64 " deaths in %" PRIu64 " s (see its output)",
              at_most, within / 1000);
    give_up (house, unit, permanent ? "trying again is pointless" : why);
}

static void
gone (struct ag_house *house, struct ag_unit *unit, bool permanent)
{
    enum ag_ending ending = unit->ending;
    drop_invocation (house, unit);
    ag_session_end (house, &unit->session);
    ag_private_remove (house, unit);
    ag_unit_set_child (house->fleet, unit, 0);
    unit->pid = 0;
    unit->nonce[0] = 0;
    unit->ending = AG_END_NONE;
    house->fleet->stirred = true;
    if (unit->run)
        ag_queues_touch (house, unit->run);
    if (unit->trial && ending != AG_END_NONE)
        ag_trial_lost (unit, endings[ending]);
    if (ending == AG_END_NONE)
        died (house, unit, permanent);
    else if (ending == AG_END_IDLE || ending == AG_END_RESTART || ending == AG_END_HOUSE)
        ag_unit_move (house, unit, AG_WHAT_IDLE);
    else
        ag_unit_move (house, unit, AG_WHAT_STOP);
    unit->due = unit->due || ending == AG_END_RESTART;
}

static void
on_spawned (struct ag_house *house, struct ag_unit *unit, const struct ag_nursery_event *event)
{
    struct ag_buf extra = {0};
    bool again = unit->state != AG_UNIT_STARTING; //  a service that outlived an earlier supervisor
    unit->pid = event->pid;
    unit->layers = event->layers;
    memcpy (unit->refused, event->refused, sizeof unit->refused);
    unit->since_ms = ag_now_ms();
    unit->exit_code = unit->signal = 0;
    unit->exited = false;
    ag_output_watch (unit->output, event->output[0], event->output[1]);
    put_number (&extra, "pid", unit->pid);
    put_number (&extra, "attempt", unit->restarts + 1);
    if (!again)
        ag_unit_tell (house, unit, AG_EV_AGENT_STARTED, ag_buf_str (&extra), 2);
    ag_buf_fini (&extra);
    if (unit->run)
        return;
    char key[AG_UNIT_NAME + 8];
    snprintf (key, sizeof key, "child/%s", unit->name);
    ag_count_put (house->journal, house->fleet_run, ag_str (key), unit->child);
    if (unit->state != AG_UNIT_STARTING)
        ag_unit_move (house, unit, AG_WHAT_START);
}

static void
on_exited (struct ag_house *house, struct ag_unit *unit, const struct ag_nursery_event *event)
{
    static const char *const fired[] = {"", " (memory limit)", " (CPU limit)",
                                        " (file size limit)"};
    ag_output_drain (unit->output);
    unit->exited = true;
    unit->by_itself = !unit->reason[0];
    unit->exit_code = event->code;
    unit->signal = event->signal;
    unit->fired = event->fired;
    if (!unit->reason[0])
        snprintf (
            unit->reason, sizeof unit->reason, event->signal ? "signal %d%s" : "exit status %d%s",
            event->signal ? event->signal : event->code,
            event->signal == SIGSYS ? " (a system call that is denied)" : fired[event->fired]);
    ag_nursery_kill (house->nursery, unit->child, 0); //  whatever of its tree is left
}

static void
acknowledge (struct ag_fleet *fleet, uint64_t child)
{
    fleet->ended = ag_xrealloc (fleet->ended, (fleet->ended_count + 1) * sizeof *fleet->ended);
    fleet->ended[fleet->ended_count++] = child;
}

void
ag_fleet_committed (struct ag_house *house)
{
    struct ag_fleet *fleet = house->fleet;
    for (size_t i = 0; i < fleet->ended_count; i++)
        ag_nursery_ack (house->nursery, fleet->ended[i]);
    if (fleet->ended_count)
        ag_fleet_forget (house);
    fleet->ended_count = 0;
}

//  As the configuration calls it; empty for a script host, whose program is the house's own.
static struct ag_str
program_of (const struct ag_unit *unit)
{
    struct ag_str hosts, host = ag_buf_str (&unit->spec), word = {0};
    if (unit->run && (ag_map_get (host, "hosts", &hosts) || ag_list_nth (hosts, unit->host, &host)))
        return word;
    struct ag_texts words = ag_texts_of (host, "command");
    ag_texts_next (&words, &word);
    return word;
}

static void
on_failed (struct ag_house *house, struct ag_unit *unit, const struct ag_nursery_event *event)
{
    struct ag_str program = program_of (unit);
    if (event->step != AG_STEP_EXECUTABLE || !program.n)
        program = ag_str (ag_step_name (event->step));
    snprintf (unit->reason, sizeof unit->reason, "cannot be started: %.*s: %s",
              program.n < AG_UNIT_REASON / 2 ? (int)program.n : AG_UNIT_REASON / 2, program.p,
              strerror (event->error));
    ag_unit_mend (unit->reason);
    gone (house, unit, event->permanent);
}

//  Its next life begins without the reason of this one.
static void
on_stopped (struct ag_house *house, struct ag_unit *unit, const struct ag_nursery_event *event)
{
    ag_output_drain (unit->output);
    tell_stopped (house, unit, event);
    gone (house, unit, unit->lacks);
    if (unit->state != AG_UNIT_BACKOFF && unit->state != AG_UNIT_FAILED)
        unit->reason[0] = 0;
}

//  Services of an earlier house that the nursery did not name are gone.
static void
forget_lost (struct ag_house *house)
{
    for (struct ag_unit *unit = house->fleet->first; unit; unit = unit->next)
        if (!unit->pid)
            ag_unit_set_child (house->fleet, unit, 0);
}

static void
close_output (const struct ag_nursery_event *event)
{
    for (int i = 0; i < 2; i++)
        if (event->output[i] >= 0)
            close (event->output[i]);
}

//  Nobody's: of a configuration that is gone, or of a run that was not written.
static void
refuse_child (struct ag_house *house, const struct ag_nursery_event *event)
{
    close_output (event);
    ag_nursery_kill (house->nursery, event->id, 0);
}

static void
handle (struct ag_house *house, const struct ag_nursery_event *event)
{
    struct ag_unit *unit = ag_fleet_child (house, event->id);
    switch (event->what) {
    case AG_NURSERY_CURRENT:
        forget_lost (house);
        house->fleet->current = house->fleet->stirred = true;
        return;
    case AG_NURSERY_STOP:
        ag_fleet_down (house);
        return;
    case AG_NURSERY_HOUSE:
        house->broker_pid = event->pid;
        return;
    default:
        break;
    }
    if (house->lacking.code) { //  the next supervisor is told of it again
        close_output (event);
        return;
    }
    bool end = event->what == AG_NURSERY_STOPPED || event->what == AG_NURSERY_FAILED;
    if (end)
        acknowledge (house->fleet, event->id);
    if (!unit && event->what == AG_NURSERY_SPAWNED)
        refuse_child (house, event);
    if (!unit)
        return;
    if (event->what == AG_NURSERY_SPAWNED)
        on_spawned (house, unit, event);
    else if (event->what == AG_NURSERY_EXITED)
        on_exited (house, unit, event);
    else if (event->what == AG_NURSERY_STOPPED)
        on_stopped (house, unit, event);
    else
        on_failed (house, unit, event);
}

bool
ag_fleet_nursery (void *context)
{
    struct ag_house *house = context;
    struct ag_nursery_event event;
    struct ag_err err;
    int rc = ag_nursery_next (house->nursery, &event, &err);
    if (rc > 0)
        handle (house, &event);
    if (rc < 0) { //  the parent of every process is gone: so are we
        ag_log_err (AG_ERROR, &err, "the nursery is gone");
        ag_loop_stop (house->daemon->loop);
    }
    return rc > 0;
}

//  A process was asked for, and may run before that is told.
static bool
is_born (struct ag_house *house)
{
    for (struct ag_unit *unit = ag_fleet_first (house); unit; unit = unit->next)
        if (unit->child && !unit->pid)
            return true;
    return false;
}

int64_t
ag_fleet_news_end (void)
{
    return ag_now_ms() + NEWS_MS;
}

bool
ag_fleet_news (struct ag_house *house, int64_t end_ms)
{
    struct pollfd pair = {.fd = ag_nursery_fd (house->nursery), .events = POLLIN};
    int64_t left_ms = end_ms - ag_now_ms();
    return ag_fleet_nursery (house) ||
           (left_ms > 0 && is_born (house) && poll (&pair, 1, (int)left_ms) > 0 &&
            ag_fleet_nursery (house));
}

//  Everything it comes after is ready.
static bool
may_start (struct ag_house *house, const struct ag_unit *unit)
{
    struct ag_str name;
    if (unit->replay || unit->trial) //  it needs nobody
        return true;
    struct ag_texts after = ag_texts_of (ag_buf_str (&unit->spec), "after");
    while (ag_texts_next (&after, &name)) {
        struct ag_unit *other = ag_fleet_named (house, name);
        if (other && other->state != AG_UNIT_READY && other->state != AG_UNIT_BUSY &&
            !(other->run && other->state == AG_UNIT_PARKED))
            return false;
    }
    return true;
}

bool
ag_unit_waits_in_vain (struct ag_house *house, const struct ag_unit *unit)
{
    struct ag_str name;
    struct ag_texts after = ag_texts_of (ag_buf_str (&unit->spec), "after");
    while (unit->state == AG_UNIT_WAITING && ag_texts_next (&after, &name)) {
        const struct ag_unit *other = ag_fleet_named (house, name);
        if (other && (other->state == AG_UNIT_FAILED || other->state == AG_UNIT_STOPPED ||
                      other->state == AG_UNIT_ENDED))
            return true;
    }
    return false;
}

static void
consider_start (struct ag_house *house, struct ag_unit *unit, int64_t now)
{
    bool waits = unit->state == AG_UNIT_PARKED || unit->state == AG_UNIT_WAITING;
    bool again = unit->state == AG_UNIT_BACKOFF && now >= unit->next_try_ms;
    if (!unit->wanted || unit->child || house->leaving || !((waits && unit->due) || again))
        return;
    if (!may_start (house, unit)) {
        ag_unit_move (house, unit, AG_WHAT_WAIT);
        return;
    }
    unit->due = false;
    unit->reason[0] = 0;
    start (house, unit);
}

static void
tell_ready (struct ag_house *house, struct ag_unit *unit)
{
    struct ag_buf extra = {0};
    put_number (&extra, "pid", unit->pid);
    ag_unit_tell (house, unit, AG_EV_AGENT_READY, ag_buf_str (&extra), 1);
    ag_buf_fini (&extra);
    house->fleet->stirred = true;
}

void
ag_unit_is_ready (struct ag_house *house, struct ag_unit *unit)
{
    if (unit->state != AG_UNIT_STARTING)
        return;
    ag_unit_move (house, unit, AG_WHAT_HELLO);
    tell_ready (house, unit);
}

//  A process that runs: is it ready, has it been silent too long, has it nothing to do?
static void
consider_running (struct ag_house *house, struct ag_unit *unit, int64_t now)
{
    int64_t in_state = now - unit->since_ms;
    if (!unit->pid || unit->ending || unit->reason[0])
        return;
    if (unit->session)
        ag_session_look (house, unit->session, now);
    if (!unit->run && unit->state == AG_UNIT_STARTING) {
        int ready = ag_ready_check (unit, in_state);
        if (ready > 0)
            ag_unit_is_ready (house, unit);
        else if (ready < 0)
            ag_unit_kill (house, unit, "it was not ready in time");
    } else if (unit->trial) //  it has a wall clock of its own
        return;
    else if (unit->state == AG_UNIT_STARTING && in_state > AG_HELLO_MS)
        ag_unit_kill (house, unit, "it did not %s within %d s",
                      unit->session ? "load its packs" : "say hello", AG_HELLO_MS / 1000);
    else if (unit->run && unit->state == AG_UNIT_READY && unit->session &&
             unit->session->state == AG_SESSION_WAITING && in_state > IDLE_MS)
        ag_unit_end (house, unit, AG_END_IDLE, GRACE_MS);
}

void
ag_fleet_tick (struct ag_house *house)
{
    struct ag_fleet *fleet = house->fleet;
    int64_t now = ag_now_ms();
    if (!fleet->current || (!fleet->stirred && now - fleet->looked_ms < LOOK_MS))
        return;
    fleet->stirred = false;
    fleet->looked_ms = now;
    for (struct ag_unit *unit = fleet->first; unit; unit = unit->next) {
        consider_start (house, unit, now);
        consider_running (house, unit, now);
    }
}

void
ag_fleet_down (struct ag_house *house)
{
    house->leaving = true;
    for (struct ag_unit *unit = house->fleet->first; unit; unit = unit->next)
        ag_unit_end (house, unit, AG_END_DOWN, GRACE_MS);
}

bool
ag_fleet_is_down (struct ag_house *house)
{
    if (!house->leaving)
        return false;
    for (struct ag_unit *unit = house->fleet->first; unit; unit = unit->next)
        if (unit->child)
            return false;
    return true;
}
