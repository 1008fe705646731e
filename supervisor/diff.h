/*  diff - what two runs of one family became since their common event.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_DIFF_H
#define AG_DIFF_H
#include "supervisor/state.h"

enum {
    AG_DIFF_LIMIT = 10000,    //  entries of each list unless the page says otherwise
    AG_DIFF_BYTES = 4 << 20,  //  of entries in one answer
    AG_DIFF_CHANGES = 250000, //  entities that both sides may have changed
    AG_DIFF_EVENTS = 1000000, //  of the common run since the common event
};

//  Where a page goes on: behind these ids. `{0}` is the first page.
struct ag_diff_page {
    struct ag_str after_object, after_relation;
    size_t limit; //  0: AG_DIFF_LIMIT
};

//  Append to out what `diff --json` shows: {a, b, shared_events, a_only_events, b_only_events,
//  divergent_objects, divergent_relations, is_identical}. Events are counted, without the house's
//  bookkeeping; shared are those of the common lineage. Divergent entities come in order of their ids, each
//  {id, a, b} with {id, type, data, version} (a relation: {id, source, target, type, data}) or null on a
//  side; a version alone makes a difference. What does not fit the page makes `truncated` true, and `next`
//  {object, relation} says where to go on.
//  AG_E_LINEAGE: the runs have no common ancestor. AG_E_TOO_LARGE: over AG_DIFF_CHANGES or _EVENTS.
int ag_diff (ag_journal_t *journal, const struct ag_run *a, uint64_t a_at, const struct ag_run *b,
             uint64_t b_at, const struct ag_diff_page *page, struct ag_buf *out,
             struct ag_err *err);
#endif
