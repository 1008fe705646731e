//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/nursery/agsupd_inside.h"

#include <signal.h>
#include "common/log.h"
#include "supervisor/nursery/clock.h"

enum {
    SERVICE_GRACE_MS = 2000, //  when no supervisor is there to say more
    DRAIN_MS = 5000          //  then all is killed; as much again, then we give up
};

static void
kill_all (struct agsupd *self)
{
    self->phase = AG_GIVING_UP;
    self->deadline_ms = ag_clock_ms() + DRAIN_MS;
    ag_brood_end (&self->brood, AG_CHILD_WORKER, 0, ag_clock_ms());
    ag_brood_end (&self->brood, AG_CHILD_SERVICE, 0, ag_clock_ms());
    for (int i = 0; i < AG_HOUSES; i++)
        ag_resident_signal (&self->residents[i], SIGKILL);
}

void
ag_house_drain (struct agsupd *self)
{
    self->phase = AG_DRAINING;
    self->deadline_ms = ag_clock_ms() + DRAIN_MS;
    ag_brood_end (&self->brood, AG_CHILD_WORKER, 0, ag_clock_ms());
    ag_brood_end (&self->brood, AG_CHILD_SERVICE, SERVICE_GRACE_MS, ag_clock_ms());
    ag_resident_signal (&self->residents[AG_HOUSE_SUPERVISOR], SIGKILL);
    ag_resident_signal (&self->residents[AG_HOUSE_BROKER], SIGTERM);
}

void
ag_house_stop (struct agsupd *self)
{
    if (self->phase != AG_UP)
        return;
    self->phase = AG_STOPPING;
    self->deadline_ms = ag_clock_ms() + self->options->stop_ms;
    self->owe_stop = true;
    if (!self->residents[AG_HOUSE_SUPERVISOR].pid)
        ag_house_drain (self);
}

void
ag_house_signalled (struct agsupd *self)
{
    if (self->phase == AG_UP)
        ag_house_stop (self);
    else if (self->phase != AG_GIVING_UP)
        kill_all (self);
}

bool
ag_house_is_over (const struct agsupd *self)
{
    if (self->phase < AG_DRAINING)
        return false;
    return !self->residents[AG_HOUSE_SUPERVISOR].pid && !self->residents[AG_HOUSE_BROKER].pid &&
           !ag_brood_alive (&self->brood, AG_CHILD_WORKER) &&
           !ag_brood_alive (&self->brood, AG_CHILD_SERVICE);
}

//  A supervisor that has closed its end and stays.
static void
hurry_supervisor (struct agsupd *self, uint64_t now_ms)
{
    if (!self->closing_ms || now_ms < self->closing_ms)
        return;
    ag_log (AG_WARN, "the supervisor has closed its end and does not exit: it is killed");
    self->closing_ms = 0;
    ag_resident_signal (&self->residents[AG_HOUSE_SUPERVISOR], SIGKILL);
}

bool
ag_house_hurry (struct agsupd *self, uint64_t now_ms)
{
    hurry_supervisor (self, now_ms);
    if (self->phase == AG_UP || now_ms < self->deadline_ms)
        return false;
    if (self->phase == AG_GIVING_UP) {
        ag_log (AG_ERROR, "%zu workers and %zu services do not end",
                ag_brood_alive (&self->brood, AG_CHILD_WORKER),
                ag_brood_alive (&self->brood, AG_CHILD_SERVICE));
        self->status = ag_code_status (AG_E_SYSTEM);
        return true;
    }
    ag_log (AG_WARN, "the house does not end in time: all is killed");
    kill_all (self);
    return false;
}
