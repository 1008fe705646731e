//  launch - from a unit's spec to what the nursery is asked for: program, environment, limits, walls.
//  SPDX-License-Identifier: Apache-2.0
#include "common/filter.h"
#include "common/home.h"
#include "supervisor/private.h"
#include "supervisor/spec.h"
#include "supervisor/unit.h"
#include "supervisor/walls.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

//  What a script host reserves, and what it uses, beside Lua's memory.
enum { SECRET_BYTES = 65536, SCRIPT_HOST_BYTES = 1 << 30, SCRIPT_HOST_RESIDENT = 64 << 20 };

static const char *const readable[] = {"/usr",  "/lib", "/lib64", "/bin",
                                       "/sbin", "/etc", "/dev",   "/proc"};

//  A text that lives as long as the launch. There is room for a full argv, env and readable.
static const char *
keep (struct ag_launch *launch, char *text)
{
    assert (launch->text_count < sizeof launch->texts / sizeof *launch->texts);
    launch->texts[launch->text_count++] = text;
    return text;
}

void
ag_launch_fini (struct ag_launch *launch)
{
    for (size_t i = 0; i < launch->text_count; i++) {
        explicit_bzero (launch->texts[i], strlen (launch->texts[i])); //  some are secrets
        free (launch->texts[i]);
    }
    launch->text_count = 0;
}

static int
add_env (struct ag_launch *launch, char *text, struct ag_err *err)
{
    size_t n = 0;
    const char *kept = keep (launch, text);
    while (launch->env[n])
        n++;
    if (n + 1 >= sizeof launch->env / sizeof *launch->env)
        return ag_fail (err, AG_E_CONFIG, "more variables than a process may be given");
    launch->env[n] = kept;
    return 0;
}

//  The first line of a file that the operator named.
static int
read_secret (struct ag_str path, char **text, struct ag_err *err)
{
    char *name = ag_str_dup (path), bytes[SECRET_BYTES];
    int fd = ag_home_open_file (name, O_RDONLY, err);
    ssize_t n = fd < 0 ? -1 : read (fd, bytes, sizeof bytes);
    if (fd >= 0 && n < 0)
        ag_fail (err, AG_E_CONFIG, "read %s: %s", name, strerror (errno));
    if (fd >= 0)
        close (fd);
    free (name);
    if (n < 0) {
        err->code = AG_E_CONFIG; //  whatever the file is
        return -1;
    }
    const char *end = memchr (bytes, '\n', (size_t)n);
    *text = ag_str_dup ((struct ag_str){bytes, end ? (size_t)(end - bytes) : (size_t)n});
    explicit_bzero (bytes, sizeof bytes);
    return 0;
}

//  NAME=VALUE, which holds unless the configuration has set it.
static int
add_default (struct ag_launch *launch, char *pair, struct ag_err *err)
{
    size_t n = (size_t)(strchr (pair, '=') - pair) + 1;
    for (size_t i = 0; launch->env[i]; i++)
        if (!strncmp (launch->env[i], pair, n)) {
            free (pair);
            return 0;
        }
    return add_env (launch, pair, err);
}

static int
add_granted (struct ag_launch *launch, struct ag_str name, struct ag_str entry, struct ag_err *err)
{
    struct ag_str value;
    char *text = NULL;
    if (!ag_map_text (entry, "text", &value))
        text = ag_str_dup (value);
    else if (!ag_map_text (entry, "file", &value)) {
        if (read_secret (value, &text, err))
            return ag_wrap (err, "env %.*s", AG_STR_ARG (name));
    } else if (!ag_map_text (entry, "env", &value)) {
        char *from = ag_str_dup (value);
        const char *found = getenv (from);
        free (from);
        if (!found)
            return ag_fail (err, AG_E_CONFIG, "env %.*s: the house has no variable %.*s",
                            AG_STR_ARG (name), AG_STR_ARG (value));
        text = ag_xstrdup (found);
    }
    char *pair = ag_xprintf ("%.*s=%s", AG_STR_ARG (name), text ? text : "");
    free (text);
    return add_env (launch, pair, err);
}

static int
add_grants (struct ag_launch *launch, struct ag_str spec, struct ag_err *err)
{
    struct ag_str env, entry;
    struct ag_head map, name;
    if (ag_map_get (spec, "env", &env))
        return 0;
    struct ag_cursor in = ag_cursor (env);
    if (ag_next (&in, &map) || map.kind != AG_MAP)
        return 0;
    for (uint32_t i = 0; i < map.count && !ag_next (&in, &name) && !ag_take (&in, &entry); i++)
        if (add_granted (launch, name.s, entry, err))
            return -1;
    return 0;
}

static bool
is_off (const struct ag_unit *unit, const char *layer)
{
    return ag_str_is (ag_walls_asked (unit, layer), "off");
}

static char *
joined_files (struct ag_str spec)
{
    struct ag_str file;
    struct ag_buf text = {0};
    for (struct ag_texts files = ag_texts_of (spec, "files"); ag_texts_next (&files, &file);)
        ag_buf_text (&text, "%s%.*s", text.n ? ":" : "", AG_STR_ARG (file));
    char *joined = ag_str_dup (ag_buf_str (&text));
    ag_buf_fini (&text);
    return joined;
}

//  Python keeps back what it prints into a pipe, and loses it when it is ended, unless it is told not to.
static int
add_defaults (const struct ag_unit *unit, struct ag_launch *launch, struct ag_err *err)
{
    static const char path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    int rc = add_default (launch, ag_xstrdup (path), err);
    if (!rc)
        rc = add_default (launch, ag_xstrdup ("LANG=C.UTF-8"), err);
    if (!rc && !unit->inner)
        rc = add_default (launch, ag_xstrdup ("PYTHONUNBUFFERED=1"), err);
    if (!rc && unit->dir[0])
        rc = add_default (launch, ag_xprintf ("HOME=%s", unit->dir), err);
    return rc;
}

static int
add_environment (struct ag_house *house, const struct ag_unit *unit, struct ag_launch *launch,
                 struct ag_err *err)
{
    struct ag_str spec = ag_buf_str (&unit->spec);
    char *files = joined_files (spec);
    int rc = 0;
    if (unit->run)
        rc =
            add_env (launch, ag_xprintf ("AGSUP_WORKER=ipc://%s", house->daemon->home.worker), err);
    if (!rc && files[0])
        rc = add_env (launch, ag_xprintf ("AGSUP_FILES=%s", files), err);
    if (!rc && unit->inner && is_off (unit, "landlock"))
        rc = add_env (launch, ag_xstrdup ("AGSUP_LANDLOCK=off"), err);
    free (files);
    return rc || add_grants (launch, spec, err) || add_defaults (unit, launch, err) ? -1 : 0;
}

//  agsup-worker lies beside this program.
static int
script_argv (struct ag_launch *launch, struct ag_err *err)
{
    char path[PATH_MAX];
    ssize_t n = readlink ("/proc/self/exe", path, sizeof path - 1);
    char *slash = n > 0 ? memrchr (path, '/', (size_t)n) : NULL;
    if (!slash)
        return ag_fail (err, AG_E_SYSTEM, "cannot tell where this program lies");
    launch->argv[0] = keep (launch, ag_xprintf ("%.*s/agsup-worker", (int)(slash - path), path));
    return 0;
}

static int
program_argv (struct ag_str host, struct ag_launch *launch, struct ag_err *err)
{
    struct ag_str word;
    size_t count = 0;
    for (struct ag_texts words = ag_texts_of (host, "command"); ag_texts_next (&words, &word);) {
        if (count >= 256)
            return ag_fail (err, AG_E_CONFIG, "a command is at most 256 words");
        launch->argv[count++] = keep (launch, ag_str_dup (word));
    }
    return launch->argv[0] ? 0 : ag_fail (err, AG_E_CONFIG, "an empty command");
}

static void
ask_layer (const struct ag_unit *unit, enum ag_layer layer, struct ag_spawn *spawn)
{
    struct ag_str word = ag_walls_asked (unit, ag_layer_name (layer));
    if (ag_str_is (word, "off"))
        return;
    spawn->layers |= 1u << layer;
    if (ag_str_is (word, "require"))
        spawn->required |= 1u << layer;
}

//  A uid that no live worker has.
static int
choose_uid (struct ag_house *house, struct ag_unit *unit, struct ag_spawn *spawn,
            struct ag_err *err)
{
    uint64_t first, last;
    ag_fleet_uids (house, &first, &last);
    for (uint64_t uid = first; uid <= last; uid++) {
        bool taken = false;
        for (struct ag_unit *other = ag_fleet_first (house); other; other = other->next)
            taken = taken || (other != unit && other->child && other->uid == uid);
        if (taken)
            continue;
        unit->uid = spawn->uid = spawn->gid = (uint32_t)uid;
        return 0;
    }
    return ag_fail (err, AG_E_BUSY, "every uid from %llu to %llu is in use",
                    (unsigned long long)first, (unsigned long long)last);
}

static void
set_limits (const struct ag_unit *unit, bool script, struct ag_spawn *spawn)
{
    uint64_t memory = ag_unit_net (unit, "memory_bytes"), cpu_ms = ag_unit_net (unit, "cpu_ms");
    spawn->limits.group_memory_bytes = memory && script ? memory + SCRIPT_HOST_RESIDENT : memory;
    if (!AG_SANITIZED)
        spawn->limits.address_space_bytes = memory && script ? memory + SCRIPT_HOST_BYTES : memory;
    spawn->limits.cpu_s = (cpu_ms + 999) / 1000;
    spawn->limits.open_files = ag_unit_net (unit, "open_files");
    spawn->limits.processes = ag_unit_net (unit, "processes");
    spawn->limits.file_bytes = ag_unit_net (unit, "file_size_bytes");
}

//  A worker that could act as the operator starts only where the agent says so.
static int
check_floor (const struct ag_unit *unit, bool script, struct ag_spawn *spawn, struct ag_err *err)
{
    struct ag_str isolation = {0};
    ag_map_text (ag_buf_str (&unit->spec), "isolation", &isolation);
    bool by_uid = spawn->layers & 1u << AG_LAYER_UID;
    bool by_seccomp = script && !is_off (unit, "seccomp");
    const uint32_t room = 1u << AG_LAYER_MOUNTNS | 1u << AG_LAYER_PIDNS;
    bool by_mounts = (spawn->required & room) == room;
    if (by_uid && !by_seccomp && !by_mounts && !ag_str_is (isolation, "none"))
        spawn->required |= 1u << AG_LAYER_UID; //  nothing else is its floor
    if (by_uid || by_seccomp || by_mounts || ag_str_is (isolation, "none"))
        return 0;
    return ag_fail (err, AG_E_CONFIG,
                    "%s would run as you, with nothing between it and this home; require the "
                    "layers mountns and "
                    "pidns, say isolation = \"none\" if that is meant, or start the house as root",
                    unit->name);
}

//  A program is walled before it runs: the nursery's child installs the filter.
static int
ask_filter (struct ag_house *house, const struct ag_unit *unit, struct ag_launch *launch,
            struct ag_err *err)
{
    if (is_off (unit, "seccomp"))
        return 0;
    bool network = ag_walls_network (unit),
         strict = ag_str_is (ag_walls_asked (unit, "seccomp"), "strict");
    struct ag_buf *code = &house->filters[strict][network];
    if (!code->n &&
        ag_filter_export (network ? AG_FILTER_NETWORK : AG_FILTER_PROGRAM, strict, code, err)) {
        ag_buf_clear (code);
        return -1;
    }
    launch->spawn.layers |= 1u << AG_LAYER_SECCOMP;
    launch->spawn.required |= 1u << AG_LAYER_SECCOMP;
    launch->spawn.filter = code->p;
    launch->spawn.filter_bytes = (uint32_t)code->n;
    return 0;
}

//  Where a control group counts it holds more than a limit of each process does.
static int
ask_group_nets (const struct ag_unit *unit, bool script, struct ag_spawn *spawn, struct ag_err *err)
{
    bool own_uid = spawn->layers & 1u << AG_LAYER_UID;
    uint64_t memory = ag_unit_net (unit, "memory_bytes"),
             processes = ag_unit_net (unit, "processes");
    uint32_t asked = (memory ? 1u << AG_LAYER_MEMORY : 0) | (processes ? 1u << AG_LAYER_PIDS : 0);
    if (spawn->layers & 1u << AG_LAYER_CGROUP)
        spawn->layers |= asked;
    if (AG_SANITIZED && memory && !script && ag_walls_needs (unit, "memory"))
        spawn->required |= 1u << AG_LAYER_MEMORY;
    if (geteuid() == 0 && !own_uid && processes && ag_walls_needs (unit, "processes"))
        spawn->required |= 1u << AG_LAYER_PIDS;
    if (spawn->required & ~spawn->layers)
        return ag_fail (
            err, AG_E_CONFIG,
            "%s requires a net that only a control group could hold here, and its layer "
            "cgroup is off",
            unit->name);
    return 0;
}

static void
ask_spaces (const struct ag_unit *unit, struct ag_spawn *spawn)
{
    static const enum ag_layer spaces[] = {AG_LAYER_CGROUP, AG_LAYER_PIDNS, AG_LAYER_IPCNS,
                                           AG_LAYER_MOUNTNS};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        ask_layer (unit, spaces[i], spawn);
    if (!ag_walls_network (unit))
        ask_layer (unit, AG_LAYER_NETNS, spawn);
}

static int
worker_walls (struct ag_house *house, struct ag_unit *unit, bool script, struct ag_launch *launch,
              struct ag_err *err)
{
    struct ag_spawn *spawn = &launch->spawn;
    if (geteuid() == 0)
        ask_layer (unit, AG_LAYER_UID, spawn);
    else if (ag_str_is (ag_walls_asked (unit, "uid"), "require"))
        return ag_fail (err, AG_E_CONFIG,
                        "%s requires a uid of its own, which only a house of root can give",
                        unit->name);
    ask_spaces (unit, spawn);
    if (!script) {
        ask_layer (unit, AG_LAYER_LANDLOCK, spawn);
        if (ask_filter (house, unit, launch, err))
            return -1;
    }
    if (ask_group_nets (unit, script, spawn, err) || check_floor (unit, script, spawn, err))
        return -1;
    if (spawn->layers & 1u << AG_LAYER_UID && choose_uid (house, unit, spawn, err))
        return -1;
    return 0;
}

//  What a program under Landlock, or any worker in a file system of its own, may read: the system, its grants, its
//  own folder.
static void
set_readable (struct ag_launch *launch, struct ag_str spec, const char *own)
{
    struct ag_str file;
    size_t n = 0, most = sizeof launch->readable / sizeof *launch->readable - 2;
    for (size_t i = 0; i < sizeof readable / sizeof *readable; i++)
        launch->readable[n++] = readable[i];
    struct ag_texts files = ag_texts_of (spec, "files");
    while (n < most && ag_texts_next (&files, &file))
        launch->readable[n++] = keep (launch, ag_str_dup (file));
    if (own)
        launch->readable[n++] = own;
    launch->spawn.readable = launch->readable;
}

//  Where it has a file system of its own, the home is not in it; its directory and the way to the house are.
static void
set_own (struct ag_house *house, const struct ag_unit *unit, struct ag_launch *launch)
{
    launch->own[0] = unit->dir;
    launch->own[1] = house->daemon->home.worker;
    launch->spawn.own = launch->own;
    launch->hidden[0] = house->daemon->home.dir;
    launch->spawn.hidden = launch->hidden;
}

static int
launch_worker (struct ag_house *house, struct ag_unit *unit, struct ag_launch *launch,
               struct ag_err *err)
{
    struct ag_str spec = ag_buf_str (&unit->spec), hosts, host, kind, packs;
    if (ag_map_get (spec, "hosts", &hosts) || ag_list_nth (hosts, unit->host, &host) ||
        ag_map_text (host, "kind", &kind))
        return ag_fail (err, AG_E_CORRUPT, "%s has no host %u", unit->name, unit->host);
    bool script = unit->inner = ag_str_is (kind, "script");
    launch->spawn.kind = AG_CHILD_WORKER;
    if (script ? script_argv (launch, err) : program_argv (host, launch, err))
        return -1;
    if (worker_walls (house, unit, script, launch, err))
        return -1;
    set_limits (unit, script, &launch->spawn);
    char *own = NULL;
    struct ag_str program = {0}; //  a script brings no files of its own
    if (!script)
        program = host;
    if (ag_private_make (house, unit, program, &own, err))
        return -1;
    if (own)
        keep (launch, own);
    if (!ag_map_get (host, "packs", &packs) && !script) //  it came with its bytes
        launch->argv[0] = keep (launch, ag_xprintf ("%s/%s", unit->dir, launch->argv[0]));
    launch->spawn.dir = own ? own : unit->dir;
    set_readable (launch, spec, own);
    set_own (house, unit, launch);
    return 0;
}

static int
launch_service (struct ag_house *house, struct ag_unit *unit, struct ag_launch *launch,
                struct ag_err *err)
{
    struct ag_str dir;
    launch->spawn.kind = AG_CHILD_SERVICE;
    launch->spawn.layers = 1u << AG_LAYER_CGROUP;
    if (program_argv (ag_buf_str (&unit->spec), launch, err))
        return -1;
    if (ag_map_text (ag_buf_str (&unit->spec), "dir", &dir))
        dir = ag_fleet_base (house);
    launch->spawn.dir = keep (launch, ag_str_dup (dir));
    return 0;
}

int
ag_spec_launch (struct ag_house *house, struct ag_unit *unit, struct ag_launch *launch,
                struct ag_err *err)
{
    launch->spawn.argv = launch->argv;
    launch->spawn.env = launch->env;
    memset (unit->refused, 0, sizeof unit->refused);
    unit->layers = unit->uid = 0;
    unit->lacks = false;
    unit->said[0][0] = unit->said[1][0] = 0;
    int rc = unit->run ? launch_worker (house, unit, launch, err)
                       : launch_service (house, unit, launch, err);
    return rc ? -1 : add_environment (house, unit, launch, err);
}
