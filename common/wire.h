/*  wire - requests between processes: structs to frames and back, driven by schemas/messages.def.
 *
 *  A request that was read borrows: every ag_str in it points into the frame it came from and lives as
 *  long. There is nothing to free, and reading allocates nothing. A text, list, map or value field that
 *  is absent has p NULL; an absent number is the least of its range, an absent bool is false.
 *  Lists, maps and values are opaque here: their form and size are checked, what they hold is not; who
 *  keeps one normalises it (common/value.h).
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_WIRE_H
#define AG_WIRE_H
#include "common/value.h"

//  The largest field of any request: with what stands beside it, it fits a frame (AG_NET_FRAME_BYTES).
enum { AG_BULK_BYTES = 15 << 19 };
//  For no request are more things put into an answer, or more events looked at.
enum { AG_PAGE_THINGS = 1000, AG_LOOKED_EVENTS = 5000 };

//  Who speaks; known from the socket, never from the message.
enum ag_side { AG_PEER_CLIENT, AG_PEER_WORKER, AG_PEER_BROKER };

//  struct ag_msg_apply { struct ag_str run; struct ag_str ops; struct ag_str expect; };
typedef struct ag_str ag_field_STR, ag_field_VAL, ag_field_LIST, ag_field_MAP;
typedef uint64_t ag_field_UINT;
typedef bool ag_field_BOOL;
#define MSG(name, word, from, doc)                      struct ag_msg_##name {
#define FIELD(name, field, kind, needed, min, max, doc) ag_field_##kind field;
#define END(name)                                                                                  \
    }                                                                                              \
    ;
#include "schemas/messages.def"

enum ag_msg_type {
#define MSG(name, word, from, doc) AG_MSG_##name,
#define FIELD(...)
#define END(name)
#include "schemas/messages.def"
    AG_MSGS
};

//  Any request: the type says which member is alive. token, id and protocol (0: not said) are a client's.
struct ag_msg {
    enum ag_msg_type type;
    struct ag_str token, id;
    uint64_t protocol;
    union {
#define MSG(name, word, from, doc) struct ag_msg_##name name;
#define FIELD(...)
#define END(name)
#include "schemas/messages.def"
    };
};

//  Read one request that came over the socket of this kind of peer. AG_E_NOT_ALLOWED: a request of
//  another side; AG_E_TOO_LARGE: a field has more bytes than it may; AG_E_BAD_MESSAGE: everything else.
//  The text names the request, the field and its bounds.
int ag_wire_read (enum ag_side from, struct ag_str bytes, struct ag_msg *out, struct ag_err *err);

//  Append the frame of a request. Absent fields that are not needed are left out, and so are numbers that
//  are 0 or at their least and bools that are false: a struct of zeros asks for nothing special. No bound is
//  looked at: who sends what others gave it reads the frame first, as libzmq cuts whoever sends one too long.
void ag_wire_write (const struct ag_msg *msg, struct ag_buf *out);

//  The facts of a row, for help pages and for tests that have no line per message.
enum ag_field_kind {
    AG_FIELD_STR,
    AG_FIELD_UINT,
    AG_FIELD_BOOL,
    AG_FIELD_VAL,
    AG_FIELD_LIST,
    AG_FIELD_MAP
};

struct ag_field {
    const char *name;
    enum ag_field_kind kind;
    bool needed;
    uint64_t min, max;
    size_t at; //  offset in struct ag_msg
    const char *doc;
};

struct ag_shape {
    const char *word; //  the value of `do`
    enum ag_side from;
    const char *doc;
    const struct ag_field *fields;
    size_t count;
};

const struct ag_shape *ag_wire_shape (enum ag_msg_type type);
#endif
