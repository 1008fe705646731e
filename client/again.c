//  SPDX-License-Identifier: Apache-2.0
#include "client/again.h"
#include "common/hash.h"

#include <string.h>

enum { FIELDS = 6 };

//  The operations that the house writes events of: where the event says what the operation said.
static const struct form {
    const char *type, *inside, *op; //  inside: the map of the payload; op NULL: the patch says it
    struct {
        const char *event, *operation;
    } fields[FIELDS];
} forms[] = {
    {"object.created", "object", "add_object", {{"id", "id"}, {"type", "type"}, {"data", "data"}}},
    {"object.removed", NULL, "remove_object", {{"id", "id"}}},
    {"relation.created",
     "relation",
     "add_relation",
     {{"id", "id"},
      {"source", "source"},
      {"target", "target"},
      {"type", "type"},
      {"data", "data"}}},
    {"relation.removed", NULL, "remove_relation", {{"id", "id"}}},
    {"patch.applied", "patch", NULL, {{"target", "id"}, {"value", "data"}}},
    {"patch.proposed",
     "patch",
     "propose_patch",
     {{"target", "id"},
      {"op", "change"},
      {"value", "data"},
      {"expected_version", "expected_version"},
      {"rationale", "rationale"},
      {"evidence", "evidence"}}},
};

//  Events of the house that a run of its own cannot be given.
static const struct {
    const char *type, *why;
} bound[] = {
    {"approval.granted", "a decision is never used twice"},
    {"approval.denied", "a decision is never used twice"},
    {"patch.rejected", "a decision is never used twice"},
    {"promote.applied", "a fork is promoted into its own parent"},
    {"message.received", "a fork hears nobody"},
    {"schedule.fired", "schedules do not run in forks"},
    {"pack.loaded", "the fork has the packs of its cut"},
    {"pack.disabled", "the fork has the packs of its cut"},
    {"pack.settings_overridden", "the fork has the packs of its cut"},
};

static const char *
why_bound (struct ag_str event, struct ag_str type)
{
    for (size_t i = 0; i < sizeof bound / sizeof *bound; i++)
        if (ag_str_is (type, bound[i].type))
            return bound[i].why;
    bool decided = ag_pick (ag_pick (event, "payload"), "approved_by").p;
    return decided && ag_str_is (type, "patch.applied") ? bound[0].why : NULL;
}

enum ag_again
ag_again_kind (struct ag_str event, const char **why)
{
    struct ag_str type = ag_pick_text (event, "type"), actor = ag_pick_text (event, "actor");
    bool user = ag_str_is (actor, "user");
    if (ag_str_is (type, "behavior.started") || ag_str_is (type, "relation_behavior.started"))
        return AG_AGAIN_DONE;
    if (!user && !ag_str_is (actor, "runtime"))
        return AG_AGAIN_NOTHING;
    *why = why_bound (event, type);
    if (*why)
        return AG_AGAIN_LEFT_OUT;
    if (!user)
        return AG_AGAIN_NOTHING;
    if (!ag_pick_text (event, "caused_by").p)
        return AG_AGAIN_PUT_IN;
    if (ag_str_is (type, "relation.removed")) //  with its object
        return AG_AGAIN_NOTHING;
    *why = "it came of another event";
    return AG_AGAIN_LEFT_OUT;
}

//  "r2.7": a run and a number.
static bool
is_tag (struct ag_str text)
{
    const char *dot = text.n ? memchr (text.p, '.', text.n) : NULL;
    uint64_t run;
    if (!dot || text.p[0] != 'r' ||
        ag_base32_read ((struct ag_str){text.p + 1, (size_t)(dot - text.p) - 1}, &run))
        return false;
    size_t digits = text.n - (size_t)(dot + 1 - text.p), n = 0;
    while (n < digits && dot[1 + n] >= '0' && dot[1 + n] <= '9')
        n++;
    return digits && n == digits;
}

//  "task#r2.7", "rel_r2.007": the run's own numbers, which nobody may give; they are made again.
static bool
is_tagged (struct ag_str id)
{
    const char *mark = id.n ? memrchr (id.p, '#', id.n) : NULL;
    if (!mark && !ag_str_starts (id, "rel_"))
        return false;
    size_t head = mark ? (size_t)(mark + 1 - id.p) : strlen ("rel_");
    return is_tag ((struct ag_str){id.p + head, id.n - head});
}

static bool
put_field (struct ag_str from, const char *event, const char *operation, struct ag_buf *out)
{
    struct ag_str value = ag_pick (from, event);
    bool id = !strcmp (event, "id") && ag_pick (from, "type").p;
    if (!value.p || ag_kind_of (value) == AG_NULL || (id && is_tagged (ag_pick_text (from, event))))
        return false;
    ag_put_pair_value (out, operation, value);
    return true;
}

static void
put_form (const struct form *form, struct ag_str payload, struct ag_buf *out)
{
    struct ag_str from = form->inside ? ag_pick (payload, form->inside) : payload;
    const char *op = form->op;
    uint32_t fields = 1;
    if (!op)
        op = ag_str_is (ag_pick_text (from, "op"), "replace") ? "replace_object" : "patch_object";
    size_t map = ag_open_map (out);
    ag_put_pair_text (out, "op", ag_str (op));
    for (size_t i = 0; i < FIELDS && form->fields[i].event; i++)
        fields += put_field (from, form->fields[i].event, form->fields[i].operation, out);
    ag_close (out, map, fields);
}

void
ag_again_operation (struct ag_str event, struct ag_buf *out)
{
    struct ag_str type = ag_pick_text (event, "type"), payload = ag_pick (event, "payload");
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (ag_str_is (type, forms[i].type)) {
            put_form (&forms[i], payload, out);
            return;
        }
    ag_put_map (out, 3);
    ag_put_pair_text (out, "op", AG_LIT ("emit"));
    ag_put_pair_text (out, "type", type);
    ag_put_pair_value (out, "payload", payload);
}

void
ag_again_leave_out (struct ag_again_left *self, struct ag_str event, const char *why)
{
    ag_put_map (&self->list, 3);
    ag_put_pair_text (&self->list, "event_id", ag_pick_text (event, "id"));
    ag_put_pair_text (&self->list, "type", ag_pick_text (event, "type"));
    ag_put_pair_text (&self->list, "reason", ag_str (why));
    self->count++;
}
