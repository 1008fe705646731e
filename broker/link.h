/*  link - the broker's end of the edge to the supervisor.
 *
 *  A DEALER to HOME/run/broker.sock. What it says:
 *      handle 0 (8 bytes), then `link {nonce, monitors}`   first on every connection, and again when the
 *                                                          audience changes; there is no answer
 *      handle (8 bytes), then a request                    as the client sent it, checked
 *      handle (8 bytes), then nothing (0 bytes)            nobody waits for its answer any more
 *  and what it hears:
 *      handle (8 bytes), then the answer                   once for each request
 *      handle 0 (8 bytes), topic, header, body             to publish; `beat` is one of these
 *  A handle is opaque to the supervisor and never 0 for a request.
 *
 *  Every connection is a new socket, so nothing that was meant for one supervisor reaches the next: when
 *  the connection ends, what it carried is gone, and `down` says so. Connecting goes on until it works.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_LINK_H
#define AG_LINK_H
#include "common/loop.h"
#include "common/net.h"

enum { AG_LINK_RETRY_MS = 10, AG_LINK_QUEUE = 8192 };

typedef struct ag_link ag_link_t;

//  What happens on the link. The strings are borrows for the time of the call.
struct ag_link_events {
    void (*up) (void *context); //  `link` is sent; requests may follow
    void (*down) (void *context);
    void (*answer) (void *context, uint64_t handle, struct ag_str answer);
    void (*publish) (void *context, struct ag_str topic, struct ag_str header, struct ag_str body);
};

struct ag_link_setting {
    const char *path;  //  of the supervisor's socket
    const char *nonce; //  $AGSUP_NONCE: by it the supervisor knows which broker this is
};

//  The strings, the loop and what context points to outlive the link.
ag_link_t *ag_link_new (void *zmq_context, ag_loop_t *loop, struct ag_link_setting setting,
                        const struct ag_link_events *events, void *context);
void ag_link_destroy (ag_link_t **self_p);

//  Send a request while the link is up. It may still be lost with the connection.
int ag_link_ask (ag_link_t *self, uint64_t handle, struct ag_str request, struct ag_err *err);
//  Say that the answer is not wanted any more.
void ag_link_forget (ag_link_t *self, uint64_t handle);
//  How many subscriptions there are; said at once when the link is up, and whenever it comes up.
void ag_link_audience (ag_link_t *self, uint64_t monitors);
#endif
