//  SPDX-License-Identifier: Apache-2.0
#include "worker/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static const struct ag_str poem = {
    "The licence of this work is this: do with it what you like, and tell others so.", 79};

static void
words_are_what_stands_between_spaces_and_signs (void **state)
{
    static const char *const expected[] = {"Grüße", "to", "GPL", "2", "users"};
    struct ag_str rest = AG_LIT (" *  Grüße, to GPL-2 (users)\n"), word;
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        assert_true (ag_word (&rest, &word));
        assert_true (ag_str_is (word, expected[i]));
    }
    assert_false (ag_word (&rest, &word));
}

static void
case_line_ends_and_comment_marks_make_no_difference (void **state)
{
    struct ag_str other = AG_LIT ("# THE LICENCE of this work\n# is this: do with it what you\n"
                                  "# like; and tell others so\n");
    (void)state;
    assert_true (ag_similarity (poem, other) == 1);
    assert_true (ag_containment (poem, other) == 1);
}

static void
one_other_word_costs_the_five_shingles_it_is_in (void **state)
{
    struct ag_str other =
        AG_LIT ("The licence of this work is this: do with it what they like, and tell others so.");
    (void)state;
    //  17 words are 13 shingles; the 12th word is in 5 of them: 8 are common, 18 in either
    assert_float_equal (ag_similarity (poem, other), 8.0 / 18, 1e-9);
    assert_float_equal (ag_containment (poem, other), 8.0 / 13, 1e-9);
}

static void
a_part_is_contained_in_the_whole_but_not_the_other_way (void **state)
{
    struct ag_str part = AG_LIT ("this work is this: do with it");
    (void)state;
    assert_true (ag_containment (part, poem) == 1);
    assert_float_equal (ag_containment (poem, part), 3.0 / 13, 1e-9);
}

static void
short_and_empty_texts_have_an_answer (void **state)
{
    struct ag_str none = AG_LIT (" -- "), two = AG_LIT ("two words"), other = AG_LIT ("two Words!");
    (void)state;
    assert_true (ag_similarity (none, none) == 1);
    assert_true (ag_similarity (none, two) == 0);
    assert_true (ag_similarity (two, other) == 1);
    assert_true (ag_containment (two, poem) == 0);
}

static void
cleaned_text_is_valid_and_bounded (void **state)
{
    struct ag_buf out = {0};
    (void)state;
    ag_clean (AG_LIT ("a\xff"
                      "b\x1b[0m\tGr\xc3\xbc\n\xe2\x82"),
              100, &out);
    assert_true (ag_str_is (ag_buf_str (&out), "a?b?[0m\tGr\xc3\xbc\n??"));
    ag_buf_clear (&out);
    ag_clean (AG_LIT ("12\xc3\xbc"), 3, &out); //  no half character
    assert_true (ag_str_is (ag_buf_str (&out), "12"));
    ag_buf_fini (&out);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (words_are_what_stands_between_spaces_and_signs),
        cmocka_unit_test (case_line_ends_and_comment_marks_make_no_difference),
        cmocka_unit_test (one_other_word_costs_the_five_shingles_it_is_in),
        cmocka_unit_test (a_part_is_contained_in_the_whole_but_not_the_other_way),
        cmocka_unit_test (short_and_empty_texts_have_an_answer),
        cmocka_unit_test (cleaned_text_is_valid_and_bounded),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
