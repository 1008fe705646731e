//  What of a log is done again, put in again, or left out.
//  SPDX-License-Identifier: Apache-2.0
#include "client/again.h"
#include "client/capture_test.h"

#define USER "'actor':'user','caused_by':null,"

static void
what_came_from_outside_is_put_in_as_the_operation_that_made_it (void **state)
{
    (void)state;
    static const struct {
        const char *event, *op;
    } rows[] = {
        {"{" USER "'type':'said','payload':{'n':1}}",
         "{'op':'emit','type':'said','payload':{'n':1}}"},
        {"{" USER "'type':'object.created','payload':{'id':'task#1','object':{'id':'task#1',"
         "'type':'task','data':{'n':1},'version':1,'provenance':{}}}}",
         "{'op':'add_object','id':'task#1','type':'task','data':{'n':1}}"},
        {"{" USER "'type':'object.created','payload':{'id':'task#r2.1','object':{'id':'task#r2.1',"
         "'type':'task','data':{}}}}",
         "{'op':'add_object','type':'task','data':{}}"},
        {"{" USER "'type':'relation.created','payload':{'id':'rel_r2.001','relation':{"
         "'id':'rel_r2.001','source':'a','target':'b','type':'of','data':{}}}}",
         "{'op':'add_relation','source':'a','target':'b','type':'of','data':{}}"},
        {"{" USER "'type':'relation.created','payload':{'id':'rel_001','relation':{"
         "'id':'rel_001','source':'a','target':'b','type':'of','data':{}}}}",
         "{'op':'add_relation','id':'rel_001','source':'a','target':'b','type':'of','data':{}}"},
        {"{" USER "'type':'patch.applied','payload':{'patch':{'id':'patch_001','target':'a',"
         "'op':'update','value':{'n':2},'rationale':null}}}",
         "{'op':'patch_object','id':'a','data':{'n':2}}"},
        {"{" USER "'type':'patch.applied','payload':{'patch':{'target':'task#r2.1',"
         "'op':'replace','value':{}}}}",
         "{'op':'replace_object','id':'task#r2.1','data':{}}"},
        {"{" USER "'type':'patch.proposed','payload':{'patch':{'id':'patch_001','target':'a',"
         "'op':'update','value':{},'expected_version':1,'rationale':null,'evidence':['e']}}}",
         "{'op':'propose_patch','id':'a','change':'update','data':{},'expected_version':1,"
         "'evidence':['e']}"},
        {"{" USER "'type':'object.removed','payload':{'id':'task#r2.1'}}",
         "{'op':'remove_object','id':'task#r2.1'}"},
        {"{" USER "'type':'relation.removed','payload':{'id':'rel_001'}}",
         "{'op':'remove_relation','id':'rel_001'}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ag_buf event = value_of (rows[i].event), op = {0}, wanted = value_of (rows[i].op);
        const char *why;
        assert_int_equal (ag_again_kind (ag_buf_str (&event), &why), AG_AGAIN_PUT_IN);
        ag_again_operation (ag_buf_str (&event), &op);
        if (!ag_value_equal (ag_buf_str (&op), ag_buf_str (&wanted)))
            fail_msg ("not %s", rows[i].op);
        ag_buf_fini (&event);
        ag_buf_fini (&op);
        ag_buf_fini (&wanted);
    }
}

static void
an_id_that_somebody_gave_is_kept_however_it_looks (void **state)
{
    (void)state;
    static const struct {
        const char *id;
        bool kept;
    } rows[] = {{"doc#readme.md", true}, {"file#r.txt", true}, {"rel_road.x", true},
                {"task#7", true},        {"doc#r2.", true},    {"rel", true},
                {"r2.7", true},          {"task#r2.7", false}, {"rel_r2.007", false},
                {"a#b#r3f.12", false},   {"doc#r2.7x", true},  {"#r.7", true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text = ag_xprintf ("{'type':'object.created','actor':'user','payload':{'object':"
                                 "{'id':'%s','type':'t','data':{}}}}",
                                 rows[i].id);
        struct ag_buf event = value_of (text), operation = {0};
        ag_again_operation (ag_buf_str (&event), &operation);
        if (ag_pick_text (ag_buf_str (&operation), "id").p ? !rows[i].kept : rows[i].kept)
            fail_msg ("%s", rows[i].id);
        ag_buf_fini (&event);
        ag_buf_fini (&operation);
        free (text);
    }
}

static void
what_is_of_one_run_alone_is_left_out_and_the_rest_comes_by_itself (void **state)
{
    (void)state;
    static const struct {
        const char *event;
        enum ag_again kind;
    } rows[] = {
        {"{'type':'behavior.started','actor':'runtime','caused_by':'evt_001'}", AG_AGAIN_DONE},
        {"{'type':'relation_behavior.started','actor':'runtime'}", AG_AGAIN_DONE},
        {"{'type':'object.created','actor':'work','caused_by':'evt_001'}", AG_AGAIN_NOTHING},
        {"{'type':'object.created','actor':'promote:r2','caused_by':'evt_004'}", AG_AGAIN_NOTHING},
        {"{'type':'runtime.idle','actor':'runtime','caused_by':null}", AG_AGAIN_NOTHING},
        {"{'type':'relation.removed','actor':'user','caused_by':'evt_004','payload':{'id':'r'}}",
         AG_AGAIN_NOTHING},
        {"{'type':'object.created','actor':'user','caused_by':'evt_004'}", AG_AGAIN_LEFT_OUT},
        {"{'type':'promote.applied','actor':'runtime','payload':{}}", AG_AGAIN_LEFT_OUT},
        {"{'type':'message.received','actor':'runtime','payload':{}}", AG_AGAIN_LEFT_OUT},
        {"{'type':'pack.loaded','actor':'runtime','payload':{}}", AG_AGAIN_LEFT_OUT},
        {"{'type':'approval.granted','actor':'user','payload':{}}", AG_AGAIN_LEFT_OUT},
        {"{'type':'patch.rejected','actor':'user','payload':{}}", AG_AGAIN_LEFT_OUT},
        {"{'type':'patch.applied','actor':'user','payload':{'approved_by':'user','patch':{}}}",
         AG_AGAIN_LEFT_OUT},
        {"{'type':'goal.created','actor':'user','payload':{'goal':'x'}}", AG_AGAIN_PUT_IN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ag_buf event = value_of (rows[i].event);
        const char *why = NULL;
        if (ag_again_kind (ag_buf_str (&event), &why) != rows[i].kind)
            fail_msg ("%s", rows[i].event);
        assert_true (rows[i].kind == AG_AGAIN_LEFT_OUT ? why != NULL : !why);
        ag_buf_fini (&event);
    }
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (what_came_from_outside_is_put_in_as_the_operation_that_made_it),
        cmocka_unit_test (an_id_that_somebody_gave_is_kept_however_it_looks),
        cmocka_unit_test (what_is_of_one_run_alone_is_left_out_and_the_rest_comes_by_itself),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
