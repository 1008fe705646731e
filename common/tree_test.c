//  A folder that is taken away with all that is in it.
//  SPDX-License-Identifier: Apache-2.0
#include "common/tree.h"
#include "common/buf.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
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

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (all_of_a_folder_goes_and_nothing_that_a_link_in_it_leads_to),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
