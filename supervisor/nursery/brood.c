//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/nursery/brood.h"

#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/buf.h"

enum { SOON_MS = 5, LATE_MS = 100, FREEZES = 8, LOOKS = 4 };

void
ag_brood_init (struct ag_brood *self, const struct ag_birth *birth, struct ag_procs *procs)
{
    *self = (struct ag_brood){.birth = *birth, .procs = procs, .due_ms = UINT64_MAX};
}

void
ag_brood_fini (struct ag_brood *self)
{
    for (size_t i = 0; i < self->count; i++)
        ag_child_fini (&self->list[i]);
    free (self->list);
    free (self->tops);
}

static uint64_t
earlier (uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static struct ag_child *
find (const struct ag_brood *self, uint64_t id)
{
    for (size_t i = 0; i < self->count; i++)
        if (self->list[i].fact.id == id)
            return &self->list[i];
    return NULL;
}

static bool
is_nonce (const char *text)
{
    size_t n = 0;
    while (n < AG_NONCE && isalnum ((unsigned char)text[n]))
        n++;
    return n == AG_NONCE - 1 && !text[n];
}

static int
check (const struct ag_brood *self, const struct ag_spawn_request *request, struct ag_err *err)
{
    if (find (self, request->id))
        return ag_fail (err, AG_E_BAD_MESSAGE, "a second spawn has the id %llu",
                        (unsigned long long)request->id);
    if (self->count == AG_CHILDREN_MAX)
        return ag_fail (err, AG_E_BAD_MESSAGE, "more than %d children are not acknowledged",
                        AG_CHILDREN_MAX);
    if (request->kind != AG_CHILD_WORKER && request->kind != AG_CHILD_SERVICE)
        return ag_fail (err, AG_E_BAD_MESSAGE, "a spawn is of the unknown kind %u", request->kind);
    if (!is_nonce (request->nonce))
        return ag_fail (err, AG_E_BAD_MESSAGE, "the nonce of a spawn is not %d letters and digits",
                        AG_NONCE - 1);
    return 0;
}

static struct ag_child *
add (struct ag_brood *self)
{
    if (self->count == self->room) {
        self->room = self->room ? 2 * self->room : 16;
        self->list = ag_xrealloc (self->list, self->room * sizeof *self->list);
    }
    return &self->list[self->count++];
}

int
ag_brood_start (struct ag_brood *self, const struct ag_spawn_request *request, int image,
                struct ag_err *err)
{
    int rc = check (self, request, err);
    if (!rc)
        ag_child_init (add (self), &self->birth, request, image);
    if (image >= 0)
        close (image);
    return rc;
}

void
ag_brood_kill (struct ag_brood *self, uint64_t id, uint32_t grace_ms, uint64_t now_ms)
{
    struct ag_child *child = find (self, id);
    if (child)
        ag_child_end (child, grace_ms, now_ms);
    ag_brood_stir (self);
}

void
ag_brood_ack (struct ag_brood *self, uint64_t id)
{
    struct ag_child *child = find (self, id);
    if (!child || child->stage != AG_GONE)
        return;
    ag_child_fini (child);
    *child = self->list[--self->count];
}

void
ag_brood_end (struct ag_brood *self, enum ag_child_kind kind, uint32_t grace_ms, uint64_t now_ms)
{
    for (size_t i = 0; i < self->count; i++)
        if (self->list[i].fact.kind == kind)
            ag_child_end (&self->list[i], grace_ms, now_ms);
    ag_brood_stir (self);
}

size_t
ag_brood_alive (const struct ag_brood *self, enum ag_child_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < self->count; i++)
        n += self->list[i].fact.kind == kind && self->list[i].stage != AG_GONE;
    return n;
}

bool
ag_brood_reap (struct ag_brood *self, pid_t pid)
{
    for (size_t i = 0; i < self->count; i++) {
        struct ag_child *child = &self->list[i];
        if (child->fact.pid != pid || child->exited)
            continue;
        ag_child_reap (child);
        return true;
    }
    return false;
}

void
ag_brood_stir (struct ag_brood *self)
{
    self->pause_ms = SOON_MS;
    self->due_ms = earlier (self->due_ms, self->looked_ms + SOON_MS);
}

size_t
ag_brood_poll (const struct ag_brood *self, struct pollfd *polls, size_t room)
{
    size_t n = 0;
    for (size_t i = 0; i < self->count && n < room; i++)
        if (self->list[i].report >= 0)
            polls[n++] = (struct pollfd){self->list[i].report, POLLIN, 0};
    return n;
}

void
ag_brood_hear (struct ag_brood *self)
{
    for (size_t i = 0; i < self->count; i++)
        ag_child_hear (&self->list[i]);
}

static bool
is_walked (const struct ag_child *child)
{
    return child->fact.proof == AG_PROOF_WALK;
}

//  Whether a look at the processes of this machine would help this child along.
static bool
wants_look (const struct ag_child *child)
{
    bool leaves = child->stage == AG_LEAVING && child->exited;
    return child->dismissed || (is_walked (child) && (leaves || child->stage == AG_ENDING));
}

static void
add_top (struct ag_brood *self, pid_t pid, int owner)
{
    self->tops[self->top_count++] = (struct ag_top){pid, owner};
}

//  The child whose nonce an orphan was started with, among those that leave or end: an orphan of any other
//  would have gone to its first process.
static int
whose (const struct ag_brood *self, pid_t pid)
{
    char nonce[AG_NONCE];
    if (!ag_proc_env (self->procs, pid, "AGSUP_NONCE", nonce, sizeof nonce))
        return AG_OWNER_STRAY;
    for (size_t i = 0; i < self->count; i++)
        if (self->list[i].stage >= AG_LEAVING && self->list[i].stage != AG_GONE &&
            !strcmp (self->list[i].fact.nonce, nonce))
            return (int)i;
    return AG_OWNER_STRAY;
}

//  Tops of all trees: first processes, and orphans of them that came to us.
static void
gather_tops (struct ag_brood *self)
{
    size_t most = self->count + AG_HOUSES;
    self->tops = ag_xrealloc (self->tops, (most + self->procs->count) * sizeof *self->tops);
    self->top_count = 0;
    for (size_t i = 0; i < self->count; i++)
        if (!self->list[i].exited)
            add_top (self, self->list[i].fact.pid, (int)i);
    for (int i = 0; i < AG_HOUSES; i++)
        if (self->residents[i] > 0)
            add_top (self, self->residents[i], AG_OWNER_NONE);
    ag_tops_sort (self->tops, self->top_count);
    size_t known = self->top_count;
    for (size_t i = 0; i < self->procs->count; i++) {
        const struct ag_proc *proc = &self->procs->list[i];
        if (proc->parent == getpid() && !ag_top_of (self->tops, known, proc->pid))
            add_top (self, proc->pid, whose (self, proc->pid));
    }
    ag_tops_sort (self->tops, self->top_count);
}

//  An unbroken look at all processes, if it can be had.
static bool
look (struct ag_brood *self)
{
    for (int i = 0; i < LOOKS; i++) {
        if (ag_procs_read (self->procs))
            return false;
        gather_tops (self);
        if (ag_procs_own (self->procs, self->tops, self->top_count))
            return true;
    }
    return false;
}

static struct ag_child *
owner_of (const struct ag_brood *self, const struct ag_proc *proc)
{
    return proc->owner >= 0 ? &self->list[proc->owner] : NULL;
}

//  Processes to end by walking: of trees that end, and of no tree at all, which a program made on purpose.
static bool
is_doomed (const struct ag_brood *self, const struct ag_proc *proc)
{
    const struct ag_child *child = owner_of (self, proc);
    return child ? is_walked (child) && child->stage == AG_ENDING : proc->owner == AG_OWNER_STRAY;
}

static size_t
count_left (struct ag_brood *self)
{
    size_t doomed = 0;
    self->strays = 0;
    for (size_t i = 0; i < self->count; i++)
        self->list[i].left = 0;
    for (size_t i = 0; i < self->procs->count; i++) {
        const struct ag_proc *proc = &self->procs->list[i];
        struct ag_child *child = owner_of (self, proc);
        if (child)
            child->left++;
        self->strays += proc->owner == AG_OWNER_STRAY;
        doomed += is_doomed (self, proc);
    }
    return doomed;
}

//  The rest of a tree that was asked to go; its first process has heard it.
static void
dismiss (struct ag_brood *self)
{
    for (size_t i = 0; i < self->procs->count; i++) {
        const struct ag_proc *proc = &self->procs->list[i];
        struct ag_child *child = owner_of (self, proc);
        if (!child || !child->dismissed || proc->pid == child->fact.pid)
            continue;
        ag_proc_signal (self->procs, proc, SIGTERM);
        ag_proc_signal (self->procs, proc, SIGCONT);
    }
    for (size_t i = 0; i < self->count; i++)
        self->list[i].dismissed = false;
}

static size_t
freeze (struct ag_brood *self)
{
    size_t running = 0;
    for (size_t i = 0; i < self->procs->count; i++) {
        const struct ag_proc *proc = &self->procs->list[i];
        if (!is_doomed (self, proc) || strchr ("TtZXx", proc->state))
            continue;
        ag_proc_signal (self->procs, proc, SIGSTOP);
        running++;
    }
    return running;
}

static int
deepest_first (const void *a, const void *b)
{
    return ((const struct ag_proc *)b)->depth - ((const struct ag_proc *)a)->depth;
}

//  First processes are not killed here but last of all, by the hand that holds them.
static void
fell (struct ag_brood *self)
{
    for (int i = 0; i < FREEZES && freeze (self); i++)
        look (self);
    qsort (self->procs->list, self->procs->count, sizeof *self->procs->list, deepest_first);
    for (size_t i = 0; i < self->procs->count; i++) {
        const struct ag_proc *proc = &self->procs->list[i];
        const struct ag_child *child = owner_of (self, proc);
        if (is_doomed (self, proc) && (!child || proc->pid != child->fact.pid))
            ag_proc_signal (self->procs, proc, SIGKILL);
    }
}

static bool
is_walk_over (const struct ag_child *child)
{
    return is_walked (child) && wants_look (child) && child->exited && !child->left;
}

//  While one is leaving, an orphan that was not seen in the look may be its own and has time.
static bool
is_one_leaving (const struct ag_brood *self)
{
    for (size_t i = 0; i < self->count; i++)
        if (self->list[i].stage == AG_LEAVING)
            return true;
    return false;
}

static void
walk (struct ag_brood *self)
{
    bool unbroken = look (self);
    dismiss (self);
    if (count_left (self))
        fell (self);
    bool sure = ag_procs_free_of_strays (self->procs, self->tops, self->top_count,
                                         !is_one_leaving (self)) &&
                unbroken && !self->strays;
    for (size_t i = 0; i < self->count; i++) {
        struct ag_child *child = &self->list[i];
        if (sure && is_walk_over (child))
            ag_child_finish (child);
        else if (is_walked (child) && child->stage == AG_ENDING)
            ag_child_kill (child);
    }
}

//  What the kernel ends; true when the child has to be looked at again soon.
static bool
move_on (struct ag_child *child, uint64_t now_ms)
{
    if (child->stage == AG_LEAVING && now_ms >= child->deadline_ms)
        child->stage = AG_ENDING;
    if (child->stage == AG_ENDING && !is_walked (child))
        ag_child_kill (child);
    if (child->stage >= AG_LEAVING && child->stage != AG_GONE && ag_child_empty (child))
        ag_child_finish (child);
    return child->stage == AG_ENDING || (child->stage == AG_LEAVING && child->exited);
}

static uint64_t
next_deadline (const struct ag_brood *self)
{
    uint64_t next_ms = UINT64_MAX;
    for (size_t i = 0; i < self->count; i++)
        if (self->list[i].stage == AG_LEAVING)
            next_ms = earlier (next_ms, self->list[i].deadline_ms);
    return next_ms;
}

uint64_t
ag_brood_work (struct ag_brood *self, uint64_t now_ms)
{
    bool again = false, walking = false;
    if (now_ms < self->due_ms && now_ms < next_deadline (self))
        return earlier (self->due_ms, next_deadline (self));
    for (size_t i = 0; i < self->count; i++) {
        again = move_on (&self->list[i], now_ms) || again;
        walking = wants_look (&self->list[i]) || walking;
    }
    if (walking)
        walk (self);
    self->looked_ms = now_ms;
    self->due_ms = again ? now_ms + self->pause_ms : UINT64_MAX;
    self->pause_ms = earlier (2 * self->pause_ms, LATE_MS);
    return earlier (self->due_ms, next_deadline (self));
}

void
ag_brood_retell (struct ag_brood *self)
{
    for (size_t i = 0; i < self->count; i++)
        ag_child_retell (&self->list[i]);
}

int
ag_brood_say (struct ag_brood *self, int pair)
{
    for (size_t i = 0; i < self->count; i++)
        while (self->list[i].owed)
            if (ag_child_say (&self->list[i], pair))
                return -1;
    return 0;
}
