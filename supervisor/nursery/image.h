/*  image - the strings of a child, as the nursery may trust them.
 *
 *  The parent only checks that the memfd can never change again and is not too large; the child, which
 *  ends if anything in it is wrong, reads and counts.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_IMAGE_H
#define AG_IMAGE_H
#include <stddef.h>
#include "common/spawn_wire.h"

struct ag_strings {
    const char *dir;
    char **list
        [AG_IMAGE_LISTS]; //  NULL at their ends; two free places stand before list[AG_IMAGE_ENV]
    void *filter;
    size_t filter_bytes;
};

//  0, or -1 with errno: EBADF no descriptor, EPERM a seal is missing, EFBIG, EBADMSG too small.
int ag_image_check (int fd);
//  Read a checked image; 0, or -1 with errno (EBADMSG: counts and lengths do not agree with the bytes).
//  The memory is never freed: it belongs to a process that is about to exec.
int ag_image_read (int fd, struct ag_strings *strings);
#endif
