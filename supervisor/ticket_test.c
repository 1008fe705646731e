//  Long work that clients ask for: its list, and when nobody asks any more.
//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/ticket.h"
#include "common/loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static void
what_is_asked_for_stands_in_line_until_it_is_removed (void **state)
{
    (void)state;
    struct ag_ticket one = {0}, two = {0}, three = {0}, *first = NULL;
    ag_ticket_add (&first, &one, AG_LIT ("one"));
    ag_ticket_add (&first, &two, AG_LIT ("two"));
    ag_ticket_add (&first, &three, AG_LIT ("three"));
    assert_string_equal (first->text, "one");
    assert_ptr_equal (one.next, &two);
    ag_ticket_remove (&first, &two);
    assert_ptr_equal (one.next, &three);
    ag_ticket_remove (&first, &one);
    assert_ptr_equal (first, &three);
    ag_ticket_remove (&first, &three);
    assert_null (first);
}

static void
a_line_that_is_full_refuses_one_more_and_says_what_it_has (void **state)
{
    (void)state;
    struct ag_err err;
    struct ag_ticket one = {0}, two = {0}, *first = NULL;
    ag_ticket_add (&first, &one, AG_LIT ("one"));
    assert_int_equal (ag_ticket_room (first, 2, "replays", &err), 0);
    ag_ticket_add (&first, &two, AG_LIT ("two"));
    assert_int_equal (ag_ticket_room (first, 2, "replays", &err), -1);
    assert_int_equal (err.code, AG_E_BUSY);
    assert_string_equal (err.text, "2 replays are running already");
}

static void
what_nobody_asks_for_is_left_after_five_seconds_unless_asked_for_again (void **state)
{
    (void)state;
    struct ag_ticket one = {0}, *first = NULL;
    ag_ticket_add (&first, &one, AG_LIT ("one"));
    assert_false (ag_ticket_is_left (&one));
    one.last_ms = ag_now_ms() - 4000;
    assert_false (ag_ticket_is_left (&one));
    one.last_ms = ag_now_ms() - 5001;
    assert_true (ag_ticket_is_left (&one));
    ag_ticket_again (&one);
    assert_false (ag_ticket_is_left (&one));
}

static void
what_cannot_go_on_is_over_for_the_first_reason_and_what_is_over_stays_whole (void **state)
{
    (void)state;
    struct ag_err err;
    struct ag_ticket broken = {0}, whole = {.over = true};
    ag_fail (&err, AG_E_STORE, "first");
    ag_ticket_break (&broken, &err);
    ag_ticket_break (&whole, &err);
    ag_fail (&err, AG_E_FAILED, "second");
    ag_ticket_break (&broken, &err);
    assert_true (broken.over);
    assert_string_equal (broken.broken.text, "first");
    assert_int_equal (whole.broken.code, 0);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (what_is_asked_for_stands_in_line_until_it_is_removed),
        cmocka_unit_test (a_line_that_is_full_refuses_one_more_and_says_what_it_has),
        cmocka_unit_test (what_nobody_asks_for_is_left_after_five_seconds_unless_asked_for_again),
        cmocka_unit_test (
            what_cannot_go_on_is_over_for_the_first_reason_and_what_is_over_stays_whole),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
