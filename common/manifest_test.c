//  The cases of the reference, by their numbers, and our stricter ones.
//  SPDX-License-Identifier: Apache-2.0
#include "common/manifest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define HASH "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

//  A whole manifest, a line each; a case puts other lines in place of some of these.
static const struct {
    const char *key, *line;
} minimal[] = {
    {"pack", "[pack]"},
    {"name", "name = 'demo'"},
    {"version", "version = '0.1.0'"},
    {"description", "description = 'A demo'"},
    {"license", "license = 'not-an-spdx'"},
    {"provenance", "[pack.provenance]"},
    {"authored_by", "authored_by = 'human'"},
    {"integrity", "[pack.integrity]"},
    {"content_hash", "content_hash = '" HASH "'"},
    {"signature", "signature = ''"},
    {"dependencies", "[dependencies]"},
    {"activegraph", "activegraph = '>=1.4,<2.0'"},
    {"python-deps", "python-deps = ['pydantic>=2']"},
    {"packs", "packs = { core = '>=0.1' }"},
    {"surface", "[surface]"},
    {"object_types", "object_types = ['greeting']"},
    {"behaviors", "behaviors = ['greeter']"},
    {"consumes", "consumes = ['web.fetch_url']"},
    {"capabilities", "capabilities = [{provider='a', capability='b', risk_class='low'}]"},
    {"fixtures", "[fixtures]"},
    {"entrypoint", "entrypoint = 'run.lua'"},
    {"deterministic", "deterministic = true"},
    {"types", "[types.object.greeting]"},
    {"more", ""},
};

//  The manifest with one line changed; the problems, a line each.
static size_t
try (const char *key, const char *line, bool complete, struct ag_buf *problems)
{
    struct ag_buf text = {0}, out = {0};
    for (size_t i = 0; i < sizeof minimal / sizeof *minimal; i++)
        ag_buf_text (&text, "%s\n", !strcmp (minimal[i].key, key) ? line : minimal[i].line);
    size_t count = ag_manifest_read (ag_buf_str (&text), complete, &out, problems);
    assert_true (count ? !out.n : out.n > 0);
    ag_buf_add (problems, "", 1);
    ag_buf_fini (&text);
    ag_buf_fini (&out);
    return count;
}

static void
good (const char *key, const char *line)
{
    struct ag_buf problems = {0};
    if (try (key, line, true, &problems))
        fail_msg ("%s: %s", line, (char *)problems.p);
    ag_buf_fini (&problems);
}

static void
bad (const char *key, const char *line, size_t count, const char *says)
{
    struct ag_buf problems = {0};
    size_t found = try (key, line, true, &problems);
    if (found != count || !strstr ((char *)problems.p, says))
        fail_msg ("%s: %zu problems: %s", line, found, (char *)problems.p);
    ag_buf_fini (&problems);
}

static void
case_1_a_whole_manifest_has_no_problem (void **state)
{
    (void)state;
    good ("", "");
}

static void
cases_3_to_5_what_is_no_manifest_is_one_problem_and_an_empty_one_is_many (void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t least, most;
    } all[] = {{"\xff\xfe", 1, 1}, {"this is not toml [[[", 1, 1}, {"", 6, 20}};
    for (size_t i = 0; i < 3; i++) {
        struct ag_buf out = {0}, problems = {0};
        size_t count = ag_manifest_read (ag_str (all[i].text), true, &out, &problems);
        assert_in_range (count, all[i].least, all[i].most);
        assert_int_equal (out.n, 0);
        assert_true (ag_str_starts (ag_buf_str (&problems), "manifest.toml:1:"));
        ag_buf_fini (&out);
        ag_buf_fini (&problems);
    }
}

static void
case_6_all_problems_are_told_at_once_with_their_places (void **state)
{
    (void)state;
    struct ag_buf out = {0}, problems = {0};
    struct ag_str text = AG_LIT ("[pack]\nname = 'Bad-Name'\nversion = 'no'\ndescription = ''\n");
    assert_int_equal (ag_manifest_read (text, false, &out, &problems), 3);
    ag_buf_add (&problems, "", 1);
    assert_string_equal (
        (char *)problems.p,
        "manifest.toml:2:1: pack.name is not 2 to 64 of a-z, 0-9 and _, a letter first\n"
        "manifest.toml:3:1: pack.version is not a version like 1.2.0, 1.0rc1 or 1.0.post1\n"
        "manifest.toml:4:1: pack.description is not a text of 1 to 256 bytes\n");
    ag_buf_fini (&out);
    ag_buf_fini (&problems);
}

#define A64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void
cases_7_and_8_names (void **state)
{
    (void)state;
    good ("name", "name = 'ab'");
    good ("name", "name = '" A64 "'");
    static const char *const names[] = {"'a'",  "'" A64 "a'", "'1ab'", "'a-b'",
                                        "'A1'", "\"ab\\n\"",  "7",     "'\xc3\xa4\x62'"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *line = ag_xprintf ("name = %s", names[i]);
        bad ("name", line, 1, "pack.name is ");
        free (line);
    }
}

static void
cases_9_to_11_versions (void **state)
{
    (void)state;
    static const char *const goods[] = {"1",           "1.0.0", "v1.0", "1.0rc1", "1.0.post1.dev2",
                                        "1.0+local.1", "1.0a1"};
    static const char *const bads[] = {"'1.0-beta'",
                                       "'1!1.0'",
                                       "'1.0A1'",
                                       "''",
                                       "'1.'",
                                       "'1.0+'",
                                       "'1.0+a..b'",
                                       "'1.0rc'",
                                       "\"1.0\\n\"",
                                       "1.10",
                                       "'\xd9\xa1.\xd9\xa2'"};
    for (size_t i = 0; i < sizeof goods / sizeof *goods; i++) {
        char *line = ag_xprintf ("version = '%s'", goods[i]);
        good ("version", line);
        free (line);
    }
    for (size_t i = 0; i < sizeof bads / sizeof *bads; i++) {
        char *line = ag_xprintf ("version = %s", bads[i]);
        bad ("version", line, 1, "pack.version is ");
        free (line);
    }
}

static void
cases_12_to_20_values_have_their_form (void **state)
{
    (void)state;
    static const struct {
        const char *key, *line;
        size_t count;
        const char *says;
    } all[] = {
        {"description", "description = ''", 1, "pack.description"},
        {"authored_by", "", 1, "pack.provenance.authored_by is missing"},
        {"authored_by", "authored_by = 'AGENT'", 1, "is not human or agent"},
        {"content_hash", "content_hash = 'md5:00'", 1,
         "pack.integrity.content_hash is not sha256:"},
        {"content_hash",
         "content_hash = 'sha256:0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef'",
         1, "content_hash"},
        {"content_hash",
         "content_hash = 'sha256:0123456789abcde0123456789abcdef0123456789abcdef0123456789abcdef'",
         1, "content_hash"},
        {"signature", "signature = 'ed25519:abcd'", 1, "signature is not empty"},
        {"signature", "signature = ['x']", 1, "signature is no text"},
        {"activegraph", "", 1, "dependencies.activegraph is missing"},
        {"activegraph", "activegraph = '1.4'", 1, "is not a range"},
        {"activegraph", "activegraph = '>=1.4,'", 1, "is not a range"},
        {"python-deps", "python-deps = 'x'", 1, "dependencies.python-deps is no list"},
        {"python-deps", "python-deps = [1]", 1, "dependencies.python-deps[0] is no text"},
        {"packs", "packs = { core = 5, xx = 'latest' }", 2, "dependencies.packs.xx is not a range"},
        {"behaviors", "behaviors = ['a', 1]", 1, "surface.behaviors[1] is no text"},
        {"behaviors", "behaviors = 'greeter'", 1, "surface.behaviors is no list"},
        {"behaviors", "behaviors = ['a', 'b', 'a']", 1, "surface.behaviors holds a text twice"},
        {"deterministic", "deterministic = 'true'", 1,
         "fixtures.deterministic is not true or false"},
        {"deterministic", "", 1, "fixtures.deterministic is missing"},
        {"entrypoint", "entrypoint = ''", 1, "fixtures.entrypoint"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        bad (all[i].key, all[i].line, all[i].count, all[i].says);
    good ("activegraph", "activegraph = '===1.0'");
    good ("activegraph", "activegraph = ' >= 1 , < 2 '");
    good ("activegraph", "activegraph = '==1.*'");
    good ("deterministic", "deterministic = false");
}

static void
cases_21_to_26_keys_that_nobody_reads_and_capabilities (void **state)
{
    (void)state;
    bad ("behaviors", "behaviours = []", 1,
         "surface.behaviours is no key here; did you mean `behaviors`?");
    bad ("more", "[zzz]", 1, "zzz is no key here");
    bad ("capabilities", "capabilities = 5", 1, "surface.capabilities is no list of tables");
    bad ("capabilities", "capabilities = [5]", 4, "surface.capabilities[0] is no table");
    bad ("capabilities", "capabilities = [{provider='a', capability='b'}]", 1,
         "surface.capabilities[0].risk_class is missing");
    bad ("capabilities", "capabilities = [{provider='', capability='b', risk_class='low'}]", 1,
         "capabilities[0].provider");
    bad ("capabilities",
         "capabilities = [{provider='a', capability='b', risk_class='low', action_class='R9'}]", 1,
         "capabilities[0].action_class");
    bad ("capabilities",
         "capabilities = [{provider='a', capability='b', risk_class='low'},"
         "{provider='a', capability='b', risk_class='high'}]",
         1, "capabilities[1] is declared twice");
    bad ("capabilities",
         "[[surface.capabilities]]\nprovider = 'a'\ncapability = 'b'\nrisk_class = 'low'\n"
         "consumes = ['x.y']",
         1, "surface.capabilities[0].consumes is no key here");
}

static void
case_29_a_manifest_is_bounded_and_so_is_what_is_said_of_it (void **state)
{
    (void)state;
    struct ag_buf text = {0}, out = {0}, problems = {0};
    for (int i = 0; i < 500; i++)
        ag_buf_text (&text, "k%d = 1\n", i);
    assert_int_equal (ag_manifest_read (ag_buf_str (&text), false, &out, &problems), 504);
    ag_buf_add (&problems, "", 1);
    assert_non_null (strstr ((char *)problems.p, "\nand 404 more\n"));
    ag_buf_clear (&problems);
    while (text.n <= AG_MANIFEST_BYTES)
        ag_buf_text (&text, "# more\n");
    assert_int_equal (ag_manifest_read (ag_buf_str (&text), false, &out, &problems), 1);
    assert_int_equal (out.n, 0);
    ag_buf_fini (&text);
    ag_buf_fini (&out);
    ag_buf_fini (&problems);
}

static void
a_run_needs_the_table_pack_alone_and_what_else_stands_there_is_checked_all_the_same (void **state)
{
    (void)state;
    struct ag_buf out = {0}, problems = {0};
    struct ag_str text = AG_LIT ("[pack]\nname = 'demo'\nversion = '1'\ndescription = 'x'\n");
    assert_int_equal (ag_manifest_read (text, false, &out, &problems), 0);
    ag_buf_clear (&out);
    assert_true (ag_manifest_read (text, true, &out, &problems) > 6);
    ag_buf_clear (&problems);
    assert_int_equal (try ("behaviors", "behaviors = 5", false, &problems), 1);
    ag_buf_fini (&out);
    ag_buf_fini (&problems);
}

static void
types_are_read_with_their_places_and_agree_with_the_surface (void **state)
{
    (void)state;
    bad ("types", "[types.object.greeting]\nproperties.a = { type = 'text' }", 1,
         "manifest.toml:24:18: types.object.greeting.properties.a.type is not object, array");
    bad ("types", "[types.object.ghost]", 2,
         "types.object.ghost does not stand in surface.object_types");
    bad ("types", "", 1,
         "surface.object_types names greeting, and there is no [types.object.greeting]");
    bad ("more", "[types.relation.of]\nsource = ['greeting']", 1,
         "types.relation.of does not stand in surface.relation_types");
    bad ("more", "[types.thing.x]", 1, "types.thing is neither object nor relation");
    struct ag_buf many = {0};
    ag_buf_text (&many, "[types.relation]\n");
    for (int i = 0; i <= 1000; i++)
        ag_buf_text (&many, "r%d = {}\n", i);
    ag_buf_add (&many, "", 1);
    bad ("more", (char *)many.p, 1, "types.relation has more than 1000 types");
    ag_buf_fini (&many);
    good ("types", "[types.object.greeting]\nrequired = ['to']\n"
                   "properties.to = { type = 'string' }\nproperties.n = { default = 1 }");
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (case_1_a_whole_manifest_has_no_problem),
        cmocka_unit_test (cases_3_to_5_what_is_no_manifest_is_one_problem_and_an_empty_one_is_many),
        cmocka_unit_test (case_6_all_problems_are_told_at_once_with_their_places),
        cmocka_unit_test (cases_7_and_8_names),
        cmocka_unit_test (cases_9_to_11_versions),
        cmocka_unit_test (cases_12_to_20_values_have_their_form),
        cmocka_unit_test (cases_21_to_26_keys_that_nobody_reads_and_capabilities),
        cmocka_unit_test (case_29_a_manifest_is_bounded_and_so_is_what_is_said_of_it),
        cmocka_unit_test (
            a_run_needs_the_table_pack_alone_and_what_else_stands_there_is_checked_all_the_same),
        cmocka_unit_test (types_are_read_with_their_places_and_agree_with_the_surface),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
