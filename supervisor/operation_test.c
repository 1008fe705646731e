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
        {"[{'op':'emit','type':'patch.applied'}]", AG_E_RESERVED, "`patch.applied`"},
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

/*  Invocations  */

static struct ag_author
invocation (const struct ag_mint *mint)
{
    return (struct ag_author){.actor = AG_LIT ("scan"), .cause = 1, .mint = mint};
}

static int
apply_as (struct core *self, uint64_t run, const struct ag_author *author, const char *ops,
          const char **ids)
{
    struct ag_buf list = value_of (self, ops);
    struct ag_applied applied = {0};
    int rc = ag_operations_apply (self->journal, core_run (self, run), ag_buf_str (&list), author,
                                  &applied, &self->err);
    if (!rc && ids)
        *ids = json_of (self, ag_buf_str (&applied.ids));
    ag_applied_fini (&applied);
    ag_buf_fini (&list);
    return rc;
}

#define TWO_TASKS "[{'op':'add_object','type':'t'},{'op':'add_object','type':'t'}]"

static void
an_invocation_mints_from_its_block_whatever_others_mint_meanwhile (void **state)
{
    struct core *self = *state;
    const char *ids;
    uint64_t run = core_root (self, "p");
    core_apply (self, run, TWO_TASKS);
    struct ag_mint inside = {.object = 2, .relation = 0, .mine = true}, outside = inside;
    struct ag_author worker = invocation (&inside), person = {.actor = AG_LIT ("user")};
    outside.mine = false;
    person.mint = &outside;
    must (self, apply_as (self, run, &person, "[{'op':'add_object','type':'t'}]", &ids));
    assert_string_equal (ids, "['t#4099']");
    must (self, apply_as (self, run, &worker,
                          "[{'op':'add_object','type':'t','id':'t#4'},"
                          " {'op':'add_object','type':'t'},{'op':'add_object','type':'t'},"
                          " {'op':'add_relation','source':'t#3','target':'t#5','type':'r'}]",
                          &ids));
    assert_string_equal (ids, "['t#4','t#3','t#5','rel_001']");
    core_apply (self, run, "[{'op':'add_object','type':'t'}]");
    assert_non_null (strstr (core_state (self, run, AG_OBJECT, AG_NOW), "'t#4100':{}"));
}

static void
the_counters_stand_after_what_an_invocation_used_when_nobody_else_minted (void **state)
{
    struct core *self = *state;
    const char *ids;
    uint64_t run = core_root (self, "p");
    struct ag_mint inside = {.mine = true};
    struct ag_author worker = invocation (&inside), person = {.actor = AG_LIT ("user")};
    core_append (self, run, "x", "{}");
    must (self, apply_as (self, run, &worker, TWO_TASKS, &ids));
    must (self, apply_as (self, run, &person, TWO_TASKS, &ids));
    assert_string_equal (ids, "['t#3','t#4']");
}

static void
only_the_open_invocation_of_a_fork_may_name_ids_of_its_block (void **state)
{
    struct core *self = *state;
    const char *ids;
    uint64_t root = core_root (self, "p");
    core_append (self, root, "x", "{}");
    uint64_t run = core_fork (self, root);
    struct ag_mint mint = {.object = 0, .relation = 0, .mine = true};
    struct ag_author worker = invocation (&mint);
    must (self, apply_as (self, run, &worker,
                          "[{'op':'add_object','type':'t','id':'t#r2.7'},"
                          " {'op':'add_relation','source':'t#r2.7','target':'t#r2.7','type':'r',"
                          "  'id':'rel_r2.4096'}]",
                          &ids));
    assert_string_equal (ids, "['t#r2.7','rel_r2.4096']");
    static const char *const others[] = {"t#r2.0", "t#r2.4097", "t#r3.1", "t#r1.1"};
    char ops[100];
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf (ops, sizeof ops, "[{'op':'add_object','type':'t','id':'%s'}]", others[i]);
        refuses (self, apply_as (self, run, &worker, ops, NULL), AG_E_BAD_OPERATION, others[i]);
    }
    mint.mine = false;
    refuses (self,
             apply_as (self, run, &worker, "[{'op':'add_object','type':'t','id':'t#r2.8'}]", NULL),
             AG_E_BAD_OPERATION, "t#r2.8");
}

static void
what_somebody_changed_after_it_was_read_is_contended (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    struct ag_author author = {.actor = AG_LIT ("scan"), .read_at = 2};
    core_apply (self, run,
                "[{'op':'add_object','type':'t','id':'a'},{'op':'add_object','type':'t','id':'b'},"
                " {'op':'patch_object','id':'b','data':{}},"
                " {'op':'add_object','type':'t','id':'c'},{'op':'remove_object','id':'c'}]");
    must (self, apply_as (self, run, &author,
                          "[{'op':'patch_object','id':'a','data':{'n':1}},"
                          " {'op':'patch_object','id':'a','data':{'n':2}}]",
                          NULL));
    static const char *const contended[] = {
        "[{'op':'patch_object','id':'b','data':{}}]",
        "[{'op':'replace_object','id':'b','data':{}}]", "[{'op':'remove_object','id':'b'}]",
        "[{'op':'patch_object','id':'c','data':{}}]",
        "[{'op':'add_relation','source':'a','target':'c','type':'r'}]"};
    for (size_t i = 0; i < sizeof contended / sizeof *contended; i++)
        refuses (self, apply_as (self, run, &author, contended[i], NULL), AG_E_CONTENTION,
                 "meanwhile");
    refuses (self,
             apply_as (self, run, &author, "[{'op':'patch_object','id':'never','data':{}}]", NULL),
             AG_E_NOT_FOUND, "never");
}

static void
what_a_list_did_is_counted (void **state)
{
    struct core *self = *state;
    struct ag_applied applied = {0};
    struct ag_author author = {.actor = AG_LIT ("user")};
    uint64_t run = core_root (self, "p");
    struct ag_buf list = value_of (
        self, "[{'op':'add_object','type':'t','as':'a'},{'op':'patch_object','id':'@a','data':{}},"
              " {'op':'add_relation','source':'@a','target':'@a','type':'r','as':'r'},"
              " {'op':'emit','type':'e'},{'op':'remove_relation','id':'@r'}]");
    struct ag_buf none = value_of (self, "[]");
    must (self, ag_operations_apply (self->journal, core_run (self, run), ag_buf_str (&none),
                                     &author, &applied, &self->err));
    assert_int_equal (applied.first, 0);
    assert_int_equal (applied.last, 0);
    must (self, ag_operations_apply (self->journal, core_run (self, run), ag_buf_str (&list),
                                     &author, &applied, &self->err));
    assert_int_equal (applied.first, 1);
    assert_int_equal (applied.last, 5);
    assert_int_equal (applied.objects, 1);
    assert_int_equal (applied.relations, 1);
    assert_int_equal (applied.patches, 1);
    assert_int_equal (applied.emitted, 1);
    assert_string_equal (json_of (self, ag_buf_str (&applied.ids)),
                         "['t#1',null,'rel_001',null,null]");
    ag_applied_fini (&applied);
    ag_buf_fini (&list);
    ag_buf_fini (&none);
}

/*  Bounds  */

static struct ag_buf
many (unsigned count, const char *op, const char *type)
{
    struct ag_buf list = {0};
    ag_put_list (&list, count);
    for (unsigned i = 0; i < count; i++) {
        ag_put_map (&list, 2);
        ag_put_lit (&list, "op");
        ag_put_lit (&list, op);
        ag_put_lit (&list, "type");
        ag_put_lit (&list, type);
    }
    return list;
}

static int
apply_list (struct core *self, uint64_t run, const struct ag_buf *list)
{
    struct ag_author author = {.actor = AG_LIT ("user")};
    struct ag_applied applied = {0};
    int rc = ag_operations_apply (self->journal, core_run (self, run), ag_buf_str (list), &author,
                                  &applied, &self->err);
    ag_applied_fini (&applied);
    return rc;
}

static void
a_list_that_makes_too_many_events_is_refused (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    struct ag_buf full = many (AG_APPLY_EVENTS, "emit", "e");
    struct ag_buf over = many (AG_APPLY_EVENTS + 1, "emit", "e");
    refuses (self, apply_list (self, run, &over), AG_E_TOO_LARGE, "20001 operations");
    must (self, apply_list (self, run, &full));
    assert_int_equal (core_tip (self, run), AG_APPLY_EVENTS);
    ag_buf_fini (&full);
    ag_buf_fini (&over);
}

//  An object that many relations touch: its removal is an event for each of them.
static void
a_removal_that_takes_too_many_along_is_refused_whole (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    core_apply (self, run, "[{'op':'add_object','type':'hub','id':'hub'}]");
    struct ag_buf list = {0};
    ag_put_list (&list, AG_APPLY_EVENTS);
    for (unsigned i = 0; i < AG_APPLY_EVENTS; i++) {
        struct ag_buf one =
            value_of (self, "{'op':'add_relation','source':'hub','target':'hub','type':'r'}");
        ag_put_value (&list, ag_buf_str (&one));
        ag_buf_fini (&one);
    }
    must (self, apply_list (self, run, &list));
    core_commit (self);
    refuses (self, core_try (self, run, "[{'op':'remove_object','id':'hub'}]"), AG_E_TOO_LARGE,
             "operation 1 (remove_object): the list makes more than 20000 events");
    assert_int_equal (core_tip (self, run), AG_APPLY_EVENTS + 1);
    core_apply (self, run, "[{'op':'remove_relation','id':'rel_001'}]");
    core_apply (self, run, "[{'op':'remove_object','id':'hub'}]");
    assert_string_equal (core_state (self, run, AG_RELATION, AG_NOW), "{}");
    ag_buf_fini (&list);
}

//  Small patches of a large object are little to write and much to do.
static void
a_list_that_works_on_too_much_data_is_refused (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    char *text = ag_xcalloc (1, 900001);
    memset (text, 'x', 900000);
    char *add = ag_xprintf ("[{'op':'add_object','type':'t','id':'x','data':{'text':'%s'}}]", text);
    core_apply (self, run, add);
    struct ag_buf list = {0};
    ag_put_list (&list, 200);
    for (int i = 0; i < 200; i++) {
        struct ag_buf one = value_of (self, "{'op':'patch_object','id':'x','data':{'n':1}}");
        ag_put_value (&list, ag_buf_str (&one));
        ag_buf_fini (&one);
    }
    refuses (self, apply_list (self, run, &list), AG_E_TOO_LARGE,
             "operation 150 (patch_object): the list patches more than 134217728 bytes of data");
    assert_int_equal (core_tip (self, run), 1);
    ag_buf_fini (&list);
    free (add);
    free (text);
}

static void
an_operation_whose_event_is_too_large_is_refused (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    struct ag_buf list = {0};
    char *text = ag_xmalloc (AG_EVENT_BYTES);
    memset (text, 'x', AG_EVENT_BYTES);
    ag_put_list (&list, 1);
    ag_put_map (&list, 3);
    ag_put_lit (&list, "op");
    ag_put_lit (&list, "add_object");
    ag_put_lit (&list, "type");
    ag_put_lit (&list, "t");
    ag_put_lit (&list, "data");
    ag_put_map (&list, 1);
    ag_put_lit (&list, "x");
    ag_put_text (&list, (struct ag_str){text, AG_EVENT_BYTES - 100});
    refuses (self, apply_list (self, run, &list), AG_E_TOO_LARGE,
             "operation 1 (add_object): an event `object.created` of");
    assert_int_equal (core_tip (self, run), 0);
    free (text);
    ag_buf_fini (&list);
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
        core_test (an_invocation_mints_from_its_block_whatever_others_mint_meanwhile),
        core_test (the_counters_stand_after_what_an_invocation_used_when_nobody_else_minted),
        core_test (only_the_open_invocation_of_a_fork_may_name_ids_of_its_block),
        core_test (what_somebody_changed_after_it_was_read_is_contended),
        core_test (what_a_list_did_is_counted),
        core_test (a_list_that_makes_too_many_events_is_refused),
        core_test (a_removal_that_takes_too_many_along_is_refused_whole),
        core_test (a_list_that_works_on_too_much_data_is_refused),
        core_test (an_operation_whose_event_is_too_large_is_refused),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
