//  SPDX-License-Identifier: Apache-2.0
#include "common/items.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void
a_list_and_a_map_are_walked_in_their_order (void **state)
{
    (void)state;
    struct ag_str list = AG_LIT ("\x92\xa1x\x81\xa1k\x07"),
                  map = AG_LIT ("\x82\xa1"
                                "b\x01\xa1"
                                "a\x91\x02"),
                  key, one;
    struct ag_items items = ag_items_of (list), pairs = ag_pairs_of (map);
    assert_int_equal (items.left, 2);
    assert_true (ag_items_next (&items, &one) && ag_str_is (one, "\xa1x"));
    assert_true (ag_items_next (&items, &one) && ag_str_is (one, "\x81\xa1k\x07"));
    assert_false (ag_items_next (&items, &one));
    assert_int_equal (pairs.left, 2);
    assert_true (ag_pairs_next (&pairs, &key, &one) && ag_str_is (key, "b") &&
                 ag_str_is (one, "\x01"));
    assert_true (ag_pairs_next (&pairs, &key, &one) && ag_str_is (key, "a") &&
                 ag_str_is (one, "\x91\x02"));
    assert_false (ag_pairs_next (&pairs, &key, &one));
}

static void
what_is_of_another_kind_or_not_there_is_empty (void **state)
{
    (void)state;
    static const struct ag_str none[] = {{NULL, 0}, {"", 0}, {"\xa1x", 2}, {"\x05", 1}};
    struct ag_str key, one;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        struct ag_items items = ag_items_of (none[i]), pairs = ag_pairs_of (none[i]);
        assert_int_equal (items.left + pairs.left, 0);
        assert_false (ag_items_next (&items, &one) || ag_pairs_next (&pairs, &key, &one));
    }
    assert_int_equal (ag_items_of (AG_LIT ("\x81\x01\x02")).left, 0);
    assert_int_equal (ag_pairs_of (AG_LIT ("\x92\x01\x02")).left, 0);
}

static void
a_walk_ends_where_the_bytes_do_or_a_key_is_no_text (void **state)
{
    (void)state;
    struct ag_str key, one;
    struct ag_items items = ag_items_of (AG_LIT ("\x92\x01\xa5x")),
                    pairs = ag_pairs_of (AG_LIT ("\x82\xa1k\x01\x02\x03"));
    assert_true (ag_items_next (&items, &one));
    assert_false (ag_items_next (&items, &one));
    assert_true (ag_pairs_next (&pairs, &key, &one));
    assert_false (ag_pairs_next (&pairs, &key, &one));
    assert_int_equal (pairs.left, 1);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_list_and_a_map_are_walked_in_their_order),
        cmocka_unit_test (what_is_of_another_kind_or_not_there_is_empty),
        cmocka_unit_test (a_walk_ends_where_the_bytes_do_or_a_key_is_no_text),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
