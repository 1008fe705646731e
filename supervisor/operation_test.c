//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/core_state_test.h"

//  Type, actor, cause and payload of an event, one after the other, as JSON with ' for ".
static void
assert_event (struct core *self, uint64_t run, uint64_t seq, const char *type, const char *payload)
{
    struct ag_event event;
    struct ag_buf hold = {0};
    must (self,
          ag_journal_read (self->journal, core_run (self, run), seq, &hold, &event, &self->err));
    assert_true (ag_str_is (event.type, type));
    assert_string_equal (json_of (self, event.payload), payload);
    ag_buf_fini (&hold);
}

static uint64_t
cause_of (struct core *self, uint64_t run, uint64_t seq)
{
    struct ag_event event;
    struct ag_buf hold = {0};
    must (self,
          ag_journal_read (self->journal, core_run (self, run), seq, &hold, &event, &self->err));
    ag_buf_fini (&hold);
    return event.cause;
}

#define PROVENANCE                                                                                 \
    "'provenance':{'created_by':'user','caused_by_event':null,'frame_id':null,"                    \
    "'timestamp':'2026-01-01T00:00:00.000000Z','evidence':[],'run_id':'r1'}"

static void
events_have_the_shapes_of_the_reference (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    core_apply (self, run,
                "[{'op':'add_object','type':'task','data':{'title':'a','n':1}},"
                " {'op':'patch_object','id':'task#1','data':{'n':2,'status':'done'}},"
                " {'op':'replace_object','id':'task#1','data':{'title':'a'}},"
                " {'op':'add_relation','source':'task#1','target':'task#1','type':'is'},"
                " {'op':'remove_relation','id':'rel_001'},"
                " {'op':'remove_object','id':'task#1'},"
                " {'op':'emit','type':'task.gone','payload':{'id':'task#1'}}]");
    assert_event (self, run, 1, "object.created",
                  "{'object':{'id':'task#1','type':'task','data':{'title':'a','n':1},"
                  "'version':1," PROVENANCE "},'id':'task#1'}");
    assert_event (
        self, run, 2, "patch.applied",
        "{'patch':{'id':'patch_001','target':'task#1','op':'update',"
        "'value':{'n':2,'status':'done'},'expected_version':1,'proposed_by':'user',"
        "'rationale':null,'evidence':[],'status':'applied','rejection_reason':null," PROVENANCE
        "},'target':'task#1',"
        "'diff':{'n':{'old':1,'new':2},'status':{'old':null,'new':'done'}}}");
    assert_event (
        self, run, 3, "patch.applied",
        "{'patch':{'id':'patch_002','target':'task#1','op':'replace',"
        "'value':{'title':'a'},'expected_version':2,'proposed_by':'user',"
        "'rationale':null,'evidence':[],'status':'applied','rejection_reason':null," PROVENANCE
        "},'target':'task#1',"
        "'diff':{'n':{'old':2,'new':null},'status':{'old':'done','new':null}}}");
    assert_event (self, run, 4, "relation.created",
                  "{'relation':{'id':'rel_001','source':'task#1','target':'task#1','type':'is',"
                  "'data':{}," PROVENANCE "},'id':'rel_001','source':'task#1','target':'task#1'}");
    assert_event (self, run, 5, "relation.removed", "{'id':'rel_001'}");
    assert_event (self, run, 6, "object.removed", "{'id':'task#1'}");
    assert_event (self, run, 7, "task.gone", "{'id':'task#1'}");
    assert_int_equal (core_tip (self, run), 7);
}

static void
removing_an_object_takes_its_relations_along_and_says_so (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    core_apply (self, run,
                "[{'op':'add_object','type':'t','as':'a'},{'op':'add_object','type':'t','as':'b'},"
                " {'op':'add_relation','source':'@a','target':'@b','type':'to'},"
                " {'op':'add_relation','source':'@b','target':'@a','type':'to'},"
                " {'op':'add_relation','source':'@a','target':'@a','type':'to'},"
                " {'op':'add_relation','source':'@b','target':'@b','type':'to'}]");
    core_again (self);
    core_apply (self, run, "[{'op':'remove_object','id':'t#1'}]");
    assert_event (self, run, 7, "object.removed", "{'id':'t#1'}");
    assert_event (self, run, 8, "relation.removed", "{'id':'rel_001'}");
    assert_event (self, run, 9, "relation.removed", "{'id':'rel_002'}");
    assert_event (self, run, 10, "relation.removed", "{'id':'rel_003'}");
    for (uint64_t seq = 8; seq <= 10; seq++)
        assert_int_equal (cause_of (self, run, seq), 7);
    assert_int_equal (core_tip (self, run), 10);
    assert_string_equal (core_state (self, run, AG_OBJECT, AG_NOW), "{'t#2':{}}");
    assert_string_equal (core_state (self, run, AG_RELATION, AG_NOW), "{'rel_004':{}}");
    assert_string_equal (core_state (self, run, AG_RELATION, 7),
                         "{'rel_001':{},'rel_002':{},'rel_003':{},'rel_004':{}}");
}

static void
a_list_is_applied_whole_or_not_at_all (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    core_apply (self, run, "[{'op':'add_object','type':'task','data':{'n':1}}]");
    refuses (self,
             core_try (self, run,
                       "[{'op':'add_object','type':'task'},"
                       " {'op':'patch_object','id':'task#1','data':{'n':2}},"
                       " {'op':'patch_object','id':'task#7','data':{}}]"),
             AG_E_NOT_FOUND, "operation 3 (patch_object): there is no object `task#7`");
    assert_int_equal (core_tip (self, run), 1);
    assert_string_equal (core_state (self, run, AG_OBJECT, AG_NOW), "{'task#1':{'n':1}}");
    core_apply (self, run, "[{'op':'add_object','type':'task','data':{'n':3}}]");
    assert_string_equal (core_state (self, run, AG_OBJECT, AG_NOW),
                         "{'task#1':{'n':1},'task#2':{'n':3}}");
}

static void
what_does_not_exist_or_is_not_allowed_is_refused_by_name (void **state)
{
    static const struct {
        const char *ops;
        enum ag_code code;
        const char *says;
    } rows[] = {
        {"[{'op':'frob'}]", AG_E_BAD_OPERATION, "operation 1: unknown operation `frob`"},
        {"[7]", AG_E_BAD_OPERATION, "operation 1: no map with a text `op`"},
        {"{}", AG_E_BAD_OPERATION, "the operations are no list"},
        {"[{'op':'add_object','type':'t','dta':{}}]", AG_E_BAD_OPERATION, "unknown field `dta`"},
        {"[{'op':'add_object'}]", AG_E_BAD_OPERATION, "`type` is missing"},
        {"[{'op':'add_object','type':'t','data':[]}]", AG_E_BAD_OPERATION, "`data` is no map"},
        {"[{'op':'add_object','type':7}]", AG_E_BAD_OPERATION, "`type` is no text"},
        {"[{'op':'add_object','type':'a b'}]", AG_E_BAD_OPERATION, "the type holds"},
        {"[{'op':'add_object','type':''}]", AG_E_BAD_OPERATION, "the type has 0 bytes"},
        {"[{'op':'add_object','type':'t','id':'a@b'}]", AG_E_BAD_OPERATION, "the id holds"},
        {"[{'op':'add_object','type':'t','id':'a\\u0085b'}]", AG_E_BAD_OPERATION, "the id holds"},
        {"[{'op':'add_object','type':'t','id':'task#r3f.1'}]", AG_E_BAD_OPERATION, "task#r3f.1"},
        {"[{'op':'add_relation','type':'t','source':'x','target':'x','id':'rel_r3f.001'}]",
         AG_E_BAD_OPERATION, "rel_r3f.001"},
        {"[{'op':'add_object','type':'t','data':{'provenance':1}}]", AG_E_BAD_OPERATION,
         "provenance"},
        {"[{'op':'patch_object','id':'x','data':{'provenance':1}}]", AG_E_BAD_OPERATION,
         "provenance"},
        {"[{'op':'add_object','type':'t','id':'x'}]", AG_E_EXISTS, "object `x` exists already"},
        {"[{'op':'add_object','type':'t','id':'gone'}]", AG_E_EXISTS, "was used and removed"},
        {"[{'op':'remove_object','id':'gone'}]", AG_E_NOT_FOUND, "`gone`; it was removed"},
        {"[{'op':'remove_object','id':'y'}]", AG_E_NOT_FOUND, "there is no object `y`"},
        {"[{'op':'remove_relation','id':'x'}]", AG_E_NOT_FOUND, "there is no relation `x`"},
        {"[{'op':'add_relation','type':'t','source':'x','target':'y'}]", AG_E_NOT_FOUND,
         "there is no object `y`"},
        {"[{'op':'patch_object','id':'@a','data':{}}]", AG_E_BAD_OPERATION, "is called `@a`"},
        {"[{'op':'add_object','type':'t','as':'a'},{'op':'add_object','type':'t','as':'a'}]",
         AG_E_BAD_OPERATION, "is called `a` already"},
        {"[{'op':'emit','type':'pack.loaded'}]", AG_E_RESERVED, "`pack.loaded`"},
        {"[{'op':'emit','type':'object.created'}]", AG_E_RESERVED, "`object.created`"},
        {"[{'op':'emit','type':'goal.created'}]", AG_E_RESERVED, "`goal.created`"},
        {"[{'op':'emit','type':'llm.anything'}]", AG_E_RESERVED, "`llm.anything`"},
    };
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    core_apply (
        self, run,
        "[{'op':'add_object','type':'t','id':'x'},{'op':'add_object','type':'t','id':'gone'},"
        " {'op':'remove_object','id':'gone'}]");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        refuses (self, core_try (self, run, rows[i].ops), rows[i].code, rows[i].says);
    assert_int_equal (core_tip (self, run), 3);
}

static void
a_given_id_in_the_plain_form_raises_the_counter_of_a_root (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    core_apply (
        self, run,
        "[{'op':'add_object','type':'task','id':'task#9'},{'op':'add_object','type':'note'},"
        " {'op':'add_object','type':'x','id':'x#99999999999999999999'},"
        " {'op':'add_relation','source':'task#9','target':'task#9','type':'r',"
        "  'id':'rel_012'},"
        " {'op':'add_relation','source':'task#9','target':'task#9','type':'r'}]");
    core_again (self);
    core_apply (self, run, "[{'op':'add_object','type':'note'}]");
    assert_string_equal (core_state (self, run, AG_OBJECT, AG_NOW),
                         "{'note#10':{},'note#11':{},'task#9':{},'x#99999999999999999999':{}}");
    assert_string_equal (core_state (self, run, AG_RELATION, AG_NOW),
                         "{'rel_012':{},'rel_013':{}}");
}

static void
an_object_patched_many_times_reads_back_at_every_point (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    char text[200];
    core_apply (self, run, "[{'op':'add_object','type':'t','id':'x','data':{'n':1,'k':0}}]");
    for (int n = 2; n <= 70; n++) {
        snprintf (text, sizeof text, "[{'op':'patch_object','id':'x','data':{'n':%d,'f%d':true}}]",
                  n, n % 3);
        core_apply (self, run, text);
        if (n % 7 == 0)
            core_again (self);
    }
    for (uint64_t seq = 1; seq <= 70; seq++) {
        struct ag_entity entity = {0};
        uint64_t number;
        assert_int_equal (ag_state_get (self->journal, core_run (self, run), AG_OBJECT,
                                        AG_LIT ("x"), seq, &entity, &self->err),
                          1);
        assert_int_equal (entity.version, seq);
        assert_int_equal (entity.created, 1);
        assert_int_equal (ag_map_uint (entity.data, "n", &number), 0);
        assert_int_equal (number, seq);
        assert_int_equal (ag_map_uint (entity.data, "k", &number), 0);
        ag_entity_fini (&entity);
    }
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (events_have_the_shapes_of_the_reference),
        core_test (removing_an_object_takes_its_relations_along_and_says_so),
        core_test (a_list_is_applied_whole_or_not_at_all),
        core_test (what_does_not_exist_or_is_not_allowed_is_refused_by_name),
        core_test (a_given_id_in_the_plain_form_raises_the_counter_of_a_root),
        core_test (an_object_patched_many_times_reads_back_at_every_point),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
