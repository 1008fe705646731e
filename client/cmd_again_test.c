//  The commands that do a run again, against a house that answers by a script.
//  SPDX-License-Identifier: Apache-2.0
#include "client/outcome_test.h"

#define EVENT(seq, rest) "{'id':'evt_00" #seq "','seq':" #seq "," rest "}"
#define FROM_USER        "'actor':'user','caused_by':null,"
#define IDLE             "{'do':'ok','runs':[{'run':'r7','state':'ready'}],'done':true}"
#define DIFF                                                                                       \
    "{'do':'ok','a':'one','b':'r7','divergent_objects':[{'id':'x'}],'divergent_relations':[]}"

//  Two events come together, a third when the fork has done what the run had done before it.
static void
a_run_again_is_a_fork_into_which_everything_from_outside_is_put_in_its_order (void **state)
{
    (void)state;
    static const char log[] = "{'do':'ok','events':["                       //
        EVENT (3, FROM_USER "'type':'a','payload':{}") ","                  //
        EVENT (4, FROM_USER "'type':'b','payload':{}") ","                  //
        EVENT (5, "'type':'behavior.started'") ","                          //
        EVENT (6, "'type':'promote.applied','actor':'runtime'") ","         //
        EVENT (7, FROM_USER "'type':'goal.created','payload':{'goal':'g'}") //
        "],'after':7,'more':false}";
    const struct fake_row rows[] = {
        {"log", "{'do':'ok','events':[" EVENT (7, "'type':'x'") "]}", 0},
        {"fork", "{'do':'ok','run_id':'r7','forked_at_event':'evt_002'}", 0},
        {"log", log, 0},
        {"apply", "{'do':'ok'}", 0},
        {"wait", IDLE, 0},
        {"goal", "{'do':'ok'}", 0},
        {"wait", IDLE, 0},
        {"diff", DIFF, 0}};
    static const char says[] =
        "{'run':'one','fork_run_id':'r7','effects':'%s','put_in':3,'left_out':[{'event_id':"
        "'evt_006','type':'promote.applied','reason':'a fork is promoted into its own parent'}],"
        "'diff':{'a':'one','b':'r7','divergent_objects':[{'id':'x'}],'divergent_relations':[]}}\n";
    char text[600];
    snprintf (text, sizeof text, says, "replay");
    assert_command ("replay one --json", rows, 8, text, 5);
    snprintf (text, sizeof text, says, "live");
    assert_command ("rerun one --json", rows, 8, text, 0);
}

#define REFUSED   "{'do':'error','code':'not_found','message':'there is no object `x`'}"
#define TWO_TIMES "{'do':'error','code':'reused','message':'it stands for another request'}"
#define REMOVED   FROM_USER "'type':'object.removed','payload':{'id':'x'}"
#define ALIKE     "{'do':'ok','divergent_objects':[],'divergent_relations':[]}"

//  The command with these answers ends with an error.
static void
assert_fails (const char *line, const struct fake_row *rows, size_t count, enum ag_code code,
              const char *text)
{
    struct fake fake = {0};
    fake_begin (&fake, rows, count);
    struct outcome outcome = run (fake.dir, line);
    assert_int_equal (fake.seen_count, count);
    assert_int_equal (outcome.status, -1);
    assert_int_equal (outcome.err.code, code);
    assert_string_equal (outcome.err.text, text);
    outcome_fini (&outcome);
    fake_end (&fake);
}

static void
what_the_fork_refuses_is_told_and_every_other_error_ends_it (void **state)
{
    (void)state;
    static const char log[] =
        "{'do':'ok','events':[" EVENT (3, REMOVED) "],'after':3,'more':false}";
    static const enum ag_code others[] = {AG_E_CORRUPT,   AG_E_STORE,     AG_E_SYSTEM,
                                          AG_E_DISCARDED, AG_E_DISK_FULL, AG_E_REUSED,
                                          AG_E_BUDGET,    AG_E_FAILED,    AG_E_BAD_MESSAGE};
    struct fake_row rows[] = {{"log", "{'do':'ok','events':[" EVENT (3, "'type':'x'") "]}", 0},
                              {"fork", "{'do':'ok','run_id':'r7','forked_at_event':'evt_002'}", 0},
                              {"log", log, 0},
                              {"apply", REFUSED, 0},
                              {"wait", IDLE, 0},
                              {"diff", ALIKE, 0}};
    assert_command ("replay one@evt_002 --json", rows, 6,
                    "{'run':'one','fork_run_id':'r7','effects':'replay','put_in':0,'left_out':[{"
                    "'event_id':'evt_003','type':'object.removed','reason':'there is no object "
                    "`x`'}],'diff':{'divergent_objects':[],'divergent_relations':[]}}\n",
                    0);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char *answer =
            ag_xprintf ("{'do':'error','code':'%s','message':'because'}", ag_code_name (others[i]));
        rows[3].answer = answer;
        assert_fails ("replay one", rows, 4, others[i], "r7: because");
        free (answer);
    }
}

#define TWO                                                                                        \
    "{'do':'ok','events':[" EVENT (3, FROM_USER "'type':'a','payload':{}") "," EVENT (             \
        4, REMOVED) "],'after':4,'more':false}"

static void
of_a_batch_only_what_the_fork_refuses_is_left_out_and_so_it_is_when_it_is_repeated (void **state)
{
    (void)state;
    struct fake_row rows[] = {{"log", "{'do':'ok','events':[" EVENT (4, "'type':'x'") "]}", 0},
                              {"fork", "{'do':'ok','run_id':'r7','forked_at_event':'evt_002'}", 0},
                              {"log", TWO, 0},
                              {"apply", REFUSED, 0},
                              {"apply", "{'do':'ok'}", 0},
                              {"apply", REFUSED, 0},
                              {"wait", IDLE, 0},
                              {"diff", ALIKE, 0}};
    static const char says[] =
        "{'run':'one','fork_run_id':'r7','effects':'replay','put_in':1,'left_out':[{'event_id':"
        "'evt_004','type':'object.removed','reason':'there is no object `x`'}],'diff':{"
        "'divergent_objects':[],'divergent_relations':[]}}\n";
    assert_command ("replay one --json", rows, 8, says, 0);
    rows[3].answer = TWO_TIMES;
    assert_command ("replay one --json --request-id q", rows, 8, says, 0);
    rows[4].answer = TWO_TIMES; //  a batch it was, and a smaller one
    assert_fails ("replay one --request-id q", rows, 5, AG_E_REUSED,
                  "r7: it stands for another request");
}

static void
assert_no_child (struct ag_str id)
{
    assert_true (id.n > 2 && memcmp (id.p, "q", 1));
}

static void
requests_are_named_by_the_first_event_they_stand_for_and_questions_are_not (void **state)
{
    (void)state;
    static const char log[] = "{'do':'ok','events':["                           //
        EVENT (3, FROM_USER "'type':'a','payload':{}") ","                      //
        EVENT (4, REMOVED) ","                                                  //
        EVENT (7, FROM_USER "'type':'goal.created','payload':{'goal':'g'}") "," //
        EVENT (8, FROM_USER "'type':'a','payload':{}")                          //
        "],'after':8,'more':false}";
    static const struct fake_row rows[] = {
        {"log", "{'do':'ok','events':[" EVENT (8, "'type':'x'") "]}", 0},
        {"fork", "{'do':'ok','run_id':'r7','forked_at_event':'evt_002'}", 0},
        {"log", log, 0},
        {"apply", "{'do':'ok'}", 0},
        {"goal", "{'do':'ok'}", 0},
        {"apply", "{'do':'ok'}", 0},
        {"wait", IDLE, 0},
        {"diff", ALIKE, 0}};
    static const char *const names[] = {NULL, "q/0", NULL, "q/3", "q/7", "q/8", NULL, NULL};
    struct fake fake = {0};
    fake_begin (&fake, rows, 8);
    struct outcome outcome = run (fake.dir, "replay one --request-id q --json");
    assert_int_equal (outcome.status, 0);
    for (size_t i = 0; i < 8; i++)
        if (names[i])
            assert_true (ag_str_is (fake_field (&fake, i, "id"), names[i]));
        else
            assert_no_child (fake_field (&fake, i, "id"));
    outcome_fini (&outcome);
    fake_end (&fake);
    assert_fails ("replay one --request-id 12345678901234567890123456789012345678901234", rows, 1,
                  AG_E_USAGE,
                  "--request-id takes 43 bytes at most here, where it names several requests, not "
                  "44");
}

static void
a_fork_that_waits_for_a_decision_is_exit_6_and_shown (void **state)
{
    (void)state;
    assert_command (
        "--quiet replay one --json",
        ROWS ({"log", "{'do':'ok','events':[" EVENT (3, "'type':'x'") "]}", 0},
              {"fork", "{'do':'ok','run_id':'r7','forked_at_event':'evt_003'}", 0},
              {"log", "{'do':'ok','events':[],'after':3,'more':false}", 0},
              {"wait",
               "{'do':'ok','runs':[{'run':'r7','approvals':[{'approval_id':'a'}]}],"
               "'done':true}",
               0},
              {"diff", DIFF, 0}),
        "{'run':'one','fork_run_id':'r7','effects':'replay','put_in':0,'left_out':[],'diff':{"
        "'a':'one','b':'r7','divergent_objects':[{'id':'x'}],'divergent_relations':[]}}\n",
        6);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (
            a_run_again_is_a_fork_into_which_everything_from_outside_is_put_in_its_order),
        cmocka_unit_test (what_the_fork_refuses_is_told_and_every_other_error_ends_it),
        cmocka_unit_test (
            of_a_batch_only_what_the_fork_refuses_is_left_out_and_so_it_is_when_it_is_repeated),
        cmocka_unit_test (
            requests_are_named_by_the_first_event_they_stand_for_and_questions_are_not),
        cmocka_unit_test (a_fork_that_waits_for_a_decision_is_exit_6_and_shown),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
