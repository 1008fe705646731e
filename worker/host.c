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
    ag_link_t *link;
    struct ag_walls walls;
    struct ag_buf welcome; //  the packs borrow from it
    struct ag_packs packs;
    struct ag_script_limits limits;
    enum ag_profile profile;
    ag_script_t *script;
    struct ag_buf job, result;
};

static struct ag_str
put_walls (const struct ag_walls *walls, struct ag_buf *out)
{
    ag_buf_clear (out);
    ag_put_map (out, 2);
    ag_put_lit (out, "landlock");
    ag_put_lit (out, walls->landlock);
    ag_put_lit (out, "seccomp");
    ag_put_lit (out, walls->seccomp);
    return ag_buf_str (out);
}

//  The nets as the configuration has them: memory and wall_ms (0: none), and the seccomp profile. Three
//  quarters of the memory are the script's; the rest is for texts on their way, the link and the program.
static int
read_limits (struct host *self, struct ag_err *err)
{
    struct ag_str limits = {0}, seccomp = AG_LIT ("standard");
    uint64_t memory = MEMORY_BYTES, wall = WALL_MS;
    ag_map_get (ag_buf_str (&self->welcome), "limits", &limits);
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

static int
greet (struct host *self, struct ag_err *err)
{
    struct ag_str welcome;
    struct ag_msg_hello hello = {.protocol = 1,
                                 .nonce = ag_str (self->place->nonce ? self->place->nonce : "")};
    hello.name = AG_LIT ("agsup-worker " AG_RELEASE);
    hello.walls = put_walls (&self->walls, &self->result);
    if (ag_link_hello (self->link, &hello, &welcome, err))
        return -1;
    ag_buf_add_str (&self->welcome, welcome);
    return read_limits (self, err);
}

//  Say it in the agent's own output too, where whoever writes the pack looks.
static int
load (struct host *self, struct ag_buf *behaviors, struct ag_buf *tools, struct ag_err *err)
{
    struct ag_err unsaid;
    if (!ag_packs_read (ag_buf_str (&self->welcome), &self->packs, err)) {
        self->script = ag_script_new (self->link, &self->packs, self->place->files, self->limits);
        ag_link_meanwhile (self->link, ag_script_ahead, self->script);
        if (!ag_script_load (self->script, behaviors, tools, err))
            return 0;
    }
    ag_buf_clear (&self->result);
    ag_clean (ag_str (err->text), sizeof err->text, &self->result);
    ag_link_log (self->link, AG_ERROR, ag_buf_str (&self->result), &unsaid);
    return -1;
}

static int
sign_up (struct host *self, struct ag_err *err)
{
    struct ag_buf behaviors = {0}, tools = {0};
    int rc = load (self, &behaviors, &tools, err);
    if (!rc) {
        struct ag_msg_registration found = {ag_buf_str (&behaviors), ag_buf_str (&tools),
                                            put_walls (&self->walls, &self->result)};
        rc = ag_link_register (self->link, &found, err);
    }
    ag_buf_fini (&behaviors);
    ag_buf_fini (&tools);
    return rc;
}

//  A refusal of what an invocation did is its failure: the error goes into the log of the run.
static int
refused (struct host *self, const struct ag_err *why, struct ag_str *job, struct ag_err *err)
{
    ag_buf_clear (&self->job);
    ag_clean (ag_str (why->text), sizeof why->text, &self->job);
    ag_buf_clear (&self->result);
    ag_put_map (&self->result, 3);
    ag_put_lit (&self->result, "type");
    ag_put_lit (&self->result, ag_code_name (why->code));
    ag_put_lit (&self->result, "message");
    ag_put_text (&self->result, ag_buf_str (&self->job));
    ag_put_lit (&self->result, "traceback");
    ag_put_lit (&self->result, "");
    return ag_link_fail (self->link, ag_buf_str (&self->result), job, err);
}

static int
work (struct host *self, struct ag_str *job, struct ag_err *err)
{
    struct ag_err why;
    ag_buf_clear (&self->job);
    ag_buf_add_str (&self->job, *job);
    ag_buf_clear (&self->result);
    enum ag_ran ran = ag_script_run (self->script, ag_buf_str (&self->job), &self->result);
    struct ag_str result = ag_buf_str (&self->result);
    if (ran == AG_RAISED)
        return ag_link_fail (self->link, result, job, err);
    if (ran == AG_TRIPPED) {
        if (ag_link_fail (self->link, result, NULL, err))
            return -1;
        return ag_fail (err, AG_E_NET, "a script met a limit of its host and cannot go on");
    }
    if (!ag_link_done (self->link, result, job, &why))
        return 0;
    return refused (self, &why, job, err);
}

static int
serve (struct host *self, struct ag_err *err)
{
    struct ag_str job;
    int rc = ag_link_next (self->link, &job, err);
    while (!rc) {
        if (ag_link_is (job, "invoke"))
            rc = work (self, &job, err);
        else if (ag_link_is (job, "stop"))
            return 0;
        else if (ag_link_is (job, "ok") || ag_link_is (job, "again"))
            rc = ag_link_next (self->link, &job, err);
        else
            rc = ag_fail (err, AG_E_BAD_MESSAGE, "next was answered by no invoke and no stop");
    }
    return rc;
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
    if (!rc)
        rc = (self.link = ag_link_new (place->endpoint, err)) ? 0 : -1;
    rc = rc ? rc : greet (&self, err);
    rc = rc ? rc : ag_jail_calls (self.profile, files, &self.walls, err);
    rc = rc ? rc : sign_up (&self, err);
    rc = rc ? rc : serve (&self, err);
    ag_script_destroy (&self.script);
    ag_packs_fini (&self.packs);
    ag_link_destroy (&self.link);
    ag_buf_fini (&self.welcome);
    ag_buf_fini (&self.job);
    ag_buf_fini (&self.result);
    return rc;
}
