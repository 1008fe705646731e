//  SPDX-License-Identifier: Apache-2.0
#include "client/bundle.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH = 16 };

//  What was found below the folder: paths relative to it.
struct found {
    const char *dir;
    char *paths[AG_BUNDLE_FILES];
    size_t count, bytes;
};

static bool
is_left_out (const char *name)
{
    size_t n = strlen (name);
    return *name == '.' || !strcmp (name, "__pycache__") ||
           (n > 4 && !strcmp (name + n - 4, ".pyc"));
}

static int take (struct found *self, int parent, const char *name, const char *path,
                 struct ag_err *err);

static int
walk (struct found *self, int parent, const char *name, const char *path, struct ag_err *err)
{
    int fd = openat (parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *list = fd >= 0 ? fdopendir (fd) : NULL;
    struct dirent *entry;
    int rc = 0;
    if (!list) {
        rc = ag_fail (err, AG_E_PACK, "%s/%s: %s", self->dir, path, strerror (errno));
        if (fd >= 0)
            close (fd);
        return rc;
    }
    while (!rc && (entry = readdir (list)))
        if (!is_left_out (entry->d_name)) {
            char *below = ag_xprintf ("%s%s%s", path, *path ? "/" : "", entry->d_name);
            rc = take (self, fd, entry->d_name, below, err);
            free (below);
        }
    closedir (list);
    return rc;
}

static int
take (struct found *self, int parent, const char *name, const char *path, struct ag_err *err)
{
    struct stat st;
    size_t depth = 0;
    for (const char *p = path; *p; p++)
        depth += *p == '/';
    if (fstatat (parent, name, &st, AT_SYMLINK_NOFOLLOW))
        return ag_fail (err, AG_E_PACK, "%s/%s: %s", self->dir, path, strerror (errno));
    if (S_ISLNK (st.st_mode))
        return ag_fail (err, AG_E_PACK, "%s/%s is a symbolic link", self->dir, path);
    if (S_ISDIR (st.st_mode) && depth < DEPTH)
        return walk (self, parent, name, path, err);
    if (!S_ISREG (st.st_mode))
        return 0;
    self->bytes += (size_t)st.st_size;
    if (self->count == AG_BUNDLE_FILES || self->bytes > AG_BUNDLE_BYTES)
        return ag_fail (err, AG_E_PACK, "%s holds more than %d files or %d bytes", self->dir,
                        AG_BUNDLE_FILES, AG_BUNDLE_BYTES);
    self->paths[self->count++] = ag_xstrdup (path);
    return 0;
}

static int
by_bytes (const void *a, const void *b)
{
    return strcmp (*(char *const *)a, *(char *const *)b);
}

static int
put_file (const struct found *self, const char *path, struct ag_buf *out, struct ag_err *err)
{
    char *whole = ag_xprintf ("%s/%s", self->dir, path), room[65536];
    struct ag_buf bytes = {0};
    ssize_t n = -1;
    int fd = open (whole, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    while (fd >= 0 && bytes.n <= AG_BUNDLE_BYTES && (n = read (fd, room, sizeof room)) > 0)
        ag_buf_add (&bytes, room, (size_t)n);
    int rc = n == 0 ? 0 : ag_fail (err, AG_E_PACK, "%s: %s", whole, strerror (errno));
    ag_put_map (out, 2);
    ag_put_lit (out, "path");
    ag_put_lit (out, path);
    ag_put_lit (out, "bytes");
    ag_put_bytes (out, ag_buf_str (&bytes));
    if (fd >= 0)
        close (fd);
    ag_buf_fini (&bytes);
    free (whole);
    return rc;
}

//  The last part of the path: a pack is called like its folder.
static struct ag_str
name_of (const char *dir)
{
    struct ag_str name = ag_str (dir);
    while (name.n > 1 && name.p[name.n - 1] == '/')
        name.n--;
    const char *slash = memrchr (name.p, '/', name.n);
    if (slash && name.n > 1) {
        name.n -= (size_t)(slash + 1 - name.p);
        name.p = slash + 1;
    }
    return name;
}

int
ag_bundle_read (const char *dir, struct ag_buf *out, struct ag_err *err)
{
    char *real = realpath (dir, NULL);
    if (!real)
        return ag_fail (err, AG_E_PACK, "%s: %s", dir, strerror (errno));
    struct found found = {.dir = real};
    int rc = walk (&found, AT_FDCWD, real, "", err);
    if (!rc && !found.count)
        rc = ag_fail (err, AG_E_PACK, "%s holds no file", real);
    qsort (found.paths, found.count, sizeof *found.paths, by_bytes);
    ag_put_map (out, 2);
    ag_put_lit (out, "name");
    ag_put_text (out, name_of (real));
    ag_put_lit (out, "files");
    ag_put_list (out, (uint32_t)found.count);
    for (size_t i = 0; i < found.count && !rc; i++)
        rc = put_file (&found, found.paths[i], out, err);
    for (size_t i = 0; i < found.count; i++)
        free (found.paths[i]);
    free (real);
    return rc;
}
