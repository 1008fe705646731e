/*  import_impl - what an unfinished import leaves between its pages; for the files of import alone.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_IMPORT_IMPL_H
#define AG_IMPORT_IMPL_H
#include "supervisor/import.h"

struct ag_import {
    uint64_t pages, runs, events;
    uint64_t run; //  of the last line; 0: none yet
};

//  1, 0 when no page was taken yet (then it is all zero), -1.
int ag_import_read (ag_journal_t *journal, struct ag_str name, struct ag_import *import,
                    struct ag_err *err);
void ag_import_write (ag_journal_t *journal, struct ag_str name, const struct ag_import *import);
#endif
