//  SPDX-License-Identifier: Apache-2.0
#include "common/tree.h"
#include "supervisor/core_graph_test.h"
#include "supervisor/key.h"
#include "supervisor/store_impl.h"

//  "stream:run:seq:type " of each event that came.
struct heard {
    struct ag_buf text;
    int limit; //  0: none
};

static bool
hear (void *arg, const struct ag_event *event)
{
    struct heard *heard = arg;
    ag_buf_text (&heard->text, "%u:%u:%u:%.*s ", (unsigned)event->stream, (unsigned)event->run,
                 (unsigned)event->seq, AG_STR_ARG (event->type));
    return --heard->limit != 0;
}

static void
assert_heard (struct heard *heard, const char *text)
{
    ag_buf_add (&heard->text, "", 1);
    assert_string_equal ((char *)heard->text.p, text);
    ag_buf_fini (&heard->text);
    *heard = (struct heard){0};
}

static void
assert_stream (struct core *self, uint64_t after, int limit, const char *text)
{
    struct heard heard = {.limit = limit};
    must (self, ag_stream_scan (self->journal, after, hear, &heard, &self->err));
    assert_heard (&heard, text);
}

static void
events_are_numbered_in_their_run_and_in_the_store (void **state)
{
    struct core *self = *state;
    struct heard heard = {0};
    uint64_t a = core_root (self, "a"), b = core_root (self, "b");
    core_append (self, a, "one", "{}");
    core_append (self, b, "two", "{}");
    core_append (self, b, "three", "{}");
    core_append (self, a, "four", "{}");
    assert_int_equal (ag_journal_count (self->journal), 4);
    assert_int_equal (ag_journal_stream (self->journal), 4);
    core_commit (self);
    ag_journal_committed (self->journal, hear, &heard);
    assert_heard (&heard, "1:1:1:one 2:2:1:two 3:2:2:three 4:1:2:four ");
    assert_int_equal (ag_journal_count (self->journal), 0);

    core_again (self);
    core_append (self, b, "five", "{}");
    core_commit (self);
    ag_journal_committed (self->journal, hear, &heard);
    assert_heard (&heard, "5:2:3:five ");
    assert_stream (self, 0, 0, "1:1:1:one 2:2:1:two 3:2:2:three 4:1:2:four 5:2:3:five ");
    assert_stream (self, 2, 2, "3:2:2:three 4:1:2:four ");
    assert_stream (self, 4, 0, "5:2:3:five ");
    assert_stream (self, 5, 0, "");
    core_commit (self);
    ag_journal_committed (self->journal, hear, &heard);
    assert_heard (&heard, "");
}

//  Its number is not written with each turn: what was written after it counts, wherever the store is left.
static void
the_stream_goes_on_where_it_was_whenever_the_store_is_opened (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "");
    static const uint64_t turns[] = {1, 1, 2, 1000, 19, 1, 1, 1024, 1, 3000, 1};
    uint64_t stream = 0;
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        for (uint64_t n = 0; n < turns[i]; n++)
            core_append (self, run, "x", "{}");
        stream += turns[i];
        core_again (self);
        assert_int_equal (ag_journal_stream (self->journal), stream);
    }
    assert_int_equal (core_root (self, ""), run + 1);
    core_again (self);
    assert_int_equal (core_root (self, ""), run + 2);
}

//  More stretches than one key of the stream holds.
static void
the_stream_of_long_mixed_turns_reads_back_from_any_number (void **state)
{
    struct core *self = *state;
    uint64_t runs[2] = {core_root (self, "a"), core_root (self, "b")};
    char text[64];
    for (unsigned n = 1; n <= 1000; n++) {
        core_append (self, runs[n % 2], "x", "{}");
        if (n == 10 || n == 700)
            core_commit (self);
    }
    core_commit (self);
    for (unsigned after = 0; after < 1000; after += 37) {
        snprintf (text, sizeof text, "%u:%u:%u:x ", after + 1, (after + 1) % 2 + 1, after / 2 + 1);
        assert_stream (self, after, 1, text);
    }
}

static void
an_event_reads_back_as_it_was_written (void **state)
{
    struct core *self = *state;
    uint64_t seq, run = core_root (self, "a");
    struct ag_event event;
    struct ag_buf hold = {0}, payload = value_of (self, "{'n':[1,2.5,null],'t':'\\u00e9'}");
    struct ag_draft draft = {.type = AG_LIT ("task.done"),
                             .payload = ag_buf_str (&payload),
                             .actor = AG_LIT ("reviewer"),
                             .frame = AG_LIT ("frame_001"),
                             .flags = AG_QUIESCENT};
    core_append (self, run, "first", "{}");
    draft.cause = 1;
    self->time_us += 1500001;
    must (self, ag_journal_append (self->journal, core_run (self, run), &draft, &seq, &self->err));
    assert_int_equal (seq, 2);
    core_again (self);
    must (self,
          ag_journal_read (self->journal, core_run (self, run), 2, &hold, &event, &self->err));
    ag_buf_clear (&payload);
    ag_event_write (&event, "r1", "a", &payload);
    assert_string_equal (json_of (self, ag_buf_str (&payload)),
                         "{'id':'evt_002','type':'task.done','payload':{'n':[1,2.5,null],'t':'é'},"
                         "'actor':'reviewer','frame_id':'frame_001','caused_by':'evt_001',"
                         "'timestamp':'2026-01-01T00:00:01.500001Z',"
                         "'run':'r1','label':'a','seq':2,'stream':2}");
    assert_int_equal (event.flags, AG_QUIESCENT);
    assert_memory_equal (event.seed, core_run (self, run)->head.chain, AG_SEED);
    ag_buf_fini (&hold);
    ag_buf_fini (&payload);
}

static void
a_request_that_fails_takes_back_its_own_part_and_nothing_else (void **state)
{
    struct core *self = *state;
    struct heard heard = {0};
    struct ag_run *made;
    uint8_t chain[AG_HASH];
    uint64_t run = core_root (self, "a");
    core_append (self, run, "kept", "{}");
    memcpy (chain, core_run (self, run)->head.chain, AG_HASH);

    struct ag_mark outer = ag_journal_mark (self->journal);
    core_append (self, run, "gone", "{}");
    struct ag_mark inner = ag_journal_mark (self->journal);
    core_append (self, run, "gone too", "{}");
    uint64_t other = core_root (self, "b");
    core_append (self, other, "gone as well", "{}");
    ag_journal_rollback (self->journal, &inner);
    assert_int_equal (core_tip (self, run), 2);
    refuses (self, ag_run_get (self->journal, other, &made, &self->err), AG_E_NOT_FOUND, "r2");
    core_append (self, run, "gone again", "{}");
    ag_journal_rollback (self->journal, &outer);

    assert_int_equal (core_tip (self, run), 1);
    assert_memory_equal (core_run (self, run)->head.chain, chain, AG_HASH);
    assert_int_equal (core_root (self, "b"), 2);
    core_append (self, run, "also kept", "{}");
    core_commit (self);
    ag_journal_committed (self->journal, hear, &heard);
    assert_heard (&heard, "1:1:1:kept 2:1:2:also kept ");
    core_again (self);
    assert_int_equal (core_tip (self, run), 2);
}

static void
a_rollback_to_before_the_first_event_of_a_turn_keeps_the_last_turn_out (void **state)
{
    struct core *self = *state;
    struct heard heard = {0};
    uint64_t run = core_root (self, "a");
    core_append (self, run, "old", "{}");
    core_commit (self);
    struct ag_mark mark = ag_journal_mark (self->journal);
    core_append (self, run, "gone", "{}");
    ag_journal_rollback (self->journal, &mark);
    core_append (self, run, "new", "{}");
    core_commit (self);
    ag_journal_committed (self->journal, hear, &heard);
    assert_heard (&heard, "2:1:2:new ");
}

static void
an_event_over_the_limit_is_refused_and_changes_nothing (void **state)
{
    struct core *self = *state;
    uint64_t seq, run = core_root (self, "a");
    struct ag_buf payload = {0};
    ag_put_map (&payload, 1);
    ag_put_lit (&payload, "x");
    char *text = ag_xcalloc (1, AG_EVENT_BYTES);
    memset (text, 'x', AG_EVENT_BYTES);
    size_t head = payload.n;
    struct ag_draft draft = {.type = AG_LIT ("t")};
    for (int over = 1; over >= 0; over--) {
        //  stream, time (9 bytes), flags, cause, type, two nulls, list: 17 bytes; the map 3, the text's
        //  head 5, the seed 8.
        payload.n = head;
        ag_put_text (&payload, (struct ag_str){text, (size_t)(AG_EVENT_BYTES - 33 + over)});
        draft.payload = ag_buf_str (&payload);
        int rc = ag_journal_append (self->journal, core_run (self, run), &draft, &seq, &self->err);
        assert_int_equal (rc, -over);
        assert_int_equal (self->err.code, AG_E_TOO_LARGE); //  of the first of both
        assert_int_equal (core_tip (self, run), 1 - over);
    }
    core_again (self);
    assert_int_equal (core_tip (self, run), 1);
    free (text);
    ag_buf_fini (&payload);
}

static void
events_of_packs_are_found_without_reading_the_log (void **state)
{
    struct core *self = *state;
    struct heard heard = {0};
    uint64_t run = core_root (self, "a");
    core_append (self, run, "pack.loaded", "{}");
    core_append (self, run, "noise", "{}");
    core_append (self, run, "pack.loaded", "{}");
    core_append (self, run, "pack.disabled", "{}");
    core_again (self);
    must (self, ag_journal_scan_type (self->journal, core_run (self, run), AG_LIT ("pack.loaded"),
                                      0, UINT64_MAX, hear, &heard, &self->err));
    assert_heard (&heard, "1:1:1:pack.loaded 3:1:3:pack.loaded ");
    must (self, ag_journal_scan_type (self->journal, core_run (self, run), AG_LIT ("pack.loaded"),
                                      1, 3, hear, &heard, &self->err));
    assert_heard (&heard, "3:1:3:pack.loaded ");
}

static void
a_head_that_disagrees_with_its_events_is_an_error (void **state)
{
    struct core *self = *state;
    struct ag_run *run;
    struct ag_key key;
    uint64_t number = core_root (self, "a");
    core_append (self, number, "one", "{}");
    core_append (self, number, "two", "{}");
    core_commit (self);
    for (uint64_t seq = 2; seq <= 3; seq++) {
        //  The last event is lost; or there is one more than the head knows.
        struct ag_buf event = {0};
        ag_journal_destroy (&self->journal);
        ag_key_event (&key, number, 2);
        assert_int_equal (
            ag_store_get (self->store, AG_EVENT, ag_key_str (&key), &event, &self->err), 1);
        ag_key_event (&key, number, seq);
        struct ag_write write = {AG_EVENT, ag_key_str (&key),
                                 seq == 2 ? (struct ag_str){0} : ag_buf_str (&event)};
        must (self, ag_store_write (self->store, &write, 1, &self->err));
        core_begin (self);
        refuses (self, ag_run_get (self->journal, number, &run, &self->err), AG_E_CORRUPT,
                 "the head of run r1 (event 2) disagrees with its events");
        if (seq == 2) {
            ag_key_event (&key, number, 2);
            write.value = ag_buf_str (&event);
            must (self, ag_store_write (self->store, &write, 1, &self->err));
        }
        ag_buf_fini (&event);
    }
}

//  A store that counts what is read of its log.
static struct {
    const struct ag_store_ops *whole;
    struct ag_store_ops ops;
    int gets;
} counted;

static int
counted_get (ag_store_t *self, enum ag_table table, struct ag_str key, struct ag_buf *out,
             struct ag_err *err)
{
    counted.gets += table == AG_EVENT;
    return counted.whole->get (self, table, key, out, err);
}

//  How often the store is asked for it.
static int
gets_to_read (struct core *self, uint64_t run, uint64_t seq, const char *type)
{
    struct ag_run *of = core_run (self, run); //  which may look at the log itself
    struct ag_buf hold = {0};
    struct ag_event event;
    counted.gets = 0;
    must (self, ag_journal_read (self->journal, of, seq, &hold, &event, &self->err));
    assert_true (ag_str_is (event.type, type));
    ag_buf_fini (&hold);
    return counted.gets;
}

static void
count_gets (struct core *self)
{
    counted.whole = self->store->ops;
    counted.ops = *counted.whole;
    counted.ops.get = counted_get;
    self->store->ops = &counted.ops;
}

static void
an_event_that_is_read_again_is_asked_of_the_store_once (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "a"), other = core_root (self, "b");
    core_append (self, run, "one", "{}");
    core_append (self, run, "two", "{}");
    core_append (self, other, "three", "{}");
    core_commit (self);
    count_gets (self);
    assert_int_equal (gets_to_read (self, run, 1, "one"), 1);
    assert_int_equal (gets_to_read (self, run, 1, "one"), 0);
    assert_int_equal (gets_to_read (self, run, 2, "two"), 1);
    assert_int_equal (gets_to_read (self, other, 1, "three"), 1);
    assert_int_equal (gets_to_read (self, other, 1, "three"), 0);
    core_commit (self);
    assert_int_equal (gets_to_read (self, other, 1, "three"), 0);
}

//  As a queue reads, whose events wait: always from where it stands, and only the next one.
static void
events_that_are_read_one_after_the_other_are_asked_of_the_store_in_stretches (void **state)
{
    struct core *self = *state;
    char text[80];
    uint64_t run = core_root (self, "a");
    for (uint64_t seq = 1; seq <= 100; seq++)
        core_append (self, run, "x", "{}");
    core_commit (self);
    count_gets (self);
    for (unsigned seq = 1; seq <= 100; seq++) {
        struct heard heard = {.limit = 1};
        struct ag_run *of = core_run (self, run);
        int before = counted.gets;
        must (self,
              ag_journal_scan (self->journal, of, seq - 1, UINT64_MAX, hear, &heard, &self->err));
        assert_int_equal (counted.gets - before, seq == 1 || seq > 97);
        snprintf (text, sizeof text, "%u:1:%u:x ", seq, seq);
        assert_heard (&heard, text);
        core_commit (self);
    }
}

static void
an_event_that_was_read_and_taken_back_is_not_the_next_one (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "a");
    struct ag_mark mark = ag_journal_mark (self->journal);
    core_append (self, run, "gone", "{}");
    gets_to_read (self, run, 1, "gone");
    ag_journal_rollback (self->journal, &mark);
    core_append (self, run, "new", "{}");
    gets_to_read (self, run, 1, "new");
}

/*  A write that fails  */

static void
after_a_full_disk_the_turn_is_gone_and_the_next_one_goes_on (void **state)
{
    struct core *self = *state;
    struct heard heard = {0};
    struct ag_run *run;
    char dir[] = "/tmp/agsup-journal-XXXXXX";
    assert_non_null (mkdtemp (dir));
    ag_journal_destroy (&self->journal);
    ag_store_destroy (&self->store);
    self->store = ag_store_rocks_new (dir, &self->err);
    assert_non_null (self->store);
    core_begin (self);

    uint64_t number = core_root (self, "a");
    core_append (self, number, "kept", "{}");
    core_commit (self);
    ag_store_set_reserve (self->store, UINT64_MAX);
    core_append (self, number, "lost", "{}");
    core_root (self, "b");
    refuses (self, ag_journal_commit (self->journal, &self->err), AG_E_DISK_FULL, "in reserve");
    ag_journal_committed (self->journal, hear, &heard);
    assert_heard (&heard, "");
    assert_int_equal (ag_journal_stream (self->journal), 1);
    assert_int_equal (core_tip (self, number), 1);
    refuses (self, ag_run_get (self->journal, 2, &run, &self->err), AG_E_NOT_FOUND, "r2");

    ag_store_set_reserve (self->store, 0);
    core_append (self, number, "next", "{}");
    core_commit (self);
    ag_journal_committed (self->journal, hear, &heard);
    assert_heard (&heard, "2:1:2:next ");
    ag_journal_destroy (&self->journal);
    ag_store_destroy (&self->store);
    ag_tree_remove (dir);
}

//  A store whose next write fails, after or before it is done, and which then is dead until it was
//  reopened as often as the test wants.
static struct {
    const struct ag_store_ops *whole;
    struct ag_store_ops ops;
    bool fails, does_it, dead;
    int reopens;
} broken;

static int
broken_write (ag_store_t *self, const struct ag_write *writes, size_t count, struct ag_err *err)
{
    if (!broken.fails)
        return broken.whole->write (self, writes, count, err);
    broken.fails = false;
    broken.dead = true;
    if (broken.does_it)
        assert_int_equal (broken.whole->write (self, writes, count, err), 0);
    return ag_fail (err, AG_E_STORE, "the disk is gone");
}

static int
broken_get (ag_store_t *self, enum ag_table table, struct ag_str key, struct ag_buf *out,
            struct ag_err *err)
{
    if (broken.dead)
        return ag_fail (err, AG_E_STORE, "dead");
    return broken.whole->get (self, table, key, out, err);
}

static int
broken_reopen (ag_store_t *self, struct ag_err *err)
{
    (void)self;
    if (--broken.reopens > 0)
        return ag_fail (err, AG_E_STORE, "still gone");
    broken.dead = false;
    return 0;
}

static void
break_next_write (struct core *self, bool does_it, int reopens)
{
    broken.whole = broken.whole ? broken.whole : self->store->ops;
    broken.ops = *broken.whole;
    broken.ops.write = broken_write;
    broken.ops.get = broken_get;
    broken.ops.reopen = broken_reopen;
    broken.fails = true;
    broken.does_it = does_it;
    broken.reopens = reopens;
    self->store->ops = &broken.ops;
}

static void
a_turn_whose_write_failed_is_gone_unless_it_proves_durable (void **state)
{
    struct core *self = *state;
    uint64_t number = core_root (self, "a");
    core_append (self, number, "one", "{}");
    core_commit (self);
    for (int durable = 0; durable < 2; durable++) {
        struct heard heard = {0};
        break_next_write (self, durable, 1);
        core_append (self, number, "two", "{}");
        refuses (self, ag_journal_commit (self->journal, &self->err), AG_E_STORE, "is gone");
        ag_journal_committed (self->journal, hear, &heard);
        assert_heard (&heard, "");
        assert_int_equal (ag_journal_stream (self->journal), 1 + durable);
        assert_int_equal (core_tip (self, number), 1 + durable);
    }
    assert_stream (self, 1, 0, "2:1:2:two ");
}

static void
nothing_is_taken_while_the_store_cannot_be_read_again (void **state)
{
    struct core *self = *state;
    struct ag_run *run;
    uint64_t seq, number = core_root (self, "a");
    core_append (self, number, "one", "{}");
    core_commit (self);
    break_next_write (self, false, 3); //  one by the commit itself, one in vain, one that helps
    core_append (self, number, "two", "{}");
    refuses (self, ag_journal_commit (self->journal, &self->err), AG_E_STORE, "is gone");
    refuses (self, ag_run_get (self->journal, number, &run, &self->err), AG_E_STORE, "dead");
    refuses (self, ag_journal_commit (self->journal, &self->err), AG_E_STORE, "read again");
    refuses (self, ag_journal_recover (self->journal, &self->err), AG_E_STORE, "still gone");
    must (self, ag_journal_recover (self->journal, &self->err));
    struct ag_draft draft = {.type = AG_LIT ("two"), .payload = AG_LIT ("\x80")};
    must (self,
          ag_journal_append (self->journal, core_run (self, number), &draft, &seq, &self->err));
    assert_int_equal (seq, 2);
    core_commit (self);
    assert_stream (self, 0, 0, "1:1:1:one 2:1:2:two ");
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (events_are_numbered_in_their_run_and_in_the_store),
        core_test (the_stream_goes_on_where_it_was_whenever_the_store_is_opened),
        core_test (the_stream_of_long_mixed_turns_reads_back_from_any_number),
        core_test (an_event_reads_back_as_it_was_written),
        core_test (a_request_that_fails_takes_back_its_own_part_and_nothing_else),
        core_test (a_rollback_to_before_the_first_event_of_a_turn_keeps_the_last_turn_out),
        core_test (an_event_over_the_limit_is_refused_and_changes_nothing),
        core_test (an_event_that_is_read_again_is_asked_of_the_store_once),
        core_test (events_that_are_read_one_after_the_other_are_asked_of_the_store_in_stretches),
        core_test (an_event_that_was_read_and_taken_back_is_not_the_next_one),
        core_test (events_of_packs_are_found_without_reading_the_log),
        core_test (a_head_that_disagrees_with_its_events_is_an_error),
        core_test (a_turn_whose_write_failed_is_gone_unless_it_proves_durable),
        core_test (nothing_is_taken_while_the_store_cannot_be_read_again),
        core_test (after_a_full_disk_the_turn_is_gone_and_the_next_one_goes_on),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
