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

//  A map is put in order without copying its keys: by offsets into bytes whose heads were all read once
//  before. A key that is no text, which a normal value never has, counts as empty.
struct ag_str ag_key_at (struct ag_cursor all, uint32_t offset);
//  Sort by the bytes of the keys, equal keys by offset. Each occurrence of blind in a key counts as the
//  byte 0xff, which no valid text contains.
void ag_keys_sort (struct ag_cursor all, uint32_t *offsets, size_t n, struct ag_str blind);
#endif
