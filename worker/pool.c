//  SPDX-License-Identifier: Apache-2.0
#include "worker/pool.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct ag_pool_chunk {
    struct ag_pool_chunk *next;
    _Alignas(max_align_t) char bytes[AG_POOL_CHUNK];
};

static bool
is_small (size_t size)
{
#ifdef __SANITIZE_ADDRESS__
    (void)size;
    return false;
#else
    return size <= AG_POOL_SMALL;
#endif
}

static size_t
place_of (size_t size)
{
    return (size - 1) / AG_POOL_STEP;
}

static void *
cut (struct ag_pool *self, size_t size)
{
    if (!self->chunks || self->used + size > AG_POOL_CHUNK) {
        struct ag_pool_chunk *chunk = malloc (sizeof *chunk);
        if (!chunk)
            return NULL;
        chunk->next = self->chunks;
        self->chunks = chunk;
        self->used = 0;
    }
    self->used += size;
    return self->chunks->bytes + self->used - size;
}

void *
ag_pool_take (struct ag_pool *self, size_t size)
{
    if (!is_small (size))
        return malloc (size);
    size_t place = place_of (size);
    void *block = self->kept[place];
    if (!block)
        return cut (self, (place + 1) * AG_POOL_STEP);
    memcpy (&self->kept[place], block, sizeof (void *)); //  a kept block begins with the next one
    return block;
}

void
ag_pool_give (struct ag_pool *self, void *block, size_t size)
{
    if (!is_small (size)) {
        free (block);
        return;
    }
    size_t place = place_of (size);
    memcpy (block, &self->kept[place], sizeof (void *));
    self->kept[place] = block;
}

void *
ag_pool_resize (struct ag_pool *self, void *block, size_t old, size_t size)
{
    if (!is_small (old) && !is_small (size))
        return realloc (block, size);
    if (is_small (old) && is_small (size) && place_of (old) == place_of (size))
        return block;
    void *moved = ag_pool_take (self, size);
    if (!moved)
        return NULL;
    memcpy (moved, block, old < size ? old : size);
    ag_pool_give (self, block, old);
    return moved;
}

void
ag_pool_fini (struct ag_pool *self)
{
    while (self->chunks) {
        struct ag_pool_chunk *next = self->chunks->next;
        free (self->chunks);
        self->chunks = next;
    }
    *self = (struct ag_pool){0};
}
