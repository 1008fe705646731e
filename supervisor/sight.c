//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/sight.h"
#include "common/items.h"

#include <string.h>

static const char prefix[] = "event.payload.";

static int
wrong (struct ag_err *err, const char *what)
{
    return ag_fail (err, AG_E_BAD_MESSAGE, "`view`: %s", what);
}

static bool
is_count (struct ag_str value, uint64_t least, uint64_t most)
{
    struct ag_cursor in = ag_cursor (value);
    struct ag_head head;
    return !ag_next (&in, &head) && head.kind == AG_UINT && head.u >= least && head.u <= most;
}

static bool
is_path (struct ag_str value)
{
    struct ag_cursor in = ag_cursor (value);
    struct ag_head head;
    return !ag_next (&in, &head) && head.kind == AG_TEXT && head.s.n > strlen (prefix) &&
           !memcmp (head.s.p, prefix, strlen (prefix));
}

static bool
is_types (struct ag_str value)
{
    struct ag_cursor in = ag_cursor (value);
    struct ag_head list, type;
    if (ag_next (&in, &list) || list.kind != AG_LIST || !list.count || list.count > AG_SIGHT_TYPES)
        return false;
    for (uint32_t i = 0; i < list.count; i++)
        if (ag_next (&in, &type) || type.kind != AG_TEXT)
            return false;
    return true;
}

static int
check_field (struct ag_str key, struct ag_str value, struct ag_err *err)
{
    if (ag_str_is (key, "around"))
        return is_path (value)
                   ? 0
                   : wrong (err, "around is a path like \"event.payload.id\", to the id of "
                                 "an object");
    if (ag_str_is (key, "depth"))
        return is_count (value, 0, AG_SIGHT_DEPTH) ? 0 : wrong (err, "depth is 0 to 8");
    if (ag_str_is (key, "types"))
        return is_types (value) ? 0 : wrong (err, "types is a list of types of objects, 1 to 100");
    if (ag_str_is (key, "recent_events"))
        return is_count (value, 0, AG_SIGHT_EVENTS) ? 0 : wrong (err, "recent_events is 0 to 1000");
    return ag_fail (err, AG_E_BAD_MESSAGE,
                    "`view` has no field `%.*s`; there are around, depth, types and recent_events",
                    AG_STR_ARG (key));
}

int
ag_sight_check (struct ag_str view, struct ag_err *err)
{
    struct ag_str key, value;
    for (struct ag_items pairs = ag_pairs_of (view); ag_pairs_next (&pairs, &key, &value);)
        if (check_field (key, value, err))
            return -1;
    bool around = !ag_map_get (view, "around", &value);
    if (!around && (!ag_map_get (view, "depth", &value) || !ag_map_get (view, "types", &value)))
        return wrong (err, "depth and types are about what lies around an object; add `around`");
    return 0;
}

void
ag_sight_of (struct ag_str behavior, struct ag_sight *sight)
{
    struct ag_str view;
    *sight = (struct ag_sight){.depth = 1};
    if (ag_map_get (behavior, "view", &view))
        return;
    if (!ag_map_text (view, "around", &sight->around)) {
        sight->around.p += strlen (prefix);
        sight->around.n -= strlen (prefix);
    }
    ag_map_get (view, "types", &sight->types);
    ag_map_uint (view, "depth", &sight->depth);
    ag_map_uint (view, "recent_events", &sight->recent_events);
}
