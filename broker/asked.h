/*  asked - what clients asked and nobody has answered yet, and what each of them may ask more.
 *
 *  A handle stands for one request: it finds the way back to who asked. A client (one connection) may have
 *  AG_ASKED_CLIENT requests and AG_ASKED_CLIENT_BYTES outstanding, all of them together AG_ASKED_ALL and
 *  AG_ASKED_ALL_BYTES; and a process, over all its connections, no more than it leaves free for the others: half
 *  when it is alone, a third beside one that took its third. More is AG_E_BUSY. A request keeps its bytes until
 *  they are taken, so that it can wait for a supervisor.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_ASKED_H
#define AG_ASKED_H
#include "common/net.h"

enum {
    AG_ASKED_CLIENT = 64,
    AG_ASKED_CLIENT_BYTES = 16 << 20,
    AG_ASKED_ALL = 4096,
    AG_ASKED_ALL_BYTES = 64 << 20,
    AG_ROUTE_FRAMES =
        4, //  routing id, and up to three frames that the client's socket put before the map
    AG_ROUTE_BYTES = 320
};

//  The frames that go before an answer, exactly as they came before the request (REQ puts an empty one).
struct ag_route {
    size_t count;
    size_t length[AG_ROUTE_FRAMES];
    char bytes[AG_ROUTE_BYTES];
};

//  From the first frames of a message. AG_E_BAD_MESSAGE: too many, or too long.
int ag_route_of (struct ag_parts *parts, size_t count, struct ag_route *route, struct ag_err *err);
//  Send one frame back along it.
int ag_route_send (void *socket, const struct ag_route *route, struct ag_str answer,
                   struct ag_err *err);

struct ag_request {
    struct ag_route route;
    struct ag_peer peer;
    ino_t inode;      //  of the connection, 0: unknown
    struct ag_str id; //  its request id, empty when it has none
    int64_t asked_ms;
};

typedef struct ag_asked ag_asked_t;

ag_asked_t *ag_asked_new (void);
void ag_asked_destroy (ag_asked_t **self_p);

//  Keep a request (copied, its bytes too): its handle, or 0 and AG_E_BUSY.
uint64_t ag_asked_add (ag_asked_t *self, const struct ag_request *request, struct ag_str bytes,
                       struct ag_err *err);
//  Who asked; NULL when the handle stands for nothing (any more). Good until it is dropped.
const struct ag_request *ag_asked_find (const ag_asked_t *self, uint64_t handle);
//  The bytes of a request that nobody has taken yet (empty: taken), and the note that they are taken.
struct ag_str ag_asked_bytes (const ag_asked_t *self, uint64_t handle);
void ag_asked_taken (ag_asked_t *self, uint64_t handle);
void ag_asked_drop (ag_asked_t *self, uint64_t handle);

//  The handle asked next after this one (0: the oldest of all); 0 when there is none.
uint64_t ag_asked_next (const ag_asked_t *self, uint64_t handle);
#endif
