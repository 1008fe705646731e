//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/fork.h"
#include "supervisor/journal_impl.h"

#include <string.h>

//  The last event of the promote block that a marker begins.
struct block {
    uint64_t marker, last;
};

static bool
in_block (void *arg, const struct ag_event *event)
{
    struct block *block = arg;
    if (!(event->flags & AG_BLOCK) || event->cause != block->marker)
        return false;
    block->last = event->seq;
    return true;
}

//  Blocks are whole stretches: a cut slices one when the next event belongs to a marker at or before it.
int
ag_fork_check (ag_journal_t *journal, const struct ag_run *run, uint64_t at, struct ag_err *err)
{
    struct ag_event event;
    struct ag_buf hold = {0};
    struct block block = {0};
    int rc = ag_journal_read (journal, run, at, &hold, &event, err);
    if (!rc && at < run->head.tip)
        rc = ag_journal_read (journal, run, at + 1, &hold, &event, err);
    if (!rc && event.seq > at && event.flags & AG_BLOCK && event.cause <= at) {
        char cut[AG_EVT_TEXT], marker[AG_EVT_TEXT], last[AG_EVT_TEXT];
        block.marker = event.cause;
        rc = ag_journal_scan (journal, run, at, UINT64_MAX, in_block, &block, err);
        ag_evt_text (at, cut);
        ag_evt_text (block.marker, marker);
        ag_evt_text (block.last, last);
        if (!rc)
            rc = ag_fail (err, AG_E_SLICED,
                          "a cut at %s would slice the promote from its marker %s to %s", cut,
                          marker, last);
    }
    ag_buf_fini (&hold);
    return rc;
}

int
ag_fork (ag_journal_t *journal, struct ag_run *parent, uint64_t at, const struct ag_birth *birth,
         struct ag_run **fork, struct ag_err *err)
{
    struct ag_run_head base = parent->base;
    struct ag_birth own = *birth;
    bool empty = at == 0 && parent->head.tip == 0;
    if (parent->depth >= (uint32_t)AG_RUN_DEPTH + birth->scratch)
        return ag_fail (err, AG_E_DEPTH, "run %s is %u forks deep already", parent->id,
                        parent->depth);
    if (!empty && (ag_fork_check (journal, parent, at, err) ||
                   ag_run_head_at (journal, parent, at, &base, err)))
        return -1;
    if (!birth->continue_ids)
        memset (base.minted, 0, sizeof base.minted);
    if (own.kind == AG_ROOT)
        own.kind = AG_FORK;
    return ag_run_make (journal, &own, parent, &base, fork, err);
}
