//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/nursery/infant.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "common/buf.h"
#include "supervisor/nursery/mounts.h"
#include "supervisor/nursery/wall.h"

static bool
has (const struct ag_infant *self, enum ag_layer layer)
{
    return self->request.layers >> layer & 1;
}

//  All memory that a later step needs is taken here: there may be a limit on it afterwards.
static int
read_image (struct ag_infant *self)
{
    if (ag_image_read (self->image, &self->strings))
        return -1;
    char **env = self->strings.list[AG_IMAGE_ENV] -= 2;
    env[0] = ag_xprintf ("AGSUP_HOME_ID=%s", self->birth->home_id);
    env[1] = ag_xprintf ("AGSUP_NONCE=%s", self->request.nonce);
    return 0;
}

static int
join_cgroup (struct ag_infant *self)
{
    return self->grouped ? 0 : ag_cgroup_join (self->birth->cgroups, self->request.id);
}

static int
put (const char *path, const char *text)
{
    int fd = open (path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = write (fd, text, strlen (text));
    int error = errno;
    close (fd);
    errno = error;
    return n < 0 ? -1 : 0;
}

//  In a user namespace of our own we stay who we are. The files belong to us only while we are dumpable.
static int
map_user (struct ag_infant *self)
{
    char uids[32], gids[32];
    if (!(self->namespaces & CLONE_NEWUSER))
        return 0;
    snprintf (uids, sizeof uids, "%u %u 1", self->uid, self->uid);
    snprintf (gids, sizeof gids, "%u %u 1", self->gid, self->gid);
    if (prctl (PR_SET_DUMPABLE, 1) < 0 || put ("/proc/self/setgroups", "deny") ||
        put ("/proc/self/uid_map", uids) || put ("/proc/self/gid_map", gids))
        return -1;
    return prctl (PR_SET_DUMPABLE, 0);
}

void
ag_birth_reset_signals (void)
{
    sigset_t none;
    for (int i = 1; i <= SIGRTMAX; i++)
        signal (i, SIG_DFL);
    sigemptyset (&none);
    sigprocmask (SIG_SETMASK, &none, NULL);
}

static int
new_session (struct ag_infant *self)
{
    (void)self;
    ag_birth_reset_signals();
    return setsid() < 0 ? -1 : 0;
}

//  Standard descriptors and the report; the nursery's own are gone from here on.
static int
wire_up (struct ag_infant *self)
{
    unsigned report = (unsigned)self->report;
    if (dup2 (self->birth->null, 0) < 0 || dup2 (self->output[0], 1) < 0 ||
        dup2 (self->output[1], 2) < 0)
        return -1;
    if (report > 3 && syscall (SYS_close_range, 3, report - 1, 0) < 0)
        return -1;
    return (int)syscall (SYS_close_range, report + 1, ~0U, 0);
}

static int
enter_directory (struct ag_infant *self)
{
    return chdir (self->strings.dir);
}

static int
open_program (struct ag_infant *self, char *path)
{
    struct stat st;
    int fd = open (path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return -1;
    if (fstat (fd, &st) < 0 || !S_ISREG (st.st_mode) || !(st.st_mode & 0111)) {
        close (fd);
        errno = EACCES;
        return -1;
    }
    self->executable = fd;
    self->program = path;
    return 0;
}

static const char *
search_path (char *const *env)
{
    for (; *env; env++)
        if (!strncmp (*env, "PATH=", 5))
            return *env + 5;
    return "/usr/local/bin:/usr/bin:/bin";
}

//  As a shell finds it: the first that may be executed; else the most telling reason.
static int
find_program (struct ag_infant *self)
{
    char *name = self->strings.list[AG_IMAGE_ARGV][0];
    if (strchr (name, '/'))
        return open_program (self, name);
    int why = ENOENT;
    const char *at = search_path (self->strings.list[AG_IMAGE_ENV]);
    for (size_t n; *name && *at; at += n + (at[n] == ':')) {
        n = strcspn (at, ":");
        if (!open_program (self, ag_xprintf ("%.*s/%s", n ? (int)n : 1, n ? at : ".", name)))
            return 0;
        if (errno == EACCES)
            why = EACCES;
    }
    errno = why;
    return -1;
}

static int
enter_mounts (struct ag_infant *self)
{
    char ***list = self->strings.list;
    struct ag_mounts mounts = {.readable = list[AG_IMAGE_READABLE],
                               .dir = self->strings.dir,
                               .own = list[AG_IMAGE_OWN],
                               .hidden = list[AG_IMAGE_HIDDEN],
                               .proc = has (self, AG_LAYER_PIDNS)};
    return ag_mounts_enter (&mounts);
}

static int
lower (int resource, uint64_t soft, uint64_t hard)
{
    struct rlimit limit;
    if (getrlimit ((__rlimit_resource_t)resource, &limit) < 0)
        return -1;
    if (hard < limit.rlim_max)
        limit.rlim_max = hard;
    limit.rlim_cur = soft < limit.rlim_max ? soft : limit.rlim_max;
    return setrlimit ((__rlimit_resource_t)resource, &limit);
}

//  The kernel counts processor time in nanoseconds of 64 bits: more seconds would wrap to almost none.
static const uint64_t cpu_most_s = UINT64_MAX / 1000000000 - 1;

static int
set_limits (struct ag_infant *self)
{
    const struct ag_rlimits *asked = &self->request.limits;
    uint64_t cpu_s = asked->cpu_s < cpu_most_s ? asked->cpu_s : cpu_most_s;
    const struct {
        int resource;
        uint64_t value, more;
    } rows[] = {{RLIMIT_AS, asked->address_space_bytes, 0},
                {RLIMIT_CPU, cpu_s, 1},
                {RLIMIT_NOFILE, asked->open_files, 0},
                {RLIMIT_NPROC, asked->processes, 0},
                {RLIMIT_FSIZE, asked->file_bytes, 0}};
    if (lower (RLIMIT_CORE, 0, 0) || setrlimit (RLIMIT_NOFILE, &self->birth->open_files))
        return -1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].value && lower (rows[i].resource, rows[i].value, rows[i].value + rows[i].more))
            return -1;
    return 0;
}

static int
change_user (struct ag_infant *self)
{
    uid_t uid = self->request.uid;
    gid_t gid = self->request.gid;
    return setgroups (0, NULL) || setresgid (gid, gid, gid) || setresuid (uid, uid, uid) ? -1 : 0;
}

//  Asked for first, looked at then: a nursery that died in between is noticed by one of the two. Out of a
//  pid namespace the parent is 0 for ever; the report that nobody can read any more tells it there.
static int
tie_to_parent (struct ag_infant *self)
{
    bool apart = self->namespaces & CLONE_NEWPID;
    struct pollfd report = {self->report, 0, 0};
    if (prctl (PR_SET_PDEATHSIG, SIGKILL) < 0)
        return -1;
    if (getppid() == (apart ? 0 : self->nursery) && poll (&report, 1, 0) == 0)
        return 0;
    errno = ESRCH;
    return -1;
}

static int
close_at_exec (struct ag_infant *self)
{
    (void)self;
    return (int)syscall (SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC);
}

static int
adopt_orphans (struct ag_infant *self)
{
    (void)self;
    return prctl (PR_SET_CHILD_SUBREAPER, 1);
}

static int
renounce_privileges (struct ag_infant *self)
{
    (void)self;
    return prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static int
raise_landlock (struct ag_infant *self)
{
    return ag_wall_landlock (self->strings.list[AG_IMAGE_READABLE],
                             self->strings.list[AG_IMAGE_OWN], self->strings.dir, self->executable);
}

static int
raise_seccomp (struct ag_infant *self)
{
    size_t count = self->strings.filter_bytes / sizeof (struct sock_filter);
    struct sock_fprog program = {(unsigned short)count, self->strings.filter};
    if (!count || count > BPF_MAXINSNS ||
        self->strings.filter_bytes % sizeof (struct sock_filter)) {
        errno = EINVAL;
        return -1;
    }
    return prctl (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static bool
is_script (const struct ag_infant *self)
{
    char magic[2] = "";
    int fd = open (self->program, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read (fd, magic, sizeof magic);
    return n == sizeof magic && magic[0] == '#' && magic[1] == '!';
}

//  With a uid or a file system of its own a child may not reach its program any more, but it holds it open. An
//  interpreter opens its script by name: that one must lie where the uid can read it.
static int
run (struct ag_infant *self)
{
    char **argv = self->strings.list[AG_IMAGE_ARGV], **env = self->strings.list[AG_IMAGE_ENV];
    bool apart = has (self, AG_LAYER_UID) || has (self, AG_LAYER_MOUNTNS);
    if (apart && !is_script (self))
        return (int)syscall (SYS_execveat, self->executable, "", argv, env, AT_EMPTY_PATH);
    return execve (self->program, argv, env);
}

enum { ALWAYS = -1 };

static const struct {
    int (*take) (struct ag_infant *self);
    int layer; //  taken when that is asked for
} steps[AG_STEPS] = {
    [AG_STEP_IMAGE] = {read_image, ALWAYS},
    [AG_STEP_CGROUP] = {join_cgroup, AG_LAYER_CGROUP},
    [AG_STEP_NAMESPACES] = {map_user, ALWAYS},
    [AG_STEP_SESSION] = {new_session, ALWAYS},
    [AG_STEP_STDIO] = {wire_up, ALWAYS},
    [AG_STEP_DIRECTORY] = {enter_directory, ALWAYS},
    [AG_STEP_EXECUTABLE] = {find_program, ALWAYS},
    [AG_STEP_MOUNTS] = {enter_mounts, AG_LAYER_MOUNTNS},
    [AG_STEP_LIMITS] = {set_limits, ALWAYS},
    [AG_STEP_UID] = {change_user, AG_LAYER_UID},
    [AG_STEP_PARENT] = {tie_to_parent, ALWAYS},
    [AG_STEP_DESCRIPTORS] = {close_at_exec, ALWAYS},
    [AG_STEP_SUBREAPER] = {adopt_orphans, ALWAYS},
    [AG_STEP_PRIVILEGES] = {renounce_privileges, ALWAYS},
    [AG_STEP_LANDLOCK] = {raise_landlock, AG_LAYER_LANDLOCK},
    [AG_STEP_SECCOMP] = {raise_seccomp, AG_LAYER_SECCOMP},
    [AG_STEP_EXEC] = {run, ALWAYS},
};

uint32_t
ag_infant_lost (int layer)
{
    uint32_t lost = layer < 0 ? 0 : 1u << layer;
    return layer == AG_LAYER_CGROUP ? lost | 1u << AG_LAYER_MEMORY | 1u << AG_LAYER_PIDS : lost;
}

//  Whether a child may go on without what a step could not give; the nursery hears of it either way.
static bool
report (const struct ag_infant *self, uint32_t step, int error)
{
    int layer = steps[step].layer;
    bool fatal = layer == ALWAYS || self->request.required & ag_infant_lost (layer);
    struct ag_report text = {step, error, fatal, layer};
    return write (self->report, &text, sizeof text) == sizeof text && !fatal;
}

void
ag_infant_grow (struct ag_infant *self)
{
    for (uint32_t step = 0; step < AG_STEPS; step++) {
        int layer = steps[step].layer;
        bool due = steps[step].take && (layer == ALWAYS || has (self, (enum ag_layer)layer));
        if (due && steps[step].take (self) && !report (self, step, errno))
            break;
    }
    _exit (127);
}
