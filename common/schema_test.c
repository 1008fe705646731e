//  SPDX-License-Identifier: Apache-2.0
#include "common/schema.h"
#include "common/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//  What was said, "PATH WHAT; " each.
static struct ag_buf said;

static void
say (void *arg, const struct ag_toml_path *path, const char *what)
{
    (void)arg;
    ag_toml_path_text (path, &said);
    ag_buf_text (&said, "%s%s; ", path ? " " : "", what);
}

static const char *
all_said (void)
{
    ag_buf_add (&said, "", 1);
    return (const char *)said.p;
}

//  JSON with ' for ".
static struct ag_buf
value_of (const char *json)
{
    struct ag_buf out = {0};
    struct ag_err err;
    char *text = ag_xstrdup (json);
    for (char *p = text; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    if (ag_json_read (ag_str (text), &out, &err))
        fail_msg ("%s: %s", json, err.text);
    free (text);
    return out;
}

#define INSIGHT                                                                                    \
    "{'required':['text'],'properties':{'text':{'type':'string','minLength':1,'maxLength':3},"     \
    "'confidence':{'type':'number','minimum':0,'maximum':1},"                                      \
    "'kind':{'type':'string','enum':['b','a'],'default':'a'},"                                     \
    "'n':{'type':'integer'},'m':{'type':['integer','number','null']},"                             \
    "'tags':{'type':'array','items':{'type':'string'},'minItems':1,'maxItems':2},"                 \
    "'by':{'type':'object','additionalProperties':false,"                                          \
    "'properties':{'who':{'type':'string'},'sure':{'type':'boolean','default':false}}}}}"

struct fit {
    const char *data, *canonical; //  NULL: it does not fit,
    const char *says;             //  and this is said
};

static void
assert_fit (const char *schema, const struct fit *fit, size_t most)
{
    struct ag_buf table = value_of (schema), data = value_of (fit->data);
    struct ag_buf out = {0}, again = {0}, text = {0};
    ag_buf_clear (&said);
    ag_schema_t *self = ag_schema_new (ag_buf_str (&table), false, NULL, say, NULL);
    if (!self)
        fail_msg ("%s", all_said());
    size_t misfits = ag_schema_fit (self, ag_buf_str (&data), NULL, most, &out, say, NULL);
    if (fit->canonical) {
        struct ag_buf wanted = value_of (fit->canonical);
        if (misfits)
            fail_msg ("%s: %s", fit->data, all_said());
        ag_json_write (ag_buf_str (&out), AG_JSON_LINE, &text);
        if (!ag_str_eq (ag_buf_str (&out), ag_buf_str (&wanted)))
            fail_msg ("%s became %.*s", fit->data, (int)text.n, (char *)text.p);
        assert_int_equal (ag_schema_fit (self, ag_buf_str (&out), NULL, most, &again, say, NULL),
                          0);
        assert_true (ag_str_eq (ag_buf_str (&out), ag_buf_str (&again)));
        ag_buf_fini (&wanted);
    } else {
        assert_int_equal (out.n, 0);
        assert_true (misfits > 0);
        assert_string_equal (all_said(), fit->says);
    }
    ag_schema_destroy (&self);
    ag_buf_fini (&table);
    ag_buf_fini (&data);
    ag_buf_fini (&out);
    ag_buf_fini (&again);
    ag_buf_fini (&text);
    ag_buf_fini (&said);
}

static void
what_fits_becomes_canonical_and_that_stays_as_it_is (void **state)
{
    (void)state;
    static const struct fit fits[] = {
        {"{'text':'x','confidence':0.5}", "{'text':'x','confidence':0.5,'kind':'a'}", NULL},
        {"{'kind':'b','text':'äöü'}", "{'kind':'b','text':'äöü'}", NULL},
        {"{'text':'x','kind':'a','confidence':1}", "{'text':'x','kind':'a','confidence':1}", NULL},
        {"{'text':'x','kind':'a','n':2.0}", "{'text':'x','kind':'a','n':2}", NULL},
        {"{'text':'x','kind':'a','n':-2.0}", "{'text':'x','kind':'a','n':-2}", NULL},
        {"{'text':'x','kind':'a','m':2.0}", "{'text':'x','kind':'a','m':2.0}", NULL},
        {"{'text':'x','kind':'a','m':null}", "{'text':'x','kind':'a','m':null}", NULL},
        {"{'text':'x','kind':'a','n':18446744073709551615}",
         "{'text':'x','kind':'a','n':18446744073709551615}", NULL},
        {"{'text':'x','kind':'a','other':[1,{'y':null}]}",
         "{'text':'x','kind':'a','other':[1,{'y':null}]}", NULL},
        {"{'text':'x','kind':'a','tags':['p','q']}", "{'text':'x','kind':'a','tags':['p','q']}",
         NULL},
        {"{'text':'x','by':{'who':'me'}}", "{'text':'x','by':{'who':'me','sure':false},'kind':'a'}",
         NULL},
        {"{'text':'x','by':{}}", "{'text':'x','by':{'sure':false},'kind':'a'}", NULL},
    };
    for (size_t i = 0; i < sizeof fits / sizeof *fits; i++)
        assert_fit (INSIGHT, &fits[i], 1000);
}

static void
all_that_does_not_fit_is_told_with_its_path (void **state)
{
    (void)state;
    static const struct fit fits[] = {
        {"{}", NULL, "text is missing; "},
        {"{'confidence':5.0,'kind':'c'}", NULL,
         "text is missing; confidence is 5.0, not at most 1; kind is \"c\", not a word of its "
         "enum; "},
        {"{'text':'x','confidence':-0.1}", NULL, "confidence is -0.1, not at least 0; "},
        {"{'text':'x','confidence':'0.5'}", NULL, "confidence is \"0.5\", not number; "},
        {"{'text':'x','confidence':true}", NULL, "confidence is true, not number; "},
        {"{'text':''}", NULL, "text has 0 characters, fewer than 1; "},
        {"{'text':'äöüß'}", NULL, "text has 4 characters, more than 3; "},
        {"{'text':null}", NULL, "text is null, not string; "},
        {"{'text':'x','n':2.5}", NULL, "n is 2.5, not integer; "},
        {"{'text':'x','n':9223372036854775808.0}", NULL,
         "n is 9.223372036854776e+18, not integer; "},
        {"{'text':'x','m':'2'}", NULL, "m is \"2\", not integer or number or null; "},
        {"{'text':'x','tags':[]}", NULL, "tags has 0 items, fewer than 1; "},
        {"{'text':'x','tags':['a',1,'b']}", NULL,
         "tags has 3 items, more than 2; tags[1] is 1, not string; "},
        {"{'text':'x','tags':{}}", NULL, "tags is an object, not array; "},
        {"{'text':'x','by':{'whom':'me','sure':[]}}", NULL,
         "by.whom is no property of it; by.sure is an array, not boolean; "},
        {"[]", NULL, "is an array, not object; "},
        {"{'text':'012345678901234567890123456789012345678901234567890123456789'}", NULL,
         "text has 60 characters, more than 3; "},
        {"{'text':'x','n':'012345678901234567890123456789012345678901234567890123456789'}", NULL,
         "n is a string of 62 bytes, not integer; "},
    };
    for (size_t i = 0; i < sizeof fits / sizeof *fits; i++)
        assert_fit (INSIGHT, &fits[i], 1000);
}

static void
defaults_do_not_make_a_value_larger_than_is_allowed (void **state)
{
    (void)state;
    const char *schema = "{'properties':{'l':{'type':'array','items':{'type':'object',"
                         "'properties':{'d':{'default':'0123456789'}}}}}}";
    const struct fit small = {"{'l':[{},{}]}", "{'l':[{'d':'0123456789'},{'d':'0123456789'}]}",
                              NULL};
    const struct fit large = {"{'l':[{},{},{}]}", NULL,
                              "takes more than 40 bytes with its defaults; "};
    assert_fit (schema, &small, 40);
    assert_fit (schema, &large, 40);
}

static void
refuse (const char *schema, bool relation, const char *says)
{
    struct ag_buf table = value_of (schema);
    ag_buf_clear (&said);
    ag_schema_t *self = ag_schema_new (ag_buf_str (&table), relation, NULL, say, NULL);
    if (self || strcmp (all_said(), says))
        fail_msg ("%s: %s", schema, all_said());
    ag_buf_fini (&table);
    ag_buf_fini (&said);
}

static void
a_schema_is_read_whole_and_all_that_is_wrong_is_told (void **state)
{
    (void)state;
    static const struct {
        const char *schema, *says;
    } bad[] = {
        {"5", "is no table; "},
        {"{'type':'array'}", "type is not object, as every type is; "},
        {"{'propertys':{},'requird':[],'$ref':'#'}",
         "propertys is no keyword of a schema here; did you mean `properties`?; "
         "requird is no keyword of a schema here; did you mean `required`?; "
         "$ref is no keyword of a schema here; "},
        {"{'properties':{'a':{'type':'text'}}}",
         "properties.a.type is not object, array, string, integer, number, boolean or null: "
         "text; "},
        {"{'properties':{'a':{'type':[]}}}",
         "properties.a.type is no list of 1 to 256 different texts; "},
        {"{'properties':{'a':{'type':'string','minimum':0}}}",
         "properties.a.minimum does not belong to the type here; "},
        {"{'properties':{'a':{'maxLength':1}}}",
         "properties.a.maxLength does not belong to the type here; "},
        {"{'properties':{'a':{'type':'number','minimum':2,'maximum':1}}}",
         "properties.a.maximum is below the minimum; "},
        {"{'properties':{'a':{'type':'number','minimum':'2'}}}",
         "properties.a.minimum is no number; "},
        {"{'properties':{'a':{'type':'string','minLength':2,'maxLength':1}}}",
         "properties.a.maxLength is below the least number; "},
        {"{'properties':{'a':{'type':'array','maxItems':-1}}}",
         "properties.a.maxItems is no number from 0 on; "},
        {"{'properties':{'a':{'type':'string','enum':['a','a']}}}",
         "properties.a.enum is no list of 1 to 256 different texts; "},
        {"{'properties':{'a':{'type':'integer','default':'x'}}}",
         "properties.a.default is \"x\", not integer; "},
        {"{'properties':{'a':{'type':'object','default':{},'properties':{'b':{'default':1}}}}}",
         "properties.a.default is not written as it would be kept: defaults inside it too; "},
        {"{'required':['b'],'properties':{'a':{}}}", "required names b, which is no property; "},
        {"{'required':['a'],'properties':{'a':{'default':1}}}",
         "required names a, which has a default; "},
        {"{'additionalProperties':{}}", "additionalProperties is not true or false; "},
        {"{'default':{}}", "default does not belong to the type here; "},
        {"{'source':['a']}", "source does not belong to the type here; "},
        {"{'description':1}", "description is no text; "},
        {"{'properties':{'provenance':{}}}",
         "properties.provenance is written by the house alone; "},
        {"{'properties':[]}", "properties is no table of at most 256 properties; "},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refuse (bad[i].schema, false, bad[i].says);
    refuse ("{'source':[],'target':'x'}", true,
            "source is no list of 1 to 256 different texts; "
            "target is no list of 1 to 256 different texts; ");
}

static void
a_schema_is_bounded_in_depth (void **state)
{
    (void)state;
    struct ag_buf text = {0};
    for (int i = 0; i < 9; i++)
        ag_buf_text (&text, i ? "{'type':'array','items':" : "{'properties':{'a':");
    ag_buf_text (&text, "{}");
    for (int i = 0; i < 9; i++)
        ag_buf_text (&text, i < 8 ? "}" : "}}");
    ag_buf_add (&text, "", 1);
    refuse ((const char *)text.p, false,
            "properties.a.items.items.items.items.items.items.items.items goes over 8 levels or "
            "4096 parts; ");
    ag_buf_fini (&text);
}

static void
a_relation_goes_between_the_types_that_it_names (void **state)
{
    (void)state;
    struct ag_buf table = value_of ("{'source':['task','note'],'properties':{'n':{}}}");
    ag_schema_t *self = ag_schema_new (ag_buf_str (&table), true, NULL, say, NULL);
    assert_non_null (self);
    assert_int_equal (ag_schema_fit_ends (self, AG_LIT ("note"), AG_LIT ("any"), say, NULL), 0);
    assert_int_equal (ag_schema_fit_ends (self, AG_LIT ("any"), AG_LIT ("note"), say, NULL), 1);
    assert_string_equal (all_said(), "source is of type any, which its type does not allow; ");
    ag_schema_destroy (&self);
    ag_buf_fini (&table);
    ag_buf_fini (&said);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (what_fits_becomes_canonical_and_that_stays_as_it_is),
        cmocka_unit_test (all_that_does_not_fit_is_told_with_its_path),
        cmocka_unit_test (defaults_do_not_make_a_value_larger_than_is_allowed),
        cmocka_unit_test (a_schema_is_read_whole_and_all_that_is_wrong_is_told),
        cmocka_unit_test (a_schema_is_bounded_in_depth),
        cmocka_unit_test (a_relation_goes_between_the_types_that_it_names),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
