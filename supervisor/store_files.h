/*  store_files - the folder of a store, before RocksDB looks into it.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_STORE_FILES_H
#define AG_STORE_FILES_H
#include "common/err.h"

//  Make the folder when it is not there; then it is there for good.
int ag_store_files_make (const char *dir, struct ag_err *err);

//  What RocksDB would take without a word: logs that only seem to end early, which `check` finds (store_log.h), and a
//  folder whose file CURRENT is gone, which looks like a new database, whatever else lies there. AG_E_CORRUPT.
typedef int ag_check_log_fn (const char *path, struct ag_err *err);
int ag_store_files_check (const char *dir, ag_check_log_fn *check, struct ag_err *err);
#endif
