/*  repair_impl - what the two halves of repair share: files and the report, and runs.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_REPAIR_IMPL_H
#define AG_REPAIR_IMPL_H
#include "supervisor/journal_impl.h"

struct ag_repair {
    ag_journal_t *old, *fresh;
    uint64_t events, told; //  kept, and those of them that have a number in the stream
    uint64_t counted; //  the last number of the stream, as the old store has it; 0: not readable
    bool lost;
    struct ag_buf runs, files; //  rows of the report
    uint32_t run_count, file_count;
    struct ag_buf value; //  what is just being copied
};

//  Every run that the old store knows or may know, parents first.
int ag_repair_runs (struct ag_repair *self, struct ag_err *err);
//  Something else than an event is damaged or gone.
void ag_repair_file (struct ag_repair *self, struct ag_str file, const char *reason);
#endif
