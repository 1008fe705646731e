//  SPDX-License-Identifier: Apache-2.0
#include "client/pick.h"

struct ag_str
ag_pick_at (struct ag_str map, struct ag_str key)
{
    struct ag_str value = {0};
    ag_map_find (map, key, &value);
    return value;
}

struct ag_str
ag_pick (struct ag_str map, const char *key)
{
    return ag_pick_at (map, ag_str (key));
}

struct ag_str
ag_pick_text (struct ag_str map, const char *key)
{
    struct ag_str text;
    return map.p && !ag_map_text (map, key, &text) ? text : (struct ag_str){0};
}

struct ag_str
ag_pick_called (struct ag_str map, const char *label, const char *run)
{
    struct ag_str name = ag_pick_text (map, label);
    return name.n ? name : ag_pick_text (map, run);
}

uint64_t
ag_pick_uint (struct ag_str map, const char *key)
{
    uint64_t number;
    return map.p && !ag_map_uint (map, key, &number) ? number : 0;
}

bool
ag_pick_bool (struct ag_str map, const char *key)
{
    bool yes;
    return map.p && !ag_map_bool (map, key, &yes) && yes;
}

struct ag_items
ag_items (struct ag_str map, const char *key)
{
    return ag_items_of (ag_pick (map, key));
}

uint32_t
ag_items_count (struct ag_str map, const char *key)
{
    return ag_items (map, key).left;
}

static bool
is_among (struct ag_str key, const char *const *keys)
{
    for (; *keys; keys++)
        if (ag_str_is (key, *keys))
            return true;
    return false;
}

void
ag_pick_rest (struct ag_str map, const char *const *without, struct ag_buf *out)
{
    struct ag_str key, value;
    size_t at = ag_open_map (out);
    uint32_t pairs = 0;
    for (struct ag_items items = ag_pairs_of (map); ag_pairs_next (&items, &key, &value);) {
        if (is_among (key, without))
            continue;
        ag_put_text (out, key);
        ag_put_value (out, value);
        pairs++;
    }
    ag_close (out, at, pairs);
}

uint64_t
ag_pick_seq (struct ag_str map, const char *key)
{
    struct ag_str text = ag_pick_text (map, key);
    if (!text.p)
        return ag_pick_uint (map, key);
    uint64_t number = 0;
    size_t i = text.n;
    while (i > 0 && text.p[i - 1] >= '0' && text.p[i - 1] <= '9')
        i--;
    for (; i < text.n; i++)
        number = number * 10 + (uint64_t)(text.p[i] - '0');
    return number;
}

void
ag_pick_open_walls (struct ag_str agent, struct ag_buf *text)
{
    static const char *const lists[] = {"layers", "nets"};
    struct ag_str wall;
    for (size_t i = 0; i < 2; i++)
        for (struct ag_items items = ag_items (agent, lists[i]); ag_items_next (&items, &wall);)
            if (ag_kind_of (wall) == AG_MAP && ag_kind_of (ag_pick (wall, "asked")) != AG_NULL &&
                !ag_pick_bool (wall, "in_force"))
                ag_buf_text (text, "%sno %s%.*s (%.*s)", text->n ? ", " : "", i ? "net " : "",
                             AG_STR_ARG (ag_pick_text (wall, "name")),
                             AG_STR_ARG (ag_pick_text (wall, "reason")));
}
