//  Writes worker/jail_filters.h while agsup is built: the system call filters of agsup-worker, so that none is made at
//  a start. Usage: agsup-filters FILE
//  SPDX-License-Identifier: Apache-2.0
#include "worker/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

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
    char *list = strdup (names), *rest = list;
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
fill (scmp_filter_ctx ctx, bool strict, bool files)
{
    uint32_t refusal = strict ? SCMP_ACT_KILL_PROCESS : SCMP_ACT_ERRNO (EPERM);
    const struct bound own[] = {{"tgkill", 0, ALL, AG_FILTER_OWN_PID, LET}};
    int rc = seccomp_attr_set (ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    rc = rc ? rc : seccomp_attr_set (ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    rc = rc ? rc : add_all (ctx, SCMP_ACT_ALLOW, allowed);
    rc = rc ? rc : add_all (ctx, refusal, refused);
    rc = rc ? rc : add_bounds (ctx, bounds, sizeof bounds / sizeof *bounds, refusal);
    rc = rc ? rc : add_bounds (ctx, own, 1, refusal);
    return rc ? rc : add_files (ctx, files, refusal);
}

//  The instructions as initialisers, from a file that holds nothing else.
static int
print_code (int fd, FILE *out)
{
    struct sock_filter code;
    off_t at = 0;
    for (; pread (fd, &code, sizeof code, at) == sizeof code; at += sizeof code)
        fprintf (out, "    {0x%x, %u, %u, 0x%x},\n", code.code, code.jt, code.jf, code.k);
    return at ? 0 : -1;
}

static int
print_filter (bool strict, bool files, FILE *out)
{
    scmp_filter_ctx ctx = seccomp_init (SCMP_ACT_ERRNO (ENOSYS));
    int fd = memfd_create ("filter", MFD_CLOEXEC);
    int rc = !ctx || fd < 0 ? -1 : fill (ctx, strict, files);
    rc = rc ? rc : seccomp_export_bpf (ctx, fd);
    fprintf (out, "static const struct sock_filter %s_%s[] = {\n", strict ? "strict" : "standard",
             files ? "files" : "alone");
    rc = rc ? rc : print_code (fd, out);
    fprintf (out, "};\n");
    seccomp_release (ctx);
    close (fd);
    return rc;
}

int
main (int argc, char **argv)
{
    FILE *out = argc == 2 ? fopen (argv[1], "we") : NULL;
    if (!out)
        return 64;
    fprintf (out, "//  Made by agsup-filters. SPDX-License-Identifier: Apache-2.0\n#include "
                  "<linux/filter.h>\n");
    int rc = 0;
    for (int i = 0; i < 4; i++)
        rc = rc ? rc : print_filter (i & 1, i & 2, out);
    return fclose (out) || rc ? 1 : 0;
}
