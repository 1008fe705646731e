//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/omap.h"

#include <assert.h>
#include <string.h>

static int
compare (const struct ag_entry *a, const struct ag_entry *b)
{
    return ag_str_cmp (a->key, b->key);
}

RB_GENERATE_INTERNAL (ag_omap, ag_entry, link, compare, static __attribute__ ((unused)))

size_t
ag_entry_size (struct ag_str key, struct ag_str value)
{
    return sizeof (struct ag_entry) + key.n + value.n;
}

struct ag_entry *
ag_entry_make (void *memory, struct ag_str key, struct ag_str value)
{
    struct ag_entry *entry = memory;
    char *bytes = (char *)(entry + 1);
    if (key.n)
        memcpy (bytes, key.p, key.n);
    if (value.n)
        memcpy (bytes + key.n, value.p, value.n);
    entry->key = (struct ag_str){bytes, key.n};
    entry->value = (struct ag_str){value.p ? bytes + key.n : NULL, value.n};
    return entry;
}

struct ag_entry *
ag_omap_insert (struct ag_omap *self, struct ag_entry *entry)
{
    return RB_INSERT (ag_omap, self, entry);
}

//  Between near and the entry that follows it: one of the two has no child on that side. RB_SET and
//  RB_INSERT_COLOR are of libbsd's inside: they are what its RB_INSERT ends with.
static void
link_behind (struct ag_omap *self, struct ag_entry *near, struct ag_entry *next,
             struct ag_entry *entry)
{
    if (!RB_RIGHT (near, link)) {
        RB_SET (entry, near, link);
        RB_RIGHT (near, link) = entry;
    } else {
        assert (next && !RB_LEFT (next, link));
        RB_SET (entry, next, link);
        RB_LEFT (next, link) = entry;
    }
    ag_omap_RB_INSERT_COLOR (self, entry);
}

struct ag_entry *
ag_omap_insert_near (struct ag_omap *self, struct ag_entry *near, struct ag_entry *entry)
{
    if (!near || compare (near, entry) >= 0)
        return ag_omap_insert (self, entry);
    struct ag_entry *next = ag_omap_next (near);
    if (next && compare (entry, next) >= 0)
        return ag_omap_insert (self, entry);
    link_behind (self, near, next, entry);
    return NULL;
}

void
ag_omap_remove (struct ag_omap *self, struct ag_entry *entry)
{
    RB_REMOVE (ag_omap, self, entry);
}

struct ag_entry *
ag_omap_find (struct ag_omap *self, struct ag_str key)
{
    struct ag_entry wanted = {.key = key};
    return RB_FIND (ag_omap, self, &wanted);
}

struct ag_entry *
ag_omap_seek (struct ag_omap *self, struct ag_str key)
{
    struct ag_entry wanted = {.key = key};
    return RB_NFIND (ag_omap, self, &wanted);
}

struct ag_entry *
ag_omap_next (struct ag_entry *entry)
{
    return RB_NEXT (ag_omap, NULL, entry);
}
