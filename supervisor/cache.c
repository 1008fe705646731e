//  SPDX-License-Identifier: Apache-2.0
//  Bits of a filter before each table, as a power of two: most keys are not there.
#define HASH_BLOOM 18
#include "supervisor/cache.h"

#include <string.h>

enum { GENERATION_BYTES = 8 << 20 };

struct ag_kept {
    UT_hash_handle hh;
    uint64_t seq;
    struct ag_str data;
    size_t room; //  where the data lies
    char key[];
};

static void
drop (struct ag_cache *self, int generation)
{
    HASH_CLEAR (hh, self->tables[generation]);
    ag_arena_rewind (&self->arenas[generation], (struct ag_place){0});
}

void
ag_cache_clear (struct ag_cache *self)
{
    drop (self, 0);
    drop (self, 1);
}

//  Of a key that is looked for in both generations.
static unsigned
hash_of (struct ag_str key)
{
    unsigned hash;
    HASH_VALUE (key.p, key.n, hash);
    return hash;
}

static struct ag_kept *
find (struct ag_cache *self, int generation, struct ag_str key, unsigned hash)
{
    struct ag_kept *kept;
    HASH_FIND_BYHASHVALUE (hh, self->tables[generation], key.p, key.n, hash, kept);
    return kept;
}

static bool
is_full (const struct ag_cache *self)
{
    return self->arenas[self->young].now.bytes > GENERATION_BYTES;
}

static struct ag_kept *
add (struct ag_cache *self, struct ag_str key, unsigned hash)
{
    struct ag_kept *kept = ag_arena_take (&self->arenas[self->young], sizeof *kept + key.n);
    *kept = (struct ag_kept){0};
    memcpy (kept->key, key.p, key.n);
    HASH_ADD_KEYPTR_BYHASHVALUE (hh, self->tables[self->young], kept->key, key.n, hash, kept);
    return kept;
}

static void
keep (struct ag_cache *self, struct ag_str key, unsigned hash, uint64_t seq, struct ag_str data)
{
    struct ag_kept *kept = find (self, self->young, key, hash);
    if (!kept)
        kept = add (self, key, hash);
    if (kept->room < data.n) {
        kept->data.p = ag_arena_take (&self->arenas[self->young], data.n);
        kept->room = data.n;
    }
    if (data.n)
        memcpy ((char *)kept->data.p, data.p, data.n);
    kept->data.n = data.n;
    kept->seq = seq;
}

static bool
read_kept (const struct ag_kept *kept, uint64_t seq, struct ag_str *data)
{
    if (kept->seq != seq)
        return false;
    *data = kept->data;
    return true;
}

bool
ag_cache_get (struct ag_cache *self, struct ag_str key, uint64_t seq, struct ag_str *data)
{
    unsigned hash = hash_of (key);
    const struct ag_kept *kept = find (self, self->young, key, hash);
    if (kept)
        return read_kept (kept, seq, data);
    kept = find (self, !self->young, key, hash);
    if (!kept || !read_kept (kept, seq, data))
        return false;
    if (!is_full (self))
        keep (self, key, hash, seq, *data);
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
    keep (self, key, hash_of (key), seq, data);
}
