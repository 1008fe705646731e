//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/trial_spec.h"
#include "common/forms.h"
#include "common/items.h"
#include "common/together.h"
#include "supervisor/blob.h"
#include "supervisor/mismatch.h"
#include "supervisor/spec.h"

#include <stdlib.h>
#include <string.h>

enum { WALL_MS = 120000, EVENTS = 2000, OPEN_FILES = 256, PROCESSES = 64, CPU_SLACK_MS = 5000 };
static const uint64_t memory_bytes = 512 << 20, file_bytes = 64 << 20;

void
ag_candidates_fini (struct ag_candidates *self)
{
    ag_buf_fini (&self->packs);
}

//  A pack of the request: {pin, files}.
static int
read_entry (struct ag_str entry, struct ag_str *pin, struct ag_str *files, struct ag_err *err)
{
    if (ag_map_text (entry, "pin", pin) || !ag_is_hash (*pin))
        return ag_fail (err, AG_E_USAGE,
                        "a trial takes each pack with its pin, sha256: and 64 hex digits; `agsup "
                        "pack hash DIR` prints it as the bundle hash");
    if (ag_map_get (entry, "files", files) || ag_kind_of (*files) != AG_LIST)
        return ag_fail (err, AG_E_USAGE, "a pack of a trial is {pin, files}");
    return 0;
}

int
ag_trial_ask_check (const struct ag_msg_trial *msg, struct ag_err *err)
{
    struct ag_items packs = ag_items_of (msg->packs), steps = ag_items_of (msg->scenario);
    struct ag_str entry, pin, files, step;
    if (!packs.left)
        return ag_fail (err, AG_E_USAGE, "a trial is of a pack: packs is empty");
    if (packs.left > AG_RUN_PACKS)
        return ag_fail (err, AG_E_USAGE, "a trial has at most %d packs, not %u", AG_RUN_PACKS,
                        packs.left);
    if (msg->program.p && packs.left > 1)
        return ag_fail (err, AG_E_USAGE, "a program is tried alone: no host would run extra packs");
    while (ag_items_next (&packs, &entry))
        if (read_entry (entry, &pin, &files, err))
            return -1;
    for (uint32_t i = 1; ag_items_next (&steps, &step); i++)
        if (ag_kind_of (step) != AG_MAP && ag_kind_of (step) != AG_LIST)
            return ag_fail (err, AG_E_USAGE,
                            "step %u of the scenario is no operation and no list of them", i);
    return 0;
}

//  One pack, appended. What else is to hold before any code of it runs is asked here.
static int
add_pack (struct ag_candidates *self, struct ag_str entry, struct ag_err *err)
{
    struct ag_str pin, files;
    return read_entry (entry, &pin, &files, err) ||
                   ag_pack_pinned (files, pin, self->hash, &self->packs, err)
               ? -1
               : 0;
}

int
ag_candidates_read (const struct ag_msg_trial *msg, struct ag_candidates *self, struct ag_err *err)
{
    struct ag_str entry, next;
    size_t packs = ag_open_list (&self->packs);
    uint32_t count = 0;
    int rc = 0;
    while (!rc && !ag_list_nth (msg->packs, count, &entry)) {
        rc = add_pack (self, entry, err);
        if (rc && !ag_list_nth (msg->packs, count + 1, &next)) { //  the candidate was not looked at
            self->hash[0] = 0;
            ag_wrap (err, "extra pack %u", count + 1);
        }
        count += !rc;
        ag_close (&self->packs, packs, count);
    }
    return rc ? -1 : ag_packs_check (ag_buf_str (&self->packs), (struct ag_str){0}, err);
}

/*  The spec  */

static uint64_t
net_of (struct ag_str nets, const char *key, uint64_t otherwise)
{
    uint64_t number;
    return ag_map_uint (nets, key, &number) || !number ? otherwise : number;
}

//  What the request sets, else what a trial has, else what the parent has.
static void
put_nets (struct ag_str parent, const struct ag_msg_trial *msg, struct ag_buf *out)
{
    struct ag_str nets = AG_LIT ("\x80");
    uint64_t wall = msg->wall_ms ? msg->wall_ms : WALL_MS;
    ag_map_get (parent, "nets", &nets);
    ag_put_map (out, 7);
    ag_put_pair_uint (out, "memory_bytes", msg->memory ? msg->memory : memory_bytes);
    ag_put_pair_uint (out, "wall_ms", wall);
    ag_put_pair_uint (out, "events", msg->events ? msg->events : EVENTS);
    ag_put_pair_uint (out, "cpu_ms", net_of (nets, "cpu_ms", wall + CPU_SLACK_MS));
    ag_put_pair_uint (out, "open_files", net_of (nets, "open_files", OPEN_FILES));
    //  a script host starts none, and might share its uid with the whole house
    ag_put_pair_uint (out, "processes", msg->program.p ? net_of (nets, "processes", PROCESSES) : 0);
    ag_put_pair_uint (out, "file_size_bytes", net_of (nets, "file_size_bytes", file_bytes));
}

static void
put_layers (struct ag_str parent, struct ag_buf *out)
{
    struct ag_str layers;
    if (!ag_map_get (parent, "layers", &layers)) {
        ag_put_value (out, layers);
        return;
    }
    ag_put_map (out, 3);
    ag_put_pair_text (out, "seccomp", AG_LIT ("standard"));
    ag_put_pair_text (out, "landlock", AG_LIT ("try"));
    ag_put_pair_text (out, "uid", AG_LIT ("try"));
}

//  One file of the candidate, which is the last pack, is run.
static int
check_program (struct ag_str packs, struct ag_str program, struct ag_err *err)
{
    struct ag_str pack = {0}, files = {0}, file, path;
    for (uint32_t i = 0; !ag_list_nth (packs, i, &pack); i++)
        ag_map_get (pack, "files", &files);
    for (uint32_t i = 0; !ag_list_nth (files, i, &file); i++)
        if (!ag_map_text (file, "path", &path) && ag_str_eq (path, program))
            return 0;
    return ag_fail (err, AG_E_PACK, "%.*s is no file of the pack", AG_STR_ARG (program));
}

static void
put_host (struct ag_str packs, struct ag_str program, struct ag_buf *out)
{
    ag_put_map (out, program.p ? 3 : 2);
    ag_put_pair_text (out, "kind", program.p ? AG_LIT ("program") : AG_LIT ("script"));
    if (program.p) {
        ag_put_lit (out, "command");
        ag_put_list (out, 1);
        ag_put_text (out, program);
    }
    ag_put_pair_value (out, "packs", packs);
}

//  Of the parent: its name, what it may read, and who may do what.
static uint32_t
put_inherited (struct ag_str parent, struct ag_buf *out)
{
    static const char *const keys[] = {"agent", "files", "policy"};
    struct ag_str value;
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!ag_map_get (parent, keys[i], &value)) {
            ag_put_pair_value (out, keys[i], value);
            count++;
        }
    return count;
}

int
ag_trial_spec (ag_journal_t *journal, struct ag_str parent, const struct ag_msg_trial *msg,
               const struct ag_candidates *candidates, struct ag_buf *out, struct ag_err *err)
{
    struct ag_str packs = {0};
    struct ag_buf raw = {0};
    if (candidates)
        packs = ag_buf_str (&candidates->packs);
    if (candidates && msg->program.p && check_program (packs, msg->program, err))
        return -1;
    size_t map = ag_open_map (&raw);
    uint32_t inherited = put_inherited (parent, &raw);
    ag_put_pair_uint (&raw, "attempts", 1);
    ag_put_lit (&raw, "nets");
    put_nets (parent, msg, &raw);
    ag_put_lit (&raw, "layers");
    put_layers (parent, &raw);
    ag_put_lit (&raw, "hosts");
    ag_put_list (&raw, candidates ? 1 : 0);
    if (candidates)
        put_host (packs, msg->program, &raw);
    ag_close (&raw, map, inherited + 4);
    int rc = ag_blobs_out (journal, ag_buf_str (&raw), out, err);
    ag_buf_fini (&raw);
    return rc;
}

/*  The surface  */

//  Append what a program registered, which names no pack, as that of its only one.
static void
put_own (struct ag_str list, struct ag_str spec, struct ag_buf *out)
{
    struct ag_str hosts, host, packs, one, name = {0}, pack = {0};
    uint32_t count = 0;
    if (!ag_map_get (spec, "hosts", &hosts) && !ag_list_nth (hosts, 0, &host) &&
        !ag_map_get (host, "packs", &packs) && !ag_list_nth (packs, 0, &one))
        ag_map_text (one, "name", &pack);
    size_t at = ag_open_list (out);
    for (; !ag_list_nth (list, count, &one); count++) {
        ag_map_text (one, "name", &name);
        ag_put_map (out, 2);
        ag_put_pair_text (out, "name", name);
        ag_put_pair_text (out, "pack", pack);
    }
    ag_close (out, at, count);
}

int
ag_trial_check_surface (struct ag_str spec, bool program, struct ag_str behaviors,
                        struct ag_str tools, struct ag_err *err)
{
    struct ag_buf own = {0}, own_tools = {0}, lines = {0}, text = {0};
    if (program) {
        put_own (behaviors, spec, &own);
        put_own (tools, spec, &own_tools);
        behaviors = ag_buf_str (&own);
        tools = ag_buf_str (&own_tools);
    }
    size_t count = ag_mismatch_lines (spec, 0, behaviors, tools, &lines);
    for (size_t i = 0; i + 1 < lines.n; i++)
        if (lines.p[i] == '\n')
            ag_buf_text (&text, "; ");
        else
            ag_buf_add (&text, lines.p + i, 1);
    int rc = count ? ag_fail (err, AG_E_PACK, "the code is not what its manifest says: %.*s",
                              AG_STR_ARG (ag_buf_str (&text)))
                   : 0;
    ag_buf_fini (&own);
    ag_buf_fini (&own_tools);
    ag_buf_fini (&lines);
    ag_buf_fini (&text);
    return rc;
}
