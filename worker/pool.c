//  SPDX-License-Identifier: Apache-2.0
#include "worker/pool.h"

#include "common/buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, n)   ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

struct ag_pool_chunk {
    struct ag_pool_chunk *next;
    char *marked; //  what the first bytes were; NULL: the chunk is newer
    _Alignas(max_align_t) char bytes[AG_POOL_CHUNK];
};

struct ag_pool_large {
    LIST_ENTRY (ag_pool_large) link;
    char *marked; //  what the block held
    size_t size;
    _Alignas(max_align_t) char bytes[];
};

static bool
is_small (size_t size)
{
    return size <= AG_POOL_SMALL;
}

static size_t
place_of (size_t size)
{
    return (size - 1) / AG_POOL_STEP;
}

//  A block of the system, or another size of one, within the bound.
static void *
obtain (struct ag_pool *self, void *block, size_t old, size_t size)
{
    if (size > old && size - old > self->most - self->cut.bytes)
        return NULL;
    void *moved = realloc (block, size);
    if (moved)
        self->cut.bytes += size - old;
    return moved;
}

static void *
cut (struct ag_pool *self, size_t size)
{
    if (!self->chunks || self->cut.used + size > AG_POOL_CHUNK) {
        struct ag_pool_chunk *chunk = obtain (self, NULL, 0, sizeof *chunk);
        if (!chunk)
            return NULL;
        ASAN_POISON_MEMORY_REGION (chunk->bytes, sizeof chunk->bytes);
        chunk->next = self->chunks;
        chunk->marked = NULL;
        self->chunks = chunk;
        self->cut.used = 0;
    }
    self->cut.used += size;
    return self->chunks->bytes + self->cut.used - size;
}

//  A block that came back begins with the next one.
static void *
take_small (struct ag_pool *self, size_t size)
{
    size_t place = place_of (size);
    void *block = self->cut.kept[place];
    if (block) {
        ASAN_UNPOISON_MEMORY_REGION (block, sizeof (void *));
        memcpy (&self->cut.kept[place], block, sizeof (void *));
    } else
        block = cut (self, (place + 1) * AG_POOL_STEP);
    if (block)
        ASAN_UNPOISON_MEMORY_REGION (block, size);
    return block;
}

static void
give_small (struct ag_pool *self, void *block, size_t size)
{
    size_t place = place_of (size);
    ASAN_UNPOISON_MEMORY_REGION (block, sizeof (void *));
    memcpy (block, &self->cut.kept[place], sizeof (void *));
    self->cut.kept[place] = block;
    ASAN_POISON_MEMORY_REGION (block, (place + 1) * AG_POOL_STEP);
}

static struct ag_pool_large *
large_of (void *block)
{
    return (struct ag_pool_large *)((char *)block - offsetof (struct ag_pool_large, bytes));
}

static void *
take_large (struct ag_pool *self, size_t size)
{
    struct ag_pool_large *large =
        size <= SIZE_MAX - sizeof *large ? obtain (self, NULL, 0, sizeof *large + size) : NULL;
    if (!large)
        return NULL;
    large->marked = NULL;
    large->size = size;
    LIST_INSERT_HEAD (&self->larges, large, link);
    return large->bytes;
}

static void
free_large (struct ag_pool_large *large)
{
    LIST_REMOVE (large, link);
    free (large->marked);
    free (large);
}

static void *
resize_large (struct ag_pool *self, struct ag_pool_large *large, size_t size)
{
    LIST_REMOVE (large, link);
    struct ag_pool_large *moved = NULL;
    if (size <= SIZE_MAX - sizeof *large)
        moved = obtain (self, large, sizeof *large + large->size, sizeof *large + size);
    LIST_INSERT_HEAD (&self->larges, moved ? moved : large, link);
    if (moved)
        moved->size = size;
    return moved ? moved->bytes : NULL;
}

void *
ag_pool_take (struct ag_pool *self, size_t size)
{
    return is_small (size) ? take_small (self, size) : take_large (self, size);
}

void
ag_pool_give (struct ag_pool *self, void *block, size_t size)
{
    if (is_small (size))
        give_small (self, block, size);
    else if (!large_of (block)->marked) { //  what was stays where it is
        self->cut.bytes -= sizeof (struct ag_pool_large) + large_of (block)->size;
        free_large (large_of (block));
    }
}

void *
ag_pool_resize (struct ag_pool *self, void *block, size_t old, size_t size)
{
    if (!is_small (old) && !is_small (size) && !large_of (block)->marked)
        return resize_large (self, large_of (block), size);
    if (is_small (old) && is_small (size) && place_of (old) == place_of (size)) {
        ASAN_UNPOISON_MEMORY_REGION (block, size);
        return block;
    }
    void *moved = ag_pool_take (self, size);
    if (!moved)
        return NULL;
    memcpy (moved, block, old < size ? old : size);
    ag_pool_give (self, block, old);
    return moved;
}

size_t
ag_pool_bytes (const struct ag_pool *self)
{
    return self->cut.bytes;
}

static char *
copy (const char *bytes, size_t n)
{
    ASAN_UNPOISON_MEMORY_REGION (bytes, n);
    return memcpy (ag_xmalloc (n), bytes, n);
}

void
ag_pool_mark (struct ag_pool *self)
{
    size_t used = self->cut.used;
    self->marked = self->cut;
    for (struct ag_pool_chunk *chunk = self->chunks; chunk; chunk = chunk->next) {
        chunk->marked = copy (chunk->bytes, used);
        used = AG_POOL_CHUNK; //  older ones are full
    }
    for (struct ag_pool_large *large = LIST_FIRST (&self->larges); large;
         large = LIST_NEXT (large, link))
        large->marked = copy (large->bytes, large->size);
}

static void
free_chunk (struct ag_pool *self)
{
    struct ag_pool_chunk *chunk = self->chunks;
    self->chunks = chunk->next;
    free (chunk->marked);
    free (chunk);
}

void
ag_pool_rewind (struct ag_pool *self)
{
    struct ag_pool_large *large, *next;
    size_t used = self->marked.used;
    while (self->chunks && !self->chunks->marked)
        free_chunk (self);
    self->cut = self->marked;
    for (struct ag_pool_chunk *chunk = self->chunks; chunk; chunk = chunk->next) {
        ASAN_POISON_MEMORY_REGION (chunk->bytes, AG_POOL_CHUNK);
        ASAN_UNPOISON_MEMORY_REGION (chunk->bytes, used);
        memcpy (chunk->bytes, chunk->marked, used);
        used = AG_POOL_CHUNK;
    }
    for (large = LIST_FIRST (&self->larges); large; large = next) {
        next = LIST_NEXT (large, link);
        if (large->marked)
            memcpy (large->bytes, large->marked, large->size);
        else
            free_large (large);
    }
}

void
ag_pool_fini (struct ag_pool *self)
{
    while (self->chunks)
        free_chunk (self);
    for (struct ag_pool_large *large = LIST_FIRST (&self->larges), *next; large; large = next) {
        next = LIST_NEXT (large, link);
        free_large (large);
    }
    *self = (struct ag_pool){.most = self->most};
}
