//  SPDX-License-Identifier: Apache-2.0
#include "common/spawn.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/buf.h"
#include "common/spawn_wire.h"

const char *
ag_step_name (uint32_t step)
{
    static const char *const names[] = {
#define STEP(NAME, name) name,
#include "schemas/steps.def"
    };
    return step < AG_STEPS ? names[step] : "unknown";
}

const char *
ag_layer_name (uint32_t layer)
{
    static const char *const names[] = {
#define LAYER(NAME, name) name,
#include "schemas/layers.def"
    };
    return layer < AG_LAYERS ? names[layer] : "unknown";
}

const char *
ag_proof_name (uint32_t proof)
{
    static const char *const names[] = {"none", "cgroup", "pidns", "walk"};
    return proof <= AG_PROOF_WALK ? names[proof] : "unknown";
}

struct waiting {
    struct ag_spawn_request request;
    int image; //  or -1
};

struct ag_nursery {
    int fd;
    struct waiting *waiting; //  from `first` on, not yet sent
    size_t first, count, room;
};

ag_nursery_t *
ag_nursery_new (int fd)
{
    ag_nursery_t *self = ag_xcalloc (1, sizeof *self);
    self->fd = fd;
    return self;
}

void
ag_nursery_destroy (ag_nursery_t **self_p)
{
    ag_nursery_t *self = *self_p;
    if (!self)
        return;
    for (size_t i = self->first; i < self->count; i++)
        if (self->waiting[i].image >= 0)
            close (self->waiting[i].image);
    close (self->fd);
    free (self->waiting);
    free (self);
    *self_p = NULL;
}

int
ag_nursery_fd (const ag_nursery_t *self)
{
    return self->fd;
}

short
ag_nursery_poll (const ag_nursery_t *self)
{
    return self->first < self->count ? POLLIN | POLLOUT : POLLIN;
}

//  An end that is gone is noticed by the next read, not here.
void
ag_nursery_flush (ag_nursery_t *self)
{
    for (; self->first < self->count; self->first++) {
        struct waiting *next = &self->waiting[self->first];
        if (ag_packet_send (self->fd, &next->request, sizeof next->request, &next->image,
                            next->image >= 0))
            return;
        if (next->image >= 0)
            close (next->image);
    }
    self->first = self->count = 0;
}

static void
say (ag_nursery_t *self, const struct ag_spawn_request *request, int image)
{
    if (self->count == self->room && self->first > self->room / 2) {
        self->count -= self->first;
        memmove (self->waiting, self->waiting + self->first, self->count * sizeof *self->waiting);
        self->first = 0;
    }
    if (self->count == self->room) {
        self->room = self->room ? 2 * self->room : 16;
        self->waiting = ag_xrealloc (self->waiting, self->room * sizeof *self->waiting);
    }
    self->waiting[self->count++] = (struct waiting){*request, image};
    ag_nursery_flush (self);
}

int
ag_nursery_spawn (ag_nursery_t *self, const struct ag_spawn *spawn, struct ag_err *err)
{
    assert (strlen (spawn->nonce) == AG_NONCE - 1 && spawn->argv && spawn->argv[0]);
    int image = ag_image_new (spawn, err);
    if (image < 0)
        return -1;
    struct ag_spawn_request request = {.what = AG_SPAWN_START,
                                       .kind = spawn->kind,
                                       .id = spawn->id,
                                       .limits = spawn->limits,
                                       .uid = spawn->uid,
                                       .gid = spawn->gid,
                                       .layers = spawn->layers,
                                       .required = spawn->required};
    memcpy (request.nonce, spawn->nonce, AG_NONCE);
    say (self, &request, image);
    return 0;
}

static void
say_plain (ag_nursery_t *self, enum ag_spawn_what what, uint64_t id, uint32_t value)
{
    say (self, &(struct ag_spawn_request){.what = what, .id = id, .value = value}, -1);
}

void
ag_nursery_kill (ag_nursery_t *self, uint64_t id, uint32_t grace_ms)
{
    say_plain (self, AG_SPAWN_KILL, id, grace_ms);
}

void
ag_nursery_ack (ag_nursery_t *self, uint64_t id)
{
    say_plain (self, AG_SPAWN_ACK, id, 0);
}

void
ag_nursery_ready (ag_nursery_t *self, enum ag_house_process who)
{
    say_plain (self, AG_SPAWN_READY, 0, who);
}

void
ag_nursery_down (ag_nursery_t *self)
{
    say_plain (self, AG_SPAWN_DOWN, 0, 0);
}

int
ag_nursery_next (ag_nursery_t *self, struct ag_nursery_event *event, struct ag_err *err)
{
    ag_nursery_flush (self);
    bool lost;
    int fds[AG_PACKET_FDS];
    int got = ag_packet_receive (self->fd, event, sizeof *event, fds, &lost);
    if (got < 0 && errno == EAGAIN)
        return 0;
    if (got <= 0)
        return ag_fail (err, AG_E_SYSTEM, "the nursery is gone: %s",
                        got < 0 ? strerror (errno) : "end of the stream");
    memcpy (event->output, fds, sizeof fds);
    if (lost) //  a child whose output nobody can read is ended
        ag_nursery_kill (self, event->id, 0);
    return 1;
}
