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

static int
apply_create (ag_journal_t *journal, const struct ag_run *run, const struct ag_event *event,
              const struct row *row, struct ag_str id, struct ag_err *err)
{
    struct ag_str thing, type, source = {0}, target = {0};
    if (ag_map_get (event->payload, row->part, &thing) || ag_map_text (thing, "type", &type))
        return corrupt (run, event, err);
    if (row->kind == AG_RELATION &&
        (ag_map_text (thing, "source", &source) || ag_map_text (thing, "target", &target)))
        return corrupt (run, event, err);
    ag_state_create (journal, run, row->kind, id, type, source, target, event->seq);
    return 0;
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

int
ag_state_apply (ag_journal_t *journal, const struct ag_run *run, const struct ag_event *event,
                struct ag_err *err)
{
    const struct row *row = row_of (event);
    struct ag_change change;
    struct ag_tip before = {0};
    if (!row)
        return 0;
    if (!ag_change_of (event, &change))
        return corrupt (run, event, err);
    if (row->part)
        return apply_create (journal, run, event, row, change.id, err);

    int rc = ag_state_tip (journal, run, row->kind, change.id, AG_NOW, &before, err);
    if (rc == 0 || (rc > 0 && !before.live))
        rc = corrupt (run, event, err);
    else if (rc > 0 && row->type == AG_EV_PATCH_APPLIED)
        rc = apply_patch (journal, run, event, change.id, &before, err);
    else if (rc > 0)
        ag_state_remove (journal, run, row->kind, change.id, &before, event->seq);
    ag_tip_fini (&before);
    return rc < 0 ? -1 : 0;
}
