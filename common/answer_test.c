//  SPDX-License-Identifier: Apache-2.0
#include "common/answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static void
an_answer_carries_the_id_and_the_fields_that_were_put (void **state)
{
    (void)state;
    struct ag_buf out = {0};
    struct ag_str text, word;
    struct ag_err err = {0};
    struct ag_answer answer = ag_answer_begin (&out, "ok", AG_LIT ("q7"));
    ag_answer_key (&answer, "run_id");
    ag_put_lit (&out, "r3f");
    ag_answer_end (&answer);
    assert_int_equal (ag_answer_read (ag_buf_str (&out), &word, &err), 0);
    assert_true (ag_str_is (word, "ok"));
    assert_int_equal (ag_map_text (ag_buf_str (&out), "id", &text), 0);
    assert_true (ag_str_is (text, "q7"));
    assert_int_equal (ag_map_text (ag_buf_str (&out), "run_id", &text), 0);
    assert_true (ag_str_is (text, "r3f"));
    ag_buf_fini (&out);
}

static void
a_request_without_id_is_answered_without_id (void **state)
{
    (void)state;
    struct ag_buf out = {0};
    ag_answer_ok (&out, (struct ag_str){0});
    struct ag_str value;
    assert_int_equal (ag_map_get (ag_buf_str (&out), "id", &value), -1);
    ag_buf_fini (&out);
}

static void
every_error_comes_back_as_it_was_with_its_hint (void **state)
{
    (void)state;
    for (int code = 1; code < AG_CODES; code++) {
        struct ag_buf out = {0};
        struct ag_err sent, got = {0};
        struct ag_str word, hint;
        bool retryable;
        ag_fail (&sent, (enum ag_code)code, "run \"%s\"", "r3f");
        ag_answer_error (&out, AG_LIT ("q7"), &sent);
        assert_int_equal (ag_answer_read (ag_buf_str (&out), &word, &got), -1);
        assert_int_equal (got.code, sent.code);
        assert_string_equal (got.text, sent.text);
        assert_int_equal (ag_map_text (ag_buf_str (&out), "hint", &hint), 0);
        assert_true (ag_str_is (hint, ag_code_hint (sent.code)));
        assert_int_equal (ag_map_bool (ag_buf_str (&out), "retryable", &retryable), 0);
        assert_int_equal (retryable, ag_code_retryable (sent.code));
        ag_buf_fini (&out);
    }
}

static void
an_error_that_quotes_broken_text_is_still_utf8 (void **state)
{
    (void)state;
    struct ag_buf out = {0};
    struct ag_err sent, got = {0};
    struct ag_str word;
    ag_fail (&sent, AG_E_FAILED, "label \"a\xff\xc3\"");
    ag_answer_error (&out, (struct ag_str){0}, &sent);
    assert_int_equal (ag_answer_read (ag_buf_str (&out), &word, &got), -1);
    assert_string_equal (got.text, "label \"a??\"");
    ag_buf_fini (&out);
}

static void
what_is_no_answer_is_an_error_of_its_own (void **state)
{
    (void)state;
    struct ag_err err = {0};
    struct ag_str word;
    assert_int_equal (ag_answer_read (AG_LIT (""), &word, &err), -1);
    assert_int_equal (err.code, AG_E_BAD_MESSAGE);
    assert_int_equal (ag_answer_read (AG_LIT ("\x81\xa2"
                                              "do\xa5"
                                              "error"),
                                      &word, &err),
                      -1);
    assert_int_equal (err.code, AG_E_BAD_MESSAGE);
    struct ag_str odd = AG_LIT ("\x83\xa2"
                                "do\xa5"
                                "error\xa4"
                                "code\xa2"
                                "ok\xa7"
                                "message\xa1"
                                "x");
    assert_int_equal (ag_answer_read (odd, &word, &err), -1);
    assert_int_equal (err.code, AG_E_FAILED);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (an_answer_carries_the_id_and_the_fields_that_were_put),
        cmocka_unit_test (a_request_without_id_is_answered_without_id),
        cmocka_unit_test (every_error_comes_back_as_it_was_with_its_hint),
        cmocka_unit_test (an_error_that_quotes_broken_text_is_still_utf8),
        cmocka_unit_test (what_is_no_answer_is_an_error_of_its_own),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
