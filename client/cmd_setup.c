//  Before there is a fleet: check, pack check.
//  SPDX-License-Identifier: Apache-2.0
#include "client/client.h"
#include "common/answer.h"
#include "common/conf.h"
#include "common/pack.h"
#include "common/together.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void
put_names (struct ag_buf *out, const char *key, struct ag_str map)
{
    struct ag_str name, value;
    struct ag_items items = ag_pairs_of (map);
    ag_put_lit (out, key);
    ag_put_list (out, items.left);
    while (ag_pairs_next (&items, &name, &value))
        ag_put_text (out, name);
}

//  {ok, config, agents: [NAME], services: [NAME]}
static void
show_fine (const struct ag_client *self, struct ag_str conf)
{
    struct ag_buf out = {0};
    struct ag_str agents = ag_pick (conf, "agent"), services = ag_pick (conf, "service");
    ag_put_map (&out, 4);
    ag_put_lit (&out, "ok");
    ag_put_bool (&out, true);
    ag_put_lit (&out, "config");
    ag_put_lit (&out, self->place.config);
    put_names (&out, "agents", agents);
    put_names (&out, "services", services);
    if (self->look.json)
        ag_look_json (&self->look, ag_buf_str (&out));
    else {
        uint32_t n = ag_pairs_of (agents).left, m = ag_pairs_of (services).left;
        printf ("%s is valid: %" PRIu32 " agent%s, %" PRIu32 " service%s\n", self->place.config, n,
                ag_look_s (n), m, ag_look_s (m));
    }
    ag_buf_fini (&out);
}

//  The error as ever, and beside it every line that is wrong with what was checked; for people the verdict after them.
static void
show_problems (struct ag_client *self, const char *verdict, struct ag_str problems,
               struct ag_err *err)
{
    struct ag_buf answer = {0}, out = {0};
    if (!self->look.json && problems.n) {
        ag_look_lines (stderr, problems);
        ag_fail (err, err->code, "%s", verdict);
    }
    if (!self->look.json)
        return;
    ag_answer_error (&answer, (struct ag_str){0}, err);
    ag_put_map (&out, 2);
    ag_put_lit (&out, "error");
    ag_pick_rest (ag_buf_str (&answer), (const char *const[]){"do", NULL}, &out);
    ag_put_lit (&out, "problems");
    size_t at = ag_open_list (&out);
    uint32_t count = 0;
    for (size_t n; problems.n; problems.p += n, problems.n -= n, count++) {
        const char *end = memchr (problems.p, '\n', problems.n);
        size_t length = end ? (size_t)(end - problems.p) : problems.n;
        ag_put_text (&out, (struct ag_str){problems.p, length});
        n = end ? length + 1 : length;
    }
    ag_close (&out, at, count);
    ag_look_json (&self->look, ag_buf_str (&out));
    ag_buf_fini (&answer);
    ag_buf_fini (&out);
    self->status = ag_code_status (err->code);
}

//  Lines, each with who it is about before it.
static void
add_lines (struct ag_buf *problems, const char *about, struct ag_str lines)
{
    while (lines.n) {
        const char *end = memchr (lines.p, '\n', lines.n);
        size_t n = end ? (size_t)(end - lines.p) : lines.n, taken = end ? n + 1 : n;
        ag_buf_line (problems, "%s: %.*s", about, (int)n, lines.p);
        lines.p += taken;
        lines.n -= taken;
    }
}

//  One pack of an agent, appended to the others, and its name to names: what the fleet would refuse at its start.
static bool
check_pack (const char *dir, struct ag_str settings, struct ag_buf *packs, struct ag_buf *names,
            struct ag_buf *problems)
{
    struct ag_buf lines = {0};
    struct ag_err err;
    size_t before = packs->n;
    bool read = !ag_pack_look (dir, packs, &lines, &err);
    struct ag_str pack = {(const char *)packs->p + before, packs->n - before};
    char *about = ag_xprintf ("pack %s", dir);
    char *name = read ? ag_str_dup (ag_pick_text (pack, "name")) : NULL;
    struct ag_str given = name && settings.p ? ag_pick (settings, name) : (struct ag_str){0};
    if (given.p && ag_pack_check_settings (pack, given, &err))
        ag_buf_line (&lines, "%s", err.text);
    add_lines (problems, about, ag_buf_str (&lines));
    ag_buf_fini (&lines);
    if (name)
        ag_put_lit (names, name);
    free (about);
    free (name);
    return read;
}

//  The packs of an agent, each by itself and all together.
static void
check_agent (struct ag_str name, struct ag_str agent, struct ag_buf *problems)
{
    struct ag_buf packs = {0}, names = {0}, lines = {0};
    struct ag_str path, settings = ag_pick (agent, "settings");
    struct ag_err err;
    size_t at = ag_open_list (&packs);
    uint32_t count = 0;
    bool all = true;
    for (struct ag_texts dirs = ag_texts_of (agent, "packs"); ag_texts_next (&dirs, &path);) {
        char *dir = ag_str_dup (path);
        bool read = check_pack (dir, settings, &packs, &names, &lines);
        count += read;
        all = all && read;
        free (dir);
    }
    ag_close (&packs, at, count);
    if (all && ag_pack_check_tables (settings, ag_buf_str (&names), &err))
        ag_buf_line (&lines, "%s", err.text);
    if (all) //  what cannot be read may be what another one needs
        ag_packs_problems (ag_buf_str (&packs), ag_pick (agent, "pins"), &lines);
    char *about = ag_xprintf ("agent %.*s", AG_STR_ARG (name));
    add_lines (problems, about, ag_buf_str (&lines));
    free (about);
    ag_buf_fini (&packs);
    ag_buf_fini (&names);
    ag_buf_fini (&lines);
}

//  Every pack that the configuration names; each fault a line.
static int
check_agents (struct ag_str conf, struct ag_buf *problems, struct ag_err *err)
{
    struct ag_str name, agent;
    struct ag_items agents = ag_pairs_of (ag_pick (conf, "agent"));
    while (ag_pairs_next (&agents, &name, &agent))
        check_agent (name, agent, problems);
    const char *line = (const char *)problems->p;
    if (!problems->n)
        return 0;
    return ag_fail (err, AG_E_CONFIG, "%.*s",
                    (int)((const char *)memchr (line, '\n', problems->n) - line), line);
}

int
ag_cmd_check (struct ag_client *self, const struct ag_args_check *args, struct ag_err *err)
{
    (void)args;
    if (!self->place.config)
        return ag_fail (err, AG_E_CONFIG, "no agsup.toml here or upwards; `agsup init` makes one");
    struct ag_buf conf = {0}, problems = {0};
    char *verdict = ag_xprintf ("%s is not valid, as said above", self->place.config);
    int rc = ag_conf_load (self->place.config, &conf, &problems, err);
    if (!rc)
        rc = check_agents (ag_buf_str (&conf), &problems, err);
    if (!rc)
        show_fine (self, ag_buf_str (&conf));
    else
        show_problems (self, verdict, ag_buf_str (&problems), err);
    free (verdict);
    ag_buf_fini (&conf);
    ag_buf_fini (&problems);
    return self->status ? 0 : rc;
}

//  What is wrong is said of the manifest alone, and asked for by a trial: an agent runs the pack as it is.
static bool
is_for_a_trial (const char *dir, struct ag_str lines)
{
    struct ag_buf pack = {0};
    struct ag_err err;
    while (lines.n && ag_str_starts (lines, "manifest.toml:")) {
        const char *end = memchr (lines.p, '\n', lines.n);
        size_t n = end ? (size_t)(end - lines.p) + 1 : lines.n;
        lines = (struct ag_str){lines.p + n, lines.n - n};
    }
    bool runs = !lines.n && !ag_pack_read (dir, &pack, &err);
    ag_buf_fini (&pack);
    return runs;
}

int
ag_cmd_pack_check (struct ag_client *self, const struct ag_args_pack_check *args,
                   struct ag_err *err)
{
    struct ag_buf problems = {0}, out = {0};
    size_t count = 0;
    int rc = ag_pack_check (args->dir, &problems, &count, err);
    bool runs = !rc && count && is_for_a_trial (args->dir, ag_buf_str (&problems));
    char *verdict = runs ? ag_xprintf ("an agent runs %s as it is; a trial of it asks for what is "
                                       "said above",
                                       args->dir)
                         : ag_xprintf ("%s is not valid, as said above", args->dir);
    if (!rc && count)
        rc = ag_fail (err, AG_E_PACK, "%zu problem%s in %s%s", count, ag_look_s (count), args->dir,
                      runs ? " for a trial; an agent runs it as it is" : "");
    if (rc)
        show_problems (self, verdict, ag_buf_str (&problems), err);
    else if (self->look.json) {
        ag_put_map (&out, 1);
        ag_put_lit (&out, "ok");
        ag_put_bool (&out, true);
        ag_look_json (&self->look, ag_buf_str (&out));
    } else
        printf ("%s is valid\n", args->dir);
    free (verdict);
    ag_buf_fini (&problems);
    ag_buf_fini (&out);
    return self->status ? 0 : rc;
}
