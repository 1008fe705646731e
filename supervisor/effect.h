/*  effect - what leaves a run: asked for, done, recorded, served from the record.
 *
 *  See docs/design/queue.md. The record answers an invocation that runs again after a crash, and a fork
 *  that asks what its ancestors asked.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_EFFECT_H
#define AG_EFFECT_H
#include "common/wire.h"
#include "supervisor/queue.h"

//  Answers `result {output | error}`, `go`, or `refused {code, message}`.
int ag_effect_ask (struct ag_house *house, struct ag_invocation *invocation,
                   const struct ag_msg_effect *effect, struct ag_buf *answer, struct ag_err *err);
//  The same from the record alone, nothing is appended and nothing done: 1 answered as in the record, whose
//  tool.requested is put into requested (0: it was refused then as now); 0: at this place the record has
//  another effect (requested), or none (0); -1. What its tool.requested would say now is added to asked.
int ag_effect_from_record (struct ag_house *house, struct ag_invocation *invocation,
                           const struct ag_msg_effect *effect, struct ag_buf *answer,
                           struct ag_buf *asked, uint64_t *requested, struct ag_err *err);
//  1 when the record has an effect at the place of the next one, with the event that holds its answer (or its
//  request, when it never came); 0, -1.
int ag_effect_next (struct ag_house *house, const struct ag_invocation *invocation, uint64_t *seq,
                    struct ag_err *err);
//  Records what the effect gave; answers ok {output | error}.
int ag_effect_outcome (struct ag_house *house, struct ag_invocation *invocation,
                       const struct ag_msg_outcome *outcome, struct ag_buf *answer,
                       struct ag_err *err);
#endif
