/*  spawn_wire - the bytes under spawn.h: requests, the image, packets with descriptors.
 *
 *  The image of a child: `struct ag_image`, then the strings (directory, arguments, environment, paths that are
 *  readable, its own, hidden), each as a 32-bit length, its bytes and a NUL, then the filter. All in the machine's own
 *  order.
 *  Both functions leave errno to the caller; neither blocks.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_SPAWN_WIRE_H
#define AG_SPAWN_WIRE_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "common/spawn.h"

enum ag_spawn_what {
    AG_SPAWN_START = 1, //  with the image as its one descriptor
    AG_SPAWN_KILL,      //  `value`: grace_ms
    AG_SPAWN_ACK,
    AG_SPAWN_READY, //  `value`: enum ag_house_process
    AG_SPAWN_DOWN,
    AG_SPAWN_WHATS
};

struct ag_spawn_request {
    uint32_t what, kind;
    uint64_t id;
    struct ag_rlimits limits;
    uint32_t uid, gid, layers, required, value;
    char nonce[AG_NONCE];
};

enum {
    AG_IMAGE_MAGIC = 0x61676931,
    AG_IMAGE_SEALS = 0x1 | 0x2 | 0x4 | 0x8
}; //  F_SEAL_SEAL ... WRITE
enum {
    AG_IMAGE_ARGV,
    AG_IMAGE_ENV,
    AG_IMAGE_READABLE,
    AG_IMAGE_OWN,
    AG_IMAGE_HIDDEN,
    AG_IMAGE_LISTS
};

struct ag_image {
    uint32_t magic, counts[AG_IMAGE_LISTS], filter_bytes;
};

//  The sealed memfd of one child, or -1.
int ag_image_new (const struct ag_spawn *spawn, struct ag_err *err);

//  One packet with up to two descriptors, which stay the caller's. 0 or -1.
enum { AG_PACKET_FDS = 2 };
int ag_packet_send (int fd, const void *bytes, size_t n, const int *fds, size_t count);
//  One packet into exactly n bytes, its descriptors into fds (the rest is -1). 1; 0 at the end of the
//  stream; -1 with EAGAIN when there is none; -1 with EBADMSG for a packet of another size. When
//  descriptors were lost on the way all are closed and *lost is set.
int ag_packet_receive (int fd, void *bytes, size_t n, int fds[AG_PACKET_FDS], bool *lost);
#endif
