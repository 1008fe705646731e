//  SPDX-License-Identifier: Apache-2.0
#include "common/pack.h"
#include "common/hash.h"
#include "common/manifest.h"
#include "common/toml.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HASH_TEXT = 7 + 2 * AG_HASH + 1, MOST_SETTINGS = 1000 };

struct file {
    char *path;
    struct ag_buf bytes;
};

struct bundle {
    struct file *files;
    size_t count, bytes;
};

static void
bundle_fini (struct bundle *bundle)
{
    for (size_t i = 0; i < bundle->count; i++) {
        free (bundle->files[i].path);
        ag_buf_fini (&bundle->files[i].bytes);
    }
    free (bundle->files);
}

static struct file *
add (struct bundle *bundle, const char *path, struct ag_err *err)
{
    if (bundle->count >= AG_PACK_FILES) {
        ag_fail (err, AG_E_PACK, "more than %d files", AG_PACK_FILES);
        return NULL;
    }
    bundle->files = ag_xrealloc (bundle->files, (bundle->count + 1) * sizeof *bundle->files);
    struct file *file = &bundle->files[bundle->count++];
    *file = (struct file){.path = ag_xstrdup (path)};
    return file;
}

static int
read_file (struct bundle *bundle, int fd, const char *path, struct ag_err *err)
{
    struct file *file = add (bundle, path, err);
    ssize_t n = 1;
    while (file && n > 0) {
        uint8_t *room = ag_buf_grow (&file->bytes, 65536);
        n = read (fd, room, 65536);
        file->bytes.n -= 65536 - (n > 0 ? (size_t)n : 0);
        bundle->bytes += n > 0 ? (size_t)n : 0;
        if (n < 0)
            return ag_fail (err, AG_E_PACK, "%s: cannot be read: %s", path, strerror (errno));
        if (bundle->bytes > AG_PACK_BYTES)
            return ag_fail (err, AG_E_PACK, "%s: the pack is larger than %d bytes", path,
                            AG_PACK_BYTES);
    }
    return file ? 0 : -1;
}

//  A combining mark (U+0300 to U+036F) or a Hangul jamo (U+1100 to U+11FF): such a name may be written in two ways.
static bool
is_composed (struct ag_str path)
{
    for (size_t i = 0; i + 1 < path.n; i++) {
        uint8_t a = (uint8_t)path.p[i], b = (uint8_t)path.p[i + 1];
        if (a == 0xcc || (a == 0xcd && b < 0xb0) || (a == 0xe1 && b >= 0x84 && b <= 0x87))
            return false;
    }
    return true;
}

static int
check_path (struct ag_str path, struct ag_err *err)
{
    if (!ag_utf8 (path))
        return ag_fail (err, AG_E_PACK, "a file name that is not UTF-8");
    if (!is_composed (path))
        return ag_fail (err, AG_E_PACK, "%.*s: a name with marks of its own is not in NFC",
                        AG_STR_ARG (path));
    return 0;
}

static int walk (struct bundle *bundle, int dir, const char *prefix, int depth, struct ag_err *err);

//  Opened without following links, so what was looked at is what is read.
static int
visit (struct bundle *bundle, int dir, const char *name, const char *path, int depth,
       struct ag_err *err)
{
    struct stat st;
    int fd = openat (dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return ag_fail (err, AG_E_PACK,
                        errno == ELOOP ? "%s: a symbolic link" : "%s: cannot be opened", path);
    if (fstat (fd, &st)) {
        close (fd);
        return ag_fail (err, AG_E_PACK, "%s: %s", path, strerror (errno));
    }
    size_t n = strlen (name);
    int rc = 0;
    if (S_ISDIR (st.st_mode) && strcmp (name, "__pycache__"))
        return walk (bundle, fd, path, depth + 1, err);
    if (S_ISREG (st.st_mode) && !(n > 4 && !strcmp (name + n - 4, ".pyc")))
        rc = read_file (bundle, fd, path, err);
    close (fd);
    return rc;
}

//  Takes dir.
static int
walk (struct bundle *bundle, int dir, const char *prefix, int depth, struct ag_err *err)
{
    DIR *stream = depth > AG_PACK_DEPTH ? NULL : fdopendir (dir);
    if (!stream) {
        close (dir);
        return ag_fail (err, AG_E_PACK, "%s: deeper than %d folders", prefix, AG_PACK_DEPTH);
    }
    int rc = 0;
    for (struct dirent *entry; !rc && (entry = readdir (stream));) {
        if (entry->d_name[0] == '.')
            continue;
        char *path = ag_xprintf ("%s%s%s", prefix, prefix[0] ? "/" : "", entry->d_name);
        rc = check_path (ag_str (path), err);
        if (!rc)
            rc = visit (bundle, dirfd (stream), entry->d_name, path, depth, err);
        free (path);
    }
    closedir (stream);
    return rc;
}

static int
by_path (const void *a, const void *b)
{
    return strcmp (((const struct file *)a)->path, ((const struct file *)b)->path);
}

static void
put_in_order (struct bundle *bundle)
{
    if (bundle->count)
        qsort (bundle->files, bundle->count, sizeof *bundle->files, by_path);
}

//  Path, 0, length as 8 bytes, bytes; for each file in order of the paths. The content is all but the manifest.
static void
hash_bundle (const struct bundle *bundle, bool content, char text[HASH_TEXT])
{
    struct ag_sha256 sha;
    uint8_t hash[AG_HASH];
    struct ag_buf head = {0};
    ag_sha256_init (&sha);
    for (size_t i = 0; i < bundle->count; i++) {
        if (content && !strcmp (bundle->files[i].path, "manifest.toml"))
            continue;
        ag_buf_clear (&head);
        ag_buf_add (&head, bundle->files[i].path, strlen (bundle->files[i].path) + 1);
        ag_buf_be64 (&head, bundle->files[i].bytes.n);
        ag_sha256_add (&sha, ag_buf_str (&head));
        ag_sha256_add (&sha, ag_buf_str (&bundle->files[i].bytes));
    }
    ag_sha256_end (&sha, hash);
    memcpy (text, "sha256:", 7);
    ag_hex (hash, sizeof hash, text + 7);
    ag_buf_fini (&head);
}

static const struct file *
find (const struct bundle *bundle, const char *path)
{
    for (size_t i = 0; i < bundle->count; i++)
        if (!strcmp (bundle->files[i].path, path))
            return &bundle->files[i];
    return NULL;
}

//  The defaults of settings.toml, or none.
static int
put_settings (const struct bundle *bundle, struct ag_buf *out, struct ag_err *err)
{
    const struct file *file = find (bundle, "settings.toml");
    size_t before = out->n;
    struct ag_head read;
    if (!file) {
        ag_put_map (out, 0);
        return 0;
    }
    ag_toml_t *toml = ag_toml_new (ag_buf_str (&file->bytes), out, err);
    if (!toml) {
        err->code = AG_E_PACK;
        return ag_wrap (err, "settings.toml");
    }
    ag_toml_destroy (&toml);
    struct ag_cursor in =
        ag_cursor ((struct ag_str){(const char *)out->p + before, out->n - before});
    if (!ag_next (&in, &read) && read.count > MOST_SETTINGS)
        return ag_fail (err, AG_E_PACK, "settings.toml: more than %d settings", MOST_SETTINGS);
    return 0;
}

//  The first line, and how many more there are.
static int
fail_manifest (const struct ag_buf *problems, size_t count, struct ag_err *err)
{
    const char *line = (const char *)problems->p;
    int n = (int)strcspn (line, "\n");
    if (count == 1)
        return ag_fail (err, AG_E_PACK, "%.*s", n, line);
    return ag_fail (err, AG_E_PACK, "%.*s (and %zu more; `agsup pack check` lists them)", n, line,
                    count - 1);
}

//  name, version, description, types
static int
put_manifest (const struct bundle *bundle, struct ag_buf *out, struct ag_err *err)
{
    static const char *const keys[] = {"name", "version", "description"};
    const struct file *file = find (bundle, "manifest.toml");
    struct ag_buf manifest = {0}, problems = {0};
    struct ag_str pack = {0}, value;
    if (!file)
        return ag_fail (err, AG_E_PACK, "there is no manifest.toml");
    size_t count = ag_manifest_read (ag_buf_str (&file->bytes), false, &manifest, &problems);
    if (!count)
        ag_map_get (ag_buf_str (&manifest), "pack", &pack);
    for (int i = 0; i < 3 && !count; i++)
        if (!ag_map_get (pack, keys[i], &value))
            ag_put_pair_value (out, keys[i], value);
    if (!count)
        ag_put_pair_value (out, "types",
                           ag_map_get (ag_buf_str (&manifest), "types", &value) ? AG_LIT ("\x80")
                                                                                : value);
    ag_buf_add (&problems, "", 1);
    int rc = count ? fail_manifest (&problems, count, err) : 0;
    ag_buf_fini (&manifest);
    ag_buf_fini (&problems);
    return rc;
}

static int
put_bundle (const struct bundle *bundle, struct ag_buf *out, struct ag_err *err)
{
    char hash[HASH_TEXT];
    hash_bundle (bundle, false, hash);
    ag_put_map (out, 7);
    if (put_manifest (bundle, out, err))
        return -1;
    ag_put_lit (out, "bundle_hash");
    ag_put_lit (out, hash);
    ag_put_lit (out, "settings");
    if (put_settings (bundle, out, err))
        return -1;
    ag_put_lit (out, "files");
    ag_put_list (out, (uint32_t)bundle->count);
    for (size_t i = 0; i < bundle->count; i++) {
        ag_put_map (out, 2);
        ag_put_lit (out, "path");
        ag_put_lit (out, bundle->files[i].path);
        ag_put_lit (out, "bytes");
        if (ag_utf8 (ag_buf_str (&bundle->files[i].bytes)))
            ag_put_text (out, ag_buf_str (&bundle->files[i].bytes));
        else
            ag_put_bytes (out, ag_buf_str (&bundle->files[i].bytes));
    }
    return 0;
}

//  All files of a folder, in order.
static int
read_folder (const char *dir, struct bundle *bundle, struct ag_err *err)
{
    int fd = open (dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = fd < 0 ? ag_fail (err, AG_E_PACK, "cannot be opened: %s", strerror (errno))
                    : walk (bundle, fd, "", 1, err);
    put_in_order (bundle);
    return rc;
}

int
ag_pack_hash (const char *dir, struct ag_buf *out, struct ag_err *err)
{
    struct bundle bundle = {0};
    char content[HASH_TEXT], whole[HASH_TEXT];
    int rc = read_folder (dir, &bundle, err);
    if (!rc) {
        hash_bundle (&bundle, true, content);
        hash_bundle (&bundle, false, whole);
        ag_put_map (out, 3);
        ag_put_pair_text (out, "content_hash", ag_str (content));
        ag_put_pair_text (out, "bundle_hash", ag_str (whole));
        ag_put_lit (out, "files");
        ag_put_list (out, (uint32_t)bundle.count);
        for (size_t i = 0; i < bundle.count; i++)
            ag_put_lit (out, bundle.files[i].path);
    }
    bundle_fini (&bundle);
    return rc ? ag_wrap (err, "pack %s", dir) : 0;
}

//  What the manifest says of the files is so.
static size_t
check_files (const struct bundle *bundle, struct ag_str manifest, struct ag_buf *problems)
{
    struct ag_str integrity, fixtures, said;
    char content[HASH_TEXT];
    size_t count = 0;
    hash_bundle (bundle, true, content);
    if (!ag_map_path (manifest, AG_LIT ("pack.integrity"), &integrity) &&
        !ag_map_text (integrity, "content_hash", &said) && !ag_str_is (said, content)) {
        ag_buf_text (problems,
                     "manifest.toml: pack.integrity.content_hash is not that of the "
                     "files, %s\n",
                     content);
        count++;
    }
    if (!ag_map_get (manifest, "fixtures", &fixtures) &&
        !ag_map_text (fixtures, "entrypoint", &said)) {
        char *path = ag_str_dup (said);
        if (!find (bundle, path)) {
            ag_buf_text (problems, "manifest.toml: fixtures.entrypoint %s is no file of the pack\n",
                         path);
            count++;
        }
        free (path);
    }
    return count;
}

static size_t
check_settings (const struct bundle *bundle, struct ag_buf *problems)
{
    struct ag_buf settings = {0};
    struct ag_err err;
    int rc = put_settings (bundle, &settings, &err);
    if (rc)
        ag_buf_text (problems, "%s\n", err.text);
    ag_buf_fini (&settings);
    return rc ? 1 : 0;
}

int
ag_pack_check (const char *dir, struct ag_buf *problems, size_t *count, struct ag_err *err)
{
    struct bundle bundle = {0};
    struct ag_buf manifest = {0};
    int rc = read_folder (dir, &bundle, err);
    const struct file *file = rc ? NULL : find (&bundle, "manifest.toml");
    if (!rc && !file)
        rc = ag_fail (err, AG_E_PACK, "there is no manifest.toml");
    if (!rc) {
        *count = ag_manifest_read (ag_buf_str (&file->bytes), true, &manifest, problems);
        if (!*count)
            *count = check_files (&bundle, ag_buf_str (&manifest), problems);
        *count += check_settings (&bundle, problems);
    }
    bundle_fini (&bundle);
    ag_buf_fini (&manifest);
    return rc ? ag_wrap (err, "pack %s", dir) : 0;
}

int
ag_pack_read (const char *dir, struct ag_buf *out, struct ag_err *err)
{
    struct bundle bundle = {0};
    size_t before = out->n;
    int rc = read_folder (dir, &bundle, err);
    if (!rc)
        rc = put_bundle (&bundle, out, err);
    bundle_fini (&bundle);
    if (rc) {
        out->n = before;
        ag_wrap (err, "pack %s", dir);
    }
    return rc;
}

//  A path of a request: relative, of plain names, as the walk over a folder would give.
static bool
is_path (struct ag_str path)
{
    struct ag_str rest = path;
    if (!path.n || path.n > 256 || !ag_utf8 (path) || !is_composed (path) ||
        memchr (path.p, 0, path.n))
        return false;
    while (rest.n) {
        const char *slash = memchr (rest.p, '/', rest.n);
        size_t n = slash ? (size_t)(slash - rest.p) : rest.n;
        if (n == 0 || rest.p[0] == '.' || (slash && n + 1 == rest.n))
            return false;
        rest.p += n + (slash != NULL);
        rest.n -= n + (slash != NULL);
    }
    return true;
}

//  One {path, bytes} of a message.
static int
add_given (struct bundle *bundle, struct ag_str one, struct ag_err *err)
{
    struct ag_str path, value;
    struct ag_head bytes;
    if (ag_map_text (one, "path", &path) || ag_map_get (one, "bytes", &value) || !is_path (path))
        return ag_fail (err, AG_E_PACK, "file %zu of a pack is {path, bytes} with a relative path",
                        bundle->count + 1);
    struct ag_cursor in = ag_cursor (value);
    if (ag_next (&in, &bytes) || (bytes.kind != AG_TEXT && bytes.kind != AG_BYTES))
        return ag_fail (err, AG_E_PACK, "%.*s: bytes are missing", AG_STR_ARG (path));
    for (size_t i = 0; i < bundle->count; i++)
        if (ag_str_is (path, bundle->files[i].path))
            return ag_fail (err, AG_E_PACK, "%.*s is there twice", AG_STR_ARG (path));
    char *text = ag_str_dup (path);
    struct file *file = add (bundle, text, err);
    free (text);
    if (!file)
        return -1;
    ag_buf_add_str (&file->bytes, bytes.s);
    return 0;
}

int
ag_pack_from (struct ag_str files, struct ag_buf *out, struct ag_err *err)
{
    struct bundle bundle = {0};
    struct ag_str one;
    size_t before = out->n;
    int rc = 0;
    for (uint32_t i = 0; !rc && !ag_list_nth (files, i, &one); i++)
        rc = add_given (&bundle, one, err);
    put_in_order (&bundle);
    if (!rc)
        rc = put_bundle (&bundle, out, err);
    bundle_fini (&bundle);
    out->n = rc ? before : out->n;
    return rc;
}

//  "min, max", of the keys of a map.
static void
list_keys (struct ag_str map, struct ag_buf *out)
{
    struct ag_cursor in = ag_cursor (map);
    struct ag_head head = {0}, key;
    struct ag_str value;
    ag_next (&in, &head);
    for (uint32_t i = 0; i < head.count && !ag_next (&in, &key) && !ag_take (&in, &value); i++)
        ag_buf_text (out, "%s%.*s", i ? ", " : "", AG_STR_ARG (key.s));
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

int
ag_pack_check_settings (struct ag_str pack, struct ag_str given, struct ag_err *err)
{
    struct ag_cursor in = ag_cursor (given);
    struct ag_head map, key;
    struct ag_str declared = AG_LIT ("\x80"), name = {0}, value;
    ag_map_get (pack, "settings", &declared);
    ag_map_text (pack, "name", &name);
    if (ag_next (&in, &map) || map.kind != AG_MAP)
        return ag_fail (err, AG_E_USAGE, "settings of pack %.*s are a table", AG_STR_ARG (name));
    for (uint32_t i = 0; i < map.count && !ag_next (&in, &key) && !ag_take (&in, &value); i++) {
        char *text = ag_str_dup (key.s);
        int rc = ag_map_get (declared, text, &value);
        free (text);
        if (rc)
            return refuse_setting (name, key.s, declared, err);
    }
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
    struct ag_cursor in = ag_cursor (settings);
    struct ag_head map, pack;
    struct ag_str value;
    struct ag_buf others = {0};
    int rc = 0;
    if (!settings.p || ag_next (&in, &map) || map.kind != AG_MAP)
        return 0;
    for (uint32_t i = 0; !rc && i < map.count && !ag_next (&in, &pack) && !ag_take (&in, &value);
         i++)
        if (!is_one_of (pack.s, names, &others))
            rc = ag_fail (err, AG_E_USAGE, "a setting is for pack %.*s, and the packs are: %.*s",
                          AG_STR_ARG (pack.s),
                          AG_STR_ARG (others.n ? ag_buf_str (&others) : AG_LIT ("none")));
    ag_buf_fini (&others);
    return rc;
}
