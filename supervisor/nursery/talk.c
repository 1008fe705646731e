//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/nursery/agsupd_inside.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include "common/log.h"
#include "supervisor/nursery/clock.h"

enum {
    CLOSING_MS = 5000, //  from a closed end of the pair to the exit of the supervisor
    REQUESTS = 32      //  in one turn
};

void
ag_house_hang_up (struct agsupd *self)
{
    if (self->pair >= 0)
        close (self->pair);
    self->pair = -1;
}

//  What the supervisor asks for.

static int
do_start (struct agsupd *self, const struct ag_spawn_request *request, int image,
          struct ag_err *err)
{
    return ag_brood_start (&self->brood, request, image, err);
}

static int
do_kill (struct agsupd *self, const struct ag_spawn_request *request, int image, struct ag_err *err)
{
    (void)image, (void)err;
    ag_brood_kill (&self->brood, request->id, request->value, ag_clock_ms());
    return 0;
}

static int
do_ack (struct agsupd *self, const struct ag_spawn_request *request, int image, struct ag_err *err)
{
    (void)image, (void)err;
    ag_brood_ack (&self->brood, request->id);
    return 0;
}

static int
do_ready (struct agsupd *self, const struct ag_spawn_request *request, int image,
          struct ag_err *err)
{
    (void)image;
    if (request->value >= AG_HOUSES)
        return ag_fail (err, AG_E_BAD_MESSAGE, "no process of the house has the number %u",
                        request->value);
    ag_resident_ready (&self->residents[request->value]);
    if (request->value != AG_HOUSE_SUPERVISOR)
        return 0;
    self->config = NULL;
    if (self->ready_fd < 0)
        return 0;
    if (write (self->ready_fd, "ready\n", 6) < 0)
        ag_log (AG_WARN, "nobody hears that the house is ready: %s", strerror (errno));
    close (self->ready_fd);
    self->ready_fd = -1;
    return 0;
}

static int
do_down (struct agsupd *self, const struct ag_spawn_request *request, int image, struct ag_err *err)
{
    (void)request, (void)image, (void)err;
    ag_house_stop (self);
    return 0;
}

typedef int request_fn (struct agsupd *, const struct ag_spawn_request *, int image,
                        struct ag_err *);

static request_fn *const requests[AG_SPAWN_WHATS] = {
    [AG_SPAWN_START] = do_start, [AG_SPAWN_KILL] = do_kill, [AG_SPAWN_ACK] = do_ack,
    [AG_SPAWN_READY] = do_ready, [AG_SPAWN_DOWN] = do_down,
};

//  START takes the one descriptor it needs; any other comes here to be closed.
static int
obey (struct agsupd *self, const struct ag_spawn_request *request, int fds[AG_PACKET_FDS],
      struct ag_err *err)
{
    bool known = request->what < AG_SPAWN_WHATS && requests[request->what];
    int first = known && request->what == AG_SPAWN_START ? 1 : 0;
    for (int i = first; i < AG_PACKET_FDS; i++)
        if (fds[i] >= 0)
            close (fds[i]);
    if (!known)
        return ag_fail (err, AG_E_BAD_MESSAGE, "no request has the number %u", request->what);
    return requests[request->what](self, request, first ? fds[0] : -1, err);
}

//  A supervisor that says what it never may is out of its mind: it ends and another one starts.
static void
dismiss_supervisor (struct agsupd *self, const struct ag_err *err)
{
    ag_log_err (AG_ERROR, err, "the supervisor is ended");
    ag_house_hang_up (self);
    ag_resident_signal (&self->residents[AG_HOUSE_SUPERVISOR], SIGKILL);
}

//  Who closes its end is about to exit, with a status that says why.
static void
let_supervisor_exit (struct agsupd *self)
{
    ag_house_hang_up (self);
    self->closing_ms = ag_clock_ms() + CLOSING_MS;
}

void
ag_house_hear (struct agsupd *self)
{
    struct ag_spawn_request request;
    struct ag_err err;
    for (int i = 0; i < REQUESTS && self->pair >= 0; i++) {
        bool lost;
        int fds[AG_PACKET_FDS];
        int got = ag_packet_receive (self->pair, &request, sizeof request, fds, &lost);
        if (got < 0 && errno == EAGAIN)
            return;
        if (got > 0 && obey (self, &request, fds, &err))
            dismiss_supervisor (self, &err);
        else if (got < 0 && errno == EBADMSG) {
            ag_fail (&err, AG_E_BAD_MESSAGE, "its packet has not the size of a request");
            dismiss_supervisor (self, &err);
        } else if (got <= 0)
            let_supervisor_exit (self);
    }
}

//  What it is told.

static int
say_once (struct agsupd *self, bool *owed, const struct ag_nursery_event *event)
{
    if (*owed && ag_packet_send (self->pair, event, sizeof *event, NULL, 0))
        return -1;
    *owed = false;
    return 0;
}

static int
say_house (struct agsupd *self)
{
    const struct ag_resident *broker = &self->residents[AG_HOUSE_BROKER];
    struct ag_nursery_event event = {
        .what = AG_NURSERY_HOUSE, .pid = broker->pid, .output = {-1, -1}, .value = AG_HOUSE_BROKER};
    memcpy (event.nonce, broker->nonce, sizeof event.nonce);
    return say_once (self, &self->owe_house, &event);
}

void
ag_house_say (struct agsupd *self)
{
    uint64_t now_ms = ag_clock_ms();
    struct ag_nursery_event end = {.what = AG_NURSERY_STOP, .output = {-1, -1}},
                            current = {.what = AG_NURSERY_CURRENT, .output = {-1, -1}};
    end.value = self->deadline_ms > now_ms ? self->deadline_ms - now_ms : 0;
    if (self->pair < 0)
        return;
    self->full = say_once (self, &self->owe_stop, &end) ||
                 ag_brood_say (&self->brood, self->pair) || say_house (self) ||
                 say_once (self, &self->owe_current, &current);
}
