//  What a run's log says of its packs: loaded, set otherwise, out of force.
//  SPDX-License-Identifier: Apache-2.0
#include "common/items.h"
#include "common/json.h"
#include "supervisor/cursor.h"
#include "supervisor/declared.h"
#include "supervisor/record.h"
#include "supervisor/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
append_loaded (ag_journal_t *journal, struct ag_run *run, struct ag_str pack, struct ag_err *err)
{
    static const char *const keys[] = {"name",        "version",  "description",
                                       "bundle_hash", "settings", "types"};
    struct ag_buf payload = {0};
    struct ag_str value, types = AG_LIT ("\x80");
    ag_map_get (pack, "types", &types);
    ag_put_map (&payload, 8);
    for (size_t i = 0; i < 6; i++) {
        ag_put_lit (&payload, keys[i]);
        if (ag_map_get (pack, keys[i], &value))
            ag_put_null (&payload);
        else
            ag_put_value (&payload, value);
    }
    ag_declared_put_names (types, &payload);
    return ag_declared_tell (journal, run, AG_EV_PACK_LOADED, &payload, err);
}

//  Each pair as a text PACK.KEY=VALUE.
static void
put_assignments (struct ag_str pack, struct ag_str overrides, struct ag_buf *out)
{
    struct ag_buf json = {0};
    struct ag_items pairs = ag_pairs_of (overrides);
    struct ag_str key, value;
    ag_put_list (out, pairs.left);
    while (ag_pairs_next (&pairs, &key, &value)) {
        ag_buf_clear (&json);
        ag_json_write (value, AG_JSON_LINE, &json);
        ag_put_textf (out, "%.*s.%.*s=%.*s", AG_STR_ARG (pack), AG_STR_ARG (key), (int)json.n,
                      (const char *)json.p);
    }
    ag_buf_fini (&json);
}

//  The pairs of a map that another one has with another value, or only those whose keys it has.
static uint32_t
put_pairs (struct ag_str map, struct ag_str other, bool differing, struct ag_buf *out)
{
    struct ag_str key, value, found;
    size_t at = ag_open_map (out);
    uint32_t count = 0;
    for (struct ag_items pairs = ag_pairs_of (map); ag_pairs_next (&pairs, &key, &value);) {
        if (ag_map_find (other, key, &found) || (differing && ag_value_equal (value, found)))
            continue;
        ag_put_text (out, key);
        ag_put_value (out, value);
        count++;
    }
    ag_close (out, at, count);
    return count;
}

//  The settings that a list of packs has for one; p NULL: it has not got it.
static struct ag_str
settings_in (struct ag_str packs, struct ag_str name)
{
    struct ag_str pack, settings = {0};
    if (!ag_list_find (packs, "name", name, &pack))
        ag_map_get (pack, "settings", &settings);
    return settings;
}

//  {pack, overrides, assignments, was, cause}: what is set, what stood there before, and by what.
static int
append_overridden (ag_journal_t *journal, struct ag_run *run, struct ag_str pack,
                   struct ag_str overrides, struct ag_str was, const char *cause,
                   struct ag_err *err)
{
    struct ag_buf payload = {0};
    uint64_t seq;
    if (ag_kind_of (overrides) != AG_MAP)
        return ag_fail (err, AG_E_USAGE, "settings of %.*s are a map", AG_STR_ARG (pack));
    ag_put_map (&payload, 5);
    ag_put_pair_text (&payload, "pack", pack);
    ag_put_pair_value (&payload, "overrides", overrides);
    ag_put_lit (&payload, "assignments");
    put_assignments (pack, overrides, &payload);
    ag_put_lit (&payload, "was");
    put_pairs (was, overrides, false, &payload);
    ag_put_pair_text (&payload, "cause", ag_str (cause));
    struct ag_draft draft = {.type = ag_type_name (AG_EV_PACK_SETTINGS_OVERRIDDEN),
                             .payload = ag_buf_str (&payload),
                             .actor = AG_LIT ("user")};
    int rc = ag_journal_append (journal, run, &draft, &seq, err);
    ag_buf_fini (&payload);
    return rc;
}

static int
announce_set (ag_journal_t *journal, struct ag_run *run, struct ag_str set, struct ag_str before,
              struct ag_err *err)
{
    struct ag_str pack, overrides;
    if (ag_kind_of (set) != AG_MAP)
        return ag_fail (err, AG_E_USAGE, "set is a map of packs");
    for (struct ag_items pairs = ag_pairs_of (set); ag_pairs_next (&pairs, &pack, &overrides);)
        if (append_overridden (journal, run, pack, overrides, settings_in (before, pack), "fork",
                               err))
            return -1;
    return 0;
}

//  The same bytes with other settings than before: the configuration says something else.
static int
announce_settings (ag_journal_t *journal, struct ag_run *run, struct ag_str pack,
                   struct ag_str name, struct ag_str was, struct ag_err *err)
{
    struct ag_buf overrides = {0};
    struct ag_str settings;
    int rc = 0;
    if (was.p && !ag_map_get (pack, "settings", &settings) &&
        put_pairs (settings, was, true, &overrides))
        rc = append_overridden (journal, run, name, ag_buf_str (&overrides), was, "configuration",
                                err);
    ag_buf_fini (&overrides);
    return rc;
}

//  A pack is announced unless the run's log already says that this very pack is in force; then what is set otherwise in
//  it is.
static int
announce_pack (ag_journal_t *journal, struct ag_run *run, struct ag_str pack, struct ag_str before,
               struct ag_err *err)
{
    struct ag_buf known = {0}, value = {0};
    struct ag_str name, hash;
    if (ag_map_text (pack, "name", &name) || ag_map_text (pack, "bundle_hash", &hash))
        return 0;
    ag_put_text (&value, hash);
    int rc = ag_force_get (journal, run, name, &known, err);
    if (rc == 0 || (rc > 0 && !ag_str_eq (ag_buf_str (&known), ag_buf_str (&value)))) {
        rc = append_loaded (journal, run, pack, err);
        if (!rc)
            ag_force_put (journal, run, name, ag_buf_str (&value));
    } else if (rc > 0)
        rc = announce_settings (journal, run, pack, name, settings_in (before, name), err);
    ag_buf_fini (&known);
    ag_buf_fini (&value);
    return rc < 0 ? -1 : 0;
}

static int
announce_packs (ag_journal_t *journal, struct ag_run *run, struct ag_str packs,
                struct ag_str before, struct ag_err *err)
{
    struct ag_str pack;
    for (uint32_t i = 0; !ag_list_nth (packs, i, &pack); i++)
        if (announce_pack (journal, run, pack, before, err))
            return -1;
    return 0;
}

struct ag_str
ag_spec_packs (struct ag_str spec)
{
    struct ag_str hosts, host, packs;
    if (!ag_map_get (spec, "hosts", &hosts))
        for (uint32_t i = 0; !ag_list_nth (hosts, i, &host); i++)
            if (!ag_map_get (host, "packs", &packs))
                return packs;
    return AG_LIT ("\x90");
}

/*  Out of force  */

//  What the run's hosts registered for the pack, in order of the names' bytes.
struct behaviors {
    struct ag_buf holds[AG_HOSTS];
    struct ag_str *names;
    size_t count;
};

static void
add_behaviors (struct behaviors *self, struct ag_str list, struct ag_str pack)
{
    struct ag_str behavior, name;
    for (struct ag_items items = ag_items_of (list); ag_items_next (&items, &behavior);) {
        if (!ag_map_text_is (behavior, "pack", pack) || ag_map_text (behavior, "name", &name))
            continue;
        self->names = ag_xrealloc (self->names, (self->count + 1) * sizeof *self->names);
        self->names[self->count++] = name;
    }
}

static int
put_behaviors (ag_journal_t *journal, const struct ag_run *run, struct ag_str pack,
               struct ag_buf *out, struct ag_err *err)
{
    struct behaviors self = {0};
    uint64_t seq;
    int rc = 0;
    for (uint32_t i = 0; i < AG_HOSTS && rc >= 0; i++) {
        rc = ag_registration_get (journal, run, i, run->head.tip, &self.holds[i], &seq, err);
        if (rc > 0)
            add_behaviors (&self, ag_buf_str (&self.holds[i]), pack);
    }
    if (self.count)
        qsort (self.names, self.count, sizeof *self.names, ag_str_order);
    ag_put_lit (out, "behaviors");
    ag_put_list (out, (uint32_t)self.count);
    for (size_t i = 0; i < self.count; i++)
        ag_put_text (out, self.names[i]);
    free (self.names);
    for (uint32_t i = 0; i < AG_HOSTS; i++)
        ag_buf_fini (&self.holds[i]);
    return rc < 0 ? -1 : 0;
}

//  The version that the run's spec, as it is, has of a pack.
static int
put_version (ag_journal_t *journal, const struct ag_run *run, struct ag_str name,
             struct ag_buf *out, struct ag_err *err)
{
    struct ag_buf spec = {0};
    struct ag_str pack, version = {0};
    uint64_t seq;
    int rc = ag_note_get (journal, run, AG_LIT ("spec"), run->head.tip, &spec, &seq, err);
    if (rc > 0 && !ag_list_find (ag_spec_packs (ag_buf_str (&spec)), "name", name, &pack))
        ag_map_text (pack, "version", &version);
    ag_put_pair_or_null (out, "version", version);
    ag_buf_fini (&spec);
    return rc < 0 ? -1 : 0;
}

static int
append_disabled (ag_journal_t *journal, struct ag_run *run, struct ag_str name, struct ag_err *err)
{
    struct ag_declared declared = {0};
    struct ag_buf payload = {0};
    ag_put_map (&payload, 5);
    ag_put_pair_text (&payload, "name", name);
    int rc = put_version (journal, run, name, &payload, err) ||
                     put_behaviors (journal, run, name, &payload, err) ||
                     ag_declared_read (journal, run, run->head.tip, &declared, err)
                 ? -1
                 : 0;
    if (!rc) {
        ag_declared_put_names (ag_declared_of (&declared, name), &payload);
        rc = ag_declared_tell (journal, run, AG_EV_PACK_DISABLED, &payload, err);
    } else
        ag_buf_fini (&payload);
    ag_declared_fini (&declared);
    return rc;
}

int
ag_spec_disable (ag_journal_t *journal, struct ag_run *run, struct ag_str name, struct ag_err *err)
{
    struct ag_buf known = {0};
    int rc = ag_force_get (journal, run, name, &known, err);
    bool in_force = ag_kind_of (ag_buf_str (&known)) == AG_TEXT;
    ag_buf_fini (&known);
    if (rc <= 0)
        return rc < 0 ? -1
                      : ag_fail (err, AG_E_NOT_FOUND, "run %s never loaded a pack %.*s", run->id,
                                 AG_STR_ARG (name));
    if (!in_force)
        return 0;
    if (append_disabled (journal, run, name, err))
        return -1;
    ag_force_put (journal, run, name, AG_LIT ("\xc0"));
    return 1;
}

//  Packs that are in force and not among these go out of force.
static int
disable_others (ag_journal_t *journal, struct ag_run *run, struct ag_str packs, struct ag_err *err)
{
    struct ag_buf names = {0};
    struct ag_str pack, name;
    struct ag_head head;
    int rc = ag_force_list (journal, run, true, &names, err);
    struct ag_cursor in = ag_cursor (ag_buf_str (&names));
    while (!rc && in.p < in.end && !ag_next (&in, &head)) {
        name = head.s;
        if (ag_list_find (packs, "name", name, &pack))
            rc = ag_spec_disable (journal, run, name, err) < 0 ? -1 : 0;
    }
    ag_buf_fini (&names);
    return rc;
}

int
ag_spec_announce (ag_journal_t *journal, struct ag_run *run, struct ag_str spec, struct ag_str set,
                  struct ag_err *err)
{
    struct ag_buf normal = {0}, known = {0};
    struct ag_str packs = ag_spec_packs (spec), before;
    uint64_t seq;
    int rc = ag_note_get (journal, run, AG_LIT ("spec"), run->head.tip, &known, &seq, err);
    before = ag_spec_packs (ag_buf_str (&known));
    if (rc >= 0)
        rc = disable_others (journal, run, packs, err);
    if (!rc) //  what is set has events of its own
        rc = announce_packs (journal, run, packs, set.p ? AG_LIT ("\x90") : before, err);
    if (!rc && set.p)
        rc = ag_value_normalise (set, &normal, err);
    if (!rc && set.p)
        rc = announce_set (journal, run, ag_buf_str (&normal), before, err);
    ag_buf_fini (&normal);
    ag_buf_fini (&known);
    return rc;
}
