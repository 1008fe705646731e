//  SPDX-License-Identifier: Apache-2.0
#include "common/filter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/filter.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

//  Bits of what still works in a process under a filter.
enum { INTERNET = 1, UNIX = 2, EXEC = 4 };

static int
tries (void)
{
    int works = 0;
    if (socket (AF_INET, SOCK_STREAM, 0) >= 0)
        works |= INTERNET;
    if (socket (AF_UNIX, SOCK_STREAM, 0) >= 0)
        works |= UNIX;
    char *argv[] = {"no such program", NULL};
    execv ("/nonexistent/program", argv);
    if (errno == ENOENT)
        works |= EXEC;
    return works;
}

static int
under (int (*enter) (void))
{
    int status = -1;
    pid_t pid = fork();
    if (pid == 0)
        _exit (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || enter() ? 99 : tries());
    waitpid (pid, &status, 0);
    return WIFEXITED (status) ? WEXITSTATUS (status) : -1;
}

static int
supervisor (void)
{
    struct ag_err err;
    return ag_filter_enter (AG_FILTER_SUPERVISOR, &err);
}

static int
broker (void)
{
    struct ag_err err;
    return ag_filter_enter (AG_FILTER_BROKER, &err);
}

static int
nothing (void)
{
    return 0;
}

static void
the_supervisor_can_neither_exec_nor_open_an_internet_socket (void **state)
{
    (void)state;
    assert_int_equal (under (nothing), INTERNET | UNIX | EXEC);
    assert_int_equal (under (supervisor), UNIX);
}

static void
the_broker_keeps_the_network_and_cannot_exec (void **state)
{
    (void)state;
    assert_int_equal (under (broker), INTERNET | UNIX);
}

//  As the nursery installs it in a program's process.
static int
install (enum ag_filter filter)
{
    struct ag_buf code = {0};
    struct ag_err err;
    if (ag_filter_export (filter, &code, &err))
        return -1;
    struct sock_fprog program = {.len = (unsigned short)(code.n / sizeof (struct sock_filter)),
                                 .filter = (struct sock_filter *)code.p};
    int rc = prctl (PR_SET_SECCOMP, 2, &program, 0, 0);
    ag_buf_fini (&code);
    return rc;
}

static int
program (void)
{
    return install (AG_FILTER_PROGRAM);
}

static int
granted (void)
{
    return install (AG_FILTER_NETWORK);
}

static void
a_program_may_exec_and_reaches_the_network_only_by_a_grant (void **state)
{
    (void)state;
    assert_int_equal (under (program), UNIX | EXEC);
    assert_int_equal (under (granted), INTERNET | UNIX | EXEC);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (the_supervisor_can_neither_exec_nor_open_an_internet_socket),
        cmocka_unit_test (the_broker_keeps_the_network_and_cannot_exec),
        cmocka_unit_test (a_program_may_exec_and_reaches_the_network_only_by_a_grant),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
