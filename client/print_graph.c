//  SPDX-License-Identifier: Apache-2.0
#include "client/print.h"

#include "client/pick.h"
#include "client/table.h"
#include "common/json.h"

#include <inttypes.h>

static void
cell_json (ag_table_t *table, struct ag_str value)
{
    struct ag_buf text = {0};
    if (value.p)
        ag_json_write (value, AG_JSON_LINE, &text);
    ag_table_cell (table, ag_buf_str (&text), AG_PLAIN);
    ag_buf_fini (&text);
}

static void
print_object_table (const struct ag_look *look, struct ag_str answer)
{
    struct ag_str object;
    ag_table_t *table = ag_table_new (look);
    ag_table_column (table, "ID", AG_COLUMN_PLAIN);
    ag_table_column (table, "TYPE", AG_COLUMN_PLAIN);
    ag_table_column (table, "VERSION", AG_COLUMN_RIGHT);
    ag_table_column (table, "DATA", AG_COLUMN_CUT);
    for (struct ag_items items = ag_items (answer, "objects"); ag_items_next (&items, &object);) {
        ag_table_row (table, NULL);
        ag_table_cell (table, ag_pick_text (object, "id"), AG_BOLD);
        ag_table_cell (table, ag_pick_text (object, "type"), AG_CYAN);
        ag_table_cellf (table, "%" PRIu64, ag_pick_uint (object, "version"));
        cell_json (table, ag_pick (object, "data"));
    }
    ag_table_print (table);
    ag_table_destroy (&table);
}

void
ag_print_objects (const struct ag_look *look, struct ag_str answer)
{
    struct ag_str relation;
    print_object_table (look, answer);
    ag_table_t *table = ag_table_new (look);
    ag_table_column (table, "ID", AG_COLUMN_PLAIN);
    ag_table_column (table, "SOURCE", AG_COLUMN_PLAIN);
    ag_table_column (table, "TYPE", AG_COLUMN_PLAIN);
    ag_table_column (table, "TARGET", AG_COLUMN_PLAIN);
    ag_table_column (table, "DATA", AG_COLUMN_CUT);
    for (struct ag_items items = ag_items (answer, "relations");
         ag_items_next (&items, &relation);) {
        ag_table_row (table, NULL);
        ag_table_cell (table, ag_pick_text (relation, "id"), AG_BOLD);
        ag_table_cell (table, ag_pick_text (relation, "source"), AG_PLAIN);
        ag_table_cell (table, ag_pick_text (relation, "type"), AG_CYAN);
        ag_table_cell (table, ag_pick_text (relation, "target"), AG_PLAIN);
        cell_json (table, ag_pick (relation, "data"));
    }
    if (ag_items_count (answer, "objects") && ag_items_count (answer, "relations"))
        fputc ('\n', stdout);
    ag_table_print (table);
    ag_table_destroy (&table);
}

static void
print_pretty (struct ag_str value)
{
    struct ag_buf text = {0};
    ag_json_write (value, AG_JSON_PRETTY, &text);
    ag_look_lines (stdout, ag_buf_str (&text));
    fputc ('\n', stdout);
    ag_buf_fini (&text);
}

//  Each field on a line of its own; lists and maps as JSON.
static void
print_fields (const struct ag_look *look, struct ag_str map)
{
    struct ag_str key, value;
    for (struct ag_items items = ag_pairs_of (map); ag_pairs_next (&items, &key, &value);) {
        fputs (ag_paint (look, AG_CYAN), stdout);
        ag_look_text (stdout, key);
        printf (":%s ", ag_paint (look, AG_PLAIN));
        if (ag_kind_of (value) == AG_MAP || ag_kind_of (value) == AG_LIST)
            print_pretty (value);
        else {
            ag_print_value (value, SIZE_MAX);
            fputc ('\n', stdout);
        }
    }
}

void
ag_print_thing (const struct ag_look *look, struct ag_str answer)
{
    static const char *const kinds[] = {"object", "relation", "event"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct ag_str thing = ag_pick (answer, kinds[i]);
        if (thing.p && ag_kind_of (thing) == AG_MAP)
            print_fields (look, thing);
    }
}
