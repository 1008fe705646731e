//  A store that forgets: for the tests of the floors above, and as the measure of what a store must do.
//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/omap.h"
#include "supervisor/store_impl.h"

#include <stdlib.h>

struct memory {
    struct ag_store base;
    struct ag_omap tables[AG_TABLES];
};

struct memory_scan {
    struct ag_scan base;
    struct ag_entry *next;
    char *to;
    size_t to_bytes;
};

static void
drop (struct ag_omap *map, struct ag_entry *entry)
{
    ag_omap_remove (map, entry);
    free (entry);
}

static void
destroy (ag_store_t *store)
{
    struct memory *self = (struct memory *)store;
    for (int table = 0; table < AG_TABLES; table++) {
        struct ag_entry *entry;
        while ((entry = ag_omap_seek (&self->tables[table], AG_LIT (""))))
            drop (&self->tables[table], entry);
    }
    free (self);
}

static int
get (ag_store_t *store, enum ag_table table, struct ag_str key, struct ag_buf *out,
     struct ag_err *err)
{
    (void)err;
    struct memory *self = (struct memory *)store;
    const struct ag_entry *entry = ag_omap_find (&self->tables[table], key);
    if (entry)
        ag_buf_add_str (out, entry->value);
    return entry != NULL;
}

static ag_scan_t *
scan (ag_store_t *store, enum ag_table table, struct ag_str from, struct ag_str to)
{
    struct memory *self = (struct memory *)store;
    struct memory_scan *made = ag_xcalloc (1, sizeof *made);
    made->next = ag_omap_seek (&self->tables[table], from);
    made->to = ag_str_dup (to);
    made->to_bytes = to.n;
    return &made->base;
}

static int
scan_next (ag_scan_t *base, struct ag_str *key, struct ag_str *value, struct ag_err *err)
{
    (void)err;
    struct memory_scan *self = (struct memory_scan *)base;
    struct ag_entry *entry = self->next;
    struct ag_str to = {self->to, self->to_bytes};
    if (!entry || (to.n && ag_str_cmp (entry->key, to) >= 0))
        return 0;
    *key = entry->key;
    *value = entry->value;
    self->next = ag_omap_next (entry);
    return 1;
}

static void
scan_destroy (ag_scan_t *base)
{
    struct memory_scan *self = (struct memory_scan *)base;
    free (self->to);
    free (self);
}

static void
put (struct ag_omap *map, struct ag_str key, struct ag_str value)
{
    void *memory = ag_xmalloc (ag_entry_size (key, value));
    struct ag_entry *entry = ag_entry_make (memory, key, value);
    struct ag_entry *earlier = ag_omap_insert (map, entry);
    if (earlier) {
        drop (map, earlier);
        ag_omap_insert (map, entry);
    }
}

static int
write_all (ag_store_t *store, const struct ag_write *writes, size_t count, struct ag_err *err)
{
    (void)err;
    struct memory *self = (struct memory *)store;
    for (size_t i = 0; i < count; i++) {
        struct ag_omap *map = &self->tables[writes[i].table];
        struct ag_entry *earlier = writes[i].value.p ? NULL : ag_omap_find (map, writes[i].key);
        if (writes[i].value.p)
            put (map, writes[i].key, writes[i].value);
        else if (earlier)
            drop (map, earlier);
    }
    return 0;
}

static int
reopen (ag_store_t *store, struct ag_err *err)
{
    (void)err;
    store->epoch++;
    return 0;
}

//  Never full, unless the reserve is all there is: so the floors above can meet a full disk.
static int
room (ag_store_t *store, uint64_t *bytes, struct ag_err *err)
{
    (void)store;
    (void)err;
    *bytes = UINT64_MAX - 1;
    return 0;
}

static void
release (ag_store_t *self, enum ag_table table)
{
    (void)self;
    (void)table;
}

static const struct ag_store_ops ops = {destroy,   get,    scan, scan_next, scan_destroy,
                                        write_all, reopen, room, release};

ag_store_t *
ag_store_memory_new (void)
{
    struct memory *self = ag_xcalloc (1, sizeof *self);
    ag_store_init (&self->base, &ops);
    ag_store_make_identity (self->base.identity);
    self->base.epoch = 1;
    return &self->base;
}
