//  SPDX-License-Identifier: Apache-2.0
#include "common/value_test.h"

//  How a program uses it: write, check what came from outside, read by name.
static void
a_value_is_written_checked_and_read_by_name (void **state)
{
    (void)state;
    struct ag_buf out = {0}, normal = {0};
    size_t top = ag_open_map (&out);
    ag_put_lit (&out, "type");
    ag_put_textf (&out, "task.%s", "done");
    ag_put_lit (&out, "payload");
    ag_put_map (&out, 2);
    ag_put_lit (&out, "hours");
    ag_put_uint (&out, 300);
    ag_put_lit (&out, "late");
    ag_put_bool (&out, true);
    ag_close (&out, top, 2);

    struct ag_err err;
    assert_int_equal (ag_value_normalise (ag_buf_str (&out), &normal, &err), 0);
    struct ag_str event = ag_buf_str (&normal), payload, text;
    uint64_t hours;
    bool late;
    assert_int_equal (ag_map_text (event, "type", &text), 0);
    assert_true (ag_str_is (text, "task.done"));
    assert_int_equal (ag_map_get (event, "payload", &payload), 0);
    assert_int_equal (ag_map_uint (payload, "hours", &hours), 0);
    assert_int_equal (ag_map_bool (payload, "late", &late), 0);
    assert_true (hours == 300 && late);
    ag_buf_fini (&out);
    assert_bytes (&normal, "82 a474797065 a97461736b2e646f6e65 a77061796c6f6164"
                           "82 a5686f757273 cd012c a46c617465 c3");
}

static void
a_missing_name_and_a_value_of_another_kind_are_not_found (void **state)
{
    (void)state;
    struct ag_str map = hex ("83 a161 01 a162 a178 a163 81 a164 c2"), value;
    uint64_t number;
    bool yes;
    assert_int_equal (ag_map_get (map, "d", &value), -1);
    assert_int_equal (ag_map_get (AG_LIT ("\x93\x01\x02\x03"), "a", &value), -1);
    assert_int_equal (ag_map_get (AG_LIT (""), "a", &value), -1);
    assert_int_equal (ag_map_text (map, "a", &value), -1);
    assert_int_equal (ag_map_uint (map, "b", &number), -1);
    assert_int_equal (ag_map_bool (map, "a", &yes), -1);
    assert_int_equal (ag_map_path (map, AG_LIT ("c.d"), &value), 0);
    assert_int_equal (ag_kind_of (value), AG_BOOL);
    assert_int_equal (ag_map_path (map, AG_LIT ("c"), &value), 0);
    assert_int_equal (ag_kind_of (value), AG_MAP);
    assert_int_equal (ag_map_path (map, AG_LIT ("c.d.e"), &value), -1);
    assert_int_equal (ag_map_path (map, AG_LIT ("c."), &value), -1);
    assert_int_equal (ag_map_path (map, AG_LIT (""), &value), -1);
    drop (map);
}

static void
a_map_of_a_list_is_found_by_one_of_its_texts (void **state)
{
    (void)state;
    //  [{a: 1}, "x", {a: "x", b: 1}, {a: "x", b: 2}]
    struct ag_str list = hex ("94 81a16101 a178 82a161a178a16201 82a161a178a16202"), found;
    uint64_t number;
    assert_int_equal (ag_list_find (list, "a", AG_LIT ("x"), &found), 0);
    assert_int_equal (ag_map_uint (found, "b", &number), 0);
    assert_int_equal (number, 1);
    assert_true (ag_map_text_is (found, "a", AG_LIT ("x")));
    assert_false (ag_map_text_is (found, "a", AG_LIT ("xy")));
    assert_false (ag_map_text_is (found, "b", AG_LIT ("\x01")));
    assert_int_equal (ag_list_find (list, "a", AG_LIT ("y"), &found), -1);
    assert_int_equal (ag_list_find (list, "b", AG_LIT ("x"), &found), -1);
    assert_int_equal (ag_list_find (AG_LIT ("\x80"), "a", AG_LIT ("x"), &found), -1);
    drop (list);
}

/*  Heads  */

static const struct {
    const char *bytes;
    struct ag_head head;
} forms[] = {
    {"c0", {AG_NULL, .u = 0}},
    {"c2", {AG_BOOL, .b = false}},
    {"c3", {AG_BOOL, .b = true}},
    {"00", {AG_UINT, .u = 0}},
    {"7f", {AG_UINT, .u = 127}},
    {"cc80", {AG_UINT, .u = 128}},
    {"ccff", {AG_UINT, .u = 255}},
    {"cd0100", {AG_UINT, .u = 256}},
    {"cdffff", {AG_UINT, .u = 65535}},
    {"ce00010000", {AG_UINT, .u = 65536}},
    {"ceffffffff", {AG_UINT, .u = 4294967295}},
    {"cf0000000100000000", {AG_UINT, .u = 4294967296}},
    {"cfffffffffffffffff", {AG_UINT, .u = UINT64_MAX}},
    {"ff", {AG_INT, .i = -1}},
    {"e0", {AG_INT, .i = -32}},
    {"d0df", {AG_INT, .i = -33}},
    {"d080", {AG_INT, .i = -128}},
    {"d1ff7f", {AG_INT, .i = -129}},
    {"d18000", {AG_INT, .i = -32768}},
    {"d2ffff7fff", {AG_INT, .i = -32769}},
    {"d280000000", {AG_INT, .i = -2147483648}},
    {"d3ffffffff7fffffff", {AG_INT, .i = -2147483649}},
    {"d38000000000000000", {AG_INT, .i = INT64_MIN}},
    {"cb3ff8000000000000", {AG_FLOAT, .f = 1.5}},
    {"cb8000000000000000", {AG_FLOAT, .f = -0.0}},
    {"cb0000000000000001", {AG_FLOAT, .f = 5e-324}},
};

static bool
same_head (const struct ag_head *a, const struct ag_head *b)
{
    if (a->kind != b->kind)
        return false;
    return a->kind == AG_BOOL ? a->b == b->b : a->kind == AG_NULL || a->u == b->u;
}

static void
put (struct ag_buf *out, const struct ag_head *head)
{
    switch (head->kind) {
    case AG_NULL:
        ag_put_null (out);
        break;
    case AG_BOOL:
        ag_put_bool (out, head->b);
        break;
    case AG_INT:
        ag_put_int (out, head->i);
        break;
    case AG_UINT:
        ag_put_uint (out, head->u);
        break;
    case AG_FLOAT:
        ag_put_float (out, head->f);
        break;
    default:
        fail();
    }
}

static void
each_scalar_is_written_in_its_shortest_form_and_read_back (void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct ag_buf out = {0};
        put (&out, &forms[i].head);
        struct ag_cursor in = ag_cursor (ag_buf_str (&out));
        struct ag_head head;
        assert_int_equal (ag_next (&in, &head), 0);
        assert_true (same_head (&head, &forms[i].head));
        assert_ptr_equal (in.p, in.end);
        assert_bytes (&out, forms[i].bytes);
    }
    struct ag_buf out = {0};
    ag_put_int (&out, 300); //  not below zero: the unsigned form
    assert_bytes (&out, "cd012c");
}

//  Text, bytes, lists and maps at the sizes where their form changes.
static void
each_size_has_its_form (void **state)
{
    (void)state;
    static const struct {
        size_t n;
        const char *text, *bytes, *list, *map;
    } rows[] = {
        {0, "a0", "c400", "90", "80"},
        {15, "af", "c40f", "9f", "8f"},
        {16, "b0", "c410", "dc0010", "de0010"},
        {31, "bf", "c41f", "dc001f", "de001f"},
        {32, "d920", "c420", "dc0020", "de0020"},
        {255, "d9ff", "c4ff", "dc00ff", "de00ff"},
        {256, "da0100", "c50100", "dc0100", "de0100"},
        {65535, "daffff", "c5ffff", "dcffff", "deffff"},
        {65536, "db00010000", "c600010000", "dd00010000", "df00010000"},
    };
    static char many[65536];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ag_buf text = {0}, bytes = {0}, list = {0}, map = {0};
        ag_put_text (&text, (struct ag_str){many, rows[i].n});
        ag_put_bytes (&bytes, (struct ag_str){many, rows[i].n});
        ag_put_list (&list, (uint32_t)rows[i].n);
        ag_put_map (&map, (uint32_t)rows[i].n);
        assert_true (text.n >= rows[i].n && bytes.n >= rows[i].n);
        text.n -= rows[i].n;
        bytes.n -= rows[i].n;
        assert_bytes (&text, rows[i].text);
        assert_bytes (&bytes, rows[i].bytes);
        assert_bytes (&list, rows[i].list);
        assert_bytes (&map, rows[i].map);
    }
}

static void
a_claim_beyond_the_bytes_that_remain_is_refused_and_moves_nothing (void **state)
{
    (void)state;
    static const char *const claims[] = {
        "",           "cc",       "cd01",      "ce000001",   "cf00000000000000", "d0",
        "d1ff",       "d2ffffff", "d3ff",      "ca000000",   "cb00000000000000", "a1",
        "bf6161",     "d902 61",  "da0001",    "db00000001", "dbffffffff 61",    "c401",
        "c6ffffffff", "91",       "92 c0",     "dc0002 c0",  "ddffffffff",       "dd00800000",
        "81",         "81 c0",    "82 c0c0c0", "de0001 c0",  "dfffffffff c0c0",  "df0a0a9b9b9b",
        "c1",         "c7010100", "d40100",    "d8",         "c9ffffffff01",
    };
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        struct ag_str bytes = hex (claims[i]), value;
        struct ag_cursor in = ag_cursor (bytes);
        struct ag_head head;
        assert_int_equal (ag_next (&in, &head), -1);
        assert_ptr_equal (in.p, bytes.p);
        assert_int_equal (ag_take (&in, &value), -1);
        assert_ptr_equal (in.p, bytes.p);
        drop (bytes);
    }
}

static void
a_float32_is_widened_exactly (void **state)
{
    (void)state;
    struct ag_cursor in = ag_cursor (AG_LIT ("\xca\x3d\xcc\xcc\xcd"));
    struct ag_head head;
    assert_int_equal (ag_next (&in, &head), 0);
    assert_int_equal (head.kind, AG_FLOAT);
    assert_true (head.f == (double)0.1f && head.f != 0.1);
}

//  As another program may write it.
static void
a_number_from_zero_on_is_unsigned_in_a_signed_form_too (void **state)
{
    (void)state;
    const char *const forms_of_5[] = {"d005", "d10005", "d200000005", "d30000000000000005"};
    for (size_t i = 0; i < 4; i++) {
        struct ag_str bytes = hex (forms_of_5[i]);
        struct ag_cursor in = ag_cursor (bytes);
        struct ag_head head;
        assert_int_equal (ag_next (&in, &head), 0);
        assert_true (head.kind == AG_UINT && head.u == 5 && in.p == in.end);
        drop (bytes);
    }
}

static void
a_whole_value_is_taken_with_all_it_holds (void **state)
{
    (void)state;
    struct ag_str bytes = hex ("82 a161 93 01 02 90 a162 81 a163 c0  07"), value;
    struct ag_cursor in = ag_cursor (bytes);
    assert_int_equal (ag_take (&in, &value), 0);
    assert_true (value.p == bytes.p && value.n == bytes.n - 1);
    assert_int_equal (ag_take (&in, &value), 0);
    assert_int_equal (ag_kind_of (value), AG_UINT);
    assert_int_equal (ag_take (&in, &value), -1);
    drop (bytes);
}

static void
no_beginning_of_a_value_is_taken_for_the_whole (void **state)
{
    (void)state;
    struct ag_str bytes =
        hex ("85 a161 93 01 cd0102 dc0001 90 a162 de0001 a163 c0 d90164 cb3ff8000000000000"
             "a165 d3ffffffff7fffffff a166 da000361c3a9");
    struct ag_str value;
    for (size_t n = 0; n < bytes.n; n++) {
        struct ag_str part = exact (bytes.p, n);
        struct ag_cursor in = ag_cursor (part);
        assert_int_equal (ag_take (&in, &value), -1);
        assert_ptr_equal (in.p, part.p);
        drop (part);
    }
    struct ag_cursor in = ag_cursor (bytes);
    assert_int_equal (ag_take (&in, &value), 0);
    assert_int_equal (value.n, bytes.n);
    drop (bytes);
}

//  Texts of every length that a lead byte tells, and some beyond; what follows is left.
static void
a_text_of_any_length_is_taken_whole (void **state)
{
    (void)state;
    char text[40];
    memset (text, 'x', sizeof text);
    for (size_t n = 0; n <= sizeof text; n++) {
        struct ag_buf out = {0};
        struct ag_str value;
        ag_put_text (&out, (struct ag_str){text, n});
        size_t whole = out.n;
        ag_put_uint (&out, 7);
        struct ag_cursor in = ag_cursor (ag_buf_str (&out));
        assert_int_equal (ag_take (&in, &value), 0);
        assert_int_equal (value.n, whole);
        ag_buf_fini (&out);
    }
}

static void
what_is_read_whole_may_wrap_a_value_in_eight_levels_but_no_more (void **state)
{
    (void)state;
    uint8_t deep[AG_DEPTH_WRAPPED + 2];
    memset (deep, 0x91, sizeof deep);
    deep[sizeof deep - 1] = 0xc0;
    struct ag_str value;
    struct ag_cursor in = {deep + 1, deep + sizeof deep};
    assert_int_equal (ag_take (&in, &value), 0);
    assert_int_equal (value.n, AG_DEPTH_WRAPPED + 1);
    in = (struct ag_cursor){deep, deep + sizeof deep};
    assert_int_equal (ag_take (&in, &value), -1);
}

static void
a_name_after_a_malformed_value_is_not_found (void **state)
{
    (void)state;
    struct ag_str map = hex ("83 a161 01 a162 c1 a163 02"), value;
    assert_int_equal (ag_map_get (map, "a", &value), 0);
    assert_int_equal (ag_map_get (map, "b", &value), -1);
    assert_int_equal (ag_map_get (map, "c", &value), -1);
    drop (map);
    map = hex ("82 01 02 a161 03");
    assert_int_equal (ag_map_get (map, "a", &value), -1);
    drop (map);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_value_is_written_checked_and_read_by_name),
        cmocka_unit_test (a_missing_name_and_a_value_of_another_kind_are_not_found),
        cmocka_unit_test (a_map_of_a_list_is_found_by_one_of_its_texts),
        cmocka_unit_test (each_scalar_is_written_in_its_shortest_form_and_read_back),
        cmocka_unit_test (each_size_has_its_form),
        cmocka_unit_test (a_claim_beyond_the_bytes_that_remain_is_refused_and_moves_nothing),
        cmocka_unit_test (a_float32_is_widened_exactly),
        cmocka_unit_test (a_number_from_zero_on_is_unsigned_in_a_signed_form_too),
        cmocka_unit_test (a_whole_value_is_taken_with_all_it_holds),
        cmocka_unit_test (no_beginning_of_a_value_is_taken_for_the_whole),
        cmocka_unit_test (a_text_of_any_length_is_taken_whole),
        cmocka_unit_test (what_is_read_whole_may_wrap_a_value_in_eight_levels_but_no_more),
        cmocka_unit_test (a_name_after_a_malformed_value_is_not_found),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
