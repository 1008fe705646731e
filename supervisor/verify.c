//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/verify.h"
#include "supervisor/declared.h"
#include "supervisor/journal_impl.h"
#include "supervisor/odd.h"
#include "supervisor/record.h"
#include "supervisor/retention.h"
#include "supervisor/state_index.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//  Something is wrong; the walk ends.
static int __attribute__ ((format (printf, 3, 4)))
blame (struct ag_verify *self, uint64_t seq, const char *format, ...)
{
    va_list list;
    va_start (list, format);
    vsnprintf (self->reason, sizeof self->reason, format, list);
    va_end (list);
    self->first_bad = seq;
    return 0;
}

//  What is corrupt is the result of a verification, not its failure.
static int
blame_error (struct ag_verify *self, const struct ag_err *err)
{
    return err->code == AG_E_CORRUPT ? blame (self, 0, "%s", err->text) : -1;
}

/*  The chain  */

//  Not the facts: what counts as bookkeeping may be told otherwise by a newer table of events.
static bool
same_head (const struct ag_run_head *a, const struct ag_run_head *b)
{
    return a->tip == b->tip && !memcmp (a->minted, b->minted, sizeof a->minted) &&
           !memcmp (a->chain, b->chain, AG_HASH);
}

//  A fork goes on from its parent's chain at the cut.
static int
check_base (ag_journal_t *journal, struct ag_verify *self, const struct ag_run *run,
            struct ag_err *err)
{
    struct ag_run *above;
    struct ag_run_head head = run->base;
    if (!run->parent)
        return 0;
    if (ag_run_get (journal, run->parent, &above, err))
        return -1;
    if (above->head.tip > 0 && ag_run_head_at (journal, above, run->cut, &head, err))
        return -1;
    if (memcmp (head.chain, run->base.chain, AG_HASH))
        blame (self, 0, "it does not go on from its parent's chain at event %" PRIu64, run->cut);
    return 0;
}

//  A head that cannot be read is blamed at the end of the walk.
static int
read_until (struct ag_verify *self, struct ag_run *run, struct ag_err *err)
{
    int rc = ag_run_read_head (self->journal, run, err);
    self->until = run->head;
    if (!rc || err->code != AG_E_CORRUPT)
        return rc;
    self->until.tip = UINT64_MAX;
    return 0;
}

static int
begin (ag_store_t *store, struct ag_verify *self, struct ag_err *err)
{
    struct ag_run run = {0};
    self->phase = AG_VERIFY_CHAIN;
    if (!self->journal)
        self->journal = ag_journal_new (store, err);
    if (!self->journal)
        return -1;
    int rc = ag_run_read_record (self->journal, self->run, &run, err);
    ag_run_id (self->run, run.id);
    if (!rc)
        rc = read_until (self, &run, err);
    if (!rc)
        rc = check_base (self->journal, self, &run, err);
    self->head = run.base;
    self->mint = run.mint;
    self->applied = run.cut;
    free ((char *)run.spec.p);
    return rc;
}

static int
check_checkpoint (ag_journal_t *journal, struct ag_verify *self, struct ag_err *err)
{
    struct ag_key key;
    struct ag_run_head stored = {0};
    struct ag_buf hold = {0};
    ag_key_checkpoint (&key, self->run, self->head.tip);
    int rc = ag_batch_get (journal->batch, AG_META, ag_key_str (&key), &hold, err);
    if (rc == 0 || (rc > 0 && (ag_head_decode (ag_buf_str (&hold), false, &stored) ||
                               !same_head (&stored, &self->head))))
        blame (self, 0, "the checkpoint at event %" PRIu64 " is missing or wrong", self->head.tip);
    ag_buf_fini (&hold);
    return rc < 0 ? -1 : 0;
}

static void
add_odd (struct ag_verify *self, uint64_t seq, struct ag_str what)
{
    if (self->odd_count++ >= AG_ODD_LISTED)
        return;
    ag_put_map (&self->odd, 2);
    ag_put_lit (&self->odd, "event");
    ag_put_evt (&self->odd, seq);
    ag_put_lit (&self->odd, "what");
    ag_put_text (&self->odd, what);
}

static int
check_odd (ag_journal_t *journal, struct ag_verify *self, const struct ag_event *event,
           struct ag_err *err)
{
    struct ag_run *run;
    struct ag_buf why = {0};
    if (!(event->flags & AG_IMPORTED))
        return 0;
    int odd = ag_run_get (journal, self->run, &run, err);
    if (!odd)
        odd = ag_odd (journal, run, event, &why, err);
    if (odd > 0)
        add_odd (self, event->seq, ag_buf_str (&why));
    ag_buf_fini (&why);
    return odd < 0 ? blame_error (self, err) : 0;
}

static int
check_event (ag_journal_t *journal, struct ag_verify *self, uint64_t seq, struct ag_str stored,
             struct ag_err *err)
{
    struct ag_event event;
    struct ag_err unreadable;
    if (seq != self->head.tip + 1)
        return blame (self, self->head.tip + 1, "it is missing");
    if (self->events && self->head.tip % AG_CHECKPOINT == 0 &&
        check_checkpoint (journal, self, err))
        return -1;
    if (self->reason[0])
        return 0;
    if (ag_event_decode (self->run, seq, stored, &event, &unreadable))
        return blame (self, seq, "it is unreadable");
    ag_head_add (&self->head, self->mint, &event);
    self->events++;
    if (memcmp (event.seed, self->head.chain, AG_SEED))
        return blame (self, seq, "it is not what the chain says");
    return check_odd (journal, self, &event, err);
}

//  Behind: the first event after the last one that the run had, 0 when there is none. It has a right to be there
//  when the head moved on.
static int
check_end (struct ag_verify *self, uint64_t behind, struct ag_err *err)
{
    struct ag_run run = {.number = self->run};
    ag_run_id (self->run, run.id);
    if (ag_run_read_head (self->journal, &run, err))
        return -1;
    if (self->until.tip > self->head.tip)
        return blame (self, self->head.tip + 1, "it is missing, and the head stands at %" PRIu64,
                      self->until.tip);
    if (behind > run.head.tip)
        return blame (self, behind, "it stands behind the head");
    if (!same_head (&self->until, &self->head))
        return blame (self, 0, "the head is not what the events say");
    return 0;
}

//  The archived events that come next; of a chunk that cannot be unpacked the first event is the bad one.
static int
walk_archived (struct ag_verify *self, uint32_t *limit, struct ag_err *err)
{
    struct ag_buf hold = {0};
    ag_journal_t *journal = self->journal;
    int rc = 1;
    for (; rc > 0 && *limit > 0 && !self->reason[0] && self->head.tip < self->archived &&
           self->head.tip < self->until.tip;
         --*limit) {
        uint64_t seq = self->head.tip + 1;
        ag_buf_clear (&hold);
        rc = ag_archive_get (&journal->archive, journal->batch, self->run, seq, &hold, err);
        if (rc == 0)
            blame (self, seq, "it is missing in the archive");
        if (rc < 0 && !blame_error (self, err))
            self->first_bad = seq;
        if (rc > 0 && check_event (journal, self, seq, ag_buf_str (&hold), err))
            rc = -1;
    }
    ag_buf_fini (&hold);
    return rc < 0 && !self->reason[0] ? -1 : 0;
}

static int
walk_logged (struct ag_verify *self, uint32_t limit, struct ag_err *err)
{
    struct ag_key from, all;
    struct ag_str key, value;
    uint64_t seq = 0;
    ag_key_event (&from, self->run, self->head.tip + 1);
    ag_key_of_run (&all, 'v', self->run);
    struct ag_key to = ag_key_end (&all);
    ag_view_t *view =
        ag_batch_scan (self->journal->batch, AG_EVENT, ag_key_str (&from), ag_key_str (&to));
    int rc = 1;
    while (limit > 0 && !self->reason[0] && (rc = ag_view_next (view, &key, &value, err)) > 0 &&
           (seq = ag_key_last_number (key)) <= self->until.tip) {
        if ((rc = check_event (self->journal, self, seq, value, err)) < 0)
            break;
        rc = 1;
        limit--;
    }
    ag_view_destroy (&view);
    if (rc < 0 || self->reason[0])
        return rc < 0 ? -1 : 0;
    bool behind = rc > 0 && seq > self->until.tip;
    return rc > 0 && !behind ? 1 : check_end (self, behind ? seq : 0, err);
}

//  Events move into the archive while we walk.
static int
walk (struct ag_verify *self, uint32_t limit, struct ag_err *err)
{
    struct ag_retained retained;
    if (ag_retained_get (self->journal->batch, self->run, &retained, err))
        return -1;
    self->archived = retained.archived;
    if (walk_archived (self, &limit, err))
        return -1;
    if (self->reason[0])
        return 0;
    return limit ? walk_logged (self, limit, err) : 1;
}

/*  The state index: written again beside the stored one, under a number that no run has. Each piece begins with
    what the run has appended, so stored and written again are of the same events.  */

#define REBUILT UINT64_MAX

//  What packs declare, as the note has it, against what this event made of it.
static int
check_declared (ag_journal_t *journal, struct ag_verify *self, const struct ag_run *run,
                const struct ag_event *event, struct ag_err *err)
{
    enum ag_type type = ag_type_of (event->type);
    if ((type != AG_EV_PACK_LOADED && type != AG_EV_PACK_DISABLED) || event->flags & AG_IMPORTED)
        return 0;
    struct ag_buf before = {0}, after = {0}, made = {0};
    struct ag_err refused;
    uint64_t seq;
    int rc = ag_note_get (journal, run, AG_LIT ("types"), event->seq - 1, &before, &seq, err);
    if (rc >= 0)
        rc = ag_note_get (journal, run, AG_LIT ("types"), event->seq, &after, &seq, err);
    if (rc >= 0 &&
        (ag_declared_next (before.n ? ag_buf_str (&before) : AG_LIT ("\x90"),
                           type == AG_EV_PACK_LOADED, event->payload, &made, &refused) ||
         !ag_value_equal (ag_buf_str (&made), after.n ? ag_buf_str (&after) : AG_LIT ("\x90"))))
        blame (self, event->seq, "the types in force are not what it says");
    ag_buf_fini (&before);
    ag_buf_fini (&after);
    ag_buf_fini (&made);
    return rc < 0 ? -1 : 0;
}

//  Each event of a run adds to it, and it is held over many turns.
static int
check_bytes (const struct ag_verify *self, const struct ag_run *run, struct ag_err *err)
{
    size_t most = self->index_bytes ? self->index_bytes : AG_VERIFY_BYTES;
    if (ag_batch_bytes (self->journal->batch) <= most)
        return 0;
    return ag_fail (err, AG_E_TOO_LARGE,
                    "the state index of run %s takes more than %zu bytes to write again; verify it "
                    "without --state, or make it anew with the fleet down by agsup repair",
                    run->id, most);
}

//  1 when the run has more events than that, 0, -1. The run, with the index that is written again, for the
//  rest of this step.
static int
take_in (struct ag_verify *self, struct ag_run *again, uint32_t *limit, struct ag_err *err)
{
    struct ag_event event;
    struct ag_run *run;
    struct ag_buf hold = {0};
    int rc = ag_run_get (self->journal, self->run, &run, err);
    if (rc)
        return -1;
    *again = *run;
    again->index = REBUILT;
    for (; !rc && *limit > 0 && !self->reason[0] && self->applied < run->head.tip; --*limit)
        rc = ag_journal_read (self->journal, again, ++self->applied, &hold, &event, err) ||
             ag_state_apply (self->journal, again, &event, err) ||
             check_declared (self->journal, self, again, &event, err) ||
             check_bytes (self, run, err);
    ag_buf_fini (&hold);
    return rc ? -1 : self->applied < run->head.tip;
}

//  The keys of a run of one kind, from the one after `at` (without what all begin with).
static ag_view_t *
scan (struct ag_verify *self, enum ag_table table, char kind, uint64_t run, size_t *prefix)
{
    struct ag_key from;
    ag_key_of_run (&from, kind, run);
    struct ag_key to = ag_key_end (&from);
    *prefix = from.n;
    if (self->at.n) {
        memcpy (from.p + from.n, self->at.p, self->at.n);
        from.n += self->at.n;
        ag_key_next (&from);
    }
    return ag_batch_scan (self->journal->batch, table, ag_key_str (&from), ag_key_str (&to));
}

static struct ag_str
suffix (struct ag_str key, size_t prefix)
{
    return (struct ag_str){key.p + prefix, key.n - prefix};
}

static void
stand_at (struct ag_verify *self, struct ag_str at)
{
    ag_buf_clear (&self->at);
    ag_buf_add_str (&self->at, at);
}

//  The first name in what follows a prefix.
static int
name_bytes (struct ag_str key)
{
    return (int)strnlen (key.p, key.n);
}

//  What a row stores and what the events say, key by key: 1 when there are more, 0, -1.
static int
compare_row (struct ag_verify *self, enum ag_table table, char kind, uint32_t limit,
             struct ag_err *err)
{
    size_t prefix;
    struct ag_str at = {0};
    ag_view_t *stored = scan (self, table, kind, self->run, &prefix);
    ag_view_t *rebuilt = scan (self, table, kind, REBUILT, &prefix);
    int a = 1, b = 1;
    for (; limit > 0 && !self->reason[0]; limit--) {
        struct ag_str key_a, key_b, value_a, value_b;
        a = ag_view_next (stored, &key_a, &value_a, err);
        b = a < 0 ? -1 : ag_view_next (rebuilt, &key_b, &value_b, err);
        if (a < 0 || b < 0 || (!a && !b))
            break;
        at = suffix (a ? key_a : key_b, prefix);
        if (!a || !b || !ag_str_eq (suffix (key_a, prefix), suffix (key_b, prefix)) ||
            !ag_str_eq (value_a, value_b))
            blame (self, 0, "the state index (%c) is not what the events say at `%.*s`", kind,
                   name_bytes (at), at.p);
    }
    if (a >= 0 && b >= 0 && a + b > 0) //  else what `at` points into may be gone
        stand_at (self, at);
    ag_view_destroy (&stored);
    ag_view_destroy (&rebuilt);
    return a < 0 || b < 0 ? -1 : a || b;
}

static int
compare (struct ag_verify *self, const struct ag_run *again, uint32_t limit, struct ag_err *err)
{
    static const struct {
        enum ag_table table;
        char kind;
    } rows[] = {{AG_TIP, AG_OBJECT},    {AG_TIP, AG_RELATION},     {AG_TIP, AG_PATCH},
                {AG_TIP, AG_APPROVAL},  {AG_VERSION, AG_OBJECT},   {AG_VERSION, AG_RELATION},
                {AG_VERSION, AG_PATCH}, {AG_VERSION, AG_APPROVAL}, {AG_INDEX, 't'},
                {AG_INDEX, 'T'},        {AG_INDEX, 'e'},           {AG_INDEX, 'E'}};
    (void)again;
    int rc = compare_row (self, rows[self->row].table, rows[self->row].kind, limit, err);
    if (rc)
        return rc;
    ag_buf_clear (&self->at);
    return ++self->row < sizeof rows / sizeof *rows;
}

/*  What a snapshot left: things made whole, and the hash of the state  */

//  One of them, against what the events say that the thing was at that sequence.
static int
check_whole (struct ag_verify *self, const struct ag_run *again, enum ag_entity_kind kind,
             struct ag_str at, struct ag_str value, struct ag_err *err)
{
    struct ag_whole whole;
    struct ag_entity entity = {0};
    struct ag_str id = {at.p, (size_t)name_bytes (at)};
    uint64_t seq = ~ag_key_last_number (at);
    int rc = ag_state_get (self->journal, again, kind, id, seq, &entity, err);
    if (rc >= 0 && (!rc || entity.seq != seq || ag_whole_decode (value, &whole) ||
                    !ag_value_equal (whole.data, entity.data) ||
                    !ag_value_equal (whole.provenance, entity.provenance)))
        blame (self, 0, "what is whole of `%.*s` is not what event %" PRIu64 " says",
               AG_STR_ARG (id), seq);
    ag_entity_fini (&entity);
    return rc < 0 ? -1 : 0;
}

static int
check_wholes (struct ag_verify *self, const struct ag_run *again, uint32_t limit,
              struct ag_err *err)
{
    static const enum ag_entity_kind kinds[] = {AG_OBJECT, AG_RELATION};
    enum ag_entity_kind kind = kinds[self->row];
    size_t prefix;
    struct ag_str key = {0}, value;
    ag_view_t *view = scan (self, AG_VERSION, (char)(kind - 'a' + 'A'), self->run, &prefix);
    int rc = 1;
    for (; rc > 0 && limit > 0 && !self->reason[0]; limit--) {
        rc = ag_view_next (view, &key, &value, err);
        if (rc > 0 && check_whole (self, again, kind, suffix (key, prefix), value, err))
            rc = -1;
    }
    if (rc > 0)
        stand_at (self, suffix (key, prefix));
    ag_view_destroy (&view);
    if (rc)
        return rc;
    ag_buf_clear (&self->at);
    return ++self->row < sizeof kinds / sizeof *kinds;
}

//  Of the newest snapshot when this begins; through the stored index, which is proved by now.
static int
check_hash (struct ag_verify *self, const struct ag_run *again, uint32_t limit, struct ag_err *err)
{
    struct ag_retained retained;
    struct ag_buf hold = {0};
    struct ag_event event;
    struct ag_run stored = *again;
    struct ag_str said = {0};
    char text[sizeof "blake2b:" + 2 * AG_HASH] = "blake2b:";
    stored.index = self->run;
    if (!self->marker) {
        if (ag_retained_get (self->journal->batch, self->run, &retained, err))
            return -1;
        self->marker = retained.marker;
        self->snapshot.at = retained.covered;
    }
    int rc =
        self->marker ? ag_snapshot_page (self->journal, &stored, limit, &self->snapshot, err) : 0;
    if (rc || !self->marker)
        return rc;
    rc = ag_journal_read (self->journal, again, self->marker, &hold, &event, err);
    ag_hex (self->snapshot.hash, AG_HASH, text + strlen (text));
    if (!rc && (ag_map_text (event.payload, "state_hash", &said) || !ag_str_is (said, text)))
        blame (self, self->marker, "the state it covers does not have the hash it says");
    ag_buf_fini (&hold);
    return rc;
}

/*  Steps  */

typedef int index_fn (struct ag_verify *self, const struct ag_run *again, uint32_t limit,
                      struct ag_err *err);

//  The phases after the chain.
static int
check_index (struct ag_verify *self, uint32_t limit, struct ag_err *err)
{
    static index_fn *const phases[] = {[AG_VERIFY_INDEX] = compare,
                                       [AG_VERIFY_WHOLE] = check_wholes,
                                       [AG_VERIFY_HASH] = check_hash};
    struct ag_run again;
    assert (self->phase > AG_VERIFY_CHAIN && self->phase < AG_VERIFY_END);
    int rc = take_in (self, &again, &limit, err);
    if (rc < 0 || self->reason[0])
        return rc < 0 ? -1 : 0;
    if (rc || !limit)
        return 1;
    rc = phases[self->phase](self, &again, limit, err);
    if (rc || self->reason[0])
        return rc;
    self->row = 0;
    return ++self->phase < AG_VERIFY_END;
}

int
ag_verify_step (ag_store_t *store, struct ag_verify *self, uint32_t limit, struct ag_err *err)
{
    if (self->phase == AG_VERIFY_BEGIN && begin (store, self, err))
        return blame_error (self, err);
    if (self->reason[0])
        return 0;
    ag_open_clear (self->journal); //  they may have grown since the last step
    bool chain = self->phase == AG_VERIFY_CHAIN;
    int rc = chain ? walk (self, limit, err) : check_index (self, limit, err);
    if (rc < 0)
        return blame_error (self, err);
    if (self->reason[0])
        return 0;
    if (rc || !chain)
        return rc;
    self->phase = self->state ? AG_VERIFY_INDEX : AG_VERIFY_END;
    return self->state;
}

//  As it was opened.
static void
empty (ag_journal_t *journal)
{
    ag_open_clear (journal);
    ag_cache_clear (&journal->cache);
    ag_batch_destroy (&journal->batch);
    journal->batch = ag_batch_new (journal->store);
}

void
ag_verify_next (struct ag_verify *self, uint64_t run)
{
    struct ag_verify next = {.run = run,
                             .state = self->state,
                             .index_bytes = self->index_bytes,
                             .journal = self->journal};
    self->journal = NULL;
    ag_verify_fini (self);
    if (next.journal)
        empty (next.journal);
    *self = next;
}

void
ag_verify_fini (struct ag_verify *self)
{
    ag_journal_destroy (&self->journal);
    ag_snapshot_fini (&self->snapshot);
    ag_buf_fini (&self->odd);
    ag_buf_fini (&self->at);
}

void
ag_verify_write (const struct ag_verify *self, struct ag_str label, struct ag_buf *out)
{
    char id[AG_RUN_TEXT];
    ag_run_id (self->run, id);
    ag_put_map (out, 7);
    ag_put_lit (out, "run");
    ag_put_lit (out, id);
    ag_put_pair_or_null (out, "label", label);
    ag_put_lit (out, "events");
    ag_put_uint (out, self->events);
    ag_put_lit (out, "first_bad");
    ag_put_evt (out, self->first_bad);
    ag_put_lit (out, "reason");
    if (self->reason[0])
        ag_put_lit (out, self->reason);
    else
        ag_put_null (out);
    ag_put_lit (out, "odd_count");
    ag_put_uint (out, self->odd_count);
    ag_put_lit (out, "odd");
    ag_put_list (out,
                 (uint32_t)(self->odd_count < AG_ODD_LISTED ? self->odd_count : AG_ODD_LISTED));
    ag_buf_add_str (out, ag_buf_str (&self->odd));
}
