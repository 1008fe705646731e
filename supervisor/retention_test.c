//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/retention_test.h"

/*  The reference's cases  */

static void
k_01_a_compacted_run_keeps_its_state_and_goes_on_with_fresh_ids (void **state)
{
    struct core *self = *state;
    uint64_t run = history (self);
    char *before = ag_xstrdup (state_text (self, run, AG_NOW));
    uint64_t tip = core_tip (self, run), marker = snapshot (self, run);
    assert_int_equal (marker, tip + 1);
    assert_int_equal (archive (self, run), tip);
    assert_int_equal (logged (self, run), 1);
    assert_state (self, run, AG_NOW, before);
    core_apply (self, run, "[{'op':'add_object','type':'task','data':{'title':'new'}}]");
    core_again (self);
    assert_non_null (strstr (objects (self, run), "'task#4':{'title':'new'}"));
    core_sound (self, run);
    free (before);
}

static void
k_03_the_state_is_what_the_snapshot_says_and_a_wrong_hash_is_found (void **state)
{
    struct core *self = *state;
    struct ag_verify found;
    struct ag_retained retained;
    uint64_t run = history (self);
    compact (self, run);
    core_sound (self, run);
    must (self, ag_retained_get (ag_journal_batch (self->journal), run, &retained, &self->err));
    retained.covered--; //  the state of another event than the one that was hashed
    ag_retained_put (ag_journal_batch (self->journal), run, &retained);
    assert_non_null (strstr (core_verify (self, run, &found), "does not have the hash it says"));
    assert_int_equal (found.first_bad, retained.marker);
}

//  The key of the first whole object.
static struct ag_key
first_whole (struct core *self, uint64_t run)
{
    struct ag_key from, found = {0};
    struct ag_str key, value;
    ag_key_of_run (&from, 'O', run);
    struct ag_key to = ag_key_end (&from);
    ag_scan_t *scan = ag_store_scan (self->store, AG_VERSION, ag_key_str (&from), ag_key_str (&to));
    assert_int_equal (ag_scan_next (scan, &key, &value, &self->err), 1);
    memcpy (found.p, key.p, key.n);
    found.n = key.n;
    ag_scan_destroy (&scan);
    return found;
}

static void
k_04_what_is_whole_and_was_changed_is_found (void **state)
{
    struct core *self = *state;
    struct ag_verify found;
    uint64_t run = core_root (self, "");
    core_apply (self, run, "[{'op':'add_object','type':'task','data':{'title':'base'}}]");
    compact (self, run);
    struct ag_buf value = {0};
    struct ag_key key = first_whole (self, run);
    ag_store_get (self->store, AG_VERSION, ag_key_str (&key), &value, &self->err);
    const char *at = memmem (value.p, value.n, "base", 4);
    size_t from_end = value.n - (size_t)(at - (const char *)value.p);
    ag_buf_fini (&value);
    flip (self, AG_VERSION, ag_key_str (&key), from_end);
    assert_non_null (strstr (objects (self, run), "'case'")); //  it is what a read believes
    assert_non_null (strstr (core_verify (self, run, &found),
                             "what is whole of `task#1` is not what event 1 says"));
}

static void
k_05_a_fork_below_the_horizon_and_one_at_the_tip_see_what_was_there (void **state)
{
    struct core *self = *state;
    uint64_t run = history (self);
    static const uint64_t cuts[] = {1, 5, 11, 300, 999, 1000, 1001, 2047, 3000};
    char *then[sizeof cuts / sizeof *cuts];
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++)
        then[i] = ag_xstrdup (state_text (self, run, cuts[i]));
    compact (self, run);
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        uint64_t fork = core_fork_at (self, run, cuts[i]);
        assert_state (self, fork, AG_NOW, then[i]);
        core_apply (self, fork, "[{'op':'patch_object','id':'task#1','data':{'mine':true}}]");
        core_sound (self, fork);
        free (then[i]);
    }
    uint64_t fork = core_fork (self, run);
    char *now = ag_xstrdup (state_text (self, run, AG_NOW));
    assert_state (self, fork, AG_NOW, now);
    free (now);
}

static struct ag_buf
kept (struct core *self, uint64_t run)
{
    struct ag_buf out = {0};
    uint32_t count = 0;
    size_t list = ag_open_list (&out);
    must (self, ag_kept_write (self->journal, core_run (self, run), &out, &count, &self->err));
    ag_close (&out, list, count);
    return out;
}

static void
assert_kept (struct core *self, uint64_t run, const char *expected)
{
    struct ag_buf out = kept (self, run);
    assert_string_equal (json_of (self, ag_buf_str (&out)), expected);
    ag_buf_fini (&out);
}

static void
k_06_a_promoted_fork_says_so_and_is_archived_and_read_all_the_same (void **state)
{
    struct core *self = *state;
    uint64_t run = base (self), fork = core_fork (self, run);
    core_apply (self, fork, "[{'op':'patch_object','id':'task#1','data':{'x':1}}]");
    promote (self, fork);
    struct ag_buf before = log_of (self, fork);
    assert_kept (self, fork, "[{'reason':'promoted-from','run':'r1','event':'evt_006'}]");
    assert_kept (self, run, "[{'reason':'live-lineage','run':'r2','event':'evt_005'}]");
    uint64_t tip = core_tip (self, fork);
    compact (self, fork);
    must (self, ag_discard (self->journal, core_run (self, fork), &self->err));
    assert_kept (self, fork, "[{'reason':'promoted-from','run':'r1','event':'evt_006'}]");
    assert_kept (self, run, "[]");
    struct ag_buf after = {0};
    must (self, ag_journal_scan (self->journal, core_run (self, fork), 0, tip, add_line, &after,
                                 &self->err));
    assert_same (&before, &after);
    core_sound (self, fork);
}

static void
k_07_a_fork_that_nobody_needs_moves_whole_and_its_parent_is_untouched (void **state)
{
    struct core *self = *state;
    uint64_t run = base (self), fork = core_fork (self, run);
    core_apply (self, fork, "[{'op':'patch_object','id':'task#1','data':{'x':1}}]");
    uint64_t own = logged (self, run);
    must (self, ag_discard (self->journal, core_run (self, fork), &self->err));
    assert_kept (self, fork, "[]");
    uint64_t tip = core_tip (self, fork);
    compact (self, fork);
    assert_int_equal (logged (self, fork), 1);
    assert_int_equal (core_tip (self, fork), tip + 1);
    assert_int_equal (logged (self, run), own);
    core_sound (self, run);
    core_sound (self, fork);
}

static void
k_08_a_parent_goes_on_while_its_fork_is_discarded (void **state)
{
    struct core *self = *state;
    uint64_t run = base (self), fork = core_fork (self, run);
    assert_kept (self, run, "[{'reason':'live-lineage','run':'r2','event':'evt_005'}]");
    must (self, ag_discard (self->journal, core_run (self, fork), &self->err));
    core_apply (self, run, "[{'op':'add_object','type':'task'}]");
    core_again (self);
    assert_kept (self, run, "[]");
    core_sound (self, run);
}

static void
k_09_a_parent_with_a_live_fork_is_compacted_and_the_fork_sees_its_cut (void **state)
{
    struct core *self = *state;
    uint64_t run = history (self), fork = core_fork_at (self, run, 1500);
    core_apply (self, fork, "[{'op':'patch_object','id':'task#2','data':{'mine':1}}]");
    char *before = ag_xstrdup (state_text (self, fork, AG_NOW));
    struct ag_buf log = log_of (self, fork);
    compact (self, run);
    assert_state (self, fork, AG_NOW, before);
    struct ag_buf again = log_of (self, fork);
    assert_same (&log, &again);
    core_sound (self, fork);
    refuses (self, ag_discard (self->journal, core_run (self, run), &self->err), AG_E_USAGE,
             "is a root");
    free (before);
}

static void
k_10_a_proposed_patch_says_why_and_can_be_decided_over_a_compacted_past (void **state)
{
    struct core *self = *state;
    uint64_t run = base (self);
    core_apply (self, run, "[{'op':'propose_patch','id':'task#1','data':{'x':1}}]");
    uint64_t event = core_tip (self, run);
    compact (self, run);
    char expected[200];
    snprintf (expected, sizeof expected,
              "[{'reason':'proposed-patches','run':'r1','event':'evt_%03d','id':'patch_001'}]",
              (int)event);
    assert_kept (self, run, expected);
    core_apply (self, run, "[{'op':'apply_patch','patch':'patch_001'}]");
    assert_kept (self, run, "[]");
    assert_non_null (strstr (objects (self, run), "'x':1"));
    core_sound (self, run);
}

//  And the weakness that the reference has here (9.2-2): what was not touched is in no conflict.
static void
k_11_a_fork_of_a_compacted_past_promotes_exactly_its_patch (void **state)
{
    struct core *self = *state;
    uint64_t run = history (self);
    compact (self, run);
    uint64_t fork = core_fork (self, run);
    core_apply (self, fork, "[{'op':'patch_object','id':'task#2','data':{'mine':1}}]");
    uint64_t tip = core_tip (self, run);
    promote (self, fork);
    core_again (self);
    assert_int_equal (core_tip (self, run), tip + 2); //  the marker and one patch
    assert_non_null (strstr (objects (self, run), "'mine':1"));
    core_sound (self, run);
}

/*  Discard  */

static void
a_discarded_fork_frees_its_label_and_reads_by_its_id (void **state)
{
    struct core *self = *state;
    uint64_t run = base (self);
    struct ag_birth birth = {.kind = AG_FORK, .label = AG_LIT ("try")};
    struct ag_run *fork, *found;
    must (self, ag_fork (self->journal, core_run (self, run), 5, &birth, &fork, &self->err));
    uint64_t first = fork->number;
    core_apply (self, first, "[{'op':'patch_object','id':'task#1','data':{'x':1}}]");
    uint64_t below = core_fork (self, first);
    refuses (self, ag_discard (self->journal, core_run (self, first), &self->err), AG_E_KEPT,
             "run r2 has forks of its own: r3");
    must (self, ag_discard (self->journal, core_run (self, below), &self->err));
    must (self, ag_discard (self->journal, core_run (self, first), &self->err));
    core_again (self);
    refuses (self, ag_run_find (self->journal, AG_LIT ("try"), &found, &self->err), AG_E_NOT_FOUND,
             "try");
    must (self, ag_run_find (self->journal, AG_LIT ("r2"), &found, &self->err));
    refuses (self, ag_discard_check (found, &self->err), AG_E_DISCARDED, "r2");
    uint64_t tip = found->head.tip;
    must (self, ag_discard (self->journal, found, &self->err));
    assert_int_equal (core_tip (self, first), tip);
    must (self, ag_fork (self->journal, core_run (self, run), 5, &birth, &fork, &self->err));
    core_again (self);
    must (self, ag_run_find (self->journal, AG_LIT ("try"), &found, &self->err));
    assert_string_equal (found->id, "r4");
    assert_non_null (strstr (objects (self, first), "'x':1"));
    core_sound (self, first);
}

//  Within one turn, so that what an open run says of itself is asked too, and not only its record.
static void
a_discard_is_seen_at_once_and_taken_back_with_its_request (void **state)
{
    struct core *self = *state;
    uint64_t run = base (self);
    struct ag_birth birth = {.kind = AG_FORK, .label = AG_LIT ("try")};
    struct ag_run *fork, *other, *found;
    must (self, ag_fork (self->journal, core_run (self, run), 5, &birth, &fork, &self->err));
    must (self, ag_run_find (self->journal, AG_LIT ("try"), &found, &self->err));
    struct ag_mark mark = ag_journal_mark (self->journal);
    must (self, ag_discard (self->journal, found, &self->err));
    refuses (self, ag_discard_check (found, &self->err), AG_E_DISCARDED, fork->id);
    refuses (self, ag_run_find (self->journal, AG_LIT ("try"), &other, &self->err), AG_E_NOT_FOUND,
             "try");
    ag_journal_rollback (self->journal, &mark);
    must (self, ag_discard_check (fork, &self->err));
    must (self, ag_run_find (self->journal, AG_LIT ("try"), &found, &self->err));
    assert_ptr_equal (found, fork);
    must (self, ag_discard (self->journal, found, &self->err));
    must (self, ag_fork (self->journal, core_run (self, run), 5, &birth, &other, &self->err));
    must (self, ag_run_find (self->journal, AG_LIT ("try"), &found, &self->err));
    assert_ptr_equal (found, other);
}

static void
an_unfinished_snapshot_is_no_corruption (void **state)
{
    struct core *self = *state;
    struct ag_snapshot begun = {0};
    uint64_t run = core_root (self, ""), marker;
    core_apply (self, run, "[{'op':'add_object','type':'task'}]");
    int rc = ag_snapshot_step (self->journal, core_run (self, run), 3, &begun, &marker, &self->err);
    assert_int_equal (rc, 1);
    ag_snapshot_fini (&begun);
    core_sound (self, run);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (k_01_a_compacted_run_keeps_its_state_and_goes_on_with_fresh_ids),
        core_test (k_03_the_state_is_what_the_snapshot_says_and_a_wrong_hash_is_found),
        core_test (k_04_what_is_whole_and_was_changed_is_found),
        core_test (k_05_a_fork_below_the_horizon_and_one_at_the_tip_see_what_was_there),
        core_test (k_06_a_promoted_fork_says_so_and_is_archived_and_read_all_the_same),
        core_test (k_07_a_fork_that_nobody_needs_moves_whole_and_its_parent_is_untouched),
        core_test (k_08_a_parent_goes_on_while_its_fork_is_discarded),
        core_test (k_09_a_parent_with_a_live_fork_is_compacted_and_the_fork_sees_its_cut),
        core_test (k_10_a_proposed_patch_says_why_and_can_be_decided_over_a_compacted_past),
        core_test (k_11_a_fork_of_a_compacted_past_promotes_exactly_its_patch),
        core_test (an_unfinished_snapshot_is_no_corruption),
        core_test (a_discarded_fork_frees_its_label_and_reads_by_its_id),
        core_test (a_discard_is_seen_at_once_and_taken_back_with_its_request),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
