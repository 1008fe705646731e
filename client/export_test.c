//  Exports of several runs, against a house that answers by a script.
//  SPDX-License-Identifier: Apache-2.0
#include "client/outcome_test.h"

#include <time.h>

static void
a_run_is_exported_under_the_name_it_came_with_unless_another_has_it (void **state)
{
    (void)state;
    static const char log[] = "{'do':'ok','events':[],'after':0,'more':false}";
    assert_command (
        "export --all",
        ROWS ({"tree",
               "{'do':'ok','more':false,'after':5,'runs':["
               "{'run':'r1','label':'a','origin':'alone','parent_run_id':null},"
               "{'run':'r2','label':null,'origin':'twice','parent_run_id':'r1','forked_at_event':"
               "'evt_002','ids':'tagged'},"
               "{'run':'r3','label':null,'origin':'twice','parent_run_id':'r9'},"
               "{'run':'r4','label':null,'origin':'r1','parent_run_id':'r4'},"
               "{'run':'r5','label':null,'origin':'r5','parent_run_id':'r3','forked_at_event':"
               "'evt_001','ids':'tagged'}]}",
               0},
              {"log", log, 0}, {"log", log, 0}, {"log", log, 0}, {"log", log, 0}, {"log", log, 0}),
        "{'run_id':'alone','label':'a','parent_run_id':null,'forked_at_event_id':null,'ids':null}\n"
        "{'run_id':'r2','label':null,'parent_run_id':'alone','forked_at_event_id':'evt_002',"
        "'ids':'tagged'}\n"
        "{'run_id':'r3','label':null,'parent_run_id':null,'forked_at_event_id':null,'ids':null}\n"
        "{'run_id':'r4','label':null,'parent_run_id':'r4','forked_at_event_id':null,'ids':null}\n"
        "{'run_id':'r5','label':null,'parent_run_id':'r3','forked_at_event_id':'evt_001',"
        "'ids':'tagged'}\n",
        0);
}

//  Seconds of this thread for an export of so many runs; the last row of a full script answers for ever.
static double
cost_of_export (int runs)
{
    struct ag_buf tree = {0};
    struct timespec begin, end;
    struct fake_row rows[FAKE_SEEN];
    ag_buf_text (&tree, "{'do':'ok','more':false,'after':1,'runs':[{'run':'r0','origin':'o0'}");
    for (int i = 1; i < runs; i++)
        ag_buf_text (&tree, ",{'run':'r%d','label':null,'origin':'o%d','parent_run_id':'r0'}", i,
                     i);
    ag_buf_text (&tree, "]}%c", 0);
    rows[0] = (struct fake_row){"tree", (const char *)tree.p, 0};
    for (size_t i = 1; i < FAKE_SEEN; i++)
        rows[i] = (struct fake_row){"log", "{'do':'ok','events':[],'after':0,'more':false}", 0};
    struct fake fake = {0};
    fake_begin (&fake, rows, FAKE_SEEN);
    clock_gettime (CLOCK_THREAD_CPUTIME_ID, &begin);
    struct outcome outcome = run (fake.dir, "export --all");
    clock_gettime (CLOCK_THREAD_CPUTIME_ID, &end);
    fake_end (&fake);
    assert_int_equal (outcome.status, 0);
    outcome_fini (&outcome);
    ag_buf_fini (&tree);
    return (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
}

static void
an_export_of_many_runs_costs_each_run_the_same (void **state)
{
    (void)state;
    double few = cost_of_export (500), many = cost_of_export (4000);
    if (many > 16 * few)
        fail_msg ("500 runs took %.3f s, 4000 took %.3f s", few, many);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_run_is_exported_under_the_name_it_came_with_unless_another_has_it),
        cmocka_unit_test (an_export_of_many_runs_costs_each_run_the_same),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
