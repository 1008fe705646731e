/*  operation - lists of operations on a run's graph, checked and applied all or nothing.
 *
 *  The one way in for everything that people and workers do to a graph: `apply`, `done`. Operations are
 *  decoded by operations.def; what is unknown is refused by name, with its place in the list. An
 *  operation sees what the operations before it did.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_OPERATION_H
#define AG_OPERATION_H
#include "supervisor/run.h"

enum {
    AG_APPLY_EVENTS = 20000,    //  that one list may append, cascades included
    AG_APPLY_BYTES = 128 << 20, //  of objects' data that its patches may work on
    AG_MINT_BLOCK = 4096        //  numbers of each kind that an open invocation may mint
};

//  Numbers that an open invocation mints from: object + 1 .. object + AG_MINT_BLOCK, relations alike. It
//  also may name such ids itself, in the run's own tag form.
struct ag_mint {
    uint64_t object, relation;
    bool mine; //  the author is that invocation; else the author steps over the block
};

//  On whose behalf. `{.actor = AG_LIT ("user")}` is a person.
struct ag_policy;
struct ag_author {
    struct ag_str actor;
    struct ag_str frame; //  p NULL: none
    uint64_t cause;      //  sequence of the causing event; 0: none
    uint32_t flags;      //  AG_QUIESCENT
    uint64_t read_at;    //  0, or: a thing that was changed after it is refused as AG_E_CONTENTION
    const struct ag_policy *policy; //  of the behaviour; NULL: of a person, who may do everything
    const struct ag_mint *mint;     //  of the invocation that is open in this run, or NULL
};

//  What a list did. Empty (`first` 0) when the list was.
struct ag_applied {
    uint64_t first, last; //  sequences of its events
    uint32_t objects, relations, patches, proposed, emitted;
    struct ag_buf ids; //  a list value: ids in order of the operations, null where none is made
};
void ag_applied_fini (struct ag_applied *applied);

//  ops is a normal list value. On failure nothing has changed; the error names the operation.
//  AG_E_BAD_OPERATION, AG_E_NOT_FOUND, AG_E_EXISTS, AG_E_RESERVED, AG_E_TOO_LARGE, AG_E_CONTENTION,
//  AG_E_DECIDED, AG_E_POLICY, AG_E_WAITING, AG_E_TYPE.
int ag_operations_apply (ag_journal_t *journal, struct ag_run *run, struct ag_str ops,
                         const struct ag_author *author, struct ag_applied *applied,
                         struct ag_err *err);
#endif
