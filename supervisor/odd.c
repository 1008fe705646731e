//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/odd.h"

//  Whether an entity was there just before or after the event: 1, 0, -1. An entity that the event's own
//  cause has removed counts as there: its removal is told twice.
static int
is_there (ag_journal_t *journal, const struct ag_run *run, enum ag_entity_kind kind,
          struct ag_str id, uint64_t at, uint64_t cause, struct ag_err *err)
{
    struct ag_tip tip = {0};
    int rc = ag_state_tip (journal, run, kind, id, at, &tip, err);
    bool there = rc > 0 && (tip.live || (cause && tip.seq == cause));
    ag_tip_fini (&tip);
    return rc < 0 ? -1 : there;
}

static int
odd_again (ag_journal_t *journal, const struct ag_run *run, const struct ag_change *change,
           uint64_t at, struct ag_buf *why, struct ag_err *err)
{
    struct ag_tip tip = {0};
    int rc = ag_state_tip (journal, run, change->kind, change->id, at, &tip, err);
    bool again = rc > 0 && tip.again;
    ag_tip_fini (&tip);
    if (!again)
        return rc < 0 ? -1 : 0;
    int there = is_there (journal, run, change->kind, change->id, at - 1, 0, err);
    ag_buf_text (why, "%.*s is made again, %s", AG_STR_ARG (change->id),
                 there ? "while it was there" : "under an id that was removed");
    return there < 0 ? -1 : 1;
}

static int
odd_end (ag_journal_t *journal, const struct ag_run *run, const struct ag_event *event,
         const char *end, struct ag_buf *why, struct ag_err *err)
{
    struct ag_str relation, id, object;
    if (ag_map_get (event->payload, "relation", &relation) || ag_map_text (relation, "id", &id) ||
        ag_map_text (relation, end, &object))
        return 0;
    int there = is_there (journal, run, AG_OBJECT, object, event->seq, 0, err);
    if (there == 0)
        ag_buf_text (why, "the %s of %.*s, %.*s, does not exist", end, AG_STR_ARG (id),
                     AG_STR_ARG (object));
    return there < 0 ? -1 : !there;
}

int
ag_odd (ag_journal_t *journal, const struct ag_run *run, const struct ag_event *event,
        struct ag_buf *why, struct ag_err *err)
{
    struct ag_change change;
    if (!(event->flags & AG_IMPORTED) || !ag_change_of (event, &change))
        return 0;
    bool relation = ag_str_eq (event->type, ag_type_name (AG_EV_RELATION_CREATED));
    if (relation || ag_str_eq (event->type, ag_type_name (AG_EV_OBJECT_CREATED))) {
        int odd = odd_again (journal, run, &change, event->seq, why, err);
        if (!odd && relation)
            odd = odd_end (journal, run, event, "source", why, err);
        return odd || !relation ? odd : odd_end (journal, run, event, "target", why, err);
    }
    int there = is_there (journal, run, change.kind, change.id, event->seq - 1, event->cause, err);
    if (there == 0)
        ag_buf_text (why, "%.*s of %.*s, which is not there", AG_STR_ARG (event->type),
                     AG_STR_ARG (change.id));
    return there < 0 ? -1 : !there;
}
