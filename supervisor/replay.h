/*  replay - strict replay of a run: its recorded invocations are done again by hidden workers, and compared.
 *
 *  The log is the driver: what came from outside and what was promoted stand in it already, and each invocation
 *  reads at its recorded point, so nothing is made again but what behaviours did. Effects come from the record;
 *  nothing of a replay is stored. It lives as long as somebody asks for it, and its answer is ready when its
 *  processes are proved to be gone. See docs/design/replay.md.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_REPLAY_H
#define AG_REPLAY_H
#include "common/answer.h"
#include "common/wire.h"
#include "supervisor/fleet.h"
#include "supervisor/ticket.h"

struct ag_replay;

//  The replay of a run up to its present tip that is known under a ticket; begun when there is none. To be
//  called again and again by whoever waits for it. AG_E_BUSY: another one replays this run, or too many run.
int ag_replay_ask (struct ag_house *house, const struct ag_run *run, struct ag_str ticket,
                   struct ag_replay **replay, struct ag_err *err);
//  It has come to its end, and its processes are proved to have ended.
bool ag_replay_is_over (const struct ag_replay *self);
//  Put {run, invocations, compared_events, skipped, seen, until, done, divergence, changed_since?} into the answer; -1
//  when it could not go on. One that is over is gone when it was told.
int ag_replay_tell (struct ag_house *house, struct ag_replay *self, struct ag_answer *answer,
                    struct ag_err *err);

//  Once a turn: hand out, end what is over, forget what nobody asks for.
void ag_replays_pump (struct ag_house *house);
void ag_replays_destroy (struct ag_house *house);

//  What the sessions of its units say; as the functions of invocation.h and effect.h for a live one.
struct ag_invocation *ag_replay_open (struct ag_replay *self);
void ag_replay_register (struct ag_unit *unit, struct ag_str behaviors);
int ag_replay_invoke (struct ag_house *house, struct ag_invocation *open, struct ag_buf *answer,
                      struct ag_err *err);
int ag_replay_effect (struct ag_house *house, struct ag_invocation *open,
                      const struct ag_msg_effect *effect, struct ag_buf *answer,
                      struct ag_err *err);
int ag_replay_done (struct ag_house *house, struct ag_invocation *open,
                    const struct ag_msg_done *done, struct ag_buf *answer, struct ag_err *err);
int ag_replay_fail (struct ag_house *house, struct ag_invocation *open,
                    const struct ag_msg_fail *fail, struct ag_buf *answer, struct ag_err *err);
//  The process of one of its units is gone, whatever it had in hand.
void ag_replay_died (struct ag_house *house, struct ag_unit *unit);
//  It ended by itself, or could not be started: whether another one may be. One that ended an invocation may have met
//  a limit over it, as in the record; one that ended none is why the replay ends.
bool ag_replay_lost (struct ag_house *house, struct ag_unit *unit);
#endif
