//  A fleet from nothing to its end: init, check, up, down.
//  SPDX-License-Identifier: Apache-2.0
#include "client/client.h"

#include "client/outcome_test.h"
#include "common/group.h"

static void
down_ends_when_nobody_holds_the_home (void **state)
{
    (void)state;
    static const struct fake_row rows[] = {{"down", "{'do':'ok','proof':'walk'}", 0}};
    struct fake fake = {.leaves = true};
    fake_begin (&fake, rows, 1);
    struct outcome outcome = run (fake.dir, "down --json");
    assert_int_equal (outcome.status, 0);
    assert_string_equal (outcome.out, "{\"proof\":\"walk\"}\n");
    outcome_fini (&outcome);
    outcome = run (fake.dir, "down");
    assert_int_equal (outcome.err.code, AG_E_NO_SUPERVISOR);
    outcome_fini (&outcome);
    fake_end (&fake);
}

//  The answer was lost, the house is gone all the same.
static void
a_down_whose_answer_was_lost_is_done (void **state)
{
    (void)state;
    static const struct fake_row rows[] = {{"down", NULL, 0}};
    struct fake fake = {.leaves = true};
    fake_begin (&fake, rows, 1);
    struct outcome outcome = run (fake.dir, "down --quiet");
    assert_int_equal (outcome.status, 0);
    outcome_fini (&outcome);
    fake_end (&fake);
}

static void
a_house_that_stands_is_not_started_again (void **state)
{
    (void)state;
    struct fake fake = {0};
    fake_begin (&fake, NULL, 0);
    char *config = ag_xprintf ("%s/agsup.toml", fake.dir);
    FILE *out = fopen (config, "w");
    fclose (out);
    char *line = ag_xprintf ("-c %s up --detach", config);
    struct outcome outcome = run (fake.dir, line);
    assert_int_equal (outcome.status, -1);
    assert_int_equal (outcome.err.code, AG_E_RUNNING);
    outcome_fini (&outcome);
    free (line);
    free (config);
    fake_end (&fake);
}

//  An agsupd that ends at once, in front of PATH: its last words and its exit status become the error. It would
//  say something else if it had been given a descriptor that whoever called us holds open.
static void
a_fleet_that_does_not_get_up_says_why (void **state)
{
    (void)state;
    char dir[] = "/tmp/agsup-up-XXXXXX";
    assert_non_null (mkdtemp (dir));
    char *make = ag_xprintf ("cd %s && touch agsup.toml && printf '#!/bin/sh\\n[ -e /proc/$$/fd/77 "
                             "] && exit 1\\necho no key $2 $4 >&2; exit 78' "
                             "> agsupd && chmod +x agsupd",
                             dir);
    assert_int_equal (system (make), 0);
    char *path = ag_xstrdup (getenv ("PATH")), *mine = ag_xprintf ("%s:%s", dir, path);
    char *home = ag_xprintf ("%s/home", dir),
         *line = ag_xprintf ("-c %s/agsup.toml up --detach", dir);
    setenv ("PATH", mine, 1);
    assert_int_equal (dup2 (STDERR_FILENO, 77), 77);
    struct outcome outcome = run (home, line);
    close (77);
    setenv ("PATH", path, 1);
    char *said = ag_xprintf ("no key %s %s/agsup.toml", home, dir);
    assert_int_equal (outcome.status, -1);
    assert_int_equal (outcome.err.code, AG_E_CONFIG);
    assert_contains (outcome.err.text, said);
    char *remove = ag_xprintf ("rm -rf %s", dir);
    assert_int_equal (system (remove), 0);
    outcome_fini (&outcome);
    char *all[] = {make, path, mine, home, line, said, remove};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free (all[i]);
}

static void
init_makes_a_fleet_that_check_finds_valid_and_never_writes_over (void **state)
{
    (void)state;
    char dir[] = "/tmp/agsup-init-XXXXXX";
    assert_non_null (mkdtemp (dir));
    char *init = ag_xprintf ("init %s/fleet --quiet", dir);
    char *check = ag_xprintf ("-c %s/fleet/agsup.toml check --json", dir);
    struct outcome outcome = run ("/nowhere", init);
    assert_int_equal (outcome.status, 0);
    outcome_fini (&outcome);
    outcome = run ("/nowhere", check);
    if (outcome.status)
        fail_msg ("%s", outcome.err.text);
    assert_contains (outcome.out, "\"agents\":[\"hello\"]");
    outcome_fini (&outcome);
    outcome = run ("/nowhere", init);
    assert_int_equal (outcome.status, -1);
    assert_int_equal (outcome.err.code, AG_E_EXISTS);
    outcome_fini (&outcome);
    char *remove = ag_xprintf ("rm -rf %s", dir);
    assert_int_equal (system (remove), 0);
    free (remove);
    free (init);
    free (check);
}

static void
check_lists_every_problem_beside_the_error (void **state)
{
    (void)state;
    char path[] = "/tmp/agsup-conf-XXXXXX.toml";
    int fd = mkstemps (path, 5);
    static const char text[] = "version = 1\n[agent.a]\nfoo = 1\nbar = 2\n";
    assert_true (write (fd, text, strlen (text)) == (ssize_t)strlen (text));
    close (fd);
    char *line = ag_xprintf ("-c %s check --json", path);
    struct outcome outcome = run ("/nowhere", line);
    struct ag_buf document = {0};
    struct ag_err err;
    assert_int_equal (outcome.status, 78);
    assert_int_equal (ag_json_read (ag_str (outcome.out), &document, &err), 0);
    assert_true (
        ag_str_is (ag_pick_text (ag_pick (ag_buf_str (&document), "error"), "code"), "config"));
    assert_true (ag_items_count (ag_buf_str (&document), "problems") >= 2);
    ag_buf_fini (&document);
    outcome_fini (&outcome);
    free (line);
    unlink (path);
}

static void
check_refuses_settings_of_a_pack_that_the_agent_does_not_have (void **state)
{
    (void)state;
    char dir[] = "/tmp/agsup-init-XXXXXX";
    assert_non_null (mkdtemp (dir));
    char *init = ag_xprintf ("init %s", dir), *check = ag_xprintf ("-c %s/agsup.toml check", dir),
         *spoil = ag_xprintf ("echo 'settings = { hlelo = { x = 1 } }' >> %s/agsup.toml", dir),
         *remove = ag_xprintf ("rm -rf %s", dir);
    struct outcome outcome = run ("/nowhere", init);
    assert_int_equal (outcome.status, 0);
    outcome_fini (&outcome);
    assert_int_equal (system (spoil), 0);
    outcome = run ("/nowhere", check);
    assert_int_equal (outcome.status, -1);
    assert_int_equal (outcome.err.code, AG_E_CONFIG);
    outcome_fini (&outcome);
    assert_int_equal (system (remove), 0);
    free (init);
    free (check);
    free (spoil);
    free (remove);
}

static void
a_pack_is_made_whole_checked_and_hashed_without_a_fleet (void **state)
{
    (void)state;
    char dir[] = "/tmp/agsup-init-XXXXXX";
    assert_non_null (mkdtemp (dir));
    char *make = ag_xprintf ("pack new %s/hello", dir),
         *check = ag_xprintf ("pack check %s/hello --json", dir),
         *hash = ag_xprintf ("pack hash %s/hello --json", dir),
         *edit = ag_xprintf ("echo '-- more' >> %s/hello/main.lua", dir),
         *anew = ag_xprintf ("pack hash %s/hello --write", dir),
         *spoil = ag_xprintf ("printf '[pack]\\nname=\"x1\"\\nversion=\"1\"\\ndescription=\"x\"' > "
                              "%s/hello/manifest.toml; echo 'local f = io' > %s/hello/main.lua",
                              dir, dir);
    struct outcome outcome = run ("/nowhere", make);
    assert_int_equal (outcome.status, 0);
    outcome_fini (&outcome);
    outcome = run ("/nowhere", make);
    assert_int_equal (outcome.err.code, AG_E_EXISTS);
    outcome_fini (&outcome);
    outcome = run ("/nowhere", check);
    assert_string_equal (outcome.out, "{\"ok\":true}\n");
    outcome_fini (&outcome);
    assert_int_equal (system (edit), 0);
    outcome = run ("/nowhere", check);
    assert_int_equal (outcome.status, 2);
    assert_contains (outcome.out, "content_hash is not that of the files, sha256:");
    assert_contains (outcome.out, "`agsup pack hash /tmp/agsup-init-");
    outcome_fini (&outcome);
    outcome = run ("/nowhere", anew);
    assert_int_equal (outcome.status, 0);
    outcome_fini (&outcome);
    outcome = run ("/nowhere", check);
    assert_string_equal (outcome.out, "{\"ok\":true}\n");
    outcome_fini (&outcome);
    assert_int_equal (system (spoil), 0);
    outcome = run ("/nowhere", anew);
    assert_int_equal (outcome.status, -1);
    assert_contains (outcome.err.text, "manifest.toml has no pack.integrity.content_hash");
    outcome_fini (&outcome);
    outcome = run ("/nowhere", check);
    assert_int_equal (outcome.status, 2);
    assert_contains (outcome.out, "\"code\":\"pack\"");
    assert_contains (outcome.out, "\"manifest.toml:1:2: pack.provenance is missing\"");
    assert_contains (outcome.out, "\"main.lua:1:11: absent: io (");
    outcome_fini (&outcome);
    outcome = run ("/nowhere", hash);
    assert_int_equal (outcome.status, 0);
    assert_contains (outcome.out, "{\"content_hash\":\"sha256:");
    assert_contains (outcome.out, "\"files\":[\"main.lua\",\"manifest.toml\"]}");
    outcome_fini (&outcome);
    outcome = run ("/nowhere", "pack hash /no/such/folder");
    assert_int_equal (outcome.err.code, AG_E_PACK);
    outcome_fini (&outcome);
    outcome = run ("/nowhere", "pack new /tmp/agsup-not-a-name");
    assert_int_equal (outcome.err.code, AG_E_USAGE);
    outcome_fini (&outcome);
    char *remove = ag_xprintf ("rm -rf %s", dir);
    assert_int_equal (system (remove), 0);
    free (remove);
    free (make);
    free (check);
    free (hash);
    free (edit);
    free (anew);
    free (spoil);
}

static void
a_check_says_of_a_pack_that_only_a_trial_asks_for_more_than_it_has (void **state)
{
    (void)state;
    char dir[] = "/tmp/agsup-init-XXXXXX";
    assert_non_null (mkdtemp (dir));
    char *make = ag_xprintf (
             "cd %s && printf '[pack]\nname=\"bare\"\nversion=\"1\"\ndescription=\"x\"\n' "
             "> manifest.toml && echo 'local x = 1' > main.lua",
             dir),
         *check = ag_xprintf ("pack check %s", dir),
         *spoil = ag_xprintf ("echo 'local f = io' > %s/main.lua", dir),
         *hash =
             ag_xprintf ("echo '[pack.integrity]\ncontent_hash = \"x\"' >> %s/manifest.toml", dir),
         *anew = ag_xprintf ("pack hash %s --write", dir), *remove = ag_xprintf ("rm -rf %s", dir);
    assert_int_equal (system (make), 0);
    struct outcome outcome = run ("/nowhere", check);
    assert_int_equal (outcome.status, -1);
    assert_int_equal (outcome.err.code, AG_E_PACK);
    assert_contains (outcome.err.text, "an agent runs /tmp/agsup-init-");
    outcome_fini (&outcome);
    assert_int_equal (system (spoil), 0);
    outcome = run ("/nowhere", check);
    assert_contains (outcome.err.text, "is not valid, as said above");
    outcome_fini (&outcome);
    assert_int_equal (system (hash), 0);
    outcome = run ("/nowhere", anew);
    assert_contains (outcome.err.text, "content_hash is `x`, which is no hash");
    outcome_fini (&outcome);
    assert_int_equal (system (remove), 0);
    free (make);
    free (check);
    free (spoil);
    free (hash);
    free (anew);
    free (remove);
}

//  Where the nursery looks: the group of the process, wherever version 2 is mounted.
static void
doctor_says_where_control_groups_are_or_why_there_are_none (void **state)
{
    (void)state;
    char *path = NULL;
    struct outcome outcome = run ("/no/such/home", "doctor");
    assert_int_equal (outcome.status, 1);
    int fd = ag_group_open (&path);
    assert_non_null (strstr (outcome.out, fd < 0 ? "no control group (version 2): " : path));
    if (fd >= 0)
        close (fd);
    free (path);
    outcome_fini (&outcome);
}

static void
doctor_names_who_gave_up (void **state)
{
    (void)state;
    static const char answer[] =
        "{'do':'ok','agents':[{'name':'a','state':'ready'},{'name':'b','state':'failed'}],"
        "'forks':[{'label':'try','state':'failed'}]}";
    struct fake_row rows[8];
    for (size_t i = 0; i < 8; i++)
        rows[i] = (struct fake_row){"status", answer, 0};
    struct fake fake = {0};
    fake_begin (&fake, rows, 8);
    struct outcome outcome = run (fake.dir, "doctor");
    assert_int_equal (outcome.status, 1);
    assert_contains (outcome.out, "BAD  agents         failed: b, try\n");
    outcome_fini (&outcome);
    fake_end (&fake);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (down_ends_when_nobody_holds_the_home),
        cmocka_unit_test (a_down_whose_answer_was_lost_is_done),
        cmocka_unit_test (a_house_that_stands_is_not_started_again),
        cmocka_unit_test (a_fleet_that_does_not_get_up_says_why),
        cmocka_unit_test (init_makes_a_fleet_that_check_finds_valid_and_never_writes_over),
        cmocka_unit_test (check_lists_every_problem_beside_the_error),
        cmocka_unit_test (check_refuses_settings_of_a_pack_that_the_agent_does_not_have),
        cmocka_unit_test (a_check_says_of_a_pack_that_only_a_trial_asks_for_more_than_it_has),
        cmocka_unit_test (a_pack_is_made_whole_checked_and_hashed_without_a_fleet),
        cmocka_unit_test (doctor_names_who_gave_up),
        cmocka_unit_test (doctor_says_where_control_groups_are_or_why_there_are_none),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
