//  SPDX-License-Identifier: Apache-2.0
#include "client/help.h"

#include "client/capture_test.h"
#include "client/pick.h"
#include "client/reference.h"

#include <sys/wait.h>

static char *
overview (void)
{
    struct capture capture = capture_begin();
    ag_help_overview (&(struct ag_look){0}, stdout);
    return capture_end (&capture);
}

static void
the_overview_names_every_command_under_its_title (void **state)
{
    (void)state;
    char *text = overview();
    for (int cmd = 0; cmd < AG_CMDS; cmd++) {
        const struct ag_command *command = ag_command ((enum ag_cmd)cmd);
        if (command->stage == AG_STAGE_SHARED)
            continue;
        assert_contains (text, command->words);
        assert_contains (text, command->summary);
        assert_contains (text, ag_command_group (command->cmd));
    }
    free (text);
}

static void
help_of_a_command_begins_with_its_examples_and_holds_its_options (void **state)
{
    (void)state;
    for (int cmd = 0; cmd < AG_CMDS; cmd++) {
        const struct ag_command *command = ag_command ((enum ag_cmd)cmd);
        if (command->stage == AG_STAGE_SHARED)
            continue;
        struct capture capture = capture_begin();
        ag_help_command (&(struct ag_look){0}, command, stdout);
        char *text = capture_end (&capture);
        assert_true (strstr (text, command->examples->line) < strstr (text, "Usage"));
        for (const struct ag_param *opt = command->opts; opt->name; opt++)
            assert_contains (text, opt->word);
        free (text);
    }
}

static void
every_topic_has_a_page_under_its_title (void **state)
{
    (void)state;
    const char *topic, *title;
    char *all = overview();
    for (size_t i = 0; (topic = ag_reference_topic (i, &title)); i++) {
        struct capture capture = capture_begin();
        assert_true (ag_reference (topic, stdout));
        char *text = capture_end (&capture);
        assert_contains (text, title);
        assert_contains (all, topic);
        free (text);
    }
    assert_false (ag_reference ("fork", stdout)); //  a command
    free (all);
}

static void
the_pages_hold_what_the_tables_say (void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"configuration", "- `open_files`: a number, 16 to 65536; `256` unless said."},
        {"configuration", "- `seccomp`: one of standard, strict, off; `standard` unless said."},
        {"events", "- `goal.created` (of the supervisor, or asked for by a command"},
        {"events", "- `trial.*`"},
        {"operations", "- `source` (needed): The object it starts at."},
        {"errors", "- `busy`, exit status 75, worth repeating."},
        {"messages", "- `label`: text, at most 64 bytes."},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct capture capture = capture_begin();
        ag_reference (rows[i][0], stdout);
        char *text = capture_end (&capture);
        assert_contains (text, rows[i][1]);
        free (text);
    }
}

//  Words of an example up to what is the shell's; quotes group words.
static int
split (char *text, char **argv)
{
    int argc = 0;
    for (char *p = text; *p && !strchr ("|<>&", *p) && argc < 30;) {
        char quote = *p == '\'' || *p == '"' ? *p++ : ' ';
        argv[argc++] = p;
        while (*p && *p != quote)
            p++;
        if (*p)
            *p++ = 0;
        while (*p == ' ')
            p++;
    }
    return argc;
}

static void
every_command_has_examples_that_parse (void **state)
{
    (void)state;
    for (int cmd = 0; cmd < AG_CMDS; cmd++) {
        const struct ag_command *command = ag_command ((enum ag_cmd)cmd);
        if (command->stage == AG_STAGE_SHARED)
            continue;
        assert_non_null (command->examples->line);
        for (const struct ag_example *example = command->examples; example->line; example++) {
            const char *from = strstr (example->line, "agsup ");
            char *text = ag_xstrdup (from), *argv[32];
            text[strcspn (text, ")")] = 0;
            struct ag_call call;
            struct ag_err err;
            int argc = split (text, argv);
            if (ag_parse (argc, argv, &call, &err))
                fail_msg ("%s: %s", example->line, err.text);
            assert_ptr_equal (call.command, command);
            ag_call_fini (&call);
            free (text);
        }
    }
}

//  What a reader in trouble is told to type is a command.
static void
what_the_hint_of_an_error_says_to_type_parses (void **state)
{
    (void)state;
    int found = 0;
    for (int code = 1; code < AG_CODES; code++) {
        const char *hint = ag_code_hint ((enum ag_code)code);
        for (const char *at = hint; (at = strstr (at, "`agsup ")); at++, found++) {
            char *text = ag_xstrdup (at + 1), *argv[32];
            struct ag_call call;
            struct ag_err err;
            text[strcspn (text, "`")] = 0;
            if (ag_parse (split (text, argv), argv, &call, &err))
                fail_msg ("%s: %s", hint, err.text);
            ag_call_fini (&call);
            free (text);
        }
    }
    assert_true (found > 20);
}

//  For people who read, each sentence of the table looks alike.
static void
sentences_begin_with_a_capital_and_end_without_a_point (void **state)
{
    (void)state;
    for (int cmd = 0; cmd < AG_CMDS; cmd++) {
        const char *summary = ag_command ((enum ag_cmd)cmd)->summary;
        assert_true (*summary >= 'A' && *summary <= 'Z');
        assert_true (summary[strlen (summary) - 1] != '.');
    }
}

static void
help_for_programs_holds_the_same (void **state)
{
    (void)state;
    struct ag_buf out = {0};
    struct ag_str command;
    int count = 0, expected = 0;
    ag_help_value (NULL, &out);
    for (int cmd = 0; cmd < AG_CMDS; cmd++)
        expected += ag_command ((enum ag_cmd)cmd)->stage != AG_STAGE_SHARED;
    for (struct ag_items items = ag_items (ag_buf_str (&out), "commands");
         ag_items_next (&items, &command); count++)
        if (ag_str_is (ag_pick_text (command, "command"), "fork")) {
            assert_int_equal (ag_items_count (command, "arguments"), 1);
            assert_int_equal (ag_items_count (command, "options"), 9);
            assert_true (ag_pick_bool (command, "changes"));
        }
    assert_int_equal (count, expected);
    assert_int_equal (ag_items_count (ag_buf_str (&out), "errors"), AG_CODES - 1);
    ag_buf_fini (&out);
}

static void
help_of_apply_holds_every_operation_with_its_fields (void **state)
{
    (void)state;
    struct capture capture = capture_begin();
    ag_help_command (&(struct ag_look){0}, ag_command (AG_CMD_apply), stdout);
    char *text = capture_end (&capture);
    struct ag_buf out = {0};
    struct ag_str operation, field;
    int fields = 0;
    ag_help_value (NULL, &out);
    for (struct ag_items items = ag_items (ag_buf_str (&out), "operations");
         ag_items_next (&items, &operation);) {
        char *name = ag_str_dup (ag_pick_text (operation, "op"));
        char *at = strstr (text, name);
        assert_non_null (at);
        for (struct ag_items of = ag_items (operation, "fields"); ag_items_next (&of, &field);
             fields++) {
            char *help = ag_str_dup (ag_pick_text (field, "help"));
            assert_contains (at, help);
            free (help);
        }
        free (name);
    }
    assert_true (fields > 10);
    assert_contains (text, "      source               The object it starts at (needed)\n");
    assert_contains (text, "where \"@NAME\" stands for its id\n");
    ag_buf_fini (&out);
    free (text);
}

static void
a_colour_is_only_there_when_asked_for (void **state)
{
    (void)state;
    struct capture capture = capture_begin();
    ag_help_overview (&(struct ag_look){.color = true}, stdout);
    char *coloured = capture_end (&capture), *plain = overview();
    assert_non_null (strchr (coloured, '\033'));
    assert_null (strchr (plain, '\033'));
    free (coloured);
    free (plain);
}

//  The exit status of a shell that reads the script of this name.
static int
run_shell (const char *shell, const char *format, const char *script)
{
    char *line = ag_xprintf (format, script), *argv[] = {(char *)shell, "-c", line, NULL};
    pid_t pid = fork();
    if (pid == 0) {
        execvp (shell, argv);
        _exit (126);
    }
    int status = -1;
    waitpid (pid, &status, 0);
    free (line);
    return WIFEXITED (status) ? WEXITSTATUS (status) : -1;
}

static void
completes (const char *shell, const char *format)
{
    char path[] = "/tmp/agsup-completion-XXXXXX";
    FILE *out = fdopen (mkstemp (path), "w");
    assert_non_null (out);
    ag_completion (shell, out);
    fclose (out);
    int rc = run_shell (shell, format, path);
    unlink (path);
    if (rc == 126)
        skip();
    assert_int_equal (rc, 0);
}

static void
bash_completes_commands_options_and_choices (void **state)
{
    (void)state;
    completes ("bash", "set -e; . %s; COMP_WORDS=(agsup sta); COMP_CWORD=1; _agsup; "
                       "[ \"${COMPREPLY[*]}\" = 'status start' ]; "
                       "COMP_WORDS=(agsup -c f fork x --eff); COMP_CWORD=5; _agsup; "
                       "[ \"${COMPREPLY[*]}\" = --effects ]; "
                       "COMP_WORDS=(agsup pac); COMP_CWORD=1; _agsup; "
                       "[ \"${COMPREPLY[*]}\" = pack ]; "
                       "COMP_WORDS=(agsup --json pack h); COMP_CWORD=3; _agsup; "
                       "[ \"${COMPREPLY[*]}\" = hash ]; "
                       "COMP_WORDS=(agsup pack check --js); COMP_CWORD=3; _agsup; "
                       "[ \"${COMPREPLY[*]}\" = --json ]; "
                       "agsup() { [ \"$*\" = '--json --timeout 2 --home h tree' ] && echo "
                       "'{\"runs\":[{\"run\":\"r1\",\"label\":\"auditor\",\"parent_run_id\":null},"
                       "{\"run\":\"r2\",\"label\":null},"
                       "{\"run\":\"r3\",\"label\":\"$(echo${IFS}rs)\"},"
                       "{\"run\":\"r4\",\"label\":\"`echo${IFS}rt`\"}]}'; }; "
                       "COMP_WORDS=(agsup --home h log a); COMP_CWORD=4; _agsup; "
                       "[ \"${COMPREPLY[*]}\" = auditor ]; "
                       "COMP_WORDS=(agsup --home h fork r); COMP_CWORD=4; _agsup; "
                       "[ \"${COMPREPLY[*]}\" = 'r1 r2 r3 r4' ]; "
                       "COMP_WORDS=(agsup --home h init r1); COMP_CWORD=4; _agsup || true; "
                       "[ \"${COMPREPLY[*]}\" = '' ]; "
                       "COMP_WORDS=(agsup fork --effects l); COMP_CWORD=3; _agsup; "
                       "[ \"${COMPREPLY[*]}\" = live ]");
}

static void
zsh_reads_its_script (void **state)
{
    (void)state;
    completes ("zsh", "zsh -n %s");
}

static void
fish_reads_its_script (void **state)
{
    (void)state;
    completes ("fish", "fish -n %s");
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (the_overview_names_every_command_under_its_title),
        cmocka_unit_test (help_of_a_command_begins_with_its_examples_and_holds_its_options),
        cmocka_unit_test (every_topic_has_a_page_under_its_title),
        cmocka_unit_test (the_pages_hold_what_the_tables_say),
        cmocka_unit_test (every_command_has_examples_that_parse),
        cmocka_unit_test (what_the_hint_of_an_error_says_to_type_parses),
        cmocka_unit_test (sentences_begin_with_a_capital_and_end_without_a_point),
        cmocka_unit_test (help_for_programs_holds_the_same),
        cmocka_unit_test (help_of_apply_holds_every_operation_with_its_fields),
        cmocka_unit_test (a_colour_is_only_there_when_asked_for),
        cmocka_unit_test (bash_completes_commands_options_and_choices),
        cmocka_unit_test (zsh_reads_its_script),
        cmocka_unit_test (fish_reads_its_script),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
