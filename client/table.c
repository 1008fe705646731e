//  SPDX-License-Identifier: Apache-2.0
#include "client/table.h"

#include <assert.h>
#include <libsmartcols/libsmartcols.h>
#include <stdarg.h>
#include <stdlib.h>

struct ag_table {
    const struct ag_look *look;
    struct libscols_table *table;
    struct libscols_line *line; //  the row that is being filled
    size_t column;              //  its next cell
};

ag_table_t *
ag_table_new (const struct ag_look *look)
{
    ag_table_t *self = ag_xcalloc (1, sizeof *self);
    self->look = look;
    self->table = scols_new_table();
    assert (self->table);
    scols_table_enable_colors (self->table, look->color);
    if (!look->terminal)
        scols_table_set_termforce (self->table, SCOLS_TERMFORCE_NEVER);
    return self;
}

void
ag_table_destroy (ag_table_t **self_p)
{
    if (!*self_p)
        return;
    scols_unref_table ((*self_p)->table);
    free (*self_p);
    *self_p = NULL;
}

void
ag_table_column (ag_table_t *self, const char *title, enum ag_column kind)
{
    static const int flags[] = {[AG_COLUMN_RIGHT] = SCOLS_FL_RIGHT,
                                [AG_COLUMN_TREE] = SCOLS_FL_TREE,
                                [AG_COLUMN_CUT] = SCOLS_FL_TRUNC};
    struct libscols_column *column = scols_table_new_column (self->table, title, 0, flags[kind]);
    assert (column);
}

ag_table_row_t *
ag_table_row (ag_table_t *self, ag_table_row_t *under)
{
    self->line = scols_table_new_line (self->table, (struct libscols_line *)under);
    self->column = 0;
    assert (self->line);
    return (ag_table_row_t *)self->line;
}

void
ag_table_cell (ag_table_t *self, struct ag_str text, enum ag_paint paint)
{
    char *clean = NULL;
    size_t n = 0;
    FILE *out = open_memstream (&clean, &n);
    assert (out);
    ag_look_text (out, text.n ? text : AG_LIT ("-"));
    fclose (out);
    struct libscols_cell *cell = scols_line_get_cell (self->line, self->column++);
    int rc = scols_cell_refer_data (cell, clean); //  the cell owns it now
    assert (rc == 0);
    if (paint != AG_PLAIN)
        scols_cell_set_color (cell, ag_paint (self->look, paint));
}

void
ag_table_cellf (ag_table_t *self, const char *format, ...)
{
    char *text = NULL;
    va_list list;
    va_start (list, format);
    int n = vasprintf (&text, format, list);
    va_end (list);
    assert (n >= 0);
    ag_table_cell (self, ag_str (text), AG_PLAIN);
    free (text);
}

void
ag_table_print (ag_table_t *self)
{
    if (scols_table_get_nlines (self->table) > 0)
        scols_print_table (self->table);
}
