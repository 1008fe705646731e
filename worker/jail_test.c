//  The walls from inside: a child builds them around itself and then tries.
//  SPDX-License-Identifier: Apache-2.0
#include "worker/jail.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

//  What a child tries: 0 when it came through, else the errno that stopped it.
typedef int try_fn (void);

static const char *granted; //  the directory that the child may read below
static pid_t parent;        //  of the child, which cannot ask for it any more

static int
open_as (const char *path, int flags)
{
    int fd = open (path, flags, 0600);
    if (fd < 0)
        return errno;
    close (fd);
    return 0;
}

static int
opens_a_file_inside (void)
{
    char path[128];
    snprintf (path, sizeof path, "%s/file", granted);
    return open_as (path, O_RDONLY | O_CLOEXEC);
}

static int
lists_the_granted_directory (void)
{
    return open_as (granted, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int
opens_a_file_outside (void)
{
    return open_as ("/etc/passwd", O_RDONLY);
}

static int
opens_the_memory_of_its_parent (void)
{
    char path[64];
    snprintf (path, sizeof path, "/proc/%d/mem", (int)parent);
    return open_as (path, O_RDONLY);
}

static int
writes_inside (void)
{
    char path[128];
    snprintf (path, sizeof path, "%s/file", granted);
    return open_as (path, O_WRONLY);
}

static int
makes_a_file (void)
{
    char path[128];
    snprintf (path, sizeof path, "%s/new", granted);
    return open_as (path, O_RDWR | O_CREAT);
}

static int
failed (long rc)
{
    return rc < 0 ? errno : 0;
}

static int
connects_by_tcp (void)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons (9)};
    int fd = socket (AF_INET, SOCK_STREAM, 0);
    return fd < 0 ? errno : failed (connect (fd, (struct sockaddr *)&to, sizeof to));
}

static int
makes_a_socket_pair (void)
{
    int fds[2];
    return failed (socketpair (AF_UNIX, SOCK_STREAM, 0, fds));
}

static int
forks (void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit (0);
    return failed (pid);
}

static int
clones_anew (void)
{
    return failed (syscall (SYS_clone3, NULL, 0));
}

static void *
nothing (void *arg)
{
    return arg;
}

static int
makes_a_thread (void)
{
    pthread_t thread;
    return pthread_create (&thread, NULL, nothing, NULL);
}

static int
executes (void)
{
    char *argv[] = {"/bin/true", NULL};
    return failed (execv (argv[0], argv));
}

static int
kills_its_parent (void)
{
    return failed (kill (parent, 0));
}

static int
signals_a_thread_of_another (void)
{
    return failed (syscall (SYS_tgkill, parent, parent, 0));
}

static int
signals_itself (void)
{
    return failed (syscall (SYS_tgkill, getpid(), gettid(), 0));
}

static int
traces_its_parent (void)
{
    return failed (ptrace (PTRACE_ATTACH, parent, NULL, NULL));
}

static int
reads_the_memory_of_its_parent (void)
{
    return failed (syscall (SYS_process_vm_readv, parent, NULL, 0, NULL, 0, 0));
}

static int
uses_io_uring (void)
{
    char params[256] = {0};
    return failed (syscall (SYS_io_uring_setup, 4, params));
}

static int
loads_bpf (void)
{
    return failed (syscall (SYS_bpf, 0, NULL, 0));
}

static int
unshares (void)
{
    return failed (syscall (SYS_unshare, 0x10000000));
}

static int
maps_executable_memory (void)
{
    void *p =
        mmap (NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? errno : 0;
}

static int
maps_memory (void)
{
    void *p = mmap (NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? errno : 0;
}

static int
makes_memory_executable (void)
{
    static char page[8192];
    void *p = page + 4096 - (uintptr_t)page % 4096;
    return failed (mprotect (p, 4096, PROT_READ | PROT_EXEC));
}

//  A refused flag, with a bit above the 32 that the kernel looks at.
static int
writes_with_a_bit_above (void)
{
    char path[128];
    snprintf (path, sizeof path, "%s/file", granted);
    return failed (syscall (SYS_openat, AT_FDCWD, path, (1L << 32) | O_WRONLY, 0));
}

static int
maps_executable_memory_with_a_bit_above (void)
{
    return failed (syscall (SYS_mmap, NULL, 4096, (1L << 32) | PROT_READ | PROT_EXEC,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

static int
signals_a_thread_of_another_with_a_bit_above (void)
{
    return failed (syscall (SYS_tgkill, (1L << 32) | parent, parent, 0));
}

static int
asks_for_signals_with_a_bit_above (void)
{
    return failed (syscall (SYS_fcntl, 0, (1L << 32) | F_SETOWN, parent));
}

static int
asks_for_signals_by_descriptor (void)
{
    return failed (fcntl (0, F_SETOWN, parent));
}

static int
makes_an_anonymous_file (void)
{
    return failed (syscall (SYS_memfd_create, "x", 0));
}

struct attempt {
    const char *name;
    try_fn *fn;
    int expected; //  errno under the standard profile, 0: it may
    bool kills;   //  it ends the process under the strict one
};

#define TRY(fn, expected, kills)                                                                   \
    {                                                                                              \
#fn, fn, expected, kills                                                                   \
    }

static const struct attempt attempts[] = {
    TRY (opens_a_file_inside, 0, false),
    TRY (lists_the_granted_directory, 0, false),
    TRY (signals_itself, 0, false),
    TRY (maps_memory, 0, false),
    TRY (opens_a_file_outside, EACCES, false),
    TRY (opens_the_memory_of_its_parent, EACCES, false),
    TRY (writes_inside, EPERM, false),
    TRY (makes_a_file, EPERM, false),
    TRY (writes_with_a_bit_above, EPERM, false),
    TRY (connects_by_tcp, EPERM, true),
    TRY (makes_a_socket_pair, EPERM, true),
    TRY (forks, EPERM, true),
    TRY (clones_anew, ENOSYS, false),
    TRY (makes_a_thread, EPERM, true),
    TRY (executes, EPERM, true),
    TRY (kills_its_parent, EPERM, true),
    TRY (signals_a_thread_of_another, ENOSYS, false),
    TRY (traces_its_parent, EPERM, true),
    TRY (reads_the_memory_of_its_parent, EPERM, true),
    TRY (uses_io_uring, EPERM, true),
    TRY (loads_bpf, EPERM, true),
    TRY (unshares, EPERM, true),
    TRY (maps_executable_memory, EPERM, true),
    TRY (makes_memory_executable, EPERM, true),
    TRY (maps_executable_memory_with_a_bit_above, EPERM, true),
    TRY (signals_a_thread_of_another_with_a_bit_above, ENOSYS, false),
    TRY (asks_for_signals_with_a_bit_above, ENOSYS, false),
    TRY (asks_for_signals_by_descriptor, ENOSYS, false),
    TRY (makes_an_anonymous_file, EPERM, true),
};

//  Why the walls cannot be tried here, or NULL.
static const char *
missing (const struct ag_walls *walls)
{
    return !strncmp (walls->landlock, "off: ", 5)  ? walls->landlock
           : !strncmp (walls->seccomp, "off: ", 5) ? walls->seccomp
                                                   : NULL;
}

enum { NO_WALLS = 200 };

//  In a child: build the walls, then try; its exit status is the errno. 128 and more: the signal.
static int
attempt (try_fn *fn, enum ag_profile profile, const char **lacks)
{
    static struct ag_walls *walls;
    int status;
    walls = mmap (NULL, sizeof *walls, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct ag_err err;
        if (ag_jail_files (granted, walls, &err) || ag_jail_calls (profile, true, walls, &err))
            _exit (NO_WALLS + 1);
        _exit (missing (walls) ? NO_WALLS : fn());
    }
    assert_true (waitpid (pid, &status, 0) == pid);
    static struct ag_walls seen;
    seen = *walls;
    *lacks = missing (&seen);
    munmap (walls, sizeof *walls);
    return WIFEXITED (status) ? WEXITSTATUS (status) : 128 + WTERMSIG (status);
}

static void
try_all (enum ag_profile profile)
{
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
        const struct attempt *try = &attempts[i];
        const char *lacks;
        int got = attempt (try->fn, profile, &lacks);
        if (lacks) {
            print_message ("skipped: %s\n", lacks);
            skip();
        }
        bool killed = profile == AG_PROFILE_STRICT && try->kills;
        int expected = killed ? 128 + SIGSYS : try->expected;
        if (got != expected)
            print_error ("%s: %d, not %d\n", try->name, got, expected);
        wrong += got != expected;
    }
    assert_int_equal (wrong, 0);
}

static void
under_the_standard_profile_each_attempt_ends_as_the_table_says (void **state)
{
    (void)state;
    try_all (AG_PROFILE_STANDARD);
}

static void
under_the_strict_profile_what_only_an_intruder_does_ends_the_process (void **state)
{
    (void)state;
    try_all (AG_PROFILE_STRICT);
}

static int
opens_nothing_without_files (void)
{
    struct ag_walls walls = {0};
    struct ag_err err;
    if (ag_jail_calls (AG_PROFILE_STANDARD, false, &walls, &err))
        return NO_WALLS;
    return strncmp (walls.seccomp, "off: ", 5) ? opens_a_file_inside() : NO_WALLS;
}

//  What is refused is possible without walls: the table proves something.
static void
without_walls_the_attempts_come_through (void **state)
{
    static const struct attempt free_ones[] = {
        TRY (opens_a_file_outside, 0, false),
        TRY (writes_inside, 0, false),
        TRY (makes_a_socket_pair, 0, false),
        TRY (forks, 0, false),
        TRY (makes_a_thread, 0, false),
        TRY (kills_its_parent, 0, false),
        TRY (executes, 0, false),
        TRY (writes_with_a_bit_above, 0, false),
    };
    (void)state;
    for (size_t i = 0; i < sizeof free_ones / sizeof *free_ones; i++) {
        int status;
        pid_t pid = fork();
        if (pid == 0)
            _exit (free_ones[i].fn());
        waitpid (pid, &status, 0);
        if (!WIFEXITED (status) || WEXITSTATUS (status))
            fail_msg ("%s: %d", free_ones[i].name, status);
    }
}

//  The filter holds for threads that were there before it.
static pthread_barrier_t barrier;
static int early_result;

static void *
try_from_early_thread (void *arg)
{
    pthread_barrier_wait (&barrier); //  it runs
    pthread_barrier_wait (&barrier); //  the filter is in force
    early_result = connects_by_tcp();
    return arg;
}

static int
connects_from_an_early_thread (void)
{
    struct ag_walls walls = {0};
    struct ag_err err;
    pthread_t thread;
    pthread_barrier_init (&barrier, NULL, 2);
    pthread_create (&thread, NULL, try_from_early_thread, NULL);
    pthread_barrier_wait (&barrier);
    if (ag_jail_calls (AG_PROFILE_STANDARD, false, &walls, &err))
        return NO_WALLS;
    pthread_barrier_wait (&barrier);
    pthread_join (thread, NULL);
    return strncmp (walls.seccomp, "off: ", 5) ? early_result : NO_WALLS;
}

//  In a child that builds its wall itself: the errno that stopped it.
static void
stopped_by (try_fn *fn, int expected)
{
    int status;
    pid_t pid = fork();
    if (pid == 0)
        _exit (fn());
    waitpid (pid, &status, 0);
    if (WEXITSTATUS (status) == NO_WALLS) {
        print_message ("skipped: seccomp is off here\n");
        skip();
    }
    assert_int_equal (WEXITSTATUS (status), expected);
}

static void
a_thread_older_than_the_filter_is_behind_it_too (void **state)
{
    (void)state;
    stopped_by (connects_from_an_early_thread, EPERM);
}

static void
a_worker_without_files_opens_none (void **state)
{
    (void)state;
    stopped_by (opens_nothing_without_files, EPERM);
}

static void
a_directory_that_cannot_be_reached_is_named_with_who_cannot (void **state)
{
    (void)state;
    enum { NAMED, OFF, WRONG };
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        struct ag_walls walls;
        struct ag_err err = {0};
        int rc = ag_jail_files ("/tmp/agsup-not-there", &walls, &err);
        char start[80];
        snprintf (start, sizeof start, "granted directory /tmp/agsup-not-there: user id %u, ",
                  geteuid());
        bool named = rc && !strncmp (err.text, start, strlen (start));
        _exit (named ? NAMED : rc ? WRONG : OFF);
    }
    assert_true (waitpid (pid, &status, 0) == pid);
    assert_true (WIFEXITED (status) && WEXITSTATUS (status) != WRONG);
    if (WEXITSTATUS (status) == OFF)
        skip(); //  no Landlock here
}

static int
make (void **state)
{
    static char dir[] = "/tmp/agsup-jail-XXXXXX";
    char path[64];
    (void)state;
    granted = mkdtemp (dir);
    parent = getpid();
    snprintf (path, sizeof path, "%s/file", dir);
    int fd = open (path, O_WRONLY | O_CREAT, 0600);
    bool made = write (fd, "hello", 5) == 5;
    close (fd);
    return made ? 0 : -1;
}

static int
sweep (void **state)
{
    char path[64];
    (void)state;
    snprintf (path, sizeof path, "%s/file", granted);
    return unlink (path) || rmdir (granted);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (without_walls_the_attempts_come_through),
        cmocka_unit_test (a_directory_that_cannot_be_reached_is_named_with_who_cannot),
        cmocka_unit_test (under_the_standard_profile_each_attempt_ends_as_the_table_says),
        cmocka_unit_test (under_the_strict_profile_what_only_an_intruder_does_ends_the_process),
        cmocka_unit_test (a_thread_older_than_the_filter_is_behind_it_too),
        cmocka_unit_test (a_worker_without_files_opens_none),
    };
    return cmocka_run_group_tests (tests, make, sweep);
}
