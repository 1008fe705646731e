//  Types in force: what operations, approvals and promotes do with them. The reference's cases by their numbers.
//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/declared.h"
#include "supervisor/policy.h"
#include "supervisor/promote_test.h"
#include "supervisor/record.h"
#include "supervisor/verify_test.h"
#include "supervisor/waiting.h"

#define INSIGHT                                                                                    \
    "'insight':{'required':['text'],'properties':{'text':{'type':'string'},"                       \
    "'confidence':{'type':'number','minimum':0,'maximum':1}}}"
#define TASK                                                                                       \
    "'job':{'properties':{'n':{'type':'integer'},'state':{'default':'open'},"                      \
    "'by':{'type':'object','properties':{'who':{'default':'nobody'}}}}}"
#define ABOUT "{'about':{'source':['insight'],'properties':{'n':{'type':'integer','default':0}}}}"
#define PACK(n)                                                                                    \
    "{'name':'" n "','version':'1','types':{'object':{" INSIGHT "," TASK "},'relation':" ABOUT "}" \
    "}"

static int
try_tell (struct core *self, uint64_t run, enum ag_type type, const char *payload)
{
    struct ag_buf value = value_of (self, payload);
    return ag_declared_tell (self->journal, core_run (self, run), type, &value, &self->err);
}

static void
load (struct core *self, uint64_t run, const char *payload)
{
    must (self, try_tell (self, run, AG_EV_PACK_LOADED, payload));
}

static void
disable (struct core *self, uint64_t run, const char *name)
{
    char payload[80];
    snprintf (payload, sizeof payload, "{'name':'%s','version':'1'}", name);
    must (self, try_tell (self, run, AG_EV_PACK_DISABLED, payload));
}

static void
verify (struct core *self, uint64_t run, const char *says)
{
    struct ag_verify found;
    assert_string_equal (core_verify (self, run, &found), says);
}

//  A fork in which nothing is typed of a parent that loads the pack after the cut.
static uint64_t
typed_parent (struct core *self, uint64_t *fork)
{
    uint64_t run = base_fork (self, fork);
    load (self, run, PACK ("p"));
    return run;
}

/*  Operations  */

static void
data_is_canonical_before_its_event_is_made (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    load (self, run, PACK ("p"));
    core_apply (self, run,
                "[{'op':'add_object','type':'insight','data':{'text':'x','more':[1]}},"
                " {'op':'add_object','type':'job','data':{'n':2.0,'by':{}}},"
                " {'op':'add_object','type':'free','data':{'n':2.0}},"
                " {'op':'add_relation','source':'insight#1','target':'job#2','type':'about'}]");
    core_again (self);
    assert_string_equal (objects (self, run),
                         "{'free#3':{'n':2.0},'insight#1':{'text':'x','more':[1]},"
                         "'job#2':{'n':2,'by':{'who':'nobody'},'state':'open'}}");
    assert_string_equal (relations (self, run), "{'rel_001':{'n':0}}");
    verify (self, run, "");
}

static void
what_an_object_becomes_has_to_fit_and_its_patch_sets_what_that_takes (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    core_apply (self, run, "[{'op':'add_object','type':'job','data':{'n':1.0,'by':{'x':1}}}]");
    load (self, run, PACK ("p"));
    core_apply (self, run, "[{'op':'patch_object','id':'job#1','data':{'y':null}}]");
    assert_string_equal (objects (self, run),
                         "{'job#1':{'n':1,'by':{'x':1,'who':'nobody'},'y':null,'state':'open'}}");
    assert_non_null (
        strstr (payload_of (self, run, 3),
                "'value':{'n':1,'by':{'x':1,'who':'nobody'},'y':null,'state':'open'}"));
    core_apply (self, run, "[{'op':'patch_object','id':'job#1','data':{'n':2}}]");
    assert_non_null (strstr (payload_of (self, run, 4), "'value':{'n':2}"));
    core_apply (self, run, "[{'op':'replace_object','id':'job#1','data':{'n':3}}]");
    assert_string_equal (objects (self, run), "{'job#1':{'n':3,'state':'open'}}");
    refuses (self, core_try (self, run, "[{'op':'patch_object','id':'job#1','data':{'n':'3'}}]"),
             AG_E_TYPE,
             "operation 1 (patch_object): `job` as pack p declares it: n is \"3\", not integer");
    refuses (self, core_try (self, run, "[{'op':'replace_object','id':'job#1','data':{'by':1}}]"),
             AG_E_TYPE, "by is 1, not object");
    core_again (self);
    verify (self, run, "");
}

static void
a_list_with_one_misfit_leaves_nothing_and_says_how_many_there_are (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    load (self, run, PACK ("p"));
    refuses (self,
             core_try (self, run,
                       "[{'op':'add_object','type':'insight','data':{'text':'x'}},"
                       " {'op':'add_object','type':'insight','data':{'confidence':5.0}}]"),
             AG_E_TYPE,
             "operation 2 (add_object): `insight` as pack p declares it: text is missing, and 1 "
             "more");
    assert_int_equal (core_tip (self, run), 1);
    core_apply (self, run,
                "[{'op':'add_object','type':'job'},{'op':'add_object','type':'insight','data':"
                "{'text':'x'}}]");
    refuses (self,
             core_try (self, run,
                       "[{'op':'add_relation','source':'job#1','target':'insight#2','type':"
                       "'about'}]"),
             AG_E_TYPE, "`about` as pack p declares it: source is of type job");
    refuses (self,
             core_try (self, run,
                       "[{'op':'add_relation','source':'insight#2','target':'job#1','type':'about',"
                       "'data':{'n':'x'}}]"),
             AG_E_TYPE, "n is \"x\"");
    assert_int_equal (core_tip (self, run), 3);
}

static void
a_proposed_patch_is_held_against_the_type_when_it_is_applied (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    core_apply (self, run,
                "[{'op':'add_object','type':'job'},"
                " {'op':'propose_patch','id':'job#1','data':{'n':'x'}},"
                " {'op':'propose_patch','id':'job#1','data':{'n':4.0}}]");
    load (self, run, PACK ("p"));
    refuses (self, core_try (self, run, "[{'op':'apply_patch','patch':'patch_001'}]"), AG_E_TYPE,
             "n is \"x\"");
    core_apply (self, run,
                "[{'op':'apply_patch','patch':'patch_002'},{'op':'reject_patch','patch':"
                "'patch_001'}]");
    assert_string_equal (objects (self, run), "{'job#1':{'n':4,'state':'open'}}");
    verify (self, run, "");
}

static void
what_waits_for_an_approval_fits_when_it_is_asked_and_when_it_is_granted (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    struct ag_buf must_ask = value_of (self, "['job']"), id = {0};
    struct ag_buf ops = value_of (self, "[{'op':'add_object','type':'job','data':{'n':'x'}}]");
    struct ag_policy policy = {.behavior = AG_LIT ("b")};
    policy.lists[AG_MUST_ASK] = ag_buf_str (&must_ask);
    struct ag_author author = {.actor = AG_LIT ("b"), .policy = &policy};
    struct ag_applied applied = {0};
    must (self, ag_operations_apply (self->journal, core_run (self, run), ag_buf_str (&ops),
                                     &author, &applied, &self->err));
    ag_applied_fini (&applied);
    load (self, run, PACK ("p"));
    refuses (self,
             ag_operations_apply (self->journal, core_run (self, run), ag_buf_str (&ops), &author,
                                  &applied, &self->err),
             AG_E_TYPE, "n is \"x\"");
    refuses (self,
             ag_approval_grant (self->journal, core_run (self, run), AG_LIT ("approval_001"),
                                AG_LIT ("me"), &id, &self->err),
             AG_E_TYPE, "n is \"x\"");
    disable (self, run, "p");
    must (self, ag_approval_grant (self->journal, core_run (self, run), AG_LIT ("approval_001"),
                                   AG_LIT ("me"), &id, &self->err));
    assert_string_equal (objects (self, run), "{'job#1':{'n':'x'}}");
    ag_buf_fini (&must_ask);
    ag_buf_fini (&ops);
    ag_buf_fini (&id);
}

static void
the_defaults_that_one_list_may_add_are_bounded (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    struct ag_buf text = {0}, ops = {0};
    ag_buf_text (&text, "{'name':'p','types':{'object':{'t':{'properties':{'a':{'default':'");
    for (int i = 0; i < 200000; i++)
        ag_buf_add (&text, "x", 1);
    ag_buf_text (&text, "'}}}}}}");
    ag_buf_add (&text, "", 1);
    load (self, run, (const char *)text.p);
    ag_buf_text (&ops, "[");
    for (int i = 0; i < 400; i++)
        ag_buf_text (&ops, "%s{'op':'add_object','type':'t'}", i ? "," : "");
    ag_buf_text (&ops, "]");
    ag_buf_add (&ops, "", 1);
    refuses (self, core_try (self, run, (const char *)ops.p), AG_E_TYPE,
             "takes more than 106520 bytes with its defaults");
    ag_buf_fini (&text);
    ag_buf_fini (&ops);
}

/*  In force  */

static void
types_are_in_force_from_their_event_on_and_a_fork_has_those_of_its_cut (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    core_append (self, run, "goal.created", "{'goal':'x'}");
    load (self, run, PACK ("p"));
    core_again (self);
    uint64_t before = core_fork_at (self, run, 1), after = core_fork_at (self, run, 2);
    const char *bad = "[{'op':'add_object','type':'insight','data':{}}]";
    core_apply (self, before, bad);
    refuses (self, core_try (self, after, bad), AG_E_TYPE, "text is missing");
    disable (self, after, "p");
    core_apply (self, after, bad);
    refuses (self, core_try (self, run, bad), AG_E_TYPE, "text is missing");
    verify (self, run, "");
    verify (self, after, "");
}

static void
a_pack_that_is_loaded_again_replaces_its_types_and_another_may_not_declare_them (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    load (self, run, PACK ("p"));
    refuses (self, try_tell (self, run, AG_EV_PACK_LOADED, PACK ("q")), AG_E_PACK,
             "object type `insight` is declared by pack p and by pack q");
    assert_int_equal (core_tip (self, run), 1);
    load (self, run, "{'name':'p','version':'2','types':{'object':{'job':{}}}}");
    core_apply (self, run, "[{'op':'add_object','type':'insight','data':{}}]");
    load (self, run, "{'name':'q','version':'1','types':{'object':{" INSIGHT "}}}");
    refuses (self, core_try (self, run, "[{'op':'add_object','type':'insight','data':{}}]"),
             AG_E_TYPE, "`insight` as pack q declares it");
    verify (self, run, "");
}

static void
i_14_a_disabled_pack_leaves_its_state_and_its_types_take_any_data (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    load (self, run, PACK ("p"));
    core_apply (self, run, "[{'op':'add_object','type':'job','data':{'n':1}}]");
    disable (self, run, "p");
    core_apply (self, run,
                "[{'op':'patch_object','id':'job#1','data':{'n':'any'}},"
                " {'op':'add_object','type':'insight'}]");
    assert_string_equal (objects (self, run),
                         "{'insight#2':{},'job#1':{'n':'any','state':'open'}}");
    load (self, run, PACK ("p"));
    refuses (self, core_try (self, run, "[{'op':'add_object','type':'insight'}]"), AG_E_TYPE,
             "text");
    verify (self, run, "");
}

static void
a_note_of_types_that_was_changed_is_found (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    load (self, run, PACK ("p"));
    core_commit (self);
    ag_note_put (self->journal, core_run (self, run), AG_LIT ("types"), 1, AG_LIT ("\x90"));
    verify (self, run, "the types in force are not what it says");
}

/*  Promote  */

static void
p_41_what_the_parents_types_refuse_is_listed_and_nothing_is_promoted (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = typed_parent (self, &fork), tip = core_tip (self, run);
    core_apply (self, fork,
                "[{'op':'add_object','type':'insight','id':'insight#2','data':"
                "{'text':'x','confidence':5.0}}," //
                " {'op':'add_object','type':'free','id':'free#3'},"
                " {'op':'add_relation','id':'r','source':'free#3','target':'task#1','type':"
                "'about'}]");
    assert_planned (self, fork, "violations",
                    "[{'id':'insight#2','type':'insight','path':'confidence','detail':'is 5.0, not "
                    "at most 1'},{'id':'r','type':'about','path':'source','detail':'is of type "
                    "free, which its type does not allow'}]");
    assert_planned (self, fork, "is_promotable", "false");
    assert_planned (self, fork, "conflicts", "[]");
    refuses (self, promote_into (self, fork, NULL), AG_E_TYPE,
             "r2 cannot be promoted into r1, whose types refuse 2 of its values: insight#2 "
             "confidence is 5.0, not at most 1");
    assert_int_equal (core_tip (self, run), tip);
    assert_string_equal (objects (self, run), "{'task#1':{'title':'base','status':'open'}}");
}

static void
p_42_what_fits_is_promoted_in_canonical_form (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = typed_parent (self, &fork);
    core_apply (self, fork,
                "[{'op':'add_object','type':'insight','id':'insight#2','data':"
                "{'text':'x','confidence':0.5}},"
                " {'op':'add_object','type':'job','id':'job#3','data':{'n':7.0}},"
                " {'op':'add_relation','id':'r','source':'insight#2','target':'task#1','type':"
                "'about'}]");
    assert_planned (self, fork, "violations", "[]");
    promote (self, fork);
    assert_string_equal (
        objects (self, run),
        "{'insight#2':{'text':'x','confidence':0.5},'job#3':{'n':7,'state':'open'},"
        "'task#1':{'title':'base','status':'open'}}");
    assert_string_equal (relations (self, run), "{'r':{'n':0}}");
    assert_planned (self, fork, "is_empty", "true");
    core_again (self);
    verify (self, run, "");
}

static void
p_43_a_type_that_nobody_declares_is_promoted_unchanged (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = typed_parent (self, &fork);
    core_apply (self, fork,
                "[{'op':'add_object','type':'freeform','id':'f','data':{'anything':['goes',1]}}]");
    promote (self, fork);
    assert_string_equal (objects (self, run), "{'f':{'anything':['goes',1]},'task#1':{'title':"
                                              "'base','status':'open'}}");
}

static void
the_parents_types_of_this_moment_decide_and_not_those_of_the_fork (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = typed_parent (self, &fork);
    load (self, fork, "{'name':'p','version':'2','types':{'object':{'insight':{}}}}");
    core_apply (self, fork, "[{'op':'add_object','type':'insight','id':'i','data':{}}]");
    refuses (self, promote_into (self, fork, NULL), AG_E_TYPE, "text is missing");
    disable (self, run, "p");
    promote (self, fork);
    assert_non_null (strstr (objects (self, run), "'i':{}"));
}

static void
a_promoted_patch_has_to_fit_too (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    core_apply (self, run, "[{'op':'add_object','type':'job','data':{'n':1}}]");
    uint64_t fork = core_fork (self, run);
    load (self, run, PACK ("p"));
    core_apply (self, fork, "[{'op':'patch_object','id':'job#1','data':{'n':'x'}}]");
    refuses (self, promote_into (self, fork, NULL), AG_E_TYPE, "job#1 n is \"x\"");
    core_apply (self, fork, "[{'op':'patch_object','id':'job#1','data':{'n':2.0}}]");
    promote (self, fork);
    assert_string_equal (objects (self, run), "{'job#1':{'n':2,'state':'open'}}");
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (data_is_canonical_before_its_event_is_made),
        core_test (what_an_object_becomes_has_to_fit_and_its_patch_sets_what_that_takes),
        core_test (a_list_with_one_misfit_leaves_nothing_and_says_how_many_there_are),
        core_test (a_proposed_patch_is_held_against_the_type_when_it_is_applied),
        core_test (what_waits_for_an_approval_fits_when_it_is_asked_and_when_it_is_granted),
        core_test (the_defaults_that_one_list_may_add_are_bounded),
        core_test (types_are_in_force_from_their_event_on_and_a_fork_has_those_of_its_cut),
        core_test (a_pack_that_is_loaded_again_replaces_its_types_and_another_may_not_declare_them),
        core_test (i_14_a_disabled_pack_leaves_its_state_and_its_types_take_any_data),
        core_test (a_note_of_types_that_was_changed_is_found),
        core_test (p_41_what_the_parents_types_refuse_is_listed_and_nothing_is_promoted),
        core_test (p_42_what_fits_is_promoted_in_canonical_form),
        core_test (p_43_a_type_that_nobody_declares_is_promoted_unchanged),
        core_test (the_parents_types_of_this_moment_decide_and_not_those_of_the_fork),
        core_test (a_promoted_patch_has_to_fit_too),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
