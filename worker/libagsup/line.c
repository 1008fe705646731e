//  SPDX-License-Identifier: Apache-2.0
#include "worker/libagsup/line.h"

#include "common/net.h"

#include <errno.h>

//  The monitor reports ends and nothing else, so that whatever it says is the end.
static const char watch[] = "inproc://agsup.monitor";

int
ag_line_check (const struct ag_line *self, struct ag_err *err)
{
    if (!self->lost)
        return 0;
    return ag_fail (err, AG_E_NO_SUPERVISOR,
                    "the link to the supervisor is lost, and it does not come back");
}

static int
lose (struct ag_line *self, struct ag_err *err)
{
    self->lost = true;
    return ag_line_check (self, err);
}

static void *
make_socket (void *context, int type)
{
    int now = 0, never = -1;
    int64_t most = AG_NET_FRAME_BYTES;
    void *socket = zmq_socket (context, type);
    if (!socket)
        return NULL;
    zmq_setsockopt (socket, ZMQ_LINGER, &now, sizeof now);
    zmq_setsockopt (socket, ZMQ_RECONNECT_IVL, &never, sizeof never);
    zmq_setsockopt (socket, ZMQ_MAXMSGSIZE, &most, sizeof most);
    return socket;
}

int
ag_line_open (struct ag_line *self, const char *endpoint, struct ag_err *err)
{
    int ends = ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_CLOSED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
               ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
    if (!endpoint)
        return ag_fail (err, AG_E_CONFIG,
                        "AGSUP_WORKER is not set: agsup sets it for the programs that it starts");
    self->context = zmq_ctx_new();
    self->socket = self->context ? make_socket (self->context, ZMQ_DEALER) : NULL;
    self->monitor = self->socket ? make_socket (self->context, ZMQ_PAIR) : NULL;
    if (self->monitor && !zmq_socket_monitor (self->socket, watch, ends) &&
        !zmq_connect (self->monitor, watch) && !zmq_connect (self->socket, endpoint))
        return 0;
    ag_fail (err, AG_E_CONFIG, "cannot connect to AGSUP_WORKER (%s): %s", endpoint,
             zmq_strerror (errno));
    ag_line_close (self);
    return -1;
}

void
ag_line_close (struct ag_line *self)
{
    int linger_ms = self->lost ? 0 : AG_NET_LINGER_MS;
    if (self->monitor)
        zmq_close (self->monitor);
    if (self->socket) {
        zmq_setsockopt (self->socket, ZMQ_LINGER, &linger_ms, sizeof linger_ms);
        zmq_close (self->socket);
    }
    while (self->context && zmq_ctx_term (self->context) && errno == EINTR)
        continue;
    self->context = self->socket = self->monitor = NULL;
}

static bool
is_ready (struct ag_line *self, short events)
{
    zmq_pollitem_t item = {self->socket, 0, events, 0};
    return zmq_poll (&item, 1, 0) > 0;
}

//  Until the socket is ready for these events. What came before the end is read first, as far as libzmq still has
//  it: at the news of the end the socket is looked at once more.
static int
wait_for (struct ag_line *self, short events, struct ag_err *err)
{
    zmq_pollitem_t items[] = {{self->socket, 0, events, 0}, {self->monitor, 0, ZMQ_POLLIN, 0}};
    for (;;) {
        if (zmq_poll (items, 2, -1) < 0) {
            if (errno != EINTR)
                return lose (self, err);
        } else if (items[0].revents || is_ready (self, events))
            return 0;
        else if (items[1].revents)
            return lose (self, err);
    }
}

int
ag_line_send (struct ag_line *self, struct ag_str frame, struct ag_err *err)
{
    while (zmq_send (self->socket, frame.p, frame.n, ZMQ_DONTWAIT) < 0) {
        if (errno == EAGAIN ? wait_for (self, ZMQ_POLLOUT, err) : errno != EINTR)
            return lose (self, err);
    }
    return 0;
}

int
ag_line_receive (struct ag_line *self, zmq_msg_t *msg, int *frames, struct ag_err *err)
{
    *frames = 0;
    if (wait_for (self, ZMQ_POLLIN, err))
        return -1;
    do {
        while (zmq_msg_recv (msg, self->socket, 0) < 0)
            if (errno != EINTR)
                return lose (self, err);
        ++*frames;
    } while (zmq_msg_more (msg));
    return 0;
}
