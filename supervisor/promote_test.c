//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/promote_test.h"

/*  What a promote does  */

static void
p_01_created_things_keep_their_ids_data_and_ends (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    core_apply (self, fork,
                "[{'op':'add_object','type':'note','data':{'text':'from the fork'}},"
                " {'op':'add_object','type':'note','data':{'text':'second'}},"
                " {'op':'add_relation','source':'note#r2.1','target':'note#r2.2',"
                "  'type':'references'}]");
    assert_planned (self, fork, "object_creates",
                    "[{'id':'note#r2.1','type':'note','data':{'text':'from the fork'}},"
                    "{'id':'note#r2.2','type':'note','data':{'text':'second'}}]");
    assert_planned (self, fork, "relation_creates",
                    "[{'id':'rel_r2.001','source':'note#r2.1','target':'note#r2.2',"
                    "'type':'references','data':{}}]");
    promote (self, fork);
    static const char *const log[] = {
        "promote.applied runtime 0 0", "object.created promote:r2 6 3",
        "object.created promote:r2 6 3", "relation.created promote:r2 6 3", NULL};
    assert_log (self, run, 6, log);
    assert_string_equal (objects (self, run),
                         "{'note#r2.1':{'text':'from the fork'},'note#r2.2':{'text':'second'},"
                         "'task#1':{'title':'base','status':'open'}}");
    assert_string_equal (relations (self, run), "{'rel_r2.001':{}}");
}

static void
p_02_a_patched_object_is_replaced_by_one_patch (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    core_apply (self, fork,
                "[{'op':'patch_object','id':'task#1','data':{'status':'done','confidence':0.9}}]");
    assert_planned (
        self, fork, "object_patches",
        "[{'id':'task#1','type':'task','data':{'title':'base','status':'done','confidence':0.9}}]");
    promote (self, fork);
    assert_int_equal (core_tip (self, run), 7);
    assert_string_equal (
        payload_of (self, run, 7),
        "{'patch':{'id':'patch_001','target':'task#1','op':'replace',"
        "'value':{'title':'base','status':'done','confidence':0.9},'expected_version':1,"
        "'proposed_by':'promote:r2','rationale':'promoted from r2','evidence':[],"
        "'status':'applied','rejection_reason':null,"
        "'provenance':{'created_by':'promote:r2','caused_by_event':'evt_006','frame_id':null,"
        "'timestamp':'2026-01-01T00:00:00.000000Z','evidence':[],'run_id':'r1'}},"
        "'target':'task#1','diff':{'status':{'old':'open','new':'done'},"
        "'confidence':{'old':null,'new':0.9}}}");
}

static void
p_03_a_removed_object_goes_in_the_parent (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    core_apply (self, fork, "[{'op':'remove_object','id':'task#1'}]");
    assert_planned (self, fork, "object_removes", "['task#1']");
    promote (self, fork);
    assert_string_equal (objects (self, run), "{}");
}

static void
p_04_an_empty_first_promote_leaves_its_marker (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    struct ag_buf out = {0};
    assert_planned (self, fork, "is_empty", "true");
    must (self, promote_into (self, fork, &out));
    assert_string_equal (
        json_of (self, ag_buf_str (&out)),
        "{'from_run':'r2','into_run':'r1','forked_at_event':'evt_005','base_event':'evt_005',"
        "'computed_against':'evt_005','dry_run':false,'is_promotable':true,'is_empty':true,"
        "'object_creates':[],'object_patches':[],'object_removes':[],'relation_creates':[],"
        "'relation_removes':[],'conflicts':[],'violations':[],'warnings':[],"
        "'marker_event_id':'evt_006','applied_event_ids':[]}");
    assert_string_equal (
        payload_of (self, run, 6),
        "{'from_run':'r2','forked_at_event':'evt_005','computed_against':'evt_005',"
        "'fork_tip':'evt_005','objects_created':[],'objects_patched':[],'objects_removed':[],"
        "'relations_created':[],'relations_removed':[],'warnings':[],"
        "'block_final_event':'evt_006'}");
    ag_buf_fini (&out);
}

static void
p_05_the_parent_mints_on_without_a_collision (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    core_apply (self, fork,
                "[{'op':'add_object','type':'note','id':'note#2','data':{'of':'fork'}}]");
    promote (self, fork);
    core_apply (self, run, "[{'op':'add_object','type':'note','data':{'of':'parent'}}]");
    assert_string_equal (objects (self, run), "{'note#2':{'of':'fork'},'note#3':{'of':'parent'},"
                                              "'task#1':{'title':'base','status':'open'}}");
}

static void
p_06_a_dry_run_changes_nothing (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    core_apply (self, fork, "[{'op':'add_object','type':'note'}]");
    assert_planned (self, fork, "is_promotable", "true");
    assert_planned (self, fork, "computed_against", "'evt_005'");
    assert_planned (self, fork, "dry_run", "true");
    assert_int_equal (core_tip (self, run), 5);
}

static void
p_16_removing_what_an_earlier_fork_brought (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    core_apply (self, fork,
                "[{'op':'add_object','type':'note','as':'n'},"
                " {'op':'add_relation','source':'@n','target':'task#1','type':'annotates'}]");
    promote (self, fork);
    uint64_t second = core_fork (self, run);
    core_apply (self, second, "[{'op':'remove_object','id':'note#r2.1'}]");
    assert_planned (self, second, "object_removes", "['note#r2.1']");
    assert_planned (self, second, "relation_removes", "['rel_r2.001']");
    promote (self, second);
    assert_string_equal (objects (self, run), "{'task#1':{'title':'base','status':'open'}}");
    assert_string_equal (relations (self, run), "{}");
}

static void
p_18_delta_events_are_quiescent_and_the_marker_is_not (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    core_apply (self, fork, "[{'op':'add_object','type':'note'}]");
    promote (self, fork);
    core_again (self);
    static const char *const log[] = {"promote.applied runtime 0 0",
                                      "object.created promote:r2 6 3", NULL};
    assert_int_equal (AG_QUIESCENT | AG_BLOCK, 3);
    assert_log (self, run, 6, log);
    assert_true (ag_type_rule (AG_LIT ("promote.applied")).queued);
}

static void
p_20_a_root_is_a_fork_of_nothing (void **state)
{
    struct core *self = *state;
    uint64_t run = base (self);
    ag_plan_t *plan = ag_promote_plan (self->journal, core_run (self, run), 0, &self->err);
    assert_null (plan);
    refuses (self, -1, AG_E_LINEAGE, "run r1 is not a direct fork");
}

static void
p_22_one_level_at_a_time_with_one_id (void **state)
{
    struct core *self = *state;
    uint64_t child, run = base_fork (self, &child);
    uint64_t grandchild = core_fork (self, child);
    core_apply (self, grandchild, "[{'op':'add_object','type':'note','data':{'n':1}}]");
    promote (self, grandchild);
    assert_string_equal (objects (self, child),
                         "{'note#r3.1':{'n':1},'task#1':{'title':'base','status':'open'}}");
    assert_string_equal (objects (self, run), "{'task#1':{'title':'base','status':'open'}}");
    promote (self, child);
    assert_string_equal (objects (self, run),
                         "{'note#r3.1':{'n':1},'task#1':{'title':'base','status':'open'}}");
}

static void
p_38_a_plan_names_the_tip_before_its_marker (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    struct ag_buf out = {0};
    struct ag_str text;
    core_apply (self, fork, SET_DONE);
    core_apply (self, run, "[{'op':'emit','type':'noise'}]");
    must (self, promote_into (self, fork, &out));
    assert_int_equal (ag_map_text (ag_buf_str (&out), "computed_against", &text), 0);
    assert_true (ag_str_is (text, "evt_006"));
    assert_int_equal (ag_map_text (ag_buf_str (&out), "marker_event_id", &text), 0);
    assert_true (ag_str_is (text, "evt_007"));
    ag_buf_fini (&out);
}

/*  Packs  */

static void
p_26_a_pack_loaded_in_the_fork_is_named_and_stays_there (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    core_append (self, fork, "pack.loaded", "{'name':'candidate','version':'0.1'}");
    core_apply (self, fork, "[{'op':'add_object','type':'note'}]");
    core_again (self); //  p_27
    assert_non_null (strstr (planned (self, fork, "warnings"), "candidate@0.1"));
    promote (self, fork);
    assert_non_null (strstr (payload_of (self, run, 6), "candidate@0.1"));
    assert_int_equal (core_tip (self, run), 7);
}

static void
p_28_a_pack_that_the_parent_loaded_is_not_named (void **state)
{
    struct core *self = *state;
    uint64_t run = base (self);
    core_append (self, run, "pack.loaded", "{'name':'shared','version':'1.0'}");
    uint64_t fork = core_fork (self, run);
    core_append (self, run, "pack.loaded", "{'name':'later','version':'2'}");
    core_append (self, fork, "pack.loaded", "{'name':'later','version':'2'}");
    core_append (self, fork, "pack.loaded", "{'name':'shared','version':'1.0'}");
    core_again (self);
    assert_planned (self, fork, "warnings", "[]");
    core_append (self, fork, "pack.loaded", "{'name':'shared','version':'1.1'}");
    assert_non_null (strstr (planned (self, fork, "warnings"), "shared@1.1"));
}

static void
a_pack_that_the_parent_put_out_of_force_since_the_cut_is_named (void **state)
{
    struct core *self = *state;
    uint64_t run = base (self);
    core_append (self, run, "pack.loaded", "{'name':'gone','version':'1'}");
    core_append (self, run, "pack.loaded", "{'name':'back','version':'1'}");
    core_append (self, run, "pack.disabled", "{'name':'old','version':'1'}");
    uint64_t fork = core_fork (self, run);
    core_apply (self, fork, "[{'op':'add_object','type':'note'}]");
    assert_planned (self, fork, "warnings", "[]");
    core_append (self, run, "pack.disabled", "{'name':'gone','version':'1'}");
    core_append (self, run, "pack.disabled", "{'name':'back','version':'1'}");
    core_append (self, run, "pack.loaded", "{'name':'back','version':'2'}");
    assert_planned (
        self, fork, "warnings",
        "['the parent has put pack gone out of force since the cut; load it there again if "
        "what the fork made with it is to be looked after']");
}

static void
p_29_settings_overridden_in_the_fork_are_named (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    core_append (self, fork, "pack.settings_overridden",
                 "{'pack':'diligence','overrides':{'confidence_threshold_for_review':0.9},"
                 "'assignments':['diligence.confidence_threshold_for_review=0.9']}");
    core_append (self, run, "pack.settings_overridden", "{'pack':'decoy','overrides':{}}");
    assert_planned (self, fork, "warnings",
                    "['settings override of pack diligence in the fork is not adopted: "
                    "diligence.confidence_threshold_for_review=0.9; to keep it, write it into the "
                    "parent's settings in the configuration and start the fleet anew']");
}

/*  After a promote  */

static void
p_30_promoted_things_name_the_marker_as_their_cause (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    core_apply (self, fork, "[{'op':'add_object','type':'note'}]");
    promote (self, fork);
    assert_string_equal (
        payload_of (self, run, 7),
        "{'object':{'id':'note#r2.1','type':'note','data':{},'version':1,"
        "'provenance':{'created_by':'promote:r2','caused_by_event':'evt_006','frame_id':null,"
        "'timestamp':'2026-01-01T00:00:00.000000Z','evidence':[],'run_id':'r1'}},"
        "'id':'note#r2.1'}");
}

static void
p_33_both_sides_are_the_same_state_afterwards_and_after_a_restart (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    core_apply (self, fork, "[{'op':'add_object','type':'note','data':{'n':1}}]");
    core_apply (self, fork, SET_DONE);
    core_again (self); //  p_34
    assert_int_equal (core_run (self, fork)->parent, run);
    assert_int_equal (core_run (self, fork)->cut, 5);
    promote (self, fork);
    core_again (self); //  p_32
    char *here = ag_xstrdup (objects (self, run));
    assert_string_equal (here, objects (self, fork));
    assert_string_equal (here, "{'note#r2.1':{'n':1},'task#1':{'title':'base','status':'done'}}");
    free (here);
}

static void
p_39_a_diff_after_a_promote_differs_in_versions_alone (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    struct ag_buf out = {0};
    struct ag_str value;
    core_apply (self, fork,
                "[{'op':'add_object','type':'note','as':'n'},"
                " {'op':'add_relation','source':'@n','target':'task#1','type':'r'},"
                " {'op':'patch_object','id':'task#1','data':{'status':'a'}},"
                " {'op':'patch_object','id':'task#1','data':{'status':'b'}}]");
    promote (self, fork);
    must (self, ag_diff (self->journal, core_run (self, run), AG_NOW, core_run (self, fork), AG_NOW,
                         &(struct ag_diff_page){0}, &out, &self->err));
    assert_int_equal (ag_map_get (ag_buf_str (&out), "divergent_relations", &value), 0);
    assert_string_equal (json_of (self, value), "[]");
    assert_int_equal (ag_map_get (ag_buf_str (&out), "divergent_objects", &value), 0);
    assert_string_equal (
        json_of (self, value),
        "[{'id':'task#1',"
        "'a':{'id':'task#1','type':'task','data':{'title':'base','status':'b'},'version':2},"
        "'b':{'id':'task#1','type':'task','data':{'title':'base','status':'b'},'version':3}}]");
    ag_buf_fini (&out);
}

static void
p_40_no_cut_slices_a_promote (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    core_apply (self, fork,
                "[{'op':'add_object','type':'note'},{'op':'add_object','type':'note'}]");
    promote (self, fork); //  marker 6, delta 7 and 8
    core_apply (self, run, "[{'op':'emit','type':'noise'}]");
    core_again (self);
    must (self, try_cut (self, run, 5));
    refuses (self, try_cut (self, run, 6), AG_E_SLICED, "slice the promote");
    refuses (self, try_cut (self, run, 7), AG_E_SLICED, "evt_006 to evt_008");
    must (self, try_cut (self, run, 8));
    must (self, try_cut (self, run, 9));
    assert_string_equal (
        objects (self, core_fork_at (self, run, 8)),
        "{'note#r2.1':{},'note#r2.2':{},'task#1':{'title':'base','status':'open'}}");
    uint64_t empty = core_fork (self, run);
    promote (self, empty);
    must (self, try_cut (self, run, 10)); //  the marker of an empty delta is its whole block
}

/*  Net effect  */

static void
assert_scaffolding_vanishes (struct core *self, const char *before)
{
    uint64_t fork, run = base_fork (self, &fork);
    core_apply (self, fork,
                "[{'op':'add_object','type':'scratch','id':'scratch'},"
                " {'op':'add_relation','source':'scratch','target':'task#1','type':'uses',"
                "  'id':'uses'},{'op':'patch_object','id':'task#1','data':{'status':'done'}}]");
    core_apply (self, fork, before);
    core_apply (self, fork, "[{'op':'remove_object','id':'scratch'}]");
    assert_planned (self, fork, "object_creates", "[]");
    assert_planned (self, fork, "object_removes", "[]");
    assert_planned (self, fork, "relation_creates", "[]");
    assert_planned (self, fork, "relation_removes", "[]");
    promote (self, fork);
    assert_int_equal (core_tip (self, run), 7);
    assert_null (strstr (payload_of (self, run, 6), "scratch"));
}

static void
p_44_scaffolding_that_is_gone_again_is_no_change (void **state)
{
    assert_scaffolding_vanishes (*state, "[]");
}

static void
p_45_also_when_its_relation_was_removed_first (void **state)
{
    assert_scaffolding_vanishes (*state, "[{'op':'remove_relation','id':'uses'}]");
}

static void
p_46_there_and_back_again_is_no_change (void **state)
{
    struct core *self = *state;
    uint64_t fork;
    base_fork (self, &fork);
    core_apply (self, fork, SET_DONE);
    core_apply (self, fork, "[{'op':'patch_object','id':'task#1','data':{'status':'open'}}]");
    assert_planned (self, fork, "is_empty", "true");
}

static void
p_47_many_patches_become_one (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    struct ag_entity entity = {0};
    core_apply (self, fork, SET_DONE);
    core_apply (self, fork, SET_GONE);
    core_apply (self, fork, SET_DONE);
    promote (self, fork);
    assert_int_equal (core_tip (self, run), 7);
    assert_int_equal (ag_state_get (self->journal, core_run (self, run), AG_OBJECT,
                                    AG_LIT ("task#1"), AG_NOW, &entity, &self->err),
                      1);
    assert_int_equal (entity.version, 2);
    ag_entity_fini (&entity);
}

static void
p_48_a_field_that_the_fork_dropped_is_dropped (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    core_apply (self, fork, "[{'op':'replace_object','id':'task#1','data':{'title':'only'}}]");
    promote (self, fork);
    assert_string_equal (objects (self, run), "{'task#1':{'title':'only'}}");
    assert_non_null (strstr (payload_of (self, run, 7), "'status':{'old':'open','new':null}"));
}

static void
p_49_what_only_the_parent_changed_stays (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    core_apply (self, run, SET_GONE);
    core_apply (self, run, "[{'op':'add_object','type':'note'}]");
    core_apply (self, fork, "[{'op':'add_object','type':'note'}]");
    promote (self, fork);
    assert_string_equal (objects (self, run), "{'note#2':{},'note#r2.1':{},"
                                              "'task#1':{'title':'base','status':'cancelled'}}");
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (p_01_created_things_keep_their_ids_data_and_ends),
        core_test (p_02_a_patched_object_is_replaced_by_one_patch),
        core_test (p_03_a_removed_object_goes_in_the_parent),
        core_test (p_04_an_empty_first_promote_leaves_its_marker),
        core_test (p_05_the_parent_mints_on_without_a_collision),
        core_test (p_06_a_dry_run_changes_nothing),
        core_test (p_16_removing_what_an_earlier_fork_brought),
        core_test (p_18_delta_events_are_quiescent_and_the_marker_is_not),
        core_test (p_20_a_root_is_a_fork_of_nothing),
        core_test (p_22_one_level_at_a_time_with_one_id),
        core_test (p_38_a_plan_names_the_tip_before_its_marker),
        core_test (p_26_a_pack_loaded_in_the_fork_is_named_and_stays_there),
        core_test (p_28_a_pack_that_the_parent_loaded_is_not_named),
        core_test (a_pack_that_the_parent_put_out_of_force_since_the_cut_is_named),
        core_test (p_29_settings_overridden_in_the_fork_are_named),
        core_test (p_30_promoted_things_name_the_marker_as_their_cause),
        core_test (p_33_both_sides_are_the_same_state_afterwards_and_after_a_restart),
        core_test (p_39_a_diff_after_a_promote_differs_in_versions_alone),
        core_test (p_40_no_cut_slices_a_promote),
        core_test (p_44_scaffolding_that_is_gone_again_is_no_change),
        core_test (p_45_also_when_its_relation_was_removed_first),
        core_test (p_46_there_and_back_again_is_no_change),
        core_test (p_47_many_patches_become_one),
        core_test (p_48_a_field_that_the_fork_dropped_is_dropped),
        core_test (p_49_what_only_the_parent_changed_stays),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
