/*  nth - makes the n-th call of one kind fail, once, in one program: a library for LD_PRELOAD.
 *
 *  AG_NTH says what: "PROGRAM KIND N ERRNO FILE". KIND is write, sync, open, rename, alloc or send; calls are
 *  counted from the start of the first process of that name, writes and syncs only where they go to files. When
 *  it fails the call it makes FILE, which tells what was hit; where FILE is there already nothing fails, so a
 *  process that comes after is left alone. For tests/house/nth_test.py; no program knows of it.
 *  SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { NONE, WRITE, SYNC, OPEN, RENAME, ALLOC, SEND };
static const char *const kinds[] = {"none", "write", "sync", "open", "rename", "alloc", "send"};

static struct {
    enum kind kind; //  NONE: this process is left alone
    long n;
    int error;
    char file[PATH_MAX];
} wanted;
static atomic_long count;

static void __attribute__ ((constructor)) begin (void)
{
    char program[64], kind[16];
    const char *text = getenv ("AG_NTH");
    if (!text || sscanf (text, "%63s %15s %ld %d %4095s", program, kind, &wanted.n, &wanted.error,
                         wanted.file) != 5)
        return;
    if (strcmp (program, program_invocation_short_name) || !access (wanted.file, F_OK))
        return;
    for (size_t i = 1; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp (kind, kinds[i]))
            wanted.kind = (enum kind)i;
}

//  By system calls alone: this may be in the middle of an allocation.
static void
report (const char *what)
{
    long fd = syscall (SYS_openat, AT_FDCWD, wanted.file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    syscall (SYS_write, fd, what, strlen (what));
    syscall (SYS_close, fd);
}

//  Whether this call is the one; errno is set then.
static bool
fails (enum kind kind, const char *what)
{
    if (wanted.kind != kind || atomic_fetch_add (&count, 1) + 1 != wanted.n)
        return false;
    report (what);
    errno = wanted.error;
    return true;
}

//  The same for a call on a descriptor: those of no file are not counted.
static bool
fails_at (enum kind kind, int fd)
{
    struct stat info;
    char link[32], path[PATH_MAX];
    if (wanted.kind != kind || fstat (fd, &info) ||
        (!S_ISREG (info.st_mode) && !S_ISDIR (info.st_mode)))
        return false;
    snprintf (link, sizeof link, "/proc/self/fd/%d", fd);
    long n = syscall (SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    return fails (kind, path);
}

//  What stands behind one of ours.
#define REAL(name) ((__typeof__ (&name))dlsym (RTLD_NEXT, #name))

ssize_t
write (int fd, const void *bytes, size_t n)
{
    return fails_at (WRITE, fd) ? -1 : REAL (write) (fd, bytes, n);
}

ssize_t
pwrite (int fd, const void *bytes, size_t n, off_t at)
{
    return fails_at (WRITE, fd) ? -1 : REAL (pwrite) (fd, bytes, n, at);
}

ssize_t
pwrite64 (int fd, const void *bytes, size_t n, off64_t at)
{
    return fails_at (WRITE, fd) ? -1 : REAL (pwrite64) (fd, bytes, n, at);
}

ssize_t
writev (int fd, const struct iovec *parts, int n)
{
    return fails_at (WRITE, fd) ? -1 : REAL (writev) (fd, parts, n);
}

int
fallocate (int fd, int mode, off_t at, off_t n)
{
    return fails_at (WRITE, fd) ? -1 : REAL (fallocate) (fd, mode, at, n);
}

int
ftruncate (int fd, off_t n)
{
    return fails_at (WRITE, fd) ? -1 : REAL (ftruncate) (fd, n);
}

int
fsync (int fd)
{
    return fails_at (SYNC, fd) ? -1 : REAL (fsync) (fd);
}

int
fdatasync (int fd)
{
    return fails_at (SYNC, fd) ? -1 : REAL (fdatasync) (fd);
}

int
sync_file_range (int fd, off64_t at, off64_t n, unsigned flags)
{
    return fails_at (SYNC, fd) ? -1 : REAL (sync_file_range) (fd, at, n, flags);
}

//  The mode is the last argument where there is one, and harmless where there is none.
#define OPENS(name, parameters, path, ...)                                                         \
    int name parameters                                                                            \
    {                                                                                              \
        va_list list;                                                                              \
        va_start (list, flags);                                                                    \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg (list, mode_t) : 0;                   \
        va_end (list);                                                                             \
        return fails (OPEN, path) ? -1 : REAL (name) (__VA_ARGS__, mode);                          \
    }
OPENS (open, (const char *path, int flags, ...), path, path, flags)
OPENS (open64, (const char *path, int flags, ...), path, path, flags)
OPENS (openat, (int at, const char *path, int flags, ...), path, at, path, flags)
OPENS (openat64, (int at, const char *path, int flags, ...), path, at, path, flags)

FILE *
fopen (const char *path, const char *mode)
{
    return fails (OPEN, path) ? NULL : REAL (fopen) (path, mode);
}

int
rename (const char *from, const char *to)
{
    return fails (RENAME, to) ? -1 : REAL (rename) (from, to);
}

//  A broken pipe is broken for whoever reads, too.
static bool
fails_to_send (int fd, const char *what)
{
    bool hit = fails (SEND, what);
    if (hit && errno == EPIPE) {
        shutdown (fd, SHUT_RDWR);
        errno = EPIPE;
    }
    return hit;
}

ssize_t
send (int fd, const void *bytes, size_t n, int flags)
{
    return fails_to_send (fd, "send") ? -1 : REAL (send) (fd, bytes, n, flags);
}

ssize_t
sendto (int fd, const void *bytes, size_t n, int flags, const struct sockaddr *to, socklen_t size)
{
    return fails_to_send (fd, "sendto") ? -1 : REAL (sendto) (fd, bytes, n, flags, to, size);
}

ssize_t
sendmsg (int fd, const struct msghdr *message, int flags)
{
    return fails_to_send (fd, "sendmsg") ? -1 : REAL (sendmsg) (fd, message, flags);
}

/*  Allocation: dlsym allocates, so glibc's own names are taken.  */

extern void *__libc_malloc (size_t n);
extern void *__libc_calloc (size_t count, size_t n);
extern void *__libc_realloc (void *old, size_t n);
extern void *__libc_memalign (size_t align, size_t n);

void *
malloc (size_t n)
{
    return fails (ALLOC, "malloc") ? NULL : __libc_malloc (n);
}

void *
calloc (size_t members, size_t n)
{
    return fails (ALLOC, "calloc") ? NULL : __libc_calloc (members, n);
}

void *
realloc (void *old, size_t n)
{
    return fails (ALLOC, "realloc") ? NULL : __libc_realloc (old, n);
}

int
posix_memalign (void **out, size_t align, size_t n)
{
    if (fails (ALLOC, "posix_memalign"))
        return ENOMEM;
    *out = __libc_memalign (align, n);
    return *out ? 0 : ENOMEM;
}
