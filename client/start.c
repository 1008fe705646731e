//  SPDX-License-Identifier: Apache-2.0
#include "client/start.h"
#include "client/place.h"
#include "common/home.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

//  Whose lock it is, if a house stands already.
static int
check_is_free (const char *dir, struct ag_err *err)
{
    struct ag_home home;
    struct ag_err none;
    if (ag_home_open (&home, dir, &none))
        return 0;
    pid_t pid = ag_home_holder (&home, err);
    ag_home_fini (&home);
    return pid > 0 ? ag_fail (err, AG_E_RUNNING, "process %d holds the home %s", pid, dir) : pid;
}

//  HOME/log/house.log, open for appending.
static int
open_log (const char *dir, char path[PATH_MAX], struct ag_err *err)
{
    if (ag_home_make (dir, err))
        return -1;
    snprintf (path, PATH_MAX, "%s/log", dir);
    if (mkdir (path, 0700) && errno != EEXIST)
        return ag_fail (err, AG_E_SYSTEM, "mkdir %s: %s", path, strerror (errno));
    snprintf (path, PATH_MAX, "%s/log/house.log", dir);
    return ag_home_open_file (path, O_WRONLY | O_CREAT | O_APPEND, err);
}

//  In a session of its own, with nothing of ours but the log, nor of whoever called us: a shell's lock, say.
static int
spawn_nursery (char *const *argv, int log, pid_t *pid, struct ag_err *err)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    posix_spawn_file_actions_init (&files);
    posix_spawn_file_actions_addopen (&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen (&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2 (&files, log, STDERR_FILENO);
    posix_spawn_file_actions_addclosefrom_np (&files, STDERR_FILENO + 1);
    posix_spawnattr_init (&attr);
    posix_spawnattr_setflags (&attr, POSIX_SPAWN_SETSID);
    int no = posix_spawnp (pid, argv[0], &files, &attr, argv, environ);
    posix_spawnattr_destroy (&attr);
    posix_spawn_file_actions_destroy (&files);
    return no ? ag_fail (err, AG_E_SYSTEM, "%s: %s", argv[0], strerror (no)) : 0;
}

static int
detach (const char *dir, char *const *argv, struct ag_started *started, struct ag_err *err)
{
    int log = open_log (dir, started->log, err);
    if (log < 0)
        return -1;
    started->from = lseek (log, 0, SEEK_END);
    int rc = spawn_nursery (argv, log, &started->pid, err);
    close (log);
    return rc;
}

static int
start (const struct ag_place *place, bool detached, struct ag_started *started, struct ag_err *err)
{
    if (!place->config)
        return ag_fail (err, AG_E_CONFIG, "no agsup.toml here or upwards; `agsup init` makes one");
    if (check_is_free (place->home, err))
        return -1;
    char *program = ag_place_program ("agsupd");
    char *argv[] = {program, "--home", place->home, "--config", place->config, NULL};
    int rc = 0;
    if (detached)
        rc = detach (place->home, argv, started, err);
    else {
        execvp (program, argv);
        rc = ag_fail (err, AG_E_SYSTEM, "%s: %s", program, strerror (errno));
    }
    free (program);
    return rc;
}

int
ag_start (const struct ag_call *call, struct ag_started *started, struct ag_err *err)
{
    struct ag_place place;
    if (call->command->cmd != AG_CMD_up)
        return 0;
    if (ag_place_find (call, &place, err))
        return -1;
    int rc = start (&place, call->up.detach, started, err);
    ag_place_fini (&place);
    return rc;
}
