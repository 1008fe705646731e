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
    SCMP_SYS (io_uring_setup),
    SCMP_SYS (io_uring_enter),
    SCMP_SYS (io_uring_register),
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
    SCMP_SYS (mount_setattr),
    SCMP_SYS (chroot),
    SCMP_SYS (unshare),
    SCMP_SYS (setns),
    SCMP_SYS (swapon),
    SCMP_SYS (swapoff),
    SCMP_SYS (reboot),
    SCMP_SYS (kexec_load),
    SCMP_SYS (init_module),
    SCMP_SYS (finit_module),
    SCMP_SYS (delete_module),
    SCMP_SYS (open_by_handle_at),
    SCMP_SYS (settimeofday),
    SCMP_SYS (clock_settime),
    SCMP_SYS (personality),
    SCMP_SYS (quotactl),
    SCMP_SYS (acct),
};

static int
deny (scmp_filter_ctx context, const int *calls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (seccomp_rule_add (context, SCMP_ACT_ERRNO (EPERM), calls[i], 0))
            return -1;
    return 0;
}

//  Sockets of the internet and of everything stranger than it. Arguments are compared in 32 bits, as the
//  kernel takes them.
static int
deny_internet (scmp_filter_ctx context)
{
    return seccomp_rule_add (context, SCMP_ACT_ERRNO (EPERM), SCMP_SYS (socket), 1,
                             SCMP_A0 (SCMP_CMP_MASKED_EQ, 0xffffffff, AF_INET)) ||
           seccomp_rule_add (context, SCMP_ACT_ERRNO (EPERM), SCMP_SYS (socket), 1,
                             SCMP_A0 (SCMP_CMP_MASKED_EQ, 0xffffffff, AF_INET6)) ||
           seccomp_rule_add (context, SCMP_ACT_ERRNO (EPERM), SCMP_SYS (socket), 1,
                             SCMP_A0 (SCMP_CMP_MASKED_EQ, 0xffffffff, AF_NETLINK)) ||
           seccomp_rule_add (context, SCMP_ACT_ERRNO (EPERM), SCMP_SYS (socket), 1,
                             SCMP_A0 (SCMP_CMP_MASKED_EQ, 0xffffffff, AF_PACKET)) ||
           seccomp_rule_add (context, SCMP_ACT_ERRNO (EPERM), SCMP_SYS (socket), 1,
                             SCMP_A0 (SCMP_CMP_MASKED_EQ, 0xffffffff, AF_VSOCK));
}

//  New namespaces through clone; clone3 hides its flags behind a pointer.
static int
deny_namespaces (scmp_filter_ctx context)
{
    static const uint64_t flags[] = {0x10000000, 0x20000000, 0x40000000, 0x00020000,
                                     0x04000000, 0x08000000, 0x02000000};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (seccomp_rule_add (context, SCMP_ACT_ERRNO (EPERM), SCMP_SYS (clone), 1,
                              SCMP_A0 (SCMP_CMP_MASKED_EQ, flags[i], flags[i])))
            return -1;
    return seccomp_rule_add (context, SCMP_ACT_ERRNO (ENOSYS), SCMP_SYS (clone3), 0);
}

static int
fill (scmp_filter_ctx context, enum ag_filter filter)
{
    bool program = filter == AG_FILTER_PROGRAM || filter == AG_FILTER_NETWORK;
    if (!program && deny (context, exec_calls, sizeof exec_calls / sizeof *exec_calls))
        return -1;
    if (filter != AG_FILTER_BROKER && filter != AG_FILTER_NETWORK && deny_internet (context))
        return -1;
    return program ? deny (context, reach_calls, sizeof reach_calls / sizeof *reach_calls) ||
                         deny_namespaces (context)
                   : 0;
}

static scmp_filter_ctx
make (enum ag_filter filter, struct ag_err *err)
{
    scmp_filter_ctx context = seccomp_init (SCMP_ACT_ALLOW);
    if (!context || fill (context, filter)) {
        seccomp_release (context);
        ag_fail (err, AG_E_SYSTEM, "a system call filter cannot be made on this machine");
        return NULL;
    }
    return context;
}

int
ag_filter_enter (enum ag_filter filter, struct ag_err *err)
{
    scmp_filter_ctx context = make (filter, err);
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
ag_filter_export (enum ag_filter filter, struct ag_buf *out, struct ag_err *err)
{
    scmp_filter_ctx context = make (filter, err);
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
