//  SPDX-License-Identifier: Apache-2.0
#include "common/surface.h"
#include "common/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

static void
read_json (const char *json, struct ag_buf *out)
{
    struct ag_err err;
    if (ag_json_read (ag_str (json), out, &err))
        fail_msg ("%s", err.text);
}

//  A pack `demo` with this surface and what else it has; the names that it and a pack `other` register.
static void
is_at_odds (const char *surface, const char *more, const char *behaviors, const char *tools,
            size_t wanted, const char *lines)
{
    struct ag_buf pack = {0}, list[2] = {{0}, {0}}, said = {0};
    char *json = ag_xprintf ("{\"name\":\"demo\",\"surface\":%s%s}", surface, more);
    read_json (json, &pack);
    read_json (behaviors, &list[0]);
    read_json (tools, &list[1]);
    size_t count = ag_surface_mismatches (ag_buf_str (&pack), ag_buf_str (&list[0]),
                                          ag_buf_str (&list[1]), &said);
    ag_buf_add (&said, "", 1);
    assert_string_equal ((char *)said.p, lines);
    assert_int_equal (count, wanted);
    free (json);
    ag_buf_fini (&pack);
    ag_buf_fini (&list[0]);
    ag_buf_fini (&list[1]);
    ag_buf_fini (&said);
}

#define GREETER "[{\"name\":\"greeter\",\"pack\":\"demo\"},{\"name\":\"x\",\"pack\":\"other\"}]"

static void
case_56_a_pack_that_does_what_it_declares_is_at_odds_with_nothing (void **state)
{
    (void)state;
    is_at_odds ("{\"behaviors\":[\"greeter\"]}", "", GREETER, "[]", 0, "");
    is_at_odds ("{\"behaviors\":[\"greeter\"],\"tools\":[\"t\"],\"object_types\":[\"task\"],"
                "\"relation_types\":[\"of\"],\"settings_schema\":\"Settings\"}",
                ",\"types\":{\"object\":{\"task\":{}},\"relation\":{\"of\":{}}},"
                "\"settings\":{\"a\":1}",
                GREETER, "[{\"name\":\"t\",\"pack\":\"demo\"}]", 0, "");
}

static void
cases_57_and_58_both_directions_are_told_sorted_and_by_name (void **state)
{
    (void)state;
    is_at_odds ("{\"behaviors\":[\"ghost\",\"greeter\",\"aaa\"],\"tools\":[\"t2\"],"
                "\"object_types\":[\"task\"]}",
                ",\"types\":{\"relation\":{\"of\":{}}}",
                "[{\"name\":\"zzz\",\"pack\":\"demo\"},{\"name\":\"greeter\",\"pack\":\"demo\"},"
                "{\"name\":\"extra\",\"pack\":\"demo\"},{\"name\":\"ghost\",\"pack\":\"other\"}]",
                "[{\"name\":\"t1\",\"pack\":\"demo\"}]", 8,
                "behavior `aaa` is declared and not found\n"
                "behavior `extra` is found and not declared\n"
                "behavior `ghost` is declared and not found\n"
                "behavior `zzz` is found and not declared\n"
                "object type `task` is declared and not found\n"
                "relation type `of` is found and not declared\n"
                "tool `t1` is found and not declared\n"
                "tool `t2` is declared and not found\n");
}

static void
case_60_settings_are_declared_where_there_are_some_and_nowhere_else (void **state)
{
    (void)state;
    is_at_odds ("{}", ",\"settings\":{\"a\":1}", "[]", "[]", 1,
                "settings are found and not declared: surface.settings_schema is empty\n");
    is_at_odds ("{\"settings_schema\":\"Settings\"}", ",\"settings\":{}", "[]", "[]", 1,
                "settings `Settings` are declared and not found: settings.toml has none\n");
}

static void
case_62_what_a_pack_consumes_is_not_compared (void **state)
{
    (void)state;
    is_at_odds ("{\"behaviors\":[\"greeter\"],\"consumes\":[\"mail.send\"]}", "", GREETER, "[]", 0,
                "");
}

static void
case_67_without_a_surface_nothing_is_said (void **state)
{
    (void)state;
    is_at_odds ("null", "", GREETER, "[]", 0, "");
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (case_56_a_pack_that_does_what_it_declares_is_at_odds_with_nothing),
        cmocka_unit_test (cases_57_and_58_both_directions_are_told_sorted_and_by_name),
        cmocka_unit_test (case_60_settings_are_declared_where_there_are_some_and_nowhere_else),
        cmocka_unit_test (case_62_what_a_pack_consumes_is_not_compared),
        cmocka_unit_test (case_67_without_a_surface_nothing_is_said),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
