//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/replay.h"
#include "supervisor/cursor.h"
#include "supervisor/invoke.h"
#include "supervisor/judge.h"
#include "supervisor/record.h"
#include "supervisor/unit.h"
#include "supervisor/wanted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPLAYS_MAX = 4, LAST_WORDS = 160 };

struct ag_replay {
    struct ag_ticket ticket;
    uint64_t run;
    struct ag_trace trace;
    bool is_open; //  an invocation is to be handed out, or is
    struct ag_invocation open;
    struct {
        struct ag_unit *unit;    //  NULL: not made, or gone
        bool registered, worked; //  worked: since its process was lost last
        struct ag_buf behaviors;
    } hosts[AG_HOSTS];
    uint32_t host_count;
    uint64_t invocations, compared, skipped;
    struct ag_difference difference;
};

static struct ag_replay *
of (struct ag_ticket *ticket)
{
    return (struct ag_replay *)ticket;
}

static void
close_open (struct ag_house *house, struct ag_replay *self)
{
    struct ag_invocation *open = &self->open;
    if (open->timer)
        ag_loop_cancel (house->daemon->loop, open->timer);
    ag_buf_fini (&open->behavior);
    ag_buf_fini (&open->relation);
    ag_buf_fini (&open->reads);
    ag_buf_fini (&open->frame);
    ag_buf_fini (&open->matches.list);
    ag_buf_fini (&open->denied);
    *open = (struct ag_invocation){0};
    self->is_open = false;
}

//  It has come to its end; its processes are ended now.
static void
finish (struct ag_house *house, struct ag_replay *self)
{
    self->ticket.over = true;
    close_open (house, self);
    for (uint32_t host = 0; host < self->host_count; host++)
        if (self->hosts[host].unit) {
            self->hosts[host].unit->wanted = false;
            ag_unit_end (house, self->hosts[host].unit, AG_END_STOP, 0);
        }
}

static void
break_off (struct ag_house *house, struct ag_replay *self, const struct ag_err *why)
{
    ag_ticket_break (&self->ticket, why);
    finish (house, self);
}

static void
drop (struct ag_house *house, struct ag_replay *self)
{
    ag_ticket_remove (&house->replays, &self->ticket);
    ag_trace_fini (&self->trace);
    ag_difference_fini (&self->difference);
    for (uint32_t host = 0; host < AG_HOSTS; host++)
        ag_buf_fini (&self->hosts[host].behaviors);
    free (self);
}

void
ag_replays_destroy (struct ag_house *house)
{
    while (house->replays) {
        close_open (house, of (house->replays));
        drop (house, of (house->replays));
    }
}

bool
ag_replay_is_over (const struct ag_replay *self)
{
    for (uint32_t host = 0; host < self->host_count; host++)
        if (self->hosts[host].unit)
            return false;
    return self->ticket.over;
}

static struct ag_replay *
begin (struct ag_house *house, const struct ag_run *run, struct ag_str ticket)
{
    struct ag_replay *self = ag_xcalloc (1, sizeof *self);
    ag_ticket_add (&house->replays, &self->ticket, ticket);
    self->run = run->number;
    self->trace.at = run->cut;
    self->trace.until = run->head.tip;
    return self;
}

int
ag_replay_ask (struct ag_house *house, const struct ag_run *run, struct ag_str ticket,
               struct ag_replay **replay, struct ag_err *err)
{
    struct ag_ticket *one = house->replays;
    while (one && of (one)->run != run->number)
        one = one->next;
    if (one && !ag_str_is (ticket, one->text))
        return ag_fail (err, AG_E_BUSY, "run %s is being replayed for somebody else", run->id);
    if (!one && ag_ticket_room (house->replays, REPLAYS_MAX, "replays", err))
        return -1;
    if (one)
        ag_ticket_again (one);
    *replay = one ? of (one) : begin (house, run, ticket);
    return 0;
}

static void
put_number (struct ag_answer *answer, const char *key, uint64_t number)
{
    ag_answer_key (answer, key);
    ag_put_uint (answer->out, number);
}

//  The first event since the divergence that changed what is in force; 0: none did.
struct since {
    uint64_t seq;
    char type[64];
};

static bool
take_first (void *arg, const struct ag_event *event)
{
    struct since *self = arg;
    if (!self->seq || event->seq < self->seq) {
        self->seq = event->seq;
        snprintf (self->type, sizeof self->type, "%.*s", AG_STR_ARG (event->type));
    }
    return false;
}

static int
find_change (struct ag_house *house, const struct ag_replay *self, const struct ag_run *run,
             struct since *since, struct ag_err *err)
{
    static const enum ag_type types[] = {AG_EV_PACK_LOADED, AG_EV_PACK_DISABLED,
                                         AG_EV_PACK_SETTINGS_OVERRIDDEN};
    for (size_t i = 0; self->difference.event && i < sizeof types / sizeof *types; i++)
        if (ag_journal_scan_type (house->journal, run, ag_type_name (types[i]),
                                  self->difference.event, self->trace.until, take_first, since,
                                  err))
            return -1;
    return 0;
}

//  changed_since: {event_id, type}, where what was found differs by what is in force now, perhaps.
static void
tell_change (const struct since *since, struct ag_answer *answer)
{
    if (!since->seq)
        return;
    ag_answer_key (answer, "changed_since");
    ag_put_map (answer->out, 2);
    ag_put_lit (answer->out, "event_id");
    ag_put_evt (answer->out, since->seq);
    ag_put_pair_text (answer->out, "type", ag_str (since->type));
}

static void
tell (const struct ag_replay *self, const struct ag_run *run, bool done, struct ag_answer *answer)
{
    ag_answer_key (answer, "run");
    ag_put_lit (answer->out, run->id);
    put_number (answer, "invocations", self->invocations);
    put_number (answer, "compared_events", self->compared);
    put_number (answer, "skipped", self->skipped);
    put_number (answer, "seen", self->trace.at);
    put_number (answer, "until", self->trace.until);
    ag_answer_key (answer, "done");
    ag_put_bool (answer->out, done);
    ag_answer_key (answer, "divergence");
    if (self->difference.event)
        ag_difference_write (&self->difference, answer->out);
    else
        ag_put_null (answer->out);
}

int
ag_replay_tell (struct ag_house *house, struct ag_replay *self, struct ag_answer *answer,
                struct ag_err *err)
{
    struct ag_run *run;
    struct since since = {0};
    bool done = ag_replay_is_over (self);
    int rc = ag_run_get (house->journal, self->run, &run, err);
    if (!rc && done && self->ticket.broken.code) {
        *err = self->ticket.broken;
        rc = -1;
    }
    if (!rc)
        rc = find_change (house, self, run, &since, err);
    if (!rc) {
        tell (self, run, done, answer);
        tell_change (&since, answer);
    }
    if (done)
        drop (house, self);
    return rc;
}

//  Units as the run's own ones, under names of their own, one a host.
static int
make_units (struct ag_house *house, struct ag_replay *self, struct ag_run *run, struct ag_err *err)
{
    struct ag_buf spec = {0};
    struct ag_str hosts, host, kind;
    uint64_t seq;
    int rc = ag_note_get (house->journal, run, AG_LIT ("spec"), run->head.tip, &spec, &seq, err);
    if (rc == 0 || (rc > 0 && ag_map_get (ag_buf_str (&spec), "hosts", &hosts)))
        rc = ag_fail (err, AG_E_NOT_FOUND, "run %s has nothing that could be started", run->id);
    for (uint32_t i = 0; rc > 0 && i < AG_HOSTS && !ag_list_nth (hosts, i, &host) &&
                         !ag_map_text (host, "kind", &kind);
         i++) {
        char name[AG_UNIT_NAME];
        const char *of = run->label[0] ? run->label : run->id;
        snprintf (name, sizeof name, i ? "%s.replay.%.*s" : "%s.replay", of, AG_STR_ARG (kind));
        struct ag_unit *unit = ag_fleet_hide (house, name, run->number, i, ag_buf_str (&spec));
        unit->replay = self;
        self->hosts[self->host_count++].unit = unit;
    }
    ag_buf_fini (&spec);
    return rc < 0 ? -1 : 0;
}

//  A unit whose process is gone ends with the replay; one that has nothing to do waits for the next.
static void
drop_units (struct ag_house *house, struct ag_replay *self)
{
    for (uint32_t host = 0; host < self->host_count; host++)
        if (self->hosts[host].unit && !self->hosts[host].unit->child) {
            ag_fleet_drop (house, self->hosts[host].unit);
            self->hosts[host].unit = NULL;
        }
}

static bool
all_registered (struct ag_house *house, struct ag_replay *self)
{
    bool all = true;
    for (uint32_t host = 0; host < self->host_count; host++)
        if (!self->hosts[host].registered) {
            ag_unit_is_due (house, self->hosts[host].unit);
            all = false;
        }
    return all;
}

//  What the hosts say they can do is what was registered last: 1 when it is not, 0, -1.
static int
compare_registrations (struct ag_house *house, struct ag_replay *self, struct ag_run *run,
                       struct ag_err *err)
{
    struct ag_buf hold = {0};
    int rc = 0;
    for (uint32_t host = 0; !rc && host < self->host_count; host++) {
        uint64_t seq;
        rc = ag_registration_get (house->journal, run, host, self->trace.until, &hold, &seq, err);
        if (rc > 0)
            rc = ag_differ (seq, "payload.behaviors", ag_buf_str (&hold),
                            ag_buf_str (&self->hosts[host].behaviors), &self->difference);
    }
    ag_buf_fini (&hold);
    return rc;
}

static bool
find_behavior (struct ag_replay *self, struct ag_str name, uint32_t *host, struct ag_str *behavior)
{
    for (*host = 0; *host < self->host_count; ++*host)
        if (!ag_list_find (ag_buf_str (&self->hosts[*host].behaviors), "name", name, behavior))
            return true;
    return false;
}

static void
skip (struct ag_house *house, struct ag_replay *self)
{
    self->skipped++;
    self->trace.item.end = 0;
    close_open (house, self);
}

//  A decline of such a one is the house's: its pattern was found no more when it was to run again.
static bool
has_pattern (struct ag_str behavior)
{
    struct ag_str pattern;
    return !ag_map_text (behavior, "pattern", &pattern);
}

static struct ag_judged
judged (struct ag_house *house, struct ag_replay *self)
{
    return (struct ag_judged){.house = house,
                              .open = &self->open,
                              .item = &self->trace.item,
                              .difference = &self->difference,
                              .compared = &self->compared};
}

//  What the house knew when it handed it out: 1 when it would not hand it out so now, 0, -1.
static int
look_again (struct ag_house *house, struct ag_replay *self, struct ag_run *run, struct ag_err *err)
{
    struct ag_buf hold = {0};
    struct ag_event event;
    const struct ag_traced *item = &self->trace.item;
    int rc = ag_trace_mint (house->journal, run, item, &self->open.mint, err);
    if (!rc)
        rc = ag_journal_read (house->journal, run, item->event, &hold, &event, err);
    if (!rc) {
        if (event.frame.p)
            ag_buf_add_str (&self->open.frame, event.frame);
        rc = ag_wanted_pattern (house, run, &self->open, &event, err);
        rc = rc < 0 ? -1 : rc == 0;
    }
    if (rc > 0)
        ag_differ (item->started, "matches", AG_LIT ("\xc3"), AG_LIT ("\xc2"), &self->difference);
    if (!rc) {
        struct ag_judged one = judged (house, self);
        rc = ag_judge_started (&one, &event, err);
    }
    ag_buf_fini (&hold);
    return rc;
}

//  The traced invocation becomes the open one: 1 when it would not be due any more, 0, -1.
static int
open_traced (struct ag_house *house, struct ag_replay *self, struct ag_run *run, struct ag_err *err)
{
    const struct ag_traced *item = &self->trace.item;
    struct ag_str behavior;
    uint32_t host;
    if (!find_behavior (self, ag_buf_str (&item->name), &host, &behavior)) {
        struct ag_buf name = {0};
        ag_put_text (&name, ag_buf_str (&item->name));
        ag_differ (item->started, "payload.behavior", ag_buf_str (&name), (struct ag_str){0},
                   &self->difference);
        ag_buf_fini (&name);
        return 1;
    }
    self->open = (struct ag_invocation){.run = self->run,
                                        .event = item->event,
                                        .started = item->started,
                                        .at = item->started,
                                        .host = host,
                                        .attempt = item->attempt};
    ag_buf_add_str (&self->open.behavior, behavior);
    ag_buf_add_str (&self->open.relation, ag_buf_str (&item->relation));
    if (item->outcome == AG_EV_BEHAVIOR_DECLINED && has_pattern (behavior)) {
        skip (house, self);
        return 0;
    }
    self->is_open = true;
    return look_again (house, self, run, err);
}

//  The open invocation goes to its host when that waits.
static int
hand_out (struct ag_house *house, struct ag_replay *self, struct ag_err *err)
{
    struct ag_unit *unit = self->hosts[self->open.host].unit;
    if (self->open.session)
        return 0;
    if (unit->session && unit->session->state == AG_SESSION_WAITING)
        return ag_session_invoke (house, unit->session, &self->open, err);
    ag_unit_is_due (house, unit);
    return 0;
}

//  The next step, bounded: 1 when there may be another at once, 0 when it waits for somebody, -1.
static int
step (struct ag_house *house, struct ag_replay *self, struct ag_err *err)
{
    struct ag_run *run;
    const struct ag_traced *item = &self->trace.item;
    if (ag_run_get (house->journal, self->run, &run, err))
        return -1;
    if (self->is_open)
        return hand_out (house, self, err);
    if (!item->end) {
        int rc = ag_trace_next (house->journal, run, &self->trace, err);
        if (rc == 0 && self->trace.at >= self->trace.until)
            finish (house, self);
        if (rc > 0 && item->outside)
            skip (house, self);
        return rc < 0 ? -1 : 1;
    }
    bool first = self->host_count == 0;
    if (first && make_units (house, self, run, err))
        return -1;
    if (!all_registered (house, self))
        return 0;
    int rc = self->invocations ? 0 : compare_registrations (house, self, run, err);
    if (!rc)
        rc = open_traced (house, self, run, err);
    if (rc > 0)
        finish (house, self);
    return rc < 0 ? -1 : 1;
}

static void
pump (struct ag_house *house, struct ag_replay *self)
{
    struct ag_err err;
    int more = 0;
    if (!self->ticket.over && ag_ticket_is_left (&self->ticket))
        finish (house, self);
    if (!self->ticket.over)
        more = step (house, self, &err);
    if (more < 0)
        break_off (house, self, &err);
    if (self->ticket.over)
        drop_units (house, self);
    if (more > 0)
        ag_loop_again (house->daemon->loop, 0);
}

void
ag_replays_pump (struct ag_house *house)
{
    struct ag_ticket *next;
    for (struct ag_ticket *one = house->replays; one; one = next) {
        next = one->next;
        pump (house, of (one));
        if (ag_replay_is_over (of (one)) && ag_ticket_is_left (one))
            drop (house, of (one));
    }
}

struct ag_invocation *
ag_replay_open (struct ag_replay *self)
{
    return self->is_open ? &self->open : NULL;
}

void
ag_replay_register (struct ag_unit *unit, struct ag_str behaviors)
{
    struct ag_replay *self = unit->replay;
    ag_buf_clear (&self->hosts[unit->host].behaviors);
    ag_buf_add_str (&self->hosts[unit->host].behaviors, behaviors);
    self->hosts[unit->host].registered = true;
}

int
ag_replay_invoke (struct ag_house *house, struct ag_invocation *open, struct ag_buf *answer,
                  struct ag_err *err)
{
    struct ag_run *run;
    struct ag_buf hold = {0};
    struct ag_event event;
    int rc = ag_run_get (house->journal, open->run, &run, err);
    if (!rc)
        rc = ag_journal_read (house->journal, run, open->event, &hold, &event, err);
    if (!rc)
        rc = ag_invoke_write (house->journal, run, open, &event, answer, err);
    ag_buf_fini (&hold);
    return rc;
}

//  What the judge said of the open invocation, which is over. Our own failures end the replay, not the worker.
static int
judge_said (struct ag_house *house, struct ag_replay *self, int rc, const struct ag_err *err)
{
    if (rc < 0)
        break_off (house, self, err);
    else if (rc > 0)
        finish (house, self);
    else {
        self->hosts[self->open.host].worked = true;
        self->invocations++;
        self->trace.item.end = 0;
        close_open (house, self);
    }
    return 0;
}

int
ag_replay_effect (struct ag_house *house, struct ag_invocation *open,
                  const struct ag_msg_effect *effect, struct ag_buf *answer, struct ag_err *err)
{
    struct ag_replay *self = open->session->unit->replay;
    struct ag_judged one = judged (house, self);
    int rc = ag_judge_effect (&one, effect, answer, err);
    return rc ? judge_said (house, self, rc, err) : 0;
}

int
ag_replay_done (struct ag_house *house, struct ag_invocation *open, const struct ag_msg_done *done,
                struct ag_buf *answer, struct ag_err *err)
{
    struct ag_replay *self = open->session->unit->replay;
    struct ag_judged one = judged (house, self);
    return judge_said (house, self, ag_judge_done (&one, done, answer, err), err);
}

int
ag_replay_fail (struct ag_house *house, struct ag_invocation *open, const struct ag_msg_fail *fail,
                struct ag_buf *answer, struct ag_err *err)
{
    struct ag_replay *self = open->session->unit->replay;
    struct ag_judged one = judged (house, self);
    return judge_said (house, self, ag_judge_fail (&one, fail, answer, err), err);
}

//  It died over an invocation that did not die in the record.
static void
differ_death (struct ag_replay *self, const char *why)
{
    struct ag_buf recorded = {0}, found = {0};
    ag_put_text (&recorded, ag_type_name (self->trace.item.outcome));
    ag_put_textf (&found, "worker.crashed: %s", why);
    ag_differ (self->trace.item.end, "type", ag_buf_str (&recorded), ag_buf_str (&found),
               &self->difference);
    ag_buf_fini (&recorded);
    ag_buf_fini (&found);
}

//  The end of a text, whole letters.
static struct ag_str
last_of (struct ag_str text, size_t most)
{
    while (text.n && (text.p[text.n - 1] == '\n' || text.p[text.n - 1] == ' '))
        text.n--;
    struct ag_str last = text;
    while (last.n > most || (last.n && (*last.p & 0xC0) == 0x80))
        last = (struct ag_str){last.p + 1, last.n - 1};
    return last;
}

void
ag_replay_died (struct ag_house *house, struct ag_unit *unit)
{
    struct ag_replay *self = unit->replay;
    if (!self->is_open || !unit->session || self->open.session != unit->session)
        return;
    self->open.session = NULL;
    if (self->ticket.over || unit->ending != AG_END_NONE)
        return;
    differ_death (self, unit->reason);
    finish (house, self);
}

bool
ag_replay_lost (struct ag_house *house, struct ag_unit *unit)
{
    struct ag_replay *self = unit->replay;
    struct ag_buf tail = {0};
    struct ag_err err;
    bool worked = self->hosts[unit->host].worked;
    self->hosts[unit->host].worked = false;
    if (self->ticket.over || worked)
        return worked;
    ag_output_tail (unit->output, &tail);
    struct ag_str last = last_of (ag_buf_str (&tail), LAST_WORDS);
    ag_fail (&err, AG_E_FAILED, "%s ended with nothing in hand: %s; its last words: %.*s",
             unit->name, unit->reason, AG_STR_ARG (last));
    break_off (house, self, &err);
    ag_buf_fini (&tail);
    return false;
}
