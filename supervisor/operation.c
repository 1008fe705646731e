//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/fields.h"
#include "supervisor/operation_inside.h"
#include "supervisor/state_index.h"

#include <inttypes.h>
#include <string.h>

void
ag_applied_fini (struct ag_applied *applied)
{
    ag_buf_fini (&applied->ids);
    *applied = (struct ag_applied){0};
}

/*  Checks  */

//  An id as it was given, or the id behind "@name".
int
ag_apply_resolve (struct ag_apply *self, struct ag_str given, struct ag_str *id, struct ag_err *err)
{
    *id = given;
    if (given.n == 0 || given.p[0] != '@')
        return 0;
    const struct ag_entry *entry =
        ag_omap_find (&self->names, (struct ag_str){given.p + 1, given.n - 1});
    if (!entry)
        return ag_fail (err, AG_E_BAD_OPERATION, "nothing before it in the list is called `%.*s`",
                        AG_STR_ARG (given));
    *id = entry->value;
    return 0;
}

static const char *
kind_name (enum ag_entity_kind kind)
{
    return kind == AG_OBJECT ? "object" : kind == AG_RELATION ? "relation" : "patch";
}

//  Somebody else changed it after the author read.
static bool
contended (const struct ag_apply *self)
{
    uint64_t read_at = self->author->read_at;
    return read_at && self->tip.seq > read_at && self->tip.seq <= self->begin;
}

//  The thing must be there now; its tip stands in self->tip.
int
ag_apply_require (struct ag_apply *self, enum ag_entity_kind kind, struct ag_str id,
                  struct ag_err *err)
{
    int rc = ag_state_tip (self->journal, self->run, kind, id, AG_NOW, &self->tip, err);
    if (rc < 0 || (rc > 0 && self->tip.live))
        return rc < 0 ? -1 : 0;
    const struct ag_entry *parked = ag_omap_find (&self->parked, id);
    if (parked && kind == AG_OBJECT)
        return ag_fail (err, AG_E_WAITING,
                        "object `%.*s` waits for %.*s; nothing can refer to it before that",
                        AG_STR_ARG (id), AG_STR_ARG (parked->value));
    if (rc > 0 && contended (self))
        return ag_fail (err, AG_E_CONTENTION, "%s `%.*s` was removed meanwhile", kind_name (kind),
                        AG_STR_ARG (id));
    return ag_fail (err, AG_E_NOT_FOUND, "there is no %s `%.*s`%s", kind_name (kind),
                    AG_STR_ARG (id), rc > 0 ? "; it was removed" : "");
}

//  As require, and nobody else may have changed it.
static int
require_mine (struct ag_apply *self, enum ag_entity_kind kind, struct ag_str given,
              struct ag_str *id, struct ag_err *err)
{
    if (ag_apply_resolve (self, given, id, err) || ag_apply_require (self, kind, *id, err))
        return -1;
    if (contended (self))
        return ag_fail (err, AG_E_CONTENTION, "%s `%.*s` was changed meanwhile", kind_name (kind),
                        AG_STR_ARG (*id));
    return 0;
}

int
ag_apply_check_data (struct ag_str data, struct ag_err *err)
{
    struct ag_str value;
    if (ag_map_get (data, "provenance", &value))
        return 0;
    return ag_fail (err, AG_E_BAD_OPERATION,
                    "the top-level key `provenance` of data is written by the house alone");
}

static int
read_declared (struct ag_apply *self, struct ag_err *err)
{
    if (!self->declared_read &&
        ag_declared_read (self->journal, self->run, self->run->head.tip, &self->declared, err))
        return -1;
    self->declared_read = true;
    self->run->untyped = self->declared.never; //  what was never noted, no rollback brings back
    return 0;
}

int
ag_apply_fit (struct ag_apply *self, enum ag_entity_kind kind, struct ag_str type,
              struct ag_str *data, struct ag_err *err)
{
    if (read_declared (self, err))
        return -1;
    int rc = ag_declared_fit (&self->declared, kind, type, *data, &self->fitted, err);
    if (rc > 0)
        *data = ag_buf_str (&self->fitted);
    return rc < 0 ? -1 : 0;
}

static struct ag_str
or_empty (struct ag_str map)
{
    return map.p ? map : AG_LIT ("\x80");
}

/*  Ids of new things  */

static enum ag_minted_kind
minted_kind (enum ag_entity_kind kind)
{
    return kind == AG_OBJECT ? AG_MINTED_OBJECT : AG_MINTED_RELATION;
}

static uint64_t
block_begin (const struct ag_mint *block, enum ag_minted_kind kind)
{
    return kind == AG_MINTED_OBJECT ? block->object : block->relation;
}

static uint64_t
max (uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

//  The invocation goes on in its block; anybody else steps over the block of an open invocation.
static uint64_t
next_number (struct ag_apply *self, enum ag_minted_kind kind)
{
    const struct ag_mint *block = self->author->mint;
    uint64_t seen = self->run->head.minted[kind];
    if (!block)
        return seen + 1;
    uint64_t begin = block_begin (block, kind), end = begin + AG_MINT_BLOCK;
    if (!block->mine)
        return max (seen, end) + 1;
    uint64_t next = max (self->minted[kind], begin) + 1;
    self->minted[kind] = next <= end ? next : max (next - 1, seen) + 1;
    return self->minted[kind];
}

//  Each id of the run's own form that an event named raised the counter; those above it are nobody's yet.
static bool
is_beyond (const struct ag_apply *self, enum ag_entity_kind kind)
{
    struct ag_minted minted;
    return ag_minted_read (minted_kind (kind), ag_buf_str (&self->id), &minted) &&
           minted.run == self->run->mint && minted.number <= AG_MINTED_MAX &&
           minted.number > self->run->head.minted[minted_kind (kind)];
}

static int
is_used (struct ag_apply *self, enum ag_entity_kind kind, struct ag_err *err)
{
    if (is_beyond (self, kind))
        return 0;
    return ag_state_tip (self->journal, self->run, kind, ag_buf_str (&self->id), AG_NOW, &self->tip,
                         err);
}

//  A number of the block may have been given by name; then the next one is taken.
static int
mint (struct ag_apply *self, enum ag_entity_kind kind, struct ag_str type, struct ag_err *err)
{
    struct ag_minted minted = {.run = self->run->mint};
    int used, tries = 0;
    do {
        minted.number = next_number (self, minted_kind (kind));
        ag_buf_clear (&self->id);
        ag_minted_write (minted_kind (kind), type, &minted, &self->id);
        used = minted.number > AG_MINTED_MAX ? 1 : is_used (self, kind, err);
    } while (used > 0 && tries++ < AG_MINT_BLOCK && minted.number <= AG_MINTED_MAX);
    if (used > 0)
        return ag_fail (err, AG_E_EXISTS, "no %s number is left: `%.*s` is taken", kind_name (kind),
                        AG_STR_ARG (ag_buf_str (&self->id)));
    return used;
}

//  Tag forms are the house's to give, and of the open invocation in its block.
static int
check_form (const struct ag_apply *self, enum ag_entity_kind kind, struct ag_str id,
            struct ag_err *err)
{
    struct ag_minted minted;
    const struct ag_mint *block = self->author->mint;
    if (!ag_minted_read (minted_kind (kind), id, &minted) || minted.run == 0)
        return 0;
    if (block && block->mine && minted.run == self->run->mint) {
        uint64_t begin = block_begin (block, minted_kind (kind));
        if (minted.number > begin && minted.number <= begin + AG_MINT_BLOCK)
            return 0;
    }
    return ag_fail (err, AG_E_BAD_OPERATION,
                    "`%.*s` has the form of an id that a fork makes itself", AG_STR_ARG (id));
}

static int
take_given (struct ag_apply *self, enum ag_entity_kind kind, struct ag_str id, struct ag_err *err)
{
    if (ag_id_check (id, "the id", err) || check_form (self, kind, id, err))
        return -1;
    ag_buf_clear (&self->id);
    ag_buf_add_str (&self->id, id);
    int used = is_used (self, kind, err);
    if (used > 0)
        return ag_fail (err, AG_E_EXISTS, "%s `%.*s` %s", kind_name (kind), AG_STR_ARG (id),
                        self->tip.live ? "exists already" : "was used and removed");
    return used;
}

int
ag_apply_choose (struct ag_apply *self, enum ag_entity_kind kind, const struct ag_operation *op,
                 struct ag_err *err)
{
    return op->id.p ? take_given (self, kind, op->id, err) : mint (self, kind, op->type, err);
}

//  Remember what `as` calls the thing that was made last.
int
ag_apply_name (struct ag_apply *self, struct ag_str name, struct ag_err *err)
{
    if (!name.p)
        return 0;
    if (ag_id_check (name, "`as`", err))
        return -1;
    struct ag_str id = ag_buf_str (&self->id);
    void *memory = ag_arena_take (&self->arena, ag_entry_size (name, id));
    if (ag_omap_insert (&self->names, ag_entry_make (memory, name, id)))
        return ag_fail (err, AG_E_BAD_OPERATION, "something before it is called `%.*s` already",
                        AG_STR_ARG (name));
    return 0;
}

/*  One function per row of operations.def: 1 when it made what self->id names, 0, -1.  */

static int
add_object (struct ag_apply *self, const struct ag_operation *op, struct ag_err *err)
{
    struct ag_str data = or_empty (op->data);
    const struct ag_policy *policy = self->author->policy;
    if (ag_type_check (op->type, "the type", err) || ag_apply_check_data (data, err) ||
        ag_policy_check (policy, AG_MAY_CREATE, op->type, err) ||
        ag_apply_fit (self, AG_OBJECT, op->type, &data, err) ||
        ag_apply_choose (self, AG_OBJECT, op, err) || ag_apply_name (self, op->as, err))
        return -1;
    if (ag_policy_asks (policy, op->type))
        return ag_apply_park (self, op->type, data, err) ? -1 : 1;
    self->applied->objects++;
    return ag_graph_create (self->journal, self->run, &self->stamp, ag_buf_str (&self->id),
                            op->type, data, err)
               ? -1
               : 1;
}

//  What the object is to become has to fit its type: the patch sets what that takes.
static int
fit_patch (struct ag_apply *self, struct ag_patch *patch, struct ag_buf *change, struct ag_err *err)
{
    struct ag_buf old = {0}, merged = {0};
    if (read_declared (self, err))
        return -1;
    if (!ag_declared_by (&self->declared, AG_OBJECT, self->tip.type).p)
        return 0;
    if (patch->op == AG_REPLACE)
        return ag_apply_fit (self, AG_OBJECT, self->tip.type, &patch->value, err);
    int rc = ag_state_data (self->journal, AG_OBJECT, patch->target, &self->tip, &old, err);
    if (!rc)
        ag_fields_merge (ag_buf_str (&old), patch->value, &merged);
    struct ag_str data = ag_buf_str (&merged);
    if (!rc)
        rc = ag_apply_fit (self, AG_OBJECT, self->tip.type, &data, err);
    if (!rc) {
        ag_fields_change (ag_buf_str (&old), data, patch->value, change);
        patch->value = ag_buf_str (change);
    }
    ag_buf_fini (&old);
    ag_buf_fini (&merged);
    return rc;
}

int
ag_apply_patch (struct ag_apply *self, const struct ag_patch *given, struct ag_err *err)
{
    size_t bytes = 0;
    struct ag_buf change = {0};
    struct ag_patch patch = *given;
    int rc = ag_policy_check (self->author->policy, AG_MAY_APPLY, self->tip.type, err);
    if (!rc)
        rc = fit_patch (self, &patch, &change, err);
    if (!rc)
        rc = ag_graph_patch (self->journal, self->run, &self->stamp, &patch, &self->tip, &bytes,
                             err);
    ag_buf_fini (&change);
    if (rc)
        return -1;
    self->applied->patches++;
    self->patched_bytes += bytes;
    if (self->patched_bytes > AG_APPLY_BYTES)
        return ag_fail (err, AG_E_TOO_LARGE, "the list patches more than %d bytes of data",
                        AG_APPLY_BYTES);
    return 0;
}

static int
change_object (struct ag_apply *self, const struct ag_operation *op, enum ag_patch_op change,
               struct ag_err *err)
{
    struct ag_patch patch = {.value = op->data, .op = change};
    if (ag_apply_check_data (op->data, err) ||
        require_mine (self, AG_OBJECT, op->id, &patch.target, err))
        return -1;
    patch.expected = self->tip.version;
    return ag_apply_patch (self, &patch, err);
}

static int
patch_object (struct ag_apply *self, const struct ag_operation *op, struct ag_err *err)
{
    return change_object (self, op, AG_UPDATE, err);
}

static int
replace_object (struct ag_apply *self, const struct ag_operation *op, struct ag_err *err)
{
    return change_object (self, op, AG_REPLACE, err);
}

static int
check_count (const struct ag_apply *self, struct ag_err *err)
{
    if (self->run->head.tip - self->begin <= AG_APPLY_EVENTS)
        return 0;
    return ag_fail (err, AG_E_TOO_LARGE, "the list makes more than %d events", AG_APPLY_EVENTS);
}

struct ids {
    struct ag_buf text; //  each with a NUL
    size_t count;
};

//  One more than may be removed is enough to be refused.
static bool
collect_id (void *arg, struct ag_str id)
{
    struct ids *ids = arg;
    ag_buf_add_str (&ids->text, id);
    ag_buf_add (&ids->text, "", 1);
    return ids->count++ < AG_APPLY_EVENTS;
}

static int
remove_one (struct ag_apply *self, const struct ag_stamp *stamp, enum ag_entity_kind kind,
            struct ag_str id, struct ag_err *err)
{
    if (ag_apply_require (self, kind, id, err))
        return -1;
    return ag_graph_remove (self->journal, self->run, stamp, kind, id, &self->tip, err);
}

//  The removal of an object takes its relations along, each with its own event that it caused.
static int
remove_relations (struct ag_apply *self, struct ag_str object, struct ag_err *err)
{
    struct ids ids = {0};
    struct ag_stamp stamp = self->stamp;
    stamp.cause = self->run->head.tip;
    int rc = ag_state_relations (self->journal, self->run, object, AG_NOW, AG_LIT (""), collect_id,
                                 &ids, err);
    for (size_t at = 0; !rc && at < ids.text.n;) {
        struct ag_str id = ag_str ((const char *)ids.text.p + at);
        at += id.n + 1;
        rc = remove_one (self, &stamp, AG_RELATION, id, err) || check_count (self, err) ? -1 : 0;
    }
    ag_buf_fini (&ids.text);
    return rc;
}

static int
remove_object (struct ag_apply *self, const struct ag_operation *op, struct ag_err *err)
{
    struct ag_str id;
    if (require_mine (self, AG_OBJECT, op->id, &id, err) ||
        ag_policy_check (self->author->policy, AG_MAY_APPLY, self->tip.type, err) ||
        remove_one (self, &self->stamp, AG_OBJECT, id, err))
        return -1;
    return remove_relations (self, id, err);
}

//  Both ends are there, and a relation of this type may go from one to the other.
static int
check_ends (struct ag_apply *self, const struct ag_operation *op, struct ag_str *source,
            struct ag_str *target, struct ag_err *err)
{
    struct ag_buf from = {0};
    int rc = ag_apply_resolve (self, op->source, source, err) ||
                     ag_apply_resolve (self, op->target, target, err) ||
                     ag_apply_require (self, AG_OBJECT, *source, err) || read_declared (self, err)
                 ? -1
                 : 0;
    if (!rc) {
        ag_buf_add_str (&from, self->tip.type);
        rc = ag_apply_require (self, AG_OBJECT, *target, err);
    }
    if (!rc)
        rc = ag_declared_fit_ends (&self->declared, op->type, ag_buf_str (&from), self->tip.type,
                                   err) < 0
                 ? -1
                 : 0;
    ag_buf_fini (&from);
    return rc;
}

static int
add_relation (struct ag_apply *self, const struct ag_operation *op, struct ag_err *err)
{
    struct ag_str source, target, data = or_empty (op->data);
    if (ag_type_check (op->type, "the type", err) || ag_apply_check_data (data, err) ||
        ag_policy_check (self->author->policy, AG_MAY_RELATE, op->type, err) ||
        check_ends (self, op, &source, &target, err) ||
        ag_apply_fit (self, AG_RELATION, op->type, &data, err) ||
        ag_apply_choose (self, AG_RELATION, op, err) || ag_apply_name (self, op->as, err))
        return -1;
    self->applied->relations++;
    return ag_graph_relate (self->journal, self->run, &self->stamp, ag_buf_str (&self->id),
                            op->type, source, target, data, err)
               ? -1
               : 1;
}

static int
remove_relation (struct ag_apply *self, const struct ag_operation *op, struct ag_err *err)
{
    struct ag_str id;
    return require_mine (self, AG_RELATION, op->id, &id, err) ||
                   ag_policy_check (self->author->policy, AG_MAY_RELATE, self->tip.type, err) ||
                   remove_one (self, &self->stamp, AG_RELATION, id, err)
               ? -1
               : 0;
}

static int
emit (struct ag_apply *self, const struct ag_operation *op, struct ag_err *err)
{
    uint64_t seq;
    if (ag_type_check (op->type, "the event type", err))
        return -1;
    if (ag_type_rule (op->type).writer != AG_BY_ANYONE)
        return ag_fail (err, AG_E_RESERVED, "`%.*s` is an event type of the house",
                        AG_STR_ARG (op->type));
    self->applied->emitted++;
    return ag_graph_append (self->journal, self->run, &self->stamp, op->type,
                            or_empty (op->payload), &seq, err);
}

typedef int (*op_fn) (struct ag_apply *self, const struct ag_operation *op, struct ag_err *err);
static const op_fn handlers[AG_OPS] = {
    [AG_OP_ADD_OBJECT] = add_object,          [AG_OP_PATCH_OBJECT] = patch_object,
    [AG_OP_REPLACE_OBJECT] = replace_object,  [AG_OP_REMOVE_OBJECT] = remove_object,
    [AG_OP_ADD_RELATION] = add_relation,      [AG_OP_REMOVE_RELATION] = remove_relation,
    [AG_OP_PROPOSE_PATCH] = ag_apply_propose, [AG_OP_APPLY_PATCH] = ag_apply_apply,
    [AG_OP_REJECT_PATCH] = ag_apply_reject,   [AG_OP_EMIT] = emit,
};

/*  The list  */

static int
apply_one (struct ag_apply *self, struct ag_str map, uint32_t index, struct ag_err *err)
{
    struct ag_operation op;
    if (ag_operation_read (map, &op, err))
        return ag_wrap (err, "operation %u", index + 1);
    int made = handlers[op.op](self, &op, err);
    if (made < 0 || check_count (self, err))
        return ag_wrap (err, "operation %u (%s)", index + 1, ag_op_name (op.op));
    if (made > 0)
        ag_put_text (&self->applied->ids, ag_buf_str (&self->id));
    else
        ag_put_null (&self->applied->ids);
    return 0;
}

static int
apply_all (struct ag_apply *self, struct ag_str ops, struct ag_err *err)
{
    struct ag_cursor in = ag_cursor (ops);
    struct ag_head head;
    struct ag_str map;
    if (ag_next (&in, &head) || head.kind != AG_LIST)
        return ag_fail (err, AG_E_BAD_OPERATION, "the operations are no list");
    if (head.count > AG_APPLY_EVENTS)
        return ag_fail (err, AG_E_TOO_LARGE, "%u operations are more than %d", head.count,
                        AG_APPLY_EVENTS);
    ag_put_list (&self->applied->ids, head.count);
    for (uint32_t i = 0; i < head.count; i++) {
        if (ag_take (&in, &map))
            return ag_fail (err, AG_E_BAD_OPERATION, "operation %u: unreadable", i + 1);
        if (apply_one (self, map, i, err))
            return -1;
    }
    return 0;
}

int
ag_operations_apply (ag_journal_t *journal, struct ag_run *run, struct ag_str ops,
                     const struct ag_author *author, struct ag_applied *applied, struct ag_err *err)
{
    struct ag_apply self = {.journal = journal,
                            .run = run,
                            .author = author,
                            .begin = run->head.tip,
                            .applied = applied};
    self.stamp = (struct ag_stamp){author->actor, author->frame, author->cause, author->flags,
                                   ag_journal_now (journal)};
    struct ag_mark mark = ag_journal_mark (journal);
    ag_applied_fini (applied);
    int rc = apply_all (&self, ops, err);
    if (rc) {
        ag_journal_rollback (journal, &mark);
        ag_applied_fini (applied);
    } else if (run->head.tip > self.begin) {
        applied->first = self.begin + 1;
        applied->last = run->head.tip;
    }
    ag_tip_fini (&self.tip);
    ag_buf_fini (&self.id);
    ag_buf_fini (&self.fitted);
    ag_declared_fini (&self.declared);
    ag_arena_rewind (&self.arena, (struct ag_place){0});
    return rc;
}
