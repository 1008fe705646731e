//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/repair.h"
#include "common/home.h"
#include "common/tree.h"
#include "supervisor/repair_impl.h"
#include "supervisor/store_log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TURN_BYTES = 8 << 20 };

void
ag_repair_file (struct ag_repair *self, struct ag_str file, const char *reason)
{
    ag_put_map (&self->files, 2);
    ag_put_lit (&self->files, "file");
    ag_put_text (&self->files, file);
    ag_put_lit (&self->files, "reason");
    ag_put_lit (&self->files, reason);
    self->file_count++;
}

/*  Files  */

static int
copy_file (const char *from, const char *to, struct ag_err *err)
{
    int in = open (from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int out = in < 0 ? -1 : open (to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    ssize_t n = out < 0 ? -1 : 1;
    while (n > 0)
        n = sendfile (out, in, NULL, 1 << 30);
    if (n < 0)
        ag_fail (err, AG_E_SYSTEM, "copy %s to %s: %s", from, to, strerror (errno));
    if (in >= 0)
        close (in);
    if (out >= 0)
        close (out);
    return n < 0 ? -1 : 0;
}

//  RocksDB's logs and lists end where they seem to end: the second look says what is wrong there.
static void
look_at (struct ag_repair *self, const char *path, const char *name)
{
    struct ag_err why;
    const char *ending = strrchr (name, '.');
    bool log = ending && !strcmp (ending, ".log");
    if (!log && strncmp (name, "MANIFEST-", 9))
        return;
    if (!ag_store_log_check_records (path, &why))
        return;
    ag_repair_file (self, ag_str (name), why.text);
    self->lost = self->lost || log; //  what stood there is not known
}

static int
copy_data (struct ag_repair *self, const char *from, const char *to, struct ag_err *err)
{
    DIR *dir = opendir (from);
    if (!dir)
        return ag_fail (err, AG_E_USAGE, "%s: %s", from, strerror (errno));
    int rc =
        mkdir (to, 0700) ? ag_fail (err, AG_E_SYSTEM, "mkdir %s: %s", to, strerror (errno)) : 0;
    for (const struct dirent *file; !rc && (file = readdir (dir));) {
        if (file->d_type != DT_REG)
            continue;
        char *source = ag_xprintf ("%s/%s", from, file->d_name);
        char *copy = ag_xprintf ("%s/%s", to, file->d_name);
        rc = copy_file (source, copy, err);
        if (!rc)
            look_at (self, copy, file->d_name);
        free (source);
        free (copy);
    }
    closedir (dir);
    return rc;
}

//  What was wrong with the whole, and the tables that RocksDB's repair could not take. Where it had nothing to
//  repair a log was damaged, and what stood there is not known.
static void
list_lost (struct ag_repair *self, const char *data, const struct ag_err *why)
{
    char *path = ag_xprintf ("%s/lost", data);
    DIR *dir = opendir (path);
    if (why->code)
        ag_repair_file (self, AG_LIT ("the store"), why->text);
    self->lost = self->lost || (why->code && !dir);
    for (const struct dirent *file; dir && (file = readdir (dir));)
        if (strstr (file->d_name, ".sst")) {
            ag_repair_file (self, ag_str (file->d_name), "RocksDB cannot read it");
            self->lost = true;
        }
    if (dir)
        closedir (dir);
    free (path);
}

/*  The stores  */

//  Its counters may be what is damaged.
static void
open_old (struct ag_repair *self, ag_store_t *store)
{
    struct ag_err err;
    self->old = ag_xcalloc (1, sizeof *self->old);
    self->old->store = store;
    self->old->batch = ag_batch_new (store);
    TAILQ_INIT (&self->old->dirty);
    if (ag_journal_read_counters (self->old, &err))
        ag_repair_file (self, AG_LIT ("the counters of the store"), err.text);
}

//  Keys of a table that belong to no run. What cannot be read ends them.
static int
copy_range (struct ag_repair *self, enum ag_table table, struct ag_str from, struct ag_str to,
            const char *what, struct ag_err *err)
{
    struct ag_str key, value;
    struct ag_err why;
    int rc = 1, failed = 0;
    ag_batch_t *batch = self->fresh->batch;
    ag_scan_t *scan = ag_store_scan (self->old->store, table, from, to);
    while (!failed && (rc = ag_scan_next (scan, &key, &value, &why)) > 0) {
        ag_batch_put (batch, table, key, value);
        if (ag_batch_bytes (batch) > TURN_BYTES)
            failed = ag_journal_commit (self->fresh, err);
    }
    ag_scan_destroy (&scan);
    if (rc < 0) {
        ag_repair_file (self, ag_str (what), why.text);
        self->lost = true;
    }
    return failed;
}

//  An answer says that something was done: after a loss none is kept, because it may be gone.
static int
copy_answers (struct ag_repair *self, struct ag_err *err)
{
    struct ag_key from;
    ag_key_requests (&from);
    struct ag_key to = ag_key_end (&from);
    if (self->lost)
        return 0;
    return copy_range (self, AG_META, ag_key_str (&from), ag_key_str (&to), "answers to requests",
                       err);
}

static int
rescue (struct ag_repair *self, struct ag_err *err)
{
    static const uint8_t least[AG_HASH];
    struct ag_key from;
    ag_key_blob (&from, least, 0);
    from.n = 2; //  every blob; what was archived goes over event by event
    struct ag_key to = ag_key_end (&from);
    if (ag_repair_runs (self, err) ||
        copy_range (self, AG_BLOB, ag_key_str (&from), ag_key_str (&to), "blobs", err))
        return -1;
    if (self->told < self->old->stream)
        self->lost = true;
    if (self->fresh->stream < self->old->stream)
        self->fresh->stream = self->old->stream;
    self->fresh->count = true;
    if (self->old->next_run > 1)
        ag_run_skip (self->fresh, self->old->next_run - 1);
    return copy_answers (self, err) || ag_journal_commit (self->fresh, err) ? -1 : 0;
}

static int
rescue_into (struct ag_repair *self, const char *damaged, const char *data, struct ag_err *err)
{
    struct ag_err why;
    ag_store_t *fresh = NULL, *old = ag_store_rocks_salvage (damaged, &why, err);
    if (!old)
        return ag_wrap (err, "nothing can be read");
    list_lost (self, damaged, &why);
    open_old (self, old);
    fresh = ag_store_rocks_new (data, err);
    self->fresh = fresh ? ag_journal_new (fresh, err) : NULL;
    int rc = self->fresh ? rescue (self, err) : -1;
    self->counted = self->old->stream;
    ag_journal_destroy (&self->fresh);
    ag_store_destroy (&fresh);
    ag_journal_destroy (&self->old);
    ag_store_destroy (&old);
    return rc;
}

/*  The whole  */

static void
write_report (const struct ag_repair *self, const char *from, const char *to, struct ag_buf *out)
{
    ag_put_map (out, 7);
    ag_put_lit (out, "ok");
    ag_put_bool (out, !self->lost);
    ag_put_lit (out, "from");
    ag_put_lit (out, from);
    ag_put_lit (out, "to");
    ag_put_lit (out, to);
    ag_put_lit (out, "events");
    ag_put_uint (out, self->events);
    ag_put_lit (out, "events_lost");
    if (self->counted)
        ag_put_uint (out, self->counted > self->told ? self->counted - self->told : 0);
    else
        ag_put_null (out);
    ag_put_lit (out, "runs");
    ag_put_list (out, self->run_count);
    ag_buf_add_str (out, ag_buf_str (&self->runs));
    ag_put_lit (out, "files");
    ag_put_list (out, self->file_count);
    ag_buf_add_str (out, ag_buf_str (&self->files));
}

//  The lock of the home, which its fleet would hold; -1 with err->code AG_OK where there is no file for it.
static int
lock (const char *from, struct ag_err *err)
{
    char *path = ag_xprintf ("%s/lock", from);
    int fd = open (path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    err->code = AG_OK;
    if (fd >= 0 && flock (fd, LOCK_EX | LOCK_NB))
        ag_fail (err, AG_E_RUNNING,
                 "the home %s is held by a fleet: `agsup down` first, or copy it", from);
    free (path);
    return fd;
}

static int
make_home (const char *to, struct ag_err *err)
{
    char *data = ag_xprintf ("%s/data", to), *id = ag_xprintf ("%s/id", to);
    int rc = access (data, F_OK) && access (id, F_OK)
                 ? ag_home_make (to, err)
                 : ag_fail (err, AG_E_USAGE,
                            "%s holds a home already; --to takes a folder of its own", to);
    free (data);
    free (id);
    return rc;
}

static int
repair (struct ag_repair *self, const char *from, const char *to, struct ag_err *err)
{
    char *source = ag_xprintf ("%s/data", from), *damaged = ag_xprintf ("%s/damaged", to);
    char *data = ag_xprintf ("%s/data", to);
    int rc = -1;
    if (access (source, R_OK | X_OK))
        ag_fail (err, AG_E_USAGE, "%s is no home: %s: %s", from, source, strerror (errno));
    else if (!make_home (to, err) && !copy_data (self, source, damaged, err))
        rc = rescue_into (self, damaged, data, err);
    ag_tree_remove (damaged);
    free (source);
    free (data);
    free (damaged);
    return rc;
}

int
ag_repair (const char *from, const char *to, struct ag_buf *report, struct ag_err *err)
{
    struct ag_repair self = {0};
    int held = lock (from, err);
    int rc = err->code ? -1 : repair (&self, from, to, err);
    if (!rc)
        write_report (&self, from, to, report);
    ag_buf_fini (&self.runs);
    ag_buf_fini (&self.files);
    ag_buf_fini (&self.value);
    if (held >= 0)
        close (held);
    return rc;
}
