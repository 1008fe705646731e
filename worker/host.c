//  SPDX-License-Identifier: Apache-2.0
#include "worker/host.h"

#include "worker/jail.h"
#include "worker/script.h"
#include "worker/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//  What holds when welcome says nothing else.
enum { MEMORY_BYTES = 256 << 20, WALL_MS = 120000 };

struct host {
    const struct ag_host_place *place;
    agsup_t *link;
    struct ag_walls walls;
    struct agsup_value welcome; //  the packs borrow from it
    struct ag_packs packs;
    struct ag_script_limits limits;
    enum ag_profile profile;
    ag_script_t *script;
    struct ag_buf result;
};

static struct ag_str
bytes_of (struct agsup_value value)
{
    return (struct ag_str){value.bytes, value.size};
}

//  The nets as the configuration has them: memory and wall_ms (0: none), and the seccomp profile. Three
//  quarters of the memory are the script's; the rest is for texts on their way, the link and the program.
static int
read_limits (struct host *self, struct ag_err *err)
{
    struct ag_str limits = {0}, seccomp = AG_LIT ("standard");
    uint64_t memory = MEMORY_BYTES, wall = WALL_MS;
    ag_map_get (bytes_of (self->welcome), "limits", &limits);
    ag_map_uint (limits, "memory", &memory);
    ag_map_uint (limits, "wall_ms", &wall);
    ag_map_text (limits, "seccomp", &seccomp);
    self->limits.memory_bytes = memory ? (size_t)(memory - memory / 4) : SIZE_MAX;
    self->limits.wall_ms = wall;
    char *name = ag_str_dup (seccomp);
    int profile = ag_profile_of (name);
    if (profile < 0)
        ag_fail (err, AG_E_BAD_MESSAGE,
                 "welcome: limits.seccomp is \"%s\", not off, standard or strict", name);
    free (name);
    self->profile = (enum ag_profile)profile;
    return profile < 0 ? -1 : 0;
}

#define WALLS "'walls': {'landlock': %s, 'seccomp': %s}"

static int
greet (struct host *self, struct ag_err *err)
{
    if (agsup_connect (self->link, &self->welcome,
                       "{'name': 'agsup-worker " AG_RELEASE "', " WALLS "}", self->walls.landlock,
                       self->walls.seccomp))
        return ag_link_error (self->link, err);
    return read_limits (self, err);
}

//  A failure of the packs over the link; that it cannot be said changes nothing.
static void
say_unloaded (struct host *self)
{
    char *message = ag_str_dup (ag_buf_str (&self->result));
    agsup_fail (self->link, "{'type': %s, 'message': %s}",
                self->script ? ag_script_failure (self->script) : "script.error", message);
    free (message);
}

//  Say it in the agent's own output too, where whoever writes the pack looks.
static int
load (struct host *self, struct ag_buf *behaviors, struct ag_buf *tools, struct ag_err *err)
{
    if (!ag_packs_read (bytes_of (self->welcome), &self->packs, err)) {
        self->script = ag_script_new (self->link, &self->packs, self->place->files, self->limits);
        if (!ag_script_load (self->script, behaviors, tools, err))
            return 0;
    }
    ag_buf_clear (&self->result);
    ag_clean (ag_str (err->text), sizeof err->text, &self->result);
    agsup_log (self->link, "error", "%.*s", AG_STR_ARG (ag_buf_str (&self->result)));
    say_unloaded (self);
    return -1;
}

//  Each element of a list, by one of the library's functions.
static int
add_each (agsup_t *link, const struct ag_buf *list, int add (agsup_t *, const char *, ...),
          struct ag_err *err)
{
    struct agsup_walk walk = {.of = {list->p, list->n}};
    struct agsup_value element;
    while (agsup_walk (&walk, NULL, &element))
        if (add (link, "%p", (void *)&element))
            return ag_link_error (link, err);
    return 0;
}

static int
sign_up (struct host *self, struct ag_err *err)
{
    struct ag_buf behaviors = {0}, tools = {0};
    int rc = load (self, &behaviors, &tools, err);
    rc = rc ? rc : add_each (self->link, &behaviors, agsup_behavior, err);
    rc = rc ? rc : add_each (self->link, &tools, agsup_tool, err);
    if (!rc &&
        agsup_register (self->link, "{" WALLS "}", self->walls.landlock, self->walls.seccomp))
        rc = ag_link_error (self->link, err);
    ag_buf_fini (&behaviors);
    ag_buf_fini (&tools);
    return rc;
}

static int
give_up (struct host *self, struct ag_err *err)
{
    struct agsup_value why = {self->result.p, self->result.n};
    return agsup_fail (self->link, "%p", (void *)&why) ? ag_link_error (self->link, err) : 0;
}

//  What could not be handed in is the failure of its invocation.
static int
hand_in (struct host *self, struct ag_err *err)
{
    if (!add_each (self->link, &self->result, agsup_op, err) && !agsup_done (self->link))
        return 0;
    if (agsup_fail (self->link, "{'type': %s, 'message': %s, 'traceback': ''}",
                    agsup_code (self->link), agsup_message (self->link)))
        return ag_link_error (self->link, err);
    return 0;
}

static int
work (struct host *self, struct agsup_value job, struct ag_err *err)
{
    ag_buf_clear (&self->result);
    enum ag_ran ran = ag_script_run (self->script, bytes_of (job), &self->result);
    if (ran == AG_RAN)
        return hand_in (self, err);
    if (give_up (self, err))
        return -1;
    if (ran == AG_TRIPPED)
        return ag_fail (err, AG_E_NET, "a script met a limit of its host and cannot go on");
    return 0;
}

static int
serve (struct host *self, struct ag_err *err)
{
    struct agsup_value job;
    int more;
    while ((more = agsup_next (self->link, &job)) == 1) {
        if (work (self, job, err))
            return -1;
        ag_script_rewind (self->script); //  while the supervisor commits
    }
    return more ? ag_link_error (self->link, err) : 0;
}

static int
build_first_wall (const struct ag_host_place *place, struct ag_walls *walls, struct ag_err *err)
{
    if (!place->landlock || strcmp (place->landlock, "off"))
        return ag_jail_files (place->files, walls, err);
    snprintf (walls->landlock, sizeof walls->landlock, "off: not asked for");
    return 0;
}

int
ag_host_run (const struct ag_host_place *place, struct ag_err *err)
{
    struct host self = {.place = place, .walls = {"off: not reached", "off: before welcome"}};
    bool files = place->files && *place->files;
    int rc = build_first_wall (place, &self.walls, err);
    self.link = agsup_new();
    rc = rc ? rc : greet (&self, err);
    rc = rc ? rc : ag_jail_calls (self.profile, files, &self.walls, err);
    rc = rc ? rc : sign_up (&self, err);
    rc = rc ? rc : serve (&self, err);
    ag_script_destroy (&self.script);
    ag_packs_fini (&self.packs);
    agsup_destroy (&self.link);
    ag_buf_fini (&self.result);
    return rc;
}
