//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/where.h"
#include "common/items.h"

#define NIL AG_LIT ("\xc0")

bool
ag_compare (struct ag_str value, enum ag_compare op, struct ag_str with)
{
    int order;
    if (op == AG_EQ || op == AG_NE)
        return ag_value_equal (value.p ? value : NIL, with) == (op == AG_EQ);
    if (!value.p || !ag_value_order (value, with, &order))
        return false;
    return op == AG_LT   ? order < 0
           : op == AG_LE ? order <= 0
           : op == AG_GT ? order > 0
                         : order >= 0;
}

static bool
is_in (struct ag_str value, struct ag_str list)
{
    struct ag_str element;
    for (struct ag_items items = ag_items_of (list); ag_items_next (&items, &element);)
        if (ag_compare (value, AG_EQ, element))
            return true;
    return false;
}

static const struct op {
    const char *word;
    bool of_list, negated; //  in, not in
    enum ag_compare compare;
} ops[] = {
    {"==", false, false, AG_EQ}, {"!=", false, false, AG_NE},   {"<", false, false, AG_LT},
    {"<=", false, false, AG_LE}, {">", false, false, AG_GT},    {">=", false, false, AG_GE},
    {"in", true, false, AG_EQ},  {"not in", true, true, AG_EQ},
};

static const struct op *
op_of (struct ag_str word)
{
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (ag_str_is (word, ops[i].word))
            return &ops[i];
    return NULL;
}

static int
check_ops (struct ag_str path, struct ag_str map, struct ag_err *err)
{
    struct ag_items pairs = ag_pairs_of (map);
    struct ag_str word, value;
    if (!pairs.left)
        return ag_fail (err, AG_E_BAD_MESSAGE, "`where` of `%.*s` names no operator",
                        AG_STR_ARG (path));
    while (ag_pairs_next (&pairs, &word, &value)) {
        const struct op *op = op_of (word);
        if (!op)
            return ag_fail (err, AG_E_BAD_MESSAGE,
                            "`where` of `%.*s` has no operator `%.*s`; there are == != < <= > >= "
                            "in and `not in`",
                            AG_STR_ARG (path), AG_STR_ARG (word));
        if (op->of_list && ag_kind_of (value) != AG_LIST)
            return ag_fail (err, AG_E_BAD_MESSAGE, "`where` of `%.*s`: `%s` is followed by a list",
                            AG_STR_ARG (path), op->word);
    }
    return 0;
}

int
ag_where_check (struct ag_str where, struct ag_err *err)
{
    struct ag_cursor in = ag_cursor (where);
    struct ag_head map, path;
    struct ag_str value;
    if (ag_next (&in, &map) || map.kind != AG_MAP)
        return ag_fail (err, AG_E_BAD_MESSAGE, "`where` is a map of paths and values");
    for (uint32_t i = 0; i < map.count; i++) {
        if (ag_next (&in, &path) || ag_take (&in, &value))
            return ag_fail (err, AG_E_BAD_MESSAGE, "`where` is malformed");
        if (ag_kind_of (value) == AG_MAP && check_ops (path.s, value, err))
            return -1;
    }
    return 0;
}

static bool
ops_hold (struct ag_str value, struct ag_str map)
{
    struct ag_str word, with;
    for (struct ag_items pairs = ag_pairs_of (map); ag_pairs_next (&pairs, &word, &with);) {
        const struct op *op = op_of (word);
        bool holds = op && (op->of_list ? is_in (value, with) != op->negated
                                        : ag_compare (value, op->compare, with));
        if (!holds)
            return false;
    }
    return true;
}

bool
ag_where_holds (struct ag_str where, struct ag_str payload)
{
    struct ag_cursor in = ag_cursor (where);
    struct ag_head map, path;
    if (ag_next (&in, &map) || map.kind != AG_MAP)
        return false;
    for (uint32_t i = 0; i < map.count; i++) {
        struct ag_str wanted, value = {0};
        if (ag_next (&in, &path) || ag_take (&in, &wanted))
            return false;
        if (ag_map_path (payload, path.s, &value))
            value = (struct ag_str){0};
        bool holds = ag_kind_of (wanted) == AG_MAP ? ops_hold (value, wanted)
                                                   : ag_compare (value, AG_EQ, wanted);
        if (!holds)
            return false;
    }
    return true;
}
