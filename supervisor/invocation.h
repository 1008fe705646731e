/*  invocation - one execution of a behaviour as one transaction.
 *
 *  It reads at one sequence; its operations land in one batch with behavior.completed, or not at all with
 *  behavior.failed. Each function handles one request of the session that has it and appends the answer.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_INVOCATION_H
#define AG_INVOCATION_H
#include "common/wire.h"
#include "supervisor/failure.h"
#include "supervisor/policy.h"
#include "supervisor/queue.h"

//  Append behavior.started and put `invoke` for the session into answer.
int ag_invocation_begin (struct ag_house *house, struct ag_invocation *invocation,
                         struct ag_buf *answer, struct ag_err *err);

//  ok with ids; ok with `failed` when the operations were refused (behavior.failed is in the log); again.
int ag_invocation_done (struct ag_house *house, struct ag_invocation *invocation,
                        const struct ag_msg_done *done, struct ag_buf *answer, struct ag_err *err);
int ag_invocation_fail (struct ag_house *house, struct ag_invocation *invocation,
                        const struct ag_msg_fail *fail, struct ag_buf *answer, struct ag_err *err);
int ag_invocation_get (struct ag_house *house, struct ag_invocation *invocation,
                       const struct ag_msg_get *get, struct ag_buf *answer, struct ag_err *err);

//  Append an event of the house about it, in its frame. Ends the payload, also on failure.
int ag_invocation_tell (struct ag_house *house, const struct ag_invocation *invocation,
                        enum ag_type type, uint64_t cause, struct ag_buf *payload, uint64_t *seq,
                        struct ag_err *err);

//  Append what it commits: its reads, the operations (normal; p NULL: none), behavior.completed. On failure
//  nothing was appended.
int ag_invocation_commit (struct ag_house *house, struct ag_run *run,
                          struct ag_invocation *invocation, const struct ag_policy *policy,
                          struct ag_str ops, struct ag_applied *applied, struct ag_err *err);
//  This error of it is the store's or our own, and the turn's; any other is what the worker's operations meet.
bool ag_invocation_breaks (enum ag_code code);
//  ok {ids}
void ag_invocation_answer (const struct ag_applied *applied, struct ag_buf *answer);

//  What its behaviour may do, by the spec of its run.
struct ag_policy ag_invocation_policy (struct ag_house *house,
                                       const struct ag_invocation *invocation);

//  Append an event about it: {behavior, event_id} and these pairs, as a map holds them.
int ag_invocation_note (struct ag_house *house, const struct ag_invocation *invocation,
                        enum ag_type type, struct ag_str pairs, uint32_t count, struct ag_err *err);
//  Payloads alone: of the above, of pattern.matched (false: it has no pattern), and of the event that it starts with,
//  whose type is returned.
void ag_invocation_write (const struct ag_invocation *invocation, struct ag_str pairs,
                          uint32_t count, struct ag_buf *out);
bool ag_invocation_write_matched (const struct ag_invocation *invocation, struct ag_buf *out);
enum ag_type ag_invocation_write_started (const struct ag_invocation *invocation,
                                          const struct ag_event *trigger, uint32_t attempt,
                                          struct ag_buf *out);

//  The payload of behavior.failed.
void ag_invocation_write_failed (const struct ag_invocation *invocation,
                                 const struct ag_failure *failure, struct ag_buf *out);
//  It is not handed out: behavior.failed says why, and it is closed.
int ag_invocation_give_up (struct ag_house *house, struct ag_invocation *invocation,
                           const struct ag_err *why, const char *reason, struct ag_err *err);

//  Its process died: handed out again, or, after its last attempt, behavior.failed. by_house: the house
//  ended the process on purpose; that does not count.
struct ag_death {
    bool by_house;
    const char *why; //  "signal 9", "exit 3", "wall clock of 2000 ms"
    struct ag_str stderr_tail;
    uint32_t attempts;
};
int ag_invocation_died (struct ag_house *house, struct ag_invocation *invocation,
                        const struct ag_death *death, struct ag_err *err);
#endif
