//  SPDX-License-Identifier: Apache-2.0
#include "common/pack.h"
#include "common/json.h"
#include "common/scratch_test.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MANIFEST "[pack]\nname = \"demo\"\nversion = \"1.0\"\ndescription = \"A demo\"\n"

static int
try_read (struct ag_buf *out, struct ag_err *err)
{
    ag_buf_clear (out);
    return ag_pack_read (scratch, out, err);
}

static void
a_pack_is_its_manifest_its_settings_and_its_files_in_order (void **state)
{
    (void)state;
    struct ag_buf out = {0}, text = {0};
    struct ag_err err;
    scratch_put ("manifest.toml", MANIFEST);
    scratch_put ("settings.toml", "strict = 0.8\n");
    scratch_put ("b.lua", "return 2\n");
    scratch_put ("a.lua", "return 1\n");
    assert_int_equal (try_read (&out, &err), 0);
    struct ag_str files, hash, pack = ag_buf_str (&out);
    assert_int_equal (ag_map_get (pack, "files", &files), 0);
    ag_json_write (files, AG_JSON_LINE, &text);
    ag_buf_add (&text, "", 1);
    assert_non_null (strstr ((char *)text.p, "{\"path\":\"a.lua\",\"bytes\":\"return 1\\n\"},"
                                             "{\"path\":\"b.lua\",\"bytes\":\"return 2\\n\"}"));
    assert_int_equal (ag_map_text (pack, "bundle_hash", &hash), 0);
    assert_true (ag_str_starts (hash, "sha256:") && hash.n == 71);
    struct ag_str given = AG_LIT ("\x81\xa6stricd\x01");
    assert_int_equal (ag_pack_check_settings (pack, given, &err), -1);
    assert_non_null (strstr (err.text, "no setting stricd: its settings.toml declares strict"));
    ag_buf_fini (&out);
    ag_buf_fini (&text);
}

static void
hash_is (const char *wanted)
{
    struct ag_buf out = {0};
    struct ag_err err;
    struct ag_str hash;
    if (try_read (&out, &err))
        fail_msg ("%s", err.text);
    assert_int_equal (ag_map_text (ag_buf_str (&out), "bundle_hash", &hash), 0);
    if (!ag_str_is (hash, wanted))
        fail_msg ("%.*s", AG_STR_ARG (hash));
    ag_buf_fini (&out);
}

//  Computed with sha256sum over path, 0, length and bytes of each file, in the order of the paths' bytes.
static void
the_bundle_hash_is_the_reference_s (void **state)
{
    (void)state;
    scratch_put ("manifest.toml", MANIFEST);
    scratch_put ("a-c.lua", "");
    scratch_put ("a.lua", "return 2\n");
    char *sub = ag_xprintf ("%s/a", scratch);
    assert_int_equal (mkdir (sub, 0700), 0);
    free (sub);
    scratch_put ("a/b.lua", "return 1\n");
    scratch_put ("a/Z.lua", "\r\n");
    hash_is ("sha256:9c09f8ccf4c4310fa709a087488c89823adb462314aae9d413352713bb959ddd");
    scratch_put (".hidden", "x");
    scratch_put ("c.pyc", "x");
    hash_is ("sha256:9c09f8ccf4c4310fa709a087488c89823adb462314aae9d413352713bb959ddd");
}

static void
hashes_are (const char *content, const char *bundle)
{
    struct ag_buf out = {0};
    struct ag_err err;
    struct ag_str hash;
    if (ag_pack_hash (scratch, &out, &err))
        fail_msg ("%s", err.text);
    ag_map_text (ag_buf_str (&out), "content_hash", &hash);
    if (!ag_str_is (hash, content))
        fail_msg ("content %.*s", AG_STR_ARG (hash));
    ag_map_text (ag_buf_str (&out), "bundle_hash", &hash);
    if (!ag_str_is (hash, bundle))
        fail_msg ("bundle %.*s", AG_STR_ARG (hash));
    ag_buf_fini (&out);
}

static void
folder (const char *path)
{
    char *name = ag_xprintf ("%s/%s", scratch, path);
    assert_int_equal (mkdir (name, 0700), 0);
    free (name);
}

//  V1 to V8 of the reference; each in a folder of its own.
static void
hashes_are_those_of_the_golden_vectors (void **state)
{
    static const struct {
        const char *files[4][2], *content, *bundle; //  bundle NULL: the same
    } vectors[] = {
        {{{"__init__.py", "# pack module\n"}, {"behaviors.py", "x = 1\n"}},
         "sha256:1d06408354339e829c84218f08344a194c5e871ca6d1453cb182178931c33b2d",
         NULL},
        {{{"__init__.py", "# pack module\n"},
          {"behaviors.py", "x = 1\n"},
          {"manifest.toml", "[pack]\nname = \"demo\"\n"}},
         "sha256:1d06408354339e829c84218f08344a194c5e871ca6d1453cb182178931c33b2d",
         "sha256:6ff8fea50a2cb8b90599164ebbb0e1778cb11afa42a2e224b4cb0b37c670b657"},
        {{{".hidden", "x"}, {"x.pyc", "x"}},
         "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
         NULL},
        {{{"a/b.lua", "return 1\n"}, {"a.lua", "return 2\n"}, {"a-c.lua", ""}, {"a/Z.lua", "\r\n"}},
         "sha256:f2129c64d5b6f001aee68c86abbc0d09c87d7fa7e71414bff2bfef94fd5d1960",
         NULL},
        {{{"caf\xc3\xa9.lua", "q\n"}},
         "sha256:19d61fb4f5bbda2648eadb8f1b2c665202440c7431c897b06d0ee32248f373f7",
         NULL},
        {{{"x", "a"}},
         "sha256:3110c875fed77a1088124da0995ed3e2782d7b74d73d7b8bc54229c282d8f343",
         NULL},
        {{{"xa", ""}},
         "sha256:566b7455d88fe62870add9fd7169387a6b4e527f576b990ed3caf55a1464d58f",
         NULL},
        {{{"m.lua", "return 1\r\n"}},
         "sha256:0dc4ccb29e59e127b45120253bb6119b157a228fdc1ccc3ccbacd427129d63b2",
         NULL},
        {{{"m.lua", "return 1\n"}},
         "sha256:49da6ef3e9585be31d526042fc738430167f17e74e02fe88dcdacf3c4538fe70",
         NULL},
        {{{"sub/manifest.toml", "z"}},
         "sha256:6b0aba0507effea25b047115cf3b8a2cf7739ce12125aee1c8b7bc0613b0dcdf",
         NULL},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        assert_int_equal (scratch_begin (state), 0);
        folder ("a");
        folder ("sub");
        folder ("__pycache__");
        scratch_put ("__pycache__/x.lua", "x");
        for (size_t k = 0; k < 4 && vectors[i].files[k][0]; k++)
            scratch_put (vectors[i].files[k][0], vectors[i].files[k][1]);
        hashes_are (vectors[i].content, vectors[i].bundle ? vectors[i].bundle : vectors[i].content);
        assert_int_equal (scratch_end (state), 0);
    }
    assert_int_equal (scratch_begin (state), 0);
}

//  Content and bundle hash together.
static char *
both_hashes (void)
{
    struct ag_buf out = {0}, text = {0};
    struct ag_err err;
    struct ag_str content, bundle;
    if (ag_pack_hash (scratch, &out, &err))
        fail_msg ("%s", err.text);
    assert_int_equal (ag_map_text (ag_buf_str (&out), "content_hash", &content), 0);
    assert_int_equal (ag_map_text (ag_buf_str (&out), "bundle_hash", &bundle), 0);
    ag_buf_text (&text, "%.*s %.*s", AG_STR_ARG (content), AG_STR_ARG (bundle));
    ag_buf_add (&text, "", 1);
    ag_buf_fini (&out);
    return (char *)text.p;
}

//  Which of the two hashes moved since.
static void
moved (char **before, bool content, bool bundle)
{
    char *now = both_hashes();
    assert_int_equal (memcmp (now, *before, 71) != 0, content);
    assert_int_equal (strcmp (now + 72, *before + 72) != 0, bundle);
    free (*before);
    *before = now;
}

static void
cases_31_to_36_and_42_to_48_what_moves_which_hash (void **state)
{
    (void)state;
    char *file = ag_xprintf ("%s/a.lua", scratch), *other = ag_xprintf ("%s/b.lua", scratch);
    scratch_put ("manifest.toml", MANIFEST);
    scratch_put ("a.lua", "return 1\n");
    folder ("sub");
    scratch_put ("sub/manifest.toml", "z");
    char *before = both_hashes();
    scratch_put ("tools.lua", "");
    moved (&before, true, true);
    scratch_put ("manifest.toml", MANIFEST "# a comment\n");
    moved (&before, false, true);
    scratch_put ("manifest.toml", MANIFEST "[[surface.capabilities]]\nrisk_class = \"low\"\n");
    moved (&before, false, true);
    scratch_put (".hidden", "x");
    scratch_put ("x.pyc", "x");
    folder ("__pycache__");
    scratch_put ("__pycache__/y.lua", "x");
    folder ("empty");
    moved (&before, false, false);
    assert_int_equal (chmod (file, 0755), 0);
    moved (&before, false, false);
    scratch_put ("a.lua", "return 1\r\n");
    moved (&before, true, true);
    assert_int_equal (rename (file, other), 0);
    moved (&before, true, true);
    scratch_put ("sub/manifest.toml", "y");
    moved (&before, true, true);
    free (before);
    free (file);
    free (other);
}

static void
refused (const char *what)
{
    struct ag_buf out = {0};
    struct ag_err err;
    assert_int_equal (try_read (&out, &err), -1);
    assert_int_equal (err.code, AG_E_PACK);
    if (!strstr (err.text, what))
        fail_msg ("%s", err.text);
    assert_int_equal (out.n, 0);
    ag_buf_fini (&out);
}

static void
what_is_no_pack_is_refused_by_name (void **state)
{
    (void)state;
    refused ("there is no manifest.toml");
    scratch_put ("manifest.toml", "[pack\n");
    refused ("manifest.toml:1:");
    scratch_put ("manifest.toml", "x = 1\n");
    refused ("pack is missing (and 4 more");
    scratch_put ("manifest.toml", "[pack]\nname = \"demo\"\nversion = 1\ndescription = \"x\"\n");
    refused ("manifest.toml:3:1: pack.version is no text");
    scratch_put ("manifest.toml", MANIFEST);
    struct ag_buf many = {0};
    for (int i = 0; i <= 1000; i++)
        ag_buf_text (&many, "s%d = 1\n", i);
    ag_buf_add (&many, "", 1);
    scratch_put ("settings.toml", (char *)many.p);
    ag_buf_fini (&many);
    refused ("settings.toml: more than 1000 settings");
    scratch_put ("settings.toml", "s = 1\n");
    char *link = ag_xprintf ("%s/link.lua", scratch);
    assert_int_equal (symlink ("/etc/passwd", link), 0);
    refused ("link.lua: a symbolic link");
    unlink (link);
    free (link);
    scratch_put ("cafe\xcc\x81.lua", "");
    refused ("is not in NFC");
}

static void
a_check_tells_all_that_is_wrong_with_the_manifest_and_the_files (void **state)
{
    (void)state;
    struct ag_buf problems = {0};
    struct ag_err err;
    size_t count = 0;
    scratch_put (
        "manifest.toml",
        "[pack]\nname = 'demo'\nversion = '1'\ndescription = 'x'\n[pack.provenance]\n"
        "authored_by = 'human'\n[pack.integrity]\ncontent_hash = "
        "'sha256:0000000000000000000000000000000000000000000000000000000000000000'\n"
        "[dependencies]\nactivegraph = '>=1'\n[surface]\n[fixtures]\nentrypoint = 'no.lua'\n"
        "deterministic = true\n");
    scratch_put ("settings.toml", "x =\n");
    assert_int_equal (ag_pack_check (scratch, &problems, &count, &err), 0);
    ag_buf_add (&problems, "", 1);
    assert_int_equal (count, 3);
    assert_non_null (strstr ((char *)problems.p, "content_hash is not that of the files, sha256:"));
    assert_non_null (strstr ((char *)problems.p, "fixtures.entrypoint no.lua is no file"));
    assert_non_null (strstr ((char *)problems.p, "settings.toml: 1:"));
    ag_buf_clear (&problems);
    scratch_put ("manifest.toml", MANIFEST);
    assert_int_equal (ag_pack_check (scratch, &problems, &count, &err), 0);
    assert_true (count > 6);
    ag_buf_fini (&problems);
}

static void
files_of_a_request_are_the_same_pack_and_their_paths_are_plain (void **state)
{
    (void)state;
    struct ag_buf out = {0}, files = {0};
    struct ag_err err;
    const char *const bad[] = {
        "/etc/x",           "../x", "a//b", "a/", ".a", "a/.b", "", "a.pyc", "__pycache__/a",
        "a/b/c/d/e/f/g/h/i"};
    const char *good =
        "[{\"path\":\"manifest.toml\",\"bytes\":\"[pack]\\nname=\\\"dd\\\"\\nversion="
        "\\\"1\\\"\\ndescription=\\\"x\\\"\\n\"}]";
    assert_int_equal (ag_json_read (ag_str (good), &files, &err), 0);
    assert_int_equal (ag_pack_from (ag_buf_str (&files), &out, &err), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *json = ag_xprintf ("[{\"path\":\"%s\",\"bytes\":\"\"}]", bad[i]);
        ag_buf_clear (&files);
        assert_int_equal (ag_json_read (ag_str (json), &files, &err), 0);
        assert_int_equal (ag_pack_from (ag_buf_str (&files), &out, &err), -1);
        assert_non_null (strstr (err.text, "with a relative path"));
        free (json);
    }
    const char *twice = "[{\"path\":\"a\",\"bytes\":\"1\"},{\"path\":\"a\",\"bytes\":\"2\"}]";
    ag_buf_clear (&files);
    assert_int_equal (ag_json_read (ag_str (twice), &files, &err), 0);
    assert_int_equal (ag_pack_from (ag_buf_str (&files), &out, &err), -1);
    assert_string_equal (err.text, "a is there twice");
    const char *inside = "[{\"path\":\"a/b\",\"bytes\":\"1\"},{\"path\":\"a\",\"bytes\":\"2\"}]";
    ag_buf_clear (&files);
    assert_int_equal (ag_json_read (ag_str (inside), &files, &err), 0);
    assert_int_equal (ag_pack_from (ag_buf_str (&files), &out, &err), -1);
    assert_string_equal (err.text, "a is a file, and a/b is in it");
    ag_buf_fini (&out);
    ag_buf_fini (&files);
}

//  The pack of the folder as a request carries it, and what comes of that.
static int
try_pinned (struct ag_str pin, struct ag_err *err)
{
    struct ag_buf sent = {0}, pack = {0};
    struct ag_str files = {0};
    int rc = ag_pack_bundle (scratch, pin, &sent, err);
    if (!rc) {
        ag_map_get (ag_buf_str (&sent), "files", &files);
        rc = ag_pack_from (files, &pack, err);
    }
    if (!rc)
        rc = ag_pack_check_pin (ag_buf_str (&pack), pin, err);
    ag_buf_fini (&sent);
    ag_buf_fini (&pack);
    return rc;
}

static void
case_71_a_content_hash_that_is_not_that_of_the_files_is_refused_at_load (void **state)
{
    (void)state;
    struct ag_buf hashes = {0}, out = {0};
    struct ag_err err;
    struct ag_str content;
    scratch_put ("main.lua", "return 1\n");
    scratch_put ("manifest.toml", MANIFEST);
    assert_int_equal (ag_pack_hash (scratch, &hashes, &err), 0);
    assert_int_equal (ag_map_text (ag_buf_str (&hashes), "content_hash", &content), 0);
    char *manifest = ag_xprintf ("%s[pack.integrity]\ncontent_hash = \"%.*s\"\n", MANIFEST,
                                 AG_STR_ARG (content));
    scratch_put ("manifest.toml", manifest);
    assert_int_equal (try_read (&out, &err), 0);
    scratch_put ("main.lua", "return 2\n");
    refused ("manifest.toml: pack.integrity.content_hash is not that of the files, sha256:");
    char *remedy = ag_xprintf ("`agsup pack hash %s --write`", scratch);
    refused (remedy);
    free (remedy);
    assert_int_equal (try_pinned ((struct ag_str){0}, &err), -1);
    assert_non_null (strstr (err.text, "`agsup pack hash DIR --write`"));
    free (manifest);
    ag_buf_fini (&hashes);
    ag_buf_fini (&out);
}

static void
cases_34_and_49_a_pin_that_differs_anywhere_or_is_none_is_refused (void **state)
{
    static const char *const bad[] = {
        "",
        "md5:abcd",
        "sha256:000000000000000000000000000000000000000000000000000000000000000",
        "sha256:00000000000000000000000000000000000000000000000000000000000000000",
        "sha256:000000000000000000000000000000000000000000000000000000000000000A",
    };
    struct ag_buf hashes = {0};
    struct ag_err err;
    struct ag_str hash;
    char pin[72];
    (void)state;
    scratch_put ("main.lua", "return 1\n");
    scratch_put ("manifest.toml", MANIFEST);
    assert_int_equal (ag_pack_hash (scratch, &hashes, &err), 0);
    assert_int_equal (ag_map_text (ag_buf_str (&hashes), "bundle_hash", &hash), 0);
    snprintf (pin, sizeof pin, "%.*s", AG_STR_ARG (hash));
    assert_int_equal (try_pinned (ag_str (pin), &err), 0);
    for (size_t i = 7; i < 71; i++) {
        char was = pin[i];
        pin[i] = was == '0' ? '1' : '0';
        assert_int_equal (try_pinned (ag_str (pin), &err), -1);
        assert_int_equal (err.code, AG_E_PACK);
        assert_non_null (strstr (err.text, "bundle hash mismatch: pack demo is sha256:"));
        pin[i] = was;
    }
    scratch_put ("manifest.toml", MANIFEST "license = \"MIT\"\n"); //  the code is the same
    assert_int_equal (try_pinned (ag_str (pin), &err), -1);
    assert_non_null (strstr (err.text, "bundle hash mismatch"));
    scratch_put ("link-would-be-seen", "");
    char *link = ag_xprintf ("%s/link", scratch);
    assert_int_equal (symlink ("/etc", link), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) { //  before the folder is looked at
        assert_int_equal (try_pinned (ag_str (bad[i]), &err), -1);
        assert_int_equal (err.code, AG_E_USAGE);
        assert_non_null (strstr (err.text, "not sha256: and 64 digits"));
    }
    free (link);
    ag_buf_fini (&hashes);
}

//  Another process puts one file in the place of the other as fast as it can.
static pid_t
swap (const char *names[2])
{
    pid_t racer = fork();
    for (unsigned i = 0; !racer; i++) {
        char *from = ag_xprintf ("%s/%s", scratch, names[i & 1]),
             *to = ag_xprintf ("%s/main.lua", scratch), *made = ag_xprintf ("%s/.new", scratch);
        FILE *in = fopen (from, "r"), *out = fopen (made, "w");
        char text[64];
        if (in && out && fgets (text, sizeof text, in))
            fputs (text, out);
        if (!in || !out || fclose (in) || fclose (out) || rename (made, to))
            _exit (1);
        free (from);
        free (to);
        free (made);
    }
    return racer;
}

static void
case_55_what_is_loaded_is_what_was_hashed_whoever_swaps_files_meanwhile (void **state)
{
    static const char *const texts[] = {"return 'one'\n", "return 'another'\n"};
    struct ag_buf hashes[2] = {{0}, {0}}, sent = {0}, pack = {0};
    struct ag_err err;
    struct ag_str pins[2], files, file, bytes;
    int seen[2] = {0, 0};
    (void)state;
    scratch_put ("manifest.toml", MANIFEST);
    for (int i = 0; i < 2; i++) {
        scratch_put ("main.lua", texts[i]);
        assert_int_equal (ag_pack_hash (scratch, &hashes[i], &err), 0);
        assert_int_equal (ag_map_text (ag_buf_str (&hashes[i]), "bundle_hash", &pins[i]), 0);
    }
    scratch_put (".one", texts[0]);
    scratch_put (".another", texts[1]);
    pid_t racer = swap ((const char *[]){".one", ".another"});
    for (int i = 0; i < 100000 && (seen[0] < 20 || seen[1] < 20); i++) {
        ag_buf_clear (&sent);
        ag_buf_clear (&pack);
        if (ag_pack_bundle (scratch, pins[0], &sent, &err)) { //  it went away between two looks
            if (!strstr (err.text, "main.lua: "))
                fail_msg ("%s", err.text);
            continue;
        }
        assert_int_equal (ag_map_get (ag_buf_str (&sent), "files", &files), 0);
        assert_int_equal (ag_pack_from (files, &pack, &err), 0);
        bool one = !ag_pack_check_pin (ag_buf_str (&pack), pins[0], &err);
        assert_int_equal (!ag_pack_check_pin (ag_buf_str (&pack), pins[1], &err), !one);
        assert_int_equal (ag_map_get (ag_buf_str (&pack), "files", &files), 0);
        assert_int_equal (ag_list_nth (files, 0, &file), 0);
        assert_int_equal (ag_map_text (file, "bytes", &bytes), 0);
        assert_true (ag_str_is (bytes, texts[one ? 0 : 1]));
        seen[one ? 0 : 1]++;
    }
    kill (racer, SIGKILL);
    waitpid (racer, NULL, 0);
    assert_true (seen[0] && seen[1]);
    ag_buf_fini (&hashes[0]);
    ag_buf_fini (&hashes[1]);
    ag_buf_fini (&sent);
    ag_buf_fini (&pack);
}

//  The same files, by whom the manifest says.
static int
try_by (const char *author, struct ag_err *err)
{
    struct ag_buf out = {0};
    char *manifest = ag_xprintf (MANIFEST "[pack.provenance]\nauthored_by = \"%s\"\n", author);
    scratch_put ("manifest.toml", manifest);
    int rc = try_read (&out, err);
    free (manifest);
    ag_buf_fini (&out);
    return rc;
}

static void
an_agent_s_pack_is_refused_for_its_source_and_a_human_s_only_where_it_could_never_load (
    void **state)
{
    struct ag_buf problems = {0};
    struct ag_err err;
    size_t count = 0;
    (void)state;
    scratch_put ("main.lua", "local x = 1\ncount = x\nlocal f = io.open\n");
    assert_int_equal (try_by ("human", &err), 0);
    assert_int_equal (try_by ("agent", &err), -1);
    assert_int_equal (err.code, AG_E_PACK);
    assert_non_null (strstr (err.text, "main.lua:2:1: assign: count ("));
    assert_non_null (strstr (err.text, "and 1 more"));
    assert_int_equal (ag_pack_check (scratch, &problems, &count, &err), 0);
    ag_buf_add (&problems, "", 1);
    assert_non_null (strstr ((char *)problems.p, "\nmain.lua:2:1: assign: count ("));
    assert_non_null (strstr ((char *)problems.p, "\nmain.lua:3:11: absent: io ("));
    assert_true (count > 2); //  the manifest lacks what a trial asks for, which is said with it
    assert_non_null (strstr ((char *)problems.p, "manifest.toml:"));
    scratch_put ("unused.lua", "return return\n");
    assert_int_equal (try_by ("human", &err), 0);
    scratch_put ("main.lua", "local x = 1\nlocal u = require \"unused\"\n");
    assert_int_equal (try_by ("human", &err), -1);
    assert_non_null (strstr (err.text, "unused.lua:1:8: syntax: "));
    scratch_put ("main.lua", "local x = 1\nthis is no Lua\n");
    assert_int_equal (try_by ("human", &err), -1);
    assert_int_equal (err.code, AG_E_PACK);
    assert_non_null (strstr (err.text, "main.lua:2:6: syntax: "));
    scratch_put ("unused.lua", "return {}\n");
    scratch_put ("main.lua", "local x = 1\nlocal f = function () return x end\n");
    assert_int_equal (try_by ("agent", &err), 0);
    ag_buf_fini (&problems);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (a_pack_is_its_manifest_its_settings_and_its_files_in_order,
                                         scratch_begin, scratch_end),
        cmocka_unit_test_setup_teardown (the_bundle_hash_is_the_reference_s, scratch_begin,
                                         scratch_end),
        cmocka_unit_test_setup_teardown (hashes_are_those_of_the_golden_vectors, NULL, scratch_end),
        cmocka_unit_test_setup_teardown (cases_31_to_36_and_42_to_48_what_moves_which_hash,
                                         scratch_begin, scratch_end),
        cmocka_unit_test_setup_teardown (
            a_check_tells_all_that_is_wrong_with_the_manifest_and_the_files, scratch_begin,
            scratch_end),
        cmocka_unit_test_setup_teardown (
            case_71_a_content_hash_that_is_not_that_of_the_files_is_refused_at_load, scratch_begin,
            scratch_end),
        cmocka_unit_test_setup_teardown (
            cases_34_and_49_a_pin_that_differs_anywhere_or_is_none_is_refused, scratch_begin,
            scratch_end),
        cmocka_unit_test_setup_teardown (
            case_55_what_is_loaded_is_what_was_hashed_whoever_swaps_files_meanwhile, scratch_begin,
            scratch_end),
        cmocka_unit_test_setup_teardown (what_is_no_pack_is_refused_by_name, scratch_begin,
                                         scratch_end),
        cmocka_unit_test_setup_teardown (
            files_of_a_request_are_the_same_pack_and_their_paths_are_plain, scratch_begin,
            scratch_end),
        cmocka_unit_test_setup_teardown (
            an_agent_s_pack_is_refused_for_its_source_and_a_human_s_only_where_it_could_never_load,
            scratch_begin, scratch_end),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
