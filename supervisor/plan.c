//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/plan.h"
#include "supervisor/key.h"
#include "supervisor/state_index.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PLAN_BYTES = 64 << 20, //  of texts and values in one plan
    SHOWN_RELATIONS = 20,  //  in the detail of an orphaning removal
    COUNTED_RELATIONS = 1000
};

/*  The plan as a container  */

const char *
ag_conflict_name (enum ag_conflict_kind kind)
{
    static const char *const names[] = {"both_changed", "dangling_relation", "orphaning_removal"};
    return names[kind];
}

struct ag_str
ag_plan_keep (ag_plan_t *self, struct ag_str text)
{
    char *copy = ag_arena_take (&self->arena, text.n + 1);
    if (text.n)
        memcpy (copy, text.p, text.n);
    copy[text.n] = 0;
    return (struct ag_str){copy, text.n};
}

struct ag_str
ag_plan_text (ag_plan_t *self, const char *format, ...)
{
    char *text;
    va_list list;
    va_start (list, format);
    int n = vasprintf (&text, format, list);
    va_end (list);
    struct ag_str kept = ag_plan_keep (self, n < 0 ? AG_LIT ("") : ag_str (text));
    if (n >= 0)
        free (text);
    return kept;
}

void
ag_plan_destroy (ag_plan_t **self_p)
{
    ag_plan_t *self = *self_p;
    if (!self)
        return;
    free (self->object_creates.rows);
    free (self->object_patches.rows);
    free (self->object_removes.rows);
    free (self->relation_creates.rows);
    free (self->relation_removes.rows);
    free (self->violations);
    free (self->conflicts);
    free (self->warnings);
    ag_arena_rewind (&self->arena, (struct ag_place){0});
    free (self);
    *self_p = NULL;
}

bool
ag_plan_is_promotable (const ag_plan_t *self)
{
    return self->conflict_count == 0 && self->violation_count == 0;
}

size_t
ag_plan_size (const ag_plan_t *self)
{
    return self->object_creates.count + self->object_patches.count + self->object_removes.count +
           self->relation_creates.count + self->relation_removes.count;
}

bool
ag_plan_is_empty (const ag_plan_t *self)
{
    return ag_plan_size (self) == 0;
}

static struct ag_delta *
add_delta (struct ag_deltas *list)
{
    if (list->count == list->room) {
        list->room = list->room ? list->room * 2 : 16;
        list->rows = ag_xrealloc (list->rows, list->room * sizeof *list->rows);
    }
    return &list->rows[list->count++];
}

static void
add_conflict (ag_plan_t *self, const struct ag_conflict *conflict)
{
    if (self->conflict_count == self->conflict_room) {
        self->conflict_room = self->conflict_room ? self->conflict_room * 2 : 16;
        self->conflicts =
            ag_xrealloc (self->conflicts, self->conflict_room * sizeof *self->conflicts);
    }
    self->conflicts[self->conflict_count++] = *conflict;
}

static int
compare_id (const void *id, const void *row)
{
    return ag_str_cmp (*(const struct ag_str *)id, ((const struct ag_delta *)row)->id);
}

static bool
holds (const struct ag_deltas *list, struct ag_str id)
{
    return list->count && bsearch (&id, list->rows, list->count, sizeof *list->rows, compare_id);
}

/*  One entity, seen from four sides  */

struct side {
    struct ag_tip tip;
    bool used; //  the id is or was something here
    bool live;
    struct ag_buf data;
    bool read; //  data is set
};

struct planner {
    ag_journal_t *journal;
    const struct ag_run *fork, *parent;
    ag_plan_t *plan;
    size_t max_entities;
    enum ag_entity_kind kind;
    struct ag_str id;
    struct side fork_then, fork_now, parent_then, parent_now;
    struct ag_err *err;
};

static void
side_fini (struct side *side)
{
    ag_tip_fini (&side->tip);
    ag_buf_fini (&side->data);
}

static int
look (struct planner *self, const struct ag_run *run, uint64_t at, struct side *side)
{
    int rc = ag_state_tip (self->journal, run, self->kind, self->id, at, &side->tip, self->err);
    side->used = rc > 0;
    side->live = rc > 0 && side->tip.live;
    side->read = false;
    return rc < 0 ? -1 : 0;
}

static int
read_data (struct planner *self, struct side *side)
{
    if (side->read)
        return 0;
    side->read = true;
    return ag_state_data (self->journal, self->kind, self->id, &side->tip, &side->data, self->err);
}

//  1 when both sides are the same state: type, data and ends; 0 when not.
static int
same (struct planner *self, struct side *a, struct side *b)
{
    if (a->live != b->live || !a->live)
        return a->live == b->live;
    if (a->tip.holder == b->tip.holder && a->tip.seq == b->tip.seq)
        return 1;
    if (!ag_str_eq (a->tip.type, b->tip.type) || !ag_str_eq (a->tip.source, b->tip.source) ||
        !ag_str_eq (a->tip.target, b->tip.target))
        return 0;
    if (read_data (self, a) || read_data (self, b))
        return -1;
    return ag_value_equal (ag_buf_str (&a->data), ag_buf_str (&b->data));
}

//  {type, data}, of a relation also its ends; null where it is not.
static int
state_of (struct planner *self, struct side *side, struct ag_str *state)
{
    struct ag_buf out = {0};
    if (!side->live) {
        *state = AG_LIT ("\xc0");
        return 0;
    }
    if (read_data (self, side))
        return -1;
    ag_put_map (&out, self->kind == AG_RELATION ? 4 : 2);
    if (self->kind == AG_RELATION) {
        ag_put_lit (&out, "source");
        ag_put_text (&out, side->tip.source);
        ag_put_lit (&out, "target");
        ag_put_text (&out, side->tip.target);
    }
    ag_put_lit (&out, "type");
    ag_put_text (&out, side->tip.type);
    ag_put_lit (&out, "data");
    ag_put_value (&out, ag_buf_str (&side->data));
    *state = ag_plan_keep (self->plan, ag_buf_str (&out));
    ag_buf_fini (&out);
    return 0;
}

static const char *
kind_name (enum ag_entity_kind kind)
{
    return kind == AG_OBJECT ? "object" : "relation";
}

//  A thing that the fork made again, under an id that the parent used: an import may hold that, and no event
//  of a promote says it, unless it is a patch.
static bool
made_again (const struct planner *self)
{
    const struct side *then = &self->fork_then, *now = &self->fork_now;
    bool patch = self->kind == AG_OBJECT && then->live && ag_str_eq (then->tip.type, now->tip.type);
    return now->live && now->tip.again && self->parent_now.used && !patch;
}

//  The words are stable: people and tests look for them.
static const char *
both_changed_words (struct planner *self, int identical)
{
    if (made_again (self))
        return "was made again by the fork, which no promote carries";
    if (!self->parent_then.live && !self->fork_then.live)
        return self->parent_now.live
                   ? "was created independently on both sides"
                   : "was created independently on both sides, and removed by the parent since";
    if (!self->parent_now.live && !self->fork_now.live)
        return "was removed on both sides";
    return identical ? "was changed identically on both sides" : "was changed on both sides";
}

static int
add_both_changed (struct planner *self)
{
    struct ag_conflict conflict = {.kind = AG_BOTH_CHANGED, .entity = self->kind};
    int identical = same (self, &self->fork_now, &self->parent_now);
    if (identical < 0 || state_of (self, &self->parent_then, &conflict.in_base) ||
        state_of (self, &self->parent_now, &conflict.in_parent) ||
        state_of (self, &self->fork_now, &conflict.in_fork))
        return -1;
    conflict.id = ag_plan_keep (self->plan, self->id);
    conflict.detail = ag_plan_text (self->plan, "%s %.*s %s", kind_name (self->kind),
                                    AG_STR_ARG (self->id), both_changed_words (self, identical));
    add_conflict (self->plan, &conflict);
    return 0;
}

static struct ag_deltas *
list_for (struct planner *self)
{
    ag_plan_t *plan = self->plan;
    bool object = self->kind == AG_OBJECT;
    if (!self->fork_now.live)
        return object ? &plan->object_removes : &plan->relation_removes;
    if (object && self->fork_then.live)
        return &plan->object_patches;
    return object ? &plan->object_creates : &plan->relation_creates;
}

static int
check_bounds (struct planner *self)
{
    if (ag_plan_size (self->plan) > self->max_entities)
        return ag_fail (self->err, AG_E_TOO_LARGE,
                        "the promote of %s carries more than %zu entities (promote.max_entities)",
                        self->fork->id, self->max_entities);
    if (self->plan->arena.now.bytes > PLAN_BYTES)
        return ag_fail (self->err, AG_E_TOO_LARGE, "the promote of %s carries more than %d bytes",
                        self->fork->id, PLAN_BYTES);
    return 0;
}

static int
add_to_delta (struct planner *self)
{
    const struct ag_tip *tip = &self->fork_now.tip;
    struct ag_delta *delta = add_delta (list_for (self));
    *delta = (struct ag_delta){.id = ag_plan_keep (self->plan, self->id)};
    if (!self->fork_now.live)
        return check_bounds (self);
    if (read_data (self, &self->fork_now))
        return -1;
    delta->type = ag_plan_keep (self->plan, tip->type);
    delta->source = ag_plan_keep (self->plan, tip->source);
    delta->target = ag_plan_keep (self->plan, tip->target);
    delta->data = ag_plan_keep (self->plan, ag_buf_str (&self->fork_now.data));
    return check_bounds (self);
}

//  Where the parent is compared from: what the fork's latest promote of the entity wrote, else the cut.
static int
parent_base (struct planner *self, uint64_t *at)
{
    struct ag_key key;
    struct ag_buf hold = {0};
    *at = self->fork->cut;
    if (!self->plan->last_marker)
        return 0;
    ag_key_wrote (&key, self->fork->number, self->kind, self->id);
    int rc = ag_batch_get (ag_journal_batch (self->journal), AG_META, ag_key_str (&key), &hold,
                           self->err);
    if (rc > 0)
        *at = ag_be64 (hold.p);
    ag_buf_fini (&hold);
    return rc < 0 ? -1 : 0;
}

//  1 when the parent changed it since; an id that it used and removed meanwhile is a change too, because
//  an id names one thing for ever.
static int
parent_changed (struct planner *self)
{
    int unchanged = same (self, &self->parent_then, &self->parent_now);
    if (unchanged < 0)
        return -1;
    return !unchanged || (!self->parent_then.used && self->parent_now.used);
}

//  A past side. Of what the parent knows nothing now it never did, nor did the fork at its cut or its last promote.
static int
look_back (struct planner *self, const struct ag_run *run, uint64_t at, struct side *side)
{
    if (self->parent_now.used)
        return look (self, run, at, side);
    side->used = side->live = side->read = false;
    return 0;
}

static int
classify (struct planner *self)
{
    uint64_t at;
    if (look (self, self->parent, AG_NOW, &self->parent_now) ||
        look_back (self, self->fork, self->plan->base, &self->fork_then))
        return -1;
    int unchanged = same (self, &self->fork_then, &self->fork_now);
    if (unchanged)
        return unchanged < 0 ? -1 : 0;
    if (parent_base (self, &at) || look_back (self, self->parent, at, &self->parent_then))
        return -1;
    int changed = parent_changed (self);
    if (changed < 0)
        return -1;
    return changed || made_again (self) ? add_both_changed (self) : add_to_delta (self);
}

//  The fork's present, of a tip that was scanned.
static int
take_tip (struct planner *self, struct ag_str value)
{
    struct side *side = &self->fork_now;
    ag_buf_clear (&side->tip.hold);
    ag_buf_add_str (&side->tip.hold, value);
    side->tip.holder = self->fork;
    side->used = true;
    side->read = false;
    int rc = ag_tip_decode (ag_buf_str (&side->tip.hold), &side->tip);
    side->live = !rc && side->tip.live;
    return rc;
}

//  The fork's own tips are all it ever changed, in order of the ids.
static int
classify_kind (struct planner *self, enum ag_entity_kind kind)
{
    struct ag_key from;
    struct ag_str key, value;
    ag_key_tips (&from, self->fork->index, kind);
    struct ag_key to = ag_key_end (&from);
    self->kind = kind;
    ag_view_t *view = ag_batch_scan (ag_journal_batch (self->journal), AG_TIP, ag_key_str (&from),
                                     ag_key_str (&to));
    int rc;
    while ((rc = ag_view_next (view, &key, &value, self->err)) > 0) {
        self->id = ag_key_last (key, from.n);
        if (take_tip (self, value))
            rc = ag_fail (self->err, AG_E_CORRUPT, "the state index of run %s is unreadable",
                          self->fork->id);
        else if (self->fork_now.tip.seq > self->plan->base)
            rc = classify (self);
        if (rc < 0)
            break;
    }
    ag_view_destroy (&view);
    return rc < 0 ? -1 : 0;
}

/*  Referential integrity, over the delta that was classified  */

//  An end that the parent will have: created with the delta, or there now and not removed with it.
static int
will_exist (struct planner *self, struct ag_str object)
{
    if (holds (&self->plan->object_creates, object))
        return 1;
    if (holds (&self->plan->object_removes, object))
        return 0;
    int rc = ag_state_tip (self->journal, self->parent, AG_OBJECT, object, AG_NOW,
                           &self->parent_now.tip, self->err);
    return rc > 0 ? self->parent_now.tip.live : rc;
}

static int
add_dangling (struct planner *self, const struct ag_delta *relation, bool source, bool target)
{
    struct ag_str first = relation->source, second = relation->target;
    if (source && target && ag_str_cmp (first, second) > 0) {
        first = relation->target;
        second = relation->source;
    }
    bool one = !(source && target) || ag_str_eq (first, second);
    struct ag_str only = source ? relation->source : relation->target;
    struct ag_conflict conflict = {.kind = AG_DANGLING_RELATION,
                                   .entity = AG_RELATION,
                                   .id = relation->id,
                                   .in_base = AG_LIT ("\xc0"),
                                   .in_parent = AG_LIT ("\xc0")};
    const char *words =
        "relation %.*s (%.*s -> %.*s) would point at what the parent does not have: ";
    struct ag_str said =
        ag_plan_text (self->plan, words, AG_STR_ARG (relation->id), AG_STR_ARG (relation->source),
                      AG_STR_ARG (relation->target));
    conflict.detail = one ? ag_plan_text (self->plan, "%s%.*s", said.p, AG_STR_ARG (only))
                          : ag_plan_text (self->plan, "%s%.*s, %.*s", said.p, AG_STR_ARG (first),
                                          AG_STR_ARG (second));
    self->kind = AG_RELATION;
    self->id = relation->id;
    if (look (self, self->fork, AG_NOW, &self->fork_now) ||
        state_of (self, &self->fork_now, &conflict.in_fork))
        return -1;
    add_conflict (self->plan, &conflict);
    return 0;
}

static int
check_dangling (struct planner *self)
{
    const struct ag_deltas *list = &self->plan->relation_creates;
    for (size_t i = 0; i < list->count; i++) {
        const struct ag_delta *relation = &list->rows[i];
        int source = will_exist (self, relation->source);
        int target = source < 0 ? -1 : will_exist (self, relation->target);
        if (target < 0 || (!(source && target) && add_dangling (self, relation, !source, !target)))
            return -1;
    }
    return 0;
}

struct orphans {
    const struct ag_deltas *removed; //  relations that go with the delta
    struct ag_buf text;
    size_t count;
};

static bool
collect_orphan (void *arg, struct ag_str id)
{
    struct orphans *self = arg;
    if (holds (self->removed, id))
        return true;
    if (self->count++ < SHOWN_RELATIONS)
        ag_buf_text (&self->text, "%s%.*s", self->count > 1 ? ", " : "", AG_STR_ARG (id));
    return self->count < COUNTED_RELATIONS;
}

static int
add_orphaning (struct planner *self, struct ag_str object, const struct orphans *orphans)
{
    struct ag_conflict conflict = {.kind = AG_ORPHANING_REMOVAL,
                                   .entity = AG_OBJECT,
                                   .id = object,
                                   .in_fork = AG_LIT ("\xc0")};
    struct ag_str more = AG_LIT ("");
    if (orphans->count > SHOWN_RELATIONS)
        more = ag_plan_text (self->plan, ", ... and %s%zu more",
                             orphans->count == COUNTED_RELATIONS ? "at least " : "",
                             orphans->count - SHOWN_RELATIONS);
    conflict.detail = ag_plan_text (
        self->plan, "removing object %.*s would orphan relations of the parent: %.*s%s",
        AG_STR_ARG (object), AG_STR_ARG (ag_buf_str (&orphans->text)), more.p);
    uint64_t at;
    self->kind = AG_OBJECT;
    self->id = object;
    if (parent_base (self, &at) || look (self, self->parent, at, &self->parent_then) ||
        look (self, self->parent, AG_NOW, &self->parent_now) ||
        state_of (self, &self->parent_then, &conflict.in_base) ||
        state_of (self, &self->parent_now, &conflict.in_parent))
        return -1;
    add_conflict (self->plan, &conflict);
    return 0;
}

static int
check_orphans (struct planner *self)
{
    const struct ag_deltas *list = &self->plan->object_removes;
    struct orphans orphans = {.removed = &self->plan->relation_removes};
    int rc = 0;
    for (size_t i = 0; !rc && i < list->count; i++) {
        struct ag_str object = list->rows[i].id;
        orphans.count = 0;
        ag_buf_clear (&orphans.text);
        rc = ag_state_relations (self->journal, self->parent, object, AG_NOW, AG_LIT (""),
                                 collect_orphan, &orphans, self->err);
        if (!rc && orphans.count)
            rc = add_orphaning (self, object, &orphans);
    }
    ag_buf_fini (&orphans.text);
    return rc;
}

/*  The whole  */

static int
read_last_promote (struct planner *self)
{
    struct ag_key key;
    struct ag_buf hold = {0};
    ag_key_promoted (&key, self->fork->number);
    int rc = ag_batch_get (ag_journal_batch (self->journal), AG_META, ag_key_str (&key), &hold,
                           self->err);
    self->plan->base = rc > 0 ? ag_be64 (hold.p) : self->fork->cut;
    self->plan->last_marker = rc > 0 ? ag_be64 (hold.p + 8) : 0;
    ag_buf_fini (&hold);
    return rc < 0 ? -1 : 0;
}

static int
make (struct planner *self)
{
    return read_last_promote (self) || classify_kind (self, AG_OBJECT) ||
                   classify_kind (self, AG_RELATION) || check_dangling (self) ||
                   check_orphans (self) ||
                   ag_plan_fit (self->journal, self->parent, self->plan, self->err) ||
                   ag_plan_warn (self->journal, self->fork, self->plan, self->err)
               ? -1
               : 0;
}

ag_plan_t *
ag_promote_plan (ag_journal_t *journal, struct ag_run *fork, uint64_t max_entities,
                 struct ag_err *err)
{
    if (!fork->above) {
        ag_fail (err, AG_E_LINEAGE, "run %s is not a direct fork of any run", fork->id);
        return NULL;
    }
    ag_plan_t *plan = ag_xcalloc (1, sizeof *plan);
    struct planner self = {.journal = journal,
                           .fork = fork,
                           .parent = fork->above,
                           .plan = plan,
                           .max_entities = max_entities ? max_entities : AG_PROMOTE_ENTITIES,
                           .err = err};
    plan->fork = fork->number;
    plan->parent = fork->parent;
    memcpy (plan->fork_id, fork->id, sizeof fork->id);
    memcpy (plan->parent_id, fork->above->id, sizeof fork->id);
    plan->cut = fork->cut;
    plan->against = fork->above->head.tip;
    plan->fork_tip = fork->head.tip;
    if (make (&self))
        ag_plan_destroy (&plan);
    side_fini (&self.fork_then);
    side_fini (&self.fork_now);
    side_fini (&self.parent_then);
    side_fini (&self.parent_now);
    return plan;
}
