//  SPDX-License-Identifier: Apache-2.0
#include "worker/jail.h"

#include "common/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 }; //  their run time opens files, makes threads and traces itself
#else
enum { SANITIZED = 0 };
#endif

//  Access rights of files that each ABI added; the headers of this system know fewer than the kernel.
static const uint64_t fs_rights[] = {
    [1] = (1u << 13) - 1, //  execute, write, read, and all that makes or removes a name
    [2] = 1u << 13,       //  rename and link across directories
    [3] = 1u << 14,       //  truncate
    [5] = 1u << 15,       //  ioctl on devices
};

//  The kernel's struct as of ABI 6; an older kernel is given the part that it knows.
struct ruleset {
    uint64_t fs, net, scoped;
};

static struct ruleset
everything (long abi, size_t *size)
{
    struct ruleset rules = {0};
    for (long i = 0; i <= abi && i < (long)(sizeof fs_rights / sizeof *fs_rights); i++)
        rules.fs |= fs_rights[i];
    rules.net = abi >= 4 ? 3 : 0;    //  bind and connect of TCP
    rules.scoped = abi >= 6 ? 3 : 0; //  abstract sockets and signals
    *size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
    return rules;
}

static int
allow_reading (int ruleset, const char *directory, struct ag_err *err)
{
    struct landlock_path_beneath_attr rule = {
        .allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
        .parent_fd = open (directory, O_PATH | O_DIRECTORY | O_CLOEXEC)};
    if (rule.parent_fd < 0)
        return ag_fail (err, AG_E_CONFIG,
                        "granted directory %s: user id %u, as which this agent runs, cannot reach "
                        "it: %s",
                        directory, geteuid(), strerror (errno));
    long rc = syscall (SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    int no = errno;
    close (rule.parent_fd);
    return rc ? ag_fail (err, AG_E_SYSTEM, "Landlock rule for %s: %s", directory, strerror (no))
              : 0;
}

static int
allow_each (int ruleset, const char *directories, int *count, struct ag_err *err)
{
    char *list = ag_xstrdup (directories), *rest = list;
    int rc = 0;
    for (char *directory; !rc && (directory = strsep (&rest, ":"));)
        if (*directory) {
            rc = allow_reading (ruleset, directory, err);
            ++*count;
        }
    free (list);
    return rc;
}

static int
no_new_privileges (struct ag_err *err)
{
    if (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return ag_fail (err, AG_E_SYSTEM, "no_new_privs: %s", strerror (errno));
    return 0;
}

static int
restrict_to (long abi, const char *directories, int *count, struct ag_err *err)
{
    size_t size;
    struct ruleset rules = everything (abi, &size);
    int ruleset = (int)syscall (SYS_landlock_create_ruleset, &rules, size, 0);
    if (ruleset < 0)
        return ag_fail (err, AG_E_SYSTEM, "Landlock ruleset: %s", strerror (errno));
    int rc = allow_each (ruleset, directories, count, err);
    if (!rc && syscall (SYS_landlock_restrict_self, ruleset, 0))
        rc = ag_fail (err, AG_E_SYSTEM, "Landlock: %s", strerror (errno));
    close (ruleset);
    return rc;
}

int
ag_jail_files (const char *directories, struct ag_walls *walls, struct ag_err *err)
{
    long abi = syscall (SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    const char *why = SANITIZED ? "sanitizer build" : abi < 1 ? strerror (errno) : NULL;
    if (why) {
        snprintf (walls->landlock, sizeof walls->landlock, "off: %s", why);
        return 0;
    }
    int count = 0;
    if (no_new_privileges (err) || restrict_to (abi, directories ? directories : "", &count, err))
        return -1;
    snprintf (walls->landlock, sizeof walls->landlock, "abi %ld: read below %d directories", abi,
              count);
    return 0;
}

//  What a script host needs with its socket made: ZeroMQ's threads (one of which may only be starting),
//  memory, time, the way out.
static const char allowed[] =
    "brk clock_gettime clock_nanosleep close epoll_ctl epoll_pwait epoll_wait exit "
    "exit_group fstat futex getpid getrandom gettid lseek madvise mremap munmap "
    "nanosleep newfstatat poll ppoll read readv recvfrom recvmsg restart_syscall rseq "
    "rt_sigprocmask rt_sigreturn sched_getaffinity sched_getparam sched_getscheduler "
    "sched_yield sendmsg sendto set_robust_list shutdown sigaltstack statx sysinfo write "
    "writev";

//  What only an intruder asks for. What is in neither list answers ENOSYS, as on a kernel without it:
//  clone3 must, or glibc does not fall back; what this libseccomp has no name for does.
static const char refused[] =
    "accept accept4 add_key bind bpf chmod chown chroot clock_settime clone connect "
    "creat execve execveat fchmod fchmodat fchown fchownat finit_module fork fsmount "
    "fsopen ftruncate init_module io_uring_enter io_uring_register io_uring_setup kcmp "
    "kexec_load keyctl kill lchown link linkat listen memfd_create memfd_secret mkdir "
    "mkdirat mknod mknodat mount mount_setattr move_mount mq_open msgget "
    "name_to_handle_at open_by_handle_at open_tree perf_event_open personality "
    "pidfd_getfd pidfd_open pidfd_send_signal pivot_root prlimit64 process_vm_readv "
    "process_vm_writev ptrace reboot rename renameat renameat2 request_key "
    "rt_sigqueueinfo rt_tgsigqueueinfo seccomp semget setgid setns setpriority setresgid "
    "setresuid setrlimit settimeofday setuid shmget socket socketpair symlink symlinkat "
    "tkill truncate umount2 unlink unlinkat unshare userfaultfd vfork";

static int
add_all (scmp_filter_ctx ctx, uint32_t action, const char *names)
{
    char *list = ag_xstrdup (names), *rest = list;
    int rc = 0;
    for (char *name; !rc && (name = strsep (&rest, " "));) {
        int number = seccomp_syscall_resolve_name (name);
        rc = number < 0 ? 0 : seccomp_rule_add (ctx, action, number, 0);
    }
    free (list);
    return rc;
}

//  A call that is let through, or refused, only while (argument & mask) == value. Arguments here are 32
//  bits wide in the kernel, so a mask never covers more: a plain compare would be passed by the same
//  value with a bit set above.
struct bound {
    const char *name;
    unsigned argument;
    uint32_t mask, value;
    enum { LET, REFUSE, DENY } verdict; //  DENY answers EPERM in both profiles
};

enum {
    ALL = 0xffffffff,
    READING = O_CLOEXEC | O_NONBLOCK | O_DIRECTORY | O_NOFOLLOW | O_LARGEFILE,
};

static const struct bound bounds[] = {
    {"mmap", 2, PROT_EXEC, 0, LET},         {"mmap", 2, PROT_EXEC, PROT_EXEC, REFUSE},
    {"mprotect", 2, PROT_EXEC, 0, LET},     {"mprotect", 2, PROT_EXEC, PROT_EXEC, REFUSE},
    {"fcntl", 1, ALL, F_GETFD, LET},        {"fcntl", 1, ALL, F_SETFD, LET},
    {"fcntl", 1, ALL, F_GETFL, LET},        {"fcntl", 1, ALL, F_SETFL, LET},
    {"prctl", 0, ALL, PR_SET_NAME, LET},    {"sched_setscheduler", 1, ALL, SCHED_OTHER, LET},
    {"rt_sigaction", 0, ALL, SIGABRT, LET}, //  abort () of a failed assertion
};

//  With files an open for reading is left and any other is denied. Not refused: glibc itself may look
//  for a time zone.
static const struct bound opens[] = {
    {"openat", 2, ALL & ~(unsigned)READING, O_RDONLY, LET},
    {"openat", 2, O_WRONLY, O_WRONLY, DENY},
    {"openat", 2, O_RDWR, O_RDWR, DENY},
    {"openat", 2, O_PATH, O_PATH, DENY},
};

static int
add_bounds (scmp_filter_ctx ctx, const struct bound *list, size_t count, uint32_t refusal)
{
    int rc = 0;
    for (size_t i = 0; !rc && i < count; i++) {
        const uint32_t actions[] = {SCMP_ACT_ALLOW, refusal, SCMP_ACT_ERRNO (EPERM)};
        rc = seccomp_rule_add (
            ctx, actions[list[i].verdict], seccomp_syscall_resolve_name (list[i].name), 1,
            SCMP_CMP (list[i].argument, SCMP_CMP_MASKED_EQ, list[i].mask, list[i].value));
    }
    return rc;
}

static int
add_files (scmp_filter_ctx ctx, bool files, uint32_t refusal)
{
    if (!files)
        return seccomp_rule_add (ctx, SCMP_ACT_ERRNO (EPERM), SCMP_SYS (openat), 0);
    int rc = seccomp_rule_add (ctx, SCMP_ACT_ALLOW, SCMP_SYS (getdents64), 0);
    return rc ? rc : add_bounds (ctx, opens, sizeof opens / sizeof *opens, refusal);
}

static int
fill (scmp_filter_ctx ctx, enum ag_profile profile, bool files)
{
    uint32_t refusal =
        profile == AG_PROFILE_STRICT ? SCMP_ACT_KILL_PROCESS : SCMP_ACT_ERRNO (EPERM);
    const struct bound own[] = {{"tgkill", 0, ALL, (uint32_t)getpid(), LET}};
    int rc = seccomp_attr_set (ctx, SCMP_FLTATR_CTL_TSYNC, 1);
    rc = rc ? rc : seccomp_attr_set (ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    rc = rc ? rc : seccomp_attr_set (ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    rc = rc ? rc : add_all (ctx, SCMP_ACT_ALLOW, allowed);
    rc = rc ? rc : add_all (ctx, refusal, refused);
    rc = rc ? rc : add_bounds (ctx, bounds, sizeof bounds / sizeof *bounds, refusal);
    rc = rc ? rc : add_bounds (ctx, own, 1, refusal);
    return rc ? rc : add_files (ctx, files, refusal);
}

static const char *const profiles[] = {"off", "standard", "strict"};

int
ag_profile_of (const char *name)
{
    for (int i = AG_PROFILE_OFF; i <= AG_PROFILE_STRICT; i++)
        if (!strcmp (name, profiles[i]))
            return i;
    return -1;
}

int
ag_jail_calls (enum ag_profile profile, bool files, struct ag_walls *walls, struct ag_err *err)
{
    const char *why = SANITIZED ? "off: sanitizer build" : profile ? NULL : "off: not asked for";
    snprintf (walls->seccomp, sizeof walls->seccomp, "%s", why ? why : profiles[profile]);
    if (why)
        return 0;
    scmp_filter_ctx ctx = seccomp_init (SCMP_ACT_ERRNO (ENOSYS));
    int rc = ctx ? fill (ctx, profile, files) : -ENOMEM;
    rc = rc ? rc : seccomp_load (ctx);
    seccomp_release (ctx);
    return rc ? ag_fail (err, AG_E_SYSTEM, "seccomp filter: %s", strerror (-rc)) : 0;
}
