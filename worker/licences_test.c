//  The licences pack in the real worker, over a small made-up machine, with a supervisor that keeps objects
//  and an event queue; and the agent that hears it.
//  SPDX-License-Identifier: Apache-2.0
#include "worker/fake_test.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "common/hash.h"

static char *
source_path (const char *name)
{
    const char *top = getenv ("AG_SOURCE");
    return ag_xprintf ("%s/%s", top ? top : ".", name);
}

static void
read_file (const char *path, struct ag_buf *out)
{
    int fd = open (path, O_RDONLY);
    assert_true (fd >= 0);
    for (ssize_t n = 1; n > 0;) {
        uint8_t *room = ag_buf_grow (out, 4096);
        n = read (fd, room, 4096);
        assert_true (n >= 0);
        out->n -= 4096 - (size_t)n;
    }
    close (fd);
}

//  A run: objects and relations by id (removed ones keep their id), and events that wait.

struct thing {
    char *id, *type, *data; //  data as JSON; NULL: removed
    char *source, *target;
};

struct run {
    struct thing things[64];
    size_t count;
    char *queue[64]; //  events as JSON
    size_t first, last;
    unsigned created, changed, removed, reported;
    uint64_t next_relation;
};

static struct thing *
find (struct run *run, const char *id)
{
    for (size_t i = 0; i < run->count; i++)
        if (!strcmp (run->things[i].id, id))
            return &run->things[i];
    return NULL;
}

static const char *
data_of (struct run *run, const char *id)
{
    struct thing *thing = find (run, id);
    return thing && thing->data ? thing->data : "none";
}

static char *
text_of (struct ag_str map, const char *key)
{
    struct ag_str text;
    return ag_map_text (map, key, &text) ? NULL : ag_str_dup (text);
}

static char *
json_of (struct ag_str map, const char *key)
{
    struct ag_str value;
    struct ag_buf json = {0};
    assert_int_equal (ag_map_get (map, key, &value), 0);
    ag_json_write (value, AG_JSON_LINE, &json);
    ag_buf_add (&json, "", 1);
    return (char *)json.p;
}

static void
make (struct run *run, struct ag_str op)
{
    struct thing *thing = &run->things[run->count];
    char *id = text_of (op, "id");
    if (find (run, id))
        fail_msg ("%s is used twice", id);
    *thing = (struct thing){id, text_of (op, "type"), json_of (op, "data"), text_of (op, "source"),
                            text_of (op, "target")};
    if (thing->source) {
        assert_string_not_equal (data_of (run, thing->source), "none");
        assert_string_not_equal (data_of (run, thing->target), "none");
        run->next_relation++;
    }
    run->count++;
    run->created++;
}

static void
change (struct run *run, struct ag_str op, bool away)
{
    char *id = text_of (op, "id");
    struct thing *thing = find (run, id);
    assert_true (thing && thing->data);
    free (thing->data);
    thing->data = away ? NULL : json_of (op, "data");
    run->changed += !away;
    run->removed += away;
    free (id);
}

static void
emit (struct run *run, struct ag_str op)
{
    char *type = text_of (op, "type"), *payload = json_of (op, "payload");
    run->reported += !strcmp (type, "finding.reported");
    run->queue[run->last++ % 64] = ag_xprintf ("{\"type\":\"%s\",\"payload\":%s}", type, payload);
    free (type);
    free (payload);
}

static void
commit (struct run *run, struct ag_str done)
{
    struct ag_str ops, op, name;
    struct ag_head head;
    assert_int_equal (ag_map_get (done, "ops", &ops), 0);
    struct ag_cursor in = ag_cursor (ops);
    assert_int_equal (ag_next (&in, &head), 0);
    while (!ag_take (&in, &op)) {
        ag_map_text (op, "op", &name);
        if (ag_str_is (name, "emit"))
            emit (run, op);
        else if (ag_str_starts (name, "add_"))
            make (run, op);
        else
            change (run, op, ag_str_starts (name, "remove_"));
    }
}

static void
answer_get (struct run *run, struct fake *fake)
{
    struct ag_buf list = {0};
    struct ag_str asked = ag_buf_str (&fake->heard);
    char *id = text_of (asked, "id"), *type = text_of (asked, "type");
    for (size_t i = 0; i < run->count; i++) {
        struct thing *thing = &run->things[i];
        if (thing->data && !thing->source &&
            (id ? !strcmp (id, thing->id) : !strcmp (type, thing->type)))
            ag_buf_text (&list, "%s{\"id\":\"%s\",\"type\":\"%s\",\"data\":%s,\"version\":1}",
                         list.n ? "," : "", thing->id, thing->type, thing->data);
    }
    fake_say (fake, "{\"do\":\"ok\",\"objects\":[%.*s],\"relations\":[],\"more\":false}",
              AG_STR_ARG (ag_buf_str (&list)));
    ag_buf_fini (&list);
    free (id);
    free (type);
}

//  The next event that a behaviour asks for, or stop: false.
static bool
hand_out (struct run *run, struct fake *fake)
{
    static const char *const behaviors[][2] = {
        {"goal.created", "survey"}, {"document.due", "judge"}, {"report.due", "sum_up"}};
    for (; run->first < run->last; run->first++) {
        char *event = run->queue[run->first % 64];
        const char *name = NULL;
        for (size_t i = 0; i < 3; i++)
            name = strstr (event, behaviors[i][0]) ? behaviors[i][1] : name;
        if (name)
            fake_say (fake,
                      "{\"do\":\"invoke\",\"behavior\":\"%s\",\"event\":%s,\"mint\":{\"object\":1,"
                      "\"relation\":%llu},\"seed\":1}",
                      name, event, (unsigned long long)run->next_relation);
        free (event);
        if (name) {
            run->first++;
            return true;
        }
    }
    fake_say (fake, "{\"do\":\"stop\",\"reason\":\"idle\"}");
    return false;
}

//  The files of the pack, as `welcome` carries them.
static void
welcome (struct fake *fake, const char *settings)
{
    static const char *const files[] = {"copyright.lua", "equal.lua", "findings.lua", "main.lua",
                                        "manifest.toml"};
    struct ag_buf *out = &fake->said;
    ag_buf_clear (out);
    ag_put_map (out, 2);
    fake_put_json (out, "do", "\"welcome\"");
    ag_put_lit (out, "packs");
    ag_put_list (out, 1);
    ag_put_map (out, 3);
    fake_put_json (out, "name", "\"licences\"");
    fake_put_json (out, "settings", settings);
    ag_put_lit (out, "files");
    ag_put_list (out, 5);
    for (size_t i = 0; i < 5; i++) {
        char *name = ag_xprintf ("packs/licences/%s", files[i]), *path = source_path (name);
        struct ag_buf bytes = {0};
        read_file (path, &bytes);
        ag_put_map (out, 2);
        ag_put_lit (out, "path");
        ag_put_lit (out, files[i]);
        ag_put_lit (out, "bytes");
        ag_put_bytes (out, ag_buf_str (&bytes));
        ag_buf_fini (&bytes);
        free (path);
        free (name);
    }
    fake_send (fake, ag_buf_str (out));
}

//  Set a goal and serve the worker until nothing is left to do.
static void
audit (struct run *run, const char *machine, double strict)
{
    struct fake fake;
    char *grants = ag_xprintf ("%s/doc:%s/common", machine, machine);
    char *settings =
        ag_xprintf ("{\"documents\":\"%s/doc\",\"licences\":\"%s/common\",\"strict\":%.1f}",
                    machine, machine, strict);
    run->queue[run->last++ % 64] =
        ag_xstrdup ("{\"type\":\"goal.created\",\"payload\":{\"goal\":\"audit\"}}");
    run->created = run->changed = run->removed = run->reported = 0;
    run->next_relation += !run->next_relation;
    fake_start (&fake, grants);
    fake_hear (&fake);
    welcome (&fake, settings);
    for (bool more = true; more;) {
        const char *heard = fake_hear (&fake);
        if (strstr (heard, "{\"do\":\"get\""))
            answer_get (run, &fake);
        else if (strstr (heard, "{\"do\":\"effect\""))
            fake_say (&fake, "{\"do\":\"go\"}");
        else if (strstr (heard, "{\"do\":\"outcome\"") || strstr (heard, "{\"do\":\"register\""))
            fake_say (&fake, "{\"do\":\"ok\"}");
        else if (strstr (heard, "{\"do\":\"fail\""))
            fail_msg ("%s", heard);
        else {
            if (strstr (heard, "{\"do\":\"done\""))
                commit (run, ag_buf_str (&fake.heard));
            more = hand_out (run, &fake);
        }
    }
    fake.json.n = 0;
    assert_int_equal (fake_end (&fake), 0);
    free (grants);
    free (settings);
}

//  The machine.

static const char toy[] =
    "The toy licence, first edition. Anybody may take this work apart, look at how it is made and "
    "put it "
    "together again in another way, alone or with others, for money or for joy, as long as whoever "
    "gets it "
    "next is told by whom it was made first and may do the same with what was made of it. There is "
    "no "
    "promise that it works, that it is good for anything or that it does no harm.\n";

//  Two thirds of it in the same words.
static const char near_toy[] =
    " The toy licence, first edition. Anybody may take this work apart, look at how it is made and "
    "put it\n"
    " together again in another way, alone or with others, for money or for joy, as long as "
    "whoever gets it\n"
    " next is told by whom it was made first and may do the same with what was made of it.\n"
    " .\n"
    " Our lawyers add that all of this ends when the moon is full or when we no longer like your "
    "face.\n";

#define DEP5 "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\n"

static void
put_file (const char *machine, const char *name, const char *text)
{
    char *path = ag_xprintf ("%s/%s", machine, name), *slash = strrchr (path, '/');
    *slash = 0;
    mkdir (path, 0700);
    *slash = '/';
    int fd = open (path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true (fd >= 0 && write (fd, text, strlen (text)) == (ssize_t)strlen (text));
    close (fd);
    free (path);
}

static void
put_delta (const char *machine, const char *body)
{
    char *text = ag_xprintf (DEP5 "Files: *\nCopyright: 2020 D\nLicense: TOY-1\n%s", body);
    put_file (machine, "doc/delta/copyright", text);
    free (text);
}

struct world {
    char machine[32];
    struct run run;
};

static int
build (void **state)
{
    struct world *world = ag_xcalloc (1, sizeof *world);
    char *machine = world->machine;
    strcpy (machine, "/tmp/agsup-machine-XXXXXX");
    assert_non_null (mkdtemp (machine));
    put_file (machine, "common/TOY-1", toy);
    put_file (machine, "doc/README", "not a package\n");
    put_file (machine, "doc/alpha/copyright",
              DEP5 "Files: *\nLicense: TOY-1+ and Mine\n\nLicense: TOY-1+\n The full text is in\n"
                   " /usr/share/common-licenses/TOY-1.\n\nLicense: Mine\n Do as you like.\n");
    put_file (machine, "doc/beta/copyright", DEP5 "Files: *\nLicense: Theirs or TOY-1\n");
    put_file (machine, "doc/gamma/copyright",
              "It is under a BSD licence, see\n/usr/share/common-licenses/TOY-9.\n");
    put_delta (machine, near_toy);
    put_file (machine, "doc/r7.1/copyright",
              "Gr\xfc\xdf"
              "e!\n");
    put_file (machine, "doc/odd @ name/copyright",
              "Redistribution and use in source and\nbinary forms ...\n");
    put_file (machine, "doc/empty/changelog", "");
    *state = world;
    return 0;
}

static int
sweep (void **state)
{
    struct world *world = *state;
    char *command = ag_xprintf ("rm -r %s", world->machine);
    assert_int_equal (system (command), 0);
    free (command);
    for (size_t i = 0; i < world->run.count; i++) {
        struct thing *thing = &world->run.things[i];
        free (thing->id);
        free (thing->type);
        free (thing->data);
        free (thing->source);
        free (thing->target);
    }
    free (world);
    return 0;
}

static void
says (struct run *run, const char *id, const char *part)
{
    if (!strstr (data_of (run, id), part))
        fail_msg ("%s: %s, without %s", id, data_of (run, id), part);
}

static void
an_audit_finds_what_does_not_hold_and_nothing_else (void **state)
{
    struct world *world = *state;
    struct run *run = &world->run;
    audit (run, world->machine, 0.8);
    says (run, "document#alpha", "\"findings\":[],");
    says (run, "document#alpha", "\"licences\":[\"Mine\",\"TOY-1+\"]");
    says (run, "finding#beta/undefined-name/Theirs", "\"text\":\"License: Theirs or TOY-1\"");
    says (run, "finding#gamma/dead-reference/TOY-9",
          "\"text\":\"/usr/share/common-licenses/TOY-9.\"");
    says (run, "finding#delta/text-differs/TOY-1", "\"similarity\":0.7");
    says (run, "finding#r7_1/no-licence/none", "\"text\":\"Gr??e!\\n\"");
    says (run, "document#odd___name", "\"licences\":[\"BSD\"]");
    says (run, "report#licences",
          "{\"documents\":6,\"findings\":4,\"kinds\":{\"dead-reference\":1,\"no-licence\":1,"
          "\"text-differs\":1,\"undefined-name\":1},\"machine_readable\":3,\"strict\":0.8}");
    assert_int_equal (run->reported, 4);
    assert_int_equal (run->created,
                      1 + 6 + 4 + 4 + 1); //  licence, documents, findings, relations, report
    struct thing *relation = find (run, "rel_001");
    assert_string_equal (relation->type, "found_in");
    assert_string_equal (relation->target, "document#beta");
}

static void
a_second_audit_of_the_same_machine_changes_nothing (void **state)
{
    struct world *world = *state;
    struct run *run = &world->run;
    audit (run, world->machine, 0.8);
    audit (run, world->machine, 0.8);
    assert_int_equal (run->created + run->changed + run->removed + run->reported, 0);
}

static void
another_threshold_judges_every_document_again (void **state)
{
    struct world *world = *state;
    struct run *run = &world->run;
    audit (run, world->machine, 0.8);
    audit (run, world->machine, 0.5);
    assert_string_equal (data_of (run, "finding#delta/text-differs/TOY-1"), "none");
    assert_int_equal (run->removed, 1);
    assert_int_equal (run->changed, 2); //  its document, the report
    audit (run, world->machine, 0.8);
    says (run, "finding#delta/text-differs/TOY-1/2", "\"similarity\":0.7");
    assert_int_equal (run->reported, 1);
    audit (run, world->machine, 0.5);
    audit (run, world->machine, 0.8);
    says (run, "finding#delta/text-differs/TOY-1/3", "\"similarity\":0.7");
}

static void
a_file_that_changed_has_its_findings_changed (void **state)
{
    struct world *world = *state;
    struct run *run = &world->run;
    audit (run, world->machine, 0.8);
    put_delta (world->machine, " Something else altogether, in ten words or a few more.\n");
    audit (run, world->machine, 0.8);
    says (run, "finding#delta/text-differs/TOY-1", "\"severity\":\"medium\",\"similarity\":0.0");
    assert_int_equal (run->changed, 2); //  the finding, and the document's hash
    assert_int_equal (run->reported, 1);
}

static void
a_package_that_is_gone_has_no_findings_until_it_is_back (void **state)
{
    struct world *world = *state;
    struct run *run = &world->run;
    char *there = ag_xprintf ("%s/doc/delta", world->machine),
         *away = ag_xprintf ("%s/away", world->machine);
    audit (run, world->machine, 0.8);
    assert_int_equal (rename (there, away), 0);
    audit (run, world->machine, 0.8);
    assert_int_equal (run->removed, 1);
    says (run, "document#delta", "\"gone\":true");
    assert_int_equal (rename (away, there), 0);
    audit (run, world->machine, 0.8);
    says (run, "document#delta", "\"findings\":[\"finding#delta/text-differs/TOY-1/2\"]");
    assert_null (strstr (data_of (run, "document#delta"), "gone"));
    free (there);
    free (away);
}

//  The content hash of the reference: path, 0, length, bytes of each file in the order of their paths.
static void
the_manifest_carries_the_hash_of_the_other_files (void **state)
{
    static const char *const files[] = {"copyright.lua", "equal.lua", "findings.lua", "main.lua",
                                        "settings.toml"};
    struct ag_sha256 sha;
    struct ag_buf manifest = {0};
    uint8_t hash[AG_HASH];
    char hex[2 * AG_HASH + 1];
    (void)state;
    ag_sha256_init (&sha);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *name = ag_xprintf ("packs/licences/%s", files[i]), *path = source_path (name);
        struct ag_buf bytes = {0}, head = {0};
        read_file (path, &bytes);
        ag_buf_add (&head, files[i], strlen (files[i]) + 1);
        ag_buf_be64 (&head, bytes.n);
        ag_sha256_add (&sha, ag_buf_str (&head));
        ag_sha256_add (&sha, ag_buf_str (&bytes));
        ag_buf_fini (&bytes);
        ag_buf_fini (&head);
        free (path);
        free (name);
    }
    ag_sha256_end (&sha, hash);
    ag_hex (hash, sizeof hash, hex);
    char *path = source_path ("packs/licences/manifest.toml");
    read_file (path, &manifest);
    ag_buf_add (&manifest, "", 1);
    if (!strstr ((char *)manifest.p, hex))
        fail_msg ("content_hash is sha256:%s", hex);
    ag_buf_fini (&manifest);
    free (path);
}

//  The agent that hears the auditor.

static const char finding[] =
    "{\"id\":\"finding#d/text-differs/T\",\"package\":\"d\",\"kind\":\"text-differs\","
    "\"name\":\"T\",\"text\":\"t\",\"similarity\":%s}";

//  Answer what one judgement asks; the verdict that is stored before is prior.
static void
serve_judgement (struct fake *fake, const char *prior)
{
    assert_string_equal (fake_hear (fake),
                         "{\"do\":\"get\",\"id\":\"verdict#finding#d/text-differs/T\"}");
    fake_say (fake, "{\"do\":\"ok\",\"objects\":[%s],\"relations\":[],\"more\":false}", prior);
    if (*prior)
        return;
    assert_non_null (strstr (fake_hear (fake),
                             "{\"do\":\"effect\",\"tool\":\"judge\",\"args\":{\"finding\":"
                             "\"finding#d/text-differs/T\",\"text\":\"t\"},\"idempotent\":true}"));
    fake_say (fake, "{\"do\":\"go\"}");
    assert_non_null (strstr (fake_hear (fake), "{\"do\":\"outcome\",\"output\":{\"opinion\":"));
    fake_say (fake, "{\"do\":\"ok\"}");
}

static void
tell (struct fake *fake, const char *type, const char *data)
{
    fake_say (fake,
              "{\"do\":\"invoke\",\"behavior\":\"judge\",\"event\":{\"type\":\"message.received\","
              "\"payload\":"
              "{\"from_run\":\"r1\",\"event_id\":\"evt_9\",\"type\":\"%s\",\"data\":%s}}}",
              type, data);
}

static void
the_second_opinion_judges_what_has_no_verdict_yet (void **state)
{
    struct fake fake;
    char *data = ag_xprintf (finding, "0.7"),
         *script = source_path ("conf/quickstart/agents/second_opinion.py");
    (void)state;
    if (system ("/usr/bin/python3 -c 'import zmq, msgpack' 2>/dev/null")) {
        print_message ("skipped: python3-zmq and python3-msgpack are not here\n");
        free (data);
        free (script);
        skip();
    }
    fake_listen (&fake);
    fake_spawn (&fake, (char *[]){"/usr/bin/python3", script, NULL}, NULL);
    assert_non_null (strstr (fake_hear (&fake),
                             "\"behaviors\":[{\"name\":\"judge\",\"on\":[\"message.received\"]}]"));
    fake_say (&fake, "{\"do\":\"welcome\",\"run\":\"r2\",\"agent\":\"reviewer\",\"fork\":false,"
                     "\"settings\":{},\"limits\":{}}");
    assert_string_equal (fake_hear (&fake), "{\"do\":\"next\"}");
    tell (&fake, "finding.reported", data);
    serve_judgement (&fake, "");
    assert_non_null (
        strstr (fake_hear (&fake),
                "{\"do\":\"done\",\"ops\":[{\"op\":\"add_object\",\"type\":\"verdict\",\"id\":"
                "\"verdict#finding#d/text-differs/T\",\"data\":{\"finding\":"
                "\"finding#d/text-differs/T\",\"opinion\":\"dismiss\""));
    tell (&fake, "finding.reported", data);
    serve_judgement (&fake, "{\"id\":\"verdict#finding#d/text-differs/T\"}");
    assert_string_equal (fake_hear (&fake), "{\"do\":\"done\",\"ops\":[],\"next\":true}");
    free (data);
    data = ag_xprintf (finding, "0.2");
    char *block =
        ag_xprintf ("{\"objects\":[{\"id\":\"document#d\",\"type\":\"document\",\"data\":{}},"
                    "{\"id\":\"finding#d/text-differs/T\",\"type\":\"finding\",\"data\":%s}]}",
                    data);
    tell (&fake, "promote.applied", block);
    serve_judgement (&fake, "");
    assert_non_null (
        strstr (fake_hear (&fake), "\"opinion\":\"agree\",\"reason\":\"only 20% of it"));
    fake_say (&fake, "{\"do\":\"stop\",\"reason\":\"idle\"}");
    fake.json.n = 0;
    assert_int_equal (fake_end (&fake), 0);
    free (block);
    free (data);
    free (script);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (an_audit_finds_what_does_not_hold_and_nothing_else, build,
                                         sweep),
        cmocka_unit_test_setup_teardown (a_second_audit_of_the_same_machine_changes_nothing, build,
                                         sweep),
        cmocka_unit_test_setup_teardown (another_threshold_judges_every_document_again, build,
                                         sweep),
        cmocka_unit_test_setup_teardown (a_file_that_changed_has_its_findings_changed, build,
                                         sweep),
        cmocka_unit_test_setup_teardown (a_package_that_is_gone_has_no_findings_until_it_is_back,
                                         build, sweep),
        cmocka_unit_test (the_manifest_carries_the_hash_of_the_other_files),
        cmocka_unit_test (the_second_opinion_judges_what_has_no_verdict_yet),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
