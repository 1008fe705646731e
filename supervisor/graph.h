/*  graph - one change of the graph: its event in the reference's shape and the state index, in step.
 *
 *  No checks: whoever calls has made sure that the change is possible (operation.h, promote.h).
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_GRAPH_H
#define AG_GRAPH_H
#include "supervisor/state.h"

//  What all events of one request share.
struct ag_stamp {
    struct ag_str actor, frame; //  frame: p NULL: none
    uint64_t cause;
    uint32_t flags;
    uint64_t time_us;
};

//  Data, value: normal maps.
int ag_graph_create (ag_journal_t *journal, struct ag_run *run, const struct ag_stamp *stamp,
                     struct ag_str id, struct ag_str type, struct ag_str data, struct ag_err *err);
int ag_graph_relate (ag_journal_t *journal, struct ag_run *run, const struct ag_stamp *stamp,
                     struct ag_str id, struct ag_str type, struct ag_str source,
                     struct ag_str target, struct ag_str data, struct ag_err *err);
//  Before: what ag_state_tip says of the object now.
//  op update merges the top-level fields of value into the data, replace puts value in its place.
//  Rationale: p NULL: none. Bytes: how many the data takes afterwards.
enum ag_patch_op { AG_UPDATE, AG_REPLACE };
int ag_graph_patch (ag_journal_t *journal, struct ag_run *run, const struct ag_stamp *stamp,
                    struct ag_str id, const struct ag_tip *before, enum ag_patch_op op,
                    struct ag_str value, struct ag_str rationale, size_t *bytes,
                    struct ag_err *err);
//  The entity alone: relations of an object are the caller's to remove first.
int ag_graph_remove (ag_journal_t *journal, struct ag_run *run, const struct ag_stamp *stamp,
                     enum ag_entity_kind kind, struct ag_str id, const struct ag_tip *before,
                     struct ag_err *err);
#endif
