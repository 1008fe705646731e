//  Whole commands against a house that answers by a script.
//  SPDX-License-Identifier: Apache-2.0
#include "client/client.h"

#include "client/outcome_test.h"

#include <sys/stat.h>

static void
a_document_is_the_answer_without_do_and_id (void **state)
{
    (void)state;
    assert_command (
        "create --label notes --json",
        ROWS ({"create", "{'do':'ok','run_id':'r1','label':'notes','state':'parked'}", 0}),
        "{'run_id':'r1','label':'notes','state':'parked'}\n", 0);
    assert_command ("create", ROWS ({"create", "{'do':'ok','run_id':'r1','label':null}", 0}),
                    "r1\n", 0);
}

static void
a_log_is_read_page_by_page_and_printed_line_by_line (void **state)
{
    (void)state;
    assert_command (
        "log auditor --json",
        ROWS ({"log",
               "{'do':'ok','events':[{'id':'evt_001'},{'id':'evt_002'}],'after':2,"
               "'more':true}",
               0},
              {"log", "{'do':'ok','events':[{'id':'evt_003'}],'after':3,'more':false}", 0}),
        "{'id':'evt_001'}\n{'id':'evt_002'}\n{'id':'evt_003'}\n", 0);
    assert_command (
        "log auditor --json --limit 1",
        ROWS ({"log", "{'do':'ok','events':[{'id':'evt_001'}],'after':1,'more':true}", 0}),
        "{'id':'evt_001'}\n", 0);
}

static void
an_export_leaves_out_where_an_event_stood_in_this_store (void **state)
{
    (void)state;
    assert_command ("export auditor",
                    ROWS ({"log",
                           "{'do':'ok','events':[{'id':'evt_001','type':'t','payload':{},"
                           "'actor':'a','frame_id':null,'caused_by':null,'timestamp':'x',"
                           "'run':'r1','label':'l','seq':1,'stream':9}],'after':1,"
                           "'more':false}",
                           0}),
                    "{'id':'evt_001','type':'t','payload':{},'actor':'a','frame_id':null,"
                    "'caused_by':null,'timestamp':'x'}\n",
                    0);
}

static void
pages_of_objects_are_one_document_read_at_one_point (void **state)
{
    (void)state;
    static const struct fake_row rows[] = {
        {"objects",
         "{'do':'ok','run':'r1','at':'evt_042','objects':[{'id':'a'}],'relations':[],"
         "'next':'oa'}",
         0},
        {"objects",
         "{'do':'ok','run':'r1','at':'evt_042','objects':[{'id':'b'}],"
         "'relations':[{'id':'rel_1'}]}",
         0}};
    struct fake fake = {0};
    fake_begin (&fake, rows, 2);
    struct outcome outcome = run (fake.dir, "objects auditor --json");
    assert_int_equal (outcome.status, 0);
    assert_string_equal (outcome.out,
                         "{\"run\":\"r1\",\"at\":\"evt_042\",\"objects\":[{\"id\":\"a\"},"
                         "{\"id\":\"b\"}],\"relations\":[{\"id\":\"rel_1\"}]}\n");
    assert_true (ag_str_is (fake_field (&fake, 0, "run"), "auditor"));
    assert_true (ag_str_is (fake_field (&fake, 1, "run"), "r1@42"));
    assert_true (ag_str_is (fake_field (&fake, 1, "after"), "oa"));
    outcome_fini (&outcome);
    fake_end (&fake);
}

static void
a_tree_goes_on_after_the_last_run_it_got (void **state)
{
    (void)state;
    static const struct fake_row rows[] = {
        {"tree", "{'do':'ok','runs':[{'run':'r1'},{'run':'r12'}],'more':true}", 0},
        {"tree", "{'do':'ok','runs':[{'run':'r13'}],'more':false}", 0}};
    struct fake fake = {0};
    fake_begin (&fake, rows, 2);
    struct outcome outcome = run (fake.dir, "tree --json");
    assert_string_equal (outcome.out,
                         "{\"runs\":[{\"run\":\"r1\"},{\"run\":\"r12\"},{\"run\":\"r13\"}]}\n");
    assert_int_equal (ag_pick_uint (ag_buf_str (&fake.seen[1]), "after"), 34); //  base 32
    outcome_fini (&outcome);
    fake_end (&fake);
}

static void
an_idle_run_that_somebody_has_to_decide_about_or_that_is_spent_has_a_status_of_its_own (
    void **state)
{
    (void)state;
    static const char *const answers[] = {
        "{'do':'ok','runs':[{'run':'r1','state':'parked','approvals':[{'approval_id':'approval_001'"
        ","
        "'object_type':'x'}]}],'done':true}",
        "{'do':'ok','runs':[{'run':'r1','state':'parked','exhausted_by':'max_events',"
        "'approvals':[{'approval_id':'approval_001','object_type':'x'}]}],'done':true}",
        "{'do':'ok','runs':[{'run':'r1','state':'parked','exhausted_by':null,'approvals':[]}],"
        "'done':true}"};
    assert_command ("goal one text --wait --quiet",
                    ROWS ({"goal", "{'do':'ok','event_id':'evt_001'}", 0}, {"wait", answers[0], 0}),
                    "evt_001\n", 6);
    assert_command ("wait one --quiet --timeout 5", ROWS ({"wait", answers[1], 0}), "r1  parked\n",
                    7);
    assert_command ("wait one --quiet --timeout 5", ROWS ({"wait", answers[2], 0}), "r1  parked\n",
                    0);
}

static void
a_goal_that_a_stopped_run_takes_is_named_with_what_to_do (void **state)
{
    (void)state;
    static const struct fake_row rows[] = {
        {"goal", "{'do':'ok','event_id':'evt_007'}", 0},
        {"wait", "{'do':'ok','runs':[{'run':'r2','state':'stopped'}],'done':true}", 0}};
    struct fake fake = {0};
    fake_begin (&fake, rows, 2);
    struct outcome outcome = run (fake.dir, "goal r2 go --wait");
    assert_int_equal (outcome.status, -1);
    assert_string_equal (outcome.out, "evt_007\n");
    assert_non_null (strstr (outcome.err.text, "evt_007 is in the run, but: r2 is stopped"));
    assert_non_null (strstr (outcome.err.text, "`agsup start r2`"));
    outcome_fini (&outcome);
    fake_end (&fake);
}

static void
what_was_decided_is_said_in_one_word (void **state)
{
    (void)state;
    assert_command (
        "approve one approval_001",
        ROWS ({"approve", "{'do':'ok','approval_id':'approval_001','object_id':'x#1'}", 0}),
        "x#1\n", 0);
    assert_command ("deny one approval_001 --reason no",
                    ROWS ({"deny", "{'do':'ok','approval_id':'approval_001','object_id':null}", 0}),
                    "approval_001\n", 0);
    assert_command ("approvals --json",
                    ROWS ({"approvals", "{'do':'ok','approvals':[],'patches':[]}", 0}),
                    "{'approvals':[],'patches':[]}\n", 0);
    assert_command (
        "approvals --json",
        ROWS ({"approvals", "{'do':'ok','approvals':[1],'patches':[],'next':'ar1/a'}", 0},
              {"approvals", "{'do':'ok','approvals':[2],'patches':[3],'next':'pr1'}", 0},
              {"approvals", "{'do':'ok','approvals':[],'patches':[]}", 0}),
        "{'approvals':[1,2],'patches':[3]}\n", 0);
}

static void
exit_statuses_say_what_was_found (void **state)
{
    (void)state;
    assert_command ("failures auditor --json",
                    ROWS ({"failures", "{'do':'ok','failures':[],'after':9,'more':false}", 0}),
                    "{'failures':[]}\n", 0);
    assert_command ("failures auditor --json",
                    ROWS ({"failures",
                           "{'do':'ok','failures':[{'id':'evt_003'}],'after':9,"
                           "'more':false}",
                           0}),
                    "{'failures':[{'id':'evt_003'}]}\n", 1);
    //  nothing broke in the run, but its process does not run
    static const char stuck[] = "{'do':'ok','failures':[],'after':9,'more':false,"
                                "'state':'failed','reason':'exit status 7'}";
    assert_command ("failures auditor --json", ROWS ({"failures", stuck, 0}),
                    "{'failures':[],'state':'failed','reason':'exit status 7'}\n", 1);
    assert_command ("failures auditor --quiet", ROWS ({"failures", stuck, 0}),
                    "auditor is failed: exit status 7\n", 1);
    assert_command ("promote strict --dry-run --json",
                    ROWS ({"promote", "{'do':'ok','is_promotable':false,'conflicts':[{}]}", 0}),
                    "{'is_promotable':false,'conflicts':[{}]}\n", 5);
    assert_command ("promote strict --json",
                    ROWS ({"promote", "{'do':'ok','is_promotable':true,'conflicts':[]}", 0}),
                    "{'is_promotable':true,'conflicts':[]}\n", 0);
    assert_command (
        "verify --json",
        ROWS ({"verify", "{'do':'ok','ok':true,'runs':[],'seen':7,'done':false}", 0},
              {"verify", "{'do':'ok','ok':false,'runs':[{'run':'r1'}],'next':1,'done':true}", 0},
              {"verify", "{'do':'ok','ok':true,'runs':[{'run':'r2'}],'done':true}", 0}),
        "{'ok':false,'runs':[{'run':'r1'},{'run':'r2'}]}\n", 4);
}

static void
a_replay_asks_until_it_is_done_and_a_divergence_is_exit_5 (void **state)
{
    (void)state;
    assert_command ("replay one --strict --json",
                    ROWS ({"replay", "{'do':'ok','run':'r1','seen':1,'until':9,'done':false}", 0},
                          {"replay", "{'do':'ok','run':'r1','done':true,'divergence':null}", 0}),
                    "{'run':'r1','divergence':null}\n", 0);
    assert_command (
        "replay one --strict --json",
        ROWS ({"replay", "{'do':'ok','run':'r1','done':true,'divergence':{'path':'type'}}", 0}),
        "{'run':'r1','divergence':{'path':'type'}}\n", 5);
}

static void
a_strict_replay_is_of_a_whole_run (void **state)
{
    (void)state;
    struct fake fake = {0};
    fake_begin (&fake, NULL, 0);
    struct outcome outcome = run (fake.dir, "replay notes@1 --strict");
    assert_int_equal (outcome.status, -1);
    assert_int_equal (outcome.err.code, AG_E_USAGE);
    assert_non_null (strstr (outcome.err.text, "notes@1"));
    assert_int_equal (fake.seen_count, 0);
    outcome_fini (&outcome);
    fake_end (&fake);
}

static void
a_discarded_fork_is_waited_for_by_its_run_id (void **state)
{
    (void)state;
    static const struct fake_row rows[] = {
        {"discard", "{'do':'ok','run':'r2','state':'discarded'}", 0},
        {"wait", "{'do':'ok','runs':[],'done':false}", 0},
        {"wait", "{'do':'ok','runs':[],'done':true}", 0}};
    struct fake fake = {0};
    fake_begin (&fake, rows, 3);
    struct outcome outcome = run (fake.dir, "discard try --json");
    assert_string_equal (outcome.out, "[{\"run\":\"r2\",\"state\":\"discarded\"}]\n");
    struct ag_str id = {0};
    assert_int_equal (ag_list_nth (ag_pick (ag_buf_str (&fake.seen[2]), "runs"), 0, &id), 0);
    assert_int_equal (ag_kind_of (id), AG_TEXT);
    assert_non_null (memmem (id.p, id.n, "r2", 2));
    outcome_fini (&outcome);
    fake_end (&fake);
}

//  Write the lines to a file and apply it.
static struct outcome
apply (struct fake *fake, const char *options, const char *lines)
{
    char path[] = "/tmp/agsup-ops-XXXXXX";
    int fd = mkstemp (path);
    assert_true (write (fd, lines, strlen (lines)) == (ssize_t)strlen (lines));
    close (fd);
    char *line = ag_xprintf ("apply notes %s %s", path, options);
    struct outcome outcome = run (fake->dir, line);
    unlink (path);
    free (line);
    return outcome;
}

static void
apply_sends_all_lines_as_one_list (void **state)
{
    (void)state;
    static const struct fake_row rows[] = {
        {"apply", "{'do':'ok','run':'r1','ids':['task#1',null]}", 0}};
    struct fake fake = {0};
    fake_begin (&fake, rows, 1);
    struct outcome outcome =
        apply (&fake, "", "{\"op\":\"add_object\",\"type\":\"task\"}\n\n{\"op\":\"emit\"}\r\n");
    assert_int_equal (outcome.status, 0);
    assert_string_equal (outcome.out, "task#1\n");
    assert_int_equal (ag_items_count (ag_buf_str (&fake.seen[0]), "ops"), 2);
    outcome_fini (&outcome);
    fake_end (&fake);
}

static void
apply_each_sends_one_batch_a_line_under_child_ids (void **state)
{
    (void)state;
    static const struct fake_row rows[] = {{"apply", "{'do':'ok','ids':['a#1']}", 0},
                                           {"apply", "{'do':'ok','ids':['a#2']}", 0}};
    struct fake fake = {0};
    fake_begin (&fake, rows, 2);
    struct outcome outcome =
        apply (&fake, "--each --request-id q --json", "{\"op\":1}\n{\"op\":2}\n");
    assert_string_equal (outcome.out, "{\"ids\":[\"a#1\"]}\n{\"ids\":[\"a#2\"]}\n");
    assert_true (ag_str_is (fake_field (&fake, 0, "id"), "q/1"));
    assert_true (ag_str_is (fake_field (&fake, 1, "id"), "q/2"));
    assert_int_equal (ag_items_count (ag_buf_str (&fake.seen[1]), "ops"), 1);
    outcome_fini (&outcome);
    fake_end (&fake);
}

static void
a_line_that_is_no_json_is_named_and_nothing_is_sent (void **state)
{
    (void)state;
    struct fake fake = {0};
    fake_begin (&fake, NULL, 0);
    struct outcome outcome = apply (&fake, "", "{}\n{\"op\":}\n");
    assert_int_equal (outcome.status, -1);
    assert_non_null (strstr (outcome.err.text, "line 2"));
    assert_int_equal (fake.seen_count, 0);
    outcome_fini (&outcome);
    outcome = apply (&fake, "", "\n\n");
    assert_int_equal (outcome.err.code, AG_E_USAGE);
    outcome_fini (&outcome);
    fake_end (&fake);
}

//  A line without an end, and a pipe into which nobody writes.
static void
what_is_read_for_a_command_has_an_end (void **state)
{
    (void)state;
    struct fake fake = {0};
    fake_begin (&fake, NULL, 0);
    char *pipe = ag_xprintf ("%s/pipe", fake.dir);
    static const char *const commands[] = {"apply notes", "import"};
    assert_int_equal (mkfifo (pipe, 0600), 0);
    alarm (30);
    for (size_t i = 0; i < 2 * sizeof commands / sizeof *commands; i++) {
        char *line =
            ag_xprintf ("--timeout 0.1 %s %s", commands[i / 2], i % 2 ? pipe : "/dev/zero");
        struct outcome outcome = run (fake.dir, line);
        assert_int_equal (outcome.status, -1);
        assert_int_equal (outcome.err.code, i % 2 ? AG_E_TIMEOUT : AG_E_TOO_LARGE);
        outcome_fini (&outcome);
        free (line);
    }
    alarm (0);
    assert_int_equal (fake.seen_count, 0);
    unlink (pipe);
    free (pipe);
    fake_end (&fake);
}

static void
tell_takes_an_object_only (void **state)
{
    (void)state;
    struct fake fake = {0};
    fake_begin (&fake, NULL, 0);
    struct outcome outcome = run (fake.dir, "tell notes note.written [1]");
    assert_int_equal (outcome.status, -1);
    assert_int_equal (outcome.err.code, AG_E_BAD_VALUE);
    outcome_fini (&outcome);
    fake_end (&fake);
}

static void
a_fork_gathers_settings_by_pack_and_carries_packs_whole (void **state)
{
    (void)state;
    static const struct fake_row rows[] = {{"fork", "{'do':'ok','run_id':'r2'}", 0}};
    char dir[] = "/tmp/agsup-pack-XXXXXX";
    struct fake fake = {0};
    assert_non_null (mkdtemp (dir));
    char *make =
        ag_xprintf ("cd %s && mkdir -p lib/__pycache__ .git && echo -n b > main.lua && "
                    "echo -n a > lib/a.lua && touch .hidden lib/x.pyc lib/__pycache__/y .git/z",
                    dir);
    assert_int_equal (system (make), 0);
    fake_begin (&fake, rows, 1);
    char *line = ag_xprintf (
        "fork a@evt_042 --set p.x=1 --set q.y=no --set p.z.w={\"k\":[]} --pack %s", dir);
    struct outcome outcome = run (fake.dir, line);
    assert_string_equal (outcome.out, "r2\n");
    struct ag_str request = ag_buf_str (&fake.seen[0]);
    struct ag_buf set = value_of ("{'p':{'x':1,'z.w':{'k':[]}},'q':{'y':'no'}}");
    assert_true (ag_value_equal (ag_pick (request, "set"), ag_buf_str (&set)));
    struct ag_items packs = ag_items (request, "packs"), files;
    struct ag_str pack, file;
    assert_true (ag_items_next (&packs, &pack));
    files = ag_items (pack, "files");
    assert_int_equal (files.left, 2);
    assert_true (ag_items_next (&files, &file) &&
                 ag_str_is (ag_pick_text (file, "path"), "lib/a.lua"));
    assert_true (ag_items_next (&files, &file) &&
                 ag_str_is (ag_pick_text (file, "path"), "main.lua"));
    ag_buf_fini (&set);
    outcome_fini (&outcome);
    fake_end (&fake);
    char *remove = ag_xprintf ("rm -rf %s", dir);
    assert_int_equal (system (remove), 0);
    free (remove);
    free (line);
    free (make);
}

#define PIN "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void
a_pin_goes_with_the_files_and_what_is_none_goes_nowhere (void **state)
{
    (void)state;
    static const struct fake_row rows[] = {{"pack_load", "{'do':'ok','event_id':'evt_007'}", 0}};
    char dir[] = "/tmp/agsup-pack-XXXXXX";
    struct fake fake = {0};
    struct ag_str pack;
    assert_non_null (mkdtemp (dir));
    char *make = ag_xprintf ("echo -n b > %s/main.lua", dir),
         *remove = ag_xprintf ("rm -r %s", dir);
    char *good = ag_xprintf ("pack load a %s --pin " PIN, dir),
         *bad = ag_xprintf ("pack load a %s --pin sha256:12", dir);
    assert_int_equal (system (make), 0);
    fake_begin (&fake, rows, 1);
    struct outcome outcome = run (fake.dir, bad);
    assert_int_equal (outcome.err.code, AG_E_USAGE);
    assert_int_equal (fake.seen_count, 0);
    outcome_fini (&outcome);
    outcome = run (fake.dir, good);
    assert_string_equal (outcome.out, "evt_007\n");
    struct ag_items packs = ag_items (ag_buf_str (&fake.seen[0]), "packs");
    assert_true (ag_items_next (&packs, &pack) && ag_str_is (ag_pick_text (pack, "pin"), PIN));
    outcome_fini (&outcome);
    fake_end (&fake);
    assert_int_equal (system (remove), 0);
    free (make);
    free (remove);
    free (good);
    free (bad);
}

static void
packs_are_listed_loaded_and_disabled (void **state)
{
    (void)state;
    char dir[] = "/tmp/agsup-pack-XXXXXX";
    assert_non_null (mkdtemp (dir));
    char *make = ag_xprintf ("echo -n b > %s/main.lua", dir),
         *remove = ag_xprintf ("rm -r %s", dir);
    char *load = ag_xprintf ("pack load a %s", dir), *again = ag_xprintf ("%s --json", load);
    assert_int_equal (system (make), 0);
    assert_command ("pack list a --json", ROWS ({"packs", "{'do':'ok','packs':[]}", 0}),
                    "{'packs':[]}\n", 0);
    assert_command (load, ROWS ({"pack_load", "{'do':'ok','event_id':'evt_007'}", 0}), "evt_007\n",
                    0);
    assert_command (again, ROWS ({"pack_load", "{'do':'ok','event_id':null}", 0}),
                    "{'event_id':null}\n", 0);
    assert_command ("pack disable a p --json",
                    ROWS ({"pack_disable", "{'do':'ok','disabled':true}", 0}),
                    "{'disabled':true}\n", 0);
    assert_command ("pack disable a p", ROWS ({"pack_disable", "{'do':'ok','disabled':false}", 0}),
                    "", 0);
    assert_int_equal (system (remove), 0);
    free (make);
    free (remove);
    free (load);
    free (again);
}

static void
several_forks_are_a_list (void **state)
{
    (void)state;
    assert_command ("fork a --count 2 --json",
                    ROWS ({"fork", "{'do':'ok','forks':[{'run_id':'r2'},{'run_id':'r3'}]}", 0}),
                    "[{'run_id':'r2'},{'run_id':'r3'}]\n", 0);
    assert_command ("fork a --count 2",
                    ROWS ({"fork", "{'do':'ok','forks':[{'run_id':'r2'},{'run_id':'r3'}]}", 0}),
                    "r2\nr3\n", 0);
}

static void
output_is_read_to_its_end_and_printed_as_it_is (void **state)
{
    (void)state;
    assert_command ("output auditor",
                    ROWS ({"output", "{'do':'ok','text':'one\\u001b\\n','after':5}", 0},
                          {"output", "{'do':'ok','text':'two\\n','after':9}", 0},
                          {"output", "{'do':'ok','text':'','after':9}", 0}),
                    "one\033\ntwo\n", 0);
}

//  `tail` against these answers to `events`, after a status that names the fake's monitor socket; the
//  house leaves when all is answered.
static struct outcome
tail (struct fake *fake, const char *line, const char *const *answers, size_t count)
{
    struct fake_row rows[8] = {{"status", NULL, 0}};
    char status[300];
    for (size_t i = 0; i < count; i++)
        rows[i + 1] = (struct fake_row){"events", answers[i], 0};
    rows[0].answer = status;
    fake->leaves = true;
    fake_begin (fake, rows, count + 1);
    snprintf (status, sizeof status, "{'do':'ok','stream':10,'sockets':{'monitor':'ipc://%s'}}",
              fake->home.monitor);
    struct outcome outcome = run (fake->dir, line);
    assert_int_equal (outcome.status, -1);
    assert_int_equal (outcome.err.code, AG_E_NO_SUPERVISOR);
    pthread_join (fake->thread, NULL);
    fake->joined = true;
    return outcome;
}

static uint64_t
asked_after (const struct fake *fake, size_t i)
{
    return ag_pick_uint (ag_buf_str (&fake->seen[i]), "after");
}

static void
tail_reads_the_log_when_there_is_a_hint_and_prints_each_event_once (void **state)
{
    (void)state;
    static const char *const answers[] = {
        "{'do':'ok','store':'s','events':[],'after':10,'stream':10,'more':false}",
        "{'do':'ok','store':'s','events':[{'stream':11}],'after':11,'stream':12,'more':true}",
        "{'do':'ok','store':'s','events':[{'stream':12}],'after':12,'stream':12,'more':false}"};
    struct fake fake = {.beat = "{'store':'s','epoch':1,'stream':12}"};
    struct outcome outcome = tail (&fake, "tail --json", answers, 3);
    assert_string_equal (outcome.out, "{\"stream\":11}\n{\"stream\":12}\n");
    assert_int_equal (asked_after (&fake, 2), 10);
    assert_int_equal (asked_after (&fake, 3), 11);
    outcome_fini (&outcome);
    fake_end (&fake);
}

static void
tail_starts_over_in_another_store (void **state)
{
    (void)state;
    static const char *const answers[] = {
        "{'do':'ok','store':'s','events':[{'stream':11}],'after':11,'stream':11,'more':false}",
        "{'do':'ok','store':'t','events':[],'after':11,'stream':20,'more':false}",
        "{'do':'ok','store':'t','events':[{'stream':1}],'after':20,'stream':20,'more':false}"};
    struct fake fake = {.beat = "{'store':'t','epoch':1,'stream':20}"};
    struct outcome outcome = tail (&fake, "tail --json --after 10 --quiet", answers, 3);
    assert_string_equal (outcome.out, "{\"stream\":11}\n{\"stream\":1}\n");
    assert_int_equal (asked_after (&fake, 2), 11);
    assert_int_equal (asked_after (&fake, 3), 0);
    outcome_fini (&outcome);
    fake_end (&fake);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_document_is_the_answer_without_do_and_id),
        cmocka_unit_test (a_log_is_read_page_by_page_and_printed_line_by_line),
        cmocka_unit_test (an_export_leaves_out_where_an_event_stood_in_this_store),
        cmocka_unit_test (pages_of_objects_are_one_document_read_at_one_point),
        cmocka_unit_test (a_tree_goes_on_after_the_last_run_it_got),
        cmocka_unit_test (
            an_idle_run_that_somebody_has_to_decide_about_or_that_is_spent_has_a_status_of_its_own),
        cmocka_unit_test (what_was_decided_is_said_in_one_word),
        cmocka_unit_test (exit_statuses_say_what_was_found),
        cmocka_unit_test (a_replay_asks_until_it_is_done_and_a_divergence_is_exit_5),
        cmocka_unit_test (a_strict_replay_is_of_a_whole_run),
        cmocka_unit_test (a_discarded_fork_is_waited_for_by_its_run_id),
        cmocka_unit_test (a_goal_that_a_stopped_run_takes_is_named_with_what_to_do),
        cmocka_unit_test (apply_sends_all_lines_as_one_list),
        cmocka_unit_test (apply_each_sends_one_batch_a_line_under_child_ids),
        cmocka_unit_test (a_line_that_is_no_json_is_named_and_nothing_is_sent),
        cmocka_unit_test (what_is_read_for_a_command_has_an_end),
        cmocka_unit_test (tell_takes_an_object_only),
        cmocka_unit_test (a_fork_gathers_settings_by_pack_and_carries_packs_whole),
        cmocka_unit_test (a_pin_goes_with_the_files_and_what_is_none_goes_nowhere),
        cmocka_unit_test (packs_are_listed_loaded_and_disabled),
        cmocka_unit_test (several_forks_are_a_list),
        cmocka_unit_test (output_is_read_to_its_end_and_printed_as_it_is),
        cmocka_unit_test (tail_reads_the_log_when_there_is_a_hint_and_prints_each_event_once),
        cmocka_unit_test (tail_starts_over_in_another_store),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
