/*  clock - monotonic milliseconds: every deadline of the nursery.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_CLOCK_H
#define AG_CLOCK_H
#include <stdint.h>
#include <time.h>

static inline uint64_t
ag_clock_ms (void)
{
    struct timespec now;
    clock_gettime (CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}
#endif
