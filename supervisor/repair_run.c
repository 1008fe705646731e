//  Runs: how far each is whole, and its events and records into the new store.
//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/repair_impl.h"
#include "supervisor/state_index.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TURN_EVENTS = 500, TURN_BYTES = 8 << 20, GAP = 1000 };

//  What is known of one run before it is copied.
struct found {
    struct ag_run run; //  its record
    bool known;        //  the record was read
    uint64_t tip;      //  of the longest whole prefix
    uint64_t first_lost;
    char reason[440]; //  empty: nothing of it is lost
};

//  Of one stretch of the stream that is being copied.
struct stretch {
    uint64_t run, first, count, last;
};

static void
lose (struct found *found, uint64_t seq, const char *reason)
{
    found->first_lost = seq;
    snprintf (found->reason, sizeof found->reason, "%s", reason);
}

static void
add_row (struct ag_repair *self, const struct found *found)
{
    ag_put_map (&self->runs, 5);
    ag_put_lit (&self->runs, "run");
    ag_put_lit (&self->runs, found->run.id);
    ag_put_lit (&self->runs, "label");
    ag_put_lit (&self->runs, found->run.label);
    ag_put_lit (&self->runs, "events");
    ag_put_uint (&self->runs, found->tip - found->run.cut);
    ag_put_lit (&self->runs, "first_lost");
    ag_put_evt (&self->runs, found->first_lost);
    ag_put_lit (&self->runs, "reason");
    if (found->reason[0])
        ag_put_lit (&self->runs, found->reason);
    else
        ag_put_null (&self->runs);
    self->run_count++;
    self->lost = self->lost || found->reason[0];
}

/*  How far it is whole  */

//  1 when a key of the run is stored there at or after this one, 0, -1.
static int
has_key (struct ag_repair *self, enum ag_table table, const struct ag_key *from, char kind,
         uint64_t run)
{
    struct ag_key all;
    struct ag_str key, value;
    struct ag_err err;
    ag_key_of_run (&all, kind, run);
    struct ag_key to = ag_key_end (&all);
    ag_scan_t *scan = ag_store_scan (self->old->store, table, ag_key_str (from), ag_key_str (&to));
    int rc = ag_scan_next (scan, &key, &value, &err);
    ag_scan_destroy (&scan);
    return rc;
}

//  Not 0 when an event of the run is stored at seq or after it, in the log or in the archive, or may be.
static int
has_later (struct ag_repair *self, uint64_t run, uint64_t seq)
{
    struct ag_key logged, archived;
    ag_key_event (&logged, run, seq);
    ag_key_archived (&archived, run, seq);
    int rc = has_key (self, AG_EVENT, &logged, 'v', run);
    return rc ? rc : has_key (self, AG_BLOB, &archived, 'a', run);
}

static int
read_event (struct ag_repair *self, uint64_t run, uint64_t seq, struct ag_event *event,
            struct ag_err *err)
{
    struct ag_key key;
    ag_key_event (&key, run, seq);
    ag_buf_clear (&self->value);
    int rc = ag_store_get (self->old->store, AG_EVENT, ag_key_str (&key), &self->value, err);
    if (rc == 0)
        rc = ag_archive_get (&self->old->archive, self->old->batch, run, seq, &self->value, err);
    if (rc > 0 && ag_event_decode (run, seq, ag_buf_str (&self->value), event, err))
        return -1;
    return rc;
}

//  Walks the chain to where it ends. A prefix that ends among the events of a promote ends before its marker.
static void
measure (struct ag_repair *self, struct found *found)
{
    struct ag_run *run = &found->run;
    struct ag_run_head head = run->base;
    struct ag_event event;
    struct ag_err err;
    uint64_t marker = 0;
    int rc;
    while ((rc = read_event (self, run->number, head.tip + 1, &event, &err)) > 0) {
        ag_head_add (&head, run->mint, &event);
        if (memcmp (event.seed, head.chain, AG_SEED))
            break;
        if (ag_str_eq (event.type, ag_type_name (AG_EV_PROMOTE_APPLIED)))
            marker = event.seq;
        else if (!(event.flags & AG_BLOCK))
            marker = 0;
        found->tip = head.tip;
    }
    if (rc > 0)
        lose (found, head.tip, "it is not what the chain says");
    else if (rc < 0)
        lose (found, head.tip + 1, err.text);
    else if (run->head.tip > head.tip || has_later (self, run->number, head.tip + 1))
        lose (found, head.tip + 1, "it is missing");
    if (found->reason[0] && marker) {
        found->tip = marker - 1;
        lose (found, marker, "the promote that it begins is not whole");
    }
}

//  A fork goes on from its parent as it was: that has to be there.
static int
check_parent (struct ag_repair *self, struct found *found, struct ag_err *err)
{
    struct ag_run *above;
    struct ag_run_head head;
    char id[AG_RUN_TEXT], reason[120];
    ag_run_id (found->run.parent, id);
    snprintf (reason, sizeof reason, "its parent %s is not kept up to event %" PRIu64, id,
              found->run.cut);
    if (ag_run_get (self->fresh, found->run.parent, &above, err)) {
        lose (found, found->run.cut + 1, reason);
        return err->code == AG_E_NOT_FOUND ? 0 : -1;
    }
    if (above->head.tip < found->run.cut) {
        lose (found, found->run.cut + 1, reason);
        return 0;
    }
    if (above->head.tip && ag_run_head_at (self->fresh, above, found->run.cut, &head, err))
        return -1;
    if (above->head.tip && memcmp (head.chain, found->run.base.chain, AG_HASH))
        lose (found, found->run.cut + 1, "it does not go on from its parent's chain");
    return 0;
}

//  The record, and the head for what only it knows. 0 also when the record cannot be read.
static int
find (struct ag_repair *self, uint64_t number, struct found *found, struct ag_err *err)
{
    struct ag_err why;
    ag_run_id (number, found->run.id);
    if (!ag_run_read_record (self->old, number, &found->run, &why)) {
        found->known = true;
        found->tip = found->run.cut;
        if (ag_run_read_head (self->old, &found->run, &why))
            found->run.head = found->run.base;
        return found->run.parent ? check_parent (self, found, err) : 0;
    }
    bool counted =
        number < self->old->next_run; //  beyond that only an event shows that there was a run
    int later = has_later (self, number, 1);
    if (later > 0 || (counted && (later || why.code != AG_E_NOT_FOUND)))
        lose (found, 1, why.code == AG_E_NOT_FOUND ? "its record is missing" : why.text);
    return 0;
}

/*  Into the new store  */

//  Whether its label is its own still: a discarded fork's may be another's. One that cannot be read is.
static bool
is_labelled (struct ag_repair *self, const struct ag_key *label, uint64_t number)
{
    struct ag_err err;
    struct ag_buf value = {0};
    int rc = ag_store_get (self->old->store, AG_META, ag_key_str (label), &value, &err);
    bool its = rc < 0 || (rc > 0 && value.n == 8 && ag_be64 (value.p) == number);
    ag_buf_fini (&value);
    return its;
}

//  As it was written, under the same key.
static int
copy_record (struct ag_repair *self, const struct ag_run *run, struct ag_err *err)
{
    struct ag_key key;
    struct ag_buf number = {0};
    ag_batch_t *batch = self->fresh->batch;
    ag_buf_clear (&self->value);
    ag_key_run (&key, run->number);
    if (ag_store_get (self->old->store, AG_META, ag_key_str (&key), &self->value, err) < 0)
        return -1;
    ag_batch_put (batch, AG_META, ag_key_str (&key), ag_buf_str (&self->value));
    ag_key_label (&key, ag_str (run->label));
    if (run->label[0] && is_labelled (self, &key, run->number)) {
        ag_buf_be64 (&number, run->number);
        ag_batch_put (batch, AG_META, ag_key_str (&key), ag_buf_str (&number));
    }
    if (run->parent) {
        ag_key_child (&key, run->parent, run->number);
        ag_batch_put (batch, AG_META, ag_key_str (&key), AG_LIT (""));
    }
    struct ag_run_head head = run->base;
    memcpy (head.used, run->head.used, sizeof head.used);
    ag_buf_clear (&number);
    ag_key_head (&key, run->number);
    ag_head_encode (&head, true, &number);
    ag_batch_put (batch, AG_META, ag_key_str (&key), ag_buf_str (&number));
    ag_buf_fini (&number);
    return 0;
}

//  A stretch of the stream, under the number of its last event.
static void
end_stretch (struct ag_repair *self, struct stretch *stretch)
{
    struct ag_key key;
    struct ag_buf value = {0};
    if (stretch->count) {
        ag_key_stream (&key, stretch->last);
        ag_buf_be64 (&value, stretch->run);
        ag_buf_be64 (&value, stretch->first);
        ag_buf_be64 (&value, stretch->count);
        ag_batch_put (self->fresh->batch, AG_META, ag_key_str (&key), ag_buf_str (&value));
    }
    ag_buf_fini (&value);
    stretch->count = 0;
}

static void
add_to_stretch (struct ag_repair *self, struct stretch *stretch, const struct ag_event *event)
{
    if (!event->stream)
        return;
    if (event->stream != stretch->last + 1)
        end_stretch (self, stretch);
    if (!stretch->count++)
        stretch->first = event->seq;
    stretch->last = event->stream;
    if (self->fresh->stream < event->stream)
        self->fresh->stream = event->stream;
    self->told++;
}

static int
copy_event (struct ag_repair *self, const struct found *found, uint64_t seq,
            struct stretch *stretch, struct ag_err *err)
{
    struct ag_event event;
    struct ag_run *run;
    if (read_event (self, found->run.number, seq, &event, err) <= 0 ||
        ag_run_get (self->fresh, found->run.number, &run, err))
        return -1;
    int adopted = ag_journal_adopt (self->fresh, run, &event, ag_buf_str (&self->value));
    assert (adopted);
    add_to_stretch (self, stretch, &event);
    self->events++;
    return ag_state_apply (self->fresh, run, &event, err);
}

//  A turn is written with a stretch of its own.
static int
copy_events (struct ag_repair *self, const struct found *found, struct ag_err *err)
{
    struct stretch stretch = {.run = found->run.number};
    uint64_t in_turn = 0;
    for (uint64_t seq = found->run.cut + 1; seq <= found->tip; seq++) {
        if (copy_event (self, found, seq, &stretch, err))
            return -1;
        if (++in_turn % TURN_EVENTS && ag_batch_bytes (self->fresh->batch) < TURN_BYTES)
            continue;
        end_stretch (self, &stretch);
        if (ag_journal_commit (self->fresh, err))
            return -1;
    }
    end_stretch (self, &stretch);
    return 0;
}

/*  What stands beside the events  */

static bool
is_note_kept (const struct found *found, uint64_t parent_tip, struct ag_str key,
              struct ag_str value)
{
    (void)parent_tip;
    (void)value;
    return ~ag_key_last_number (key) <= found->tip;
}

static bool
is_count_kept (const struct found *found, uint64_t parent_tip, struct ag_str key,
               struct ag_str value)
{
    (void)found;
    (void)parent_tip;
    (void)key;
    return value.n == 8;
}

static bool
is_mark_kept (const struct found *found, uint64_t parent_tip, struct ag_str key,
              struct ag_str value)
{
    (void)found;
    (void)parent_tip;
    (void)key;
    return value.n == 0;
}

static bool
is_effect_kept (const struct found *found, uint64_t parent_tip, struct ag_str key,
                struct ag_str value)
{
    (void)parent_tip;
    (void)key;
    return value.n == 8 && ag_be64 (value.p) <= found->tip;
}

static bool
is_wrote_kept (const struct found *found, uint64_t parent_tip, struct ag_str key,
               struct ag_str value)
{
    (void)found;
    (void)key;
    return value.n == 8 && ag_be64 (value.p) <= parent_tip;
}

static bool
is_promoted_kept (const struct found *found, uint64_t parent_tip, struct ag_str key,
                  struct ag_str value)
{
    (void)key;
    return value.n == 16 && ag_be64 (value.p) <= found->tip && ag_be64 (value.p + 8) <= parent_tip;
}

//  Kinds of META whose keys go on with the run, and which of them speak of events that are kept.
static const struct {
    char kind;
    const char *what;
    bool (*is_kept) (const struct found *, uint64_t parent_tip, struct ag_str key,
                     struct ag_str value);
} beside[] = {
    {'n', "notes", is_note_kept},
    {'u', "counters", is_count_kept},
    {'e', "effects", is_effect_kept},
    {'w', "what its promotes wrote", is_wrote_kept},
    {'p', "its last promote", is_promoted_kept},
    {'d', "whether it is discarded", is_mark_kept},
};

static void
copy_kind (struct ag_repair *self, struct found *found, uint64_t parent_tip, size_t row)
{
    struct ag_key from;
    struct ag_str key, value;
    struct ag_err err;
    int rc;
    ag_key_of_run (&from, beside[row].kind, found->run.number);
    struct ag_key to = ag_key_end (&from);
    ag_scan_t *scan =
        ag_store_scan (self->old->store, AG_META, ag_key_str (&from), ag_key_str (&to));
    while ((rc = ag_scan_next (scan, &key, &value, &err)) > 0)
        if (beside[row].is_kept (found, parent_tip, key, value))
            ag_batch_put (self->fresh->batch, AG_META, key, value);
    ag_scan_destroy (&scan);
    if (rc < 0 && !found->reason[0])
        snprintf (found->reason, sizeof found->reason, "%s: %s", beside[row].what, err.text);
}

static int
copy_beside (struct ag_repair *self, struct found *found, struct ag_err *err)
{
    struct ag_run *above = NULL;
    if (found->run.parent && ag_run_get (self->fresh, found->run.parent, &above, err))
        return -1;
    for (size_t row = 0; row < sizeof beside / sizeof *beside; row++)
        copy_kind (self, found, above ? above->head.tip : 0, row);
    return 0;
}

static int
copy_run (struct ag_repair *self, struct found *found, struct ag_err *err)
{
    measure (self, found);
    if (copy_record (self, &found->run, err) || copy_events (self, found, err) ||
        copy_beside (self, found, err))
        return -1;
    return ag_journal_commit (self->fresh, err);
}

int
ag_repair_runs (struct ag_repair *self, struct ag_err *err)
{
    uint64_t gap = 0;
    int rc = 0;
    for (uint64_t number = 1; !rc && (number < self->old->next_run || gap < GAP); number++) {
        struct found found = {0};
        rc = find (self, number, &found, err);
        bool hidden = found.run.hidden; //  an import that was not ended: it never was there
        gap = found.known || found.reason[0] ? 0 : gap + 1;
        if (!rc && found.known && !hidden && !found.reason[0])
            rc = copy_run (self, &found, err);
        if (!rc && !hidden && gap == 0) {
            add_row (self, &found);
            ag_run_skip (self->fresh, number);
        }
        free ((char *)found.run.spec.p);
    }
    return rc;
}
