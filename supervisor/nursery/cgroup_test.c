//  What is written to a control group and read from it. The directory is a stand-in with the files that the
//  memory and pids controllers would make: few machines hand them to a test.
//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/nursery/cgroup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ID = 5 };
static char dir[] = "/tmp/agsup-cgroup-XXXXXX";
static struct ag_cgroups groups = {.parent = -1, .dir = -1};

static void
put (const char *file, const char *text)
{
    char path[128];
    snprintf (path, sizeof path, "%s/%d/%s", dir, ID, file);
    int fd = open (path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal (write (fd, text, strlen (text)), strlen (text));
    close (fd);
}

static void
assert_holds (const char *file, const char *expected)
{
    char path[128], text[64] = "";
    snprintf (path, sizeof path, "%s/%d/%s", dir, ID, file);
    int fd = open (path, O_RDONLY);
    assert_true (read (fd, text, sizeof text - 1) >= 0);
    close (fd);
    assert_string_equal (text, expected);
}

static void
a_group_without_its_controllers_holds_nothing_and_says_so (void **state)
{
    (void)state;
    assert_int_equal (ag_cgroup_make (&groups, ID, 0), 0);
    assert_int_equal (ag_cgroup_limit_memory (&groups, ID, 4096), -1);
    assert_int_equal (errno, ENOENT);
    assert_int_equal (ag_cgroup_limit_processes (&groups, ID, 8), -1);
    assert_int_equal (errno, ENOENT);
    assert_false (ag_cgroup_out_of_memory (&groups, ID));
}

static void
memory_is_bounded_for_the_whole_group_without_swap_where_there_is_some (void **state)
{
    (void)state;
    put ("memory.max", "");
    assert_int_equal (ag_cgroup_limit_memory (&groups, ID, 4096), -1); //  no memory.oom.group
    put ("memory.oom.group", "");
    assert_int_equal (ag_cgroup_limit_memory (&groups, ID, 1ull << 33), 0);
    assert_holds ("memory.max", "8589934592");
    assert_holds ("memory.oom.group", "1");
    put ("memory.swap.max", "");
    assert_int_equal (ag_cgroup_limit_memory (&groups, ID, 4096), 0);
    assert_holds ("memory.swap.max", "0");
    put ("pids.max", "");
    assert_int_equal (ag_cgroup_limit_processes (&groups, ID, 8), 0);
    assert_holds ("pids.max", "8");
}

static void
only_a_kill_for_want_of_memory_counts_as_one (void **state)
{
    static const struct {
        const char *events;
        bool killed;
    } rows[] = {{"low 0\nhigh 0\nmax 9\noom 0\noom_kill 0\noom_group_kill 0\n", false},
                {"low 0\nhigh 0\nmax 9\noom 3\noom_kill 0\noom_group_kill 0\n", false},
                {"low 0\nhigh 0\nmax 9\noom 3\noom_kill 12\noom_group_kill 1\n", true},
                {"", false}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put ("memory.events", rows[i].events);
        assert_int_equal (ag_cgroup_out_of_memory (&groups, ID), rows[i].killed);
    }
}

static int
make (void **state)
{
    (void)state;
    groups.dir = mkdtemp (dir) ? open (dir, O_RDONLY | O_DIRECTORY) : -1;
    return groups.dir < 0 ? -1 : 0;
}

static int
remove_one (const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove (path);
}

static int
sweep (void **state)
{
    (void)state;
    close (groups.dir);
    return nftw (dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_group_without_its_controllers_holds_nothing_and_says_so),
        cmocka_unit_test (memory_is_bounded_for_the_whole_group_without_swap_where_there_is_some),
        cmocka_unit_test (only_a_kill_for_want_of_memory_counts_as_one),
    };
    return cmocka_run_group_tests (tests, make, sweep);
}
