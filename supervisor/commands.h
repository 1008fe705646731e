/*  commands - requests of clients: one row of messages.def, one handler.
 *
 *  A handler writes its answer (a whole map) or fails; what it changed is taken back when it fails. A
 *  mutating request with an id is answered once: its answer is kept with it, in the same batch. An answer that
 *  fits no frame (AG_NET_FRAME_BYTES) would cost the broker its link, and everybody their answers: it is refused.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_COMMANDS_H
#define AG_COMMANDS_H
#include "common/answer.h"
#include "common/wire.h"
#include "supervisor/house.h"

//  A list in an answer ends, and says that there is more, at so many bytes: with one thing more it is far from a
//  frame, and from what a frame costs those who wait behind it.
enum { AG_ANSWER_LIST_BYTES = 2 << 20 };

struct ag_command {
    struct ag_house *house;
    const struct ag_msg *msg;
    struct ag_route route; //  who asked
    struct ag_buf *answer;
    bool parked;      //  it waits: asked again each turn until it answers
    int64_t until_ms; //  0: not waiting yet; then when it must answer
};

//  0: answered, or `command->parked` was set by one whose last step changes nothing but its answer.
typedef int ag_command_fn (struct ag_command *command, struct ag_err *err);

//  One handler for each CLIENT row; a missing one does not link.
#define CLIENT_ROW(name) ag_command_fn ag_command_##name;
#define WORKER_ROW(name)
#define BROKER_ROW(name)
#define MSG(name, word, from, doc) from##_ROW (name)
#define FIELD(...)
#define END(name)
#include "schemas/messages.def"
#undef CLIENT_ROW
#undef WORKER_ROW
#undef BROKER_ROW

struct ag_commands *ag_commands_new (void);
void ag_commands_destroy (struct ag_commands **self_p);

//  One message from the broker's socket.
void ag_commands_message (struct ag_house *house, struct ag_parts *parts);
//  Ask the waiting ones again, each turn: those that change something before the commit that holds their
//  answer, the others after it.
void ag_commands_wake (struct ag_house *house, bool mutating);
//  Hints of what was committed, for the monitors; and a beat each second.
void ag_commands_publish (struct ag_house *house);
void ag_commands_beat (struct ag_house *house);
//  Each second: answers that are older than a week go, a few at a time, and after the last of them not for an hour.
void ag_commands_sweep (struct ag_house *house);

//  Answers begin with {do: "ok", id?}.
struct ag_answer ag_command_begin (struct ag_command *command);
//  AG_E_DISK_FULL while nothing is written and nothing started.
int ag_command_room (const struct ag_house *house, struct ag_err *err);
//  The run that a change is meant for. AG_E_NOT_FOUND, AG_E_DISCARDED.
int ag_command_run (struct ag_command *command, struct ag_str text, struct ag_run **run,
                    struct ag_err *err);
//  A request that waits at most wait_ms from its first asking: true while it should go on waiting.
bool ag_command_hold (struct ag_command *command, uint64_t wait_ms);
//  Append the label that names a run, or null: it has none, or is discarded and its label free.
void ag_command_label (const struct ag_run *run, struct ag_buf *out);
//  All pairs of a map become fields of the answer.
void ag_command_merge (struct ag_answer *answer, struct ag_str map);
//  A list of texts, which come one after the other; no field when there are none.
void ag_command_put_texts (struct ag_answer *answer, const char *key, struct ag_str texts);
#endif
