//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/match.h"
#include "common/heard.h"
#include "common/json.h"
#include "supervisor/cypher.h"
#include "supervisor/sight.h"
#include "supervisor/where.h"

#include <stdlib.h>

//  What a behaviour may say: kinds as bits of 1u << enum ag_kind, and who looks closer.
typedef int check_fn (struct ag_str value, struct ag_err *err);
static check_fn check_on, check_pattern, check_delay;

enum { TEXT = 1u << AG_TEXT, LIST = 1u << AG_LIST, MAP = 1u << AG_MAP, ANY = ~0u >> 1 };
enum { NUMBER = 1u << AG_INT | 1u << AG_UINT };

static const struct {
    const char *name;
    unsigned kinds;
    check_fn *check;
} fields[] = {
    {"name", TEXT, NULL},
    {"pack", TEXT, NULL},
    {"on", LIST, check_on},
    {"where", MAP, ag_where_check},
    {"pattern", TEXT, check_pattern},
    {"relation_type", TEXT, NULL},
    {"view", MAP, ag_sight_check},
    {"activate_after", ANY, check_delay},
    {"priority", NUMBER, NULL},
};

static int
check_field (struct ag_str key, struct ag_str value, struct ag_err *err)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (!ag_str_is (key, fields[i].name))
            continue;
        if (!(fields[i].kinds & 1u << ag_kind_of (value)))
            return ag_fail (err, AG_E_BAD_MESSAGE, "`%s` of a behavior is of the wrong kind",
                            fields[i].name);
        return fields[i].check ? fields[i].check (value, err) : 0;
    }
    return ag_fail (err, AG_E_BAD_MESSAGE, "a behavior has no field `%.*s`", AG_STR_ARG (key));
}

static int
check_pattern (struct ag_str pattern, struct ag_err *err)
{
    struct ag_head text;
    struct ag_cursor in = ag_cursor (pattern);
    struct ag_cypher *cypher = ag_xmalloc (sizeof *cypher);
    ag_next (&in, &text);
    int rc = ag_cypher_read (cypher, text.s, err);
    free (cypher);
    return rc;
}

//  3, "3", "3 events"; 0 for everything else.
static uint64_t
delay_of (struct ag_str value)
{
    struct ag_head head;
    struct ag_cursor in = ag_cursor (value);
    uint64_t n = 0;
    size_t i = 0;
    if (ag_next (&in, &head))
        return 0;
    if (head.kind == AG_UINT)
        return head.u <= AG_DELAY_MAX ? head.u : 0;
    for (; head.kind == AG_TEXT && i < head.s.n && n <= AG_DELAY_MAX && head.s.p[i] >= '0' &&
           head.s.p[i] <= '9';
         i++)
        n = 10 * n + (uint64_t)(head.s.p[i] - '0');
    if (!i || n > AG_DELAY_MAX)
        return 0;
    struct ag_str rest = {head.s.p + i, head.s.n - i};
    return !rest.n || ag_str_is (rest, " event") || ag_str_is (rest, " events") ? n : 0;
}

static int
check_delay (struct ag_str value, struct ag_err *err)
{
    if (delay_of (value))
        return 0;
    struct ag_buf said = {0};
    ag_json_write (value, AG_JSON_LINE, &said);
    ag_fail (
        err, AG_E_BAD_MESSAGE,
        "`activate_after` is %.*s: it counts events of the run, not time; write a whole number "
        "from 1 to %d, or \"3 events\"",
        AG_STR_ARG (ag_buf_str (&said)), AG_DELAY_MAX);
    ag_buf_fini (&said);
    return -1;
}

static int
check_type (struct ag_str type, struct ag_err *err)
{
    struct ag_buf why = {0};
    bool heard = ag_heard (type, AG_BEHAVIOR, &why);
    if (!heard)
        ag_fail (err, AG_E_BAD_MESSAGE, "`on` of a behavior: %.*s", AG_STR_ARG (ag_buf_str (&why)));
    ag_buf_fini (&why);
    return heard ? 0 : -1;
}

static int
check_on (struct ag_str on, struct ag_err *err)
{
    struct ag_cursor in = ag_cursor (on);
    struct ag_head list, type;
    ag_next (&in, &list);
    for (uint32_t i = 0; i < list.count; i++) {
        if (ag_next (&in, &type) || type.kind != AG_TEXT || type.s.n == 0 || type.s.n > 256)
            return ag_fail (err, AG_E_BAD_MESSAGE, "`on` of a behavior is a list of event types");
        if (type.s.p[type.s.n - 1] == '*')
            return ag_fail (err, AG_E_BAD_MESSAGE,
                            "`%.*s` in `on` stands for no other type: name each, or leave `on` out "
                            "and give a `pattern`",
                            AG_STR_ARG (type.s));
        if (check_type (type.s, err))
            return -1;
    }
    return 0;
}

static bool
has (struct ag_str behavior, const char *key)
{
    struct ag_str value;
    return !ag_map_get (behavior, key, &value);
}

static bool
names_types (struct ag_str behavior)
{
    struct ag_str type;
    struct ag_texts types = ag_texts_of (behavior, "on");
    return ag_texts_next (&types, &type);
}

static int
check_behavior (struct ag_str behavior, struct ag_str *name, struct ag_err *err)
{
    struct ag_cursor in = ag_cursor (behavior);
    struct ag_head map, key;
    if (ag_next (&in, &map) || map.kind != AG_MAP)
        return ag_fail (err, AG_E_BAD_MESSAGE,
                        "a behavior is a map {name, on, where?, pattern?, relation_type?, view?, "
                        "activate_after?, priority?}");
    for (uint32_t i = 0; i < map.count; i++) {
        struct ag_str value;
        if (ag_next (&in, &key) || ag_take (&in, &value) || key.kind != AG_TEXT)
            return ag_fail (err, AG_E_BAD_MESSAGE, "a behavior is malformed");
        if (check_field (key.s, value, err))
            return -1;
    }
    if (ag_map_text (behavior, "name", name) || name->n == 0 || name->n > 64)
        return ag_fail (err, AG_E_BAD_MESSAGE, "a behavior has a name of 1 to 64 bytes");
    if (!names_types (behavior) && !has (behavior, "pattern"))
        return ag_fail (err, AG_E_BAD_MESSAGE,
                        "`on` of a behavior without a pattern names at least one event type");
    return 0;
}

//  Which one it is: by its number, and by its name where it has one.
static int
wrap_behavior (struct ag_str behavior, uint32_t number, struct ag_err *err)
{
    struct ag_str name;
    if (ag_map_text (behavior, "name", &name) || name.n == 0 || name.n > 64)
        return ag_wrap (err, "behavior %u", number);
    return ag_wrap (err, "behavior %u (`%.*s`)", number, AG_STR_ARG (name));
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
            return wrap_behavior (behavior, i + 1, err);
        for (uint32_t j = 0; j < i; j++)
            if (ag_str_eq (names[i], names[j]))
                return ag_fail (err, AG_E_BAD_MESSAGE, "two behaviors are named `%.*s`",
                                AG_STR_ARG (names[i]));
    }
    return 0;
}

//  A behaviour that names no type, which has a pattern, hears all that is queued.
static bool
hears (struct ag_str behavior, struct ag_str type)
{
    struct ag_str on;
    struct ag_texts types = ag_texts_of (behavior, "on");
    while (ag_texts_next (&types, &on))
        if (ag_str_eq (on, type))
            return true;
    return !names_types (behavior);
}

bool
ag_match_event (struct ag_str behavior, struct ag_str type, struct ag_str payload)
{
    struct ag_str where;
    return hears (behavior, type) &&
           (ag_map_get (behavior, "where", &where) || ag_where_holds (where, payload));
}

uint64_t
ag_match_delay (struct ag_str behavior)
{
    struct ag_str value;
    return ag_map_get (behavior, "activate_after", &value) ? 0 : delay_of (value);
}

int64_t
ag_match_priority (struct ag_str behavior)
{
    struct ag_str value;
    struct ag_head head;
    if (ag_map_get (behavior, "priority", &value))
        return 0;
    struct ag_cursor in = ag_cursor (value);
    ag_next (&in, &head);
    return head.kind == AG_INT ? head.i : head.u < INT64_MAX ? (int64_t)head.u : INT64_MAX;
}

//  What is open of a list or a map: how many values are left, and whether a key comes next.
struct level {
    uint64_t left;
    bool map, key;
};

//  Heads come one after the other, so no recursion is needed to see every text.
bool
ag_match_texts (struct ag_str value, ag_text_fn *fn, void *context)
{
    struct level levels[AG_DEPTH_WRAPPED + 1] = {{.left = 1}}, *top = levels;
    struct ag_cursor in = ag_cursor (value);
    struct ag_head head;
    while (top->left && !ag_next (&in, &head)) {
        if (top->key) {
            top->key = false;
            continue;
        }
        if (head.kind == AG_TEXT && fn (context, head.s))
            return true;
        top->left--;
        top->key = top->map;
        if ((head.kind == AG_LIST || head.kind == AG_MAP) && top < levels + AG_DEPTH_WRAPPED)
            *++top = (struct level){head.count, head.kind == AG_MAP, head.kind == AG_MAP};
        while (top > levels && !top->left)
            top--;
    }
    return false;
}
