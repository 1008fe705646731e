/*  zap - admission at the handshake: who may talk is decided before a byte of a message is read.
 *
 *  libzmq asks at inproc://zeromq.zap.01 about each peer of a socket that has a ZAP domain (ag_net.domain),
 *  with the process and user that the kernel reports for the connection. One handler a context, made
 *  before those sockets are bound: a socket with a domain and no handler admits everybody.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_ZAP_H
#define AG_ZAP_H
#include "common/loop.h"
#include "common/net.h"

typedef struct ag_zap ag_zap_t;

//  Admit (0), or refuse (-1 and why), the peer of a socket of this domain.
typedef int ag_admit_fn (void *context, struct ag_str domain, const struct ag_peer *peer,
                         struct ag_err *err);

//  The loop, the ZeroMQ context and what context points to outlive the handler.
ag_zap_t *ag_zap_new (void *zmq_context, ag_loop_t *loop, ag_admit_fn *fn, void *context,
                      struct ag_err *err);
void ag_zap_destroy (ag_zap_t **self_p);
#endif
