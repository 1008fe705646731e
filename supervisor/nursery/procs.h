/*  procs - the processes of this machine as /proc shows them, and whose they are.
 *
 *  Every child of the nursery and the nursery itself take in orphans (PR_SET_CHILD_SUBREAPER), so that the
 *  chain of parents of whatever a child started ends at that child, or, when that is dead, at the nursery.
 *  A table is a series of looks, not one: a chain that breaks because a parent ended meanwhile makes
 *  `ag_procs_own` say so, and the table is read again.
 *  No process is signalled by number: a pidfd is opened, then its start time is compared, or the environment by
 *  which it was chosen.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_PROCS_H
#define AG_PROCS_H
#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "common/err.h"

enum { AG_OWNER_NONE = -1, AG_OWNER_STRAY = -2 };

struct ag_proc {
    pid_t pid, parent;
    uint64_t start; //  ticks after boot
    int owner, depth;
    char state;
};

//  The top of a tree: a process, and the number under which the caller knows it.
struct ag_top {
    pid_t pid;
    int owner;
};

//  Everybody who takes tops wants them in the order of their pids.
void ag_tops_sort (struct ag_top *tops, size_t count);
const struct ag_top *ag_top_of (const struct ag_top *tops, size_t count, pid_t pid);

struct ag_procs {
    DIR *dir;     //  /proc
    int children; //  our own list of children, -1 where the kernel has none
    struct ag_proc *list;
    size_t count, room;
};

//  Opens /proc while this process may still look at itself.
int ag_procs_open (struct ag_procs *self, struct ag_err *err);
void ag_procs_close (struct ag_procs *self);

//  Read all, in the order of their pids; -1 with errno.
int ag_procs_read (struct ag_procs *self);
//  Say of each process whose it is: the owner of the top its parents lead to, STRAY for other children
//  of this process and what is below them. False when a chain broke.
bool ag_procs_own (struct ag_procs *self, const struct ag_top *tops, size_t count);
//  Whether all children of this process, living or dead, are among the tops of somebody. With `end` what is
//  not is killed and reaped, and so is what comes of it, for a few milliseconds: who runs away by forking
//  and dying in turn is fast, but each time a child of ours. It cannot slip through either, because until
//  we wait for them its dead stay on the list.
bool ag_procs_free_of_strays (struct ag_procs *self, const struct ag_top *tops, size_t count,
                              bool end);

//  What a variable was in the environment with which a process was started; false when there was none, it
//  does not fit, or the process may not be looked at.
bool ag_proc_env (const struct ag_procs *self, pid_t pid, const char *name, char *value,
                  size_t room);
//  Signal a process if it is still the one of the table.
void ag_proc_signal (const struct ag_procs *self, const struct ag_proc *proc, int signal);
//  A pidfd of it, or -1.
int ag_proc_hold (const struct ag_procs *self, const struct ag_proc *proc);

//  End every process but this one whose environment has the entry, and wait for it, within_ms at most.
int ag_procs_sweep (struct ag_procs *self, const char *entry, unsigned within_ms,
                    struct ag_err *err);
#endif
