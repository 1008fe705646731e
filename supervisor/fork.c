//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/fork.h"
#include "supervisor/journal_impl.h"

#include <inttypes.h>
#include <string.h>

//  The last event of the promote block that a marker begins; 0 when the payload does not say.
static uint64_t
block_end (const struct ag_event *marker)
{
    struct ag_str text;
    uint64_t seq = 0;
    if (ag_map_text (marker->payload, "block_final_event", &text) || ag_evt_read (text, &seq))
        return 0;
    return seq;
}

int
ag_fork_check (ag_journal_t *journal, const struct ag_run *run, uint64_t at, struct ag_err *err)
{
    struct ag_event event;
    struct ag_buf hold = {0};
    int rc = ag_journal_read (journal, run, at, &hold, &event, err);
    if (!rc && event.flags & AG_BLOCK)
        rc = ag_journal_read (journal, run, event.cause, &hold, &event, err);
    if (!rc && ag_str_eq (event.type, ag_type_name (AG_EV_PROMOTE_APPLIED))) {
        uint64_t end = block_end (&event);
        char cut[AG_EVT_TEXT], marker[AG_EVT_TEXT], last[AG_EVT_TEXT];
        ag_evt_text (at, cut);
        ag_evt_text (event.seq, marker);
        ag_evt_text (end, last);
        if (at < end)
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
    if (parent->depth >= AG_RUN_DEPTH)
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
