/*  store_closed - what a store's folder held when it was closed, so that nothing of it is missed at the next open.
 *
 *  A list of files that is cut at the end of a record, or a log, looks to RocksDB as if it had ended there: it opens
 *  with less, and removes the tables that the list no longer names. So the end of a store leaves DIR/CLOSED:
 *  each table, log and list with its size. The next open compares, and takes it away before anything is
 *  written; after a kill there is none.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_STORE_CLOSED_H
#define AG_STORE_CLOSED_H
#include "common/err.h"

//  1 when the store was closed and is whole, 0 when nobody closed it. AG_E_CORRUPT when a file is gone or shorter
//  than it was, by its name; then CLOSED stays.
int ag_store_closed_check (const char *dir, struct ag_err *err);
//  A list that cannot be written is none: the store itself is whole.
void ag_store_closed_write (const char *dir);
//  Files of RocksDB that hold data, by their names.
bool ag_store_is_data (const char *name);
#endif
