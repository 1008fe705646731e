//  SPDX-License-Identifier: Apache-2.0
#include "common/items.h"

static struct ag_items
open_as (struct ag_str value, enum ag_kind kind)
{
    struct ag_items self = {ag_cursor (value), 0};
    struct ag_head head;
    if (ag_next (&self.in, &head) || head.kind != kind)
        return (struct ag_items){0};
    self.left = head.count;
    return self;
}

struct ag_items
ag_items_of (struct ag_str list)
{
    return open_as (list, AG_LIST);
}

bool
ag_items_next (struct ag_items *self, struct ag_str *value)
{
    if (!self->left || ag_take (&self->in, value))
        return false;
    self->left--;
    return true;
}

struct ag_items
ag_pairs_of (struct ag_str map)
{
    return open_as (map, AG_MAP);
}

bool
ag_pairs_next (struct ag_items *self, struct ag_str *key, struct ag_str *value)
{
    struct ag_head head;
    if (!self->left || ag_next (&self->in, &head) || head.kind != AG_TEXT ||
        ag_take (&self->in, value))
        return false;
    *key = head.s;
    self->left--;
    return true;
}
