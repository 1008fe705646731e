/*  net - plain libzmq with the house's rules: who binds, how much is read, who is on the other side.
 *
 *  Every socket has a finite linger, a largest frame, finite high-water marks and a handshake that does
 *  not wait for ever; a ROUTER says when its peer is gone instead of dropping in silence. Nothing here
 *  waits: receiving and sending are DONTWAIT.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_NET_H
#define AG_NET_H
#include "common/buf.h"
#include "common/err.h"
#include <sys/types.h>
#include <zmq.h>

enum {
    AG_NET_PATH = 107,            //  the longest path that binds
    AG_NET_FRAMES = 8,            //  in one message
    AG_NET_FRAME_BYTES = 8 << 20, //  libzmq drops a peer that sends a longer one
    AG_NET_LINGER_MS = 1000,      //  for what was sent last before the end
    AG_NET_HANDSHAKE_MS = 5000,   //  from accept to the end of the handshake
    AG_NET_BEAT_MS = 2000,        //  of a connection that is watched,
    AG_NET_SILENCE_MS = 6000      //  and the longest that it may answer nothing
};

//  A context; signals that a loop is to see are blocked before (its threads inherit the mask).
void *ag_net_context (void);

struct ag_net {
    int type;            //  ZMQ_ROUTER, …
    int hwm_in, hwm_out; //  whole messages a peer; 0 is refused, it means without limit
    const char
        *domain; //  of ZAP: a handler decides about each peer (see zap.h); NULL: whoever gets here
};

void *ag_net_socket (void *context, const struct ag_net *want);
//  Before bind or connect: watch every connection and end one that does not answer. libzmq stops writing, for
//  ever and without a word, where one write failed (ENOBUFS); only the other side can tell.
void ag_net_watch (void *socket);

//  Bind ipc at path with the given permission bits. Whatever socket lies there is replaced, which is right
//  only for the holder of the home's lock; anything that is not a socket is refused. Whoever binds unlinks
//  with ag_net_unbind when it ends.
int ag_net_bind (void *socket, const char *path, mode_t mode, struct ag_err *err);
void ag_net_unbind (void *socket, const char *path);
int ag_net_connect (void *socket, const char *path, struct ag_err *err);

//  Who is on the other side, as the kernel reports it for the connection. pid 0: unknown.
struct ag_peer {
    pid_t pid;
    uid_t uid;
    int fd; //  of the connection, good in the turn that read the message; -1: unknown
};

//  One message. The frames are borrowed from it; of a ROUTER, frame 0 is the routing id.
struct ag_parts {
    zmq_msg_t frame[AG_NET_FRAMES];
    size_t count;
    size_t bytes; //  of all frames
    struct ag_peer peer;
};

//  1: a message, which the caller ends with ag_parts_fini; 0: nothing is there; -1: a message beyond the
//  bounds in frames or bytes (AG_E_TOO_LARGE), read to its end, of which the peer and the frames before
//  the one that went too far are kept for an answer; ag_parts_fini too.
int ag_net_recv (void *socket, size_t max_bytes, struct ag_parts *parts, struct ag_err *err);
struct ag_str ag_part (struct ag_parts *parts, size_t index);
void ag_parts_fini (struct ag_parts *parts);

//  All frames or none. AG_E_BUSY: the peer's queue is full; AG_E_NOT_FOUND: a ROUTER has no such peer.
int ag_net_send (void *socket, const struct ag_str *frames, size_t count, struct ag_err *err);

//  End a peer's connection, if the descriptor still belongs to the process that sent the message.
void ag_peer_drop (const struct ag_peer *peer);
//  The process at the other end of a connected descriptor; 0 when there is none.
pid_t ag_peer_pid (int fd);
//  Of the connection: other than its descriptor it is not soon another's. 0 when there is none.
ino_t ag_peer_inode (int fd);
//  Read "localhost:UID:GID:PID", which is how libzmq writes the address of an ipc peer.
int ag_peer_parse (struct ag_str address, struct ag_peer *peer);
#endif
