/*  value_inside - what the files of value and json share and nobody else includes.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_VALUE_INSIDE_H
#define AG_VALUE_INSIDE_H
#include "common/value.h"

//  Append a head in its shortest form; text and bytes whole, of a list or map the count.
void ag_put_head (struct ag_buf *out, const struct ag_head *head);

//  How many bytes of text are valid UTF-8 before the first that is not.
size_t ag_utf8_prefix (struct ag_str text);

//  One pair of a map: where its key begins in some bytes, and where its value ends. Maps are put in order
//  by these, without copying a key.
struct ag_pair {
    uint32_t at, end;
    uint64_t prefix; //  of the key, for the sort
};

//  The key at an offset of bytes whose heads were all read once before. A key that is no text, which a
//  normal value never has, counts as empty.
struct ag_str ag_key_at (struct ag_cursor all, uint32_t at);
//  Sort by the bytes of the keys, equal keys by place.
void ag_pairs_sort (struct ag_cursor all, struct ag_pair *pairs, size_t n);
#endif
