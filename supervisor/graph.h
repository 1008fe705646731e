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

//  An event that changes nothing in the index.
int ag_graph_append (ag_journal_t *journal, struct ag_run *run, const struct ag_stamp *stamp,
                     struct ag_str type, struct ag_str payload, uint64_t *seq, struct ag_err *err);
//  Data, value: normal maps.
int ag_graph_create (ag_journal_t *journal, struct ag_run *run, const struct ag_stamp *stamp,
                     struct ag_str id, struct ag_str type, struct ag_str data, struct ag_err *err);
int ag_graph_relate (ag_journal_t *journal, struct ag_run *run, const struct ag_stamp *stamp,
                     struct ag_str id, struct ag_str type, struct ag_str source,
                     struct ag_str target, struct ag_str data, struct ag_err *err);
//  A change of an object: update merges the top-level fields of value into the data, replace puts value in
//  its place.
enum ag_patch_op { AG_UPDATE, AG_REPLACE };
struct ag_patch {
    struct ag_str target, value;
    struct ag_str rationale, evidence; //  p NULL: none
    enum ag_patch_op op;
    uint64_t expected; //  the version of the target that it is meant for
    //  Of a patch that was proposed before; id with p NULL: the author's own, applied at once.
    struct ag_str id, proposed_by;
};
//  The id of the patch is put into `id`.
int ag_graph_propose (ag_journal_t *journal, struct ag_run *run, const struct ag_stamp *stamp,
                      const struct ag_patch *patch, struct ag_buf *id, struct ag_err *err);
//  Before: what ag_state_tip says of the target now. Bytes: how many its data takes afterwards.
int ag_graph_patch (ag_journal_t *journal, struct ag_run *run, const struct ag_stamp *stamp,
                    const struct ag_patch *patch, const struct ag_tip *before, size_t *bytes,
                    struct ag_err *err);
//  Version: of the target now; 0: it is gone.
int ag_graph_reject (ag_journal_t *journal, struct ag_run *run, const struct ag_stamp *stamp,
                     const struct ag_patch *patch, struct ag_str reason, uint64_t version,
                     struct ag_err *err);
//  The entity alone: relations of an object are the caller's to remove first.
int ag_graph_remove (ag_journal_t *journal, struct ag_run *run, const struct ag_stamp *stamp,
                     enum ag_entity_kind kind, struct ag_str id, const struct ag_tip *before,
                     struct ag_err *err);
#endif
