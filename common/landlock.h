/*  landlock - what each version of the kernel's Landlock can refuse, and what it leaves open that a newer one refuses.
 *
 *  Versions of which this knows nothing hold what the newest known one (6) does. What fails leaves errno.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_LANDLOCK_H
#define AG_LANDLOCK_H
#include <stdbool.h>
#include <stdint.h>

//  Rights about files that a rule grants, beside all of them.
enum {
    AG_LANDLOCK_EXECUTE = 1 << 0,
    AG_LANDLOCK_WRITE = 1 << 1,
    AG_LANDLOCK_READ = 1 << 2,
    AG_LANDLOCK_LIST = 1 << 3,
    AG_LANDLOCK_TRUNCATE = 1 << 14,
    AG_LANDLOCK_IOCTL = 1 << 15,
};

//  The kernel's struct as of version 6.
struct ag_landlock {
    uint64_t files, net, scoped;
};

enum { AG_LANDLOCK_GAPS = 80 };

//  That of this kernel; less than 1: it has none, or it is switched off.
int ag_landlock_abi (void);

//  Everything that a version can refuse.
struct ag_landlock ag_landlock_all (int abi);

//  What a version (1 or more) leaves open: "; leaves open: signals, abstract sockets", "" for the newest. tcp: that is
//  to be refused too.
void ag_landlock_gaps (int abi, bool tcp, char text[AG_LANDLOCK_GAPS]);

//  A ruleset that refuses these: a descriptor, or -1.
int ag_landlock_rules (int abi, const struct ag_landlock *refused);

//  Rights below what a descriptor stands for. 0 or -1.
int ag_landlock_allow (int rules, int fd, uint64_t allowed);

//  From here on this thread is held by the rules. 0 or -1.
int ag_landlock_enter (int rules);
#endif
