//  SPDX-License-Identifier: Apache-2.0
#include "client/capture_test.h"
#include "client/print.h"

static const struct ag_look plain = {0};

//  What a person sees of a report, given as JSON with ' for ".
static void
assert_prints (const char *json, const char *expected)
{
    struct ag_buf value = value_of (json);
    struct capture capture = capture_begin();
    ag_print_trial (&plain, ag_buf_str (&value));
    char *text = capture_end (&capture);
    assert_string_equal (text, expected);
    free (text);
    ag_buf_fini (&value);
}

#define NETS                                                                                       \
    "'nets':[{'name':'wall','asked':1500,'in_force':true,'reason':null},"                          \
    "{'name':'memory','asked':536870912,'in_force':true,'reason':null},"                           \
    "{'name':'events','asked':2000,'in_force':true,'reason':null}],"                               \
    "'layers':[{'name':'uid','asked':'try','in_force':true,'reason':null},"                        \
    "{'name':'cgroup','asked':'try','in_force':false,'reason':'No such file'}]"

static void
what_completed_is_said_in_a_few_lines (void **state)
{
    (void)state;
    assert_prints (
        "{'outcome':'completed','fork_run_id':'r3f','events_appended':12,'invocations':3,"
        "'behavior_failures':0,'exit_code':0,'signal':null,'net':null,'detail':'',"
        "'stderr_tail':null," NETS "}",
        "completed  r3f\n"
        "  did     12 events, 3 invocations, 0 of them failed; its process ended with exit "
        "status 0\n"
        "  held    wall 1.5s, memory 512MiB, events 2000, uid\n"
        "  off     cgroup (No such file)\n");
}

static void
the_net_that_fired_and_the_last_words_are_said (void **state)
{
    (void)state;
    assert_prints (
        "{'outcome':'limits_exceeded','fork_run_id':'r3f','events_appended':1,'invocations':1,"
        "'behavior_failures':1,'exit_code':null,'signal':9,'net':'wall','detail':'the "
        "wall clock ran out','stderr_tail':'one\\ntwo','nets':[],'layers':[]}",
        "limits_exceeded  r3f: the wall clock ran out\n"
        "  fired   wall\n"
        "  did     1 event, 1 invocation, 1 of them failed; its process ended by signal 9\n"
        "  the end of its stderr:\n"
        "one\ntwo\n");
}

static void
a_trial_that_invoked_nothing_says_so (void **state)
{
    (void)state;
    assert_prints (
        "{'outcome':'completed','fork_run_id':'r3f','events_appended':2,'invocations':0,"
        "'behavior_failures':0,'exit_code':0,'signal':null,'net':null,'detail':'',"
        "'stderr_tail':null,'nets':[],'layers':[]}",
        "completed  r3f\n"
        "  did     2 events, 0 invocations, 0 of them failed; its process ended with exit "
        "status 0\n"
        "  nothing of it was invoked: the scenario has no event that its behaviours wait for\n");
}

static void
what_never_ran_is_said_to_have_no_process (void **state)
{
    (void)state;
    assert_prints ("{'outcome':'materialization_failed','fork_run_id':'r3f','events_appended':0,'"
                   "invocations':0,"
                   "'behavior_failures':0,'exit_code':null,'signal':null,'net':null,'detail':'x',"
                   "'stderr_tail':null," NETS "}",
                   "materialization_failed  r3f: x\n"
                   "  did     0 events, 0 invocations, 0 of them failed; no process of it ran\n");
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (what_completed_is_said_in_a_few_lines),
        cmocka_unit_test (the_net_that_fired_and_the_last_words_are_said),
        cmocka_unit_test (a_trial_that_invoked_nothing_says_so),
        cmocka_unit_test (what_never_ran_is_said_to_have_no_process),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
