//  agsupd: the parent of everything. SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "common/home.h"
#include "common/log.h"
#include "supervisor/nursery/agsupd.h"
#include "supervisor/nursery/probe.h"

static const char usage[] =
    "agsupd --home DIR [--config FILE]\n"
    "\n"
    "The parent of a fleet's processes; `agsup up` starts it. It ends in order at SIGTERM or "
    "SIGINT,\n"
    "at once at the second one.\n"
    "\n"
    "  --home DIR       where everything of this fleet lives; made when it does not exist\n"
    "  --config FILE    given to the supervisor at its first start\n"
    "  --ready-fd N     gets a line when the fleet is up, then closes\n"
    "  --programs DIR   where agsup-supervisor and agsup-broker are, if not beside agsupd\n"
    "  --stop-within S  seconds that an orderly end may take before all is killed (30)\n"
    "  --probe          try each net and layer on this machine, say which hold, and end\n";

enum { HOME = 1, CONFIG, PROGRAMS, READY_FD, STOP_WITHIN, PROBE };

static const struct option longs[] = {
    {"home", required_argument, NULL, HOME},
    {"config", required_argument, NULL, CONFIG},
    {"ready-fd", required_argument, NULL, READY_FD},
    {"programs", required_argument, NULL, PROGRAMS},
    {"probe", no_argument, NULL, PROBE},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {"stop-within", required_argument, NULL, STOP_WITHIN},
    {NULL, 0, NULL, 0},
};

struct arguments {
    const char *home, *config, *programs;
    int ready_fd, stop_s;
    bool help, version, probe;
};

static int
read_number (int *number, const char *name, const char *text, int most, struct ag_err *err)
{
    char *end;
    errno = 0;
    long value = strtol (text, &end, 10);
    if (*end || end == text || errno || value < 0 || value > most)
        return ag_fail (err, AG_E_USAGE, "--%s is %s, not 0 to %d", name, text, most);
    *number = (int)value;
    return 0;
}

static int
take (struct arguments *args, int option, const char *text, struct ag_err *err)
{
    const char **texts[] = {
        [HOME] = &args->home, [CONFIG] = &args->config, [PROGRAMS] = &args->programs};
    if (option == READY_FD)
        return read_number (&args->ready_fd, "ready-fd", text, 65535, err);
    if (option == STOP_WITHIN)
        return read_number (&args->stop_s, "stop-within", text, 86400, err);
    if (option == PROBE)
        args->probe = true;
    else if (option == 'h')
        args->help = true;
    else if (option == 'V')
        args->version = true;
    else
        *texts[option] = text;
    return 0;
}

static int
parse (int argc, char **argv, struct arguments *args, struct ag_err *err)
{
    *args = (struct arguments){.ready_fd = -1, .stop_s = 30};
    opterr = 0;
    for (int option; (option = getopt_long (argc, argv, "hV", longs, NULL)) != -1;) {
        if (option == '?')
            return ag_fail (err, AG_E_USAGE, "%s is no option of agsupd, or its value is missing",
                            argv[optind - 1]);
        if (take (args, option, optarg, err))
            return -1;
    }
    if (optind < argc)
        return ag_fail (err, AG_E_USAGE, "%s: agsupd takes options only", argv[optind]);
    if (!args->home && !args->help && !args->version && !args->probe)
        return ag_fail (err, AG_E_USAGE, "--home DIR is missing");
    return 0;
}

//  The directory of this very program.
static int
own_directory (char path[PATH_MAX], struct ag_err *err)
{
    ssize_t n = readlink ("/proc/self/exe", path, PATH_MAX - 1);
    if (n < 0)
        return ag_fail (err, AG_E_SYSTEM, "readlink /proc/self/exe: %s", strerror (errno));
    path[n] = 0;
    *strrchr (path, '/') = 0;
    return 0;
}

//  Nobody may stop this process by not reading what it logs: a pipe or a terminal is opened anew, without
//  blocking. The processes of the house keep the one they know.
static int
free_log (void)
{
    struct stat st;
    int kept = fcntl (STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (fstat (STDERR_FILENO, &st) < 0 || S_ISREG (st.st_mode))
        return kept;
    int fresh = open ("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fresh >= 0) {
        dup2 (fresh, STDERR_FILENO);
        close (fresh);
    }
    return kept;
}

//  Descriptors 0 to 2 exist from here on, so that no other thing gets their numbers.
static int
settle (struct ag_agsupd_options *options, struct ag_err *err)
{
    int fd;
    do
        fd = open ("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd < 3);
    if (fd < 0)
        return ag_fail (err, AG_E_SYSTEM, "open /dev/null: %s", strerror (errno));
    umask (077);
    options->in = fd;
    options->log = free_log();
    getrlimit (RLIMIT_NOFILE, &options->open_files);
    if (options->open_files.rlim_max < AG_HOME_FILES) //  they would only end, again and again
        return ag_fail (err, AG_E_SYSTEM, "the limit of open files is %lu, %d are needed",
                        options->open_files.rlim_max, AG_HOME_FILES);
    struct rlimit raised = {options->open_files.rlim_max, options->open_files.rlim_max};
    setrlimit (RLIMIT_NOFILE, &raised);
    return 0;
}

static int
check_files (const struct arguments *args, char config[PATH_MAX], struct ag_err *err)
{
    if (args->config && !realpath (args->config, config))
        return ag_fail (err, AG_E_CONFIG, "configuration %s: %s", args->config, strerror (errno));
    if (args->ready_fd >= 0 && fcntl (args->ready_fd, F_SETFD, FD_CLOEXEC) < 0)
        return ag_fail (err, AG_E_USAGE, "--ready-fd %d: %s", args->ready_fd, strerror (errno));
    return 0;
}

static int
run (const struct arguments *args, struct ag_err *err)
{
    char directory[PATH_MAX], config[PATH_MAX];
    struct ag_agsupd_options options = {.home = args->home,
                                        .programs = args->programs ? args->programs : directory,
                                        .ready_fd = args->ready_fd,
                                        .stop_ms = (unsigned)args->stop_s * 1000};
    if (check_files (args, config, err) || own_directory (directory, err) || settle (&options, err))
        return -1;
    options.config = args->config ? config : NULL;
    return ag_agsupd_run (&options, err);
}

int
main (int argc, char **argv)
{
    struct arguments args;
    struct ag_err err;
    if (argc == 4 && !strcmp (argv[1], "--probe-inside"))
        _exit (ag_probe_inside (argv[2], argv[3])); //  where little is left nothing looks back
    ag_log_name ("agsupd");
    int rc = parse (argc, argv, &args, &err);
    if (!rc && (args.help || args.version)) {
        fputs (args.help ? usage : "agsupd " AG_RELEASE "\n", stdout);
        return 0;
    }
    if (!rc)
        rc = args.probe ? ag_probe (&err) : run (&args, &err);
    if (rc < 0) {
        ag_log_err (AG_ERROR, &err, "cannot start");
        rc = ag_code_status (err.code);
    }
    return rc;
}
