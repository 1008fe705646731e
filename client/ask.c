//  SPDX-License-Identifier: Apache-2.0
#include "client/ask.h"

#include "client/pick.h"
#include "common/answer.h"
#include "common/home.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

enum {
    ANSWER_BYTES = 64 << 20, //  an answer larger than this is not read
    LOOK_MS = 250            //  so often is looked whether the house still stands
};

struct ag_ask {
    struct ag_home home;
    char token[AG_TOKEN + 1];
    void *context, *socket, *monitor;
};

int64_t
ag_ask_clock_ms (void)
{
    struct timespec now;
    clock_gettime (CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

//  A client socket that never keeps its process: what was not sent when it closes is dropped.
static void *
open_socket (ag_ask_t *self, int type, const char *endpoint, struct ag_err *err)
{
    void *socket = zmq_socket (self->context, type);
    assert (socket);
    int64_t most = ANSWER_BYTES;
    zmq_setsockopt (socket, ZMQ_LINGER, &(int){0}, sizeof (int));
    zmq_setsockopt (socket, ZMQ_MAXMSGSIZE, &most, sizeof most);
    if (!zmq_connect (socket, endpoint))
        return socket;
    ag_fail (err, AG_E_SYSTEM, "connect %s: %s", endpoint, zmq_strerror (errno));
    zmq_close (socket);
    return NULL;
}

ag_ask_t *
ag_ask_new (const char *dir, struct ag_err *err)
{
    ag_ask_t *self = ag_xcalloc (1, sizeof *self);
    if (!ag_home_open (&self->home, dir, err) && !ag_home_token (&self->home, self->token, err)) {
        char *endpoint = ag_xprintf ("ipc://%s", self->home.client);
        self->context = zmq_ctx_new();
        assert (self->context);
        self->socket = open_socket (self, ZMQ_DEALER, endpoint, err);
        free (endpoint);
    }
    if (!self->socket)
        ag_ask_destroy (&self);
    return self;
}

void
ag_ask_destroy (ag_ask_t **self_p)
{
    ag_ask_t *self = *self_p;
    if (!self)
        return;
    if (self->socket)
        zmq_close (self->socket);
    if (self->monitor)
        zmq_close (self->monitor);
    if (self->context)
        zmq_ctx_term (self->context);
    ag_home_fini (&self->home);
    free (self);
    *self_p = NULL;
}

void *
ag_ask_monitor (ag_ask_t *self, const char *endpoint, struct ag_err *err)
{
    assert (!self->monitor);
    return self->monitor = open_socket (self, ZMQ_SUB, endpoint, err);
}

//  The last frame of the next message into `answer`: 0, or -1 when there is none now.
static int
receive (ag_ask_t *self, struct ag_buf *answer)
{
    int more = 1;
    for (int flags = ZMQ_DONTWAIT; more; flags = 0) {
        zmq_msg_t frame;
        zmq_msg_init (&frame);
        if (zmq_msg_recv (&frame, self->socket, flags) < 0) {
            zmq_msg_close (&frame);
            return -1;
        }
        ag_buf_clear (answer);
        ag_buf_add (answer, zmq_msg_data (&frame), zmq_msg_size (&frame));
        more = zmq_msg_more (&frame);
        zmq_msg_close (&frame);
    }
    return 0;
}

//  Wait until `until` for the answer with this id: 1 when it is there, 0 when the time is up.
static int
await (ag_ask_t *self, struct ag_str id, int64_t until, struct ag_buf *answer)
{
    for (int64_t left; (left = until - ag_ask_clock_ms()) > 0;) {
        zmq_pollitem_t item = {self->socket, 0, ZMQ_POLLIN, 0};
        if (zmq_poll (&item, 1, (long)left) < 0 && errno != EINTR)
            return 0;
        while (!receive (self, answer))
            if (ag_str_eq (ag_pick_text (ag_buf_str (answer), "id"), id))
                return 1;
    }
    return 0;
}

bool
ag_ask_listens (const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen (path) >= sizeof address.sun_path)
        return false;
    memcpy (address.sun_path, path, strlen (path) + 1);
    int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool listens = fd >= 0 && !connect (fd, (struct sockaddr *)&address, sizeof address);
    if (fd >= 0)
        close (fd);
    return listens;
}

//  Nobody holds the home and nobody listens, so nobody will answer.
static bool
is_empty (const ag_ask_t *self)
{
    struct ag_err err;
    return ag_home_holder (&self->home, &err) == 0 && !ag_ask_listens (self->home.client);
}

static int
fail_silent (const ag_ask_t *self, int64_t waited_ms, struct ag_err *err)
{
    if (!ag_ask_listens (self->home.client))
        return ag_fail (err, AG_E_NO_SUPERVISOR, "nobody listens at %s", self->home.client);
    return ag_fail (err, AG_E_TIMEOUT, "no answer from %s within %g s", self->home.dir,
                    (double)waited_ms / 1000);
}

static int
ask (ag_ask_t *self, struct ag_str frame, struct ag_str id, struct ag_ask_time time,
     struct ag_buf *answer, struct ag_err *err)
{
    int64_t now = ag_ask_clock_ms(), end = now + time.deadline_ms, again = now;
    for (; now < end; now = ag_ask_clock_ms()) {
        if (is_empty (self))
            return ag_fail (err, AG_E_NO_SUPERVISOR, "no supervisor runs in %s", self->home.dir);
        if (now >= again) {
            zmq_send (self->socket, frame.p, frame.n, ZMQ_DONTWAIT); //  unsent is silence
            again = now + time.again_ms;
        }
        int64_t until = now + LOOK_MS < again ? now + LOOK_MS : again;
        if (await (self, id, until < end ? until : end, answer)) {
            struct ag_str word;
            return ag_answer_read (ag_buf_str (answer), &word, err);
        }
    }
    return fail_silent (self, time.deadline_ms, err);
}

//  Read as the other side will. What is refused came with the command line and is no fault of a peer.
static int
check (struct ag_str frame, struct ag_err *err)
{
    struct ag_msg msg;
    if (!ag_wire_read (AG_PEER_CLIENT, frame, &msg, err))
        return 0;
    if (err->code == AG_E_BAD_MESSAGE)
        err->code = AG_E_USAGE;
    return -1;
}

int
ag_ask (ag_ask_t *self, const struct ag_msg *msg, struct ag_ask_time time, struct ag_buf *answer,
        struct ag_err *err)
{
    struct ag_msg full = *msg;
    uint8_t random[16];
    char made[2 * sizeof random + 1];
    if (!full.id.p) {
        ag_random (random, sizeof random);
        ag_hex (random, sizeof random, made);
        full.id = ag_str (made);
    }
    full.token = ag_str (self->token);
    full.protocol = 1;
    struct ag_buf frame = {0};
    ag_wire_write (&full, &frame);
    int rc = check (ag_buf_str (&frame), err);
    if (!rc)
        rc = ask (self, ag_buf_str (&frame), full.id, time, answer, err);
    ag_buf_fini (&frame);
    return rc;
}
