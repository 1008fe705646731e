//  How long the answers to request ids are kept, by the house.
//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/commands.h"
#include "supervisor/core_test.h"
#include "supervisor/record.h"

#define DAY_US (UINT64_C (24) * 3600 * 1000000)

static void
put_answer (struct core *self, const char *id, uint64_t days_ago)
{
    struct ag_request request = {.time_us = self->time_us - days_ago * DAY_US,
                                 .answer = AG_LIT ("done")};
    ag_request_put (self->journal, AG_LIT ("operator"), ag_str (id), &request);
}

static bool
is_kept (struct core *self, const char *id)
{
    struct ag_request request;
    struct ag_buf hold = {0};
    int rc = ag_request_get (self->journal, AG_LIT ("operator"), ag_str (id), &hold, &request,
                             &self->err);
    ag_buf_fini (&hold);
    assert_true (rc >= 0);
    return rc;
}

static void
an_answer_is_kept_for_a_week_and_not_much_longer (void **state)
{
    struct core *self = *state;
    struct ag_house house = {.journal = self->journal, .commands = ag_commands_new()};
    put_answer (self, "old", 8);
    put_answer (self, "new", 6);
    core_commit (self);
    ag_commands_sweep (&house);
    core_commit (self);
    assert_false (is_kept (self, "old"));
    assert_true (is_kept (self, "new"));
    ag_commands_destroy (&house.commands);
}

static void
many_answers_are_looked_at_in_several_turns_and_then_not_for_some_time (void **state)
{
    struct core *self = *state;
    struct ag_house house = {.journal = self->journal, .commands = ag_commands_new()};
    char id[16];
    for (int i = 0; i < 300; i++) {
        snprintf (id, sizeof id, "old-%03d", i);
        put_answer (self, id, 8);
    }
    core_commit (self);
    ag_commands_sweep (&house);
    assert_true (is_kept (self, "old-299"));
    ag_commands_sweep (&house);
    assert_false (is_kept (self, "old-299"));
    put_answer (self, "later", 8);
    ag_commands_sweep (&house);
    assert_true (is_kept (self, "later"));
    core_commit (self);
    ag_commands_destroy (&house.commands);
}

static void
nothing_is_swept_while_the_disk_is_full (void **state)
{
    struct core *self = *state;
    struct ag_house house = {.journal = self->journal, .commands = ag_commands_new(), .full = true};
    put_answer (self, "old", 8);
    ag_commands_sweep (&house);
    assert_true (is_kept (self, "old"));
    house.full = false;
    ag_commands_sweep (&house);
    assert_false (is_kept (self, "old"));
    core_commit (self);
    ag_commands_destroy (&house.commands);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (an_answer_is_kept_for_a_week_and_not_much_longer),
        core_test (many_answers_are_looked_at_in_several_turns_and_then_not_for_some_time),
        core_test (nothing_is_swept_while_the_disk_is_full),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
