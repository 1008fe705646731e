//  agsup-worker - runs the script packs of one run, behind walls, for the supervisor that started it.
//  SPDX-License-Identifier: Apache-2.0
#include "common/log.h"
#include "worker/host.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

static int
usage (void)
{
    puts ("agsup-worker is started by agsup-supervisor, which tells it where to connect.\n"
          "  AGSUP_WORKER  endpoint of the worker protocol (ipc)\n"
          "  AGSUP_NONCE   what hello proves itself with\n"
          "  AGSUP_FILES   directories it may read below, separated by colons\n"
          "  AGSUP_LANDLOCK  off: without that wall\n"
          "Exit status: 0 stopped, 7 a script met a limit, 69 the link was lost, else an error.");
    return 0;
}

int
main (int argc, char **argv)
{
    struct ag_err err;
    struct ag_host_place place = {getenv ("AGSUP_FILES"), getenv ("AGSUP_LANDLOCK")};
    ag_log_name ("agsup-worker");
    if (argc > 1)
        return strcmp (argv[1], "--version") ? usage() : puts (AG_RELEASE) < 0;
    prctl (PR_SET_DUMPABLE, 0);
    signal (SIGPIPE, SIG_IGN);
    if (!ag_host_run (&place, &err))
        return 0;
    ag_log_err (AG_ERROR, &err, "worker");
    return ag_code_status (err.code);
}
