/*  table - columns and trees for people; the one file that sees libsmartcols.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_TABLE_H
#define AG_TABLE_H
#include "client/look.h"

typedef struct ag_table ag_table_t;
typedef struct ag_table_row ag_table_row_t; //  lives as long as its table

enum ag_column { AG_COLUMN_PLAIN, AG_COLUMN_RIGHT, AG_COLUMN_TREE, AG_COLUMN_CUT };

ag_table_t *ag_table_new (const struct ag_look *look);
void ag_table_destroy (ag_table_t **self_p);
//  Columns first. CUT: shortened to what the terminal holds; any other last one runs over its edge.
void ag_table_column (ag_table_t *self, const char *title, enum ag_column kind);
//  A row; under another one (or NULL) where there is a tree.
ag_table_row_t *ag_table_row (ag_table_t *self, ag_table_row_t *under);
//  The next cell of a row that is being filled; absent text shows as "-".
void ag_table_cell (ag_table_t *self, struct ag_str text, enum ag_paint paint);
void ag_table_cellf (ag_table_t *self, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));
//  To stdout; nothing when there are no rows.
void ag_table_print (ag_table_t *self);
#endif
