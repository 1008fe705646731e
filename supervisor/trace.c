//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/trace.h"
#include "supervisor/failure.h"
#include "supervisor/record.h"

enum { LOOK_EVENTS = 2048 };

struct look {
    struct ag_trace *trace;
    uint32_t seen;
    bool found;
};

void
ag_trace_fini (struct ag_trace *self)
{
    ag_buf_fini (&self->item.name);
    ag_buf_fini (&self->item.relation);
}

static void
begin (struct ag_traced *item, const struct ag_event *event)
{
    struct ag_str name = {0}, relation = {0};
    uint64_t attempt = 1;
    ag_map_text (event->payload, "behavior", &name);
    ag_map_text (event->payload, "relation_id", &relation);
    ag_map_uint (event->payload, "attempt", &attempt);
    ag_buf_clear (&item->name);
    ag_buf_clear (&item->relation);
    ag_buf_add_str (&item->name, name);
    ag_buf_add_str (&item->relation, relation);
    item->event = event->cause;
    item->started = event->seq;
    item->attempt = (uint32_t)attempt;
    item->first = item->end = 0;
}

//  A commit stands in the log without a gap: the reads, what the behaviour did, what that took along. One invocation
//  is open at a time, so its trigger tells what is of it.
static bool
is_of_commit (const struct ag_traced *item, enum ag_type type, const struct ag_event *event)
{
    if (type == AG_EV_CONTEXT_READ)
        return event->cause == item->event;
    return ag_str_eq (event->actor, ag_buf_str (&item->name)) &&
           (event->cause == item->event || (item->first && event->cause >= item->first));
}

static bool
is_end (const struct ag_traced *item, enum ag_type type, const struct ag_event *event)
{
    return item->started && event->cause == item->event &&
           (type == AG_EV_BEHAVIOR_COMPLETED || type == AG_EV_BEHAVIOR_FAILED ||
            type == AG_EV_BEHAVIOR_DECLINED);
}

static bool
look_at (void *arg, const struct ag_event *event)
{
    struct look *look = arg;
    struct ag_traced *item = &look->trace->item;
    enum ag_type type = ag_type_of (event->type);
    look->trace->at = event->seq;
    if (type == AG_EV_BEHAVIOR_STARTED || type == AG_EV_RELATION_BEHAVIOR_STARTED)
        begin (item, event);
    else if (is_end (item, type, event)) {
        item->end = event->seq;
        item->outcome = type;
        item->outside = type == AG_EV_BEHAVIOR_FAILED && ag_failure_is_outside (event->payload);
        if (!item->first)
            item->first = event->seq;
        look->found = true;
    } else if (!item->started || !is_of_commit (item, type, event))
        item->first = 0;
    else if (!item->first)
        item->first = event->seq;
    return !look->found && ++look->seen < LOOK_EVENTS;
}

int
ag_trace_next (ag_journal_t *journal, const struct ag_run *run, struct ag_trace *self,
               struct ag_err *err)
{
    struct look look = {.trace = self};
    if (self->item.end)
        self->item.started = self->item.end = 0;
    if (ag_journal_scan (journal, run, self->at, self->until, look_at, &look, err))
        return -1;
    return look.found;
}

int
ag_trace_mint (ag_journal_t *journal, const struct ag_run *run, const struct ag_traced *item,
               struct ag_mint *mint, struct ag_err *err)
{
    struct ag_buf hold = {0};
    uint64_t noted = 0, started = 0;
    *mint = (struct ag_mint){.mine = true};
    int rc = ag_note_get (journal, run, AG_LIT ("queue"), item->started, &hold, &noted, err);
    struct ag_str note = ag_buf_str (&hold);
    if (rc == 0 ||
        (rc > 0 &&
         (ag_map_uint (note, "started", &started) || ag_map_uint (note, "object", &mint->object) ||
          ag_map_uint (note, "relation", &mint->relation) || started != item->started)))
        rc = ag_fail (err, AG_E_CORRUPT, "run %s does not know what its event %llu minted from",
                      run->id, (unsigned long long)item->started);
    ag_buf_fini (&hold);
    return rc < 0 ? -1 : 0;
}
