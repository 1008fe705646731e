//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/verify.h"
#include "supervisor/journal_impl.h"
#include "supervisor/odd.h"
#include "supervisor/retention.h"
#include "supervisor/state_index.h"

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

static int
begin (ag_journal_t *journal, struct ag_verify *self, struct ag_err *err)
{
    struct ag_run run = {0};
    struct ag_retained retained = {0};
    int rc = ag_run_read_record (journal, self->run, &run, err);
    if (!rc)
        rc = ag_retained_get (journal->batch, self->run, &retained, err);
    if (!rc)
        rc = check_base (journal, self, &run, err);
    self->archived = retained.archived;
    self->head = run.base;
    self->mint = run.mint;
    self->begun = true;
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

static int
check_end (ag_journal_t *journal, struct ag_verify *self, struct ag_err *err)
{
    struct ag_run run = {.number = self->run};
    const struct ag_open *open = ag_open_find (journal, self->run);
    ag_run_id (self->run, run.id);
    if (open)
        run.head = open->run.head;
    else if (ag_run_read_head (journal, &run, err))
        return blame_error (self, err);
    if (run.head.tip > self->head.tip)
        return blame (self, self->head.tip + 1, "it is missing, and the head stands at %" PRIu64,
                      run.head.tip);
    if (run.head.tip < self->head.tip)
        return blame (self, run.head.tip + 1, "it stands behind the head");
    if (!same_head (&run.head, &self->head))
        return blame (self, 0, "the head is not what the events say");
    return 0;
}

//  The archived events that come next; of a chunk that cannot be unpacked the first event is the bad one.
static int
step_archived (ag_journal_t *journal, struct ag_verify *self, uint64_t *limit, struct ag_err *err)
{
    struct ag_buf hold = {0};
    int rc = 1;
    for (; rc > 0 && *limit > 0 && !self->reason[0] && self->head.tip < self->archived; --*limit) {
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
step_logged (ag_journal_t *journal, struct ag_verify *self, uint64_t limit, struct ag_err *err)
{
    struct ag_key from, all;
    struct ag_str key, value;
    ag_key_event (&from, self->run, self->head.tip + 1);
    ag_key_of_run (&all, 'v', self->run);
    struct ag_key to = ag_key_end (&all);
    ag_view_t *view =
        ag_batch_scan (journal->batch, AG_EVENT, ag_key_str (&from), ag_key_str (&to));
    int rc = 1;
    while (limit > 0 && !self->reason[0] && (rc = ag_view_next (view, &key, &value, err)) > 0) {
        if ((rc = check_event (journal, self, ag_key_last_number (key), value, err)) < 0)
            break;
        rc = 1;
        limit--;
    }
    ag_view_destroy (&view);
    if (rc < 0 || self->reason[0])
        return rc < 0 ? -1 : 0;
    return rc > 0 ? 1 : check_end (journal, self, err);
}

int
ag_verify_step (ag_journal_t *journal, struct ag_verify *self, uint64_t limit, struct ag_err *err)
{
    if (!self->begun && begin (journal, self, err))
        return blame_error (self, err);
    if (step_archived (journal, self, &limit, err))
        return -1;
    if (self->reason[0])
        return 0;
    return limit ? step_logged (journal, self, limit, err) : 1;
}

/*  The state index: written again beside the stored one, under a number that no run has  */

#define REBUILT UINT64_MAX

//  The version that an event made, against what a snapshot made whole of it, if one did.
static int
check_whole (ag_journal_t *journal, struct ag_verify *self, const struct ag_run *again,
             const struct ag_event *event, uint64_t *wholes, struct ag_err *err)
{
    struct ag_change change;
    struct ag_whole whole;
    struct ag_entity entity = {0};
    struct ag_buf hold = {0};
    struct ag_run stored = *again;
    stored.index = self->run;
    if (!ag_change_of (event, &change))
        return 0;
    int rc =
        ag_whole_get (journal, &stored, change.kind, change.id, event->seq, &hold, &whole, err);
    if (rc > 0 && whole.seq == event->seq) {
        ++*wholes;
        rc = ag_state_get (journal, again, change.kind, change.id, AG_NOW, &entity, err);
        if (rc == 0 || (rc > 0 && (!ag_value_equal (whole.data, entity.data) ||
                                   !ag_value_equal (whole.provenance, entity.provenance))))
            blame (self, 0, "what is whole of `%.*s` is not what event %" PRIu64 " says",
                   AG_STR_ARG (change.id), event->seq);
    }
    ag_entity_fini (&entity);
    ag_buf_fini (&hold);
    return rc < 0 ? -1 : 0;
}

//  The events in order; what snapshots, finished or not, made whole is compared on the way, and counted.
static int
rebuild (ag_journal_t *journal, struct ag_verify *self, const struct ag_run *run, bool any_whole,
         uint64_t *wholes, struct ag_err *err)
{
    struct ag_event event;
    struct ag_buf hold = {0};
    int rc = 0;
    for (uint64_t seq = run->cut + 1; !rc && !self->reason[0] && seq <= run->head.tip; seq++)
        rc = ag_journal_read (journal, run, seq, &hold, &event, err) ||
             ag_state_apply (journal, run, &event, err) ||
             (any_whole && check_whole (journal, self, run, &event, wholes, err));
    ag_buf_fini (&hold);
    return rc ? -1 : 0;
}

static ag_view_t *
scan (ag_journal_t *journal, enum ag_table table, char kind, uint64_t run, size_t *prefix)
{
    struct ag_key from;
    ag_key_of_run (&from, kind, run);
    struct ag_key to = ag_key_end (&from);
    *prefix = from.n;
    return ag_batch_scan (journal->batch, table, ag_key_str (&from), ag_key_str (&to));
}

static struct ag_str
suffix (struct ag_str key, size_t prefix)
{
    return (struct ag_str){key.p + prefix, key.n - prefix};
}

//  The first name in what follows a prefix.
static int
name_bytes (struct ag_str key)
{
    return (int)strnlen (key.p, key.n);
}

static int
compare (ag_journal_t *journal, struct ag_verify *self, enum ag_table table, char kind,
         struct ag_err *err)
{
    size_t prefix;
    ag_view_t *stored = scan (journal, table, kind, self->run, &prefix);
    ag_view_t *rebuilt = scan (journal, table, kind, REBUILT, &prefix);
    int a, b;
    do {
        struct ag_str key_a, key_b, value_a, value_b;
        a = ag_view_next (stored, &key_a, &value_a, err);
        b = a < 0 ? -1 : ag_view_next (rebuilt, &key_b, &value_b, err);
        if (a < 0 || b < 0 || (!a && !b))
            break;
        struct ag_str at = suffix (a ? key_a : key_b, prefix);
        if (!a || !b || !ag_str_eq (suffix (key_a, prefix), suffix (key_b, prefix)) ||
            !ag_str_eq (value_a, value_b))
            blame (self, 0, "the state index (%c) is not what the events say at `%.*s`", kind,
                   name_bytes (at), at.p);
    } while (!self->reason[0]);
    ag_view_destroy (&stored);
    ag_view_destroy (&rebuilt);
    return a < 0 || b < 0 ? -1 : 0;
}

static int
compare_all (ag_journal_t *journal, struct ag_verify *self, struct ag_err *err)
{
    static const struct {
        enum ag_table table;
        char kind;
    } rows[] = {{AG_TIP, AG_OBJECT},    {AG_TIP, AG_RELATION},     {AG_TIP, AG_PATCH},
                {AG_TIP, AG_APPROVAL},  {AG_VERSION, AG_OBJECT},   {AG_VERSION, AG_RELATION},
                {AG_VERSION, AG_PATCH}, {AG_VERSION, AG_APPROVAL}, {AG_INDEX, 't'},
                {AG_INDEX, 'T'},        {AG_INDEX, 'e'},           {AG_INDEX, 'E'}};
    int rc = 0;
    for (size_t i = 0; !rc && !self->reason[0] && i < sizeof rows / sizeof *rows; i++)
        rc = compare (journal, self, rows[i].table, rows[i].kind, err);
    return rc;
}

/*  What a snapshot left: things made whole, and the hash of the state  */

static int
count_wholes (ag_journal_t *journal, struct ag_verify *self, uint64_t *count, struct ag_err *err)
{
    static const char kinds[] = {'O', 'R'};
    int rc = 0;
    for (size_t i = 0; i < sizeof kinds && rc >= 0; i++) {
        size_t prefix;
        struct ag_str key, value;
        ag_view_t *view = scan (journal, AG_VERSION, kinds[i], self->run, &prefix);
        while ((rc = ag_view_next (view, &key, &value, err)) > 0)
            ++*count;
        ag_view_destroy (&view);
    }
    return rc;
}

//  Through the index, which is proved by now.
static int
check_hash (ag_journal_t *journal, struct ag_verify *self, const struct ag_run *run,
            const struct ag_retained *retained, struct ag_err *err)
{
    struct ag_snapshot snapshot = {0};
    struct ag_buf hold = {0};
    struct ag_event event;
    struct ag_str said = {0};
    char text[sizeof "blake2b:" + 2 * AG_HASH] = "blake2b:";
    int rc = ag_journal_read (journal, run, retained->marker, &hold, &event, err) ||
             ag_snapshot_take (journal, run, retained->covered, &snapshot, err);
    if (!rc) {
        ag_hex (snapshot.hash, AG_HASH, text + strlen (text));
        if (ag_map_text (event.payload, "state_hash", &said) || !ag_str_is (said, text))
            blame (self, retained->marker, "the state it covers does not have the hash it says");
    }
    ag_snapshot_fini (&snapshot);
    ag_buf_fini (&hold);
    return rc ? -1 : 0;
}

static int
check_state (ag_journal_t *journal, struct ag_verify *self, const struct ag_run *run,
             const struct ag_retained *retained, struct ag_err *err)
{
    struct ag_run again = *run;
    uint64_t wholes = 0, compared = 0;
    again.index = REBUILT;
    if (count_wholes (journal, self, &wholes, err) ||
        rebuild (journal, self, &again, wholes > 0, &compared, err))
        return -1;
    if (!self->reason[0] && compare_all (journal, self, err))
        return -1;
    if (!self->reason[0] && compared != wholes)
        blame (self, 0, "of %" PRIu64 " things made whole %" PRIu64 " are of no version that was",
               wholes, wholes - compared);
    if (self->reason[0] || !retained->marker)
        return 0;
    return check_hash (journal, self, run, retained, err);
}

int
ag_verify_state (ag_journal_t *journal, struct ag_verify *self, struct ag_err *err)
{
    struct ag_run *run;
    struct ag_retained retained;
    if (ag_run_get (journal, self->run, &run, err) ||
        ag_retained_get (journal->batch, self->run, &retained, err))
        return blame_error (self, err);
    struct ag_mark mark = ag_journal_mark (journal);
    int rc = check_state (journal, self, run, &retained, err);
    if (rc)
        rc = blame_error (self, err);
    ag_journal_rollback (journal, &mark);
    return rc;
}

void
ag_verify_fini (struct ag_verify *self)
{
    ag_buf_fini (&self->odd);
}

void
ag_verify_write (const struct ag_verify *self, struct ag_buf *out)
{
    char id[AG_RUN_TEXT];
    ag_run_id (self->run, id);
    ag_put_map (out, 6);
    ag_put_lit (out, "run");
    ag_put_lit (out, id);
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
