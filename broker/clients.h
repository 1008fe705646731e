/*  clients - the socket that programs and people use: requests in, checked; answers out.
 *
 *  A ROUTER at HOME/run/client.sock. A request is refused, answered once with the reason, and its connection
 *  ended, when it is longer than AG_NET_FRAME_BYTES, is not a request that the table knows for clients, or
 *  does not carry the token. Beyond its credit a client is told `busy` and may go on.
 *
 *  Requests wait for a supervisor when there is none. When one ends, what it had been asked is forgotten in
 *  silence: nobody knows whether it was done, and the client asks again under the same id. After
 *  AG_CLIENTS_WAIT_MS a request is answered `timeout`. When a connection ends, what it asked is taken back within
 *  AG_CLIENTS_SWEEP_MS.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_CLIENTS_H
#define AG_CLIENTS_H
#include "broker/link.h"
#include "common/guard.h"

enum { AG_CLIENTS_WAIT_MS = 300000, AG_CLIENTS_SWEEP_MS = 1000 };

typedef struct ag_clients ag_clients_t;

struct ag_clients_setting {
    const char *path; //  of the socket
    struct ag_str token;
    struct ag_guard_limits limits;
    int64_t wait_ms;
};

//  Binds. The socket's ZAP domain is "client". Strings, loop and context outlive it.
ag_clients_t *ag_clients_new (void *zmq_context, ag_loop_t *loop,
                              const struct ag_clients_setting *setting, struct ag_err *err);
void ag_clients_destroy (ag_clients_t **self_p);

ag_guard_t *ag_clients_guard (ag_clients_t *self);

//  From now on requests go over this link; NULL: they wait.
void ag_clients_link (ag_clients_t *self, ag_link_t *link);
//  Forget what was sent over a link that is gone.
void ag_clients_forget (ag_clients_t *self);
//  The answer to what the handle stands for; nobody, when that was forgotten.
void ag_clients_answer (ag_clients_t *self, uint64_t handle, struct ag_str answer);
#endif
