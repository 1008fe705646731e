//  SPDX-License-Identifier: Apache-2.0
#include "client/ask.h"

#include "client/fake_test.h"

static const struct ag_msg status = {.type = AG_MSG_status};
static const struct ag_ask_time soon = {2000, 100};

//  Ask once, as a command does; the error is left in err.
static int
ask_once (const struct fake *fake, const struct ag_msg *msg, struct ag_ask_time time,
          struct ag_buf *answer, struct ag_err *err)
{
    ag_ask_t *ask = ag_ask_new (fake->dir, err);
    int rc = ask ? ag_ask (ask, msg, time, answer, err) : -1;
    ag_ask_destroy (&ask);
    return rc;
}

static void
an_answer_comes_back_whole (void **state)
{
    (void)state;
    static const struct fake_row rows[] = {{"status", "{'do':'ok','epoch':3}", 0}};
    struct fake fake = {0};
    struct ag_buf answer = {0};
    struct ag_err err = {0};
    fake_begin (&fake, rows, 1);
    assert_int_equal (ask_once (&fake, &status, soon, &answer, &err), 0);
    assert_int_equal (ag_pick_uint (ag_buf_str (&answer), "epoch"), 3);
    assert_int_equal (fake.seen_count, 1);
    ag_buf_fini (&answer);
    fake_end (&fake);
}

//  A DEALER sends the map alone; the supervisor's reader accepts it.
static void
a_request_carries_the_token_and_an_id_of_its_own (void **state)
{
    (void)state;
    static const struct fake_row rows[] = {{"goal", "{'do':'ok'}", 0}, {"goal", "{'do':'ok'}", 0}};
    struct fake fake = {0};
    struct ag_buf answer = {0};
    struct ag_err err = {0};
    struct ag_msg msg = {.type = AG_MSG_goal, .goal = {AG_LIT ("auditor"), AG_LIT ("go")}}, read;
    char token[AG_TOKEN + 1];
    fake_begin (&fake, rows, 2);
    assert_int_equal (ag_home_token (&fake.home, token, &err), 0);
    assert_int_equal (ask_once (&fake, &msg, soon, &answer, &err), 0);
    assert_int_equal (ask_once (&fake, &msg, soon, &answer, &err), 0);
    assert_int_equal (fake.frames[0], 2); //  the peer, the map
    assert_int_equal (ag_wire_read (AG_PEER_CLIENT, ag_buf_str (&fake.seen[0]), &read, &err), 0);
    assert_true (ag_str_is (read.token, token));
    assert_true (ag_str_is (read.goal.text, "go"));
    assert_int_equal (read.id.n, 32);
    assert_false (ag_str_eq (read.id, fake_field (&fake, 1, "id")));
    ag_buf_fini (&answer);
    fake_end (&fake);
}

static void
on_silence_the_same_request_goes_out_again_under_the_same_id (void **state)
{
    (void)state;
    static const struct fake_row rows[] = {
        {"create", NULL, 0}, {"create", NULL, 0}, {"create", "{'do':'ok','run_id':'r1'}", 0}};
    struct fake fake = {0};
    struct ag_buf answer = {0};
    struct ag_err err = {0};
    struct ag_msg msg = {.type = AG_MSG_create, .id = AG_LIT ("mine")};
    fake_begin (&fake, rows, 3);
    assert_int_equal (ask_once (&fake, &msg, soon, &answer, &err), 0);
    assert_int_equal (fake.seen_count, 3);
    for (size_t i = 1; i < 3; i++)
        assert_true (ag_str_eq (ag_buf_str (&fake.seen[0]), ag_buf_str (&fake.seen[i])));
    assert_true (ag_str_is (fake_field (&fake, 2, "id"), "mine"));
    ag_buf_fini (&answer);
    fake_end (&fake);
}

static void
what_is_too_large_is_not_sent_and_told_with_its_limit (void **state)
{
    (void)state;
    struct fake fake = {0};
    struct ag_buf answer = {0}, text = {0};
    struct ag_err err = {0};
    memset (ag_buf_grow (&text, 65537), 'x', 65537);
    struct ag_msg msg = {.type = AG_MSG_goal, .goal = {AG_LIT ("auditor"), ag_buf_str (&text)}};
    fake_begin (&fake, NULL, 0);
    assert_int_equal (ask_once (&fake, &msg, soon, &answer, &err), -1);
    assert_int_equal (err.code, AG_E_TOO_LARGE);
    assert_string_equal (err.text, "goal.text is 65537 bytes, not 1 to 65536");
    assert_int_equal (fake.seen_count, 0);
    ag_buf_fini (&answer);
    ag_buf_fini (&text);
    fake_end (&fake);
}

static void
an_empty_frame_before_an_answer_does_not_matter (void **state)
{
    (void)state;
    static const struct fake_row rows[] = {{"status", "{'do':'ok','epoch':3}", 0}};
    struct fake fake = {.delimits = true};
    struct ag_buf answer = {0};
    struct ag_err err = {0};
    fake_begin (&fake, rows, 1);
    assert_int_equal (ask_once (&fake, &status, soon, &answer, &err), 0);
    assert_int_equal (ag_pick_uint (ag_buf_str (&answer), "epoch"), 3);
    ag_buf_fini (&answer);
    fake_end (&fake);
}

static void
what_does_not_answer_in_time_may_have_been_done (void **state)
{
    (void)state;
    struct fake fake = {0};
    struct ag_buf answer = {0};
    struct ag_err err = {0};
    fake_begin (&fake, NULL, 0);
    int64_t begin = ag_ask_clock_ms();
    assert_int_equal (ask_once (&fake, &status, (struct ag_ask_time){300, 100}, &answer, &err), -1);
    int64_t took = ag_ask_clock_ms() - begin;
    assert_int_equal (err.code, AG_E_TIMEOUT);
    assert_in_range (took, 290, 2000);
    assert_in_range (fake.seen_count, 2, 4);
    ag_buf_fini (&answer);
    fake_end (&fake);
}

static void
an_error_answer_is_an_error_here (void **state)
{
    (void)state;
    static const struct fake_row rows[] = {
        {"status",
         "{'do':'error','code':'tip_moved','message':'evt_9 is the tip','hint':'h',"
         "'retryable':true}",
         0},
        {"status", "{'do':'error','code':'of_tomorrow','message':'new','hint':'h'}", 0},
        {"status", "{'do':'error'}", 0}};
    static const enum ag_code codes[] = {AG_E_TIP_MOVED, AG_E_FAILED, AG_E_BAD_MESSAGE};
    struct fake fake = {0};
    struct ag_buf answer = {0};
    fake_begin (&fake, rows, 3);
    for (size_t i = 0; i < 3; i++) {
        struct ag_err err = {0};
        assert_int_equal (ask_once (&fake, &status, soon, &answer, &err), -1);
        assert_int_equal (err.code, codes[i]);
        if (i == 0)
            assert_string_equal (err.text, "evt_9 is the tip");
    }
    ag_buf_fini (&answer);
    fake_end (&fake);
}

static void
an_answer_to_an_earlier_request_is_dropped (void **state)
{
    (void)state;
    static const struct fake_row rows[] = {{"status", "{'do':'ok','n':1}", 2},
                                           {"status", "{'do':'ok','n':2}", 0}};
    struct fake fake = {0};
    struct ag_buf answer = {0};
    struct ag_err err = {0};
    fake_begin (&fake, rows, 2);
    ag_ask_t *ask = ag_ask_new (fake.dir, &err);
    assert_non_null (ask);
    for (uint64_t n = 1; n <= 2; n++) {
        assert_int_equal (ag_ask (ask, &status, soon, &answer, &err), 0);
        assert_int_equal (ag_pick_uint (ag_buf_str (&answer), "n"), n);
    }
    ag_ask_destroy (&ask);
    ag_buf_fini (&answer);
    fake_end (&fake);
}

//  A broker that starts again: its house holds the lock, but nobody listens for a moment.
static void
a_house_that_does_not_listen_yet_is_waited_for (void **state)
{
    (void)state;
    static const struct fake_row rows[] = {{"status", "{'do':'ok'}", 0}};
    struct fake fake = {.late_ms = 250};
    struct ag_buf answer = {0};
    struct ag_err err = {0};
    fake_begin (&fake, rows, 1);
    assert_int_equal (ask_once (&fake, &status, soon, &answer, &err), 0);
    ag_buf_fini (&answer);
    fake_end (&fake);
}

static void
a_house_that_goes_away_is_no_supervisor_at_once (void **state)
{
    (void)state;
    static const struct fake_row rows[] = {{"status", NULL, 0}};
    struct fake fake = {.leaves = true};
    struct ag_buf answer = {0};
    struct ag_err err = {0};
    fake_begin (&fake, rows, 1);
    int64_t begin = ag_ask_clock_ms();
    assert_int_equal (ask_once (&fake, &status, (struct ag_ask_time){8000, 100}, &answer, &err),
                      -1);
    assert_int_equal (err.code, AG_E_NO_SUPERVISOR);
    assert_in_range (ag_ask_clock_ms() - begin, 0, 3000);
    ag_buf_fini (&answer);
    fake_end (&fake);
}

//  No home; a home where nobody ever was; a home that somebody left without wiping his feet.
static void
no_home_and_no_house_are_told_apart (void **state)
{
    (void)state;
    char dir[] = "/tmp/agsup-ask-XXXXXX";
    struct ag_err err = {0};
    struct ag_home home;
    struct ag_buf answer = {0};
    assert_non_null (mkdtemp (dir));
    char *none = ag_xprintf ("%s/none", dir);
    assert_null (ag_ask_new (none, &err));
    assert_int_equal (err.code, AG_E_NO_SUPERVISOR);
    assert_non_null (strstr (err.text, "No such file"));

    assert_int_equal (ag_home_make (none, &err), 0);
    assert_null (ag_ask_new (none, &err));
    assert_int_equal (err.code, AG_E_NO_SUPERVISOR);
    assert_non_null (strstr (err.text, "not up"));

    assert_int_equal (ag_home_open (&home, none, &err), 0);
    assert_int_equal (ag_home_prepare (&home, &err), 0);
    ag_ask_t *ask = ag_ask_new (none, &err);
    assert_non_null (ask);
    assert_int_equal (ag_ask (ask, &status, (struct ag_ask_time){8000, 8000}, &answer, &err), -1);
    assert_int_equal (err.code, AG_E_NO_SUPERVISOR);
    assert_non_null (strstr (err.text, "no supervisor runs in"));
    ag_ask_destroy (&ask);
    ag_home_leave (&home);
    ag_home_fini (&home);
    char *remove = ag_xprintf ("rm -rf %s", dir);
    assert_int_equal (system (remove), 0);
    free (remove);
    free (none);
}

static void
a_home_of_somebody_else_is_not_allowed (void **state)
{
    (void)state;
    struct fake fake = {0};
    struct ag_err err = {0};
    fake_begin (&fake, NULL, 0);
    if (geteuid() == 0)
        assert_int_equal (seteuid (65534), 0);
    else
        assert_int_equal (chmod (fake.dir, 0), 0);
    ag_ask_t *ask = ag_ask_new (fake.dir, &err);
    if (getuid() == 0)
        assert_int_equal (seteuid (0), 0);
    else
        assert_int_equal (chmod (fake.dir, 0700), 0);
    assert_null (ask);
    assert_int_equal (err.code, AG_E_NOT_ALLOWED);
    fake_end (&fake);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (an_answer_comes_back_whole),
        cmocka_unit_test (a_request_carries_the_token_and_an_id_of_its_own),
        cmocka_unit_test (on_silence_the_same_request_goes_out_again_under_the_same_id),
        cmocka_unit_test (what_is_too_large_is_not_sent_and_told_with_its_limit),
        cmocka_unit_test (an_empty_frame_before_an_answer_does_not_matter),
        cmocka_unit_test (what_does_not_answer_in_time_may_have_been_done),
        cmocka_unit_test (an_error_answer_is_an_error_here),
        cmocka_unit_test (an_answer_to_an_earlier_request_is_dropped),
        cmocka_unit_test (a_house_that_does_not_listen_yet_is_waited_for),
        cmocka_unit_test (a_house_that_goes_away_is_no_supervisor_at_once),
        cmocka_unit_test (no_home_and_no_house_are_told_apart),
        cmocka_unit_test (a_home_of_somebody_else_is_not_allowed),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
