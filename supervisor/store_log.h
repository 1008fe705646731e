/*  store_log - a second look at the ends of RocksDB's log files, before it opens them.
 *
 *  A record that claims more bytes than its file has, a header of zeros, or the type of a log that is written over
 *  an older one is the end of the file for RocksDB: right after a crash in the middle of a write, or in such a log.
 *  But one damaged length or type or zeroed sector reads the same, and every record after it would be dropped
 *  without a word; in the MANIFEST that is every table made since. Each record is synced before the next is
 *  begun, so where a whole one begins after the end, the end is damage.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_STORE_LOG_H
#define AG_STORE_LOG_H
#include "common/err.h"

//  0 when the file at path ends where its records end, or in a torn last one; else AG_E_CORRUPT with the place.
int ag_store_log_check (const char *path, struct ag_err *err);
//  The same, and every record agrees with its checksum: RocksDB says that one does not, but not in which file.
//  Costs what the file has in bytes.
int ag_store_log_check_records (const char *path, struct ag_err *err);
#endif
