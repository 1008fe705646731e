//  SPDX-License-Identifier: Apache-2.0
#include "client/print.h"

#include "client/pick.h"
#include "common/json.h"

#include <inttypes.h>
#include <string.h>

enum { FIELD_BYTES = 60, LINE_BYTES = 160, DEPTH_MOST = 12 };
//  Columns of a line: "auditor", "evt_99999", "[behavior.completed]". What is longer pushes the rest.
enum { NAME_WIDE = 10, ID_WIDE = 9, TYPE_WIDE = 18 };

//  Not in the middle of a letter.
static size_t
cut_at (struct ag_str text, size_t most)
{
    if (text.n <= most)
        return text.n;
    while (most > 0 && ((unsigned char)text.p[most] & 0xc0) == 0x80)
        most--;
    return most;
}

void
ag_print_value (struct ag_str value, size_t most)
{
    struct ag_buf json = {0};
    struct ag_cursor in = ag_cursor (value);
    struct ag_head head;
    struct ag_str text;
    if (!value.p || ag_next (&in, &head))
        return;
    if (head.kind == AG_TEXT)
        text = head.s;
    else {
        ag_json_write (value, AG_JSON_LINE, &json);
        text = ag_buf_str (&json);
    }
    size_t n = cut_at (text, most);
    ag_look_text (stdout, (struct ag_str){text.p, n});
    if (n < text.n)
        fputs ("...", stdout);
    ag_buf_fini (&json);
}

static void
put (struct ag_str map, const char *key)
{
    ag_print_value (ag_pick (map, key), FIELD_BYTES);
}

static void
say_goal (struct ag_str event, struct ag_str payload)
{
    put (event, "actor");
    fputs (": \"", stdout);
    ag_print_value (ag_pick (payload, "goal"), LINE_BYTES);
    fputc ('"', stdout);
}

//  id "title" (status): what people call an object by.
static void
say_object (struct ag_str event, struct ag_str payload)
{
    static const char *const names[] = {"title", "name", "text"};
    (void)event;
    struct ag_str object = ag_pick (payload, "object"), data = ag_pick (object, "data");
    put (object, "id");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (ag_pick_text (data, names[i]).n) {
            fputs (" \"", stdout);
            put (data, names[i]);
            fputc ('"', stdout);
            break;
        }
    if (ag_pick_text (data, "status").n) {
        fputs (" (", stdout);
        put (data, "status");
        fputc (')', stdout);
    }
}

static void
say_relation (struct ag_str event, struct ag_str payload)
{
    (void)event;
    struct ag_str relation = ag_pick (payload, "relation");
    put (relation, "source");
    fputs (" --", stdout);
    put (relation, "type");
    fputs ("--> ", stdout);
    put (relation, "target");
}

static void
say_patch (struct ag_str event, struct ag_str payload)
{
    struct ag_str field, change;
    (void)event;
    put (payload, "target");
    bool any = false;
    for (struct ag_items items = ag_pairs_of (ag_pick (payload, "diff"));
         ag_pairs_next (&items, &field, &change);) {
        fputs (any ? ", " : " ", stdout);
        ag_look_text (stdout, field);
        fputs (": ", stdout);
        put (change, "old");
        fputs (" -> ", stdout);
        put (change, "new");
        any = true;
    }
    if (!any)
        fputs (" (no change)", stdout);
}

static void
say_removed (struct ag_str event, struct ag_str payload)
{
    (void)event;
    put (payload, "id");
}

static void
say_started (struct ag_str event, struct ag_str payload)
{
    (void)event;
    put (payload, "behavior");
    fputs (" (", stdout);
    put (payload, "event_id");
    fputc (' ', stdout);
    put (payload, "triggering_event_type");
    fputc (')', stdout);
    if (ag_pick_uint (payload, "attempt") > 1)
        printf (" attempt %" PRIu64, ag_pick_uint (payload, "attempt"));
}

//  How many: the length of a list of ids, or the count that stands in its place.
static uint64_t
count_of (struct ag_str map, const char *key)
{
    uint64_t n = ag_items_count (map, key);
    return n ? n : ag_pick_uint (map, key);
}

static void
say_completed (struct ag_str event, struct ag_str payload)
{
    (void)event;
    put (payload, "behavior");
    printf (" (%" PRIu64 " objects, %" PRIu64 " relations, %" PRIu64 " patches)",
            count_of (payload, "objects_created"), count_of (payload, "relations_created"),
            count_of (payload, "patches_applied"));
}

static void
say_failed (struct ag_str event, struct ag_str payload)
{
    static const char *const parts[] = {"exception_type", "message", "reason"};
    (void)event;
    put (payload, "behavior");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (ag_pick_text (payload, parts[i]).n) {
            fputs (": ", stdout);
            ag_print_value (ag_pick (payload, parts[i]), LINE_BYTES);
        }
}

static void
say_promote (struct ag_str event, struct ag_str payload)
{
    (void)event;
    put (payload, "from_run");
    printf (" -> here (+%" PRIu64 " ~%" PRIu64 " -%" PRIu64 ") forked_at=",
            count_of (payload, "objects_created"), count_of (payload, "objects_patched"),
            count_of (payload, "objects_removed"));
    put (payload, "forked_at_event");
    uint64_t made = count_of (payload, "relations_created"),
             gone = count_of (payload, "relations_removed");
    if (made || gone)
        printf (" relations=+%" PRIu64 "-%" PRIu64, made, gone);
}

static void
say_agent (struct ag_str event, struct ag_str payload)
{
    static const char *const parts[] = {"pid",    "exit_code", "signal",
                                        "reason", "next_try",  "wanted"};
    (void)event;
    put (payload, "name");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct ag_str value = ag_pick (payload, parts[i]);
        if (value.p && ag_kind_of (value) != AG_NULL) {
            printf (" %s=", parts[i]);
            ag_print_value (value, FIELD_BYTES);
        }
    }
}

//  Whatever else: its fields, one after the other.
static void
say_fields (struct ag_str event, struct ag_str payload)
{
    struct ag_str key, value;
    (void)event;
    const char *space = "";
    for (struct ag_items items = ag_pairs_of (payload); ag_pairs_next (&items, &key, &value);) {
        fputs (space, stdout);
        ag_look_text (stdout, key);
        fputc ('=', stdout);
        ag_print_value (value, FIELD_BYTES);
        space = " ";
    }
}

struct saying {
    const char *type; //  or what it begins with, when it ends with a point
    enum ag_paint paint;
    void (*say) (struct ag_str event, struct ag_str payload);
};

static const struct saying *
saying_of (struct ag_str type)
{
    static const struct saying sayings[] = {
        {"goal.created", AG_BOLD, say_goal},
        {"object.created", AG_PLAIN, say_object},
        {"object.removed", AG_PLAIN, say_removed},
        {"relation.created", AG_PLAIN, say_relation},
        {"relation.removed", AG_PLAIN, say_removed},
        {"patch.applied", AG_PLAIN, say_patch},
        {"behavior.started", AG_DIM, say_started},
        {"behavior.completed", AG_DIM, say_completed},
        {"behavior.failed", AG_RED, say_failed},
        {"relation_behavior.started", AG_DIM, say_started},
        {"promote.applied", AG_GREEN, say_promote},
        {"agent.backoff", AG_RED, say_agent},
        {"agent.gave_up", AG_RED, say_agent},
        {"agent.", AG_DIM, say_agent},
        {"runtime.", AG_DIM, say_fields},
        {"worker.", AG_DIM, say_fields},
        {"", AG_PLAIN, say_fields},
    };
    const struct saying *saying = sayings;
    for (;; saying++) {
        size_t n = strlen (saying->type);
        bool begins = !n || saying->type[n - 1] == '.';
        if (begins ? ag_str_starts (type, saying->type) : ag_str_is (type, saying->type))
            return saying;
    }
}

//  The hour of an RFC 3339 time; the day stands in --json.
static void
put_hour (struct ag_str time)
{
    if (time.n >= 19 && time.p[10] == 'T')
        time = (struct ag_str){time.p + 11, 8};
    ag_look_text (stdout, time);
}

static void
put_column (struct ag_str text, size_t wide)
{
    ag_look_text (stdout, text);
    printf ("%*s  ", text.n < wide ? (int)(wide - text.n) : 0, "");
}

void
ag_print_event (const struct ag_look *look, struct ag_str event, bool named)
{
    struct ag_str type = ag_pick_text (event, "type"), id = ag_pick_text (event, "id");
    struct ag_str label = ag_pick_text (event, "label");
    const struct saying *saying = saying_of (type);
    if (named)
        put_column (label.n ? label : ag_pick_text (event, "run"), NAME_WIDE);
    put_column (id, ID_WIDE);
    fputs (ag_paint (look, AG_DIM), stdout);
    put_hour (ag_pick_text (event, "timestamp"));
    //  types end in one column: two spaces stand between a type and its words, always
    printf ("%s  %*s%s[", ag_paint (look, AG_PLAIN),
            type.n < TYPE_WIDE ? (int)(TYPE_WIDE - type.n) : 0, "", ag_paint (look, saying->paint));
    ag_look_text (stdout, type);
    printf ("]%s  ", ag_paint (look, AG_PLAIN));
    saying->say (event, ag_pick (event, "payload"));
    fputc ('\n', stdout);
}

void
ag_print_why (const struct ag_look *look, struct ag_str answer)
{
    struct ag_str event = {0};
    int depth = 0;
    for (struct ag_items items = ag_items (answer, "chain"); ag_items_next (&items, &event);
         depth++) {
        int indent = depth < DEPTH_MOST ? depth : DEPTH_MOST;
        if (depth)
            printf ("%*s%s", 2 * (indent - 1), "", "`- ");
        ag_print_event (look, event, false);
    }
    if (depth == 1 && !ag_pick_text (event, "caused_by").n) {
        fputs ("`- no event caused it: it came from ", stdout);
        put (event, "actor");
        fputc ('\n', stdout);
    }
}
