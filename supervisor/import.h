/*  import - runs that come from elsewhere, page by page, seen whole or not at all.
 *
 *  An import has a name and consists of pages, numbered from 1, of lines (exchange.h). Its runs are hidden
 *  until `ag_import_end` shows all of them in one batch; what was not shown is taken away by
 *  `ag_import_drop`, or at the next start. Nothing that is imported is ever queued, heard or believed
 *  about any other run: it is history. docs/design/interchange.md says what is kept and what is refused.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_IMPORT_H
#define AG_IMPORT_H
#include "supervisor/run.h"

enum { AG_IMPORT_RUNS = 10000, AG_IMPORT_NAME = 64 };

struct ag_import_page {
    struct ag_str name; //  1 to AG_IMPORT_NAME bytes without NUL
    uint64_t number;
    struct ag_str word;  //  what errors call the place of a line: "line", "row"
    struct ag_str items; //  a list of [place, line], as it came
};
struct ag_import_count {
    uint64_t runs, events; //  of the whole import so far
};
//  On failure the caller takes the whole page back. The error names the place. AG_E_USAGE: the page does
//  not come after the one before.
int ag_import_page (ag_journal_t *journal, const struct ag_import_page *page,
                    struct ag_import_count *count, struct ag_err *err);

//  Show every run. Where `label` is not empty the first run gets it, the others get it with -2, -3 and so
//  on; else each keeps its own where it can be had here. `check` (or NULL) says whether a label is free of
//  other uses. Out: {runs: [{run_id, label, parent_run_id, forked_at_event, origin, events, refused}]},
//  refused: why its label was not kept, or null. AG_E_NOT_FOUND: no page of that name was taken.
typedef int ag_label_fn (void *arg, struct ag_str label, struct ag_err *err);
int ag_import_end (ag_journal_t *journal, struct ag_str name, struct ag_str label,
                   ag_label_fn *check, void *arg, struct ag_buf *out, struct ag_err *err);

//  Take away a bounded part of an import that was not ended: 1 when there is more to do, 0, -1. The answers
//  to its pages (requests NAME/1, NAME/2, ...) go with it.
int ag_import_drop (ag_journal_t *journal, struct ag_str name, struct ag_err *err);
//  All imports that were not ended, with commits of its own; for the start.
int ag_import_sweep (ag_journal_t *journal, struct ag_err *err);
#endif
