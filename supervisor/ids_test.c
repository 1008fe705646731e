//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/ids.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static void
minted_ids_are_read_as_they_are_written (void **state)
{
    (void)state;
    static const struct {
        enum ag_minted_kind kind;
        struct ag_minted minted;
        const char *id;
    } rows[] = {
        {AG_MINTED_OBJECT, {0, 7}, "task#7"},       {AG_MINTED_OBJECT, {111, 1}, "task#r3f.1"},
        {AG_MINTED_RELATION, {0, 12}, "rel_012"},   {AG_MINTED_RELATION, {111, 1}, "rel_r3f.001"},
        {AG_MINTED_PATCH, {0, 1234}, "patch_1234"}, {AG_MINTED_PATCH, {1, 3}, "patch_r1.003"},
        {AG_MINTED_OBJECT, {0, 1000}, "task#1000"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ag_buf out = {0};
        struct ag_minted minted;
        ag_minted_write (rows[i].kind, AG_LIT ("task"), &rows[i].minted, &out);
        assert_true (ag_str_is (ag_buf_str (&out), rows[i].id));
        assert_true (ag_minted_read (rows[i].kind, ag_buf_str (&out), &minted));
        assert_int_equal (minted.run, rows[i].minted.run);
        assert_int_equal (minted.number, rows[i].minted.number);
        ag_buf_fini (&out);
    }
}

static void
other_ids_are_of_no_minted_form (void **state)
{
    (void)state;
    static const char *const objects[] = {"",         "task",      "#7",         "task#",
                                          "task#7a",  "task#r3f",  "task#r3f.",  "task#r3f.x",
                                          "task#3.1", "task#ri.1", "task#r03.1", "task#.1",
                                          "task#-1",  "task# 1",   "rel_001"};
    static const char *const relations[] = {"rel_",    "rel_a",  "rel012",
                                            "rel_r3f", "task#7", "rel_1x"};
    struct ag_minted minted;
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        assert_false (ag_minted_read (AG_MINTED_OBJECT, ag_str (objects[i]), &minted));
    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++)
        assert_false (ag_minted_read (AG_MINTED_RELATION, ag_str (relations[i]), &minted));
}

static void
a_number_beyond_any_counter_is_told_as_such (void **state)
{
    (void)state;
    struct ag_minted minted;
    assert_true (ag_minted_read (AG_MINTED_OBJECT, AG_LIT ("t#9007199254740992"), &minted));
    assert_true (minted.number == AG_MINTED_MAX);
    assert_true (ag_minted_read (AG_MINTED_OBJECT, AG_LIT ("t#9007199254740993"), &minted));
    assert_true (minted.number == AG_MINTED_MAX + 1);
    assert_true (ag_minted_read (AG_MINTED_OBJECT,
                                 AG_LIT ("t#99999999999999999999999999999999999999"), &minted));
    assert_true (minted.number == AG_MINTED_MAX + 1);
}

static void
ids_types_and_labels_have_bounds (void **state)
{
    (void)state;
    struct ag_err err;
    char long_text[300];
    memset (long_text, 'x', sizeof long_text);
    assert_int_equal (ag_id_check ((struct ag_str){long_text, 256}, "the id", &err), 0);
    assert_int_equal (ag_id_check ((struct ag_str){long_text, 257}, "the id", &err), -1);
    assert_int_equal (ag_type_check ((struct ag_str){long_text, 200}, "the type", &err), 0);
    assert_int_equal (ag_type_check ((struct ag_str){long_text, 201}, "the type", &err), -1);
    assert_int_equal (ag_label_check ((struct ag_str){long_text, 64}, &err), 0);
    assert_int_equal (ag_label_check ((struct ag_str){long_text, 65}, &err), -1);

    static const char *const good[] = {"a", "ä€𝄞", "task#r", "a/b:c", "\xc2\xa1"};
    static const char *const bad[] = {"",         "a b",      "a\tb", "a\x7f",        "a@b",
                                      "\xc2\x80", "\xc2\x9f", "\xff", "\xed\xa0\x80", "a\nb"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal (ag_id_check (ag_str (good[i]), "the id", &err), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal (ag_id_check (ag_str (bad[i]), "the id", &err), -1);
    assert_int_equal (ag_id_check ((struct ag_str){"a\0b", 3}, "the id", &err), -1);
}

//  Where a run has two hosts, or is replayed, its processes are called so: `stop NAME` says which.
static void
a_label_is_not_the_name_of_another_runs_process (void **state)
{
    (void)state;
    struct ag_err err;
    static const char *const bad[] = {"x.program", "x.replay", "x.replay.program", ".program"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal (ag_label_check (ag_str (bad[i]), &err), -1);
        assert_int_equal (err.code, AG_E_USAGE);
    }
    assert_int_equal (ag_label_check (ag_str ("program"), &err), 0);
    assert_int_equal (ag_label_check (ag_str ("x.programs"), &err), 0);
}

static void
a_label_is_one_word_of_a_command_whatever_shell_reads_it (void **state)
{
    (void)state;
    struct ag_err err;
    static const char *const good[] = {"try/1", "a.b:c-d_e", "\xc3\xa9t\xc3\xa9", "a=b,c+d%e"};
    static const char *const bad[] = {"$(x)", "a`x`", "a;x", "it's", "a\"b", "a\\b",
                                      "a&b",  "a|b",  "a<b", "a>b",  "a*",   "a?",
                                      "[a]",  "{a}",  "!a",  "#a",   "~a"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal (ag_label_check (ag_str (good[i]), &err), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal (ag_label_check (ag_str (bad[i]), &err), -1);
        assert_int_equal (err.code, AG_E_USAGE);
    }
}

static void
a_label_does_not_look_like_a_run_id (void **state)
{
    (void)state;
    struct ag_err err;
    static const char *const good[] = {"reader", "r",        "ra",   "R1",
                                       "r1-x",   "reviewer", "r10l", "r01"};
    static const char *const bad[] = {"r1", "r3f", "r10", "ra1"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal (ag_label_check (ag_str (good[i]), &err), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal (ag_label_check (ag_str (bad[i]), &err), -1);
        assert_int_equal (err.code, AG_E_USAGE);
    }
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (minted_ids_are_read_as_they_are_written),
        cmocka_unit_test (other_ids_are_of_no_minted_form),
        cmocka_unit_test (a_number_beyond_any_counter_is_told_as_such),
        cmocka_unit_test (ids_types_and_labels_have_bounds),
        cmocka_unit_test (a_label_is_not_the_name_of_another_runs_process),
        cmocka_unit_test (a_label_is_one_word_of_a_command_whatever_shell_reads_it),
        cmocka_unit_test (a_label_does_not_look_like_a_run_id),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
