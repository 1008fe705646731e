//  SPDX-License-Identifier: Apache-2.0
#include "common/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { DEPTH = 1000, ATTEMPTS = 3 };

static int64_t
clock_ms (clockid_t clock)
{
    struct timespec now;
    clock_gettime (clock, &now);
    return now.tv_sec * INT64_C (1000) + now.tv_nsec / 1000000;
}

int
ag_proc_read (pid_t pid, struct ag_proc *out, struct ag_err *err)
{
    char path[32], text[1024];
    snprintf (path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open (path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read (fd, text, sizeof text - 1);
    if (fd >= 0)
        close (fd);
    if (n <= 0)
        return ag_fail (err, AG_E_NOT_FOUND, "process %d is gone", (int)pid);
    text[n] = 0;
    //  The name in parentheses may hold anything, so the fields are counted from the last of them.
    const char *rest = strrchr (text, ')');
    unsigned long long ticks;
    if (!rest ||
        sscanf (rest + 1,
                " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                &out->parent, &ticks) != 2)
        return ag_fail (err, AG_E_SYSTEM, "%s is not understood", path);
    //  Ticks count from boot, sleep included, which the monotonic clock leaves out.
    int64_t boot_ms = (int64_t)(ticks * 1000 / (unsigned long long)sysconf (_SC_CLK_TCK));
    out->started_ms = boot_ms - clock_ms (CLOCK_BOOTTIME) + clock_ms (CLOCK_MONOTONIC);
    return 0;
}

static int
climb (pid_t pid, pid_t ancestor, struct ag_err *err)
{
    for (int i = 0; i < DEPTH; i++) {
        struct ag_proc proc;
        if (ag_proc_read (pid, &proc, err))
            return -1;
        if (proc.parent == ancestor)
            return 1;
        if (proc.parent <= 1)
            return 0;
        pid = proc.parent;
    }
    return ag_fail (err, AG_E_SYSTEM, "process %d has more than %d ancestors", (int)pid, DEPTH);
}

//  A parent may end while we climb; its children then have another one, so we climb again.
int
ag_proc_descends (pid_t pid, pid_t ancestor, struct ag_err *err)
{
    int rc = -1;
    for (int i = 0; i < ATTEMPTS && rc < 0; i++)
        rc = climb (pid, ancestor, err);
    return rc;
}
