//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/budget.h"
#include "common/items.h"
#include "common/units.h"

#include <stdlib.h>

static const struct {
    const char *key, *reason;
    uint64_t unit; //  of the key, in what is counted; 0: dollars as text
} rows[AG_DIMENSIONS] = {
    [AG_USED_EVENTS] = {"max_events", "budget.events_exhausted", 1},
    [AG_USED_CALLS] = {"max_behavior_calls", "budget.behavior_calls_exhausted", 1},
    [AG_USED_MODELS] = {"max_llm_calls", "budget.llm_calls_exhausted", 1},
    [AG_USED_TOOLS] = {"max_tool_calls", "budget.tool_calls_exhausted", 1},
    [AG_USED_PATCHES] = {"max_patches", "budget.patches_exhausted", 1},
    [AG_USED_DEPTH] = {"max_depth", "budget.depth_exhausted", 1},
    [AG_USED_US] = {"max_seconds", "budget.seconds_exhausted", 1000000},
    [AG_USED_COST] = {"max_cost_usd", "budget.cost_exhausted", 0},
    [AG_NET_EVENTS] = {"net.events", "budget.events_exhausted", 1},
};

const char *
ag_budget_name (uint32_t dimension)
{
    return rows[dimension].key;
}

const char *
ag_budget_reason (uint32_t dimension)
{
    return rows[dimension].reason;
}

//  The limit that a value states, in what is counted; -1: it states none.
static int
read_limit (uint32_t dimension, struct ag_str value, uint64_t *limit)
{
    struct ag_cursor in = ag_cursor (value);
    struct ag_head head;
    if (ag_next (&in, &head))
        return -1;
    if (!rows[dimension].unit)
        return head.kind == AG_TEXT ? ag_usd_read (head.s, limit) : -1;
    return head.kind != AG_UINT || __builtin_mul_overflow (head.u, rows[dimension].unit, limit) ? -1
                                                                                                : 0;
}

struct ag_budget
ag_budget_of (struct ag_str spec)
{
    struct ag_budget budget;
    struct ag_str map = AG_LIT ("\x80"), nets = map, value;
    uint64_t events;
    ag_map_get (spec, "budget", &map);
    ag_map_get (spec, "nets", &nets);
    for (uint32_t i = 0; i < AG_DIMENSIONS; i++)
        if (i == AG_NET_EVENTS || ag_map_get (map, rows[i].key, &value) ||
            read_limit (i, value, &budget.limits[i]))
            budget.limits[i] = AG_UNLIMITED;
    if (!ag_map_uint (nets, "events", &events) && events)
        budget.limits[AG_NET_EVENTS] = events;
    return budget;
}

uint64_t
ag_budget_used (const struct ag_run *run, uint32_t dimension)
{
    return dimension == AG_NET_EVENTS ? run->head.tip - run->cut : run->head.used[dimension];
}

bool
ag_budget_crosses (const struct ag_budget *budget, const struct ag_run *run, uint32_t dimension,
                   uint64_t more)
{
    uint64_t limit = budget->limits[dimension], used = ag_budget_used (run, dimension);
    return limit != AG_UNLIMITED && (used > limit || more > limit - used);
}

bool
ag_budget_is_spent (const struct ag_budget *budget, const struct ag_run *run, uint32_t *dimension)
{
    for (uint32_t i = 0; i < AG_USES; i++)
        if (i != AG_USED_EVENTS && i != AG_USED_DEPTH && run->head.used[i] >= budget->limits[i]) {
            *dimension = i;
            return true;
        }
    return false;
}

int
ag_budget_depth (ag_journal_t *journal, const struct ag_run *run, uint64_t seq, uint64_t most,
                 uint64_t *depth, struct ag_err *err)
{
    struct ag_buf hold = {0};
    struct ag_event event = {.cause = seq};
    int rc = 0;
    for (*depth = 0; !rc && event.cause && *depth <= most; ++*depth)
        rc = ag_journal_read (journal, run, event.cause, &hold, &event, err);
    ag_buf_fini (&hold);
    return rc;
}

static void
put_number (struct ag_buf *out, const char *key, uint64_t number)
{
    ag_put_lit (out, key);
    if (number == AG_UNLIMITED)
        ag_put_null (out);
    else
        ag_put_uint (out, number);
}

static void
put_usd (struct ag_buf *out, const char *key, uint64_t micros)
{
    char text[AG_USD_TEXT];
    ag_usd_text (micros, text);
    ag_put_lit (out, key);
    if (micros == AG_UNLIMITED)
        ag_put_null (out);
    else
        ag_put_lit (out, text);
}

//  All but the cost, in the units of the keys.
static void
put_numbers (struct ag_buf *out, const struct ag_budget *limits, const struct ag_run *run)
{
    ag_put_map (out, AG_DIMENSIONS - 1);
    for (uint32_t i = 0; i < AG_DIMENSIONS; i++) {
        uint64_t number = limits ? limits->limits[i] : ag_budget_used (run, i);
        if (rows[i].unit)
            put_number (out, rows[i].key, number == AG_UNLIMITED ? number : number / rows[i].unit);
    }
}

void
ag_budget_snapshot (const struct ag_budget *budget, const struct ag_run *run, struct ag_buf *out)
{
    ag_put_map (out, 4);
    ag_put_lit (out, "used");
    put_numbers (out, NULL, run);
    ag_put_lit (out, "limits");
    put_numbers (out, budget, run);
    put_usd (out, "cost_used_usd", run->head.used[AG_USED_COST]);
    put_usd (out, "cost_limit_usd", budget->limits[AG_USED_COST]);
}

//  What a fork may use of a dimension: depth is no stock that the parent draws from.
static uint64_t
remainder_of (const struct ag_budget *budget, const struct ag_run *parent, uint32_t dimension)
{
    uint64_t limit = budget->limits[dimension], used = ag_budget_used (parent, dimension);
    if (limit == AG_UNLIMITED || dimension == AG_USED_DEPTH)
        return limit;
    return used < limit ? limit - used : 0;
}

static int
take_given (struct ag_str given, struct ag_budget *limits, struct ag_err *err)
{
    struct ag_str key, value;
    if (ag_kind_of (given) != AG_MAP)
        return ag_fail (err, AG_E_USAGE, "a budget is a map of limits");
    for (struct ag_items pairs = ag_pairs_of (given); ag_pairs_next (&pairs, &key, &value);) {
        uint32_t d = 0;
        while (d < AG_USES && !ag_str_is (key, rows[d].key))
            d++;
        if (d == AG_USES)
            return ag_fail (err, AG_E_USAGE, "a budget has no `%.*s`", AG_STR_ARG (key));
        if (read_limit (d, value, &limits->limits[d]))
            return ag_fail (err, AG_E_USAGE, "%s of a budget is %s", rows[d].key,
                            rows[d].unit ? "a number" : "dollars as text, such as \"1.50\"");
    }
    return 0;
}

int
ag_budget_of_fork (const struct ag_budget *budget, const struct ag_run *parent, struct ag_str given,
                   struct ag_buf *out, struct ag_err *err)
{
    struct ag_budget fork;
    for (uint32_t i = 0; i < AG_DIMENSIONS; i++)
        fork.limits[i] = remainder_of (budget, parent, i);
    if (given.p && take_given (given, &fork, err))
        return -1;
    ag_put_map (out, AG_USES);
    for (uint32_t i = 0; i < AG_USES; i++) {
        uint64_t limit = fork.limits[i];
        if (!rows[i].unit)
            put_usd (out, rows[i].key, limit);
        else
            put_number (out, rows[i].key, limit == AG_UNLIMITED ? limit : limit / rows[i].unit);
    }
    return 0;
}
