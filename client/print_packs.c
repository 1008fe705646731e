//  SPDX-License-Identifier: Apache-2.0
#include "client/pick.h"
#include "client/print.h"
#include "client/table.h"

//  "a, b"
static void
cell_types (ag_table_t *table, struct ag_str pack)
{
    static const char *const lists[] = {"object_types", "relation_types"};
    struct ag_buf text = {0};
    struct ag_str name;
    for (size_t i = 0; i < 2; i++)
        for (struct ag_texts names = ag_texts_of (pack, lists[i]); ag_texts_next (&names, &name);)
            ag_buf_text (&text, "%s%.*s", text.n ? ", " : "", AG_STR_ARG (name));
    ag_table_cell (table, ag_buf_str (&text), AG_PLAIN);
    ag_buf_fini (&text);
}

void
ag_print_packs (const struct ag_look *look, struct ag_str answer)
{
    static const char *const titles[] = {"RUN", "PACK", "VERSION", "BUNDLE"};
    struct ag_str pack;
    ag_table_t *table = ag_table_new (look);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        ag_table_column (table, titles[i], AG_COLUMN_PLAIN);
    ag_table_column (table, "TYPES", AG_COLUMN_CUT);
    for (struct ag_items items = ag_items (answer, "packs"); ag_items_next (&items, &pack);) {
        ag_table_row (table, NULL);
        ag_table_cell (table, ag_pick_called (pack, "label", "run"), AG_PLAIN);
        ag_table_cell (table, ag_pick_text (pack, "name"), AG_BOLD);
        ag_table_cell (table, ag_pick_text (pack, "version"), AG_PLAIN);
        ag_table_cell (table, ag_pick_text (pack, "bundle_hash"), AG_PLAIN);
        cell_types (table, pack);
    }
    ag_table_print (table);
    ag_table_destroy (&table);
}
