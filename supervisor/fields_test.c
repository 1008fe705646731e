//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/fields.h"
#include "supervisor/core_graph_test.h"

typedef void (*of_two_fn) (struct ag_str a, struct ag_str b, struct ag_buf *out);

static void
assert_gives (struct core *self, of_two_fn call, const char *a, const char *b, const char *wanted)
{
    struct ag_buf one = value_of (self, a), two = value_of (self, b), out = {0};
    call (ag_buf_str (&one), ag_buf_str (&two), &out);
    assert_string_equal (json_of (self, ag_buf_str (&out)), wanted);
    ag_buf_fini (&one);
    ag_buf_fini (&two);
    ag_buf_fini (&out);
}

static void
a_merge_sets_top_level_fields_and_leaves_the_others (void **state)
{
    struct core *self = *state;
    assert_gives (self, ag_fields_merge, "{'a':1,'b':{'x':1},'c':3}",
                  "{'d':4,'b':{'y':2},'a':null}", "{'a':null,'b':{'y':2},'c':3,'d':4}");
    assert_gives (self, ag_fields_merge, "{}", "{'a':1}", "{'a':1}");
    assert_gives (self, ag_fields_merge, "{'a':1}", "{}", "{'a':1}");
}

static void
a_diff_names_what_differs_by_value (void **state)
{
    struct core *self = *state;
    assert_gives (self, ag_fields_diff, "{'a':1,'b':2,'c':3,'t':true}",
                  "{'t':1,'c':3.0,'b':5,'d':null}",
                  "{'a':{'old':1,'new':null},'b':{'old':2,'new':5},'t':{'old':true,'new':1},"
                  "'d':{'old':null,'new':null}}");
    assert_gives (self, ag_fields_diff, "{'a':{'x':1,'y':2}}", "{'a':{'y':2,'x':1}}", "{}");
}

static void
a_change_holds_what_was_asked_for_and_what_else_is_not_as_it_was (void **state)
{
    struct core *self = *state;
    struct ag_buf data = value_of (self, "{'a':1,'b':2.0,'c':3}"), out = {0};
    struct ag_buf after = value_of (self, "{'a':1,'b':2,'c':3,'d':4,'e':5}");
    struct ag_buf asked = value_of (self, "{'d':4.0,'a':1}");
    ag_fields_change (ag_buf_str (&data), ag_buf_str (&after), ag_buf_str (&asked), &out);
    assert_string_equal (json_of (self, ag_buf_str (&out)), "{'a':1,'b':2,'d':4,'e':5}");
    ag_buf_fini (&data);
    ag_buf_fini (&out);
    ag_buf_fini (&after);
    ag_buf_fini (&asked);
}

static bool
write_sides (void *arg, struct ag_str key, struct ag_str one, struct ag_str other)
{
    ag_buf_text (arg, "%.*s:%s%s ", AG_STR_ARG (key), one.p ? "<" : "", other.p ? ">" : "");
    return ag_str_is (key, "end");
}

static void
each_field_of_two_maps_comes_once_with_the_sides_that_have_it (void **state)
{
    struct core *self = *state;
    struct ag_buf one = value_of (self, "{'a':1,'b':null,'c':3}"), out = {0};
    struct ag_buf other = value_of (self, "{'d':4,'c':3,'end':5,'f':6}");
    assert_true (ag_fields_each (ag_buf_str (&one), ag_buf_str (&other), write_sides, &out));
    assert_false (ag_fields_each (ag_buf_str (&one), ag_buf_str (&one), write_sides, &out));
    ag_buf_add (&out, "", 1);
    assert_string_equal ((char *)out.p, "a:< b:< c:<> d:> end:> a:<> b:<> c:<> ");
    ag_buf_fini (&one);
    ag_buf_fini (&other);
    ag_buf_fini (&out);
}

static bool
count_one (void *arg, struct ag_str key, struct ag_str one, struct ag_str other)
{
    (void)key, (void)one, (void)other;
    ++*(size_t *)arg;
    return false;
}

//  Every other field of 40,000 is set: quadratic work would not end within the test.
static void
many_fields_are_no_burden (void **state)
{
    (void)state;
    struct ag_buf a = {0}, b = {0}, merged = {0}, diff = {0};
    struct ag_cursor in;
    struct ag_head head;
    uint64_t number;
    ag_put_map (&a, 40000);
    ag_put_map (&b, 40000);
    for (int i = 0; i < 40000; i++) {
        ag_put_textf (&a, "f%d", i);
        ag_put_int (&a, 1);
        ag_put_textf (&b, "f%d", 79998 - 2 * i);
        ag_put_int (&b, 2);
    }
    ag_fields_merge (ag_buf_str (&a), ag_buf_str (&b), &merged);
    in = ag_cursor (ag_buf_str (&merged));
    assert_int_equal (ag_next (&in, &head), 0);
    assert_int_equal (head.count, 60000);
    assert_int_equal (ag_map_uint (ag_buf_str (&merged), "f39998", &number), 0);
    assert_int_equal (number, 2);
    assert_int_equal (ag_map_uint (ag_buf_str (&merged), "f39999", &number), 0);
    assert_int_equal (number, 1);
    size_t count = 0;
    ag_fields_each (ag_buf_str (&b), ag_buf_str (&merged), count_one, &count);
    assert_int_equal (count, 60000);
    ag_fields_diff (ag_buf_str (&a), ag_buf_str (&merged), &diff);
    in = ag_cursor (ag_buf_str (&diff));
    assert_int_equal (ag_next (&in, &head), 0);
    assert_int_equal (head.count, 40000);
    ag_buf_fini (&a);
    ag_buf_fini (&b);
    ag_buf_fini (&merged);
    ag_buf_fini (&diff);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (a_merge_sets_top_level_fields_and_leaves_the_others),
        core_test (a_change_holds_what_was_asked_for_and_what_else_is_not_as_it_was),
        core_test (a_diff_names_what_differs_by_value),
        core_test (each_field_of_two_maps_comes_once_with_the_sides_that_have_it),
        core_test (many_fields_are_no_burden),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
