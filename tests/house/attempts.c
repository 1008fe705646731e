/*  attempts - a native candidate that tries one thing and says how far it came.
 *
 *  attempts NAME [ARGUMENT]: exit status 0 when it came through, else the errno that stopped it. A signal that ends it
 *  is the kernel's answer. Nothing that comes through changes anything outside the folder of the test.
 *  SPDX-License-Identifier: Apache-2.0
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

typedef int attempt_fn (const char *argument);

enum { NOT_MADE = 254 }; //  no answer of the kernel's

static int
failed (long rc)
{
    return rc < 0 ? errno : 0;
}

/*  Out of its walls  */

static int
reads (const char *path)
{
    char byte;
    int fd = open (path, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? errno : failed (read (fd, &byte, 1));
}

static int
makes (const char *path)
{
    return failed (open (path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

static int
connects (const char *path)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    strncpy (to.sun_path, path, sizeof to.sun_path - 1);
    int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return fd < 0 ? errno : failed (connect (fd, (struct sockaddr *)&to, sizeof to));
}

static int
dials (const char *port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons ((uint16_t)atoi (port))};
    to.sin_addr.s_addr = htonl (INADDR_LOOPBACK);
    int fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return fd < 0 ? errno : failed (connect (fd, (struct sockaddr *)&to, sizeof to));
}

static int
signals (const char *pid)
{
    return failed (kill (atoi (pid), 0));
}

static int
traces (const char *pid)
{
    return failed (ptrace (PTRACE_SEIZE, atoi (pid), NULL, NULL));
}

//  An address that is not there is looked for only by who may look.
static int
peeks (const char *pid)
{
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)16, 1};
    int error = failed (process_vm_readv (atoi (pid), &here, 1, &there, 1, 0));
    return error == EFAULT ? 0 : error;
}

static int
steals (const char *pid)
{
    int fd = (int)syscall (SYS_pidfd_open, atoi (pid), 0);
    return fd < 0 ? errno : failed (syscall (SYS_pidfd_getfd, fd, 0, 0));
}

static int
attaches (const char *key)
{
    int id = shmget (atoi (key), 1, 0);
    return id < 0 ? errno : shmat (id, NULL, SHM_RDONLY) == (void *)-1 ? errno : 0;
}

static int
unshares (const char *argument)
{
    (void)argument;
    return failed (unshare (CLONE_NEWUSER));
}

static int
rings (const char *argument)
{
    char params[256] = {0};
    (void)argument;
    return failed (syscall (SYS_io_uring_setup, 4, params));
}

static int
hurries (const char *argument)
{
    struct sched_param param = {.sched_priority = 1};
    (void)argument;
    return failed (sched_setscheduler (0, SCHED_FIFO, &param));
}

static int
calls_by_x32 (const char *argument)
{
    (void)argument;
    return failed (syscall (0x40000000 | SYS_getpid));
}

static int
holds_more_descriptors (const char *argument)
{
    (void)argument;
    for (int fd = 3; fd < 4096; fd++)
        if (fcntl (fd, F_GETFD) >= 0)
            return 0;
    return EBADF;
}

//  Through a magic link, and up from where that leads.
static int
climbs (const char *path)
{
    char way[4096];
    int here = open ("/proc/self/cwd", O_PATH | O_DIRECTORY | O_CLOEXEC);
    snprintf (way, sizeof way, "../../../../../../../../../../../../../../../..%s", path);
    return here < 0 ? NOT_MADE : failed (openat (here, way, O_RDONLY | O_CLOEXEC));
}

//  Itself as a program that is no file, which dials.
static int
runs_from_memory (const char *port)
{
    char *argv[] = {"attempts", "dials", (char *)port, NULL};
    int from = open ("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    int to = memfd_create ("attempts", MFD_CLOEXEC);
    while (sendfile (to, from, NULL, 1 << 20) > 0)
        continue;
    syscall (SYS_execveat, to, "", argv, environ, AT_EMPTY_PATH);
    return NOT_MADE;
}

//  Machine code in hex, which answers as a system call does.
static int
runs_its_own_code (const char *hex)
{
    unsigned byte;
    unsigned char *code =
        mmap (NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; sscanf (hex + 2 * i, "%2x", &byte) == 1; i++)
        code[i] = (unsigned char)byte;
    if (mprotect (code, 4096, PROT_READ | PROT_WRITE | PROT_EXEC))
        return NOT_MADE;
    long rc = ((long (*) (void))code)();
    return rc < 0 ? (int)-rc : 0;
}

//  To nothing, which only who may set it is granted.
static int
sets_the_clock (const char *argument)
{
    (void)argument;
    return failed (syscall (SYS_settimeofday, NULL, NULL));
}

static int
raises_its_limits (const char *argument)
{
    struct rlimit core = {RLIM_INFINITY, RLIM_INFINITY};
    (void)argument;
    return failed (setrlimit (RLIMIT_CORE, &core));
}

/*  More than it was given  */

static int
allocates (const char *argument)
{
    const size_t bytes = 4ull << 30;
    (void)argument;
    char *p = mmap (NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? errno : 0;
}

static int
forks (const char *argument)
{
    (void)argument;
    for (int i = 0; i < 4000; i++) {
        pid_t pid = fork();
        if (pid < 0)
            return errno;
        if (pid == 0) {
            sleep (1000);
            _exit (0);
        }
    }
    return 0;
}

static void *
waits (void *argument)
{
    sleep (1000);
    return argument;
}

static int
makes_threads (const char *argument)
{
    (void)argument;
    for (int i = 0; i < 4000; i++) {
        pthread_t thread;
        int error = pthread_create (&thread, NULL, waits, NULL);
        if (error)
            return error;
    }
    return 0;
}

static int
opens_until_it_cannot (const char *argument)
{
    (void)argument;
    for (int i = 0; i < 70000; i++)
        if (dup (0) < 0)
            return errno;
    return 0;
}

static int
fills (int fd)
{
    char bytes[65536] = "";
    signal (SIGXFSZ, SIG_IGN);
    for (int i = 0; fd >= 0 && i < 1 << 14; i++) //  1 GiB
        if (write (fd, bytes, sizeof bytes) < 0)
            return errno;
    return fd < 0 ? errno : 0;
}

static int
fills_a_file (const char *argument)
{
    (void)argument;
    return fills (open ("filled", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

static int
fills_a_memfd (const char *argument)
{
    (void)argument;
    return fills (memfd_create ("filled", MFD_CLOEXEC));
}

static int
spins (const char *argument)
{
    (void)argument;
    signal (SIGTERM, SIG_IGN);
    signal (SIGXCPU, SIG_IGN);
    while (argument)
        continue;
    return 0;
}

static const struct {
    const char *name;
    attempt_fn *attempt;
} attempts[] = {
    {"reads", reads},
    {"makes", makes},
    {"connects", connects},
    {"dials", dials},
    {"signals", signals},
    {"traces", traces},
    {"peeks", peeks},
    {"steals", steals},
    {"attaches", attaches},
    {"unshares", unshares},
    {"rings", rings},
    {"hurries", hurries},
    {"x32", calls_by_x32},
    {"climbs", climbs},
    {"embodies", runs_from_memory},
    {"codes", runs_its_own_code},
    {"clock", sets_the_clock},
    {"inherits", holds_more_descriptors},
    {"limits", raises_its_limits},
    {"allocates", allocates},
    {"forks", forks},
    {"threads", makes_threads},
    {"opens", opens_until_it_cannot},
    {"file", fills_a_file},
    {"memfd", fills_a_memfd},
    {"spins", spins},
};

int
main (int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof attempts / sizeof *attempts; i++)
        if (!strcmp (attempts[i].name, argv[1]))
            return attempts[i].attempt (argc > 2 ? argv[2] : "");
    return 255;
}
