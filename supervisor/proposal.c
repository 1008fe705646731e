//  Patches that are proposed, and then applied or rejected by somebody else: the operations.
//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/operation_inside.h"
#include "supervisor/waiting.h"

#include <inttypes.h>
#include <stdio.h>

static int
read_change (struct ag_str change, enum ag_patch_op *op, struct ag_err *err)
{
    *op = ag_str_is (change, "replace") ? AG_REPLACE : AG_UPDATE;
    if (!change.p || ag_str_is (change, "update") || *op == AG_REPLACE)
        return 0;
    return ag_fail (err, AG_E_BAD_OPERATION, "`change` is update or replace, not `%.*s`",
                    AG_STR_ARG (change));
}

static uint64_t
number_or (struct ag_str value, uint64_t otherwise)
{
    struct ag_cursor in = ag_cursor (value);
    struct ag_head head;
    return value.p && !ag_next (&in, &head) ? head.u : otherwise;
}

int
ag_apply_propose (struct ag_apply *self, const struct ag_operation *op, struct ag_err *err)
{
    struct ag_patch patch = {
        .value = op->data, .rationale = op->rationale, .evidence = op->evidence};
    if (read_change (op->change, &patch.op, err) || ag_apply_check_data (op->data, err) ||
        ag_apply_resolve (self, op->id, &patch.target, err) ||
        ag_apply_require (self, AG_OBJECT, patch.target, err) ||
        ag_policy_check (self->author->policy, AG_MAY_PROPOSE, self->tip.type, err))
        return -1;
    patch.expected = number_or (op->expected_version, self->tip.version);
    self->applied->proposed++;
    return ag_graph_propose (self->journal, self->run, &self->stamp, &patch, &self->id, err) ||
                   ag_apply_name (self, op->as, err)
               ? -1
               : 1;
}

//  A patch that waits, as its event says it; it borrows from hold.
static int
find (struct ag_apply *self, struct ag_str given, struct ag_buf *hold, struct ag_patch *patch,
      struct ag_err *err)
{
    struct ag_event event;
    struct ag_str map, op;
    if (ag_apply_resolve (self, given, &patch->id, err) ||
        ag_waiting_find (self->journal, self->run, AG_PATCH, patch->id, hold, &event, err))
        return -1;
    if (ag_map_get (event.payload, "patch", &map) || ag_map_text (map, "op", &op) ||
        ag_map_text (map, "target", &patch->target) || ag_map_get (map, "value", &patch->value) ||
        ag_map_uint (map, "expected_version", &patch->expected))
        return ag_fail (err, AG_E_CORRUPT, "event %" PRIu64 " of run %s proposes no patch",
                        event.seq, self->run->id);
    patch->op = ag_str_is (op, "replace") ? AG_REPLACE : AG_UPDATE;
    ag_map_text (map, "proposed_by", &patch->proposed_by);
    ag_map_text (map, "rationale", &patch->rationale);
    ag_map_get (map, "evidence", &patch->evidence);
    return 0;
}

//  The target as it is now in self->tip: 1, or 0 when it is gone.
static int
look (struct ag_apply *self, const struct ag_patch *patch, struct ag_err *err)
{
    int rc =
        ag_state_tip (self->journal, self->run, AG_OBJECT, patch->target, AG_NOW, &self->tip, err);
    return rc > 0 ? self->tip.live : rc;
}

static int
reject (struct ag_apply *self, const struct ag_patch *patch, struct ag_str reason,
        struct ag_err *err)
{
    if (ag_policy_check (self->author->policy, AG_MAY_APPLY, self->tip.type, err))
        return -1;
    return ag_graph_reject (self->journal, self->run, &self->stamp, patch, reason,
                            self->tip.live ? self->tip.version : 0, err);
}

//  Somebody changed the object since: the patch is not what its author meant any more.
static int
reject_stale (struct ag_apply *self, const struct ag_patch *patch, struct ag_err *err)
{
    char reason[160];
    if (self->tip.live)
        snprintf (reason, sizeof reason, "expected version %" PRIu64 ", found %" PRIu64,
                  patch->expected, self->tip.version);
    else
        snprintf (reason, sizeof reason, "expected version %" PRIu64 ", found the object removed",
                  patch->expected);
    return reject (self, patch, ag_str (reason), err);
}

int
ag_apply_apply (struct ag_apply *self, const struct ag_operation *op, struct ag_err *err)
{
    struct ag_buf hold = {0};
    struct ag_patch patch = {0};
    int rc = find (self, op->patch, &hold, &patch, err);
    int there = rc ? -1 : look (self, &patch, err);
    if (there > 0 && self->tip.version == patch.expected)
        rc = ag_apply_patch (self, &patch, err);
    else if (there >= 0)
        rc = reject_stale (self, &patch, err);
    ag_buf_fini (&hold);
    return rc || there < 0 ? -1 : 0;
}

int
ag_apply_reject (struct ag_apply *self, const struct ag_operation *op, struct ag_err *err)
{
    struct ag_buf hold = {0};
    struct ag_patch patch = {0};
    int rc = find (self, op->patch, &hold, &patch, err);
    int there = rc ? -1 : look (self, &patch, err);
    if (there >= 0)
        rc = reject (self, &patch, op->reason, err);
    ag_buf_fini (&hold);
    return rc || there < 0 ? -1 : 0;
}
