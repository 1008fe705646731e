/*  retention_test - a run with a long past, snapshots and archives of it, and what is compared before and after.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_RETENTION_TEST_H
#define AG_RETENTION_TEST_H
#include "supervisor/retention.h"
#include "supervisor/core_state_test.h"
#include "supervisor/key.h"
#include "supervisor/promote_test.h"
#include "supervisor/verify_test.h"

//  A whole snapshot, a few entities at a time, each step in a turn of its own; its marker.
static inline uint64_t
snapshot (struct core *self, uint64_t run)
{
    uint64_t marker;
    int rc;
    do {
        struct ag_snapshot snapshot = {0};
        rc = ag_snapshot_step (self->journal, core_run (self, run), 3, &snapshot, &marker,
                               &self->err);
        ag_snapshot_fini (&snapshot);
        must (self, rc < 0);
        core_again (self);
    } while (rc > 0);
    return marker;
}

//  The archive of everything that the newest snapshot covers, one chunk a turn; how far it goes.
static inline uint64_t
archive (struct core *self, uint64_t run)
{
    struct ag_retained retained;
    int rc;
    do {
        rc = ag_archive_step (self->journal, core_run (self, run), 1, &retained, &self->err);
        must (self, rc < 0);
        core_again (self);
    } while (rc > 0);
    assert_int_equal (retained.archived, retained.covered);
    return retained.archived;
}

static inline void
compact (struct core *self, uint64_t run)
{
    snapshot (self, run);
    archive (self, run);
}

static inline uint64_t
logged (struct core *self, uint64_t run)
{
    struct ag_key from;
    struct ag_str key, value;
    uint64_t count = 0;
    core_commit (self);
    ag_key_of_run (&from, 'v', run);
    struct ag_key to = ag_key_end (&from);
    ag_scan_t *scan = ag_store_scan (self->store, AG_EVENT, ag_key_str (&from), ag_key_str (&to));
    while (ag_scan_next (scan, &key, &value, &self->err) > 0)
        count++;
    ag_scan_destroy (&scan);
    return count;
}

static inline bool
add_line (void *arg, const struct ag_event *event)
{
    ag_event_write (event, "run", NULL, arg);
    return true;
}

//  The whole log of a run as people see it, stream numbers included.
static inline struct ag_buf
log_of (struct core *self, uint64_t run)
{
    struct ag_buf out = {0};
    must (self, ag_journal_scan (self->journal, core_run (self, run), 0, AG_NOW, add_line, &out,
                                 &self->err));
    return out;
}

static inline struct ag_buf
stream_of (struct core *self)
{
    struct ag_buf out = {0};
    core_commit (self);
    must (self, ag_stream_scan (self->journal, 0, add_line, &out, &self->err));
    return out;
}

static inline void
assert_same (struct ag_buf *a, struct ag_buf *b)
{
    assert_true (ag_str_eq (ag_buf_str (a), ag_buf_str (b)));
    ag_buf_fini (a);
    ag_buf_fini (b);
}

//  Objects, patches past a whole version, relations, a removal: more than three chunks of events.
static inline uint64_t
history (struct core *self)
{
    uint64_t run = core_root (self, "main");
    char ops[200];
    core_apply (self, run,
                "[{'op':'add_object','type':'task','data':{'title':'base'}},"
                " {'op':'add_object','type':'task','data':{'title':'other'}},"
                " {'op':'add_object','type':'note','data':{'text':'gone'}},"
                " {'op':'add_relation','source':'task#1','target':'task#2','type':'before'},"
                " {'op':'add_relation','source':'note#3','target':'task#2','type':'about'},"
                " {'op':'remove_object','id':'note#3'}]");
    for (int i = 0; i < 3100; i++) {
        snprintf (ops, sizeof ops,
                  "[{'op':'patch_object','id':'task#%d','data':{'n%d':%d,'of':'%0*d'}}]", 1 + i % 2,
                  i % 5, i, i % 40, 7);
        core_apply (self, run, ops);
    }
    core_commit (self);
    return run;
}

static inline const char *
state_text (struct core *self, uint64_t run, uint64_t at)
{
    static char text[20000];
    size_t n = (size_t)snprintf (text, sizeof text, "%s", core_state (self, run, AG_OBJECT, at));
    snprintf (text + n, sizeof text - n, "%s", core_state (self, run, AG_RELATION, at));
    return text;
}

static inline void
assert_state (struct core *self, uint64_t run, uint64_t at, const char *expected)
{
    assert_string_equal (state_text (self, run, at), expected);
}

//  Change one stored value behind the journal's back.
static inline void
flip (struct core *self, enum ag_table table, struct ag_str key, size_t from_end)
{
    struct ag_buf value = {0};
    core_commit (self);
    ag_journal_destroy (&self->journal);
    assert_int_equal (ag_store_get (self->store, table, key, &value, &self->err), 1);
    value.p[value.n - from_end] ^= 1;
    struct ag_write write = {table, key, ag_buf_str (&value)};
    must (self, ag_store_write (self->store, &write, 1, &self->err));
    ag_buf_fini (&value);
    core_begin (self);
}
#endif
