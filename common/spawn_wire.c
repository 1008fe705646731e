//  SPDX-License-Identifier: Apache-2.0
#include "common/spawn_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include "common/buf.h"

_Static_assert(AG_IMAGE_SEALS == (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE),
               "the seals of an image are the kernel's");

static void
add_string (struct ag_buf *buf, const char *text)
{
    uint32_t n = (uint32_t)strnlen (text, AG_IMAGE_MAX);
    ag_buf_add (buf, &n, sizeof n);
    ag_buf_add (buf, text, n);
    ag_buf_add (buf, "", 1);
}

//  Counts past the size of an image are cut: the caller refuses what is too large anyway.
static uint32_t
add_list (struct ag_buf *buf, const char *const *list)
{
    uint32_t count = 0;
    for (; list && list[count] && buf->n <= AG_IMAGE_MAX; count++)
        add_string (buf, list[count]);
    return count;
}

static int
sealed_copy (const struct ag_buf *buf, struct ag_err *err)
{
    int fd = memfd_create ("agsup-image", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return ag_fail (err, AG_E_SYSTEM, "memfd_create: %s", strerror (errno));
    for (size_t at = 0; at < buf->n;) {
        ssize_t n = write (fd, buf->p + at, buf->n - at);
        if (n < 0 && errno != EINTR) {
            ag_fail (err, AG_E_SYSTEM, "write of %zu bytes to a memfd: %s", buf->n,
                     strerror (errno));
            close (fd);
            return -1;
        }
        at += n > 0 ? (size_t)n : 0;
    }
    if (fcntl (fd, F_ADD_SEALS, AG_IMAGE_SEALS) < 0) {
        ag_fail (err, AG_E_SYSTEM, "sealing a memfd: %s", strerror (errno));
        close (fd);
        return -1;
    }
    return fd;
}

int
ag_image_new (const struct ag_spawn *spawn, struct ag_err *err)
{
    struct ag_image head = {.magic = AG_IMAGE_MAGIC, .filter_bytes = spawn->filter_bytes};
    struct ag_buf buf = {0};
    ag_buf_add (&buf, &head, sizeof head);
    add_string (&buf, spawn->dir ? spawn->dir : "/");
    head.counts[AG_IMAGE_ARGV] = add_list (&buf, spawn->argv);
    head.counts[AG_IMAGE_ENV] = add_list (&buf, spawn->env);
    head.counts[AG_IMAGE_READABLE] = add_list (&buf, spawn->readable);
    head.counts[AG_IMAGE_OWN] = add_list (&buf, spawn->own);
    head.counts[AG_IMAGE_HIDDEN] = add_list (&buf, spawn->hidden);
    memcpy (buf.p, &head, sizeof head);
    int fd = -1;
    if (buf.n + (size_t)spawn->filter_bytes > AG_IMAGE_MAX) {
        ag_fail (err, AG_E_TOO_LARGE,
                 "arguments, environment and paths of a process need more than %d bytes",
                 AG_IMAGE_MAX);
    } else {
        ag_buf_add (&buf, spawn->filter, spawn->filter_bytes);
        fd = sealed_copy (&buf, err);
    }
    ag_buf_fini (&buf);
    return fd;
}

//  Room for the control message, aligned as the kernel wants it.
union control {
    struct cmsghdr head;
    char room[CMSG_SPACE (sizeof (int) * AG_PACKET_FDS)];
};

int
ag_packet_send (int fd, const void *bytes, size_t n, const int *fds, size_t count)
{
    struct iovec part = {(void *)bytes, n};
    union control control = {0};
    struct msghdr msg = {.msg_iov = &part, .msg_iovlen = 1};
    if (count) {
        msg.msg_control = &control;
        msg.msg_controllen = CMSG_SPACE (sizeof (int) * count);
        control.head = (struct cmsghdr){.cmsg_len = CMSG_LEN (sizeof (int) * count),
                                        .cmsg_level = SOL_SOCKET,
                                        .cmsg_type = SCM_RIGHTS};
        memcpy (CMSG_DATA (&control.head), fds, sizeof (int) * count);
    }
    ssize_t sent;
    do
        sent = sendmsg (fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? -1 : 0;
}

static void
take_descriptors (struct msghdr *msg, int fds[AG_PACKET_FDS])
{
    struct cmsghdr *head = CMSG_FIRSTHDR (msg);
    if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
        return;
    size_t count = (head->cmsg_len - CMSG_LEN (0)) / sizeof (int);
    memcpy (fds, CMSG_DATA (head), sizeof (int) * (count > AG_PACKET_FDS ? AG_PACKET_FDS : count));
}

static void
close_all (int fds[AG_PACKET_FDS])
{
    for (int i = 0; i < AG_PACKET_FDS; i++) {
        if (fds[i] >= 0)
            close (fds[i]);
        fds[i] = -1;
    }
}

int
ag_packet_receive (int fd, void *bytes, size_t n, int fds[AG_PACKET_FDS], bool *lost)
{
    struct iovec part = {bytes, n};
    union control control = {0};
    struct msghdr msg = {.msg_iov = &part,
                         .msg_iovlen = 1,
                         .msg_control = &control,
                         .msg_controllen = sizeof control.room};
    ssize_t got;
    do
        got = recvmsg (fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    for (int i = 0; i < AG_PACKET_FDS; i++)
        fds[i] = -1;
    if (got <= 0)
        return (int)got;
    take_descriptors (&msg, fds);
    *lost = msg.msg_flags & MSG_CTRUNC;
    if (*lost)
        close_all (fds);
    if ((size_t)got == n && !(msg.msg_flags & MSG_TRUNC))
        return 1;
    close_all (fds);
    errno = EBADMSG;
    return -1;
}
