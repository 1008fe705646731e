/*  agsup - the command line of a fleet.
 *
 *  A command that needs no other process is done here with libc alone, so that it starts as fast as a
 *  program can. The others live in a shared object beside, with the libraries they need: linked here
 *  they would cost each start four times as much. agsupd is started before they are loaded.
 *  SPDX-License-Identifier: Apache-2.0
 */
#include "client/help.h"
#include "client/start.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int run_fn (const struct ag_call *call, struct ag_err *err);
typedef int loaded_fn (const struct ag_call *call, const struct ag_started *started,
                       struct ag_err *err);

//  The handlers that are linked here; NULL: the shared object has it.
static run_fn *const here[AG_CMDS] = {
#define HANDLER_HERE(name) [AG_CMD_##name] = ag_cmd_##name,
#define HANDLER_READY(name)
#define HANDLER_LATER(name)
#define HANDLER_SHARED(name)
#define GROUP(name, title)
#define CMD(name, words, stage, effect, summary) HANDLER_##stage (name)
#define ARG(...)
#define OPT(...)
#define EX(...)
#define END(name)
#include "schemas/commands.def"
};

//  agsup-client.so beside the program, or where it is installed.
static loaded_fn *
load (struct ag_err *err)
{
    static const char *const places[] = {"agsup-client.so",
                                         "../" AG_LIBDIR "/agsup/agsup-client.so"};
    char self[PATH_MAX], path[PATH_MAX + 64];
    ssize_t n = readlink ("/proc/self/exe", self, sizeof self - 1);
    void *library = NULL;
    while (n > 0 && self[n - 1] != '/')
        n--;
    self[n > 0 ? n : 0] = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places && !library; i++) {
        snprintf (path, sizeof path, "%s%s", self, places[i]);
        library = dlopen (path, RTLD_LAZY);
    }
    loaded_fn *run = library ? (loaded_fn *)dlsym (library, "ag_client_run") : NULL;
    if (!run)
        ag_fail (err, AG_E_SYSTEM, "%s", dlerror());
    return run;
}

static int
run_loaded (const struct ag_call *call, struct ag_err *err)
{
    struct ag_started started = {0};
    if (ag_start (call, &started, err))
        return -1;
    loaded_fn *run = load (err);
    return run ? run (call, &started, err) : -1;
}

static int
run (const struct ag_call *call, struct ag_err *err)
{
    if (call->any.version)
        return ag_cmd_version (call, err);
    if (call->any.help)
        return ag_cmd_help (call, err);
    if (!call->command)
        return ag_fail (err, AG_E_USAGE, "no command; `agsup help` shows them all");
    if (call->command->stage == AG_STAGE_LATER)
        return ag_fail (err, AG_E_NOT_BUILT, "`agsup %s` is not built yet", call->command->words);
    return here[call->command->cmd] ? here[call->command->cmd](call, err) : run_loaded (call, err);
}

//  No file that is opened gets the number of a standard descriptor that whoever called us has closed. To read or
//  write these still fails, and programs that are started here find them closed.
static void
hold_standard (void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl (fd, F_GETFD) < 0 &&
            open ("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC) != fd)
            _exit (ag_code_status (AG_E_SYSTEM)); //  and nowhere to say it
}

int
main (int argc, char **argv)
{
    struct ag_call call;
    struct ag_err err = {0};
    hold_standard();
    int rc = ag_parse (argc, argv, &call, &err) ? -1 : run (&call, &err);
    if (rc >= 0 && ag_look_flush (&err))
        rc = -1;
    if (rc < 0)
        rc = err.code ? ag_look_error (&call, &err) : 0;
    ag_call_fini (&call);
    return rc;
}
