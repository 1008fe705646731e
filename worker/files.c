//  SPDX-License-Identifier: Apache-2.0
#include "worker/files.h"

#include "common/hash.h"
#include "common/value.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool
below (struct ag_str path, const char *directory, size_t n)
{
    while (n > 1 && directory[n - 1] == '/')
        n--;
    return n && path.n >= n && !memcmp (path.p, directory, n) &&
           (path.n == n || path.p[n] == '/' || n == 1);
}

static bool
climbs (const char *path)
{
    for (const char *p = path; (p = strstr (p, "/..")); p += 3)
        if (!p[3] || p[3] == '/')
            return true;
    return false;
}

//  The path as a C string of the caller, when it is absolute, plain and below a granted directory.
static char *
admit (const char *grants, struct ag_str path, struct ag_err *err)
{
    char *name = ag_str_dup (path);
    bool granted = false;
    for (const char *p = grants ? grants : ""; *p && !granted; p += *p == ':') {
        size_t n = strcspn (p, ":");
        granted = below (path, p, n);
        p += n;
    }
    if (granted && strlen (name) == path.n && !climbs (name))
        return name;
    ag_fail (
        err, AG_E_NOT_ALLOWED,
        *name == '/'
            ? "%.*s is not below a granted directory (files: %s)"
            : "%.*s is not an absolute path, which begins with a granted directory (files: %s)",
        AG_STR_ARG (path), grants && *grants ? grants : "none");
    free (name);
    return NULL;
}

static int
failed (struct ag_err *err, const char *name)
{
    enum ag_code code = errno == ENOENT || errno == ENOTDIR ? AG_E_NOT_FOUND
                        : errno == EACCES || errno == EPERM ? AG_E_NOT_ALLOWED
                                                            : AG_E_SYSTEM;
    return ag_fail (err, code, "%s: %s", name, strerror (errno));
}

static int
read_all (int fd, const char *name, struct ag_buf *bytes, struct ag_err *err)
{
    struct stat st;
    if (fstat (fd, &st))
        return failed (err, name);
    if (!S_ISREG (st.st_mode))
        return ag_fail (err, AG_E_SYSTEM, "%s is no regular file", name);
    for (;;) {
        uint8_t *room = ag_buf_grow (bytes, 65536);
        bytes->n -= 65536;
        ssize_t n = read (fd, room, 65536);
        if (n < 0 && errno != EINTR)
            return failed (err, name);
        if (n == 0)
            return 0;
        bytes->n += n > 0 ? (size_t)n : 0;
        if (bytes->n > AG_FILE_MAX)
            return ag_fail (err, AG_E_TOO_LARGE, "%s has more than %d bytes", name, AG_FILE_MAX);
    }
}

static void
put_content (struct ag_str bytes, struct ag_buf *out)
{
    uint8_t hash[AG_HASH];
    char hex[2 * AG_HASH + 1];
    bool text = ag_utf8 (bytes);
    ag_hash (bytes, AG_LIT (""), hash);
    ag_hex (hash, sizeof hash, hex);
    ag_put_map (out, 3);
    ag_put_lit (out, text ? "text" : "bytes");
    if (text)
        ag_put_text (out, bytes);
    else
        ag_put_bytes (out, bytes);
    ag_put_lit (out, "size");
    ag_put_uint (out, bytes.n);
    ag_put_lit (out, "hash");
    ag_put_lit (out, hex);
}

int
ag_file_read (const char *grants, struct ag_str path, struct ag_buf *output, struct ag_err *err)
{
    struct ag_buf bytes = {0};
    int rc = -1, fd = -1;
    char *name = admit (grants, path, err);
    if (!name)
        return -1;
    fd = open (name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        failed (err, name);
    else if (!read_all (fd, name, &bytes, err)) {
        put_content (ag_buf_str (&bytes), output);
        rc = 0;
    }
    if (fd >= 0)
        close (fd);
    ag_buf_fini (&bytes);
    free (name);
    return rc;
}

struct names {
    char **list;
    size_t n, room;
};

static int
gather (DIR *dir, const char *name, struct names *names, struct ag_err *err)
{
    for (struct dirent *entry; (entry = readdir (dir));) {
        const char *item = entry->d_name;
        if (!strcmp (item, ".") || !strcmp (item, "..") || !ag_utf8 (ag_str (item)))
            continue;
        if (names->n == AG_LIST_MAX)
            return ag_fail (err, AG_E_TOO_LARGE, "%s holds more than %d names", name, AG_LIST_MAX);
        if (names->n == names->room) {
            names->room = names->room ? 2 * names->room : 64;
            names->list = ag_xrealloc (names->list, names->room * sizeof *names->list);
        }
        names->list[names->n++] = ag_xstrdup (item);
    }
    return 0;
}

static int
by_bytes (const void *a, const void *b)
{
    return strcmp (*(char *const *)a, *(char *const *)b);
}

int
ag_file_list (const char *grants, struct ag_str path, struct ag_buf *output, struct ag_err *err)
{
    struct names names = {0};
    char *name = admit (grants, path, err);
    if (!name)
        return -1;
    DIR *dir = opendir (name);
    int rc = dir ? gather (dir, name, &names, err) : failed (err, name);
    if (dir)
        closedir (dir);
    if (!rc) {
        if (names.n)
            qsort (names.list, names.n, sizeof *names.list, by_bytes);
        ag_put_list (output, (uint32_t)names.n);
        for (size_t i = 0; i < names.n; i++)
            ag_put_lit (output, names.list[i]);
    }
    for (size_t i = 0; i < names.n; i++)
        free (names.list[i]);
    free (names.list);
    free (name);
    return rc;
}
