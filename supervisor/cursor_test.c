//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/core_queue_test.h"

#define BEHAVIORS                                                                                  \
    "[{\"name\":\"first\",\"on\":[\"job\"]},{\"name\":\"second\",\"on\":[\"job\",\"other\"],"      \
    "\"where\":{\"a.b\":1}}]"

static struct ag_run *
run_with_host (struct core *core)
{
    return run_with (core, BEHAVIORS);
}

static void
an_event_is_due_to_the_behaviours_that_want_it_in_their_order (void **state)
{
    struct core *core = *state;
    struct ag_run *run = run_with_host (core);
    append (core, run, "noise", "{}", 0);
    uint64_t job = append (core, run, "job", "{\"a\":{\"b\":1.0}}", 0);
    struct ag_queue *queue = load (core, run);
    assert_true (look (core, run, queue));
    assert_int_equal (queue->next, job);
    assert_int_equal (queue->count, 2);
    assert_string_equal (name_of (queue, 0), "first");
    assert_string_equal (name_of (queue, 1), "second");
    ag_queue_next_event (queue);
    assert_false (look (core, run, queue));
    assert_true (queue->active);
    ag_queue_free (queue);
}

static void
where_compares_values_and_a_missing_path_is_no_match (void **state)
{
    struct core *core = *state;
    struct ag_run *run = run_with_host (core);
    append (core, run, "other", "{\"a\":{\"b\":true}}", 0);
    append (core, run, "other", "{}", 0);
    uint64_t match = append (core, run, "other", "{\"a\":{\"b\":1}}", 0);
    struct ag_queue *queue = load (core, run);
    assert_true (look (core, run, queue));
    assert_int_equal (queue->next, match);
    ag_queue_free (queue);
}

static void
a_quiescent_event_is_never_due (void **state)
{
    struct core *core = *state;
    struct ag_run *run = run_with_host (core);
    struct ag_draft draft = {
        .type = AG_LIT ("job"), .payload = AG_LIT ("\x80"), .flags = AG_QUIESCENT};
    uint64_t seq;
    must (core, ag_journal_append (core->journal, run, &draft, &seq, &core->err));
    struct ag_queue *queue = load (core, run);
    assert_false (look (core, run, queue));
    ag_queue_free (queue);
}

//  The open invocation comes back with its counters, its deaths and how often it was handed out.
static void
a_restart_goes_on_with_the_invocation_that_was_open (void **state)
{
    struct core *core = *state;
    struct ag_run *run = run_with_host (core);
    uint64_t job = append (core, run, "job", "{\"a\":{\"b\":1}}", 0);
    struct ag_queue *queue = load (core, run);
    assert_true (look (core, run, queue));
    queue->due = 1;
    ag_queue_open_due (run, queue);
    queue->open.started = append (core, run, "behavior.started", "{\"behavior\":\"second\"}", job);
    queue->open.attempt = 1;
    queue->open.deaths = 2;
    queue->open.mint.object = 41;
    ag_queue_save (core->journal, run, queue);
    ag_queue_free (queue);
    uint64_t number = run->number;
    must (core, ag_journal_commit (core->journal, &core->err));

    must (core, ag_run_get (core->journal, number, &run, &core->err));
    queue = load (core, run);
    assert_true (queue->is_open);
    assert_int_equal (queue->open.event, job);
    assert_int_equal (queue->due, 1);
    assert_int_equal (queue->open.attempt, 1);
    assert_int_equal (queue->open.deaths, 2);
    assert_int_equal (queue->open.mint.object, 41);
    assert_true (queue->open.mint.mine);
    ag_queue_free (queue);
}

//  The last note lies before all cuts: the log tells the rest. What was open at the cut counts as done; what
//  was still due is due in the fork.
static void
a_fork_stands_where_its_parent_stood_at_the_cut (void **state)
{
    struct core *core = *state;
    struct ag_run *run = run_with_host (core), *fork;
    struct ag_birth birth = {.kind = AG_FORK};
    uint64_t job = append (core, run, "job", "{\"a\":{\"b\":1}}", 0);
    uint64_t started = append (core, run, "behavior.started", "{\"behavior\":\"first\"}", job);
    uint64_t done = append (core, run, "behavior.completed", "{\"behavior\":\"first\"}", job);
    uint64_t idle = append (core, run, "runtime.idle", "{}", 0);
    uint64_t late = append (core, run, "job", "{}", 0);
    const struct {
        uint64_t at, next;
        uint32_t due;
        bool found;
    } cases[] = {{job, job, 0, true},
                 {started, job, 1, true},
                 {done, job, 1, true},
                 {idle, 0, 0, false},
                 {late, late, 0, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        must (core, ag_fork (core->journal, run, cases[i].at, &birth, &fork, &core->err));
        struct ag_queue *queue = load (core, fork);
        bool found = look (core, fork, queue);
        assert_int_equal (found, cases[i].found);
        if (found) {
            assert_int_equal (queue->next, cases[i].next);
            assert_int_equal (queue->due, cases[i].due);
        }
        ag_queue_free (queue);
    }
}

//  The parent's worker was away, so that the note at the cut says "open" of what no event says was started.
//  The fork's own first note lies at its cut as well: reading it again changes nothing.
static void
a_fork_runs_what_its_parent_had_not_handed_out_at_the_cut (void **state)
{
    struct core *core = *state;
    struct ag_run *run = run_with_host (core), *fork;
    struct ag_birth birth = {.kind = AG_FORK};
    uint64_t job = append (core, run, "job", "{\"a\":{\"b\":1}}", 0);
    struct ag_queue *queue = load (core, run);
    assert_true (look (core, run, queue));
    ag_queue_open_due (run, queue);
    ag_queue_save (core->journal, run, queue);
    ag_queue_free (queue);
    append (core, run, "behavior.started", "{\"behavior\":\"first\"}", job);
    must (core, ag_fork (core->journal, run, job, &birth, &fork, &core->err));
    for (int i = 0; i < 2; i++) {
        queue = load (core, fork);
        assert_true (look (core, fork, queue));
        assert_int_equal (queue->next, job);
        assert_int_equal (queue->due, 0);
        ag_queue_open_due (fork, queue);
        ag_queue_save (core->journal, fork, queue);
        ag_queue_free (queue);
    }
}

static void
a_fork_of_a_run_with_a_spent_budget_has_its_own (void **state)
{
    struct core *core = *state;
    struct ag_run *run = run_with_host (core), *fork;
    struct ag_birth birth = {.kind = AG_FORK};
    append (core, run, "runtime.budget_exhausted", "{}", 0);
    struct ag_queue *queue = load (core, run);
    queue->exhausted = 1;
    ag_queue_save (core->journal, run, queue);
    ag_queue_free (queue);
    must (core, ag_fork (core->journal, run, run->head.tip, &birth, &fork, &core->err));
    queue = load (core, fork);
    assert_int_equal (queue->exhausted, 0);
    ag_queue_free (queue);
    queue = load (core, run);
    assert_int_equal (queue->exhausted, 1);
    ag_queue_free (queue);
}

static void
no_more_events_are_looked_at_than_the_budget_allows (void **state)
{
    struct core *core = *state;
    struct ag_run *run = run_with_host (core);
    append (core, run, "nobodys", "{}", 0);
    uint64_t second = append (core, run, "job", "{}", 0);
    struct ag_queue *queue = load (core, run);
    queue->most_events = 1;
    must (core, ag_queue_look (core->journal, run, queue, &core->err) < 0);
    assert_true (queue->spent);
    assert_false (queue->in_hand);
    assert_int_equal (queue->next, second);
    assert_int_equal (run->head.used[AG_USED_EVENTS], 1);
    queue->most_events = 2;
    assert_true (look (core, run, queue));
    assert_false (queue->spent);
    assert_int_equal (run->head.used[AG_USED_EVENTS], 2);
    ag_queue_free (queue);
}

static void
the_same_registration_again_is_not_news (void **state)
{
    struct core *core = *state;
    struct ag_run *run = run_with_host (core);
    struct ag_buf hold = {0};
    uint64_t tip = run->head.tip;
    struct ag_queue *queue = load (core, run);
    must (core, ag_queue_note_host (core->journal, run, queue, 0, value (core, BEHAVIORS, &hold),
                                    (struct ag_str){0}, &core->err));
    assert_int_equal (run->head.tip, tip);
    must (core, ag_queue_note_host (core->journal, run, queue, 0, value (core, "[]", &hold),
                                    (struct ag_str){0}, &core->err));
    assert_int_equal (run->head.tip, tip + 1);
    ag_queue_free (queue);
    ag_buf_fini (&hold);
}

//  An event is judged by what was registered before it, whatever came later.
static void
a_new_registration_is_valid_for_later_events_only (void **state)
{
    struct core *core = *state;
    struct ag_run *run = run_with_host (core);
    struct ag_buf hold = {0};
    uint64_t before = append (core, run, "job", "{}", 0);
    struct ag_queue *queue = load (core, run);
    must (core, ag_queue_note_host (core->journal, run, queue, 0,
                                    value (core, "[{\"name\":\"new\",\"on\":[\"job\"]}]", &hold),
                                    (struct ag_str){0}, &core->err));
    uint64_t after = append (core, run, "job", "{}", 0);
    assert_true (look (core, run, queue));
    assert_int_equal (queue->next, before);
    assert_string_equal (name_of (queue, 0), "first");
    ag_queue_next_event (queue);
    assert_true (look (core, run, queue));
    assert_int_equal (queue->next, after);
    assert_string_equal (name_of (queue, 0), "new");
    ag_queue_free (queue);
    ag_buf_fini (&hold);
}

//  The others are handed out, the next event too, and it is not told again after a restart.
static void
a_behaviour_beyond_what_one_event_may_cause_is_left_out_and_named (void **state)
{
    struct core *core = *state;
    struct ag_run *run = run_with_host (core);
    struct ag_buf many = {0}, hold = {0};
    ag_buf_text (&many, "[");
    for (int i = 0; i <= AG_DUE_MAX; i++)
        ag_buf_text (&many, "%s{\"name\":\"b%d\",\"on\":[\"job\"]}", i ? "," : "", i);
    ag_buf_text (&many, "]");
    ag_buf_add (&many, "", 1);
    struct ag_queue *queue = load (core, run);
    must (core, ag_queue_note_host (core->journal, run, queue, 0,
                                    value (core, (const char *)many.p, &hold), (struct ag_str){0},
                                    &core->err));
    uint64_t job = append (core, run, "job", "{}", 0);
    uint64_t next = append (core, run, "job", "{}", 0);
    assert_true (look (core, run, queue));
    assert_int_equal (queue->count, AG_DUE_MAX);
    assert_string_equal (name_of (queue, AG_DUE_MAX - 1), "b9999");
    struct ag_cursor in = ag_cursor (ag_buf_str (&queue->left_out));
    struct ag_head name, why;
    assert_true (!ag_next (&in, &name) && !ag_next (&in, &why) && in.p == in.end);
    assert_true (ag_str_is (name.s, "b10000"));
    assert_true (ag_str_is (why.s, "with it, the event would cause more than 10000 invocations"));
    assert_int_equal (queue->left_out_at, job);
    ag_queue_save (core->journal, run, queue);
    ag_queue_free (queue);
    queue = load (core, run);
    assert_int_equal (queue->count, AG_DUE_MAX);
    assert_int_equal (queue->left_out.n, 0);
    ag_queue_next_event (queue);
    assert_true (look (core, run, queue));
    assert_int_equal (queue->next, next);
    ag_queue_free (queue);
    ag_buf_fini (&many);
    ag_buf_fini (&hold);
}

static void
the_higher_priority_comes_first_and_equals_stay_in_their_order (void **state)
{
    struct core *core = *state;
    struct ag_run *run = run_with (core, "[{\"name\":\"a\",\"on\":[\"job\"]},"
                                         "{\"name\":\"b\",\"on\":[\"job\"],\"priority\":-1},"
                                         "{\"name\":\"c\",\"on\":[\"job\"],\"priority\":9},"
                                         "{\"name\":\"d\",\"on\":[\"job\"]},"
                                         "{\"name\":\"e\",\"on\":[\"job\"],\"priority\":9}]");
    append (core, run, "job", "{}", 0);
    struct ag_queue *queue = load (core, run);
    assert_true (look (core, run, queue));
    const char *const order[] = {"c", "e", "a", "d", "b"};
    assert_int_equal (queue->count, 5);
    for (uint32_t i = 0; i < 5; i++)
        assert_string_equal (name_of (queue, i), order[i]);
    ag_queue_free (queue);
}

#define LATE                                                                                       \
    "[{\"name\":\"late\",\"on\":[\"job\"],\"activate_after\":2},"                                  \
    "{\"name\":\"now\",\"on\":[\"tick\"]}]"

//  What the queue does when the behaviour `late` comes up for the event in hand: its event, and the entry.
static void
put_off (struct core *core, struct ag_run *run, struct ag_queue *queue, uint64_t job)
{
    char payload[128];
    uint64_t fire_at = queue->tick + 2;
    snprintf (payload, sizeof payload, "{\"behavior\":\"late\",\"fire_at_tick\":%llu}",
              (unsigned long long)fire_at);
    append (core, run, "behavior.scheduled", payload, job);
    must (core, ag_delays_add (&queue->delays, job, fire_at, 0, AG_LIT ("late"), (struct ag_str){0},
                               &core->err));
    queue->due++;
    queue->changed = true;
}

static struct ag_queue *
reopened (struct core *core, struct ag_run **run, struct ag_queue *queue)
{
    uint64_t number = (*run)->number;
    ag_queue_save (core->journal, *run, queue);
    ag_queue_free (queue);
    core_again (core);
    must (core, ag_run_get (core->journal, number, run, &core->err));
    return load (core, *run);
}

static void
a_delay_outlives_restarts_and_fires_once_after_so_many_events (void **state)
{
    struct core *core = *state;
    struct ag_run *run = run_with (core, LATE);
    uint64_t job = append (core, run, "job", "{}", 0);
    struct ag_queue *queue = load (core, run);
    assert_true (look (core, run, queue));
    put_off (core, run, queue, job);
    queue = reopened (core, &run, queue);
    assert_true (queue->in_hand);
    assert_int_equal (queue->due, 1);
    ag_queue_next_event (queue);
    append (core, run, "tick", "{}", 0);
    assert_true (look (core, run, queue));
    assert_int_equal (queue->count, 1);
    assert_string_equal (name_of (queue, 0), "now");
    ag_queue_next_event (queue);
    queue = reopened (core, &run, queue);
    assert_false (look (core, run, queue)); //  nothing spins while it waits
    append (core, run, "noise", "{}", 0);
    uint64_t fires = append (core, run, "tick", "{}", 0);
    assert_true (look (core, run, queue)); //  noise is of nobody, and counts
    for (int i = 0; i < 2; i++) {
        assert_int_equal (queue->next, fires - 1);
        assert_int_equal (queue->count, 1);
        assert_string_equal (name_of (queue, 0), "late");
        ag_queue_open_due (run, queue);
        assert_int_equal (queue->open.event, job);
        assert_true (queue->open.delayed);
        queue = reopened (core, &run, queue); //  while it is open
    }
    assert_true (queue->is_open && queue->open.delayed);
    ag_queue_clear_open (queue);
    ag_queue_next_event (queue);
    assert_int_equal (queue->delays.count, 0);
    assert_true (look (core, run, queue));
    assert_int_equal (queue->count, 1);
    assert_string_equal (name_of (queue, 0), "now");
    ag_queue_free (queue);
}

//  One note before everything, so that the fork learns of all from the log.
static void
a_fork_inherits_what_was_put_off_as_it_stood_at_the_cut (void **state)
{
    struct core *core = *state;
    struct ag_run *run = run_with (core, LATE), *fork;
    struct ag_birth birth = {.kind = AG_FORK};
    uint64_t job = append (core, run, "job", "{}", 0);
    struct ag_queue *queue = load (core, run);
    assert_true (look (core, run, queue));
    put_off (core, run, queue, job);
    ag_queue_free (queue); //  without a note
    uint64_t scheduled = run->head.tip;
    uint64_t tick = append (core, run, "tick", "{}", 0);
    append (core, run, "behavior.started", "{\"behavior\":\"now\"}", tick);
    uint64_t second = append (core, run, "tick", "{}", 0);
    uint64_t now = append (core, run, "behavior.started", "{\"behavior\":\"now\"}", second);
    uint64_t fired = append (core, run, "behavior.started", "{\"behavior\":\"late\"}", job);
    uint64_t idle = append (core, run, "runtime.idle", "{}", 0);
    const struct {
        uint64_t at, next, tick;
        uint32_t delays, due, count;
    } cases[] = {{job, job, 1, 0, 0, 1},
                 {scheduled, job, 1, 1, 1, 1},
                 {now, second, 3, 1, 1, 2},
                 {fired, second, 3, 1, 2, 2},
                 {idle, idle + 1, 3, 0, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        must (core, ag_fork (core->journal, run, cases[i].at, &birth, &fork, &core->err));
        queue = load (core, fork);
        if (i == 0)
            assert_true (look (core, fork, queue));
        assert_int_equal (queue->next, cases[i].next);
        assert_int_equal (queue->tick, cases[i].tick);
        assert_int_equal (queue->delays.count, cases[i].delays);
        assert_int_equal (queue->due, cases[i].due);
        assert_int_equal (queue->count, cases[i].count);
        ag_queue_free (queue);
    }
}

static void
so_much_can_be_put_off_and_no_more (void **state)
{
    struct core *core = *state;
    struct ag_delays delays = {0};
    for (int i = 0; i < AG_DELAYS_MAX; i++)
        must (core, ag_delays_add (&delays, (uint64_t)i, (uint64_t)(2 * AG_DELAYS_MAX - i % 7), 0,
                                   AG_LIT ("a"), AG_LIT ("r"), &core->err));
    refuses (core, ag_delays_add (&delays, 1, 1, 0, AG_LIT ("a"), AG_LIT ("r"), &core->err),
             AG_E_TOO_LARGE, "1000 invocations are put off");
    for (int i = 1; i < AG_DELAYS_MAX; i++)
        assert_true (delays.list[i - 1].fire_at < delays.list[i].fire_at ||
                     (delays.list[i - 1].fire_at == delays.list[i].fire_at &&
                      delays.list[i - 1].event < delays.list[i].event));
    ag_delays_drop (&delays, 2 * AG_DELAYS_MAX - 6);
    assert_int_equal (delays.count, AG_DELAYS_MAX - AG_DELAYS_MAX / 7);
    ag_delays_fini (&delays);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (an_event_is_due_to_the_behaviours_that_want_it_in_their_order),
        core_test (where_compares_values_and_a_missing_path_is_no_match),
        core_test (a_quiescent_event_is_never_due),
        core_test (a_restart_goes_on_with_the_invocation_that_was_open),
        core_test (a_fork_stands_where_its_parent_stood_at_the_cut),
        core_test (a_fork_runs_what_its_parent_had_not_handed_out_at_the_cut),
        core_test (a_fork_of_a_run_with_a_spent_budget_has_its_own),
        core_test (no_more_events_are_looked_at_than_the_budget_allows),
        core_test (the_higher_priority_comes_first_and_equals_stay_in_their_order),
        core_test (a_delay_outlives_restarts_and_fires_once_after_so_many_events),
        core_test (a_fork_inherits_what_was_put_off_as_it_stood_at_the_cut),
        core_test (so_much_can_be_put_off_and_no_more),
        core_test (the_same_registration_again_is_not_news),
        core_test (a_new_registration_is_valid_for_later_events_only),
        core_test (a_behaviour_beyond_what_one_event_may_cause_is_left_out_and_named),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
