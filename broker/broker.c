//  SPDX-License-Identifier: Apache-2.0
#include "broker/broker.h"
#include "broker/admit.h"
#include "broker/clients.h"
#include "broker/link.h"
#include "broker/monitors.h"
#include "common/zap.h"

#include <stdlib.h>
#include <unistd.h>

struct ag_broker {
    pid_t nursery;
    char token[AG_TOKEN + 1];
    ag_zap_t *zap;
    ag_clients_t *clients;
    ag_monitors_t *monitors;
    ag_link_t *link;
    uint64_t topics; //  that monitors subscribed to
};

static int
admit (void *context, struct ag_str domain, const struct ag_peer *peer, struct ag_err *err)
{
    ag_broker_t *self = context;
    ag_guard_t *guard = ag_str_is (domain, "client") ? ag_clients_guard (self->clients)
                                                     : ag_monitors_guard (self->monitors);
    return ag_admit (peer, self->nursery, ag_guard_accepted_ms (guard, peer->pid), err);
}

static void
on_up (void *context)
{
    ag_broker_t *self = context;
    ag_clients_link (self->clients, self->link);
}

static void
on_down (void *context)
{
    ag_broker_t *self = context;
    ag_clients_link (self->clients, NULL);
    ag_clients_forget (self->clients);
}

static void
on_answer (void *context, uint64_t handle, struct ag_str answer)
{
    ag_clients_answer (((ag_broker_t *)context)->clients, handle, answer);
}

static void
on_publish (void *context, struct ag_str topic, struct ag_str header, struct ag_str body)
{
    ag_monitors_publish (((ag_broker_t *)context)->monitors, topic, header, body);
}

static void
on_audience (void *context, uint64_t topics)
{
    ((ag_broker_t *)context)->topics = topics;
}

//  Many subscriptions in one turn are one message.
static void
end_turn (void *context)
{
    ag_broker_t *self = context;
    ag_link_audience (self->link, self->topics);
}

//  Admission stands before anybody can connect.
static int
open_sockets (ag_broker_t *self, struct ag_daemon *daemon, struct ag_err *err)
{
    struct ag_guard_limits limits = {AG_BROKER_MEMORY, daemon->connections};
    struct ag_clients_setting clients = {daemon->home.client, ag_str (self->token), limits,
                                         AG_CLIENTS_WAIT_MS};
    struct ag_monitors_setting monitors = {daemon->home.monitor, limits};
    self->zap = ag_zap_new (daemon->context, daemon->loop, admit, self, err);
    if (!self->zap)
        return -1;
    self->clients = ag_clients_new (daemon->context, daemon->loop, &clients, err);
    if (!self->clients)
        return -1;
    self->monitors =
        ag_monitors_new (daemon->context, daemon->loop, &monitors, on_audience, self, err);
    return self->monitors ? 0 : -1;
}

ag_broker_t *
ag_broker_new (struct ag_daemon *daemon, const char *nonce, struct ag_err *err)
{
    static const struct ag_link_events events = {on_up, on_down, on_answer, on_publish};
    ag_broker_t *self = ag_xcalloc (1, sizeof *self);
    self->nursery = getppid();
    if (ag_home_token (&daemon->home, self->token, err) || open_sockets (self, daemon, err)) {
        ag_broker_destroy (&self);
        return NULL;
    }
    struct ag_link_setting setting = {daemon->home.broker, nonce};
    self->link = ag_link_new (daemon->context, daemon->loop, setting, &events, self);
    ag_loop_at_turn_end (daemon->loop, end_turn, self);
    return self;
}

void
ag_broker_destroy (ag_broker_t **self_p)
{
    ag_broker_t *self = *self_p;
    if (!self)
        return;
    ag_link_destroy (&self->link);
    ag_monitors_destroy (&self->monitors);
    ag_clients_destroy (&self->clients);
    ag_zap_destroy (&self->zap);
    free (self);
    *self_p = NULL;
}
