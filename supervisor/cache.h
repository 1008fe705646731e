/*  cache - the present tips and data of what changed lately, so that a patch need not look for them.
 *
 *  Only speed depends on it. Data says of which version it is, and whoever asks says which version he
 *  means; a tip is written with the table, so it is what the table holds. It has two generations of bounded
 *  size; the older one is dropped when the younger is full, and what was used meanwhile has moved over.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_CACHE_H
#define AG_CACHE_H
#include "common/buf.h"
#include "supervisor/arena.h"
#include <uthash.h>

struct ag_kept;
struct ag_cache {
    struct ag_arena arenas[2];
    struct ag_kept *tables[2]; //  hashes by key; what is kept lies in the arenas
    int young;
};

//  Data of the version that event seq made; false when it is not here. The borrow ends with the next put.
bool ag_cache_get (struct ag_cache *self, struct ag_str key, uint64_t seq, struct ag_str *data);
//  Data is no borrow of the cache; more than AG_CACHED_BYTES is not kept.
enum { AG_CACHED_BYTES = 1 << 20 };
void ag_cache_put (struct ag_cache *self, struct ag_str key, uint64_t seq, struct ag_str data);
//  Forget everything: sequences may be given to other events now.
void ag_cache_clear (struct ag_cache *self);
#endif
