//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/mismatch.h"
#include "supervisor/core_graph_test.h"
#include "supervisor/record.h"

static const char spec[] =
    "{\"hosts\":[{\"kind\":\"script\",\"packs\":[{\"name\":\"demo\",\"version\":\"0.1.0\","
    "\"bundle_hash\":\"%s\",\"settings\":{},\"surface\":%s},{\"name\":\"plain\",\"version\":\"1\","
    "\"bundle_hash\":\"h\",\"surface\":null}]},{\"kind\":\"program\"}]}";

//  A registration of the run's host, with this surface in the manifest of `demo`: the remark.
static char *
register_with (struct core *self, uint64_t run, const char *hash, const char *surface,
               uint32_t host)
{
    struct ag_buf list = {0}, behaviors = {0}, remark = {0};
    char *json = ag_xprintf (spec, hash, surface);
    must (self, ag_json_read (ag_str (json), &list, &self->err));
    must (self, ag_json_read (ag_str ("[{\"name\":\"greeter\",\"pack\":\"demo\"},"
                                      "{\"name\":\"other\",\"pack\":\"plain\"}]"),
                              &behaviors, &self->err));
    must (self, ag_mismatch_tell (self->journal, core_run (self, run), ag_buf_str (&list), host,
                                  ag_buf_str (&behaviors), AG_LIT ("\x90"), &remark, &self->err));
    core_commit (self);
    ag_buf_add (&remark, "", 1);
    ag_buf_fini (&list);
    ag_buf_fini (&behaviors);
    free (json);
    return (char *)remark.p;
}

static void
is_remarked (struct core *self, uint64_t run, const char *hash, const char *surface,
             const char *wanted)
{
    char *remark = register_with (self, run, hash, surface, 0);
    assert_string_equal (remark, wanted);
    free (remark);
}

#define ODD "{\"behaviors\":[\"ghost\"]}"
#define REMARK                                                                                     \
    "the manifest of pack demo 0.1.0 is not what it does: behavior `ghost` is declared and not "   \
    "found, and 1 more"

static void
case_65_a_pack_at_odds_with_its_manifest_is_told_of_once_and_remarked_as_long_as_it_is (
    void **state)
{
    struct core *self = *state;
    struct ag_buf hold = {0}, text = {0};
    struct ag_event event;
    uint64_t run = core_root (self, NULL);
    is_remarked (self, run, "h1", ODD, REMARK);
    assert_int_equal (core_tip (self, run), 1);
    must (self,
          ag_journal_read (self->journal, core_run (self, run), 1, &hold, &event, &self->err));
    ag_json_write (event.payload, AG_JSON_LINE, &text);
    ag_buf_add (&text, "", 1);
    assert_true (ag_str_is (event.type, "pack.mismatched"));
    assert_string_equal ((char *)text.p,
                         "{\"name\":\"demo\",\"version\":\"0.1.0\",\"bundle_hash\":\"h1\","
                         "\"mismatches\":[\"behavior `ghost` is declared and not found\","
                         "\"behavior `greeter` is found and not declared\"]}");
    is_remarked (self, run, "h1", ODD, REMARK);
    core_again (self);
    is_remarked (self, run, "h1", ODD, REMARK);
    uint64_t fork = core_fork (self, run), tip = core_tip (self, fork);
    is_remarked (self, fork, "h1", ODD, REMARK);
    assert_int_equal (core_tip (self, fork), tip);
    assert_int_equal (core_tip (self, run), 1);
    is_remarked (self, run, "h2", ODD, REMARK); //  other bytes
    assert_int_equal (core_tip (self, run), 2);
    ag_buf_fini (&hold);
    ag_buf_fini (&text);
}

static void
a_name_is_no_line_and_what_has_no_room_is_counted (void **state)
{
    struct core *self = *state;
    struct ag_buf surface = {0}, hold = {0}, text = {0};
    struct ag_event event;
    uint64_t run = core_root (self, NULL);
    ag_buf_text (&surface, "{\"behaviors\":[\"a\\nb\"");
    for (int i = 0; i < 200; i++)
        ag_buf_text (&surface, ",\"ghost_%d\"", i);
    ag_buf_text (&surface, "]}");
    free (register_with (self, run, "h1", (char *)surface.p, 0));
    must (self,
          ag_journal_read (self->journal, core_run (self, run), 1, &hold, &event, &self->err));
    ag_json_write (event.payload, AG_JSON_LINE, &text);
    ag_buf_add (&text, "", 1);
    assert_non_null (strstr ((char *)text.p, "[\"behavior `a?b` is declared and not found\","));
    assert_non_null (strstr ((char *)text.p, "\"and 102 more\"]}"));
    ag_buf_fini (&surface);
    ag_buf_fini (&hold);
    ag_buf_fini (&text);
}

static void
cases_56_and_67_a_pack_that_is_as_declared_or_declares_nothing_is_silent (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, NULL);
    is_remarked (self, run, "h1", "{\"behaviors\":[\"greeter\"]}", "");
    is_remarked (self, run, "h1", "null", "");
    char *remark = register_with (self, run, "h1", ODD, 1); //  a program has no manifest
    assert_string_equal (remark, "");
    free (remark);
    assert_int_equal (core_tip (self, run), 0);
}

static void
a_trial_asks_for_every_line_and_nothing_is_appended (void **state)
{
    struct core *self = *state;
    struct ag_buf list = {0}, lines = {0};
    uint64_t run = core_root (self, NULL);
    char *json = ag_xprintf (spec, "h1", ODD);
    must (self, ag_json_read (ag_str (json), &list, &self->err));
    assert_int_equal (
        ag_mismatch_lines (ag_buf_str (&list), 0, AG_LIT ("\x90"), AG_LIT ("\x90"), &lines), 1);
    assert_true (
        ag_str_is (ag_buf_str (&lines), "pack demo: behavior `ghost` is declared and not found\n"));
    assert_int_equal (core_tip (self, run), 0);
    free (json);
    ag_buf_fini (&list);
    ag_buf_fini (&lines);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (
            case_65_a_pack_at_odds_with_its_manifest_is_told_of_once_and_remarked_as_long_as_it_is),
        core_test (a_name_is_no_line_and_what_has_no_room_is_counted),
        core_test (cases_56_and_67_a_pack_that_is_as_declared_or_declares_nothing_is_silent),
        core_test (a_trial_asks_for_every_line_and_nothing_is_appended),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
