/*  dismiss - answer a peer once, then end its connection.
 *
 *  An answer leaves through libzmq's thread, so the connection is ended a moment later; until then what
 *  else comes from it is dropped. A duplicate of its descriptor is held meanwhile, so that it is this
 *  connection that ends, whoever gets the number.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_DISMISS_H
#define AG_DISMISS_H
#include "common/loop.h"
#include "common/net.h"

enum { AG_DISMISS_MS = 100, AG_DISMISS_MOST = 64 };

typedef struct ag_dismiss ag_dismiss_t;

ag_dismiss_t *ag_dismiss_new (ag_loop_t *loop);
void ag_dismiss_destroy (ag_dismiss_t **self_p);

//  End the connection of this peer soon; when AG_DISMISS_MOST others are being ended, the first of them at once.
void ag_dismiss (ag_dismiss_t *self, const struct ag_peer *peer);
//  Whether it is being ended.
bool ag_dismissed (const ag_dismiss_t *self, const struct ag_peer *peer);
#endif
