//  The report of a trial.
//  SPDX-License-Identifier: Apache-2.0
#include "client/pick.h"
#include "client/print.h"

#include <inttypes.h>

//  "completed  r3f", and why when it is anything else.
static void
put_verdict (const struct ag_look *look, struct ag_str report)
{
    struct ag_str outcome = ag_pick_text (report, "outcome"),
                  detail = ag_pick_text (report, "detail");
    fputs (ag_paint (look, ag_str_is (outcome, "completed") ? AG_GREEN : AG_RED), stdout);
    ag_look_text (stdout, outcome);
    printf ("%s  ", ag_paint (look, AG_PLAIN));
    ag_look_text (stdout, ag_pick_text (report, "fork_run_id"));
    if (detail.n) {
        fputs (": ", stdout);
        ag_look_text (stdout, detail);
    }
    fputc ('\n', stdout);
}

//  What it did, and how its process ended: whether there was one.
static bool
put_counts (struct ag_str report)
{
    uint64_t events = ag_pick_uint (report, "events_appended"),
             invocations = ag_pick_uint (report, "invocations"),
             failures = ag_pick_uint (report, "behavior_failures"),
             signal = ag_pick_uint (report, "signal");
    printf ("  did     %" PRIu64 " event%s, %" PRIu64 " invocation%s, %" PRIu64 " of them failed; ",
            events, ag_look_s (events), invocations, ag_look_s (invocations), failures);
    if (signal)
        printf ("its process ended by signal %" PRIu64 "\n", signal);
    else if (ag_kind_of (ag_pick (report, "exit_code")) == AG_UINT)
        printf ("its process ended with exit status %" PRIu64 "\n",
                ag_pick_uint (report, "exit_code"));
    else
        puts ("no process of it ran");
    return signal || ag_kind_of (ag_pick (report, "exit_code")) == AG_UINT;
}

//  A limit as people write it: milliseconds and bytes in their largest whole unit.
static void
put_asked (struct ag_str name, uint64_t number)
{
    static const char *const sizes[] = {"", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    if (ag_str_is (name, "wall") || ag_str_is (name, "cpu")) {
        printf (" %gs", (double)number / 1000);
        return;
    }
    bool bytes = ag_str_is (name, "memory") || ag_str_is (name, "file_size");
    for (; bytes && unit < 4 && number && number % 1024 == 0; unit++)
        number /= 1024;
    printf (" %" PRIu64 "%s", number, sizes[unit]);
}

//  The names of what is in force, or of what was asked for and is not, with the reason.
static uint32_t
put_walls (struct ag_str report, const char *key, bool in_force, uint32_t count)
{
    struct ag_str wall;
    for (struct ag_items items = ag_items (report, key); ag_items_next (&items, &wall);) {
        bool asked = ag_kind_of (ag_pick (wall, "asked")) != AG_NULL;
        if (ag_pick_bool (wall, "in_force") != in_force || (!in_force && !asked))
            continue;
        fputs (count++ ? ", " : in_force ? "  held    " : "  off     ", stdout);
        struct ag_str name = ag_pick_text (wall, "name"), reason = ag_pick_text (wall, "reason");
        ag_look_text (stdout, name);
        if (in_force && ag_kind_of (ag_pick (wall, "asked")) == AG_UINT)
            put_asked (name, ag_pick_uint (wall, "asked"));
        if (reason.n) {
            fputs (" (", stdout);
            ag_look_text (stdout, reason);
            fputc (')', stdout);
        }
    }
    return count;
}

static void
put_all_walls (struct ag_str report, bool in_force)
{
    uint32_t count = put_walls (report, "nets", in_force, 0);
    if (put_walls (report, "layers", in_force, count))
        fputc ('\n', stdout);
}

void
ag_print_trial (const struct ag_look *look, struct ag_str report)
{
    struct ag_str net = ag_pick_text (report, "net"), tail = ag_pick_text (report, "stderr_tail");
    put_verdict (look, report);
    if (net.n) {
        printf ("  %sfired%s   ", ag_paint (look, AG_YELLOW), ag_paint (look, AG_PLAIN));
        ag_look_text (stdout, net);
        fputc ('\n', stdout);
    }
    if (put_counts (report)) {
        put_all_walls (report, true);
        put_all_walls (report, false);
    }
    if (ag_str_is (ag_pick_text (report, "outcome"), "completed") &&
        !ag_pick_uint (report, "invocations"))
        puts (
            "  nothing of it was invoked: the scenario has no event that its behaviours wait for");
    if (tail.n) {
        puts ("  the end of its stderr:");
        ag_look_lines (stdout, tail);
        fputc ('\n', stdout);
    }
}
