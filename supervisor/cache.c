//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/cache.h"

#include <string.h>

enum { GENERATION_BYTES = 8 << 20 };

static void
drop (struct ag_cache *self, int generation)
{
    ag_arena_rewind (&self->arenas[generation], (struct ag_place){0});
    self->maps[generation] = (struct ag_omap){0};
}

void
ag_cache_clear (struct ag_cache *self)
{
    drop (self, 0);
    drop (self, 1);
}

//  An entry's value is the sequence and then the data.
static bool
read_entry (const struct ag_entry *entry, uint64_t seq, struct ag_str *data)
{
    uint64_t of;
    memcpy (&of, entry->value.p, sizeof of);
    *data = (struct ag_str){entry->value.p + sizeof of, entry->value.n - sizeof of};
    return of == seq;
}

static bool
is_full (const struct ag_cache *self)
{
    return self->arenas[self->young].now.bytes > GENERATION_BYTES;
}

static void
keep (struct ag_cache *self, struct ag_str key, uint64_t seq, struct ag_str data)
{
    struct ag_arena *arena = &self->arenas[self->young];
    struct ag_omap *map = &self->maps[self->young];
    struct ag_entry *entry = ag_omap_find (map, key);
    if (!entry) {
        struct ag_str none = AG_LIT ("");
        entry = ag_entry_make (ag_arena_take (arena, ag_entry_size (key, none)), key, none);
        ag_omap_insert (map, entry);
    }
    char *bytes = (char *)entry->value.p;
    if (entry->value.n < sizeof seq + data.n)
        bytes = ag_arena_take (arena, sizeof seq + data.n);
    memcpy (bytes, &seq, sizeof seq);
    if (data.n)
        memcpy (bytes + sizeof seq, data.p, data.n);
    entry->value = (struct ag_str){bytes, sizeof seq + data.n};
}

bool
ag_cache_get (struct ag_cache *self, struct ag_str key, uint64_t seq, struct ag_str *data)
{
    const struct ag_entry *entry = ag_omap_find (&self->maps[self->young], key);
    if (entry)
        return read_entry (entry, seq, data);
    entry = ag_omap_find (&self->maps[!self->young], key);
    if (!entry || !read_entry (entry, seq, data))
        return false;
    if (!is_full (self))
        keep (self, key, seq, *data);
    return true;
}

void
ag_cache_put (struct ag_cache *self, struct ag_str key, uint64_t seq, struct ag_str data)
{
    if (data.n > AG_CACHED_BYTES)
        return;
    if (is_full (self)) {
        self->young = !self->young;
        drop (self, self->young);
    }
    keep (self, key, seq, data);
}
