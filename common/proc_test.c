//  SPDX-License-Identifier: Apache-2.0
#include "common/proc.h"
#include "common/loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

//  A child with a child; the grandchild's number.
static pid_t
family (pid_t *child)
{
    int fds[2];
    pid_t grandchild = 0;
    assert_int_equal (pipe (fds), 0);
    *child = fork();
    if (*child == 0) {
        prctl (PR_SET_NAME, "a ) b 1 2", 0, 0, 0);
        grandchild = fork();
        if (grandchild && write (fds[1], &grandchild, sizeof grandchild) < 0)
            _exit (1);
        for (;;)
            pause();
    }
    assert_int_equal (read (fds[0], &grandchild, sizeof grandchild), sizeof grandchild);
    close (fds[0]);
    close (fds[1]);
    return grandchild;
}

//  The grandchild first: its number is its own as long as its parent has not waited for it.
static void
end (pid_t child, pid_t grandchild)
{
    kill (grandchild, SIGKILL);
    kill (child, SIGKILL);
    waitpid (child, NULL, 0);
}

static void
a_process_has_a_parent_and_the_time_it_was_started (void **state)
{
    (void)state;
    struct ag_proc proc;
    struct ag_err err;
    int64_t before_ms = ag_now_ms();
    pid_t child, grandchild = family (&child);
    assert_int_equal (ag_proc_read (child, &proc, &err), 0);
    assert_int_equal (proc.parent, getpid());
    assert_in_range (proc.started_ms + 1000, before_ms + 1000 - 20, ag_now_ms() + 1000);
    assert_int_equal (ag_proc_read (grandchild, &proc, &err), 0);
    assert_int_equal (proc.parent, child);
    end (child, grandchild);
    assert_int_equal (ag_proc_read (child, &proc, &err), -1);
    assert_int_equal (err.code, AG_E_NOT_FOUND);
}

static void
descent_is_told_over_generations_and_not_backwards (void **state)
{
    (void)state;
    struct ag_err err;
    pid_t child, grandchild = family (&child);
    assert_int_equal (ag_proc_descends (grandchild, getpid(), &err), 1);
    assert_int_equal (ag_proc_descends (grandchild, child, &err), 1);
    assert_int_equal (ag_proc_descends (child, grandchild, &err), 0);
    assert_int_equal (ag_proc_descends (child, child, &err), 0);
    assert_int_equal (ag_proc_descends (getppid(), getpid(), &err), 0);
    end (child, grandchild);
    assert_int_equal (ag_proc_descends (child, getpid(), &err), -1);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_process_has_a_parent_and_the_time_it_was_started),
        cmocka_unit_test (descent_is_told_over_generations_and_not_backwards),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
