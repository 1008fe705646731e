//  Objects that need an operator's approval: parked, and made when it is granted.
//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/operation_inside.h"
#include "supervisor/state_index.h"
#include "supervisor/waiting.h"

#include <inttypes.h>

static void
put_proposal (const struct ag_apply *self, struct ag_str approval, struct ag_str type,
              struct ag_str data, struct ag_buf *out)
{
    const struct ag_policy *policy = self->author->policy;
    ag_put_map (out, 7);
    ag_put_pair_or_null (out, "approval_id", approval);
    ag_put_pair_or_null (out, "object_type", type);
    ag_put_pair_or_null (out, "reason", AG_LIT ("requires_approval"));
    ag_put_pair_or_null (out, "pack", policy->pack);
    ag_put_lit (out, "data");
    ag_put_value (out, data);
    ag_put_pair_or_null (out, "behavior", policy->behavior);
    ag_put_pair_or_null (out, "id", ag_buf_str (&self->id));
}

int
ag_apply_park (struct ag_apply *self, struct ag_str type, struct ag_str data, struct ag_err *err)
{
    struct ag_minted minted = {self->run->mint, self->run->head.minted[AG_MINTED_APPROVAL] + 1};
    struct ag_buf approval = {0}, payload = {0};
    uint64_t seq;
    ag_minted_write (AG_MINTED_APPROVAL, (struct ag_str){0}, &minted, &approval);
    put_proposal (self, ag_buf_str (&approval), type, data, &payload);
    int rc =
        ag_graph_append (self->journal, self->run, &self->stamp,
                         ag_type_name (AG_EV_APPROVAL_PROPOSED), ag_buf_str (&payload), &seq, err);
    if (!rc) {
        struct ag_str id = ag_buf_str (&self->id), name = ag_buf_str (&approval);
        void *memory = ag_arena_take (&self->arena, ag_entry_size (id, name));
        ag_omap_insert (&self->parked, ag_entry_make (memory, id, name));
        ag_state_propose (self->journal, self->run, AG_APPROVAL, name, seq);
    }
    ag_buf_fini (&approval);
    ag_buf_fini (&payload);
    return rc;
}

//  What the event that proposed it says.
struct proposal {
    struct ag_buf hold;
    struct ag_event event;
    struct ag_str type, id, data, behavior;
};

static int
find (ag_journal_t *journal, struct ag_run *run, struct ag_str approval, struct proposal *found,
      struct ag_err *err)
{
    struct ag_event *event = &found->event;
    if (ag_waiting_find (journal, run, AG_APPROVAL, approval, &found->hold, event, err))
        return -1;
    if (ag_map_text (event->payload, "object_type", &found->type) ||
        ag_map_text (event->payload, "id", &found->id) ||
        ag_map_text (event->payload, "behavior", &found->behavior) ||
        ag_map_get (event->payload, "data", &found->data))
        return ag_fail (err, AG_E_CORRUPT, "event %" PRIu64 " of run %s asks for no approval",
                        event->seq, run->id);
    return 0;
}

//  approval.granted or approval.denied: it waits no more.
static int
decide (ag_journal_t *journal, struct ag_run *run, const struct proposal *found,
        struct ag_str approval, enum ag_type type, const struct ag_buf *payload, uint64_t *seq,
        struct ag_err *err)
{
    struct ag_stamp stamp = {.actor = AG_LIT ("user"),
                             .frame = found->event.frame,
                             .cause = found->event.seq,
                             .time_us = ag_journal_now (journal)};
    if (ag_graph_append (journal, run, &stamp, ag_type_name (type), ag_buf_str (payload), seq, err))
        return -1;
    return ag_state_decide (journal, run, AG_APPROVAL, approval, *seq, err) < 0 ? -1 : 0;
}

//  The object is its behaviour's, and caused by the decision.
static int
make (ag_journal_t *journal, struct ag_run *run, const struct proposal *found, uint64_t granted,
      struct ag_err *err)
{
    struct ag_tip tip = {0};
    struct ag_stamp stamp = {.actor = found->behavior,
                             .frame = found->event.frame,
                             .cause = granted,
                             .time_us = ag_journal_now (journal)};
    struct ag_declared declared = {0};
    struct ag_buf fitted = {0};
    int rc = ag_state_tip (journal, run, AG_OBJECT, found->id, AG_NOW, &tip, err);
    ag_tip_fini (&tip);
    if (rc > 0)
        return ag_fail (err, AG_E_EXISTS, "object `%.*s` was made by somebody else meanwhile",
                        AG_STR_ARG (found->id));
    if (!rc)
        rc = ag_declared_read (journal, run, run->head.tip, &declared, err);
    if (!rc) //  its type may have been declared meanwhile
        rc = ag_declared_fit (&declared, AG_OBJECT, found->type, found->data, &fitted, err);
    if (rc >= 0)
        rc = ag_graph_create (journal, run, &stamp, found->id, found->type,
                              rc > 0 ? ag_buf_str (&fitted) : found->data, err);
    ag_declared_fini (&declared);
    ag_buf_fini (&fitted);
    return rc;
}

int
ag_approval_grant (ag_journal_t *journal, struct ag_run *run, struct ag_str approval,
                   struct ag_str by, struct ag_buf *id, struct ag_err *err)
{
    struct proposal found = {0};
    struct ag_buf payload = {0};
    uint64_t seq;
    struct ag_mark mark = ag_journal_mark (journal);
    int rc = find (journal, run, approval, &found, err);
    if (!rc) {
        ag_put_map (&payload, 3);
        ag_put_pair_or_null (&payload, "approval_id", approval);
        ag_put_pair_or_null (&payload, "object_type", found.type);
        ag_put_pair_or_null (&payload, "approved_by", by);
        rc = decide (journal, run, &found, approval, AG_EV_APPROVAL_GRANTED, &payload, &seq, err);
    }
    if (!rc)
        rc = make (journal, run, &found, seq, err);
    if (rc)
        ag_journal_rollback (journal, &mark);
    else
        ag_buf_add_str (id, found.id);
    ag_buf_fini (&payload);
    ag_buf_fini (&found.hold);
    return rc;
}

int
ag_approval_deny (ag_journal_t *journal, struct ag_run *run, struct ag_str approval,
                  struct ag_str by, struct ag_str reason, struct ag_err *err)
{
    struct proposal found = {0};
    struct ag_buf payload = {0};
    uint64_t seq;
    int rc = find (journal, run, approval, &found, err);
    if (!rc) {
        ag_put_map (&payload, 4);
        ag_put_pair_or_null (&payload, "approval_id", approval);
        ag_put_pair_or_null (&payload, "object_type", found.type);
        ag_put_pair_or_null (&payload, "denied_by", by);
        ag_put_pair_or_null (&payload, "reason", reason);
        rc = decide (journal, run, &found, approval, AG_EV_APPROVAL_DENIED, &payload, &seq, err);
    }
    ag_buf_fini (&payload);
    ag_buf_fini (&found.hold);
    return rc;
}
