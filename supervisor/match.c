//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/match.h"

//  Fields of a behaviour, and whether this build serves them.
static const struct {
    const char *name;
    bool built;
    enum ag_kind kind;
} fields[] = {
    {"name", true, AG_TEXT},
    {"pack", true, AG_TEXT},
    {"on", true, AG_LIST},
    {"where", true, AG_MAP},
    {"relation_type", true, AG_TEXT},
    {"view", false, AG_MAP},
    {"pattern", false, AG_TEXT},
    {"activate_after", false, AG_UINT},
};

static int
check_field (struct ag_str key, struct ag_str value, struct ag_err *err)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (!ag_str_is (key, fields[i].name))
            continue;
        if (!fields[i].built)
            return ag_fail (err, AG_E_NOT_BUILT, "`%s` of a behavior is not built yet",
                            fields[i].name);
        if (ag_kind_of (value) != fields[i].kind)
            return ag_fail (err, AG_E_BAD_MESSAGE, "`%s` of a behavior is of the wrong kind",
                            fields[i].name);
        return 0;
    }
    return ag_fail (err, AG_E_BAD_MESSAGE, "a behavior has no field `%.*s`", AG_STR_ARG (key));
}

static int
check_where (struct ag_str where, struct ag_err *err)
{
    struct ag_cursor in = ag_cursor (where);
    struct ag_head map, key;
    if (ag_next (&in, &map) || map.kind != AG_MAP)
        return ag_fail (err, AG_E_BAD_MESSAGE, "`where` is a map of paths and values");
    for (uint32_t i = 0; i < map.count; i++) {
        struct ag_str value;
        if (ag_next (&in, &key) || ag_take (&in, &value))
            return ag_fail (err, AG_E_BAD_MESSAGE, "`where` is malformed");
        if (ag_kind_of (value) == AG_MAP)
            return ag_fail (err, AG_E_NOT_BUILT,
                            "`where` of `%.*s` beyond equality is not built yet",
                            AG_STR_ARG (key.s));
    }
    return 0;
}

static int
check_on (struct ag_str on, struct ag_err *err)
{
    struct ag_cursor in = ag_cursor (on);
    struct ag_head list, type;
    if (ag_next (&in, &list) || list.count == 0)
        return ag_fail (err, AG_E_BAD_MESSAGE, "`on` of a behavior names at least one event type");
    for (uint32_t i = 0; i < list.count; i++)
        if (ag_next (&in, &type) || type.kind != AG_TEXT || type.s.n == 0 || type.s.n > 256)
            return ag_fail (err, AG_E_BAD_MESSAGE, "`on` of a behavior is a list of event types");
    return 0;
}

static int
check_behavior (struct ag_str behavior, struct ag_str *name, struct ag_err *err)
{
    struct ag_cursor in = ag_cursor (behavior);
    struct ag_head map, key;
    if (ag_next (&in, &map) || map.kind != AG_MAP)
        return ag_fail (err, AG_E_BAD_MESSAGE,
                        "a behavior is a map {name, on, where?, relation_type?}");
    for (uint32_t i = 0; i < map.count; i++) {
        struct ag_str value;
        if (ag_next (&in, &key) || ag_take (&in, &value) || key.kind != AG_TEXT)
            return ag_fail (err, AG_E_BAD_MESSAGE, "a behavior is malformed");
        if (check_field (key.s, value, err))
            return -1;
    }
    struct ag_str on, where;
    if (ag_map_text (behavior, "name", name) || name->n == 0 || name->n > 64)
        return ag_fail (err, AG_E_BAD_MESSAGE, "a behavior has a name of 1 to 64 bytes");
    if (ag_map_get (behavior, "on", &on))
        return ag_fail (err, AG_E_BAD_MESSAGE, "`on` is missing");
    if (check_on (on, err))
        return -1;
    return ag_map_get (behavior, "where", &where) ? 0 : check_where (where, err);
}

int
ag_match_check (struct ag_str behaviors, struct ag_err *err)
{
    struct ag_cursor in = ag_cursor (behaviors);
    struct ag_head list;
    struct ag_str names[AG_BEHAVIORS_MAX];
    if (ag_next (&in, &list) || list.kind != AG_LIST)
        return ag_fail (err, AG_E_BAD_MESSAGE, "`behaviors` is a list");
    if (list.count > AG_BEHAVIORS_MAX)
        return ag_fail (err, AG_E_TOO_LARGE, "%u behaviors; %d at most", list.count,
                        AG_BEHAVIORS_MAX);
    for (uint32_t i = 0; i < list.count; i++) {
        struct ag_str behavior;
        if (ag_take (&in, &behavior))
            return ag_fail (err, AG_E_BAD_MESSAGE, "`behaviors` is malformed");
        if (check_behavior (behavior, &names[i], err))
            return ag_wrap (err, "behavior %u", i + 1);
        for (uint32_t j = 0; j < i; j++)
            if (ag_str_eq (names[i], names[j]))
                return ag_fail (err, AG_E_BAD_MESSAGE, "two behaviors are named `%.*s`",
                                AG_STR_ARG (names[i]));
    }
    return 0;
}

static bool
where_holds (struct ag_str where, struct ag_str payload)
{
    struct ag_cursor in = ag_cursor (where);
    struct ag_head map, key;
    if (ag_next (&in, &map) || map.kind != AG_MAP)
        return false;
    for (uint32_t i = 0; i < map.count; i++) {
        struct ag_str wanted, value;
        if (ag_next (&in, &key) || ag_take (&in, &wanted) || ag_map_path (payload, key.s, &value) ||
            !ag_value_equal (wanted, value))
            return false;
    }
    return true;
}

bool
ag_match_event (struct ag_str behavior, struct ag_str type, struct ag_str payload)
{
    struct ag_str on, where;
    struct ag_texts types = ag_texts_of (behavior, "on");
    do
        if (!ag_texts_next (&types, &on))
            return false;
    while (!ag_str_eq (on, type));
    return ag_map_get (behavior, "where", &where) || where_holds (where, payload);
}

//  Heads come one after the other, so no recursion is needed to see every text.
bool
ag_match_texts (struct ag_str value, ag_text_fn *fn, void *context)
{
    struct ag_cursor in = ag_cursor (value);
    struct ag_head head;
    while (in.p < in.end && !ag_next (&in, &head))
        if (head.kind == AG_TEXT && fn (context, head.s))
            return true;
    return false;
}
