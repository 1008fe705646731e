//  SPDX-License-Identifier: Apache-2.0
#include "common/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static int
open_door (int key, struct ag_err *err)
{
    return key == 7 ? 0 : ag_fail (err, AG_E_NOT_ALLOWED, "key %d does not fit", key);
}

//  How a caller uses it: the text says what, the table says what to do and how to exit.
static void
a_failure_carries_its_text_hint_and_exit_status (void **state)
{
    (void)state;
    struct ag_err err = {0};
    assert_int_equal (open_door (7, &err), 0);
    assert_int_equal (err.code, AG_OK);
    assert_int_equal (open_door (3, &err), -1);
    assert_string_equal (err.text, "key 3 does not fit");
    assert_int_equal (ag_code_status (err.code), 77);
    assert_non_null (strstr (ag_code_hint (err.code), "token"));
    ag_wrap (&err, "door %s", "north");
    assert_string_equal (err.text, "door north: key 3 does not fit");
}

static void
a_text_that_is_too_long_says_that_it_was_cut (void **state)
{
    (void)state;
    struct ag_err err;
    char text[2000];
    memset (text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    ag_fail (&err, AG_E_FAILED, "%s", text);
    assert_string_equal (err.text + sizeof err.text - 4, "...");
    ag_wrap (&err, "context");
    assert_memory_equal (err.text, "context: xxx", 12);
    assert_string_equal (err.text + sizeof err.text - 4, "...");
}

static void
a_text_is_cut_between_characters (void **state)
{
    (void)state;
    struct ag_err err;
    char text[900];
    for (int before = 0; before < 3; before++) {
        memset (text, 'x', (size_t)before);
        for (char *at = text + before; at + 4 < text + sizeof text; at += 3)
            memcpy (at, "\xe2\x82\xac", 4);
        ag_fail (&err, AG_E_FAILED, "%s", text);
        size_t n = strlen (err.text);
        assert_string_equal (err.text + n - 3, "...");
        assert_memory_equal (err.text + n - 6, "\xe2\x82\xac", 3);
    }
}

static void
every_code_has_a_name_that_leads_back_to_it_and_a_hint (void **state)
{
    (void)state;
    for (int code = 1; code < AG_CODES; code++) {
        const char *name = ag_code_name ((enum ag_code)code);
        assert_int_equal (ag_code_of (name, strlen (name)), code);
        assert_true (strlen (ag_code_hint ((enum ag_code)code)) > 10);
    }
    assert_int_equal (ag_code_of ("no such", 7), AG_E_FAILED);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_failure_carries_its_text_hint_and_exit_status),
        cmocka_unit_test (a_text_that_is_too_long_says_that_it_was_cut),
        cmocka_unit_test (a_text_is_cut_between_characters),
        cmocka_unit_test (every_code_has_a_name_that_leads_back_to_it_and_a_hint),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
