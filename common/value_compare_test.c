//  SPDX-License-Identifier: Apache-2.0
#include "common/value_test.h"

static void
hash_of (struct ag_str value, const char *blind, char text[2 * AG_HASH + 1])
{
    uint8_t hash[AG_HASH];
    ag_value_hash (value, ag_str (blind), hash);
    ag_hex (hash, sizeof hash, text);
}

static void
check_order (const char *one, const char *two, int expected)
{
    struct ag_str a = hex (one), b = hex (two);
    int order = 9;
    bool ordered = ag_value_order (a, b, &order);
    if (!ordered || (order > 0) - (order < 0) != expected)
        fail_msg ("%s and %s: %d, not %d", one, two, order, expected);
    drop (a);
    drop (b);
}

static void
each_pair_is_equal_or_not_and_its_hashes_agree (void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        bool equal;
    } rows[] = {
        {"01", "cb3ff0000000000000", true},                  //  1 and 1.0
        {"ff", "cbbff0000000000000", true},                  //  -1 and -1.0
        {"00", "cb8000000000000000", true},                  //  0 and -0.0
        {"cb0000000000000000", "cb8000000000000000", true},  //  0.0 and -0.0
        {"cf0020000000000000", "cb4340000000000000", true},  //  2^53 and its double
        {"cf0020000000000001", "cb4340000000000000", false}, //  2^53+1
        {"cf8000000000000000", "cb43e0000000000000", true},  //  2^63
        {"cf7fffffffffffffff", "cb43e0000000000000", false}, //  2^63-1
        {"cfffffffffffffffff", "cb43f0000000000000", false}, //  2^64-1 and 2^64
        {"cffffffffffffff800", "cb43efffffffffffff", true},  //  the largest double below 2^64
        {"d38000000000000000", "cbc3e0000000000000", true},  //  -2^63
        {"d38000000000000001", "cbc3e0000000000000", false}, //  -2^63+1
        {"d38000000000000000", "cbc3e0000000000001", false}, //  the next double below
        {"c3", "01", false},                                 //  a bool is no number
        {"c2", "00", false},
        {"c0", "c2", false},
        {"c0", "00", false},
        {"01", "a131", false},
        {"01", "cb3ff8000000000000", false}, //  1 and 1.5
        {"ff", "cbbff8000000000000", false}, //  -1 and -1.5
        {"ff", "cfffffffffffffffff", false},
        {"a0", "90", false},
        {"90", "80", false},
        {"a161", "a162", false},
        {"92 01 02", "92 02 01", false},
        {"92 01 02", "93 01 02 c0", false},
        {"91 01", "91 cb3ff0000000000000", true},
        {"82 a161 01 a162 02", "82 a162 02 a161 01", true},
        {"82 a161 01 a162 02", "82 a162 01 a161 02", false},
        {"82 a161 01 a162 02", "81 a161 01", false},
        {"82 a161 01 a162 02", "82 a161 01 a163 02", false},
        {"82 a161 c0 a162 02", "81 a162 02", false}, //  null is not the same as absent
        {"82 a0 81 a17a 01 a161 82 a179 02 a178 03", "82 a161 82 a178 03 a179 02 a0 81 a17a 01",
         true},
        {"82 a161 a162 a162 a161", "82 a162 a161 a161 a162", true},
        {"82 a161 01 a26162 02", "82 a26162 02 a161 01", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ag_str a = hex (rows[i].a), b = hex (rows[i].b);
        char one[2 * AG_HASH + 1], two[2 * AG_HASH + 1];
        hash_of (a, "", one);
        hash_of (b, "", two);
        if (ag_value_equal (a, b) != rows[i].equal || ag_value_equal (b, a) != rows[i].equal ||
            !strcmp (one, two) != rows[i].equal)
            fail_msg ("%s and %s", rows[i].a, rows[i].b);
        drop (a);
        drop (b);
    }
}

//  What others must be able to compute: BLAKE2b-256 of the value packed with sorted keys and integral
//  doubles as integers. In Python: blake2b (packb ({"a": [1, 2.5], "b": "x"}), digest_size=32).
static void
the_hash_is_that_of_the_sorted_bytes (void **state)
{
    (void)state;
    struct ag_str sorted = hex ("82 a161 92 01 cb4004000000000000 a162 a178");
    struct ag_str value = hex ("82 a162 a178 a161 92 cb3ff0000000000000 cb4004000000000000");
    uint8_t wanted[AG_HASH], hash[AG_HASH];
    ag_hash (sorted, AG_LIT (""), wanted);
    ag_value_hash (value, AG_LIT (""), hash);
    assert_memory_equal (hash, wanted, AG_HASH);
    ag_value_hash (value, AG_LIT ("r3f"), hash); //  blind to what does not occur
    assert_memory_equal (hash, wanted, AG_HASH);
    drop (sorted);
    drop (value);
}

static struct ag_buf
effect_of (const char *tag, const char *more)
{
    struct ag_buf out = {0};
    ag_put_map (&out, 3);
    ag_put_textf (&out, "task#%s.1", tag);
    ag_put_textf (&out, "%s and %s%s", tag, tag, more);
    ag_put_lit (&out, "task#r9");
    ag_put_null (&out);
    ag_put_lit (&out, "by");
    ag_put_list (&out, 1);
    ag_put_text (&out, ag_str (tag));
    return out;
}

//  The key with the tag stands before task#r9 in one fork and behind it in the other.
static void
a_hash_that_is_blind_to_a_tag_is_the_same_in_two_forks (void **state)
{
    (void)state;
    struct ag_buf a = effect_of ("r3f", ""), b = effect_of ("rzz0", ""), c = effect_of ("r3f", "!");
    char one[2 * AG_HASH + 1], two[2 * AG_HASH + 1];
    hash_of (ag_buf_str (&a), "r3f", one);
    hash_of (ag_buf_str (&b), "rzz0", two);
    assert_string_equal (one, two);
    hash_of (ag_buf_str (&c), "r3f", two);
    assert_string_not_equal (one, two);
    hash_of (ag_buf_str (&a), "", two);
    assert_string_not_equal (one, two);
    ag_buf_fini (&a);
    ag_buf_fini (&b);
    ag_buf_fini (&c);
}

static void
what_is_blind_still_tells_different_texts_apart (void **state)
{
    (void)state;
    static const char *const texts[] = {"r3f",  "",     "r3",     "r3fr3f",
                                        "xr3f", "r3fx", "r3r3ff", "\xef\xbf\xbf"};
    char hashes[8][2 * AG_HASH + 1];
    for (size_t i = 0; i < 8; i++) {
        struct ag_buf out = {0};
        ag_put_text (&out, ag_str (texts[i]));
        hash_of (ag_buf_str (&out), "r3f", hashes[i]);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal (hashes[i], hashes[j]);
        ag_buf_fini (&out);
    }
}

//  Not normal, but well formed: keys that are no text, twice the same, bin, NaN, eight levels more.
static void
what_was_never_checked_does_no_harm (void **state)
{
    (void)state;
    struct ag_str odd = hex ("85 01 02 a161 03 a161 c40101 c0 cb7ff8000000000000 91c0 a1ff");
    char text[2 * AG_HASH + 1];
    hash_of (odd, "a", text);
    assert_true (ag_value_equal (odd, odd));
    drop (odd);
    char deep[AG_DEPTH_WRAPPED + 1];
    memset (deep, '\x91', sizeof deep);
    deep[sizeof deep - 1] = 0;
    hash_of ((struct ag_str){deep, sizeof deep}, "", text);
}

//  A shuffled map of many keys is compared by sorting it, not each key with each.
static void
large_maps_are_equal_in_any_order (void **state)
{
    (void)state;
    enum { N = 50000 };
    struct ag_buf a = {0}, b = {0};
    ag_put_map (&a, N);
    ag_put_map (&b, N);
    for (uint64_t i = 0; i < N; i++) {
        uint64_t j = i * 7919 % N;
        ag_put_textf (&a, "the key %05lu", (unsigned long)i);
        ag_put_uint (&a, i);
        ag_put_textf (&b, "the key %05lu", (unsigned long)j);
        ag_put_uint (&b, j);
    }
    assert_true (ag_value_equal (ag_buf_str (&a), ag_buf_str (&b)));
    b.p[b.n - 1] ^= 1;
    assert_false (ag_value_equal (ag_buf_str (&a), ag_buf_str (&b)));
    ag_buf_fini (&a);
    ag_buf_fini (&b);
}

//  Each is below all that follow it, whatever kinds of numbers the two are.
static void
numbers_are_ordered_by_value_and_texts_by_bytes (void **state)
{
    (void)state;
    static const char *const rising[] = {
        "cbc3e0000000000001", //  the next double below -2^63
        "d38000000000000000", //  -2^63
        "d38000000000000001",
        "cbbff8000000000000",
        "ff",
        "cbbfe0000000000000",
        "00",
        "cb3fe0000000000000",
        "01",
        "cb4340000000000000", //  2^53 as a double
        "cf0020000000000001", //  2^53 + 1
        "cf7fffffffffffffff", //  2^63 - 1
        "cb43e0000000000000", //  2^63
        "cfffffffffffffffff", //  2^64 - 1
        "cb43f0000000000000"  //  2^64
    };
    static const char *const texts[] = {"a0", "a141", "a161", "a26161", "a162"};
    for (size_t i = 0; i < sizeof rising / sizeof *rising; i++)
        for (size_t j = 0; j < sizeof rising / sizeof *rising; j++)
            check_order (rising[i], rising[j], (i > j) - (i < j));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t j = 0; j < sizeof texts / sizeof *texts; j++)
            check_order (texts[i], texts[j], (i > j) - (i < j));
    check_order ("00", "cb8000000000000000", 0); //  0 and -0.0
    check_order ("01", "cb3ff0000000000000", 0);
}

static void
nothing_else_has_an_order (void **state)
{
    (void)state;
    static const char *const all[] = {"c0", "c2", "c3", "01", "a131", "9101", "8101"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t j = 0; j < sizeof all / sizeof *all; j++) {
            struct ag_str a = hex (all[i]), b = hex (all[j]);
            int order;
            assert_int_equal (ag_value_order (a, b, &order), i == j && (i == 3 || i == 4));
            drop (a);
            drop (b);
        }
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (numbers_are_ordered_by_value_and_texts_by_bytes),
        cmocka_unit_test (nothing_else_has_an_order),
        cmocka_unit_test (each_pair_is_equal_or_not_and_its_hashes_agree),
        cmocka_unit_test (the_hash_is_that_of_the_sorted_bytes),
        cmocka_unit_test (a_hash_that_is_blind_to_a_tag_is_the_same_in_two_forks),
        cmocka_unit_test (what_is_blind_still_tells_different_texts_apart),
        cmocka_unit_test (what_was_never_checked_does_no_harm),
        cmocka_unit_test (large_maps_are_equal_in_any_order),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
