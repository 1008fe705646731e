//  Which settings a pack takes.
//  SPDX-License-Identifier: Apache-2.0
#include "common/pack.h"
#include "common/json.h"
#include "common/scratch_test.h"

#define MANIFEST "[pack]\nname = \"demo\"\nversion = \"1.0\"\ndescription = \"A demo\"\n"

static int
give_json (struct ag_str pack, const char *json, struct ag_err *err)
{
    struct ag_buf given = {0};
    assert_int_equal (ag_json_read (ag_str (json), &given, err), 0);
    int rc = ag_pack_check_settings (pack, ag_buf_str (&given), err);
    ag_buf_fini (&given);
    return rc;
}

static void
a_setting_has_the_kind_of_its_default (void **state)
{
    (void)state;
    struct ag_buf out = {0};
    struct ag_err err;
    scratch_put ("manifest.toml", MANIFEST);
    scratch_put ("settings.toml", "at = 3\nword = \"a\"\non = true\nlist = [1]\n[table]\nx = 1\n");
    assert_int_equal (ag_pack_read (scratch, &out, &err), 0);
    static const char *const right[] = {"{}",
                                        "{\"at\":-1}",
                                        "{\"at\":2.5,\"word\":\"\"}",
                                        "{\"on\":false}",
                                        "{\"list\":[]}",
                                        "{\"table\":{}}"};
    static const char *const wrong[][2] = {
        {"{\"at\":\"high\"}",
         "setting at of pack demo is \"high\", which is a text: by its default it "
         "is a number"},
        {"{\"word\":3}", "word of pack demo is 3, which is a number: by its default it is a text"},
        {"{\"on\":1}", "is true or false"},
        {"{\"list\":{}}", "is a list"},
        {"{\"at\":1,\"table\":[1]}", "is a table"},
        {"{\"at\":null}", "which is nothing"},
    };
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        assert_int_equal (give_json (ag_buf_str (&out), right[i], &err), 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal (give_json (ag_buf_str (&out), wrong[i][0], &err), -1);
        assert_non_null (strstr (err.text, wrong[i][1]));
    }
    ag_buf_fini (&out);
}

static void
settings_are_for_packs_that_there_are (void **state)
{
    (void)state;
    struct ag_err err;
    struct ag_str given = AG_LIT ("\x81\xa4"
                                  "dmeo\x80"),
                  right = AG_LIT ("\x81\xa4"
                                  "demo\x80");
    struct ag_str names = AG_LIT ("\xa5"
                                  "other\xa4"
                                  "demo");
    assert_int_equal (ag_pack_check_tables (right, names, &err), 0);
    assert_int_equal (ag_pack_check_tables (given, names, &err), -1);
    assert_string_equal (err.text, "a setting is for pack dmeo, and the packs are: other, demo");
    assert_int_equal (ag_pack_check_tables (right, (struct ag_str){0}, &err), -1);
    assert_string_equal (err.text, "a setting is for pack demo, and the packs are: none");
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (a_setting_has_the_kind_of_its_default, scratch_begin,
                                         scratch_end),
        cmocka_unit_test (settings_are_for_packs_that_there_are),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
