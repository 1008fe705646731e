//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/graph.h"
#include "supervisor/fields.h"
#include "supervisor/state_index.h"

#include <inttypes.h>

static void
put_provenance (struct ag_buf *out, const struct ag_run *run, const struct ag_stamp *stamp)
{
    char time[AG_TIME_TEXT];
    ag_time_text (stamp->time_us, time);
    ag_put_lit (out, "provenance");
    ag_put_map (out, 6);
    ag_put_pair_or_null (out, "created_by", stamp->actor);
    ag_put_lit (out, "caused_by_event");
    ag_put_evt (out, stamp->cause);
    ag_put_pair_or_null (out, "frame_id", stamp->frame);
    ag_put_pair_text (out, "timestamp", ag_str (time));
    ag_put_lit (out, "evidence");
    ag_put_list (out, 0);
    ag_put_pair_text (out, "run_id", ag_str (run->id));
}

int
ag_graph_append (ag_journal_t *journal, struct ag_run *run, const struct ag_stamp *stamp,
                 struct ag_str type, struct ag_str payload, uint64_t *seq, struct ag_err *err)
{
    const struct ag_draft draft = {.type = type,
                                   .payload = payload,
                                   .actor = stamp->actor,
                                   .frame = stamp->frame,
                                   .cause = stamp->cause,
                                   .flags = stamp->flags,
                                   .time_us = stamp->time_us};
    return ag_journal_append (journal, run, &draft, seq, err);
}

static int
append (ag_journal_t *journal, struct ag_run *run, const struct ag_stamp *stamp, enum ag_type type,
        const struct ag_buf *payload, uint64_t *seq, struct ag_err *err)
{
    return ag_graph_append (journal, run, stamp, ag_type_name (type), ag_buf_str (payload), seq,
                            err);
}

int
ag_graph_create (ag_journal_t *journal, struct ag_run *run, const struct ag_stamp *stamp,
                 struct ag_str id, struct ag_str type, struct ag_str data, struct ag_err *err)
{
    struct ag_buf payload = {0};
    uint64_t seq;
    ag_put_map (&payload, 2);
    ag_put_lit (&payload, "object");
    ag_put_map (&payload, 5);
    ag_put_pair_text (&payload, "id", id);
    ag_put_pair_text (&payload, "type", type);
    ag_put_pair_value (&payload, "data", data);
    ag_put_lit (&payload, "version");
    ag_put_uint (&payload, 1);
    put_provenance (&payload, run, stamp);
    ag_put_pair_text (&payload, "id", id);

    int rc = append (journal, run, stamp, AG_EV_OBJECT_CREATED, &payload, &seq, err);
    if (!rc) {
        ag_state_create (journal, run, AG_OBJECT, id, type, (struct ag_str){0}, (struct ag_str){0},
                         seq);
        ag_state_keep (journal, run, id, seq, data);
    }
    ag_buf_fini (&payload);
    return rc;
}

int
ag_graph_relate (ag_journal_t *journal, struct ag_run *run, const struct ag_stamp *stamp,
                 struct ag_str id, struct ag_str type, struct ag_str source, struct ag_str target,
                 struct ag_str data, struct ag_err *err)
{
    struct ag_buf payload = {0};
    uint64_t seq;
    ag_put_map (&payload, 4);
    ag_put_lit (&payload, "relation");
    ag_put_map (&payload, 6);
    ag_put_pair_text (&payload, "id", id);
    ag_put_pair_text (&payload, "source", source);
    ag_put_pair_text (&payload, "target", target);
    ag_put_pair_text (&payload, "type", type);
    ag_put_pair_value (&payload, "data", data);
    put_provenance (&payload, run, stamp);
    ag_put_pair_text (&payload, "id", id);
    ag_put_pair_text (&payload, "source", source);
    ag_put_pair_text (&payload, "target", target);

    int rc = append (journal, run, stamp, AG_EV_RELATION_CREATED, &payload, &seq, err);
    if (!rc)
        ag_state_create (journal, run, AG_RELATION, id, type, source, target, seq);
    ag_buf_fini (&payload);
    return rc;
}

//  A patch while its event is made.
struct making {
    const struct ag_patch *patch;
    const char *status;
    struct ag_buf id, old, merged, payload;
};

static void
making_fini (struct making *self)
{
    ag_buf_fini (&self->id);
    ag_buf_fini (&self->old);
    ag_buf_fini (&self->merged);
    ag_buf_fini (&self->payload);
}

static struct ag_str
patched (const struct making *self)
{
    return self->patch->op == AG_UPDATE ? ag_buf_str (&self->merged) : self->patch->value;
}

static void
put_patch (struct making *self, const struct ag_run *run, const struct ag_stamp *stamp)
{
    const struct ag_patch *patch = self->patch;
    struct ag_buf *out = &self->payload;
    ag_put_lit (out, "patch");
    ag_put_map (out, 11);
    ag_put_pair_text (out, "id", ag_buf_str (&self->id));
    ag_put_pair_text (out, "target", patch->target);
    ag_put_pair_text (out, "op", patch->op == AG_UPDATE ? AG_LIT ("update") : AG_LIT ("replace"));
    ag_put_pair_value (out, "value", patch->value);
    ag_put_lit (out, "expected_version");
    ag_put_uint (out, patch->expected);
    ag_put_pair_or_null (out, "proposed_by", patch->id.p ? patch->proposed_by : stamp->actor);
    ag_put_pair_or_null (out, "rationale", patch->rationale);
    ag_put_pair_value (out, "evidence", patch->evidence.p ? patch->evidence : AG_LIT ("\x90"));
    ag_put_pair_text (out, "status", ag_str (self->status));
    ag_put_pair_or_null (out, "rejection_reason", (struct ag_str){0});
    put_provenance (out, run, stamp);
}

//  Its own id, or the next one.
static void
choose_id (struct making *self, const struct ag_run *run)
{
    struct ag_minted minted = {run->mint, run->head.minted[AG_MINTED_PATCH] + 1};
    if (self->patch->id.p)
        ag_buf_add_str (&self->id, self->patch->id);
    else
        ag_minted_write (AG_MINTED_PATCH, (struct ag_str){0}, &minted, &self->id);
}

int
ag_graph_propose (ag_journal_t *journal, struct ag_run *run, const struct ag_stamp *stamp,
                  const struct ag_patch *patch, struct ag_buf *id, struct ag_err *err)
{
    struct making self = {.patch = patch, .status = "proposed"};
    uint64_t seq;
    choose_id (&self, run);
    ag_put_map (&self.payload, 1);
    put_patch (&self, run, stamp);
    int rc = append (journal, run, stamp, AG_EV_PATCH_PROPOSED, &self.payload, &seq, err);
    if (!rc) {
        ag_state_propose (journal, run, AG_PATCH, ag_buf_str (&self.id), seq);
        ag_buf_clear (id);
        ag_buf_add_str (id, ag_buf_str (&self.id));
    }
    making_fini (&self);
    return rc;
}

//  The event of a patch that applies: what the object was and will be, and who let it happen.
static int
make_applied (struct making *self, ag_journal_t *journal, const struct ag_run *run,
              const struct ag_stamp *stamp, const struct ag_tip *before, struct ag_err *err)
{
    const struct ag_patch *patch = self->patch;
    if (ag_state_data (journal, AG_OBJECT, patch->target, before, &self->old, err))
        return -1;
    if (patch->op == AG_UPDATE)
        ag_fields_merge (ag_buf_str (&self->old), patch->value, &self->merged);
    choose_id (self, run);
    ag_put_map (&self->payload, patch->id.p ? 4 : 3);
    put_patch (self, run, stamp);
    ag_put_pair_text (&self->payload, "target", patch->target);
    ag_put_lit (&self->payload, "diff");
    ag_fields_diff (ag_buf_str (&self->old), patched (self), &self->payload);
    if (patch->id.p)
        ag_put_pair_or_null (&self->payload, "approved_by", stamp->actor);
    return 0;
}

int
ag_graph_patch (ag_journal_t *journal, struct ag_run *run, const struct ag_stamp *stamp,
                const struct ag_patch *patch, const struct ag_tip *before, size_t *bytes,
                struct ag_err *err)
{
    struct making self = {.patch = patch, .status = "applied"};
    uint64_t seq;
    int rc = make_applied (&self, journal, run, stamp, before, err);
    if (!rc)
        rc = append (journal, run, stamp, AG_EV_PATCH_APPLIED, &self.payload, &seq, err);
    if (!rc)
        ag_state_patch (journal, run, patch->target, before, patch->op, patched (&self), seq);
    if (!rc && patch->id.p)
        rc = ag_state_decide (journal, run, AG_PATCH, patch->id, seq, err) < 0 ? -1 : 0;
    *bytes = patched (&self).n;
    making_fini (&self);
    return rc;
}

int
ag_graph_reject (ag_journal_t *journal, struct ag_run *run, const struct ag_stamp *stamp,
                 const struct ag_patch *patch, struct ag_str reason, uint64_t version,
                 struct ag_err *err)
{
    struct ag_buf payload = {0};
    uint64_t seq;
    ag_put_map (&payload, 4);
    ag_put_pair_text (&payload, "patch_id", patch->id);
    ag_put_pair_text (&payload, "target", patch->target);
    ag_put_pair_or_null (&payload, "reason", reason);
    ag_put_lit (&payload, "current_version");
    ag_put_uint (&payload, version);
    int rc = append (journal, run, stamp, AG_EV_PATCH_REJECTED, &payload, &seq, err);
    if (!rc)
        rc = ag_state_decide (journal, run, AG_PATCH, patch->id, seq, err) < 0 ? -1 : 0;
    ag_buf_fini (&payload);
    return rc;
}

int
ag_graph_remove (ag_journal_t *journal, struct ag_run *run, const struct ag_stamp *stamp,
                 enum ag_entity_kind kind, struct ag_str id, const struct ag_tip *before,
                 struct ag_err *err)
{
    enum ag_type type = kind == AG_OBJECT ? AG_EV_OBJECT_REMOVED : AG_EV_RELATION_REMOVED;
    struct ag_buf payload = {0};
    uint64_t seq;
    ag_put_map (&payload, 1);
    ag_put_pair_text (&payload, "id", id);
    int rc = append (journal, run, stamp, type, &payload, &seq, err);
    if (!rc)
        ag_state_remove (journal, run, kind, id, before, seq);
    ag_buf_fini (&payload);
    return rc;
}
