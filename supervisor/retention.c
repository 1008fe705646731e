//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/retention.h"
#include "supervisor/key.h"
#include "supervisor/state.h"

#include <stdlib.h>

/*  Archive  */

int
ag_archive_step (ag_journal_t *journal, struct ag_run *run, int chunks,
                 struct ag_retained *retained, struct ag_err *err)
{
    ag_batch_t *batch = ag_journal_batch (journal);
    if (ag_retained_get (batch, run->number, retained, err))
        return -1;
    if (!retained->marker)
        return ag_fail (err, AG_E_USAGE, "run %s has no snapshot yet: `agsup snapshot %s` first",
                        run->id, run->id);
    if (retained->archived < run->cut)
        retained->archived = run->cut;
    int moved = 1;
    for (; chunks > 0 && moved > 0 && retained->archived < retained->covered; chunks--) {
        moved = ag_archive_move (batch, run->number, retained->archived, retained->covered, err);
        if (moved < 0)
            return -1;
        retained->archived += (uint64_t)moved;
    }
    ag_retained_put (batch, run->number, retained);
    if (run->archived < retained->archived)
        run->archived = retained->archived;
    if (retained->archived < retained->covered)
        return 1;
    ag_batch_release (batch, AG_EVENT);
    return 0;
}

/*  Discard  */

int
ag_discard_check (const struct ag_run *run, struct ag_err *err)
{
    return run->discarded ? ag_fail (err, AG_E_DISCARDED, "run %s is discarded", run->id) : 0;
}

static bool
note_fork (void *arg, struct ag_run *fork)
{
    struct ag_run **living = arg;
    if (!fork->discarded)
        *living = fork;
    return fork->discarded;
}

int
ag_discard (ag_journal_t *journal, struct ag_run *run, struct ag_err *err)
{
    struct ag_buf payload = {0};
    struct ag_run *fork = NULL;
    if (run->discarded)
        return 0;
    if (!run->parent)
        return ag_fail (err, AG_E_USAGE, "run %s is a root: only forks are discarded", run->id);
    if (ag_run_children (journal, run->number, 0, note_fork, &fork, err))
        return -1;
    if (fork)
        return ag_fail (err, AG_E_KEPT, "run %s has forks of its own: %s", run->id, fork->id);
    ag_put_map (&payload, 0);
    if (ag_journal_tell (journal, run, AG_EV_RUNTIME_DISCARDED, 0, &payload, NULL, err))
        return -1;
    ag_run_discard (journal, run);
    return 0;
}

/*  Kept  */

struct kept {
    ag_journal_t *journal;
    struct ag_run *run;
    struct ag_buf *out;
    uint32_t *count;
    const char *reason;
    enum ag_entity_kind kind;
    uint32_t waiting, forks;
    struct ag_err *err;
    int rc;
};

//  Id p NULL: none.
static void
put_reason (struct kept *self, const char *reason, uint64_t run, uint64_t event, struct ag_str id)
{
    char text[AG_RUN_TEXT];
    ag_run_id (run, text);
    ag_put_map (self->out, id.p ? 4 : 3);
    ag_put_lit (self->out, "reason");
    ag_put_lit (self->out, reason);
    ag_put_lit (self->out, "run");
    ag_put_lit (self->out, text);
    ag_put_lit (self->out, "event");
    ag_put_evt (self->out, event);
    if (id.p) {
        ag_put_lit (self->out, "id");
        ag_put_text (self->out, id);
    }
    ++*self->count;
}

//  A fork that lives, by its cut.
static bool
add_fork (void *arg, struct ag_run *fork)
{
    struct kept *self = arg;
    if (!fork->discarded) {
        put_reason (self, "live-lineage", fork->number, fork->cut, (struct ag_str){0});
        self->forks++;
    }
    return self->forks < AG_KEPT_MAX;
}

static int
put_lineage (struct kept *self)
{
    return ag_run_children (self->journal, self->run->number, 0, add_fork, self, self->err);
}

//  Its last promote, by the marker in the parent.
static int
put_promoted (struct kept *self)
{
    struct ag_key key;
    struct ag_buf hold = {0};
    ag_key_promoted (&key, self->run->number);
    int rc = ag_batch_get (ag_journal_batch (self->journal), AG_META, ag_key_str (&key), &hold,
                           self->err);
    if (rc > 0 && hold.n == 16)
        put_reason (self, "promoted-from", self->run->parent, ag_be64 (hold.p + 8),
                    (struct ag_str){0});
    ag_buf_fini (&hold);
    return rc < 0 ? -1 : 0;
}

static bool
add_waiting (void *arg, struct ag_str id)
{
    struct kept *self = arg;
    struct ag_tip tip = {0};
    self->rc = ag_state_tip (self->journal, self->run, self->kind, id, AG_NOW, &tip, self->err);
    if (self->rc > 0)
        put_reason (self, self->reason, tip.holder->number, tip.created, id);
    ag_tip_fini (&tip);
    return self->rc > 0 && ++self->waiting < AG_KEPT_MAX;
}

static int
put_waiting (struct kept *self, enum ag_entity_kind kind, const char *reason)
{
    self->kind = kind;
    self->reason = reason;
    self->waiting = 0;
    self->rc = 0;
    int rc = ag_state_waiting (self->journal, self->run, kind, AG_NOW, (struct ag_str){0},
                               add_waiting, self, self->err);
    return rc || self->rc < 0 ? -1 : 0;
}

int
ag_kept_write (ag_journal_t *journal, struct ag_run *run, struct ag_buf *out, uint32_t *count,
               struct ag_err *err)
{
    struct kept self = {.journal = journal, .run = run, .out = out, .count = count, .err = err};
    return put_promoted (&self) || put_lineage (&self) ||
                   put_waiting (&self, AG_APPROVAL, "pending-approvals") ||
                   put_waiting (&self, AG_PATCH, "proposed-patches")
               ? -1
               : 0;
}
