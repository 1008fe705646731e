//  SPDX-License-Identifier: Apache-2.0
#include "common/pack.h"
#include "common/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MANIFEST "[pack]\nname = \"demo\"\nversion = \"1.0\"\ndescription = \"A demo\"\n"

static char dir[] = "/tmp/agsup-pack-XXXXXX";

static int
begin (void **state)
{
    (void)state;
    strcpy (dir + strlen (dir) - 6, "XXXXXX");
    return mkdtemp (dir) ? 0 : -1;
}

static int
end (void **state)
{
    (void)state;
    char *command = ag_xprintf ("rm -rf %s", dir);
    FILE *rm = popen (command, "r");
    free (command);
    return rm && pclose (rm) == 0 ? 0 : -1;
}

static void
put (const char *path, const char *text)
{
    char *name = ag_xprintf ("%s/%s", dir, path);
    FILE *file = fopen (name, "w");
    assert_non_null (file);
    fputs (text, file);
    fclose (file);
    free (name);
}

static int
try_read (struct ag_buf *out, struct ag_err *err)
{
    ag_buf_clear (out);
    return ag_pack_read (dir, out, err);
}

static void
a_pack_is_its_manifest_its_settings_and_its_files_in_order (void **state)
{
    (void)state;
    struct ag_buf out = {0}, text = {0};
    struct ag_err err;
    put ("manifest.toml", MANIFEST);
    put ("settings.toml", "strict = 0.8\n");
    put ("b.lua", "return 2\n");
    put ("a.lua", "return 1\n");
    assert_int_equal (try_read (&out, &err), 0);
    struct ag_str files, hash, pack = ag_buf_str (&out);
    assert_int_equal (ag_map_get (pack, "files", &files), 0);
    ag_json_write (files, AG_JSON_LINE, &text);
    ag_buf_add (&text, "", 1);
    assert_non_null (strstr ((char *)text.p, "{\"path\":\"a.lua\",\"bytes\":\"return 1\\n\"},"
                                             "{\"path\":\"b.lua\",\"bytes\":\"return 2\\n\"}"));
    assert_int_equal (ag_map_text (pack, "bundle_hash", &hash), 0);
    assert_true (ag_str_starts (hash, "sha256:") && hash.n == 71);
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
    put ("manifest.toml", MANIFEST);
    put ("a-c.lua", "");
    put ("a.lua", "return 2\n");
    char *sub = ag_xprintf ("%s/a", dir);
    assert_int_equal (mkdir (sub, 0700), 0);
    free (sub);
    put ("a/b.lua", "return 1\n");
    put ("a/Z.lua", "\r\n");
    hash_is ("sha256:9c09f8ccf4c4310fa709a087488c89823adb462314aae9d413352713bb959ddd");
    put (".hidden", "x");
    put ("c.pyc", "x");
    hash_is ("sha256:9c09f8ccf4c4310fa709a087488c89823adb462314aae9d413352713bb959ddd");
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
    put ("manifest.toml", "[pack\n");
    refused ("manifest.toml: 1:");
    put ("manifest.toml", "x = 1\n");
    refused ("no table [pack]");
    put ("manifest.toml", "[pack]\nname = \"demo\"\nversion = 1\n");
    refused ("pack.version");
    put ("manifest.toml", MANIFEST);
    char *link = ag_xprintf ("%s/link.lua", dir);
    assert_int_equal (symlink ("/etc/passwd", link), 0);
    refused ("link.lua: a symbolic link");
    unlink (link);
    free (link);
}

static void
files_of_a_request_are_the_same_pack_and_their_paths_are_plain (void **state)
{
    (void)state;
    struct ag_buf out = {0}, files = {0};
    struct ag_err err;
    const char *const bad[] = {"/etc/x", "../x", "a//b", "a/", ".a", "a/.b", ""};
    const char *good = "[{\"path\":\"manifest.toml\",\"bytes\":\"[pack]\\nname=\\\"d\\\"\\nversion="
                       "\\\"1\\\"\\ndescription=\\\"x\\\"\\n\"}]";
    assert_int_equal (ag_json_read (ag_str (good), &files, &err), 0);
    assert_int_equal (ag_pack_from (ag_buf_str (&files), &out, &err), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *json = ag_xprintf ("[{\"path\":\"%s\",\"bytes\":\"\"}]", bad[i]);
        ag_buf_clear (&files);
        assert_int_equal (ag_json_read (ag_str (json), &files, &err), 0);
        assert_int_equal (ag_pack_from (ag_buf_str (&files), &out, &err), -1);
        assert_int_equal (err.code, AG_E_PACK);
        free (json);
    }
    const char *twice = "[{\"path\":\"a\",\"bytes\":\"1\"},{\"path\":\"a\",\"bytes\":\"2\"}]";
    ag_buf_clear (&files);
    assert_int_equal (ag_json_read (ag_str (twice), &files, &err), 0);
    assert_int_equal (ag_pack_from (ag_buf_str (&files), &out, &err), -1);
    assert_string_equal (err.text, "a is there twice");
    ag_buf_fini (&out);
    ag_buf_fini (&files);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (a_pack_is_its_manifest_its_settings_and_its_files_in_order,
                                         begin, end),
        cmocka_unit_test_setup_teardown (the_bundle_hash_is_the_reference_s, begin, end),
        cmocka_unit_test_setup_teardown (what_is_no_pack_is_refused_by_name, begin, end),
        cmocka_unit_test_setup_teardown (
            files_of_a_request_are_the_same_pack_and_their_paths_are_plain, begin, end),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
