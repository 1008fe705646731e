/*  birth - one child from the fork to its program.
 *
 *  Everything slow or strange happens in the child, step by step in the order of schemas/steps.def. What
 *  goes wrong there comes back as reports through a pipe that closes by itself at exec: a layer that is
 *  not in force, or the step at which it ended. The end of the pipe without a fatal report means that the
 *  program runs, or that the child was killed on its way.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_BIRTH_H
#define AG_BIRTH_H
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>
#include "common/spawn_wire.h"
#include "supervisor/nursery/cgroup.h"

//  What is the same for all.
struct ag_birth {
    const char *home_id;
    const struct ag_cgroups *cgroups;
    int null;                 //  /dev/null, read and write
    struct rlimit open_files; //  as the nursery found it, before it raised its own
};

struct ag_report {
    uint32_t step;
    int32_t error;
    uint32_t fatal;
    int32_t layer; //  enum ag_layer; -1 for a step that is not a layer
};

struct ag_newborn {
    pid_t pid;
    int pidfd, report, output[2];
    uint32_t layers;            //  in force, unless a report says otherwise
    int32_t refused[AG_LAYERS]; //  errno of what is already known not to be
};

//  0 and a child to be watched; -1 when there is none, and why. The image stays the caller's.
int ag_birth (const struct ag_birth *self, const struct ag_spawn_request *request, int image,
              struct ag_newborn *child, struct ag_report *why);
//  Signals as a program expects them, whatever the nursery made of its own or was started with.
void ag_birth_reset_signals (void);
//  Whether the same start would fail again for the same reason.
bool ag_birth_permanent (int error);
#endif
