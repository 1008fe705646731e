//  The reference's cases of integrity; tests/conformance/README has the table.
//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/promote_test.h"
#include "supervisor/shown.h"
#include "supervisor/store_impl.h"

//  Long forms, and a map in any order of its keys, are one value.
static void
i_01_what_is_appended_reads_back_in_its_normal_form (void **state)
{
    static const uint8_t sent[] =
        "\xde\x00\x01\xd9\x01n\xd1\x00\x07"; //  {"n": 7} in its long forms
    struct core *self = *state;
    struct ag_event event;
    struct ag_buf normal = {0}, hold = {0};
    uint64_t seq, run = core_root (self, "p");
    must (self, ag_value_normalise ((struct ag_str){(const char *)sent, sizeof sent - 1}, &normal,
                                    &self->err));
    struct ag_draft draft = {.type = AG_LIT ("t"), .payload = ag_buf_str (&normal)};
    must (self, ag_journal_append (self->journal, core_run (self, run), &draft, &seq, &self->err));
    must (self,
          ag_journal_read (self->journal, core_run (self, run), seq, &hold, &event, &self->err));
    struct ag_buf wanted = value_of (self, "{'n':7}");
    assert_true (ag_str_eq (event.payload, ag_buf_str (&wanted)));
    ag_buf_fini (&wanted);
    ag_buf_fini (&normal);
    ag_buf_fini (&hold);
}

static void
i_02_what_was_given_and_what_was_read_is_a_copy (void **state)
{
    struct core *self = *state;
    uint64_t seq, run = core_root (self, "p");
    struct ag_buf given = value_of (self, "{'n':'aaaa'}");
    struct ag_draft draft = {.type = AG_LIT ("t"), .payload = ag_buf_str (&given)};
    must (self, ag_journal_append (self->journal, core_run (self, run), &draft, &seq, &self->err));
    memset (given.p, 0xc0, given.n);
    core_apply (self, run, "[{'op':'add_object','type':'t','id':'x','data':{'n':'bbbb'}}]");
    for (int again = 0; again < 2; again++) {
        struct ag_event event;
        struct ag_buf hold = {0};
        struct ag_entity entity = {0};
        must (self, ag_journal_read (self->journal, core_run (self, run), seq, &hold, &event,
                                     &self->err));
        assert_string_equal (json_of (self, event.payload), "{'n':'aaaa'}");
        assert_int_equal (ag_state_get (self->journal, core_run (self, run), AG_OBJECT,
                                        AG_LIT ("x"), AG_NOW, &entity, &self->err),
                          1);
        assert_string_equal (json_of (self, entity.data), "{'n':'bbbb'}");
        memset (hold.p, 0xc0, hold.n);
        memset ((char *)entity.data.p, 0xc0, entity.data.n);
        ag_entity_fini (&entity);
        ag_buf_fini (&hold);
    }
    ag_buf_fini (&given);
}

static int
lose (ag_store_t *store, const struct ag_write *writes, size_t count, struct ag_err *err)
{
    (void)store, (void)writes, (void)count;
    return ag_fail (err, AG_E_STORE, "the write is lost");
}

static bool
hear (void *arg, const struct ag_event *event)
{
    (void)event;
    return ++*(int *)arg;
}

//  Lose what this turn has gathered.
static void
lose_the_turn (struct core *self)
{
    const struct ag_store_ops *whole = self->store->ops;
    struct ag_store_ops losing = *whole;
    losing.write = lose;
    self->store->ops = &losing;
    refuses (self, ag_journal_commit (self->journal, &self->err), AG_E_STORE, "lost");
    self->store->ops = whole;
}

static void
i_04_a_write_that_fails_leaves_log_state_and_listeners_untouched (void **state)
{
    struct core *self = *state;
    uint64_t run = base (self);
    int heard = 0;
    core_commit (self);
    core_apply (self, run, SET_DONE);
    core_apply (self, run, "[{'op':'add_object','type':'note'}]");
    lose_the_turn (self);
    ag_journal_committed (self->journal, hear, &heard);
    assert_int_equal (heard, 0);
    assert_int_equal (core_tip (self, run), 5);
    assert_string_equal (objects (self, run), "{'task#1':{'title':'base','status':'open'}}");
    core_apply (self, run, "[{'op':'add_object','type':'note'}]");
    assert_string_equal (objects (self, run),
                         "{'note#2':{},'task#1':{'title':'base','status':'open'}}");
}

//  Weaknesses 9.2-1 and 9.3-4 of the reference.
static void
a_promote_or_a_fork_whose_write_fails_never_was (void **state)
{
    struct core *self = *state;
    struct ag_run *found;
    uint64_t fork, run = base_fork (self, &fork);
    core_apply (self, fork, SET_DONE);
    core_apply (self, fork, "[{'op':'add_object','type':'note'}]");
    core_commit (self);
    promote (self, fork);
    uint64_t second = core_fork (self, run);
    lose_the_turn (self);
    assert_int_equal (core_tip (self, run), 5);
    refuses (self, ag_run_get (self->journal, second, &found, &self->err), AG_E_NOT_FOUND, "r3");
    promote (self, fork); //  and it conflicts with nothing
    assert_string_equal (objects (self, run),
                         "{'note#r2.1':{},'task#1':{'title':'base','status':'done'}}");
}

static void
i_07_other_words_than_update_and_replace_are_refused_and_burn_no_id (void **state)
{
    static const char *const ops[] = {"create", "remove", "typo", "UPDATE"};
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    core_apply (self, run, "[{'op':'add_object','type':'t','id':'x'}]");
    for (size_t i = 0; i < 4; i++) {
        char text[128];
        snprintf (text, sizeof text,
                  "[{'op':'propose_patch','id':'x','change':'%s','data':{'n':1}}]", ops[i]);
        assert_int_equal (core_try (self, run, text), -1);
        snprintf (text, sizeof text, "[{'op':'%s','id':'x','data':{}}]", ops[i]);
        assert_int_equal (core_try (self, run, text), -1);
    }
    core_apply (self, run, "[{'op':'propose_patch','id':'x','data':{'n':1}}]");
    assert_int_equal (core_tip (self, run), 2);
    assert_non_null (strstr (payload_of (self, run, 2), "'id':'patch_001'"));
}

static void
i_09_the_key_provenance_is_the_houses_on_each_surface_and_the_callers_below (void **state)
{
    static const char *const ops[] = {
        "[{'op':'add_object','type':'t','data':{'provenance':1}}]",
        "[{'op':'add_relation','type':'r','source':'x','target':'x','data':{'provenance':1}}]",
        "[{'op':'patch_object','id':'x','data':{'provenance':1}}]",
        "[{'op':'replace_object','id':'x','data':{'provenance':1}}]",
        "[{'op':'propose_patch','id':'x','data':{'provenance':1}}]"};
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    core_apply (self, run, "[{'op':'add_object','type':'t','id':'x'}]");
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        refuses (self, core_try (self, run, ops[i]), AG_E_BAD_OPERATION, "provenance");
    assert_int_equal (core_tip (self, run), 1);
    core_apply (self, run,
                "[{'op':'add_object','type':'t','id':'y','data':{'a':{'provenance':1}}},"
                " {'op':'patch_object','id':'x','data':{'b':[{'provenance':2}]}}]");
    assert_string_equal (objects (self, run),
                         "{'x':{'b':[{'provenance':2}]},'y':{'a':{'provenance':1}}}");
}

//  a, b and c in a chain; what lies around a.
static void
assert_around (struct core *self, uint64_t run, uint64_t depth, uint32_t objects,
               uint32_t relations)
{
    struct ag_invocation invocation = {.run = run};
    struct ag_shown shown = {.journal = self->journal,
                             .run = core_run (self, run),
                             .at = AG_NOW,
                             .invocation = &invocation,
                             .limit = AG_PAGE_THINGS,
                             .bytes_left = AG_SHOWN_BYTES,
                             .err = &self->err};
    must (self, ag_shown_around (&shown, AG_LIT ("a"), depth) < 0);
    assert_int_equal (shown.object_count, objects);
    assert_int_equal (shown.relation_count, relations);
    ag_shown_fini (&shown);
    ag_buf_fini (&invocation.reads);
}

static void
i_12_a_neighbourhood_reaches_as_far_as_its_depth (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    core_apply (self, run,
                "[{'op':'add_object','type':'t','id':'a'},{'op':'add_object','type':'t','id':'b'},"
                " {'op':'add_object','type':'t','id':'c'},"
                " {'op':'add_relation','type':'r','source':'a','target':'b'},"
                " {'op':'add_relation','type':'r','source':'c','target':'b'}]");
    assert_around (self, run, 0, 1, 0);
    assert_around (self, run, 1, 2, 1);
    assert_around (self, run, 2, 3, 2);
    assert_around (self, run, 8, 3, 2);
}

static bool
add_name (void *arg, struct ag_str id)
{
    ag_buf_text (arg, "%.*s ", AG_STR_ARG (id));
    return true;
}

//  Of the reference's eight combinations the store answers those that begin with an end or a type; what a
//  caller adds to that narrows a list that it has.
static void
i_13_relations_are_found_by_either_end_and_by_type (void **state)
{
    struct core *self = *state;
    struct ag_buf found = {0};
    uint64_t run = core_root (self, "p");
    core_apply (self, run,
                "[{'op':'add_object','type':'t','id':'a'},{'op':'add_object','type':'t','id':'b'},"
                " {'op':'add_object','type':'t','id':'c'},"
                " {'op':'add_relation','type':'r','source':'a','target':'b','id':'1'},"
                " {'op':'add_relation','type':'s','source':'a','target':'c','id':'2'},"
                " {'op':'add_relation','type':'r','source':'c','target':'a','id':'3'},"
                " {'op':'add_relation','type':'r','source':'b','target':'b','id':'4'}]");
    const char *const objects[] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < 4; i++) {
        must (self, ag_state_relations (self->journal, core_run (self, run), ag_str (objects[i]),
                                        AG_NOW, AG_LIT (""), add_name, &found, &self->err));
        ag_buf_text (&found, "/ ");
    }
    const char *const types[] = {"r", "s", "x"};
    for (size_t i = 0; i < 3; i++) {
        must (self, ag_state_scan_type (self->journal, core_run (self, run), AG_RELATION,
                                        ag_str (types[i]), AG_NOW, AG_LIT (""), add_name, &found,
                                        &self->err));
        ag_buf_text (&found, "/ ");
    }
    ag_buf_add (&found, "", 1);
    assert_string_equal ((char *)found.p, "1 2 3 / 1 4 / 2 3 / / 1 3 4 / 2 / / ");
    ag_buf_fini (&found);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (i_01_what_is_appended_reads_back_in_its_normal_form),
        core_test (i_02_what_was_given_and_what_was_read_is_a_copy),
        core_test (i_04_a_write_that_fails_leaves_log_state_and_listeners_untouched),
        core_test (a_promote_or_a_fork_whose_write_fails_never_was),
        core_test (i_07_other_words_than_update_and_replace_are_refused_and_burn_no_id),
        core_test (i_09_the_key_provenance_is_the_houses_on_each_surface_and_the_callers_below),
        core_test (i_12_a_neighbourhood_reaches_as_far_as_its_depth),
        core_test (i_13_relations_are_found_by_either_end_and_by_type),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
