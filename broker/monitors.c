//  SPDX-License-Identifier: Apache-2.0
#include "broker/monitors.h"
#include "common/log.h"

#include <stdlib.h>

struct ag_monitors {
    ag_loop_t *loop;
    void *socket;
    const char *path; //  once it is bound
    ag_guard_t *guard;
    ag_audience_fn *fn;
    void *context;
    uint64_t topics;
};

//  XPUB tells the first subscription to a topic (1, topic) and the last that ends (0, topic).
static int
count (ag_monitors_t *self, struct ag_parts *parts, struct ag_err *err)
{
    struct ag_str change = ag_part (parts, 0);
    if (parts->count != 1 || !change.n || (unsigned char)change.p[0] > 1)
        return ag_fail (err, AG_E_BAD_MESSAGE, "%zu frames that are no subscription", parts->count);
    if (change.p[0])
        self->topics++;
    else if (self->topics)
        self->topics--;
    self->fn (self->context, self->topics);
    if (change.p[0] && self->topics > AG_MONITORS_TOPICS)
        return ag_fail (err, AG_E_TOO_LARGE, "more than %d subscriptions", AG_MONITORS_TOPICS);
    return 0;
}

static bool
read_one (void *context)
{
    ag_monitors_t *self = context;
    struct ag_parts parts;
    struct ag_err err;
    int got = ag_guard_recv (self->guard, AG_MONITORS_TOPIC_BYTES + 1, &parts, &err);
    if (got < 0 || (got > 0 && count (self, &parts, &err))) {
        ag_log_err (AG_WARN, &err, "a monitor");
        ag_peer_drop (&parts.peer);
    }
    ag_parts_fini (&parts);
    return got != 0;
}

ag_monitors_t *
ag_monitors_new (void *zmq_context, ag_loop_t *loop, const struct ag_monitors_setting *setting,
                 ag_audience_fn *fn, void *context, struct ag_err *err)
{
    ag_monitors_t *self = ag_xmalloc (sizeof *self);
    *self = (ag_monitors_t){.loop = loop, .fn = fn, .context = context};
    struct ag_net want = {ZMQ_XPUB, AG_MONITORS_HWM, AG_MONITORS_HWM, "monitor"};
    self->socket = ag_net_socket (zmq_context, &want);
    //  libzmq keeps a subscription before it tells, so its length is bounded where it is read.
    int64_t longest = AG_MONITORS_TOPIC_BYTES + 1;
    zmq_setsockopt (self->socket, ZMQ_MAXMSGSIZE, &longest, sizeof longest);
    self->guard = ag_guard_new (zmq_context, loop, self->socket, setting->limits);
    ag_loop_add_socket (loop, self->socket, read_one, self);
    if (ag_net_bind (self->socket, setting->path, 0600, err))
        ag_monitors_destroy (&self);
    else
        self->path = setting->path;
    return self;
}

void
ag_monitors_destroy (ag_monitors_t **self_p)
{
    ag_monitors_t *self = *self_p;
    if (!self)
        return;
    ag_loop_remove_socket (self->loop, self->socket);
    ag_guard_destroy (&self->guard);
    if (self->path)
        ag_net_unbind (self->socket, self->path);
    zmq_close (self->socket);
    free (self);
    *self_p = NULL;
}

ag_guard_t *
ag_monitors_guard (ag_monitors_t *self)
{
    return self->guard;
}

//  XPUB drops for whom it cannot reach and never refuses.
void
ag_monitors_publish (ag_monitors_t *self, struct ag_str topic, struct ag_str header,
                     struct ag_str body)
{
    struct ag_str frames[] = {topic, header, body};
    struct ag_err err;
    if (ag_net_send (self->socket, frames, 3, &err))
        ag_log_err (AG_WARN, &err, "a publication");
}
