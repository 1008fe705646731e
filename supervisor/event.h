/*  event - one event: its types and who may write them, its stored bytes, its shape for people.
 *
 *  A stored event is a msgpack list [stream, time, flags, cause, type, actor, frame, payload] followed by
 *  the first 8 bytes of the run's chain after it. Its run and sequence stand in its key. Everything read
 *  borrows from the stored bytes.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_EVENT_H
#define AG_EVENT_H
#include "common/value.h"

enum {
    AG_EVENT_BYTES = 1 << 20, //  of a stored event
    AG_SEED = 8,              //  bytes of the chain kept with each event
    AG_EVT_TEXT = 25,         //  "evt_" and 20 digits with a NUL
    AG_TIME_TEXT = 28         //  "2026-01-31T12:00:00.000000Z" with a NUL
};

//  The types of the house, from events.def; `ag_type_name (AG_EV_OBJECT_CREATED)` is "object.created".
enum ag_type {
#define EVENT(NAME, type, writer, queued, lifecycle, doc) AG_EV_##NAME,
#define FAMILY(prefix, writer, queued, lifecycle)
#include "schemas/events.def"
    AG_EV_COUNT
};
struct ag_str ag_type_name (enum ag_type type);
//  AG_EV_COUNT for a type that is no row of the table.
enum ag_type ag_type_of (struct ag_str name);

enum ag_writer { AG_BY_ANYONE, AG_BY_CLIENT, AG_BY_OPERATION, AG_BY_HOUSE };
struct ag_rule {
    enum ag_writer writer;
    bool queued, lifecycle;
};
//  What the table says of a type; what matches no row is anyone's and queued.
struct ag_rule ag_type_rule (struct ag_str type);

enum ag_event_flag {
    AG_QUIESCENT = 1, //  never queued, now or after any restart
    AG_BLOCK = 2,     //  belongs to the promote whose marker is its cause
    AG_IMPORTED = 4,  //  came from elsewhere: history, without a number in the stream
    //  How the time of an imported event was written; unset: with microseconds.
    AG_WHOLE_SECONDS = 8,
    AG_UNTIMED = 16
};

struct ag_event {
    uint64_t run, seq, time_us;
    uint64_t stream; //  0: of an imported event
    uint64_t cause;  //  sequence of the causing event of the same run; 0: none
    uint32_t flags;
    struct ag_str type, actor, frame; //  actor, frame: p NULL when there is none
    struct ag_str payload;            //  a map
    struct ag_str stored;             //  the bytes that were hashed; of an event that was read
    uint8_t seed[AG_SEED];
};

//  Append all but the seed to out, as it is stored and hashed.
void ag_event_encode (const struct ag_event *event, struct ag_buf *out);
//  Read stored bytes, seed included. AG_E_CORRUPT names the event.
int ag_event_decode (uint64_t run, uint64_t seq, struct ag_str stored, struct ag_event *event,
                     struct ag_err *err);

//  The event as one map, as `log --json` shows it: {id, type, payload, actor, frame_id, caused_by,
//  timestamp} and, when run_id is not NULL, {run, label, seq, stream}; label may be NULL.
void ag_event_write (const struct ag_event *event, const char *run_id, const char *label,
                     struct ag_buf *out);

//  "evt_042" and back; -1 when text is not exactly such an id. Sequence 0 is no event.
void ag_evt_text (uint64_t seq, char text[AG_EVT_TEXT]);
int ag_evt_read (struct ag_str text, uint64_t *seq);
//  The same as people write it: "evt_42" too.
int ag_evt_guess (struct ag_str text, uint64_t *seq);
//  Append an event id as a value; null for 0.
void ag_put_evt (struct ag_buf *out, uint64_t seq);

//  RFC 3339 in UTC with microseconds.
void ag_time_text (uint64_t time_us, char text[AG_TIME_TEXT]);
//  Take the time of an event as it was written where the event arose: "" and whole seconds are kept by flags. -1 when
//  text is no time that would be written so again.
int ag_event_time_read (struct ag_str text, struct ag_event *event);
#endif
