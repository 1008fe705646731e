/*  raw_test - a peer that speaks ZMTP by hand, for what a libzmq peer would never send.
 *
 *  For tests only. Every function is blocking and small; 0 or -1.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_RAW_TEST_H
#define AG_RAW_TEST_H
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { RAW_MORE = 1, RAW_LONG = 2, RAW_COMMAND = 4 };

static inline int
raw_write (int fd, const void *bytes, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t rc = send (fd, (const char *)bytes + done, n - done, MSG_NOSIGNAL);
        if (rc <= 0)
            return -1;
        done += (size_t)rc;
    }
    return 0;
}

//  A connection without a word said; -1.
static inline int
raw_connect (const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t n = strlen (path);
    if (n >= sizeof address.sun_path)
        return -1;
    memcpy (address.sun_path, path, n);
    int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect (fd, (struct sockaddr *)&address, sizeof address)) {
        close (fd);
        return -1;
    }
    return fd;
}

//  Greeting and READY of ZMTP 3.0 with the NULL mechanism; reads what the other side says of both.
static inline int
raw_handshake (int fd, const char *type)
{
    unsigned char greeting[64] = {0xff, [9] = 0x7f, 3, 0, 'N', 'U', 'L', 'L'};
    unsigned char theirs[64], ready[64] = "\x04\0\x05READY\x0bSocket-Type\0\0\0";
    size_t n = strlen (type), at = 2 + 6 + 12 + 3;
    ready[at++] = (unsigned char)n;
    memcpy (ready + at, type, n);
    ready[1] = (unsigned char)(at + n - 2);
    if (raw_write (fd, greeting, sizeof greeting) ||
        recv (fd, theirs, sizeof theirs, MSG_WAITALL) != sizeof theirs)
        return -1;
    unsigned char head[2];
    if (raw_write (fd, ready, at + n) || recv (fd, head, 2, MSG_WAITALL) != 2)
        return -1;
    if (head[0] != RAW_COMMAND || head[1] > sizeof theirs)
        return -1;
    if (recv (fd, theirs, head[1], MSG_WAITALL) != head[1])
        return -1;
    return memcmp (theirs, "\5READY", 6) ? -1 : 0; //  "\5ERROR": not admitted
}

//  The head of a frame of claimed length, then n bytes of it; a short one in one piece, as the other side may
//  close the connection when it has read the head.
static inline int
raw_frame (int fd, int flags, uint64_t claimed, const void *bytes, size_t n)
{
    enum { HEAD = 9, FIRST = 4096 };
    unsigned char piece[HEAD + FIRST] = {(unsigned char)(flags | RAW_LONG)};
    size_t first = n < FIRST ? n : FIRST;
    for (int i = 8; i > 0; i--, claimed >>= 8)
        piece[i] = (unsigned char)claimed;
    if (first)
        memcpy (piece + HEAD, bytes, first);
    if (raw_write (fd, piece, HEAD + first))
        return -1;
    return raw_write (fd, (const char *)bytes + first, n - first);
}

//  True when the other side closed the connection within wait_ms.
static inline int
raw_is_cut (int fd, int wait_ms)
{
    char bytes[4096];
    struct timeval patience = {wait_ms / 1000, wait_ms % 1000 * 1000};
    setsockopt (fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ssize_t n;
    while ((n = recv (fd, bytes, sizeof bytes, 0)) > 0)
        continue;
    return n == 0 || errno == ECONNRESET; //  reset: with input of ours unread
}
#endif
