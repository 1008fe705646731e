//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/retention_test.h"
#include "supervisor/store_impl.h"

/*  What the reference gets wrong  */

static void
a_parent_that_promoted_a_fork_is_compacted_and_both_go_on (void **state) //  9.2-3
{
    struct core *self = *state;
    uint64_t run = history (self), fork = core_fork (self, run);
    for (int round = 0; round < 3; round++) {
        char ops[100];
        snprintf (ops, sizeof ops, "[{'op':'patch_object','id':'task#1','data':{'round':%d}}]",
                  round);
        core_apply (self, fork, ops);
        promote (self, fork);
        compact (self, run);
        compact (self, fork);
    }
    assert_non_null (strstr (objects (self, run), "'round':2"));
    core_sound (self, run);
    core_sound (self, fork);
}

static void
archiving_again_loses_nothing_and_mints_nothing_again (void **state) //  9.2-13
{
    struct core *self = *state;
    uint64_t run = history (self);
    struct ag_buf before = log_of (self, run);
    uint64_t tip = core_tip (self, run);
    compact (self, run);
    uint64_t marker = core_tip (self, run);
    assert_int_equal (snapshot (self, run), marker); //  nothing new: no new marker
    assert_int_equal (archive (self, run), tip);
    core_apply (self, run, "[{'op':'add_object','type':'task'}]");
    assert_int_equal (core_tip (self, run), marker + 1);
    compact (self, run);
    compact (self, run);
    struct ag_buf after = {0};
    must (self, ag_journal_scan (self->journal, core_run (self, run), 0, tip, add_line, &after,
                                 &self->err));
    assert_same (&before, &after);
    assert_int_equal (logged (self, run), 1);
    core_sound (self, run);
}

static void
a_fork_of_a_compacted_run_is_sound_before_and_after_its_own_snapshot (void **state) //  9.2-14
{
    struct core *self = *state;
    uint64_t run = history (self);
    compact (self, run);
    uint64_t fork = core_fork (self, run);
    core_apply (self, fork, "[{'op':'patch_object','id':'task#1','data':{'x':1}}]");
    core_sound (self, fork);
    compact (self, fork);
    core_sound (self, fork);
    uint64_t below = core_fork (self, fork);
    core_apply (self, below, "[{'op':'remove_object','id':'task#2'}]");
    compact (self, below);
    core_sound (self, below);
}

/*  The archive  */

static void
every_event_reads_the_same_from_the_log_and_from_the_archive (void **state)
{
    struct core *self = *state;
    uint64_t run = history (self);
    struct ag_buf log = log_of (self, run), stream = stream_of (self);
    uint64_t tip = core_tip (self, run);
    compact (self, run);
    struct ag_buf after = {0};
    must (self, ag_journal_scan (self->journal, core_run (self, run), 0, tip, add_line, &after,
                                 &self->err));
    assert_same (&log, &after);
    after = stream_of (self);
    assert_true (after.n > stream.n && !memcmp (after.p, stream.p, stream.n));
    ag_buf_fini (&after);
    ag_buf_fini (&stream);
}

static int released; //  times that the room of events was asked back

static void
count_release (ag_store_t *self, enum ag_table table)
{
    (void)self;
    released += table == AG_EVENT;
}

static void
the_room_of_archived_events_is_asked_back_once_when_all_have_moved (void **state)
{
    struct core *self = *state;
    uint64_t run = history (self);
    const struct ag_store_ops *whole = self->store->ops;
    struct ag_store_ops counting = *whole;
    struct ag_retained retained;
    counting.release = count_release;
    self->store->ops = &counting;
    released = 0;
    snapshot (self, run);
    assert_int_equal (
        ag_archive_step (self->journal, core_run (self, run), 1, &retained, &self->err), 1);
    core_commit (self);
    assert_int_equal (released, 0);
    archive (self, run);
    assert_int_equal (released, 1);
    self->store->ops = whole;
}

//  Points across the ends of chunks and versions, read before and after.
static void
every_past_point_reads_the_same_over_an_archive (void **state)
{
    struct core *self = *state;
    uint64_t run = history (self);
    uint64_t tip = core_tip (self, run);
    struct ag_buf before = {0}, after = {0};
    for (uint64_t at = 1; at <= tip; at += 97)
        ag_buf_text (&before, "%s\n", state_text (self, run, at));
    compact (self, run);
    for (uint64_t at = 1; at <= tip; at += 97)
        ag_buf_text (&after, "%s\n", state_text (self, run, at));
    assert_same (&before, &after);
}

//  The second chunk of a run: its key, and the events it holds.
static struct ag_key
second_chunk (struct core *self, uint64_t run, uint64_t *first, uint64_t *last)
{
    struct ag_key from, found = {0};
    struct ag_str key, value;
    ag_key_of_run (&from, 'a', run);
    struct ag_key to = ag_key_end (&from);
    ag_scan_t *scan = ag_store_scan (self->store, AG_BLOB, ag_key_str (&from), ag_key_str (&to));
    for (int i = 0; i < 2; i++)
        assert_int_equal (ag_scan_next (scan, &key, &value, &self->err), 1);
    memcpy (found.p, key.p, key.n);
    found.n = key.n;
    *first = ag_be64 (value.p);
    *last = ag_key_last_number (key);
    ag_scan_destroy (&scan);
    return found;
}

static void
a_flipped_byte_in_a_chunk_is_found_and_its_events_are_named (void **state)
{
    struct core *self = *state;
    struct ag_verify found;
    struct ag_buf hold = {0};
    struct ag_event event;
    uint64_t run = history (self), first, last;
    char says[100];
    compact (self, run);
    struct ag_key key = second_chunk (self, run, &first, &last);
    assert_true (first > 500 && last > first + 500);
    flip (self, AG_BLOB, ag_key_str (&key), 200);
    snprintf (says, sizeof says, "events %d to %d of run r1 cannot be unpacked", (int)first,
              (int)last);
    if (!strstr (core_verify (self, run, &found), says))
        fail_msg ("`%s` does not say `%s`", found.reason, says);
    assert_int_equal (found.first_bad, first);
    refuses (self,
             ag_journal_read (self->journal, core_run (self, run), last, &hold, &event, &self->err),
             AG_E_CORRUPT, says);
    must (self, ag_journal_read (self->journal, core_run (self, run), last + 1, &hold, &event,
                                 &self->err));
    ag_buf_fini (&hold);
}

static void
what_is_rolled_back_was_never_archived (void **state)
{
    struct core *self = *state;
    struct ag_retained retained;
    uint64_t run = history (self);
    struct ag_buf before = log_of (self, run);
    uint64_t tip = core_tip (self, run);
    snapshot (self, run);
    struct ag_mark mark = ag_journal_mark (self->journal);
    assert_int_equal (
        ag_archive_step (self->journal, core_run (self, run), 2, &retained, &self->err), 1);
    ag_journal_rollback (self->journal, &mark);
    assert_int_equal (logged (self, run), tip + 1);
    struct ag_buf after = {0};
    must (self, ag_journal_scan (self->journal, core_run (self, run), 0, tip, add_line, &after,
                                 &self->err));
    assert_same (&before, &after);
    compact (self, run);
    core_sound (self, run);
}

static void
large_events_are_archived_too (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "");
    char *large = ag_xmalloc (900001), *ops = NULL;
    for (int i = 0; i < 4; i++) {
        memset (large, 'a' + i, 900000);
        large[900000] = 0;
        ops = ag_xprintf ("[{'op':'add_object','type':'page','data':{'text':'%s'}}]", large);
        core_apply (self, run, ops);
        free (ops);
    }
    char *before = ag_xstrdup (objects (self, run));
    compact (self, run);
    assert_int_equal (logged (self, run), 1);
    assert_string_equal (objects (self, run), before);
    core_sound (self, run);
    free (before);
    free (large);
}

static void
without_a_snapshot_there_is_nothing_to_archive_and_without_events_no_snapshot (void **state)
{
    struct core *self = *state;
    struct ag_retained retained;
    struct ag_snapshot snapshot = {0};
    uint64_t run = core_root (self, ""), marker;
    refuses (self, ag_archive_step (self->journal, core_run (self, run), 1, &retained, &self->err),
             AG_E_USAGE, "has no snapshot yet");
    refuses (
        self,
        ag_snapshot_step (self->journal, core_run (self, run), 1, &snapshot, &marker, &self->err),
        AG_E_USAGE, "has no events yet");
}

//  A client that sees no progress gives up.
static void
every_step_of_a_snapshot_but_the_last_takes_something (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, ""), marker, taken = 0;
    core_append (self, run, "said", "{}");
    struct ag_snapshot step = {0};
    assert_int_equal (
        ag_snapshot_step (self->journal, core_run (self, run), 1, &step, &marker, &self->err), 0);
    assert_int_equal (marker, 2);
    ag_snapshot_fini (&step);
    core_apply (self, run,
                "[{'op':'add_object','type':'a','as':'a'},{'op':'add_object','type':'a','as':'b'},"
                " {'op':'add_relation','source':'@a','target':'@b','type':'r'}]");
    for (;;) {
        struct ag_snapshot next = {0};
        int rc =
            ag_snapshot_step (self->journal, core_run (self, run), 1, &next, &marker, &self->err);
        uint64_t now = next.objects + next.relations;
        ag_snapshot_fini (&next);
        must (self, rc < 0);
        if (rc == 0)
            break;
        assert_true (now > taken);
        taken = now;
    }
    assert_int_equal (taken, 3);
    core_sound (self, run);
}

//  The run works on between the steps: the snapshot is of the point where it began.
static void
a_snapshot_of_a_running_run_is_of_the_point_where_it_began (void **state)
{
    struct core *self = *state;
    struct ag_snapshot step = {0};
    uint64_t run = history (self), tip = core_tip (self, run), marker;
    assert_int_equal (
        ag_snapshot_step (self->journal, core_run (self, run), 1, &step, &marker, &self->err), 1);
    ag_snapshot_fini (&step);
    core_apply (self, run,
                "[{'op':'remove_object','id':'task#2'},{'op':'add_object','type':'task'}]");
    marker = snapshot (self, run);
    struct ag_buf hold = {0};
    struct ag_event event;
    struct ag_str covers;
    char text[AG_EVT_TEXT];
    ag_evt_text (tip, text);
    must (self,
          ag_journal_read (self->journal, core_run (self, run), marker, &hold, &event, &self->err));
    must (self, ag_map_text (event.payload, "covers_through", &covers));
    assert_true (ag_str_is (covers, text));
    assert_int_equal (archive (self, run), tip);
    ag_buf_fini (&hold);
    core_sound (self, run);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (a_parent_that_promoted_a_fork_is_compacted_and_both_go_on),
        core_test (archiving_again_loses_nothing_and_mints_nothing_again),
        core_test (a_fork_of_a_compacted_run_is_sound_before_and_after_its_own_snapshot),
        core_test (every_event_reads_the_same_from_the_log_and_from_the_archive),
        core_test (the_room_of_archived_events_is_asked_back_once_when_all_have_moved),
        core_test (every_past_point_reads_the_same_over_an_archive),
        core_test (a_flipped_byte_in_a_chunk_is_found_and_its_events_are_named),
        core_test (what_is_rolled_back_was_never_archived),
        core_test (large_events_are_archived_too),
        core_test (without_a_snapshot_there_is_nothing_to_archive_and_without_events_no_snapshot),
        core_test (every_step_of_a_snapshot_but_the_last_takes_something),
        core_test (a_snapshot_of_a_running_run_is_of_the_point_where_it_began),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
