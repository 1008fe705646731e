//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/nursery/agsupd_inside.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common/buf.h"
#include "common/log.h"
#include "supervisor/nursery/clock.h"

enum {
    LOCK_MS = 1000,    //  for the supervisor of a killed nursery to die
    SWEEP_MS = 5000,   //  for what an earlier nursery left
    WORKERS_MS = 2000, //  a new supervisor waits so long for the old one's workers to be gone
    DEATHS = 256       //  in one turn
};

static struct ag_resident *
supervisor (struct agsupd *self)
{
    return &self->residents[AG_HOUSE_SUPERVISOR];
}

//  Deaths of the house's own.

static bool
is_final (const struct ag_death *death)
{
    return death->code == ag_code_status (AG_E_CORRUPT) ||
           death->code == ag_code_status (AG_E_CONFIG);
}

static void
mourn (struct agsupd *self, enum ag_house_process who, const struct ag_death *death)
{
    struct ag_resident *resident = &self->residents[who];
    bool expected = self->phase != AG_UP && (death->code == 0 || self->phase != AG_STOPPING);
    ag_log (expected ? AG_INFO : AG_WARN, "%s ended: %s=%d", resident->name,
            death->signal ? "signal" : "code", death->signal ? death->signal : death->code);
    self->brood.residents[who] = 0;
    if (who == AG_HOUSE_SUPERVISOR) {
        ag_house_hang_up (self);
        self->closing_ms = 0;
        ag_brood_end (&self->brood, AG_CHILD_WORKER, 0, ag_clock_ms());
    }
    if (is_final (death) && self->phase <= AG_STOPPING) {
        ag_log (AG_ERROR, "exit status %d of %s is final: the house ends", death->code,
                resident->name);
        self->status = death->code;
        ag_house_drain (self);
    } else if (who == AG_HOUSE_SUPERVISOR && self->phase == AG_STOPPING) {
        ag_house_drain (self);
    }
}

static bool
reap_resident (struct agsupd *self, pid_t pid)
{
    struct ag_death death;
    for (int i = 0; i < AG_HOUSES; i++) {
        if (self->residents[i].pid != pid || !ag_resident_reap (&self->residents[i], &death))
            continue;
        mourn (self, (enum ag_house_process)i, &death);
        return true;
    }
    return false;
}

//  Whatever ended: ours by their pidfd, an orphan that came to us by its number, which is its own until now.
static void
reap (struct agsupd *self)
{
    int n = 0;
    for (; n < DEATHS; n++) {
        siginfo_t info = {0};
        if (waitid (P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || !info.si_pid)
            break;
        if (!reap_resident (self, info.si_pid) && !ag_brood_reap (&self->brood, info.si_pid))
            waitid (P_PID, (id_t)info.si_pid, &info, WEXITED | WNOHANG);
    }
    self->deaths = n == DEATHS;
    if (n)
        ag_brood_stir (&self->brood);
}

static void
take_signals (struct agsupd *self)
{
    struct signalfd_siginfo info;
    while (read (self->signals, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGCHLD)
            self->deaths = true;
        else
            ag_house_signalled (self);
    }
}

//  Starts.

static void
start_broker (struct agsupd *self, const struct ag_setting *setting, struct ag_err *err)
{
    struct ag_resident *broker = &self->residents[AG_HOUSE_BROKER];
    if (ag_resident_start (broker, setting, err))
        ag_log_err (AG_ERROR, err, "broker");
    self->brood.residents[AG_HOUSE_BROKER] = broker->pid;
    self->owe_house = broker->pid > 0;
}

static void
start_supervisor (struct agsupd *self, struct ag_setting setting, struct ag_err *err)
{
    int ends[2] = {-1, -1};
    if (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0) {
        ag_log (AG_ERROR, "socketpair: %s", strerror (errno));
        supervisor (self)->start_ms = ag_clock_ms() + WORKERS_MS;
        return;
    }
    setting.config = self->config;
    setting.given = 2;
    setting.give[0] = ends[1];
    setting.give[1] = self->lock;
    if (ag_resident_start (supervisor (self), &setting, err))
        ag_log_err (AG_ERROR, err, "supervisor");
    close (ends[1]);
    self->pair = ends[0];
    self->full = false;
    self->brood.residents[AG_HOUSE_SUPERVISOR] = supervisor (self)->pid;
    self->owe_current = true;
    self->owe_house = self->residents[AG_HOUSE_BROKER].pid > 0;
    ag_brood_retell (&self->brood);
    if (!supervisor (self)->pid)
        ag_house_hang_up (self);
}

static bool
is_due (struct agsupd *self, enum ag_house_process who, uint64_t now_ms)
{
    const struct ag_resident *resident = &self->residents[who];
    if (resident->pid || now_ms < resident->start_ms || self->phase != AG_UP)
        return false;
    return who != AG_HOUSE_SUPERVISOR || !ag_brood_alive (&self->brood, AG_CHILD_WORKER) ||
           now_ms >= resident->start_ms + WORKERS_MS;
}

//  The supervisor first: it takes longer to begin.
static void
start_due (struct agsupd *self, uint64_t now_ms)
{
    struct ag_err err;
    struct ag_setting setting = {.home = self->home.dir,
                                 .home_id = self->home.id,
                                 .in = self->options->in,
                                 .log = self->options->log};
    if (is_due (self, AG_HOUSE_SUPERVISOR, now_ms))
        start_supervisor (self, setting, &err);
    if (is_due (self, AG_HOUSE_BROKER, now_ms))
        start_broker (self, &setting, &err);
}

//  The loop.

static uint64_t
earlier (uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

//  When the next start may be due; a supervisor whose time has come waits for the workers of the last one.
static uint64_t
next_start (const struct agsupd *self, uint64_t now_ms)
{
    uint64_t next_ms = UINT64_MAX;
    for (int i = 0; i < AG_HOUSES && self->phase == AG_UP; i++) {
        const struct ag_resident *resident = &self->residents[i];
        uint64_t start_ms = resident->start_ms + (now_ms < resident->start_ms ? 0 : WORKERS_MS);
        if (!resident->pid)
            next_ms = earlier (next_ms, start_ms);
    }
    return next_ms;
}

static int
sleep_ms (const struct agsupd *self, uint64_t next_ms)
{
    enum { MOST = 60000 };
    uint64_t now_ms = ag_clock_ms();
    next_ms = earlier (next_ms, next_start (self, now_ms));
    if (self->closing_ms)
        next_ms = earlier (next_ms, self->closing_ms);
    if (self->phase != AG_UP)
        next_ms = earlier (next_ms, self->deadline_ms);
    if (self->deaths || next_ms <= now_ms)
        return 0;
    return (int)earlier (next_ms - now_ms, MOST);
}

static void
wait_for_something (struct agsupd *self, uint64_t next_ms)
{
    self->polls[0] = (struct pollfd){self->signals, POLLIN, 0};
    self->polls[1] = (struct pollfd){self->pair, POLLIN | (self->full ? POLLOUT : 0), 0};
    size_t n = 2 + ag_brood_poll (&self->brood, self->polls + 2, AG_CHILDREN_MAX);
    poll (self->polls, n, sleep_ms (self, next_ms));
}

static void
live (struct agsupd *self)
{
    for (uint64_t next_ms = 0;;) {
        uint64_t now_ms = ag_clock_ms();
        start_due (self, now_ms);
        ag_house_say (self);
        if (ag_house_is_over (self) || ag_house_hurry (self, now_ms))
            return;
        wait_for_something (self, next_ms);
        take_signals (self);
        if (self->deaths)
            reap (self);
        ag_house_hear (self);
        ag_brood_hear (&self->brood);
        next_ms = ag_brood_work (&self->brood, ag_clock_ms());
    }
}

//  The start.

static int
block_signals (struct ag_err *err)
{
    static const int ours[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT};
    sigset_t set;
    sigemptyset (&set);
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        struct sigaction old;
        sigaction (ours[i], NULL, &old);
        if (ours[i] == SIGCHLD || old.sa_handler != SIG_IGN) //  nohup means it
            sigaddset (&set, ours[i]);
    }
    signal (SIGCHLD, SIG_DFL);
    signal (SIGPIPE, SIG_IGN);
    sigprocmask (SIG_SETMASK, &set, NULL);
    int fd = signalfd (-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return fd < 0 ? ag_fail (err, AG_E_SYSTEM, "signalfd: %s", strerror (errno)) : fd;
}

//  Whether the lock is only held by the supervisor of a nursery that was killed, which is about to die as
//  well, or by nobody any more.
static bool
is_let_go (const struct ag_home *home)
{
    struct ag_err err;
    pid_t pid = ag_home_holder (home, &err);
    return pid == 0 || (pid > 0 && kill (pid, 0) < 0 && errno == ESRCH);
}

static int
take_home (struct agsupd *self, struct ag_err *err)
{
    const char *home = self->options->home;
    if (ag_home_make (home, err) || ag_home_open (&self->home, home, err))
        return -1;
    uint64_t deadline_ms = ag_clock_ms() + LOCK_MS;
    while ((self->lock = ag_home_lock (&self->home, err)) < 0) {
        if (err->code != AG_E_RUNNING || !is_let_go (&self->home) || ag_clock_ms() > deadline_ms)
            return -1;
        poll (NULL, 0, 10);
    }
    return 0;
}

static int
sweep (struct agsupd *self, struct ag_err *err)
{
    uint64_t deadline_ms = ag_clock_ms() + SWEEP_MS;
    while (!ag_cgroups_sweep (&self->cgroups) && ag_clock_ms() < deadline_ms)
        poll (NULL, 0, 10);
    return ag_procs_sweep (&self->procs, self->home.id, SWEEP_MS, err);
}

static int
move_in (struct agsupd *self, struct ag_err *err)
{
    const struct ag_agsupd_options *options = self->options;
    if (ag_resident_init (supervisor (self), "agsup-supervisor", options->programs, err) ||
        ag_resident_init (&self->residents[AG_HOUSE_BROKER], "agsup-broker", options->programs,
                          err))
        return -1;
    self->signals = block_signals (err);
    if (self->signals < 0 || ag_procs_open (&self->procs, err))
        return -1;
    ag_cgroups_open (&self->cgroups, self->home.id);
    if (sweep (self, err) || ag_home_prepare (&self->home, err))
        return -1;
    if (prctl (PR_SET_CHILD_SUBREAPER, 1) < 0 || prctl (PR_SET_DUMPABLE, 0) < 0)
        return ag_fail (err, AG_E_SYSTEM, "prctl: %s", strerror (errno));
    struct ag_birth birth = {.home_id = self->home.id,
                             .cgroups = &self->cgroups,
                             .null = options->in,
                             .open_files = options->open_files};
    ag_brood_init (&self->brood, &birth, &self->procs);
    ag_log (AG_INFO, "home=%s id=%s trees=%s", self->home.dir, self->home.id,
            self->cgroups.dir >= 0 ? "cgroup" : "walk");
    return 0;
}

static void
move_out (struct agsupd *self)
{
    ag_house_hang_up (self);
    ag_brood_fini (&self->brood);
    ag_cgroups_close (&self->cgroups);
    ag_procs_close (&self->procs);
    if (self->lock >= 0) {
        ag_home_leave (&self->home);
        close (self->lock);
    }
    ag_home_fini (&self->home);
    if (self->signals >= 0)
        close (self->signals);
}

int
ag_agsupd_run (const struct ag_agsupd_options *options, struct ag_err *err)
{
    struct agsupd *self = ag_xcalloc (1, sizeof *self);
    *self = (struct agsupd){.options = options,
                            .cgroups = {.parent = -1, .dir = -1},
                            .procs = {.children = -1},
                            .ready_fd = options->ready_fd,
                            .config = options->config,
                            .lock = -1,
                            .pair = -1,
                            .signals = -1};
    int rc = take_home (self, err);
    if (!rc)
        rc = move_in (self, err);
    if (!rc) {
        live (self);
        rc = self->status;
    }
    move_out (self);
    free (self);
    return rc;
}
