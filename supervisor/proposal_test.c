//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/core_state_test.h"
#include "supervisor/key.h"
#include "supervisor/verify_test.h"
#include "supervisor/waiting.h"

//  {"id": expected version, ...} of what waits at a point.
static bool
list_one (void *arg, struct ag_str id)
{
    struct ag_buf *out = arg;
    ag_buf_text (out, "%.*s ", AG_STR_ARG (id));
    return true;
}

static const char *
waiting (struct core *self, uint64_t run, uint64_t at)
{
    ag_buf_clear (&self->text);
    must (self, ag_state_waiting (self->journal, core_run (self, run), AG_PATCH, at, AG_LIT (""),
                                  list_one, &self->text, &self->err));
    ag_buf_add (&self->text, "", 1);
    return (const char *)self->text.p;
}

static const char *
payload_of (struct core *self, uint64_t run, uint64_t seq, const char *type)
{
    struct ag_event event;
    struct ag_buf hold = {0};
    must (self,
          ag_journal_read (self->journal, core_run (self, run), seq, &hold, &event, &self->err));
    if (!ag_str_is (event.type, type))
        fail_msg ("event %d is %.*s", (int)seq, AG_STR_ARG (event.type));
    const char *text = json_of (self, event.payload);
    ag_buf_fini (&hold);
    return text;
}

static void
assert_says (const char *text, const char *part)
{
    if (!strstr (text, part))
        fail_msg ("`%s` does not say `%s`", text, part);
}

static uint64_t
root_with_task (struct core *self)
{
    uint64_t run = core_root (self, "p");
    core_apply (self, run, "[{'op':'add_object','type':'task','data':{'n':1,'k':0}}]");
    return run;
}

static void
a_proposed_patch_changes_nothing_until_it_is_applied (void **state)
{
    struct core *self = *state;
    uint64_t run = root_with_task (self);
    core_apply (self, run,
                "[{'op':'propose_patch','id':'task#1','data':{'n':2},'rationale':'why not',"
                "'evidence':['evt_001']}]");
    assert_string_equal (objects (self, run), "{'task#1':{'n':1,'k':0}}");
    assert_string_equal (waiting (self, run, AG_NOW), "patch_001 ");
    const char *said = payload_of (self, run, 2, "patch.proposed");
    assert_says (said, "'id':'patch_001','target':'task#1','op':'update','value':{'n':2},"
                       "'expected_version':1,'proposed_by':'user','rationale':'why not',"
                       "'evidence':['evt_001'],'status':'proposed'");
    core_again (self);
    core_apply (self, run, "[{'op':'apply_patch','patch':'patch_001'}]");
    assert_string_equal (objects (self, run), "{'task#1':{'n':2,'k':0}}");
    assert_string_equal (waiting (self, run, AG_NOW), "");
    said = payload_of (self, run, 3, "patch.applied");
    assert_says (said, "'id':'patch_001'");
    assert_says (said, "'rationale':'why not','evidence':['evt_001'],'status':'applied'");
    assert_says (said, "'diff':{'n':{'old':1,'new':2}},'approved_by':'user'");
    core_sound (self, run);
}

static void
a_replacing_patch_puts_its_data_in_place_of_all (void **state)
{
    struct core *self = *state;
    uint64_t run = root_with_task (self);
    core_apply (self, run,
                "[{'op':'propose_patch','id':'task#1','change':'replace','data':{'z':1},'as':'p'},"
                " {'op':'apply_patch','patch':'@p'}]");
    assert_string_equal (objects (self, run), "{'task#1':{'z':1}}");
    core_sound (self, run);
}

static void
the_first_of_two_patches_wins_and_the_other_is_rejected_by_an_event (void **state)
{
    struct core *self = *state;
    uint64_t run = root_with_task (self);
    core_apply (self, run,
                "[{'op':'propose_patch','id':'task#1','data':{'n':2}},"
                " {'op':'propose_patch','id':'task#1','data':{'n':3}},"
                " {'op':'apply_patch','patch':'patch_001'}]");
    core_apply (self, run, "[{'op':'apply_patch','patch':'patch_002'}]");
    assert_string_equal (objects (self, run), "{'task#1':{'n':2,'k':0}}");
    assert_string_equal (payload_of (self, run, 5, "patch.rejected"),
                         "{'patch_id':'patch_002','target':'task#1',"
                         "'reason':'expected version 1, found 2','current_version':2}");
    assert_string_equal (waiting (self, run, AG_NOW), "");
    core_sound (self, run);
}

static void
a_patch_of_an_object_that_was_removed_is_rejected (void **state)
{
    struct core *self = *state;
    uint64_t run = root_with_task (self);
    core_apply (self, run,
                "[{'op':'propose_patch','id':'task#1','data':{'n':2}},"
                " {'op':'remove_object','id':'task#1'},"
                " {'op':'apply_patch','patch':'patch_001'}]");
    assert_string_equal (payload_of (self, run, 4, "patch.rejected"),
                         "{'patch_id':'patch_001','target':'task#1',"
                         "'reason':'expected version 1, found the object removed',"
                         "'current_version':0}");
    core_sound (self, run);
}

static void
a_patch_is_decided_once (void **state)
{
    struct core *self = *state;
    uint64_t run = root_with_task (self);
    core_apply (self, run,
                "[{'op':'propose_patch','id':'task#1','data':{'n':2}},"
                " {'op':'reject_patch','patch':'patch_001','reason':'no'}]");
    assert_string_equal (payload_of (self, run, 3, "patch.rejected"),
                         "{'patch_id':'patch_001','target':'task#1','reason':'no',"
                         "'current_version':1}");
    refuses (self, core_try (self, run, "[{'op':'apply_patch','patch':'patch_001'}]"), AG_E_DECIDED,
             "patch `patch_001` is rejected already");
    refuses (self, core_try (self, run, "[{'op':'reject_patch','patch':'patch_001'}]"),
             AG_E_DECIDED, "patch `patch_001` is rejected already");
    core_apply (self, run,
                "[{'op':'propose_patch','id':'task#1','data':{'n':2}},"
                " {'op':'apply_patch','patch':'patch_002'}]");
    refuses (self, core_try (self, run, "[{'op':'reject_patch','patch':'patch_002'}]"),
             AG_E_DECIDED, "patch `patch_002` is applied already");
    assert_int_equal (core_tip (self, run), 5);
}

static void
a_caller_may_say_which_version_a_patch_is_meant_for (void **state)
{
    struct core *self = *state;
    uint64_t run = root_with_task (self);
    core_apply (self, run,
                "[{'op':'propose_patch','id':'task#1','data':{'n':9},'expected_version':2},"
                " {'op':'patch_object','id':'task#1','data':{'n':2}},"
                " {'op':'apply_patch','patch':'patch_001'}]");
    assert_string_equal (objects (self, run), "{'task#1':{'n':9,'k':0}}");
}

static void
what_cannot_be_proposed_burns_no_id (void **state)
{
    static const struct {
        const char *ops;
        enum ag_code code;
        const char *says;
    } rows[] = {
        {"[{'op':'propose_patch','id':'task#1','change':'create','data':{}}]", AG_E_BAD_OPERATION,
         "update or replace, not `create`"},
        {"[{'op':'propose_patch','id':'task#1','change':'UPDATE','data':{}}]", AG_E_BAD_OPERATION,
         "not `UPDATE`"},
        {"[{'op':'propose_patch','id':'task#1','data':{'provenance':{}}}]", AG_E_BAD_OPERATION,
         "`provenance`"},
        {"[{'op':'propose_patch','id':'task#7','data':{}}]", AG_E_NOT_FOUND,
         "there is no object `task#7`"},
        {"[{'op':'propose_patch','id':'task#1','data':{},'evidence':'x'}]", AG_E_BAD_OPERATION,
         "`evidence` is no list"},
        {"[{'op':'propose_patch','id':'task#1','data':{},'expected_version':-1}]",
         AG_E_BAD_OPERATION, "`expected_version` is no number"},
        {"[{'op':'apply_patch','patch':'patch_009'}]", AG_E_NOT_FOUND, "patch `patch_009`"},
        {"[{'op':'reject_patch','patch':'patch_001'}]", AG_E_NOT_FOUND, "patch `patch_001`"},
    };
    struct core *self = *state;
    uint64_t run = root_with_task (self);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        refuses (self, core_try (self, run, rows[i].ops), rows[i].code, rows[i].says);
    core_apply (self, run, "[{'op':'propose_patch','id':'task#1','data':{'a':{'provenance':1}}}]");
    assert_string_equal (waiting (self, run, AG_NOW), "patch_001 ");
    assert_int_equal (core_tip (self, run), 2);
}

static void
a_patch_that_was_applied_at_once_is_no_proposal (void **state)
{
    struct core *self = *state;
    uint64_t run = root_with_task (self);
    core_apply (self, run, "[{'op':'patch_object','id':'task#1','data':{'n':2}}]");
    refuses (self, core_try (self, run, "[{'op':'apply_patch','patch':'patch_001'}]"),
             AG_E_NOT_FOUND, "nothing was proposed as patch `patch_001`");
}

static void
a_patch_is_not_decided_as_an_approval_and_what_decides_it_is_named (void **state)
{
    struct core *self = *state;
    struct ag_buf id = {0};
    uint64_t run = root_with_task (self);
    core_apply (self, run, "[{'op':'propose_patch','id':'task#1','data':{'n':2}}]");
    refuses (self,
             ag_approval_grant (self->journal, core_run (self, run), AG_LIT ("patch_001"),
                                AG_LIT ("user"), &id, &self->err),
             AG_E_BAD_OPERATION, "{\"op\":\"apply_patch\",\"patch\":\"patch_001\"}");
    ag_buf_fini (&id);
}

static void
a_fork_decides_for_itself_about_what_was_proposed_at_its_cut (void **state)
{
    struct core *self = *state;
    uint64_t run = root_with_task (self);
    core_apply (self, run, "[{'op':'propose_patch','id':'task#1','data':{'n':2}}]");
    core_apply (self, run, "[{'op':'propose_patch','id':'task#1','data':{'n':3}}]");
    uint64_t tip = core_fork (self, run), earlier = core_fork_at (self, run, 2),
             before = core_fork_at (self, run, 1);
    assert_string_equal (waiting (self, tip, AG_NOW), "patch_001 patch_002 ");
    assert_string_equal (waiting (self, earlier, AG_NOW), "patch_001 ");
    assert_string_equal (waiting (self, before, AG_NOW), "");
    core_apply (self, tip, "[{'op':'apply_patch','patch':'patch_001'}]");
    core_apply (self, tip, "[{'op':'propose_patch','id':'task#1','data':{'n':4}}]");
    core_again (self);
    assert_string_equal (waiting (self, tip, AG_NOW), "patch_002 patch_r2.001 ");
    assert_string_equal (waiting (self, tip, 3), "patch_001 patch_002 ");
    assert_string_equal (waiting (self, run, AG_NOW), "patch_001 patch_002 ");
    assert_string_equal (objects (self, run), "{'task#1':{'n':1,'k':0}}");
    assert_string_equal (objects (self, tip), "{'task#1':{'n':2,'k':0}}");
    core_apply (self, run, "[{'op':'apply_patch','patch':'patch_002'}]");
    assert_string_equal (waiting (self, earlier, AG_NOW), "patch_001 ");
    core_sound (self, run);
    core_sound (self, tip);
}

static void
a_proposal_that_the_index_lost_is_found_by_verify (void **state)
{
    static const enum ag_entity_kind kinds[] = {AG_PATCH, AG_OBJECT};
    struct core *self = *state;
    uint64_t run = root_with_task (self);
    core_apply (self, run, "[{'op':'propose_patch','id':'task#1','data':{'n':2}}]");
    for (int i = 0; i < 2; i++) {
        struct ag_key key;
        struct ag_verify verify;
        struct ag_buf value = {0};
        ag_batch_t *batch = ag_journal_batch (self->journal);
        ag_key_tip (&key, run, kinds[i], i ? AG_LIT ("task#1") : AG_LIT ("patch_001"));
        assert_int_equal (ag_batch_get (batch, AG_TIP, ag_key_str (&key), &value, &self->err), 1);
        ag_batch_delete (batch, AG_TIP, ag_key_str (&key));
        assert_says (core_verify (self, run, &verify), i ? "(o)" : "(p)");
        ag_batch_put (batch, AG_TIP, ag_key_str (&key), ag_buf_str (&value));
        ag_buf_fini (&value);
    }
    core_sound (self, run);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (a_proposed_patch_changes_nothing_until_it_is_applied),
        core_test (a_replacing_patch_puts_its_data_in_place_of_all),
        core_test (the_first_of_two_patches_wins_and_the_other_is_rejected_by_an_event),
        core_test (a_patch_of_an_object_that_was_removed_is_rejected),
        core_test (a_patch_is_not_decided_as_an_approval_and_what_decides_it_is_named),
        core_test (a_patch_is_decided_once),
        core_test (a_caller_may_say_which_version_a_patch_is_meant_for),
        core_test (what_cannot_be_proposed_burns_no_id),
        core_test (a_patch_that_was_applied_at_once_is_no_proposal),
        core_test (a_proposal_that_the_index_lost_is_found_by_verify),
        core_test (a_fork_decides_for_itself_about_what_was_proposed_at_its_cut),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
