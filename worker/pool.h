/*  pool - memory of one Lua state, which can be put back to what it was.
 *
 *  Small blocks are cut from chunks and kept by size; each larger one is the system's. Blocks are told their size
 *  when they go, as Lua does. What counts against the bound is what the pool has of the system: a small block that
 *  came back serves its size alone, so the sum of the blocks in use would say too little. `ag_pool_mark` remembers
 *  every byte, and `ag_pool_rewind` makes it so again, at the same places: a state that took long to make is there
 *  again for the price of a copy.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_POOL_H
#define AG_POOL_H
#include <stddef.h>
#include <sys/queue.h>

enum { AG_POOL_STEP = 16, AG_POOL_SMALL = 512, AG_POOL_CHUNK = 1 << 16 };

//  What of a pool is cut and what came back, by size.
struct ag_pool_cut {
    void *kept[AG_POOL_SMALL / AG_POOL_STEP];
    size_t used;  //  of the newest chunk
    size_t bytes; //  of the system
};

//  `{.most = N}`: bytes of the system at most.
struct ag_pool {
    size_t most;
    struct ag_pool_cut cut, marked;
    struct ag_pool_chunk *chunks;
    LIST_HEAD (, ag_pool_large) larges;
};

//  NULL when the bound is met or the system has no more; size is not 0.
void *ag_pool_take (struct ag_pool *self, size_t size);
void ag_pool_give (struct ag_pool *self, void *block, size_t size);
//  The block in another size; NULL: it stays as it was.
void *ag_pool_resize (struct ag_pool *self, void *block, size_t old, size_t size);
//  What it has of the system; as much again is what a mark takes.
size_t ag_pool_bytes (const struct ag_pool *self);
//  Once in the life of a pool.
void ag_pool_mark (struct ag_pool *self);
//  Every block of then holds what it held, and those taken since are gone.
void ag_pool_rewind (struct ag_pool *self);
//  The memory is the system's again, whatever came back; the bound stays.
void ag_pool_fini (struct ag_pool *self);
#endif
