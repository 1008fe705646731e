//  SPDX-License-Identifier: Apache-2.0
#include "client/parse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 32 };

//  A command line as a shell would split it, at spaces.
struct line {
    char *text;
    char *argv[WORDS];
    struct ag_call call;
    struct ag_err err;
    int rc;
};

static struct line
parse (const char *text)
{
    struct line line = {.text = ag_xstrdup (text)};
    int argc = 0;
    for (char *word = strtok (line.text, " "); word && argc < WORDS; word = strtok (NULL, " "))
        line.argv[argc++] = word;
    line.rc = ag_parse (argc, line.argv, &line.call, &line.err);
    return line;
}

static void
line_fini (struct line *line)
{
    ag_call_fini (&line->call);
    free (line->text);
}

static void
assert_refused (const char *text, const char *why)
{
    struct line line = parse (text);
    assert_int_equal (line.rc, -1);
    assert_int_equal (line.err.code, AG_E_USAGE);
    if (!strstr (line.err.text, why))
        fail_msg ("`%s`: \"%s\" does not say \"%s\"", text, line.err.text, why);
    line_fini (&line);
}

//  How a handler sees it: a row, and a struct of its arguments.
static void
a_command_line_becomes_a_struct (void **state)
{
    (void)state;
    struct line line = parse ("agsup --json goal auditor hello --wait --request-id g1");
    assert_int_equal (line.rc, 0);
    assert_int_equal (line.call.command->cmd, AG_CMD_goal);
    assert_true (line.call.any.json);
    assert_string_equal (line.call.goal.run, "auditor");
    assert_string_equal (line.call.goal.text, "hello");
    assert_true (line.call.goal.wait);
    assert_string_equal (line.call.change.request_id, "g1");
    line_fini (&line);
}

static void
options_stand_anywhere_and_take_their_value_in_four_ways (void **state)
{
    (void)state;
    static const char *const lines[] = {
        "agsup log --type goal.created auditor", "agsup log --type=goal.created auditor",
        "agsup log auditor -t goal.created", "agsup log auditor -tgoal.created",
        "agsup log -qt goal.created auditor"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct line line = parse (lines[i]);
        assert_int_equal (line.rc, 0);
        assert_string_equal (line.call.log.type, "goal.created");
        assert_string_equal (line.call.log.run, "auditor");
        line_fini (&line);
    }
}

static void
what_was_not_said_is_the_table_s_default (void **state)
{
    (void)state;
    struct line line = parse ("agsup fork auditor");
    assert_int_equal (line.rc, 0);
    assert_int_equal (line.call.fork.count, 1);
    assert_string_equal (line.call.fork.effects, "cache");
    assert_null (line.call.fork.label);
    assert_int_equal (line.call.fork.set.n, 0);
    assert_int_equal (line.call.any.timeout, 0);
    line_fini (&line);
}

static void
repeated_options_keep_their_order_and_values_may_hold_equal_signs (void **state)
{
    (void)state;
    struct line line = parse ("agsup fork a@evt_042 --set p.x=1 --set=p.y=a=b -s q.z=2");
    assert_int_equal (line.rc, 0);
    assert_int_equal (line.call.fork.set.n, 3);
    assert_string_equal (line.call.fork.set.p[1], "p.y=a=b");
    assert_string_equal (line.call.fork.set.p[2], "q.z=2");
    line_fini (&line);
}

static void
an_argument_that_repeats_takes_all_that_are_left (void **state)
{
    (void)state;
    struct line line = parse ("agsup wait one two --ended three");
    assert_int_equal (line.rc, 0);
    assert_int_equal (line.call.wait.runs.n, 3);
    assert_string_equal (line.call.wait.runs.p[2], "three");
    assert_true (line.call.wait.ended);
    line_fini (&line);
}

static void
after_two_dashes_everything_is_an_argument (void **state)
{
    (void)state;
    struct line line = parse ("agsup goal auditor -- --json");
    assert_int_equal (line.rc, 0);
    assert_string_equal (line.call.goal.text, "--json");
    assert_false (line.call.any.json);
    line_fini (&line);
}

static void
a_single_dash_is_an_argument (void **state)
{
    (void)state;
    struct line line = parse ("agsup apply notes -");
    assert_int_equal (line.rc, 0);
    assert_string_equal (line.call.apply.file, "-");
    line_fini (&line);
}

static void
a_command_may_have_two_words (void **state)
{
    (void)state;
    struct line line = parse ("agsup pack hash packs/mine");
    assert_int_equal (line.rc, 0);
    assert_int_equal (line.call.command->cmd, AG_CMD_pack_hash);
    assert_string_equal (line.call.pack_hash.dir, "packs/mine");
    line_fini (&line);
    assert_refused ("agsup pack", "pack what? One of: new, check");
    assert_refused ("agsup pack hahs x", "did you mean `agsup pack hash`?");
}

static void
a_near_miss_is_suggested (void **state)
{
    (void)state;
    assert_refused ("agsup statsu", "did you mean `agsup status`?");
    assert_refused ("agsup fork x --efects live", "did you mean --effects?");
    assert_refused ("agsup --jsno status", "did you mean --json?");
    assert_refused ("agsup frobnicate", "no command is called \"frobnicate\"");
}

static void
what_is_missing_or_too_much_is_named (void **state)
{
    (void)state;
    assert_refused ("agsup goal auditor", "goal needs TEXT");
    assert_refused ("agsup wait", "wait needs RUN");
    assert_refused ("agsup completion", "completion needs one of bash|zsh|fish: Your shell");
    assert_refused ("agsup status me", "\"me\" is one argument too many");
    assert_refused ("agsup fork x --label", "--label needs a value: LABEL");
    assert_refused ("agsup status --json=yes", "--json takes no value");
    assert_refused ("agsup status --request-id x", "status has no option --request-id");
    assert_refused ("agsup status -z", "status has no option -z");
}

static void
a_value_of_the_wrong_form_is_quoted (void **state)
{
    (void)state;
    assert_refused ("agsup fork x --count=-1", "--count is \"-1\", not a whole number");
    assert_refused ("agsup fork x --count 1x", "--count is \"1x\"");
    assert_refused ("agsup fork x --count 99999999999999999999", "not a whole number");
    assert_refused ("agsup status --timeout nan", "--timeout is \"nan\", not a time");
    assert_refused ("agsup status --timeout 0", "not a time");
    assert_refused ("agsup status --timeout 0s", "not a time");
    assert_refused ("agsup status --timeout 2x",
                    "--timeout is \"2x\", not a time: 1.5 (seconds), 250ms");
    assert_refused ("agsup status --timeout 9999999999h", "not a time");
    assert_refused ("agsup trial x --memory 64Mib", "--memory is \"64Mib\", not a size: 4096");
    assert_refused ("agsup trial x --memory -1", "not a size");
    assert_refused ("agsup fork x --effects liv",
                    "--effects is \"liv\", not one of cache|live|replay");
    assert_refused ("agsup completion tcsh", "shell is \"tcsh\"");
}

static void
a_timeout_is_in_seconds_and_may_have_a_fraction (void **state)
{
    (void)state;
    struct line line = parse ("agsup --timeout 0.25 status");
    assert_int_equal (line.rc, 0);
    assert_int_equal (line.call.any.timeout, 250);
    line_fini (&line);
}

static void
a_time_and_a_size_are_written_as_in_the_configuration_too (void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t wall, memory, timeout;
    } lines[] = {
        {"agsup trial x --wall 2s --memory 64MiB --timeout 3m", 2000, 64 << 20, 180000},
        {"agsup trial x --wall 250ms --memory 1kB --timeout 1h", 250, 1000, 3600000},
        {"agsup trial x --wall 0.29 --memory 4096 --timeout 2", 290, 4096, 2000},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct line line = parse (lines[i].text);
        if (line.rc)
            fail_msg ("%s", line.err.text);
        assert_int_equal (line.call.trial.wall, lines[i].wall);
        assert_int_equal (line.call.trial.memory, lines[i].memory);
        assert_int_equal (line.call.any.timeout, lines[i].timeout);
        line_fini (&line);
    }
}

static void
with_help_nothing_has_to_be_complete (void **state)
{
    (void)state;
    struct line line = parse ("agsup goal -h");
    assert_int_equal (line.rc, 0);
    assert_true (line.call.any.help);
    assert_int_equal (line.call.command->cmd, AG_CMD_goal);
    line_fini (&line);
    line = parse ("agsup");
    assert_int_equal (line.rc, 0);
    assert_null (line.call.command);
    line_fini (&line);
}

//  So that `agsup --json fork --cuont 3` can say its error as a document.
static void
what_stood_before_a_mistake_was_read (void **state)
{
    (void)state;
    struct line line = parse ("agsup --json fork x --cuont 3");
    assert_int_equal (line.rc, -1);
    assert_true (line.call.any.json);
    line_fini (&line);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_command_line_becomes_a_struct),
        cmocka_unit_test (options_stand_anywhere_and_take_their_value_in_four_ways),
        cmocka_unit_test (what_was_not_said_is_the_table_s_default),
        cmocka_unit_test (repeated_options_keep_their_order_and_values_may_hold_equal_signs),
        cmocka_unit_test (an_argument_that_repeats_takes_all_that_are_left),
        cmocka_unit_test (after_two_dashes_everything_is_an_argument),
        cmocka_unit_test (a_single_dash_is_an_argument),
        cmocka_unit_test (a_command_may_have_two_words),
        cmocka_unit_test (a_near_miss_is_suggested),
        cmocka_unit_test (what_is_missing_or_too_much_is_named),
        cmocka_unit_test (a_value_of_the_wrong_form_is_quoted),
        cmocka_unit_test (a_timeout_is_in_seconds_and_may_have_a_fraction),
        cmocka_unit_test (a_time_and_a_size_are_written_as_in_the_configuration_too),
        cmocka_unit_test (with_help_nothing_has_to_be_complete),
        cmocka_unit_test (what_stood_before_a_mistake_was_read),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
