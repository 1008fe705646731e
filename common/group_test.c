//  SPDX-License-Identifier: Apache-2.0
#include "common/group.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
the_group_that_is_found_is_the_one_that_holds_this_process (void **state)
{
    (void)state;
    char *path = NULL, line[32];
    int fd = ag_group_open (&path), pid = 0;
    if (fd < 0) {
        print_message ("skipped: no control group (version 2): %s\n", strerror (errno));
        assert_null (path);
        skip();
    }
    int list = openat (fd, "cgroup.procs", O_RDONLY | O_CLOEXEC);
    FILE *procs = fdopen (list, "r");
    assert_non_null (procs);
    while (pid != getpid() && fgets (line, sizeof line, procs))
        pid = (int)strtol (line, NULL, 10);
    fclose (procs);
    assert_int_equal (pid, getpid());
    assert_int_equal (access (path, F_OK), 0);
    free (path);
    close (fd);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (the_group_that_is_found_is_the_one_that_holds_this_process),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
