//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/trial_spec.h"
#include "common/forms.h"
#include "common/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHOLE                                                                                      \
    "[pack]\nname='%1$s'\nversion='1'\ndescription='x'\n[pack.provenance]\nauthored_by='agent'\n"  \
    "[pack.integrity]\ncontent_hash='%2$s'\n[dependencies]\nactivegraph='>=1'\n[surface]\n"        \
    "behaviors=['%1$s.a','%1$s.b']\ntools=['%1$s.t']\n[fixtures]\nentrypoint='main.lua'"           \
    "\ndeterministic=true\n"

//  [{path, bytes}] of a pack of two files.
static void
put_files (const char *manifest, struct ag_buf *out)
{
    const char *files[][2] = {{"main.lua", "return 1\n"}, {"manifest.toml", manifest}};
    ag_put_list (out, 2);
    for (int i = 0; i < 2; i++) {
        ag_put_map (out, 2);
        ag_put_pair_text (out, "path", ag_str (files[i][0]));
        ag_put_pair_text (out, "bytes", ag_str (files[i][1]));
    }
}

//  The hash that some files have, found by asking with another one.
static void
find_hash (struct ag_str files, char hash[AG_PACK_HASH])
{
    struct ag_buf out = {0};
    struct ag_err err;
    assert_int_equal (ag_pack_pinned (files, AG_LIT ("sha256:0"), hash, &out, &err), -1);
    assert_int_equal (err.code, AG_E_PACK);
    assert_int_equal (out.n, 0);
}

//  The hash of all files but the manifest, as the complaint about another one says it.
static char *
whole_manifest (const char *name)
{
    struct ag_buf files = {0}, out = {0};
    char hash[AG_PACK_HASH], *text;
    struct ag_err err;
    char zeros[AG_PACK_HASH];
    snprintf (zeros, sizeof zeros, "sha256:%064d", 0);
    text = ag_xprintf (WHOLE, name, zeros);
    put_files (text, &files);
    find_hash (ag_buf_str (&files), hash);
    assert_int_equal (ag_pack_pinned (ag_buf_str (&files), ag_str (hash), hash, &out, &err), -1);
    const char *found = strstr (err.text, "not that of the files, ");
    assert_non_null (found);
    snprintf (zeros, sizeof zeros, "%.71s", found + strlen ("not that of the files, "));
    free (text);
    text = ag_xprintf (WHOLE, name, zeros);
    ag_buf_fini (&files);
    ag_buf_fini (&out);
    return text;
}

//  {pin, files}
static void
put_pinned (const char *name, const char *pin, struct ag_buf *out)
{
    struct ag_buf files = {0};
    char hash[AG_PACK_HASH], *manifest = whole_manifest (name);
    put_files (manifest, &files);
    find_hash (ag_buf_str (&files), hash);
    ag_put_map (out, 2);
    ag_put_pair_text (out, "pin", ag_str (pin ? pin : hash));
    ag_put_pair_value (out, "files", ag_buf_str (&files));
    ag_buf_fini (&files);
    free (manifest);
}

static int
read_packs (struct ag_buf *packs, struct ag_candidates *out, struct ag_err *err)
{
    struct ag_msg_trial msg = {.packs = ag_buf_str (packs)};
    *out = (struct ag_candidates){0};
    int rc = ag_candidates_read (&msg, out, err);
    ag_buf_clear (packs);
    return rc;
}

static void
packs_are_read_in_order_and_the_first_that_is_not_as_pinned_ends_it (void **state)
{
    (void)state;
    struct ag_buf packs = {0};
    struct ag_candidates candidates;
    struct ag_err err;
    char other[AG_PACK_HASH];
    snprintf (other, sizeof other, "sha256:%064d", 7);
    ag_put_list (&packs, 2);
    put_pinned ("extra", NULL, &packs);
    put_pinned ("demo", NULL, &packs);
    assert_int_equal (read_packs (&packs, &candidates, &err), 0);
    struct ag_str pack, name;
    assert_int_equal (ag_list_nth (ag_buf_str (&candidates.packs), 1, &pack), 0);
    assert_int_equal (ag_map_text (pack, "name", &name), 0);
    assert_true (ag_str_is (name, "demo"));
    assert_true (ag_is_hash (ag_str (candidates.hash)));
    ag_candidates_fini (&candidates);
    ag_put_list (&packs, 2);
    put_pinned ("extra", other, &packs);
    put_pinned ("demo", NULL, &packs);
    assert_int_equal (read_packs (&packs, &candidates, &err), -1);
    assert_non_null (strstr (err.text, "extra pack 1: bundle hash mismatch"));
    assert_string_equal (candidates.hash, "");
    ag_candidates_fini (&candidates);
    ag_put_list (&packs, 2);
    put_pinned ("demo", NULL, &packs);
    put_pinned ("demo", NULL, &packs);
    assert_int_equal (read_packs (&packs, &candidates, &err), -1);
    assert_non_null (strstr (err.text, "two packs are called demo"));
    ag_candidates_fini (&candidates);
    ag_buf_fini (&packs);
}

static void
a_pin_is_sixty_four_lower_case_digits (void **state)
{
    (void)state;
    char pin[AG_PACK_HASH + 1];
    snprintf (pin, sizeof pin, "sha256:%064d", 0);
    assert_true (ag_is_hash (ag_str (pin)));
    assert_false (ag_is_hash ((struct ag_str){pin, 70}));
    strcat (pin, "0");
    assert_false (ag_is_hash (ag_str (pin)));
    snprintf (pin, sizeof pin, "sha256:%064X", 10);
    assert_false (ag_is_hash (ag_str (pin)));
    assert_false (ag_is_hash (AG_LIT ("md5:abcd")));
    assert_false (ag_is_hash ((struct ag_str){0}));
}

//  A spec of one host with one pack, and two registrations, as JSON.
static void
assert_surface (bool program, const char *behaviors, const char *tools, const char *expected)
{
    const char *texts[] = {"{\"hosts\":[{\"packs\":[{\"name\":\"p\",\"settings\":{},\"surface\":{"
                           "\"behaviors\":[\"a\",\"b\"],\"tools\":[\"t\"]}}]}]}",
                           behaviors, tools};
    struct ag_buf values[3] = {0};
    struct ag_err err;
    for (int i = 0; i < 3; i++)
        assert_int_equal (ag_json_read (ag_str (texts[i]), &values[i], &err), 0);
    int rc = ag_trial_check_surface (ag_buf_str (&values[0]), program, ag_buf_str (&values[1]),
                                     ag_buf_str (&values[2]), &err);
    assert_int_equal (rc, expected ? -1 : 0);
    if (expected)
        assert_string_equal (err.text, expected);
    for (int i = 0; i < 3; i++)
        ag_buf_fini (&values[i]);
}

#define A       "{\"name\":\"a\",\"pack\":\"p\"}"
#define B       "{\"name\":\"b\",\"pack\":\"p\"}"
#define T       "[{\"name\":\"t\",\"pack\":\"p\"}]"
#define AT_ODDS "the code is not what its manifest says: pack p: "

static void
a_surface_is_what_is_registered_both_ways (void **state)
{
    (void)state;
    assert_surface (false, "[" B "," A "]", T, NULL);
    assert_surface (false, "[" A "," B ",{\"name\":\"c\",\"pack\":\"p\"}]", T,
                    AT_ODDS "behavior `c` is found and not declared");
    assert_surface (false, "[" A ",{\"name\":\"b\",\"pack\":\"q\"}]", "[]",
                    AT_ODDS "behavior `b` is declared and not found; pack p: tool `t` is declared "
                            "and not found");
    assert_surface (true, "[{\"name\":\"a\"},{\"name\":\"b\"}]", "[{\"name\":\"t\"}]", NULL);
    assert_surface (true, "[{\"name\":\"a\"}]", "[{\"name\":\"t\"}]",
                    AT_ODDS "behavior `b` is declared and not found");
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (packs_are_read_in_order_and_the_first_that_is_not_as_pinned_ends_it),
        cmocka_unit_test (a_pin_is_sixty_four_lower_case_digits),
        cmocka_unit_test (a_surface_is_what_is_registered_both_ways),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
