//  SPDX-License-Identifier: Apache-2.0
#include "client/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

//  Not every machine has it; the log is shown all the same.
static const char less[] = "if command -v less >/dev/null; then exec less; else exec cat; fi";

static const char *
program (void)
{
    const char *said = getenv ("AGSUP_PAGER");
    if (!said)
        said = getenv ("PAGER");
    if (!said)
        said = less;
    return *said && strcmp (said, "cat") != 0 ? said : NULL;
}

static pid_t
start (const char *command, int in)
{
    char *argv[] = {"sh", "-c", (char *)command, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid = 0;
    setenv ("LESS", "FRX", 0);
    posix_spawn_file_actions_init (&actions);
    posix_spawn_file_actions_adddup2 (&actions, in, STDIN_FILENO);
    if (posix_spawn (&pid, "/bin/sh", &actions, NULL, argv, environ))
        pid = 0;
    posix_spawn_file_actions_destroy (&actions);
    return pid;
}

void
ag_pager_begin (struct ag_pager *self, const struct ag_look *look)
{
    int ends[2];
    const char *command = program();
    *self = (struct ag_pager){0};
    if (!look->terminal || look->json || look->quiet || !command || pipe2 (ends, O_CLOEXEC))
        return;
    self->pid = start (command, ends[0]);
    close (ends[0]);
    if (self->pid) {
        fflush (stdout);
        signal (SIGINT, SIG_IGN); //  the pager's to take
        self->saved = fcntl (STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
        dup2 (ends[1], STDOUT_FILENO);
    }
    close (ends[1]);
}

void
ag_pager_end (struct ag_pager *self)
{
    int status;
    if (!self->pid)
        return;
    fflush (stdout);
    dup2 (self->saved, STDOUT_FILENO);
    close (self->saved);
    while (waitpid (self->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    signal (SIGINT, SIG_DFL);
    self->pid = 0;
}
