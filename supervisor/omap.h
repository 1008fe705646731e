/*  omap - an ordered map from bytes to bytes, in byte order of the keys.
 *
 *  The map links entries and allocates nothing: the caller owns each entry, which lies with its key and
 *  its value in one piece of memory. A value with p NULL says "deleted"; an empty value has a p.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_OMAP_H
#define AG_OMAP_H
#include "common/buf.h"
#include <bsd/sys/tree.h>

struct ag_entry {
    RB_ENTRY (ag_entry) link;
    struct ag_str key, value;
};

//  {0} is an empty map.
RB_HEAD (ag_omap, ag_entry);

//  How much memory an entry of these takes, and the entry made in it with copies of both.
size_t ag_entry_size (struct ag_str key, struct ag_str value);
struct ag_entry *ag_entry_make (void *memory, struct ag_str key, struct ag_str value);

//  NULL when linked; else the entry that is already there with this key, and nothing is changed.
struct ag_entry *ag_omap_insert (struct ag_omap *self, struct ag_entry *entry);
//  The same, without a look from the top when it goes right behind near: an entry of the map, or NULL.
struct ag_entry *ag_omap_insert_near (struct ag_omap *self, struct ag_entry *near,
                                      struct ag_entry *entry);
void ag_omap_remove (struct ag_omap *self, struct ag_entry *entry);

//  The entry of this key, the first at or after it, the one after an entry; NULL when there is none.
struct ag_entry *ag_omap_find (struct ag_omap *self, struct ag_str key);
struct ag_entry *ag_omap_seek (struct ag_omap *self, struct ag_str key);
struct ag_entry *ag_omap_next (struct ag_entry *entry);
#endif
