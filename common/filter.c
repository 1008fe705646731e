//  SPDX-License-Identifier: Apache-2.0
#include "common/filter.h"

#include <errno.h>
#include <seccomp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static const int exec_calls[] = {SCMP_SYS (execve), SCMP_SYS (execveat)};

//  What reaches into other processes or into the kernel; no agent has a use for it.
static const int reach_calls[] = {
    SCMP_SYS (ptrace),
    SCMP_SYS (process_vm_readv),
    SCMP_SYS (process_vm_writev),
    SCMP_SYS (pidfd_getfd),
    SCMP_SYS (process_madvise),
    SCMP_SYS (kcmp),
    SCMP_SYS (bpf),
    SCMP_SYS (perf_event_open),
    SCMP_SYS (userfaultfd),
    SCMP_SYS (keyctl),
    SCMP_SYS (add_key),
    SCMP_SYS (request_key),
    SCMP_SYS (mount),
    SCMP_SYS (umount2),
    SCMP_SYS (pivot_root),
    SCMP_SYS (move_mount),
    SCMP_SYS (open_tree),
    SCMP_SYS (fsopen),
    SCMP_SYS (fsmount),
    SCMP_SYS (fsconfig),
    SCMP_SYS (fspick),
    SCMP_SYS (mount_setattr),
    SCMP_SYS (chroot),
    SCMP_SYS (unshare),
    SCMP_SYS (setns),
    SCMP_SYS (swapon),
    SCMP_SYS (swapoff),
    SCMP_SYS (reboot),
    SCMP_SYS (kexec_load),
    SCMP_SYS (kexec_file_load),
    SCMP_SYS (init_module),
    SCMP_SYS (finit_module),
    SCMP_SYS (delete_module),
    SCMP_SYS (open_by_handle_at),
    SCMP_SYS (name_to_handle_at),
    SCMP_SYS (memfd_secret),
    SCMP_SYS (move_pages),
    SCMP_SYS (migrate_pages),
    SCMP_SYS (process_mrelease),
    SCMP_SYS (iopl),
    SCMP_SYS (ioperm),
    SCMP_SYS (syslog),
    SCMP_SYS (settimeofday),
    SCMP_SYS (clock_settime),
    SCMP_SYS (clock_adjtime),
    SCMP_SYS (adjtimex),
    SCMP_SYS (quotactl),
    SCMP_SYS (acct),
};

//  What libraries try first and do without where it is missing.
static const int absent_calls[] = {SCMP_SYS (clone3), SCMP_SYS (io_uring_setup),
                                   SCMP_SYS (io_uring_enter), SCMP_SYS (io_uring_register)};

static int
deny (scmp_filter_ctx context, uint32_t action, const int *calls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (seccomp_rule_add (context, action, calls[i], 0))
            return -1;
    return 0;
}

//  Sockets of any kind but these. Arguments are compared in 64 bits and the kernel looks at 32: what has a bit
//  above is of no allowed kind.
static int
deny_sockets (scmp_filter_ctx context, bool internet)
{
    static const uint64_t strange[] = {0, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15};
    const uint32_t no = SCMP_ACT_ERRNO (EPERM);
    if (!internet)
        return seccomp_rule_add (context, no, SCMP_SYS (socket), 1,
                                 SCMP_A0 (SCMP_CMP_NE, AF_UNIX, 0));
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++)
        if (seccomp_rule_add (context, no, SCMP_SYS (socket), 1,
                              SCMP_A0 (SCMP_CMP_EQ, strange[i], 0)))
            return -1;
    return seccomp_rule_add (context, no, SCMP_SYS (socket), 1,
                             SCMP_A0 (SCMP_CMP_GT, AF_NETLINK, 0));
}

//  Words put into a terminal as if they were typed there; asking for a personality is no harm, taking one is.
static int
deny_words (scmp_filter_ctx context, uint32_t action)
{
    enum { STICKS = 0x5412, LINUX = 0x541c, ALL = 0xffffffff };
    return seccomp_rule_add (context, SCMP_ACT_ERRNO (EPERM), SCMP_SYS (ioctl), 1,
                             SCMP_A1 (SCMP_CMP_MASKED_EQ, ALL, STICKS)) ||
           seccomp_rule_add (context, SCMP_ACT_ERRNO (EPERM), SCMP_SYS (ioctl), 1,
                             SCMP_A1 (SCMP_CMP_MASKED_EQ, ALL, LINUX)) ||
           seccomp_rule_add (context, action, SCMP_SYS (personality), 1,
                             SCMP_A0 (SCMP_CMP_NE, ALL, 0));
}

//  New namespaces through clone; clone3 hides its flags behind a pointer, and is absent.
static int
deny_namespaces (scmp_filter_ctx context, uint32_t action)
{
    static const uint64_t flags[] = {0x10000000, 0x20000000, 0x40000000, 0x00020000,
                                     0x04000000, 0x08000000, 0x02000000};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (seccomp_rule_add (context, action, SCMP_SYS (clone), 1,
                              SCMP_A0 (SCMP_CMP_MASKED_EQ, flags[i], flags[i])))
            return -1;
    return 0;
}

static int
fill_program (scmp_filter_ctx context, bool strict)
{
    uint32_t action = strict ? SCMP_ACT_KILL_PROCESS : SCMP_ACT_ERRNO (EPERM);
    return deny (context, action, reach_calls, sizeof reach_calls / sizeof *reach_calls) ||
                   deny (context, SCMP_ACT_ERRNO (ENOSYS), absent_calls,
                         sizeof absent_calls / sizeof *absent_calls) ||
                   deny_namespaces (context, action) || deny_words (context, action)
               ? -1
               : 0;
}

static int
fill (scmp_filter_ctx context, enum ag_filter filter, bool strict)
{
    bool program = filter == AG_FILTER_PROGRAM || filter == AG_FILTER_NETWORK;
    if (!program &&
        deny (context, SCMP_ACT_ERRNO (EPERM), exec_calls, sizeof exec_calls / sizeof *exec_calls))
        return -1;
    if (filter != AG_FILTER_BROKER && deny_sockets (context, filter == AG_FILTER_NETWORK))
        return -1;
    return program ? fill_program (context, strict) : 0;
}

static scmp_filter_ctx
make (enum ag_filter filter, bool strict, struct ag_err *err)
{
    scmp_filter_ctx context = seccomp_init (SCMP_ACT_ALLOW);
    if (!context || seccomp_attr_set (context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) ||
        fill (context, filter, strict)) {
        seccomp_release (context);
        ag_fail (err, AG_E_SYSTEM, "a system call filter cannot be made on this machine");
        return NULL;
    }
    return context;
}

int
ag_filter_enter (enum ag_filter filter, struct ag_err *err)
{
    scmp_filter_ctx context = make (filter, false, err);
    if (!context)
        return -1;
    int rc = seccomp_attr_set (context, SCMP_FLTATR_CTL_TSYNC, 1);
    if (!rc)
        rc = seccomp_load (context);
    seccomp_release (context);
    return rc ? ag_fail (err, AG_E_SYSTEM, "the system call filter is not in force: %s",
                         strerror (-rc))
              : 0;
}

int
ag_filter_export (enum ag_filter filter, bool strict, struct ag_buf *out, struct ag_err *err)
{
    scmp_filter_ctx context = make (filter, strict, err);
    int fd = context ? memfd_create ("filter", MFD_CLOEXEC) : -1;
    int rc = fd < 0 ? -1 : seccomp_export_bpf (context, fd);
    off_t size = rc ? 0 : lseek (fd, 0, SEEK_END);
    if (size > 0 && pread (fd, ag_buf_grow (out, (size_t)size), (size_t)size, 0) != size)
        rc = -1;
    if (fd >= 0)
        close (fd);
    if (context)
        seccomp_release (context);
    return rc || size <= 0 ? ag_fail (err, AG_E_SYSTEM, "a system call filter cannot be exported")
                           : 0;
}
