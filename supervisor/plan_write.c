//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/plan.h"

//  Values beyond this are left out of what is written, and the plan says that it was cut.
enum { WRITTEN_BYTES = 4 << 20 };

struct writer {
    struct ag_buf *out;
    size_t begin;
    bool truncated;
};

static void
put_text (struct writer *self, const char *key, struct ag_str text)
{
    ag_put_lit (self->out, key);
    ag_put_text (self->out, text);
}

static void
put_bool (struct writer *self, const char *key, bool yes)
{
    ag_put_lit (self->out, key);
    ag_put_bool (self->out, yes);
}

static void
put_event (struct writer *self, const char *key, uint64_t seq)
{
    ag_put_lit (self->out, key);
    ag_put_evt (self->out, seq);
}

static void
put_value (struct writer *self, const char *key, struct ag_str value)
{
    ag_put_lit (self->out, key);
    if (self->out->n - self->begin + value.n <= WRITTEN_BYTES) {
        ag_put_value (self->out, value);
    } else {
        ag_put_null (self->out);
        self->truncated = true;
    }
}

static void
put_deltas (struct writer *self, const char *key, const struct ag_deltas *list, bool relations)
{
    ag_put_lit (self->out, key);
    ag_put_list (self->out, (uint32_t)list->count);
    for (size_t i = 0; i < list->count; i++) {
        const struct ag_delta *delta = &list->rows[i];
        ag_put_map (self->out, relations ? 5 : 3);
        put_text (self, "id", delta->id);
        if (relations) {
            put_text (self, "source", delta->source);
            put_text (self, "target", delta->target);
        }
        put_text (self, "type", delta->type);
        put_value (self, "data", delta->data);
    }
}

static void
put_ids (struct writer *self, const char *key, const struct ag_deltas *list)
{
    ag_put_lit (self->out, key);
    ag_put_list (self->out, (uint32_t)list->count);
    for (size_t i = 0; i < list->count; i++)
        ag_put_text (self->out, list->rows[i].id);
}

static void
put_conflicts (struct writer *self, const ag_plan_t *plan)
{
    ag_put_lit (self->out, "conflicts");
    ag_put_list (self->out, (uint32_t)plan->conflict_count);
    for (size_t i = 0; i < plan->conflict_count; i++) {
        const struct ag_conflict *conflict = &plan->conflicts[i];
        ag_put_map (self->out, 7);
        put_text (self, "kind", ag_str (ag_conflict_name (conflict->kind)));
        put_text (self, "entity",
                  conflict->entity == AG_OBJECT ? AG_LIT ("object") : AG_LIT ("relation"));
        put_text (self, "id", conflict->id);
        put_text (self, "detail", conflict->detail);
        put_value (self, "in_base", conflict->in_base);
        put_value (self, "in_parent", conflict->in_parent);
        put_value (self, "in_fork", conflict->in_fork);
    }
}

//  When there are more, their number as well.
static bool
put_violations (struct writer *self, const ag_plan_t *plan)
{
    size_t listed = ag_plan_listed (plan);
    ag_put_lit (self->out, "violations");
    ag_put_list (self->out, (uint32_t)listed);
    for (size_t i = 0; i < listed; i++) {
        const struct ag_violation *violation = &plan->violations[i];
        ag_put_map (self->out, 4);
        put_text (self, "id", violation->id);
        put_text (self, "type", violation->type);
        put_text (self, "path", violation->path);
        put_text (self, "detail", violation->detail);
    }
    if (listed < plan->violation_count)
        ag_put_pair_uint (self->out, "violation_count", plan->violation_count);
    return listed < plan->violation_count;
}

static void
put_warnings (struct writer *self, const ag_plan_t *plan)
{
    ag_put_lit (self->out, "warnings");
    ag_put_list (self->out, (uint32_t)plan->warning_count);
    for (size_t i = 0; i < plan->warning_count; i++)
        ag_put_text (self->out, plan->warnings[i]);
}

static void
put_applied (struct writer *self, const ag_plan_t *plan)
{
    put_event (self, "marker_event_id", plan->marker);
    ag_put_lit (self->out, "applied_event_ids");
    ag_put_list (self->out, plan->first ? (uint32_t)(plan->last - plan->first + 1) : 0);
    for (uint64_t seq = plan->first; seq && seq <= plan->last; seq++)
        ag_put_evt (self->out, seq);
}

static void
put_header (struct writer *self, const ag_plan_t *plan, bool dry_run)
{
    char against[AG_EVT_TEXT] = "";
    if (plan->against)
        ag_evt_text (plan->against, against);
    put_text (self, "from_run", ag_str (plan->fork_id));
    put_text (self, "into_run", ag_str (plan->parent_id));
    put_event (self, "forked_at_event", plan->cut);
    put_event (self, "base_event", plan->base);
    put_text (self, "computed_against", ag_str (against));
    put_bool (self, "dry_run", dry_run);
    put_bool (self, "is_promotable", ag_plan_is_promotable (plan));
    put_bool (self, "is_empty", ag_plan_is_empty (plan));
}

void
ag_plan_write (const ag_plan_t *plan, bool dry_run, struct ag_buf *out)
{
    struct writer self = {out, out->n, false};
    bool applied = plan->marker && !dry_run;
    size_t map = ag_open_map (out);
    put_header (&self, plan, dry_run);
    put_deltas (&self, "object_creates", &plan->object_creates, false);
    put_deltas (&self, "object_patches", &plan->object_patches, false);
    put_ids (&self, "object_removes", &plan->object_removes);
    put_deltas (&self, "relation_creates", &plan->relation_creates, true);
    put_ids (&self, "relation_removes", &plan->relation_removes);
    put_conflicts (&self, plan);
    bool more = put_violations (&self, plan);
    put_warnings (&self, plan);
    if (applied)
        put_applied (&self, plan);
    if (self.truncated)
        put_bool (&self, "truncated", true);
    ag_close (out, map, 16 + (applied ? 2 : 0) + self.truncated + more);
}
