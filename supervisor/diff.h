/*  diff - what two runs of one family became since their common event.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_DIFF_H
#define AG_DIFF_H
#include "supervisor/state.h"

//  Appended to out as `diff --json` shows it: {a, b, shared_events, a_only_events, b_only_events,
//  divergent_objects, divergent_relations, is_identical}. Events are counted without the house's
//  bookkeeping; the shared ones are those of the common lineage. Divergent entities are by id, each side
//  {id, type, data, version} (a relation: {id, source, target, type, data}) or null, versions compared
//  too. At most `limit` of each kind and AG_DIFF_BYTES in all; where that cut something off, `truncated`
//  is true and `next` names the last id seen of each kind, to be given as after_*.
//  AG_E_LINEAGE: the runs have no common ancestor.
enum { AG_DIFF_BYTES = 4 << 20 };
struct ag_diff_page {
    struct ag_str after_object, after_relation;
    size_t limit; //  0: 10000
};
int ag_diff (ag_journal_t *journal, const struct ag_run *a, uint64_t a_at, const struct ag_run *b,
             uint64_t b_at, const struct ag_diff_page *page, struct ag_buf *out,
             struct ag_err *err);
#endif
