//  SPDX-License-Identifier: Apache-2.0
#include "common/pack.h"
#include "common/folder.h"
#include "common/forms.h"
#include "common/hash.h"
#include "common/items.h"
#include "common/json.h"
#include "common/manifest.h"
#include "common/surface.h"
#include "common/script_check.h"
#include "common/toml.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SETTINGS = 1000 };

//  Path, 0, length as 8 bytes, bytes; for each file in order of the paths. The content is all but the manifest.
static void
hash_folder (const struct ag_folder *folder, bool content, char text[AG_PACK_HASH])
{
    struct ag_sha256 sha;
    uint8_t hash[AG_HASH];
    struct ag_buf head = {0};
    ag_sha256_init (&sha);
    for (size_t i = 0; i < folder->count; i++) {
        if (content && !strcmp (folder->files[i].path, "manifest.toml"))
            continue;
        ag_buf_clear (&head);
        ag_buf_add (&head, folder->files[i].path, strlen (folder->files[i].path) + 1);
        ag_buf_be64 (&head, folder->files[i].bytes.n);
        ag_sha256_add (&sha, ag_buf_str (&head));
        ag_sha256_add (&sha, ag_buf_str (&folder->files[i].bytes));
    }
    ag_sha256_end (&sha, hash);
    memcpy (text, "sha256:", 7);
    ag_hex (hash, sizeof hash, text + 7);
    ag_buf_fini (&head);
}

//  The defaults of settings.toml, or none. How many problems there are.
static size_t
put_settings (const struct ag_folder *folder, struct ag_buf *out, struct ag_buf *problems)
{
    const struct ag_file *file = ag_folder_find (folder, "settings.toml");
    size_t before = out->n;
    struct ag_head read;
    struct ag_err err;
    if (!file) {
        ag_put_map (out, 0);
        return 0;
    }
    ag_toml_t *toml = ag_toml_new (ag_buf_str (&file->bytes), out, &err);
    if (!toml)
        ag_buf_line (problems, "settings.toml: %s", err.text);
    size_t count = toml ? 0 : 1;
    ag_toml_destroy (&toml);
    struct ag_cursor in =
        ag_cursor ((struct ag_str){(const char *)out->p + before, out->n - before});
    if (!count && !ag_next (&in, &read) && read.count > MOST_SETTINGS) {
        ag_buf_line (problems, "settings.toml: more than %d settings", MOST_SETTINGS);
        count = 1;
    }
    return count;
}

//  The content hash of a manifest, where it stands, is that of the files.
static size_t
check_content (const struct ag_folder *folder, struct ag_str manifest, struct ag_buf *problems)
{
    struct ag_str said;
    char content[AG_PACK_HASH];
    if (ag_map_path (manifest, AG_LIT ("pack.integrity"), &manifest) ||
        ag_map_text (manifest, "content_hash", &said))
        return 0;
    hash_folder (folder, true, content);
    if (ag_str_is (said, content))
        return 0;
    ag_buf_line (
        problems,
        "manifest.toml: pack.integrity.content_hash is not that of the files, %s; where they "
        "are as they should be, `agsup pack hash %s --write` says it anew",
        content, folder->dir ? folder->dir : "DIR");
    return 1;
}

//  name, version, description, types, dependencies, surface
static void
put_said (struct ag_str manifest, struct ag_buf *out)
{
    static const char *const keys[] = {"name", "version", "description"};
    struct ag_str pack = {0}, value;
    ag_map_get (manifest, "pack", &pack);
    for (int i = 0; i < 3; i++)
        if (!ag_map_get (pack, keys[i], &value))
            ag_put_pair_value (out, keys[i], value);
    bool has = !ag_map_get (manifest, "types", &value);
    ag_put_pair_value (out, "types", has ? value : AG_LIT ("\x80"));
    has = !ag_map_get (manifest, "dependencies", &value);
    ag_put_pair_value (out, "dependencies", has ? value : AG_LIT ("\x80"));
    has = !ag_map_get (manifest, "surface", &value);
    ag_put_pair_value (out, "surface", has ? value : AG_LIT ("\xc0"));
}

//  What the manifest says of the files is so.
static size_t
check_entrypoint (const struct ag_folder *folder, struct ag_str manifest, struct ag_buf *problems)
{
    struct ag_str fixtures, said;
    if (ag_map_get (manifest, "fixtures", &fixtures) || ag_map_text (fixtures, "entrypoint", &said))
        return 0;
    char *path = ag_str_dup (said);
    bool there = ag_folder_find (folder, path);
    if (!there)
        ag_buf_line (problems, "manifest.toml: fixtures.entrypoint %s is no file of the pack",
                     path);
    free (path);
    return there ? 0 : 1;
}

//  Appends it to manifest, if it can be used. How many problems there are.
static size_t
read_manifest (const struct ag_folder *folder, bool whole, struct ag_buf *manifest,
               struct ag_buf *problems)
{
    const struct ag_file *file = ag_folder_find (folder, "manifest.toml");
    if (!file) {
        ag_buf_line (problems, "there is no manifest.toml");
        return 1;
    }
    size_t count = ag_manifest_read (ag_buf_str (&file->bytes), whole, manifest, problems);
    if (count)
        return count;
    count = check_content (folder, ag_buf_str (manifest), problems);
    if (whole)
        count += check_entrypoint (folder, ag_buf_str (manifest), problems);
    return count;
}

//  The first line, and how many more there are.
static int
fail_lines (struct ag_str lines, size_t count, struct ag_err *err)
{
    const char *end = memchr (lines.p, '\n', lines.n);
    int n = (int)(end - lines.p);
    if (count == 1)
        return ag_fail (err, AG_E_PACK, "%.*s", n, lines.p);
    return ag_fail (err, AG_E_PACK, "%.*s (and %zu more; `agsup pack check` lists them)", n,
                    lines.p, count - 1);
}

//  Who wrote it, by its own word; what nobody says, or no TOML says, is a human's.
static enum ag_author
author_of (const struct ag_folder *folder)
{
    const struct ag_file *file = ag_folder_find (folder, "manifest.toml");
    struct ag_buf manifest = {0};
    struct ag_err err;
    struct ag_str by = {0};
    ag_toml_t *toml = file ? ag_toml_new (ag_buf_str (&file->bytes), &manifest, &err) : NULL;
    if (toml)
        ag_map_path (ag_buf_str (&manifest), AG_LIT ("pack.provenance.authored_by"), &by);
    struct ag_cursor in = ag_cursor (by);
    struct ag_head head;
    bool agent =
        by.p && !ag_next (&in, &head) && head.kind == AG_TEXT && ag_str_is (head.s, "agent");
    ag_toml_destroy (&toml);
    ag_buf_fini (&manifest);
    return agent ? AG_BY_AGENT : AG_BY_HUMAN;
}

//  By all rules of its author, or only what could never load.
static size_t
check_source (const struct ag_folder *folder, enum ag_author author, bool whole,
              struct ag_buf *problems)
{
    struct ag_source *files = ag_xcalloc (folder->count + 1, sizeof *files);
    for (size_t i = 0; i < folder->count; i++)
        files[i] = (struct ag_source){ag_str (folder->files[i].path),
                                      ag_buf_str (&folder->files[i].bytes)};
    size_t count = whole ? ag_script_check (files, folder->count, author, problems)
                         : ag_script_check_loads (files, folder->count, problems);
    free (files);
    return count;
}

//  The settings can be read, and where all is asked for they are there when the surface says so.
static size_t
check_settings (const struct ag_folder *folder, struct ag_str manifest, bool whole,
                struct ag_buf *out, struct ag_buf *problems)
{
    struct ag_str surface;
    size_t before = out->n, count = put_settings (folder, out, problems);
    if (whole && !count && manifest.p && !ag_map_get (manifest, "surface", &surface))
        count = ag_surface_settings (
            surface, (struct ag_str){(const char *)out->p + before, out->n - before}, problems);
    return count;
}

//  A line for each problem, and how many there are; then out is as it was. Whole: by all that a trial and a gate
//  ask for; else an agent's pack is refused before a line of it runs, and a human's where it could never load: what
//  else is wrong with that the worker says.
static size_t
put_pack (const struct ag_folder *folder, bool whole, struct ag_buf *out, struct ag_buf *problems)
{
    char hash[AG_PACK_HASH];
    struct ag_buf manifest = {0};
    size_t before = out->n, count = read_manifest (folder, whole, &manifest, problems);
    enum ag_author author = author_of (folder);
    hash_folder (folder, false, hash);
    ag_put_map (out, 9);
    put_said (ag_buf_str (&manifest), out);
    ag_put_pair_text (out, "bundle_hash", ag_str (hash));
    ag_put_lit (out, "settings");
    count += check_settings (folder, ag_buf_str (&manifest), whole, out, problems);
    ag_put_lit (out, "files");
    ag_folder_put (folder, out);
    count += check_source (folder, author, whole || author == AG_BY_AGENT, problems);
    ag_buf_fini (&manifest);
    if (count)
        out->n = before;
    return count;
}

//  The same as one error.
static int
take_pack (const struct ag_folder *folder, bool whole, struct ag_buf *out, struct ag_buf *problems,
           struct ag_err *err)
{
    size_t begin = problems->n, count = put_pack (folder, whole, out, problems);
    struct ag_str lines = {(const char *)problems->p + begin, problems->n - begin};
    return count ? fail_lines (lines, count, err) : 0;
}

int
ag_pack_hash (const char *dir, struct ag_buf *out, struct ag_err *err)
{
    struct ag_folder folder;
    char content[AG_PACK_HASH], whole[AG_PACK_HASH];
    int rc = ag_folder_read (dir, &folder, err);
    if (!rc) {
        hash_folder (&folder, true, content);
        hash_folder (&folder, false, whole);
        ag_put_map (out, 3);
        ag_put_pair_text (out, "content_hash", ag_str (content));
        ag_put_pair_text (out, "bundle_hash", ag_str (whole));
        ag_put_lit (out, "files");
        ag_put_list (out, (uint32_t)folder.count);
        for (size_t i = 0; i < folder.count; i++)
            ag_put_lit (out, folder.files[i].path);
    }
    ag_folder_fini (&folder);
    return rc ? ag_wrap (err, "pack %s", dir) : 0;
}

int
ag_pack_check (const char *dir, struct ag_buf *problems, size_t *count, struct ag_err *err)
{
    struct ag_folder folder;
    struct ag_buf pack = {0};
    int rc = ag_folder_read (dir, &folder, err);
    if (!rc)
        *count = put_pack (&folder, true, &pack, problems);
    ag_folder_fini (&folder);
    ag_buf_fini (&pack);
    return rc ? ag_wrap (err, "pack %s", dir) : 0;
}

int
ag_pack_look (const char *dir, struct ag_buf *out, struct ag_buf *problems, struct ag_err *err)
{
    struct ag_folder folder;
    size_t begin = problems->n;
    int rc = ag_folder_read (dir, &folder, err);
    if (!rc)
        rc = take_pack (&folder, false, out, problems, err);
    ag_folder_fini (&folder);
    if (rc && problems->n == begin)
        ag_buf_line (problems, "%s", err->text);
    return rc ? ag_wrap (err, "pack %s", dir) : 0;
}

int
ag_pack_read (const char *dir, struct ag_buf *out, struct ag_err *err)
{
    struct ag_buf problems = {0};
    int rc = ag_pack_look (dir, out, &problems, err);
    ag_buf_fini (&problems);
    return rc;
}

int
ag_pack_from (struct ag_str files, struct ag_buf *out, struct ag_err *err)
{
    struct ag_folder folder;
    struct ag_buf problems = {0};
    int rc = ag_folder_from (files, &folder, err);
    if (!rc)
        rc = take_pack (&folder, false, out, &problems, err);
    ag_folder_fini (&folder);
    ag_buf_fini (&problems);
    return rc;
}

int
ag_pack_defaults (struct ag_str files, struct ag_buf *out, struct ag_err *err)
{
    struct ag_folder folder;
    struct ag_buf problems = {0};
    int rc = ag_folder_from (files, &folder, err);
    size_t count = rc ? 0 : put_settings (&folder, out, &problems);
    if (count)
        rc = fail_lines (ag_buf_str (&problems), count, err);
    ag_folder_fini (&folder);
    ag_buf_fini (&problems);
    return rc;
}

//  Nothing of it is looked at before its bytes are the approved ones.
int
ag_pack_pinned (struct ag_str files, struct ag_str pin, char hash[AG_PACK_HASH], struct ag_buf *out,
                struct ag_err *err)
{
    struct ag_folder folder;
    struct ag_buf problems = {0};
    hash[0] = 0;
    int rc = ag_folder_from (files, &folder, err);
    if (!rc)
        hash_folder (&folder, false, hash);
    if (!rc && !ag_str_is (pin, hash))
        rc = ag_fail (err, AG_E_PACK, "bundle hash mismatch: the pin is %.*s, the bytes are %s",
                      AG_STR_ARG (pin), hash);
    if (!rc)
        rc = take_pack (&folder, true, out, &problems, err);
    ag_folder_fini (&folder);
    ag_buf_fini (&problems);
    return rc;
}

static int
check_pin (struct ag_str pin, struct ag_err *err)
{
    return ag_is_hash (pin) ? 0
                            : ag_fail (err, AG_E_USAGE,
                                       "the pin is %.*s, not sha256: and 64 digits of 0-9 and a-f",
                                       AG_STR_ARG (pin));
}

int
ag_pack_bundle (const char *dir, struct ag_str pin, struct ag_buf *out, struct ag_err *err)
{
    struct ag_folder folder;
    if (pin.p && check_pin (pin, err))
        return -1;
    int rc = ag_folder_read (dir, &folder, err);
    if (!rc && !folder.count)
        rc = ag_fail (err, AG_E_PACK, "there is no file");
    if (!rc) {
        ag_put_map (out, pin.p ? 2 : 1);
        if (pin.p)
            ag_put_pair_text (out, "pin", pin);
        ag_put_lit (out, "files");
        ag_folder_put (&folder, out);
    }
    ag_folder_fini (&folder);
    return rc ? ag_wrap (err, "pack %s", dir) : 0;
}

int
ag_pack_check_pin (struct ag_str pack, struct ag_str pin, struct ag_err *err)
{
    struct ag_str hash = {0}, name = {0};
    ag_map_text (pack, "bundle_hash", &hash);
    ag_map_text (pack, "name", &name);
    if (check_pin (pin, err))
        return -1;
    if (ag_str_eq (hash, pin))
        return 0;
    return ag_fail (err, AG_E_PACK, "bundle hash mismatch: pack %.*s is %.*s, and pinned is %.*s",
                    AG_STR_ARG (name), AG_STR_ARG (hash), AG_STR_ARG (pin));
}

//  "min, max", of the keys of a map.
static void
list_keys (struct ag_str map, struct ag_buf *out)
{
    struct ag_str key, value;
    for (struct ag_items pairs = ag_pairs_of (map); ag_pairs_next (&pairs, &key, &value);)
        ag_buf_text (out, "%s%.*s", out->n ? ", " : "", AG_STR_ARG (key));
}

//  A setting that a pack does not declare, with those that it does.
static int
refuse_setting (struct ag_str pack, struct ag_str key, struct ag_str declared, struct ag_err *err)
{
    struct ag_buf keys = {0};
    list_keys (declared, &keys);
    ag_fail (err, AG_E_USAGE, "pack %.*s has no setting %.*s: its settings.toml declares %.*s",
             AG_STR_ARG (pack), AG_STR_ARG (key),
             AG_STR_ARG (keys.n ? ag_buf_str (&keys) : AG_LIT ("none")));
    ag_buf_fini (&keys);
    return -1;
}

//  For people; a number is one kind, whether it is whole or not.
static const char *
kind_name (struct ag_str value)
{
    static const char *const names[] = {
        [AG_NULL] = "nothing",  [AG_BOOL] = "true or false", [AG_INT] = "a number",
        [AG_UINT] = "a number", [AG_FLOAT] = "a number",     [AG_TEXT] = "a text",
        [AG_BYTES] = "bytes",   [AG_LIST] = "a list",        [AG_MAP] = "a table"};
    return names[ag_kind_of (value)];
}

//  A setting of another kind than its default: what reads it expects that kind.
static int
refuse_kind (struct ag_str pack, struct ag_str key, struct ag_str given, struct ag_str value,
             struct ag_err *err)
{
    struct ag_buf json = {0};
    ag_json_write (given, AG_JSON_LINE, &json);
    ag_fail (err, AG_E_USAGE,
             "setting %.*s of pack %.*s is %.*s, which is %s: by its default it is %s",
             AG_STR_ARG (key), AG_STR_ARG (pack), (int)(json.n > 100 ? 100 : json.n),
             (const char *)json.p, kind_name (given), kind_name (value));
    ag_buf_fini (&json);
    return -1;
}

int
ag_pack_check_setting (struct ag_str pack, struct ag_str key, struct ag_str given,
                       struct ag_err *err)
{
    struct ag_str declared = AG_LIT ("\x80"), name = {0}, value;
    ag_map_get (pack, "settings", &declared);
    ag_map_text (pack, "name", &name);
    if (ag_map_find (declared, key, &value))
        return refuse_setting (name, key, declared, err);
    return strcmp (kind_name (given), kind_name (value))
               ? refuse_kind (name, key, given, value, err)
               : 0;
}

int
ag_pack_check_settings (struct ag_str pack, struct ag_str given, struct ag_err *err)
{
    struct ag_str name = {0}, key, value;
    ag_map_text (pack, "name", &name);
    if (ag_kind_of (given) != AG_MAP)
        return ag_fail (err, AG_E_USAGE, "settings of pack %.*s are a table", AG_STR_ARG (name));
    for (struct ag_items pairs = ag_pairs_of (given); ag_pairs_next (&pairs, &key, &value);)
        if (ag_pack_check_setting (pack, key, value, err))
            return -1;
    return 0;
}

//  Whether the name is one of the names; else those, for people.
static bool
is_one_of (struct ag_str pack, struct ag_str names, struct ag_buf *others)
{
    struct ag_cursor in = ag_cursor (names);
    struct ag_head name;
    ag_buf_clear (others);
    while (in.p < in.end && !ag_next (&in, &name)) {
        if (ag_str_eq (name.s, pack))
            return true;
        ag_buf_text (others, "%s%.*s", others->n ? ", " : "", AG_STR_ARG (name.s));
    }
    return false;
}

int
ag_pack_check_tables (struct ag_str settings, struct ag_str names, struct ag_err *err)
{
    struct ag_str pack, value;
    struct ag_buf others = {0};
    int rc = 0;
    for (struct ag_items pairs = ag_pairs_of (settings);
         !rc && ag_pairs_next (&pairs, &pack, &value);)
        if (!is_one_of (pack, names, &others))
            rc = ag_fail (err, AG_E_USAGE, "a setting is for pack %.*s, and the packs are: %.*s",
                          AG_STR_ARG (pack),
                          AG_STR_ARG (others.n ? ag_buf_str (&others) : AG_LIT ("none")));
    ag_buf_fini (&others);
    return rc;
}
