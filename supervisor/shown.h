/*  shown - things of the graph gathered for an invocation, bounded in number and bytes.
 *
 *  What is gathered by id, by relation or around an object becomes a part of what the invocation asked for.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_SHOWN_H
#define AG_SHOWN_H
#include "common/wire.h"
#include "supervisor/arena.h"
#include "supervisor/omap.h"
#include "supervisor/queue.h"
#include "supervisor/state.h"

enum { AG_SHOWN_BYTES = 4 << 20 };

//  Two lists, written one after the other.
struct ag_shown {
    ag_journal_t *journal;
    struct ag_run *run;
    uint64_t at;
    struct ag_invocation *invocation;
    struct ag_str types; //  a list value: other objects are passed over; p NULL: none are
    struct ag_buf objects, relations;
    uint32_t object_count, relation_count, seen;
    uint32_t limit; //  of what is seen in scans
    size_t bytes_left;
    struct ag_buf last; //  id of the last thing that a scan showed
    bool more, around;
    struct ag_arena arena;
    struct ag_omap met; //  walking around: the relations and ends so far
    struct ag_err *err;
    int rc;
};
void ag_shown_fini (struct ag_shown *self);

//  Add one live thing, unless its type is passed over: 1 when it was there, 0, -1. That alone is nothing that
//  was asked for.
int ag_shown_add (struct ag_shown *self, enum ag_entity_kind kind, struct ag_str id);
//  For scans: adds until the limit, and then notes that there is more.
bool ag_shown_object (void *self, struct ag_str id);

//  What was asked for: the thing of an id; relations of an object after an id; what is connected to an object, breadth
//  first, in either direction, `depth` relations far.
int ag_shown_one (struct ag_shown *self, struct ag_str id);
int ag_shown_relations (struct ag_shown *self, struct ag_str object, struct ag_str after);
int ag_shown_around (struct ag_shown *self, struct ag_str object, uint64_t depth);

//  Write the pairs `objects` and `relations` of a map.
void ag_shown_put (const struct ag_shown *self, struct ag_buf *out);
#endif
