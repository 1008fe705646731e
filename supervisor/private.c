//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/private.h"
#include "common/log.h"
#include "common/tree.h"
#include "supervisor/blob.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    COPY_DEPTH = 16,
    STEPS = 64, //  of removing, in one turn,
    LAST = 1000 //  and turns' worth of them at the end of the house; the next one does the rest
};

//  Beside the socket that workers reach, where a worker's own uid may pass.
static char *
root_of (struct ag_house *house)
{
    const char *socket = house->daemon->home.worker;
    const char *slash = strrchr (socket, '/');
    return ag_xprintf ("%.*s/w", (int)(slash ? slash - socket : 0), socket);
}

//  What a program left may be much: its path is free at once, the rest goes bit by bit.
void
ag_private_remove (struct ag_house *house, struct ag_unit *unit)
{
    if (unit->dir[0])
        ag_tree_take (house->gone, unit->dir);
    unit->dir[0] = 0;
}

//  What an earlier house did not come to the end of goes with its directories.
void
ag_private_begin (struct ag_house *house)
{
    char *root = root_of (house);
    char *gone = ag_xprintf ("%s.gone", root), *inside = ag_xprintf ("%s/gone", root);
    mkdir (root, 0711);
    rename (gone, inside);
    house->gone = ag_tree_new (gone);
    ag_tree_take (house->gone, root);
    free (inside);
    free (gone);
    free (root);
}

bool
ag_private_pump (struct ag_house *house)
{
    return ag_tree_step (house->gone, STEPS);
}

//  Only an empty folder goes: HOME/run still holds the token.
void
ag_private_end (struct ag_house *house)
{
    char *root = root_of (house);
    if (house->leaving)
        ag_tree_take (house->gone, root);
    for (int i = 0; house->leaving && i < LAST && ag_private_pump (house); i++)
        ;
    ag_tree_destroy (&house->gone);
    *strrchr (root, '/') = 0;
    if (house->leaving)
        rmdir (root);
    free (root);
}

//  A copy, bounded in files and bytes, that belongs to one uid.
struct copy {
    uint32_t uid;
    size_t files, bytes;
    struct ag_err *err;
};

static int
copy_file (struct copy *copy, int from, int to_dir, const char *name)
{
    char bytes[65536];
    ssize_t n = 0;
    int to = openat (to_dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0500);
    while (to >= 0 && (n = read (from, bytes, sizeof bytes)) > 0) {
        copy->bytes += (size_t)n;
        if (copy->bytes > AG_PRIVATE_BYTES || write (to, bytes, (size_t)n) != n)
            break;
    }
    int rc = to < 0 || n != 0 || fchown (to, copy->uid, copy->uid) ? -1 : 0, error = errno;
    if (to >= 0)
        close (to);
    if (copy->bytes > AG_PRIVATE_BYTES)
        return ag_fail (copy->err, AG_E_CONFIG,
                        "with %s there are more than %d MiB to copy for the worker", name,
                        AG_PRIVATE_BYTES >> 20);
    return rc ? ag_fail (copy->err, AG_E_CONFIG, "%s cannot be copied for the worker: %s", name,
                         strerror (error))
              : 0;
}

//  Else it is its owner's, and no worker with a uid of its own could have read it where it lies.
static bool
is_for_others (mode_t mode)
{
    mode_t needs = S_ISDIR (mode) ? S_IROTH | S_IXOTH : S_IROTH;
    return (mode & needs) == needs;
}

static int copy_dir (struct copy *copy, int from, int to, int depth);

static int
copy_entry (struct copy *copy, int from, int to, const char *name, int depth)
{
    struct stat st;
    int fd = openat (from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat (fd, &st) || !is_for_others (st.st_mode)) { //  nor are links part of it
        if (fd >= 0)
            close (fd);
        return 0;
    }
    int rc = 0, sub = -1;
    if (++copy->files > AG_PRIVATE_FILES)
        rc = ag_fail (copy->err, AG_E_CONFIG, "more than %d files to copy for the worker",
                      AG_PRIVATE_FILES);
    else if (S_ISDIR (st.st_mode)) {
        if (mkdirat (to, name, 0700) ||
            (sub = openat (to, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
            rc = ag_fail (copy->err, AG_E_SYSTEM, "%s: %s", name, strerror (errno));
        else
            rc = copy_dir (copy, fd, sub, depth + 1);
    } else if (S_ISREG (st.st_mode))
        rc = copy_file (copy, fd, to, name);
    if (sub >= 0)
        close (sub);
    close (fd);
    return rc;
}

static int
copy_dir (struct copy *copy, int from, int to, int depth)
{
    if (depth > COPY_DEPTH)
        return ag_fail (copy->err, AG_E_CONFIG, "deeper than %d folders", COPY_DEPTH);
    int listed = dup (from);
    DIR *stream = listed < 0 ? NULL : fdopendir (listed);
    if (!stream) {
        ag_fail (copy->err, AG_E_SYSTEM, "list a folder: %s", strerror (errno));
        if (listed >= 0)
            close (listed);
        return -1;
    }
    int rc = fchown (to, copy->uid, copy->uid)
                 ? ag_fail (copy->err, AG_E_SYSTEM, "chown: %s", strerror (errno))
                 : 0;
    for (struct dirent *entry; !rc && (entry = readdir (stream));)
        if (entry->d_name[0] != '.')
            rc = copy_entry (copy, from, to, entry->d_name, depth);
    closedir (stream);
    return rc;
}

//  The first argument that is a file, when paths start at that folder; the caller frees it. NULL: none is.
static char *
first_file (struct ag_str host, struct ag_str folder)
{
    struct ag_str word;
    struct ag_texts words = ag_texts_of (host, "command");
    for (uint32_t i = 0; ag_texts_next (&words, &word); i++) {
        if (i == 0 || word.n == 0 || word.p[0] == '-')
            continue;
        char *path = word.p[0] == '/'
                         ? ag_str_dup (word)
                         : ag_xprintf ("%.*s/%.*s", AG_STR_ARG (folder), AG_STR_ARG (word));
        if (!access (path, R_OK) && strrchr (path, '/') > path)
            return path;
        free (path);
    }
    return NULL;
}

//  Begins with that folder, or is it.
static bool
is_below (struct ag_str path, struct ag_str base)
{
    return base.n && path.n >= base.n && !memcmp (path.p, base.p, base.n) &&
           (path.n == base.n || path.p[base.n] == '/');
}

//  Paths of a command start at the folder of the configuration, which is where a program works, also when it is given
//  a dir. One that lies in that only would not be found. (Outside of the base, a copy of dir is all there is.)
static int
check_paths (const struct ag_unit *unit, struct ag_str host, struct ag_str base, struct ag_str dir,
             struct ag_err *err)
{
    struct ag_str program;
    struct ag_texts words = ag_texts_of (host, "command");
    bool own = ag_texts_next (&words, &program) && is_below (program, base);
    if (own || (unit->uid && !is_below (dir, base)))
        return 0;
    char *found = first_file (host, dir);
    if (!found)
        return 0;
    size_t skip = is_below (dir, base) ? base.n + 1 : 0;
    ag_fail (err, AG_E_CONFIG,
             "a command's paths start at the folder of the configuration, not at dir: write %s",
             found + skip);
    free (found);
    return -1;
}

//  The folder of a program: what the configuration says, else that of the first argument that is a file. NULL: err.
static char *
folder_of (const struct ag_unit *unit, struct ag_str host, struct ag_str base, struct ag_err *err)
{
    struct stat st;
    struct ag_str dir;
    bool given = !ag_map_text (host, "dir", &dir);
    char *file = first_file (host, base);
    if (given && !file && check_paths (unit, host, base, dir, err))
        return NULL;
    if (file && unit->uid && !stat (file, &st) && S_ISREG (st.st_mode) &&
        !is_for_others (st.st_mode)) {
        ag_fail (err, AG_E_CONFIG,
                 "%s is not readable by others (mode %04o), so no worker gets a copy; chmod o+r it",
                 file, st.st_mode & 07777);
        free (file);
        return NULL;
    }
    if (file && !given) {
        *strrchr (file, '/') = 0;
        return file;
    }
    free (file);
    return ag_str_dup (given ? dir : base);
}

//  Copied to where it lies below the base, so that a relative argument still finds it.
static int
copy_folder (struct ag_unit *unit, struct ag_str base, const char *folder, struct ag_err *err)
{
    struct copy copy = {.uid = unit->uid, .err = err};
    const char *rest = is_below (ag_str (folder), base) ? folder + base.n : "";
    int to = open (unit->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int from = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc =
        to < 0 || from < 0 ? ag_fail (err, AG_E_CONFIG, "%s: %s", folder, strerror (errno)) : 0;
    while (!rc && *rest) {
        char name[NAME_MAX + 1];
        rest += strspn (rest, "/");
        size_t n = strcspn (rest, "/");
        if (!n)
            break;
        snprintf (name, sizeof name, "%.*s", (int)n, rest);
        rest += n;
        mkdirat (to, name, 0700);
        int sub = openat (to, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        close (to);
        to = sub;
        if (sub < 0 || fchown (sub, unit->uid, unit->uid))
            rc = ag_fail (err, AG_E_SYSTEM, "%s: %s", name, strerror (errno));
    }
    if (!rc)
        rc = copy_dir (&copy, from, to, 1);
    if (to >= 0)
        close (to);
    if (from >= 0)
        close (from);
    return rc;
}

//  The folder of a path below dir, made where it is missing; the path's last part is put into name. -1: errno.
static int
open_parent (const struct ag_unit *unit, struct ag_str path, char name[NAME_MAX + 1])
{
    int dir = open (unit->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), sub;
    for (const char *slash; dir >= 0 && (slash = memchr (path.p, '/', path.n)); dir = sub) {
        size_t n = (size_t)(slash - path.p);
        snprintf (name, NAME_MAX + 1, "%.*s", (int)n, path.p);
        mkdirat (dir, name, 0700);
        sub = openat (dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (sub >= 0 && unit->uid && fchown (sub, unit->uid, unit->uid))
            ag_log (AG_WARN, "%s/%s: %s", unit->dir, name, strerror (errno));
        close (dir);
        path.p += n + 1;
        path.n -= n + 1;
    }
    snprintf (name, NAME_MAX + 1, "%.*s", (int)path.n, path.p);
    return dir;
}

static int
write_one (const struct ag_unit *unit, struct ag_str file, struct ag_err *err)
{
    struct ag_str path, value;
    struct ag_head bytes = {0};
    char name[NAME_MAX + 1];
    if (ag_map_text (file, "path", &path) || ag_map_get (file, "bytes", &value))
        return ag_fail (err, AG_E_CORRUPT, "a file of a pack is {path, bytes}");
    struct ag_cursor in = ag_cursor (value);
    int dir = open_parent (unit, path, name), to = -1;
    bool done = !ag_next (&in, &bytes) && dir >= 0 &&
                (to = openat (dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                              0500)) >= 0 &&
                write (to, bytes.s.p, bytes.s.n) == (ssize_t)bytes.s.n &&
                (!unit->uid || !fchown (to, unit->uid, unit->uid));
    int error = errno;
    if (to >= 0)
        close (to);
    if (dir >= 0)
        close (dir);
    return done ? 0
                : ag_fail (err, AG_E_SYSTEM, "%.*s cannot be written: %s", AG_STR_ARG (path),
                           strerror (error));
}

//  The very bytes that were hashed, as files of its own.
static int
write_pack (struct ag_house *house, const struct ag_unit *unit, struct ag_str packs,
            struct ag_err *err)
{
    struct ag_buf whole = {0};
    struct ag_str pack = {0}, files = {0}, file;
    for (uint32_t i = 0; !ag_list_nth (packs, i, &pack); i++)
        ag_map_get (pack, "files", &files);
    int rc = ag_blobs_in (house->journal, files, &whole, err);
    for (uint32_t i = 0; !rc && !ag_list_nth (ag_buf_str (&whole), i, &file); i++)
        rc = write_one (unit, file, err);
    ag_buf_fini (&whole);
    return rc;
}

int
ag_private_make (struct ag_house *house, struct ag_unit *unit, struct ag_str host, char **work,
                 struct ag_err *err)
{
    struct ag_str packs;
    char *root = root_of (house);
    int n = snprintf (unit->dir, sizeof unit->dir, "%s/%" PRIx64, root, unit->child);
    bool failed = n >= (int)sizeof unit->dir || (mkdir (root, 0711) && errno != EEXIST) ||
                  chmod (root, 0711) || (mkdir (unit->dir, 0700) && errno != EEXIST) ||
                  (unit->uid && chown (unit->dir, unit->uid, unit->uid));
    free (root);
    if (failed)
        return ag_fail (err, AG_E_SYSTEM, "a directory for %s: %s", unit->name, strerror (errno));
    if (!host.p)
        return 0;
    if (!ag_map_get (host, "packs", &packs))
        return write_pack (house, unit, packs, err);
    struct ag_str base = {0};
    ag_map_text (host, "base", &base);
    char *folder = folder_of (unit, host, base, err);
    if (!folder)
        return -1;
    if (!unit->uid)
        *work = ag_str_dup (base);
    int rc = unit->uid ? copy_folder (unit, base, folder, err) : 0;
    free (folder);
    return rc;
}
