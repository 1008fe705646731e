//  A folder that is taken away with all that is in it.
//  SPDX-License-Identifier: Apache-2.0
#include "common/tree.h"
#include "common/buf.h"

#include <fcntl.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static void
make_file (const char *path)
{
    int fd = open (path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0400);
    assert_true (fd >= 0);
    close (fd);
}

static void
all_of_a_folder_goes_and_nothing_that_a_link_in_it_leads_to (void **state)
{
    (void)state;
    char dir[] = "/tmp/ag_tree_test.XXXXXX";
    assert_non_null (mkdtemp (dir));
    assert_int_equal (chdir (dir), 0);
    assert_int_equal (mkdir ("gone", 0700) | mkdir ("gone/deep", 0700) | mkdir ("kept", 0700), 0);
    make_file ("gone/file");
    make_file ("gone/deep/.hidden");
    make_file ("kept/file");
    assert_int_equal (symlink ("../kept", "gone/folder"), 0);
    assert_int_equal (symlink ("../kept/file", "gone/deep/file"), 0);
    ag_tree_remove ("gone");
    assert_int_equal (access ("gone", F_OK), -1);
    assert_int_equal (access ("kept/file", F_OK), 0);
    ag_tree_remove (dir);
    assert_int_equal (access (dir, F_OK), -1);
    ag_tree_remove (dir); //  which is not there any more
    assert_int_equal (chdir ("/"), 0);
}

//  As root no mode closes anything.
static void
a_folder_that_was_closed_goes_too (void **state)
{
    (void)state;
    char dir[] = "/tmp/ag_tree_test.XXXXXX";
    static const mode_t modes[] = {0, 0100, 0200, 0400, 0500, 0600};
    assert_non_null (mkdtemp (dir));
    assert_int_equal (chdir (dir), 0);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        assert_int_equal (mkdir ("gone", 0700) | mkdir ("gone/a", 0700) | mkdir ("gone/a/b", 0700),
                          0);
        make_file ("gone/a/b/file");
        assert_int_equal (chmod ("gone/a/b", modes[i]) | chmod ("gone/a", modes[i]), 0);
        ag_tree_remove ("gone");
        assert_int_equal (access ("gone", F_OK), -1);
    }
    ag_tree_remove (dir);
    assert_int_equal (chdir ("/"), 0);
}

//  Deeper than a path can name, and than a stack could follow; in memory, since a disk takes a minute for it.
static void
a_folder_goes_however_deep_it_is (void **state)
{
    (void)state;
    char dir[] = "/dev/shm/ag_tree_test.XXXXXX";
    assert_non_null (mkdtemp (dir));
    assert_int_equal (chdir (dir), 0);
    for (int i = 0; i < 40000; i++) {
        assert_int_equal (mkdir ("d", 0700), 0);
        if (i % 10 == 0) {
            assert_int_equal (mkdir ("e", 0700), 0);
            make_file ("e/file");
        }
        assert_int_equal (chdir ("d"), 0);
    }
    assert_int_equal (chdir ("/"), 0);
    ag_tree_remove (dir);
    assert_int_equal (access (dir, F_OK), -1);
}

//  All that was said meanwhile, on stderr.
static void
remove_and_listen (const char *dir, char said[4096])
{
    int ends[2], own = dup (STDERR_FILENO);
    assert_int_equal (pipe (ends), 0);
    assert_true (own >= 0 && dup2 (ends[1], STDERR_FILENO) == STDERR_FILENO);
    ag_tree_remove (dir);
    assert_int_equal (dup2 (own, STDERR_FILENO), STDERR_FILENO);
    close (own);
    close (ends[1]);
    ssize_t n = read (ends[0], said, 4095);
    said[n < 0 ? 0 : n] = 0;
    close (ends[0]);
}

//  Its folder has a name of its own by now.
static void
unmount_below (const char *dir)
{
    char pattern[64];
    glob_t found;
    snprintf (pattern, sizeof pattern, "%s/*/mount", dir);
    assert_int_equal (glob (pattern, 0, NULL, &found), 0);
    assert_int_equal (umount (found.gl_pathv[0]), 0);
    globfree (&found);
}

static void
what_another_file_system_holds_stays_and_is_told_in_one_line (void **state)
{
    (void)state;
    char dir[] = "/tmp/ag_tree_test.XXXXXX", said[4096];
    assert_non_null (mkdtemp (dir));
    assert_int_equal (chdir (dir), 0);
    assert_int_equal (mkdir ("a", 0700) | mkdir ("a/b", 0700) | mkdir ("kept", 0700), 0);
    assert_int_equal (mkdir ("a/b/mount", 0700) | mkdir ("kept/in", 0700), 0);
    make_file ("a/file");
    make_file ("kept/file");
    make_file ("kept/in/file");
    if (mount ("kept", "a/b/mount", NULL, MS_BIND, NULL)) {
        print_message ("a mount needs root\n");
        assert_int_equal (chdir ("/"), 0);
        ag_tree_remove (dir);
        skip();
    }
    remove_and_listen ("a", said);
    assert_int_equal (access ("kept/file", F_OK) | access ("kept/in/file", F_OK), 0);
    assert_int_equal (access ("a/file", F_OK), -1);
    assert_ptr_equal (strchr (said, '\n'), said + strlen (said) - 1);
    assert_non_null (strstr (said, "a: 2 things in it cannot be taken away"));
    assert_non_null (strstr (said, "mount: Device or resource busy"));
    unmount_below ("a");
    assert_int_equal (chdir ("/"), 0);
    ag_tree_remove (dir);
    assert_int_equal (access (dir, F_OK), -1);
}

static void
bit_by_bit_no_step_does_more_than_it_may_and_the_path_is_free_at_once (void **state)
{
    (void)state;
    char dir[] = "/tmp/ag_tree_test.XXXXXX", name[16];
    assert_non_null (mkdtemp (dir));
    assert_int_equal (chdir (dir), 0);
    assert_int_equal (mkdir ("a", 0700) | mkdir ("a/b", 0700), 0);
    for (int i = 0; i < 100; i++) {
        snprintf (name, sizeof name, "a/%s%d", i % 2 ? "b/" : "", i);
        make_file (name);
    }
    ag_tree_t *tree = ag_tree_new ("gone");
    ag_tree_take (tree, "a");
    assert_int_equal (mkdir ("a", 0700), 0);
    int steps = 1;
    while (ag_tree_step (tree, 10))
        steps++;
    assert_in_range (steps, 10, 13);
    assert_int_equal (rmdir ("gone"), 0); //  it is empty
    ag_tree_take (tree, "a");             //  nor can it take any more
    assert_int_equal (access ("a", F_OK), -1);
    ag_tree_destroy (&tree);
    assert_int_equal (chdir ("/"), 0);
    ag_tree_remove (dir);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (all_of_a_folder_goes_and_nothing_that_a_link_in_it_leads_to),
        cmocka_unit_test (a_folder_that_was_closed_goes_too),
        cmocka_unit_test (a_folder_goes_however_deep_it_is),
        cmocka_unit_test (what_another_file_system_holds_stays_and_is_told_in_one_line),
        cmocka_unit_test (bit_by_bit_no_step_does_more_than_it_may_and_the_path_is_free_at_once),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
