//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/wanted.h"
#include "supervisor/cypher_match.h"
#include "supervisor/invocation.h"
#include "supervisor/match.h"
#include "supervisor/state.h"

#include <stdlib.h>

//  What was put off may have lost its relation meanwhile: 1 when it is there or none is needed, 0, -1.
static int
has_relation (struct ag_house *house, struct ag_run *run, const struct ag_invocation *open,
              struct ag_err *err)
{
    struct ag_tip tip = {0};
    if (!open->delayed || !open->relation.n)
        return 1;
    int rc = ag_state_tip (house->journal, run, AG_RELATION, ag_buf_str (&open->relation), AG_NOW,
                           &tip, err);
    rc = rc > 0 ? tip.live : rc;
    ag_tip_fini (&tip);
    return rc;
}

int
ag_wanted_pattern (struct ag_house *house, struct ag_run *run, struct ag_invocation *open,
                   const struct ag_event *event, struct ag_err *err)
{
    struct ag_str pattern;
    if (ag_map_text (ag_buf_str (&open->behavior), "pattern", &pattern))
        return 1;
    ag_buf_clear (&open->reads);
    open->read_count = 0;
    struct ag_cypher *cypher = ag_xmalloc (sizeof *cypher);
    int rc = ag_cypher_read (cypher, pattern, err);
    if (!rc)
        rc = ag_cypher_match (house->journal, run, cypher, event, open, &open->matches, err);
    free (cypher);
    return rc ? -1 : open->matches.count > 0;
}

bool
ag_wanted_is_out (const struct ag_queue *queue)
{
    struct ag_cursor in = ag_cursor (ag_buf_str (&queue->disabled));
    struct ag_head name;
    struct ag_str pack;
    if (!queue->disabled.n || ag_map_text (ag_buf_str (&queue->open.behavior), "pack", &pack))
        return false;
    while (in.p < in.end && !ag_next (&in, &name))
        if (ag_str_eq (name.s, pack))
            return true;
    return false;
}

int
ag_wanted_drop (struct ag_house *house, struct ag_invocation *open, struct ag_err *err)
{
    if (open->started &&
        ag_invocation_note (house, open, AG_EV_BEHAVIOR_DECLINED, (struct ag_str){0}, 0, err))
        return -1;
    ag_queue_close (house, open->run);
    return 0;
}

static int
append_scheduled (struct ag_house *house, const struct ag_queue *queue, uint64_t events,
                  struct ag_err *err)
{
    struct ag_buf pairs = {0};
    const struct ag_buf *relation = &queue->open.relation;
    ag_put_lit (&pairs, "activate_after");
    ag_put_uint (&pairs, events);
    ag_put_lit (&pairs, "fire_at_tick");
    ag_put_uint (&pairs, queue->tick + events);
    ag_put_lit (&pairs, "current_tick");
    ag_put_uint (&pairs, queue->tick);
    if (relation->n) {
        ag_put_lit (&pairs, "relation_id");
        ag_put_text (&pairs, ag_buf_str (relation));
    }
    int rc = ag_invocation_note (house, &queue->open, AG_EV_BEHAVIOR_SCHEDULED, ag_buf_str (&pairs),
                                 relation->n ? 4 : 3, err);
    ag_buf_fini (&pairs);
    return rc;
}

static int
put_off (struct ag_house *house, struct ag_queue *queue, uint64_t events, struct ag_err *err)
{
    struct ag_invocation *open = &queue->open;
    struct ag_str name = {0};
    struct ag_err why;
    ag_map_text (ag_buf_str (&open->behavior), "name", &name);
    if (ag_delays_add (&queue->delays, open->event, queue->tick + events, open->host, name,
                       ag_buf_str (&open->relation), &why))
        return ag_invocation_give_up (house, open, &why, "activate_after.too_many", err);
    if (append_scheduled (house, queue, events, err))
        return -1;
    ag_queue_close (house, open->run);
    return 0;
}

//  It has nothing that could change between the event and now.
static bool
is_plain (const struct ag_invocation *open)
{
    struct ag_str behavior = ag_buf_str (&open->behavior), pattern;
    return ag_map_text (behavior, "pattern", &pattern) && !ag_match_delay (behavior);
}

int
ag_wanted (struct ag_house *house, struct ag_queue *queue, struct ag_run *run, struct ag_err *err)
{
    struct ag_invocation *open = &queue->open;
    struct ag_buf hold = {0};
    struct ag_event event;
    open->checked = run->head.tip;
    if (ag_wanted_is_out (queue))
        return ag_wanted_drop (house, open, err);
    if (is_plain (open))
        return 1;
    int rc = ag_journal_read (house->journal, run, open->event, &hold, &event, err);
    if (!rc) {
        ag_buf_clear (&open->frame);
        if (event.frame.p)
            ag_buf_add_str (&open->frame, event.frame);
        rc = has_relation (house, run, open, err);
    }
    open->at = run->head.tip;
    if (rc > 0)
        rc = ag_wanted_pattern (house, run, open, &event, err);
    ag_buf_fini (&hold);
    uint64_t events = open->delayed ? 0 : ag_match_delay (ag_buf_str (&open->behavior));
    if (rc < 0 && err->code == AG_E_TOO_LARGE) {
        struct ag_err why = *err;
        return ag_invocation_give_up (house, open, &why, "pattern.too_large", err);
    }
    if (rc == 0)
        return ag_wanted_drop (house, open, err);
    return rc > 0 && events ? put_off (house, queue, events, err) : rc;
}
