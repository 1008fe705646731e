//  The walls from inside: a child builds them around itself and then tries.
//  SPDX-License-Identifier: Apache-2.0
#include "worker/jail.h"

#include "worker/fake_test.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/user.h>

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

//  The real binary: what the kernel says of each of its threads, and what a script can reach.

static void
read_status (pid_t pid, char *text, size_t size)
{
    char path[64];
    snprintf (path, sizeof path, "/proc/%d/status", (int)pid);
    int fd = open (path, O_RDONLY);
    ssize_t n = fd < 0 ? 0 : read (fd, text, size - 1);
    close (fd);
    text[n > 0 ? n : 0] = 0;
}

static const char reader[] =
    "ag.behavior { name = 'b', on = { 'x' }, function (event, graph, ctx)\n"
    "    graph.emit ('y', { inside = ctx.read (event.payload.inside), outside = ctx.read "
    "('/etc/passwd') })\n"
    "end }";

static void
the_real_worker_stands_behind_its_walls_before_it_looks_at_a_pack (void **state)
{
    struct fake fake;
    char status[4096];
    (void)state;
    fake_start (&fake, granted);
    char *heard = ag_xstrdup (fake_load (&fake, reader, "{\"seccomp\":\"strict\"}", NULL));
    bool walls =
        strstr (heard, "\"seccomp\":\"strict\"") && !strstr (heard, "\"landlock\":\"off: ");
    read_status (fake.pid, status, sizeof status);
    fake_say (&fake, "{\"do\":\"ok\"}");
    fake_hear (&fake);
    fake_say (&fake,
              "{\"do\":\"invoke\",\"behavior\":\"b\",\"event\":{\"type\":\"x\",\"payload\":{"
              "\"inside\":\"%s/file\"}}}",
              granted);
    for (int i = 0; i < 2; i++) {
        assert_non_null (strstr (fake_hear (&fake), "\"tool\":\"file.read\""));
        fake_say (&fake, "{\"do\":\"go\"}");
        assert_non_null (strstr (fake_hear (&fake), i ? "not_allowed" : "\"text\":\"hello\""));
        fake_say (&fake, "{\"do\":\"ok\"}");
    }
    assert_non_null (strstr (fake_hear (&fake), "\"payload\":{\"inside\":\"hello\"}"));
    fake_say (&fake, "{\"do\":\"stop\",\"reason\":\"idle\"}");
    assert_int_equal (fake_end (&fake), 0);
    if (!walls)
        print_message ("skipped: %s\n", strstr (heard, "walls"));
    free (heard);
    if (!walls)
        skip();
    assert_non_null (strstr (status, "Seccomp:\t2"));
    assert_non_null (strstr (status, "NoNewPrivs:\t1"));
}

//  A system call made in another process, where it stands in one: as root, by ptrace. Its result.
#ifdef __x86_64__
static long
inject (pid_t thread, long number, long a, long b, long c)
{
    struct user_regs_struct saved, regs;
    assert_int_equal (ptrace (PTRACE_GETREGS, thread, NULL, &saved), 0);
    regs = saved;
    regs.orig_rax = (unsigned long)-1; //  not to be restarted
    regs.rax = (unsigned long)number;
    regs.rip -= 2; //  back on the instruction that made the call it stands in
    regs.rdi = (unsigned long)a;
    regs.rsi = (unsigned long)b;
    regs.rdx = (unsigned long)c;
    ptrace (PTRACE_SETREGS, thread, NULL, &regs);
    ptrace (PTRACE_SINGLESTEP, thread, NULL, NULL);
    assert_int_equal (waitpid (thread, NULL, __WALL), thread);
    ptrace (PTRACE_GETREGS, thread, NULL, &regs);
    ptrace (PTRACE_SETREGS, thread, NULL, &saved);
    return (long)regs.rax;
}

//  A path below the stack of a stopped thread; its address there.
static long
place_path (pid_t thread, const char path[16])
{
    struct user_regs_struct regs;
    ptrace (PTRACE_GETREGS, thread, NULL, &regs);
    for (size_t i = 0; i < 16; i += 8) {
        long word;
        memcpy (&word, path + i, 8);
        ptrace (PTRACE_POKEDATA, thread, regs.rsp - 1024 + i, word);
    }
    return (long)regs.rsp - 1024;
}

static void
try_in_thread (pid_t thread)
{
    assert_int_equal (ptrace (PTRACE_SEIZE, thread, NULL, NULL), 0);
    ptrace (PTRACE_INTERRUPT, thread, NULL, NULL);
    assert_int_equal (waitpid (thread, NULL, __WALL), thread);
    long path = place_path (thread, "/etc/passwd\0\0\0\0");
    const long calls[][5] = {
        {SYS_getpid, 0, 0, 0, 0}, //  that injecting works
        {SYS_openat, AT_FDCWD, path, O_RDONLY, -EACCES},
        {SYS_openat, AT_FDCWD, path, O_RDWR, -EPERM},
        {SYS_socket, AF_UNIX, SOCK_STREAM, 0, -EPERM},
        {SYS_connect, 0, 0, 0, -EPERM},
        {SYS_fork, 0, 0, 0, -EPERM},
        {SYS_execve, path, 0, 0, -EPERM},
        {SYS_kill, parent, 0, 0, -EPERM},
        {SYS_tgkill, parent, parent, 0, -ENOSYS},
        {SYS_ptrace, PTRACE_ATTACH, parent, 0, -EPERM},
        {SYS_io_uring_setup, 4, path, 0, -EPERM},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        long got = inject (thread, calls[i][0], calls[i][1], calls[i][2], calls[i][3]);
        if (i ? got != calls[i][4] : got <= 0)
            fail_msg ("call %ld: %ld, not %ld", calls[i][0], got, calls[i][4]);
    }
    assert_int_equal (ptrace (PTRACE_DETACH, thread, NULL, NULL), 0);
}

static void
no_thread_of_the_real_worker_gets_out (void **state)
{
    struct fake fake;
    int tried = 0;
    (void)state;
    fake_start (&fake, granted);
    bool walls = !strstr (fake_load (&fake, "", NULL, NULL), "\"off: ");
    fake_say (&fake, "{\"do\":\"ok\"}");
    fake_hear (&fake);
    char *path = ag_xprintf ("/proc/%d/task", (int)fake.pid);
    DIR *dir = opendir (path);
    for (struct dirent *entry; walls && geteuid() == 0 && (entry = readdir (dir));)
        if (*entry->d_name != '.') {
            try_in_thread (atoi (entry->d_name));
            tried++;
        }
    closedir (dir);
    free (path);
    assert_int_equal (fake_end (&fake), 0); //  and it works on
    if (!tried) {
        print_message ("skipped: %s\n",
                       walls ? "only root may trace it" : "its walls are off here");
        skip();
    }
    assert_true (tried >= 3); //  its own, and ZeroMQ's
}
#endif

//  The way out with an error (its line in the log, the end of the link) asks for nothing that is refused.
static void
a_pack_that_does_not_load_is_no_intruder (void **state)
{
    struct fake fake;
    (void)state;
    fake_start (&fake, NULL);
    fake_hear (&fake);
    fake_welcome (&fake, "error ('no')", "{\"seccomp\":\"strict\"}", NULL);
    fake_receive (&fake, &fake.identity);
    fake_receive (&fake, &fake.heard);
    fake_say (&fake, "{\"do\":\"ok\"}");
    fake.json.n = 0;
    assert_int_equal (fake_end (&fake), 2);
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
        cmocka_unit_test (under_the_standard_profile_each_attempt_ends_as_the_table_says),
        cmocka_unit_test (under_the_strict_profile_what_only_an_intruder_does_ends_the_process),
        cmocka_unit_test (a_thread_older_than_the_filter_is_behind_it_too),
        cmocka_unit_test (a_worker_without_files_opens_none),
        cmocka_unit_test (a_pack_that_does_not_load_is_no_intruder),
#ifdef __x86_64__
        cmocka_unit_test (no_thread_of_the_real_worker_gets_out),
#endif
        cmocka_unit_test (the_real_worker_stands_behind_its_walls_before_it_looks_at_a_pack),
    };
    return cmocka_run_group_tests (tests, make, sweep);
}
