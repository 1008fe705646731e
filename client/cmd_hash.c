//  The hashes of a pack, and the one in its manifest said anew.
//  SPDX-License-Identifier: Apache-2.0
#include "client/client.h"
#include "common/manifest.h"
#include "common/pack.h"
#include "common/toml.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

//  The new text in the place of the old, whole; what is half written is hidden, and so no part of the pack.
static int
replace (const char *dir, const char *path, struct ag_str text, struct ag_err *err)
{
    struct stat st;
    char *fresh = ag_xprintf ("%s/.manifest.toml.new", dir);
    int fd = stat (path, &st) ? -1 : open (fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool good = fd >= 0 && write (fd, text.p, text.n) == (ssize_t)text.n &&
                !fchmod (fd, st.st_mode & 0777) && !fsync (fd) && !rename (fresh, path);
    int why = errno;
    if (fd >= 0)
        close (fd);
    if (fd >= 0 && !good)
        unlink (fresh);
    free (fresh);
    return good ? 0 : ag_fail (err, AG_E_SYSTEM, "%s: %s", path, strerror (why));
}

//  The line of that number, from 1, to the end of the text; NULL: there is none.
static const char *
find_line (struct ag_str text, unsigned line)
{
    const char *at = text.p, *end = text.p + text.n;
    for (; at && line > 1; line--) {
        at = memchr (at, '\n', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    return at;
}

//  Where the content hash stands in the text: a text of its length at the line of its key; NULL: nowhere.
static const char *
find_hash (struct ag_str text, struct ag_err *err)
{
    const struct ag_toml_path pack = {NULL, AG_LIT ("pack"), 0},
                              integrity = {&pack, AG_LIT ("integrity"), 0},
                              key = {&integrity, AG_LIT ("content_hash"), 0};
    struct ag_buf value = {0};
    struct ag_str table, hash = {0};
    const char *found = NULL;
    unsigned line = 0, column = 0;
    ag_toml_t *toml = ag_toml_new (text, &value, err);
    if (toml && !ag_map_path (ag_buf_str (&value), AG_LIT ("pack.integrity"), &table) &&
        !ag_map_text (table, "content_hash", &hash) && hash.n == 71 &&
        !ag_toml_where (toml, &key, &line, &column)) {
        const char *at = find_line (text, line);
        found = at ? memmem (at, text.n - (size_t)(at - text.p), hash.p, hash.n) : NULL;
    }
    if (toml && !found && hash.p)
        ag_fail (err, AG_E_PACK,
                 "pack.integrity.content_hash is `%.*s`, which is no hash to be written over: put "
                 "\"sha256:\" and 64 zeros there",
                 AG_STR_ARG (hash));
    else if (toml && !found)
        ag_fail (err, AG_E_PACK, "manifest.toml has no pack.integrity.content_hash to say anew");
    ag_toml_destroy (&toml);
    ag_buf_fini (&value);
    return found;
}

//  Everything else stays as it is.
static int
write_hash (const char *dir, struct ag_str hash, struct ag_err *err)
{
    char *path = ag_xprintf ("%s/manifest.toml", dir);
    struct ag_buf text = {0}, fresh = {0};
    ssize_t n = -1;
    int fd = open (path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0) {
        n = read (fd, ag_buf_grow (&text, AG_MANIFEST_BYTES), AG_MANIFEST_BYTES);
        close (fd);
    }
    text.n = n > 0 ? (size_t)n : 0;
    int rc = n < 0 ? ag_fail (err, AG_E_PACK, "%s: %s", path, strerror (errno)) : 0;
    if (n == AG_MANIFEST_BYTES)
        rc = ag_fail (err, AG_E_PACK, "%s: %d bytes or more", path, AG_MANIFEST_BYTES);
    struct ag_str whole = ag_buf_str (&text);
    const char *old = rc ? NULL : find_hash (whole, err);
    rc = old ? 0 : -1;
    if (old) {
        size_t before = (size_t)(old - whole.p), after = before + hash.n;
        ag_buf_add (&fresh, whole.p, before);
        ag_buf_add_str (&fresh, hash);
        ag_buf_add (&fresh, whole.p + after, whole.n - after);
        rc = replace (dir, path, ag_buf_str (&fresh), err);
    }
    ag_buf_fini (&text);
    ag_buf_fini (&fresh);
    free (path);
    return rc;
}

static int
put_hashes (const char *dir, bool write, struct ag_buf *out, struct ag_err *err)
{
    struct ag_str content;
    int rc = ag_pack_hash (dir, out, err);
    if (rc || !write)
        return rc;
    ag_map_text (ag_buf_str (out), "content_hash", &content);
    if (write_hash (dir, content, err))
        return -1;
    ag_buf_clear (out); //  the bundle is another one now
    return ag_pack_hash (dir, out, err);
}

int
ag_cmd_pack_hash (struct ag_client *self, const struct ag_args_pack_hash *args, struct ag_err *err)
{
    struct ag_buf out = {0};
    int rc = put_hashes (args->dir, args->write, &out, err);
    if (!rc && self->look.json)
        ag_look_json (&self->look, ag_buf_str (&out));
    else if (!rc)
        printf ("content %.*s\nbundle  %.*s\n",
                AG_STR_ARG (ag_pick_text (ag_buf_str (&out), "content_hash")),
                AG_STR_ARG (ag_pick_text (ag_buf_str (&out), "bundle_hash")));
    ag_buf_fini (&out);
    return rc;
}
