//  SPDX-License-Identifier: Apache-2.0
#include "common/json.h"
#include "common/value_test.h"

#include <float.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

//  How a program uses it: text in, a value, text out.
static void
text_becomes_a_value_and_text_again (void **state)
{
    (void)state;
    struct ag_buf value = {0}, line = {0}, pretty = {0};
    struct ag_err err;
    struct ag_str text =
        AG_LIT (" { \"b\" : [1, 2.0, -3, null], \"a\":{\"deep\":[ ], \"x\":{}}, \"c\":true}\n");
    assert_int_equal (ag_json_read (text, &value, &err), 0);
    ag_json_write (ag_buf_str (&value), AG_JSON_LINE, &line);
    ag_buf_text (&line, "%c", 0);
    assert_string_equal ((char *)line.p,
                         "{\"b\":[1,2.0,-3,null],\"a\":{\"deep\":[],\"x\":{}},\"c\":true}");
    ag_json_write (ag_buf_str (&value), AG_JSON_PRETTY, &pretty);
    ag_buf_text (&pretty, "%c", 0);
    assert_string_equal ((char *)pretty.p, "{\n"
                                           "  \"b\": [\n"
                                           "    1,\n"
                                           "    2.0,\n"
                                           "    -3,\n"
                                           "    null\n"
                                           "  ],\n"
                                           "  \"a\": {\n"
                                           "    \"deep\": [],\n"
                                           "    \"x\": {}\n"
                                           "  },\n"
                                           "  \"c\": true\n"
                                           "}");
    ag_buf_fini (&value);
    ag_buf_fini (&line);
    ag_buf_fini (&pretty);
}

static void
each_text_is_read_as_the_value_it_means (void **state)
{
    (void)state;
    static const struct {
        const char *text, *bytes;
    } rows[] = {
        {"null", "c0"},
        {"true", "c3"},
        {"\t\r\n false ", "c2"},
        {"0", "00"},
        {"-0", "00"},
        {"127", "7f"},
        {"128", "cc80"},
        {"-1", "ff"},
        {"18446744073709551615", "cfffffffffffffffff"},
        {"9223372036854775808", "cf8000000000000000"},
        {"-9223372036854775808", "d38000000000000000"},
        {"1.0", "cb3ff0000000000000"},
        {"1e0", "cb3ff0000000000000"},
        {"1E+0", "cb3ff0000000000000"},
        {"15e-1", "cb3ff8000000000000"},
        {"-0.0", "cb8000000000000000"},
        {"1e-400", "cb0000000000000000"},
        {"5e-324", "cb0000000000000001"},
        {"1.7976931348623157e308", "cb7fefffffffffffff"},
        {"18446744073709551616.0", "cb43f0000000000000"},
        {"\"\"", "a0"},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "a8 22 5c 2f 08 0c 0a 0d 09"},
        {"\"a\\u0000b\"", "a3 61 00 62"},
        {"\"\\u00e9\\u20AC\\ud83d\\ude00\"", "a9 c3a9 e282ac f09f9880"},
        {"\"\xc3\xa9\"", "a2 c3a9"},
        {"[]", "90"},
        {"[ [ ] , { } ]", "92 90 80"},
        {"{\"z\":1,\"a\":2,\"\":3}", "83 a17a 01 a161 02 a0 03"},
        {"{\"\\u0061\":\"b\\n\"}", "81 a161 a2620a"},
        {"[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,[15]]", "dc0010 000102030405060708090a0b0c0d0e 910f"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ag_buf out = {0};
        struct ag_err err = {.text = ""};
        struct ag_str text = exact (rows[i].text, strlen (rows[i].text));
        if (ag_json_read (text, &out, &err))
            fail_msg ("%s is refused: %s", rows[i].text, err.text);
        assert_bytes (&out, rows[i].bytes);
        drop (text);
    }
}

static void
a_line_of_a_file_is_refused_by_its_number_in_it (void **state)
{
    (void)state;
    struct ag_buf out = {0};
    struct ag_err err;
    assert_int_equal (ag_json_read_line (AG_LIT ("[1,]"), 7, &out, &err), -1);
    assert_string_equal (err.text, "line 7, column 4: ']' where a value should be");
    ag_buf_fini (&out);
}

static void
each_offence_is_named_with_line_and_column (void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"", "line 1, column 1: the end where a value should be"},
        {"  \n ", "line 2, column 2: the end where a value should be"},
        {"nul", "line 1, column 1: 'n' where a value should be"},
        {"NaN", "line 1, column 1: 'N' where a value should be"},
        {"\xef\xbb\xbf[]", "line 1, column 1: 0xef where a value should be"},
        {"nullx", "line 1, column 5: 'x' where the end should be"},
        {"{} {}", "line 1, column 4: '{' where the end should be"},
        {"01", "line 1, column 2: '1' where the end should be"},
        {"-", "line 1, column 2: the end where a digit should be"},
        {"+1", "line 1, column 1: '+' where a value should be"},
        {".5", "line 1, column 1: '.' where a value should be"},
        {"1.", "line 1, column 3: the end where a digit should be"},
        {"[1e]", "line 1, column 4: ']' where a digit should be"},
        {"1e+", "line 1, column 4: the end where a digit should be"},
        {"18446744073709551616", "line 1, column 1: an integer outside -2^63..2^64-1"},
        {"99999999999999999999999", "line 1, column 1: an integer outside -2^63..2^64-1"},
        {"[ -9223372036854775809]", "line 1, column 3: an integer outside -2^63..2^64-1"},
        {"1e309", "line 1, column 1: a number that is too large for a double"},
        {"[1,]", "line 1, column 4: ']' where a value should be"},
        {"[1 2]", "line 1, column 4: '2' where ',' or ']' should be"},
        {"[,1]", "line 1, column 2: ',' where a value should be"},
        {"[1", "line 1, column 3: the end where ',' or ']' should be"},
        {"{1:2}", "line 1, column 2: '1' where a key in quotes should be"},
        {"{\"a\" 1}", "line 1, column 6: '1' where ':' should be"},
        {"{\"a\":1,}", "line 1, column 8: '}' where a key in quotes should be"},
        {"{\"a\":1 \"b\":2}", "line 1, column 8: '\"' where ',' or '}' should be"},
        {"{\n \"a\": 1,\n \"\xc3\xa9\": 2, \"a\": 3}", "line 3, column 10: this key occurs twice"},
        {"{\"x\":{\"a\":1,\"\\u0061\":2}}", "line 1, column 13: this key occurs twice"},
        {"\"abc", "line 1, column 5: the end where a closing quote should be"},
        {"\"a\nb\"", "line 1, column 3: 0x0a where an escape of it should be"},
        {"\"a\tb\"", "line 1, column 3: 0x09 where an escape of it should be"},
        {"\"\\x\"", "line 1, column 3: 'x' where an escape (one of \"\\/bfnrtu) should be"},
        {"\"\\", "line 1, column 3: the end where an escape (one of \"\\/bfnrtu) should be"},
        {"\"\\u12g4\"", "line 1, column 6: 'g' where a hexadecimal digit should be"},
        {"\"\\ud83d\"", "line 1, column 2: a surrogate without its other half"},
        {"\"\\ud83dx\"", "line 1, column 2: a surrogate without its other half"},
        {"\"\\ud83d\\u0041\"", "line 1, column 2: a surrogate without its other half"},
        {"\"\\ud83d\\ue000\"", "line 1, column 2: a surrogate without its other half"},
        {"\"\\ude00\\ude00\"", "line 1, column 2: a surrogate without its other half"},
        {"\"\\ude00\\ud83d\"", "line 1, column 2: a surrogate without its other half"},
        {"\"ok\xed\xa0\x80\"", "line 1, column 4: a byte that is not UTF-8"},
        {"[1, // no\n2]", "line 1, column 5: '/' where a value should be"},
        {"['a']", "line 1, column 2: ''' where a value should be"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ag_buf out = {0};
        struct ag_err err = {.text = ""};
        struct ag_str text = exact (rows[i].text, strlen (rows[i].text));
        ag_buf_add (&out, "before", 6);
        if (!ag_json_read (text, &out, &err))
            fail_msg ("%s is read", rows[i].text);
        assert_string_equal (err.text, rows[i].error);
        assert_true (ag_str_is (ag_buf_str (&out), "before"));
        ag_buf_fini (&out);
        drop (text);
    }
}

static void
nesting_is_allowed_as_deep_as_values_are_taken (void **state)
{
    (void)state;
    for (int extra = 0; extra <= 1; extra++) {
        struct ag_buf text = {0}, out = {0};
        struct ag_err err;
        for (int i = 0; i < AG_DEPTH_WRAPPED + extra; i++)
            ag_buf_text (&text, i % 2 ? "{\"a\":" : "[");
        ag_buf_text (&text, "1");
        for (int i = AG_DEPTH_WRAPPED + extra - 1; i >= 0; i--)
            ag_buf_text (&text, i % 2 ? "}" : "]");
        assert_int_equal (ag_json_read (ag_buf_str (&text), &out, &err), -extra);
        struct ag_buf again = {0};
        if (!extra) {
            ag_json_write (ag_buf_str (&out), AG_JSON_LINE, &again);
            assert_true (ag_str_eq (ag_buf_str (&again), ag_buf_str (&text)));
        }
        ag_buf_fini (&text);
        ag_buf_fini (&out);
        ag_buf_fini (&again);
    }
}

static void
assert_written (const char *bytes, const char *json)
{
    struct ag_str value = hex (bytes);
    struct ag_buf out = {0};
    ag_json_write (value, AG_JSON_LINE, &out);
    ag_buf_add (&out, "", 1);
    assert_string_equal ((char *)out.p, json);
    ag_buf_fini (&out);
    drop (value);
}

static void
each_value_is_written_as_the_text_that_means_it (void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *json;
    } rows[] = {
        {"c0", "null"},
        {"c3", "true"},
        {"cfffffffffffffffff", "18446744073709551615"},
        {"d38000000000000000", "-9223372036854775808"},
        {"cb3ff0000000000000", "1.0"},
        {"cb8000000000000000", "-0.0"},
        {"cb3fb999999999999a", "0.1"},
        {"cb3fd3333333333334", "0.30000000000000004"},
        {"cb430c6bf526340000", "1e+15"},
        {"cb42f6bcc41e900000", "400000000000000.0"},
        {"cb0000000000000001", "5e-324"},
        {"cb7fefffffffffffff", "1.7976931348623157e+308"},
        {"cb7ff8000000000000", "null"},
        {"a8 22 5c 2f 08 0c 0a 0d 09", "\"\\\"\\\\/\\b\\f\\n\\r\\t\""},
        {"a4 00 1f 7f 20", "\"\\u0000\\u001f\\u007f \""},
        {"a6 c280 c29f c2a0", "\"\\u0080\\u009f\xc2\xa0\""},
        {"a9 c3a9 e282ac f09f9880", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"c403 61c3a9", "\"a\xc3\xa9\""},
        {"c403 00ff10", "\"00ff10\""},
        {"a2 ff41", "\"ff41\""},
        {"81 01 02", "{\"01\":2}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_written (rows[i].bytes, rows[i].json);
}

/*  Random values, with jansson as the oracle where it can hold what we hold  */

static uint64_t seed;

//  splitmix64: short, and the same everywhere.
static uint64_t
dice (void)
{
    uint64_t z = (seed += 0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static void
put_random_text (struct ag_buf *out)
{
    static const char *const parts[] = {"a",
                                        "Z ",
                                        "\"",
                                        "\\",
                                        "\n",
                                        "\x01",
                                        "\x7f",
                                        "\xc2\x85",
                                        "\xc3\xa9",
                                        "\xe2\x82\xac",
                                        "\xf0\x9f\x98\x80",
                                        "plain words"};
    struct ag_buf text = {0};
    for (uint64_t n = dice() % 6; n > 0; n--)
        ag_buf_add_str (&text, ag_str (parts[dice() % 12]));
    ag_put_text (out, ag_buf_str (&text));
    ag_buf_fini (&text);
}

static void
put_random_number (struct ag_buf *out)
{
    uint64_t bits = dice() >> dice() % 64;
    double f;
    switch (dice() % 3) {
    case 0:
        ag_put_int (out, (int64_t)bits);
        break;
    case 1:
        memcpy (&f, &(uint64_t){dice()}, sizeof f);
        ag_put_float (out, isfinite (f) ? f : 0.5);
        break;
    default:
        ag_put_float (out, (double)(bits % 100000) / 100);
    }
}

static void
put_random (struct ag_buf *out, int depth)
{
    uint64_t n = dice() % (dice() % 20 ? 5 : 20);
    switch (dice() % (depth ? 6 : 4)) {
    case 0:
        ag_put_null (out);
        break;
    case 1:
        ag_put_bool (out, dice() & 1);
        break;
    case 2:
        put_random_number (out);
        break;
    case 3:
        put_random_text (out);
        break;
    case 4:
        ag_put_list (out, (uint32_t)n);
        while (n-- > 0)
            put_random (out, depth - 1);
        break;
    default:
        ag_put_map (out, (uint32_t)n);
        for (uint64_t i = 0; i < n; i++) {
            ag_put_textf (out, "%s%lu", i % 3 ? "key" : "\xc3\xa9\n", (unsigned long)i);
            put_random (out, depth - 1);
        }
    }
}

static void
put_random_list (struct ag_buf *out, uint32_t n, int depth)
{
    ag_put_list (out, n);
    while (n-- > 0)
        put_random (out, depth);
}

//  jansson reads our text, writes it its own way, and we read that: the same value.
static void
ask_the_oracle (struct ag_str value, struct ag_str text)
{
    json_error_t error;
    json_t *json = json_loadb (text.p, text.n,
                               JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    if (!json)
        fail_msg ("jansson: %s in %.*s", error.text, AG_STR_ARG (text));
    char *theirs = json_dumps (json, JSON_ENCODE_ANY | JSON_ENSURE_ASCII | JSON_SORT_KEYS);
    struct ag_buf out = {0};
    struct ag_err err = {.text = ""};
    if (ag_json_read (ag_str (theirs), &out, &err))
        fail_msg ("%s in %s", err.text, theirs);
    if (!ag_value_equal (value, ag_buf_str (&out)))
        fail_msg ("%.*s is not %s", AG_STR_ARG (text), theirs);
    ag_buf_fini (&out);
    free (theirs);
    json_decref (json);
}

static void
any_value_survives_the_way_through_text_and_through_jansson (void **state)
{
    (void)state;
    seed = (uint64_t)time (NULL);
    print_message ("seed %lu\n", (unsigned long)seed);
    for (int round = 0; round < 1500; round++) {
        struct ag_buf value = {0}, text = {0}, again = {0}, normal = {0};
        struct ag_err err = {.text = ""};
        put_random_list (&value, 8, 5);
        assert_int_equal (ag_value_normalise (ag_buf_str (&value), &normal, &err), 0);
        ag_json_write (ag_buf_str (&value), round % 2 ? AG_JSON_LINE : AG_JSON_PRETTY, &text);
        if (ag_json_read (ag_buf_str (&text), &again, &err))
            fail_msg ("%s in %.*s", err.text, AG_STR_ARG (ag_buf_str (&text)));
        //  Not only equal: the same bytes, so that a float stays a float and the order of keys stays.
        if (!ag_str_eq (ag_buf_str (&normal), ag_buf_str (&again)))
            fail_msg ("another value from %.*s", AG_STR_ARG (ag_buf_str (&text)));
        ask_the_oracle (ag_buf_str (&value), ag_buf_str (&text));
        ag_buf_fini (&value);
        ag_buf_fini (&text);
        ag_buf_fini (&again);
        ag_buf_fini (&normal);
    }
}

//  One byte of a valid text is changed: we and jansson agree on whether it is still JSON, but for what
//  only one of us can hold.
static void
damaged_text_is_refused_when_jansson_refuses_it (void **state)
{
    (void)state;
    for (int round = 0; round < 5000; round++) {
        struct ag_buf value = {0}, text = {0}, out = {0};
        struct ag_err err = {.text = ""};
        put_random_list (&value, 2, 3);
        ag_json_write (ag_buf_str (&value), AG_JSON_LINE, &text);
        static const char bytes[] = "\"\\{}[]:,0123456789.eE+-truefalsnu /\xc3\xa9\x1f";
        text.p[dice() % text.n] = (uint8_t)bytes[dice() % (sizeof bytes - 1)];

        json_error_t error;
        json_t *json =
            json_loadb ((char *)text.p, text.n,
                        JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
        bool ours = !ag_json_read (ag_buf_str (&text), &out, &err);
        bool range = !ours ? strstr (err.text, "an integer outside") ||
                                 strstr (err.text, "too large for a double")
                           : strstr (error.text, "too big integer") ||
                                 strstr (error.text, "real number overflow");
        if (ours != (json != NULL) && !range)
            fail_msg ("seed %lu: ours '%s', theirs '%s': %.*s", (unsigned long)seed, err.text,
                      error.text, AG_STR_ARG (ag_buf_str (&text)));
        json_decref (json);
        ag_buf_fini (&value);
        ag_buf_fini (&text);
        ag_buf_fini (&out);
    }
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (text_becomes_a_value_and_text_again),
        cmocka_unit_test (each_text_is_read_as_the_value_it_means),
        cmocka_unit_test (each_offence_is_named_with_line_and_column),
        cmocka_unit_test (a_line_of_a_file_is_refused_by_its_number_in_it),
        cmocka_unit_test (nesting_is_allowed_as_deep_as_values_are_taken),
        cmocka_unit_test (each_value_is_written_as_the_text_that_means_it),
        cmocka_unit_test (any_value_survives_the_way_through_text_and_through_jansson),
        cmocka_unit_test (damaged_text_is_refused_when_jansson_refuses_it),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
