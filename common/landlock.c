//  SPDX-License-Identifier: Apache-2.0
#include "common/landlock.h"

#include <assert.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

//  What each version added, in the kernel's numbers: the headers of this system know fewer. Before version 2 a file is
//  moved to no other directory at all, which leaves nothing open.
static const struct {
    int since;
    struct ag_landlock refused;
    const char *what;
} added[] = {
    {1, {.files = (1u << 13) - 1}, NULL}, //  all that opens, makes or removes a name
    {2, {.files = 1u << 13}, NULL},
    {3, {.files = AG_LANDLOCK_TRUNCATE}, "truncating"},
    {4, {.net = 3}, "TCP"},
    {5, {.files = AG_LANDLOCK_IOCTL}, "device ioctls"},
    {6, {.scoped = 3}, "signals, abstract sockets"},
};
enum { ADDED = sizeof added / sizeof *added };

int
ag_landlock_abi (void)
{
    return (int)syscall (SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

struct ag_landlock
ag_landlock_all (int abi)
{
    struct ag_landlock all = {0};
    for (size_t i = 0; i < ADDED && added[i].since <= abi; i++) {
        all.files |= added[i].refused.files;
        all.net |= added[i].refused.net;
        all.scoped |= added[i].refused.scoped;
    }
    return all;
}

void
ag_landlock_gaps (int abi, bool tcp, char text[AG_LANDLOCK_GAPS])
{
    size_t n = 0;
    text[0] = 0;
    for (size_t i = 0; i < ADDED; i++) {
        if (added[i].since <= abi || !added[i].what || (added[i].refused.net && !tcp))
            continue;
        n += (size_t)snprintf (text + n, AG_LANDLOCK_GAPS - n, "%s%s",
                               n ? ", " : "; leaves open: ", added[i].what);
        assert (n < AG_LANDLOCK_GAPS);
    }
}

//  An older kernel is given the part of the struct that it knows.
int
ag_landlock_rules (int abi, const struct ag_landlock *refused)
{
    size_t size = abi >= 6   ? sizeof *refused
                  : abi >= 4 ? offsetof (struct ag_landlock, scoped)
                             : offsetof (struct ag_landlock, net);
    return (int)syscall (SYS_landlock_create_ruleset, refused, size, 0);
}

int
ag_landlock_allow (int rules, int fd, uint64_t allowed)
{
    struct landlock_path_beneath_attr rule = {.allowed_access = allowed, .parent_fd = fd};
    return (int)syscall (SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

int
ag_landlock_enter (int rules)
{
    return (int)syscall (SYS_landlock_restrict_self, rules, 0);
}
