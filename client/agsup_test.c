//  The program itself: what a shell sees of it.
//  SPDX-License-Identifier: Apache-2.0
#include "client/capture_test.h"
#include "client/pick.h"

#include <sys/wait.h>

//  What stands on stdout and stderr after `agsup LINE`, and its exit status.
struct outcome {
    char *out, *err;
    int status;
};

static char *
read_all (const char *path)
{
    FILE *in = fopen (path, "r");
    char *text = NULL;
    size_t room = 0;
    assert_non_null (in);
    if (getdelim (&text, &room, 0, in) < 0)
        *(text = ag_xrealloc (text, 1)) = 0;
    fclose (in);
    unlink (path);
    return text;
}

static struct outcome
agsup (const char *line)
{
    char out[] = "/tmp/agsup-out-XXXXXX", err[] = "/tmp/agsup-err-XXXXXX";
    const char *bin = getenv ("AG_BIN");
    if (!bin)
        skip(); //  run by ctest, which says where the program is
    close (mkstemp (out));
    close (mkstemp (err));
    char *command = ag_xprintf ("cd / && unset AGSUP_HOME && PATH=%s:$PATH && { %s; } >%s 2>%s",
                                bin, line, out, err);
    int status = system (command);
    free (command);
    return (struct outcome){read_all (out), read_all (err),
                            WIFEXITED (status) ? WEXITSTATUS (status) : -1};
}

static void
outcome_fini (struct outcome *self)
{
    free (self->out);
    free (self->err);
}

static void
version_is_one_line (void **state)
{
    (void)state;
    struct outcome outcome = agsup ("agsup version");
    assert_string_equal (outcome.out, "agsup " AG_RELEASE "\n");
    assert_string_equal (outcome.err, "");
    assert_int_equal (outcome.status, 0);
    outcome_fini (&outcome);
    outcome = agsup ("agsup version --json");
    assert_string_equal (outcome.out, "{\"version\":\"" AG_RELEASE "\"}\n");
    outcome_fini (&outcome);
}

static void
words_go_to_stderr_and_a_document_to_stdout (void **state)
{
    (void)state;
    struct outcome outcome = agsup ("agsup statsu");
    assert_string_equal (outcome.out, "");
    assert_contains (outcome.err,
                     "agsup: no command is called \"statsu\"; did you mean `agsup status`?\n  ");
    assert_int_equal (outcome.status, 2);
    outcome_fini (&outcome);
    outcome = agsup ("agsup --json statsu");
    struct ag_buf document = value_of (outcome.out);
    struct ag_str error = ag_pick (ag_buf_str (&document), "error");
    assert_true (ag_str_is (ag_pick_text (error, "code"), "usage"));
    assert_non_null (ag_pick (error, "hint").p);
    assert_string_equal (outcome.err, "");
    assert_int_equal (outcome.status, 2);
    ag_buf_fini (&document);
    outcome_fini (&outcome);
}

static void
nobody_is_there_is_69_and_not_built_is_2 (void **state)
{
    (void)state;
    struct outcome outcome = agsup ("agsup status");
    assert_int_equal (outcome.status, 69);
    assert_contains (outcome.err, "no agsup.toml here or upwards");
    outcome_fini (&outcome);
    outcome = agsup ("agsup --home /tmp/agsup-no-home status");
    assert_int_equal (outcome.status, 69);
    outcome_fini (&outcome);
    outcome = agsup ("agsup sweep a --vary p.x=1,2");
    assert_int_equal (outcome.status, 2);
    assert_contains (outcome.err, "`agsup sweep` is not built yet");
    outcome_fini (&outcome);
    outcome = agsup ("agsup sweep");
    assert_contains (outcome.err, "`agsup sweep` is not built yet");
    outcome_fini (&outcome);
}

//  The program alone, without the shared object that the other commands load.
static void
up_begins_before_the_rest_is_loaded (void **state)
{
    (void)state;
    char dir[] = "/tmp/agsup-alone-XXXXXX";
    assert_non_null (mkdtemp (dir));
    char *line = ag_xprintf ("mkdir %s/bin; cp \"$(command -v agsup)\" %s/bin; %s/bin/agsup up -d",
                             dir, dir, dir);
    struct outcome outcome = agsup (line);
    assert_int_equal (outcome.status, 78);
    assert_contains (outcome.err, "no agsup.toml here or upwards");
    outcome_fini (&outcome);
    free (line);
    line = ag_xprintf ("%s/bin/agsup status; rm -r %s", dir, dir);
    outcome = agsup (line);
    assert_contains (outcome.err, "agsup-client.so");
    outcome_fini (&outcome);
    free (line);
}

static void
help_is_data (void **state)
{
    (void)state;
    struct outcome outcome = agsup ("agsup fork -h"), same = agsup ("agsup help fork");
    assert_int_equal (outcome.status, 0);
    assert_string_equal (outcome.out, same.out);
    outcome_fini (&same);
    outcome_fini (&outcome);
    outcome = agsup ("agsup");
    assert_int_equal (outcome.status, 2);
    outcome_fini (&outcome);
}

static void
help_of_a_word_that_begins_commands_is_these_commands (void **state)
{
    (void)state;
    struct outcome outcome = agsup ("agsup help pack"), same = agsup ("agsup pack -h");
    assert_int_equal (outcome.status, 0);
    assert_contains (outcome.out, "pack new ");
    assert_contains (outcome.out, "pack disable ");
    assert_null (strstr (outcome.out, "promote"));
    assert_string_equal (outcome.out, same.out);
    outcome_fini (&same);
    outcome_fini (&outcome);
    outcome = agsup ("agsup help pack --json");
    struct ag_buf document = value_of (outcome.out);
    assert_int_equal (ag_items_count (ag_buf_str (&document), "commands"), 6);
    ag_buf_fini (&document);
    outcome_fini (&outcome);
    outcome = agsup ("agsup pack");
    assert_int_equal (outcome.status, 2);
    outcome_fini (&outcome);
    outcome = agsup ("agsup help pakc");
    assert_int_equal (outcome.status, 2);
    outcome_fini (&outcome);
}

static void
what_was_made_to_start_from_is_told_with_the_next_step (void **state)
{
    (void)state;
    char dir[] = "/tmp/agsup-made-XXXXXX";
    if (!getenv ("AG_BIN"))
        skip();
    assert_non_null (mkdtemp (dir));
    char line[256];
    snprintf (line, sizeof line,
              "agsup init %s/fleet && cd %s && agsup init . && agsup pack new packs/mine; s=$?; "
              "rm -r %s; (exit $s)",
              dir, dir, dir);
    struct outcome outcome = agsup (line);
    assert_int_equal (outcome.status, 0);
    assert_contains (outcome.out, "/fleet/agsup.toml\n");
    assert_contains (outcome.err, "Next: `cd /tmp/agsup-made-");
    assert_contains (outcome.err, "/fleet && agsup up --detach`");
    assert_contains (outcome.err, "\nNext: edit it; `agsup pack hash packs/mine --write`");
    assert_null (strstr (outcome.err, "cd ."));
    outcome_fini (&outcome);
}

static void
a_reader_that_goes_away_ends_it_quietly_and_a_full_disk_does_not (void **state)
{
    (void)state;
    struct outcome outcome = agsup ("(trap '' PIPE; agsup help --json; echo $? >&2) | true");
    assert_string_equal (outcome.err, "0\n");
    outcome_fini (&outcome);
    outcome = agsup ("agsup help --json | head -c 1");
    assert_string_equal (outcome.out, "{");
    assert_string_equal (outcome.err, "");
    outcome_fini (&outcome);
    static const char *const lines[][2] = {
        {"(agsup help > /dev/full)", "No space left on device"},
        {"(agsup help --json > /dev/full)", "No space left on device"},
        {"(agsup help >&-)", "Bad file descriptor"},
        {"(agsup version --json >&-)", "Bad file descriptor"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        outcome = agsup (lines[i][0]);
        assert_int_equal (outcome.status, 1);
        assert_contains (outcome.err, "agsup: standard output: ");
        assert_contains (outcome.err, lines[i][1]);
        outcome_fini (&outcome);
    }
    outcome = agsup ("(agsup --json --home /tmp/agsup-no-home status > /dev/full)");
    assert_int_equal (outcome.status, 69);
    assert_contains (outcome.err, "agsup: the home /tmp/agsup-no-home: ");
    outcome_fini (&outcome);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (version_is_one_line),
        cmocka_unit_test (words_go_to_stderr_and_a_document_to_stdout),
        cmocka_unit_test (nobody_is_there_is_69_and_not_built_is_2),
        cmocka_unit_test (up_begins_before_the_rest_is_loaded),
        cmocka_unit_test (help_is_data),
        cmocka_unit_test (help_of_a_word_that_begins_commands_is_these_commands),
        cmocka_unit_test (what_was_made_to_start_from_is_told_with_the_next_step),
        cmocka_unit_test (a_reader_that_goes_away_ends_it_quietly_and_a_full_disk_does_not),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
