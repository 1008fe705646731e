//  Which effects an invocation is served from the record, does itself, or is refused.
//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/effect.h"
#include "supervisor/core_state_test.h"
#include "supervisor/fleet.h"
#include "supervisor/invocation.h"
#include "supervisor/queue.h"

struct fixture {
    struct core *core;
    struct ag_house house;
    char told[64], why[100];
};

static struct fixture
fixture (void **state)
{
    struct fixture self = {.core = *state};
    self.house.journal = self.core->journal;
    self.house.fleet = ag_fleet_new (&self.house);
    return self;
}

//  An invocation of `work` for an event, about to ask for its nth effect.
static struct ag_invocation
invocation (uint64_t run, uint64_t event, uint32_t nth)
{
    struct ag_invocation made = {.run = run, .event = event, .effects = nth};
    ag_put_map (&made.behavior, 1);
    ag_put_lit (&made.behavior, "name");
    ag_put_lit (&made.behavior, "work");
    return made;
}

//  What it is told: "go null", "result OUTPUT" or "refused CODE". After go it reports `output`.
static const char *
ask (struct fixture *self, struct ag_invocation *by, const char *args, bool idempotent,
     const char *output)
{
    struct core *core = self->core;
    struct ag_buf given = value_of (core, args), answer = {0};
    struct ag_str word = {0}, why = {0}, detail = AG_LIT ("\xc0");
    struct ag_msg_effect effect = {
        .tool = AG_LIT ("look"), .args = ag_buf_str (&given), .idempotent = idempotent};
    must (core, ag_effect_ask (&self->house, by, &effect, &answer, &core->err));
    ag_map_text (ag_buf_str (&answer), "do", &word);
    if (ag_map_get (ag_buf_str (&answer), "output", &detail))
        ag_map_get (ag_buf_str (&answer), "code", &detail);
    ag_map_text (ag_buf_str (&answer), "message", &why);
    snprintf (self->why, sizeof self->why, "%.*s", AG_STR_ARG (why));
    snprintf (self->told, sizeof self->told, "%.*s %s", AG_STR_ARG (word), json_of (core, detail));
    if (by->pending.open) {
        struct ag_buf came = value_of (core, output), said = {0};
        struct ag_msg_outcome outcome = {.output = ag_buf_str (&came)};
        must (core, ag_effect_outcome (&self->house, by, &outcome, &said, &core->err));
        ag_buf_fini (&came);
        ag_buf_fini (&said);
    }
    ag_buf_fini (&given);
    ag_buf_fini (&answer);
    ag_buf_fini (&by->behavior);
    ag_buf_fini (&by->pending.tool);
    ag_buf_fini (&by->pending.args);
    return self->told;
}

static const char *
ask_at (struct fixture *self, uint64_t run, uint64_t event, const char *args, bool idempotent,
        const char *output)
{
    struct ag_invocation by = invocation (run, event, 0);
    return ask (self, &by, args, idempotent, output);
}

static uint64_t
fork_of (struct fixture *self, uint64_t parent, enum ag_effects effects)
{
    struct ag_birth birth = {.kind = AG_FORK, .effects = effects};
    struct ag_run *fork;
    must (self->core, ag_fork (self->core->journal, core_run (self->core, parent), 1, &birth, &fork,
                               &self->core->err));
    return fork->number;
}

//  A root whose first event is its trigger, and which asked {n:1} (repeatable) and {n:2} (not).
static uint64_t
root_with_record (struct fixture *self)
{
    uint64_t root = core_root (self->core, "root");
    core_apply (self->core, root, "[{'op':'emit','type':'on.work','payload':{}}]");
    struct ag_invocation second = invocation (root, 1, 1);
    assert_string_equal (ask_at (self, root, 1, "{'n':1}", true, "'one'"), "go null");
    assert_string_equal (ask (self, &second, "{'n':2}", false, "'two'"), "go null");
    return root;
}

static void
a_fork_is_served_what_its_ancestors_asked_unless_it_is_live (void **state)
{
    struct fixture self = fixture (state);
    uint64_t root = root_with_record (&self);
    static const char *const told[] = {"result 'one'", "go null", "result 'one'"};
    for (int mode = AG_EFFECTS_CACHE; mode <= AG_EFFECTS_REPLAY; mode++) {
        uint64_t fork = fork_of (&self, root, (enum ag_effects)mode);
        uint64_t below = fork_of (&self, fork, (enum ag_effects)mode);
        core_again (self.core); //  the mode is in the run's record
        self.house.journal = self.core->journal;
        assert_string_equal (ask_at (&self, fork, 1, "{'n':1}", true, "'new'"), told[mode]);
        assert_string_equal (ask_at (&self, below, 1, "{'n':1}", true, "'newer'"), told[mode]);
    }
    ag_fleet_destroy (&self.house.fleet);
}

static void
what_the_record_lacks_is_done_in_a_live_fork_and_if_repeatable_in_a_cached_one (void **state)
{
    struct fixture self = fixture (state);
    uint64_t root = root_with_record (&self);
    static const char *const repeatable[] = {"go null", "go null", "refused 'not_recorded'"};
    static const char *const other[] = {"refused 'not_repeatable'", "go null",
                                        "refused 'not_recorded'"};
    for (int mode = AG_EFFECTS_CACHE; mode <= AG_EFFECTS_REPLAY; mode++) {
        uint64_t fork = fork_of (&self, root, (enum ag_effects)mode);
        struct ag_invocation second = invocation (fork, 1, 1);
        assert_string_equal (ask_at (&self, fork, 1, "{'n':3}", true, "3"), repeatable[mode]);
        assert_string_equal (ask (&self, &second, "{'n':4}", false, "4"), other[mode]);
    }
    ag_fleet_destroy (&self.house.fleet);
}

static void
a_trial_is_refused_without_a_word_of_what_only_a_fork_may_do (void **state)
{
    struct fixture self = fixture (state);
    uint64_t root = root_with_record (&self);
    uint64_t fork = fork_of (&self, root, AG_EFFECTS_REPLAY);
    struct ag_birth birth = {.kind = AG_TRIAL, .effects = AG_EFFECTS_REPLAY};
    struct ag_run *trial;
    must (self.core, ag_fork (self.core->journal, core_run (self.core, root), 1, &birth, &trial,
                              &self.core->err));
    assert_string_equal (ask_at (&self, fork, 1, "{'n':3}", true, "3"), "refused 'not_recorded'");
    assert_non_null (strstr (self.why, "--effects live"));
    assert_string_equal (ask_at (&self, trial->number, 1, "{'n':3}", true, "3"),
                         "refused 'not_recorded'");
    assert_non_null (strstr (self.why, "a trial does no effect"));
    assert_null (strstr (self.why, "--effects"));
    ag_fleet_destroy (&self.house.fleet);
}

static void
an_invocation_that_runs_again_is_served_its_own_record_in_every_mode (void **state)
{
    struct fixture self = fixture (state);
    uint64_t root = root_with_record (&self);
    assert_string_equal (ask_at (&self, root, 1, "{'n':1}", true, "'again'"), "result 'one'");
    uint64_t fork = fork_of (&self, root, AG_EFFECTS_LIVE);
    assert_string_equal (ask_at (&self, fork, 1, "{'n':2}", false, "'mine'"), "go null");
    assert_string_equal (ask_at (&self, fork, 1, "{'n':2}", false, "'more'"), "result 'mine'");
    fork = fork_of (&self, root, AG_EFFECTS_REPLAY);
    assert_string_equal (ask_at (&self, fork, 1, "{'n':2}", false, ""), "result 'two'");
    assert_string_equal (ask_at (&self, fork, 1, "{'n':2}", false, ""), "result 'two'");
    ag_fleet_destroy (&self.house.fleet);
}

//  The last event of a run: its type and its reason.
static const char *
end_of (struct fixture *self, uint64_t number)
{
    struct core *core = self->core;
    struct ag_buf hold = {0};
    struct ag_event event;
    struct ag_str reason = {0};
    struct ag_run *run = core_run (core, number);
    must (core, ag_journal_read (core->journal, run, run->head.tip, &hold, &event, &core->err));
    ag_map_text (event.payload, "reason", &reason);
    snprintf (self->told, sizeof self->told, "%.*s %.*s", AG_STR_ARG (event.type),
              AG_STR_ARG (reason));
    ag_buf_fini (&hold);
    return self->told;
}

static void
an_invocation_that_can_only_fail_does_so_whatever_its_worker_says_of_it (void **state)
{
    struct fixture self = fixture (state);
    struct core *core = self.core;
    uint64_t root = root_with_record (&self);
    self.house.queues = ag_queues_new (&self.house);
    struct ag_buf error = value_of (core, "{'message':'gave up'}");
    const struct ag_msg_done done[2] = {[0] = {.declined = true}};
    const struct ag_msg_fail fail = {.error = ag_buf_str (&error)};
    for (int how = 0; how < 6; how++) {
        struct ag_invocation by = invocation (root, 1, 1);
        struct ag_buf answer = {0};
        if (how % 2)
            ag_buf_text (&by.denied, "it may not");
        else {
            assert_string_equal (ask (&self, &by, "{'n':9}", false, ""),
                                 "refused 'effect.diverged'");
            assert_true (by.diverged);
        }
        if (how < 4)
            must (core, ag_invocation_done (&self.house, &by, &done[how / 2], &answer, &core->err));
        else
            must (core, ag_invocation_fail (&self.house, &by, &fail, &answer, &core->err));
        assert_string_equal (end_of (&self, root), how % 2 ? "behavior.failed policy.denied"
                                                           : "behavior.failed effect.diverged");
        ag_buf_fini (&answer);
        ag_buf_fini (&by.behavior);
        ag_buf_fini (&by.denied);
    }
    ag_buf_fini (&error);
    ag_queues_destroy (&self.house.queues);
    ag_fleet_destroy (&self.house.fleet);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (a_fork_is_served_what_its_ancestors_asked_unless_it_is_live),
        core_test (what_the_record_lacks_is_done_in_a_live_fork_and_if_repeatable_in_a_cached_one),
        core_test (a_trial_is_refused_without_a_word_of_what_only_a_fork_may_do),
        core_test (an_invocation_that_runs_again_is_served_its_own_record_in_every_mode),
        core_test (an_invocation_that_can_only_fail_does_so_whatever_its_worker_says_of_it),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
