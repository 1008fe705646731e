//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/differ.h"
#include "supervisor/fields.h"

#include <stdio.h>
#include <string.h>

//  Where the same invocation done again rightly says something else: when and in which run something was made, where
//  in the code it failed, and who knew an answer.
static const struct {
    enum ag_type type;
    const char *path;
} ignored[] = {{AG_EV_OBJECT_CREATED, "payload.object.provenance.timestamp"},
               {AG_EV_OBJECT_CREATED, "payload.object.provenance.run_id"},
               {AG_EV_RELATION_CREATED, "payload.relation.provenance.timestamp"},
               {AG_EV_RELATION_CREATED, "payload.relation.provenance.run_id"},
               {AG_EV_PATCH_PROPOSED, "payload.patch.provenance.timestamp"},
               {AG_EV_PATCH_PROPOSED, "payload.patch.provenance.run_id"},
               {AG_EV_PATCH_APPLIED, "payload.patch.provenance.timestamp"},
               {AG_EV_PATCH_APPLIED, "payload.patch.provenance.run_id"},
               {AG_EV_BEHAVIOR_FAILED, "payload.traceback"},
               {AG_EV_TOOL_REQUESTED, "payload.cache_hit"}};

//  The way down two values of an event of this type.
struct walk {
    enum ag_type type;
    struct ag_buf path;
    struct ag_difference *out;
};

void
ag_difference_fini (struct ag_difference *self)
{
    ag_buf_fini (&self->path);
    ag_buf_fini (&self->recorded);
    ag_buf_fini (&self->found);
}

void
ag_difference_write (const struct ag_difference *self, struct ag_buf *out)
{
    ag_put_map (out, 4);
    ag_put_lit (out, "event_id");
    ag_put_evt (out, self->event);
    ag_put_lit (out, "path");
    ag_put_text (out, ag_buf_str (&self->path));
    ag_put_lit (out, "recorded");
    ag_put_value (out, ag_buf_str (&self->recorded));
    ag_put_lit (out, "found");
    ag_put_value (out, ag_buf_str (&self->found));
}

static void
keep (struct ag_str value, struct ag_buf *out)
{
    ag_buf_clear (out);
    if (!value.p)
        ag_put_null (out);
    else if (value.n > AG_DIFFER_BYTES)
        ag_put_textf (out, "(%zu bytes)", value.n);
    else
        ag_put_value (out, value);
}

static bool differ (struct walk *walk, struct ag_str a, struct ag_str b);

static bool
is_ignored (const struct walk *walk)
{
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        if (walk->type == ignored[i].type && ag_str_is (ag_buf_str (&walk->path), ignored[i].path))
            return true;
    return false;
}

//  The path's end is put back afterwards.
static bool
differ_below (struct walk *walk, struct ag_str step, struct ag_str a, struct ag_str b)
{
    size_t before = walk->path.n;
    ag_buf_add_str (&walk->path, step);
    bool found = !is_ignored (walk) && differ (walk, a, b);
    walk->path.n = before;
    return found;
}

static bool
differ_key (void *arg, struct ag_str key, struct ag_str a, struct ag_str b)
{
    struct ag_buf step = {0};
    ag_buf_text (&step, ".%.*s", AG_STR_ARG (key));
    bool found = differ_below (arg, ag_buf_str (&step), a, b);
    ag_buf_fini (&step);
    return found;
}

static bool
differ_lists (struct walk *walk, struct ag_str a, struct ag_str b)
{
    struct ag_cursor left = ag_cursor (a), right = ag_cursor (b);
    struct ag_head many, few;
    if (ag_next (&left, &many) || ag_next (&right, &few))
        return false;
    uint32_t count = many.count > few.count ? many.count : few.count;
    for (uint32_t i = 0; i < count; i++) {
        struct ag_str one = {0}, other = {0};
        char step[16];
        if (i < many.count)
            ag_take (&left, &one);
        if (i < few.count)
            ag_take (&right, &other);
        snprintf (step, sizeof step, "[%u]", i);
        if (differ_below (walk, ag_str (step), one, other))
            return true;
    }
    return false;
}

static bool
differ (struct walk *walk, struct ag_str a, struct ag_str b)
{
    enum ag_kind kind = ag_kind_of (a);
    bool same_kind = a.p && b.p && kind == ag_kind_of (b);
    if (same_kind && kind == AG_MAP)
        return ag_fields_each (a, b, differ_key, walk);
    if (same_kind && kind == AG_LIST)
        return differ_lists (walk, a, b);
    if (a.p && b.p && ag_value_equal (a, b))
        return false;
    ag_buf_clear (&walk->out->path);
    ag_buf_add_str (&walk->out->path, ag_buf_str (&walk->path));
    keep (a, &walk->out->recorded);
    keep (b, &walk->out->found);
    return true;
}

static bool
differ_at (uint64_t event, enum ag_type type, const char *path, struct ag_str recorded,
           struct ag_str found, struct ag_difference *out)
{
    struct walk walk = {.type = type, .out = out};
    ag_buf_add_str (&walk.path, ag_str (path));
    bool different = differ (&walk, recorded, found);
    ag_buf_fini (&walk.path);
    if (different)
        out->event = event;
    return different;
}

bool
ag_differ (uint64_t event, const char *path, struct ag_str recorded, struct ag_str found,
           struct ag_difference *out)
{
    return differ_at (event, AG_EV_COUNT, path, recorded, found, out);
}

bool
ag_differ_payload (const struct ag_event *recorded, struct ag_str found, struct ag_difference *out)
{
    return differ_at (recorded->seq, ag_type_of (recorded->type), "payload", recorded->payload,
                      found, out);
}

static bool
differ_texts (uint64_t event, const char *path, struct ag_str a, struct ag_str b,
              struct ag_difference *out)
{
    struct ag_buf left = {0}, right = {0};
    if (a.p)
        ag_put_text (&left, a);
    if (b.p)
        ag_put_text (&right, b);
    bool different =
        (a.p || b.p) && ag_differ (event, path, ag_buf_str (&left), ag_buf_str (&right), out);
    ag_buf_fini (&left);
    ag_buf_fini (&right);
    return different;
}

static bool
differ_event (const struct ag_event *a, const struct ag_event *b, struct ag_difference *out)
{
    struct ag_buf left = {0}, right = {0};
    bool different = differ_texts (a->seq, "type", a->type, b->type, out) ||
                     differ_texts (a->seq, "actor", a->actor, b->actor, out) ||
                     differ_texts (a->seq, "frame", a->frame, b->frame, out);
    ag_put_evt (&left, a->cause);
    ag_put_evt (&right, b->cause);
    different = different ||
                ag_differ (a->seq, "cause", ag_buf_str (&left), ag_buf_str (&right), out) ||
                ag_differ_payload (a, b->payload, out);
    ag_buf_fini (&left);
    ag_buf_fini (&right);
    return different;
}

int
ag_differ_events (ag_journal_t *journal, const struct ag_run *recorded, const struct ag_run *found,
                  uint64_t first, uint64_t last, struct ag_difference *out, struct ag_err *err)
{
    struct ag_buf left = {0}, right = {0};
    int rc = 0;
    for (uint64_t seq = first; !rc && seq <= last; seq++) {
        struct ag_event a, b = {0};
        rc = ag_journal_read (journal, recorded, seq, &left, &a, err);
        if (!rc && seq <= found->head.tip)
            rc = ag_journal_read (journal, found, seq, &right, &b, err);
        if (!rc)
            rc = differ_event (&a, &b, out);
    }
    ag_buf_fini (&left);
    ag_buf_fini (&right);
    return rc;
}
