/*  sqlite - ActiveGraph's SQLite store, read into an import; the one file that sees libsqlite3.
 *
 *  The file is opened for reading alone and read in one transaction, so what is taken is one moment of it.
 *  All its runs are taken, parents before their forks, archived events before those that stand in the
 *  table. A fork's copy of its parent's events is compared with them and sent once; a fork whose copy
 *  differs, or whose parent is not there, becomes a run of its own, and a remark says so.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_SQLITE_H
#define AG_SQLITE_H
#include "client/feed.h"

//  Whether the file begins as a SQLite database does.
bool ag_sqlite_is (const char *path);
int ag_sqlite_feed (struct ag_feed *feed, const char *path, struct ag_err *err);
#endif
