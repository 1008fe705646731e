//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/state_index.h"

#include <assert.h>
#include <string.h>

/*  A scan merges the keys of each run of the lineage, which are in order of the ids. A key only proposes
 *  an id: what is alive at the point is decided by the nearest run that knows the entity.
 */
enum verdict { ASK, ALIVE, GONE };

struct source {
    const struct ag_run *level;
    uint64_t at;   //  as far as this run is seen
    bool of_index; //  AG_INDEX, else AG_TIP
    ag_view_t *view;
    size_t prefix;
    bool held; //  id and verdict are set
    struct ag_buf id;
    enum verdict verdict;
};

enum { SOURCES = 2 * (AG_RUN_DEPTH + 2) }; //  the deepest is a scratch fork

struct merge {
    ag_journal_t *journal;
    const struct ag_run *run;
    enum ag_entity_kind kind;
    uint64_t at;
    struct ag_str type, end; //  what is looked for; p NULL: anything
    struct source sources[SOURCES];
    int count;
    struct ag_tip tip;
};

static void
add_source (struct merge *self, const struct ag_run *level, uint64_t at, bool of_index,
            struct ag_key *prefix, struct ag_str after)
{
    assert (self->count < SOURCES);
    struct source *source = &self->sources[self->count++];
    *source = (struct source){.level = level, .at = at, .of_index = of_index, .prefix = prefix->n};
    struct ag_key to = ag_key_end (prefix);
    if (after.n) {
        ag_key_add_id (prefix, after);
        ag_key_next (prefix);
    }
    source->view = ag_batch_scan (ag_journal_batch (self->journal), of_index ? AG_INDEX : AG_TIP,
                                  ag_key_str (prefix), ag_key_str (&to));
}

//  Whether the entity of an index key existed at the point in the run that made it.
static bool
spans (const struct source *source, struct ag_str value)
{
    uint64_t created = ag_be64 (value.p);
    return created <= source->at && (value.n < 16 || source->at < ag_be64 (value.p + 8));
}

//  What one key says; false when it proposes nothing.
static bool
judge (const struct merge *self, struct source *source, struct ag_str value)
{
    bool nearest = source->level == self->run;
    struct ag_tip tip;
    if (source->of_index) {
        source->verdict = nearest ? ALIVE : ASK;
        return spans (source, value);
    }
    int rc = ag_tip_decode (value, &tip);
    source->verdict = rc || !nearest || tip.seq > source->at ? ASK : tip.live ? ALIVE : GONE;
    return true;
}

static int
advance (struct merge *self, struct source *source, struct ag_err *err)
{
    struct ag_str key, value;
    int rc;
    while ((rc = ag_view_next (source->view, &key, &value, err)) > 0)
        if (judge (self, source, value))
            break;
    source->held = rc > 0;
    ag_buf_clear (&source->id);
    if (rc > 0)
        ag_buf_add_str (&source->id, ag_key_last (key, source->prefix));
    return rc < 0 ? -1 : 0;
}

static int
begin (struct merge *self, struct ag_err *err)
{
    for (int i = 0; i < self->count; i++)
        if (advance (self, &self->sources[i], err))
            return -1;
    return 0;
}

//  The source with the smallest id, the nearest run first; NULL at the end.
static struct source *
smallest (struct merge *self)
{
    struct source *first = NULL;
    for (int i = 0; i < self->count; i++) {
        struct source *source = &self->sources[i];
        if (source->held &&
            (!first || ag_str_cmp (ag_buf_str (&source->id), ag_buf_str (&first->id)) < 0))
            first = source;
    }
    return first;
}

static int
advance_past (struct merge *self, struct ag_str id, struct ag_err *err)
{
    for (int i = 0; i < self->count; i++) {
        struct source *source = &self->sources[i];
        while (source->held && ag_str_cmp (ag_buf_str (&source->id), id) <= 0)
            if (advance (self, source, err))
                return -1;
    }
    return 0;
}

//  An ancestor's index may tell of what the id named before a run below made it again.
static bool
is_meant (const struct merge *self)
{
    const struct ag_tip *tip = &self->tip;
    return tip->live && (!self->type.p || ag_str_eq (self->type, tip->type)) &&
           (!self->end.p || ag_str_eq (self->end, tip->source) ||
            ag_str_eq (self->end, tip->target));
}

static int
is_alive (struct merge *self, const struct source *source, struct ag_err *err)
{
    if (source->verdict != ASK)
        return source->verdict == ALIVE;
    int rc = ag_state_tip (self->journal, self->run, self->kind, ag_buf_str (&source->id), self->at,
                           &self->tip, err);
    return rc > 0 ? is_meant (self) : rc;
}

static int
merge (struct merge *self, ag_id_fn fn, void *arg, struct ag_err *err)
{
    struct ag_buf id = {0};
    struct source *source;
    int rc = begin (self, err);
    bool more = true;
    while (!rc && more && (source = smallest (self))) {
        int alive = is_alive (self, source, err);
        ag_buf_clear (&id);
        ag_buf_add_str (&id, ag_buf_str (&source->id));
        if (alive > 0)
            more = fn (arg, ag_buf_str (&id));
        rc = alive < 0 ? -1 : more ? advance_past (self, ag_buf_str (&id), err) : 0;
    }
    ag_buf_fini (&id);
    ag_tip_fini (&self->tip);
    for (int i = 0; i < self->count; i++) {
        ag_view_destroy (&self->sources[i].view);
        ag_buf_fini (&self->sources[i].id);
    }
    return rc;
}

//  How far an ancestor is seen from the run below it.
static uint64_t
seen (const struct ag_run *below, uint64_t at)
{
    return at < below->cut ? at : below->cut;
}

int
ag_state_scan (ag_journal_t *journal, const struct ag_run *run, enum ag_entity_kind kind,
               uint64_t at, struct ag_str after, ag_id_fn fn, void *arg, struct ag_err *err)
{
    struct merge self = {.journal = journal, .run = run, .kind = kind, .at = at};
    for (const struct ag_run *level = run; level; at = seen (level, at), level = level->above) {
        struct ag_key prefix;
        ag_key_tips (&prefix, level->index, kind);
        if (at > level->cut)
            add_source (&self, level, at, false, &prefix, after);
    }
    return merge (&self, fn, arg, err);
}

typedef void (*prefix_fn) (struct ag_key *key, bool live, const struct ag_run *run,
                           enum ag_entity_kind kind, struct ag_str of);

static void
prefix_of_type (struct ag_key *key, bool live, const struct ag_run *run, enum ag_entity_kind kind,
                struct ag_str type)
{
    ag_key_of_type (key, live, run->index, kind, type);
}

static void
prefix_of_object (struct ag_key *key, bool live, const struct ag_run *run, enum ag_entity_kind kind,
                  struct ag_str object)
{
    (void)kind;
    ag_key_of_object (key, live, run->index, object);
}

//  What lives now, and where the run is not seen to its tip also what was removed since.
static void
add_index (struct merge *self, prefix_fn prefix_of, struct ag_str of, struct ag_str after)
{
    uint64_t at = self->at;
    for (const struct ag_run *level = self->run; level;
         at = seen (level, at), level = level->above) {
        struct ag_key prefix;
        if (at <= level->cut)
            continue;
        prefix_of (&prefix, true, level, self->kind, of);
        add_source (self, level, at, true, &prefix, after);
        if (at >= level->head.tip)
            continue;
        prefix_of (&prefix, false, level, self->kind, of);
        add_source (self, level, at, true, &prefix, after);
    }
}

static bool
is_name (struct ag_str name)
{
    return name.n > 0 && name.n <= AG_NAME_BYTES && !memchr (name.p, 0, name.n);
}

int
ag_state_scan_type (ag_journal_t *journal, const struct ag_run *run, enum ag_entity_kind kind,
                    struct ag_str type, uint64_t at, struct ag_str after, ag_id_fn fn, void *arg,
                    struct ag_err *err)
{
    struct merge self = {.journal = journal, .run = run, .kind = kind, .at = at, .type = type};
    if (!is_name (type))
        return 0;
    add_index (&self, prefix_of_type, type, after);
    return merge (&self, fn, arg, err);
}

int
ag_state_relations (ag_journal_t *journal, const struct ag_run *run, struct ag_str object,
                    uint64_t at, struct ag_str after, ag_id_fn fn, void *arg, struct ag_err *err)
{
    struct merge self = {
        .journal = journal, .run = run, .kind = AG_RELATION, .at = at, .end = object};
    if (!is_name (object))
        return 0;
    add_index (&self, prefix_of_object, object, after);
    return merge (&self, fn, arg, err);
}
