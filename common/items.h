/*  items - what is in a list or a map, one after the other.
 *
 *      for (struct ag_items list = ag_items_of (value); ag_items_next (&list, &one);)
 *      for (struct ag_items map = ag_pairs_of (value); ag_pairs_next (&map, &key, &one);)
 *
 *  What is of another kind, or is not there, is empty. `left` says how many there are still; a walk ends before them
 *  where the bytes are malformed, or where a key is no text. What is given is a borrow.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_ITEMS_H
#define AG_ITEMS_H
#include "common/value.h"

struct ag_items {
    struct ag_cursor in;
    uint32_t left;
};

struct ag_items ag_items_of (struct ag_str list);
bool ag_items_next (struct ag_items *self, struct ag_str *value);

struct ag_items ag_pairs_of (struct ag_str map);
bool ag_pairs_next (struct ag_items *self, struct ag_str *key, struct ag_str *value);
#endif
