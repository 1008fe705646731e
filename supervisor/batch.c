//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/batch.h"
#include "supervisor/arena.h"
#include "supervisor/omap.h"

#include <assert.h>
#include <stdlib.h>

enum { KEPT_STEPS = 1 << 14 }; //  from turn to turn

//  What one put did, so that it can be undone: newest undone first.
struct step {
    struct ag_entry *entry;
    struct ag_str earlier; //  value that the entry had, if it was there
    struct ag_place before;
    enum ag_table table;
    bool made; //  the entry was linked by this put
};

struct ag_batch {
    ag_store_t *store;
    struct ag_arena arena; //  entries with their keys and values
    struct ag_omap tables[AG_TABLES];
    struct ag_entry *last[AG_TABLES]; //  where the last put went: the next key mostly follows
    struct step *steps;
    bool release[AG_TABLES];
    size_t count, room; //  of steps
    size_t entries;
    struct ag_write *writes; //  kept between turns
    size_t writes_room;
    uint64_t changes; //  tells a view that it is too old
};

struct ag_view {
    ag_batch_t *batch;
    ag_scan_t *scan;
    struct ag_entry *entry; //  next one of the batch
    char *to;
    size_t to_bytes;
    struct ag_str key, value; //  next one of the store
    bool held;                //  key and value are set
    uint64_t changes;
};

ag_batch_t *
ag_batch_new (ag_store_t *store)
{
    ag_batch_t *self = ag_xcalloc (1, sizeof *self);
    self->store = store;
    return self;
}

//  A turn of very many leaves no more memory behind than usual ones need.
static void
shrink (ag_batch_t *self)
{
    if (self->room <= KEPT_STEPS)
        return;
    free (self->steps);
    free (self->writes);
    self->steps = NULL;
    self->writes = NULL;
    self->room = self->writes_room = 0;
}

static void
clear (ag_batch_t *self)
{
    ag_arena_rewind (&self->arena, (struct ag_place){0});
    for (int table = 0; table < AG_TABLES; table++) {
        self->tables[table] = (struct ag_omap){0};
        self->last[table] = NULL;
        self->release[table] = false;
    }
    self->count = self->entries = 0;
    self->changes++;
    shrink (self);
}

void
ag_batch_destroy (ag_batch_t **self_p)
{
    ag_batch_t *self = *self_p;
    if (!self)
        return;
    clear (self);
    free (self->steps);
    free (self->writes);
    free (self);
    *self_p = NULL;
}

static struct step *
add_step (ag_batch_t *self)
{
    if (self->count == self->room) {
        self->room = self->room ? self->room * 2 : 64;
        self->steps = ag_xrealloc (self->steps, self->room * sizeof *self->steps);
    }
    return &self->steps[self->count++];
}

static void
put (ag_batch_t *self, enum ag_table table, struct ag_str key, struct ag_str value)
{
    struct step *step = add_step (self);
    step->before = self->arena.now;
    step->table = table;

    void *memory = ag_arena_take (&self->arena, ag_entry_size (key, value));
    struct ag_entry *entry = ag_entry_make (memory, key, value);
    struct ag_entry *known = ag_omap_insert_near (&self->tables[table], self->last[table], entry);
    step->made = !known;
    step->entry = self->last[table] = known ? known : entry;
    if (known) {
        step->earlier = known->value;
        known->value = entry->value;
    }
    self->entries += step->made;
    self->changes++;
}

void
ag_batch_put (ag_batch_t *self, enum ag_table table, struct ag_str key, struct ag_str value)
{
    put (self, table, key, value.p ? value : AG_LIT (""));
}

void
ag_batch_delete (ag_batch_t *self, enum ag_table table, struct ag_str key)
{
    put (self, table, key, (struct ag_str){0});
}

int
ag_batch_get (ag_batch_t *self, enum ag_table table, struct ag_str key, struct ag_buf *out,
              struct ag_err *err)
{
    const struct ag_entry *entry = ag_omap_find (&self->tables[table], key);
    if (!entry)
        return ag_store_get (self->store, table, key, out, err);
    if (!entry->value.p)
        return 0;
    ag_buf_add_str (out, entry->value);
    return 1;
}

ag_view_t *
ag_batch_scan (ag_batch_t *self, enum ag_table table, struct ag_str from, struct ag_str to)
{
    ag_view_t *view = ag_xcalloc (1, sizeof *view);
    view->batch = self;
    view->scan = ag_store_scan (self->store, table, from, to);
    view->entry = ag_omap_seek (&self->tables[table], from);
    view->to = ag_str_dup (to);
    view->to_bytes = to.n;
    view->changes = self->changes;
    return view;
}

//  The batch's entry that is next and still before the end, or NULL.
static struct ag_entry *
next_entry (const ag_view_t *view)
{
    struct ag_str to = {view->to, view->to_bytes};
    bool past = view->entry && to.n && ag_str_cmp (view->entry->key, to) >= 0;
    return past ? NULL : view->entry;
}

static int
hold_stored (ag_view_t *view, struct ag_err *err)
{
    if (!view->held) {
        int rc = ag_scan_next (view->scan, &view->key, &view->value, err);
        if (rc <= 0)
            return rc;
        view->held = true;
    }
    return 1;
}

int
ag_view_next (ag_view_t *view, struct ag_str *key, struct ag_str *value, struct ag_err *err)
{
    assert (view->changes == view->batch->changes);
    for (;;) {
        int stored = hold_stored (view, err);
        struct ag_entry *entry = next_entry (view);
        if (stored < 0 || (!stored && !entry))
            return stored;
        int order = !entry ? 1 : !stored ? -1 : ag_str_cmp (entry->key, view->key);
        if (order >= 0)
            view->held = false;
        if (order > 0) {
            *key = view->key;
            *value = view->value;
            return 1;
        }
        view->entry = ag_omap_next (entry);
        if (entry->value.p) {
            *key = entry->key;
            *value = entry->value;
            return 1;
        }
    }
}

void
ag_view_destroy (ag_view_t **view_p)
{
    ag_view_t *view = *view_p;
    if (!view)
        return;
    ag_scan_destroy (&view->scan);
    free (view->to);
    free (view);
    *view_p = NULL;
}

size_t
ag_batch_mark (const ag_batch_t *self)
{
    return self->count;
}

void
ag_batch_rollback (ag_batch_t *self, size_t mark)
{
    assert (mark <= self->count);
    while (self->count > mark) {
        const struct step *step = &self->steps[--self->count];
        if (step->made) {
            self->last[step->table] = NULL;
            ag_omap_remove (&self->tables[step->table], step->entry);
            self->entries--;
        } else {
            step->entry->value = step->earlier;
        }
        ag_arena_rewind (&self->arena, step->before);
    }
    self->changes++;
}

size_t
ag_batch_bytes (const ag_batch_t *self)
{
    return self->arena.now.bytes;
}

size_t
ag_batch_count (const ag_batch_t *self)
{
    return self->entries;
}

static size_t
gather (ag_batch_t *self)
{
    if (self->writes_room < self->entries) {
        self->writes = ag_xrealloc (self->writes, self->room * sizeof *self->writes);
        self->writes_room = self->room;
    }
    size_t n = 0;
    for (enum ag_table table = 0; table < AG_TABLES; table++) {
        struct ag_entry *entry = ag_omap_seek (&self->tables[table], AG_LIT (""));
        for (; entry; entry = ag_omap_next (entry))
            self->writes[n++] = (struct ag_write){table, entry->key, entry->value};
    }
    assert (n == self->entries);
    return n;
}

void
ag_batch_release (ag_batch_t *self, enum ag_table table)
{
    self->release[table] = true;
}

int
ag_batch_write (ag_batch_t *self, struct ag_err *err)
{
    size_t count = gather (self);
    int rc = ag_store_write (self->store, self->writes, count, err);
    for (enum ag_table table = 0; table < AG_TABLES && !rc; table++)
        if (self->release[table])
            ag_store_release (self->store, table);
    clear (self);
    return rc;
}
