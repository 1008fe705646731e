//  SPDX-License-Identifier: Apache-2.0
#include "tests/bench/bench_ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

_Noreturn void
die (const char *what, const char *why)
{
    fprintf (stderr, "bench_house: %s: %s\n", what, why);
    exit (1);
}

void
open_house (struct bench *self, const char *dir)
{
    struct ag_err err;
    *self = (struct bench){0};
    if (ag_home_open (&self->home, dir, &err) || ag_home_token (&self->home, self->token, &err))
        die (dir, err.text);
    self->context = ag_net_context();
    self->socket = ag_net_socket (self->context, &(struct ag_net){ZMQ_DEALER, 1000, 1000, NULL});
    zmq_setsockopt (self->socket, ZMQ_RCVTIMEO, &(int){AG_BENCH_WAIT_MS}, sizeof (int));
    if (ag_net_connect (self->socket, self->home.client, &err))
        die (self->home.client, err.text);
    snprintf (self->prefix, sizeof self->prefix, "%08x%08x", (unsigned)getpid(),
              (unsigned)time (NULL));
}

void
close_house (struct bench *self)
{
    zmq_close (self->socket);
    zmq_ctx_term (self->context);
    ag_buf_fini (&self->answer);
    ag_home_fini (&self->home);
}

void
send_frame (struct bench *self, struct ag_str frame)
{
    if (zmq_send (self->socket, frame.p, frame.n, 0) < 0)
        die ("send", zmq_strerror (errno));
}

void
hear (struct bench *self)
{
    zmq_msg_t frame;
    struct ag_str word;
    struct ag_err err;
    zmq_msg_init (&frame);
    if (zmq_msg_recv (&frame, self->socket, 0) < 0)
        die ("no answer within a minute", zmq_strerror (errno));
    ag_buf_clear (&self->answer);
    ag_buf_add (&self->answer, zmq_msg_data (&frame), zmq_msg_size (&frame));
    zmq_msg_close (&frame);
    if (ag_answer_read (ag_buf_str (&self->answer), &word, &err))
        die ("an answer", err.text);
}

void
ask (struct bench *self, struct ag_msg msg)
{
    struct ag_buf frame = {0};
    char id[65];
    snprintf (id, sizeof id, "%s/%llu", self->prefix, (unsigned long long)++self->asked);
    msg.token = ag_str (self->token);
    msg.id = ag_str (id);
    ag_wire_write (&msg, &frame);
    send_frame (self, ag_buf_str (&frame));
    ag_buf_fini (&frame);
    hear (self);
}

struct ag_str
answer_text (const struct bench *self, const char *key)
{
    struct ag_str text;
    if (ag_map_text (ag_buf_str (&self->answer), key, &text))
        die ("an answer has no", key);
    return text;
}
