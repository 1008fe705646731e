/*  brood - all children, and how their trees end.
 *
 *  Where a control group or a pid namespace says it, the kernel ends a tree and tells when it is empty.
 *  Elsewhere a tree is walked: all of it is stopped (SIGSTOP) until a look at /proc shows nothing new that
 *  runs, then killed leaves first. It is gone when the first process is reaped, an unbroken look shows
 *  nothing below it, and this process has no child that it does not know. All trees share one look, and
 *  looks are a few milliseconds apart, more while nothing changes.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_BROOD_H
#define AG_BROOD_H
#include <poll.h>
#include "supervisor/nursery/child.h"
#include "supervisor/nursery/procs.h"

struct ag_brood {
    struct ag_birth birth;
    struct ag_procs *procs;
    pid_t residents[AG_HOUSES]; //  the children of this process that are no children of the brood
    struct ag_child *list;
    size_t count, room;
    //  the last look, and the next
    struct ag_top *tops;
    size_t top_count, strays;
    uint64_t looked_ms, due_ms, pause_ms;
};

void ag_brood_init (struct ag_brood *self, const struct ag_birth *birth, struct ag_procs *procs);
void ag_brood_fini (struct ag_brood *self);

//  Requests of the supervisor. -1 for one that no supervisor in its right mind makes. START takes image.
int ag_brood_start (struct ag_brood *self, const struct ag_spawn_request *request, int image,
                    struct ag_err *err);
void ag_brood_kill (struct ag_brood *self, uint64_t id, uint32_t grace_ms, uint64_t now_ms);
void ag_brood_ack (struct ag_brood *self, uint64_t id);

//  All of a kind.
void ag_brood_end (struct ag_brood *self, enum ag_child_kind kind, uint32_t grace_ms,
                   uint64_t now_ms);
size_t ag_brood_alive (const struct ag_brood *self, enum ag_child_kind kind);

//  A process has ended and can be waited for: false when it is not the first process of a child.
bool ag_brood_reap (struct ag_brood *self, pid_t pid);
//  Something ended, or is to end: look soon.
void ag_brood_stir (struct ag_brood *self);
//  Whose set-up can be heard: fills room places at most, returns how many.
size_t ag_brood_poll (const struct ag_brood *self, struct pollfd *polls, size_t room);
void ag_brood_hear (struct ag_brood *self);
//  Move on what is leaving or ending; when this must be called again, at the latest.
uint64_t ag_brood_work (struct ag_brood *self, uint64_t now_ms);

//  Tell a new supervisor everything / send what is owed: 0 when all is said, -1 when the pair is full.
void ag_brood_retell (struct ag_brood *self);
int ag_brood_say (struct ag_brood *self, int pair);
#endif
