//  SPDX-License-Identifier: Apache-2.0
#include "client/print.h"

#include "client/pick.h"
#include "common/json.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
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

static void
put_value (FILE *out, struct ag_str value, size_t most)
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
    ag_look_text (out, (struct ag_str){text.p, n});
    if (n < text.n)
        fputs ("...", out);
    ag_buf_fini (&json);
}

void
ag_print_value (struct ag_str value, size_t most)
{
    put_value (stdout, value, most);
}

static void
put (FILE *out, struct ag_str map, const char *key)
{
    put_value (out, ag_pick (map, key), FIELD_BYTES);
}

static void
say_goal (FILE *out, struct ag_str event, struct ag_str payload)
{
    put (out, event, "actor");
    fputs (": \"", out);
    put_value (out, ag_pick (payload, "goal"), LINE_BYTES);
    fputc ('"', out);
}

//  id "title" (status): what people call an object by.
static void
say_object (FILE *out, struct ag_str event, struct ag_str payload)
{
    static const char *const names[] = {"title", "name", "text"};
    (void)event;
    struct ag_str object = ag_pick (payload, "object"), data = ag_pick (object, "data");
    put (out, object, "id");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (ag_pick_text (data, names[i]).n) {
            fputs (" \"", out);
            put (out, data, names[i]);
            fputc ('"', out);
            break;
        }
    if (ag_pick_text (data, "status").n) {
        fputs (" (", out);
        put (out, data, "status");
        fputc (')', out);
    }
}

static void
say_relation (FILE *out, struct ag_str event, struct ag_str payload)
{
    (void)event;
    struct ag_str relation = ag_pick (payload, "relation");
    put (out, relation, "source");
    fputs (" --", out);
    put (out, relation, "type");
    fputs ("--> ", out);
    put (out, relation, "target");
}

static void
say_patch (FILE *out, struct ag_str event, struct ag_str payload)
{
    struct ag_str field, change;
    (void)event;
    put (out, payload, "target");
    bool any = false;
    for (struct ag_items items = ag_pairs_of (ag_pick (payload, "diff"));
         ag_pairs_next (&items, &field, &change);) {
        fputs (any ? ", " : " ", out);
        ag_look_text (out, field);
        fputs (": ", out);
        put (out, change, "old");
        fputs (" -> ", out);
        put (out, change, "new");
        any = true;
    }
    if (!any)
        fputs (" (no change)", out);
}

static void
say_removed (FILE *out, struct ag_str event, struct ag_str payload)
{
    (void)event;
    put (out, payload, "id");
}

static void
say_started (FILE *out, struct ag_str event, struct ag_str payload)
{
    (void)event;
    put (out, payload, "behavior");
    fputs (" (", out);
    put (out, payload, "event_id");
    fputc (' ', out);
    put (out, payload, "triggering_event_type");
    fputc (')', out);
    if (ag_pick_uint (payload, "attempt") > 1)
        fprintf (out, " attempt %" PRIu64, ag_pick_uint (payload, "attempt"));
}

//  How many: the length of a list of ids, or the count that stands in its place.
static uint64_t
count_of (struct ag_str map, const char *key)
{
    uint64_t n = ag_items_count (map, key);
    return n ? n : ag_pick_uint (map, key);
}

static void
say_completed (FILE *out, struct ag_str event, struct ag_str payload)
{
    (void)event;
    put (out, payload, "behavior");
    uint64_t objects = count_of (payload, "objects_created"),
             relations = count_of (payload, "relations_created"),
             patches = count_of (payload, "patches_applied");
    fprintf (out, " (%" PRIu64 " object%s, %" PRIu64 " relation%s, %" PRIu64 " patch%s)", objects,
             ag_look_s (objects), relations, ag_look_s (relations), patches,
             patches == 1 ? "" : "es");
}

static void
say_failed (FILE *out, struct ag_str event, struct ag_str payload)
{
    static const char *const parts[] = {"exception_type", "message", "reason"};
    (void)event;
    put (out, payload, "behavior");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (ag_pick_text (payload, parts[i]).n) {
            fputs (": ", out);
            put_value (out, ag_pick (payload, parts[i]), LINE_BYTES);
        }
}

static void
say_promote (FILE *out, struct ag_str event, struct ag_str payload)
{
    (void)event;
    put (out, payload, "from_run");
    fprintf (out, " -> here (+%" PRIu64 " ~%" PRIu64 " -%" PRIu64 ") forked_at=",
             count_of (payload, "objects_created"), count_of (payload, "objects_patched"),
             count_of (payload, "objects_removed"));
    put (out, payload, "forked_at_event");
    uint64_t made = count_of (payload, "relations_created"),
             gone = count_of (payload, "relations_removed");
    if (made || gone)
        fprintf (out, " relations=+%" PRIu64 "-%" PRIu64, made, gone);
}

static void
say_trial (FILE *out, struct ag_str event, struct ag_str payload)
{
    (void)event;
    put (out, payload, "fork_run_id");
    fputs (": ", out);
    put (out, payload, "outcome");
    if (ag_pick_text (payload, "net").n) {
        fputs (" by ", out);
        put (out, payload, "net");
    }
    uint64_t events = ag_pick_uint (payload, "events_appended"),
             failures = ag_pick_uint (payload, "behavior_failures");
    fprintf (out, " (%" PRIu64 " event%s, %" PRIu64 " failure%s)", events, ag_look_s (events),
             failures, ag_look_s (failures));
    if (ag_pick_text (payload, "detail").n) {
        fputs (": ", out);
        put_value (out, ag_pick (payload, "detail"), LINE_BYTES);
    }
}

static void
say_agent (FILE *out, struct ag_str event, struct ag_str payload)
{
    static const char *const parts[] = {"pid",    "exit_code", "signal",
                                        "reason", "next_try",  "wanted"};
    (void)event;
    put (out, payload, "name");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct ag_str value = ag_pick (payload, parts[i]);
        if (value.p && ag_kind_of (value) != AG_NULL) {
            fprintf (out, " %s=", parts[i]);
            put_value (out, value, FIELD_BYTES);
        }
    }
}

//  Whatever else: its fields, one after the other.
static void
say_fields (FILE *out, struct ag_str event, struct ag_str payload)
{
    struct ag_str key, value;
    (void)event;
    const char *space = "";
    for (struct ag_items items = ag_pairs_of (payload); ag_pairs_next (&items, &key, &value);) {
        fputs (space, out);
        ag_look_text (out, key);
        fputc ('=', out);
        put_value (out, value, FIELD_BYTES);
        space = " ";
    }
}

struct saying {
    const char *type; //  or what it begins with, when it ends with a point
    enum ag_paint paint;
    void (*say) (FILE *out, struct ag_str event, struct ag_str payload);
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
        {"trial.finished", AG_PLAIN, say_trial},
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
put_hour (FILE *out, struct ag_str time)
{
    if (time.n >= 19 && time.p[10] == 'T')
        time = (struct ag_str){time.p + 11, 8};
    ag_look_text (out, time);
}

static void
put_column (FILE *out, struct ag_str text, size_t wide)
{
    ag_look_text (out, text);
    fprintf (out, "%*s  ", text.n < wide ? (int)(wide - text.n) : 0, "");
}

static void
put_event (FILE *out, const struct ag_look *look, struct ag_str event, bool named)
{
    struct ag_str type = ag_pick_text (event, "type"), id = ag_pick_text (event, "id");
    struct ag_str name = ag_pick_called (event, "label", "run");
    const struct saying *saying = saying_of (type);
    if (named)
        put_column (out, name, NAME_WIDE);
    put_column (out, id, ID_WIDE);
    fputs (ag_paint (look, AG_DIM), out);
    put_hour (out, ag_pick_text (event, "timestamp"));
    //  types end in one column: two spaces stand between a type and its words, always
    fprintf (out, "%s  %*s%s[", ag_paint (look, AG_PLAIN),
             type.n < TYPE_WIDE ? (int)(TYPE_WIDE - type.n) : 0, "",
             ag_paint (look, saying->paint));
    ag_look_text (out, type);
    fprintf (out, "]%s  ", ag_paint (look, AG_PLAIN));
    saying->say (out, event, ag_pick (event, "payload"));
}

//  One line, whatever it holds: on a terminal it ends at the edge. Indent: columns that are used already.
static void
print_line (const struct ag_look *look, struct ag_str event, bool named, int indent)
{
    char *line = NULL;
    size_t n = 0;
    FILE *out = open_memstream (&line, &n);
    assert (out);
    put_event (out, look, event, named);
    fclose (out);
    ag_look_cut (stdout, (struct ag_str){line, n},
                 look->columns > indent ? look->columns - indent : 0);
    fputc ('\n', stdout);
    free (line);
}

void
ag_print_event (const struct ag_look *look, struct ag_str event, bool named)
{
    print_line (look, event, named, 0);
}

//  How a line of a chain follows the one before: as what caused it, or as the fork's own story, one step further in;
//  or, from the edge again, as an earlier version of the thing, which caused nothing of the above.
static bool
is_further_in (struct ag_str before, struct ag_str event, struct ag_str run)
{
    struct ag_str from = ag_pick_text (before, "run"), to = ag_pick_text (event, "run");
    if (!ag_str_eq (from, to))
        return !ag_str_eq (to, run);
    return ag_str_eq (ag_pick_text (before, "caused_by"), ag_pick_text (event, "id"));
}

//  Events of another run, a fork that was promoted, begin with its name.
void
ag_print_why (const struct ag_look *look, struct ag_str answer)
{
    static const char earlier[] = "before that: ", further[] = "`- ";
    struct ag_str event = {0}, before, run = {0};
    int count = 0, depth = 0;
    for (struct ag_items items = ag_items (answer, "chain");
         before = event, ag_items_next (&items, &event); count++) {
        const char *how = "";
        if (!count)
            run = ag_pick_text (event, "run");
        else {
            bool in = is_further_in (before, event, run);
            how = in ? further : earlier;
            depth = !in ? 0 : depth < DEPTH_MOST ? depth + 1 : depth;
        }
        int indent = depth ? 2 * (depth - 1) : 0;
        printf ("%*s%s", indent, "", how);
        print_line (look, event, !ag_str_eq (ag_pick_text (event, "run"), run),
                    indent + (int)strlen (how));
    }
    if (count == 1 && !ag_pick_text (event, "caused_by").n) {
        fputs ("`- no event caused it: it came from ", stdout);
        put (stdout, event, "actor");
        fputc ('\n', stdout);
    }
    if (ag_pick_bool (answer, "more"))
        fputs ("... and more\n", stdout);
}
