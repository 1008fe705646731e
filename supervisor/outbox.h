/*  outbox - what this turn will say, held back until its batch is on disk.
 *
 *  Nothing leaves the house before the sync: answers, invocations and publications are put here while the
 *  turn works, in order, and sent after the write. What only moves work on inside the house waits neither
 *  for it nor for the turn's end, as long as the turn has said nothing else. Sending never waits: a worker
 *  that cannot take its message is reported and ended by the caller, a broker that cannot loses it (clients
 *  ask again with the same request id, monitors read the log).
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_OUTBOX_H
#define AG_OUTBOX_H
#include "common/buf.h"
#include "common/err.h"

typedef struct ag_outbox ag_outbox_t;

//  Who gets a message: a socket, the peer's routing id, and what stands before the body: a client's
//  handle, or the empty delimiter of a REQ peer, or nothing.
struct ag_route {
    void *socket;
    uint8_t id[255];
    uint8_t id_bytes;
    bool delimiter;
    bool client; //  handle counts
    uint64_t handle;
};

ag_outbox_t *ag_outbox_new (void);
void ag_outbox_destroy (ag_outbox_t **self_p);

//  Copies route and body.
void ag_outbox_put (ag_outbox_t *self, const struct ag_route *route, struct ag_str body);
//  The same for what need not be on disk first: it goes to a worker that reaches nobody but the house.
void ag_outbox_put_inner (ag_outbox_t *self, const struct ag_route *route, struct ag_str body);
//  There is something to say, and none of it waits for the sync.
bool ag_outbox_is_inner (const ag_outbox_t *self);
//  A publication for the broker's monitors: topic, header, body.
void ag_outbox_publish (ag_outbox_t *self, const struct ag_route *broker, struct ag_str topic,
                        struct ag_str header, struct ag_str body);

//  Send everything and be empty. lost is called for each worker's message that its pipe refused.
typedef void ag_lost_fn (void *context, const struct ag_route *route);
void ag_outbox_send (ag_outbox_t *self, ag_lost_fn *lost, void *context);

//  The same before the turn's end: when all that was said so far is inner, it is under way now, and what comes
//  after it stands behind it. It still counts for ag_outbox_is_inner.
void ag_outbox_send_inner (ag_outbox_t *self, ag_lost_fn *lost, void *context);

//  The write failed: every client gets err instead of its answer, with its request id; the rest is dropped.
void ag_outbox_fail (ag_outbox_t *self, const struct ag_err *err);
#endif
