/*  cgroup - one control group a child, under one directory a home; where version 2 can be had.
 *
 *  What ends a tree is used (membership, cgroup.kill, whether anything is left), and where the memory and pids
 *  controllers are given to us, their limits. Found at start; when it cannot be had, `dir` is -1 and `error` says
 *  why, and children do without.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_CGROUP_H
#define AG_CGROUP_H
#include <stdbool.h>
#include <stdint.h>

struct ag_cgroups {
    int parent, dir, error;
    char name[48];
};

//  Look for a version 2 hierarchy in which we may make agsup-HOME_ID below our own group.
void ag_cgroups_open (struct ag_cgroups *self, const char *home_id);
//  End whatever is in groups that an earlier nursery left; true when none is left.
bool ag_cgroups_sweep (struct ag_cgroups *self);
//  Remove the directory of this home and close.
void ag_cgroups_close (struct ag_cgroups *self);

//  All of one child: 0, or -1 with errno.
int ag_cgroup_make (const struct ag_cgroups *self, uint64_t id, uint64_t unused);
//  memory.max without swap, all of the group ends when it is met; pids.max. ENOENT: the controller is not here.
int ag_cgroup_limit_memory (const struct ag_cgroups *self, uint64_t id, uint64_t bytes);
int ag_cgroup_limit_processes (const struct ag_cgroups *self, uint64_t id, uint64_t count);
//  Whether the kernel killed something in it for want of memory.
bool ag_cgroup_out_of_memory (const struct ag_cgroups *self, uint64_t id);
//  A descriptor of the group, for a child that is born into it: much cheaper than joining, which waits for
//  all of the kernel's readers. -1 with errno.
int ag_cgroup_fd (const struct ag_cgroups *self, uint64_t id);
int ag_cgroup_join (const struct ag_cgroups *self, uint64_t id); //  called by the child
int ag_cgroup_kill (const struct ag_cgroups *self, uint64_t id);
//  Whether the kernel says that no process is left in it, and then remove it.
bool ag_cgroup_gone (const struct ag_cgroups *self, uint64_t id);
#endif
