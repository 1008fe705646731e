//  The rules, over tests/packs/hostile: the first line of each file says what is found where, and nothing else is.
//  SPDX-License-Identifier: Apache-2.0
#include "common/script_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum who { ANY, AGENT };

static const struct {
    const char *word;
    enum who who;
} reasons[] = {
#define REASON(NAME, word, who, what) {word, who},
#include "schemas/script.def"
};
enum { REASONS = sizeof reasons / sizeof *reasons };

static char *
path_of (const char *below)
{
    const char *source = getenv ("AG_SOURCE");
    return ag_xprintf ("%s/%s", source ? source : ".", below);
}

static void
read_file (const char *path, struct ag_buf *out)
{
    FILE *in = fopen (path, "r");
    assert_non_null (in);
    uint8_t *room = ag_buf_grow (out, 1 << 18);
    out->n -= (1 << 18) - fread (room, 1, 1 << 18, in);
    fclose (in);
}

//  "REASON LINE, REASON LINE" of what is wrong with source as main.lua, in a pack that has own.lua too; or "pass".
static void
find (struct ag_str source, enum ag_author author, struct ag_buf *found)
{
    struct ag_source files[] = {{AG_LIT ("main.lua"), source},
                                {AG_LIT ("own.lua"), AG_LIT ("return {}\n")}};
    struct ag_buf problems = {0};
    unsigned line, column;
    char word[32];
    ag_buf_clear (found);
    size_t count = ag_script_check (files, 2, author, &problems);
    ag_buf_add (&problems, "", 1);
    for (char *p = (char *)problems.p; *p; p = strchr (p, '\n') + 1)
        if (sscanf (p, "main.lua:%u:%u: %31[a-z0-9]: ", &line, &column, word) == 3)
            ag_buf_text (found, "%s%s %u", found->n ? ", " : "", word, line);
        else
            fail_msg ("%s", p);
    ag_buf_text (found, "%s", count ? "" : "pass");
    ag_buf_add (found, "", 1);
    ag_buf_fini (&problems);
}

//  Of the expectations those that hold for humans too.
static void
of_humans (const char *expected, struct ag_buf *out)
{
    unsigned line;
    char word[32];
    int n;
    for (; sscanf (expected, " %31[a-z0-9] %u%n", word, &line, &n) == 2;
         expected += n + (expected[n] == ','))
        for (size_t i = 0; i < REASONS; i++)
            if (reasons[i].who == ANY && !strcmp (word, reasons[i].word))
                ag_buf_text (out, "%s%s %u", out->n ? ", " : "", word, line);
    ag_buf_text (out, "%s", out->n ? "" : "pass");
    ag_buf_add (out, "", 1);
}

static size_t
compare (const char *name, const char *who, const struct ag_buf *found, const char *expected)
{
    bool same = !strcmp ((const char *)found->p, expected);
    if (!same)
        print_error ("%s, by %s: found %s, expected %s\n", name, who, found->p, expected);
    return !same;
}

static size_t
try_file (const char *name, bool seen[REASONS])
{
    char *below = ag_xprintf ("tests/packs/hostile/%s", name), *path = path_of (below),
         expected[256];
    struct ag_buf source = {0}, found = {0}, fewer = {0};
    read_file (path, &source);
    const char *line = memmem (source.p, source.n < 99 ? source.n : 99, "expect: ", 8);
    assert_non_null (line);
    assert_int_equal (sscanf (line, "expect: %255[a-z0-9, ]", expected), 1);
    find (ag_buf_str (&source), AG_BY_AGENT, &found);
    size_t wrong = compare (name, "an agent", &found, expected);
    of_humans (expected, &fewer);
    find (ag_buf_str (&source), AG_BY_HUMAN, &found);
    if (!strstr (expected, "environment")) //  of _G a human hears that it is absent
        wrong += compare (name, "a human", &found, (const char *)fewer.p);
    for (size_t i = 0; i < REASONS; i++)
        seen[i] |= !strncmp (expected, reasons[i].word, strlen (reasons[i].word));
    ag_buf_fini (&source);
    ag_buf_fini (&found);
    ag_buf_fini (&fewer);
    free (below);
    free (path);
    return wrong;
}

static void
each_hostile_file_is_refused_for_its_reason_at_its_place (void **state)
{
    char *path = path_of ("tests/packs/hostile");
    DIR *dir = opendir (path);
    bool seen[REASONS] = {0};
    size_t files = 0, wrong = 0;
    (void)state;
    assert_non_null (dir);
    for (struct dirent *entry; (entry = readdir (dir));)
        if (entry->d_name[0] != '.') {
            wrong += try_file (entry->d_name, seen);
            files++;
        }
    closedir (dir);
    free (path);
    print_message ("%zu files\n", files);
    assert_int_equal (wrong, 0);
    assert_true (files >= 150);
    for (size_t i = 0; i < REASONS; i++)
        if (!seen[i])
            fail_msg ("no file is refused for %s", reasons[i].word);
}

static void
the_packs_of_this_house_pass_as_if_an_agent_had_written_them (void **state)
{
    static const struct {
        const char *folder, *files[5];
    } packs[] = {
        {"packs/licences", {"main.lua", "copyright.lua", "equal.lua", "findings.lua"}},
        {"tests/house/greet", {"main.lua"}},
        {"tests/house/behave", {"main.lua"}},
        {"tests/house/ripple", {"main.lua"}},
        {"tests/house/spin", {"main.lua"}},
        {"tests/bench/pack", {"main.lua"}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof packs / sizeof *packs; i++) {
        struct ag_source files[5];
        struct ag_buf bytes[5] = {0}, problems = {0};
        size_t count = 0;
        for (; packs[i].files[count]; count++) {
            char *below = ag_xprintf ("%s/%s", packs[i].folder, packs[i].files[count]),
                 *path = path_of (below);
            read_file (path, &bytes[count]);
            files[count] =
                (struct ag_source){ag_str (packs[i].files[count]), ag_buf_str (&bytes[count])};
            free (below);
            free (path);
        }
        if (ag_script_check (files, count, AG_BY_AGENT, &problems))
            fail_msg ("%s: %.*s", packs[i].folder, AG_STR_ARG (ag_buf_str (&problems)));
        for (size_t k = 0; k < count; k++)
            ag_buf_fini (&bytes[k]);
        ag_buf_fini (&problems);
    }
}

static void
a_module_is_a_file_of_the_pack_below_folders_too (void **state)
{
    struct ag_source files[] = {{AG_LIT ("main.lua"), AG_LIT ("local x = require \"a.b\"\n")},
                                {AG_LIT ("a/b.lua"), AG_LIT ("return {}\n")}};
    struct ag_buf problems = {0};
    (void)state;
    assert_int_equal (ag_script_check (files, 2, AG_BY_AGENT, &problems), 0);
    files[1].path = AG_LIT ("a.b.lua");
    assert_int_equal (ag_script_check (files, 2, AG_BY_AGENT, &problems), 1);
    ag_buf_fini (&problems);
}

static void
a_finding_says_file_line_column_reason_and_what_to_do (void **state)
{
    struct ag_source file = {AG_LIT ("a\nb.lua"), AG_LIT ("local x = 1\n  foo (x)\n")};
    struct ag_buf problems = {0};
    (void)state;
    assert_int_equal (ag_script_check (&file, 1, AG_BY_AGENT, &problems), 1);
    ag_buf_add (&problems, "", 1);
    assert_string_equal ((char *)problems.p,
                         "a?b.lua:2:3: global: foo (A name is a local one or a global of a "
                         "pack; declare it with `local`.)\n");
    ag_buf_fini (&problems);
}

static void
a_hundred_findings_are_listed_by_place_and_the_rest_counted (void **state)
{
    struct ag_buf source = {0}, problems = {0};
    size_t lines = 0;
    (void)state;
    for (int i = 0; i < 250; i++)
        ag_buf_text (&source, "f (g)\n");
    struct ag_source files[] = {{AG_LIT ("a.lua"), ag_buf_str (&source)},
                                {AG_LIT ("b.lua"), ag_buf_str (&source)}};
    assert_int_equal (ag_script_check (files, 2, AG_BY_AGENT, &problems), 1000);
    ag_buf_add (&problems, "", 1);
    for (char *p = (char *)problems.p; *p; p = strchr (p, '\n') + 1)
        lines++;
    assert_int_equal (lines, AG_SCRIPT_PROBLEMS + 1);
    assert_memory_equal (problems.p, "a.lua:1:1: global: f (", 22);
    assert_non_null (strstr ((char *)problems.p, "and 900 more"));
    ag_buf_fini (&source);
    ag_buf_fini (&problems);
}

static void
the_guide_has_each_name_and_each_reason (void **state)
{
    static const char *const words[] = {
#define GLOBAL(name, own)       name,
#define MATH(name, kind, own)   name,
#define TABLE(name, kind, own)  name,
#define UTF8(name, kind, own)   name,
#define STRING(name, kind, own) name,
#define AG(name, kind, own)     name,
#define GRAPH(name)             name,
#define CTX(name)               name,
#include "schemas/script.def"
    };
    char *path = path_of ("docs/guides/lua.md");
    struct ag_buf guide = {0};
    (void)state;
    read_file (path, &guide);
    ag_buf_add (&guide, "", 1);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strstr ((char *)guide.p, words[i]))
            fail_msg ("the guide does not name %s", words[i]);
#define REASON(NAME, word, who, what)                                                              \
    if (!strstr ((char *)guide.p, "| `" word "` | " #who " | " what " |"))                         \
        fail_msg ("the guide has no line | `%s` | %s | %s |", word, #who, what);
#include "schemas/script.def"
    free (path);
    ag_buf_fini (&guide);
}

//  "PATH LINE" of each file that could never load, one after the other.
static void
find_loads (const struct ag_source *files, size_t count, const char *right)
{
    struct ag_buf problems = {0}, found = {0};
    char path[32];
    unsigned line;
    size_t n = ag_script_check_loads (files, count, &problems);
    ag_buf_add (&problems, "", 1);
    for (char *p = (char *)problems.p; *p; p = strchr (p, '\n') + 1, n--)
        if (sscanf (p, "%31[a-z/.]:%u:%*u: syntax: ", path, &line) == 2)
            ag_buf_text (&found, "%s%s %u", found.n ? ", " : "", path, line);
        else
            fail_msg ("%s", p);
    ag_buf_add (&found, "", 1);
    assert_int_equal (n, 0);
    assert_string_equal ((char *)found.p, right);
    ag_buf_fini (&problems);
    ag_buf_fini (&found);
}

static void
what_main_lua_reaches_has_to_be_lua_and_nothing_else_has (void **state)
{
    (void)state;
    struct ag_source files[] = {
        {AG_LIT ("a/b.lua"), AG_LIT ("require 'c'\nfor\n")},
        {AG_LIT ("c.lua"), AG_LIT ("local m = require ('main')\nrequire 'c'\nx = = 1\n")},
        {AG_LIT ("d.lua"), AG_LIT ("no Lua")},
        {AG_LIT ("e.txt"), AG_LIT ("no Lua")},
        {AG_LIT ("main.lua"),
         AG_LIT ("count = io.open\nlocal b = require \"a.b\"\nrequire (b .. 'd')\n"
                 "require 'e.txt'\nrequire 'gone'\n")},
    };
    find_loads (files, 5, "a/b.lua 3, c.lua 3");
    files[4].bytes = AG_LIT ("local require = function () end\nrequire 'd'\n");
    find_loads (files, 5, "");
    files[4].bytes = AG_LIT ("local function f () return require 'd' end\n");
    find_loads (files, 5, "d.lua 1");
    files[4].bytes = AG_LIT ("\x1bLua");
    find_loads (files, 5, "main.lua 1");
    files[4].bytes = AG_LIT ("\xef\xbb\xbfreturn 1\n");
    find_loads (files, 5, "main.lua 1");
    find_loads (files, 4, "");
}

static void
what_registers_for_what_never_comes_does_not_load (void **state)
{
    (void)state;
    const struct ag_source files[] = {
        {AG_LIT ("main.lua"), AG_LIT ("require 'own'\n")},
        {AG_LIT ("own.lua"),
         AG_LIT ("ag.behavior { name = 'a', on = { 'goal.creted' }, print }\n")},
    };
    struct ag_buf problems = {0};
    assert_int_equal (ag_script_check_loads (files, 2, &problems), 1);
    assert_true (ag_str_starts (
        ag_buf_str (&problems),
        "own.lua:1:34: heard: `goal.creted` never comes: the house alone has types in goal.*; did "
        "you mean `goal.created`? (No behavior is given such an event; "));
    ag_buf_fini (&problems);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (each_hostile_file_is_refused_for_its_reason_at_its_place),
        cmocka_unit_test (the_packs_of_this_house_pass_as_if_an_agent_had_written_them),
        cmocka_unit_test (a_module_is_a_file_of_the_pack_below_folders_too),
        cmocka_unit_test (a_finding_says_file_line_column_reason_and_what_to_do),
        cmocka_unit_test (a_hundred_findings_are_listed_by_place_and_the_rest_counted),
        cmocka_unit_test (what_main_lua_reaches_has_to_be_lua_and_nothing_else_has),
        cmocka_unit_test (what_registers_for_what_never_comes_does_not_load),
        cmocka_unit_test (the_guide_has_each_name_and_each_reason),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
