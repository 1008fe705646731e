//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/nursery/resident.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common/hash.h"
#include "common/log.h"
#include "supervisor/nursery/birth.h"
#include "supervisor/nursery/clock.h"

enum { DELAY_MS = 50, DELAY_MOST_MS = 5000, DOUBLINGS = 7 };

uint64_t
ag_resident_delay_ms (unsigned deaths)
{
    if (deaths < 2)
        return 0;
    if (deaths - 2 >= DOUBLINGS)
        return DELAY_MOST_MS;
    return (uint64_t)DELAY_MS << (deaths - 2);
}

int
ag_resident_init (struct ag_resident *self, const char *name, const char *dir, struct ag_err *err)
{
    *self = (struct ag_resident){.name = name, .pidfd = -1};
    if ((size_t)snprintf (self->program, sizeof self->program, "%s/%s", dir, name) >=
        sizeof self->program)
        return ag_fail (err, AG_E_SYSTEM, "the path of %s is too long: %s", name, dir);
    if (access (self->program, X_OK) < 0)
        return ag_fail (err, AG_E_SYSTEM, "%s: %s", self->program, strerror (errno));
    return 0;
}

//  In the child: what it gets stands at 3 and above, all else closes at exec. High numbers first, so that
//  no descriptor is overwritten before it was moved.
static int
place_descriptors (const struct ag_setting *setting)
{
    int high[2] = {-1, -1};
    if (dup2 (setting->in, 0) < 0 || dup2 (setting->log, 1) < 0 || dup2 (setting->log, 2) < 0)
        return -1;
    for (int i = 0; i < setting->given; i++)
        if ((high[i] = fcntl (setting->give[i], F_DUPFD_CLOEXEC, 3 + setting->given)) < 0)
            return -1;
    for (int i = 0; i < setting->given; i++)
        if (dup2 (high[i], 3 + i) < 0)
            return -1;
    return (int)syscall (SYS_close_range, 3 + setting->given, ~0U, CLOSE_RANGE_CLOEXEC);
}

_Noreturn static void
become (const struct ag_resident *self, const struct ag_setting *setting, pid_t nursery)
{
    const char *argv[] = {self->name, "--home", setting->home, NULL, NULL, NULL};
    if (setting->config) {
        argv[3] = "--config";
        argv[4] = setting->config;
    }
    ag_birth_reset_signals();
    bool ready = setsid() >= 0 && !prctl (PR_SET_PDEATHSIG, SIGKILL) && getppid() == nursery &&
                 !prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
                 !setenv ("AGSUP_HOME_ID", setting->home_id, 1) &&
                 !setenv ("AGSUP_NONCE", self->nonce, 1) && !place_descriptors (setting);
    if (ready)
        execv (self->program, (char *const *)argv);
    ag_log (AG_ERROR, "%s does not start: %s", self->program, strerror (errno));
    _exit (127);
}

static void
count_death (struct ag_resident *self)
{
    self->pid = 0;
    self->deaths++;
    self->start_ms = ag_clock_ms() + ag_resident_delay_ms (self->deaths);
}

int
ag_resident_start (struct ag_resident *self, const struct ag_setting *setting, struct ag_err *err)
{
    pid_t nursery = getpid();
    uint8_t random[(AG_NONCE - 1) / 2];
    ag_random (random, sizeof random);
    ag_hex (random, sizeof random, self->nonce);
    self->pid = fork();
    if (self->pid == 0)
        become (self, setting, nursery);
    self->pidfd = self->pid < 0 ? -1 : (int)syscall (SYS_pidfd_open, self->pid, 0);
    if (self->pidfd >= 0)
        return 0;
    ag_fail (err, AG_E_SYSTEM, "start of %s: %s", self->name, strerror (errno));
    if (self->pid > 0)
        kill (self->pid, SIGKILL); //  our own child and not yet waited for: the number is its
    count_death (self);
    return -1;
}

void
ag_resident_ready (struct ag_resident *self)
{
    self->deaths = 0;
}

bool
ag_resident_reap (struct ag_resident *self, struct ag_death *death)
{
    siginfo_t info = {0};
    if (!self->pid || waitid (P_PIDFD, (id_t)self->pidfd, &info, WEXITED | WNOHANG) < 0 ||
        !info.si_pid)
        return false;
    bool exited = info.si_code == CLD_EXITED;
    *death = (struct ag_death){exited ? info.si_status : -1, exited ? 0 : info.si_status};
    close (self->pidfd);
    self->pidfd = -1;
    count_death (self);
    return true;
}

void
ag_resident_signal (const struct ag_resident *self, int signal)
{
    if (self->pid)
        syscall (SYS_pidfd_send_signal, self->pidfd, signal, NULL, 0);
}
