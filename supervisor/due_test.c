//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/core_count_test.h"
#include "supervisor/core_graph_test.h"
#include "supervisor/core_queue_test.h"

#define AT_HUB "[{\"name\":\"each\",\"on\":[\"job\"],\"relation_type\":\"on\"}]"

//  An object `hub` with so many relations to others.
static void
add_hub (struct core *core, struct ag_run *run, int relations)
{
    struct ag_buf ops = {0};
    ag_buf_text (&ops, "[{'op':'add_object','type':'t','id':'hub'}");
    for (int i = 0; i < relations; i++)
        ag_buf_text (&ops,
                     ",{'op':'add_object','type':'t','id':'o%d'},"
                     "{'op':'add_relation','type':'on','source':'hub','target':'o%d'}",
                     i, i);
    ag_buf_text (&ops, "]");
    ag_buf_add (&ops, "", 1);
    core_apply (core, run->number, (const char *)ops.p);
    ag_buf_fini (&ops);
}

static void
a_large_behaviour_stands_once_in_memory_however_often_it_is_due (void **state)
{
    struct core *core = *state;
    struct ag_buf large = {0};
    ag_buf_text (&large,
                 "[{\"name\":\"each\",\"on\":[\"job\"],\"relation_type\":\"on\",\"where\":"
                 "{\"x\":{\"!=\":\"%0200000d\"}}}]",
                 7);
    ag_buf_add (&large, "", 1);
    struct ag_run *run = run_with (core, (const char *)large.p);
    add_hub (core, run, 2000);
    append (core, run, "job", "{\"id\":\"hub\"}", 0);
    struct ag_queue *queue = load (core, run);
    assert_true (look (core, run, queue));
    assert_int_equal (queue->count, 2000);
    assert_true (queue->list[0].behavior.n > 200000);
    for (uint32_t i = 0; i < queue->count; i++) {
        assert_ptr_equal (queue->list[i].behavior.p, queue->list[0].behavior.p);
        assert_true (queue->list[i].relation.room < 1000);
    }
    ag_queue_free (queue);
    ag_buf_fini (&large);
}

//  What it costs to look at an event that names the hub so often.
static size_t
cost_of_naming (struct core *core, uint64_t number, int times)
{
    struct ag_buf payload = {0};
    struct ag_run *run = core_run (core, number);
    ag_buf_text (&payload, "{\"ids\":[\"o3\"");
    for (int i = 0; i < times; i++)
        ag_buf_text (&payload, ",\"hub\"");
    ag_buf_text (&payload, "]}");
    ag_buf_add (&payload, "", 1);
    append (core, run, "job", (const char *)payload.p, 0);
    count_from_here (core);
    run = core_run (core, number);
    struct ag_queue *queue = load (core, run);
    assert_true (look (core, run, queue));
    assert_int_equal (queue->count, 50);
    size_t reads = counted_reads();
    ag_queue_next_event (queue);
    ag_queue_save (core->journal, run, queue);
    ag_queue_free (queue);
    ag_buf_fini (&payload);
    return reads;
}

static void
an_object_that_is_named_a_thousand_times_is_asked_for_its_relations_once (void **state)
{
    struct core *core = *state;
    struct ag_run *run = run_with (core, AT_HUB);
    uint64_t number = run->number;
    add_hub (core, run, 50);
    cost_of_naming (core, number, 1); //  that of the events before it too
    size_t once = cost_of_naming (core, number, 1);
    assert_true (once < 1000);
    assert_int_equal (cost_of_naming (core, number, 1000), once);
}

//  However many behaviours, of however many hosts, want the relations.
static void
relations_are_looked_for_once_an_event_and_not_once_a_behaviour (void **state)
{
    struct core *core = *state;
    size_t reads[2];
    for (int many = 0; many < 2; many++) {
        struct ag_buf list = {0};
        ag_buf_text (&list, "[{\"name\":\"b0\",\"on\":[\"job\"],\"relation_type\":\"on\"}");
        for (int i = 1; many && i < 100; i++)
            ag_buf_text (&list, ",{\"name\":\"b%d\",\"on\":[\"job\"],\"relation_type\":\"%s\"}", i,
                         i == 7 ? "on" : "off");
        ag_buf_text (&list, "]%c", 0);
        struct ag_run *run = run_with (core, (const char *)list.p);
        uint64_t number = run->number;
        add_hub (core, run, 20);
        append (core, core_run (core, number), "job", "{\"ids\":[\"hub\",\"o3\"]}", 0);
        count_from_here (core);
        run = core_run (core, number);
        struct ag_queue *queue = load (core, run);
        assert_true (look (core, run, queue));
        assert_int_equal (queue->count, many ? 40 : 20);
        reads[many] = counted_reads();
        ag_queue_free (queue);
        ag_buf_fini (&list);
    }
    assert_int_equal (reads[0], reads[1]);
}

static void
an_event_that_names_too_much_leaves_relation_behaviours_out_and_says_why (void **state)
{
    struct core *core = *state;
    struct ag_buf payload = {0};
    struct ag_run *run =
        run_with (core, "[{\"name\":\"each\",\"on\":[\"job\"],\"relation_type\":\"on\"},"
                        "{\"name\":\"once\",\"on\":[\"job\"]}]");
    add_hub (core, run, 2);
    for (int texts = AG_DUE_NAMED; texts <= AG_DUE_NAMED + 1; texts++) {
        ag_buf_clear (&payload);
        ag_buf_text (&payload, "{\"ids\":[\"hub\"");
        for (int i = 1; i < texts; i++)
            ag_buf_text (&payload, ",\"x\"");
        ag_buf_text (&payload, "]}%c", 0);
        append (core, run, "job", (const char *)payload.p, 0);
    }
    struct ag_queue *queue = load (core, run);
    assert_true (look (core, run, queue));
    assert_int_equal (queue->count, 3);
    assert_int_equal (queue->left_out.n, 0);
    ag_queue_next_event (queue);
    assert_true (look (core, run, queue));
    assert_int_equal (queue->count, 1);
    assert_string_equal (name_of (queue, 0), "once");
    struct ag_cursor in = ag_cursor (ag_buf_str (&queue->left_out));
    struct ag_head name, why;
    assert_true (!ag_next (&in, &name) && !ag_next (&in, &why));
    assert_true (ag_str_is (name.s, "each"));
    assert_non_null (memmem (why.s.p, why.s.n, "more than 30000 things", 22));
    ag_queue_free (queue);
    ag_buf_fini (&payload);
}

static void
each_relation_is_due_once_in_order_though_both_its_ends_are_named (void **state)
{
    struct core *core = *state;
    struct ag_run *run = run_with (core, AT_HUB);
    add_hub (core, run, 20);
    core_apply (core, run->number,
                "[{'op':'add_relation','type':'on','source':'hub','target':'hub'},"
                "{'op':'add_relation','type':'off','source':'hub','target':'o1'}]");
    append (core, run, "job", "{\"a\":\"o1\",\"b\":[\"hub\",{\"c\":\"o2\"}],\"d\":\"\"}", 0);
    struct ag_queue *queue = load (core, run);
    assert_true (look (core, run, queue));
    assert_int_equal (queue->count, 21);
    for (uint32_t i = 1; i < queue->count; i++)
        assert_true (ag_str_cmp (ag_buf_str (&queue->list[i - 1].relation),
                                 ag_buf_str (&queue->list[i].relation)) < 0);
    ag_queue_free (queue);
}

//  A worker registers anew while an event of the earlier registration is in hand.
static void
what_is_due_stays_as_it_was_registered_while_the_event_is_in_hand (void **state)
{
    struct core *core = *state;
    struct ag_buf hold = {0};
    struct ag_run *run = run_with (core, "[{\"name\":\"old\",\"on\":[\"job\"]}]");
    append (core, run, "job", "{}", 0);
    struct ag_queue *queue = load (core, run);
    assert_true (look (core, run, queue));
    for (int i = 0; i < 3; i++) {
        char next[64];
        snprintf (next, sizeof next, "[{\"name\":\"new%d\",\"on\":[\"job\"]}]", i);
        must (core, ag_queue_note_host (core->journal, run, queue, 0, value (core, next, &hold),
                                        (struct ag_str){0}, &core->err));
        assert_string_equal (name_of (queue, 0), "old");
        assert_int_equal (queue->earlier_count, 1); //  and not what nothing is due by
    }
    ag_queue_open_due (run, queue);
    ag_queue_next_event (queue);
    assert_int_equal (queue->earlier_count, 0);
    append (core, run, "job", "{}", 0);
    assert_true (look (core, run, queue));
    assert_string_equal (name_of (queue, 0), "new2");
    ag_queue_free (queue);
    ag_buf_fini (&hold);
}

//  Many that were put off under one earlier registration read it once.
static void
what_was_put_off_shares_the_registration_it_was_put_off_under (void **state)
{
    struct core *core = *state;
    struct ag_buf hold = {0};
    struct ag_run *run =
        run_with (core, "[{\"name\":\"late\",\"on\":[\"job\"],\"activate_after\":1}]");
    uint64_t job = append (core, run, "job", "{}", 0);
    struct ag_queue *queue = load (core, run);
    assert_true (look (core, run, queue));
    for (uint64_t i = 0; i < 100; i++)
        must (core, ag_delays_add (&queue->delays, job, queue->tick + 1, 0, AG_LIT ("late"),
                                   (struct ag_str){0}, &core->err));
    ag_queue_next_event (queue);
    must (core, ag_queue_note_host (core->journal, run, queue, 0, value (core, "[]", &hold),
                                    (struct ag_str){0}, &core->err));
    append (core, run, "tick", "{}", 0);
    assert_true (look (core, run, queue));
    assert_int_equal (queue->count, 100);
    assert_int_equal (queue->earlier_count, 1);
    assert_string_equal (name_of (queue, 99), "late");
    ag_queue_free (queue);
    ag_buf_fini (&hold);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (a_large_behaviour_stands_once_in_memory_however_often_it_is_due),
        core_test (an_object_that_is_named_a_thousand_times_is_asked_for_its_relations_once),
        core_test (relations_are_looked_for_once_an_event_and_not_once_a_behaviour),
        core_test (an_event_that_names_too_much_leaves_relation_behaviours_out_and_says_why),
        core_test (each_relation_is_due_once_in_order_though_both_its_ends_are_named),
        core_test (what_is_due_stays_as_it_was_registered_while_the_event_is_in_hand),
        core_test (what_was_put_off_shares_the_registration_it_was_put_off_under),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
