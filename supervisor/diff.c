//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/diff.h"
#include "supervisor/arena.h"
#include "supervisor/omap.h"
#include "supervisor/state_index.h"

enum { LOOKED = 50000 }; //  entities that one page looks at

//  One of the two, with how far it is seen, and the entity that is looked at.
struct side {
    const struct ag_run *run;
    uint64_t at;
    char bit; //  in the sides that changed an entity
    struct ag_tip tip;
    struct ag_buf data;
    bool known, live; //  known: the id was used by then
};

struct diff {
    ag_journal_t *journal;
    struct side a, b;
    const struct ag_run *common; //  the run that both descend from, or are
    uint64_t shared;             //  its last event that both have
    struct ag_arena arena;
    struct ag_omap objects,
        relations; //  ids that either side changed since; the value is a byte: which
    size_t changes;
    struct ag_str after_object, after_relation;
    size_t limit;
    struct ag_buf *out;
    size_t begin;
    size_t looked; //  entities on this page
    bool identical, truncated;
    struct ag_str last_object, last_relation; //  looked at on this page
    struct ag_err *err;
};

/*  The common event  */

static uint64_t
least (uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

//  How far an ancestor (or the run itself) is seen; false when it is none.
static bool
sees (const struct side *side, const struct ag_run *ancestor, uint64_t *at)
{
    *at = side->at;
    for (const struct ag_run *level = side->run; level; level = level->above) {
        if (level == ancestor)
            return true;
        *at = least (*at, level->cut);
    }
    return false;
}

static int
find_common (struct diff *self)
{
    uint64_t a_at, b_at;
    for (self->common = self->a.run; self->common; self->common = self->common->above)
        if (sees (&self->a, self->common, &a_at) && sees (&self->b, self->common, &b_at)) {
            self->shared = least (a_at, b_at);
            return 0;
        }
    return ag_fail (self->err, AG_E_LINEAGE, "runs %s and %s have no common ancestor",
                    self->a.run->id, self->b.run->id);
}

/*  What changed since  */

static int
add_id (struct diff *self, const struct side *side, enum ag_entity_kind kind, struct ag_str id)
{
    bool object = kind == AG_OBJECT;
    struct ag_omap *map = object ? &self->objects : &self->relations;
    if (ag_str_cmp (id, object ? self->after_object : self->after_relation) <= 0)
        return 0;
    struct ag_entry *entry = ag_omap_find (map, id);
    if (entry) {
        *(char *)entry->value.p |= side->bit;
        return 0;
    }
    if (++self->changes > AG_DIFF_CHANGES)
        return ag_fail (self->err, AG_E_TOO_LARGE, "runs %s and %s differ in more than %d changes",
                        self->a.run->id, self->b.run->id, AG_DIFF_CHANGES);
    struct ag_str sides = {&side->bit, 1};
    void *memory = ag_arena_take (&self->arena, ag_entry_size (id, sides));
    ag_omap_insert (map, ag_entry_make (memory, id, sides));
    return 0;
}

//  A fork's own tips are all it ever changed.
static int
add_tips (struct diff *self, const struct side *side, const struct ag_run *level,
          enum ag_entity_kind kind)
{
    struct ag_key from;
    struct ag_str key, value;
    ag_key_tips (&from, level->index, kind);
    struct ag_key to = ag_key_end (&from);
    ag_view_t *view = ag_batch_scan (ag_journal_batch (self->journal), AG_TIP, ag_key_str (&from),
                                     ag_key_str (&to));
    int rc;
    while ((rc = ag_view_next (view, &key, &value, self->err)) > 0)
        if ((rc = add_id (self, side, kind, ag_key_last (key, from.n))) < 0)
            break;
    ag_view_destroy (&view);
    return rc < 0 ? -1 : 0;
}

struct from_log {
    struct diff *diff;
    const struct side *side;
    int rc;
};

static bool
add_relation (void *arg, struct ag_str id)
{
    struct from_log *self = arg;
    self->rc = add_id (self->diff, self->side, AG_RELATION, id);
    return !self->rc;
}

//  What an imported removal took along is named by no other event.
static int
add_cascade (struct from_log *self, const struct ag_event *event, struct ag_str object)
{
    return ag_state_relations (self->diff->journal, self->diff->common, object, event->seq - 1,
                               (struct ag_str){0}, add_relation, self, self->diff->err) ||
                   self->rc
               ? -1
               : 0;
}

static bool
add_from_log (void *arg, const struct ag_event *event)
{
    struct from_log *self = arg;
    struct ag_change change;
    if (!ag_change_of (event, &change))
        return true;
    self->rc = add_id (self->diff, self->side, change.kind, change.id);
    if (!self->rc && event->flags & AG_IMPORTED &&
        ag_str_eq (event->type, ag_type_name (AG_EV_OBJECT_REMOVED)))
        self->rc = add_cascade (self, event, change.id);
    return !self->rc;
}

//  The forks between a side and the common run by their tips, the common run itself by its log.
static int
add_side (struct diff *self, const struct side *side)
{
    uint64_t at;
    struct from_log log = {self, side, 0};
    for (const struct ag_run *level = side->run; level != self->common; level = level->above)
        if (add_tips (self, side, level, AG_OBJECT) || add_tips (self, side, level, AG_RELATION))
            return -1;
    sees (side, self->common, &at);
    if (at - self->shared > AG_DIFF_EVENTS)
        return ag_fail (self->err, AG_E_TOO_LARGE,
                        "run %s has more than %d events since the common one", self->common->id,
                        AG_DIFF_EVENTS);
    return ag_journal_scan (self->journal, self->common, self->shared, at, add_from_log, &log,
                            self->err) ||
                   log.rc
               ? -1
               : 0;
}

/*  Entities that differ  */

static int
look (struct diff *self, enum ag_entity_kind kind, struct ag_str id, struct side *side)
{
    int rc = ag_state_tip (self->journal, side->run, kind, id, side->at, &side->tip, self->err);
    side->known = rc > 0;
    side->live = side->known && side->tip.live;
    return rc < 0 ? -1 : 0;
}

//  Who changed it is looked at first: what came into being there after the shared event is unknown to the
//  other one, unless that changed it too.
static int
look_at_both (struct diff *self, enum ag_entity_kind kind, const struct ag_entry *entry)
{
    struct side *first = *entry->value.p & self->a.bit ? &self->a : &self->b;
    struct side *second = first == &self->a ? &self->b : &self->a;
    if (look (self, kind, entry->key, first))
        return -1;
    bool changed = *entry->value.p & second->bit;
    if (changed || !first->known || first->tip.again || first->tip.created <= self->shared)
        return look (self, kind, entry->key, second);
    second->known = second->live = false;
    return 0;
}

static int
read_data (struct diff *self, enum ag_entity_kind kind, struct ag_str id, struct side *side)
{
    return side->live ? ag_state_data (self->journal, kind, id, &side->tip, &side->data, self->err)
                      : 0;
}

static bool
is_same_version (const struct side *a, const struct side *b)
{
    return a->tip.holder == b->tip.holder && a->tip.seq == b->tip.seq;
}

static bool
differ (const struct side *a, const struct side *b)
{
    const struct ag_tip *x = &a->tip, *y = &b->tip;
    if (!a->live || !b->live)
        return true;
    return x->version != y->version || !ag_str_eq (x->type, y->type) ||
           !ag_str_eq (x->source, y->source) || !ag_str_eq (x->target, y->target) ||
           !ag_value_equal (ag_buf_str (&a->data), ag_buf_str (&b->data));
}

//  1 when the two differ in it; then their data is read.
static int
compare (struct diff *self, enum ag_entity_kind kind, const struct ag_entry *entry)
{
    struct side *a = &self->a, *b = &self->b;
    if (look_at_both (self, kind, entry))
        return -1;
    if ((!a->live && !b->live) || (a->live && b->live && is_same_version (a, b)))
        return 0;
    if (read_data (self, kind, entry->key, a) || read_data (self, kind, entry->key, b))
        return -1;
    return differ (a, b);
}

static void
put_side (struct ag_buf *out, const char *key, enum ag_entity_kind kind, struct ag_str id,
          const struct side *side)
{
    ag_put_lit (out, key);
    if (!side->live) {
        ag_put_null (out);
        return;
    }
    bool relation = kind == AG_RELATION;
    ag_put_map (out, relation ? 5 : 4);
    ag_put_pair_text (out, "id", id);
    if (relation) {
        ag_put_pair_text (out, "source", side->tip.source);
        ag_put_pair_text (out, "target", side->tip.target);
    }
    ag_put_pair_text (out, "type", side->tip.type);
    ag_put_lit (out, "data");
    ag_put_value (out, ag_buf_str (&side->data));
    if (!relation) {
        ag_put_lit (out, "version");
        ag_put_uint (out, side->tip.version);
    }
}

//  A page is bounded in entries, in bytes, and in what is looked at for them.
static bool
is_full (struct diff *self, uint32_t count)
{
    return count == self->limit || self->out->n - self->begin > AG_DIFF_BYTES ||
           self->looked++ >= LOOKED;
}

static int
put_divergent (struct diff *self, const char *key, enum ag_entity_kind kind, struct ag_omap *ids,
               struct ag_str *last)
{
    uint32_t count = 0;
    ag_put_lit (self->out, key);
    size_t list = ag_open_list (self->out);
    for (struct ag_entry *entry = ag_omap_seek (ids, AG_LIT ("")); entry;
         entry = ag_omap_next (entry)) {
        if (is_full (self, count)) {
            self->truncated = true;
            break;
        }
        *last = entry->key;
        int rc = compare (self, kind, entry);
        if (rc < 0)
            return -1;
        if (rc == 0)
            continue;
        ag_put_map (self->out, 3);
        ag_put_pair_text (self->out, "id", entry->key);
        put_side (self->out, "a", kind, entry->key, &self->a);
        put_side (self->out, "b", kind, entry->key, &self->b);
        count++;
    }
    ag_close (self->out, list, count);
    self->identical = self->identical && !count && !self->truncated;
    return 0;
}

/*  The answer  */

//  The run, and where it was not looked at as it is now, the point.
static void
put_point (struct diff *self, const char *key, const struct side *side)
{
    char point[AG_EVT_TEXT + 1] = "@";
    ag_evt_text (side->at, point + 1);
    ag_put_lit (self->out, key);
    ag_put_textf (self->out, "%s%s", side->run->id, side->at < side->run->head.tip ? point : "");
}

static void
put_count (struct diff *self, const char *key, uint64_t count)
{
    ag_put_pair_uint (self->out, key, count);
}

//  The common run's head at the shared event: a fork that was cut there begins with it.
static int
shared_head (struct diff *self, struct ag_run_head *head)
{
    const struct side *const sides[] = {&self->a, &self->b};
    for (int i = 0; i < 2; i++)
        for (const struct ag_run *level = sides[i]->run; level != self->common;
             level = level->above)
            if (level->above == self->common && level->cut == self->shared) {
                *head = level->base;
                return 0;
            }
    return ag_run_head_at (self->journal, self->common, self->shared, head, self->err);
}

static int
put_events (struct diff *self)
{
    struct ag_run_head shared, a, b;
    if (shared_head (self, &shared) ||
        ag_run_head_at (self->journal, self->a.run, self->a.at, &a, self->err) ||
        ag_run_head_at (self->journal, self->b.run, self->b.at, &b, self->err))
        return -1;
    put_count (self, "shared_events", shared.facts);
    put_count (self, "a_only_events", a.facts - shared.facts);
    put_count (self, "b_only_events", b.facts - shared.facts);
    self->identical = self->identical && a.facts == shared.facts && b.facts == shared.facts;
    return 0;
}

static int
put_all (struct diff *self)
{
    size_t map = ag_open_map (self->out);
    put_point (self, "a", &self->a);
    put_point (self, "b", &self->b);
    if (put_events (self) ||
        put_divergent (self, "divergent_objects", AG_OBJECT, &self->objects, &self->last_object) ||
        put_divergent (self, "divergent_relations", AG_RELATION, &self->relations,
                       &self->last_relation))
        return -1;
    ag_put_lit (self->out, "is_identical");
    ag_put_bool (self->out, self->identical);
    if (self->truncated) {
        ag_put_lit (self->out, "truncated");
        ag_put_bool (self->out, true);
        ag_put_lit (self->out, "next");
        ag_put_map (self->out, 2);
        ag_put_pair_text (self->out, "object", self->last_object);
        ag_put_pair_text (self->out, "relation", self->last_relation);
    }
    ag_close (self->out, map, self->truncated ? 10 : 8);
    return 0;
}

static void
diff_fini (struct diff *self)
{
    ag_tip_fini (&self->a.tip);
    ag_tip_fini (&self->b.tip);
    ag_buf_fini (&self->a.data);
    ag_buf_fini (&self->b.data);
    ag_arena_rewind (&self->arena, (struct ag_place){0});
}

int
ag_diff (ag_journal_t *journal, const struct ag_run *a, uint64_t a_at, const struct ag_run *b,
         uint64_t b_at, const struct ag_diff_page *page, struct ag_buf *out, struct ag_err *err)
{
    struct diff self = {.journal = journal,
                        .a = {.run = a, .at = least (a_at, a->head.tip), .bit = 1},
                        .b = {.run = b, .at = least (b_at, b->head.tip), .bit = 2},
                        .after_object = page->after_object,
                        .after_relation = page->after_relation,
                        .limit = page->limit ? page->limit : AG_DIFF_LIMIT,
                        .out = out,
                        .begin = out->n,
                        .last_object = page->after_object,
                        .last_relation = page->after_relation,
                        .identical = !page->after_object.n && !page->after_relation.n,
                        .err = err};
    int rc = find_common (&self) || add_side (&self, &self.a) || add_side (&self, &self.b) ||
                     put_all (&self)
                 ? -1
                 : 0;
    if (rc)
        out->n = self.begin;
    diff_fini (&self);
    return rc;
}
