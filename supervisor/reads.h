/*  reads - what an invocation asked for, and whether somebody else changed it since.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_READS_H
#define AG_READS_H
#include "supervisor/queue.h"
#include "supervisor/state.h"

enum { AG_READS_MAX = 100000, AG_READ_IDS = 200 };

enum ag_read { AG_READ_ENTITY = 'i', AG_READ_TYPE = 't', AG_READ_ENDPOINT = 'e' };

//  Remember that an entity, all of a type, or all relations of an object were asked for.
//  AG_E_TOO_LARGE over AG_READS_MAX.
int ag_reads_add (struct ag_invocation *self, enum ag_read kind, struct ag_str text,
                  struct ag_err *err);

//  1 when an event after the invocation's point changed something it asked for, 0, -1.
int ag_reads_stale (ag_journal_t *journal, struct ag_run *run, const struct ag_invocation *self,
                    struct ag_err *err);

//  {behavior, event_id, execution_event_id, object_ids, count} of context.read: the first AG_READ_IDS things.
void ag_reads_write (const struct ag_invocation *self, struct ag_str behavior, struct ag_buf *out);
#endif
