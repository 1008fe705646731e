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

static void
what_the_fork_refuses_is_told_and_a_lost_house_ends_it (void **state)
{
    (void)state;
    static const char log[] = "{'do':'ok','events':[" EVENT (
        3, FROM_USER "'type':'object.removed','payload':{'id':'x'}") "],'after':3,'more':false}";
    struct fake_row rows[] = {
        {"log", "{'do':'ok','events':[" EVENT (3, "'type':'x'") "]}", 0},
        {"fork", "{'do':'ok','run_id':'r7','forked_at_event':'evt_002'}", 0},
        {"log", log, 0},
        {"apply", "{'do':'error','code':'not_found','message':'there is no object `x`'}", 0},
        {"wait", IDLE, 0},
        {"diff", "{'do':'ok','divergent_objects':[],'divergent_relations':[]}", 0}};
    assert_command ("replay one@evt_002 --json", rows, 6,
                    "{'run':'one','fork_run_id':'r7','effects':'replay','put_in':0,'left_out':[{"
                    "'event_id':'evt_003','type':'object.removed','reason':'there is no object "
                    "`x`'}],'diff':{'divergent_objects':[],'divergent_relations':[]}}\n",
                    0);
    rows[3].answer = "{'do':'error','code':'disk_full','message':'it is full'}";
    struct fake fake = {0};
    fake_begin (&fake, rows, 4);
    struct outcome outcome = run (fake.dir, "replay one");
    assert_int_equal (outcome.err.code, AG_E_DISK_FULL);
    assert_string_equal (outcome.err.text, "r7: it is full");
    outcome_fini (&outcome);
    fake_end (&fake);
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
        cmocka_unit_test (what_the_fork_refuses_is_told_and_a_lost_house_ends_it),
        cmocka_unit_test (a_fork_that_waits_for_a_decision_is_exit_6_and_shown),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
