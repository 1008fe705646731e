//  SPDX-License-Identifier: Apache-2.0
#include "common/zap.h"
#include "common/log.h"

#include <stdlib.h>

//  https://rfc.zeromq.org/spec/27/: frames of a request, frames of an answer.
enum { VERSION, REQUEST_ID, DOMAIN, ADDRESS, IDENTITY, MECHANISM, ASKED };

struct ag_zap {
    ag_loop_t *loop;
    void *socket;
    ag_admit_fn *fn;
    void *context;
    int64_t said_ms; //  when a refusal was last logged: a flood of them is one line
};

static int
decide (ag_zap_t *self, struct ag_parts *ask, struct ag_err *err)
{
    struct ag_peer peer;
    if (ask->count < ASKED || !ag_str_is (ag_part (ask, VERSION), "1.0"))
        return ag_fail (err, AG_E_BAD_MESSAGE, "a ZAP request of %zu frames", ask->count);
    if (!ag_str_is (ag_part (ask, MECHANISM), "NULL"))
        return ag_fail (err, AG_E_NOT_ALLOWED, "the mechanism %.*s",
                        AG_STR_ARG (ag_part (ask, MECHANISM)));
    if (ag_peer_parse (ag_part (ask, ADDRESS), &peer))
        return ag_fail (err, AG_E_NOT_ALLOWED, "the address %.*s",
                        AG_STR_ARG (ag_part (ask, ADDRESS)));
    return self->fn (self->context, ag_part (ask, DOMAIN), &peer, err);
}

static void
say_refused (ag_zap_t *self, const struct ag_err *why)
{
    int64_t now_ms = ag_now_ms();
    if (now_ms - self->said_ms > 1000)
        ag_log (AG_INFO, "refused a connection: %s", why->text);
    self->said_ms = now_ms;
}

static bool
answer_one (void *context)
{
    ag_zap_t *self = context;
    struct ag_parts ask;
    struct ag_err err;
    int got = ag_net_recv (self->socket, 4096, &ask, &err);
    if (got == 0)
        return false;
    bool admitted = got > 0 && !decide (self, &ask, &err);
    if (!admitted)
        say_refused (self, &err);
    struct ag_str none = AG_LIT ("");
    struct ag_str id = ask.count > REQUEST_ID ? ag_part (&ask, REQUEST_ID) : none;
    struct ag_str answer[] = {AG_LIT ("1.0"), id,   admitted ? AG_LIT ("200") : AG_LIT ("400"),
                              none,           none, none};
    if (ag_net_send (self->socket, answer, sizeof answer / sizeof *answer, &err))
        ag_log_err (AG_WARN, &err, "zap");
    ag_parts_fini (&ask);
    return true;
}

ag_zap_t *
ag_zap_new (void *zmq_context, ag_loop_t *loop, ag_admit_fn *fn, void *context, struct ag_err *err)
{
    static const struct ag_net want = {ZMQ_REP, 1000, 1000, NULL};
    void *socket = ag_net_socket (zmq_context, &want);
    if (zmq_bind (socket, "inproc://zeromq.zap.01")) {
        ag_fail (err, AG_E_SYSTEM, "bind inproc://zeromq.zap.01: %s", zmq_strerror (zmq_errno()));
        zmq_close (socket);
        return NULL;
    }
    ag_zap_t *self = ag_xmalloc (sizeof *self);
    *self = (ag_zap_t){loop, socket, fn, context, 0};
    ag_loop_add_private (loop, socket, answer_one, self);
    return self;
}

void
ag_zap_destroy (ag_zap_t **self_p)
{
    if (!*self_p)
        return;
    ag_loop_remove_socket ((*self_p)->loop, (*self_p)->socket);
    zmq_close ((*self_p)->socket);
    free (*self_p);
    *self_p = NULL;
}
