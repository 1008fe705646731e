//  The real worker behind its walls: what the kernel says of it, what a script of it can reach, and what
//  system calls made inside each of its threads come to.
//  SPDX-License-Identifier: Apache-2.0
#include "worker/fake_test.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>

static const char *granted; //  the directory that the worker may read below

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

//  A system call made in another process, where it stands in one: by ptrace. Its result.
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

//  False: it may not be traced from here.
static bool
try_in_thread (pid_t thread)
{
    if (ptrace (PTRACE_SEIZE, thread, NULL, NULL)) {
        assert_int_equal (errno, EPERM);
        return false;
    }
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
        {SYS_kill, getpid(), 0, 0, -EPERM},
        {SYS_tgkill, getpid(), getpid(), 0, -ENOSYS},
        {SYS_ptrace, PTRACE_ATTACH, getpid(), 0, -EPERM},
        {SYS_io_uring_setup, 4, path, 0, -EPERM},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        long got = inject (thread, calls[i][0], calls[i][1], calls[i][2], calls[i][3]);
        if (i ? got != calls[i][4] : got <= 0)
            fail_msg ("call %ld: %ld, not %ld", calls[i][0], got, calls[i][4]);
    }
    assert_int_equal (ptrace (PTRACE_DETACH, thread, NULL, NULL), 0);
    return true;
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
    for (struct dirent *entry; walls && (entry = readdir (dir));)
        if (*entry->d_name != '.')
            tried += try_in_thread (atoi (entry->d_name));
    closedir (dir);
    free (path);
    assert_int_equal (fake_end (&fake), 0); //  and it works on
    if (!tried) {
        print_message ("skipped: %s\n",
                       walls ? "it may not be traced (CAP_SYS_PTRACE)" : "its walls are off here");
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
    fake_unloaded (&fake);
    assert_int_equal (fake_end (&fake), 2);
}

static int
make (void **state)
{
    static char dir[] = "/tmp/agsup-walls-XXXXXX";
    char path[64];
    (void)state;
    granted = mkdtemp (dir);
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
        cmocka_unit_test (the_real_worker_stands_behind_its_walls_before_it_looks_at_a_pack),
#ifdef __x86_64__
        cmocka_unit_test (no_thread_of_the_real_worker_gets_out),
#endif
        cmocka_unit_test (a_pack_that_does_not_load_is_no_intruder),
    };
    return cmocka_run_group_tests (tests, make, sweep);
}
