//  Apart from hash.c, for the one process that must not load a library: agsupd.
//  SPDX-License-Identifier: Apache-2.0
#include "common/hash.h"

#include <assert.h>
#include <errno.h>
#include <sys/random.h>

void
ag_random (void *bytes, size_t n)
{
    for (char *at = bytes; n > 0;) {
        ssize_t got = getrandom (at, n, 0);
        assert (got > 0 || errno == EINTR);
        at += got > 0 ? got : 0;
        n -= got > 0 ? (size_t)got : 0;
    }
}
