/*  pick - reading answers: fields by name, lists and maps one after the other.
 *
 *  An answer may be of another build than ours: what is absent or of another kind reads as nothing, never
 *  as an error.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_PICK_H
#define AG_PICK_H
#include "common/items.h"

struct ag_str ag_pick (struct ag_str map, const char *key);
struct ag_str ag_pick_at (struct ag_str map, struct ag_str key);
struct ag_str ag_pick_text (struct ag_str map, const char *key); //  p NULL when absent
uint64_t ag_pick_uint (struct ag_str map, const char *key);      //  0 when absent
bool ag_pick_bool (struct ag_str map, const char *key);          //  false when absent

//  The list that a key names (items.h), and how much it holds.
struct ag_items ag_items (struct ag_str map, const char *key);
uint32_t ag_items_count (struct ag_str map, const char *key);

//  Append the map without these keys (a list that ends with NULL).
void ag_pick_rest (struct ag_str map, const char *const *without, struct ag_buf *out);
//  A number that is written as such, or at the end of an id ("evt_042"); 0 when there is none.
uint64_t ag_pick_seq (struct ag_str map, const char *key);
//  What a person calls a run, by these two fields: its label, which is unique in a store, or else its id.
struct ag_str ag_pick_called (struct ag_str map, const char *label, const char *run);
//  Append the nets and layers of an agent that were asked for and are not in force: "no uid (why), no net …".
void ag_pick_open_walls (struct ag_str agent, struct ag_buf *text);
#endif
