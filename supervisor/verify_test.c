//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/verify_test.h"
#include "supervisor/core_count_test.h"
#include "supervisor/key.h"
#include "supervisor/promote_test.h"

static void
assert_bad (struct core *self, uint64_t run, uint64_t first_bad, const char *says)
{
    struct ag_verify found;
    if (!strstr (core_verify (self, run, &found), says))
        fail_msg ("`%s` does not say `%s`", found.reason, says);
    assert_int_equal (found.first_bad, first_bad);
}

//  Something of everything: many events, patches past a whole version, forks, a promote, removals.
static uint64_t
history (struct core *self, uint64_t *fork)
{
    uint64_t run = base (self);
    char ops[100];
    for (int i = 0; i < 300; i++) {
        snprintf (ops, sizeof ops, "[{'op':'patch_object','id':'task#1','data':{'n%d':%d}}]", i % 4,
                  i);
        core_apply (self, run, ops);
    }
    *fork = core_fork_at (self, run, 290);
    core_apply (self, *fork,
                "[{'op':'add_object','type':'n','as':'n'},{'op':'add_object','type':'n','as':'m'},"
                " {'op':'add_relation','source':'@n','target':'task#1','type':'r'},"
                " {'op':'add_relation','source':'@n','target':'@m','type':'r'},"
                " {'op':'remove_object','id':'@m'}]");
    promote (self, *fork);
    core_apply (self, *fork, "[{'op':'patch_object','id':'task#1','data':{'x':1}}]");
    core_again (self);
    return run;
}

static void
what_nobody_touched_is_found_whole (void **state)
{
    struct core *self = *state;
    struct ag_verify found;
    struct ag_buf out = {0};
    uint64_t fork, run = history (self, &fork), empty = core_root (self, "");
    assert_string_equal (core_verify (self, run, &found), "");
    assert_int_equal (found.events, core_tip (self, run));
    assert_string_equal (core_verify (self, fork, &found), "");
    assert_int_equal (found.events, core_tip (self, fork) - 290);
    assert_string_equal (core_verify (self, empty, &found), "");
    ag_verify_write (&found, AG_LIT ("notes"), &out);
    assert_string_equal (json_of (self, ag_buf_str (&out)),
                         "{'run':'r3','label':'notes','events':0,'first_bad':null,'reason':null,"
                         "'odd_count':0,'odd':[]}");
    assert_int_equal (ag_journal_count (self->journal), 0);
    ag_buf_fini (&out);
}

//  Change one value behind the journal's back: flip a bit of a byte counted from the end, or delete it.
static void
damage (struct core *self, enum ag_table table, const struct ag_key *key, size_t from_end)
{
    struct ag_buf value = {0};
    core_commit (self);
    ag_journal_destroy (&self->journal);
    assert_int_equal (ag_store_get (self->store, table, ag_key_str (key), &value, &self->err), 1);
    if (from_end)
        value.p[value.n - from_end] ^= 1;
    struct ag_write write = {table, ag_key_str (key),
                             from_end ? ag_buf_str (&value) : (struct ag_str){0}};
    must (self, ag_store_write (self->store, &write, 1, &self->err));
    ag_buf_fini (&value);
    core_begin (self);
}

static void
a_changed_event_is_named (void **state)
{
    struct core *self = *state;
    struct ag_key key;
    uint64_t fork, run = history (self, &fork);
    ag_key_event (&key, run, 100);
    damage (self, AG_EVENT, &key, AG_SEED + 1);
    assert_bad (self, run, 100, "it is not what the chain says");
    damage (self, AG_EVENT, &key, AG_SEED + 1);
    damage (self, AG_EVENT, &key, 1);
    assert_bad (self, run, 100, "it is not what the chain says");
}

static void
a_missing_event_is_named (void **state)
{
    struct core *self = *state;
    struct ag_key key;
    uint64_t fork, run = history (self, &fork);
    ag_key_event (&key, fork, core_tip (self, fork));
    damage (self, AG_EVENT, &key, 0);
    assert_bad (self, fork, 297, "it is missing, and the head stands at 297");
    ag_key_event (&key, run, 257);
    damage (self, AG_EVENT, &key, 0);
    assert_bad (self, run, 257, "it is missing");
}

static void
a_head_a_checkpoint_or_a_base_that_was_changed_is_found (void **state)
{
    struct core *self = *state;
    struct ag_key key;
    uint64_t fork, run = history (self, &fork);
    ag_key_head (&key, run);
    damage (self, AG_META, &key, 8 * AG_USES + AG_HASH + 1); //  the last counter
    assert_bad (self, run, 0, "the head is not what the events say");
    damage (self, AG_META, &key, 8 * AG_USES + AG_HASH + 1);
    ag_key_checkpoint (&key, run, 256);
    damage (self, AG_META, &key, 1);
    assert_bad (self, run, 0, "the checkpoint at event 256");
    assert_bad (self, fork, 0, "it does not go on from its parent's chain at event 290");
}

static void
a_state_index_that_was_changed_is_found (void **state)
{
    struct core *self = *state;
    struct ag_key key;
    uint64_t fork, run = history (self, &fork);
    ag_key_tip (&key, run, AG_OBJECT, AG_LIT ("task#1"));
    damage (self, AG_TIP, &key, 1);
    assert_bad (self, run, 0, "the state index (o) is not what the events say at `task#1`");
    damage (self, AG_TIP, &key, 1);
    ag_key_version (&key, run, AG_OBJECT, AG_LIT ("task#1"), 33);
    damage (self, AG_VERSION, &key, 0);
    assert_bad (self, run, 0, "`task#1`");
    ag_key_of_object (&key, true, fork, AG_LIT ("task#1"));
    ag_key_add_id (&key, AG_LIT ("rel_r2.001"));
    damage (self, AG_INDEX, &key, 0);
    assert_bad (self, fork, 0, "the state index (e) is not what the events say at `task#1`");
}

static void
compact (struct core *self, uint64_t run)
{
    uint64_t marker;
    struct ag_retained retained;
    struct ag_snapshot snapshot = {0};
    int rc = 1;
    while (rc > 0) {
        rc = ag_snapshot_step (self->journal, core_run (self, run), 50, &snapshot, &marker,
                               &self->err);
        ag_snapshot_fini (&snapshot);
    }
    must (self, rc);
    must (self, ag_archive_step (self->journal, core_run (self, run), 8, &retained, &self->err));
}

//  One more of everything that a run does, and now and then its snapshot and its archive.
static void
go_on (struct core *self, uint64_t run, int i)
{
    char ops[400];
    snprintf (
        ops, sizeof ops,
        "[{'op':'add_object','type':'t','id':'n%d'},{'op':'add_object','type':'t','id':'m%d'},"
        "{'op':'add_relation','type':'r','source':'n%d','target':'task#1'},"
        "{'op':'patch_object','id':'task#1','data':{'i':%d}},"
        "{'op':'propose_patch','id':'task#1','data':{'p':%d}},"
        "{'op':'remove_object','id':'m%d'}]",
        i, i, i, i, i, i);
    core_apply (self, run, ops);
    if (i % 8 == 3)
        compact (self, run);
    core_commit (self);
}

//  As core_walk; in every step of the first ones the run goes on.
static void
walk_on (struct core *self, uint64_t run, uint32_t limit, struct ag_verify *verify)
{
    int rc = 1;
    *verify = (struct ag_verify){.run = run, .state = true};
    for (int i = 0; rc > 0; i++) {
        rc = ag_verify_step (self->store, verify, limit, &self->err);
        if (i < 60)
            go_on (self, run, i);
    }
    must (self, rc);
}

static void
a_run_that_goes_on_meanwhile_is_verified_as_far_as_it_was (void **state)
{
    struct core *self = *state;
    struct ag_verify found;
    uint64_t fork, run = history (self, &fork), tip = core_tip (self, run);
    for (uint32_t limit = 12; limit < 100; limit += 23) {
        uint64_t one = core_fork (self, run);
        core_commit (self);
        walk_on (self, one, limit, &found);
        assert_string_equal (found.reason, "");
        assert_int_equal (found.events, 0); //  it had none of its own
        ag_verify_fini (&found);
    }
    walk_on (self, run, 12, &found);
    assert_string_equal (found.reason, "");
    assert_int_equal (found.events, tip);
    assert_true (core_tip (self, run) > tip + 300);
    ag_verify_fini (&found);
    core_sound (self, run);
}

static void
what_is_damaged_is_found_in_a_run_that_goes_on (void **state)
{
    struct core *self = *state;
    struct ag_key key;
    struct ag_verify found;
    uint64_t fork, run = history (self, &fork);
    ag_key_of_object (&key, true, run, AG_LIT ("task#1"));
    ag_key_add_id (&key, AG_LIT ("nobody"));
    ag_batch_put (ag_journal_batch (self->journal), AG_INDEX, ag_key_str (&key),
                  AG_LIT ("12345678"));
    core_commit (self);
    walk_on (self, run, 12, &found);
    assert_string_equal (found.reason,
                         "the state index (e) is not what the events say at `task#1`");
    ag_verify_fini (&found);
}

static void
the_next_run_is_walked_with_nothing_left_of_the_one_before (void **state)
{
    struct core *self = *state;
    struct ag_key key;
    struct ag_verify verify;
    uint64_t fork, run = history (self, &fork);
    ag_key_of_object (&key, true, fork, AG_LIT ("task#1"));
    ag_key_add_id (&key, AG_LIT ("rel_r2.001"));
    damage (self, AG_INDEX, &key, 0);
    core_walk (self, fork, &verify);
    assert_string_not_equal (verify.reason, "");
    ag_journal_t *journal = verify.journal;
    ag_verify_next (&verify, run);
    assert_int_equal (ag_batch_bytes (ag_journal_batch (journal)), 0);
    int rc;
    while ((rc = ag_verify_step (self->store, &verify, 7, &self->err)) > 0)
        continue;
    must (self, rc);
    assert_ptr_equal (verify.journal, journal);
    assert_string_equal (verify.reason, "");
    assert_int_equal (verify.events, core_tip (self, run));
    ag_verify_fini (&verify);
}

static void
an_index_that_would_take_too_much_memory_is_refused_and_the_chain_alone_is_verified (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = history (self, &fork);
    struct ag_verify verify = {.run = run, .state = true, .index_bytes = 10000};
    int rc;
    core_commit (self);
    while ((rc = ag_verify_step (self->store, &verify, 7, &self->err)) > 0)
        assert_in_range (ag_batch_bytes (ag_journal_batch (verify.journal)), 0, 10000);
    refuses (self, rc, AG_E_TOO_LARGE, "more than 10000 bytes to write again; verify it without");
    ag_verify_next (&verify, run);
    verify.state = false;
    while ((rc = ag_verify_step (self->store, &verify, 7, &self->err)) > 0)
        continue;
    must (self, rc);
    assert_string_equal (verify.reason, "");
    ag_verify_fini (&verify);
}

//  So many events after the same beginning, the older ones in the archive; a snapshot covers them.
static uint64_t
patched (struct core *self, int count)
{
    uint64_t run = core_root (self, "");
    char ops[100];
    core_apply (self, run,
                "[{'op':'add_object','type':'task','id':'task#1'},"
                " {'op':'add_relation','source':'task#1','target':'task#1','type':'r'}]");
    for (int i = 0; i < count; i++) {
        snprintf (ops, sizeof ops, "[{'op':'patch_object','id':'task#1','data':{'n%d':%d}}]", i % 4,
                  i % 10);
        core_apply (self, run, ops);
    }
    core_commit (self);
    compact (self, run);
    return run;
}

//  A walk to its end in the smallest steps: how many, and the most reads in one of them. Between two of them
//  something is written, which no scan may be open for.
static size_t
walk_slowly (struct core *self, uint64_t run, size_t *most)
{
    struct ag_verify verify = {.run = run, .state = true};
    uint64_t other = core_root (self, "");
    size_t steps = 0;
    int rc;
    core_commit (self);
    count_from_here (self);
    *most = 0;
    do {
        size_t before = counted_reads();
        rc = ag_verify_step (self->store, &verify, 1, &self->err);
        size_t reads = counted_reads() - before;
        *most = reads > *most ? reads : *most;
        steps++;
        core_append (self, other, "x", "{}");
        core_commit (self);
    } while (rc > 0);
    must (self, rc);
    assert_string_equal (verify.reason, "");
    assert_int_equal (verify.phase, AG_VERIFY_END);
    ag_verify_fini (&verify);
    return steps;
}

static void
what_a_step_costs_does_not_grow_with_the_run_and_nothing_of_the_store_is_open_after_it (
    void **state)
{
    struct core *self = *state;
    size_t most_short, most_long;
    uint64_t little = patched (self, 300), much = patched (self, 1500);
    size_t steps = walk_slowly (self, little, &most_short);
    assert_true (walk_slowly (self, much, &most_long) > 4 * steps);
    assert_int_equal (most_short, most_long);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (what_nobody_touched_is_found_whole),
        core_test (a_changed_event_is_named),
        core_test (a_missing_event_is_named),
        core_test (a_head_a_checkpoint_or_a_base_that_was_changed_is_found),
        core_test (a_state_index_that_was_changed_is_found),
        core_test (a_run_that_goes_on_meanwhile_is_verified_as_far_as_it_was),
        core_test (what_is_damaged_is_found_in_a_run_that_goes_on),
        core_test (the_next_run_is_walked_with_nothing_left_of_the_one_before),
        core_test (
            an_index_that_would_take_too_much_memory_is_refused_and_the_chain_alone_is_verified),
        core_test (
            what_a_step_costs_does_not_grow_with_the_run_and_nothing_of_the_store_is_open_after_it),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
