//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/blob.h"
#include "supervisor/core_test.h"

static struct ag_buf
value_of (struct core *core, const char *json)
{
    struct ag_buf out = {0};
    must (core, ag_json_read (ag_str (json), &out, &core->err));
    return out;
}

static struct ag_buf
moved (struct core *core, struct ag_str raw)
{
    struct ag_buf out = {0};
    must (core, ag_blobs_out (core->journal, raw, &out, &core->err));
    return out;
}

static void
comes_back (struct core *core, struct ag_str value, struct ag_str raw)
{
    struct ag_buf back = {0};
    must (core, ag_blobs_in (core->journal, value, &back, &core->err));
    assert_true (ag_str_eq (ag_buf_str (&back), raw));
    ag_buf_fini (&back);
}

static void
short_text_stays_where_it_is (void **state)
{
    struct core *core = *state;
    struct ag_buf raw = value_of (core, "{\"a\":[1,\"b\",null,{\"c\":2.5}]}");
    struct ag_buf out = moved (core, ag_buf_str (&raw));
    assert_true (ag_str_eq (ag_buf_str (&out), ag_buf_str (&raw)));
    comes_back (core, ag_buf_str (&out), ag_buf_str (&raw));
    ag_buf_fini (&out);
    ag_buf_fini (&raw);
}

//  {text, bytes}: a text too long for an event, and bytes that are no text.
static void
long_text_and_bytes_stand_as_references_and_come_back_whole (void **state)
{
    struct core *core = *state;
    struct ag_buf raw = {0}, text = {0};
    memset (ag_buf_grow (&text, AG_INLINE_BYTES + 1), 'x', AG_INLINE_BYTES + 1);
    ag_put_map (&raw, 2);
    ag_put_lit (&raw, "text");
    ag_put_text (&raw, ag_buf_str (&text));
    ag_put_lit (&raw, "bytes");
    ag_put_bytes (&raw, AG_LIT ("\xff\0\xfe"));
    struct ag_buf out = moved (core, ag_buf_str (&raw));
    struct ag_str part, media;
    uint64_t size;
    assert_true (out.n < 400);
    assert_int_equal (ag_map_get (ag_buf_str (&out), "text", &part), 0);
    assert_int_equal (ag_map_uint (part, "size", &size), 0);
    assert_int_equal (size, AG_INLINE_BYTES + 1);
    assert_int_equal (ag_map_get (ag_buf_str (&out), "bytes", &part), 0);
    assert_int_equal (ag_map_text (part, "media", &media), 0);
    assert_true (ag_str_is (media, "application/octet-stream"));
    comes_back (core, ag_buf_str (&out), ag_buf_str (&raw));
    core_commit (core);
    comes_back (core, ag_buf_str (&out), ag_buf_str (&raw));
    ag_buf_fini (&out);
    ag_buf_fini (&raw);
    ag_buf_fini (&text);
}

static void
a_map_that_only_looks_like_a_reference_is_a_map (void **state)
{
    struct core *core = *state;
    struct ag_buf raw = value_of (
        core, "{\"blob\":\"00000000000000000000000000000000000000000000000000000000000000aa\","
              "\"size\":3,\"media\":\"text/plain\"}");
    comes_back (core, ag_buf_str (&raw), ag_buf_str (&raw));
    ag_buf_fini (&raw);
}

static void
what_is_no_value_is_refused (void **state)
{
    struct core *core = *state;
    struct ag_buf out = {0}, deep = {0};
    for (int i = 0; i < AG_DEPTH + 1; i++)
        ag_put_list (&deep, 1);
    ag_put_null (&deep);
    const struct ag_str bad[] = {AG_LIT ("\x81\x01\x01"), AG_LIT ("\x91"), AG_LIT ("\x01\x01"),
                                 AG_LIT ("\xc1"), ag_buf_str (&deep)};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal (ag_blobs_out (core->journal, bad[i], &out, &core->err), -1);
        assert_int_equal (core->err.code, AG_E_BAD_VALUE);
    }
    ag_buf_fini (&out);
    ag_buf_fini (&deep);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (short_text_stays_where_it_is),
        core_test (long_text_and_bytes_stand_as_references_and_come_back_whole),
        core_test (a_map_that_only_looks_like_a_reference_is_a_map),
        core_test (what_is_no_value_is_refused),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
