//  SPDX-License-Identifier: Apache-2.0
#include "broker/asked.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

//  What one connection has outstanding; it lives as long as that is something.
struct client {
    pid_t pid;
    size_t requests, bytes;
    size_t length;
    char id[AG_ROUTE_BYTES];
};

//  A handle is a serial number; its slot is the number modulo the number of slots.
struct slot {
    uint64_t handle;       //  0: free
    uint64_t older, newer; //  handles
    struct client *client;
    size_t bytes; //  that count against the credit
    struct ag_buf waiting;
    char id[64];
    struct ag_request request;
};

struct ag_asked {
    struct slot *slots;
    struct client *clients[AG_ASKED_ALL];
    size_t client_count;
    uint64_t serial;
    uint64_t oldest, newest;
    size_t count, bytes;
};

int
ag_route_of (struct ag_parts *parts, size_t count, struct ag_route *route, struct ag_err *err)
{
    size_t n = 0;
    if (count > AG_ROUTE_FRAMES)
        return ag_fail (err, AG_E_BAD_MESSAGE, "%zu frames before the request", count - 1);
    *route = (struct ag_route){.count = count};
    for (size_t i = 0; i < count; i++) {
        struct ag_str frame = ag_part (parts, i);
        if (frame.n > sizeof route->bytes - n)
            return ag_fail (err, AG_E_BAD_MESSAGE, "%zu bytes before the request", n + frame.n);
        memcpy (route->bytes + n, frame.p, frame.n);
        route->length[i] = frame.n;
        n += frame.n;
    }
    return 0;
}

int
ag_route_send (void *socket, const struct ag_route *route, struct ag_str answer, struct ag_err *err)
{
    struct ag_str frames[AG_ROUTE_FRAMES + 1];
    const char *at = route->bytes;
    for (size_t i = 0; i < route->count; i++) {
        frames[i] = (struct ag_str){at, route->length[i]};
        at += route->length[i];
    }
    frames[route->count] = answer;
    return ag_net_send (socket, frames, route->count + 1, err);
}

ag_asked_t *
ag_asked_new (void)
{
    ag_asked_t *self = ag_xcalloc (1, sizeof *self);
    self->slots = ag_xcalloc (AG_ASKED_ALL, sizeof *self->slots);
    return self;
}

void
ag_asked_destroy (ag_asked_t **self_p)
{
    ag_asked_t *self = *self_p;
    if (!self)
        return;
    while (self->oldest)
        ag_asked_drop (self, self->oldest);
    free (self->slots);
    free (self);
    *self_p = NULL;
}

static struct slot *
slot_of (const ag_asked_t *self, uint64_t handle)
{
    struct slot *slot = &self->slots[handle % AG_ASKED_ALL];
    return handle && slot->handle == handle ? slot : NULL;
}

static struct client *
account (ag_asked_t *self, const struct ag_route *route)
{
    for (size_t i = 0; i < self->client_count; i++) {
        struct client *client = self->clients[i];
        if (client->length == route->length[0] &&
            !memcmp (client->id, route->bytes, client->length))
            return client;
    }
    return NULL;
}

static struct client *
open_account (ag_asked_t *self, const struct ag_request *request)
{
    const struct ag_route *route = &request->route;
    struct client *client = ag_xcalloc (1, sizeof *client);
    client->pid = request->peer.pid;
    client->length = route->length[0];
    memcpy (client->id, route->bytes, client->length);
    self->clients[self->client_count++] = client;
    return client;
}

static void
close_account (ag_asked_t *self, struct client *client)
{
    size_t i = 0;
    while (self->clients[i] != client)
        i++;
    self->clients[i] = self->clients[--self->client_count];
    free (client);
}

//  A process that makes more connections gets no more for it. Whatever others hold, who has nothing yet finds
//  something left.
static int
check_share (const ag_asked_t *self, pid_t pid, size_t bytes, struct ag_err *err)
{
    size_t requests = 0, held = 0;
    for (size_t i = 0; i < self->client_count; i++)
        if (self->clients[i]->pid == pid) {
            requests += self->clients[i]->requests;
            held += self->clients[i]->bytes;
        }
    if (requests < AG_ASKED_ALL - self->count && held + bytes <= AG_ASKED_ALL_BYTES - self->bytes)
        return 0;
    return ag_fail (err, AG_E_BUSY,
                    "%zu requests of %zu bytes of process %d are not answered yet: its share of "
                    "the house",
                    requests, held, (int)pid);
}

static int
check_credit (const struct client *client, size_t bytes, struct ag_err *err)
{
    if (client && client->requests >= AG_ASKED_CLIENT)
        return ag_fail (err, AG_E_BUSY, "%zu requests of this client are not answered yet",
                        client->requests);
    if (client && client->bytes + bytes > AG_ASKED_CLIENT_BYTES)
        return ag_fail (err, AG_E_BUSY, "requests of this client of %zu bytes are not answered yet",
                        client->bytes);
    return 0;
}

static uint64_t
new_handle (ag_asked_t *self)
{
    do
        self->serial++;
    while (self->slots[self->serial % AG_ASKED_ALL].handle);
    return self->serial;
}

static void
append (ag_asked_t *self, struct slot *slot)
{
    slot->older = self->newest;
    if (self->newest)
        slot_of (self, self->newest)->newer = slot->handle;
    else
        self->oldest = slot->handle;
    self->newest = slot->handle;
}

uint64_t
ag_asked_add (ag_asked_t *self, const struct ag_request *request, struct ag_str bytes,
              struct ag_err *err)
{
    struct client *client = account (self, &request->route);
    if (check_credit (client, bytes.n, err) || check_share (self, request->peer.pid, bytes.n, err))
        return 0;
    uint64_t handle = new_handle (self);
    struct slot *slot = &self->slots[handle % AG_ASKED_ALL];
    *slot = (struct slot){.handle = handle, .bytes = bytes.n, .request = *request};
    slot->client = client ? client : open_account (self, request);
    assert (request->id.n <= sizeof slot->id);
    if (request->id.n)
        memcpy (slot->id, request->id.p, request->id.n);
    slot->request.id = (struct ag_str){slot->id, request->id.n};
    ag_buf_add_str (&slot->waiting, bytes);
    append (self, slot);
    slot->client->requests++;
    slot->client->bytes += bytes.n;
    self->count++;
    self->bytes += bytes.n;
    return handle;
}

const struct ag_request *
ag_asked_find (const ag_asked_t *self, uint64_t handle)
{
    const struct slot *slot = slot_of (self, handle);
    return slot ? &slot->request : NULL;
}

struct ag_str
ag_asked_bytes (const ag_asked_t *self, uint64_t handle)
{
    const struct slot *slot = slot_of (self, handle);
    return slot ? ag_buf_str (&slot->waiting) : (struct ag_str){0};
}

void
ag_asked_taken (ag_asked_t *self, uint64_t handle)
{
    struct slot *slot = slot_of (self, handle);
    if (slot)
        ag_buf_fini (&slot->waiting);
}

void
ag_asked_drop (ag_asked_t *self, uint64_t handle)
{
    struct slot *slot = slot_of (self, handle);
    if (!slot)
        return;
    struct slot *older = slot_of (self, slot->older), *newer = slot_of (self, slot->newer);
    *(older ? &older->newer : &self->oldest) = slot->newer;
    *(newer ? &newer->older : &self->newest) = slot->older;
    self->count--;
    self->bytes -= slot->bytes;
    slot->client->bytes -= slot->bytes;
    if (--slot->client->requests == 0)
        close_account (self, slot->client);
    ag_buf_fini (&slot->waiting);
    slot->handle = 0;
}

uint64_t
ag_asked_next (const ag_asked_t *self, uint64_t handle)
{
    const struct slot *slot = slot_of (self, handle);
    return slot ? slot->newer : handle ? 0 : self->oldest;
}
