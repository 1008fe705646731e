//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/journal_impl.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*  Stored forms  */

//  Numbers as they stand in the struct, each 8 bytes, then the chain.
void
ag_head_encode (const struct ag_run_head *head, bool used, struct ag_buf *out)
{
    ag_buf_be64 (out, head->tip);
    ag_buf_be64 (out, head->facts);
    for (int i = 0; i < AG_MINTED_KINDS; i++)
        ag_buf_be64 (out, head->minted[i]);
    ag_buf_add (out, head->chain, AG_HASH);
    for (int i = 0; used && i < AG_USES; i++)
        ag_buf_be64 (out, head->used[i]);
}

int
ag_head_decode (struct ag_str bytes, bool used, struct ag_run_head *head)
{
    size_t fixed = 8 * (2 + AG_MINTED_KINDS) + AG_HASH;
    const char *p = bytes.p;
    if (bytes.n != fixed + (used ? 8 * AG_USES : 0))
        return -1;
    *head = (struct ag_run_head){.tip = ag_be64 (p), .facts = ag_be64 (p + 8)};
    p += 16;
    for (int i = 0; i < AG_MINTED_KINDS; i++, p += 8)
        head->minted[i] = ag_be64 (p);
    memcpy (head->chain, p, AG_HASH);
    p += AG_HASH;
    for (int i = 0; used && i < AG_USES; i++, p += 8)
        head->used[i] = ag_be64 (p);
    return 0;
}

static void
encode_record (const struct ag_run *run, struct ag_buf *out)
{
    struct ag_buf base = {0};
    ag_head_encode (&run->base, false, &base);
    ag_put_map (out, 10);
    ag_put_pair_uint (out, "parent", run->parent);
    ag_put_pair_uint (out, "kind", run->kind);
    ag_put_pair_uint (out, "effects", run->effects);
    ag_put_pair_uint (out, "mint", run->mint);
    ag_put_pair_uint (out, "created", run->created_us);
    ag_put_pair_uint (out, "depth", run->depth);
    ag_put_lit (out, "label");
    ag_put_lit (out, run->label);
    ag_put_lit (out, "origin");
    ag_put_lit (out, run->origin);
    ag_put_lit (out, "base");
    ag_put_bytes (out, ag_buf_str (&base));
    ag_put_lit (out, "spec");
    ag_put_value (out, run->spec);
    ag_buf_fini (&base);
}

static int
get_bytes (struct ag_str map, const char *key, struct ag_str *bytes)
{
    struct ag_str value;
    struct ag_head head;
    if (ag_map_get (map, key, &value))
        return -1;
    struct ag_cursor in = ag_cursor (value);
    if (ag_next (&in, &head) || head.kind != AG_BYTES)
        return -1;
    *bytes = head.s;
    return 0;
}

//  Older records know no origin.
static int
decode_origin (struct ag_str record, struct ag_run *run)
{
    struct ag_str origin;
    if (ag_map_text (record, "origin", &origin))
        return 0;
    if (origin.n > AG_ORIGIN_BYTES)
        return -1;
    memcpy (run->origin, origin.p, origin.n);
    return 0;
}

//  Spec is copied: the run owns it.
static int
decode_record (struct ag_str record, struct ag_run *run)
{
    uint64_t kind, effects, depth;
    struct ag_str label, base, spec;
    if (ag_map_uint (record, "parent", &run->parent) || ag_map_uint (record, "kind", &kind) ||
        ag_map_uint (record, "effects", &effects) || ag_map_uint (record, "mint", &run->mint) ||
        ag_map_uint (record, "created", &run->created_us) ||
        ag_map_uint (record, "depth", &depth) || ag_map_text (record, "label", &label) ||
        get_bytes (record, "base", &base) || ag_map_get (record, "spec", &spec))
        return -1;
    if (kind > AG_TRIAL || effects > AG_EFFECTS_REPLAY || depth > AG_RUN_DEPTH ||
        label.n > AG_LABEL_BYTES || ag_head_decode (base, false, &run->base) ||
        decode_origin (record, run))
        return -1;
    run->kind = (enum ag_run_kind)kind;
    run->effects = (enum ag_effects)effects;
    run->depth = (uint32_t)depth;
    run->cut = run->base.tip;
    memcpy (run->label, label.p, label.n);
    run->spec = (struct ag_str){ag_str_dup (spec), spec.n};
    return 0;
}

/*  Opening  */

int
ag_run_read_record (ag_journal_t *self, uint64_t number, struct ag_run *run, struct ag_err *err)
{
    struct ag_key key;
    struct ag_buf hold = {0};
    ag_key_run (&key, number);
    run->number = run->index = number;
    ag_run_id (number, run->id);
    int rc = ag_batch_get (self->batch, AG_META, ag_key_str (&key), &hold, err);
    if (rc == 0) {
        ag_key_making (&key, number);
        rc = ag_batch_get (self->batch, AG_META, ag_key_str (&key), &hold, err);
        run->hidden = rc > 0;
    }
    if (rc == 0)
        rc = ag_fail (err, AG_E_NOT_FOUND, "there is no run %s", run->id);
    else if (rc > 0 && decode_record (ag_buf_str (&hold), run))
        rc = ag_fail (err, AG_E_CORRUPT, "the record of run %s is unreadable", run->id);
    ag_buf_fini (&hold);
    return rc < 0 ? -1 : 0;
}

int
ag_run_read_head (ag_journal_t *self, struct ag_run *run, struct ag_err *err)
{
    struct ag_key key;
    struct ag_buf hold = {0};
    ag_key_head (&key, run->number);
    int rc = ag_batch_get (self->batch, AG_META, ag_key_str (&key), &hold, err);
    if (rc == 0 || (rc > 0 && ag_head_decode (ag_buf_str (&hold), true, &run->head)))
        rc = ag_fail (err, AG_E_CORRUPT, "the head of run %s is missing or unreadable", run->id);
    ag_buf_fini (&hold);
    return rc < 0 ? -1 : 0;
}

//  The event at the tip must end in the head's chain, and none may follow it.
static int
check_head (ag_journal_t *self, const struct ag_run *run, struct ag_err *err)
{
    struct ag_key key;
    struct ag_buf hold = {0};
    int last = 1, next;
    bool same = !memcmp (run->head.chain, run->base.chain, AG_HASH);
    if (run->head.tip > run->cut) {
        ag_key_event (&key, run->number, run->head.tip);
        last = ag_batch_get (self->batch, AG_EVENT, ag_key_str (&key), &hold, err);
        same = last > 0 && hold.n > AG_SEED &&
               !memcmp (hold.p + hold.n - AG_SEED, run->head.chain, AG_SEED);
    }
    ag_key_event (&key, run->number, run->head.tip + 1);
    next = last < 0 ? -1 : ag_batch_get (self->batch, AG_EVENT, ag_key_str (&key), &hold, err);
    ag_buf_fini (&hold);
    if (next < 0)
        return -1;
    if (next > 0 || !same || run->head.tip < run->cut)
        return ag_fail (err, AG_E_CORRUPT,
                        "the head of run %s (event %" PRIu64 ") disagrees with its events", run->id,
                        run->head.tip);
    return 0;
}

static int
read_discarded (ag_journal_t *self, struct ag_run *run, struct ag_err *err)
{
    struct ag_key key;
    struct ag_buf hold = {0};
    ag_key_of_run (&key, 'd', run->number);
    int rc = ag_batch_get (self->batch, AG_META, ag_key_str (&key), &hold, err);
    run->discarded = rc > 0;
    ag_buf_fini (&hold);
    return rc < 0 ? -1 : 0;
}

//  Read a run that is not open, its parent first; the run is not yet the journal's.
static int
read_run (ag_journal_t *self, uint64_t number, struct ag_run *run, struct ag_err *err)
{
    struct ag_retained retained;
    if (ag_run_read_record (self, number, run, err) || ag_run_read_head (self, run, err) ||
        check_head (self, run, err) || read_discarded (self, run, err) ||
        ag_retained_get (self->batch, number, &retained, err))
        return -1;
    run->archived = retained.archived;
    if (!run->parent)
        return 0;
    struct ag_run *above;
    if (run->parent >= number)
        return ag_fail (err, AG_E_CORRUPT, "run %s is older than its parent", run->id);
    if (ag_run_get (self, run->parent, &above, err))
        return ag_wrap (err, "the parent of run %s", run->id);
    run->above = above;
    return 0;
}

int
ag_run_get (ag_journal_t *self, uint64_t number, struct ag_run **run, struct ag_err *err)
{
    struct ag_open *open = ag_open_find (self, number);
    if (!open) {
        open = ag_xcalloc (1, sizeof *open);
        if (read_run (self, number, &open->run, err)) {
            free ((char *)open->run.spec.p);
            free (open);
            return -1;
        }
        ag_open_add (self, open, false);
    }
    *run = &open->run;
    return 0;
}

bool
ag_run_is_gone (ag_journal_t *self, uint64_t number)
{
    return number >= self->next_run;
}

/*  Making  */

static int
is_label (ag_journal_t *self, struct ag_str text, struct ag_err *err)
{
    struct ag_key key;
    struct ag_buf hold = {0};
    ag_key_label (&key, text);
    int rc = ag_batch_get (self->batch, AG_META, ag_key_str (&key), &hold, err);
    ag_buf_fini (&hold);
    return rc;
}

static int
check_label (ag_journal_t *self, struct ag_str label, struct ag_err *err)
{
    if (ag_label_check (label, err))
        return -1;
    int taken = is_label (self, label, err);
    uint64_t number;
    if (taken == 0)
        taken = !ag_run_number (label, &number) && number < self->next_run;
    if (taken > 0)
        return ag_fail (err, AG_E_EXISTS, "a run is called `%.*s` already", AG_STR_ARG (label));
    return taken;
}

//  The next number whose id is nobody's label.
static int
next_number (ag_journal_t *self, struct ag_str label, struct ag_run *run, struct ag_err *err)
{
    int taken;
    do {
        run->number = self->next_run++;
        ag_run_id (run->number, run->id);
        taken = ag_str_is (label, run->id) ? 1 : is_label (self, ag_str (run->id), err);
    } while (taken > 0);
    return taken;
}

static void
put_number_record (ag_journal_t *self, const struct ag_key *key, uint64_t number)
{
    struct ag_buf value = {0};
    ag_buf_be64 (&value, number);
    ag_batch_put (self->batch, AG_META, ag_key_str (key), ag_buf_str (&value));
    ag_buf_fini (&value);
}

static void
put_records (ag_journal_t *self, const struct ag_run *run)
{
    struct ag_key key;
    struct ag_buf value = {0};
    if (run->hidden)
        ag_key_making (&key, run->number);
    else
        ag_key_run (&key, run->number);
    encode_record (run, &value);
    ag_batch_put (self->batch, AG_META, ag_key_str (&key), ag_buf_str (&value));
    ag_buf_fini (&value);
    if (run->hidden)
        return;
    if (run->label[0]) {
        ag_key_label (&key, ag_str (run->label));
        put_number_record (self, &key, run->number);
    }
    if (run->parent) {
        ag_key_child (&key, run->parent, run->number);
        ag_batch_put (self->batch, AG_META, ag_key_str (&key), AG_LIT (""));
    }
}

int
ag_run_make (ag_journal_t *self, const struct ag_birth *birth, const struct ag_run *parent,
             const struct ag_run_head *base, struct ag_run **run_p, struct ag_err *err)
{
    if (birth->label.n && check_label (self, birth->label, err))
        return -1;
    struct ag_open *open = ag_xcalloc (1, sizeof *open);
    struct ag_run *run = &open->run;
    if (next_number (self, birth->label, run, err)) {
        free (open);
        return -1;
    }
    run->index = run->number;
    run->kind = birth->kind;
    run->effects = birth->effects;
    run->created_us = ag_journal_now (self);
    run->base = *base;
    run->cut = base->tip;
    run->hidden = birth->hidden;
    if (parent) {
        run->above = parent;
        run->parent = parent->number;
        run->depth = parent->depth + 1;
        run->mint = birth->continue_ids ? parent->mint : run->number;
    } else {
        ag_hash (ag_str (run->id), AG_LIT (""), run->base.chain);
    }
    run->head = run->base;
    if (birth->label.n)
        memcpy (run->label, birth->label.p, birth->label.n);
    if (birth->origin.n)
        memcpy (run->origin, birth->origin.p, birth->origin.n);
    struct ag_str spec = birth->spec.n ? birth->spec : AG_LIT ("\xc0"); //  null
    run->spec = (struct ag_str){ag_str_dup (spec), spec.n};
    put_records (self, run);
    ag_open_add (self, open, true);
    *run_p = run;
    return 0;
}

int
ag_run_create (ag_journal_t *self, const struct ag_birth *birth, struct ag_run **run,
               struct ag_err *err)
{
    assert (birth->kind == AG_ROOT);
    return ag_run_make (self, birth, NULL, &(struct ag_run_head){0}, run, err);
}

int
ag_run_show (ag_journal_t *self, struct ag_run *run, struct ag_str label, struct ag_err *err)
{
    struct ag_key key;
    assert (run->hidden);
    if (label.n && check_label (self, label, err))
        return -1;
    ag_open_change (self, run, AG_DONE_SHOWN);
    run->hidden = false;
    if (label.n)
        memcpy (run->label, label.p, label.n);
    put_records (self, run);
    ag_key_making (&key, run->number);
    ag_batch_delete (self->batch, AG_META, ag_key_str (&key));
    return 0;
}

void
ag_run_discard (ag_journal_t *self, struct ag_run *run)
{
    struct ag_key key;
    ag_open_change (self, run, AG_DONE_DISCARDED);
    run->discarded = true;
    ag_key_of_run (&key, 'd', run->number);
    ag_batch_put (self->batch, AG_META, ag_key_str (&key), AG_LIT (""));
    if (!run->label[0])
        return;
    ag_key_label (&key, ag_str (run->label));
    ag_batch_delete (self->batch, AG_META, ag_key_str (&key));
}

void
ag_run_skip (ag_journal_t *self, uint64_t number)
{
    if (number >= self->next_run)
        self->next_run = number + 1;
}

/*  The head at an earlier event  */

struct fold {
    struct ag_run_head *head;
    uint64_t mint;
};

static bool
fold_event (void *arg, const struct ag_event *event)
{
    struct fold *fold = arg;
    ag_head_add (fold->head, fold->mint, event);
    return true;
}

//  The nearest head at or below seq that is stored: a checkpoint, or the base.
static int
nearest_head (ag_journal_t *self, const struct ag_run *run, uint64_t seq, struct ag_run_head *head,
              struct ag_err *err)
{
    uint64_t at = seq - seq % AG_CHECKPOINT;
    *head = run->base;
    if (at <= run->base.tip)
        return 0;
    struct ag_key key;
    struct ag_buf hold = {0};
    ag_key_checkpoint (&key, run->number, at);
    int rc = ag_batch_get (self->batch, AG_META, ag_key_str (&key), &hold, err);
    if (rc == 0 || (rc > 0 && ag_head_decode (ag_buf_str (&hold), false, head)))
        rc = ag_fail (err, AG_E_CORRUPT, "the checkpoint of run %s at event %" PRIu64 " is missing",
                      run->id, at);
    ag_buf_fini (&hold);
    return rc < 0 ? -1 : 0;
}

int
ag_run_head_at (ag_journal_t *self, const struct ag_run *run, uint64_t seq,
                struct ag_run_head *head, struct ag_err *err)
{
    const struct ag_run *holder = ag_run_holder (run, seq);
    struct fold fold = {head, holder->mint};
    int rc = 0;
    if (seq == holder->head.tip)
        *head = holder->head;
    else
        rc = nearest_head (self, holder, seq, head, err);
    if (!rc)
        rc = ag_journal_scan (self, holder, head->tip, seq, fold_event, &fold, err);
    memset (head->used, 0, sizeof head->used);
    if (holder->mint != run->mint)
        memset (head->minted, 0, sizeof head->minted);
    return rc;
}
