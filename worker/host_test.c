//  SPDX-License-Identifier: Apache-2.0
#include "worker/fake_test.h"

static const char event[] =
    "{\"id\":\"evt_001\",\"type\":\"goal.created\",\"payload\":{\"goal\":\"g\"},"
    "\"actor\":\"user\",\"frame_id\":null,\"caused_by\":null,"
    "\"timestamp\":\"2026-01-01T00:00:00Z\"}";

//  An invocation of behaviour b, in a fork when tag is not null.
static void
invoke (struct fake *fake, const char *tag)
{
    fake_say (fake,
              "{\"do\":\"invoke\",\"invocation\":2,\"attempt\":1,\"behavior\":\"b\",\"event\":%s,"
              "\"frame\":null,\"view\":{\"objects\":[{\"id\":\"task#1\",\"type\":\"task\",\"data\":"
              "{\"n\":1,\"t\":\"x\"},\"version\":3,\"provenance\":{}}],\"relations\":[]},\"mint\":"
              "{\"object\":2,\"relation\":1,\"tag\":%s},\"seed\":\"7f3a\",\"now\":\"2026-01-01T00:"
              "00:00Z\"}",
              event, tag);
}

//  Start, load a pack whose one behaviour has this body, and hand it an invocation; the first request.
static const char *
begin (struct fake *fake, const char *body, const char *tag)
{
    char *source = ag_xprintf ("ag.behavior { name = 'b', on = { 'goal.created' }, "
                               "function (event, graph, ctx) %s end }",
                               body);
    fake_start (fake, NULL);
    fake_load (fake, source, "{\"wall_ms\":5000}", "{\"strict\":0.5}");
    free (source);
    fake_say (fake, "{\"do\":\"ok\"}");
    assert_string_equal (fake_hear (fake), "{\"do\":\"next\"}");
    invoke (fake, tag);
    return fake_hear (fake);
}

static void
a_worker_says_hello_without_behaviours_and_registers_what_its_packs_declare (void **state)
{
    struct fake fake;
    (void)state;
    fake_start (&fake, NULL);
    const char *heard = fake_load (
        &fake,
        "local function f (event, graph, ctx) end\n"
        "ag.behavior { name = 'b', on = { 'goal.created', 'x' }, where = { n = 1 }, f }\n"
        "ag.relation_behavior { name = 'r', relation = 'needs', on = { 'done' },\n"
        "    function (relation, event, graph, ctx) end }\n"
        "ag.tool { name = 't', args = { a = 'string' }, function (args, ctx) end }\n",
        NULL, NULL);
    assert_non_null (strstr (
        heard,
        "{\"do\":\"register\",\"behaviors\":["
        "{\"name\":\"b\",\"pack\":\"p\",\"on\":[\"goal.created\",\"x\"],\"where\":{\"n\":1}},"
        "{\"name\":\"r\",\"pack\":\"p\",\"on\":[\"done\"],\"relation_type\":\"needs\"}],"
        "\"tools\":[{\"name\":\"t\",\"pack\":\"p\",\"schema\":{\"a\":\"string\"}}],"
        "\"walls\":{\"landlock\":\""));
    fake_say (&fake, "{\"do\":\"ok\"}");
    assert_string_equal (fake_hear (&fake), "{\"do\":\"next\"}");
    assert_int_equal (fake_end (&fake), 0);
}

static void
changes_go_out_in_one_done_with_ids_of_the_reserved_block (void **state)
{
    static const char body[] =
        "local a = graph.add_object ('note', { text = event.payload.goal, tags = ag.list {} })\n"
        "local r = graph.relate (a, 'task#1', 'about')\n"
        "graph.patch ('task#1', { seen = true, gone = ag.null })\n"
        "graph.add_object ('note', nil, { id = 'note#own' })\n"
        "graph.emit ('note.made', { id = a, relation = r, strict = ctx.settings.strict })";
    struct fake fake;
    (void)state;
    assert_string_equal (
        begin (&fake, body, "null"),
        "{\"do\":\"done\",\"ops\":["
        "{\"op\":\"add_object\",\"type\":\"note\",\"data\":{\"tags\":[],\"text\":\"g\"},\"id\":"
        "\"note#2\"},"
        "{\"op\":\"add_relation\",\"id\":\"rel_001\",\"source\":\"note#2\",\"target\":\"task#1\","
        "\"type\":\"about\",\"data\":{}},"
        "{\"op\":\"patch_object\",\"id\":\"task#1\",\"data\":{\"gone\":null,\"seen\":true}},"
        "{\"op\":\"add_object\",\"type\":\"note\",\"data\":{},\"id\":\"note#own\"},"
        "{\"op\":\"emit\",\"type\":\"note.made\",\"payload\":{\"id\":\"note#2\",\"relation\":\"rel_"
        "001\","
        "\"strict\":0.5}}],\"next\":true}");
    assert_int_equal (fake_stop (&fake), 0);
    assert_non_null (strstr (begin (&fake, body, "\"k3f\""), "\"id\":\"note#k3f.2\"}"));
    assert_non_null (strstr ((char *)fake.json.p, "\"id\":\"rel_k3f.001\""));
    assert_int_equal (fake_stop (&fake), 0);
}

static void
a_proposal_says_the_version_that_was_seen_and_may_be_decided_under_its_name (void **state)
{
    static const char body[] =
        "assert (ctx.frame == false)\n"
        "assert (not pcall (graph.propose, 'task#1', {}, { evidence = { a = 1 } }))\n"
        "local p = graph.propose ('task#1', { n = 2 }, { rationale = 'r', "
        "evidence = ag.list { 'x' } })\n"
        "graph.apply (p)\n"
        "graph.propose ('task#1', { n = 3 }, { replace = true })\n"
        "graph.reject ('patch_007', 'no')";
    struct fake fake;
    (void)state;
    assert_string_equal (
        begin (&fake, body, "null"),
        "{\"do\":\"done\",\"ops\":["
        "{\"op\":\"propose_patch\",\"id\":\"task#1\",\"data\":{\"n\":2},\"change\":\"update\","
        "\"expected_version\":3,\"as\":\"patch-1\",\"rationale\":\"r\",\"evidence\":[\"x\"]},"
        "{\"op\":\"apply_patch\",\"patch\":\"@patch-1\"},"
        "{\"op\":\"propose_patch\",\"id\":\"task#1\",\"data\":{\"n\":3},\"change\":\"replace\","
        "\"expected_version\":3,\"as\":\"patch-3\"},"
        "{\"op\":\"reject_patch\",\"patch\":\"patch_007\",\"reason\":\"no\"}],\"next\":true}");
    assert_int_equal (fake_stop (&fake), 0);
}

static void
reads_see_the_changes_of_their_own_invocation (void **state)
{
    static const char body[] =
        "local id = graph.add_object ('task', { n = 2 })\n"
        "graph.patch ('task#1', { n = 5 })\n"
        "local one = graph.get ('task#1')\n"
        "assert (one.data.n == 5 and one.data.t == 'x' and one.version == 4)\n"
        "graph.replace ('task#1', { n = 6 })\n"
        "assert (graph.get ('task#1').data.t == nil)\n"
        "local all = graph.objects { type = 'task' }\n"
        "assert (#all == 3 and all[1].data.n == 6 and all[2].id == 'task#2' and all[3].id == "
        "'task#9')\n"
        "graph.relate (id, 'task#1', 'needs')\n"
        "local needs = graph.relations { of = 'task#1', type = 'needs' }\n"
        "assert (#needs == 2 and needs[1].id == 'rel_001' and needs[2].source == 'task#9')\n"
        "graph.remove ('task#9')\n"
        "assert (graph.get ('task#9') == nil)\n"
        "assert (#graph.objects { type = 'task' } == 2)\n"
        "assert (#graph.relations { of = 'task#1' } == 1)\n"
        "assert (not pcall (graph.add_object, 'task', {}, { id = 'task#9' }))\n"
        "assert (not pcall (graph.patch, 'task#9', {}))\n";
    struct fake fake;
    (void)state;
    assert_string_equal (begin (&fake, body, "null"), "{\"do\":\"get\",\"type\":\"task\"}");
    static const char page[] = "{\"do\":\"ok\",\"objects\":[{\"id\":\"task#1\",\"type\":\"task\","
                               "\"data\":{},\"version\":3},"
                               "{\"id\":\"task#9\",\"type\":\"task\",\"data\":{\"n\":9},"
                               "\"version\":1}],\"relations\":[],\"more\":false}";
    static const char relations[] =
        "{\"do\":\"ok\",\"objects\":[],\"relations\":[{\"id\":\"rel_007\",\"type\":\"needs\","
        "\"source\":"
        "\"task#9\",\"target\":\"task#1\",\"data\":{}}],\"more\":false}";
    fake_say (&fake, page);
    assert_string_equal (fake_hear (&fake), "{\"do\":\"get\",\"relations_of\":\"task#1\"}");
    fake_say (&fake, relations);
    assert_string_equal (fake_hear (&fake), "{\"do\":\"get\",\"type\":\"task\"}");
    fake_say (&fake, page);
    assert_string_equal (fake_hear (&fake), "{\"do\":\"get\",\"relations_of\":\"task#1\"}");
    fake_say (&fake, relations);
    assert_non_null (strstr (fake_hear (&fake), "{\"do\":\"done\""));
    assert_int_equal (fake_stop (&fake), 0);
}

static void
a_scan_asks_page_after_page_and_a_walk_goes_both_ways (void **state)
{
    struct fake fake;
    (void)state;
    assert_string_equal (begin (&fake,
                                "local n = #graph.objects { type = 'x' }\n"
                                "local near = graph.around ('x#1', 1)\n"
                                "graph.emit ('n', { n = n, near = near.objects[2].id, by = "
                                "near.relations[1].id })",
                                "null"),
                         "{\"do\":\"get\",\"type\":\"x\"}");
    fake_say (&fake, "{\"do\":\"ok\",\"objects\":[{\"id\":\"x#1\",\"type\":\"x\",\"data\":{}}],"
                     "\"more\":true,\"next\":\"x#1/\"}");
    assert_string_equal (fake_hear (&fake), "{\"do\":\"get\",\"type\":\"x\",\"after\":\"x#1/\"}");
    fake_say (
        &fake,
        "{\"do\":\"ok\",\"objects\":[{\"id\":\"x#2\",\"type\":\"x\",\"data\":{}}],\"more\":false}");
    assert_string_equal (fake_hear (&fake), "{\"do\":\"get\",\"relations_of\":\"x#1\"}");
    fake_say (&fake,
              "{\"do\":\"ok\",\"relations\":[{\"id\":\"rel_9\",\"type\":\"t\",\"source\":\"x#7\","
              "\"target\":\"x#1\",\"data\":{}}],\"more\":false}");
    assert_string_equal (fake_hear (&fake), "{\"do\":\"get\",\"id\":\"x#7\"}");
    fake_say (&fake, "{\"do\":\"ok\",\"objects\":[{\"id\":\"x#7\",\"type\":\"x\",\"data\":{}}]}");
    assert_non_null (strstr (fake_hear (&fake), "{\"by\":\"rel_9\",\"n\":2,\"near\":\"x#7\"}"));
    assert_int_equal (fake_stop (&fake), 0);
}

static void
an_effect_is_done_here_refused_or_served_from_the_record (void **state)
{
    static const char body[] = "local text, why = ctx.read ('/etc/passwd')\n"
                               "graph.emit ('one', { text = text, why = why })\n"
                               "local names = ctx.list ('/served')\n"
                               "graph.emit ('two', { names = names })\n"
                               "local ok, refusal = pcall (ctx.call, 'mail', { to = 'x' })\n"
                               "graph.emit ('three', { refusal = refusal })\n";
    struct fake fake;
    (void)state;
    assert_string_equal (
        begin (&fake, body, "null"),
        "{\"do\":\"effect\",\"tool\":\"file.read\",\"args\":{\"path\":\"/etc/passwd\"},"
        "\"idempotent\":true}");
    fake_say (&fake, "{\"do\":\"go\"}");
    assert_string_equal (fake_hear (&fake),
                         "{\"do\":\"outcome\",\"error\":{\"type\":\"not_allowed\",\"message\":"
                         "\"/etc/passwd is not below a granted directory (files: none)\"}}");
    fake_say (&fake, "{\"do\":\"ok\"}");
    assert_non_null (
        strstr (fake_hear (&fake), "\"tool\":\"file.list\",\"args\":{\"path\":\"/served\"}"));
    fake_say (&fake, "{\"do\":\"result\",\"output\":[\"a\",\"b\"]}");
    assert_string_equal (
        fake_hear (&fake),
        "{\"do\":\"effect\",\"tool\":\"mail\",\"args\":{\"to\":\"x\"},\"idempotent\":false}");
    fake_say (
        &fake,
        "{\"do\":\"refused\",\"code\":\"not_allowed\",\"message\":\"no such tool is granted\"}");
    const char *done = fake_hear (&fake);
    assert_non_null (strstr (done, "{\"why\":\"/etc/passwd is not below a granted"));
    assert_non_null (strstr (done, "{\"names\":[\"a\",\"b\"]}"));
    assert_non_null (strstr (done, "mail was refused: no such tool is granted"));
    assert_int_equal (fake_stop (&fake), 0);
}

static void
a_tool_of_the_pack_runs_here_and_sees_only_its_arguments (void **state)
{
    struct fake fake;
    (void)state;
    fake_start (&fake, NULL);
    fake_load (&fake,
               "local kept\n"
               "ag.tool { name = 'twice', args = { text = 'string' }, function (args, ctx)\n"
               "    assert (not pcall (kept.add_object, 'x', {}))\n"
               "    assert (not pcall (kept.get, 'task#4'))\n"
               "    assert (not pcall (function () return ctx.read end))\n"
               "    return args.text .. args.text\n"
               "end }\n"
               "ag.behavior { name = 'b', on = { 'goal.created' }, function (event, graph, ctx)\n"
               "    kept = graph\n"
               "    assert (not pcall (ctx.call, 'twice', { text = 1 }))\n"
               "    assert (not pcall (ctx.call, 'twice', { text = 'a', more = 1 }))\n"
               "    graph.emit ('said', { text = ctx.call ('twice', { text = 'ab' }) })\n"
               "end }\n",
               NULL, NULL);
    fake_say (&fake, "{\"do\":\"ok\"}");
    fake_hear (&fake);
    invoke (&fake, "null");
    assert_string_equal (fake_hear (&fake),
                         "{\"do\":\"effect\",\"tool\":\"twice\",\"args\":{\"text\":"
                         "\"ab\"},\"idempotent\":true}");
    fake_say (&fake, "{\"do\":\"go\"}");
    assert_string_equal (fake_hear (&fake), "{\"do\":\"outcome\",\"output\":\"abab\"}");
    fake_say (&fake, "{\"do\":\"ok\"}");
    assert_non_null (strstr (fake_hear (&fake), "\"payload\":{\"text\":\"abab\"}"));
    assert_int_equal (fake_stop (&fake), 0);
}

static void
an_output_that_no_message_holds_is_an_effect_that_failed_with_the_limit (void **state)
{
    struct fake fake;
    (void)state;
    fake_start (&fake, NULL);
    fake_load (&fake,
               "ag.tool { name = 'huge', args = {}, function () return ('x'):rep (7864321) end }\n"
               "ag.behavior { name = 'b', on = { 'goal.created' }, function (event, graph, ctx)\n"
               "    local text, why = ctx.call ('huge', {})\n"
               "    graph.emit ('said', { text = text, why = why })\n"
               "end }\n",
               NULL, NULL);
    fake_say (&fake, "{\"do\":\"ok\"}");
    fake_hear (&fake);
    invoke (&fake, "null");
    assert_non_null (strstr (fake_hear (&fake), "\"do\":\"effect\""));
    fake_say (&fake, "{\"do\":\"go\"}");
    assert_string_equal (fake_hear (&fake),
                         "{\"do\":\"outcome\",\"error\":{\"type\":\"too_large\",\"message\":"
                         "\"outcome.output is 7864326 bytes, not 1 to 7864320\"}}");
    fake_say (&fake, "{\"do\":\"ok\"}");
    assert_non_null (strstr (fake_hear (&fake), "{\"why\":\"outcome.output is 7864326 bytes"));
    assert_int_equal (fake_stop (&fake), 0);
}

static void
an_error_of_the_script_fails_the_invocation_with_its_place_and_the_worker_goes_on (void **state)
{
    struct fake fake;
    (void)state;
    const char *heard = begin (&fake, "\nlocal t = nil\nreturn t.x", "null");
    assert_non_null (strstr (
        heard, "{\"do\":\"fail\",\"error\":{\"type\":\"script.error\",\"message\":\"p/main.lua:3: "
               "attempt to index a nil value (local 't')\",\"traceback\":\"stack"));
    invoke (&fake, "null");
    assert_non_null (strstr (fake_hear (&fake), "\"do\":\"fail\""));
    assert_int_equal (fake_stop (&fake), 0);
    heard = begin (&fake, "error ('\\255\\0' .. ('x'):rep (100000))", "null");
    assert_true (strlen (heard) < 12000 && strstr (heard, "p/main.lua:1: ??xxx"));
    assert_int_equal (fake_stop (&fake), 0);
    heard = begin (&fake, "error ({})", "null");
    assert_non_null (strstr (heard, "an error that is a table, not a text"));
    assert_int_equal (fake_stop (&fake), 0);
}

static void
a_refused_done_is_a_failure_of_its_invocation (void **state)
{
    struct fake fake;
    (void)state;
    assert_non_null (
        strstr (begin (&fake, "graph.relate ('a#1', 'b#1', 't')", "null"), "\"do\":\"done\""));
    fake_say (&fake, "{\"do\":\"error\",\"code\":\"not_found\",\"message\":\"no object "
                     "a#1\",\"retryable\":false}");
    assert_string_equal (
        fake_hear (&fake),
        "{\"do\":\"fail\",\"error\":{\"type\":\"not_found\",\"message\":\"no object a#1\","
        "\"traceback\":\"\"}}");
    assert_int_equal (fake_stop (&fake), 0);
}

static void
two_runs_of_one_invocation_say_the_same_bytes (void **state)
{
    static const char body[] =
        "local t = {}\n"
        "for i = 1, 300 do t['k' .. ctx.random (100000)] = math.random () end\n"
        "local order = {}\n"
        "for k, v in pairs (t) do order[#order + 1] = k .. v end\n"
        "graph.emit ('t', { t = t, order = order, now = ctx.now, me = tostring (t) .. tostring "
        "(pairs),\n"
        "                   s = string.format ('%s %s %d', t, ag.null, math.random (1, 1000)) })\n"
        "graph.emit ('e', { e = select (2, pcall (error, { 1 })), m = select (2, pcall (t)) })\n";
    struct ag_buf first = {0};
    struct fake fake;
    (void)state;
    begin (&fake, body, "null");
    ag_buf_add_str (&first, ag_buf_str (&fake.heard));
    assert_true (first.n > 1000);
    invoke (&fake, "null"); //  the same process
    fake_hear (&fake);
    assert_true (ag_str_eq (ag_buf_str (&first), ag_buf_str (&fake.heard)));
    fake_stop (&fake);
    begin (&fake, body, "null"); //  another one
    assert_true (ag_str_eq (ag_buf_str (&first), ag_buf_str (&fake.heard)));
    fake_stop (&fake);
    ag_buf_fini (&first);
}

static void
a_lost_supervisor_ends_the_worker_with_69 (void **state)
{
    struct fake fake;
    (void)state;
    for (int greeted = 0; greeted < 2; greeted++) {
        fake_start (&fake, NULL);
        if (greeted)
            fake_load (&fake, "", NULL, NULL);
        else
            fake_hear (&fake);
        fake_die (&fake);
        assert_int_equal (fake_end (&fake), 69);
    }
}

//  It would spin until its wall clock of 5 s ran out.
static void
a_script_that_catches_every_error_ends_with_its_link (void **state)
{
    struct fake fake;
    struct timespec from, to;
    (void)state;
    begin (&fake, "while true do pcall (graph.get, 'a#1') end", "null");
    clock_gettime (CLOCK_MONOTONIC, &from);
    fake_die (&fake);
    assert_int_equal (fake_end (&fake), 69);
    clock_gettime (CLOCK_MONOTONIC, &to);
    assert_true (to.tv_sec - from.tv_sec < 4);
}

static void
a_worker_without_a_supervisor_ends_with_69 (void **state)
{
    struct fake fake;
    (void)state;
    fake_listen (&fake);
    fake_die (&fake);
    fake_spawn (&fake, NULL, NULL);
    assert_int_equal (fake_end (&fake), 69);
}

static void
a_pack_that_does_not_load_is_named_with_file_line_and_what_to_write (void **state)
{
    static const char *const cases[][2] = {
        {"\nlocal x = = 1", "pack p: p/main.lua:2: unexpected symbol near '='"},
        {"ag.behavior { name = 'b', on = { 'x' } }",
         "p/main.lua:1: behavior \"b\": its function is missing; write function (event, graph, "
         "ctx)"},
        {"ag.behavior { name = 'b', on = 'x', print }", "write on = { \"goal.created\" }"},
        {"ag.behavior { name = 'b', on = { 'x', 'goal.creted' }, print }",
         "main.lua:1: behavior \"b\": on: `goal.creted` never comes: the house alone has types in "
         "goal.*; did you mean `goal.created`?"},
        {"ag.behavior { name = 'b', on = { 'x' }, function (graph, event) end }",
         "behavior \"b\": parameter 1, graph, stands in another place; write function (event, "
         "graph, ctx)"},
        {"ag.behavior { name = 'b', on = { 'x' }, function (a, b, c, d) end }",
         "parameter 4, d, is one too many"},
        {"ag.relation_behavior { name = 'r', relation = 't', on = { 'x' }, function (event, graph, "
         "ctx) end }",
         "relation_behavior \"r\": parameter 1, event, stands in another place; write function "
         "(relation,"},
        {"ag.behavior { name = 'b', on = { 'x' }, wher = {}, print }",
         "no field is called \"wher\""},
        {"for i = 1, 2 do ag.behavior { name = 'b', on = { 'x' }, print } end",
         "a second one of that name"},
        {"ag.tool { name = 't', print }", "args = { name = \"type\" } is missing"},
        {"ag.behaviour { }", "ag has no behaviour; it has behavior, relation_behavior"},
        {"require 'os'",
         "require \"os\": the pack has no file os.lua; nothing else can be required"},
        {"\x1bLua", "attempt to load a binary chunk"},
        {"while true do end", "out of time: more than 200 ms"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fake fake;
        fake_start (&fake, NULL);
        assert_non_null (strstr (fake_hear (&fake), "hello"));
        fake_welcome (&fake, cases[i][0], "{\"wall_ms\":200}", NULL);
        bool net = strstr (cases[i][1], "out of time");
        const char *said = fake_unloaded (&fake);
        if (!strstr (fake.last_log, cases[i][1]))
            fail_msg ("%s: %s", cases[i][0], fake.last_log);
        assert_non_null (
            strstr (said, net ? "\"type\":\"net.wall\"" : "\"type\":\"script.error\""));
        assert_int_equal (fake_end (&fake), net ? 7 : 2);
    }
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (
            a_worker_says_hello_without_behaviours_and_registers_what_its_packs_declare),
        cmocka_unit_test (changes_go_out_in_one_done_with_ids_of_the_reserved_block),
        cmocka_unit_test (
            a_proposal_says_the_version_that_was_seen_and_may_be_decided_under_its_name),
        cmocka_unit_test (reads_see_the_changes_of_their_own_invocation),
        cmocka_unit_test (a_scan_asks_page_after_page_and_a_walk_goes_both_ways),
        cmocka_unit_test (an_effect_is_done_here_refused_or_served_from_the_record),
        cmocka_unit_test (a_tool_of_the_pack_runs_here_and_sees_only_its_arguments),
        cmocka_unit_test (an_output_that_no_message_holds_is_an_effect_that_failed_with_the_limit),
        cmocka_unit_test (
            an_error_of_the_script_fails_the_invocation_with_its_place_and_the_worker_goes_on),
        cmocka_unit_test (a_refused_done_is_a_failure_of_its_invocation),
        cmocka_unit_test (two_runs_of_one_invocation_say_the_same_bytes),
        cmocka_unit_test (a_lost_supervisor_ends_the_worker_with_69),
        cmocka_unit_test (a_script_that_catches_every_error_ends_with_its_link),
        cmocka_unit_test (a_worker_without_a_supervisor_ends_with_69),
        cmocka_unit_test (a_pack_that_does_not_load_is_named_with_file_line_and_what_to_write),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
