//  SPDX-License-Identifier: Apache-2.0
#include "common/near.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static const char *const names[] = {"status", "stop", "start", NULL, "promote", "log"};

static const char *
near (const char *word)
{
    return ag_near (ag_str (word), names, sizeof names / sizeof *names);
}

static void
a_missing_extra_wrong_or_swapped_letter_still_finds_the_name (void **state)
{
    (void)state;
    assert_string_equal (near ("statu"), "status");
    assert_string_equal (near ("promotte"), "promote");
    assert_string_equal (near ("stqrt"), "start");
    assert_string_equal (near ("satrt"), "start");
    assert_string_equal (near ("lgo"), "log");
}

static void
the_nearest_of_several_wins (void **state)
{
    (void)state;
    assert_string_equal (near ("stap"), "stop");
    assert_string_equal (near ("stars"), "start");
}

static void
nothing_is_suggested_for_what_is_far_from_every_name (void **state)
{
    (void)state;
    char huge[5000];
    memset (huge, 's', sizeof huge - 1);
    huge[sizeof huge - 1] = 0;
    assert_null (near ("frobnicate"));
    assert_null (near ("xyz"));
    assert_null (near (""));
    assert_null (near (huge));
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_missing_extra_wrong_or_swapped_letter_still_finds_the_name),
        cmocka_unit_test (the_nearest_of_several_wins),
        cmocka_unit_test (nothing_is_suggested_for_what_is_far_from_every_name),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
