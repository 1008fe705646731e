//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/nursery/probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common/buf.h"
#include "supervisor/nursery/birth.h"
#include "supervisor/nursery/clock.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { SANITIZED = 1 }; //  it reserves terabytes of addresses
#else
enum { SANITIZED = 0 };
#endif

enum { DEADLINE_MS = 8000, PROBE_UID = 62999, MANY = 64, MEMORY = 64 << 20 };

/*  Inside  */

//  What a child tries: true when it was kept from it.
typedef bool inside_fn (const char *argument);

static bool
is_another_user (const char *argument)
{
    (void)argument;
    return getuid() == PROBE_UID && setuid (0) && errno == EPERM;
}

static bool
is_in_a_group (const char *argument)
{
    (void)argument;
    char text[4096];
    int fd = open ("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read (fd, text, sizeof text - 1);
    text[n > 0 ? n : 0] = 0;
    return strstr (text, "/agsup-");
}

//  Touched page by page: past its limit the process ends, or gets no more.
static bool
gets_no_memory (const char *argument)
{
    (void)argument;
    char *p = mmap (NULL, 4 * MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; p != MAP_FAILED && i < 4 * MEMORY; i += 4096)
        p[i] = 1;
    return p == MAP_FAILED;
}

static bool
gets_no_process (const char *argument)
{
    (void)argument;
    for (int i = 0; i < MANY; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            prctl (PR_SET_PDEATHSIG, SIGKILL);
            pause();
        }
        if (pid < 0)
            return errno == EAGAIN;
    }
    return false;
}

static bool
gets_no_descriptor (const char *argument)
{
    (void)argument;
    for (int i = 0; i < MANY; i++)
        if (dup (0) < 0)
            return errno == EMFILE;
    return false;
}

static bool
spins (const char *argument)
{
    (void)argument;
    for (uint64_t end_ms = ag_clock_ms() + DEADLINE_MS; ag_clock_ms() < end_ms;)
        continue;
    return false;
}

static bool
writes_much (const char *argument)
{
    (void)argument;
    char bytes[8192] = "";
    int fd = memfd_create ("probe", MFD_CLOEXEC);
    signal (SIGXFSZ, SIG_IGN);
    for (int i = 0; i < MANY; i++)
        if (write (fd, bytes, sizeof bytes) < 0)
            return errno == EFBIG;
    return false;
}

static bool
leaves_no_core (const char *argument)
{
    (void)argument;
    struct rlimit limit;
    return !getrlimit (RLIMIT_CORE, &limit) && !limit.rlim_max;
}

static bool
has_no_new_privileges (const char *argument)
{
    (void)argument;
    return prctl (PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

static bool
inherits_nothing (const char *argument)
{
    (void)argument;
    for (int fd = 3; fd < 1024; fd++)
        if (fcntl (fd, F_GETFD) >= 0)
            return false;
    return true;
}

//  The argument is the pid of who asked.
static bool
sees_no_other_process (const char *argument)
{
    return getpid() == 1 && kill ((int)strtol (argument, NULL, 10), 0) && errno == ESRCH;
}

static bool
has_no_network (const char *argument)
{
    (void)argument;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons (9)};
    to.sin_addr.s_addr = htonl (INADDR_LOOPBACK);
    int fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return connect (fd, (struct sockaddr *)&to, sizeof to) && errno == ENETUNREACH;
}

//  The argument is also the key of a segment of who asked.
static bool
finds_no_segment (const char *argument)
{
    return shmget ((int)strtol (argument, NULL, 10), 1, 0) < 0 && errno == ENOENT;
}

static bool
finds_no_file (const char *argument)
{
    (void)argument;
    return open ("/etc/passwd", O_RDONLY | O_CLOEXEC) < 0 && errno == ENOENT;
}

static bool
opens_no_file (const char *argument)
{
    (void)argument;
    return open ("/etc/passwd", O_RDONLY | O_CLOEXEC) < 0 && errno == EACCES;
}

//  The filter below denies it with this strange errno.
static bool
is_filtered (const char *argument)
{
    (void)argument;
    return syscall (SYS_getppid) < 0 && errno == ENOTTY;
}

static const struct sock_filter filter[] = {
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, nr)),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOTTY),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};

/*  Outside  */

enum { ALONE = 1 << AG_LAYER_UID, GROUP = 1 << AG_LAYER_CGROUP };

static const struct probe {
    const char *kind, *name;
    uint32_t layers;
    struct ag_rlimits limits;
    int signal; //  by which it may be held as well
    inside_fn *inside;
} probes[] = {
    {"net", "memory", 0, {.address_space_bytes = 2 * MEMORY}, 0, gets_no_memory},
    {"net",
     "memory.max",
     GROUP | 1 << AG_LAYER_MEMORY,
     {.group_memory_bytes = MEMORY},
     SIGKILL,
     gets_no_memory},
    {"net", "cpu", 0, {.cpu_s = 1}, SIGXCPU, spins},
    {"net", "open_files", 0, {.open_files = 16}, 0, gets_no_descriptor},
    {"net", "processes", ALONE, {.processes = 1}, 0, gets_no_process},
    {"net", "pids.max", GROUP | 1 << AG_LAYER_PIDS, {.processes = 8}, 0, gets_no_process},
    {"net", "file_size", 0, {.file_bytes = 65536}, 0, writes_much},
    {"net", "core", 0, {0}, 0, leaves_no_core},
    {"layer", "no_new_privs", 0, {0}, 0, has_no_new_privileges},
    {"layer", "descriptors", 0, {0}, 0, inherits_nothing},
    {"layer", "uid", ALONE, {0}, 0, is_another_user},
    {"layer", "seccomp", 1 << AG_LAYER_SECCOMP, {0}, 0, is_filtered},
    {"layer", "landlock", 1 << AG_LAYER_LANDLOCK, {0}, 0, opens_no_file},
    {"layer", "pidns", 1 << AG_LAYER_PIDNS, {0}, 0, sees_no_other_process},
    {"layer", "netns", 1 << AG_LAYER_NETNS, {0}, 0, has_no_network},
    {"layer", "ipcns", 1 << AG_LAYER_IPCNS, {0}, 0, finds_no_segment},
    {"layer", "mountns", 1 << AG_LAYER_MOUNTNS | 1 << AG_LAYER_PIDNS, {0}, 0, finds_no_file},
    {"layer", "cgroup", GROUP, {0}, 0, is_in_a_group},
};
enum { PROBES = sizeof probes / sizeof *probes };

int
ag_probe_inside (const char *name, const char *argument)
{
    for (size_t i = 0; i < PROBES; i++)
        if (!strcmp (probes[i].name, name))
            return !probes[i].inside (argument);
    return 64;
}

//  One child on its way.
struct trial {
    struct ag_newborn child;
    struct ag_report why;
    bool born, late;
};

static int
image_of (const struct probe *probe, const char *program, const char *argument, struct ag_err *err)
{
    static const char *const readable[] = {"/usr", "/lib", "/lib64", "/bin", "/proc", NULL};
    const char *const argv[] = {program, "--probe-inside", probe->name, argument, NULL},
                      *const env[] = {"LANG=C", NULL};
    struct ag_spawn spawn = {.argv = argv, .env = env, .readable = readable};
    if (probe->layers >> AG_LAYER_SECCOMP & 1) {
        spawn.filter = filter;
        spawn.filter_bytes = sizeof filter;
    }
    return ag_image_new (&spawn, err);
}

//  An ordinary user's processes are counted together, and it has no other uid to give.
static uint32_t
layers_of (const struct probe *probe)
{
    bool is_net = !strcmp (probe->kind, "net");
    return is_net && geteuid() ? probe->layers & ~(uint32_t)ALONE : probe->layers;
}

static int
start (const struct ag_birth *birth, size_t i, const char *program, const char *argument,
       struct trial *trial, struct ag_err *err)
{
    struct ag_spawn_request request = {.kind = AG_CHILD_WORKER,
                                       .id = i,
                                       .limits = probes[i].limits,
                                       .uid = PROBE_UID,
                                       .gid = PROBE_UID,
                                       .layers = layers_of (&probes[i])};
    request.required = request.layers;
    if (SANITIZED)
        request.limits.address_space_bytes = 0;
    snprintf (request.nonce, sizeof request.nonce, "%032zu", i);
    int image = image_of (&probes[i], program, argument, err);
    if (image < 0)
        return -1;
    trial->born = !ag_birth (birth, &request, image, &trial->child, &trial->why);
    close (image);
    return 0;
}

//  How it ended, within the time that is left for all; what does not end is ended, and proves nothing.
static siginfo_t
end_of (struct trial *trial, uint64_t end_ms)
{
    siginfo_t info = {0};
    uint64_t now_ms = ag_clock_ms();
    struct pollfd pidfd = {trial->child.pidfd, POLLIN, 0};
    trial->late = poll (&pidfd, 1, now_ms < end_ms ? (int)(end_ms - now_ms) : 0) <= 0;
    if (trial->late)
        syscall (SYS_pidfd_send_signal, trial->child.pidfd, SIGKILL, NULL, 0);
    waitid (P_PIDFD, (id_t)trial->child.pidfd, &info, WEXITED);
    return info;
}

static bool
is_held (const struct probe *probe, const siginfo_t *info)
{
    return info->si_code == CLD_EXITED ? info->si_status == 0
                                       : probe->signal && info->si_status == probe->signal;
}

static void
say (const struct probe *probe, bool held, const char *detail)
{
    printf ("%s\t%s\t%d\t%s\n", probe->kind, probe->name, held, detail);
}

static void
judge (const struct probe *probe, struct trial *trial, uint64_t end_ms)
{
    siginfo_t info = end_of (trial, end_ms);
    if (!strcmp (probe->name, "memory") && SANITIZED)
        say (probe, false, "sanitizer build");
    else if (trial->late)
        say (probe, false, "not tried to its end: the machine is too busy");
    else
        say (probe, is_held (probe, &info), is_held (probe, &info) ? "held" : "did not hold");
}

//  What is told by the end of its set-up is why there was nothing to try.
static bool
has_begun (struct trial *trial, uint64_t end_ms)
{
    uint64_t now_ms = ag_clock_ms();
    struct pollfd report = {trial->child.report, POLLIN, 0};
    poll (&report, 1, now_ms < end_ms ? (int)(end_ms - now_ms) : 0);
    return read (trial->child.report, &trial->why, sizeof trial->why) != sizeof trial->why;
}

static void
finish (const struct ag_birth *birth, size_t i, struct trial *trial, uint64_t end_ms)
{
    bool begun = trial->born && has_begun (trial, end_ms);
    if (begun)
        judge (&probes[i], trial, end_ms);
    else {
        bool missing = trial->why.step == AG_STEP_CGROUP && trial->why.error == ENOENT;
        char *detail = ag_xprintf ("%s: %s", ag_step_name (trial->why.step),
                                   missing ? "none here, or without this controller"
                                           : strerror (trial->why.error));
        say (&probes[i], false, detail);
        free (detail);
    }
    if (trial->born) {
        const int fds[] = {trial->child.output[0], trial->child.output[1], trial->child.report,
                           trial->child.pidfd};
        if (!begun)
            end_of (trial, end_ms);
        for (size_t k = 0; k < sizeof fds / sizeof *fds; k++)
            close (fds[k]);
    }
    if (probes[i].layers & GROUP) {
        ag_cgroup_kill (birth->cgroups, i);
        ag_cgroup_gone (birth->cgroups, i);
    }
}

int
ag_probe (struct ag_err *err)
{
    char program[PATH_MAX], argument[16];
    struct ag_cgroups cgroups;
    struct ag_birth birth = {.home_id = "probe", .cgroups = &cgroups};
    struct trial trials[PROBES] = {0};
    ssize_t n = readlink ("/proc/self/exe", program, sizeof program - 1);
    signal (SIGPIPE, SIG_IGN); //  who asked may go, and there are things to take away
    birth.null = open ("/dev/null", O_RDWR | O_CLOEXEC);
    if (n < 0 || birth.null < 0)
        return ag_fail (err, AG_E_SYSTEM, "/proc/self/exe or /dev/null: %s", strerror (errno));
    program[n] = 0;
    getrlimit (RLIMIT_NOFILE, &birth.open_files);
    snprintf (argument, sizeof argument, "%d", getpid());
    int segment = shmget (getpid(), 1, IPC_CREAT | IPC_EXCL | 0600), rc = 0;
    ag_cgroups_open (&cgroups, argument);
    uint64_t end_ms = ag_clock_ms() + DEADLINE_MS;
    size_t started = 0;
    while (!rc && started < PROBES) {
        rc = start (&birth, started, program, argument, &trials[started], err);
        started += !rc;
    }
    for (size_t i = 0; i < started; i++)
        finish (&birth, i, &trials[i], end_ms);
    ag_cgroups_close (&cgroups);
    shmctl (segment, IPC_RMID, NULL);
    close (birth.null);
    return rc;
}
