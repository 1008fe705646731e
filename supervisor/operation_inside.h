/*  operation_inside - what the files that carry out operations share (operation.c, proposal.c, approval.c).
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_OPERATION_INSIDE_H
#define AG_OPERATION_INSIDE_H
#include "supervisor/arena.h"
#include "supervisor/declared.h"
#include "supervisor/graph.h"
#include "supervisor/omap.h"
#include "supervisor/operation.h"
#include "supervisor/operation_read.h"
#include "supervisor/policy.h"

//  One list while it is applied.
struct ag_apply {
    ag_journal_t *journal;
    struct ag_run *run;
    const struct ag_author *author;
    struct ag_stamp stamp;
    uint64_t begin;                   //  the tip before it
    uint64_t minted[AG_MINTED_KINDS]; //  of the invocation's block, so far
    struct ag_arena arena;
    struct ag_omap names;  //  given by `as` -> ids
    struct ag_omap parked; //  ids of objects that wait -> their approvals
    struct ag_tip tip;
    struct ag_buf id;            //  of what was made last
    struct ag_declared declared; //  types in force; read when they are first needed
    bool declared_read;
    struct ag_buf fitted; //  data as its type has it
    size_t patched_bytes;
    struct ag_applied *applied;
};

//  An id as it was given, or the id behind "@name".
int ag_apply_resolve (struct ag_apply *self, struct ag_str given, struct ag_str *id,
                      struct ag_err *err);
//  The thing must be there now; its tip stands in self->tip.
int ag_apply_require (struct ag_apply *self, enum ag_entity_kind kind, struct ag_str id,
                      struct ag_err *err);
//  No key that is the house's.
int ag_apply_check_data (struct ag_str data, struct ag_err *err);
//  Data becomes its canonical form, as far as its type is declared. It lives in self->fitted until the next.
int ag_apply_fit (struct ag_apply *self, enum ag_entity_kind kind, struct ag_str type,
                  struct ag_str *data, struct ag_err *err);
//  The id of a new thing into self->id; then what the rest of the list calls it (p NULL: nothing).
int ag_apply_choose (struct ag_apply *self, enum ag_entity_kind kind, const struct ag_operation *op,
                     struct ag_err *err);
int ag_apply_name (struct ag_apply *self, struct ag_str name, struct ag_err *err);
//  Patch the object in self->tip, as far as the author may.
int ag_apply_patch (struct ag_apply *self, const struct ag_patch *patch, struct ag_err *err);

//  proposal.c: as the handlers of operation.c.
int ag_apply_propose (struct ag_apply *self, const struct ag_operation *op, struct ag_err *err);
int ag_apply_apply (struct ag_apply *self, const struct ag_operation *op, struct ag_err *err);
int ag_apply_reject (struct ag_apply *self, const struct ag_operation *op, struct ag_err *err);
//  approval.c: the object in self->id is not made but waits.
int ag_apply_park (struct ag_apply *self, struct ag_str type, struct ag_str data,
                   struct ag_err *err);
#endif
