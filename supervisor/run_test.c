//  SPDX-License-Identifier: Apache-2.0
#include "common/wire.h"
#include "supervisor/core_graph_test.h"

static int
find (struct core *self, const char *text)
{
    struct ag_run *run;
    int rc = ag_run_find (self->journal, ag_str (text), &run, &self->err);
    return rc ? rc : (int)run->number;
}

static void
a_run_is_found_by_its_label_or_its_id (void **state)
{
    struct core *self = *state;
    for (int i = 1; i <= 130; i++)
        core_root (self, i == 7 ? "reviewer" : "");
    core_again (self);
    assert_int_equal (find (self, "reviewer"), 7);
    assert_int_equal (find (self, "r7"), 7);
    assert_int_equal (find (self, "r4"), 4); //  r40 and others begin so; the id is the run's
    assert_int_equal (find (self, "r42"), 130);
    refuses (self, find (self, "r"), AG_E_NOT_FOUND, "`r`");
    refuses (self, find (self, "r0"), AG_E_NOT_FOUND, "`r0`");
    refuses (self, find (self, "r4z"), AG_E_NOT_FOUND, "`r4z`");
    refuses (self, find (self, "review"), AG_E_NOT_FOUND, "`review`");
    refuses (self, find (self, ""), AG_E_NOT_FOUND, "``");
}

//  More labels than are remembered: whatever stands where another one stood is not taken for it.
static void
each_of_many_labels_names_its_run_again_and_again (void **state)
{
    struct core *self = *state;
    char label[24];
    for (int i = 1; i <= 200; i++) {
        snprintf (label, sizeof label, "agent-%d", i);
        core_root (self, label);
    }
    for (int i = 0; i < 600; i++) {
        int number = i * 7 % 200 + 1;
        snprintf (label, sizeof label, "agent-%d", number);
        assert_int_equal (find (self, label), number);
        snprintf (label, sizeof label, "other-%d", number);
        refuses (self, find (self, label), AG_E_NOT_FOUND, label);
    }
}

static int
point (struct core *self, const char *text)
{
    struct ag_run *run;
    uint64_t seq;
    int rc = ag_point_find (self->journal, ag_str (text), &run, &seq, &self->err);
    return rc ? rc : (int)(run->number * 1000 + seq);
}

static void
a_point_is_a_run_and_one_of_its_events (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "a");
    core_root (self, "empty");
    for (int i = 0; i < 42; i++)
        core_append (self, run, "x", "{}");
    assert_int_equal (point (self, "a"), 1042);
    assert_int_equal (point (self, "a@tip"), 1042);
    assert_int_equal (point (self, "r1@7"), 1007);
    assert_int_equal (point (self, "r1@evt_042"), 1042);
    assert_int_equal (point (self, "empty"), 2000);
    refuses (self, point (self, "a@evt_043"), AG_E_NOT_FOUND, "run r1 has no event evt_043");
    refuses (self, point (self, "b@1"), AG_E_NOT_FOUND, "`b`");
    static const char *const none[] = {"a@",   "a@0", "a@evt_42",  "a@evt_0042",
                                       "a@-1", "a@x", "a@evt_000", "a@99999999999999999999",
                                       "a@1@2"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        refuses (self, point (self, none[i]), AG_E_USAGE, none[i]);
}

static void
a_run_starts_before_its_own_first_work (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "a");
    assert_int_equal (point (self, "a@start"), 1000);
    core_append (self, run, "x", "{}");
    core_append (self, run, "worker.registered", "{}");
    assert_int_equal (point (self, "a@start"), 1002); //  it has not worked yet
    core_append (self, run, "pattern.matched", "{}");
    core_append (self, run, "behavior.started", "{}");
    core_append (self, run, "behavior.started", "{}");
    assert_int_equal (point (self, "a@start"), 1002);
    uint64_t fork = core_fork (self, run);
    core_append (self, fork, "x", "{}");
    core_append (self, fork, "relation_behavior.started", "{}");
    assert_int_equal (point (self, "r2@start"), 2006);
}

static void
a_start_is_looked_for_no_further_than_a_page_of_events_goes (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "a");
    for (int i = 0; i < AG_LOOKED_EVENTS; i++)
        core_append (self, run, "x", "{}");
    assert_int_equal (point (self, "a@start"), 1000 + AG_LOOKED_EVENTS); //  all were looked at
    core_append (self, run, "behavior.started", "{}");
    refuses (self, point (self, "a@start"), AG_E_USAGE,
             "run r1 did no work in its first 5000 events; name an event to start at");
}

static bool
note (void *arg, struct ag_run *run)
{
    struct ag_buf *text = arg;
    ag_buf_text (text, "%s ", run->id);
    return text->n < 9;
}

static void
runs_and_children_are_listed_in_pages (void **state)
{
    struct core *self = *state;
    struct ag_buf text = {0};
    uint64_t a = core_root (self, "a"), b = core_root (self, "b");
    core_append (self, a, "x", "{}");
    core_append (self, b, "x", "{}");
    core_fork (self, a);
    core_fork (self, b);
    core_fork (self, a);
    core_fork (self, 3);
    core_again (self);
    must (self, ag_run_scan (self->journal, 0, note, &text, &self->err));
    assert_memory_equal (text.p, "r1 r2 r3 ", 9);
    ag_buf_clear (&text);
    must (self, ag_run_scan (self->journal, 4, note, &text, &self->err));
    must (self, ag_run_scan (self->journal, 6, note, &text, &self->err));
    assert_int_equal (text.n, 6);
    assert_memory_equal (text.p, "r5 r6 ", 6);
    ag_buf_clear (&text);
    must (self, ag_run_children (self->journal, a, 0, note, &text, &self->err));
    must (self, ag_run_children (self->journal, a, 3, note, &text, &self->err));
    assert_int_equal (text.n, 9);
    assert_memory_equal (text.p, "r3 r5 r5 ", 9);
    ag_buf_fini (&text);
}

static void
a_label_can_be_given_once_and_no_run_takes_it_as_its_id (void **state)
{
    struct core *self = *state;
    struct ag_run *run;
    struct ag_birth birth = {.label = AG_LIT ("a")};
    core_root (self, "a");
    refuses (self, ag_run_create (self->journal, &birth, &run, &self->err), AG_E_EXISTS, "`a`");
    for (int i = 2; i <= 10; i++)
        core_root (self, "");
    birth.label = AG_LIT ("ra");
    refuses (self, ag_run_create (self->journal, &birth, &run, &self->err), AG_E_EXISTS, "`ra`");
    birth.label = AG_LIT ("rb");
    must (self, ag_run_create (self->journal, &birth, &run, &self->err));
    assert_string_equal (run->id, "rc");
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (a_run_is_found_by_its_label_or_its_id),
        core_test (each_of_many_labels_names_its_run_again_and_again),
        core_test (a_point_is_a_run_and_one_of_its_events),
        core_test (a_run_starts_before_its_own_first_work),
        core_test (a_start_is_looked_for_no_further_than_a_page_of_events_goes),
        core_test (runs_and_children_are_listed_in_pages),
        core_test (a_label_can_be_given_once_and_no_run_takes_it_as_its_id),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
