//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/queue.h"
#include "common/log.h"
#include "supervisor/budget.h"
#include "supervisor/cursor.h"
#include "supervisor/declared.h"
#include "supervisor/due.h"
#include "supervisor/fleet.h"
#include "supervisor/match.h"
#include "supervisor/policy.h"
#include "supervisor/record.h"
#include "supervisor/unit.h"
#include "supervisor/wanted.h"
#include "supervisor/workers.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    PUMP_STEPS = 512, //  of one run at a time,
    PUMP_MS = 100,    //  and how long they may take before the others have theirs
#ifdef __SANITIZE_ADDRESS__
    QUEUES = 0 //  each is read from the store again and again
#else
    QUEUES = 4096 //  that have nothing to do and stay in memory
#endif
};

struct ag_queues {
    struct ag_house *house;
    struct ag_queue *table;
};

struct ag_queues *
ag_queues_new (struct ag_house *house)
{
    struct ag_queues *self = ag_xcalloc (1, sizeof *self);
    self->house = house;
    return self;
}

static void
drop (struct ag_queues *self, struct ag_queue *queue)
{
    if (queue->open.timer)
        ag_loop_cancel (self->house->daemon->loop, queue->open.timer);
    HASH_DEL (self->table, queue);
    ag_queue_free (queue);
}

void
ag_queues_forget (struct ag_house *house)
{
    struct ag_queues *self = house->queues;
    struct ag_queue *queue, *next;
    HASH_ITER (hh, self->table, queue, next) {
        drop (self, queue);
    }
}

void
ag_queues_forget_gone (struct ag_house *house)
{
    struct ag_queue *queue, *next;
    HASH_ITER (hh, house->queues->table, queue, next) {
        if (ag_run_is_gone (house->journal, queue->run))
            drop (house->queues, queue);
    }
}

void
ag_queues_release (struct ag_house *house, uint64_t run)
{
    struct ag_queue *queue;
    HASH_FIND (hh, house->queues->table, &run, sizeof run, queue);
    if (queue)
        drop (house->queues, queue);
}

void
ag_queues_destroy (struct ag_queues **self_p)
{
    if (!*self_p)
        return;
    ag_queues_forget ((*self_p)->house);
    free (*self_p);
    *self_p = NULL;
}

//  The queue of a run in memory; read from the store when it is not there yet. NULL for a run without
//  hosts, and when the store fails (logged).
static struct ag_queue *
queue_of (struct ag_house *house, uint64_t number)
{
    struct ag_queue *queue;
    HASH_FIND (hh, house->queues->table, &number, sizeof number, queue);
    if (queue)
        return queue->host_count ? queue : NULL;
    struct ag_err err;
    struct ag_run *run;
    if (ag_run_get (house->journal, number, &run, &err) ||
        !(queue = ag_queue_load (house->journal, run, &err))) {
        ag_log_err (AG_ERROR, &err, "a run's queue cannot be read");
        return NULL;
    }
    HASH_ADD (hh, house->queues->table, run, sizeof queue->run, queue);
    return queue->host_count ? queue : NULL;
}

void
ag_queues_touch (struct ag_house *house, uint64_t run)
{
    struct ag_queue *queue = queue_of (house, run);
    if (queue)
        queue->touched = true;
}

struct ag_invocation *
ag_queue_open (struct ag_house *house, uint64_t run)
{
    struct ag_queue *queue = queue_of (house, run);
    return queue && queue->is_open ? &queue->open : NULL;
}

static uint64_t
tip_of (struct ag_house *house, uint64_t number)
{
    struct ag_err err;
    struct ag_run *run;
    return ag_run_get (house->journal, number, &run, &err) ? 0 : run->head.tip;
}

bool
ag_queue_idle (struct ag_house *house, uint64_t run)
{
    struct ag_queue *queue = queue_of (house, run);
    return !queue || queue->exhausted ||
           (!queue->is_open && !queue->in_hand && queue->next > tip_of (house, run));
}

uint64_t
ag_queue_length (struct ag_house *house, uint64_t run)
{
    struct ag_queue *queue = queue_of (house, run);
    uint64_t tip = tip_of (house, run);
    return queue && queue->next <= tip ? tip - queue->next + 1 : 0;
}

int64_t
ag_queue_clock_us (void)
{
    struct timespec now;
    clock_gettime (CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

//  The open invocation is in nobody's hand any more: how long it was is used.
static void
count_time (struct ag_house *house, struct ag_queue *queue)
{
    struct ag_err err;
    struct ag_run *run;
    struct ag_invocation *open = &queue->open;
    if (open->since_us && !ag_run_get (house->journal, queue->run, &run, &err)) {
        ag_run_touch (house->journal, run);
        run->head.used[AG_USED_US] += (uint64_t)(ag_queue_clock_us() - open->since_us);
    }
    open->since_us = 0;
}

void
ag_queue_close (struct ag_house *house, uint64_t run)
{
    struct ag_queue *queue = queue_of (house, run);
    if (!queue || !queue->is_open)
        return;
    if (queue->open.timer)
        ag_loop_cancel (house->daemon->loop, queue->open.timer);
    count_time (house, queue);
    ag_queue_clear_open (queue);
    queue->due++;
    queue->changed = queue->touched = true;
}

void
ag_queue_again (struct ag_house *house, uint64_t run)
{
    struct ag_queue *queue = queue_of (house, run);
    if (!queue || !queue->is_open)
        return;
    struct ag_invocation *open = &queue->open;
    if (open->timer)
        ag_loop_cancel (house->daemon->loop, open->timer);
    count_time (house, queue);
    open->timer = 0;
    open->session = NULL;
    open->effects = open->read_count = 0;
    open->checked = 0;
    ag_buf_clear (&open->reads);
    ag_buf_clear (&open->denied);
    open->pending.open = open->diverged = false;
    queue->changed = queue->touched = true;
}

struct ag_budget
ag_queue_budget (struct ag_house *house, uint64_t run)
{
    struct ag_unit *unit = ag_fleet_unit (house, run, 0);
    return unit ? unit->budget : ag_budget_of (AG_LIT ("\x80"));
}

static int
append_snapshot (struct ag_house *house, struct ag_run *run, enum ag_type type,
                 const char *exhausted_by, uint64_t *seq, struct ag_err *err)
{
    struct ag_budget budget = ag_queue_budget (house, run->number);
    struct ag_buf payload = {0};
    ag_put_map (&payload, exhausted_by ? 2 : 1);
    if (exhausted_by) {
        ag_put_lit (&payload, "exhausted_by");
        ag_put_lit (&payload, exhausted_by);
    }
    ag_put_lit (&payload, "snapshot");
    ag_budget_snapshot (&budget, run, &payload);
    return ag_journal_tell (house->journal, run, type, 0, &payload, seq, err);
}

static int
exhaust (struct ag_house *house, struct ag_queue *queue, struct ag_run *run, uint32_t dimension,
         struct ag_err *err)
{
    uint64_t seq;
    queue->exhausted = 1 + dimension;
    queue->spent_limit = ag_queue_budget (house, run->number).limits[dimension];
    queue->changed = true;
    return append_snapshot (house, run, AG_EV_RUNTIME_BUDGET_EXHAUSTED, ag_budget_name (dimension),
                            &seq, err);
}

int
ag_queue_exhaust (struct ag_house *house, uint64_t number, uint32_t dimension, struct ag_err *err)
{
    struct ag_queue *queue = queue_of (house, number);
    struct ag_run *run;
    if (!queue)
        return 0;
    return ag_run_get (house->journal, number, &run, err) ||
                   exhaust (house, queue, run, dimension, err)
               ? -1
               : 0;
}

const char *
ag_queue_exhausted_by (struct ag_house *house, uint64_t run)
{
    struct ag_queue *queue = queue_of (house, run);
    return queue && queue->exhausted ? ag_budget_name (queue->exhausted - 1) : NULL;
}

//  A host whose process is yet to come says then what it does: names that it had are free for the other.
static bool
says_again (struct ag_house *house, const struct ag_queue *queue, uint32_t host)
{
    const struct ag_unit *unit = ag_fleet_unit (house, queue->run, host);
    return unit && ag_unit_is_coming (unit);
}

//  What is due, and an effect that was recorded, is known by the name of its behaviour: in a run each has its own.
static int
check_names (struct ag_house *house, const struct ag_queue *queue, uint32_t host,
             struct ag_str behaviors, struct ag_err *err)
{
    struct ag_str behavior, name, same;
    for (uint32_t other = 0; other < queue->host_count; other++) {
        struct ag_str taken = ag_buf_str (&queue->hosts[other].behaviors);
        bool counts = other != host && !says_again (house, queue, other);
        for (uint32_t i = 0; counts && !ag_list_nth (behaviors, i, &behavior); i++)
            if (!ag_map_text (behavior, "name", &name) &&
                !ag_list_find (taken, "name", name, &same))
                return ag_fail (err, AG_E_BAD_MESSAGE,
                                "behavior `%.*s` is one of the run's other host already: give it "
                                "another name",
                                AG_STR_ARG (name));
    }
    return 0;
}

int
ag_queue_register (struct ag_house *house, uint64_t number, uint32_t host, struct ag_str behaviors,
                   struct ag_str tools, struct ag_err *err)
{
    struct ag_queue *queue = queue_of (house, number);
    struct ag_run *run;
    if (!queue || ag_run_get (house->journal, number, &run, err))
        return queue ? -1 : ag_fail (err, AG_E_NOT_FOUND, "the run has no hosts");
    if (check_names (house, queue, host, behaviors, err))
        return -1;
    queue->touched = true;
    return ag_queue_note_host (house->journal, run, queue, host, behaviors, tools, err);
}

struct ag_str
ag_queue_policy_of_nobody (struct ag_house *house, uint64_t number, struct ag_str spec)
{
    struct ag_queue *queue = queue_of (house, number);
    struct ag_str behaviors[AG_HOSTS];
    for (uint32_t host = 0; queue && host < queue->host_count; host++) {
        if (!queue->hosts[host].seq)
            return (struct ag_str){0};
        behaviors[host] = ag_buf_str (&queue->hosts[host].behaviors);
    }
    return queue ? ag_policy_of_nobody (spec, behaviors, queue->host_count) : (struct ag_str){0};
}

int
ag_queue_packs (struct ag_house *house, uint64_t number, struct ag_err *err)
{
    struct ag_queue *queue = queue_of (house, number);
    struct ag_run *run;
    if (!queue)
        return 0;
    if (ag_run_get (house->journal, number, &run, err))
        return -1;
    ag_buf_clear (&queue->disabled);
    queue->touched = true;
    return ag_force_list (house->journal, run, false, &queue->disabled, err) ||
                   (queue->is_open && ag_wanted_is_out (queue) &&
                    ag_wanted_drop (house, &queue->open, err))
               ? -1
               : 0;
}

//  A trial may not append so many more events: it stops before them.
static bool
is_full (struct ag_house *house, const struct ag_run *run, uint64_t more)
{
    if (run->kind != AG_TRIAL)
        return false;
    struct ag_budget budget = ag_queue_budget (house, run->number);
    return ag_budget_crosses (&budget, run, AG_NET_EVENTS, more);
}

//  The open invocation goes to its host's session when that waits; else the host is asked to come. Whether it
//  is wanted is looked at before anybody is woken, and again when the run has moved meanwhile.
static int
hand_out (struct ag_house *house, struct ag_queue *queue, struct ag_run *run, struct ag_err *err)
{
    struct ag_invocation *open = &queue->open;
    if (open->session)
        return 0;
    if (is_full (house, run, 2)) //  that it was found and that it starts
        return exhaust (house, queue, run, AG_NET_EVENTS, err);
    struct ag_unit *unit = ag_fleet_unit (house, queue->run, open->host);
    bool waits = unit && unit->session && unit->session->state == AG_SESSION_WAITING;
    if (!open->checked || (waits && open->checked != run->head.tip)) {
        int wanted = ag_wanted (house, queue, run, err);
        if (wanted <= 0)
            return wanted < 0 ? -1 : 1;
    }
    if (!waits) {
        ag_fleet_due (house, queue->run, open->host);
        return 0;
    }
    queue->changed = true;
    return ag_session_invoke (house, unit->session, open, err);
}

//  Hosts that never registered are started; until all have, nothing is handed out.
static bool
all_registered (struct ag_house *house, struct ag_queue *queue)
{
    bool all = true;
    for (uint32_t host = 0; host < queue->host_count; host++)
        if (!queue->hosts[host].seq) {
            ag_fleet_due (house, queue->run, host);
            all = false;
        }
    return all;
}

//  Everything was looked at: one runtime.idle, unless nothing happened since the last.
static int
idle (struct ag_house *house, struct ag_queue *queue, struct ag_run *run, struct ag_err *err)
{
    if (!queue->active)
        return 0;
    if (is_full (house, run, 1))
        return exhaust (house, queue, run, AG_NET_EVENTS, err);
    uint64_t seq;
    if (append_snapshot (house, run, AG_EV_RUNTIME_IDLE, NULL, &seq, err))
        return -1;
    queue->active = false;
    queue->next = seq + 1;
    queue->changed = true;
    return 0;
}

//  Behaviours that were left out of an event: each a failure in the run's log; the queue goes on.
static int
tell_left_out (struct ag_house *house, struct ag_queue *queue, struct ag_run *run,
               struct ag_err *err)
{
    struct ag_cursor in = ag_cursor (ag_buf_str (&queue->left_out));
    struct ag_head name, why;
    int rc = 0;
    while (!rc && in.p < in.end && !ag_next (&in, &name) && !ag_next (&in, &why)) {
        struct ag_buf payload = {0};
        ag_put_map (&payload, 5);
        ag_put_lit (&payload, "behavior");
        ag_put_text (&payload, name.s);
        ag_put_lit (&payload, "event_id");
        ag_put_evt (&payload, queue->left_out_at);
        ag_put_lit (&payload, "exception_type");
        ag_put_lit (&payload, "TooManyInvocations");
        ag_put_lit (&payload, "message");
        ag_put_textf (&payload, "not run: %.*s", AG_STR_ARG (why.s));
        ag_put_lit (&payload, "reason");
        ag_put_lit (&payload, "queue.too_many");
        rc = ag_journal_tell (house->journal, run, AG_EV_BEHAVIOR_FAILED, queue->left_out_at,
                              &payload, NULL, err);
    }
    ag_buf_clear (&queue->left_out);
    return rc;
}

//  What is used up stays so until its limit is raised; in a fork, which counts its own, nothing is.
static bool
is_exhausted (struct ag_queue *queue, const struct ag_budget *budget)
{
    if (!queue->exhausted || budget->limits[queue->exhausted - 1] <= queue->spent_limit)
        return queue->exhausted;
    queue->exhausted = 0;
    queue->changed = true;
    return false;
}

//  The next events; 0 also when the budget of events ends before them.
static int
look (struct ag_house *house, struct ag_queue *queue, struct ag_run *run,
      const struct ag_budget *budget, struct ag_err *err)
{
    queue->most_events = budget->limits[AG_USED_EVENTS];
    int found = ag_queue_look (house->journal, run, queue, err);
    if (found < 0 || !queue->spent)
        return found;
    return exhaust (house, queue, run, AG_USED_EVENTS, err);
}

//  Is the trigger at the end of too long a chain of causes? 1, 0, -1. Its depth is counted.
static int
is_too_deep (struct ag_house *house, const struct ag_queue *queue, struct ag_run *run,
             const struct ag_budget *budget, struct ag_err *err)
{
    uint64_t most = budget->limits[AG_USED_DEPTH], depth, *used = &run->head.used[AG_USED_DEPTH];
    if (most == AG_UNLIMITED)
        return 0;
    if (ag_budget_depth (house->journal, run, queue->list[queue->due].event, most, &depth, err))
        return -1;
    if (depth > most)
        return 1;
    ag_run_touch (house->journal, run);
    *used = depth > *used ? depth : *used;
    return 0;
}

//  The next due behaviour becomes the open invocation, as far as the budget goes.
static int
open_due (struct ag_house *house, struct ag_queue *queue, struct ag_run *run,
          const struct ag_budget *budget, struct ag_err *err)
{
    uint32_t dimension;
    if (ag_budget_is_spent (budget, run, &dimension))
        return exhaust (house, queue, run, dimension, err);
    int deep = is_too_deep (house, queue, run, budget, err);
    if (deep)
        return deep < 0 ? -1 : exhaust (house, queue, run, AG_USED_DEPTH, err);
    ag_queue_open_due (run, queue);
    return 1;
}

//  One step: 1 when there may be another, 0 when it waits for somebody or is done.
static int
step (struct ag_house *house, struct ag_queue *queue, struct ag_run *run,
      const struct ag_budget *budget, struct ag_err *err)
{
    if (is_exhausted (queue, budget))
        return 0;
    if (queue->is_open)
        return hand_out (house, queue, run, err);
    if (!queue->in_hand) {
        int found = queue->next > run->head.tip ? 0 : look (house, queue, run, budget, err);
        if (found >= 0 && tell_left_out (house, queue, run, err))
            return -1;
        return found || queue->exhausted ? found : idle (house, queue, run, err);
    }
    if (queue->due < queue->count)
        return open_due (house, queue, run, budget, err);
    ag_queue_next_event (queue);
    return 1;
}

//  A trial moves while its one process lives.
static bool
rests (struct ag_house *house, const struct ag_run *run)
{
    if (run->kind != AG_TRIAL)
        return false;
    const struct ag_unit *unit = ag_fleet_unit (house, run->number, 0);
    return !unit || !unit->child || ag_unit_is_doomed (unit);
}

static int
pump (struct ag_house *house, struct ag_queue *queue, struct ag_err *err)
{
    struct ag_run *run;
    if (ag_run_get (house->journal, queue->run, &run, err))
        return -1;
    if (rests (house, run) || !all_registered (house, queue))
        return 0;
    struct ag_budget budget = ag_queue_budget (house, queue->run);
    int more = 1;
    int64_t end = ag_now_ms() + PUMP_MS;
    for (int i = 0; i < PUMP_STEPS && more > 0 && ag_now_ms() < end; i++)
        more = step (house, queue, run, &budget, err);
    queue->touched = more > 0;
    if (more >= 0 && queue->changed)
        ag_queue_save (house->journal, run, queue);
    return more < 0 ? -1 : 0;
}

//  What has nothing to do stands in the store as it does here.
static void
drop_idle (struct ag_queues *self)
{
    struct ag_queue *queue, *next;
    HASH_ITER (hh, self->table, queue, next) {
        if (!queue->touched && !queue->changed && !queue->is_open && !queue->in_hand)
            drop (self, queue);
    }
}

static void
pump_or_drop (struct ag_house *house, struct ag_queue *queue)
{
    struct ag_err err;
    struct ag_mark mark = ag_journal_mark (house->journal);
    queue->touched = false;
    if (pump (house, queue, &err)) {
        ag_journal_rollback (house->journal, &mark);
        ag_log_err (AG_ERROR, &err, "a run's queue stands still");
        drop (house->queues, queue);
    }
}

void
ag_queue_pump (struct ag_house *house, uint64_t run)
{
    struct ag_queue *queue;
    HASH_FIND (hh, house->queues->table, &run, sizeof run, queue);
    if (queue && queue->touched)
        pump_or_drop (house, queue);
}

void
ag_queues_pump (struct ag_house *house)
{
    struct ag_queue *queue, *next;
    HASH_ITER (hh, house->queues->table, queue, next) {
        if (queue->touched)
            pump_or_drop (house, queue);
    }
    if (HASH_COUNT (house->queues->table) > QUEUES)
        drop_idle (house->queues);
}
