//  SPDX-License-Identifier: Apache-2.0
#include "broker/link.h"
#include "common/log.h"
#include "common/wire.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { HANDLE = 8 };

struct ag_link {
    void *zmq_context;
    ag_loop_t *loop;
    struct ag_link_setting setting;
    struct ag_link_events events;
    void *context;
    void *socket, *watch; //  of this connection, and the monitor that tells how it fares
    bool up;
    uint64_t monitors;
    uint64_t retry; //  timer
};

static void connect_again (void *context);

static int
send_with_handle (ag_link_t *self, uint64_t handle, struct ag_str bytes, struct ag_err *err)
{
    struct ag_buf head = {0};
    ag_buf_be64 (&head, handle);
    struct ag_str frames[] = {ag_buf_str (&head), bytes};
    int rc = ag_net_send (self->socket, frames, 2, err);
    ag_buf_fini (&head);
    return rc;
}

//  The first word on a connection, and again when the audience changed.
static void
say_link (ag_link_t *self)
{
    struct ag_msg msg = {
        .type = AG_MSG_link,
        .link = {.nonce = ag_str (self->setting.nonce), .monitors = self->monitors}};
    struct ag_buf bytes = {0};
    struct ag_err err;
    ag_wire_write (&msg, &bytes);
    if (send_with_handle (self, 0, ag_buf_str (&bytes), &err))
        ag_log_err (AG_WARN, &err, "link");
    ag_buf_fini (&bytes);
}

static void
hear (ag_link_t *self, struct ag_parts *parts)
{
    struct ag_str head = ag_part (parts, 0);
    uint64_t handle = head.n == HANDLE ? ag_be64 (head.p) : 0;
    if (head.n == HANDLE && handle && parts->count == 2)
        self->events.answer (self->context, handle, ag_part (parts, 1));
    else if (head.n == HANDLE && !handle && parts->count == 4)
        self->events.publish (self->context, ag_part (parts, 1), ag_part (parts, 2),
                              ag_part (parts, 3));
    else
        ag_log (AG_WARN, "the supervisor sent %zu frames that mean nothing here", parts->count);
}

static bool
hear_one (void *context)
{
    ag_link_t *self = context;
    struct ag_parts parts;
    struct ag_err err;
    int got = ag_net_recv (self->socket, 2 * AG_NET_FRAME_BYTES, &parts, &err);
    if (got > 0)
        hear (self, &parts);
    else if (got < 0)
        ag_log_err (AG_WARN, &err, "a message of the supervisor");
    ag_parts_fini (&parts);
    return got != 0;
}

//  The monitor is stopped before its reader closes: libzmq's thread would wait for a reader for ever.
static void
disconnect (ag_link_t *self)
{
    zmq_socket_monitor (self->socket, NULL, 0);
    ag_loop_remove_socket (self->loop, self->socket);
    ag_loop_remove_socket (self->loop, self->watch);
    zmq_setsockopt (self->socket, ZMQ_LINGER, &(int){0}, sizeof (int));
    zmq_close (self->watch);
    zmq_close (self->socket);
    self->socket = self->watch = NULL;
}

static void
came_up (ag_link_t *self)
{
    self->up = true;
    ag_log (AG_INFO, "link=up");
    say_link (self);
    self->events.up (self->context);
}

//  Answers that arrived before the end are still to be heard.
static void
went_down (ag_link_t *self)
{
    bool was_up = self->up;
    for (int i = 0; i < AG_LINK_QUEUE && hear_one (self); i++)
        continue;
    disconnect (self);
    self->up = false;
    self->retry = ag_loop_timer (self->loop, AG_LINK_RETRY_MS, 0, connect_again, self);
    if (!was_up)
        return;
    ag_log (AG_INFO, "link=down");
    self->events.down (self->context);
}

//  The handshake is done, or this connection is at its end, in whatever way.
static bool
watch_one (void *context)
{
    ag_link_t *self = context;
    struct ag_parts event;
    struct ag_err err;
    uint16_t what;
    if (ag_net_recv (self->watch, 4096, &event, &err) == 0)
        return false;
    memcpy (&what, ag_part (&event, 0).p, sizeof what);
    ag_parts_fini (&event);
    if (what == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) {
        came_up (self);
        return true;
    }
    went_down (self);
    return false;
}

static void
connect_again (void *context)
{
    ag_link_t *self = context;
    struct ag_err err;
    char endpoint[64];
    static const int once = -1; //  libzmq does not connect again by itself
    struct ag_net want = {ZMQ_DEALER, AG_LINK_QUEUE, AG_LINK_QUEUE, NULL};
    self->retry = 0;
    self->socket = ag_net_socket (self->zmq_context, &want);
    zmq_setsockopt (self->socket, ZMQ_RECONNECT_IVL, &once, sizeof once);
    ag_net_watch (self->socket);
    snprintf (endpoint, sizeof endpoint, "inproc://link-%p", self->socket);
    int rc = zmq_socket_monitor (self->socket, endpoint,
                                 ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED |
                                     ZMQ_EVENT_CLOSED);
    assert (rc == 0);
    self->watch = ag_net_socket (self->zmq_context, &(struct ag_net){ZMQ_PAIR, 16, 16, NULL});
    rc = zmq_connect (self->watch, endpoint);
    assert (rc == 0);
    ag_loop_add_private (self->loop, self->watch, watch_one, self);
    ag_loop_add_socket (self->loop, self->socket, hear_one, self);
    if (ag_net_connect (self->socket, self->setting.path, &err))
        ag_log_err (AG_ERROR, &err, "link");
}

ag_link_t *
ag_link_new (void *zmq_context, ag_loop_t *loop, struct ag_link_setting setting,
             const struct ag_link_events *events, void *context)
{
    ag_link_t *self = ag_xmalloc (sizeof *self);
    *self = (ag_link_t){.zmq_context = zmq_context,
                        .loop = loop,
                        .setting = setting,
                        .events = *events,
                        .context = context};
    connect_again (self);
    return self;
}

void
ag_link_destroy (ag_link_t **self_p)
{
    ag_link_t *self = *self_p;
    if (!self)
        return;
    if (self->retry)
        ag_loop_cancel (self->loop, self->retry);
    if (self->socket)
        disconnect (self);
    free (self);
    *self_p = NULL;
}

int
ag_link_ask (ag_link_t *self, uint64_t handle, struct ag_str request, struct ag_err *err)
{
    assert (self->up && handle);
    return send_with_handle (self, handle, request, err);
}

void
ag_link_forget (ag_link_t *self, uint64_t handle)
{
    struct ag_err err;
    assert (self->up && handle);
    if (send_with_handle (self, handle, (struct ag_str){0}, &err))
        ag_log_err (AG_WARN, &err, "link");
}

void
ag_link_audience (ag_link_t *self, uint64_t monitors)
{
    if (monitors == self->monitors)
        return;
    self->monitors = monitors;
    if (self->up)
        say_link (self);
}
