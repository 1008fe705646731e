//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/hints.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

static void
add (struct ag_hints *hints, uint64_t run, const char *type, uint64_t stream, size_t bytes)
{
    static const char stored[AG_EVENT_BYTES];
    struct ag_event event = {
        .run = run, .type = ag_str (type), .stream = stream, .stored = {stored, bytes}};
    ag_hints_add (hints, &event);
}

static void
of_each_topic_the_newest_event_is_told_in_stream_order (void **state)
{
    (void)state;
    struct ag_hints hints = {0};
    add (&hints, 1, "a", 1, 10);
    add (&hints, 1, "b", 2, 20);
    add (&hints, 2, "a", 3, 30);
    add (&hints, 1, "a", 4, 40);
    assert_int_equal (hints.count, 3);
    assert_int_equal (hints.events[0].stream, 2);
    assert_int_equal (hints.events[1].stream, 3);
    assert_int_equal (hints.events[2].stream, 4);
    assert_int_equal (hints.bytes, 90);
}

static void
of_more_topics_than_there_is_room_for_the_newest_are_told (void **state)
{
    (void)state;
    char types[AG_HINTS + 2][8];
    struct ag_hints hints = {0};
    for (unsigned i = 0; i < AG_HINTS + 2; i++) {
        snprintf (types[i], sizeof types[i], "t%u", i);
        add (&hints, 1, types[i], i + 1, 1);
    }
    assert_int_equal (hints.count, AG_HINTS);
    assert_int_equal (hints.events[0].stream, 3);
    assert_int_equal (hints.events[AG_HINTS - 1].stream, AG_HINTS + 2);
}

static void
of_more_bytes_than_there_is_room_for_the_newest_are_told (void **state)
{
    (void)state;
    struct ag_hints hints = {0};
    add (&hints, 1, "a", 1, AG_EVENT_BYTES);
    add (&hints, 1, "b", 2, AG_EVENT_BYTES);
    add (&hints, 1, "c", 3, AG_EVENT_BYTES);
    add (&hints, 1, "d", 4, AG_EVENT_BYTES);
    assert_int_equal (hints.count, 4);
    add (&hints, 1, "e", 5, 1);
    assert_int_equal (hints.count, 4);
    assert_int_equal (hints.events[0].stream, 2);
    assert_int_equal (hints.events[3].stream, 5);
    assert_int_equal (hints.bytes, 3 * AG_EVENT_BYTES + 1);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (of_each_topic_the_newest_event_is_told_in_stream_order),
        cmocka_unit_test (of_more_topics_than_there_is_room_for_the_newest_are_told),
        cmocka_unit_test (of_more_bytes_than_there_is_room_for_the_newest_are_told),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
