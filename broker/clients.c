//  SPDX-License-Identifier: Apache-2.0
#include "broker/clients.h"
#include "broker/asked.h"
#include "broker/dismiss.h"
#include "common/answer.h"
#include "common/log.h"
#include "common/wire.h"

#include <stdlib.h>

enum { HWM_IN = 64, HWM_OUT = 2 * AG_ASKED_CLIENT, LONGEST_ID = 64 };

struct ag_clients {
    ag_loop_t *loop;
    struct ag_clients_setting setting;
    void *socket;
    const char *path; //  once it is bound
    ag_guard_t *guard;
    ag_dismiss_t *dismiss;
    ag_asked_t *asked;
    ag_link_t *link; //  NULL while there is no supervisor
    uint64_t sweep;  //  timer
};

static void
answer_error (ag_clients_t *self, const struct ag_request *request, const struct ag_err *why)
{
    struct ag_buf answer = {0};
    struct ag_err err;
    ag_answer_error (&answer, request->id, why);
    ag_route_send (self->socket, &request->route, ag_buf_str (&answer), &err); //  or it is gone
    ag_buf_fini (&answer);
}

static void
refuse (ag_clients_t *self, const struct ag_request *request, const struct ag_err *why)
{
    ag_log (AG_DEBUG, "refused a request: pid=%d code=%s %s", (int)request->peer.pid,
            ag_code_name (why->code), why->text);
    //  In this order: the number of its descriptor may be that of its next connection once it has its answer.
    ag_dismiss (self->dismiss, &request->peer);
    answer_error (self, request, why);
}

//  The request's id, from whatever was sent: an answer that says why finds its question.
static struct ag_str
id_in (struct ag_str bytes)
{
    struct ag_str id;
    bool good = !ag_map_text (bytes, "id", &id) && id.n <= LONGEST_ID && ag_utf8 (id);
    return good ? id : (struct ag_str){0};
}

static int
check (const ag_clients_t *self, struct ag_str bytes, struct ag_err *err)
{
    struct ag_msg msg;
    if (ag_wire_read (AG_PEER_CLIENT, bytes, &msg, err))
        return -1;
    if (!ag_same_secret (msg.token, self->setting.token))
        return ag_fail (err, AG_E_NOT_ALLOWED, "the request does not carry this house's token");
    return 0;
}

//  Who has the token is no stranger: a word or a value that is wrong costs that request alone.
static bool
is_ours (const ag_clients_t *self, struct ag_str bytes)
{
    struct ag_str token;
    return !ag_map_text (bytes, "token", &token) && ag_same_secret (token, self->setting.token);
}

//  To the supervisor, or kept until there is one.
static void
forward (ag_clients_t *self, uint64_t handle)
{
    struct ag_err err;
    if (!self->link)
        return;
    if (ag_link_ask (self->link, handle, ag_asked_bytes (self->asked, handle), &err))
        ag_log_err (AG_WARN, &err, "link");
    ag_asked_taken (self->asked, handle);
}

static void
take (ag_clients_t *self, const struct ag_request *request, struct ag_str bytes)
{
    struct ag_err err;
    if (check (self, bytes, &err)) {
        if (err.code != AG_E_NOT_ALLOWED && is_ours (self, bytes))
            answer_error (self, request, &err);
        else
            refuse (self, request, &err);
        return;
    }
    uint64_t handle = ag_asked_add (self->asked, request, bytes, &err);
    if (handle)
        forward (self, handle);
    else
        answer_error (self, request, &err);
}

//  Of a message that cannot be a request; a REQ socket waits for its empty frame before the answer.
static void
refuse_whole (ag_clients_t *self, struct ag_parts *parts, struct ag_request *request,
              const struct ag_err *why)
{
    struct ag_err err;
    size_t count = parts->count == 2 && !ag_part (parts, 1).n ? 2 : 1;
    if (!ag_route_of (parts, count, &request->route, &err))
        refuse (self, request, why);
}

static void
read_parts (ag_clients_t *self, struct ag_parts *parts, const struct ag_err *too_large)
{
    struct ag_request request = {
        .peer = parts->peer, .inode = ag_peer_inode (parts->peer.fd), .asked_ms = ag_now_ms()};
    struct ag_err err;
    if (ag_dismissed (self->dismiss, &parts->peer))
        return;
    if (too_large || ag_route_of (parts, parts->count - 1, &request.route, &err)) {
        refuse_whole (self, parts, &request, too_large ? too_large : &err);
        return;
    }
    struct ag_str bytes = ag_part (parts, parts->count - 1);
    request.id = id_in (bytes);
    take (self, &request, bytes);
}

static bool
read_one (void *context)
{
    ag_clients_t *self = context;
    struct ag_parts parts;
    struct ag_err err;
    int got = ag_guard_recv (self->guard, AG_NET_FRAME_BYTES, &parts, &err);
    if (got)
        read_parts (self, &parts, got < 0 ? &err : NULL);
    ag_parts_fini (&parts);
    return got != 0;
}

//  A request whose connection has ended is taken back, so that nobody is charged for it.
static void
take_back (ag_clients_t *self, uint64_t handle)
{
    if (self->link && !ag_asked_bytes (self->asked, handle).n)
        ag_link_forget (self->link, handle);
    ag_asked_drop (self->asked, handle);
}

//  Nobody answered for so long that whoever asked has gone or should know.
static void
give_up (ag_clients_t *self, uint64_t handle)
{
    struct ag_err why;
    ag_fail (&why, AG_E_TIMEOUT, "no answer within %lld s",
             (long long)self->setting.wait_ms / 1000);
    answer_error (self, ag_asked_find (self->asked, handle), &why);
    ag_asked_drop (self->asked, handle);
}

static void
sweep (void *context)
{
    ag_clients_t *self = context;
    int64_t before_ms = ag_now_ms() - self->setting.wait_ms;
    uint64_t handle = ag_asked_next (self->asked, 0);
    while (handle) {
        uint64_t next = ag_asked_next (self->asked, handle);
        const struct ag_request *request = ag_asked_find (self->asked, handle);
        if (request->inode && ag_peer_inode (request->peer.fd) != request->inode)
            take_back (self, handle);
        else if (request->asked_ms <= before_ms)
            give_up (self, handle);
        handle = next;
    }
}

ag_clients_t *
ag_clients_new (void *zmq_context, ag_loop_t *loop, const struct ag_clients_setting *setting,
                struct ag_err *err)
{
    ag_clients_t *self = ag_xcalloc (1, sizeof *self);
    self->loop = loop;
    self->setting = *setting;
    self->socket =
        ag_net_socket (zmq_context, &(struct ag_net){ZMQ_ROUTER, HWM_IN, HWM_OUT, "client"});
    self->guard = ag_guard_new (zmq_context, loop, self->socket, setting->limits);
    self->dismiss = ag_dismiss_new (loop);
    self->asked = ag_asked_new();
    self->sweep = ag_loop_timer (loop, AG_CLIENTS_SWEEP_MS, AG_CLIENTS_SWEEP_MS, sweep, self);
    ag_loop_add_socket (loop, self->socket, read_one, self);
    if (ag_net_bind (self->socket, setting->path, 0600, err))
        ag_clients_destroy (&self);
    else
        self->path = setting->path;
    return self;
}

void
ag_clients_destroy (ag_clients_t **self_p)
{
    ag_clients_t *self = *self_p;
    if (!self)
        return;
    ag_loop_cancel (self->loop, self->sweep);
    ag_loop_remove_socket (self->loop, self->socket);
    ag_dismiss_destroy (&self->dismiss);
    ag_guard_destroy (&self->guard);
    ag_asked_destroy (&self->asked);
    if (self->path)
        ag_net_unbind (self->socket, self->path);
    zmq_close (self->socket);
    free (self);
    *self_p = NULL;
}

ag_guard_t *
ag_clients_guard (ag_clients_t *self)
{
    return self->guard;
}

void
ag_clients_link (ag_clients_t *self, ag_link_t *link)
{
    self->link = link;
    uint64_t handle = 0;
    while (link && (handle = ag_asked_next (self->asked, handle)))
        forward (self, handle);
}

void
ag_clients_forget (ag_clients_t *self)
{
    uint64_t handle = ag_asked_next (self->asked, 0);
    while (handle) {
        uint64_t next = ag_asked_next (self->asked, handle);
        if (!ag_asked_bytes (self->asked, handle).n)
            ag_asked_drop (self->asked, handle);
        handle = next;
    }
}

//  A client that does not take its answer is cut: it would wait for the one that is lost.
void
ag_clients_answer (ag_clients_t *self, uint64_t handle, struct ag_str answer)
{
    const struct ag_request *request = ag_asked_find (self->asked, handle);
    struct ag_err err;
    if (!request)
        return;
    if (ag_route_send (self->socket, &request->route, answer, &err) && err.code == AG_E_BUSY) {
        ag_log (AG_WARN, "cut a client that reads no answers: pid=%d", (int)request->peer.pid);
        ag_peer_drop (&request->peer);
    }
    ag_asked_drop (self->asked, handle);
}
