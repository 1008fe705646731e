/*  bench - what the benches share: a clock and a median.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_BENCH_H
#define AG_BENCH_H
#include <stdlib.h>
#include <time.h>

static inline double
now_us (void)
{
    struct timespec time;
    clock_gettime (CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static inline int
compare (const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

//  Of the values, which are sorted by it; 0 of none.
static inline double
median (double *values, size_t count)
{
    qsort (values, count, sizeof *values, compare);
    return count ? values[count / 2] : 0;
}
#endif
