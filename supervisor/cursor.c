//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/cursor.h"
#include "supervisor/declared.h"
#include "supervisor/due.h"
#include "supervisor/match.h"
#include "supervisor/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_EVENTS = 256 };

//  The numbers of a cursor's note, in the order in which they are written and read.
#define NUMBERS(N)                                                                                 \
    N (next, self->next)                                                                           \
    N (tick, self->tick)                                                                           \
    N (in_hand, self->in_hand)                                                                     \
    N (due, self->due)                                                                             \
    N (active, self->active)                                                                       \
    N (exhausted, self->exhausted)                                                                 \
    N (spent_limit, self->spent_limit)                                                             \
    N (open, self->is_open)                                                                        \
    N (started, self->open.started)                                                                \
    N (attempt, self->open.attempt)                                                                \
    N (deaths, self->open.deaths)                                                                  \
    N (contentions, self->open.contentions)                                                        \
    N (object, self->open.mint.object)                                                             \
    N (relation, self->open.mint.relation)

static struct ag_str
host_note (uint32_t host, char text[16])
{
    snprintf (text, 16, "host/%u", host);
    return ag_str (text);
}

int
ag_registration_get (ag_journal_t *journal, const struct ag_run *run, uint32_t host, uint64_t at,
                     struct ag_buf *behaviors, uint64_t *seq, struct ag_err *err)
{
    char text[16];
    return ag_note_get (journal, run, host_note (host, text), at, behaviors, seq, err);
}

void
ag_queue_save (ag_journal_t *journal, struct ag_run *run, struct ag_queue *self)
{
    struct ag_buf value = {0};
    uint32_t count = 0;
#define N(name, field) count++;
    NUMBERS (N)
#undef N
    ag_put_map (&value, count);
#define N(name, field)                                                                             \
    ag_put_lit (&value, #name);                                                                    \
    ag_put_uint (&value, (uint64_t)(field));
    NUMBERS (N)
#undef N
    ag_note_put (journal, run, AG_LIT ("queue"), run->head.tip, ag_buf_str (&value));
    ag_buf_fini (&value);
    ag_delays_save (journal, run, &self->delays);
    self->changed = false;
}

static int
read_note (struct ag_queue *self, struct ag_str value, struct ag_err *err)
{
    uint64_t number;
#define N(name, field)                                                                             \
    if (ag_map_uint (value, #name, &number))                                                       \
        return ag_fail (err, AG_E_CORRUPT, "the cursor of a run has no " #name);                   \
    field = number;
    NUMBERS (N)
#undef N
    return 0;
}

//  A note of the queue. A trial begins with nothing: what its parent registered, and had in hand, is the parent's.
static int
get_note (ag_journal_t *journal, const struct ag_run *run, struct ag_str name, uint64_t at,
          struct ag_buf *hold, uint64_t *seq, struct ag_err *err)
{
    int rc = ag_note_get (journal, run, name, at, hold, seq, err);
    if (rc <= 0 || run->kind != AG_TRIAL || *seq > run->cut)
        return rc;
    ag_buf_clear (hold);
    *seq = 0;
    return 0;
}

//  The run's spec names its hosts; each may have registered.
static int
load_hosts (ag_journal_t *journal, struct ag_run *run, struct ag_queue *self, struct ag_err *err)
{
    struct ag_str hosts, host;
    struct ag_buf spec = {0};
    uint64_t seq, tip = run->head.tip;
    int rc = ag_note_get (journal, run, AG_LIT ("spec"), tip, &spec, &seq, err);
    if (rc > 0 && ag_map_get (ag_buf_str (&spec), "hosts", &hosts))
        rc = ag_fail (err, AG_E_CORRUPT, "the spec of run %s names no hosts", run->id);
    for (uint32_t i = 0; rc > 0 && i < AG_HOSTS && !ag_list_nth (hosts, i, &host); i++) {
        char text[16];
        self->host_count++;
        if (get_note (journal, run, host_note (i, text), tip, &self->hosts[i].behaviors,
                      &self->hosts[i].seq, err) < 0)
            rc = -1;
    }
    ag_buf_fini (&spec);
    return rc < 0 ? -1 : 0;
}

static void
keep_registration (struct ag_queue *self, const struct ag_registration *one)
{
    self->earlier = ag_xrealloc (self->earlier, (self->earlier_count + 1) * sizeof *self->earlier);
    self->earlier[self->earlier_count++] = *one;
}

static const struct ag_registration *
find_registration (const struct ag_queue *self, uint32_t host, uint64_t event)
{
    for (uint32_t i = 0; i < self->earlier_count; i++) {
        const struct ag_registration *one = &self->earlier[i];
        if (one->host == host && one->from <= event && event < one->until)
            return one;
    }
    return NULL;
}

//  Back from the present registration to that which was in force for an event: the newest before it; before
//  the first, the first. It is left empty when that is the present one.
static int
read_registration (ag_journal_t *journal, struct ag_run *run, uint64_t event,
                   struct ag_registration *one, struct ag_err *err)
{
    char text[16];
    struct ag_str name = host_note (one->host, text);
    while (one->from > event) {
        struct ag_buf hold = {0};
        uint64_t seq;
        int rc = get_note (journal, run, name, one->from - 1, &hold, &seq, err);
        if (rc <= 0) {
            ag_buf_fini (&hold);
            one->from = 0;
            return rc;
        }
        ag_buf_fini (&one->behaviors);
        *one = (struct ag_registration){one->host, seq, one->from, hold};
    }
    return 0;
}

//  What is in force for an event, held by the queue for as long as the event is in hand.
static int
in_force (ag_journal_t *journal, struct ag_run *run, struct ag_queue *self, uint32_t host,
          uint64_t event, struct ag_str *behaviors, struct ag_err *err)
{
    struct ag_registration one = {.host = host, .from = self->hosts[host].seq};
    const struct ag_registration *held = find_registration (self, host, event);
    if (!held && read_registration (journal, run, event, &one, err)) {
        ag_buf_fini (&one.behaviors);
        return -1;
    }
    if (!held && one.behaviors.n)
        keep_registration (self, &one);
    *behaviors = ag_buf_str (held              ? &held->behaviors
                             : one.behaviors.n ? &one.behaviors
                                               : &self->hosts[host].behaviors);
    return 0;
}

static void
clear_due (struct ag_queue *self)
{
    for (uint32_t i = 0; i < self->count; i++)
        ag_buf_fini (&self->list[i].relation);
    for (uint32_t i = 0; i < self->earlier_count; i++)
        ag_buf_fini (&self->earlier[i].behaviors);
    self->due = self->count = self->earlier_count = 0;
}

//  What was put off until now is due after the event's own behaviours, as it was registered for its trigger.
static int
add_delayed (ag_journal_t *journal, struct ag_run *run, struct ag_queue *self, struct ag_err *err)
{
    for (uint32_t i = 0; i < self->delays.count; i++) {
        const struct ag_delay *delay = &self->delays.list[i];
        struct ag_str behaviors;
        if (delay->fire_at > self->tick)
            break;
        if (delay->host < self->host_count &&
            (in_force (journal, run, self, delay->host, delay->event, &behaviors, err) ||
             ag_due_add_delayed (self, delay, behaviors, err)))
            return -1;
    }
    return 0;
}

//  Put an event in hand: the list of what is due for it, which is the same whenever it is made.
static int
take (ag_journal_t *journal, struct ag_run *run, struct ag_queue *self,
      const struct ag_event *event, struct ag_err *err)
{
    clear_due (self);
    self->next = event->seq;
    self->in_hand = true;
    struct ag_str behaviors;
    struct ag_named named = {0};
    int rc = 0;
    for (uint32_t host = 0; host < self->host_count && !rc; host++) {
        rc = in_force (journal, run, self, host, event->seq, &behaviors, err);
        if (!rc)
            rc = ag_due_add (journal, run, self, host, behaviors, event, &named, err);
    }
    ag_named_fini (&named);
    ag_due_order (self);
    return rc ? -1 : add_delayed (journal, run, self, err);
}

static int
take_seq (ag_journal_t *journal, struct ag_run *run, struct ag_queue *self, uint64_t seq,
          struct ag_err *err)
{
    struct ag_buf hold = {0};
    struct ag_event event;
    int rc = ag_journal_read (journal, run, seq, &hold, &event, err);
    if (!rc)
        rc = take (journal, run, self, &event, err);
    ag_buf_clear (&self->left_out); //  it was told when the event was looked at
    ag_buf_fini (&hold);
    return rc;
}

struct replay {
    ag_journal_t *journal;
    struct ag_run *run;
    struct ag_queue *queue;
    struct ag_err *err;
    int rc;
};

static bool
is_queued (const struct ag_event *event)
{
    return !(event->flags & AG_QUIESCENT) && ag_type_rule (event->type).queued;
}

struct moving {
    struct ag_queue *queue;
    uint64_t tick, last; //  where to stop; the last event that counts
};

static bool
count_tick (void *arg, const struct ag_event *event)
{
    struct moving *moving = arg;
    if (!is_queued (event))
        return true;
    moving->last = event->seq;
    return ++moving->queue->tick < moving->tick;
}

//  Past the events up to `until`, or only up to that tick; the last one is taken in hand when asked for.
static int
move_to (struct replay *replay, uint64_t until, uint64_t tick, bool in_hand)
{
    struct ag_queue *queue = replay->queue;
    ag_queue_next_event (queue);
    struct moving moving = {queue, tick, 0};
    if (ag_journal_scan (replay->journal, replay->run, queue->next - 1, until, count_tick, &moving,
                         replay->err))
        return -1;
    ag_delays_drop (&queue->delays, queue->tick - (in_hand && moving.last));
    queue->next = (in_hand && moving.last ? moving.last : until) + 1;
    if (!in_hand || !moving.last)
        return 0;
    return take_seq (replay->journal, replay->run, queue, moving.last, replay->err);
}

//  What an event says was started, put off or failed counts as done; an event without that says nothing.
static bool
follow_due (struct replay *replay, const struct ag_event *event, enum ag_type type)
{
    struct ag_queue *queue = replay->queue;
    struct ag_str name = {0}, relation = {0};
    uint64_t fire_at = 0;
    ag_map_text (event->payload, "behavior", &name);
    ag_map_text (event->payload, "relation_id", &relation);
    const struct ag_delay *delay = ag_delays_find (&queue->delays, event->cause, name, relation);
    if (delay && !(queue->in_hand && queue->tick == delay->fire_at))
        replay->rc = move_to (replay, replay->run->cut, delay->fire_at, true);
    else if (!delay && event->cause >= queue->next &&
             !(queue->in_hand && queue->next == event->cause))
        replay->rc = move_to (replay, event->cause, UINT64_MAX, true);
    queue->active = true;
    for (uint32_t i = queue->due; !replay->rc && i < queue->count; i++) {
        if (!ag_due_is (queue, i, event->cause, name, relation))
            continue;
        queue->due = i + 1;
        if (type == AG_EV_BEHAVIOR_SCHEDULED &&
            !ag_map_uint (event->payload, "fire_at_tick", &fire_at))
            replay->rc = ag_delays_add (&queue->delays, event->cause, fire_at, queue->list[i].host,
                                        name, relation, replay->err);
    }
    return !replay->rc;
}

static bool
follow (void *arg, const struct ag_event *event)
{
    struct replay *replay = arg;
    enum ag_type type = ag_type_of (event->type);
    if (type == AG_EV_RUNTIME_IDLE) {
        replay->rc = move_to (replay, event->seq, UINT64_MAX, false);
        replay->queue->active = false;
        return !replay->rc;
    }
    if (type != AG_EV_BEHAVIOR_STARTED && type != AG_EV_RELATION_BEHAVIOR_STARTED &&
        type != AG_EV_BEHAVIOR_SCHEDULED && type != AG_EV_BEHAVIOR_FAILED)
        return true;
    return follow_due (replay, event, type);
}

//  The note tells where the parent stood at the cut or a little earlier; its log tells the rest. What was
//  only next to be handed out is still due, and the fork's budget is its own.
static int
catch_up (ag_journal_t *journal, struct ag_run *run, struct ag_queue *self, uint64_t noted,
          struct ag_err *err)
{
    if (self->is_open) {
        self->due += self->open.started > 0;
        ag_queue_clear_open (self);
    }
    self->exhausted = 0;
    struct replay replay = {journal, run, self, err, 0};
    if (ag_journal_scan (journal, run, noted, run->cut, follow, &replay, err))
        return -1;
    return replay.rc;
}

static int
load_cursor (ag_journal_t *journal, struct ag_run *run, struct ag_queue *self, struct ag_err *err)
{
    struct ag_buf hold = {0};
    uint64_t noted = 0;
    int rc = get_note (journal, run, AG_LIT ("queue"), run->head.tip, &hold, &noted, err);
    bool fresh = rc == 0 && run->kind == AG_TRIAL;
    if (rc > 0)
        rc = read_note (self, ag_buf_str (&hold), err);
    ag_buf_fini (&hold);
    if (fresh) {
        self->next = run->cut + 1;
        return 0;
    }
    if (!rc)
        rc = ag_delays_load (journal, run, &self->delays, err);
    uint32_t due = self->due;
    if (!rc && self->in_hand) {
        rc = take_seq (journal, run, self, self->next, err);
        self->due = due;
    }
    if (!rc && run->parent && noted <= run->cut)
        return catch_up (journal, run, self, noted, err);
    if (!rc && self->is_open) {
        if (self->due >= self->count)
            return ag_fail (err, AG_E_CORRUPT, "the open invocation of run %s is of no behavior",
                            run->id);
        struct ag_invocation kept = self->open;
        ag_queue_open_due (run, self);
        self->open.started = kept.started;
        self->open.attempt = kept.attempt;
        self->open.deaths = kept.deaths;
        self->open.contentions = kept.contentions;
        self->open.mint.object = kept.mint.object;
        self->open.mint.relation = kept.mint.relation;
    }
    return rc;
}

struct ag_queue *
ag_queue_load (ag_journal_t *journal, struct ag_run *run, struct ag_err *err)
{
    struct ag_queue *self = ag_xcalloc (1, sizeof *self);
    self->run = run->number;
    self->next = 1;
    self->most_events = UINT64_MAX;
    if (load_hosts (journal, run, self, err) ||
        ag_force_list (journal, run, false, &self->disabled, err) ||
        (self->host_count && load_cursor (journal, run, self, err))) {
        ag_queue_free (self);
        return NULL;
    }
    self->touched = self->host_count > 0; //  a run of nobody is never idle: its tip is its user's
    return self;
}

void
ag_queue_free (struct ag_queue *self)
{
    ag_queue_clear_open (self);
    ag_queue_next_event (self);
    free (self->list);
    free (self->earlier);
    ag_buf_fini (&self->left_out);
    ag_buf_fini (&self->disabled);
    ag_delays_fini (&self->delays);
    for (int i = 0; i < AG_HOSTS; i++)
        ag_buf_fini (&self->hosts[i].behaviors);
    free (self);
}

struct look {
    struct replay replay;
    uint32_t seen;
};

static bool
look_at (void *arg, const struct ag_event *event)
{
    struct look *look = arg;
    struct ag_queue *queue = look->replay.queue;
    bool queued = is_queued (event);
    queue->spent = queued && look->replay.run->head.used[AG_USED_EVENTS] >= queue->most_events;
    if (queue->spent)
        return false;
    queue->next = event->seq + 1;
    queue->changed = true;
    if (queued) {
        queue->active = true;
        queue->tick++;
        ag_run_touch (look->replay.journal, look->replay.run);
        look->replay.run->head.used[AG_USED_EVENTS]++;
        look->replay.rc =
            take (look->replay.journal, look->replay.run, queue, event, look->replay.err);
        if (look->replay.rc || queue->count)
            return false;
        ag_queue_next_event (queue);
        if (queue->left_out.n)
            return false;
    }
    return ++look->seen < LOOK_EVENTS;
}

int
ag_queue_look (ag_journal_t *journal, struct ag_run *run, struct ag_queue *self, struct ag_err *err)
{
    struct look look = {.replay = {journal, run, self, err, 0}};
    uint64_t tip = run->head.tip;
    if (ag_journal_scan (journal, run, self->next - 1, tip, look_at, &look, err) || look.replay.rc)
        return -1;
    return self->in_hand || self->next <= tip;
}

void
ag_queue_next_event (struct ag_queue *self)
{
    if (self->in_hand) {
        self->next++;
        ag_delays_drop (&self->delays, self->tick);
    }
    clear_due (self);
    self->in_hand = false;
    self->changed = true;
}

void
ag_queue_clear_open (struct ag_queue *self)
{
    ag_buf_fini (&self->open.behavior);
    ag_buf_fini (&self->open.relation);
    ag_buf_fini (&self->open.frame);
    ag_buf_fini (&self->open.matches.list);
    ag_buf_fini (&self->open.reads);
    ag_buf_fini (&self->open.pending.tool);
    ag_buf_fini (&self->open.pending.args);
    ag_buf_fini (&self->open.denied);
    self->open = (struct ag_invocation){0};
    self->is_open = false;
}

void
ag_queue_open_due (struct ag_run *run, struct ag_queue *self)
{
    const struct ag_due *due = &self->list[self->due];
    ag_queue_clear_open (self);
    self->is_open = true;
    self->open = (struct ag_invocation){.run = run->number,
                                        .event = due->event,
                                        .host = due->host,
                                        .delayed = due->delayed,
                                        .mint = {.object = run->head.minted[AG_MINTED_OBJECT],
                                                 .relation = run->head.minted[AG_MINTED_RELATION],
                                                 .mine = true}};
    ag_buf_add_str (&self->open.behavior, due->behavior);
    ag_buf_add_str (&self->open.relation, ag_buf_str (&due->relation));
}

static int
append_registered (ag_journal_t *journal, struct ag_run *run, uint32_t host,
                   struct ag_str behaviors, struct ag_str tools, uint64_t *seq, struct ag_err *err)
{
    struct ag_buf payload = {0};
    ag_put_map (&payload, 3);
    ag_put_lit (&payload, "host");
    ag_put_uint (&payload, host);
    ag_put_lit (&payload, "behaviors");
    ag_put_value (&payload, behaviors);
    ag_put_lit (&payload, "tools");
    if (tools.p)
        ag_put_value (&payload, tools);
    else
        ag_put_list (&payload, 0);
    return ag_journal_tell (journal, run, AG_EV_WORKER_REGISTERED, 0, &payload, seq, err);
}

//  The list may borrow from what is replaced; then that stays until the event is finished.
static void
replace_registration (struct ag_queue *self, uint32_t host, uint64_t seq, struct ag_str behaviors)
{
    struct ag_registration one = {host, self->hosts[host].seq, seq, self->hosts[host].behaviors};
    const char *begin = (const char *)one.behaviors.p, *end = begin + one.behaviors.n;
    bool used = false;
    for (uint32_t i = 0; i < self->count && !used; i++)
        used = self->list[i].behavior.p >= begin && self->list[i].behavior.p < end;
    if (used)
        keep_registration (self, &one);
    else
        ag_buf_fini (&one.behaviors);
    self->hosts[host].behaviors = (struct ag_buf){0};
    ag_buf_add_str (&self->hosts[host].behaviors, behaviors);
    self->hosts[host].seq = seq;
}

int
ag_queue_note_host (ag_journal_t *journal, struct ag_run *run, struct ag_queue *self, uint32_t host,
                    struct ag_str behaviors, struct ag_str tools, struct ag_err *err)
{
    uint64_t seq;
    char text[16];
    if (self->hosts[host].seq &&
        ag_value_equal (ag_buf_str (&self->hosts[host].behaviors), behaviors))
        return 0;
    if (append_registered (journal, run, host, behaviors, tools, &seq, err))
        return -1;
    ag_note_put (journal, run, host_note (host, text), seq, behaviors);
    replace_registration (self, host, seq, behaviors);
    return 0;
}
