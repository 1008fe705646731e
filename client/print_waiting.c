//  SPDX-License-Identifier: Apache-2.0
#include "client/pick.h"
#include "client/print.h"
#include "client/table.h"
#include "common/json.h"

#include <stdlib.h>

//  What one kind of waiting things is called by, which fields of it are shown, and around run and id how it is decided.
static const struct kind {
    const char *list, *id, *subject, *data, *with[3];
} kinds[] = {
    {"approvals", "approval_id", "object_type", "data", {"agsup approve ", " ", ", or deny"}},
    {"patches",
     "patch_id",
     "target",
     "value",
     {"agsup apply ", ": apply_patch ", ", or reject_patch"}}};

static void
add_row (ag_table_t *table, const struct kind *kind, struct ag_str item)
{
    struct ag_buf json = {0};
    struct ag_str data = ag_pick (item, kind->data);
    struct ag_str run = ag_pick_called (item, "label", "run"), id = ag_pick_text (item, kind->id);
    if (data.p)
        ag_json_write (data, AG_JSON_LINE, &json);
    ag_table_row (table, NULL);
    ag_table_cell (table, run, AG_PLAIN);
    ag_table_cell (table, id, AG_BOLD);
    ag_table_cell (table, ag_pick_text (item, kind->subject), AG_CYAN);
    ag_table_cell (table, ag_pick_text (item, "proposed_by"), AG_PLAIN);
    ag_table_cellf (table, "%s%.*s%s%.*s%s", kind->with[0], AG_STR_ARG (run), kind->with[1],
                    AG_STR_ARG (id), kind->with[2]);
    ag_table_cell (table, ag_buf_str (&json), AG_PLAIN);
    ag_buf_fini (&json);
}

void
ag_print_waiting (const struct ag_look *look, struct ag_str answer)
{
    static const char *const titles[] = {"RUN", "ID", "WHAT", "BY", "DECIDE WITH"};
    struct ag_str item;
    ag_table_t *table = ag_table_new (look);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        ag_table_column (table, titles[i], AG_COLUMN_PLAIN);
    ag_table_column (table, "DATA", AG_COLUMN_CUT);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (struct ag_items items = ag_items (answer, kinds[i].list);
             ag_items_next (&items, &item);)
            add_row (table, &kinds[i], item);
    ag_table_print (table);
    ag_table_destroy (&table);
}

static void
cell_value (ag_table_t *table, struct ag_str value)
{
    struct ag_buf text = {0};
    struct ag_str said = {0};
    if (value.p && ag_kind_of (value) == AG_UINT) {
        ag_json_write (value, AG_JSON_LINE, &text);
        said = ag_buf_str (&text);
    }
    ag_table_cell (table, said, AG_PLAIN);
    ag_buf_fini (&text);
}

void
ag_print_budget (const struct ag_look *look, struct ag_str answer)
{
    struct ag_str key, used, limits = ag_pick (answer, "limits");
    ag_table_t *table = ag_table_new (look);
    ag_table_column (table, "WHAT", AG_COLUMN_PLAIN);
    ag_table_column (table, "USED", AG_COLUMN_RIGHT);
    ag_table_column (table, "LIMIT", AG_COLUMN_RIGHT);
    for (struct ag_items items = ag_pairs_of (ag_pick (answer, "used"));
         ag_pairs_next (&items, &key, &used);) {
        ag_table_row (table, NULL);
        ag_table_cell (table, key, AG_PLAIN);
        cell_value (table, used);
        cell_value (table, ag_pick_at (limits, key));
    }
    ag_table_row (table, NULL);
    ag_table_cell (table, AG_LIT ("max_cost_usd"), AG_PLAIN);
    ag_table_cell (table, ag_pick_text (answer, "cost_used_usd"), AG_PLAIN);
    ag_table_cell (table, ag_pick_text (answer, "cost_limit_usd"), AG_PLAIN);
    ag_table_print (table);
    ag_table_destroy (&table);
    if (ag_pick_text (answer, "exhausted_by").n)
        printf ("stopped: %.*s is used up; raise it, then `agsup down` and `agsup up`\n",
                AG_STR_ARG (ag_pick_text (answer, "exhausted_by")));
}
