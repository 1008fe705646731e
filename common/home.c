//  SPDX-License-Identifier: Apache-2.0
#include "common/home.h"
#include "common/hash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char root_run[] = "/run/agsup";

//  A home of somebody else is not the same as no home, or a broken one.
static enum ag_code
refused (enum ag_code otherwise)
{
    return errno == EACCES ? AG_E_NOT_ALLOWED : otherwise;
}

//  A directory of ours that nobody else can write: made, or found so.
static int
make_dir (const char *path, mode_t mode, struct ag_err *err)
{
    if (mkdir (path, mode) && errno != EEXIST)
        return ag_fail (err, AG_E_SYSTEM, "mkdir %s: %s", path, strerror (errno));
    struct stat st;
    if (lstat (path, &st))
        return ag_fail (err, AG_E_SYSTEM, "lstat %s: %s", path, strerror (errno));
    if (!S_ISDIR (st.st_mode))
        return ag_fail (err, AG_E_EXISTS, "%s exists and is not a directory", path);
    if (st.st_uid != geteuid())
        return ag_fail (err, AG_E_NOT_ALLOWED, "%s belongs to uid %u, not to %u", path, st.st_uid,
                        geteuid());
    if ((st.st_mode & 07777) != mode && chmod (path, mode))
        return ag_fail (err, AG_E_SYSTEM, "chmod %s: %s", path, strerror (errno));
    return 0;
}

//  Read a small file of ours whole: its length, or -1 with errno.
static ssize_t
read_file (const char *path, char *text, size_t room)
{
    int fd = open (path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = read (fd, text, room);
    int no = errno;
    close (fd);
    errno = no;
    return n;
}

//  Write a new file of ours; a file that is there is replaced whole. What the next start makes anew need not last.
static int
write_file (const char *path, const char *text, bool lasts, struct ag_err *err)
{
    char *fresh = ag_xprintf ("%s.%d", path, (int)getpid());
    int rc = -1, fd = open (fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    ssize_t n = (ssize_t)strlen (text);
    if (fd < 0 || write (fd, text, (size_t)n) != n || (lasts && fsync (fd)) || rename (fresh, path))
        ag_fail (err, AG_E_SYSTEM, "write %s: %s", path, strerror (errno));
    else
        rc = 0;
    if (fd >= 0)
        close (fd);
    free (fresh);
    return rc;
}

//  A line of exactly n hex characters.
static bool
is_hex (const char *text, ssize_t length, ssize_t n)
{
    if (length == n + 1 && text[n] == '\n')
        length--;
    return length == n && (ssize_t)strspn (text, "0123456789abcdef") >= n;
}

static int
write_random (const char *path, size_t bytes, bool lasts, struct ag_err *err)
{
    uint8_t random[AG_TOKEN / 2];
    char hex[AG_TOKEN + 1], line[AG_TOKEN + 2];
    ag_random (random, bytes);
    ag_hex (random, bytes, hex);
    snprintf (line, sizeof line, "%s\n", hex);
    return write_file (path, line, lasts, err);
}

//  A folder that somebody uses for something else must not become a home: its permissions would change.
static int
check_foreign (const char *dir, struct ag_err *err)
{
    static const char *const own[] = {".", "..", "id", "lock", "run", "data", "log"};
    DIR *stream = opendir (dir);
    int rc = 0;
    for (struct dirent *entry; stream && !rc && (entry = readdir (stream));) {
        size_t i = 0;
        while (i < sizeof own / sizeof *own && strcmp (entry->d_name, own[i]))
            i++;
        if (i == sizeof own / sizeof *own && strncmp (entry->d_name, "id.", 3))
            rc = ag_fail (err, AG_E_CONFIG, "%s is no home and not empty: it holds %s", dir,
                          entry->d_name);
    }
    if (stream)
        closedir (stream);
    return rc;
}

//  Of two that make the same home at once, the first one's identity stays.
static int
make_id (const char *path, struct ag_err *err)
{
    char *fresh = ag_xprintf ("%s.%d", path, (int)getpid());
    int rc = write_random (fresh, AG_HOME_ID / 2, true, err);
    if (!rc && link (fresh, path) && errno != EEXIST)
        rc = ag_fail (err, AG_E_SYSTEM, "link %s: %s", path, strerror (errno));
    unlink (fresh);
    free (fresh);
    return rc;
}

int
ag_home_make (const char *dir, struct ag_err *err)
{
    char *path = ag_xprintf ("%s/id", dir);
    int rc = 0;
    if (access (path, F_OK))
        rc = check_foreign (dir, err);
    if (!rc)
        rc = make_dir (dir, 0700, err);
    if (!rc && access (path, F_OK))
        rc = make_id (path, err);
    free (path);
    return rc;
}

//  What is written and which file it is written in: a copy of a home, whose file is another one, is another house.
static void
make_own (struct ag_home *self, const char *text, const struct stat *st)
{
    uint64_t place[2] = {(uint64_t)st->st_dev, (uint64_t)st->st_ino};
    for (int i = 0; i < 2; i++) {
        char half[17] = "";
        memcpy (half, text + i * 16, 16);
        uint64_t own = strtoull (half, NULL, 16) ^ place[i];
        snprintf (self->id + i * 16, sizeof half, "%016" PRIx64, own);
    }
}

static int
read_id (struct ag_home *self, struct ag_err *err)
{
    char text[AG_HOME_ID + 3] = "", *path = ag_xprintf ("%s/id", self->dir);
    struct stat st;
    ssize_t n = lstat (path, &st) ? -1 : read_file (path, text, sizeof text - 1);
    int rc = 0, no = errno;
    if (n < 0 && no == ENOENT)
        rc = ag_fail (err, AG_E_NO_SUPERVISOR, "%s is not a home: it has no file `id`", self->dir);
    else if (n < 0)
        rc = ag_fail (err, refused (AG_E_SYSTEM), "the home %s: read id: %s", self->dir,
                      strerror (no));
    else if (!is_hex (text, n, AG_HOME_ID))
        rc = ag_fail (err, AG_E_CORRUPT, "%s does not hold %d hex characters", path, AG_HOME_ID);
    else
        make_own (self, text, &st);
    free (path);
    return rc;
}

//  Where sockets live that do not fit below HOME, and where workers look that have a uid of their own.
static char *
runtime_dir (const struct ag_home *self, bool root)
{
    const char *base = getenv ("XDG_RUNTIME_DIR");
    if (root)
        return ag_xprintf ("%s/%s", root_run, self->id);
    if (base && *base == '/')
        return ag_xprintf ("%s/agsup/%s", base, self->id);
    return ag_xprintf ("/run/user/%u/agsup/%s", geteuid(), self->id);
}

static void
choose_sockets (struct ag_home *self, bool root)
{
    char *far = runtime_dir (self, root);
    bool fits = strlen (self->run) + strlen ("/monitor.sock") <= AG_HOME_SOCKET;
    const char *near = fits ? self->run : far;
    self->client = ag_xprintf ("%s/client.sock", near);
    self->monitor = ag_xprintf ("%s/monitor.sock", near);
    self->broker = ag_xprintf ("%s/broker.sock", near);
    self->worker = ag_xprintf ("%s/worker.sock", root ? far : near);
    free (far);
}

int
ag_home_open (struct ag_home *self, const char *dir, struct ag_err *err)
{
    *self = (struct ag_home){.dir = realpath (dir, NULL)};
    if (!self->dir)
        return ag_fail (err, refused (AG_E_NO_SUPERVISOR), "the home %s: %s", dir,
                        strerror (errno));
    struct stat st;
    if (stat (self->dir, &st)) {
        ag_fail (err, AG_E_SYSTEM, "stat %s: %s", self->dir, strerror (errno));
        ag_home_fini (self);
        return -1;
    }
    if (read_id (self, err)) {
        ag_home_fini (self);
        return -1;
    }
    self->lock = ag_xprintf ("%s/lock", self->dir);
    self->run = ag_xprintf ("%s/run", self->dir);
    self->token = ag_xprintf ("%s/run/token", self->dir);
    self->data = ag_xprintf ("%s/data", self->dir);
    self->log = ag_xprintf ("%s/log", self->dir);
    choose_sockets (self, st.st_uid == 0);
    return 0;
}

void
ag_home_fini (struct ag_home *self)
{
    char *all[] = {self->dir, self->lock,   self->run,     self->token,  self->data,
                   self->log, self->client, self->monitor, self->broker, self->worker};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free (all[i]);
    *self = (struct ag_home){0};
}

static pid_t
pid_in (int fd)
{
    char text[16] = "";
    return pread (fd, text, sizeof text - 1, 0) > 0 ? (pid_t)strtol (text, NULL, 10) : 0;
}

int
ag_home_open_file (const char *path, int flags, struct ag_err *err)
{
    struct stat st;
    int fd = open (path, flags | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd < 0 && errno != ENXIO) //  which a pipe says that nobody reads
        return ag_fail (err, errno == ENOENT ? AG_E_NOT_FOUND : refused (AG_E_SYSTEM),
                        "open %s: %s", path, strerror (errno));
    if (fd >= 0 && !fstat (fd, &st) && S_ISREG (st.st_mode))
        return fd;
    if (fd >= 0)
        close (fd);
    return ag_fail (err, AG_E_EXISTS, "%s exists and is not a file", path);
}

int
ag_home_lock (const struct ag_home *self, struct ag_err *err)
{
    int fd = ag_home_open_file (self->lock, O_RDWR | O_CREAT | O_NOFOLLOW, err);
    if (fd < 0)
        return -1;
    if (flock (fd, LOCK_EX | LOCK_NB)) {
        ag_fail (err, AG_E_RUNNING, "process %d holds the home %s", pid_in (fd), self->dir);
        close (fd);
        return -1;
    }
    if (ftruncate (fd, 0) || dprintf (fd, "%d\n", (int)getpid()) < 0) {
        ag_fail (err, AG_E_SYSTEM, "write %s: %s", self->lock, strerror (errno));
        close (fd);
        return -1;
    }
    return fd;
}

//  A shared lock is tried and let go at once: whoever holds the home has an exclusive one.
pid_t
ag_home_holder (const struct ag_home *self, struct ag_err *err)
{
    int fd = ag_home_open_file (self->lock, O_RDONLY | O_NOFOLLOW, err);
    if (fd < 0)
        return err->code == AG_E_NOT_FOUND ? 0 : -1;
    pid_t pid = 0;
    if (flock (fd, LOCK_SH | LOCK_NB))
        pid = pid_in (fd);
    close (fd);
    return pid;
}

//  The directory of a socket path and the one above it, unless it is HOME/run.
static int
prepare_far (const struct ag_home *self, const char *path, mode_t mode, struct ag_err *err)
{
    char *dir = ag_xprintf ("%.*s", (int)(strrchr (path, '/') - path), path);
    char *above = ag_xprintf ("%.*s", (int)(strrchr (dir, '/') - dir), dir);
    int rc = 0;
    if (strcmp (dir, self->run))
        rc = make_dir (above, mode, err) || make_dir (dir, mode, err) ? -1 : 0;
    free (above);
    free (dir);
    return rc;
}

int
ag_home_prepare (const struct ag_home *self, struct ag_err *err)
{
    mode_t far = ag_str_starts (ag_str (self->worker), root_run) ? 0711 : 0700;
    if (make_dir (self->run, 0700, err) || make_dir (self->data, 0700, err) ||
        make_dir (self->log, 0700, err))
        return -1;
    if (prepare_far (self, self->client, far, err) || prepare_far (self, self->worker, far, err))
        return -1;
    return write_random (self->token, AG_TOKEN / 2, false, err);
}

void
ag_home_leave (const struct ag_home *self)
{
    const char *const sockets[] = {self->client, self->monitor, self->broker, self->worker};
    for (size_t i = 0; i < sizeof sockets / sizeof *sockets; i++) {
        char *dir = ag_xstrdup (sockets[i]);
        *strrchr (dir, '/') = 0;
        if (strcmp (dir, self->run)) {
            unlink (sockets[i]);
            rmdir (dir);
        }
        free (dir);
    }
}

int
ag_home_token (const struct ag_home *self, char token[AG_TOKEN + 1], struct ag_err *err)
{
    char text[AG_TOKEN + 3] = "";
    ssize_t n = read_file (self->token, text, sizeof text - 1);
    if (n < 0 && errno == ENOENT)
        return ag_fail (err, AG_E_NO_SUPERVISOR, "%s is not there: the fleet is not up",
                        self->token);
    if (n < 0)
        return ag_fail (err, AG_E_NOT_ALLOWED, "read %s: %s", self->token, strerror (errno));
    if (!is_hex (text, n, AG_TOKEN))
        return ag_fail (err, AG_E_CORRUPT, "%s does not hold %d hex characters", self->token,
                        AG_TOKEN);
    snprintf (token, AG_TOKEN + 1, "%.*s", AG_TOKEN, text);
    return 0;
}
