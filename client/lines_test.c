//  SPDX-License-Identifier: Apache-2.0
#include "client/lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct bench {
    char dir[40], path[64];
    struct ag_call call; //  with a second for all
    struct ag_client client;
    struct ag_lines lines;
    struct ag_str line;
    struct ag_err err;
};

static int
setup (void **state)
{
    struct bench *self = ag_xcalloc (1, sizeof *self);
    strcpy (self->dir, "/tmp/agsup-lines-XXXXXX");
    assert_non_null (mkdtemp (self->dir));
    snprintf (self->path, sizeof self->path, "%s/in", self->dir);
    self->call.any.timeout = 1000;
    self->client = (struct ag_client){.call = &self->call, .begun_ms = ag_ask_clock_ms()};
    alarm (30);
    *state = self;
    return 0;
}

static int
teardown (void **state)
{
    struct bench *self = *state;
    alarm (0);
    unlink (self->path);
    int rc = rmdir (self->dir);
    free (self);
    return rc;
}

static void
put (const char *path, const char *text)
{
    FILE *out = fopen (path, "we");
    assert_non_null (out);
    fputs (text, out);
    fclose (out);
}

static void
assert_next (struct bench *self, const char *text, uint64_t number)
{
    assert_int_equal (ag_lines_next (&self->lines, &self->line, &self->err), 1);
    assert_true (ag_str_is (self->line, text));
    assert_int_equal (self->lines.number, number);
}

static void
lines_are_counted_and_come_without_what_is_empty (void **state)
{
    struct bench *self = *state;
    put (self->path, "one \r\n\n \t\n  two\nthree");
    assert_int_equal (ag_lines_open (&self->lines, &self->client, self->path, &self->err), 0);
    assert_next (self, "one", 1);
    assert_next (self, "  two", 4);
    assert_next (self, "three", 5);
    assert_int_equal (ag_lines_next (&self->lines, &self->line, &self->err), 0);
    ag_lines_close (&self->lines);
}

//  What a lost write leaves at the end of a file.
static void
zeros_are_no_space_and_no_empty_line (void **state)
{
    struct bench *self = *state;
    FILE *out = fopen (self->path, "we");
    assert_non_null (out);
    assert_int_equal (fwrite ("one\0\0\n\0", 1, 7, out), 7);
    fclose (out);
    assert_int_equal (ag_lines_open (&self->lines, &self->client, self->path, &self->err), 0);
    assert_int_equal (ag_lines_next (&self->lines, &self->line, &self->err), 1);
    assert_int_equal (self->line.n, 5);
    assert_int_equal (ag_lines_next (&self->lines, &self->line, &self->err), 1);
    assert_int_equal (self->line.n, 1);
    ag_lines_close (&self->lines);
}

static void
a_pipe_is_read_whose_writer_comes_late_and_slow (void **state)
{
    struct bench *self = *state;
    assert_int_equal (mkfifo (self->path, 0600), 0);
    pid_t writer = fork();
    if (writer == 0) {
        usleep (50000);
        FILE *out = fopen (self->path, "we");
        fputs ("one\ntw", out);
        fflush (out);
        usleep (50000);
        fputs ("o\n", out);
        _exit (fclose (out));
    }
    assert_int_equal (ag_lines_open (&self->lines, &self->client, self->path, &self->err), 0);
    assert_next (self, "one", 1);
    assert_next (self, "two", 2);
    assert_int_equal (ag_lines_next (&self->lines, &self->line, &self->err), 0);
    ag_lines_close (&self->lines);
    waitpid (writer, NULL, 0);
}

static void
a_pipe_into_which_nobody_writes_is_given_up (void **state)
{
    struct bench *self = *state;
    self->call.any.timeout = 100;
    assert_int_equal (mkfifo (self->path, 0600), 0);
    assert_int_equal (ag_lines_open (&self->lines, &self->client, self->path, &self->err), -1);
    assert_int_equal (self->err.code, AG_E_TIMEOUT);
    assert_non_null (strstr (self->err.text, self->path));
}

static void
what_cannot_be_read_is_an_error_and_not_the_end (void **state)
{
    struct bench *self = *state;
    assert_int_equal (ag_lines_open (&self->lines, &self->client, self->path, &self->err), -1);
    assert_int_equal (self->err.code, AG_E_USAGE);
    assert_non_null (strstr (self->err.text, self->path));
    assert_int_equal (ag_lines_open (&self->lines, &self->client, self->dir, &self->err), 0);
    assert_int_equal (ag_lines_next (&self->lines, &self->line, &self->err), -1);
    assert_int_equal (self->err.code, AG_E_SYSTEM);
    assert_non_null (strstr (self->err.text, strerror (EISDIR)));
    ag_lines_close (&self->lines);
}

//  Which zeros without an end are.
static void
a_line_has_8_mib_and_no_more (void **state)
{
    struct bench *self = *state;
    assert_int_equal (ag_lines_open (&self->lines, &self->client, "/dev/zero", &self->err), 0);
    assert_int_equal (ag_lines_next (&self->lines, &self->line, &self->err), -1);
    assert_int_equal (self->err.code, AG_E_TOO_LARGE);
    assert_non_null (strstr (self->err.text, "/dev/zero, line 1: more than 8388608 bytes"));
    ag_lines_close (&self->lines);
    FILE *out = fopen (self->path, "we");
    assert_true (fprintf (out, "%*s\n\n", 8 << 20, "x") > 8 << 20);
    fclose (out);
    assert_int_equal (ag_lines_open (&self->lines, &self->client, self->path, &self->err), 0);
    assert_int_equal (ag_lines_next (&self->lines, &self->line, &self->err), 1);
    assert_int_equal (self->line.n, 8 << 20);
    ag_lines_close (&self->lines);
}

int
main (void)
{
#define T(name) cmocka_unit_test_setup_teardown (name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T (lines_are_counted_and_come_without_what_is_empty),
        T (zeros_are_no_space_and_no_empty_line),
        T (a_pipe_is_read_whose_writer_comes_late_and_slow),
        T (a_pipe_into_which_nobody_writes_is_given_up),
        T (what_cannot_be_read_is_an_error_and_not_the_end),
        T (a_line_has_8_mib_and_no_more),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
