//  SPDX-License-Identifier: Apache-2.0
#include "common/pack.h"
#include "common/hash.h"
#include "common/toml.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
    if (S_ISDIR (st.st_mode))
        return walk (bundle, fd, path, depth + 1, err);
    int rc = 0;
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
        if (entry->d_name[0] == '.' || !strcmp (entry->d_name, "__pycache__"))
            continue;
        char *path = ag_xprintf ("%s%s%s", prefix, prefix[0] ? "/" : "", entry->d_name);
        rc = ag_utf8 (ag_str (path))
                 ? visit (bundle, dirfd (stream), entry->d_name, path, depth, err)
                 : ag_fail (err, AG_E_PACK, "a file name that is not UTF-8");
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

//  Path, 0, length as 8 bytes, bytes; for each file in order of the paths.
static void
hash_bundle (const struct bundle *bundle, char text[7 + 2 * AG_HASH + 1])
{
    struct ag_sha256 sha;
    uint8_t hash[AG_HASH];
    struct ag_buf head = {0};
    ag_sha256_init (&sha);
    for (size_t i = 0; i < bundle->count; i++) {
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

//  A TOML file of the bundle as a value: 1, 0 when there is none, -1.
static int
toml_of (const struct bundle *bundle, const char *path, struct ag_buf *out, struct ag_err *err)
{
    for (size_t i = 0; i < bundle->count; i++) {
        if (strcmp (bundle->files[i].path, path))
            continue;
        ag_toml_t *toml = ag_toml_new (ag_buf_str (&bundle->files[i].bytes), out, err);
        if (!toml) {
            err->code = AG_E_PACK;
            return ag_wrap (err, "%s", path);
        }
        ag_toml_destroy (&toml);
        return 1;
    }
    return 0;
}

static int
put_manifest (const struct bundle *bundle, struct ag_buf *out, struct ag_err *err)
{
    static const char *const keys[] = {"name", "version", "description"};
    struct ag_buf manifest = {0};
    struct ag_str pack = {0}, text;
    int rc = toml_of (bundle, "manifest.toml", &manifest, err);
    if (rc == 0)
        rc = ag_fail (err, AG_E_PACK, "there is no manifest.toml");
    if (rc > 0 && ag_map_get (ag_buf_str (&manifest), "pack", &pack))
        rc = ag_fail (err, AG_E_PACK, "manifest.toml has no table [pack]");
    for (int i = 0; i < 3 && rc > 0; i++) {
        if (ag_map_text (pack, keys[i], &text) || text.n == 0 || text.n > 256)
            rc = ag_fail (err, AG_E_PACK, "manifest.toml: pack.%s is a text of 1 to 256 bytes",
                          keys[i]);
        else {
            ag_put_lit (out, keys[i]);
            ag_put_text (out, text);
        }
    }
    ag_buf_fini (&manifest);
    return rc < 0 ? -1 : 0;
}

static int
put_bundle (struct bundle *bundle, struct ag_buf *out, struct ag_err *err)
{
    char hash[7 + 2 * AG_HASH + 1];
    if (bundle->count)
        qsort (bundle->files, bundle->count, sizeof *bundle->files, by_path);
    hash_bundle (bundle, hash);
    ag_put_map (out, 6);
    if (put_manifest (bundle, out, err))
        return -1;
    ag_put_lit (out, "bundle_hash");
    ag_put_lit (out, hash);
    ag_put_lit (out, "settings");
    int rc = toml_of (bundle, "settings.toml", out, err);
    if (rc < 0)
        return -1;
    if (rc == 0)
        ag_put_map (out, 0);
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

int
ag_pack_read (const char *dir, struct ag_buf *out, struct ag_err *err)
{
    struct bundle bundle = {0};
    size_t before = out->n;
    int fd = open (dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = fd < 0 ? ag_fail (err, AG_E_PACK, "cannot be opened: %s", strerror (errno))
                    : walk (&bundle, fd, "", 1, err);
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
    if (!path.n || path.n > 256 || !ag_utf8 (path) || memchr (path.p, 0, path.n))
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
    if (!rc)
        rc = put_bundle (&bundle, out, err);
    bundle_fini (&bundle);
    out->n = rc ? before : out->n;
    return rc;
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
            return ag_fail (err, AG_E_NOT_FOUND,
                            "pack %.*s has no setting %.*s: its settings.toml declares them",
                            AG_STR_ARG (name), AG_STR_ARG (key.s));
    }
    return 0;
}
