//  SPDX-License-Identifier: Apache-2.0
#include "common/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

//  RFC 7693 gives BLAKE2b-512 only; these are what `b2sum -l 256` prints.
static void
a_hash_is_blake2b_256_of_both_pieces (void **state)
{
    (void)state;
    uint8_t hash[AG_HASH];
    char text[2 * AG_HASH + 1];
    ag_hash (AG_LIT ("a"), AG_LIT ("bc"), hash);
    ag_hex (hash, sizeof hash, text);
    assert_string_equal (text, "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
    ag_hash (AG_LIT (""), ag_str (NULL), hash);
    ag_hex (hash, sizeof hash, text);
    assert_string_equal (text, "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
}

static void
it_does_not_matter_how_the_bytes_are_cut_into_pieces (void **state)
{
    (void)state;
    char bytes[1000];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 7);
    uint8_t whole[AG_HASH], pieces[AG_HASH];
    ag_hash ((struct ag_str){bytes, sizeof bytes}, AG_LIT (""), whole);

    for (size_t step = 1; step < sizeof bytes; step += 37) {
        struct ag_hasher hasher;
        ag_hasher_init (&hasher);
        for (size_t at = 0; at < sizeof bytes; at += step) {
            size_t n = at + step > sizeof bytes ? sizeof bytes - at : step;
            ag_hasher_add (&hasher, (struct ag_str){bytes + at, n});
        }
        ag_hasher_end (&hasher, pieces);
        assert_memory_equal (whole, pieces, AG_HASH);
    }
}

static void
sha256_is_what_everybody_computes (void **state)
{
    (void)state;
    struct ag_sha256 sha;
    uint8_t hash[AG_HASH];
    char text[2 * AG_HASH + 1];
    ag_sha256_init (&sha);
    ag_sha256_add (&sha, AG_LIT ("a"));
    ag_sha256_add (&sha, AG_LIT (""));
    ag_sha256_add (&sha, AG_LIT ("bc"));
    ag_sha256_end (&sha, hash);
    ag_hex (hash, sizeof hash, text);
    assert_string_equal (text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void
a_secret_is_the_same_only_when_each_byte_and_the_length_are (void **state)
{
    (void)state;
    assert_true (ag_same_secret (AG_LIT ("swordfish"), AG_LIT ("swordfish")));
    assert_true (ag_same_secret (AG_LIT (""), ag_str (NULL)));
    assert_false (ag_same_secret (AG_LIT ("swordfish"), AG_LIT ("swordfisH")));
    assert_false (ag_same_secret (AG_LIT ("swordfish"), AG_LIT ("Swordfish")));
    assert_false (ag_same_secret (AG_LIT ("swordfish"), AG_LIT ("swordfis")));
    assert_false (ag_same_secret (AG_LIT (""), AG_LIT ("s")));
}

static void
random_bytes_fill_what_was_asked_and_no_more (void **state)
{
    (void)state;
    uint8_t one[34] = {0}, two[34] = {0}, none[34] = {0};
    ag_random (one + 1, 32);
    ag_random (two + 1, 32);
    assert_memory_not_equal (one + 1, two + 1, 32);
    assert_memory_not_equal (one + 1, none, 32);
    assert_true (one[0] == 0 && one[33] == 0);
}

static void
base32_writes_numbers_as_people_can_read_them (void **state)
{
    (void)state;
    static const struct {
        uint64_t number;
        const char *text;
    } rows[] = {
        {0, "0"},
        {9, "9"},
        {10, "a"},
        {18, "j"},
        {20, "m"},
        {31, "z"},
        {32, "10"},
        {1023, "zz"},
        {1024, "100"},
        {115, "3k"},
        {UINT32_MAX, "3zzzzzz"},
        {1ull << 60, "1000000000000"},
        {UINT64_MAX, "fzzzzzzzzzzzz"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[14];
        uint64_t number = 77;
        ag_base32 (rows[i].number, text);
        assert_string_equal (text, rows[i].text);
        assert_int_equal (ag_base32_read (ag_str (rows[i].text), &number), 0);
        assert_true (number == rows[i].number);
    }
}

static void
base32_refuses_what_it_would_not_have_written (void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "00",
        "01",
        "i",
        "l",
        "o",
        "u",
        "A",
        "1-",
        " 1",
        "1 ",
        "g000000000000",
        "zzzzzzzzzzzzzz",
        "10000000000000",
        "\xc3\xa9",
    };
    uint64_t number;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal (ag_base32_read (ag_str (texts[i]), &number), -1);
    assert_int_equal (ag_base32_read (AG_LIT ("1\0"), &number), -1);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_hash_is_blake2b_256_of_both_pieces),
        cmocka_unit_test (it_does_not_matter_how_the_bytes_are_cut_into_pieces),
        cmocka_unit_test (sha256_is_what_everybody_computes),
        cmocka_unit_test (a_secret_is_the_same_only_when_each_byte_and_the_length_are),
        cmocka_unit_test (random_bytes_fill_what_was_asked_and_no_more),
        cmocka_unit_test (base32_writes_numbers_as_people_can_read_them),
        cmocka_unit_test (base32_refuses_what_it_would_not_have_written),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
