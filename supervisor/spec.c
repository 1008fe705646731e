//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/spec.h"
#include "common/answer.h"
#include "common/items.h"
#include "supervisor/blob.h"
#include "common/pack.h"
#include "common/together.h"
#include "supervisor/record.h"
#include "supervisor/unit.h"

#include <stdlib.h>
#include <string.h>

//  Keys of an agent's configuration that its workers are started by.
static const char *const kept[] = {"nets",     "layers",  "files", "allow", "env",    "isolation",
                                   "attempts", "restart", "after", "hears", "policy", "budget"};

static void
put_kept (struct ag_str from, struct ag_buf *out, uint32_t *count)
{
    struct ag_str value;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (!ag_map_get (from, kept[i], &value)) {
            ag_put_lit (out, kept[i]);
            ag_put_value (out, value);
            ++*count;
        }
}

//  The settings of a pack: its defaults with what is given over them.
static int
put_settings (struct ag_str pack, struct ag_str given, struct ag_buf *out, struct ag_err *err)
{
    struct ag_str defaults = {0}, key, value, other;
    ag_map_get (pack, "settings", &defaults);
    if (given.p && ag_pack_check_settings (pack, given, err))
        return -1;
    struct ag_items pairs = ag_pairs_of (defaults);
    ag_put_map (out, pairs.left);
    while (ag_pairs_next (&pairs, &key, &value)) {
        ag_put_text (out, key);
        ag_put_value (out, ag_map_find (given, key, &other) ? value : other);
    }
    return 0;
}

//  A pack map with other settings.
static int
put_pack (struct ag_str pack, struct ag_str given, struct ag_buf *out, struct ag_err *err)
{
    struct ag_items pairs = ag_pairs_of (pack);
    struct ag_str key, value;
    if (ag_kind_of (pack) != AG_MAP)
        return ag_fail (err, AG_E_CORRUPT, "a pack that is no map");
    ag_put_map (out, pairs.left);
    while (ag_pairs_next (&pairs, &key, &value)) {
        ag_put_text (out, key);
        if (!ag_str_is (key, "settings"))
            ag_put_value (out, value);
        else if (put_settings (pack, given, out, err))
            return -1;
    }
    return 0;
}

//  {PACK: {…}} -> the table of one pack; p NULL when it has none.
static struct ag_str
given_for (struct ag_str settings, struct ag_str pack)
{
    struct ag_str name, given = {0};
    if (ag_map_text (pack, "name", &name) || ag_map_find (settings, name, &given))
        return (struct ag_str){0};
    return given;
}

//  The value that begins there and ends with the buffer.
static struct ag_str
since (const struct ag_buf *buf, size_t at)
{
    return (struct ag_str){(const char *)buf->p + at, buf->n - at};
}

//  Its packs with their settings; the names of the packs are appended to names.
static int
put_script_host (struct ag_str agent, struct ag_str pins, struct ag_buf *names, struct ag_buf *out,
                 struct ag_err *err)
{
    struct ag_str dir, name = {0}, settings = {0};
    struct ag_texts dirs = ag_texts_of (agent, "packs");
    ag_map_get (agent, "settings", &settings);
    ag_put_map (out, 2);
    ag_put_lit (out, "kind");
    ag_put_lit (out, "script");
    ag_put_lit (out, "packs");
    size_t at = ag_open_list (out);
    uint32_t count = 0;
    int rc = 0;
    for (; !rc && ag_texts_next (&dirs, &dir); count++) {
        struct ag_buf pack = {0};
        char *path = ag_str_dup (dir);
        rc = ag_pack_read (path, &pack, err);
        if (!rc)
            rc = put_pack (ag_buf_str (&pack), given_for (settings, ag_buf_str (&pack)), out, err);
        if (!rc && !ag_map_text (ag_buf_str (&pack), "name", &name))
            ag_put_text (names, name);
        ag_buf_fini (&pack);
        free (path);
    }
    ag_close (out, at, count);
    return rc ? rc : ag_packs_check (since (out, at), pins, err);
}

static void
put_program_host (struct ag_str agent, struct ag_str base, struct ag_buf *out)
{
    struct ag_str command = AG_LIT ("\x90"), dir = AG_LIT ("\xc0");
    ag_map_get (agent, "command", &command);
    ag_map_get (agent, "dir", &dir);
    ag_put_map (out, 4);
    ag_put_lit (out, "kind");
    ag_put_lit (out, "program");
    ag_put_lit (out, "command");
    ag_put_value (out, command);
    ag_put_lit (out, "dir");
    ag_put_value (out, dir);
    ag_put_lit (out, "base");
    ag_put_text (out, base);
}

static bool
has_some (struct ag_str agent, const char *key)
{
    struct ag_str list, first;
    return !ag_map_get (agent, key, &list) && !ag_list_nth (list, 0, &first);
}

int
ag_spec_of_agent (ag_journal_t *journal, struct ag_str name, struct ag_str agent,
                  struct ag_str base, struct ag_buf *out, struct ag_err *err)
{
    struct ag_buf raw = {0}, names = {0};
    struct ag_str settings = {0}, pins = {0};
    size_t map = ag_open_map (&raw);
    uint32_t fields = 2, hosts = 0;
    int rc = 0;
    ag_map_get (agent, "pins", &pins);
    ag_put_lit (&raw, "agent");
    ag_put_text (&raw, name);
    put_kept (agent, &raw, &fields);
    ag_put_lit (&raw, "hosts");
    size_t list = ag_open_list (&raw);
    if (has_some (agent, "packs")) {
        rc = put_script_host (agent, pins, &names, &raw, err);
        hosts++;
    } else
        rc = ag_packs_check (AG_LIT ("\x90"), pins, err);
    if (!rc && has_some (agent, "command")) {
        put_program_host (agent, base, &raw);
        hosts++;
    }
    ag_close (&raw, list, hosts);
    ag_close (&raw, map, fields);
    ag_map_get (agent, "settings", &settings);
    if (!rc)
        rc = ag_pack_check_tables (settings, ag_buf_str (&names), err);
    if (!rc)
        rc = ag_blobs_out (journal, ag_buf_str (&raw), out, err);
    ag_buf_fini (&raw);
    ag_buf_fini (&names);
    return rc;
}

void
ag_spec_changed (struct ag_str agent, struct ag_str spec, struct ag_buf *dirs)
{
    struct ag_buf hashes = {0};
    struct ag_str dir, hash, pack;
    struct ag_err err;
    for (struct ag_texts texts = ag_texts_of (agent, "packs"); ag_texts_next (&texts, &dir);) {
        char *path = ag_str_dup (dir);
        ag_buf_clear (&hashes);
        if (!ag_pack_hash (path, &hashes, &err) &&
            !ag_map_text (ag_buf_str (&hashes), "bundle_hash", &hash) &&
            ag_list_find (ag_spec_packs (spec), "bundle_hash", hash, &pack))
            ag_put_text (dirs, dir);
        free (path);
    }
    ag_buf_fini (&hashes);
}

//  The packs of a fork: the parent's with settings over them, then new ones; a new one replaces an old
//  one of its name.
struct change {
    struct ag_str set, packs, budget; //  p NULL: as they are
    struct ag_str without;            //  a pack that is left out
    struct ag_buf names;              //  of the packs that there are then, one text after the other
    struct ag_buf *lost;              //  sentences about settings that are not kept
    ag_journal_t *journal;
    bool taken; //  there was a host for packs
    struct ag_err *err;
};

static bool
is_replaced (const struct change *change, struct ag_str pack)
{
    struct ag_str name, other;
    if (ag_map_text (pack, "name", &name))
        return false;
    return (change->without.p && ag_str_eq (name, change->without)) ||
           (change->packs.p && !ag_list_find (change->packs, "name", name, &other));
}

static int
put_named (struct change *change, struct ag_str pack, struct ag_str given, struct ag_buf *out)
{
    struct ag_str name;
    if (!ag_map_text (pack, "name", &name))
        ag_put_text (&change->names, name);
    return put_pack (pack, given, out, change->err);
}

//  The pairs of a map that differ from its defaults, but for those that are set anew: as far as the pack takes them.
static uint32_t
put_still_set (struct change *change, struct ag_str pack, struct ag_str in_force,
               struct ag_str defaults, struct ag_buf *out)
{
    struct ag_str key, value, other, set = given_for (change->set, pack);
    struct ag_err err;
    uint32_t count = 0;
    for (struct ag_items pairs = ag_pairs_of (in_force); ag_pairs_next (&pairs, &key, &value);) {
        bool same = !ag_map_find (defaults, key, &other) && ag_value_equal (other, value);
        if (same || !ag_map_find (set, key, &other))
            continue;
        if (ag_pack_check_setting (pack, key, value, &err)) {
            ag_put_lit (change->lost, err.text);
            continue;
        }
        ag_put_text (out, key);
        ag_put_value (out, value);
        count++;
    }
    return count;
}

//  The settings that a pack is given which takes the place of another one: what was set for that one, and what is set
//  now over it.
static int
put_given (struct change *change, struct ag_str pack, struct ag_str old, struct ag_buf *out)
{
    struct ag_buf files = {0}, defaults = {0};
    struct ag_str set = given_for (change->set, pack), in_force = {0}, bytes = AG_LIT ("\x90");
    if (set.p && ag_pack_check_settings (pack, set, change->err))
        return -1;
    ag_map_get (old, "settings", &in_force);
    ag_map_get (old, "files", &bytes);
    int rc = ag_blobs_in (change->journal, bytes, &files, change->err);
    if (!rc)
        rc = ag_pack_defaults (ag_buf_str (&files), &defaults, change->err);
    if (!rc) {
        size_t at = ag_open_map (out);
        uint32_t count = put_still_set (change, pack, in_force, ag_buf_str (&defaults), out);
        struct ag_items over = ag_pairs_of (set);
        ag_buf_add (out, over.in.p, (size_t)(over.in.end - over.in.p));
        ag_close (out, at, count + over.left);
    }
    ag_buf_fini (&files);
    ag_buf_fini (&defaults);
    return rc;
}

//  A new pack, which may take the place of one that there was.
static int
put_new (struct change *change, struct ag_str pack, struct ag_str before, struct ag_buf *out)
{
    struct ag_str name = {0}, old;
    struct ag_buf given = {0};
    ag_map_text (pack, "name", &name);
    if (ag_list_find (before, "name", name, &old))
        return put_named (change, pack, given_for (change->set, pack), out);
    int rc = put_given (change, pack, old, &given);
    if (!rc)
        rc = put_named (change, pack, ag_buf_str (&given), out);
    ag_buf_fini (&given);
    return rc;
}

static int
put_changed_packs (struct change *change, struct ag_str packs, struct ag_buf *out)
{
    struct ag_str pack;
    size_t at = ag_open_list (out);
    uint32_t count = 0;
    for (uint32_t i = 0; !ag_list_nth (packs, i, &pack); i++) {
        if (is_replaced (change, pack))
            continue;
        //  what was set before stays: the pack's settings are the defaults now
        if (put_named (change, pack, given_for (change->set, pack), out))
            return -1;
        count++;
    }
    for (uint32_t i = 0; change->packs.p && !ag_list_nth (change->packs, i, &pack); i++, count++)
        if (put_new (change, pack, packs, out))
            return -1;
    ag_close (out, at, count);
    if (count > AG_RUN_PACKS)
        return ag_fail (change->err, AG_E_PACK, "a run has at most %d packs, not %u", AG_RUN_PACKS,
                        count);
    //  what stays as it was is not held up by what went out of force
    return change->packs.p ? ag_packs_check (since (out, at), (struct ag_str){0}, change->err) : 0;
}

static int
put_changed_host (struct change *change, struct ag_str host, struct ag_buf *out)
{
    struct ag_str kind = {0}, packs;
    ag_map_text (host, "kind", &kind);
    if (!ag_str_is (kind, "script") || ag_map_get (host, "packs", &packs)) {
        ag_put_value (out, host);
        return 0;
    }
    change->taken = true;
    ag_put_map (out, 2);
    ag_put_lit (out, "kind");
    ag_put_text (out, kind);
    ag_put_lit (out, "packs");
    return put_changed_packs (change, packs, out);
}

static int
put_changed (struct change *change, struct ag_str parent, struct ag_buf *out)
{
    struct ag_items pairs = ag_pairs_of (parent), hosts;
    struct ag_str key, value, host;
    if (ag_kind_of (parent) != AG_MAP)
        return ag_fail (change->err, AG_E_CORRUPT, "the parent's spec is no map");
    ag_put_map (out, pairs.left);
    while (ag_pairs_next (&pairs, &key, &value)) {
        ag_put_text (out, key);
        if (ag_str_is (key, "budget") && change->budget.p)
            value = change->budget;
        if (!ag_str_is (key, "hosts")) {
            ag_put_value (out, value);
            continue;
        }
        hosts = ag_items_of (value);
        ag_put_list (out, hosts.left);
        while (ag_items_next (&hosts, &host))
            if (put_changed_host (change, host, out))
                return -1;
    }
    return 0;
}

//  The packs of a request as they are, in a list. Their manifests name them, whatever the request says.
static int
read_packs (struct ag_str packs, struct ag_buf *out, struct ag_err *err)
{
    struct ag_str sent, files, name = {0}, other, pin;
    struct ag_buf made = {0};
    size_t at = ag_open_list (out);
    uint32_t count = 0;
    int rc = 0;
    for (; !rc && !ag_list_nth (packs, count, &sent); count++) {
        ag_buf_clear (&made);
        if (count == AG_RUN_PACKS)
            rc = ag_fail (err, AG_E_PACK, "a request brings at most %d packs", AG_RUN_PACKS);
        else
            rc = ag_map_get (sent, "files", &files)
                     ? ag_fail (err, AG_E_PACK, "a pack is {files, pin?}")
                     : ag_pack_from (files, &made, err);
        if (!rc && !ag_map_text (sent, "pin", &pin))
            rc = ag_pack_check_pin (ag_buf_str (&made), pin, err);
        ag_close (out, at, count);
        if (!rc && !ag_map_text (ag_buf_str (&made), "name", &name) &&
            !ag_list_find (ag_buf_str (out), "name", name, &other))
            rc = ag_fail (err, AG_E_PACK, "two of the packs are called %.*s", AG_STR_ARG (name));
        ag_buf_add_str (out, ag_buf_str (&made));
    }
    ag_close (out, at, count);
    ag_buf_fini (&made);
    return rc;
}

int
ag_spec_of_fork (ag_journal_t *journal, struct ag_str parent, struct ag_str set,
                 struct ag_str packs, struct ag_str budget, struct ag_buf *lost, struct ag_buf *out,
                 struct ag_err *err)
{
    struct ag_buf raw = {0}, normal = {0}, fresh = {0};
    struct change change = {.budget = budget, .lost = lost, .journal = journal, .err = err};
    int rc = set.p ? ag_value_normalise (set, &normal, err) : 0;
    change.set = set.p ? ag_buf_str (&normal) : set;
    if (!rc && packs.p) {
        rc = read_packs (packs, &fresh, err);
        change.packs = ag_buf_str (&fresh);
    }
    if (!rc)
        rc = put_changed (&change, parent, &raw);
    if (!rc)
        rc = ag_pack_check_tables (change.set, ag_buf_str (&change.names), err);
    if (!rc && packs.p && !change.taken)
        rc = ag_fail (err, AG_E_USAGE, "the run has a program and no packs to change");
    if (!rc)
        rc = ag_blobs_out (journal, ag_buf_str (&raw), out, err);
    ag_buf_fini (&raw);
    ag_buf_fini (&normal);
    ag_buf_fini (&fresh);
    ag_buf_fini (&change.names);
    return rc;
}

int
ag_spec_without (struct ag_str spec, struct ag_str pack, struct ag_buf *out, struct ag_err *err)
{
    struct change change = {.without = pack, .err = err};
    int rc = put_changed (&change, spec, out);
    ag_buf_fini (&change.names);
    return rc;
}

static void
put_limits (const struct ag_unit *unit, struct ag_buf *out)
{
    struct ag_str layers, seccomp = AG_LIT ("standard");
    if (!ag_map_get (ag_buf_str (&unit->spec), "layers", &layers))
        ag_map_text (layers, "seccomp", &seccomp);
    ag_put_map (out, 3);
    ag_put_lit (out, "memory");
    ag_put_uint (out, ag_unit_net (unit, "memory_bytes"));
    ag_put_lit (out, "wall_ms");
    ag_put_uint (out, ag_unit_net (unit, "wall_ms"));
    ag_put_lit (out, "seccomp");
    ag_put_text (out, seccomp);
}

int
ag_spec_welcome (struct ag_house *house, struct ag_unit *unit, struct ag_buf *out,
                 struct ag_err *err)
{
    struct ag_str agent = {0}, hosts, host = {0}, packs;
    struct ag_run *run;
    if (ag_run_get (house->journal, unit->run, &run, err))
        return -1;
    ag_map_text (ag_buf_str (&unit->spec), "agent", &agent);
    if (!ag_map_get (ag_buf_str (&unit->spec), "hosts", &hosts))
        ag_list_nth (hosts, unit->host, &host);
    struct ag_answer answer = ag_answer_begin (out, "welcome", (struct ag_str){0});
    ag_answer_key (&answer, "run");
    ag_put_lit (out, run->id);
    ag_answer_key (&answer, "agent");
    ag_put_text (out, agent);
    ag_answer_key (&answer, "fork");
    ag_put_bool (out, run->parent != 0);
    ag_answer_key (&answer, "settings");
    ag_put_map (out, 0);
    ag_answer_key (&answer, "limits");
    put_limits (unit, out);
    int rc = 0;
    if (!ag_map_get (host, "packs", &packs)) {
        ag_answer_key (&answer, "packs");
        rc = ag_blobs_in (house->journal, packs, out, err);
    }
    ag_answer_end (&answer);
    return rc;
}
