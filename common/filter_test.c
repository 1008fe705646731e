//  SPDX-License-Identifier: Apache-2.0
#include "common/filter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
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
install (enum ag_filter filter, bool strict)
{
    struct ag_buf code = {0};
    struct ag_err err;
    if (ag_filter_export (filter, strict, &code, &err))
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
    return install (AG_FILTER_PROGRAM, false);
}

static int
strictly (void)
{
    return install (AG_FILTER_PROGRAM, true);
}

static int
granted (void)
{
    return install (AG_FILTER_NETWORK, false);
}

static void
a_program_may_exec_and_reaches_the_network_only_by_a_grant (void **state)
{
    (void)state;
    assert_int_equal (under (program), UNIX | EXEC);
    assert_int_equal (under (granted), INTERNET | UNIX | EXEC);
}

//  What a program might try: 0 when it came through, else the errno that it met.
struct attempt {
    const char *name;
    long number, a, b;
    int standard; //  errno
    int strict;   //  the same, or 128 and the signal
};

enum { KILLED = 128 + SIGSYS, OPEN = 0 };
static const uint64_t above = 1ull << 32; //  a bit that the kernel does not look at

static int
attempt (const struct attempt *row, int (*enter) (void))
{
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        if (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || enter())
            _exit (99);
        _exit (syscall (row->number, row->a, row->b, 0, 0, 0) < 0 ? errno : 0);
    }
    waitpid (pid, &status, 0);
    return WIFEXITED (status) ? WEXITSTATUS (status) : 128 + WTERMSIG (status);
}

static void
a_program_reaches_neither_other_processes_nor_the_insides_of_the_kernel (void **state)
{
    const struct attempt rows[] = {
        {"ptrace", SYS_ptrace, 16, 1, EPERM, KILLED},
        {"process_vm_readv", SYS_process_vm_readv, 1, 0, EPERM, KILLED},
        {"pidfd_getfd", SYS_pidfd_getfd, 0, 0, EPERM, KILLED},
        {"kcmp", SYS_kcmp, 1, 1, EPERM, KILLED},
        {"bpf", SYS_bpf, 0, 0, EPERM, KILLED},
        {"userfaultfd", SYS_userfaultfd, 0, 0, EPERM, KILLED},
        {"mount", SYS_mount, 0, 0, EPERM, KILLED},
        {"fsopen", SYS_fsopen, 0, 0, EPERM, KILLED},
        {"unshare", SYS_unshare, CLONE_NEWUSER, 0, EPERM, KILLED},
        {"setns", SYS_setns, 0, 0, EPERM, KILLED},
        {"clone into a namespace", SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, EPERM, KILLED},
        {"clone3", SYS_clone3, 0, 0, ENOSYS, ENOSYS},
        {"io_uring", SYS_io_uring_setup, 1, 0, ENOSYS, ENOSYS},
        {"TIOCSTI", SYS_ioctl, 0, 0x5412, EPERM, EPERM},
        {"TIOCSTI with a bit above", SYS_ioctl, 0, (long)(0x5412 | above), EPERM, EPERM},
        {"TIOCLINUX", SYS_ioctl, 0, 0x541c, EPERM, EPERM},
        {"a personality", SYS_personality, 0x40000, 0, EPERM, KILLED},
        {"AF_INET with a bit above", SYS_socket, (long)(AF_INET | above), 1, EPERM, EPERM},
        {"AF_ALG", SYS_socket, AF_ALG, 5, EPERM, EPERM},
        {"settimeofday", SYS_settimeofday, 0, 0, EPERM, KILLED},
        {"a personality with a bit above", SYS_personality, (long)(0x40000 | above), 0, EPERM,
         KILLED},
        {"TIOCLINUX with a bit above", SYS_ioctl, 0, (long)(0x541c | above), EPERM, EPERM},
        {"clone into a namespace with a bit above", SYS_clone,
         (long)(CLONE_NEWUSER | SIGCHLD | above), 0, EPERM, KILLED},
        {"what personality it has", SYS_personality, 0xffffffff, 0, OPEN, OPEN},
        {"its own pid", SYS_getpid, 0, 0, OPEN, OPEN},
#ifdef __x86_64__
        {"a call by a number of x32", 0x40000000 | SYS_getpid, 0, 0, KILLED, KILLED},
#endif
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int standard = attempt (&rows[i], program), strict = attempt (&rows[i], strictly);
        if (standard != rows[i].standard || strict != rows[i].strict)
            fail_msg ("%s: %d and strictly %d, not %d and %d", rows[i].name, standard, strict,
                      rows[i].standard, rows[i].strict);
    }
}

static void
a_granted_network_is_no_grant_of_stranger_sockets (void **state)
{
    static const int families[] = {AF_ALG, AF_PACKET, AF_VSOCK, AF_BLUETOOTH, AF_XDP};
    (void)state;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        assert_int_equal (
            attempt (&(struct attempt){.number = SYS_socket, .a = families[i], .b = SOCK_RAW},
                     granted),
            EPERM);
    assert_int_equal (
        attempt (
            &(struct attempt){.number = SYS_socket, .a = (long)(AF_ALG | above), .b = SOCK_RAW},
            granted),
        EPERM);
}

static void *
nothing_more (void *argument)
{
    return argument;
}

static int
thread_under (int (*enter) (void))
{
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        pthread_t thread;
        if (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || enter())
            _exit (99);
        int error = pthread_create (&thread, NULL, nothing_more, NULL);
        _exit (error ? error : pthread_join (thread, NULL));
    }
    waitpid (pid, &status, 0);
    return WIFEXITED (status) ? WEXITSTATUS (status) : 128 + WTERMSIG (status);
}

//  The C library asks for clone3 first, and does without only where that is missing.
static void
a_program_starts_threads_under_each_filter (void **state)
{
    (void)state;
    assert_int_equal (thread_under (program), 0);
    assert_int_equal (thread_under (strictly), 0);
    assert_int_equal (thread_under (granted), 0);
}

//  Who decides in user space looks at memory that another thread may change meanwhile.
static void
a_filter_lets_through_refuses_or_ends_and_asks_nobody (void **state)
{
    (void)state;
    for (int i = AG_FILTER_SUPERVISOR; i <= AG_FILTER_NETWORK; i++)
        for (int strict = 0; strict < 2; strict++) {
            struct ag_buf code = {0};
            struct ag_err err;
            size_t returns = 0;
            assert_int_equal (ag_filter_export ((enum ag_filter)i, strict, &code, &err), 0);
            const struct sock_filter *at = (const struct sock_filter *)code.p;
            for (size_t k = 0; k < code.n / sizeof *at; k++) {
                if (at[k].code != (BPF_RET | BPF_K))
                    continue;
                uint32_t action = at[k].k & SECCOMP_RET_ACTION_FULL;
                returns++;
                assert_true (action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_ERRNO ||
                             action == SECCOMP_RET_KILL_PROCESS);
            }
            assert_true (returns > 2);
            ag_buf_fini (&code);
        }
}

#ifdef __x86_64__
//  The numbers of 32-bit programs: there is no other check of them, so the process ends.
static void
a_program_that_calls_by_another_table_of_calls_ends (void **state)
{
    int status = -1;
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        long got = 20; //  getpid there
        if (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || program())
            _exit (99);
        __asm__ volatile("int $0x80" : "+a"(got) : : "memory");
        _exit (0);
    }
    waitpid (pid, &status, 0);
    assert_true (WIFSIGNALED (status));
    assert_true (WTERMSIG (status) == SIGSYS ||
                 WTERMSIG (status) == SIGSEGV); //  or no such table here
}
#endif

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (the_supervisor_can_neither_exec_nor_open_an_internet_socket),
        cmocka_unit_test (the_broker_keeps_the_network_and_cannot_exec),
        cmocka_unit_test (a_program_may_exec_and_reaches_the_network_only_by_a_grant),
        cmocka_unit_test (a_program_reaches_neither_other_processes_nor_the_insides_of_the_kernel),
        cmocka_unit_test (a_granted_network_is_no_grant_of_stranger_sockets),
        cmocka_unit_test (a_program_starts_threads_under_each_filter),
        cmocka_unit_test (a_filter_lets_through_refuses_or_ends_and_asks_nobody),
#ifdef __x86_64__
        cmocka_unit_test (a_program_that_calls_by_another_table_of_calls_ends),
#endif
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
