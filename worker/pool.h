/*  pool - memory of Lua states that come and go: what one gave back is the next one's.
 *
 *  Small blocks are cut from chunks and kept by size; larger ones are the system's. Blocks are told their size
 *  when they go, as Lua does. A sanitizer build takes each block from the system, so that misuse is found.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_POOL_H
#define AG_POOL_H
#include <stddef.h>

enum { AG_POOL_STEP = 16, AG_POOL_SMALL = 512, AG_POOL_CHUNK = 1 << 16 };

//  `{0}`.
struct ag_pool {
    void *kept[AG_POOL_SMALL / AG_POOL_STEP]; //  blocks that came back, by size
    struct ag_pool_chunk *chunks;
    size_t used; //  of the newest chunk
};

//  NULL when the system has no more; size is not 0.
void *ag_pool_take (struct ag_pool *self, size_t size);
void ag_pool_give (struct ag_pool *self, void *block, size_t size);
//  The block in another size; NULL: it stays as it was.
void *ag_pool_resize (struct ag_pool *self, void *block, size_t old, size_t size);
//  Every block has come back: the memory is the system's again.
void ag_pool_fini (struct ag_pool *self);
#endif
