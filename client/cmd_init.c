//  Something to start from: init, pack new.
//  SPDX-License-Identifier: Apache-2.0
#include "client/client.h"
#include "common/forms.h"
#include "common/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

//  A fleet of one agent with one pack.
static const char fleet[] =
    "# A fleet of one agent. `agsup up` starts it, `agsup status` shows it, `agsup help` tells "
    "the rest.\n"
    "version = 1\n"
    "\n"
    "[agent.hello]\n"
    "packs = [\"packs/hello\"]            # Lua, run inside its walls by a worker of its own\n"
    "goal  = \"Say hello to the world\"   # appended to its run once, and again when it changes\n"
    "\n"
    "# Limits, enforced from outside; these are examples.\n"
    "# nets = { memory = \"256MiB\", wall = \"2m\", events = 10_000 }\n"
    "\n"
    "# A program that speaks the worker protocol, in any language.\n"
    "# [agent.reviewer]\n"
    "# command = [\"python3\", \"reviewer.py\"]\n"
    "# hears   = [{ from = \"hello\", on = \"object.created\" }]\n";

//  1: the pack's name, which is in each name of its own, so that two packs of this template go together.
static const char code[] =
    "-- Each goal is answered with one greeting.\n"
    "ag.behavior { name = \"%1$s_greet\", on = { \"goal.created\" }, function (event, graph, ctx)\n"
    "    graph.add_object (\"%1$s_greeting\", { text = \"hello\", goal = event.payload.goal })\n"
    "end }\n";

//  2: the hash of the other files.
static const char manifest[] =
    "[pack]\n"
    "name = \"%1$s\"\n"
    "version = \"0.1.0\"\n"
    "description = \"Answers each goal with a greeting\"\n"
    "\n"
    "[pack.provenance]\n"
    "authored_by = \"human\"\n"
    "\n"
    "[pack.integrity]                    # `agsup pack hash --write` says it anew after a change\n"
    "content_hash = \"%2$s\"\n"
    "\n"
    "[dependencies]\n"
    "activegraph = \">=1.4\"\n"
    "\n"
    "[surface]\n"
    "object_types = [\"%1$s_greeting\"]\n"
    "behaviors = [\"%1$s_greet\"]\n"
    "\n"
    "[fixtures]\n"
    "entrypoint = \"main.lua\"\n"
    "deterministic = true\n"
    "\n"
    "# What the data of a type has to be, in the words of JSON Schema; checked before anything is "
    "logged.\n"
    "[types.object.%1$s_greeting]\n"
    "required = [\"text\"]\n"
    "properties.text = { type = \"string\" }\n"
    "properties.goal = { type = \"string\" }\n";

//  Every folder on the way to the file.
static int
make_folders (char *path, struct ag_err *err)
{
    for (char *slash = strchr (path + 1, '/'); slash; slash = strchr (slash + 1, '/')) {
        *slash = 0;
        int rc = mkdir (path, 0777);
        if (rc && errno != EEXIST)
            return ag_fail (err, AG_E_SYSTEM, "mkdir %s: %s", path, strerror (errno));
        *slash = '/';
    }
    return 0;
}

//  Paths, one after the other.
struct made {
    struct ag_buf paths;
    uint32_t count;
};

//  What exists is never touched.
static int
write_new (struct made *made, char *path, const char *text, struct ag_err *err)
{
    if (make_folders (path, err))
        return -1;
    int fd = open (path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return ag_fail (err, errno == EEXIST ? AG_E_EXISTS : AG_E_SYSTEM, "%s: %s", path,
                        strerror (errno));
    size_t n = strlen (text);
    int rc = write (fd, text, n) == (ssize_t)n
                 ? 0
                 : ag_fail (err, AG_E_SYSTEM, "write %s: %s", path, strerror (errno));
    close (fd);
    ag_put_lit (&made->paths, path);
    made->count++;
    return rc;
}

//  A whole pack, called like its folder: the code first, since the manifest holds its hash.
static int
make_pack (struct made *made, const char *dir, struct ag_err *err)
{
    struct ag_buf hashes = {0};
    struct ag_str hash = {0}, name = ag_str (dir);
    while (name.n > 1 && name.p[name.n - 1] == '/')
        name.n--;
    const char *slash = memrchr (name.p, '/', name.n);
    if (slash)
        name = (struct ag_str){slash + 1, (size_t)(name.p + name.n - slash - 1)};
    if (!ag_is_name (name))
        return ag_fail (err, AG_E_USAGE,
                        "a pack is called like its folder, 2 to 64 of a-z, 0-9 and _ with a letter "
                        "first, not %.*s",
                        AG_STR_ARG (name));
    char *lua = ag_xprintf ("%s/main.lua", dir), *toml = ag_xprintf ("%s/manifest.toml", dir);
    char *called = ag_str_dup (name), *source = ag_xprintf (code, called);
    int rc = write_new (made, lua, source, err);
    if (!rc)
        rc = ag_pack_hash (dir, &hashes, err);
    if (!rc) {
        ag_map_text (ag_buf_str (&hashes), "content_hash", &hash);
        char *content = ag_str_dup (hash), *text = ag_xprintf (manifest, called, content);
        rc = write_new (made, toml, text, err);
        free (content);
        free (text);
    }
    free (called);
    free (source);
    ag_buf_fini (&hashes);
    free (lua);
    free (toml);
    return rc;
}

//  {files: [PATH]}, or for a person one a line, and what comes next.
static void
show_made (const struct ag_client *self, const struct made *made, const char *next)
{
    struct ag_buf out = {0};
    struct ag_str path;
    ag_put_map (&out, 1);
    ag_put_lit (&out, "files");
    ag_put_list (&out, made->count);
    ag_buf_add_str (&out, ag_buf_str (&made->paths));
    if (self->look.json)
        ag_look_json (&self->look, ag_buf_str (&out));
    else {
        for (struct ag_texts paths = ag_texts_of (ag_buf_str (&out), "files");
             ag_texts_next (&paths, &path);)
            printf ("%.*s\n", AG_STR_ARG (path));
        fflush (stdout);
        ag_client_remark (self, "%s", next);
    }
    ag_buf_fini (&out);
}

int
ag_cmd_init (struct ag_client *self, const struct ag_args_init *args, struct ag_err *err)
{
    const char *dir = args->dir ? args->dir : ".";
    bool here = !strcmp (dir, ".");
    char *config = ag_xprintf ("%s/agsup.toml", dir), *pack = ag_xprintf ("%s/packs/hello", dir);
    struct made made = {0};
    char *next = ag_xprintf ("Next: `%s%s%sagsup up --detach` starts it, then `agsup status` and "
                             "`agsup log hello`.",
                             here ? "" : "cd ", here ? "" : dir, here ? "" : " && ");
    int rc = write_new (&made, config, fleet, err) || make_pack (&made, pack, err) ? -1 : 0;
    if (!rc)
        show_made (self, &made, next);
    ag_buf_fini (&made.paths);
    free (next);
    free (config);
    free (pack);
    return rc;
}

int
ag_cmd_pack_new (struct ag_client *self, const struct ag_args_pack_new *args, struct ag_err *err)
{
    struct made made = {0};
    const char *dir = args->dir;
    char *next =
        ag_xprintf ("Next: edit it; `agsup pack hash %s --write` and `agsup pack check %s` "
                    "after each change; then name it in `packs` of an agent in "
                    "agsup.toml, or `agsup pack load RUN %s`.",
                    dir, dir, dir);
    int rc = make_pack (&made, dir, err);
    if (!rc)
        show_made (self, &made, next);
    ag_buf_fini (&made.paths);
    free (next);
    return rc;
}
