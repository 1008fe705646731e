//  SPDX-License-Identifier: Apache-2.0
#include "client/print.h"

#include "client/pick.h"
#include "client/table.h"

#include <inttypes.h>
#include <stdlib.h>

static void
cell_when (const struct ag_look *look, ag_table_t *table, struct ag_str time)
{
    char room[40];
    ag_look_when (look, time, room);
    ag_table_cell (table, ag_str (room), AG_PLAIN);
}

static void
cell_number (ag_table_t *table, struct ag_str map, const char *key)
{
    struct ag_str value = ag_pick (map, key);
    if (value.p && ag_kind_of (value) == AG_UINT)
        ag_table_cellf (table, "%" PRIu64, ag_pick_uint (map, key));
    else
        ag_table_cell (table, (struct ag_str){0}, AG_PLAIN);
}

//  What is off while it runs, and what it has in hand.
static void
cell_remark (ag_table_t *table, struct ag_str agent)
{
    struct ag_str remark = ag_pick_text (agent, "remark"), in_hand = ag_pick (agent, "invocation"),
                  behavior = ag_pick_text (in_hand, "behavior");
    struct ag_buf text = {0};
    if (behavior.n)
        ag_buf_text (&text, "%.*s on %.*s, attempt %" PRIu64, AG_STR_ARG (behavior),
                     AG_STR_ARG (ag_pick_text (in_hand, "event_id")),
                     ag_pick_uint (in_hand, "attempt"));
    ag_buf_text (&text, "%s%.*s", behavior.n && remark.n ? "; " : "", AG_STR_ARG (remark));
    ag_table_cell (table, ag_buf_str (&text), AG_PLAIN);
    ag_buf_fini (&text);
}

static void
agent_row (const struct ag_look *look, ag_table_t *table, struct ag_str agent)
{
    struct ag_str state = ag_pick_text (agent, "state"), name = ag_pick_text (agent, "name");
    ag_table_row (table, NULL);
    ag_table_cell (table, name.n ? name : ag_pick_text (agent, "label"), AG_BOLD);
    ag_table_cell (table, state, ag_state_paint (state));
    ag_table_cell (table, ag_pick_text (agent, "run"), AG_PLAIN);
    cell_number (table, agent, "pid");
    cell_when (look, table, ag_pick_text (agent, "since"));
    cell_number (table, agent, "restarts");
    cell_number (table, agent, "events");
    cell_number (table, agent, "queue");
    if (ag_pick_text (agent, "exhausted_by").n)
        ag_table_cellf (table, "%.*s is used up: raise it, `agsup down`, `agsup up`",
                        AG_STR_ARG (ag_pick_text (agent, "exhausted_by")));
    else if (ag_pick_text (agent, "reason").n)
        ag_table_cell (table, ag_pick_text (agent, "reason"), AG_PLAIN);
    else
        cell_remark (table, agent);
}

//  What was asked for and is not in force, with the reasons: "hello: no uid (...)".
static void
put_missing (const struct ag_look *look, struct ag_str agent)
{
    struct ag_buf text = {0};
    ag_pick_open_walls (agent, &text);
    if (text.n) {
        fputs (ag_paint (look, AG_YELLOW), stdout);
        ag_look_text (stdout, ag_pick_text (agent, "name"));
        printf (":%s ", ag_paint (look, AG_PLAIN));
        ag_look_text (stdout, ag_buf_str (&text));
        fputc ('\n', stdout);
    }
    ag_buf_fini (&text);
}

void
ag_print_status (const struct ag_look *look, struct ag_str answer)
{
    static const char *const lists[] = {"agents", "forks"};
    struct ag_str agent;
    fputs (ag_paint (look, AG_DIM), stdout);
    ag_look_text (stdout, ag_pick_text (answer, "home"));
    printf (", epoch %" PRIu64 ", %" PRIu64 " events%s\n", ag_pick_uint (answer, "epoch"),
            ag_pick_uint (answer, "stream"), ag_paint (look, AG_PLAIN));
    if (ag_pick_text (answer, "disk_full").n) {
        fputs (ag_paint (look, AG_YELLOW), stdout);
        ag_look_text (stdout, ag_pick_text (answer, "disk_full"));
        printf ("%s\n", ag_paint (look, AG_PLAIN));
    }
    ag_table_t *table = ag_table_new (look);
    ag_table_column (table, "NAME", AG_COLUMN_PLAIN);
    ag_table_column (table, "STATE", AG_COLUMN_PLAIN);
    ag_table_column (table, "RUN", AG_COLUMN_PLAIN);
    ag_table_column (table, "PID", AG_COLUMN_RIGHT);
    ag_table_column (table, "SINCE", AG_COLUMN_PLAIN);
    ag_table_column (table, "RESTARTS", AG_COLUMN_RIGHT);
    ag_table_column (table, "EVENTS", AG_COLUMN_RIGHT);
    ag_table_column (table, "QUEUE", AG_COLUMN_RIGHT);
    ag_table_column (table, "REASON", AG_COLUMN_PLAIN); //  it ends with what to do
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (struct ag_items items = ag_items (answer, lists[i]); ag_items_next (&items, &agent);)
            agent_row (look, table, agent);
    ag_table_print (table);
    ag_table_destroy (&table);
    if (ag_pick_uint (answer, "forks_left_out"))
        printf ("and %" PRIu64 " more of forks: `agsup tree` shows them\n",
                ag_pick_uint (answer, "forks_left_out"));
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (struct ag_items items = ag_items (answer, lists[i]); ag_items_next (&items, &agent);)
            put_missing (look, agent);
}

//  Rows by run id, so that a fork finds its parent.
struct known {
    struct ag_str run;
    ag_table_row_t *row;
};

static ag_table_row_t *
row_of (const struct known *known, size_t n, struct ag_str run)
{
    while (n-- > 0)
        if (ag_str_eq (known[n].run, run))
            return known[n].row;
    return NULL;
}

static ag_table_row_t *
tree_row (ag_table_t *table, struct ag_str run, ag_table_row_t *parent)
{
    struct ag_str id = ag_pick_text (run, "run"), state = ag_pick_text (run, "state");
    ag_table_row_t *row = ag_table_row (table, parent);
    ag_table_cell (table, ag_pick_called (run, "label", "run"), AG_BOLD);
    ag_table_cell (table, id, AG_PLAIN);
    ag_table_cell (table, state, ag_state_paint (state));
    ag_table_cellf (table, "%" PRIu64, ag_pick_seq (run, "tip"));
    ag_table_cell (table, ag_pick_text (run, "forked_at_event"), AG_PLAIN);
    ag_table_cell (table, ag_pick_text (run, "kind"), AG_DIM);
    return row;
}

void
ag_print_tree (const struct ag_look *look, struct ag_str runs)
{
    struct ag_items items = ag_items_of (runs);
    struct known *known = ag_xcalloc (items.left, sizeof *known);
    struct ag_str run;
    size_t n = 0;
    ag_table_t *table = ag_table_new (look);
    ag_table_column (table, "RUN", AG_COLUMN_TREE);
    ag_table_column (table, "ID", AG_COLUMN_PLAIN);
    ag_table_column (table, "STATE", AG_COLUMN_PLAIN);
    ag_table_column (table, "EVENTS", AG_COLUMN_RIGHT);
    ag_table_column (table, "CUT", AG_COLUMN_PLAIN);
    ag_table_column (table, "KIND", AG_COLUMN_PLAIN);
    for (; ag_items_next (&items, &run); n++) {
        ag_table_row_t *parent = row_of (known, n, ag_pick_text (run, "parent_run_id"));
        known[n] = (struct known){ag_pick_text (run, "run"), tree_row (table, run, parent)};
    }
    ag_table_print (table);
    ag_table_destroy (&table);
    free (known);
}

void
ag_print_states (const struct ag_look *look, struct ag_str answer)
{
    struct ag_str run;
    for (struct ag_items items = ag_items (answer, "runs"); ag_items_next (&items, &run);) {
        struct ag_str state = ag_pick_text (run, "state");
        ag_look_text (stdout, ag_pick_called (run, "label", "run"));
        fputs ("  ", stdout);
        fputs (ag_paint (look, ag_state_paint (state)), stdout);
        ag_look_text (stdout, state);
        printf ("%s\n", ag_paint (look, AG_PLAIN));
    }
}

void
ag_print_checks (const struct ag_look *look, struct ag_str answer)
{
    struct ag_str check;
    for (struct ag_items items = ag_items (answer, "checks"); ag_items_next (&items, &check);) {
        bool ok = ag_pick_bool (check, "ok");
        printf ("%s%-4s%s ", ag_paint (look, ok ? AG_GREEN : AG_RED), ok ? "ok" : "BAD",
                ag_paint (look, AG_PLAIN));
        printf ("%-14.*s ", AG_STR_ARG (ag_pick_text (check, "name")));
        ag_look_text (stdout, ag_pick_text (check, "detail"));
        fputc ('\n', stdout);
        if (!ok && ag_pick_text (check, "hint").n) {
            fputs ("     ", stdout);
            ag_look_text (stdout, ag_pick_text (check, "hint"));
            fputc ('\n', stdout);
        }
    }
}

//  What an import brought that nobody here could have done; nothing is wrong with it.
static void
print_odd (struct ag_str run)
{
    struct ag_str one;
    uint64_t count = ag_pick_uint (run, "odd_count");
    for (struct ag_items items = ag_items (run, "odd"); ag_items_next (&items, &one); count--) {
        fputs ("     odd, kept as it came: ", stdout);
        ag_look_text (stdout, ag_pick_text (one, "event"));
        fputs (": ", stdout);
        ag_look_text (stdout, ag_pick_text (one, "what"));
        fputc ('\n', stdout);
    }
    if (count > 0 && ag_pick_uint (run, "odd_count"))
        printf ("     and %" PRIu64 " more\n", count);
}

void
ag_print_verify (const struct ag_look *look, struct ag_str answer)
{
    struct ag_str run;
    for (struct ag_items items = ag_items (answer, "runs"); ag_items_next (&items, &run);) {
        struct ag_str reason = ag_pick_text (run, "reason");
        printf ("%s%-4s%s ", ag_paint (look, reason.n ? AG_RED : AG_GREEN), reason.n ? "BAD" : "ok",
                ag_paint (look, AG_PLAIN));
        ag_look_text (stdout, ag_pick_called (run, "label", "run"));
        uint64_t events = ag_pick_uint (run, "events");
        printf (" %" PRIu64 " event%s", events, ag_look_s (events));
        if (reason.n) {
            printf (", first bad ");
            ag_print_value (ag_pick (run, "first_bad"), 40);
            fputs (": ", stdout);
            ag_look_text (stdout, reason);
        }
        fputc ('\n', stdout);
        print_odd (run);
    }
}

//  "live-lineage       r3f  evt_042  approval_001"
static void
put_reason (struct ag_str reason)
{
    printf ("%-18.*s ", AG_STR_ARG (ag_pick_text (reason, "reason")));
    ag_look_text (stdout, ag_pick_text (reason, "run"));
    fputs ("  ", stdout);
    ag_look_text (stdout, ag_pick_text (reason, "event"));
    if (ag_pick_text (reason, "id").n) {
        fputs ("  ", stdout);
        ag_look_text (stdout, ag_pick_text (reason, "id"));
    }
    fputc ('\n', stdout);
}

void
ag_print_kept (const struct ag_look *look, struct ag_str answer)
{
    struct ag_str reason;
    fputs (ag_paint (look, AG_BOLD), stdout);
    ag_look_text (stdout, ag_pick_called (answer, "label", "run"));
    printf ("%s %" PRIu64 " events, archived to %" PRIu64 ", covered to %" PRIu64 "%s\n",
            ag_paint (look, AG_PLAIN), ag_pick_seq (answer, "tip"),
            ag_pick_seq (answer, "archived_through"), ag_pick_seq (answer, "covers_through"),
            ag_pick_bool (answer, "discarded") ? ", discarded" : "");
    for (struct ag_items items = ag_items (answer, "reasons"); ag_items_next (&items, &reason);)
        put_reason (reason);
}
