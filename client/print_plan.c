//  What a promote would do or did, and what differs between two runs.
//  SPDX-License-Identifier: Apache-2.0
#include "client/print.h"

#include "client/pick.h"

#include <inttypes.h>
#include <stdlib.h>

enum { DATA_BYTES = 100 };

static void
put_text (struct ag_str map, const char *key)
{
    ag_look_text (stdout, ag_pick_text (map, key));
}

//  A relation by what it joins, an object by its data.
static void
put_what (struct ag_str entity)
{
    if (ag_pick_text (entity, "source").p) {
        fputs ("  ", stdout);
        put_text (entity, "source");
        fputs (" --", stdout);
        put_text (entity, "type");
        fputs ("--> ", stdout);
        put_text (entity, "target");
    } else if (ag_pick (entity, "data").p) {
        fputs ("  ", stdout);
        ag_print_value (ag_pick (entity, "data"), DATA_BYTES);
    }
}

//  One line for each entity of a list: a sign, its id, what it is. A removed one is its id alone.
static void
put_entities (const struct ag_look *look, struct ag_str plan, const char *key, const char *sign,
              enum ag_paint paint)
{
    struct ag_str entity;
    for (struct ag_items items = ag_items (plan, key); ag_items_next (&items, &entity);) {
        printf ("  %s%s ", ag_paint (look, paint), sign);
        if (ag_kind_of (entity) != AG_MAP)
            ag_print_value (entity, DATA_BYTES);
        put_text (entity, "id");
        fputs (ag_paint (look, AG_PLAIN), stdout);
        put_what (entity);
        fputc ('\n', stdout);
    }
}

static void
put_conflicts (const struct ag_look *look, struct ag_str plan)
{
    struct ag_str item;
    for (struct ag_items items = ag_items (plan, "conflicts"); ag_items_next (&items, &item);) {
        printf ("  %s! ", ag_paint (look, AG_RED));
        put_text (item, "kind");
        printf ("%s  ", ag_paint (look, AG_PLAIN));
        put_text (item, "entity");
        fputc (' ', stdout);
        put_text (item, "id");
        fputs (": ", stdout);
        put_text (item, "detail");
        fputc ('\n', stdout);
    }
}

static void
put_violations (const struct ag_look *look, struct ag_str plan)
{
    struct ag_str item;
    for (struct ag_items items = ag_items (plan, "violations"); ag_items_next (&items, &item);) {
        printf ("  %s! schema%s  ", ag_paint (look, AG_RED), ag_paint (look, AG_PLAIN));
        put_text (item, "id");
        fputc (' ', stdout);
        put_text (item, "path");
        fputs (": ", stdout);
        put_text (item, "detail");
        fputc ('\n', stdout);
    }
}

static void
put_warnings (const struct ag_look *look, struct ag_str plan)
{
    struct ag_str item;
    for (struct ag_items items = ag_items (plan, "warnings"); ag_items_next (&items, &item);) {
        printf ("  %swarning:%s ", ag_paint (look, AG_YELLOW), ag_paint (look, AG_PLAIN));
        ag_print_value (item, 400);
        fputc ('\n', stdout);
    }
}

//  "promoted try -> auditor (+2 ~1 -0) forked_at=evt_042 as evt_050". Of nothing new the first marker is written
//  all the same; after that it stands for the next.
static void
put_verdict (const struct ag_look *look, struct ag_str plan)
{
    bool done = ag_pick_text (plan, "marker_event_id").n > 0,
         able = ag_pick_bool (plan, "is_promotable");
    bool empty = ag_pick_bool (plan, "is_empty");
    fputs (ag_paint (look, able ? AG_GREEN : AG_RED), stdout);
    fputs (done ? "promoted " : able ? "would promote " : "cannot promote ", stdout);
    fputs (ag_paint (look, AG_PLAIN), stdout);
    ag_look_text (stdout, ag_pick_called (plan, "from_label", "from_run"));
    fputs (" -> ", stdout);
    ag_look_text (stdout, ag_pick_called (plan, "into_label", "into_run"));
    printf (" (+%" PRIu32 " ~%" PRIu32 " -%" PRIu32 ") forked_at=",
            ag_items_count (plan, "object_creates"), ag_items_count (plan, "object_patches"),
            ag_items_count (plan, "object_removes"));
    put_text (plan, "forked_at_event");
    if (done) {
        bool written =
            ag_pick_seq (plan, "marker_event_id") > ag_pick_seq (plan, "computed_against");
        fputs (written ? " as " : ", nothing new since ", stdout);
        put_text (plan, "marker_event_id");
        fputs (empty && written ? ", nothing changed" : "", stdout);
    } else if (empty && able)
        fputs (", nothing changed", stdout);
    fputc ('\n', stdout);
}

void
ag_print_plan (const struct ag_look *look, struct ag_str plan)
{
    put_verdict (look, plan);
    put_entities (look, plan, "object_creates", "+", AG_GREEN);
    put_entities (look, plan, "object_patches", "~", AG_YELLOW);
    put_entities (look, plan, "object_removes", "-", AG_RED);
    put_entities (look, plan, "relation_creates", "+", AG_GREEN);
    put_entities (look, plan, "relation_removes", "-", AG_RED);
    put_conflicts (look, plan);
    put_violations (look, plan);
    put_warnings (look, plan);
}

static bool
is_there (struct ag_str side)
{
    return side.p && ag_kind_of (side) == AG_MAP;
}

static void
put_two (struct ag_str key, struct ag_str a, struct ag_str b)
{
    fputs ("  ", stdout);
    ag_look_text (stdout, key);
    fputs (": ", stdout);
    ag_print_value (a, DATA_BYTES);
    fputs (" | ", stdout);
    ag_print_value (b, DATA_BYTES);
}

//  The fields of the data that are not equal on both sides; where none are, the versions, since it was changed.
static void
put_fields (struct ag_str a, struct ag_str b)
{
    struct ag_str key, value, data_a = ag_pick (a, "data"), data_b = ag_pick (b, "data");
    bool any = false;
    for (struct ag_items items = ag_pairs_of (data_a); ag_pairs_next (&items, &key, &value);) {
        struct ag_str other = ag_pick_at (data_b, key);
        if (!other.p || !ag_value_equal (value, other)) {
            put_two (key, value, other);
            any = true;
        }
    }
    for (struct ag_items items = ag_pairs_of (data_b); ag_pairs_next (&items, &key, &value);)
        if (!ag_pick_at (data_a, key).p) {
            put_two (key, (struct ag_str){0}, value);
            any = true;
        }
    if (!any && ag_pick (a, "version").p)
        put_two (AG_LIT ("version"), ag_pick (a, "version"), ag_pick (b, "version"));
}

static void
put_divergent (const struct ag_look *look, struct ag_str answer, const char *key)
{
    struct ag_str item;
    for (struct ag_items items = ag_items (answer, key); ag_items_next (&items, &item);) {
        struct ag_str a = ag_pick (item, "a"), b = ag_pick (item, "b");
        bool both = is_there (a) && is_there (b);
        printf ("  %s%s ",
                ag_paint (look, both           ? AG_YELLOW
                                : is_there (a) ? AG_RED
                                               : AG_GREEN),
                both           ? "~"
                : is_there (a) ? "<"
                               : ">");
        put_text (item, "id");
        fputs (ag_paint (look, AG_PLAIN), stdout);
        if (both)
            put_fields (a, b);
        else
            put_what (is_there (a) ? a : b);
        fputc ('\n', stdout);
    }
}

void
ag_print_diff (const struct ag_look *look, struct ag_str answer)
{
    put_text (answer, "a");
    fputs (" and ", stdout);
    put_text (answer, "b");
    if (ag_pick_bool (answer, "is_identical"))
        fputs (" are identical:", stdout);
    else if (ag_items_count (answer, "divergent_objects") +
             ag_items_count (answer, "divergent_relations"))
        fputs (" differ:", stdout);
    else
        fputs (" hold the same objects and relations:", stdout);
    uint64_t shared = ag_pick_uint (answer, "shared_events");
    printf (" %" PRIu64 " event%s shared, %" PRIu64 " only in the first, %" PRIu64
            " only in the second\n",
            shared, ag_look_s (shared), ag_pick_uint (answer, "a_only_events"),
            ag_pick_uint (answer, "b_only_events"));
    put_divergent (look, answer, "divergent_objects");
    put_divergent (look, answer, "divergent_relations");
    if (ag_pick_bool (answer, "truncated"))
        fputs ("  ... and more\n", stdout);
}

static bool
is_alike (struct ag_str a, struct ag_str b)
{
    return ag_str_eq (ag_pick_text (a, "type"), ag_pick_text (b, "type")) &&
           ag_str_eq (ag_pick_text (a, "reason"), ag_pick_text (b, "reason"));
}

//  "left out evt_012 [message.received] and 7 more: it comes from another run", of so many in a row.
static void
put_left_out (struct ag_str first, uint64_t more)
{
    fputs ("  left out ", stdout);
    put_text (first, "event_id");
    fputs (" [", stdout);
    put_text (first, "type");
    fputs ("]", stdout);
    if (more)
        printf (" and %" PRIu64 " more", more);
    fputs (": ", stdout);
    put_text (first, "reason");
    fputc ('\n', stdout);
}

//  "auditor again as r7: 3 events put in from outside", what was not, and the comparison.
void
ag_print_again (const struct ag_look *look, struct ag_str answer)
{
    struct ag_str one, first = {0};
    uint64_t more = 0, put_in = ag_pick_uint (answer, "put_in");
    put_text (answer, "run");
    fputs (" again as ", stdout);
    put_text (answer, "fork_run_id");
    printf (": %" PRIu64 " event%s put in from outside\n", put_in, ag_look_s (put_in));
    for (struct ag_items left = ag_items (answer, "left_out"); ag_items_next (&left, &one);) {
        if (first.p && is_alike (first, one)) {
            more++;
            continue;
        }
        if (first.p)
            put_left_out (first, more);
        first = one;
        more = 0;
    }
    if (first.p)
        put_left_out (first, more);
    ag_print_diff (look, ag_pick (answer, "diff"));
}

//  What may be why.
static void
put_change (struct ag_str change)
{
    if (!change.p)
        return;
    fputs ("  Since then ", stdout);
    put_text (change, "event_id");
    fputs (" (", stdout);
    put_text (change, "type");
    puts (") has changed what is in force, and this is done with what is in force now.");
}

//  "r1 as recorded: 12 invocations, 40 events compared", or where it is not.
void
ag_print_replay (const struct ag_look *look, struct ag_str answer)
{
    struct ag_str divergence = ag_pick (answer, "divergence");
    bool same = !divergence.p || ag_kind_of (divergence) == AG_NULL;
    ag_look_text (stdout, ag_pick_called (answer, "label", "run"));
    uint64_t invocations = ag_pick_uint (answer, "invocations"),
             compared = ag_pick_uint (answer, "compared_events");
    printf (" %s%s%s: %" PRIu64 " invocation%s, %" PRIu64 " event%s compared",
            ag_paint (look, same ? AG_GREEN : AG_RED), same ? "as recorded" : "diverges",
            ag_paint (look, AG_PLAIN), invocations, ag_look_s (invocations), compared,
            ag_look_s (compared));
    if (ag_pick_uint (answer, "skipped"))
        printf (", %" PRIu64 " left out, as crashes are", ag_pick_uint (answer, "skipped"));
    fputc ('\n', stdout);
    if (same)
        return;
    fputs ("  ", stdout);
    put_text (divergence, "event_id");
    fputc (' ', stdout);
    put_text (divergence, "path");
    fputs (": recorded ", stdout);
    ag_print_value (ag_pick (divergence, "recorded"), 400);
    fputs (", found ", stdout);
    ag_print_value (ag_pick (divergence, "found"), 400);
    fputc ('\n', stdout);
    put_change (ag_pick (answer, "changed_since"));
}
