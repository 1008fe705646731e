//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/output.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/agsup-output-XXXXXX";
static ag_loop_t *loop;

static int
begin (void **state)
{
    (void)state;
    strcpy (dir + strlen (dir) - 6, "XXXXXX");
    loop = ag_loop_new();
    return mkdtemp (dir) ? 0 : -1;
}

static int
end (void **state)
{
    (void)state;
    ag_loop_destroy (&loop);
    char *command = ag_xprintf ("rm -rf %s", dir);
    FILE *rm = popen (command, "r");
    free (command);
    return rm && pclose (rm) == 0 ? 0 : -1;
}

static void
reads (ag_output_t *output, uint64_t after, const char *wanted)
{
    struct ag_buf text = {0};
    struct ag_err err;
    uint64_t next;
    assert_int_equal (ag_output_read (output, after, &text, &next, &err), 0);
    assert_int_equal (next, after + strlen (wanted));
    assert_true (ag_str_is (ag_buf_str (&text), wanted));
    ag_buf_fini (&text);
}

static void
what_a_process_prints_is_kept_and_read_by_offset (void **state)
{
    (void)state;
    ag_output_t *output = ag_output_new (dir, "unit", loop);
    int out[2], error[2];
    struct ag_buf tail = {0};
    assert_int_equal (pipe2 (out, O_NONBLOCK), 0);
    assert_int_equal (pipe2 (error, O_NONBLOCK), 0);
    ag_output_watch (output, out[0], error[0]);
    assert_int_equal (write (out[1], "hello\n", 6), 6);
    ag_output_drain (output);
    assert_int_equal (write (error[1], "oh\xff\n", 4), 4);
    ag_output_drain (output);
    reads (output, 0, "hello\noh\xff\n");
    reads (output, 6, "oh\xff\n");
    ag_output_tail (output, &tail);
    assert_true (ag_str_is (ag_buf_str (&tail), "oh?\n"));
    close (out[1]);
    close (error[1]);
    ag_output_destroy (&output);

    output = ag_output_new (dir, "unit", loop); //  a new supervisor goes on
    ag_output_line (output, AG_LIT ("again"));
    reads (output, 10, "again\n");
    ag_output_destroy (&output);
    ag_buf_fini (&tail);
}

static void
old_output_is_dropped_by_segments_and_a_reader_is_told_where_it_is (void **state)
{
    (void)state;
    ag_output_t *output = ag_output_new (dir, "unit", loop);
    struct ag_buf line = {0}, text = {0};
    struct ag_err err;
    uint64_t next;
    memset (ag_buf_grow (&line, 99999), 'x', 99999);
    for (int i = 0; i < 60; i++) //  6 MB, of which four segments are kept
        ag_output_line (output, ag_buf_str (&line));
    assert_int_equal (ag_output_read (output, 0, &text, &next, &err), 0);
    assert_true (next - text.n > 6000000 - AG_OUTPUT_SEGMENTS * AG_OUTPUT_SEGMENT);
    assert_int_equal ((next - text.n) % AG_OUTPUT_SEGMENT, 0);
    ag_buf_clear (&text);
    assert_int_equal (ag_output_read (output, 5999990, &text, &next, &err), 0);
    assert_true (ag_str_is (ag_buf_str (&text), "xxxxxxxxx\n"));
    assert_int_equal (next, 6000000);
    ag_buf_fini (&line);
    ag_buf_fini (&text);
    ag_output_destroy (&output);
}

//  All that it holds.
static void
assert_output (ag_output_t *output, const char *wanted)
{
    struct ag_buf text = {0};
    struct ag_err err;
    uint64_t next;
    assert_int_equal (ag_output_read (output, 0, &text, &next, &err), 0);
    assert_true (ag_str_is (ag_buf_str (&text), wanted));
    ag_buf_fini (&text);
}

static void
units_whose_names_begin_alike_do_not_mix (void **state)
{
    (void)state;
    ag_output_t *one = ag_output_new (dir, "unit", loop),
                *two = ag_output_new (dir, "unit.program", loop);
    ag_output_line (two, AG_LIT ("two"));
    ag_output_destroy (&one);
    one = ag_output_new (dir, "unit", loop);
    assert_output (one, "");
    ag_output_destroy (&one);
    ag_output_destroy (&two);
}

//  Labels may have them: `try/1`, and `../x`.
static void
slashes_in_a_name_lead_into_no_other_folder (void **state)
{
    (void)state;
    char *beside = ag_xprintf ("../%s/up", strrchr (dir, '/') + 1);
    const char *const names[] = {"try/1", "try", beside};
    ag_output_t *outputs[3];
    struct stat st;
    for (int i = 0; i < 3; i++) {
        outputs[i] = ag_output_new (dir, names[i], loop);
        ag_output_line (outputs[i], ag_str (names[i]));
    }
    assert_output (outputs[0], "try/1\n");
    assert_output (outputs[1], "try\n");
    char *path = ag_xprintf ("%s/up.000000000000.log", dir);
    assert_int_equal (stat (path, &st), -1);
    for (int i = 0; i < 3; i++)
        ag_output_destroy (&outputs[i]);
    free (path);
    free (beside);
}

//  Thousands of forks never say anything: their units cost no look at the folder.
static void
a_folder_is_looked_at_when_the_first_byte_is_written_or_asked_for (void **state)
{
    (void)state;
    ag_output_t *early = ag_output_new (dir, "same", loop);
    ag_output_t *late = ag_output_new (dir, "same", loop);
    ag_output_line (late, AG_LIT ("hello"));
    ag_output_destroy (&late);
    assert_output (early, "hello\n");
    ag_output_destroy (&early);
}

//  A pipe in its place would keep the whole house.
static void
what_is_no_file_is_neither_written_nor_read (void **state)
{
    (void)state;
    struct ag_buf text = {0};
    struct ag_err err;
    uint64_t next;
    char *path = ag_xprintf ("%s/unit.000000000000.log", dir);
    ag_output_t *output = ag_output_new (dir, "unit", loop);
    assert_int_equal (mkfifo (path, 0600), 0);
    ag_output_line (output, AG_LIT ("lost"));
    assert_output (output, "");
    assert_int_equal (unlink (path), 0);
    ag_output_line (output, AG_LIT ("kept"));
    assert_output (output, "kept\n");
    assert_int_equal (unlink (path) || mkfifo (path, 0600), 0);
    assert_int_equal (ag_output_read (output, 0, &text, &next, &err), -1);
    assert_non_null (strstr (err.text, "is not a file"));
    ag_output_destroy (&output);
    ag_buf_fini (&text);
    free (path);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (what_a_process_prints_is_kept_and_read_by_offset, begin,
                                         end),
        cmocka_unit_test_setup_teardown (
            old_output_is_dropped_by_segments_and_a_reader_is_told_where_it_is, begin, end),
        cmocka_unit_test_setup_teardown (slashes_in_a_name_lead_into_no_other_folder, begin, end),
        cmocka_unit_test_setup_teardown (units_whose_names_begin_alike_do_not_mix, begin, end),
        cmocka_unit_test_setup_teardown (
            a_folder_is_looked_at_when_the_first_byte_is_written_or_asked_for, begin, end),
        cmocka_unit_test_setup_teardown (what_is_no_file_is_neither_written_nor_read, begin, end),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
