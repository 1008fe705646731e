//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/nursery/birth.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "supervisor/nursery/image.h"
#include "supervisor/nursery/infant.h"

//  fork, but into namespaces and a control group (-1: none) where they are asked for. A container may hide clone3,
//  whose flags its filter cannot see.
static pid_t
make_process (uint64_t namespaces, int group)
{
    struct clone_args args = {.flags = namespaces, .exit_signal = SIGCHLD};
    if (group >= 0) {
        args.flags |= CLONE_INTO_CGROUP;
        args.cgroup = (uint64_t)group;
    }
    pid_t pid = args.flags ? (pid_t)syscall (SYS_clone3, &args, sizeof args) : fork();
    if (pid < 0 && errno == ENOSYS && group < 0)
        pid = (pid_t)syscall (SYS_clone, namespaces | SIGCHLD, 0, 0, 0, 0);
    return pid;
}

//  A kernel that does not know CLONE_INTO_CGROUP, or a group that nobody can be born into: the child joins.
static pid_t
make_grouped (struct ag_infant *infant, const struct ag_newborn *child)
{
    int group = -1;
    if (child->layers >> AG_LAYER_CGROUP & 1)
        group = ag_cgroup_fd (infant->birth->cgroups, infant->request.id);
    infant->grouped = group >= 0;
    pid_t pid = make_process (infant->namespaces, group);
    if (pid < 0 && group >= 0) {
        infant->grouped = false;
        pid = make_process (infant->namespaces, -1);
    }
    if (pid != 0 && group >= 0)
        close (group);
    return pid;
}

static const struct {
    enum ag_layer layer;
    uint64_t flag;
} spaces[] = {{AG_LAYER_PIDNS, CLONE_NEWPID},
              {AG_LAYER_NETNS, CLONE_NEWNET},
              {AG_LAYER_IPCNS, CLONE_NEWIPC},
              {AG_LAYER_MOUNTNS, CLONE_NEWNS}};

static uint64_t
namespaces_of (uint32_t layers)
{
    uint64_t flags = 0;
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        flags |= layers >> spaces[i].layer & 1 ? spaces[i].flag : 0;
    return flags && geteuid() ? flags | CLONE_NEWUSER : flags;
}

static int
stop_at (struct ag_report *why, enum ag_step step)
{
    *why = (struct ag_report){step, errno, 1, -1};
    return -1;
}

//  Note that layers are not in force; -1 when the child must not start without them.
static int
refuse (struct ag_newborn *child, const struct ag_spawn_request *request, uint32_t layers)
{
    for (int i = 0; i < AG_LAYERS; i++)
        if (layers >> i & 1)
            child->refused[i] = errno;
    child->layers &= ~layers;
    return request->required & layers ? -1 : 0;
}

static int
refuse_walls (struct ag_infant *infant, struct ag_newborn *child)
{
    uint32_t walls = 0;
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        walls |= 1u << spaces[i].layer;
    if (refuse (child, &infant->request, infant->request.layers & walls))
        return -1;
    infant->request.layers = child->layers;
    infant->namespaces = 0;
    return 0;
}

static int
fork_infant (struct ag_infant *infant, struct ag_newborn *child, struct ag_report *why)
{
    infant->request.layers = child->layers;
    infant->namespaces = namespaces_of (child->layers);
    pid_t pid = make_grouped (infant, child);
    if (pid < 0 && infant->namespaces && errno != EAGAIN && errno != ENOMEM) {
        if (refuse_walls (infant, child))
            return stop_at (why, AG_STEP_NAMESPACES);
        pid = make_grouped (infant, child);
    }
    if (pid == 0)
        ag_infant_grow (infant);
    if (pid < 0)
        return stop_at (why, AG_STEP_FORK);
    child->pid = pid;
    child->pidfd = (int)syscall (SYS_pidfd_open, pid, 0);
    if (child->pidfd >= 0)
        return 0;
    stop_at (why, AG_STEP_FORK);
    kill (pid, SIGKILL); //  our own child and not yet waited for: the number is its
    return -1;
}

static void
shut (const int *fds, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fds[i] >= 0)
            close (fds[i]);
}

//  Three pipes: what it prints, what it complains about, what becomes of its start. The ends that the
//  nursery keeps do not block.
static int
make_pipes (int near[3], int far[3])
{
    for (int i = 0; i < 3; i++) {
        int ends[2];
        if (pipe2 (ends, O_CLOEXEC) < 0)
            return -1;
        near[i] = ends[0];
        far[i] = ends[1];
        if (fcntl (near[i], F_SETFL, O_NONBLOCK) < 0)
            return -1;
    }
    return 0;
}

static int
bear (const struct ag_birth *self, const struct ag_spawn_request *request, int image,
      struct ag_newborn *child, struct ag_report *why)
{
    int near[3] = {-1, -1, -1}, far[3] = {-1, -1, -1};
    int rc = make_pipes (near, far);
    if (rc) {
        stop_at (why, AG_STEP_STDIO);
    } else {
        struct ag_infant infant = {.birth = self,
                                   .request = *request,
                                   .nursery = getpid(),
                                   .uid = getuid(),
                                   .gid = getgid(),
                                   .image = image,
                                   .output = {far[0], far[1]},
                                   .report = far[2]};
        rc = fork_infant (&infant, child, why);
    }
    shut (far, 3);
    if (rc)
        shut (near, 3);
    child->output[0] = near[0];
    child->output[1] = near[1];
    child->report = near[2];
    return rc;
}

//  Its control group, with what that is to hold.
static int
make_group (const struct ag_birth *self, const struct ag_spawn_request *request,
            struct ag_newborn *child)
{
    const struct {
        enum ag_layer layer;
        int (*make) (const struct ag_cgroups *groups, uint64_t id, uint64_t value);
        uint64_t value;
    } rows[] = {{AG_LAYER_CGROUP, ag_cgroup_make, 0},
                {AG_LAYER_MEMORY, ag_cgroup_limit_memory, request->limits.group_memory_bytes},
                {AG_LAYER_PIDS, ag_cgroup_limit_processes, request->limits.processes}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (child->layers >> rows[i].layer & 1 &&
            rows[i].make (self->cgroups, request->id, rows[i].value) &&
            refuse (child, request, 1u << rows[i].layer))
            return -1;
    return 0;
}

int
ag_birth (const struct ag_birth *self, const struct ag_spawn_request *request, int image,
          struct ag_newborn *child, struct ag_report *why)
{
    *child = (struct ag_newborn){.layers = request->layers};
    if (ag_image_check (image))
        return stop_at (why, AG_STEP_IMAGE);
    if (make_group (self, request, child))
        return stop_at (why, AG_STEP_CGROUP);
    int rc = bear (self, request, image, child, why);
    if (rc && child->layers >> AG_LAYER_CGROUP & 1)
        ag_cgroup_gone (self->cgroups, request->id);
    return rc;
}

bool
ag_birth_permanent (int error)
{
    static const int passing[] = {EAGAIN, ENOMEM,  EMFILE, ENFILE, ENOSPC, EIO,
                                  EINTR,  ETXTBSY, EBUSY,  ESRCH,  EDQUOT, EUSERS};
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
        if (error == passing[i])
            return false;
    return true;
}
