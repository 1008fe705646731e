//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/record.h"
#include "supervisor/core_graph_test.h"

static int
put_request (struct core *self, const char *principal, const char *id, uint64_t time_us,
             const char *answer)
{
    struct ag_request request = {.time_us = time_us, .answer = ag_str (answer)};
    ag_hash (ag_str (id), AG_LIT (""), request.hash);
    ag_request_put (self->journal, ag_str (principal), ag_str (id), &request);
    return 0;
}

static const char *
answer_of (struct core *self, const char *principal, const char *id)
{
    static char text[64];
    struct ag_request request;
    struct ag_buf hold = {0};
    int rc = ag_request_get (self->journal, ag_str (principal), ag_str (id), &hold, &request,
                             &self->err);
    snprintf (text, sizeof text, "%.*s", rc > 0 ? (int)request.answer.n : 1,
              rc > 0 ? request.answer.p : "-");
    ag_buf_fini (&hold);
    return text;
}

static void
an_answer_is_kept_per_principal_and_id (void **state)
{
    struct core *self = *state;
    struct ag_request request;
    struct ag_buf hold = {0};
    uint8_t hash[AG_HASH];
    put_request (self, "operator", "one", 7, "yes");
    core_again (self);
    assert_string_equal (answer_of (self, "operator", "one"), "yes");
    assert_string_equal (answer_of (self, "operator", "on"), "-");
    assert_string_equal (answer_of (self, "observer", "one"), "-");
    assert_int_equal (ag_request_get (self->journal, AG_LIT ("operator"), AG_LIT ("one"), &hold,
                                      &request, &self->err),
                      1);
    ag_hash (AG_LIT ("one"), AG_LIT (""), hash);
    assert_memory_equal (request.hash, hash, AG_HASH);
    assert_int_equal (request.time_us, 7);
    ag_buf_fini (&hold);
}

static void
old_answers_are_swept_a_few_at_a_time (void **state)
{
    struct core *self = *state;
    struct ag_buf place = {0};
    char id[16];
    int sweeps = 0;
    for (unsigned i = 0; i < 25; i++) {
        snprintf (id, sizeof id, "id%02u", i);
        put_request (self, "operator", id, i % 2 ? 100 : 10, "a");
    }
    core_commit (self);
    do {
        must (self, ag_request_sweep (self->journal, 50, 10, &place, &self->err));
        sweeps++;
    } while (place.n);
    core_again (self);
    assert_int_equal (sweeps, 3);
    for (unsigned i = 0; i < 25; i++) {
        snprintf (id, sizeof id, "id%02u", i);
        assert_string_equal (answer_of (self, "operator", id), i % 2 ? "a" : "-");
    }
    ag_buf_fini (&place);
}

static void
put_note (struct core *self, uint64_t run, const char *name, uint64_t seq, const char *value)
{
    ag_note_put (self->journal, core_run (self, run), ag_str (name), seq, ag_str (value));
}

//  "value@seq", or "-".
static const char *
note (struct core *self, uint64_t run, const char *name, uint64_t at)
{
    static char text[64] = "-";
    uint64_t seq;
    struct ag_buf hold = {0};
    int rc = ag_note_get (self->journal, core_run (self, run), ag_str (name), at, &hold, &seq,
                          &self->err);
    assert_true (rc >= 0);
    strcpy (text, "-");
    if (rc > 0)
        snprintf (text, sizeof text, "%.*s@%u", (int)hold.n, (char *)hold.p, (unsigned)seq);
    ag_buf_fini (&hold);
    return text;
}

static void
a_note_is_the_newest_at_or_below_a_point_and_inherited_up_to_the_cut (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "a");
    put_note (self, run, "cursor", 0, "begin");
    for (int i = 0; i < 9; i++)
        core_append (self, run, "x", "{}");
    put_note (self, run, "cursor", 3, "three");
    put_note (self, run, "cursor", 6, "six");
    put_note (self, run, "cursor", 6, "six again");
    uint64_t fork = core_fork_at (self, run, 5);
    put_note (self, fork, "cursor", 7, "mine");
    uint64_t other = core_fork_at (self, run, 6);
    put_note (self, other, "cursor", 6, "own at the cut");
    core_again (self);
    assert_string_equal (note (self, run, "cursor", 0), "begin@0");
    assert_string_equal (note (self, run, "cursor", 5), "three@3");
    assert_string_equal (note (self, run, "cursor", AG_NOW), "six again@6");
    assert_string_equal (note (self, run, "cur", AG_NOW), "-");
    assert_string_equal (note (self, fork, "cursor", 6), "three@3");
    assert_string_equal (note (self, fork, "cursor", 2), "begin@0");
    assert_string_equal (note (self, fork, "cursor", AG_NOW), "mine@7");
    assert_string_equal (note (self, other, "cursor", AG_NOW), "own at the cut@6");
}

static bool
collect (void *arg, struct ag_str name)
{
    struct ag_buf *text = arg;
    ag_buf_text (text, "%.*s ", AG_STR_ARG (name));
    return true;
}

static void
notes_are_listed_by_prefix_each_name_once (void **state)
{
    struct core *self = *state;
    struct ag_buf text = {0};
    uint64_t run = core_root (self, "a");
    for (int i = 0; i < 5; i++)
        core_append (self, run, "x", "{}");
    put_note (self, run, "host/b", 1, "1");
    put_note (self, run, "host/b", 2, "2");
    put_note (self, run, "host/a", 3, "3");
    put_note (self, run, "host/late", 5, "5"); //  after the cut
    put_note (self, run, "other", 1, "1");
    uint64_t fork = core_fork_at (self, run, 4);
    put_note (self, fork, "host/c", 4, "4");
    put_note (self, fork, "host/b", 4, "4");
    must (self, ag_note_scan (self->journal, core_run (self, fork), AG_LIT ("host/"), AG_NOW,
                              collect, &text, &self->err));
    ag_buf_text (&text, "/ ");
    must (self, ag_note_scan (self->journal, core_run (self, run), AG_LIT ("host/"), 2, collect,
                              &text, &self->err));
    assert_memory_equal (text.p, "host/a host/b host/c / host/b ", 30);
    assert_int_equal (text.n, 30);
    ag_buf_fini (&text);
}

static void
counters_and_effects_belong_to_one_run (void **state)
{
    struct core *self = *state;
    uint8_t key[AG_HASH] = {7};
    uint64_t value = 0, run = core_root (self, "a"), fork = core_fork (self, run);
    ag_count_put (self->journal, run, AG_LIT ("heard/r9"), 42);
    ag_effect_put (self->journal, run, key, 13);
    core_again (self);
    assert_int_equal (ag_count_get (self->journal, run, AG_LIT ("heard/r9"), &value, &self->err),
                      1);
    assert_int_equal (value, 42);
    assert_int_equal (ag_count_get (self->journal, fork, AG_LIT ("heard/r9"), &value, &self->err),
                      0);
    assert_int_equal (ag_effect_get (self->journal, run, key, &value, &self->err), 1);
    assert_int_equal (value, 13);
    assert_int_equal (ag_effect_get (self->journal, fork, key, &value, &self->err), 0);
    key[31] = 1;
    assert_int_equal (ag_effect_get (self->journal, run, key, &value, &self->err), 0);
}

static void
a_blob_of_any_size_reads_back_and_is_stored_once (void **state)
{
    struct core *self = *state;
    static const size_t sizes[] = {0, 1, 1000, 256 << 10, (256 << 10) + 1, 1 << 20};
    char *bytes = ag_xmalloc (AG_BLOB_BYTES + 1);
    uint8_t hash[AG_HASH];
    struct ag_buf out = {0};
    for (size_t i = 0; i < AG_BLOB_BYTES; i++)
        bytes[i] = (char)(i * 31 + i / 251);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct ag_str blob = {bytes, sizes[i]};
        must (self, ag_blob_put (self->journal, blob, hash, &self->err));
        core_again (self);
        must (self, ag_blob_put (self->journal, blob, hash, &self->err));
        assert_int_equal (ag_batch_count (ag_journal_batch (self->journal)), 0);
        ag_buf_clear (&out);
        assert_int_equal (ag_blob_get (self->journal, hash, &out, &self->err), 1);
        assert_true (ag_str_eq (ag_buf_str (&out), blob));
    }
    hash[0] ^= 1;
    assert_int_equal (ag_blob_get (self->journal, hash, &out, &self->err), 0);
    refuses (
        self,
        ag_blob_put (self->journal, (struct ag_str){bytes, AG_BLOB_BYTES + 1}, hash, &self->err),
        AG_E_TOO_LARGE, "16777217 bytes");
    ag_buf_fini (&out);
    free (bytes);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (an_answer_is_kept_per_principal_and_id),
        core_test (old_answers_are_swept_a_few_at_a_time),
        core_test (a_note_is_the_newest_at_or_below_a_point_and_inherited_up_to_the_cut),
        core_test (notes_are_listed_by_prefix_each_name_once),
        core_test (counters_and_effects_belong_to_one_run),
        core_test (a_blob_of_any_size_reads_back_and_is_stored_once),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
