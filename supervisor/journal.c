//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/journal_impl.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    COUNTER_BYTES = 16,   //  next run, stream
    KEPT_BYTES = 4 << 20, //  of events, from turn to turn
};

static int
compare (const struct ag_open *a, const struct ag_open *b)
{
    return (a->run.number > b->run.number) - (a->run.number < b->run.number);
}

RB_GENERATE_INTERNAL (ag_open_runs, ag_open, link, compare, static __attribute__ ((unused)))

static uint64_t
real_clock (void *arg)
{
    (void)arg;
    struct timespec now;
    clock_gettime (CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/*  Open runs  */

struct ag_open *
ag_open_find (ag_journal_t *self, uint64_t number)
{
    struct ag_open wanted = {.run.number = number};
    return RB_FIND (ag_open_runs, &self->runs, &wanted);
}

static struct ag_undo *
add_undo (ag_journal_t *self)
{
    if (self->undo_count == self->undo_room) {
        self->undo_room = self->undo_room ? self->undo_room * 2 : 64;
        self->undo = ag_xrealloc (self->undo, self->undo_room * sizeof *self->undo);
    }
    return &self->undo[self->undo_count++];
}

void
ag_open_add (ag_journal_t *self, struct ag_open *open, bool made)
{
    struct ag_open *other = RB_INSERT (ag_open_runs, &self->runs, open);
    assert (!other);
    self->open_count++;
    if (!made)
        return;
    *add_undo (self) = (struct ag_undo){.done = AG_DONE_MADE, .open = open};
    open->marked = self->marks;
    open->dirty = true;
    TAILQ_INSERT_TAIL (&self->dirty, open, dirty_link);
}

static void
forget (ag_journal_t *self, struct ag_open *open)
{
    RB_REMOVE (ag_open_runs, &self->runs, open);
    if (open->dirty)
        TAILQ_REMOVE (&self->dirty, open, dirty_link);
    self->open_count--;
    free ((char *)open->run.spec.p);
    free (open);
}

void
ag_open_clear (ag_journal_t *self)
{
    struct ag_open *open;
    while ((open = RB_ROOT (&self->runs)))
        forget (self, open);
}

void
ag_open_change (ag_journal_t *self, struct ag_run *run, enum ag_done done)
{
    *add_undo (self) = (struct ag_undo){.done = done, .open = (struct ag_open *)run};
}

void
ag_run_touch (ag_journal_t *self, struct ag_run *run)
{
    struct ag_open *open = (struct ag_open *)run;
    if (open->marked < self->marks) {
        *add_undo (self) =
            (struct ag_undo){.open = open, .head = run->head, .marked = open->marked};
        open->marked = self->marks;
    }
    if (!open->dirty)
        TAILQ_INSERT_TAIL (&self->dirty, open, dirty_link);
    open->dirty = true;
}

/*  The journal  */

//  The counters are not written with each turn; the stream itself says how far it goes.
static int
read_stream (ag_journal_t *self, struct ag_err *err)
{
    struct ag_key from, to;
    struct ag_str key, value;
    int rc;
    ag_key_stream (&from, self->stream + 1);
    ag_key_stream (&to, UINT64_MAX);
    ag_scan_t *scan = ag_store_scan (self->store, AG_META, ag_key_str (&from), ag_key_str (&to));
    while ((rc = ag_scan_next (scan, &key, &value, err)) > 0)
        self->stream = ag_key_last_number (key);
    ag_scan_destroy (&scan);
    return rc;
}

int
ag_journal_read_counters (ag_journal_t *self, struct ag_err *err)
{
    struct ag_key key;
    struct ag_buf value = {0};
    ag_key_journal (&key);
    int rc = ag_store_get (self->store, AG_META, ag_key_str (&key), &value, err);
    if (rc > 0 && value.n != COUNTER_BYTES)
        rc = ag_fail (err, AG_E_CORRUPT, "the store's counters take %zu bytes", value.n);
    self->next_run = self->kept_run = rc > 0 ? ag_be64 (value.p) : 1;
    self->stream = self->kept_stream = rc > 0 ? ag_be64 (value.p + 8) : 0;
    ag_buf_fini (&value);
    if (rc >= 0)
        rc = read_stream (self, err);
    self->stream_begin = self->stream;
    return rc < 0 ? -1 : 0;
}

ag_journal_t *
ag_journal_new (ag_store_t *store, struct ag_err *err)
{
    ag_journal_t *self = ag_xcalloc (1, sizeof *self);
    self->store = store;
    self->batch = ag_batch_new (store);
    self->clock = real_clock;
    TAILQ_INIT (&self->dirty);
    if (ag_journal_read_counters (self, err))
        ag_journal_destroy (&self);
    return self;
}

void
ag_journal_destroy (ag_journal_t **self_p)
{
    ag_journal_t *self = *self_p;
    if (!self)
        return;
    ag_open_clear (self);
    ag_batch_destroy (&self->batch);
    ag_cache_clear (&self->cache);
    ag_archive_forget (&self->archive);
    ag_held_fini (&self->held);
    ag_buf_fini (&self->bytes);
    free (self->undo);
    free (self->events);
    free (self);
    *self_p = NULL;
}

void
ag_journal_set_clock (ag_journal_t *self, ag_clock_fn clock, void *arg)
{
    self->clock = clock;
    self->clock_arg = arg;
}

uint64_t
ag_journal_now (ag_journal_t *self)
{
    return self->clock (self->clock_arg);
}

ag_store_t *
ag_journal_store (ag_journal_t *self)
{
    return self->store;
}

ag_batch_t *
ag_journal_batch (ag_journal_t *self)
{
    return self->batch;
}

struct ag_cache *
ag_journal_cache (ag_journal_t *self)
{
    return &self->cache;
}

uint64_t
ag_journal_stream (const ag_journal_t *self)
{
    return self->stream;
}

size_t
ag_journal_count (const ag_journal_t *self)
{
    return self->committed ? 0 : self->event_count;
}

/*  The turn  */

//  The events of the last commit end where a new turn begins.
void
ag_journal_begin_turn (ag_journal_t *self)
{
    if (!self->committed)
        return;
    self->committed = false;
    self->event_count = 0;
    ag_buf_clear (&self->bytes);
    if (self->bytes.room <= KEPT_BYTES)
        return;
    ag_buf_fini (&self->bytes); //  a turn of very many leaves no more behind than usual ones need
    free (self->events);
    free (self->undo);
    self->events = NULL;
    self->undo = NULL;
    self->event_room = self->undo_room = 0;
}

struct ag_mark
ag_journal_mark (ag_journal_t *self)
{
    ag_journal_begin_turn (self);
    self->marks++;
    return (struct ag_mark){.batch = ag_batch_mark (self->batch),
                            .undo = self->undo_count,
                            .events = self->event_count,
                            .bytes = self->bytes.n,
                            .stream = self->stream,
                            .next_run = self->next_run};
}

static void
take_back (ag_journal_t *self, const struct ag_undo *undo)
{
    struct ag_run *run = &undo->open->run;
    switch (undo->done) {
    case AG_DONE_HEAD:
        run->head = undo->head;
        undo->open->marked = undo->marked;
        break;
    case AG_DONE_MADE:
        forget (self, undo->open);
        break;
    case AG_DONE_SHOWN:
        run->hidden = true;
        run->label[0] = 0;
        break;
    case AG_DONE_DISCARDED:
        run->discarded = false;
        break;
    }
}

void
ag_journal_rollback (ag_journal_t *self, const struct ag_mark *mark)
{
    while (self->undo_count > mark->undo)
        take_back (self, &self->undo[--self->undo_count]);
    ag_batch_rollback (self->batch, mark->batch);
    ag_cache_clear (&self->cache);
    ag_archive_forget (&self->archive);
    ag_held_forget (&self->held);
    self->event_count = mark->events;
    self->bytes.n = mark->bytes;
    self->stream = mark->stream;
    self->next_run = mark->next_run;
}
