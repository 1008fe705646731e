/*  arena - memory that is given piece by piece and taken back all at once, or back to a place.
 *
 *  Pieces are aligned for any object and stay where they are. `{0}` is an empty arena.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_ARENA_H
#define AG_ARENA_H
#include <stddef.h>

struct ag_chunk;

//  A place in the arena: everything given after it can be taken back.
struct ag_place {
    struct ag_chunk *chunk;
    size_t used;  //  of that chunk
    size_t bytes; //  of all chunks, as far as given out
};

struct ag_arena {
    struct ag_place now;
};

void *ag_arena_take (struct ag_arena *self, size_t n);

//  Takes back what was given since `self->now` was that place; the empty place frees everything.
void ag_arena_rewind (struct ag_arena *self, struct ag_place place);
#endif
