//  What a run is after everything in memory is gone and read from the store again.
//  SPDX-License-Identifier: Apache-2.0
//  The numbers are those of the reference's conformance cases; tests/conformance/README has the table.
#include "supervisor/core_count_test.h"
#include "supervisor/core_queue_test.h"
#include "supervisor/promote_test.h"

static bool
add_event (void *arg, const struct ag_event *event)
{
    struct ag_buf *text = arg, value = {0};
    ag_event_write (event, NULL, NULL, &value);
    ag_json_write (ag_buf_str (&value), AG_JSON_LINE, text);
    ag_buf_text (text, "\n");
    ag_buf_fini (&value);
    return true;
}

//  All events of a run as lines; the caller frees it.
static char *
log_of (struct core *self, uint64_t run)
{
    struct ag_buf text = {0};
    must (self, ag_journal_scan (self->journal, core_run (self, run), 0, UINT64_MAX, add_event,
                                 &text, &self->err));
    ag_buf_add (&text, "", 1);
    return (char *)text.p;
}

static void
r_01_objects_relations_and_events_in_order_are_what_they_were (void **state)
{
    struct core *self = *state;
    uint64_t fork, run = base_fork (self, &fork);
    core_apply (self, run,
                "[{'op':'add_object','type':'note','data':{'n':[1,{'a':null}]}},"
                " {'op':'add_relation','type':'of','source':'note#2','target':'task#1'},"
                " {'op':'patch_object','id':'task#1','data':{'status':'done'}},"
                " {'op':'emit','type':'said','payload':{'x':1}}]");
    core_apply (self, fork, REMOVE);
    char *log[] = {log_of (self, run), log_of (self, fork)};
    char *things = ag_xstrdup (objects (self, run)), *links = ag_xstrdup (relations (self, run));
    core_again (self);
    char *again[] = {log_of (self, run), log_of (self, fork)};
    assert_string_equal (again[0], log[0]);
    assert_string_equal (again[1], log[1]);
    assert_string_equal (objects (self, run), things);
    assert_string_equal (relations (self, run), links);
    assert_string_equal (objects (self, fork), "{}");
    for (int i = 0; i < 2; i++) {
        free (log[i]);
        free (again[i]);
    }
    free (things);
    free (links);
}

static void
r_05_an_unknown_run_is_not_found_and_nothing_is_written_for_it (void **state)
{
    struct core *self = *state;
    struct ag_run *run;
    base (self);
    count_from_here (self);
    refuses (self, ag_run_find (self->journal, AG_LIT ("r7"), &run, &self->err), AG_E_NOT_FOUND,
             "r7");
    refuses (self, ag_run_get (self->journal, 7, &run, &self->err), AG_E_NOT_FOUND, "r7");
    refuses (self, ag_run_find (self->journal, AG_LIT ("nobody"), &run, &self->err), AG_E_NOT_FOUND,
             "nobody");
    assert_int_equal (ag_batch_count (ag_journal_batch (self->journal)), 0);
    core_again (self);
    assert_int_equal (counted.batches, 0);
}

static void
r_08_a_run_without_events_is_there_and_empty (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "empty");
    core_again (self);
    assert_int_equal (core_tip (self, run), 0);
    assert_string_equal (objects (self, run), "{}");
    char *log = log_of (self, run);
    assert_string_equal (log, "");
    free (log);
    core_apply (self, run, "[{'op':'add_object','type':'n'}]");
    assert_string_equal (objects (self, run), "{'n#1':{}}");
}

#define VALUES                                                                                     \
    "{'text':'h\xc3\xa9 \xe2\x82\xac \xf0\x9f\xa6\x94 \\u0001','deep':{'a':[null,{'b':null}]},"    \
    "'zero':0,'no':false,'nothing':null,'minus':-7,'big':18446744073709551615,'empty':[[],{},'']}"

static void
r_10_unicode_nested_nothing_zero_and_false_come_back_as_they_were (void **state)
{
    struct core *self = *state;
    struct ag_entity entity = {0};
    uint64_t run = core_root (self, "p");
    core_apply (self, run,
                "[{'op':'add_object','type':'t','id':'x','data':" VALUES "},"
                " {'op':'emit','type':'said','payload':" VALUES "}]");
    struct ag_buf wanted = value_of (self, VALUES);
    core_again (self);
    assert_int_equal (ag_state_get (self->journal, core_run (self, run), AG_OBJECT, AG_LIT ("x"),
                                    AG_NOW, &entity, &self->err),
                      1);
    assert_true (ag_str_eq (entity.data, ag_buf_str (&wanted)));
    struct ag_event event;
    struct ag_buf hold = {0};
    must (self,
          ag_journal_read (self->journal, core_run (self, run), 2, &hold, &event, &self->err));
    assert_true (ag_str_eq (event.payload, ag_buf_str (&wanted)));
    ag_entity_fini (&entity);
    ag_buf_fini (&hold);
    ag_buf_fini (&wanted);
}

//  Decided: a value is what JSON can say, so that there is nothing to turn into text.
static void
r_11_a_decimal_is_the_number_that_it_is_in_json (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    core_apply (self, run,
                "[{'op':'add_object','type':'t','data':{'n':3.14,'one':1.0,'text':'3.14'}}]");
    core_again (self);
    assert_string_equal (objects (self, run), "{'t#1':{'n':3.14,'one':1.0,'text':'3.14'}}");
}

//  Reads that open a run whose log has so many events more, and append to it.
static size_t
cost_of_opening (struct core *self, uint64_t run, int events)
{
    for (int i = 0; i < events; i++)
        core_append (self, run, "noise", "{'n':1}");
    count_from_here (self);
    core_append (self, run, "one more", "{}");
    return counted_reads();
}

static void
r_13_a_run_of_ten_thousand_events_is_opened_like_a_small_one (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "p");
    size_t small = cost_of_opening (self, run, 10);
    assert_int_equal (cost_of_opening (self, run, 10000), small);
    assert_true (small < 20);
    assert_int_equal (core_tip (self, run), 10012);
}

/*  The queue after a restart  */

#define BOTH                                                                                       \
    "[{\"name\":\"a\",\"on\":[\"object.created\"],\"where\":{\"object.type\":\"note\"}},"          \
    "{\"name\":\"b\",\"on\":[\"promote.applied\"]}]"

//  What the queue hands out until it is at its end: "name:event " each.
static const char *
drained (struct core *core, struct ag_run *run, struct ag_queue *queue)
{
    static char text[256];
    text[0] = 0;
    while (look (core, run, queue)) {
        for (uint32_t i = 0; i < queue->count; i++)
            snprintf (text + strlen (text), sizeof text - strlen (text), "%s:%u ",
                      name_of (queue, i), (unsigned)queue->list[i].event);
        ag_queue_next_event (queue);
    }
    return text;
}

//  A promote that was not reacted to before the restart: its marker is all that waits.
static void
p_19_after_a_restart_the_queue_is_exactly_the_marker (void **state)
{
    struct core *self = *state;
    struct ag_run *run = run_with (self, BOTH);
    uint64_t number = run->number;
    core_apply (self, number, "[{'op':'add_object','type':'note'}]");
    struct ag_queue *queue = load (self, run);
    assert_string_equal (drained (self, run, queue), "a:2 "); //  a is awake
    ag_queue_save (self->journal, run, queue);
    ag_queue_free (queue);
    uint64_t fork = core_fork (self, number);
    core_apply (self, fork, "[{'op':'add_object','type':'note'}]");
    promote (self, fork);
    core_again (self);
    run = core_run (self, number);
    queue = load (self, run);
    assert_string_equal (drained (self, run, queue), "b:3 ");
    assert_string_equal (objects (self, number), "{'note#1':{},'note#r2.1':{}}");
    ag_queue_save (self->journal, run, queue);
    ag_queue_free (queue);
    core_again (self);
    run = core_run (self, number);
    queue = load (self, run);
    assert_string_equal (drained (self, run, queue), ""); //  and once
    ag_queue_free (queue);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (r_01_objects_relations_and_events_in_order_are_what_they_were),
        core_test (r_05_an_unknown_run_is_not_found_and_nothing_is_written_for_it),
        core_test (r_08_a_run_without_events_is_there_and_empty),
        core_test (r_10_unicode_nested_nothing_zero_and_false_come_back_as_they_were),
        core_test (r_11_a_decimal_is_the_number_that_it_is_in_json),
        core_test (r_13_a_run_of_ten_thousand_events_is_opened_like_a_small_one),
        core_test (p_19_after_a_restart_the_queue_is_exactly_the_marker),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
