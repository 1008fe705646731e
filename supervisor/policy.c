//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/policy.h"
#include "common/items.h"

#include <stdlib.h>

static const struct {
    const char *list, *verb; //  "may not VERB `what`"
} rights[AG_RIGHTS] = {
    [AG_MAY_CREATE] = {"can_create", "create objects of type"},
    [AG_MAY_RELATE] = {"can_create_relation", "make or remove relations of type"},
    [AG_MAY_PROPOSE] = {"can_propose", "propose patches of objects of type"},
    [AG_MAY_APPLY] = {"can_apply", "change objects of type"},
    [AG_MAY_CALL] = {"can_call_tool", "call the tool"},
    [AG_MUST_ASK] = {"requires_approval", NULL},
};

//  The lists of a table that are not there yet.
static void
take_lists (struct ag_policy *policy, struct ag_str table)
{
    struct ag_str list;
    for (int i = 0; i < AG_RIGHTS; i++)
        if (!policy->lists[i].p && !ag_map_get (table, rights[i].list, &list) &&
            ag_kind_of (list) == AG_LIST)
            policy->lists[i] = list;
}

struct ag_policy
ag_policy_of (struct ag_str spec, struct ag_str behavior)
{
    struct ag_policy policy = {0};
    struct ag_str tables, table;
    ag_map_text (behavior, "name", &policy.behavior);
    ag_map_text (behavior, "pack", &policy.pack);
    if (ag_map_get (spec, "policy", &tables))
        return policy;
    if (!ag_map_find (tables, policy.behavior, &table))
        take_lists (&policy, table);
    if (!ag_map_get (tables, "*", &table))
        take_lists (&policy, table);
    return policy;
}

struct ag_str
ag_policy_of_nobody (struct ag_str spec, const struct ag_str *behaviors, size_t count)
{
    struct ag_str tables = {0}, table, name, behavior;
    ag_map_get (spec, "policy", &tables);
    for (struct ag_items pairs = ag_pairs_of (tables); ag_pairs_next (&pairs, &name, &table);) {
        bool found = ag_str_is (name, "*");
        for (size_t n = 0; n < count && !found; n++)
            found = !ag_list_find (behaviors[n], "name", name, &behavior);
        if (!found)
            return name;
    }
    return (struct ag_str){0};
}

static bool
lists (struct ag_str list, struct ag_str what)
{
    struct ag_cursor in = ag_cursor (list);
    struct ag_head head, one;
    if (ag_next (&in, &head))
        return false;
    for (uint32_t i = 0; i < head.count && !ag_next (&in, &one); i++)
        if (one.kind == AG_TEXT && (ag_str_is (one.s, "*") || ag_str_eq (one.s, what)))
            return true;
    return false;
}

//  "`task`, `note`", or "nothing".
static void
name_all (struct ag_str list, struct ag_buf *out)
{
    struct ag_cursor in = ag_cursor (list);
    struct ag_head head, one;
    bool some = !ag_next (&in, &head) && head.count;
    for (uint32_t i = 0; some && i < head.count && !ag_next (&in, &one); i++)
        ag_buf_text (out, "%s`%.*s`", i ? ", " : "", AG_STR_ARG (one.s));
    if (!some)
        ag_buf_text (out, "nothing");
}

int
ag_policy_check (const struct ag_policy *policy, enum ag_right right, struct ag_str what,
                 struct ag_err *err)
{
    if (!policy || !policy->lists[right].p || lists (policy->lists[right], what))
        return 0;
    struct ag_buf allowed = {0};
    name_all (policy->lists[right], &allowed);
    ag_fail (err, AG_E_POLICY, "behavior `%.*s` may not %s `%.*s`; its %s allows %.*s",
             AG_STR_ARG (policy->behavior), rights[right].verb, AG_STR_ARG (what),
             rights[right].list, AG_STR_ARG (ag_buf_str (&allowed)));
    ag_buf_fini (&allowed);
    return -1;
}

bool
ag_policy_asks (const struct ag_policy *policy, struct ag_str type)
{
    return policy && policy->lists[AG_MUST_ASK].p && lists (policy->lists[AG_MUST_ASK], type);
}
