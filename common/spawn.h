/*  spawn - what supervisor and nursery say to each other over descriptor 3, and the supervisor's end of it.
 *
 *  The pair is AF_UNIX SOCK_SEQPACKET between two programs of one build: every message is one fixed struct.
 *  A spawn carries one sealed memfd with the counted strings of the child; the nursery looks at its seals
 *  and its size, only the child itself reads it. A child is named by an id that the supervisor chooses
 *  and never uses again. Events that end a life are kept until `ag_nursery_ack`, 4096 at most. A new supervisor first
 *  hears SPAWNED again for every live service, all that was never acknowledged, HOUSE, then CURRENT.
 *  Workers do not outlive their supervisor.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_SPAWN_H
#define AG_SPAWN_H
#include <stdint.h>
#include "common/err.h"

//  The supervisor finds its end of the pair and the lock of the home here.
enum { AG_SPAWN_FD = 3, AG_LOCK_FD = 4 };
enum { AG_NONCE = 33, AG_IMAGE_MAX = 1 << 20, AG_CHILDREN_MAX = 4096 };

enum ag_child_kind { AG_CHILD_WORKER = 1, AG_CHILD_SERVICE };
enum ag_house_process { AG_HOUSE_SUPERVISOR, AG_HOUSE_BROKER, AG_HOUSES };

//  Walls that the nursery can raise; as masks 1u << layer.
enum ag_layer {
#define LAYER(NAME, name) AG_LAYER_##NAME,
#include "schemas/layers.def"
    AG_LAYERS
};
const char *ag_layer_name (uint32_t layer);

//  What proves that nothing of a tree is left; in SPAWNED: what will.
enum ag_proof { AG_PROOF_NONE, AG_PROOF_CGROUP, AG_PROOF_PIDNS, AG_PROOF_WALK };

//  Steps of a child's set-up, in their order.
enum ag_step {
#define STEP(NAME, name) AG_STEP_##NAME,
#include "schemas/steps.def"
    AG_STEPS
};
const char *ag_step_name (uint32_t step);
const char *ag_proof_name (uint32_t proof);

//  Limits, only ever lowered; 0 leaves one as it is. At the soft CPU limit comes SIGXCPU, a second later SIGKILL.
struct ag_rlimits {
    uint64_t address_space_bytes, cpu_s, open_files, processes, file_bytes;
    uint64_t group_memory_bytes; //  for AG_LAYER_MEMORY; for AG_LAYER_PIDS `processes` counts
};

//  Which limit seems to have ended a child: a guess from the signal, the limits and the usage below.
enum ag_fired { AG_FIRED_NONE, AG_FIRED_MEMORY, AG_FIRED_CPU, AG_FIRED_FILE_SIZE };

//  One child to start. Strings and lists (NULL at their end) are copied into the image.
struct ag_spawn {
    uint64_t id;
    enum ag_child_kind kind;
    const char *nonce; //  32 characters; AGSUP_NONCE of the child
    struct ag_rlimits limits;
    uint32_t uid, gid;         //  for AG_LAYER_UID
    uint32_t layers, required; //  asked for; of these, without which the child must not start
    const char *dir;           //  working directory; NULL: /
    const char *const *argv;   //  argv[0] without a slash is looked for in the PATH of env
    const char *const *env;    //  all but AGSUP_HOME_ID and AGSUP_NONCE, which the nursery adds
    const char *const *readable, *const *own,
                                     *const *hidden; //  for LANDLOCK and MOUNTNS; may be NULL
    const void *filter; //  for AG_LAYER_SECCOMP: an array of struct sock_filter
    uint32_t filter_bytes;
};

enum ag_nursery_what {
    AG_NURSERY_SPAWNED = 1, //  its program runs; its output comes along
    AG_NURSERY_FAILED,      //  it never ran: the whole life of this id
    AG_NURSERY_EXITED,      //  its first process ended
    AG_NURSERY_STOPPED, //  nothing of its tree is left, and how that is known: the end of this id
    AG_NURSERY_HOUSE,   //  pid and nonce of the broker, at each of its starts
    AG_NURSERY_CURRENT, //  a new supervisor has heard everything
    AG_NURSERY_STOP,    //  end the fleet in order, then exit 0; `value` ms are left
};

//  One event. A field of which nothing is known is 0, a descriptor -1. What is known of a child stands in
//  each of its events: STOPPED repeats what EXITED said.
struct ag_nursery_event {
    uint32_t what, kind; //  enum ag_nursery_what, enum ag_child_kind
    uint64_t id;
    int32_t pid,
        output[2]; //  SPAWNED: read ends of stdout and stderr, non-blocking, the receiver's
    uint32_t layers, proof;     //  in force; enum ag_proof
    int32_t refused[AG_LAYERS]; //  errno of each layer that was asked for and is not in force
    uint32_t step;              //  FAILED: enum ag_step,
    int32_t error;              //  its errno,
    uint32_t permanent;         //  and whether trying again is pointless
    int32_t code, signal;       //  EXITED: exit status, or -1 and the signal
    uint32_t fired;             //  enum ag_fired
    uint64_t max_rss_bytes, user_us, system_us, value;
    char nonce[AG_NONCE];
};

typedef struct ag_nursery ag_nursery_t;

//  The supervisor's end. Takes fd. Nothing here blocks: what the socket does not take at once waits in
//  memory until `ag_nursery_next` or `ag_nursery_flush`.
ag_nursery_t *ag_nursery_new (int fd);
void ag_nursery_destroy (ag_nursery_t **self_p);
int ag_nursery_fd (const ag_nursery_t *self);
void ag_nursery_flush (ag_nursery_t *self);
short ag_nursery_poll (const ag_nursery_t *self); //  POLLIN, and POLLOUT while something waits
//  AG_E_TOO_LARGE when the strings do not fit an image, AG_E_SYSTEM when the memfd cannot be made.
int ag_nursery_spawn (ag_nursery_t *self, const struct ag_spawn *spawn, struct ag_err *err);
//  End a tree: SIGTERM to all of it, SIGKILL after grace_ms (0: at once). May be repeated with less.
void ag_nursery_kill (ag_nursery_t *self, uint64_t id, uint32_t grace_ms);
//  The event with which a child's life ended (STOPPED or FAILED) is on disk.
void ag_nursery_ack (ag_nursery_t *self, uint64_t id);
//  This process works: its next death is answered with a start at once.
void ag_nursery_ready (ag_nursery_t *self, enum ag_house_process who);
//  Take the whole house down in order; STOP comes back.
void ag_nursery_down (ag_nursery_t *self);
//  The next event: 1, 0 when there is none now, -1 when the nursery is gone.
int ag_nursery_next (ag_nursery_t *self, struct ag_nursery_event *event, struct ag_err *err);
#endif
