//  SPDX-License-Identifier: Apache-2.0
#include "common/toml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static void
assert_place (const ag_toml_t *doc, const struct ag_toml_path *path, unsigned line, unsigned column)
{
    unsigned l = 0, c = 0;
    assert_int_equal (ag_toml_where (doc, path, &l, &c), 0);
    assert_int_equal (l, line);
    assert_int_equal (c, column);
}

//  How a caller uses it: one value, and a place for whatever is wrong with a part of it.
static void
a_text_becomes_a_value_whose_parts_have_places (void **state)
{
    (void)state;
    const char *text = "version = 1\n"
                       "[agent.b]\n"
                       "hears = [{ from = \"a\" },\n"
                       "  { from = \"c\", 'on it' = 2.5 }]\n";
    struct ag_buf out = {0};
    struct ag_err err = {0};
    ag_toml_t *doc = ag_toml_new (ag_str (text), &out, &err);
    assert_non_null (doc);

    uint64_t version;
    assert_int_equal (ag_map_uint (ag_buf_str (&out), "version", &version), 0);
    assert_int_equal (version, 1);

    struct ag_toml_path agent = {NULL, AG_LIT ("agent"), 0}, b = {&agent, AG_LIT ("b"), 0};
    struct ag_toml_path hears = {&b, AG_LIT ("hears"), 0}, second = {&hears, {0}, 1};
    struct ag_toml_path on = {&second, AG_LIT ("on it"), 0}, third = {&hears, {0}, 2};
    struct ag_toml_path none = {&second, AG_LIT ("on"), 0}, below = {&on, AG_LIT ("x"), 0};
    assert_place (doc, NULL, 1, 1);
    assert_place (doc, &b, 2, 8);
    assert_place (doc, &hears, 3, 1);
    assert_place (doc, &second, 4, 3);
    assert_place (doc, &on, 4, 17);
    unsigned line, column;
    assert_int_equal (ag_toml_where (doc, &third, &line, &column), -1);
    assert_int_equal (ag_toml_where (doc, &none, &line, &column), -1);
    assert_int_equal (ag_toml_where (doc, &below, &line, &column), -1);
    ag_toml_destroy (&doc);
    assert_null (doc);
    ag_buf_fini (&out);
}

//  The value of text, printed by hand so that order and kinds show.
static void
print (struct ag_cursor *in, struct ag_buf *out)
{
    struct ag_head head;
    assert_int_equal (ag_next (in, &head), 0);
    switch (head.kind) {
    case AG_BOOL:
        ag_buf_text (out, head.b ? "true" : "false");
        break;
    case AG_INT:
        ag_buf_text (out, "%lld", (long long)head.i);
        break;
    case AG_UINT:
        ag_buf_text (out, "%llu", (unsigned long long)head.u);
        break;
    case AG_FLOAT:
        ag_buf_text (out, "%.1ff", head.f);
        break;
    case AG_TEXT:
        ag_buf_text (out, "'%.*s'", AG_STR_ARG (head.s));
        break;
    default:
        ag_buf_text (out, head.kind == AG_MAP ? "{" : "[");
        for (uint32_t i = 0; i < head.count * (head.kind == AG_MAP ? 2 : 1); i++) {
            print (in, out);
            ag_buf_text (out, " ");
        }
        ag_buf_text (out, head.kind == AG_MAP ? "}" : "]");
    }
}

static void
every_kind_and_the_order_of_keys_are_kept (void **state)
{
    (void)state;
    const char *text = "z = [1, -2, 9223372036854775807, true, false]\n"
                       "a.c = 1.5\n"
                       "a.b = '''x'''\n"
                       "[[t]]\n"
                       "k = \"\\u00e4\"\n"
                       "[[t]]\n"
                       "[m]\n";
    struct ag_buf out = {0}, shown = {0}, again = {0};
    struct ag_err err;
    ag_toml_t *doc = ag_toml_new (ag_str (text), &out, &err);
    assert_non_null (doc);
    struct ag_cursor in = ag_cursor (ag_buf_str (&out));
    print (&in, &shown);
    ag_buf_add (&shown, "", 1);
    assert_string_equal ((char *)shown.p, "{'z' [1 -2 9223372036854775807 true false ] "
                                          "'a' {'c' 1.5f 'b' 'x' } "
                                          "'t' [{'k' 'ä' } {} ] 'm' {} }");
    assert_int_equal (ag_value_normalise (ag_buf_str (&out), &again, &err), 0);
    assert_true (ag_str_eq (ag_buf_str (&out), ag_buf_str (&again)));
    ag_toml_destroy (&doc);
    ag_buf_fini (&again);
    ag_buf_fini (&shown);
    ag_buf_fini (&out);
}

static void
assert_refused (struct ag_str text, const char *why)
{
    struct ag_buf out = {0};
    struct ag_err err = {0};
    ag_buf_text (&out, "kept");
    assert_null (ag_toml_new (text, &out, &err));
    assert_int_equal (err.code, AG_E_CONFIG);
    if (!strstr (err.text, why))
        fail_msg ("\"%s\" does not say \"%s\"", err.text, why);
    assert_int_equal (out.n, 4);
    ag_buf_fini (&out);
}

static void
what_a_value_cannot_hold_is_refused_with_its_place (void **state)
{
    (void)state;
    assert_refused (AG_LIT ("a = 1\nb = 2026-01-01\n"), "2:5: dates and times");
    assert_refused (AG_LIT ("b = [10:00:00]"), "1:6: dates and times");
    assert_refused (AG_LIT ("b = 2026-01-01T10:00:00Z"), "1:5: dates and times");
    assert_refused (AG_LIT ("b = { c = nan }"), "1:11: a number must be finite");
    assert_refused (AG_LIT ("b = -inf"), "1:5: a number must be finite");
    assert_refused (AG_LIT ("b = 9223372036854775808"), "1:");
}

static void
what_is_not_toml_is_refused_with_its_place (void **state)
{
    (void)state;
    assert_refused (AG_LIT ("a = 1\n\n  b == 2\n"), "3:6: ");
    assert_refused (AG_LIT ("a = 1\na = 2\n"), "2:");
    assert_refused (AG_LIT ("a = \"never ends"), "1:");
    assert_refused (AG_LIT ("a = '\xff'"), "1:");
    assert_refused (AG_LIT ("a = '\0'"), "1:");
    assert_refused (AG_LIT ("a = \"\\ud800\""), "1:");
}

static void
repeat (struct ag_buf *out, const char *text, size_t n)
{
    while (n--)
        ag_buf_text (out, "%s", text);
}

//  before, then n times what, then after.
static void
assert_depth (const char *before, const char *what, size_t n, const char *after, bool right)
{
    struct ag_buf text = {0}, out = {0};
    struct ag_err err = {0};
    repeat (&text, before, 1);
    repeat (&text, what, n);
    repeat (&text, after, *what == '[' ? n : 1);
    ag_toml_t *doc = ag_toml_new (ag_buf_str (&text), &out, &err);
    assert_int_equal (doc != NULL, right);
    if (doc)
        ag_toml_destroy (&doc);
    else if (!strstr (err.text, "more than 64 levels deep"))
        fail_msg ("%zu of \"%s\": %s", n, what, err.text);
    ag_buf_fini (&out);
    ag_buf_fini (&text);
}

//  The library recurses; a file of brackets or dots must not take the stack.
static void
depth_is_refused_whatever_makes_it (void **state)
{
    (void)state;
    assert_depth ("a = ", "[", 63, "]", true);
    assert_depth ("a = ", "[", 64, "]", false);
    assert_depth ("a = ", "[", 500000, "]", false);
    assert_depth ("a", ".a", 63, " = 1.5", true);
    assert_depth ("a", ".a", 64, " = 1", false);
    assert_depth ("a", ".a", 500000, " = 1", false);
    assert_depth ("a", " . \"a.b\"", 63, " = 1", true);
    assert_depth ("a = {", "b.c.d = {", 50, "", false);
    assert_depth ("# ", ".[", 300, "\na = 1", true);
    assert_depth ("a = \"", ".[{", 300, "\"", true);
    assert_depth ("a = '", ".[{", 300, "'", true);
    assert_depth ("a = \"\"\"\"\\\"", ".[{\n", 300, "\"\"\"\"", true);
    assert_depth ("a = [1.5", ", 1.5", 3000, "]", true);
    assert_depth ("a.b.c = 1", "\n[d.e.f]\ng.h = 2\n[[x]]", 1, "", true);
}

static void
size_is_refused_before_anything_is_read (void **state)
{
    (void)state;
    struct ag_buf text = {0}, out = {0};
    struct ag_err err = {0};
    repeat (&text, "#", AG_TOML_MAX);
    ag_toml_t *doc = ag_toml_new (ag_buf_str (&text), &out, &err);
    assert_non_null (doc);
    ag_toml_destroy (&doc);
    ag_buf_text (&text, "#");
    assert_refused (ag_buf_str (&text), "longer than 1 MiB");
    ag_buf_fini (&text);
    ag_buf_fini (&out);
}

static void
an_empty_text_is_an_empty_map (void **state)
{
    (void)state;
    struct ag_buf out = {0};
    struct ag_err err;
    ag_toml_t *doc = ag_toml_new ((struct ag_str){0}, &out, &err);
    assert_non_null (doc);
    assert_int_equal (out.n, 1);
    assert_int_equal (out.p[0], 0x80);
    ag_toml_destroy (&doc);
    ag_buf_fini (&out);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_text_becomes_a_value_whose_parts_have_places),
        cmocka_unit_test (every_kind_and_the_order_of_keys_are_kept),
        cmocka_unit_test (what_a_value_cannot_hold_is_refused_with_its_place),
        cmocka_unit_test (what_is_not_toml_is_refused_with_its_place),
        cmocka_unit_test (depth_is_refused_whatever_makes_it),
        cmocka_unit_test (size_is_refused_before_anything_is_read),
        cmocka_unit_test (an_empty_text_is_an_empty_map),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
