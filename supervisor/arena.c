//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/arena.h"
#include "common/buf.h"

#include <stdlib.h>

enum { CHUNK = 256 * 1024 };

struct ag_chunk {
    struct ag_chunk *older;
    size_t room;
    _Alignas(max_align_t) char bytes[];
};

static void
add_chunk (struct ag_arena *self, size_t n)
{
    size_t room = n > CHUNK ? n : CHUNK;
    struct ag_chunk *chunk = ag_xmalloc (sizeof *chunk + room);
    chunk->older = self->now.chunk;
    chunk->room = room;
    self->now.chunk = chunk;
    self->now.used = 0;
}

void *
ag_arena_take (struct ag_arena *self, size_t n)
{
    n = (n + _Alignof(max_align_t) - 1) & ~(_Alignof(max_align_t) - 1);
    if (!self->now.chunk || self->now.chunk->room - self->now.used < n)
        add_chunk (self, n);
    void *piece = self->now.chunk->bytes + self->now.used;
    self->now.used += n;
    self->now.bytes += n;
    return piece;
}

void
ag_arena_rewind (struct ag_arena *self, struct ag_place place)
{
    while (self->now.chunk != place.chunk) {
        struct ag_chunk *chunk = self->now.chunk;
        self->now.chunk = chunk->older;
        free (chunk);
    }
    self->now = place;
}
