//  SPDX-License-Identifier: Apache-2.0
#include "common/lua_lex.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

//  "LINE:COLUMN TEXT" of each token, with | between; or the fault.
static void
says (const char *source, size_t n, const char *expected)
{
    struct ag_lua_lex lex;
    struct ag_buf out = {0};
    char *exact = ag_xmalloc (n + 1); //  so that a read past its end is seen
    memcpy (exact, source, n);
    ag_lua_lex_init (&lex, (struct ag_str){exact, n});
    for (ag_lua_next (&lex); lex.token.kind != AG_LUA_EOS; ag_lua_next (&lex))
        ag_buf_text (&out, "%s%u:%u %.*s", out.n ? "|" : "", lex.token.line, lex.token.column,
                     AG_STR_ARG (lex.token.text));
    if (lex.fault.wrong)
        ag_buf_text (&out, "%s%u:%u: %s", out.n ? "|" : "", lex.fault.line, lex.fault.column,
                     lex.fault.text);
    ag_buf_add (&out, "", 1);
    assert_string_equal ((char *)out.p, expected);
    ag_buf_fini (&out);
    free (exact);
}

#define SAYS(source, expected) says (source, sizeof (source) - 1, expected)

static void
tokens_have_their_places_and_texts (void **state)
{
    (void)state;
    SAYS ("a = b", "1:1 a|1:3 =|1:5 b");
    SAYS ("a<=b<<c<d", "1:1 a|1:2 <=|1:4 b|1:5 <<|1:7 c|1:8 <|1:9 d");
    SAYS ("a...b..c.d", "1:1 a|1:2 ...|1:5 b|1:6 ..|1:8 c|1:9 .|1:10 d");
    SAYS ("\"a\\\"b\" 'c' [==[\n]]]==] x", "1:1 \"a\\\"b\"|1:8 'c'|1:12 [==[\n]]]==]|2:8 x");
    SAYS ("--[[\n]] a -- b\nc", "2:4 a|3:1 c");
    SAYS ("", "");
}

static void
each_way_to_end_a_line_counts_once (void **state)
{
    (void)state;
    SAYS ("a\nb\rc\r\nd\n\re\n\nf", "1:1 a|2:1 b|3:1 c|4:1 d|5:1 e|7:1 f");
    SAYS ("'a\\\r\nb' c", "1:1 'a\\\r\nb'|2:4 c");
    SAYS ("'\\z \n\n b' c", "1:1 '\\z \n\n b'|3:5 c");
}

static void
numbers_are_those_of_strtod_and_of_hexadecimal (void **state)
{
    (void)state;
    SAYS ("0x1p-4 3e+1 .5 5. 0X.8", "1:1 0x1p-4|1:8 3e+1|1:13 .5|1:16 5.|1:19 0X.8");
    SAYS ("a 3x", "1:1 a|1:3: malformed number near 3x");
    SAYS ("1..2", "1:1: malformed number near 1..2");
    SAYS ("0x", "1:1: malformed number near 0x");
    SAYS ("1e+", "1:1: malformed number near 1e+");
    SAYS ("0xep1 1n", "1:1 0xep1|1:7: malformed number near 1n");
}

static void
what_is_wrong_in_a_text_is_found_where_it_is (void **state)
{
    (void)state;
    SAYS ("x 'a\nb'", "1:1 x|1:3: unfinished string");
    SAYS ("x 'a", "1:1 x|1:3: unfinished string");
    SAYS ("'a\\", "1:1: unfinished string");
    SAYS ("'a\\q'", "1:4: invalid escape sequence");
    SAYS ("'a\\x4'", "1:6: hexadecimal digit expected in an escape");
    SAYS ("'\\u{80000000}'", "1:12: a character by \\u is too large");
    SAYS ("'\\u{7fffffff}'", "1:1 '\\u{7fffffff}'");
    SAYS ("'\\256'", "1:6: a decimal escape is too large");
    SAYS ("[==[ ]=]", "1:1: unfinished long string or comment");
    SAYS ("a --[[", "1:1 a|1:3: unfinished long string or comment");
    SAYS ("[=a", "1:2: invalid delimiter of a long string");
}

static void
an_escape_that_nobody_sees_is_marked (void **state)
{
    static const struct {
        const char *source;
        bool unseen;
    } texts[] = {
        {"'\\u{202e}'", true},     {"'\\xe2\\x80\\xae'", true}, {"'\\226\\128\\174'", true},
        {"'\\xe2\x80\xae'", true}, {"'\\u{e4}'", false},        {"'\\xe2\\x80\\x93'", false},
        {"'\\255\\0\\27'", false}, {"'\xe2\x80\xae'", false},   {"'\\xe2a\\x80\\xae'", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct ag_lua_lex lex;
        ag_lua_lex_init (&lex, ag_str (texts[i].source));
        ag_lua_next (&lex);
        assert_int_equal (lex.token.kind, AG_LUA_STRING);
        assert_int_equal (lex.token.unseen, texts[i].unseen);
    }
}

static void
a_file_has_so_many_tokens_and_no_more (void **state)
{
    struct ag_lua_lex lex;
    struct ag_buf source = {0};
    (void)state;
    memset (ag_buf_grow (&source, AG_LUA_TOKENS + 1), ';', AG_LUA_TOKENS + 1);
    ag_lua_lex_init (&lex, (struct ag_str){(char *)source.p, AG_LUA_TOKENS});
    do
        ag_lua_next (&lex);
    while (lex.token.kind != AG_LUA_EOS);
    assert_int_equal (lex.fault.wrong, AG_LUA_FINE);
    ag_lua_lex_init (&lex, ag_buf_str (&source));
    do
        ag_lua_next (&lex);
    while (lex.token.kind != AG_LUA_EOS);
    assert_int_equal (lex.fault.wrong, AG_LUA_LIMIT);
    assert_int_equal (lex.fault.column, AG_LUA_TOKENS + 1);
    ag_buf_fini (&source);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (tokens_have_their_places_and_texts),
        cmocka_unit_test (each_way_to_end_a_line_counts_once),
        cmocka_unit_test (numbers_are_those_of_strtod_and_of_hexadecimal),
        cmocka_unit_test (what_is_wrong_in_a_text_is_found_where_it_is),
        cmocka_unit_test (an_escape_that_nobody_sees_is_marked),
        cmocka_unit_test (a_file_has_so_many_tokens_and_no_more),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
