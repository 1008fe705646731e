//  How commands ask a house that answers by a script: page after page, part after part, until a timeout.
//  SPDX-License-Identifier: Apache-2.0
#include "client/outcome_test.h"

//  It would be asked for ever, and to end there would be a list that is short and does not say so.
static void
a_house_that_says_there_is_more_and_goes_no_further_is_at_fault (void **state)
{
    (void)state;
    static const struct {
        const char *line, *word, *answer;
    } cases[] = {
        {"log a", "log", "{'do':'ok','events':[],'after':3,'more':true}"},
        {"export a", "log", "{'do':'ok','events':[],'after':3,'more':true}"},
        {"failures a", "failures", "{'do':'ok','failures':[],'after':3,'more':true}"},
        {"tree", "tree", "{'do':'ok','runs':[{'run':'r3'}],'after':3,'more':true}"},
        {"export --all", "tree", "{'do':'ok','runs':[],'after':3,'more':true}"},
        {"tail --after 3 --quiet", "events", "{'do':'ok','events':[],'after':3,'more':true}"},
        {"approvals", "approvals", "{'do':'ok','approvals':[],'patches':[],'next':'pr1'}"},
        {"objects a", "objects", "{'do':'ok','run':'a','objects':[],'next':'oa'}"},
        {"output a", "output", "{'do':'ok','text':'x','after':3}"},
        {"verify", "verify", "{'do':'ok','ok':true,'runs':[],'next':3,'done':true}"},
        {"archive a", "archive", "{'do':'ok','archived_through':'evt_003','more':true}"},
        {"snapshot a", "snapshot", "{'do':'ok','objects':3,'relations':0,'more':true}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct fake_row row = {cases[i].word, cases[i].answer, 0};
        struct fake_row rows[3] = {row, row, row};
        bool tails = !strcmp (row.word, "events");
        if (tails) //  which begins after 3
            rows[0] = (struct fake_row){
                "status", "{'do':'ok','stream':3,'sockets':{'monitor':'ipc:///tmp/agsup-none'}}",
                0};
        struct fake fake = {0};
        fake_begin (&fake, rows, 3);
        struct outcome outcome = run (fake.dir, cases[i].line);
        if (outcome.status != -1 || outcome.err.code != AG_E_BAD_MESSAGE)
            fail_msg ("%s: %d %s", cases[i].line, outcome.status, outcome.err.text);
        assert_int_equal (fake.seen_count, 2);
        outcome_fini (&outcome);
        fake_end (&fake);
    }
}

//  The other side would refuse it as it refuses a peer that is broken; this one knows whose fault it is.
static void
what_cannot_be_asked_is_refused_as_a_mistake_of_the_line_before_it_is_sent (void **state)
{
    (void)state;
    static const struct {
        const char *line, *text;
    } cases[] = {{"fork a --count 0", "fork.count is 0, not 1 to 256"},
                 {"fork a --count 1000", "fork.count is 1000, not 1 to 256"},
                 {"create --label=", "create.label is 0 bytes, not 1 to 64"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fake fake = {0};
        fake_begin (&fake, NULL, 0);
        struct outcome outcome = run (fake.dir, cases[i].line);
        assert_int_equal (outcome.status, -1);
        assert_int_equal (outcome.err.code, AG_E_USAGE);
        assert_string_equal (outcome.err.text, cases[i].text);
        assert_int_equal (fake.seen_count, 0);
        outcome_fini (&outcome);
        fake_end (&fake);
    }
}

static void
a_wait_asks_again_until_it_is_done (void **state)
{
    (void)state;
    assert_command (
        "wait one two --json",
        ROWS ({"wait", "{'do':'ok','runs':[{'run':'r1','state':'busy'}],'done':false}", 0},
              {"wait", "{'do':'ok','runs':[{'run':'r1','state':'ready'}],'done':true}", 0}),
        "{'runs':[{'run':'r1','state':'ready'}],'done':true}\n", 0);
}

static void
a_run_that_gave_up_is_called_as_it_was_named (void **state)
{
    (void)state;
    static const struct fake_row row = {
        "wait",
        "{'do':'ok','runs':[{'run':'r1','state':'idle'},{'run':'r2','state':'failed'}],"
        "'done':true}",
        0};
    struct fake fake = {0};
    fake_begin (&fake, &row, 1);
    struct outcome outcome = run (fake.dir, "wait one two");
    assert_int_equal (outcome.status, -1);
    assert_contains (outcome.err.text, "two is failed: `agsup output two`");
    outcome_fini (&outcome);
    fake_end (&fake);
}

static void
a_wait_ends_at_its_timeout (void **state)
{
    (void)state;
    static const char busy[] = "{'do':'ok','runs':[],'done':false}";
    struct fake_row rows[FAKE_SEEN];
    for (size_t i = 0; i < FAKE_SEEN; i++)
        rows[i] = (struct fake_row){"wait", busy, 0};
    struct fake fake = {0};
    fake_begin (&fake, rows, FAKE_SEEN);
    struct outcome outcome = run (fake.dir, "--timeout 0.01 wait one");
    assert_int_equal (outcome.status, -1);
    assert_int_equal (outcome.err.code, AG_E_TIMEOUT);
    assert_string_equal (outcome.err.text, "one not idle after 0.010 s");
    outcome_fini (&outcome);
    fake_end (&fake);
}

//  Of requests that each take 0.3 s or more, those before the timeout and one more: it says that it is not done.
static void
a_timeout_is_of_the_command_and_not_of_each_part_of_it (void **state)
{
    (void)state;
    static const char first[] = "{'do':'ok','ok':true,'runs':[],'next':1,'done':true}",
                      more[] = "{'do':'ok','ok':true,'runs':[],'done':false}",
                      ended[] = "{'do':'ok','runs':[],'done':true}",
                      busy[] = "{'do':'ok','runs':[],'done':false}",
                      gone[] = "{'do':'ok','run':'r2','state':'discarded'}";
    static const struct {
        const char *line, *text;
        struct fake_row rows[8];
    } cases[] = {{"verify --timeout 0.75",
                  "the verification is not done after 0.750 s",
                  {{"verify", more, 0},
                   {"verify", first, 0},
                   {"verify", more, 0},
                   {"verify", more, 0},
                   {"verify", more, 0},
                   {"verify", more, 0},
                   {"verify", more, 0},
                   {"verify", more, 0}}},
                 {"discard x y --quiet --timeout 0.75",
                  "r2 not ended after 0.750 s",
                  {{"discard", gone, 0},
                   {"wait", ended, 0},
                   {"discard", gone, 0},
                   {"wait", busy, 0},
                   {"wait", busy, 0},
                   {"wait", busy, 0},
                   {"wait", busy, 0},
                   {"wait", busy, 0}}}};
    for (size_t i = 0; i < 2; i++) {
        struct fake fake = {.slow_ms = 300};
        fake_begin (&fake, cases[i].rows, 8);
        struct outcome outcome = run (fake.dir, cases[i].line);
        assert_int_equal (outcome.status, -1);
        assert_int_equal (outcome.err.code, AG_E_TIMEOUT);
        assert_string_equal (outcome.err.text, cases[i].text);
        assert_in_range (fake.seen_count, 2, 4);
        outcome_fini (&outcome);
        fake_end (&fake);
    }
}

static void
a_goal_can_be_waited_for_and_only_the_goal_bears_the_request_id (void **state)
{
    (void)state;
    static const struct fake_row rows[] = {{"goal", "{'do':'ok','run':'r1','event_id':'evt_7'}", 0},
                                           {"wait", "{'do':'ok','runs':[],'done':true}", 0}};
    struct fake fake = {0};
    fake_begin (&fake, rows, 2);
    struct outcome outcome = run (fake.dir, "goal auditor go --wait --request-id g1 --json");
    assert_string_equal (outcome.out, "{\"run\":\"r1\",\"event_id\":\"evt_7\"}\n");
    assert_true (ag_str_is (fake_field (&fake, 0, "id"), "g1"));
    assert_false (ag_str_is (fake_field (&fake, 1, "id"), "g1"));
    outcome_fini (&outcome);
    fake_end (&fake);
}

static void
long_work_is_asked_for_until_it_is_done_by_children_of_the_request_id (void **state)
{
    (void)state;
    static const struct fake_row rows[] = {
        {"archive", "{'do':'ok','run':'r1','archived_through':'evt_8000','more':true}", 0},
        {"archive", "{'do':'ok','run':'r1','archived_through':'evt_9001','more':false}", 0}};
    struct fake fake = {0};
    fake_begin (&fake, rows, 2);
    struct outcome outcome = run (fake.dir, "archive auditor --request-id a1 --json");
    assert_string_equal (outcome.out, "{\"run\":\"r1\",\"archived_through\":\"evt_9001\"}\n");
    assert_true (ag_str_is (fake_field (&fake, 0, "id"), "a1/1"));
    assert_true (ag_str_is (fake_field (&fake, 1, "id"), "a1/2"));
    outcome_fini (&outcome);
    fake_end (&fake);
}

static void
a_request_id_that_leaves_no_room_for_a_part_is_refused_before_anything_is_sent (void **state)
{
    (void)state;
    static const char *const lines[] = {"archive a", "discard a", "apply a /dev/stdin --each",
                                        "import /dev/null"};
    int hold = dup (0), pipes[2];
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char *line = ag_xprintf ("%s --request-id %044d", lines[i], 0);
        struct fake fake = {0};
        fake_begin (&fake, NULL, 0);
        assert_int_equal (pipe (pipes), 0);
        assert_int_equal (write (pipes[1], "{}\n", 3), 3);
        dup2 (pipes[0], 0);
        close (pipes[0]);
        close (pipes[1]);
        struct outcome outcome = run (fake.dir, line);
        assert_int_equal (outcome.status, -1);
        assert_int_equal (outcome.err.code, AG_E_USAGE);
        assert_int_equal (fake.seen_count, 0);
        outcome_fini (&outcome);
        fake_end (&fake);
        free (line);
    }
    dup2 (hold, 0);
    close (hold);
}

static void
failures_after_a_wait_are_looked_for_but_not_in_quiet_nor_in_json (void **state)
{
    (void)state;
    static const char ready[] = "{'do':'ok','runs':[{'run':'r1','state':'ready'}],'done':true}";
    assert_command (
        "wait one",
        ROWS ({"wait", ready, 0}, {"log", "{'do':'ok','events':[{'type':'behavior.failed'}]}", 0}),
        "r1  ready\n", 0);
    assert_command ("wait one --quiet", ROWS ({"wait", ready, 0}), "r1  ready\n", 0);
    assert_command ("wait one --json", ROWS ({"wait", ready, 0}),
                    "{'runs':[{'run':'r1','state':'ready'}],'done':true}\n", 0);
}

static void
what_failed_before_a_fork_was_cut_is_not_told_of_the_fork (void **state)
{
    (void)state;
    static const struct fake_row rows[] = {{"wait",
                                            "{'do':'ok','runs':[{'run':'r2','label':'try','forked_"
                                            "at_event':'evt_042','state':'idle'}],"
                                            "'done':true}",
                                            0},
                                           {"log", "{'do':'ok','events':[]}", 0}};
    struct fake fake = {0};
    fake_begin (&fake, rows, 2);
    struct outcome outcome = run (fake.dir, "wait r2");
    assert_int_equal (outcome.status, 0);
    assert_true (ag_str_is (fake_field (&fake, 1, "run"), "try"));
    assert_int_equal (ag_pick_uint (ag_buf_str (&fake.seen[1]), "after"), 42);
    outcome_fini (&outcome);
    fake_end (&fake);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_house_that_says_there_is_more_and_goes_no_further_is_at_fault),
        cmocka_unit_test (
            what_cannot_be_asked_is_refused_as_a_mistake_of_the_line_before_it_is_sent),
        cmocka_unit_test (a_wait_asks_again_until_it_is_done),
        cmocka_unit_test (a_run_that_gave_up_is_called_as_it_was_named),
        cmocka_unit_test (a_wait_ends_at_its_timeout),
        cmocka_unit_test (a_timeout_is_of_the_command_and_not_of_each_part_of_it),
        cmocka_unit_test (a_goal_can_be_waited_for_and_only_the_goal_bears_the_request_id),
        cmocka_unit_test (long_work_is_asked_for_until_it_is_done_by_children_of_the_request_id),
        cmocka_unit_test (
            a_request_id_that_leaves_no_room_for_a_part_is_refused_before_anything_is_sent),
        cmocka_unit_test (failures_after_a_wait_are_looked_for_but_not_in_quiet_nor_in_json),
        cmocka_unit_test (what_failed_before_a_fork_was_cut_is_not_told_of_the_fork),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
