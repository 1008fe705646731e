//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/journal_impl.h"

#include <inttypes.h>

enum { FEW = 4 };

const struct ag_run *
ag_run_holder (const struct ag_run *run, uint64_t seq)
{
    while (run->above && seq <= run->cut)
        run = run->above;
    return run;
}

//  1, 0 when it is not there, -1.
static int
get_bytes (ag_journal_t *self, uint64_t run, uint64_t seq, struct ag_buf *hold, struct ag_err *err)
{
    struct ag_key key;
    struct ag_str held = ag_held_get (&self->held, run, seq);
    ag_buf_clear (hold);
    if (held.p) {
        ag_buf_add_str (hold, held);
        return 1;
    }
    ag_key_event (&key, run, seq);
    int rc = ag_batch_get (self->batch, AG_EVENT, ag_key_str (&key), hold, err);
    if (rc == 0)
        rc = ag_archive_get (&self->archive, self->batch, run, seq, hold, err);
    if (rc > 0)
        ag_held_put (&self->held, run, seq, ag_buf_str (hold));
    return rc;
}

//  The stored bytes of an event that must be there.
static int
get_event (ag_journal_t *self, uint64_t run, uint64_t seq, struct ag_buf *hold,
           struct ag_event *event, struct ag_err *err)
{
    int rc = get_bytes (self, run, seq, hold, err);
    if (rc < 0)
        return -1;
    if (rc == 0)
        return ag_fail (err, AG_E_CORRUPT, "event %" PRIu64 " of run number %" PRIu64 " is missing",
                        seq, run);
    return ag_event_decode (run, seq, ag_buf_str (hold), event, err);
}

int
ag_journal_read (ag_journal_t *self, const struct ag_run *run, uint64_t seq, struct ag_buf *hold,
                 struct ag_event *event, struct ag_err *err)
{
    char text[AG_EVT_TEXT];
    if (seq > 0 && seq <= run->head.tip)
        return get_event (self, ag_run_holder (run, seq)->number, seq, hold, event, err);
    ag_evt_text (seq, text);
    return ag_fail (err, AG_E_NOT_FOUND, "run %s has no event %s", run->id, text);
}

struct scan {
    ag_journal_t *journal;
    ag_event_fn fn;
    void *arg;
    bool more;
};

//  Events after *seq, one by one, as far as they may lie in the archive, and then the first few: most who ask want
//  no more, and an iterator costs as much as they all. *seq moves with them.
static int
scan_first (struct scan *self, const struct ag_run *run, uint64_t *seq, uint64_t until,
            struct ag_err *err)
{
    struct ag_event event;
    struct ag_buf hold = {0};
    int rc = 0, few = FEW;
    while (!rc && self->more && *seq < until && (*seq < run->archived || few-- > 0)) {
        rc = get_event (self->journal, run->number, *seq + 1, &hold, &event, err);
        if (!rc) {
            self->more = self->fn (self->arg, &event);
            ++*seq;
        }
    }
    ag_buf_fini (&hold);
    return rc;
}

//  Events of one run's own, after < seq <= until.
static int
scan_own (struct scan *self, const struct ag_run *run, uint64_t after, uint64_t until,
          struct ag_err *err)
{
    if ((after >= run->archived && until - after > FEW &&
         ag_held_ahead (&self->journal->held, self->journal->batch, run->number, after, until,
                        err)) ||
        scan_first (self, run, &after, until, err))
        return -1;
    if (!self->more ||
        after == until) //  what was archived has left marks, over which a scan would go
        return 0;
    struct ag_key from, to;
    struct ag_str key, value;
    struct ag_event event;
    ag_key_event (&from, run->number, after + 1);
    ag_key_event (&to, run->number, until + 1);
    ag_view_t *view =
        ag_batch_scan (self->journal->batch, AG_EVENT, ag_key_str (&from), ag_key_str (&to));
    int rc = 1;
    while (self->more && (rc = ag_view_next (view, &key, &value, err)) > 0) {
        rc = ag_event_decode (run->number, ag_key_last_number (key), value, &event, err);
        if (rc < 0)
            break;
        self->more = self->fn (self->arg, &event);
    }
    ag_view_destroy (&view);
    return rc < 0 ? -1 : 0;
}

static int
scan_lineage (struct scan *self, const struct ag_run *run, uint64_t after, uint64_t until,
              struct ag_err *err)
{
    if (run->above && after < run->cut) {
        uint64_t last = until < run->cut ? until : run->cut;
        if (scan_lineage (self, run->above, after, last, err))
            return -1;
        after = last;
    }
    return self->more && after < until ? scan_own (self, run, after, until, err) : 0;
}

int
ag_journal_scan (ag_journal_t *self, const struct ag_run *run, uint64_t after, uint64_t until,
                 ag_event_fn fn, void *arg, struct ag_err *err)
{
    struct scan scan = {self, fn, arg, true};
    return scan_lineage (&scan, run, after, until < run->head.tip ? until : run->head.tip, err);
}

int
ag_journal_scan_type (ag_journal_t *self, const struct ag_run *run, struct ag_str type,
                      uint64_t after, uint64_t until, ag_event_fn fn, void *arg, struct ag_err *err)
{
    struct ag_key from, to;
    struct ag_str key, value;
    struct ag_event event;
    struct ag_buf hold = {0};
    ag_key_typed (&from, run->number, type, after + 1);
    ag_key_typed (&to, run->number, type, (until < run->head.tip ? until : run->head.tip) + 1);
    ag_view_t *view = ag_batch_scan (self->batch, AG_META, ag_key_str (&from), ag_key_str (&to));
    int rc;
    while ((rc = ag_view_next (view, &key, &value, err)) > 0) {
        rc = get_event (self, run->number, ag_key_last_number (key), &hold, &event, err);
        if (rc < 0 || !fn (arg, &event))
            break;
    }
    ag_view_destroy (&view);
    ag_buf_fini (&hold);
    return rc < 0 ? -1 : 0;
}

enum { SEGMENT_BYTES = 24 }; //  run, first sequence, count

static uint64_t
count_segments (struct ag_str value)
{
    uint64_t count = 0;
    for (size_t at = 0; at + SEGMENT_BYTES <= value.n; at += SEGMENT_BYTES)
        count += ag_be64 (value.p + at + 16);
    return count;
}

//  The events of one key of the stream that come after `after`; number is that of the first event.
static int
scan_segments (struct scan *self, struct ag_str value, uint64_t number, uint64_t after,
               struct ag_buf *hold, struct ag_err *err)
{
    struct ag_event event;
    for (size_t at = 0; at + SEGMENT_BYTES <= value.n; at += SEGMENT_BYTES) {
        uint64_t run = ag_be64 (value.p + at), first = ag_be64 (value.p + at + 8);
        uint64_t count = ag_be64 (value.p + at + 16);
        uint64_t skipped = number > after ? 0 : after + 1 - number;
        for (uint64_t i = skipped; self->more && i < count; i++) {
            if (get_event (self->journal, run, first + i, hold, &event, err))
                return -1;
            self->more = self->fn (self->arg, &event);
        }
        number += count;
    }
    return 0;
}

int
ag_stream_scan (ag_journal_t *self, uint64_t after, ag_event_fn fn, void *arg, struct ag_err *err)
{
    struct scan scan = {self, fn, arg, true};
    struct ag_key from, to;
    struct ag_str key, value;
    struct ag_buf hold = {0};
    if (after >= self->stream)
        return 0;
    ag_key_stream (&from, after + 1);
    ag_key_stream (&to, UINT64_MAX);
    ag_view_t *view = ag_batch_scan (self->batch, AG_META, ag_key_str (&from), ag_key_str (&to));
    int rc = 1;
    while (scan.more && (rc = ag_view_next (view, &key, &value, err)) > 0) {
        uint64_t first = ag_key_last_number (key) + 1 - count_segments (value);
        rc = scan_segments (&scan, value, first, after, &hold, err);
        if (rc < 0)
            break;
    }
    ag_view_destroy (&view);
    ag_buf_fini (&hold);
    return rc < 0 ? -1 : 0;
}
