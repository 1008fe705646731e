//  SPDX-License-Identifier: Apache-2.0
#include "client/pager.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

//  What a person is shown of one line.
static void
shown (const struct ag_look *look, const char *path, char text[64])
{
    struct ag_pager pager;
    fflush (stdout);
    int file = open (path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), saved = dup (1);
    assert_true (file >= 0 && saved >= 0);
    dup2 (file, 1);
    ag_pager_begin (&pager, look);
    puts ("a line");
    ag_pager_end (&pager);
    fflush (stdout);
    dup2 (saved, 1);
    close (saved);
    ssize_t n = pread (file, text, 63, 0);
    close (file);
    text[n > 0 ? n : 0] = 0;
}

static void
what_is_paged_is_shown_whichever_pager_there_is (void **state)
{
    (void)state;
    struct ag_look person = {.terminal = true}, program = {.terminal = true, .json = true};
    char dir[] = "/tmp/ag-pager-XXXXXX", cat[64], file[64], text[64];
    assert_non_null (mkdtemp (dir));
    snprintf (cat, sizeof cat, "%s/cat", dir);
    snprintf (file, sizeof file, "%s/shown", dir);
    assert_int_equal (symlink ("/bin/cat", cat), 0);
    setenv ("PATH", dir, 1); //  where there is no less
    unsetenv ("PAGER");
    unsetenv ("AGSUP_PAGER");
    shown (&person, file, text);
    assert_string_equal (text, "a line\n");
    setenv ("PAGER", "while read line; do echo \"<$line>\"; done", 1);
    shown (&person, file, text);
    assert_string_equal (text, "<a line>\n");
    shown (&program, file, text);
    assert_string_equal (text, "a line\n");
    setenv ("AGSUP_PAGER", "", 1);
    shown (&person, file, text);
    assert_string_equal (text, "a line\n");
    unlink (cat);
    unlink (file);
    rmdir (dir);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (what_is_paged_is_shown_whichever_pager_there_is),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
