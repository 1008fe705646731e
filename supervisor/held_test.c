//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/held.h"
#include "supervisor/core_test.h"
#include "supervisor/key.h"

static bool
is_held (struct ag_held *self, uint64_t run, uint64_t seq, const char *bytes)
{
    struct ag_str held = ag_held_get (self, run, seq);
    assert_true (!held.p || ag_str_is (held, bytes));
    return held.p;
}

static void
of_the_runs_that_were_asked_for_last_the_last_event_is_held (void **state)
{
    (void)state;
    struct ag_held held = {0};
    for (uint64_t run = 1; run <= AG_HELD_RUNS; run++)
        ag_held_put (&held, run, 7, AG_LIT ("seven"));
    ag_held_put (&held, 2, 8, AG_LIT ("eight"));
    assert_true (is_held (&held, 1, 7, "seven"));
    ag_held_put (&held, 100, 1, AG_LIT ("one"));
    assert_true (is_held (&held, 1, 7, "seven"));
    assert_false (is_held (&held, 2, 7, ""));
    assert_true (is_held (&held, 2, 8, "eight"));
    assert_false (is_held (&held, 3, 7, ""));
    assert_true (is_held (&held, 100, 1, "one"));
    ag_held_forget (&held);
    assert_false (is_held (&held, 100, 1, ""));
    ag_held_fini (&held);
}

static void
what_is_too_large_is_not_held_and_what_was_before_it_no_more (void **state)
{
    (void)state;
    struct ag_held held = {0};
    char *text = ag_xcalloc (1, AG_HELD_BYTES + 1);
    ag_held_put (&held, 1, 1, AG_LIT ("one"));
    ag_held_put (&held, 1, 2, (struct ag_str){text, AG_HELD_BYTES + 1});
    assert_null (ag_held_get (&held, 1, 1).p);
    assert_null (ag_held_get (&held, 1, 2).p);
    ag_held_put (&held, 1, 2, (struct ag_str){text, AG_HELD_BYTES});
    assert_int_equal (ag_held_get (&held, 1, 2).n, AG_HELD_BYTES);
    free (text);
    ag_held_fini (&held);
}

static void
put_events (ag_batch_t *batch, uint64_t first, uint64_t last, size_t bytes)
{
    char *text = ag_xcalloc (1, bytes);
    for (uint64_t seq = first; seq <= last; seq++) {
        struct ag_key key;
        ag_key_event (&key, 1, seq);
        ag_batch_put (batch, AG_EVENT, ag_key_str (&key), (struct ag_str){text, bytes});
    }
    free (text);
}

//  How many events are held from seq on.
static uint64_t
count_from (struct ag_held *self, uint64_t seq)
{
    uint64_t count = 0;
    while (ag_held_get (self, 1, seq + count).p)
        count++;
    return count;
}

static void
who_reads_on_where_he_stopped_has_what_comes_next_within_the_bounds (void **state)
{
    struct core *self = *state;
    struct ag_held held = {0};
    ag_batch_t *batch = ag_journal_batch (self->journal);
    put_events (batch, 2, 50, 10);
    put_events (batch, 60, 100, AG_HELD_BYTES / 5);
    ag_held_put (&held, 1, 1, AG_LIT ("one"));
    must (self, ag_held_ahead (&held, batch, 1, 2, 100, &self->err));
    assert_int_equal (count_from (&held, 1), 1); //  he went elsewhere
    must (self, ag_held_ahead (&held, batch, 1, 1, 5, &self->err));
    assert_int_equal (count_from (&held, 2), 4);
    must (self, ag_held_ahead (&held, batch, 1, 5, 100, &self->err));
    assert_int_equal (count_from (&held, 6), AG_HELD_EVENTS);
    must (self, ag_held_ahead (&held, batch, 1, 37, 100, &self->err));
    assert_int_equal (count_from (&held, 38), 13); //  up to a hole, which is the reader's to find
    ag_held_put (&held, 1, 59, AG_LIT (""));
    must (self, ag_held_ahead (&held, batch, 1, 59, 100, &self->err));
    assert_int_equal (count_from (&held, 60), 5);
    ag_held_fini (&held);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (of_the_runs_that_were_asked_for_last_the_last_event_is_held),
        cmocka_unit_test (what_is_too_large_is_not_held_and_what_was_before_it_no_more),
        core_test (who_reads_on_where_he_stopped_has_what_comes_next_within_the_bounds),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
