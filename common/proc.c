//  SPDX-License-Identifier: Apache-2.0
#include "common/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { DEPTH = 1000, ATTEMPTS = 3 };
enum { PARENT = 2, STARTED = 20 }; //  fields of stat after the name

static int64_t
clock_ms (clockid_t clock)
{
    struct timespec now;
    clock_gettime (clock, &now);
    return now.tv_sec * INT64_C (1000) + now.tv_nsec / 1000000;
}

//  The nth of the fields that follow, each after one space; NULL when there are fewer.
static const char *
field (const char *rest, int n)
{
    while (rest && n--)
        if ((rest = strchr (rest, ' ')))
            rest++;
    return rest;
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
    const char *parent = field (rest, PARENT), *ticks = field (rest, STARTED);
    if (!parent || !ticks)
        return ag_fail (err, AG_E_SYSTEM, "%s is not understood", path);
    out->parent = (pid_t)strtol (parent, NULL, 10);
    //  Ticks count from boot, sleep included, which the monotonic clock leaves out.
    int64_t boot_ms = strtoll (ticks, NULL, 10) * 1000 / sysconf (_SC_CLK_TCK);
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
