//  SPDX-License-Identifier: Apache-2.0
#include "common/together.h"
#include "common/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define H1 "sha256:1111111111111111111111111111111111111111111111111111111111111111"
#define H2 "sha256:2222222222222222222222222222222222222222222222222222222222222222"

//  Packs and pins as JSON; what is said of them.
static char *
say (const char *packs, const char *pins, size_t *count)
{
    struct ag_buf list = {0}, pinned = {0}, lines = {0};
    struct ag_err err;
    if (ag_json_read (ag_str (packs), &list, &err) ||
        (pins && ag_json_read (ag_str (pins), &pinned, &err)))
        fail_msg ("%s", err.text);
    *count = ag_packs_problems (ag_buf_str (&list), ag_buf_str (&pinned), &lines);
    ag_buf_add (&lines, "", 1);
    ag_buf_fini (&list);
    ag_buf_fini (&pinned);
    return (char *)lines.p;
}

static void
says (const char *packs, const char *pins, size_t wanted, const char *lines)
{
    size_t count;
    char *said = say (packs, pins, &count);
    assert_string_equal (said, lines);
    assert_int_equal (count, wanted);
    free (said);
}

static void
what_a_pack_needs_is_there_and_in_range_or_all_of_it_is_told (void **state)
{
    (void)state;
    says ("[{\"name\":\"aa\",\"version\":\"1.0\",\"dependencies\":{\"packs\":{\"bb\":\">=2,<3\"}}},"
          "{\"name\":\"bb\",\"version\":\"2.5\"}]",
          NULL, 0, "");
    says ("[{\"name\":\"aa\",\"version\":\"1.0\",\"dependencies\":{\"packs\":{\"bb\":\">=2\","
          "\"cc\":\"~=1.4\"},\"optional-packs\":{\"dd\":\"<1\",\"ee\":\"<1\"}}},"
          "{\"name\":\"bb\",\"version\":\"1.9\",\"dependencies\":{\"packs\":{\"aa\":\"==2\"}}},"
          "{\"name\":\"dd\",\"version\":\"1.0\"}]",
          NULL, 4,
          "pack aa needs bb >=2, and there is 1.9\n"
          "pack aa needs cc ~=1.4, and it is not there\n"
          "pack aa needs dd <1, and there is 1.0\n"
          "pack bb needs aa ==2, and there is 1.0\n");
}

static void
two_packs_may_need_each_other (void **state)
{
    (void)state;
    says ("[{\"name\":\"aa\",\"version\":\"1\",\"dependencies\":{\"packs\":{\"bb\":\"==1\"}}},"
          "{\"name\":\"bb\",\"version\":\"1\",\"dependencies\":{\"packs\":{\"aa\":\"==1\"}}}]",
          NULL, 0, "");
}

static void
agsup_is_this_program_and_activegraph_is_another (void **state)
{
    (void)state;
    says ("[{\"name\":\"aa\",\"version\":\"1\",\"dependencies\":{\"agsup\":\"==" AG_RELEASE
          "\",\"activegraph\":\">=99\",\"python\":\">=99\"}}]",
          NULL, 0, "");
    says ("[{\"name\":\"aa\",\"version\":\"1\",\"dependencies\":{\"agsup\":\"<0.0.1\"}}]", NULL, 1,
          "pack aa needs agsup <0.0.1, and there is " AG_RELEASE "\n");
}

static void
no_name_belongs_to_two_packs (void **state)
{
    (void)state;
    says ("[{\"name\":\"bb\",\"version\":\"1\",\"types\":{\"object\":{\"task\":{},\"note\":{}},"
          "\"relation\":{\"of\":{}}},\"surface\":{\"behaviors\":[\"scan\"],\"tools\":[\"t\"]}},"
          "{\"name\":\"aa\",\"version\":\"1\",\"types\":{\"object\":{\"task\":{}},"
          "\"relation\":{\"of\":{},\"note\":{}}},\"surface\":{\"behaviors\":[\"scan\"],"
          "\"tools\":[\"t\"]}},{\"name\":\"aa\",\"version\":\"2\"}]",
          NULL, 4,
          "behavior `scan` is declared by pack aa and by pack bb\n"
          "object type `task` is declared by pack aa and by pack bb\n"
          "two packs are called aa\n"
          "relation type `of` is declared by pack aa and by pack bb\n");
}

static void
a_behaviour_may_be_called_like_a_type (void **state)
{
    (void)state;
    says ("[{\"name\":\"aa\",\"version\":\"1\",\"surface\":{\"behaviors\":[\"task\"]}},"
          "{\"name\":\"bb\",\"version\":\"1\",\"types\":{\"object\":{\"task\":{}}}}]",
          NULL, 0, "");
}

static void
a_pin_holds_the_bundle_hash_and_names_a_pack_that_is_there (void **state)
{
    (void)state;
    const char *packs = "[{\"name\":\"aa\",\"version\":\"1\",\"bundle_hash\":\"" H1 "\"}]";
    says (packs, "{\"aa\":\"" H1 "\"}", 0, "");
    says (packs, "{\"aa\":\"" H2 "\",\"bb\":\"" H1 "\"}", 2,
          "bundle hash mismatch: pack aa is " H1 ", and pinned is " H2 "\n"
          "pack bb is pinned, and it is not there\n");
}

static void
an_error_has_as_many_lines_as_have_room_and_says_how_many_more (void **state)
{
    struct ag_buf json = {0}, packs = {0};
    struct ag_err err = {0};
    (void)state;
    ag_buf_text (&json, "[{\"name\":\"aa\",\"version\":\"1\",\"dependencies\":{\"packs\":{");
    for (int i = 0; i < 30; i++)
        ag_buf_text (&json, "%s\"pack_%d\":\">=1\"", i ? "," : "", i);
    ag_buf_text (&json, "}}}]");
    assert_int_equal (ag_json_read (ag_buf_str (&json), &packs, &err), 0);
    assert_int_equal (ag_packs_check (ag_buf_str (&packs), (struct ag_str){0}, &err), -1);
    assert_int_equal (err.code, AG_E_PACK);
    const char *begin = "pack aa needs pack_0 >=1, and it is not there; pack aa needs pack_1 >=1";
    assert_memory_equal (err.text, begin, strlen (begin));
    assert_non_null (strstr (err.text, "; and 24 more"));
    ag_buf_fini (&json);
    ag_buf_fini (&packs);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (what_a_pack_needs_is_there_and_in_range_or_all_of_it_is_told),
        cmocka_unit_test (two_packs_may_need_each_other),
        cmocka_unit_test (agsup_is_this_program_and_activegraph_is_another),
        cmocka_unit_test (no_name_belongs_to_two_packs),
        cmocka_unit_test (a_behaviour_may_be_called_like_a_type),
        cmocka_unit_test (a_pin_holds_the_bundle_hash_and_names_a_pack_that_is_there),
        cmocka_unit_test (an_error_has_as_many_lines_as_have_room_and_says_how_many_more),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
