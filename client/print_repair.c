//  What a repair kept of each run, and what was damaged.
//  SPDX-License-Identifier: Apache-2.0
#include "client/pick.h"
#include "client/print.h"

#include <inttypes.h>

static void
print_kept (const struct ag_look *look, struct ag_str run)
{
    struct ag_str reason = ag_pick_text (run, "reason"), label = ag_pick_text (run, "label");
    printf ("%s%-4s%s ", ag_paint (look, reason.n ? AG_RED : AG_GREEN), reason.n ? "LOST" : "ok",
            ag_paint (look, AG_PLAIN));
    ag_look_text (stdout, ag_pick_text (run, "run"));
    fputs (label.n ? " " : "", stdout);
    ag_look_text (stdout, label);
    uint64_t events = ag_pick_uint (run, "events");
    printf (": %" PRIu64 " event%s kept", events, ag_look_s (events));
    struct ag_str first = ag_pick_text (run, "first_lost");
    if (reason.n) {
        fputs (first.n ? ", lost from " : ", and what stood beside them is not whole: ", stdout);
        ag_look_text (stdout, first);
        fputs (first.n ? " on: " : "", stdout);
        ag_look_text (stdout, reason);
    }
    fputc ('\n', stdout);
}

void
ag_print_repair (const struct ag_look *look, struct ag_str report)
{
    struct ag_str one;
    for (struct ag_items items = ag_items (report, "files"); ag_items_next (&items, &one);) {
        fputs ("damaged: ", stdout);
        ag_look_text (stdout, ag_pick_text (one, "file"));
        fputs (": ", stdout);
        ag_look_text (stdout, ag_pick_text (one, "reason"));
        fputc ('\n', stdout);
    }
    for (struct ag_items items = ag_items (report, "runs"); ag_items_next (&items, &one);)
        print_kept (look, one);
    uint64_t events = ag_pick_uint (report, "events");
    printf ("%" PRIu64 " event%s kept in ", events, ag_look_s (events));
    ag_look_text (stdout, ag_pick_text (report, "to"));
    if (ag_pick_uint (report, "events_lost"))
        printf (", %" PRIu64 " lost", ag_pick_uint (report, "events_lost"));
    fputc ('\n', stdout);
}
