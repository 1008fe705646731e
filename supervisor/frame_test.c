//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/core_graph_test.h"
#include "supervisor/frame.h"

static int
set_goal (struct core *self, uint64_t run, const char *text, const char *constraints)
{
    struct ag_buf list = {0};
    uint64_t seq;
    if (constraints)
        list = value_of (self, constraints);
    struct ag_goal goal = {.text = ag_str (text), .constraints = ag_buf_str (&list)};
    int rc = ag_goal_append (self->journal, core_run (self, run), &goal, &seq, &self->err);
    ag_buf_fini (&list);
    return rc;
}

static const char *
frame (struct core *self, uint64_t run, const char *id)
{
    struct ag_buf out = {0};
    must (self,
          ag_frame_write (self->journal, core_run (self, run), ag_str (id), &out, &self->err));
    const char *text = json_of (self, ag_buf_str (&out));
    ag_buf_fini (&out);
    return text;
}

#define FRAME(id, goal, constraint)                                                                \
    "{'id':'" id "','goal':'" goal "','constraints':['" constraint                                 \
    "'],'success_criteria':[],'permissions':[]}"

static void
a_goal_with_bounds_opens_a_frame_and_carries_it (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    struct ag_buf hold = {0};
    struct ag_event event;
    must (self, set_goal (self, run, "a", NULL));
    must (self, set_goal (self, run, "b", "['read only']"));
    must (self,
          ag_journal_read (self->journal, core_run (self, run), 1, &hold, &event, &self->err));
    assert_null (event.frame.p);
    assert_string_equal (json_of (self, event.payload), "{'goal':'a'}");
    must (self,
          ag_journal_read (self->journal, core_run (self, run), 2, &hold, &event, &self->err));
    assert_true (ag_str_is (event.frame, "frame_001"));
    assert_string_equal (json_of (self, event.payload),
                         "{'goal':'b','frame':" FRAME ("frame_001", "b", "read only") "}");
    ag_buf_fini (&hold);
}

static void
a_frame_is_known_after_a_restart_and_in_a_fork_whose_own_carry_its_tag (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    must (self, set_goal (self, run, "a", "['x']"));
    uint64_t fork = core_fork (self, run);
    must (self, set_goal (self, run, "b", "['y']"));
    must (self, set_goal (self, fork, "c", "['z']"));
    core_again (self);
    assert_string_equal (frame (self, run, "frame_001"), FRAME ("frame_001", "a", "x"));
    assert_string_equal (frame (self, run, "frame_002"), FRAME ("frame_002", "b", "y"));
    assert_string_equal (frame (self, fork, "frame_001"), FRAME ("frame_001", "a", "x"));
    assert_string_equal (frame (self, fork, "frame_002"), "null");
    assert_string_equal (frame (self, fork, "frame_r2.001"), FRAME ("frame_r2.001", "c", "z"));
    must (self, set_goal (self, run, "d", "['w']"));
    assert_string_equal (frame (self, run, "frame_003"), FRAME ("frame_003", "d", "w"));
}

static void
bounds_are_lists_of_texts (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    refuses (self, set_goal (self, run, "a", "'x'"), AG_E_USAGE, "constraints is a list of texts");
    refuses (self, set_goal (self, run, "a", "[1]"), AG_E_USAGE, "constraints is a list of texts");
    assert_int_equal (core_tip (self, run), 0);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (a_goal_with_bounds_opens_a_frame_and_carries_it),
        core_test (a_frame_is_known_after_a_restart_and_in_a_fork_whose_own_carry_its_tag),
        core_test (bounds_are_lists_of_texts),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
