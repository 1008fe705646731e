//  SPDX-License-Identifier: Apache-2.0
#include "common/folder.h"
#include "common/scratch_test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char *dir; //  the pack; beside it is room for what is not of it

static char *
at (const char *path)
{
    return ag_xprintf ("%s/pack/%s", scratch, path);
}

static int
begin (void **state)
{
    if (scratch_begin (state))
        return -1;
    dir = at ("");
    return mkdir (dir, 0700);
}

static int
end (void **state)
{
    free (dir);
    return scratch_end (state);
}

static void
put (const char *path, const char *text)
{
    char *name = ag_xprintf ("pack/%s", path);
    scratch_put (name, text);
    free (name);
}

static void
make_folder (const char *path)
{
    char *name = at (path);
    assert_int_equal (mkdir (name, 0700), 0);
    free (name);
}

static void
take_away (const char *path)
{
    char *name = at (path);
    assert_int_equal (remove (name), 0);
    free (name);
}

//  The paths, with a space after each.
static char *
read_paths (const char *from)
{
    struct ag_folder folder;
    struct ag_buf text = {0};
    struct ag_err err;
    if (ag_folder_read (from, &folder, &err))
        fail_msg ("%s", err.text);
    for (size_t i = 0; i < folder.count; i++)
        ag_buf_text (&text, "%s ", folder.files[i].path);
    ag_buf_add (&text, "", 1);
    ag_folder_fini (&folder);
    return (char *)text.p;
}

static void
holds (const char *paths)
{
    char *found = read_paths (dir);
    assert_string_equal (found, paths);
    free (found);
}

static void
refuses_path (const char *from, const char *what)
{
    struct ag_folder folder;
    struct ag_err err = {0};
    assert_int_equal (ag_folder_read (from, &folder, &err), -1);
    ag_folder_fini (&folder);
    assert_int_equal (err.code, AG_E_PACK);
    if (!strstr (err.text, what))
        fail_msg ("%s", err.text);
}

static void
refuses (const char *what)
{
    refuses_path (dir, what);
}

static void
case_35_what_is_no_part_of_a_pack_is_left_out (void **state)
{
    (void)state;
    put ("b.lua", "");
    put ("a.lua", "");
    make_folder ("a");
    put ("a/Z.lua", "");
    put (".hidden", "x");
    make_folder (".git");
    put (".git/config", "x");
    put ("x.pyc", "x");
    make_folder ("__pycache__");
    put ("__pycache__/y.lua", "x");
    make_folder ("empty");
    make_folder ("d.pyc");
    put ("d.pyc/in.lua", "");
    holds ("a.lua a/Z.lua b.lua d.pyc/in.lua ");
}

static void
cases_37_to_39_no_link_is_followed_wherever_it_leads_and_whatever_it_is_called (void **state)
{
    static const char *const names[] = {"l.lua", ".x", "__pycache__", "z.pyc", "sub/l"};
    static const char *const targets[] = {"a.lua", "/etc/passwd", "nowhere", "sub", "."};
    (void)state;
    put ("a.lua", "");
    make_folder ("sub");
    holds ("a.lua ");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t k = 0; k < sizeof targets / sizeof *targets; k++) {
            char *name = at (names[i]), *what = ag_xprintf ("%s: a symbolic link", names[i]);
            assert_int_equal (symlink (targets[k], name), 0);
            refuses (what);
            free (what);
            free (name);
            take_away (names[i]);
        }
    holds ("a.lua ");
}

static void
cases_40_and_41_names_are_utf_8_in_one_form (void **state)
{
    (void)state;
    put ("caf\xc3\xa9.lua", "");
    holds ("caf\xc3\xa9.lua ");
    put ("cafe\xcc\x81.lua", "");
    refuses ("is not in NFC");
    take_away ("cafe\xcc\x81.lua");
    make_folder ("e\xcc\x81");
    put ("e\xcc\x81/x", "");
    refuses ("is not in NFC");
    take_away ("e\xcc\x81/x");
    take_away ("e\xcc\x81");
    put ("\xff.lua", "");
    refuses ("not UTF-8");
}

static void
case_45_a_file_with_a_second_name_is_refused_and_its_mode_and_times_are_nothing (void **state)
{
    (void)state;
    put ("a.lua", "x");
    char *file = at ("a.lua"), *other = ag_xprintf ("%s/other", scratch);
    assert_int_equal (chmod (file, 0755), 0);
    holds ("a.lua ");
    assert_int_equal (link (file, other), 0);
    refuses ("a.lua: a file with 2 names (hard links), not one");
    assert_int_equal (unlink (other), 0);
    holds ("a.lua ");
    free (file);
    free (other);
}

static void
case_46_what_is_no_file_is_never_opened (void **state)
{
    (void)state;
    char *fifo = at ("a.lua");
    assert_int_equal (mkfifo (fifo, 0600), 0); //  opening it would wait for a writer
    put ("b.lua", "");
    holds ("b.lua ");
    free (fifo);
}

static void
cases_50_and_51_the_folder_itself_is_there_and_no_link (void **state)
{
    (void)state;
    char *link = ag_xprintf ("%s/link", scratch), *slash = ag_xprintf ("%s///", link),
         *file = at ("a.lua"), *nowhere = ag_xprintf ("%s/nowhere", scratch);
    put ("a.lua", "");
    refuses_path (nowhere, "cannot be opened: No such file");
    refuses_path (file, "cannot be opened: Not a directory");
    assert_int_equal (symlink ("pack", link), 0);
    refuses_path (link, "is a symbolic link");
    refuses_path (slash, "is a symbolic link");
    char *good = ag_xprintf ("%s//", dir), *found = read_paths (good);
    assert_string_equal (found, "a.lua ");
    free (found);
    free (good);
    free (link);
    free (slash);
    free (file);
    free (nowhere);
}

//  Another process writes to the file, or cuts it, as fast as it can: what is taken has the length it had at first.
static void
case_52_a_file_that_changes_its_length_is_refused_or_taken_whole (void **state)
{
    (void)state;
    char *path = at ("a.lua");
    int refused = 0, taken = 0;
    put ("a.lua", "x");
    pid_t writer = fork();
    if (!writer) {
        int fd = open (path, O_WRONLY | O_CLOEXEC);
        for (;;)
            for (int n = 1; n <= 512; n++)
                if (pwrite (fd, "y", 1, n * 64L - 1) != 1 || (n == 512 && ftruncate (fd, 64)))
                    _exit (1);
    }
    for (int i = 0; i < 200000 && (refused < 3 || taken < 3); i++) {
        struct ag_folder folder;
        struct ag_err err;
        if (!ag_folder_read (dir, &folder, &err)) {
            assert_true (folder.files[0].bytes.n <= 1 || folder.files[0].bytes.n % 64 == 0);
            taken++;
        } else {
            assert_non_null (strstr (err.text, "a.lua: it changed while it was read"));
            refused++;
        }
        ag_folder_fini (&folder);
    }
    kill (writer, SIGKILL);
    waitpid (writer, NULL, 0);
    free (path);
    assert_true (refused > 0 && taken > 0);
}

static void
case_53_entries_bytes_depth_and_paths_are_bounded (void **state)
{
    (void)state;
    char path[700] = "", long_name[201];
    put ("sparse", "");
    char *file = at ("sparse");
    assert_int_equal (truncate (file, 4LL << 30), 0);
    refuses ("sparse: the pack is larger than");
    free (file);
    take_away ("sparse");
    for (int i = 0; i < AG_FOLDER_DEPTH; i++) {
        strcat (path, i ? "/d" : "d");
        make_folder (path);
    }
    refuses ("deeper than");
    take_away (path);
    memset (long_name, 'n', 200);
    long_name[200] = 0;
    snprintf (path, sizeof path, "d/%s", long_name);
    make_folder (path);
    snprintf (path, sizeof path, "d/%s/%.60s", long_name, long_name);
    put (path, "");
    refuses ("a path of more than");
    take_away (path);
    for (int i = 0; i <= AG_FOLDER_FILES; i++) {
        snprintf (path, sizeof path, "d/%d", i);
        put (path, "");
    }
    refuses ("more than 256 files");
    for (int i = 0; i <= AG_FOLDER_ENTRIES; i++) {
        snprintf (path, sizeof path, ".%d", i);
        put (path, "");
    }
    for (int i = 0; i <= AG_FOLDER_FILES; i++) {
        snprintf (path, sizeof path, "d/%d", i);
        take_away (path);
    }
    refuses ("more than 4096 entries");
}

static void
case_54_names_that_differ_in_case_alone_are_refused (void **state)
{
    static const char *const pairs[][2] = {
        {"A.lua", "a.lua"},
        {"S\xc3\x89.lua", "s\xc3\xa9.lua"},
        {"\xce\x9b\xce\xa3", "\xce\xbb\xcf\x82"}, //  final sigma
        {"A/x", "a/y"},
        {"A", "a/y"},
    };
    static const char *const fine[][2] = {{"a.lua", "b.lua"}, {"a/x", "b/X"}, {"a/x", "a/y"}};
    struct ag_folder folder;
    struct ag_err err;
    (void)state;
    for (size_t i = 0; i < 8; i++) {
        bool good = i >= 5;
        const char *const *pair = good ? fine[i - 5] : pairs[i];
        struct ag_buf files = {0};
        ag_put_list (&files, 2);
        for (int k = 0; k < 2; k++) {
            ag_put_map (&files, 2);
            ag_put_pair_text (&files, "path", ag_str (pair[k]));
            ag_put_pair_text (&files, "bytes", AG_LIT (""));
        }
        int rc = ag_folder_from (ag_buf_str (&files), &folder, &err);
        if (rc != (good ? 0 : -1) || (rc && !strstr (err.text, "differ in case alone")))
            fail_msg ("%s and %s", pair[0], pair[1]);
        ag_folder_fini (&folder);
        ag_buf_fini (&files);
    }
    put ("A.lua", "");
    put ("a.lua", "");
    refuses ("A.lua and a.lua differ in case alone");
}

int
main (void)
{
#define test(name) cmocka_unit_test_setup_teardown (name, begin, end)
    const struct CMUnitTest tests[] = {
        test (case_35_what_is_no_part_of_a_pack_is_left_out),
        test (cases_37_to_39_no_link_is_followed_wherever_it_leads_and_whatever_it_is_called),
        test (cases_40_and_41_names_are_utf_8_in_one_form),
        test (case_45_a_file_with_a_second_name_is_refused_and_its_mode_and_times_are_nothing),
        test (case_46_what_is_no_file_is_never_opened),
        test (cases_50_and_51_the_folder_itself_is_there_and_no_link),
        test (case_52_a_file_that_changes_its_length_is_refused_or_taken_whole),
        test (case_53_entries_bytes_depth_and_paths_are_bounded),
        test (case_54_names_that_differ_in_case_alone_are_refused),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
