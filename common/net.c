//  SPDX-License-Identifier: Apache-2.0
#include "common/net.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

void *
ag_net_context (void)
{
    void *context = zmq_ctx_new();
    assert (context);
    return context;
}

static void
set (void *socket, int option, int value)
{
    int rc = zmq_setsockopt (socket, option, &value, sizeof value);
    assert (rc == 0);
}

void *
ag_net_socket (void *context, const struct ag_net *want)
{
    assert (want->hwm_in > 0 && want->hwm_out > 0);
    void *socket = zmq_socket (context, want->type);
    assert (socket);
    set (socket, ZMQ_LINGER, AG_NET_LINGER_MS);
    set (socket, ZMQ_RCVHWM, want->hwm_in);
    set (socket, ZMQ_SNDHWM, want->hwm_out);
    set (socket, ZMQ_HANDSHAKE_IVL, AG_NET_HANDSHAKE_MS);
    int64_t largest = AG_NET_FRAME_BYTES;
    int rc = zmq_setsockopt (socket, ZMQ_MAXMSGSIZE, &largest, sizeof largest);
    assert (rc == 0);
    if (want->type == ZMQ_ROUTER)
        set (socket, ZMQ_ROUTER_MANDATORY, 1);
    if (want->domain) {
        rc = zmq_setsockopt (socket, ZMQ_ZAP_DOMAIN, want->domain, strlen (want->domain));
        assert (rc == 0);
    }
    return socket;
}

void
ag_net_watch (void *socket)
{
    set (socket, ZMQ_HEARTBEAT_IVL, AG_NET_BEAT_MS);
    set (socket, ZMQ_HEARTBEAT_TIMEOUT, AG_NET_SILENCE_MS);
}

static int
check_path (const char *path, struct ag_err *err)
{
    size_t n = strlen (path);
    if (n > AG_NET_PATH)
        return ag_fail (err, AG_E_CONFIG, "the socket path %s has %zu bytes, %d is the most", path,
                        n, AG_NET_PATH);
    return 0;
}

//  libzmq deletes whatever lies at the path, a file of the user too.
static int
check_free (const char *path, struct ag_err *err)
{
    struct stat st;
    if (!lstat (path, &st))
        return S_ISSOCK (st.st_mode)
                   ? 0
                   : ag_fail (err, AG_E_EXISTS, "%s exists and is not a socket", path);
    return errno == ENOENT ? 0 : ag_fail (err, AG_E_SYSTEM, "lstat %s: %s", path, strerror (errno));
}

int
ag_net_bind (void *socket, const char *path, mode_t mode, struct ag_err *err)
{
    if (check_path (path, err) || check_free (path, err))
        return -1;
    char endpoint[AG_NET_PATH + 8];
    snprintf (endpoint, sizeof endpoint, "ipc://%s", path);
    mode_t before = umask (077);
    int rc = zmq_bind (socket, endpoint), no = errno;
    umask (before);
    if (rc)
        return ag_fail (err, AG_E_SYSTEM, "bind %s: %s", endpoint, zmq_strerror (no));
    if (chmod (path, mode))
        return ag_fail (err, AG_E_SYSTEM, "chmod %s: %s", path, strerror (errno));
    return 0;
}

void
ag_net_unbind (void *socket, const char *path)
{
    struct ag_err err;
    char endpoint[AG_NET_PATH + 8];
    snprintf (endpoint, sizeof endpoint, "ipc://%s", path);
    zmq_unbind (socket, endpoint);
    if (!check_free (path, &err)) //  what kept us from binding stays
        unlink (path);
}

int
ag_net_connect (void *socket, const char *path, struct ag_err *err)
{
    if (check_path (path, err))
        return -1;
    char endpoint[AG_NET_PATH + 8];
    snprintf (endpoint, sizeof endpoint, "ipc://%s", path);
    if (zmq_connect (socket, endpoint))
        return ag_fail (err, AG_E_SYSTEM, "connect %s: %s", endpoint, zmq_strerror (errno));
    return 0;
}

//  One number and the separator or end after it.
static int
number (const char **at, const char *end, unsigned long *value)
{
    if (*at == end || **at < '0' || **at > '9')
        return -1;
    for (*value = 0; *at < end && **at >= '0' && **at <= '9'; ++*at) {
        *value = *value * 10 + (unsigned long)(**at - '0');
        if (*value > UINT32_MAX)
            return -1;
    }
    if (*at < end && *(*at)++ != ':')
        return -1;
    return 0;
}

int
ag_peer_parse (struct ag_str address, struct ag_peer *peer)
{
    *peer = (struct ag_peer){.pid = 0, .uid = (uid_t)-1, .fd = -1};
    if (!ag_str_starts (address, "localhost:"))
        return -1;
    const char *at = address.p + strlen ("localhost:"), *end = address.p + address.n;
    unsigned long uid, gid, pid;
    if (number (&at, end, &uid) || number (&at, end, &gid) || number (&at, end, &pid) || at != end)
        return -1;
    peer->uid = (uid_t)uid;
    peer->pid = (pid_t)pid;
    return 0;
}

static struct ag_peer
peer_of (zmq_msg_t *message)
{
    struct ag_peer peer;
    const char *address = zmq_msg_gets (message, "Peer-Address");
    ag_peer_parse (ag_str (address), &peer);
    peer.fd = zmq_msg_get (message, ZMQ_SRCFD);
    return peer;
}

static int
recv_frame (void *socket, zmq_msg_t *frame)
{
    int rc;
    zmq_msg_init (frame);
    do
        rc = zmq_msg_recv (frame, socket, ZMQ_DONTWAIT);
    while (rc < 0 && errno == EINTR);
    if (rc < 0)
        zmq_msg_close (frame);
    return rc < 0 ? -1 : 0;
}

//  Throw away the rest of a message of which last is the newest frame; libzmq has all of it.
static void
drain (void *socket, bool more)
{
    zmq_msg_t frame;
    while (more && !recv_frame (socket, &frame)) {
        more = zmq_msg_more (&frame);
        zmq_msg_close (&frame);
    }
}

int
ag_net_recv (void *socket, size_t max_bytes, struct ag_parts *parts, struct ag_err *err)
{
    *parts = (struct ag_parts){.peer.fd = -1};
    bool more = true;
    while (more && parts->count < AG_NET_FRAMES && parts->bytes <= max_bytes) {
        zmq_msg_t *frame = &parts->frame[parts->count];
        if (recv_frame (socket, frame))
            break;
        parts->count++;
        parts->bytes += zmq_msg_size (frame);
        more = zmq_msg_more (frame);
    }
    if (!parts->count)
        return 0;
    parts->peer = peer_of (&parts->frame[parts->count - 1]);
    if (!more && parts->bytes <= max_bytes)
        return 1;
    drain (socket, more);
    if (parts->bytes > max_bytes)
        zmq_msg_close (&parts->frame[--parts->count]);
    return ag_fail (err, AG_E_TOO_LARGE, "a message of more than %d frames or %zu bytes",
                    AG_NET_FRAMES, max_bytes);
}

struct ag_str
ag_part (struct ag_parts *parts, size_t index)
{
    assert (index < parts->count);
    return (struct ag_str){zmq_msg_data (&parts->frame[index]),
                           zmq_msg_size (&parts->frame[index])};
}

void
ag_parts_fini (struct ag_parts *parts)
{
    while (parts->count)
        zmq_msg_close (&parts->frame[--parts->count]);
}

static int
send_frame (void *socket, struct ag_str frame, int flags)
{
    int rc;
    do
        rc = zmq_send (socket, frame.p ? frame.p : "", frame.n, flags | ZMQ_DONTWAIT);
    while (rc < 0 && errno == EINTR);
    return rc < 0 ? -1 : 0;
}

//  The first frame. libzmq looks only now and then whether a full queue has room again; asking for its
//  events makes it look.
static int
send_first (void *socket, struct ag_str frame, int flags)
{
    int events;
    if (!send_frame (socket, frame, flags))
        return 0;
    if (errno != EAGAIN || zmq_getsockopt (socket, ZMQ_EVENTS, &events, &(size_t){sizeof events}))
        return -1;
    return send_frame (socket, frame, flags);
}

//  Whether a message can go is decided at its first frame. When the peer goes in the middle, libzmq rolls
//  back and drops the rest, which it must be given, else it would drop the next message instead.
int
ag_net_send (void *socket, const struct ag_str *frames, size_t count, struct ag_err *err)
{
    bool gone = false;
    for (size_t i = 0; i < count; i++) {
        int flags = i + 1 < count ? ZMQ_SNDMORE : 0;
        if (!(i ? send_frame : send_first) (socket, frames[i], flags))
            continue;
        if (i == 0 && errno == EAGAIN)
            return ag_fail (err, AG_E_BUSY, "the peer's queue is full");
        if (i == 0)
            return ag_fail (err, AG_E_NOT_FOUND, "the peer is gone: %s", zmq_strerror (errno));
        gone = true;
    }
    return gone ? ag_fail (err, AG_E_NOT_FOUND, "the peer went away") : 0;
}

pid_t
ag_peer_pid (int fd)
{
    struct ucred cred;
    socklen_t size = sizeof cred;
    return getsockopt (fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) ? 0 : cred.pid;
}

ino_t
ag_peer_inode (int fd)
{
    struct stat st;
    return fd < 0 || fstat (fd, &st) ? 0 : st.st_ino;
}

//  libzmq may close the descriptor at any moment and somebody may get its number, so the duplicate is asked.
void
ag_peer_drop (const struct ag_peer *peer)
{
    int fd = peer->fd < 0 ? -1 : fcntl (peer->fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return;
    if (peer->pid && ag_peer_pid (fd) == peer->pid)
        shutdown (fd, SHUT_RDWR);
    close (fd);
}
