/*  broker - the network side of the house: clients and monitors on one side, the supervisor on the other.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_BROKER_H
#define AG_BROKER_H
#include "common/daemon.h"

enum {
    AG_BROKER_MEMORY = 128 << 20 //  above it the guards look for who is to blame
};

typedef struct ag_broker ag_broker_t;

//  Bind both sockets and begin to look for the supervisor. The daemon outlives the broker; the nonce is
//  $AGSUP_NONCE.
ag_broker_t *ag_broker_new (struct ag_daemon *daemon, const char *nonce, struct ag_err *err);
void ag_broker_destroy (ag_broker_t **self_p);
#endif
