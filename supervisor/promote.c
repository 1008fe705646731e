//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/promote.h"
#include "supervisor/graph.h"
#include "supervisor/key.h"
#include "supervisor/plan.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    SHOWN_CONFLICTS = 8,
    LIST_BYTES = 512 << 10 //  of ids that a marker lists; more are counted and hashed
};

struct promote {
    ag_journal_t *journal;
    ag_plan_t *plan;
    struct ag_run *parent;
    struct ag_stamp stamp; //  of the block
    struct ag_tip tip;
    struct ag_err *err;
};

static int
refuse_conflicts (const ag_plan_t *plan, struct ag_err *err)
{
    struct ag_buf text = {0};
    size_t count = plan->conflict_count;
    for (size_t i = 0; i < count && i < SHOWN_CONFLICTS; i++)
        ag_buf_text (&text, "%s%s %.*s", i ? ", " : "", ag_conflict_name (plan->conflicts[i].kind),
                     AG_STR_ARG (plan->conflicts[i].id));
    if (count > SHOWN_CONFLICTS)
        ag_buf_text (&text, ", ... and %zu more", count - SHOWN_CONFLICTS);
    ag_fail (err, AG_E_CONFLICT, "%s cannot be promoted into %s: %.*s", plan->fork_id,
             plan->parent_id, AG_STR_ARG (ag_buf_str (&text)));
    ag_buf_fini (&text);
    return -1;
}

//  The first one, and how many there are.
static int
refuse_violations (const ag_plan_t *plan, struct ag_err *err)
{
    const struct ag_violation *first = &plan->violations[0];
    return ag_fail (err, AG_E_TYPE,
                    "%s cannot be promoted into %s, whose types refuse %zu of its values: %.*s "
                    "%.*s%s%.*s",
                    plan->fork_id, plan->parent_id, plan->violation_count, AG_STR_ARG (first->id),
                    AG_STR_ARG (first->path), first->path.n ? " " : "", AG_STR_ARG (first->detail));
}

/*  The marker  */

struct list {
    const char *name;
    const struct ag_deltas *ids;
};

enum { LISTS = 5 };

static void
lists_of (const ag_plan_t *plan, struct list lists[LISTS])
{
    lists[0] = (struct list){"objects_created", &plan->object_creates};
    lists[1] = (struct list){"objects_patched", &plan->object_patches};
    lists[2] = (struct list){"objects_removed", &plan->object_removes};
    lists[3] = (struct list){"relations_created", &plan->relation_creates};
    lists[4] = (struct list){"relations_removed", &plan->relation_removes};
}

static void
put_lists (const struct list lists[LISTS], struct ag_buf *out)
{
    for (int i = 0; i < LISTS; i++) {
        ag_put_lit (out, lists[i].name);
        ag_put_list (out, (uint32_t)lists[i].ids->count);
        for (size_t id = 0; id < lists[i].ids->count; id++)
            ag_put_text (out, lists[i].ids->rows[id].id);
    }
}

//  Instead of the lists: how many each holds, and a hash over all of them as they would have stood.
static void
put_counts (const struct list lists[LISTS], const struct ag_buf *written, struct ag_buf *out)
{
    uint8_t hash[AG_HASH];
    char text[2 * AG_HASH + 1];
    ag_put_lit (out, "counts");
    ag_put_map (out, LISTS);
    for (int i = 0; i < LISTS; i++) {
        ag_put_lit (out, lists[i].name);
        ag_put_uint (out, lists[i].ids->count);
    }
    ag_hash (ag_buf_str (written), AG_LIT (""), hash);
    ag_hex (hash, sizeof hash, text);
    ag_put_lit (out, "lists_hash");
    ag_put_lit (out, text);
}

static void
put_event (struct ag_buf *out, const char *key, uint64_t seq)
{
    ag_put_lit (out, key);
    ag_put_evt (out, seq);
}

static void
marker_payload (const ag_plan_t *plan, struct ag_buf *out)
{
    struct list lists[LISTS];
    struct ag_buf written = {0};
    uint64_t marker = plan->against + 1;
    lists_of (plan, lists);
    put_lists (lists, &written);
    bool fits = written.n <= LIST_BYTES;

    ag_put_map (out, 6 + (fits ? LISTS : 2));
    ag_put_lit (out, "from_run");
    ag_put_lit (out, plan->fork_id);
    put_event (out, "forked_at_event", plan->cut);
    put_event (out, "computed_against", plan->against);
    put_event (out, "fork_tip", plan->fork_tip);
    if (fits)
        ag_put_value (out, ag_buf_str (&written));
    else
        put_counts (lists, &written, out);
    ag_put_lit (out, "warnings");
    ag_put_list (out, (uint32_t)plan->warning_count);
    for (size_t i = 0; i < plan->warning_count; i++)
        ag_put_text (out, plan->warnings[i]);
    put_event (out, "block_final_event", marker + ag_plan_size (plan));
    ag_buf_fini (&written);
}

static int
append_marker (struct promote *self)
{
    struct ag_buf payload = {0};
    marker_payload (self->plan, &payload);
    const struct ag_draft draft = {.type = ag_type_name (AG_EV_PROMOTE_APPLIED),
                                   .payload = ag_buf_str (&payload),
                                   .actor = AG_LIT ("runtime"),
                                   .time_us = self->stamp.time_us};
    int rc = ag_journal_append (self->journal, self->parent, &draft, &self->stamp.cause, self->err);
    ag_buf_fini (&payload);
    return rc;
}

/*  The block: each step one event, and a note of where the entity was written  */

static void
put_wrote (struct promote *self, enum ag_entity_kind kind, struct ag_str id)
{
    struct ag_key key;
    struct ag_buf value = {0};
    ag_key_wrote (&key, self->plan->fork, kind, id);
    ag_buf_be64 (&value, self->parent->head.tip);
    ag_batch_put (ag_journal_batch (self->journal), AG_META, ag_key_str (&key),
                  ag_buf_str (&value));
    ag_buf_fini (&value);
}

static int
look (struct promote *self, enum ag_entity_kind kind, struct ag_str id)
{
    return ag_state_tip (self->journal, self->parent, kind, id, AG_NOW, &self->tip, self->err) < 0
               ? -1
               : 0;
}

static int
remove_one (struct promote *self, enum ag_entity_kind kind, const struct ag_delta *delta)
{
    return look (self, kind, delta->id) ||
                   ag_graph_remove (self->journal, self->parent, &self->stamp, kind, delta->id,
                                    &self->tip, self->err)
               ? -1
               : 0;
}

static int
create_one (struct promote *self, enum ag_entity_kind kind, const struct ag_delta *delta)
{
    (void)kind;
    return ag_graph_create (self->journal, self->parent, &self->stamp, delta->id, delta->type,
                            delta->data, self->err);
}

static int
patch_one (struct promote *self, enum ag_entity_kind kind, const struct ag_delta *delta)
{
    size_t bytes;
    char rationale[sizeof "promoted from " + AG_RUN_TEXT];
    snprintf (rationale, sizeof rationale, "promoted from %s", self->plan->fork_id);
    if (look (self, kind, delta->id))
        return -1;
    struct ag_patch patch = {.target = delta->id,
                             .value = delta->data,
                             .rationale = ag_str (rationale),
                             .op = AG_REPLACE,
                             .expected = self->tip.version};
    return ag_graph_patch (self->journal, self->parent, &self->stamp, &patch, &self->tip, &bytes,
                           self->err);
}

static int
relate_one (struct promote *self, enum ag_entity_kind kind, const struct ag_delta *delta)
{
    (void)kind;
    return ag_graph_relate (self->journal, self->parent, &self->stamp, delta->id, delta->type,
                            delta->source, delta->target, delta->data, self->err);
}

typedef int (*one_fn) (struct promote *self, enum ag_entity_kind kind,
                       const struct ag_delta *delta);

static int
for_each (struct promote *self, enum ag_entity_kind kind, const struct ag_deltas *list, one_fn one)
{
    for (size_t i = 0; i < list->count; i++) {
        if (one (self, kind, &list->rows[i]))
            return -1;
        put_wrote (self, kind, list->rows[i].id);
    }
    return 0;
}

static int
append_block (struct promote *self)
{
    const ag_plan_t *plan = self->plan;
    return for_each (self, AG_RELATION, &plan->relation_removes, remove_one) ||
                   for_each (self, AG_OBJECT, &plan->object_removes, remove_one) ||
                   for_each (self, AG_OBJECT, &plan->object_creates, create_one) ||
                   for_each (self, AG_OBJECT, &plan->object_patches, patch_one) ||
                   for_each (self, AG_RELATION, &plan->relation_creates, relate_one)
               ? -1
               : 0;
}

static void
put_promoted (struct promote *self)
{
    struct ag_key key;
    struct ag_buf value = {0};
    ag_key_promoted (&key, self->plan->fork);
    ag_buf_be64 (&value, self->plan->fork_tip);
    ag_buf_be64 (&value, self->plan->marker);
    ag_batch_put (ag_journal_batch (self->journal), AG_META, ag_key_str (&key),
                  ag_buf_str (&value));
    ag_buf_fini (&value);
}

static int
carry_out (struct promote *self)
{
    struct ag_mark mark = ag_journal_mark (self->journal);
    if (append_marker (self) || append_block (self)) {
        ag_journal_rollback (self->journal, &mark);
        return -1;
    }
    self->plan->marker = self->stamp.cause;
    if (ag_plan_size (self->plan)) {
        self->plan->first = self->plan->marker + 1;
        self->plan->last = self->parent->head.tip;
    }
    put_promoted (self);
    return 0;
}

//  Neither run may have moved since the plan was made.
static int
check_tips (struct promote *self)
{
    struct ag_run *fork;
    if (ag_run_get (self->journal, self->plan->fork, &fork, self->err) ||
        ag_run_get (self->journal, self->plan->parent, &self->parent, self->err))
        return -1;
    if (fork->head.tip != self->plan->fork_tip || self->parent->head.tip != self->plan->against)
        return ag_fail (self->err, AG_E_TIP_MOVED, "%s or %s has moved since the plan was made",
                        self->plan->fork_id, self->plan->parent_id);
    return 0;
}

int
ag_promote_apply (ag_journal_t *journal, ag_plan_t *plan, struct ag_err *err)
{
    struct promote self = {.journal = journal, .plan = plan, .err = err};
    char actor[sizeof "promote:" + AG_RUN_TEXT];
    if (!ag_plan_is_promotable (plan))
        return plan->conflict_count ? refuse_conflicts (plan, err) : refuse_violations (plan, err);
    if (check_tips (&self))
        return -1;
    if (plan->last_marker && ag_plan_is_empty (plan)) {
        plan->marker = plan->last_marker;
        return 0;
    }
    snprintf (actor, sizeof actor, "promote:%s", plan->fork_id);
    self.stamp = (struct ag_stamp){.actor = ag_str (actor),
                                   .flags = AG_QUIESCENT | AG_BLOCK,
                                   .time_us = ag_journal_now (journal)};
    int rc = carry_out (&self);
    ag_tip_fini (&self.tip);
    return rc;
}
