/*  guard - a socket that strangers reach, and the memory and descriptors it may cost.
 *
 *  libzmq bounds the length of a frame and the number of whole messages, never the frames of a message
 *  that does not end, nor the bytes a peer leaves unread; and it aborts when accept finds no descriptor.
 *  The guard learns of each connection from the socket's monitor, and cuts
 *    - a connection beyond the number allowed;
 *    - while this process is above its memory budget: a connection whose input never becomes a message,
 *      and one whose peer takes nothing of what waits for it.
 *  What was measured stands in docs/design/guard.md. All reading of the socket goes through
 *  ag_guard_recv, which is how the guard knows who delivers.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_GUARD_H
#define AG_GUARD_H
#include "common/loop.h"
#include "common/net.h"

enum {
    AG_GUARD_REST_MS = 50, //  between two measurements of memory
    AG_GUARD_LOOK_MS = 10, //  between two looks while it is above the budget
    AG_GUARD_LOOKS = 3,    //  with input waiting and nothing delivered,
    AG_GUARD_GROWTH =
        2 * AG_NET_FRAME_BYTES, //  while memory grew by more than a message can hold: cut
    AG_GUARD_STARE_MS = 2,      //  of each look, while memory grows
    AG_GUARD_UNREAD_MS = 1000   //  nothing taken for so long: cut
};

typedef struct ag_guard ag_guard_t;

struct ag_guard_limits {
    uint64_t memory_bytes; //  of this process, without what it shares
    size_t connections;    //  of this socket
};

//  The socket is one that binds; made before it is bound, destroyed before it is closed.
ag_guard_t *ag_guard_new (void *zmq_context, ag_loop_t *loop, void *socket,
                          struct ag_guard_limits limits);
void ag_guard_destroy (ag_guard_t **self_p);

//  ag_net_recv, with the peer noted as one that delivers.
int ag_guard_recv (ag_guard_t *self, size_t max_bytes, struct ag_parts *parts, struct ag_err *err);

//  When the newest connection of this process was accepted (monotonic ms), -1 when there is none.
int64_t ag_guard_accepted_ms (ag_guard_t *self, pid_t pid);

struct ag_guard_counts {
    size_t connections, //  now
        cut;            //  ever
};
struct ag_guard_counts ag_guard_counts (const ag_guard_t *self);
#endif
