//  SPDX-License-Identifier: Apache-2.0
#include "common/conf.h"
#include "common/json.h"
#include "common/tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

//  Each test stands in a directory of its own, with a pack and a program in it.
static char directory[] = "/tmp/agsup-conf-XXXXXX";

static void
write_file (const char *name, const char *text, mode_t mode)
{
    FILE *file = fopen (name, "w");
    assert_non_null (file);
    assert_int_equal (fputs (text, file) < 0, 0);
    assert_int_equal (fclose (file), 0);
    assert_int_equal (chmod (name, mode), 0);
}

static int
enter (void **state)
{
    (void)state;
    strcpy (directory + sizeof directory - 7, "XXXXXX");
    assert_non_null (mkdtemp (directory));
    assert_int_equal (chdir (directory), 0);
    assert_int_equal (mkdir ("licences", 0755) | mkdir ("fleet", 0755), 0);
    write_file ("agent.py", "", 0755);
    write_file ("secret", "hush", 0600);
    write_file ("open", "hush", 0644);
    return 0;
}

static int
leave (void **state)
{
    (void)state;
    ag_tree_remove (directory);
    return chdir ("/");
}

//  The value of a configuration that is right, as JSON from the dotted path on; free it.
static char *
load_json (const char *path, const char *at)
{
    struct ag_buf value = {0}, problems = {0}, json = {0};
    struct ag_err err = {0};
    if (ag_conf_load (path, &value, &problems, &err))
        fail_msg ("%.*s", AG_STR_ARG (ag_buf_str (&problems)));
    assert_int_equal (problems.n, 0);
    struct ag_str part;
    assert_int_equal (ag_map_path (ag_buf_str (&value), ag_str (at), &part), 0);
    ag_json_write (part, AG_JSON_LINE, &json);
    char *text = ag_str_dup (ag_buf_str (&json));
    ag_buf_fini (&json);
    ag_buf_fini (&problems);
    ag_buf_fini (&value);
    return text;
}

static void
assert_json (const char *path, const char *at, const char *expected)
{
    char *text = load_json (path, at);
    assert_string_equal (text, expected);
    free (text);
}

//  Loading path gives exactly these problems and nothing else; DIR stands for the directory.
static void
assert_problems (const char *path, const char *expected)
{
    struct ag_buf value = {0}, problems = {0};
    struct ag_err err = {0};
    ag_buf_text (&value, "kept");
    assert_int_equal (ag_conf_load (path, &value, &problems, &err), -1);
    assert_int_equal (err.code, AG_E_CONFIG);
    assert_int_equal (value.n, 4);
    char *text = ag_str_dup (ag_buf_str (&problems));
    for (char *at; (at = strstr (text, directory));) {
        memcpy (at, "DIR", 3);
        memmove (at + 3, at + strlen (directory), strlen (at + strlen (directory)) + 1);
    }
    assert_string_equal (text, expected);
    free (text);
    ag_buf_fini (&problems);
    ag_buf_fini (&value);
}

static void
assert_refused (const char *text, const char *expected)
{
    write_file ("agsup.toml", text, 0644);
    assert_problems ("agsup.toml", expected);
}

//  How a caller uses it: everything has a value, whether somebody wrote it or not.
static void
a_small_fleet_becomes_a_complete_value (void **state)
{
    (void)state;
    write_file ("agsup.toml", "version = 1\n[agent.auditor]\npacks = [\"licences\"]\n", 0644);
    char *expected = ag_xprintf (
        "{\"packs\":[\"%s/"
        "licences\"],\"pins\":{},\"settings\":{},\"command\":null,\"dir\":null,\"goal\":null,"
        "\"hears\":[],\"files\":[],\"allow\":[],\"env\":{},\"isolation\":\"floor\",\"after\":[],"
        "\"nets\":{\"memory_bytes\":0,\"wall_ms\":120000,\"events\":0,\"cpu_ms\":0,\"open_files\":"
        "256,"
        "\"processes\":0,\"output_bytes\":16777216,\"file_size_bytes\":0,\"require\":[]},"
        "\"layers\":{\"seccomp\":\"standard\",\"landlock\":\"try\",\"uid\":\"try\",\"pidns\":"
        "\"off\","
        "\"netns\":\"off\",\"ipcns\":\"off\",\"mountns\":\"off\",\"cgroup\":\"try\"},"
        "\"restart\":{\"policy\":\"permanent\",\"at_most\":5,\"within_ms\":60000},\"attempts\":3,"
        "\"policy\":{},\"budget\":{\"max_events\":null,\"max_behavior_calls\":null,\"max_llm_"
        "calls\":null,\"max_tool_calls\":null,\"max_patches\":null,\"max_depth\":null,\"max_"
        "seconds\":null,\"max_cost_usd\":null}}",
        directory);
    assert_json ("agsup.toml", "agent.auditor", expected);
    free (expected);
    assert_json ("agsup.toml", "service", "{}");
    assert_json ("agsup.toml", "uids", "{\"first\":62000,\"last\":62999}");
    expected = ag_xprintf ("[\"%s/agsup.toml\"]", directory);
    assert_json ("./agsup.toml", "files", expected);
    free (expected);
}

static void
every_key_can_be_written (void **state)
{
    (void)state;
    write_file (
        "agsup.toml",
        "version = 1\n"
        "uids = \"70000-70099\"\n"
        "[agent.scout]\n"
        "command = [\"./agent.py\", \"--fast\", \"\"]\n"
        "dir = \"licences\"\n"
        "settings = { licences = { strict = 0.8, also = [1, \"x\"] } }\n"
        "goal = \"Find it\"\n"
        "hears = [{ from = \"judge\", on = \"finding.reported\" }]\n"
        "files = [\"/usr/share\", \".\"]\n"
        "allow = [\"network\"]\n"
        "env = { A = \"b\", KEY = { file = \"secret\" }, _x1 = { env = \"HOME\" } }\n"
        "isolation = \"none\"\n"
        "after = [\"model\"]\n"
        "nets = { memory = \"1GiB\", wall = 0, events = 10_000, cpu = \"250ms\", open_files = 16, "
        "processes = 8, output = \"64KiB\", file_size = \"0\", require = [\"memory\"] }\n"
        "layers = { seccomp = \"strict\", landlock = \"require\", uid = \"off\", pidns = "
        "\"require\", "
        "mountns = \"try\", cgroup = \"off\" }\n"
        "restart = { policy = \"transient\", at_most = 0, within = \"1h\" }\n"
        "attempts = 1\n"
        "budget = { max_events = 1, max_behavior_calls = 2, max_llm_calls = 3, max_tool_calls = 4, "
        "max_patches = 5, max_depth = 6, max_seconds = 7, max_cost_usd = \"1.50\" }\n"
        "[agent.scout.policy.scan]\n"
        "can_create = [\"task\"]\n"
        "can_create_relation = []\n"
        "[agent.scout.policy.\"*\"]\n"
        "can_propose = [\"a\"]\n"
        "can_apply = [\"b\"]\n"
        "can_call_tool = [\"*\"]\n"
        "requires_approval = [\"secret\"]\n"
        "[agent.judge]\n"
        "packs = [\"licences\"]\n"
        "[service.model]\n"
        "command = [\"llama-server\"]\n"
        "ready = { tcp = \"127.0.0.1:8080\", within = \"2m\" }\n",
        0644);
    char *expected = ag_xprintf (
        "{\"packs\":[],\"pins\":{},\"settings\":{\"licences\":{\"strict\":0.8,\"also\":[1,\"x\"]}},"
        "\"command\":[\"%s/./agent.py\",\"--fast\",\"\"],\"dir\":\"%s/licences\",\"goal\":\"Find "
        "it\","
        "\"hears\":[{\"from\":\"judge\",\"on\":\"finding.reported\"}],\"files\":[\"/usr/"
        "share\",\"%s\"],"
        "\"allow\":[\"network\"],\"env\":{\"A\":{\"text\":\"b\"},\"KEY\":{\"file\":\"%s/secret\"},"
        "\"_x1\":{\"env\":\"HOME\"}},\"isolation\":\"none\",\"after\":[\"model\"],"
        "\"nets\":{\"memory_bytes\":1073741824,\"wall_ms\":0,\"events\":10000,\"cpu_ms\":250,"
        "\"open_files\":16,\"processes\":8,\"output_bytes\":65536,\"file_size_bytes\":0,"
        "\"require\":[\"memory\"]},"
        "\"layers\":{\"seccomp\":\"strict\",\"landlock\":\"require\",\"uid\":\"off\",\"pidns\":"
        "\"require\","
        "\"netns\":\"off\",\"ipcns\":\"off\",\"mountns\":\"try\",\"cgroup\":\"off\"},"
        "\"restart\":{\"policy\":\"transient\",\"at_most\":0,\"within_ms\":3600000},\"attempts\":"
        "1,"
        "\"policy\":{\"scan\":{\"can_create\":[\"task\"],\"can_create_relation\":[],\"can_"
        "propose\":null,"
        "\"can_apply\":null,\"can_call_tool\":null,\"requires_approval\":null},"
        "\"*\":{\"can_create\":null,\"can_create_relation\":null,\"can_propose\":[\"a\"],"
        "\"can_apply\":[\"b\"],\"can_call_tool\":[\"*\"],\"requires_approval\":[\"secret\"]}},"
        "\"budget\":{\"max_events\":1,\"max_behavior_calls\":2,\"max_llm_calls\":3,\"max_tool_"
        "calls\":4,"
        "\"max_patches\":5,\"max_depth\":6,\"max_seconds\":7,\"max_cost_usd\":\"1.50\"}}",
        directory, directory, directory, directory);
    assert_json ("agsup.toml", "agent.scout", expected);
    free (expected);
    assert_json ("agsup.toml", "service.model.command", "[\"llama-server\"]");
    assert_json (
        "agsup.toml", "service.model.ready",
        "{\"tcp\":\"127.0.0.1:8080\",\"file\":null,\"seconds\":null,\"within_ms\":120000}");
    assert_json ("agsup.toml", "uids", "{\"first\":70000,\"last\":70099}");
}

static void
defaults_hold_where_an_agent_says_nothing (void **state)
{
    (void)state;
    write_file ("agsup.toml",
                "version = 1\n"
                "[defaults]\n"
                "nets = { memory = \"1MiB\", events = 7 }\n"
                "restart = { at_most = 2 }\n"
                "attempts = 9\n"
                "[agent.a]\n"
                "packs = [\"licences\"]\n"
                "nets = { events = 8 }\n"
                "[service.s]\n"
                "command = [\"true\"]\n",
                0644);
    assert_json ("agsup.toml", "agent.a.nets.memory_bytes", "1048576");
    assert_json ("agsup.toml", "agent.a.nets.events", "8");
    assert_json ("agsup.toml", "agent.a.attempts", "9");
    assert_json ("agsup.toml", "service.s.restart",
                 "{\"policy\":\"permanent\",\"at_most\":2,\"within_ms\":60000}");
}

static void
all_that_is_wrong_is_said_at_once (void **state)
{
    (void)state;
    assert_refused (
        "[agent.a]\n"
        "comand = [\"sh\"]\n"
        "nets = { wall = \"2 m\", memory = 5, open_files = 3, evnts = 1 }\n"
        "layers = { seccomp = \"stern\" }\n"
        "goal = \"\"\n"
        "attempts = \"three\"\n",
        "agsup.toml:1:1: version is missing\n"
        "agsup.toml:1:8: agent.a has no code: give it `packs` or a `command`\n"
        "agsup.toml:2:1: agent.a.comand is not a key here; did you mean `command`?\n"
        "agsup.toml:3:10: agent.a.nets.wall is \"2 m\", not a time span such as \"250ms\", \"30s\" "
        "or \"2m\"\n"
        "agsup.toml:3:24: agent.a.nets.memory is 5, not a size such as \"64KiB\" or \"256MiB\"\n"
        "agsup.toml:3:36: agent.a.nets.open_files is 3, not a number from 16 to 65536\n"
        "agsup.toml:3:52: agent.a.nets.evnts is not a key here; did you mean `events`?\n"
        "agsup.toml:4:12: agent.a.layers.seccomp is \"stern\", not one of standard|strict|off\n"
        "agsup.toml:5:1: agent.a.goal is 0 bytes long, not 1 to 65536\n"
        "agsup.toml:6:1: agent.a.attempts is \"three\", not a number from 1 to 100\n");
}

static void
the_first_violation_and_their_number_are_the_error (void **state)
{
    (void)state;
    struct ag_buf value = {0}, problems = {0};
    struct ag_err err = {0};
    write_file ("agsup.toml", "version = 2\nx = 1\n", 0644);
    assert_int_equal (ag_conf_load ("agsup.toml", &value, &problems, &err), -1);
    assert_string_equal (err.text, "agsup.toml:1:1: version is 2, not 1 (and 1 more)");
    ag_buf_clear (&problems);
    write_file ("agsup.toml", "version = 1\nx = 1\n", 0644);
    assert_int_equal (ag_conf_load ("agsup.toml", &value, &problems, &err), -1);
    assert_string_equal (err.text, "agsup.toml:2:1: x is not a key here");
    ag_buf_fini (&problems);
}

static void
values_of_the_wrong_kind_are_refused (void **state)
{
    (void)state;
    assert_refused (
        "version = \"1\"\nuids = \"9-1\"\nservice = []\n"
        "[agent]\n"
        "a = 1\n"
        "[agent.b]\n"
        "packs = \"licences\"\n"
        "command = [\"\", 7]\n"
        "goal = [\"x\"]\n"
        "hears = [1]\n"
        "allow = [\"network\", \"disk\"]\n"
        "settings = { licences = 1 }\n"
        "nets = false\n"
        "restart = { within = \"1ms\" }\n"
        "dir = \"\"\n",
        "agsup.toml:1:1: version is \"1\", not 1\n"
        "agsup.toml:2:1: uids is \"9-1\", not \"FIRST-LAST\", two numbers from 1000 to "
        "2000000000\n"
        "agsup.toml:3:1: service is a list, not tables by name\n"
        "agsup.toml:5:1: agent.a is 1, not a table\n"
        "agsup.toml:7:1: agent.b.packs is \"licences\", not a list of directories\n"
        "agsup.toml:8:12: agent.b.command[0] is \"\", not a program\n"
        "agsup.toml:8:16: agent.b.command[1] is 7, not a text without NUL\n"
        "agsup.toml:9:1: agent.b.goal is a list, not a text\n"
        "agsup.toml:10:10: agent.b.hears[0] is 1, not a table\n"
        "agsup.toml:11:1: agent.b.allow has 2 elements, not 0 to 1\n"
        "agsup.toml:11:21: agent.b.allow[1] is \"disk\", not one of network\n"
        "agsup.toml:12:14: agent.b.settings.licences is 1, not a table of the settings of one "
        "pack\n"
        "agsup.toml:13:1: agent.b.nets is false, not a table\n"
        "agsup.toml:14:13: agent.b.restart.within is \"1ms\", not a value from 1000 ms to "
        "86400000 ms\n"
        "agsup.toml:15:1: agent.b.dir is \"\", not a directory\n");
}

static void
a_violation_of_the_defaults_is_said_once (void **state)
{
    (void)state;
    assert_refused (
        "version = 1\n[defaults]\nnets = { wall = true }\ngoal = \"x\"\n"
        "[agent.a]\npacks = [\"licences\"]\n[agent.b]\npacks = [\"licences\"]\n",
        "agsup.toml:3:10: defaults.nets.wall is true, not a time span such as \"250ms\", "
        "\"30s\" or \"2m\"\n"
        "agsup.toml:4:1: defaults.goal is not a key here\n");
}

static void
what_is_not_built_is_refused_by_name (void **state)
{
    (void)state;
    assert_refused ("version = 1\n"
                    "tcp = \"*:4000\"\n"
                    "[agent.a]\npacks = [\"licences\"]\nevery = \"24h\"\nat = \"noon\"\n"
                    "[group.g]\n",
                    "agsup.toml:2:1: tcp is reserved and not built yet (clients and monitors on "
                    "other machines)\n"
                    "agsup.toml:5:1: agent.a.every is reserved and not built yet (a schedule)\n"
                    "agsup.toml:6:1: agent.a.at is reserved and not built yet (a schedule)\n"
                    "agsup.toml:7:2: group is reserved and not built yet (agents that are "
                    "restarted together)\n");
}

static void
packs_and_programs_are_there (void **state)
{
    (void)state;
    assert_refused (
        "version = 1\n"
        "[agent.a]\npacks = [\"licences\", { wasm = \"x\" }, \"secret\", \"none\"]\n"
        "[agent.b]\ncommand = [\"./secret\"]\n[service.c]\ncommand = [\"none/x\"]\n[service.d]\n",
        "agsup.toml:3:22: agent.a.packs[1] is a table, not a directory\n"
        "agsup.toml:3:38: agent.a.packs[2] is DIR/secret, which is not a directory\n"
        "agsup.toml:3:48: agent.a.packs[3] is DIR/none, which is not a directory\n"
        "agsup.toml:5:12: agent.b.command[0] is DIR/./secret, which is not an executable file\n"
        "agsup.toml:7:12: service.c.command[0] is DIR/none/x, which is not an executable file\n"
        "agsup.toml:8:10: service.d.command is missing\n");
}

static void
who_is_heard_or_waited_for_exists (void **state)
{
    (void)state;
    assert_refused (
        "version = 1\n"
        "[agent.auditor]\npacks = [\"licences\"]\nafter = [\"auditor\", \"modle\", \"R\"]\n"
        "hears = [{ from = \"model\", on = \"x\" }, { on = \"y\" }, { from = \"audito\" }]\n"
        "[agent.auditors]\npacks = [\"licences\"]\nhears = [{ from = \"auditors\", on = "
        "\"goal.creted\" }, "
        "{ from = \"auditor\", on = \"behavior.failed\" }]\n"
        "[service.model]\ncommand = [\"true\"]\nafter = [\"zebra\"]\n",
        "agsup.toml:4:10: agent.auditor.after[0] names the agent itself\n"
        "agsup.toml:4:21: agent.auditor.after[1] names \"modle\", but there is no such agent or "
        "service; did "
        "you mean `model`?\n"
        "agsup.toml:4:30: agent.auditor.after[2] is \"R\", not the name of an agent or service\n"
        "agsup.toml:5:12: agent.auditor.hears[0].from names \"model\", but there is no such agent\n"
        "agsup.toml:5:40: agent.auditor.hears[1].from is missing\n"
        "agsup.toml:5:54: agent.auditor.hears[2].on is missing\n"
        "agsup.toml:5:56: agent.auditor.hears[2].from names \"audito\", but there is no such "
        "agent; did you "
        "mean `auditor`?\n"
        "agsup.toml:8:12: agent.auditors.hears[0].from names the agent itself\n"
        "agsup.toml:8:31: agent.auditors.hears[0].on waits in vain: `goal.creted` never comes: the "
        "house alone has types in goal.*; did you mean `goal.created`?\n"
        "agsup.toml:11:10: service.model.after[0] names \"zebra\", but there is no such agent or "
        "service\n");
}

static void
nobody_waits_for_itself (void **state)
{
    (void)state;
    assert_refused ("version = 1\n"
                    "[service.a]\ncommand = [\"true\"]\nafter = [\"b\"]\n"
                    "[service.b]\ncommand = [\"true\"]\nafter = [\"d\", \"c\"]\n"
                    "[service.c]\ncommand = [\"true\"]\nafter = [\"d\", \"b\"]\n"
                    "[service.d]\ncommand = [\"true\"]\n",
                    "agsup.toml:5:10: service.b waits for itself: b -> c -> b\n");
}

static void
names_are_unique_and_no_run_ids (void **state)
{
    (void)state;
    assert_refused (
        "version = 1\n"
        "[service.same]\ncommand = [\"true\"]\n[service.r3f]\ncommand = [\"true\"]\n"
        "[service.Loud]\ncommand = [\"true\"]\n[service.fleet]\ncommand = [\"true\"]\n"
        "[agent.same]\npacks = [\"licences\"]\n[service.\"a b\\n\"]\ncommand = [\"true\"]\n",
        "agsup.toml:2:10: service.same is there already, as agent.same in agsup.toml\n"
        "agsup.toml:4:10: service.r3f looks like the id of a run: r, digits and letters\n"
        "agsup.toml:6:10: service.Loud is not a lower-case letter followed by a-z, 0-9, _ or -\n"
        "agsup.toml:8:10: service.fleet is the name of the fleet's own run\n"
        "agsup.toml:12:10: service.\"a b\\n\" is not a lower-case letter followed by a-z, 0-9, _ "
        "or -\n");
}

static void
a_secret_that_everybody_may_read_is_refused (void **state)
{
    (void)state;
    assert_refused (
        "version = 1\n[agent.a]\npacks = [\"licences\"]\n[agent.a.env]\n"
        "A = { file = \"open\" }\n"
        "B = { file = \"none\" }\n"
        "C = 1\n"
        "D = { env = \"a b\" }\n"
        "1E = \"x\"\n"
        "AGSUP_NONCE = \"x\"\n"
        "F = { file = \"secret\", env = \"G\" }\n"
        "H = \"\\u0000\"\n"
        "I = { file = 1 }\n"
        "J = { file = \"licences\" }\n",
        "agsup.toml:5:7: agent.a.env.A.file is DIR/open, which everybody may read; `chmod o-r` it\n"
        "agsup.toml:6:7: agent.a.env.B.file is DIR/none, which is not a file\n"
        "agsup.toml:7:1: agent.a.env.C is 1, not a text, { file = PATH } or { env = NAME }\n"
        "agsup.toml:8:7: agent.a.env.D.env is \"a b\", not the name of a variable\n"
        "agsup.toml:9:1: agent.a.env.1E is not the name of a variable\n"
        "agsup.toml:10:1: agent.a.env.AGSUP_NONCE is a variable that agsup sets itself\n"
        "agsup.toml:11:1: agent.a.env.F is a table, not a text, { file = PATH } or { env = NAME }\n"
        "agsup.toml:12:1: agent.a.env.H is \"\\u0000\", not a text, { file = PATH } or { env = "
        "NAME }\n"
        "agsup.toml:13:7: agent.a.env.I.file is 1, not a path\n"
        "agsup.toml:14:7: agent.a.env.J.file is DIR/licences, which is not a file\n");
}

static void
readiness_is_one_thing (void **state)
{
    (void)state;
    const char *bad = "an address such as \"127.0.0.1:8080\" or \"[::1]:8080\"";
    char *expected = ag_xprintf (
        "agsup.toml:4:1: service.a.ready has more than one of `tcp`, `file` and `seconds`\n"
        "agsup.toml:7:11: service.b.ready.tcp is \"localhost:80\", not %s\n"
        "agsup.toml:10:11: service.c.ready.tcp is \"[::1]:65536\", not %s\n"
        "agsup.toml:13:11: service.d.ready.tcp is \"127.0.0.1\", not %s\n"
        "agsup.toml:16:11: service.e.ready.tcp is \"::1:80\", not %s\n"
        "agsup.toml:19:11: service.f.ready.tcp is \":80\", not %s\n",
        bad, bad, bad, bad, bad);
    assert_refused ("version = 1\n"
                    "[service.a]\ncommand = [\"true\"]\nready = { file = \"x\", seconds = 1 }\n"
                    "[service.b]\ncommand = [\"true\"]\nready = { tcp = \"localhost:80\" }\n"
                    "[service.c]\ncommand = [\"true\"]\nready = { tcp = \"[::1]:65536\" }\n"
                    "[service.d]\ncommand = [\"true\"]\nready = { tcp = \"127.0.0.1\" }\n"
                    "[service.e]\ncommand = [\"true\"]\nready = { tcp = \"::1:80\" }\n"
                    "[service.f]\ncommand = [\"true\"]\nready = { tcp = \":80\" }\n"
                    "[service.g]\ncommand = [\"true\"]\nready = { tcp = \"[::1]:65535\" }\n",
                    expected);
    free (expected);
}

static void
a_directory_is_one_configuration (void **state)
{
    (void)state;
    write_file ("fleet/20-b.toml",
                "version = 1\n[agent.b]\npacks = [\"../licences\"]\nafter = [\"a\"]\n", 0644);
    write_file ("fleet/10-a.toml",
                "version = 1\nuids = \"5000-5001\"\n[defaults]\nattempts = 7\n"
                "[agent.a]\npacks = [\"../licences\"]\n",
                0644);
    write_file ("fleet/30-c.toml", "version = 1\n", 0644);
    write_file ("fleet/.hidden.toml", "nonsense", 0644);
    write_file ("fleet/notes", "nonsense", 0644);
    assert_json ("fleet", "agent.a.attempts", "7");
    assert_json ("fleet/", "agent.b.attempts", "7");
    assert_json ("fleet", "uids", "{\"first\":5000,\"last\":5001}");
    char *expected =
        ag_xprintf ("[\"%s/fleet/10-a.toml\",\"%s/fleet/20-b.toml\",\"%s/fleet/30-c.toml\"]",
                    directory, directory, directory);
    assert_json ("fleet", "files", expected);
    free (expected);
}

static void
what_two_files_both_say_is_refused_with_both_names (void **state)
{
    (void)state;
    write_file (
        "fleet/a.toml",
        "version = 1\nuids = \"5000-5001\"\n[defaults]\n[agent.x]\npacks = [\"../licences\"]\n",
        0644);
    write_file (
        "fleet/b.toml",
        "version = 1\nuids = \"5000-5001\"\n[defaults]\n[agent.x]\npacks = [\"../licences\"]\n",
        0644);
    write_file ("fleet/c.toml", "", 0644);
    assert_problems ("fleet",
                     "fleet/b.toml:2:1: uids stands in fleet/a.toml already\n"
                     "fleet/b.toml:3:2: defaults stands in fleet/a.toml already\n"
                     "fleet/b.toml:4:8: agent.x is there already, as agent.x in fleet/a.toml\n"
                     "fleet/c.toml:1:1: version is missing\n");
}

static void
files_that_cannot_be_read_are_named (void **state)
{
    (void)state;
    assert_problems ("none.toml", "none.toml: No such file or directory\n");
    assert_problems ("none/none.toml", "none/none.toml: No such file or directory\n");
    assert_problems ("fleet", "fleet: no *.toml file in it\n");
    assert_int_equal (mkdir ("fleet/a.toml", 0755), 0);
    write_file ("fleet/b.toml", "version = \n", 0644);
    write_file ("fleet/c.toml", "version = 1\n\xff\n", 0644);
    assert_problems (
        "fleet",
        "fleet/a.toml: not a file\n"
        "fleet/b.toml:1:11: Error while parsing key-value pair: expected value, saw '\\n'\n"
        "fleet/c.toml:1:12: Encountered invalid utf-8 sequence\n");
}

static void
the_hundred_and_first_problem_is_only_counted (void **state)
{
    (void)state;
    struct ag_buf text = {0}, value = {0}, problems = {0};
    struct ag_err err = {0};
    ag_buf_text (&text, "version = 1\n");
    for (int i = 0; i < 250; i++)
        ag_buf_text (&text, "x%d = 1\n", i);
    ag_buf_add (&text, "", 1);
    write_file ("agsup.toml", (const char *)text.p, 0644);
    assert_int_equal (ag_conf_load ("agsup.toml", &value, &problems, &err), -1);
    ag_buf_add (&problems, "", 1);
    assert_non_null (
        strstr ((char *)problems.p, "agsup.toml:101:1: x99 is not a key here\nand 150 more\n"));
    assert_string_equal (err.text, "agsup.toml:2:1: x0 is not a key here (and 249 more)");
    ag_buf_fini (&problems);
    ag_buf_fini (&text);
}

static void
a_value_too_large_for_one_event_is_refused (void **state)
{
    (void)state;
    struct ag_buf text = {0};
    ag_buf_text (&text, "version = 1\n");
    for (int i = 0; i < 16; i++) {
        ag_buf_text (&text, "[agent.a%d]\npacks = [\"licences\"]\ngoal = \"", i);
        memset (ag_buf_grow (&text, 65000), 'x', 65000);
        ag_buf_text (&text, "\"\n");
    }
    ag_buf_add (&text, "", 1);
    write_file ("agsup.toml", (const char *)text.p, 0644);
    ag_buf_fini (&text);
    struct ag_buf value = {0}, problems = {0};
    struct ag_err err = {0};
    assert_int_equal (ag_conf_load ("agsup.toml", &value, &problems, &err), -1);
    assert_non_null (strstr (err.text, "agsup.toml: too large, its value has 10"));
    ag_buf_fini (&problems);
}

int
main (void)
{
#define TEST(name) cmocka_unit_test_setup_teardown (name, enter, leave)
    const struct CMUnitTest tests[] = {
        TEST (a_small_fleet_becomes_a_complete_value),
        TEST (every_key_can_be_written),
        TEST (defaults_hold_where_an_agent_says_nothing),
        TEST (all_that_is_wrong_is_said_at_once),
        TEST (the_first_violation_and_their_number_are_the_error),
        TEST (values_of_the_wrong_kind_are_refused),
        TEST (a_violation_of_the_defaults_is_said_once),
        TEST (what_is_not_built_is_refused_by_name),
        TEST (packs_and_programs_are_there),
        TEST (who_is_heard_or_waited_for_exists),
        TEST (nobody_waits_for_itself),
        TEST (names_are_unique_and_no_run_ids),
        TEST (a_secret_that_everybody_may_read_is_refused),
        TEST (readiness_is_one_thing),
        TEST (a_directory_is_one_configuration),
        TEST (what_two_files_both_say_is_refused_with_both_names),
        TEST (files_that_cannot_be_read_are_named),
        TEST (the_hundred_and_first_problem_is_only_counted),
        TEST (a_value_too_large_for_one_event_is_refused),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
