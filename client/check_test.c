//  What `agsup check` finds in the packs of a configuration, without a fleet.
//  SPDX-License-Identifier: Apache-2.0
#include "client/client.h"

#include "client/outcome_test.h"
#include "common/scratch_test.h"

#include <sys/stat.h>

//  A pack in the folder of its name: its version and what else stands in its manifest.
static void
make_pack (const char *name, const char *version, const char *more)
{
    char *folder = ag_xprintf ("%s/%s", scratch, name),
         *path = ag_xprintf ("%s/manifest.toml", name),
         *text = ag_xprintf ("[pack]\nname = \"%s\"\nversion = \"%s\"\ndescription = \"x\"\n%s",
                             name, version, more);
    mkdir (folder, 0700);
    scratch_put (path, text);
    free (folder);
    free (path);
    free (text);
}

//  The problems of a document, a line each, DIR for the directory.
static char *
problems_of (const char *document)
{
    struct ag_buf value = {0}, lines = {0};
    struct ag_err err;
    struct ag_str problem;
    assert_int_equal (ag_json_read (ag_str (document), &value, &err), 0);
    for (struct ag_items items = ag_items (ag_buf_str (&value), "problems");
         ag_items_next (&items, &problem);) {
        struct ag_cursor in = ag_cursor (problem);
        struct ag_head text;
        assert_int_equal (ag_next (&in, &text), 0);
        ag_buf_add_str (&lines, text.s);
        ag_buf_add (&lines, "\n", 1);
    }
    ag_buf_add (&lines, "", 1);
    char *all = (char *)lines.p;
    for (char *at; (at = strstr (all, scratch));) {
        memcpy (at, "DIR", 3);
        memmove (at + 3, at + strlen (scratch), strlen (at + strlen (scratch)) + 1);
    }
    ag_buf_fini (&value);
    return all;
}

//  The agent `a` with these keys is refused with exactly these lines; none: it is valid.
static void
check (const char *keys, const char *lines)
{
    char *conf = ag_xprintf ("version = 1\n[agent.a]\n%s", keys),
         *line = ag_xprintf ("-c %s/agsup.toml check --json", scratch);
    scratch_put ("agsup.toml", conf);
    struct outcome outcome = run ("/nowhere", line);
    char *found = problems_of (outcome.out);
    assert_string_equal (found, lines);
    assert_int_equal (outcome.status, *lines ? 78 : 0);
    outcome_fini (&outcome);
    free (found);
    free (conf);
    free (line);
}

#define PIN "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void
packs_of_one_run_are_held_against_each_other_and_all_is_told_at_once (void **state)
{
    (void)state;
    make_pack ("one", "1.0",
               "[dependencies.packs]\ntwo = \">=2\"\nthree = \">=1\"\n"
               "[types.object.task]\n[types.relation.of]\n");
    make_pack ("two", "1.9", "[dependencies]\nagsup = \">=99\"\n[types.object.task]\n");
    check ("packs = [\"one\", \"two\"]\npins = { one = \"" PIN "\", four = \"" PIN "\" }\n",
           "agent a: pack one needs two >=2, and there is 1.9\n"
           "agent a: pack one needs three >=1, and it is not there\n"
           "agent a: pack two needs agsup >=99, and there is " AG_RELEASE "\n"
           "agent a: object type `task` is declared by pack one and by pack two\n"
           "agent a: bundle hash mismatch: pack one is "
           "sha256:2f8fb018dff501c17283dcda323a1fb96dc57efa8ebd34c66282b4049433fc9e, and pinned "
           "is " PIN "\n"
           "agent a: pack four is pinned, and it is not there\n");
    make_pack ("one", "1.0", "[dependencies.packs]\ntwo = \">=1.5,<2\"\n[types.object.task]\n");
    make_pack ("two", "1.9", "[dependencies.packs]\none = \"==1.0\"\n");
    check ("packs = [\"one\", \"two\"]\n", "");
}

static void
every_fault_of_every_pack_is_told (void **state)
{
    (void)state;
    make_pack ("one", "1.0", "licence = \"x\"\n[fixtures]\ndeterministic = 1\n");
    make_pack ("two", "1.0", "");
    scratch_put ("one/settings.toml", "x =\n");
    scratch_put ("two/settings.toml", "max = 1\n");
    check ("packs = [\"one\", \"two\"]\nsettings = { two = { min = 1 } }\n",
           "agent a: pack DIR/one: manifest.toml:5:1: pack.licence is no key here; did you mean "
           "`license`?\n"
           "agent a: pack DIR/one: manifest.toml:7:1: fixtures.deterministic is not true or false\n"
           "agent a: pack DIR/one: settings.toml: 1:4: Error while parsing key-value pair: "
           "expected value, saw '\\n'\n"
           "agent a: pack DIR/two: pack two has no setting min: its settings.toml declares max\n");
}

static void
pins_are_hashes_and_a_pack_is_no_link (void **state)
{
    (void)state;
    make_pack ("one", "1.0", "");
    char *link = ag_xprintf ("%s/link", scratch);
    assert_int_equal (symlink ("one", link), 0);
    check (
        "packs = [\"one\", \"link\", \"link//\"]\npins = { one = \"md5:00\", Big = \"" PIN "\" }\n",
        "DIR/agsup.toml:3:17: agent.a.packs[1] is DIR/link, a symbolic link; name the folder "
        "itself\n"
        "DIR/agsup.toml:3:25: agent.a.packs[2] is DIR/link, a symbolic link; name the folder "
        "itself\n"
        "DIR/agsup.toml:4:10: agent.a.pins.one is \"md5:00\", not sha256: and 64 digits of 0-9 and "
        "a-f\n"
        "DIR/agsup.toml:4:26: agent.a.pins.Big is no name of a pack\n");
    check ("packs = [\"one\"]\nfiles = [\"link\"]\n", ""); //  what is granted may be
    free (link);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (
            packs_of_one_run_are_held_against_each_other_and_all_is_told_at_once, scratch_begin,
            scratch_end),
        cmocka_unit_test_setup_teardown (every_fault_of_every_pack_is_told, scratch_begin,
                                         scratch_end),
        cmocka_unit_test_setup_teardown (pins_are_hashes_and_a_pack_is_no_link, scratch_begin,
                                         scratch_end),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
