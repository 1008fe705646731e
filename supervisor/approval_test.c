//  What behaviours may do, and what an operator has to approve.
//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/core_state_test.h"
#include "supervisor/policy.h"
#include "supervisor/verify_test.h"
#include "supervisor/waiting.h"

#define SPEC                                                                                       \
    "{'policy':{'scan':{'can_create':['task','secret'],'can_create_relation':['of'],"              \
    "'can_propose':['task'],'can_apply':['note'],'can_call_tool':[],"                              \
    "'requires_approval':['secret']},"                                                             \
    "'free':{'can_create':['*']},"                                                                 \
    "'*':{'can_create':['note'],'requires_approval':null}}}"

//  As core_try, by a behaviour under this policy.
static int
try_as (struct core *self, uint64_t run, const char *name, const char *ops)
{
    struct ag_buf spec = value_of (self, SPEC), behavior = {0}, list = value_of (self, ops);
    struct ag_applied applied = {0};
    ag_put_map (&behavior, 1);
    ag_put_lit (&behavior, "name");
    ag_put_lit (&behavior, name);
    struct ag_policy policy = ag_policy_of (ag_buf_str (&spec), ag_buf_str (&behavior));
    struct ag_author author = {.actor = ag_str (name), .policy = &policy};
    int rc = ag_operations_apply (self->journal, core_run (self, run), ag_buf_str (&list), &author,
                                  &applied, &self->err);
    ag_applied_fini (&applied);
    ag_buf_fini (&spec);
    ag_buf_fini (&behavior);
    ag_buf_fini (&list);
    return rc;
}

static void
a_list_of_a_policy_is_exhaustive_and_an_absent_one_allows_everything (void **state)
{
    static const struct {
        const char *name, *ops, *says; //  says NULL: allowed
    } rows[] = {
        {"scan", "[{'op':'add_object','type':'task'}]", NULL},
        {"scan", "[{'op':'add_object','type':'note'}]",
         "operation 1 (add_object): behavior `scan` may not create objects of type `note`; its "
         "can_create allows `task`, `secret`"},
        {"scan", "[{'op':'add_relation','type':'of','source':'t','target':'n'}]", NULL},
        {"scan", "[{'op':'add_relation','type':'is','source':'t','target':'n'}]",
         "its can_create_relation allows `of`"},
        {"scan", "[{'op':'remove_relation','id':'r'}]", "relations of type `is`"},
        {"scan", "[{'op':'propose_patch','id':'t','data':{}}]", NULL},
        {"scan", "[{'op':'propose_patch','id':'n','data':{}}]", "its can_propose allows `task`"},
        {"scan", "[{'op':'patch_object','id':'n','data':{}}]", NULL},
        {"scan", "[{'op':'patch_object','id':'t','data':{}}]",
         "may not change objects of type `task`; its can_apply allows `note`"},
        {"scan", "[{'op':'replace_object','id':'t','data':{}}]", "can_apply"},
        {"scan", "[{'op':'remove_object','id':'t'}]", "can_apply"},
        {"scan", "[{'op':'apply_patch','patch':'patch_001'}]", "can_apply"},
        {"scan", "[{'op':'reject_patch','patch':'patch_001'}]", "can_apply"},
        {"other", "[{'op':'add_object','type':'note'}]", NULL},
        {"other", "[{'op':'add_object','type':'task'}]", "its can_create allows `note`"},
        {"other", "[{'op':'remove_object','id':'t2'}]", NULL},
        {"free", "[{'op':'add_object','type':'anything'}]", NULL},
    };
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    core_apply (self, run,
                "[{'op':'add_object','type':'task','id':'t'},"
                " {'op':'add_object','type':'task','id':'t2'},"
                " {'op':'add_object','type':'note','id':'n'},"
                " {'op':'add_relation','type':'is','id':'r','source':'t','target':'n'},"
                " {'op':'propose_patch','id':'t','data':{'x':1}}]");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t tip = core_tip (self, run);
        if (!rows[i].says) {
            must (self, try_as (self, run, rows[i].name, rows[i].ops));
            continue;
        }
        refuses (self, try_as (self, run, rows[i].name, rows[i].ops), AG_E_POLICY, rows[i].says);
        assert_int_equal (core_tip (self, run), tip);
    }
}

static void
a_list_that_is_there_and_empty_allows_nothing (void **state)
{
    struct core *self = *state;
    struct ag_buf spec = value_of (self, SPEC), behavior = value_of (self, "{'name':'scan'}");
    struct ag_policy policy = ag_policy_of (ag_buf_str (&spec), ag_buf_str (&behavior));
    refuses (self, ag_policy_check (&policy, AG_MAY_CALL, AG_LIT ("fetch"), &self->err),
             AG_E_POLICY, "may not call the tool `fetch`; its can_call_tool allows nothing");
    must (self, ag_policy_check (NULL, AG_MAY_CALL, AG_LIT ("fetch"), &self->err));
    ag_buf_fini (&spec);
    ag_buf_fini (&behavior);
}

static struct ag_str
event_type (struct core *self, uint64_t run, uint64_t seq, struct ag_buf *hold,
            struct ag_event *event)
{
    must (self,
          ag_journal_read (self->journal, core_run (self, run), seq, hold, event, &self->err));
    return event->type;
}

static void
assert_event (struct core *self, uint64_t run, uint64_t seq, const char *type, const char *actor,
              uint64_t cause, const char *payload)
{
    struct ag_buf hold = {0};
    struct ag_event event;
    assert_true (ag_str_is (event_type (self, run, seq, &hold, &event), type));
    assert_true (ag_str_is (event.actor, actor));
    assert_int_equal (event.cause, cause);
    if (payload)
        assert_string_equal (json_of (self, event.payload), payload);
    ag_buf_fini (&hold);
}

static int
grant (struct core *self, uint64_t run, const char *approval)
{
    struct ag_buf id = {0};
    int rc = ag_approval_grant (self->journal, core_run (self, run), ag_str (approval),
                                AG_LIT ("user"), &id, &self->err);
    ag_buf_fini (&id);
    return rc;
}

static bool
count_one (void *arg, struct ag_str id)
{
    (void)id;
    ++*(int *)arg;
    return true;
}

static int
waiting (struct core *self, uint64_t run)
{
    int count = 0;
    must (self, ag_state_waiting (self->journal, core_run (self, run), AG_APPROVAL, AG_NOW,
                                  AG_LIT (""), count_one, &count, &self->err));
    return count;
}

static void
an_object_that_needs_an_approval_waits_and_is_made_when_it_is_granted (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    must (self, try_as (self, run, "scan", "[{'op':'add_object','type':'secret','data':{'k':1}}]"));
    assert_string_equal (objects (self, run), "{}");
    assert_event (self, run, 1, "approval.proposed", "scan", 0,
                  "{'approval_id':'approval_001','object_type':'secret',"
                  "'reason':'requires_approval','pack':null,'data':{'k':1},'behavior':'scan',"
                  "'id':'secret#1'}");
    core_again (self);
    assert_int_equal (waiting (self, run), 1);
    must (self, grant (self, run, "approval_001"));
    assert_event (self, run, 2, "approval.granted", "user", 1,
                  "{'approval_id':'approval_001','object_type':'secret','approved_by':'user'}");
    assert_event (self, run, 3, "object.created", "scan", 2, NULL);
    assert_string_equal (objects (self, run), "{'secret#1':{'k':1}}");
    assert_int_equal (waiting (self, run), 0);
    refuses (self, grant (self, run, "approval_001"), AG_E_DECIDED, "is granted already");
    refuses (self, grant (self, run, "approval_009"), AG_E_NOT_FOUND, "approval `approval_009`");
    core_sound (self, run);
}

static void
an_object_that_is_denied_is_never_made (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    must (self, try_as (self, run, "scan", "[{'op':'add_object','type':'secret'}]"));
    must (self, ag_approval_deny (self->journal, core_run (self, run), AG_LIT ("approval_001"),
                                  AG_LIT ("user"), AG_LIT ("no"), &self->err));
    assert_event (self, run, 2, "approval.denied", "user", 1,
                  "{'approval_id':'approval_001','object_type':'secret','denied_by':'user',"
                  "'reason':'no'}");
    refuses (self, grant (self, run, "approval_001"), AG_E_DECIDED, "is denied already");
    assert_string_equal (objects (self, run), "{}");
    core_sound (self, run);
}

static void
the_id_of_an_object_that_waits_is_kept_for_it (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    must (self, try_as (self, run, "scan", "[{'op':'add_object','type':'secret'}]"));
    core_again (self);
    core_apply (self, run, "[{'op':'add_object','type':'task'}]");
    must (self, grant (self, run, "approval_001"));
    assert_string_equal (objects (self, run), "{'secret#1':{},'task#2':{}}");
    must (self, try_as (self, run, "scan", "[{'op':'add_object','type':'secret','id':'s'}]"));
    core_apply (self, run, "[{'op':'add_object','type':'task','id':'s'}]");
    uint64_t tip = core_tip (self, run);
    refuses (self, grant (self, run, "approval_002"), AG_E_EXISTS, "object `s` was made");
    assert_int_equal (core_tip (self, run), tip);
    assert_int_equal (waiting (self, run), 1);
}

static void
nothing_in_the_same_list_can_refer_to_what_waits (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    refuses (self,
             try_as (self, run, "scan",
                     "[{'op':'add_object','type':'task','as':'t'},"
                     " {'op':'add_object','type':'secret','as':'s'},"
                     " {'op':'add_relation','type':'of','source':'@t','target':'@s'}]"),
             AG_E_WAITING, "object `secret#2` waits for approval_001");
    assert_int_equal (core_tip (self, run), 0);
}

static void
a_person_needs_no_approval (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    core_apply (self, run, "[{'op':'add_object','type':'secret'}]");
    assert_string_equal (objects (self, run), "{'secret#1':{}}");
}

static void
f_12_what_waits_at_the_cut_waits_in_the_fork_and_ids_go_on (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    must (self, try_as (self, run, "scan", "[{'op':'add_object','type':'secret'}]"));
    must (self, try_as (self, run, "scan", "[{'op':'add_object','type':'secret'}]"));
    uint64_t fork = core_fork (self, run), earlier = core_fork_at (self, run, 1);
    must (self, grant (self, run, "approval_001"));
    assert_int_equal (waiting (self, run), 1);
    assert_int_equal (waiting (self, fork), 2);
    assert_int_equal (waiting (self, earlier), 1);
    must (self, grant (self, fork, "approval_002"));
    assert_string_equal (objects (self, fork), "{'secret#2':{}}");
    assert_string_equal (objects (self, run), "{'secret#1':{}}");
    must (self, try_as (self, fork, "scan", "[{'op':'add_object','type':'secret'}]"));
    must (self, grant (self, fork, "approval_r2.001"));
    must (self, try_as (self, run, "scan", "[{'op':'add_object','type':'secret'}]"));
    must (self, grant (self, run, "approval_003"));
    core_sound (self, run);
    core_sound (self, fork);
}

static void
a_promote_warns_of_what_waits_in_the_fork_and_does_not_carry_it (void **state)
{
    struct core *self = *state;
    struct ag_buf out = {0};
    struct ag_str warnings;
    uint64_t run = core_root (self, "p");
    core_apply (self, run, "[{'op':'add_object','type':'task','id':'t'}]");
    must (self, try_as (self, run, "scan", "[{'op':'add_object','type':'secret'}]"));
    uint64_t fork = core_fork (self, run);
    must (self, try_as (self, fork, "scan", "[{'op':'add_object','type':'secret'}]"));
    core_apply (self, fork, "[{'op':'propose_patch','id':'t','data':{'n':1}}]");
    ag_plan_t *plan = ag_promote_plan (self->journal, core_run (self, fork), 0, &self->err);
    assert_non_null (plan);
    must (self, ag_promote_apply (self->journal, plan, &self->err));
    ag_plan_write (plan, false, &out);
    must (self, ag_map_get (ag_buf_str (&out), "warnings", &warnings));
    assert_string_equal (
        json_of (self, warnings),
        "['approval_r2.001 waits for an approval in the fork; it is not adopted: "
        "decide it there and promote again',"
        "'patch_r2.001 is proposed in the fork and not decided; it is not adopted: "
        "decide it there and promote again']");
    assert_int_equal (waiting (self, run), 1);
    assert_string_equal (objects (self, run), "{'t':{}}");
    ag_plan_destroy (&plan);
    ag_buf_fini (&out);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (a_list_of_a_policy_is_exhaustive_and_an_absent_one_allows_everything),
        core_test (a_list_that_is_there_and_empty_allows_nothing),
        core_test (an_object_that_needs_an_approval_waits_and_is_made_when_it_is_granted),
        core_test (an_object_that_is_denied_is_never_made),
        core_test (the_id_of_an_object_that_waits_is_kept_for_it),
        core_test (nothing_in_the_same_list_can_refer_to_what_waits),
        core_test (a_person_needs_no_approval),
        core_test (a_promote_warns_of_what_waits_in_the_fork_and_does_not_carry_it),
        core_test (f_12_what_waits_at_the_cut_waits_in_the_fork_and_ids_go_on),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
