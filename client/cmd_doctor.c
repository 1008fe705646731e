//  What a person would look at first when something is wrong: doctor.
//  SPDX-License-Identifier: Apache-2.0
#include "client/client.h"
#include "client/print.h"
#include "common/conf.h"
#include "common/group.h"
#include "common/home.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

extern char **environ;

enum { BEAT_MS = 3000, FREE_BYTES = 256 << 20, FILES = 4096 };

//  One look: whether it is well, and what was seen.
typedef bool look_fn (struct ag_client *self, char detail[400]);

static bool
say (char detail[400], bool ok, const char *format, ...)
{
    va_list list;
    va_start (list, format);
    vsnprintf (detail, 400, format, list);
    va_end (list);
    return ok;
}

static bool
see_programs (struct ag_client *self, char detail[400])
{
    static const char *const programs[] = {"agsupd", "agsup-supervisor", "agsup-broker",
                                           "agsup-worker"};
    char dir[PATH_MAX];
    (void)self;
    ssize_t n = readlink ("/proc/self/exe", dir, sizeof dir - 1);
    dir[n > 0 ? n : 0] = 0;
    char *slash = strrchr (dir, '/');
    if (slash)
        *slash = 0;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        char *path = ag_xprintf ("%s/%s", dir, programs[i]);
        bool there = !access (path, X_OK);
        free (path);
        if (!there)
            return say (detail, false, "%s is not in %s", programs[i], dir);
    }
    return say (detail, true, "agsup %s in %s", AG_RELEASE, dir);
}

static bool
see_config (struct ag_client *self, char detail[400])
{
    struct ag_buf conf = {0}, problems = {0};
    struct ag_err err;
    if (!self->place.config)
        return say (detail, false, "no agsup.toml here or upwards");
    int rc = ag_conf_load (self->place.config, &conf, &problems, &err);
    ag_buf_fini (&conf);
    ag_buf_fini (&problems);
    return rc ? say (detail, false, "%s", err.text) : say (detail, true, "%s", self->place.config);
}

static bool
see_home (struct ag_client *self, char detail[400])
{
    struct stat st;
    const char *dir = self->place.home;
    if (!dir)
        return say (detail, false, "nothing names a home");
    if (stat (dir, &st))
        return say (detail, false, "%s: %s", dir, strerror (errno));
    if (st.st_uid != geteuid() || (st.st_mode & 077))
        return say (detail, false, "%s belongs to uid %u with mode %04o", dir, st.st_uid,
                    st.st_mode & 07777);
    return say (detail, true, "%s", dir);
}

static bool
see_disk (struct ag_client *self, char detail[400])
{
    struct statvfs fs;
    const char *dir = self->place.home ? self->place.home : ".";
    if (statvfs (dir, &fs) && statvfs (dir = ".", &fs))
        return say (detail, false, "%s: %s", dir, strerror (errno));
    uint64_t bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
    return say (detail, bytes >= FREE_BYTES, "%" PRIu64 " MiB free at %s", bytes >> 20, dir);
}

static bool
see_supervisor (struct ag_client *self, char detail[400])
{
    struct ag_buf answer = {0};
    struct ag_err err;
    int rc = ag_client_ask (self, &(struct ag_msg){.type = AG_MSG_status}, &answer, &err);
    struct ag_str status = ag_buf_str (&answer);
    if (rc)
        say (detail, false, "%s", err.text);
    else
        say (detail, true, "process %" PRIu64 ", epoch %" PRIu64 ", %" PRIu64 " events",
             ag_pick_uint (ag_pick (status, "supervisor"), "pid"), ag_pick_uint (status, "epoch"),
             ag_pick_uint (status, "stream"));
    ag_buf_fini (&answer);
    return !rc;
}

//  Where monitors connect, as the status says.
static char *
monitor_endpoint (struct ag_client *self)
{
    struct ag_buf answer = {0};
    struct ag_err err;
    char *endpoint = NULL;
    if (self->ask && !ag_client_ask (self, &(struct ag_msg){.type = AG_MSG_status}, &answer, &err))
        endpoint = ag_str_dup (ag_pick_text (ag_pick (ag_buf_str (&answer), "sockets"), "monitor"));
    ag_buf_fini (&answer);
    return endpoint;
}

static bool
see_monitor (struct ag_client *self, char detail[400])
{
    struct ag_err err;
    char *endpoint = monitor_endpoint (self);
    if (!endpoint)
        return say (detail, false, "nobody says where monitors connect");
    void *monitor = ag_ask_monitor (self->ask, endpoint, &err);
    if (monitor)
        zmq_setsockopt (monitor, ZMQ_SUBSCRIBE, "", 0);
    zmq_pollitem_t item = {monitor, 0, ZMQ_POLLIN, 0};
    bool beats = monitor && zmq_poll (&item, 1, BEAT_MS) > 0;
    if (!monitor)
        say (detail, false, "%s", err.text);
    else
        say (detail, beats, beats ? "%s beats" : "%s is silent", endpoint);
    free (endpoint);
    return beats;
}

//  What an agent asked for and does not have. The house goes on without it, and says so.
static void
add_missing (struct ag_str agent, struct ag_buf *text)
{
    struct ag_str name = ag_pick_text (agent, "name"), remark = ag_pick_text (agent, "remark");
    struct ag_buf open = {0};
    ag_pick_open_walls (agent, &open);
    if (remark.n)
        ag_buf_text (text, "%s%.*s: %.*s", text->n ? ", " : "", AG_STR_ARG (name),
                     AG_STR_ARG (remark));
    if (open.n)
        ag_buf_text (text, "%s%.*s: %.*s", text->n ? ", " : "", AG_STR_ARG (name),
                     AG_STR_ARG (ag_buf_str (&open)));
    ag_buf_fini (&open);
}

static bool
see_walls (struct ag_client *self, char detail[400])
{
    struct ag_buf answer = {0}, text = {0};
    struct ag_err err;
    struct ag_str agent;
    if (!self->ask || ag_client_ask (self, &(struct ag_msg){.type = AG_MSG_status}, &answer, &err))
        return say (detail, true, "not known while the fleet is down");
    for (struct ag_items items = ag_items (ag_buf_str (&answer), "agents");
         ag_items_next (&items, &agent);)
        add_missing (agent, &text);
    if (text.n)
        say (detail, true, "not in force: %.*s", AG_STR_ARG (ag_buf_str (&text)));
    else
        say (detail, true, "what was asked for is in force");
    ag_buf_fini (&answer);
    ag_buf_fini (&text);
    return true;
}

//  Units that gave up, of one list of the status.
static void
add_failed (struct ag_str status, const char *list, struct ag_buf *text)
{
    struct ag_str unit;
    for (struct ag_items items = ag_items (status, list); ag_items_next (&items, &unit);) {
        struct ag_str name = ag_pick_text (unit, "name");
        if (!ag_str_is (ag_pick_text (unit, "state"), "failed"))
            continue;
        ag_buf_text (text, "%s%.*s", text->n ? ", " : "failed: ",
                     AG_STR_ARG (name.n ? name : ag_pick_text (unit, "label")));
    }
}

static bool
see_agents (struct ag_client *self, char detail[400])
{
    struct ag_buf answer = {0}, text = {0};
    struct ag_err err;
    if (!self->ask || ag_client_ask (self, &(struct ag_msg){.type = AG_MSG_status}, &answer, &err))
        return say (detail, true, "not known while the fleet is down");
    add_failed (ag_buf_str (&answer), "agents", &text);
    add_failed (ag_buf_str (&answer), "forks", &text);
    bool well = !text.n;
    if (well)
        say (detail, true, "none gave up");
    else
        say (detail, false, "%.*s", AG_STR_ARG (ag_buf_str (&text)));
    ag_buf_fini (&answer);
    ag_buf_fini (&text);
    return well;
}

static bool
see_files (struct ag_client *self, char detail[400])
{
    struct rlimit limit;
    (void)self;
    getrlimit (RLIMIT_NOFILE, &limit);
    return say (detail, limit.rlim_max >= FILES, "%" PRIu64 " descriptors a process",
                (uint64_t)limit.rlim_max);
}

//  Not needed, it makes things better; so the look is well either way.
static bool
see_cgroup (struct ag_client *self, char detail[400])
{
    (void)self;
    char *path = NULL;
    int dir = ag_group_open (&path);
    bool ours = dir >= 0 && !faccessat (dir, ".", W_OK, AT_EACCESS);
    if (ours)
        say (detail, true, "%s: trees can be ended by the kernel", path);
    else
        say (detail, true, "%s: %s: trees are ended by walking them",
             path ? path : "no control group (version 2)", strerror (errno));
    if (dir >= 0)
        close (dir);
    free (path);
    return true;
}

static bool
see_user (struct ag_client *self, char detail[400])
{
    (void)self;
    return geteuid() ? say (detail, true,
                            "uid %u: workers share it; a pack's floor is its system call filter, a "
                            "program's "
                            "are mountns and pidns",
                            geteuid())
                     : say (detail, true, "root: each worker has a user id of its own");
}

//  Then each net and layer of this machine, as the nursery tries them.
static const struct {
    const char *name;
    look_fn *look;
    const char *hint;
} looks[] = {
    {"programs", see_programs, "Install agsup whole, or run it where it was built."},
    {"config", see_config,
     "`agsup check` names what is wrong; `agsup init` makes a fleet to start from."},
    {"home", see_home, "`agsup up` makes it; it belongs to one user with mode 0700."},
    {"disk", see_disk,
     "Free some space: writes stop before the disk is full, and resume by themselves."},
    {"supervisor", see_supervisor, "Start the fleet with `agsup up`; its words are in HOME/log."},
    {"monitor", see_monitor, "It beats each second while the fleet is up."},
    {"agents", see_agents,
     "`agsup status` says why, `agsup output NAME` what it printed; `agsup start NAME` tries "
     "again."},
    {"walls", see_walls, ""},
    {"descriptors", see_files, "Raise the hard limit (`ulimit -Hn`); each worker takes one."},
    {"cgroup", see_cgroup, ""},
    {"user", see_user, ""},
};

struct checks {
    struct ag_buf list;
    uint32_t count;
    bool all;
};

static void
put_check (struct checks *self, const char *name, bool ok, const char *detail, const char *hint)
{
    struct ag_buf *out = &self->list;
    self->count++;
    self->all = self->all && ok;
    ag_put_map (out, 4);
    ag_put_lit (out, "name");
    ag_put_lit (out, name);
    ag_put_lit (out, "ok");
    ag_put_bool (out, ok);
    ag_put_lit (out, "detail");
    ag_put_lit (out, detail);
    ag_put_lit (out, "hint");
    ag_put_lit (out, ok ? "" : hint);
}

//  What the nursery found by trying: a line `KIND<TAB>NAME<TAB>0|1<TAB>DETAIL` for each net and layer.
static void
add_probe (struct checks *self, char *line)
{
    static const struct {
        const char *name, *hint;
    } hints[] = {
        {"layer seccomp",
         "Use a kernel with CONFIG_SECCOMP_FILTER; without it nothing here is walled."},
        {"layer landlock",
         "Use Linux 5.13 or newer with landlock in its list of security modules."},
        {"layer uid", "Only a house of root has user ids to give."},
        {"layer pidns", "Allow user namespaces, or start the house as root."},
        {"layer netns", "Allow user namespaces, or start the house as root."},
        {"layer ipcns", "Allow user namespaces, or start the house as root."},
        {"layer mountns", "Allow user namespaces, or start the house as root."},
        {"layer cgroup", "Give the house a group of its own (systemd: Delegate=yes)."},
        {"net memory.max", "Give the house the memory controller of control groups, version 2."},
        {"net pids.max", "Give the house the pids controller of control groups, version 2."},
    };
    char *words[4] = {0}, *hint = "";
    for (size_t i = 0; i < 4; i++)
        words[i] = strsep (&line, i < 3 ? "\t" : "\n");
    if (!words[3])
        return;
    char *name = ag_xprintf ("%s %s", words[0], words[1]);
    bool held = !strcmp (words[2], "1");
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (!strcmp (hints[i].name, name))
            hint = (char *)hints[i].hint;
    put_check (self, name, held, words[3], hint);
    free (name);
}

//  By the nursery's own program, so that what is tried is what a worker would get: what it says, NULL with errno.
static FILE *
start_probe (pid_t *pid)
{
    char *program = ag_place_program ("agsupd"), *argv[] = {program, "--probe", NULL};
    posix_spawn_file_actions_t files;
    int ends[2], error = pipe2 (ends, O_CLOEXEC) ? errno : 0;
    if (!error) {
        posix_spawn_file_actions_init (&files);
        posix_spawn_file_actions_adddup2 (&files, ends[1], STDOUT_FILENO);
        error = posix_spawnp (pid, program, &files, NULL, argv, environ);
        posix_spawn_file_actions_destroy (&files);
        close (ends[1]);
        if (error)
            close (ends[0]);
    }
    free (program);
    errno = error;
    return error ? NULL : fdopen (ends[0], "re");
}

static void
add_probes (struct checks *self)
{
    char line[512];
    pid_t pid;
    uint32_t before = self->count;
    FILE *said = start_probe (&pid);
    const char *why = said ? "it said nothing" : strerror (errno);
    while (said && fgets (line, sizeof line, said))
        add_probe (self, line);
    if (said) {
        fclose (said);
        waitpid (pid, NULL, 0);
    }
    if (self->count > before)
        return;
    put_check (self, "probe", false, why, "Nets and layers are tried by `agsupd --probe`.");
}

int
ag_cmd_doctor (struct ag_client *self, const struct ag_args_doctor *args, struct ag_err *err)
{
    (void)args;
    (void)err;
    struct checks checks = {.all = true};
    struct ag_buf out = {0};
    char detail[400];
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        bool ok = looks[i].look (self, detail);
        put_check (&checks, looks[i].name, ok, detail, looks[i].hint);
    }
    add_probes (&checks);
    ag_put_map (&out, 2);
    ag_put_lit (&out, "ok");
    ag_put_bool (&out, checks.all);
    ag_put_lit (&out, "checks");
    ag_put_list (&out, checks.count);
    ag_buf_add_str (&out, ag_buf_str (&checks.list));
    (self->look.json ? ag_look_json : ag_print_checks) (&self->look, ag_buf_str (&out));
    self->status = checks.all ? 0 : 1;
    ag_buf_fini (&checks.list);
    ag_buf_fini (&out);
    return 0;
}
