//  SPDX-License-Identifier: Apache-2.0
#include "client/sqlite.h"
#include "common/json.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { VALUE_BYTES = 4 << 20, RUNS = 10000, WAIT_MS = 10000 };

struct run {
    char *id, *parent, *cut, *label; //  all but id: NULL when there is none
    bool sent, orphan;               //  orphan: events without a row in the catalogue
};

struct source {
    sqlite3 *db;
    const char *path;
    struct ag_feed *feed;
    struct run *runs;
    size_t count;
    bool archive; //  the store is young enough to have one
};

static const char magic[] = "SQLite format 3";

bool
ag_sqlite_is (const char *path)
{
    char head[sizeof magic] = "";
    struct stat st;
    if (stat (path, &st) || !S_ISREG (st.st_mode)) //  what is read of a pipe is gone
        return false;
    FILE *file = fopen (path, "re");
    bool is = file && fread (head, 1, sizeof head, file) == sizeof head &&
              !memcmp (head, magic, sizeof magic);
    if (file)
        fclose (file);
    return is;
}

static int
fail (const struct source *self, struct ag_err *err)
{
    return ag_fail (err, AG_E_FAILED, "%s: %s", self->path, sqlite3_errmsg (self->db));
}

static int
prepare (const struct source *self, const char *sql, const char *run, sqlite3_stmt **stmt,
         struct ag_err *err)
{
    if (sqlite3_prepare_v2 (self->db, sql, -1, stmt, NULL) != SQLITE_OK)
        return fail (self, err);
    if (run && sqlite3_bind_text (*stmt, 1, run, -1, SQLITE_STATIC) != SQLITE_OK)
        return fail (self, err);
    return 0;
}

//  1 with a row, 0 at the end, -1.
static int
step (const struct source *self, sqlite3_stmt *stmt, struct ag_err *err)
{
    int rc = sqlite3_step (stmt);
    return rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : fail (self, err);
}

//  Whatever the column holds, as SQLite writes it as text.
static struct ag_str
column (sqlite3_stmt *stmt, int n)
{
    const char *text = (const char *)sqlite3_column_text (stmt, n);
    return (struct ag_str){text, text ? (size_t)sqlite3_column_bytes (stmt, n) : 0};
}

static char *
copy (sqlite3_stmt *stmt, int n)
{
    struct ag_str text = column (stmt, n);
    return text.p ? ag_str_dup (text) : NULL;
}

/*  Opening  */

//  A file from elsewhere gets no more of the library than reading rows needs.
static int
open_db (struct source *self, struct ag_err *err)
{
    if (sqlite3_open_v2 (self->path, &self->db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        return fail (self, err);
    sqlite3_db_config (self->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config (self->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_limit (self->db, SQLITE_LIMIT_LENGTH, VALUE_BYTES);
    sqlite3_busy_timeout (self->db, WAIT_MS);
    if (sqlite3_exec (self->db, "PRAGMA cell_size_check=ON; BEGIN", NULL, NULL, NULL) != SQLITE_OK)
        return fail (self, err);
    return 0;
}

//  The one text or number that a query gives; NULL when it gives nothing.
static int
ask (const struct source *self, const char *sql, char **value, struct ag_err *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc = prepare (self, sql, NULL, &stmt, err);
    if (!rc && (rc = step (self, stmt, err)) > 0)
        *value = copy (stmt, 0);
    sqlite3_finalize (stmt);
    return rc < 0 ? -1 : 0;
}

static int
check_schema (struct source *self, struct ag_err *err)
{
    char *version = NULL, *archive = NULL;
    int rc = ask (self, "SELECT value FROM meta WHERE key = 'schema_version'", &version, err);
    if (rc)
        ag_wrap (err, "not a store of ActiveGraph");
    else if (!version || strcmp (version, "1") != 0)
        rc = ag_fail (err, AG_E_FAILED, "%s: its schema has version %s, not 1", self->path,
                      version ? version : "none");
    if (!rc)
        rc = ask (self, "SELECT 1 FROM sqlite_master WHERE name = 'events_archive'", &archive, err);
    self->archive = archive;
    free (version);
    free (archive);
    return rc;
}

static int
add_runs (struct source *self, const char *sql, bool orphan, struct ag_err *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc = prepare (self, sql, NULL, &stmt, err);
    while (!rc && (rc = step (self, stmt, err)) > 0) {
        rc = 0;
        if (self->count == RUNS || !column (stmt, 0).p)
            rc = ag_fail (err, AG_E_TOO_LARGE, "%s: a run without an id, or more than %d runs",
                          self->path, RUNS);
        else
            self->runs[self->count++] = (struct run){.id = copy (stmt, 0),
                                                     .parent = copy (stmt, 1),
                                                     .cut = copy (stmt, 2),
                                                     .label = copy (stmt, 3),
                                                     .orphan = orphan};
    }
    sqlite3_finalize (stmt);
    return rc;
}

static int
list_runs (struct source *self, struct ag_err *err)
{
    self->runs = ag_xcalloc (RUNS, sizeof *self->runs);
    return add_runs (self,
                     "SELECT run_id, parent_run_id, forked_at_event_id, label FROM runs"
                     " ORDER BY created_at, run_id",
                     false, err) ||
                   add_runs (self,
                             "SELECT DISTINCT run_id, NULL, NULL, NULL FROM events"
                             " WHERE run_id NOT IN (SELECT run_id FROM runs)",
                             true, err)
               ? -1
               : 0;
}

/*  Events  */

enum { SEQ, ID, TYPE, PAYLOAD, ACTOR, FRAME, CAUSE, TIME, COLUMNS };

//  The events of a run, the archived ones too, in their order.
static int
open_events (const struct source *self, const char *run, sqlite3_stmt **stmt, struct ag_err *err)
{
#define ROW " seq, id, type, payload, actor, frame_id, caused_by, timestamp FROM events"
    return prepare (self,
                    self->archive ? "SELECT" ROW " WHERE run_id = ?1 UNION ALL SELECT" ROW
                                    "_archive WHERE run_id = ?1 ORDER BY seq"
                                  : "SELECT" ROW " WHERE run_id = ?1 ORDER BY seq",
                    run, stmt, err);
#undef ROW
}

static int
send_event (const struct source *self, sqlite3_stmt *stmt, struct ag_err *err)
{
    struct ag_buf line = {0};
    uint64_t seq = (uint64_t)sqlite3_column_int64 (stmt, SEQ);
    ag_put_map (&line, 7);
    ag_put_pair_or_null (&line, "id", column (stmt, ID));
    ag_put_pair_or_null (&line, "type", column (stmt, TYPE));
    ag_put_pair_or_null (&line, "actor", column (stmt, ACTOR));
    ag_put_pair_or_null (&line, "frame_id", column (stmt, FRAME));
    ag_put_pair_or_null (&line, "caused_by", column (stmt, CAUSE));
    ag_put_pair_or_null (&line, "timestamp", column (stmt, TIME));
    ag_put_lit (&line, "payload");
    int rc = ag_json_read (column (stmt, PAYLOAD), &line, err);
    if (rc)
        ag_wrap (err, "%s: row %" PRIu64 ": payload", self->path, seq);
    else
        rc = ag_feed_line (self->feed, seq, ag_buf_str (&line), err);
    ag_buf_fini (&line);
    return rc;
}

static int
send_events (const struct source *self, sqlite3_stmt *stmt, struct ag_err *err)
{
    int rc;
    while ((rc = step (self, stmt, err)) > 0)
        if (send_event (self, stmt, err))
            return -1;
    return rc;
}

static int
send_run (const struct source *self, const struct run *run, bool fork, struct ag_err *err)
{
    struct ag_buf line = {0};
    ag_put_map (&line, 5);
    ag_put_pair_or_null (&line, "run_id", ag_str (run->id));
    ag_put_pair_or_null (&line, "label",
                         run->label && *run->label ? ag_str (run->label) : (struct ag_str){0});
    ag_put_pair_or_null (&line, "parent_run_id", fork ? ag_str (run->parent) : (struct ag_str){0});
    ag_put_pair_or_null (&line, "forked_at_event_id",
                         fork ? ag_str (run->cut) : (struct ag_str){0});
    ag_put_pair_or_null (&line, "ids", AG_LIT ("continue"));
    int rc = ag_feed_line (self->feed, 0, ag_buf_str (&line), err);
    ag_buf_fini (&line);
    return rc;
}

/*  Lineage  */

static bool
same_event (sqlite3_stmt *a, sqlite3_stmt *b)
{
    for (int i = ID; i < COLUMNS; i++) {
        struct ag_str x = column (a, i), y = column (b, i);
        if (!x.p != !y.p || !ag_str_eq (x, y))
            return false;
    }
    return true;
}

//  Step both through what they share: 1 when the fork's next event is its own, 0 when the copies differ.
static int
skip_shared (const struct source *self, const struct run *run, sqlite3_stmt *fork,
             struct ag_err *err)
{
    sqlite3_stmt *parent = NULL;
    bool shared = true, cut = false;
    int rc = open_events (self, run->parent, &parent, err) ? -1 : 0;
    while (!rc && shared && !cut) {
        int a = step (self, parent, err), b = a < 0 ? -1 : step (self, fork, err);
        rc = a < 0 || b < 0 ? -1 : 0;
        shared = a > 0 && b > 0 && same_event (parent, fork);
        cut = shared && ag_str_is (column (parent, ID), run->cut);
    }
    sqlite3_finalize (parent);
    return rc ? -1 : cut;
}

static bool
was_sent (const struct source *self, const char *id)
{
    for (size_t i = 0; i < self->count; i++)
        if (self->runs[i].sent && !strcmp (self->runs[i].id, id))
            return true;
    return false;
}

static void
say_root (const struct source *self, const struct run *run, const char *why)
{
    ag_client_remark (self->feed->client,
                      "run %s was a fork of %s at %s; %s, so it is a run of its own", run->id,
                      run->parent, run->cut ? run->cut : "no event", why);
}

static int
take_run (struct source *self, struct run *run, struct ag_err *err)
{
    sqlite3_stmt *events = NULL;
    bool known = run->parent && was_sent (self, run->parent);
    int fork = 0, rc = open_events (self, run->id, &events, err);
    if (!rc && known && run->cut && (fork = skip_shared (self, run, events, err)) < 0)
        rc = -1;
    if (!rc && !fork) {
        sqlite3_reset (events);
        if (run->parent)
            say_root (self, run, known ? "their events differ up to there" : "that is not there");
        if (run->orphan)
            ag_client_remark (self->feed->client, "run %s has events and no row in the catalogue",
                              run->id);
    }
    if (!rc)
        rc = send_run (self, run, fork > 0, err) || send_events (self, events, err) ? -1 : 0;
    sqlite3_finalize (events);
    run->sent = true;
    return rc;
}

static bool
is_due (const struct source *self, const struct run *run)
{
    if (!run->parent || was_sent (self, run->parent))
        return true;
    for (size_t i = 0; i < self->count; i++)
        if (!strcmp (self->runs[i].id, run->parent))
            return false;
    return true; //  nobody to wait for
}

//  Parents first; what is left when no run is due is a ring, and broken at its first.
static int
take_runs (struct source *self, struct ag_err *err)
{
    for (size_t done = 0; done < self->count;) {
        size_t before = done;
        for (size_t i = 0; i < self->count; i++) {
            struct run *run = &self->runs[i];
            if (run->sent || !is_due (self, run))
                continue;
            if (take_run (self, run, err))
                return -1;
            ag_client_progress (self->feed->client, "%zu of %zu runs, %" PRIu64 " events", ++done,
                                self->count, self->feed->events);
        }
        for (size_t i = 0; done == before && i < self->count; i++)
            if (!self->runs[i].sent && (++done, take_run (self, &self->runs[i], err)))
                return -1;
    }
    return 0;
}

int
ag_sqlite_feed (struct ag_feed *feed, const char *path, struct ag_err *err)
{
    struct source self = {.path = path, .feed = feed};
    int rc = open_db (&self, err) || check_schema (&self, err) || list_runs (&self, err) ||
                     take_runs (&self, err)
                 ? -1
                 : 0;
    ag_client_progress (feed->client, NULL);
    for (size_t i = 0; i < self.count; i++) {
        free (self.runs[i].id);
        free (self.runs[i].parent);
        free (self.runs[i].cut);
        free (self.runs[i].label);
    }
    free (self.runs);
    sqlite3_close (self.db);
    return rc;
}
