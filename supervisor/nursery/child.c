//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/nursery/child.h"
#include "supervisor/nursery/infant.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static bool
in_force (const struct ag_child *self, enum ag_layer layer)
{
    return self->fact.layers >> layer & 1;
}

static void
owe (struct ag_child *self, enum ag_nursery_what what)
{
    self->owed |= 1u << what;
}

static void
shut (int *fd)
{
    if (*fd >= 0)
        close (*fd);
    *fd = -1;
}

static void
choose_proof (struct ag_child *self)
{
    self->fact.proof = in_force (self, AG_LAYER_CGROUP)  ? AG_PROOF_CGROUP
                       : in_force (self, AG_LAYER_PIDNS) ? AG_PROOF_PIDNS
                                                         : AG_PROOF_WALK;
}

static void
note_failure (struct ag_child *self, uint32_t step, int error)
{
    self->fact.step = step;
    self->fact.error = error;
    self->fact.permanent = ag_birth_permanent (error);
}

void
ag_child_init (struct ag_child *self, const struct ag_birth *birth,
               const struct ag_spawn_request *request, int image)
{
    struct ag_newborn born;
    struct ag_report why;
    *self =
        (struct ag_child){.fact = {.kind = request->kind, .id = request->id, .output = {-1, -1}},
                          .limits = request->limits,
                          .cgroups = birth->cgroups,
                          .pidfd = -1,
                          .report = -1,
                          .output = {-1, -1}};
    memcpy (self->fact.nonce, request->nonce, sizeof self->fact.nonce);
    int rc = ag_birth (birth, request, image, &born, &why);
    self->fact.layers = born.layers;
    memcpy (self->fact.refused, born.refused, sizeof self->fact.refused);
    if (rc) {
        note_failure (self, why.step, why.error);
        self->exited = true;
        ag_child_finish (self);
        return;
    }
    self->fact.pid = born.pid;
    self->pidfd = born.pidfd;
    self->report = born.report;
    memcpy (self->output, born.output, sizeof self->output);
    choose_proof (self);
}

static void
take_report (struct ag_child *self, const struct ag_report *report)
{
    if (report->fatal) {
        note_failure (self, report->step, report->error);
        return;
    }
    uint32_t lost = self->fact.layers & ag_infant_lost (report->layer);
    for (int layer = 0; layer < AG_LAYERS; layer++)
        if (lost >> layer & 1)
            self->fact.refused[layer] = report->error;
    self->fact.layers &= ~lost;
    if (report->layer == AG_LAYER_CGROUP)
        ag_cgroup_gone (self->cgroups, self->fact.id);
    choose_proof (self);
}

//  The pipe closed: at exec, or because the process ended before it came so far.
static void
set_up (struct ag_child *self)
{
    shut (&self->report);
    if (self->killed && !self->fact.error)
        note_failure (self, AG_STEP_NONE, ECANCELED);
    if (self->fact.error)
        return;
    self->ran = true;
    owe (self, AG_NURSERY_SPAWNED);
    if (self->stage == AG_SETTING_UP)
        self->stage = AG_RUNNING;
}

void
ag_child_hear (struct ag_child *self)
{
    struct ag_report report;
    while (self->report >= 0) {
        ssize_t n = read (self->report, &report, sizeof report);
        if (n == sizeof report)
            take_report (self, &report);
        else if (n < 0 && errno != EINTR)
            return;
        else if (n >= 0)
            set_up (self);
    }
}

//  A guess, for people, but where a control group has counted. Only the kernel's CPU limit kills a second after
//  SIGXCPU; a death that we did not cause, with most of the allowed memory in use, was likely for want of more.
static uint32_t
guess_fired (const struct ag_child *self)
{
    const struct ag_nursery_event *fact = &self->fact;
    uint64_t cpu_us = fact->user_us + fact->system_us, limit = self->limits.address_space_bytes;
    if (fact->signal == SIGXFSZ)
        return AG_FIRED_FILE_SIZE;
    if (fact->signal == SIGXCPU ||
        (fact->signal == SIGKILL && self->limits.cpu_s && cpu_us / 1000000 >= self->limits.cpu_s))
        return AG_FIRED_CPU;
    if (in_force (self, AG_LAYER_MEMORY) && ag_cgroup_out_of_memory (self->cgroups, fact->id))
        return AG_FIRED_MEMORY;
    bool well = fact->code == 0 || self->killed;
    return !well && limit && fact->max_rss_bytes >= limit / 4 * 3 ? AG_FIRED_MEMORY : AG_FIRED_NONE;
}

static uint64_t
microseconds (struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_usec;
}

void
ag_child_reap (struct ag_child *self)
{
    siginfo_t info = {0};
    struct rusage usage;
    long rc = syscall (SYS_waitid, P_PIDFD, self->pidfd, &info, WEXITED | WNOHANG, &usage);
    if (rc < 0 || !info.si_pid)
        return;
    self->exited = true;
    ag_child_hear (self);
    self->fact.code = info.si_code == CLD_EXITED ? info.si_status : -1;
    self->fact.signal = info.si_code == CLD_EXITED ? 0 : info.si_status;
    self->fact.max_rss_bytes = (uint64_t)usage.ru_maxrss * 1024;
    self->fact.user_us = microseconds (usage.ru_utime);
    self->fact.system_us = microseconds (usage.ru_stime);
    self->fact.fired = guess_fired (self);
    if (self->ran)
        owe (self, AG_NURSERY_EXITED);
    if (self->stage != AG_LEAVING)
        self->stage = AG_ENDING;
}

static void
send_signal (const struct ag_child *self, int signal)
{
    if (!self->exited)
        syscall (SYS_pidfd_send_signal, self->pidfd, signal, NULL, 0);
}

//  The first process of a pid namespace does not get a signal that it does not catch.
static bool
can_be_asked (const struct ag_child *self)
{
    char path[64], text[4096];
    if (!in_force (self, AG_LAYER_PIDNS))
        return true;
    snprintf (path, sizeof path, "/proc/%d/status", self->fact.pid);
    int fd = open (path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read (fd, text, sizeof text - 1);
    if (fd >= 0)
        close (fd);
    text[n > 0 ? n : 0] = 0;
    const char *caught = strstr (text, "SigCgt:\t");
    return caught && strtoull (caught + 8, NULL, 16) >> (SIGTERM - 1) & 1;
}

void
ag_child_end (struct ag_child *self, uint32_t grace_ms, uint64_t now_ms)
{
    if (self->stage >= AG_ENDING)
        return;
    ag_child_hear (self);
    uint64_t deadline_ms = now_ms + grace_ms;
    if (!grace_ms || !self->ran || !can_be_asked (self)) {
        self->stage = AG_ENDING;
    } else if (self->stage == AG_RUNNING) {
        self->stage = AG_LEAVING;
        self->deadline_ms = deadline_ms;
        self->dismissed = true;
        send_signal (self, SIGTERM);
        send_signal (self, SIGCONT);
    } else if (deadline_ms < self->deadline_ms) {
        self->deadline_ms = deadline_ms;
    }
}

void
ag_child_kill (struct ag_child *self)
{
    self->killed = self->killed || !self->exited;
    if (in_force (self, AG_LAYER_CGROUP))
        ag_cgroup_kill (self->cgroups, self->fact.id);
    send_signal (self, SIGKILL);
}

bool
ag_child_empty (const struct ag_child *self)
{
    if (!self->exited || self->fact.proof == AG_PROOF_WALK)
        return false;
    return self->fact.proof == AG_PROOF_PIDNS || ag_cgroup_gone (self->cgroups, self->fact.id);
}

void
ag_child_finish (struct ag_child *self)
{
    self->stage = AG_GONE;
    shut (&self->pidfd);
    owe (self, self->ran ? AG_NURSERY_STOPPED : AG_NURSERY_FAILED);
    if (!self->ran) {
        shut (&self->output[0]);
        shut (&self->output[1]);
    }
}

void
ag_child_retell (struct ag_child *self)
{
    bool over = self->stage == AG_GONE;
    self->owed = 0;
    if (self->ran && self->fact.kind == AG_CHILD_SERVICE)
        owe (self, AG_NURSERY_SPAWNED);
    if (self->ran && self->exited)
        owe (self, AG_NURSERY_EXITED);
    if (over)
        owe (self, self->ran ? AG_NURSERY_STOPPED : AG_NURSERY_FAILED);
}

//  A service's pipes are kept, for the next supervisor.
static void
said_spawned (struct ag_child *self)
{
    if (self->fact.kind != AG_CHILD_WORKER)
        return;
    shut (&self->output[0]);
    shut (&self->output[1]);
}

int
ag_child_say (struct ag_child *self, int pair)
{
    uint32_t what = (uint32_t)__builtin_ctz (self->owed);
    bool pipes = what == AG_NURSERY_SPAWNED && self->output[0] >= 0;
    struct ag_nursery_event event = self->fact;
    event.what = what;
    if (ag_packet_send (pair, &event, sizeof event, self->output, pipes ? 2 : 0))
        return -1;
    self->owed &= ~(1u << what);
    if (what == AG_NURSERY_SPAWNED)
        said_spawned (self);
    return 0;
}

void
ag_child_fini (struct ag_child *self)
{
    shut (&self->pidfd);
    shut (&self->report);
    shut (&self->output[0]);
    shut (&self->output[1]);
}
