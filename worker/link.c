//  SPDX-License-Identifier: Apache-2.0
#include "worker/link.h"

#include "common/answer.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

struct ag_link {
    void *context, *socket, *monitor;
    struct ag_buf request;
    zmq_msg_t answer;
    ag_meanwhile_fn *meanwhile; //  NULL: none
    void *meanwhile_arg;
};

static const char watch[] = "inproc://link.monitor";

static void
lost (void)
{
    ag_log (AG_ERROR, "the link to the supervisor is lost, and it does not come back");
    _exit (ag_code_status (AG_E_NO_SUPERVISOR));
}

static void *
make_socket (ag_link_t *self, int type)
{
    int now = 0, never = -1;
    void *socket = zmq_socket (self->context, type);
    assert (socket);
    zmq_setsockopt (socket, ZMQ_LINGER, &now, sizeof now);
    zmq_setsockopt (socket, ZMQ_RECONNECT_IVL, &never, sizeof never);
    return socket;
}

ag_link_t *
ag_link_new (const char *endpoint, struct ag_err *err)
{
    ag_link_t *self = ag_xcalloc (1, sizeof *self);
    self->context = zmq_ctx_new();
    assert (self->context);
    self->socket = make_socket (self, ZMQ_DEALER);
    self->monitor = make_socket (self, ZMQ_PAIR);
    zmq_msg_init (&self->answer);
    int ends = ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_CLOSED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
               ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
    if (!endpoint || zmq_socket_monitor (self->socket, watch, ends) ||
        zmq_connect (self->monitor, watch) || zmq_connect (self->socket, endpoint)) {
        ag_fail (err, AG_E_CONFIG, "cannot connect to AGSUP_WORKER (%s): %s",
                 endpoint ? endpoint : "not set", endpoint ? zmq_strerror (errno) : "no endpoint");
        ag_link_destroy (&self);
    }
    return self;
}

void
ag_link_destroy (ag_link_t **self_p)
{
    ag_link_t *self = *self_p;
    if (!self)
        return;
    zmq_msg_close (&self->answer);
    zmq_close (self->monitor);
    zmq_close (self->socket);
    zmq_ctx_term (self->context);
    ag_buf_fini (&self->request);
    free (self);
    *self_p = NULL;
}

//  Wait for an answer; whatever the monitor reports is the end, since it only reports ends.
static void
await (ag_link_t *self)
{
    zmq_pollitem_t items[] = {{self->socket, 0, ZMQ_POLLIN, 0}, {self->monitor, 0, ZMQ_POLLIN, 0}};
    while (!(items[0].revents & ZMQ_POLLIN)) {
        if (zmq_poll (items, 2, -1) < 0)
            assert (errno == EINTR);
        else if (items[1].revents && !items[0].revents)
            lost();
    }
    do {
        int n = zmq_msg_recv (&self->answer, self->socket, 0);
        assert (n >= 0 || errno == EINTR);
    } while (zmq_msg_more (&self->answer));
}

void
ag_link_meanwhile (ag_link_t *self, ag_meanwhile_fn *fn, void *arg)
{
    self->meanwhile = fn;
    self->meanwhile_arg = arg;
}

int
ag_link_ask (ag_link_t *self, const struct ag_msg *request, struct ag_str *answer,
             struct ag_err *err)
{
    struct ag_str word;
    if (ag_wire_fits (request, err))
        return -1;
    ag_buf_clear (&self->request);
    ag_wire_write (request, &self->request);
    while (zmq_send (self->socket, self->request.p, self->request.n, 0) < 0)
        assert (errno == EINTR);
    if (self->meanwhile && request->type == AG_MSG_done)
        self->meanwhile (self->meanwhile_arg);
    await (self);
    *answer = (struct ag_str){zmq_msg_data (&self->answer), zmq_msg_size (&self->answer)};
    return ag_answer_read (*answer, &word, err);
}

bool
ag_link_is (struct ag_str answer, const char *word)
{
    struct ag_str text;
    return !ag_map_text (answer, "do", &text) && ag_str_is (text, word);
}

//  The answer has to be this word.
static int
expect (struct ag_str answer, const char *word, struct ag_err *err)
{
    struct ag_str got = {"nothing", 7};
    if (ag_link_is (answer, word))
        return 0;
    ag_map_text (answer, "do", &got);
    return ag_fail (err, AG_E_BAD_MESSAGE, "the supervisor answered %.*s where %s was due",
                    AG_STR_ARG (got), word);
}

int
ag_link_hello (ag_link_t *self, const struct ag_msg_hello *hello, struct ag_str *welcome,
               struct ag_err *err)
{
    struct ag_msg ask = {.type = AG_MSG_hello, .hello = *hello};
    return ag_link_ask (self, &ask, welcome, err) ? -1 : expect (*welcome, "welcome", err);
}

int
ag_link_register (ag_link_t *self, const struct ag_msg_registration *found, struct ag_err *err)
{
    struct ag_msg ask = {.type = AG_MSG_registration, .registration = *found};
    struct ag_str answer;
    return ag_link_ask (self, &ask, &answer, err) ? -1 : expect (answer, "ok", err);
}

int
ag_link_next (ag_link_t *self, struct ag_str *job, struct ag_err *err)
{
    struct ag_msg ask = {.type = AG_MSG_next};
    return ag_link_ask (self, &ask, job, err);
}

int
ag_link_get (ag_link_t *self, const struct ag_msg_get *what, struct ag_str *answer,
             struct ag_err *err)
{
    struct ag_msg ask = {.type = AG_MSG_get, .get = *what};
    ask.get.depth += !ask.get.depth;
    return ag_link_ask (self, &ask, answer, err);
}

int
ag_link_effect (ag_link_t *self, const char *tool, struct ag_str args, bool idempotent,
                struct ag_str *answer, struct ag_err *err)
{
    struct ag_msg ask = {.type = AG_MSG_effect, .effect = {ag_str (tool), args, idempotent}};
    return ag_link_ask (self, &ask, answer, err);
}

int
ag_link_outcome (ag_link_t *self, struct ag_str output, struct ag_str error, struct ag_err *err)
{
    struct ag_msg ask = {.type = AG_MSG_outcome, .outcome = {output, error}};
    struct ag_str answer;
    return ag_link_ask (self, &ask, &answer, err) ? -1 : expect (answer, "ok", err);
}

int
ag_link_done (ag_link_t *self, struct ag_str ops, struct ag_str *job, struct ag_err *err)
{
    struct ag_msg ask = {.type = AG_MSG_done, .done = {.ops = ops, .next = true}};
    return ag_link_ask (self, &ask, job, err);
}

int
ag_link_fail (ag_link_t *self, struct ag_str error, struct ag_str *job, struct ag_err *err)
{
    struct ag_msg ask = {.type = AG_MSG_fail, .fail = {error, job != NULL}};
    struct ag_str answer;
    return ag_link_ask (self, &ask, job ? job : &answer, err);
}

int
ag_link_log (ag_link_t *self, enum ag_level level, struct ag_str text, struct ag_err *err)
{
    static const char *const words[] = {"error", "warn", "info", "debug"};
    struct ag_msg ask = {.type = AG_MSG_print, .print = {ag_str (words[level]), text}};
    struct ag_str answer;
    return ag_link_ask (self, &ask, &answer, err) ? -1 : expect (answer, "ok", err);
}
