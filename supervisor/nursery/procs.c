//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/nursery/procs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common/buf.h"
#include "supervisor/nursery/clock.h"

int
ag_procs_open (struct ag_procs *self, struct ag_err *err)
{
    char path[64];
    snprintf (path, sizeof path, "/proc/self/task/%d/children", getpid());
    *self = (struct ag_procs){.dir = opendir ("/proc")};
    if (!self->dir)
        return ag_fail (err, AG_E_SYSTEM, "open /proc: %s", strerror (errno));
    self->children = open (path, O_RDONLY | O_CLOEXEC);
    return 0;
}

void
ag_procs_close (struct ag_procs *self)
{
    if (self->dir)
        closedir (self->dir);
    if (self->children >= 0)
        close (self->children);
    free (self->list);
    *self = (struct ag_procs){.children = -1};
}

static int
open_of (const struct ag_procs *self, pid_t pid, const char *file)
{
    char path[32];
    snprintf (path, sizeof path, "%d/%s", pid, file);
    return openat (dirfd (self->dir), path, O_RDONLY | O_CLOEXEC);
}

//  Field 4 and field 22. The name of a program may hold anything, ")" and spaces too: fields are counted
//  from the last ")", after which the third, a letter, stands.
static bool
look (const struct ag_procs *self, pid_t pid, struct ag_proc *proc)
{
    enum { PARENT = 4, START = 22 };
    char text[1024];
    int fd = open_of (self, pid, "stat");
    if (fd < 0)
        return false;
    ssize_t n = read (fd, text, sizeof text - 1);
    close (fd);
    text[n > 0 ? n : 0] = 0;
    char *at = strrchr (text, ')');
    if (!at || strlen (at) < 4)
        return false;
    *proc = (struct ag_proc){.pid = pid, .owner = AG_OWNER_NONE, .state = at[2]};
    at += 3;
    for (int field = PARENT; field <= START; field++) {
        long long value = strtoll (at, &at, 10);
        if (field == PARENT)
            proc->parent = (pid_t)value;
        proc->start = (uint64_t)value;
    }
    return true;
}

static int
by_pid (const void *a, const void *b)
{
    return ((const struct ag_proc *)a)->pid - ((const struct ag_proc *)b)->pid;
}

static void
add (struct ag_procs *self, const struct ag_proc *proc)
{
    if (self->count == self->room) {
        self->room = self->room ? 2 * self->room : 256;
        self->list = ag_xrealloc (self->list, self->room * sizeof *self->list);
    }
    self->list[self->count++] = *proc;
}

//  What could not be looked at may well be there.
static bool
is_short (void)
{
    return errno == EMFILE || errno == ENFILE || errno == ENOMEM;
}

int
ag_procs_read (struct ag_procs *self)
{
    self->count = 0;
    rewinddir (self->dir);
    for (struct dirent *entry; errno = 0, entry = readdir (self->dir);) {
        struct ag_proc proc;
        pid_t pid = (pid_t)strtol (entry->d_name, NULL, 10);
        if (pid > 0 && look (self, pid, &proc))
            add (self, &proc);
        else if (pid > 0 && is_short())
            return -1;
    }
    if (errno)
        return -1;
    qsort (self->list, self->count, sizeof *self->list, by_pid);
    return 0;
}

static struct ag_proc *
find (const struct ag_procs *self, pid_t pid)
{
    struct ag_proc key = {.pid = pid};
    return self->count ? bsearch (&key, self->list, self->count, sizeof key, by_pid) : NULL;
}

static int
top_by_pid (const void *a, const void *b)
{
    return ((const struct ag_top *)a)->pid - ((const struct ag_top *)b)->pid;
}

void
ag_tops_sort (struct ag_top *tops, size_t count)
{
    qsort (tops, count, sizeof *tops, top_by_pid);
}

const struct ag_top *
ag_top_of (const struct ag_top *tops, size_t count, pid_t pid)
{
    struct ag_top key = {.pid = pid};
    return count ? bsearch (&key, tops, count, sizeof key, top_by_pid) : NULL;
}

//  Up the chain to a top or out of the house; the bound is there because a table of several looks may
//  hold a circle.
static bool
follow (struct ag_procs *self, struct ag_proc *proc, const struct ag_top *tops, size_t count,
        pid_t us)
{
    const struct ag_proc *at = proc;
    for (int depth = 0; depth < 4096; depth++) {
        const struct ag_top *top = ag_top_of (tops, count, at->pid);
        proc->depth = depth;
        if (top || at->parent == us) {
            proc->owner = top ? top->owner : AG_OWNER_STRAY;
            return true;
        }
        if (at->pid == us || at->parent <= 1)
            return true;
        at = find (self, at->parent);
        if (!at)
            return false;
    }
    return false;
}

bool
ag_procs_own (struct ag_procs *self, const struct ag_top *tops, size_t count)
{
    bool whole = true;
    pid_t us = getpid();
    for (size_t i = 0; i < self->count; i++)
        whole = follow (self, &self->list[i], tops, count, us) && whole;
    return whole;
}

//  One reading of our list of children. The numbers are safe: who is on it has not been waited for.
static size_t
see_strays (struct ag_procs *self, const struct ag_top *tops, size_t count, bool end)
{
    char text[1 << 16];
    size_t strays = 0;
    ssize_t n = pread (self->children, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    for (char *at = text, *next; *at; at = next) {
        pid_t pid = (pid_t)strtol (at, &next, 10);
        const struct ag_top *top = ag_top_of (tops, count, pid);
        if (next == at)
            break;
        if (top && top->owner != AG_OWNER_STRAY)
            continue;
        strays++;
        if (end) {
            siginfo_t info;
            kill (pid, SIGKILL);
            waitid (P_PID, (id_t)pid, &info, WEXITED | WNOHANG);
        }
    }
    return n < 0 ? 1 : strays;
}

bool
ag_procs_free_of_strays (struct ag_procs *self, const struct ag_top *tops, size_t count, bool end)
{
    enum { HUNT_MS = 5 };
    uint64_t deadline_ms = ag_clock_ms() + HUNT_MS;
    if (self->children < 0)
        return true; //  then the table has to do
    while (see_strays (self, tops, count, end))
        if (!end || ag_clock_ms() > deadline_ms)
            return false;
    return true;
}

//  The value of the first "NAME=" in these bytes, where each entry stands between two NULs: 1, 0 when none
//  stands here whole, -1 when it is longer than room.
static int
value_in (const char *text, size_t have, const char *needle, size_t size, char *value, size_t room)
{
    const char *at = memmem (text, have, needle, size);
    size_t left = at ? have - (size_t)(at + size - text) : 0,
           n = at ? strnlen (at + size, left) : 0;
    if (n >= room)
        return -1;
    if (!at || n == left)
        return 0;
    memcpy (value, at + size, n + 1);
    return 1;
}

//  Read in pieces, of which the end is kept in front of the next, so that an entry across a border is seen;
//  a NUL of ours stands before the first.
bool
ag_proc_env (const struct ag_procs *self, pid_t pid, const char *name, char *value, size_t room)
{
    char text[1 << 15], needle[64];
    int n = snprintf (needle, sizeof needle, "%c%s=", 0, name);
    size_t size = (size_t)n, border = size + room, kept = 1;
    text[0] = 0;
    int fd = open_of (self, pid, "environ"), found = 0;
    while (fd >= 0 && !found) {
        ssize_t got = read (fd, text + kept, sizeof text - kept);
        if (got <= 0)
            break;
        size_t have = kept + (size_t)got;
        found = value_in (text, have, needle, size, value, room);
        kept = have < border ? have : border;
        memmove (text, text + have - kept, kept);
    }
    if (fd >= 0)
        close (fd);
    return found > 0;
}

int
ag_proc_hold (const struct ag_procs *self, const struct ag_proc *proc)
{
    struct ag_proc now;
    int fd = (int)syscall (SYS_pidfd_open, proc->pid, 0);
    if (fd >= 0 && look (self, proc->pid, &now) && now.start == proc->start)
        return fd;
    if (fd >= 0)
        close (fd);
    return -1;
}

void
ag_proc_signal (const struct ag_procs *self, const struct ag_proc *proc, int signal)
{
    int fd = ag_proc_hold (self, proc);
    if (fd < 0)
        return;
    syscall (SYS_pidfd_send_signal, fd, signal, NULL, 0);
    close (fd);
}

static bool
is_of_home (const struct ag_procs *self, pid_t pid, const char *home_id)
{
    char value[64];
    return ag_proc_env (self, pid, "AGSUP_HOME_ID", value, sizeof value) &&
           !strcmp (value, home_id);
}

//  Looked at again when it is held: what has the number then is the process that is held, or that one has ended.
static int
hold_of_home (const struct ag_procs *self, pid_t pid, const char *home_id)
{
    int fd = is_of_home (self, pid, home_id) ? (int)syscall (SYS_pidfd_open, pid, 0) : -1;
    if (fd < 0 || is_of_home (self, pid, home_id))
        return fd;
    close (fd);
    return -1;
}

//  Signal what belongs to the home, at most `room` of them, and hold what was signalled: how many, or -1 with errno.
//  Nothing else is read of a process than its environment.
static ssize_t
end_some (struct ag_procs *self, const char *home_id, struct pollfd *held, size_t room)
{
    size_t n = 0;
    pid_t us = getpid();
    rewinddir (self->dir);
    for (struct dirent *entry; n < room && (errno = 0, entry = readdir (self->dir));) {
        pid_t pid = (pid_t)strtol (entry->d_name, NULL, 10);
        int pidfd = pid > 0 && pid != us ? hold_of_home (self, pid, home_id) : -1;
        if (pidfd < 0 && is_short())
            break;
        if (pidfd < 0)
            continue;
        syscall (SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
        held[n++] = (struct pollfd){pidfd, POLLIN, 0};
    }
    return n == 0 && errno ? -1 : (ssize_t)n;
}

//  Wait for the end of each and let go; how many did not end.
static size_t
await (struct pollfd *held, size_t count, uint64_t deadline_ms)
{
    size_t stay = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t now_ms = ag_clock_ms();
        stay += poll (&held[i], 1, now_ms < deadline_ms ? (int)(deadline_ms - now_ms) : 0) < 1;
        close (held[i].fd);
    }
    return stay;
}

int
ag_procs_sweep (struct ag_procs *self, const char *home_id, unsigned within_ms, struct ag_err *err)
{
    enum { ROOM = 256 };
    struct pollfd held[ROOM];
    uint64_t deadline_ms = ag_clock_ms() + within_ms;
    for (ssize_t n = 1; n;) {
        n = end_some (self, home_id, held, ROOM);
        if (n < 0)
            return ag_fail (err, AG_E_SYSTEM, "read /proc: %s", strerror (errno));
        size_t stay = await (held, (size_t)n, deadline_ms);
        if (stay || (n && ag_clock_ms() > deadline_ms))
            return ag_fail (err, AG_E_TIMEOUT,
                            "%zu processes of an earlier start do not end in %u ms",
                            stay ? stay : (size_t)n, within_ms);
    }
    return 0;
}
