//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/fields.h"
#include "supervisor/state_index.h"

#include <inttypes.h>

//  How each type of event that changes the graph names its entity: payload.PART.id, or payload.id.
static const struct row {
    enum ag_type type;
    enum ag_entity_kind kind;
    const char *part; //  NULL: payload.FIELD
    const char *field;
} rows[] = {{AG_EV_OBJECT_CREATED, AG_OBJECT, "object", "id"},
            {AG_EV_OBJECT_REMOVED, AG_OBJECT, NULL, "id"},
            {AG_EV_RELATION_CREATED, AG_RELATION, "relation", "id"},
            {AG_EV_RELATION_REMOVED, AG_RELATION, NULL, "id"},
            {AG_EV_PATCH_APPLIED, AG_OBJECT, NULL, "target"}};

static const struct row *
row_of (const struct ag_event *event)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (ag_str_eq (event->type, ag_type_name (rows[i].type)))
            return &rows[i];
    return NULL;
}

bool
ag_change_of (const struct ag_event *event, struct ag_change *change)
{
    const struct row *row = row_of (event);
    struct ag_str holder = event->payload;
    if (!row)
        return false;
    change->kind = row->kind;
    return !(row->part && ag_map_get (event->payload, row->part, &holder)) &&
           !ag_map_text (holder, row->field, &change->id);
}

static int
corrupt (const struct ag_run *run, const struct ag_event *event, struct ag_err *err)
{
    return ag_fail (err, AG_E_CORRUPT, "event %" PRIu64 " of run %s is no change of the graph",
                    event->seq, run->id);
}

//  Of an imported log alone an id may be one that was there before.
static int
apply_create (ag_journal_t *journal, const struct ag_run *run, const struct ag_event *event,
              const struct row *row, struct ag_str id, struct ag_err *err)
{
    struct ag_str thing;
    struct ag_tip before = {0},
                  now = {.seq = event->seq, .created = event->seq, .version = 1, .live = true};
    if (ag_map_get (event->payload, row->part, &thing) || ag_map_text (thing, "type", &now.type))
        return corrupt (run, event, err);
    if (row->kind == AG_RELATION &&
        (ag_map_text (thing, "source", &now.source) || ag_map_text (thing, "target", &now.target)))
        return corrupt (run, event, err);
    int rc = event->flags & AG_IMPORTED
                 ? ag_state_tip (journal, run, row->kind, id, AG_NOW, &before, err)
                 : 0;
    if (rc > 0)
        ag_state_create_again (journal, run, row->kind, id, &before, &now);
    else if (rc == 0)
        ag_state_create (journal, run, row->kind, id, now.type, now.source, now.target, event->seq);
    ag_tip_fini (&before);
    return rc < 0 ? -1 : 0;
}

static int
apply_patch (ag_journal_t *journal, const struct ag_run *run, const struct ag_event *event,
             struct ag_str id, const struct ag_tip *before, struct ag_err *err)
{
    struct ag_str patch, op, value;
    struct ag_buf data = {0}, after = {0};
    if (ag_map_get (event->payload, "patch", &patch) || ag_map_text (patch, "op", &op) ||
        ag_map_get (patch, "value", &value) || ag_kind_of (value) != AG_MAP)
        return corrupt (run, event, err);
    bool update = ag_str_is (op, "update");
    int rc = update ? ag_state_data (journal, AG_OBJECT, id, before, &data, err) : 0;
    if (!rc && update) {
        ag_fields_merge (ag_buf_str (&data), value, &after);
        value = ag_buf_str (&after);
    }
    if (!rc)
        ag_state_patch (journal, run, id, before, update ? AG_UPDATE : AG_REPLACE, value,
                        event->seq);
    ag_buf_fini (&data);
    ag_buf_fini (&after);
    return rc;
}

/*  What waits for a decision: opened by one event, closed by another  */

static const struct wait {
    enum ag_type type;
    enum ag_entity_kind kind;
    const char *part; //  NULL: payload.FIELD
    const char *field;
    bool opens, always; //  always: there is one of that id
} waits[] = {{AG_EV_PATCH_PROPOSED, AG_PATCH, "patch", "id", true, true},
             {AG_EV_PATCH_APPLIED, AG_PATCH, "patch", "id", false, false},
             {AG_EV_PATCH_REJECTED, AG_PATCH, NULL, "patch_id", false, true},
             {AG_EV_APPROVAL_PROPOSED, AG_APPROVAL, NULL, "approval_id", true, true},
             {AG_EV_APPROVAL_GRANTED, AG_APPROVAL, NULL, "approval_id", false, true},
             {AG_EV_APPROVAL_DENIED, AG_APPROVAL, NULL, "approval_id", false, true}};

//  Everything of a kind is of one type, so that what waits is found without what waited.
static struct ag_str
wait_type (enum ag_entity_kind kind)
{
    return kind == AG_PATCH ? AG_LIT ("patch") : AG_LIT ("approval");
}

void
ag_state_propose (ag_journal_t *journal, const struct ag_run *run, enum ag_entity_kind kind,
                  struct ag_str id, uint64_t seq)
{
    ag_state_create (journal, run, kind, id, wait_type (kind), (struct ag_str){0},
                     (struct ag_str){0}, seq);
}

int
ag_state_decide (ag_journal_t *journal, const struct ag_run *run, enum ag_entity_kind kind,
                 struct ag_str id, uint64_t seq, struct ag_err *err)
{
    struct ag_tip before = {0};
    int rc = ag_state_tip (journal, run, kind, id, AG_NOW, &before, err);
    if (rc > 0 && before.live)
        ag_state_remove (journal, run, kind, id, &before, seq);
    else if (rc > 0)
        rc = 0;
    ag_tip_fini (&before);
    return rc;
}

int
ag_state_waiting (ag_journal_t *journal, const struct ag_run *run, enum ag_entity_kind kind,
                  uint64_t at, struct ag_str after, ag_id_fn fn, void *arg, struct ag_err *err)
{
    return ag_state_scan_type (journal, run, kind, wait_type (kind), at, after, fn, arg, err);
}

static int
apply_wait (ag_journal_t *journal, const struct ag_run *run, const struct ag_event *event,
            struct ag_err *err)
{
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        const struct wait *wait = &waits[i];
        struct ag_str holder = event->payload, id;
        if (!ag_str_eq (event->type, ag_type_name (wait->type)))
            continue;
        if ((wait->part && ag_map_get (event->payload, wait->part, &holder)) ||
            ag_map_text (holder, wait->field, &id))
            return corrupt (run, event, err);
        if (wait->opens) {
            ag_state_propose (journal, run, wait->kind, id, event->seq);
            return 0;
        }
        int rc = ag_state_decide (journal, run, wait->kind, id, event->seq, err);
        return rc < 0 ? -1 : rc == 0 && wait->always ? corrupt (run, event, err) : 0;
    }
    return 0;
}

//  Relations of an object, listed before any of them is removed: what is read is not written meanwhile.
struct ends {
    struct ag_buf ids;
    uint32_t count;
};

static bool
add_end (void *arg, struct ag_str id)
{
    struct ends *self = arg;
    ag_put_text (&self->ids, id);
    self->count++;
    return true;
}

static int
remove_end (ag_journal_t *journal, const struct ag_run *run, struct ag_str id, uint64_t seq,
            struct ag_err *err)
{
    struct ag_tip before = {0};
    int rc = ag_state_tip (journal, run, AG_RELATION, id, AG_NOW, &before, err);
    if (rc > 0 && before.live)
        ag_state_remove (journal, run, AG_RELATION, id, &before, seq);
    ag_tip_fini (&before);
    return rc < 0 ? -1 : 0;
}

//  An imported object takes its relations along, whether or not events of their own say so.
static int
cascade (ag_journal_t *journal, const struct ag_run *run, const struct ag_event *event,
         struct ag_str object, struct ag_err *err)
{
    struct ends ends = {0};
    struct ag_head head;
    int rc =
        ag_state_relations (journal, run, object, AG_NOW, (struct ag_str){0}, add_end, &ends, err);
    struct ag_cursor in = ag_cursor (ag_buf_str (&ends.ids));
    while (!rc && ends.count-- && !ag_next (&in, &head))
        rc = remove_end (journal, run, head.s, event->seq, err);
    ag_buf_fini (&ends.ids);
    return rc;
}

static int
apply_remove (ag_journal_t *journal, const struct ag_run *run, const struct ag_event *event,
              const struct ag_change *change, const struct ag_tip *before, struct ag_err *err)
{
    ag_state_remove (journal, run, change->kind, change->id, before, event->seq);
    if (change->kind == AG_OBJECT && event->flags & AG_IMPORTED)
        return cascade (journal, run, event, change->id, err);
    return 0;
}

int
ag_state_apply (ag_journal_t *journal, const struct ag_run *run, const struct ag_event *event,
                struct ag_err *err)
{
    const struct row *row = row_of (event);
    struct ag_change change;
    struct ag_tip before = {0};
    if (!(event->flags & AG_IMPORTED) && apply_wait (journal, run, event, err))
        return -1;
    if (!row)
        return 0;
    if (!ag_change_of (event, &change))
        return corrupt (run, event, err);
    if (row->part)
        return apply_create (journal, run, event, row, change.id, err);

    int rc = ag_state_tip (journal, run, row->kind, change.id, AG_NOW, &before, err);
    if (rc == 0 || (rc > 0 && !before.live))
        rc = event->flags & AG_IMPORTED ? 0 : corrupt (run, event, err);
    else if (rc > 0 && row->type == AG_EV_PATCH_APPLIED)
        rc = apply_patch (journal, run, event, change.id, &before, err);
    else if (rc > 0)
        rc = apply_remove (journal, run, event, &change, &before, err);
    ag_tip_fini (&before);
    return rc < 0 ? -1 : 0;
}
