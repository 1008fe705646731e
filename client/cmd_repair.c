//  Keeping: repair, which is done by the program that knows the store.
//  SPDX-License-Identifier: Apache-2.0
#include "client/client.h"
#include "client/print.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int
spawn (char *const *argv, int out, pid_t *pid, struct ag_err *err)
{
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init (&files);
    posix_spawn_file_actions_adddup2 (&files, out, STDOUT_FILENO);
    int no = posix_spawnp (pid, argv[0], &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy (&files);
    return no ? ag_fail (err, AG_E_SYSTEM, "%s: %s", argv[0], strerror (no)) : 0;
}

static void
read_all (int fd, struct ag_buf *out)
{
    char bytes[65536];
    ssize_t n;
    while ((n = read (fd, bytes, sizeof bytes)) > 0 || (n < 0 && errno == EINTR))
        ag_buf_add (out, bytes, n > 0 ? (size_t)n : 0);
}

//  What the program wrote, and how it ended.
static int
run (char *const *argv, struct ag_buf *out, struct ag_err *err)
{
    int ends[2], status = 0;
    pid_t pid;
    if (pipe2 (ends, O_CLOEXEC))
        return ag_fail (err, AG_E_SYSTEM, "pipe: %s", strerror (errno));
    int rc = spawn (argv, ends[1], &pid, err);
    close (ends[1]);
    if (!rc) {
        read_all (ends[0], out);
        while (waitpid (pid, &status, 0) < 0 && errno == EINTR)
            continue;
    }
    close (ends[0]);
    if (!rc && WIFSIGNALED (status))
        return ag_fail (err, AG_E_FAILED, "%s: %s", argv[0], strsignal (WTERMSIG (status)));
    return rc;
}

//  An answer as the house gives them: what went wrong, or the report.
static int
check_answer (struct ag_str answer, struct ag_err *err)
{
    struct ag_str code = ag_pick_text (answer, "code"), message = ag_pick_text (answer, "message");
    if (code.n)
        return ag_fail (err, ag_code_of (code.p, code.n), "%.*s", AG_STR_ARG (message));
    return ag_kind_of (answer) == AG_MAP ? 0 : ag_fail (err, AG_E_FAILED, "it said nothing");
}

int
ag_cmd_repair (struct ag_client *self, const struct ag_args_repair *args, struct ag_err *err)
{
    if (!args->to || !*args->to)
        return ag_fail (err, AG_E_USAGE, "repair needs --to DIR, the new home");
    struct ag_buf out = {0};
    char *program = ag_place_program ("agsup-supervisor");
    char *argv[] = {program, "--repair", (char *)args->from, (char *)args->to, NULL};
    ag_client_progress (self, "reading %s", args->from);
    int rc = run (argv, &out, err) || check_answer (ag_buf_str (&out), err) ? -1 : 0;
    ag_client_progress (self, NULL);
    struct ag_str report = ag_buf_str (&out);
    if (!rc) {
        (self->look.json ? ag_look_json : ag_print_repair) (&self->look, report);
        self->status = ag_pick_bool (report, "ok") ? 0 : ag_code_status (AG_E_CORRUPT);
    }
    free (program);
    ag_buf_fini (&out);
    return rc;
}
