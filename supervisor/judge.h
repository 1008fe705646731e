/*  judge - what a worker answers to a recorded invocation that it is handed again, held against the record.
 *
 *  Nothing is stored: what it commits is applied to a scratch fork cut where the recorded commit begins, compared
 *  event by event, and rolled back.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_JUDGE_H
#define AG_JUDGE_H
#include "common/wire.h"
#include "supervisor/differ.h"
#include "supervisor/trace.h"

//  One invocation that runs again. `open` has its reads, effects and denials, as a live one's.
struct ag_judged {
    struct ag_house *house;
    struct ag_invocation *open;
    const struct ag_traced *item;
    struct ag_difference *difference;
    uint64_t *compared; //  recorded events that were compared
};

//  What the house would say of its start: 1 when it differs from the record, 0, -1.
int ag_judge_started (const struct ag_judged *self, const struct ag_event *trigger,
                      struct ag_err *err);

//  Each returns 1 when it differs from the record, 0 when it is the same, -1. Answers as a live one's,
//  but that it is never told to go on with an effect.
int ag_judge_effect (const struct ag_judged *self, const struct ag_msg_effect *effect,
                     struct ag_buf *answer, struct ag_err *err);
int ag_judge_done (const struct ag_judged *self, const struct ag_msg_done *done,
                   struct ag_buf *answer, struct ag_err *err);
int ag_judge_fail (const struct ag_judged *self, const struct ag_msg_fail *fail,
                   struct ag_buf *answer, struct ag_err *err);
#endif
