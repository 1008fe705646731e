//  SPDX-License-Identifier: Apache-2.0
//  The numbers are those of the reference's conformance cases; tests/conformance/README has the table.
#include "supervisor/promote_test.h"

static const char *
diff_page (struct core *self, uint64_t a, uint64_t a_at, uint64_t b, uint64_t b_at,
           const struct ag_diff_page *page)
{
    struct ag_buf out = {0};
    must (self, ag_diff (self->journal, core_run (self, a), a_at, core_run (self, b), b_at, page,
                         &out, &self->err));
    const char *text = json_of (self, ag_buf_str (&out));
    ag_buf_fini (&out);
    return text;
}

static const char *
diff (struct core *self, uint64_t a, uint64_t b)
{
    return diff_page (self, a, AG_NOW, b, AG_NOW, &(struct ag_diff_page){0});
}

static void
d_01_a_fork_that_did_nothing_of_its_own_is_identical (void **state)
{
    struct core *self = *state;
    uint64_t run = base (self), fork = core_fork_at (self, run, 4);
    core_append (self, fork, "runtime.idle", "{}");
    assert_string_equal (diff (self, run, fork),
                         "{'a':'r1','b':'r2','shared_events':2,'a_only_events':0,"
                         "'b_only_events':0,'divergent_objects':[],'divergent_relations':[],"
                         "'is_identical':true}");
}

static void
d_02_a_thing_that_one_side_has_is_null_on_the_other (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    core_apply (self, fork,
                "[{'op':'add_object','type':'note','data':{'n':1}},"
                " {'op':'add_relation','source':'note#r2.1','target':'task#1','type':'r'}]");
    core_apply (self, run, "[{'op':'remove_object','id':'task#1'}]");
    core_again (self);
    assert_string_equal (
        diff (self, run, fork),
        "{'a':'r1','b':'r2','shared_events':2,'a_only_events':1,'b_only_events':2,"
        "'divergent_objects':["
        "{'id':'note#r2.1','a':null,"
        "'b':{'id':'note#r2.1','type':'note','data':{'n':1},'version':1}},"
        "{'id':'task#1','a':null,'b':{'id':'task#1','type':'task',"
        "'data':{'title':'base','status':'open'},'version':1}}],"
        "'divergent_relations':[{'id':'rel_r2.001','a':null,"
        "'b':{'id':'rel_r2.001','source':'note#r2.1','target':'task#1','type':'r','data':{}}}],"
        "'is_identical':false}");
}

static void
d_03_the_houses_bookkeeping_is_not_counted (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    core_append (self, fork, "behavior.started", "{}");
    core_apply (self, fork, "[{'op':'emit','type':'mine'}]");
    core_append (self, fork, "behavior.completed", "{}");
    assert_non_null (strstr (diff (self, run, fork),
                             "'shared_events':2,'a_only_events':0,'b_only_events':1,"
                             "'divergent_objects':[],'divergent_relations':[],"
                             "'is_identical':false"));
}

static void
d_04_events_after_the_cut_are_never_shared (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    core_apply (self, fork, "[{'op':'emit','type':'same'}]");
    core_apply (self, run, "[{'op':'emit','type':'same'}]");
    assert_non_null (
        strstr (diff (self, run, fork), "'shared_events':2,'a_only_events':1,'b_only_events':1"));
}

static void
d_05_there_and_back_again_differs_in_its_version_alone (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    core_apply (self, fork,
                "[{'op':'patch_object','id':'task#1','data':{'status':'done'}},"
                " {'op':'patch_object','id':'task#1','data':{'status':'open'}}]");
    assert_non_null (strstr (diff (self, run, fork), "'version':1},'b':{"));
    assert_non_null (strstr (diff (self, run, fork), "'version':3}}]"));
    assert_planned (self, fork, "is_empty", "true");
}

static void
siblings_cousins_and_points_share_what_their_lineages_share (void **state)
{
    struct core *self = *state;
    uint64_t run = base (self);
    uint64_t early = core_fork_at (self, run, 1), late = core_fork (self, run);
    uint64_t child = core_fork (self, late);
    core_apply (self, child, "[{'op':'add_object','type':'n','id':'x'}]");
    assert_non_null (strstr (diff (self, early, child),
                             "'shared_events':1,'a_only_events':0,'b_only_events':2,"
                             "'divergent_objects':[{'id':'task#1','a':null,"));
    assert_non_null (strstr (diff (self, child, early),
                             "'shared_events':1,'a_only_events':2,'b_only_events':0"));
    assert_non_null (strstr (diff (self, late, child),
                             "'shared_events':2,'a_only_events':0,'b_only_events':1,"
                             "'divergent_objects':[{'id':'x','a':null,"));
    assert_non_null (strstr (diff (self, child, run), "'a_only_events':1,'b_only_events':0"));
    //  A run is of one family with itself.
    assert_non_null (strstr (diff_page (self, run, 2, run, AG_NOW, &(struct ag_diff_page){0}),
                             "{'a':'r1@evt_002','b':'r1','shared_events':1,'a_only_events':0,"
                             "'b_only_events':1,'divergent_objects':[{'id':'task#1','a':null,"));
}

//  The same id on both sides, made apart; and one that a fork made after the point that is compared.
static void
a_thing_that_both_made_has_two_sides_and_one_made_later_has_none (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    core_apply (self, fork, "[{'op':'add_object','type':'n','id':'x','data':{'by':'fork'}}]");
    core_apply (self, run, "[{'op':'add_object','type':'n','id':'x','data':{'by':'run'}}]");
    uint64_t at = core_tip (self, fork);
    core_apply (self, fork, "[{'op':'add_object','type':'n','id':'y'}]");
    core_again (self);
    assert_string_equal (
        diff_page (self, run, AG_NOW, fork, at, &(struct ag_diff_page){0}),
        "{'a':'r1','b':'r2@evt_006','shared_events':2,'a_only_events':1,'b_only_events':1,"
        "'divergent_objects':[{'id':'x',"
        "'a':{'id':'x','type':'n','data':{'by':'run'},'version':1},"
        "'b':{'id':'x','type':'n','data':{'by':'fork'},'version':1}}],"
        "'divergent_relations':[],'is_identical':false}");
}

static void
strangers_are_not_compared (void **state)
{
    struct core *self = *state;
    uint64_t a = core_root (self, "a"), b = core_root (self, "b");
    struct ag_buf out = {0};
    refuses (self,
             ag_diff (self->journal, core_run (self, a), AG_NOW, core_run (self, b), AG_NOW,
                      &(struct ag_diff_page){0}, &out, &self->err),
             AG_E_LINEAGE, "runs r1 and r2 have no common ancestor");
    assert_int_equal (out.n, 0);
    ag_buf_fini (&out);
}

static void
a_long_diff_comes_in_pages (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    core_apply (self, fork,
                "[{'op':'add_object','type':'n','id':'a'},{'op':'add_object','type':'n','id':'b'},"
                " {'op':'add_object','type':'n','id':'c'}]");
    struct ag_diff_page page = {.limit = 2};
    const char *first = diff_page (self, run, AG_NOW, fork, AG_NOW, &page);
    assert_non_null (strstr (first, "'id':'b'"));
    assert_null (strstr (first, "'id':'c'"));
    assert_non_null (strstr (first, "'is_identical':false,'truncated':true,"
                                    "'next':{'object':'b','relation':''}"));
    page.after_object = AG_LIT ("b");
    const char *second = diff_page (self, run, AG_NOW, fork, AG_NOW, &page);
    assert_null (strstr (second, "'id':'b'"));
    assert_non_null (strstr (second, "'id':'c'"));
    assert_null (strstr (second, "truncated"));
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (d_01_a_fork_that_did_nothing_of_its_own_is_identical),
        core_test (d_02_a_thing_that_one_side_has_is_null_on_the_other),
        core_test (d_03_the_houses_bookkeeping_is_not_counted),
        core_test (d_04_events_after_the_cut_are_never_shared),
        core_test (d_05_there_and_back_again_differs_in_its_version_alone),
        core_test (siblings_cousins_and_points_share_what_their_lineages_share),
        core_test (a_thing_that_both_made_has_two_sides_and_one_made_later_has_none),
        core_test (strangers_are_not_compared),
        core_test (a_long_diff_comes_in_pages),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
