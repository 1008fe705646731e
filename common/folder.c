//  SPDX-License-Identifier: Apache-2.0
#include "common/folder.h"
#include "common/items.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <wctype.h>

/*  Paths  */

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
    if (path.n > AG_FOLDER_PATH)
        return ag_fail (err, AG_E_PACK, "%.60s…: a path of more than %d bytes", path.p,
                        AG_FOLDER_PATH);
    return 0;
}

//  The next character in lower case. The text is UTF-8.
static wint_t
next_folded (const char **text, locale_t locale)
{
    const unsigned char *p = (const unsigned char *)*text;
    int more = *p < 0xc0 ? 0 : *p < 0xe0 ? 1 : *p < 0xf0 ? 2 : 3;
    wint_t c = more ? *p & (0x3fu >> more) : *p;
    for (int i = 1; i <= more; i++)
        c = c << 6 | (p[i] & 0x3f);
    *text += more + 1;
    return towlower_l (towupper_l (c, locale), locale);
}

static bool
is_end (char c)
{
    return !c || c == '/';
}

//  Two paths with a part in the same place that differs in case alone: on some systems they are one.
static bool
is_clash (const char *a, const char *b, locale_t locale)
{
    bool same = true; //  this part, so far
    while (*a && *b) {
        const char *x = a, *y = b;
        if (next_folded (&a, locale) != next_folded (&b, locale))
            return false;
        same = same && a - x == b - y && !memcmp (x, y, (size_t)(a - x));
        if (is_end (*a) && is_end (*b) && !same)
            return true;
    }
    return false;
}

static int
check_clashes (const struct ag_folder *self, struct ag_err *err)
{
    locale_t locale = newlocale (LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    int rc = locale ? 0 : ag_fail (err, AG_E_SYSTEM, "there is no locale C.UTF-8");
    for (size_t i = 0; !rc && i < self->count; i++)
        for (size_t k = 0; !rc && k < i; k++) {
            const char *one = self->files[k].path, *other = self->files[i].path;
            size_t n = strlen (one);
            if (!strcmp (one, other))
                rc = ag_fail (err, AG_E_PACK, "%s is there twice", one);
            else if (!strncmp (one, other, n) && other[n] == '/')
                rc = ag_fail (err, AG_E_PACK, "%s is a file, and %s is in it", one, other);
            else if (is_clash (one, other, locale))
                rc = ag_fail (err, AG_E_PACK, "%s and %s differ in case alone", one, other);
        }
    if (locale)
        freelocale (locale);
    return rc;
}

/*  Files  */

static struct ag_file *
add (struct ag_folder *self, const char *path, struct ag_err *err)
{
    if (self->count >= AG_FOLDER_FILES) {
        ag_fail (err, AG_E_PACK, "more than %d files", AG_FOLDER_FILES);
        return NULL;
    }
    self->files = ag_xrealloc (self->files, (self->count + 1) * sizeof *self->files);
    struct ag_file *file = &self->files[self->count++];
    *file = (struct ag_file){.path = ag_xstrdup (path)};
    return file;
}

static int
check_bytes (struct ag_folder *self, const char *path, size_t n, struct ag_err *err)
{
    if (n > AG_FOLDER_BYTES - self->bytes)
        return ag_fail (err, AG_E_PACK, "%s: the pack is larger than %d bytes", path,
                        AG_FOLDER_BYTES);
    self->bytes += n;
    return 0;
}

static int
by_path (const void *a, const void *b)
{
    return strcmp (((const struct ag_file *)a)->path, ((const struct ag_file *)b)->path);
}

static int
finish (struct ag_folder *self, struct ag_err *err)
{
    if (self->count)
        qsort (self->files, self->count, sizeof *self->files, by_path);
    return check_clashes (self, err);
}

/*  A folder on disk  */

struct walk {
    struct ag_folder *folder;
    unsigned entries;
    struct ag_err *err;
};

//  Exactly the n bytes that it had when it was opened.
static int
read_bytes (int fd, size_t n, struct ag_buf *out)
{
    uint8_t *room = ag_buf_grow (out, n + 1);
    size_t got = 0;
    ssize_t one = 1;
    while (got <= n && (one = read (fd, room + got, n + 1 - got)) > 0)
        got += (size_t)one;
    out->n -= n + 1 - (got < n ? got : n);
    return one < 0 || got != n ? -1 : 0;
}

//  Takes fd.
static int
read_file (struct walk *self, int fd, const char *path)
{
    struct stat st;
    struct ag_file *file = NULL;
    int rc = fstat (fd, &st) ? ag_fail (self->err, AG_E_PACK, "%s: %s", path, strerror (errno)) : 0;
    if (!rc && (!S_ISREG (st.st_mode) || !st.st_nlink)) //  another one is in its place
        rc = ag_fail (self->err, AG_E_PACK, "%s: it changed while it was read", path);
    if (!rc && st.st_nlink != 1)
        rc = ag_fail (self->err, AG_E_PACK, "%s: a file with %lu names (hard links), not one", path,
                      (unsigned long)st.st_nlink);
    rc = rc ? rc : check_bytes (self->folder, path, (size_t)st.st_size, self->err);
    if (!rc)
        rc = (file = add (self->folder, path, self->err)) ? 0 : -1;
    if (!rc && read_bytes (fd, (size_t)st.st_size, &file->bytes))
        rc = ag_fail (self->err, AG_E_PACK, "%s: it changed while it was read", path);
    close (fd);
    return rc;
}

//  A name that stands in dir itself, no link whatever it has become since. Without openat2 (Linux before 5.6)
//  O_NOFOLLOW says the same of a single name.
static int
open_below (int dir, const char *name, int flags)
{
    struct open_how how = {
        .flags = (uint64_t)(flags | O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC),
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    int fd = (int)syscall (SYS_openat2, dir, name, &how, sizeof how);
    return fd < 0 && errno == ENOSYS ? openat (dir, name, (int)how.flags) : fd;
}

static bool
is_left_out (const char *name, mode_t mode)
{
    size_t n = strlen (name);
    if (name[0] == '.')
        return true;
    if (S_ISDIR (mode))
        return !strcmp (name, "__pycache__");
    return !S_ISREG (mode) || (n > 4 && !strcmp (name + n - 4, ".pyc"));
}

static int walk (struct walk *self, int dir, const char *prefix, int depth);

static int
visit (struct walk *self, int dir, const char *name, const char *path, int depth)
{
    struct stat st;
    if (fstatat (dir, name, &st, AT_SYMLINK_NOFOLLOW)) {
        if (name[0] == '.' && errno == ENOENT) //  no part of the pack came or went
            return 0;
        int why = errno;
        return check_path (ag_str (path), self->err)
                   ? -1
                   : ag_fail (self->err, AG_E_PACK, "%s: it changed while it was read: %s", path,
                              strerror (why));
    }
    bool link = S_ISLNK (st.st_mode), folder = S_ISDIR (st.st_mode);
    if (!link && is_left_out (name, st.st_mode))
        return 0;
    if (check_path (ag_str (path), self->err))
        return -1;
    if (link)
        return ag_fail (self->err, AG_E_PACK, "%s: a symbolic link", path);
    int fd = open_below (dir, name, folder ? O_DIRECTORY : 0);
    if (fd < 0)
        return ag_fail (self->err, AG_E_PACK, "%s: cannot be opened: %s", path, strerror (errno));
    return folder ? walk (self, fd, path, depth + 1) : read_file (self, fd, path);
}

//  Takes dir.
static int
walk (struct walk *self, int dir, const char *prefix, int depth)
{
    DIR *stream = depth > AG_FOLDER_DEPTH ? NULL : fdopendir (dir);
    int rc = 0;
    if (!stream) {
        if (depth > AG_FOLDER_DEPTH)
            ag_fail (self->err, AG_E_PACK, "%s: deeper than %d folders", prefix, AG_FOLDER_DEPTH);
        else
            ag_fail (self->err, AG_E_SYSTEM, "list %s: %s", prefix, strerror (errno));
        close (dir);
        return -1;
    }
    for (struct dirent *entry; !rc && (entry = readdir (stream));) {
        if (!strcmp (entry->d_name, ".") || !strcmp (entry->d_name, ".."))
            continue;
        char *path = ag_xprintf ("%s%s%s", prefix, prefix[0] ? "/" : "", entry->d_name);
        rc = self->entries++ < AG_FOLDER_ENTRIES
                 ? visit (self, dirfd (stream), entry->d_name, path, depth)
                 : ag_fail (self->err, AG_E_PACK, "more than %d entries", AG_FOLDER_ENTRIES);
        free (path);
    }
    closedir (stream);
    return rc;
}

//  The folder itself is no link either: with a slash at its end the kernel would follow one.
static int
open_root (const char *dir, struct ag_err *err)
{
    struct stat st;
    char *name = ag_xstrdup (dir);
    for (size_t n = strlen (name); n > 1 && name[n - 1] == '/'; n--)
        name[n - 1] = 0;
    int fd = open (name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), why = errno;
    if (fd < 0 && !lstat (name, &st) && S_ISLNK (st.st_mode))
        ag_fail (err, AG_E_PACK, "is a symbolic link; name the folder itself");
    else if (fd < 0)
        ag_fail (err, AG_E_PACK, "cannot be opened: %s", strerror (why));
    free (name);
    return fd;
}

int
ag_folder_read (const char *dir, struct ag_folder *out, struct ag_err *err)
{
    struct walk self = {.folder = out, .err = err};
    *out = (struct ag_folder){.dir = dir};
    int fd = open_root (dir, err);
    return fd < 0 || walk (&self, fd, "", 1) || finish (out, err) ? -1 : 0;
}

/*  Files of a message  */

//  A path of a request: relative, of names that the walk over a folder would not leave out, and no deeper.
static bool
is_path (const char *path)
{
    char *copy = ag_xstrdup (path), *rest = copy, *part;
    bool fine = true;
    for (int parts = 1; fine && (part = strsep (&rest, "/")); parts++)
        fine = *part && parts <= AG_FOLDER_DEPTH && !is_left_out (part, rest ? S_IFDIR : S_IFREG);
    free (copy);
    return fine;
}

//  The file of a message: its bytes are kept.
static int
add_bytes (struct ag_folder *self, const char *path, struct ag_str value, struct ag_err *err)
{
    struct ag_head bytes;
    struct ag_cursor in = ag_cursor (value);
    if (ag_next (&in, &bytes) || (bytes.kind != AG_TEXT && bytes.kind != AG_BYTES))
        return ag_fail (err, AG_E_PACK, "%s: bytes are missing", path);
    struct ag_file *file = check_bytes (self, path, bytes.s.n, err) ? NULL : add (self, path, err);
    if (!file)
        return -1;
    ag_buf_add_str (&file->bytes, bytes.s);
    return 0;
}

static int
add_given (struct ag_folder *self, struct ag_str one, struct ag_err *err)
{
    struct ag_str path = {0}, value;
    bool given = !ag_map_text (one, "path", &path) && !ag_map_get (one, "bytes", &value);
    char *text = ag_str_dup (path);
    int rc = 0;
    if (!given || strlen (text) != path.n || !is_path (text))
        rc = ag_fail (err, AG_E_PACK, "file %zu of a pack is {path, bytes} with a relative path",
                      self->count + 1);
    else
        rc = check_path (path, err) || add_bytes (self, text, value, err) ? -1 : 0;
    free (text);
    return rc;
}

int
ag_folder_from (struct ag_str files, struct ag_folder *out, struct ag_err *err)
{
    struct ag_str one;
    *out = (struct ag_folder){0};
    if (ag_kind_of (files) != AG_LIST)
        return ag_fail (err, AG_E_PACK, "the files of a pack are a list");
    for (struct ag_items items = ag_items_of (files); ag_items_next (&items, &one);)
        if (add_given (out, one, err))
            return -1;
    return finish (out, err);
}

/*  What was read  */

void
ag_folder_fini (struct ag_folder *self)
{
    for (size_t i = 0; i < self->count; i++) {
        free (self->files[i].path);
        ag_buf_fini (&self->files[i].bytes);
    }
    free (self->files);
    *self = (struct ag_folder){0};
}

const struct ag_file *
ag_folder_find (const struct ag_folder *self, const char *path)
{
    for (size_t i = 0; i < self->count; i++)
        if (!strcmp (self->files[i].path, path))
            return &self->files[i];
    return NULL;
}

void
ag_folder_put (const struct ag_folder *self, struct ag_buf *out)
{
    ag_put_list (out, (uint32_t)self->count);
    for (size_t i = 0; i < self->count; i++) {
        struct ag_str bytes = ag_buf_str (&self->files[i].bytes);
        ag_put_map (out, 2);
        ag_put_pair_text (out, "path", ag_str (self->files[i].path));
        ag_put_lit (out, "bytes");
        if (ag_utf8 (bytes))
            ag_put_text (out, bytes);
        else
            ag_put_bytes (out, bytes);
    }
}
