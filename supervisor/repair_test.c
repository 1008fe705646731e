//  Homes with archived runs; damage in any file is drawn in tests/faults/home_damage.c.
//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/repair.h"
#include "common/home.h"
#include "common/tree.h"
#include "supervisor/retention_test.h"

struct bench {
    struct core core; //  first: tests of the floors below take it as theirs
    char dir[40], old[48], fresh[48];
    struct ag_buf report;
};

static void
open_home (struct bench *self, const char *home)
{
    struct core *core = &self->core;
    char *data = ag_xprintf ("%s/data", home);
    core->store = ag_store_rocks_new (data, &core->err);
    if (!core->store)
        fail_msg ("%s", core->err.text);
    core_begin (core);
    free (data);
}

static void
close_home (struct bench *self)
{
    if (self->core.journal)
        core_commit (&self->core);
    ag_journal_destroy (&self->core.journal);
    ag_store_destroy (&self->core.store);
}

static int
open_bench (void **state)
{
    struct bench *self = ag_xcalloc (1, sizeof *self);
    strcpy (self->dir, "/tmp/agsup-repair-XXXXXX");
    assert_non_null (mkdtemp (self->dir));
    snprintf (self->old, sizeof self->old, "%s/old", self->dir);
    snprintf (self->fresh, sizeof self->fresh, "%s/fresh", self->dir);
    self->core.time_us = CORE_TIME;
    must (&self->core, ag_home_make (self->old, &self->core.err));
    open_home (self, self->old);
    *state = self;
    return 0;
}

static int
close_bench (void **state)
{
    struct bench *self = *state;
    close_home (self);
    ag_tree_remove (self->dir);
    ag_buf_fini (&self->report);
    ag_buf_fini (&self->core.text);
    free (self);
    return 0;
}

//  The open home is closed and repaired, and the new one is open.
static void
repair (struct bench *self)
{
    close_home (self);
    must (&self->core, ag_repair (self->old, self->fresh, &self->report, &self->core.err));
    open_home (self, self->fresh);
}

static const char *
reported (struct bench *self, const char *key)
{
    struct ag_str value;
    assert_int_equal (ag_map_get (ag_buf_str (&self->report), key, &value), 0);
    return json_of (&self->core, value);
}

//  Gone, behind the journal's back.
static void
lose_key (struct bench *self, enum ag_table table, const struct ag_key *key)
{
    ag_batch_delete (ag_journal_batch (self->core.journal), table, ag_key_str (key));
    core_commit (&self->core);
}

//  A chunk by its number, and the events it holds.
static struct ag_key
chunk (struct bench *self, uint64_t run, int number, uint64_t *first, uint64_t *last)
{
    struct ag_key from, found = {0};
    struct ag_str key, value;
    ag_key_of_run (&from, 'a', run);
    struct ag_key to = ag_key_end (&from);
    ag_scan_t *scan =
        ag_store_scan (self->core.store, AG_BLOB, ag_key_str (&from), ag_key_str (&to));
    for (int i = 0; i <= number; i++)
        assert_int_equal (ag_scan_next (scan, &key, &value, &self->core.err), 1);
    memcpy (found.p, key.p, key.n);
    found.n = key.n;
    *first = ag_be64 (value.p);
    *last = ag_key_last_number (key);
    ag_scan_destroy (&scan);
    return found;
}

static void
an_archived_run_is_whole_in_the_new_home_and_can_be_archived_again (void **state)
{
    struct bench *self = *state;
    struct core *core = &self->core;
    uint64_t run = history (core);
    compact (core, run);
    uint64_t fork = core_fork_at (core, run, 700); //  below the horizon
    core_apply (core, fork, "[{'op':'add_object','type':'n','id':'mine'}]");
    compact (core, fork);
    promote (core, fork);
    core_apply (core, run, "[{'op':'patch_object','id':'task#1','data':{'late':1}}]");
    core_again (core);
    uint64_t tip = core_tip (core, run);
    struct ag_buf logs[2] = {log_of (core, run), log_of (core, fork)}, stream = stream_of (core);
    assert_true (logged (core, run) < 20);
    repair (self);
    assert_string_equal (reported (self, "ok"), "true");
    assert_string_equal (reported (self, "events_lost"), "0");
    assert_int_equal (logged (core, run), tip);
    struct ag_buf after[3] = {log_of (core, run), log_of (core, fork), stream_of (core)};
    assert_same (&logs[0], &after[0]);
    assert_same (&logs[1], &after[1]);
    assert_same (&stream, &after[2]);
    core_sound (core, run);
    core_sound (core, fork);
    compact (core, run);
    core_sound (core, run);
    core_sound (core, fork);
}

//  How a chunk may be lost, and what is said then.
static void
lose_chunk (struct bench *self, uint64_t run, int number, bool gone, uint64_t *first)
{
    uint64_t last;
    struct ag_key key = chunk (self, run, number, first, &last);
    if (gone)
        lose_key (self, AG_BLOB, &key);
    else
        flip (&self->core, AG_BLOB, ag_key_str (&key), 200);
}

static void
of_a_lost_chunk_what_came_before_it_is_kept_and_the_loss_is_named (void **state)
{
    struct bench *self = *state;
    struct core *core = &self->core;
    for (int gone = 0; gone < 2; gone++) {
        uint64_t first, run = history (core), low = core_fork_at (core, run, 20),
                        high = core_fork_at (core, run, 2000);
        char rows[600];
        struct ag_run *none;
        core_apply (core, low, "[{'op':'add_object','type':'n','id':'low'}]");
        compact (core, run);
        lose_chunk (self, run, 1, gone, &first);
        assert_true (first > 500 && first < 2000);
        repair (self);
        assert_string_equal (reported (self, "ok"), "false");
        snprintf (rows, sizeof rows,
                  "[{'run':'r1','label':'main','events':%d,'first_lost':'evt_%d',"
                  "'reason':'%s",
                  (int)first - 1, (int)first, gone ? "it is missing'}," : "events ");
        assert_int_equal (strncmp (reported (self, "runs"), rows, strlen (rows)), 0);
        snprintf (rows, sizeof rows,
                  "{'run':'r3','label':'','events':0,'first_lost':'evt_2001',"
                  "'reason':'its parent r1 is not kept up to event 2000'}]");
        assert_non_null (strstr (reported (self, "runs"), rows));
        assert_int_equal (core_tip (core, run), first - 1);
        core_sound (core, run);
        core_sound (core, low);
        refuses (core, ag_run_get (core->journal, high, &none, &core->err), AG_E_NOT_FOUND, "r3");
        close_home (self);
        ag_tree_remove (self->old);
        ag_tree_remove (self->fresh);
        ag_buf_clear (&self->report);
        must (core, ag_home_make (self->old, &core->err));
        open_home (self, self->old);
    }
}

//  Neither the head nor a logged event tells that there was more: only a later chunk does.
static void
a_hole_in_the_archive_is_told_though_the_head_and_the_log_are_gone (void **state)
{
    struct bench *self = *state;
    struct core *core = &self->core;
    struct ag_key key;
    uint64_t first, run = history (core);
    compact (core, run);
    uint64_t tip = core_tip (core, run), kept = tip - logged (core, run);
    for (uint64_t seq = tip; seq > kept; seq--) {
        ag_key_event (&key, run, seq);
        ag_batch_delete (ag_journal_batch (core->journal), AG_EVENT, ag_key_str (&key));
    }
    ag_key_head (&key, run);
    lose_key (self, AG_META, &key);
    lose_chunk (self, run, 1, true, &first);
    repair (self);
    assert_string_equal (reported (self, "ok"), "false");
    assert_non_null (strstr (reported (self, "runs"), "'reason':'it is missing'"));
    assert_int_equal (core_tip (core, run), first - 1);
    core_sound (core, run);
}

//  Nor need it be readable how far the archive goes.
static void
a_run_that_was_half_archived_is_whole (void **state)
{
    struct bench *self = *state;
    struct core *core = &self->core;
    struct ag_key key;
    struct ag_retained retained;
    uint64_t run = history (core);
    snapshot (core, run);
    assert_int_equal (
        ag_archive_step (core->journal, core_run (core, run), 1, &retained, &core->err), 1);
    uint64_t tip = core_tip (core, run);
    ag_key_of_run (&key, 'x', run);
    ag_batch_put (ag_journal_batch (core->journal), AG_META, ag_key_str (&key), AG_LIT ("no"));
    repair (self);
    assert_string_equal (reported (self, "ok"), "true");
    assert_int_equal (core_tip (core, run), tip);
    core_sound (core, run);
}

//  The counters are lost, and no answers follow the last run.
static void
the_next_run_of_the_new_home_is_none_that_was_kept (void **state)
{
    struct bench *self = *state;
    struct core *core = &self->core;
    struct ag_key key;
    core_root (core, "a");
    uint64_t last = core_root (core, "b");
    core_append (core, last, "x", "{}");
    core_append (core, last, "lost", "{}");
    core_commit (core);
    ag_key_event (&key, last, 2);
    ag_batch_delete (ag_journal_batch (core->journal), AG_EVENT, ag_key_str (&key));
    ag_key_journal (&key);
    lose_key (self, AG_META, &key);
    repair (self);
    assert_string_equal (reported (self, "ok"), "false");
    assert_int_equal (core_tip (core, last), 1);
    core_again (core);
    assert_int_equal (core_root (core, "c"), last + 1);
    assert_int_equal (core_tip (core, last), 1);
    core_sound (core, last);
}

int
main (void)
{
#define EACH(test) cmocka_unit_test_setup_teardown (test, open_bench, close_bench)
    const struct CMUnitTest tests[] = {
        EACH (an_archived_run_is_whole_in_the_new_home_and_can_be_archived_again),
        EACH (of_a_lost_chunk_what_came_before_it_is_kept_and_the_loss_is_named),
        EACH (a_hole_in_the_archive_is_told_though_the_head_and_the_log_are_gone),
        EACH (a_run_that_was_half_archived_is_whole),
        EACH (the_next_run_of_the_new_home_is_none_that_was_kept),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
