//  SPDX-License-Identifier: Apache-2.0
#include "common/value_test.h"

#include <stdio.h>

//  in becomes normal; both as hex.
static void
assert_normal (const char *in, const char *normal)
{
    struct ag_str bytes = hex (in);
    struct ag_buf out = {0};
    struct ag_err err = {.text = ""};
    int rc = ag_value_normalise (bytes, &out, &err);
    if (rc)
        fail_msg ("%s is refused: %s", in, err.text);
    assert_bytes (&out, normal);
    drop (bytes);
}

//  in is refused with this text, and out stays as it was.
static void
assert_refused (struct ag_str bytes, const char *text)
{
    struct ag_buf out = {0};
    ag_buf_add (&out, "before", 6);
    struct ag_err err = {.text = ""};
    assert_int_equal (ag_value_normalise (bytes, &out, &err), -1);
    assert_string_equal (err.text, text);
    assert_int_equal (err.code, AG_E_BAD_VALUE);
    assert_true (ag_str_is (ag_buf_str (&out), "before"));
    ag_buf_fini (&out);
}

static void
assert_refused_hex (const char *in, const char *text)
{
    struct ag_str bytes = hex (in);
    assert_refused (bytes, text);
    drop (bytes);
}

static void
each_long_form_becomes_the_shortest_one (void **state)
{
    (void)state;
    static const struct {
        const char *in, *normal;
    } rows[] = {
        {"c0", "c0"},
        {"cc7f", "7f"},
        {"cd0080", "cc80"},
        {"ce0000ffff", "cdffff"},
        {"cf00000000ffffffff", "ceffffffff"},
        {"cf0000000100000000", "cf0000000100000000"},
        {"d07f", "7f"},
        {"d100ff", "ccff"},
        {"d10100", "cd0100"}, //  as long as the unsigned form, and still not normal
        {"d27fffffff", "ce7fffffff"},
        {"d37fffffffffffffff", "cf7fffffffffffffff"},
        {"cd00ff", "ccff"},
        {"d0e0", "e0"},
        {"d1ff80", "d080"},
        {"d0ff", "ff"},
        {"d1ffdf", "d0df"},
        {"d2ffff8000", "d18000"},
        {"d3ffffffff80000000", "d280000000"},
        {"d38000000000000000", "d38000000000000000"},
        {"ca3fc00000", "cb3ff8000000000000"},
        {"ca80000000", "cb8000000000000000"},
        {"d90161", "a161"},
        {"da000161", "a161"},
        {"db00000000", "a0"},
        {"dc0001c0", "91c0"},
        {"dd00000000", "90"},
        {"de0001a161c0", "81a161c0"},
        {"df00000001 db00000001 61 dd00000002 cc01 c2", "81 a161 92 01 c2"},
        {"92 a161 d90162", "92 a161 a162"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_normal (rows[i].in, rows[i].normal);
}

static void
key_order_is_kept_and_normal_bytes_stay_as_they_are (void **state)
{
    (void)state;
    const char *normal = "84 a17a 01 a161 93 c0 c2 cb8000000000000000 a0 80 a2c3a9 a4f09f9880";
    assert_normal (normal, normal);
}

static void
the_first_offence_is_named_with_its_path (void **state)
{
    (void)state;
    static const struct {
        const char *in, *text;
    } rows[] = {
        {"81 a7 7061796c6f6164 81 a464617461 81 a56974656d73 94 01 02 03 cb7ff8000000000000",
         "payload.data.items[3]: NaN"},
        {"cb7ff0000000000000", "infinity"},
        {"91 ca7f800000", "[0]: infinity"},
        {"91 cbfff0000000000000", "[0]: -infinity"},
        {"92 a161 91 c40101", "[1][0]: msgpack bin, 1 bytes that are no text"},
        {"81 a161 d40100", "a: a msgpack ext type (0xd4)"},
        {"c7010100", "a msgpack ext type (0xc7)"},
        {"c1", "byte 0xc1, which is no msgpack"},
        {"", "the bytes end where a value should be"},
        {"92 01", "0x92 claims more than the 1 bytes that follow it"},
        {"ddffffffff", "0xdd claims more than the 4 bytes that follow it"},
        {"dfffffffff c0c0", "0xdf claims more than the 6 bytes that follow it"},
        {"91 93 01 02 03 04", "1 bytes after the end"},
        {"c0 c0", "1 bytes after the end"},
        {"81 01 02", "a key that is no text (0x01)"},
        {"81 a161 81 c0 02", "a: a key that is no text (0xc0)"},
        {"81 a161 a361ff62", "a: text that is not UTF-8 (0xff at byte 1)"},
        {"81 a161 81 a2c328 01", "a: a key that is not UTF-8 (0xc3 at byte 0)"},
        {"82 a161 01 a161 02", "key \"a\" occurs twice"},
        {"81 a178 83 a161 01 a162 02 d90161 03", "x: key \"a\" occurs twice"},
        {"82 a0 01 a0 02", "key \"\" occurs twice"},
        {"81 a31b5b6d c1", "?[m: byte 0xc1, which is no msgpack"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_refused_hex (rows[i].in, rows[i].text);
}

static void
nesting_is_allowed_to_64_levels (void **state)
{
    (void)state;
    uint8_t deep[AG_DEPTH + 2];
    memset (deep, 0x91, sizeof deep);
    deep[sizeof deep - 1] = 0xc0;
    struct ag_buf out = {0};
    struct ag_err err;
    struct ag_str allowed = {(const char *)deep + 1, sizeof deep - 1};
    assert_int_equal (ag_value_normalise (allowed, &out, &err), 0);
    assert_int_equal (out.n, allowed.n);
    assert_int_equal (
        ag_value_normalise ((struct ag_str){(const char *)deep, sizeof deep}, &out, &err), -1);
    assert_non_null (strstr (err.text, "[0][0]...: more than 64 levels deep"));
    deep[sizeof deep - 2] = 0x80;
    assert_int_equal (
        ag_value_normalise ((struct ag_str){(const char *)deep, sizeof deep - 1}, &out, &err), -1);
    ag_buf_fini (&out);
}

static void
a_very_long_path_shows_its_beginning (void **state)
{
    (void)state;
    struct ag_buf in = {0};
    char key[300];
    memset (key, 'k', sizeof key);
    memcpy (key + 157, "\xe2\x82\xac", 3); //  lies across the place where it is cut
    ag_put_map (&in, 1);
    ag_put_text (&in, (struct ag_str){key, sizeof key});
    ag_buf_add (&in, "\xc1", 1);
    struct ag_buf out = {0};
    struct ag_err err;
    assert_int_equal (ag_value_normalise (ag_buf_str (&in), &out, &err), -1);
    assert_true (strlen (err.text) < 250 && ag_utf8 (ag_str (err.text)));
    assert_non_null (strstr (err.text, "kkk...: byte 0xc1"));
    ag_buf_fini (&in);
    ag_buf_fini (&out);
}

static void
each_key_of_a_large_map_occurs_once (void **state)
{
    (void)state;
    for (uint32_t n = 14; n < 40; n++)
        for (uint32_t twin = 0; twin < n; twin++) {
            struct ag_buf in = {0}, out = {0};
            struct ag_err err = {.text = ""};
            ag_put_list (&in, 1);
            ag_put_map (&in, n);
            for (uint32_t i = 0; i < n; i++) {
                ag_put_textf (&in, "k%u", (i == n - 1 ? twin : i) * 7 % 41);
                ag_put_map (&in, 0);
            }
            int rc = ag_value_normalise (ag_buf_str (&in), &out, &err);
            assert_int_equal (rc, twin == n - 1 ? 0 : -1);
            char *text = ag_xprintf ("[0]: key \"k%u\" occurs twice", twin * 7 % 41);
            assert_string_equal (err.text, rc ? text : "");
            free (text);
            ag_buf_fini (&in);
            ag_buf_fini (&out);
        }
}

//  Large maps inside large maps share what holds their offsets.
static void
large_maps_nest (void **state)
{
    (void)state;
    struct ag_buf in = {0}, out = {0};
    struct ag_err err;
    ag_put_map (&in, 20);
    for (int i = 0; i < 20; i++) {
        ag_put_textf (&in, "an outer key %02d", i);
        ag_put_map (&in, 30);
        for (int j = 0; j < 30; j++) {
            ag_put_textf (&in, "an inner key %d", 39 - j);
            ag_put_uint (&in, (uint64_t)j);
        }
    }
    assert_int_equal (ag_value_normalise (ag_buf_str (&in), &out, &err), 0);
    assert_true (ag_str_eq (ag_buf_str (&in), ag_buf_str (&out)));
    memcpy (memmem (in.p, in.n, "outer key 17", 12), "outer key 03", 12);
    assert_int_equal (ag_value_normalise (ag_buf_str (&in), &out, &err), -1);
    assert_string_equal (err.text, "key \"an outer key 03\" occurs twice");
    memcpy (memmem (in.p, in.n, "inner key 11", 12), "inner key 12", 12);
    assert_int_equal (ag_value_normalise (ag_buf_str (&in), &out, &err), -1);
    assert_string_equal (err.text, "an outer key 00: key \"an inner key 12\" occurs twice");
    ag_buf_fini (&in);
    ag_buf_fini (&out);
}

static void
keys_that_differ_in_their_zeros_are_not_the_same (void **state)
{
    (void)state;
    struct ag_buf in = {0}, out = {0};
    struct ag_err err;
    static const char key[20] = "k";
    ag_put_map (&in, 20);
    for (size_t n = 1; n <= 20; n++) {
        ag_put_text (&in, (struct ag_str){key, n});
        ag_put_null (&in);
    }
    assert_int_equal (ag_value_normalise (ag_buf_str (&in), &out, &err), 0);
    ag_buf_fini (&in);
    ag_buf_fini (&out);
}

static void
assert_shortened (const char *head, struct ag_buf *body, struct ag_buf *wanted)
{
    struct ag_str start = hex (head);
    struct ag_buf in = {0}, out = {0};
    struct ag_err err;
    ag_buf_add_str (&in, start);
    ag_buf_add_str (&in, ag_buf_str (body));
    assert_int_equal (ag_value_normalise (ag_buf_str (&in), &out, &err), 0);
    if (!ag_str_eq (ag_buf_str (&out), ag_buf_str (wanted)))
        fail_msg ("%s is kept", head);
    ag_buf_fini (&in);
    ag_buf_fini (&out);
    ag_buf_fini (body);
    ag_buf_fini (wanted);
    drop (start);
}

//  The largest count of each form, in the next longer form.
static void
each_count_has_the_shortest_head_that_holds_it (void **state)
{
    (void)state;
    static const struct {
        uint32_t n;
        const char *text, *list, *map;
    } rows[] = {
        {0, "d900", "dc0000", "de0000"},
        {15, "d90f", "dc000f", "de000f"},
        {16, "d910", "dd00000010", "df00000010"},
        {31, "d91f", "dd0000001f", "df0000001f"},
        {32, "da0020", "dd00000020", "df00000020"},
        {255, "da00ff", "dd000000ff", "df000000ff"},
        {256, "db00000100", "dd00000100", "df00000100"},
        {65535, "db0000ffff", "dd0000ffff", "df0000ffff"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t n = rows[i].n;
        struct ag_buf body[3] = {{0}}, wanted[3] = {{0}};
        char *zeros = ag_xcalloc (n, 1);
        ag_put_text (&wanted[0], (struct ag_str){zeros, n});
        ag_put_list (&wanted[1], n);
        ag_put_map (&wanted[2], n);
        ag_buf_add (&body[0], zeros, n);
        for (uint32_t j = 0; j < n; j++) {
            ag_put_null (&body[1]);
            ag_put_textf (&body[2], "%u", j);
            ag_put_null (&body[2]);
        }
        ag_buf_add_str (&wanted[1], ag_buf_str (&body[1]));
        ag_buf_add_str (&wanted[2], ag_buf_str (&body[2]));
        const char *const heads[] = {rows[i].text, rows[i].list, rows[i].map};
        for (int j = 0; j < 3; j++)
            assert_shortened (heads[j], &body[j], &wanted[j]);
        free (zeros);
    }
}

static void
no_beginning_of_a_value_is_accepted (void **state)
{
    (void)state;
    struct ag_str bytes =
        hex ("85 a161 93 01 cd0102 dc0001 90 a162 de0001 a163 c0 d90164 cb3ff8000000000000"
             "a165 d3ffffffff7fffffff a166 da000361c3a9");
    struct ag_buf out = {0};
    struct ag_err err;
    for (size_t n = 0; n < bytes.n; n++) {
        struct ag_str part = exact (bytes.p, n);
        assert_int_equal (ag_value_normalise (part, &out, &err), -1);
        assert_int_equal (out.n, 0);
        drop (part);
    }
    assert_int_equal (ag_value_normalise (bytes, &out, &err), 0);
    drop (bytes);
    assert_bytes (&out, "85 a161 93 01 cd0102 91 90 a162 81 a163 c0 a164 cb3ff8000000000000"
                        "a165 d3ffffffff7fffffff a166 a361c3a9");
}

static void
utf8_is_valid_without_overlong_forms_and_surrogates (void **state)
{
    (void)state;
    static const char *const good[] = {
        "",
        "plain",
        "0123456789abcdef",
        "\x7f",
        "\xc2\x80",
        "\xdf\xbf",
        "\xe0\xa0\x80",
        "\xed\x9f\xbf",
        "\xee\x80\x80",
        "\xef\xbf\xbf",
        "\xf0\x90\x80\x80",
        "\xf4\x8f\xbf\xbf",
        "1234567\xc3\xa9tail of text",
    };
    static const char *const bad[] = {
        "\x80",
        "\xbf",
        "\xc0\x80",
        "\xc1\xbf",
        "\xc2",
        "\xc2\x7f",
        "\xc2\xc0",
        "\xe0\x9f\xbf",
        "\xe0\xa0",
        "\xed\xa0\x80",
        "\xed\xbf\xbf",
        "\xf0\x8f\xbf\xbf",
        "\xf0\x90\x80",
        "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80",
        "\xf8\x88\x80\x80\x80",
        "\xff",
        "12345678\xff",
        "1234567\xc3",
        "\xe2\x28\xa1",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true (ag_utf8 (ag_str (good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false (ag_utf8 (ag_str (bad[i])));
    assert_true (ag_utf8 (AG_LIT ("a\0b")));
}

//  Each code point, written by the rule of the standard, alone and behind a word of ASCII.
static void
each_code_point_but_the_surrogates_is_valid (void **state)
{
    (void)state;
    for (uint32_t c = 0; c < 0x120000; c++) {
        uint8_t b[12] = "12345678";
        size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
        static const uint8_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
        for (size_t i = n; i-- > 0;)
            b[8 + i] = (uint8_t)(0x80 | (c >> 6 * (n - 1 - i) & 0x3f));
        b[8] = (uint8_t)(lead[n] | c >> 6 * (n - 1));
        bool valid = c < 0x110000 && (c < 0xd800 || c > 0xdfff);
        if (ag_utf8 ((struct ag_str){(char *)b, 8 + n}) != valid ||
            ag_utf8 ((struct ag_str){(char *)b + 8, n}) != valid)
            fail_msg ("U+%04X", c);
    }
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (each_long_form_becomes_the_shortest_one),
        cmocka_unit_test (key_order_is_kept_and_normal_bytes_stay_as_they_are),
        cmocka_unit_test (the_first_offence_is_named_with_its_path),
        cmocka_unit_test (nesting_is_allowed_to_64_levels),
        cmocka_unit_test (a_very_long_path_shows_its_beginning),
        cmocka_unit_test (each_key_of_a_large_map_occurs_once),
        cmocka_unit_test (large_maps_nest),
        cmocka_unit_test (keys_that_differ_in_their_zeros_are_not_the_same),
        cmocka_unit_test (each_count_has_the_shortest_head_that_holds_it),
        cmocka_unit_test (no_beginning_of_a_value_is_accepted),
        cmocka_unit_test (utf8_is_valid_without_overlong_forms_and_surrogates),
        cmocka_unit_test (each_code_point_but_the_surrogates_is_valid),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
