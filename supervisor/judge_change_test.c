//  One value of what an invocation left in the log is changed, anywhere: strict replay names it.
//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/change_test.h"
#include "supervisor/judge_test.h"
#include "supervisor/key.h"
#include "supervisor/reads.h"

//  What it does: each kind of operation, and what a removal takes along. It was told of a proposal.
#define ALL                                                                                        \
    "[{'op':'add_object','type':'task','data':{'n':1,'of':{'list':[1,{}],'no':null}},'as':'t'},"   \
    "{'op':'add_relation','source':'@t','target':'note#1','type':'of','data':{'w':0.5}},"          \
    "{'op':'patch_object','id':'@t','data':{'n':2}},"                                              \
    "{'op':'replace_object','id':'@t','data':{'n':true}},"                                         \
    "{'op':'propose_patch','id':'@t','data':{'n':3},'rationale':'so','evidence':['e',1],'as':'p'}" \
    ","                                                                                            \
    "{'op':'apply_patch','patch':'@p'},{'op':'reject_patch','patch':'patch_001','reason':'no'},"   \
    "{'op':'emit','type':'said','payload':{'object':{'provenance':{'timestamp':'then'}}}},"        \
    "{'op':'remove_object','id':'note#1'}]"
#define EFFECT "{'q':{'deep':[1,'two']},'tag':''}"

//  What of a record may be something else (docs/design/replay.md), and what says what is handed out.
static const char *const may_differ[] = {"object.created payload.object.provenance.timestamp",
                                         "object.created payload.object.provenance.run_id",
                                         "relation.created payload.relation.provenance.timestamp",
                                         "relation.created payload.relation.provenance.run_id",
                                         "patch.applied payload.patch.provenance.timestamp",
                                         "patch.applied payload.patch.provenance.run_id",
                                         "patch.proposed payload.patch.provenance.timestamp",
                                         "patch.proposed payload.patch.provenance.run_id",
                                         "behavior.failed payload.traceback",
                                         "tool.requested payload.cache_hit",
                                         "behavior.started payload.behavior",
                                         "behavior.started payload.attempt",
                                         "relation_behavior.started payload.behavior",
                                         "relation_behavior.started payload.attempt"};

static void
put_event (struct fixture *self, uint64_t seq, struct ag_str stored)
{
    struct ag_key key;
    ag_key_event (&key, self->run, seq);
    struct ag_write write = {AG_EVENT, ag_key_str (&key), stored};
    must (self->core, ag_store_write (self->core->store, &write, 1, &self->core->err));
}

//  Write the event anew with that place of its payload changed, past the house; false: it has no such place.
static bool
change_event (struct fixture *self, const struct ag_event *event, struct change *change)
{
    struct ag_buf payload = {0}, normal = {0}, stored = {0};
    struct ag_event changed = *event;
    ag_buf_text (&change->at, "payload");
    put_changed (event->payload, change, &payload);
    must (self->core, ag_value_normalise (ag_buf_str (&payload), &normal, &self->core->err));
    changed.payload = ag_buf_str (&normal);
    ag_event_encode (&changed, &stored);
    ag_buf_add (&stored, event->seed, AG_SEED);
    put_event (self, event->seq, ag_buf_str (&stored));
    ag_buf_fini (&change->at);
    ag_buf_fini (&payload);
    ag_buf_fini (&normal);
    ag_buf_fini (&stored);
    return change->path[0];
}

static void
read_things (struct fixture *self, struct ag_invocation *by)
{
    must (self->core, ag_reads_add (by, AG_READ_TYPE, AG_LIT ("task"), &self->core->err));
    must (self->core, ag_reads_add (by, AG_READ_ENTITY, AG_LIT ("note#1"), &self->core->err));
}

//  How an invocation ends, live and again: one of them, or it declines; and what its behaviour registers.
struct ending {
    const char *ops, *error, *key, *value;
};

static void
end_live (struct fixture *self, const struct ending *ending)
{
    struct ag_invocation by = begin (self, core_tip (self->core, self->run), 1);
    read_things (self, &by);
    effect (self, &by, EFFECT, "'one'");
    if (ending->error)
        give_up (self, &by, ending->error);
    else
        done (self, &by, ending->ops);
}

//  The whole of it again, from its start to its end.
static const char *
end_again (struct fixture *self, const struct ending *ending)
{
    struct ag_buf hold = {0};
    struct ag_event trigger;
    ag_trace_fini (&self->trace);
    self->trace = (struct ag_trace){0};
    struct ag_invocation open = again (self);
    struct ag_judged one = judged (self, &open);
    assert_false (self->trace.item.outside);
    must (self->core, ag_journal_read (self->core->journal, core_run (self->core, self->run),
                                       open.event, &hold, &trigger, &self->core->err));
    read_things (self, &open);
    const char *says = verdict (self, ag_judge_started (&one, &trigger, &self->core->err));
    ag_buf_fini (&hold);
    if (!strcmp (says, "same"))
        says = judge_effect (self, &open, "look", EFFECT);
    if (!strcmp (says, "same"))
        return ending->error ? judge_fail (self, &open, ending->error)
                             : judge_done (self, &open, ending->ops);
    end (&open);
    return says;
}

static bool
may_be (struct ag_str type, const char *path)
{
    char text[260];
    snprintf (text, sizeof text, "%.*s %s", AG_STR_ARG (type), path);
    for (size_t i = 0; i < sizeof may_differ / sizeof *may_differ; i++)
        if (!strcmp (text, may_differ[i]))
            return true;
    return false;
}

//  Every place of this event, one changed at a time: named exactly, or said to be no difference.
static uint32_t
change_each (struct fixture *self, uint64_t seq, const struct ending *ending)
{
    struct ag_buf hold = {0};
    struct ag_event event;
    char wanted[240], evt[AG_EVT_TEXT];
    struct change change = {0};
    uint32_t n = 0;
    must (self->core, ag_journal_read (self->core->journal, core_run (self->core, self->run), seq,
                                       &hold, &event, &self->core->err));
    ag_evt_text (seq, evt);
    enum ag_type type = ag_type_of (event.type);
    bool start = type == AG_EV_BEHAVIOR_STARTED || type == AG_EV_RELATION_BEHAVIOR_STARTED;
    bool given = type == AG_EV_TOOL_RESPONDED; //  not found again
    for (; !given && change_event (self, &event, &change); change = (struct change){.left = ++n}) {
        bool same = may_be (event.type, change.path);
        if (same && start)
            continue; //  what it says is handed out would be another thing
        const char *says = end_again (self, ending);
        snprintf (wanted, sizeof wanted, "%s %s: ", evt, change.path);
        if (same ? strcmp (says, "same") : strncmp (says, wanted, strlen (wanted)))
            fail_msg ("%.*s %s was changed: %s", AG_STR_ARG (event.type), change.path, says);
    }
    put_event (self, seq, ag_buf_str (&hold));
    ag_buf_fini (&hold);
    return n;
}

static void
one_changed_value_anywhere_in_what_it_left_is_found_and_named (void **state)
{
    static const struct ending endings[] = {
        {.ops = ALL},
        {.ops = "[]", .key = "pattern", .value = "(t:task)"},
        {.ops = "[]", .key = "relation_type", .value = "self"},
        {.ops = "[{'op':'remove_object','id':'nothing'}]"},
        {.error = "{'type':'E','message':'no','traceback':'here','reason':'mine'}"},
        {.error = "{'type':'E','message':'it says','reason':'contention'}"}, //  the house does not
        {.error = "{'type':'Contention','message':'it says','reason':'contention'}"},
        {.error = "{'type':'BudgetExhausted','message':'it says','reason':'budget.mine'}"},
        {.error = "{'type':'OperationRefused','message':'it says','reason':'policy'}"},
        {0}};
    uint32_t changed = 0;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        struct fixture self;
        init (&self, state);
        self.key = endings[i].key;
        self.value = endings[i].value;
        tell (&self, "[{'op':'add_object','type':'note'},{'op':'add_relation','source':'note#1',"
                     "'target':'note#1','type':'self'},"
                     "{'op':'propose_patch','id':'note#1','data':{'n':1}}]");
        tell (&self, EVENT);
        uint64_t first = core_tip (self.core, self.run) + 1;
        end_live (&self, &endings[i]);
        core_commit (self.core);
        assert_string_equal (end_again (&self, &endings[i]), "same");
        for (uint64_t seq = first; seq <= core_tip (self.core, self.run); seq++)
            changed += change_each (&self, seq, &endings[i]);
        assert_string_equal (end_again (&self, &endings[i]), "same");
        fini (&self);
    }
    assert_true (changed > 300);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (one_changed_value_anywhere_in_what_it_left_is_found_and_named),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
