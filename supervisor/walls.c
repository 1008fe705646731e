//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/walls.h"
#include "common/answer.h"
#include "common/landlock.h"
#include "supervisor/unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { WHY = 128 };

//  One row of a report, while it is made.
struct row {
    const char *name;
    bool held;
    char reason[WHY]; //  empty: none
};

static void
put_row (const struct row *row, struct ag_str asked, struct ag_buf *out)
{
    ag_put_map (out, 4);
    ag_put_lit (out, "name");
    ag_put_lit (out, row->name);
    ag_put_lit (out, "asked");
    ag_buf_add_str (out, asked);
    ag_put_lit (out, "in_force");
    ag_put_bool (out, row->held);
    ag_put_lit (out, "reason");
    if (row->reason[0])
        ag_put_lit (out, row->reason);
    else
        ag_put_null (out);
}

static bool
has (const struct ag_unit *unit, enum ag_layer layer)
{
    return unit->layers >> layer & 1;
}

static void
say (struct row *row, bool held, const char *reason)
{
    row->held = held;
    snprintf (row->reason, sizeof row->reason, "%s", reason);
}

struct ag_str
ag_walls_asked (const struct ag_unit *unit, const char *layer)
{
    struct ag_str layers, word = AG_LIT ("off");
    if (!strcmp (layer, "cgroup")) //  services have one as well
        word = AG_LIT ("try");
    if (!ag_map_get (ag_buf_str (&unit->spec), "layers", &layers))
        ag_map_text (layers, layer, &word);
    return word;
}

bool
ag_walls_needs (const struct ag_unit *unit, const char *net)
{
    struct ag_str nets, word;
    if (ag_map_get (ag_buf_str (&unit->spec), "nets", &nets))
        return false;
    for (struct ag_texts words = ag_texts_of (nets, "require"); ag_texts_next (&words, &word);)
        if (ag_str_is (word, net))
            return true;
    return false;
}

/*  Nets  */

typedef void judge_fn (const struct ag_unit *unit, struct row *row);

//  By this process, or by a limit without which a child does not start.
static void
judge_held (const struct ag_unit *unit, struct row *row)
{
    (void)unit;
    row->held = true;
}

static void
judge_memory (const struct ag_unit *unit, struct row *row)
{
    if (has (unit, AG_LAYER_MEMORY))
        say (row, true, "memory.max of its control group");
    else if (unit->inner)
        say (row, true, "of Lua's allocator");
    else if (AG_SANITIZED)
        say (row, false, "sanitizer build");
    else
        say (row, true, "address space of each process");
}

static void
judge_processes (const struct ag_unit *unit, struct row *row)
{
    if (has (unit, AG_LAYER_PIDS))
        say (row, true, "pids.max of its control group");
    else if (has (unit, AG_LAYER_UID))
        row->held = true;
    else if (geteuid())
        say (row, true, "counts every process of this user");
    else
        snprintf (row->reason, sizeof row->reason,
                  "user id 0 is not bound by it, and no control group counts (%s)",
                  unit->refused[AG_LAYER_PIDS] ? strerror (unit->refused[AG_LAYER_PIDS])
                                               : "its layer is off");
}

static const struct {
    const char *name, *key;
    judge_fn *judge;
} nets[] = {
    {"memory", "memory_bytes", judge_memory},
    {"wall", "wall_ms", judge_held},
    {"events", "events", judge_held},
    {"cpu", "cpu_ms", judge_held},
    {"open_files", "open_files", judge_held},
    {"processes", "processes", judge_processes},
    {"output", "output_bytes", judge_held},
    {"file_size", "file_size_bytes", judge_held},
    {"core", NULL, judge_held}, //  no core file, always
};

void
ag_walls_nets (const struct ag_unit *unit, struct ag_buf *out)
{
    size_t count = sizeof nets / sizeof *nets;
    ag_put_list (out, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        struct row row = {.name = nets[i].name};
        struct ag_buf asked = {0};
        uint64_t value = nets[i].key ? ag_unit_net (unit, nets[i].key) : 0;
        if (value || !nets[i].key) {
            ag_put_uint (&asked, value);
            nets[i].judge (unit, &row);
        } else {
            ag_put_null (&asked);
            say (&row, false, "not asked for");
        }
        put_row (&row, ag_buf_str (&asked), out);
        ag_buf_fini (&asked);
    }
}

/*  Layers  */

static void
judge_nursery (const struct ag_unit *unit, struct row *row, enum ag_layer layer)
{
    int error = unit->refused[layer];
    bool none_left = error == ENOSPC || error == EUSERS; //  what a namespace is refused with then
    row->held = has (unit, layer);
    if (!row->held)
        say (row, false, none_left ? "no more namespaces are allowed here" : strerror (error));
}

static void
judge_uid (const struct ag_unit *unit, struct row *row)
{
    if (geteuid())
        say (row, false, "only a house of root has user ids to give");
    else
        judge_nursery (unit, row, AG_LAYER_UID);
}

static void
judge_netns (const struct ag_unit *unit, struct row *row)
{
    if (!has (unit, AG_LAYER_NETNS) && !unit->refused[AG_LAYER_NETNS])
        say (row, false, "the network is granted");
    else
        judge_nursery (unit, row, AG_LAYER_NETNS);
}

static void
judge_pidns (const struct ag_unit *unit, struct row *row)
{
    judge_nursery (unit, row, AG_LAYER_PIDNS);
}

static void
judge_ipcns (const struct ag_unit *unit, struct row *row)
{
    judge_nursery (unit, row, AG_LAYER_IPCNS);
}

static void
judge_mountns (const struct ag_unit *unit, struct row *row)
{
    judge_nursery (unit, row, AG_LAYER_MOUNTNS);
}

static void
judge_cgroup (const struct ag_unit *unit, struct row *row)
{
    judge_nursery (unit, row, AG_LAYER_CGROUP);
}

//  A script host raises two walls itself: "off: why", or how it is in force.
static void
judge_said (const char *said, struct row *row)
{
    static const char off[] = "off: ";
    bool is_off = !strncmp (said, off, sizeof off - 1);
    say (row, *said && !is_off,
         !*said   ? "the worker has not told"
         : is_off ? said + sizeof off - 1
                  : said);
}

//  The nursery's child held itself by all that this kernel's version has for it.
static void
judge_landlock (const struct ag_unit *unit, struct row *row)
{
    char gaps[AG_LANDLOCK_GAPS];
    int abi = ag_landlock_abi();
    if (unit->inner) {
        judge_said (unit->said[0], row);
        return;
    }
    judge_nursery (unit, row, AG_LAYER_LANDLOCK);
    ag_landlock_gaps (abi, false, gaps);
    if (row->held)
        snprintf (row->reason, sizeof row->reason, "abi %d%s", abi, gaps);
}

static void
judge_seccomp (const struct ag_unit *unit, struct row *row)
{
    if (unit->inner)
        judge_said (unit->said[1], row);
    else
        judge_nursery (unit, row, AG_LAYER_SECCOMP);
}

//  A program without a uid of its own works where its configuration lies, and a service where that says.
static void
judge_directory (const struct ag_unit *unit, struct row *row)
{
    struct ag_str dir;
    if (unit->inner || has (unit, AG_LAYER_UID))
        row->held = true;
    else if (!unit->run && !ag_map_text (ag_buf_str (&unit->spec), "dir", &dir))
        say (row, false, "it works in its dir");
    else
        say (row, false, "it works in the folder of the configuration");
}

static void
judge_environment (const struct ag_unit *unit, struct row *row)
{
    struct ag_str env;
    struct ag_head map;
    bool granted = !ag_map_get (ag_buf_str (&unit->spec), "env", &env);
    if (granted) {
        struct ag_cursor in = ag_cursor (env);
        granted = !ag_next (&in, &map) && map.kind == AG_MAP && map.count;
    }
    say (row, true, granted ? "with variables that are granted" : "");
}

static bool
stands (const struct ag_unit *unit, judge_fn *judge)
{
    struct row row = {.held = false};
    judge (unit, &row);
    return row.held;
}

bool
ag_walls_network (const struct ag_unit *unit)
{
    struct ag_str word;
    struct ag_texts words = ag_texts_of (ag_buf_str (&unit->spec), "allow");
    while (ag_texts_next (&words, &word))
        if (ag_str_is (word, "network"))
            return true;
    return false;
}

static void
judge_network (const struct ag_unit *unit, struct row *row)
{
    if (ag_walls_network (unit))
        say (row, false, "granted");
    else if (stands (unit, judge_seccomp))
        say (row, true, "by seccomp");
    else if (has (unit, AG_LAYER_NETNS))
        say (row, true, "by netns");
    else
        say (row, false, "neither seccomp nor netns keeps it away");
}

//  What keeps it from the home, from the sockets of clients and from other processes.
static void
judge_floor (const struct ag_unit *unit, struct row *row)
{
    if (has (unit, AG_LAYER_UID))
        say (row, true, "by uid");
    else if (has (unit, AG_LAYER_MOUNTNS) && has (unit, AG_LAYER_PIDNS))
        say (row, true, "by mountns and pidns");
    else if (unit->inner && stands (unit, judge_seccomp))
        say (row, true, "by seccomp");
    else
        say (row, false, "it can act as you");
}

static void
judge_always (const struct ag_unit *unit, struct row *row)
{
    (void)unit;
    row->held = true; //  or the child does not start
}

static const struct {
    const char *name;
    judge_fn *judge;
    bool set; //  there is a setting for it; what has none is always asked for
} layers[] = {
    {"floor", judge_floor, false},
    {"network", judge_network, false},
    {"no_new_privs", judge_always, false},
    {"descriptors", judge_always, false},
    {"environment", judge_environment, false},
    {"directory", judge_directory, false},
    {"uid", judge_uid, true},
    {"seccomp", judge_seccomp, true},
    {"landlock", judge_landlock, true},
    {"pidns", judge_pidns, true},
    {"netns", judge_netns, true},
    {"ipcns", judge_ipcns, true},
    {"mountns", judge_mountns, true},
    {"cgroup", judge_cgroup, true},
};

static void
put_layer (const struct ag_unit *unit, size_t i, struct ag_buf *out)
{
    struct row row = {.name = layers[i].name};
    struct ag_buf asked = {0};
    struct ag_str word = layers[i].set ? ag_walls_asked (unit, row.name) : AG_LIT ("always");
    if (ag_str_is (word, "off")) {
        ag_put_null (&asked);
        say (&row, false, "not asked for");
    } else {
        ag_put_text (&asked, word);
        layers[i].judge (unit, &row);
    }
    put_row (&row, ag_buf_str (&asked), out);
    ag_buf_fini (&asked);
}

void
ag_walls_layers (const struct ag_unit *unit, struct ag_buf *out)
{
    uint32_t count = sizeof layers / sizeof *layers;
    ag_put_list (out, count);
    for (uint32_t i = 0; i < count; i++)
        put_layer (unit, i, out);
}

static void
remember (struct ag_str walls, const char *name, char said[AG_WALL_SAID])
{
    struct ag_str text;
    if (!ag_map_text (walls, name, &text) && ag_utf8 (text) && text.n < AG_WALL_SAID)
        snprintf (said, AG_WALL_SAID, "%.*s", AG_STR_ARG (text));
}

int
ag_walls_said (struct ag_unit *unit, struct ag_str walls, struct ag_err *err)
{
    if (!walls.p || !unit->inner)
        return 0;
    remember (walls, "landlock", unit->said[0]);
    remember (walls, "seccomp", unit->said[1]);
    if (!ag_str_is (ag_walls_asked (unit, "landlock"), "require"))
        return 0;
    struct row row = {.name = "landlock"};
    judge_landlock (unit, &row);
    return row.held
               ? 0
               : ag_fail (err, AG_E_CONFIG, "%s requires landlock: %s", unit->name, row.reason);
}
