//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/journal_impl.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEGMENTS = 256, //  in one key of the stream
    COUNTED = 1024, //  events of the stream from one record of the counters to the next, at most
#ifdef __SANITIZE_ADDRESS__
    OPEN_RUNS = 0 //  a pointer that outlives its turn is found out
#else
    OPEN_RUNS = 4096 //  kept open between turns
#endif
};

/*  Events in  */

//  An object that waits for an approval has its id already.
void
ag_event_minted (const struct ag_event *event, ag_minted_fn *fn, void *arg)
{
    static const struct {
        enum ag_type type;
        enum ag_minted_kind kind;
        struct ag_str path;
    } rows[] = {{AG_EV_OBJECT_CREATED, AG_MINTED_OBJECT, {"object.id", 9}},
                {AG_EV_RELATION_CREATED, AG_MINTED_RELATION, {"relation.id", 11}},
                {AG_EV_PATCH_APPLIED, AG_MINTED_PATCH, {"patch.id", 8}},
                {AG_EV_PATCH_PROPOSED, AG_MINTED_PATCH, {"patch.id", 8}},
                {AG_EV_APPROVAL_PROPOSED, AG_MINTED_APPROVAL, {"approval_id", 11}},
                {AG_EV_APPROVAL_PROPOSED, AG_MINTED_OBJECT, {"id", 2}}};
    struct ag_minted minted;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ag_str value;
        struct ag_head id;
        if (!ag_str_eq (event->type, ag_type_name (rows[i].type)) ||
            ag_map_path (event->payload, rows[i].path, &value))
            continue;
        struct ag_cursor in = ag_cursor (value);
        if (!ag_next (&in, &id) && id.kind == AG_TEXT &&
            ag_minted_read (rows[i].kind, id.s, &minted))
            fn (arg, rows[i].kind, &minted);
    }
    if (event->frame.p && ag_minted_read (AG_MINTED_FRAME, event->frame, &minted))
        fn (arg, AG_MINTED_FRAME, &minted);
}

struct counters {
    struct ag_run_head *head;
    uint64_t mint;
};

//  An id that was seen raises the counter of its kind when it has the form that the run mints.
static void
raise_counter (void *arg, enum ag_minted_kind kind, const struct ag_minted *minted)
{
    struct counters *self = arg;
    if (minted->run == self->mint && minted->number <= AG_MINTED_MAX &&
        minted->number > self->head->minted[kind])
        self->head->minted[kind] = minted->number;
}

void
ag_head_add (struct ag_run_head *head, uint64_t mint, const struct ag_event *event)
{
    uint8_t before[AG_HASH];

    head->tip++;
    head->facts += !ag_type_rule (event->type).lifecycle;
    memcpy (before, head->chain, AG_HASH);
    ag_hash ((struct ag_str){(const char *)before, AG_HASH}, event->stored, head->chain);
    ag_event_minted (event, raise_counter, &(struct counters){head, mint});
}

//  The head as it stands, before it moves on from a multiple of AG_CHECKPOINT.
static void
put_checkpoint (ag_journal_t *self, const struct ag_run *run)
{
    if (run->head.tip % AG_CHECKPOINT || run->head.tip == run->base.tip)
        return;
    struct ag_key key;
    struct ag_buf value = {0};
    ag_key_checkpoint (&key, run->number, run->head.tip);
    ag_head_encode (&run->head, false, &value);
    ag_batch_put (self->batch, AG_META, ag_key_str (&key), ag_buf_str (&value));
    ag_buf_fini (&value);
}

static void
put_event (ag_journal_t *self, const struct ag_run *run, const struct ag_event *event,
           struct ag_str stored)
{
    struct ag_key key;
    ag_key_event (&key, run->number, event->seq);
    ag_batch_put (self->batch, AG_EVENT, ag_key_str (&key), stored);
    if (!ag_str_starts (event->type, "pack."))
        return;
    ag_key_typed (&key, run->number, event->type, event->seq);
    ag_batch_put (self->batch, AG_META, ag_key_str (&key), AG_LIT (""));
}

static void
add_event (ag_journal_t *self, const struct ag_event *event, size_t at)
{
    if (self->event_count == self->event_room) {
        self->event_room = self->event_room ? self->event_room * 2 : 64;
        self->events = ag_xrealloc (self->events, self->event_room * sizeof *self->events);
    }
    self->events[self->event_count++] =
        (struct ag_turn_event){event->run, event->seq, at, self->bytes.n - at};
}

static int
check_size (const struct ag_event *event, struct ag_err *err)
{
    size_t n = event->stored.n;
    if (n + AG_SEED <= AG_EVENT_BYTES)
        return 0;
    return ag_fail (err, AG_E_TOO_LARGE, "an event `%.*s` of %zu bytes is over the limit of %d",
                    AG_STR_ARG (event->type), n + AG_SEED, AG_EVENT_BYTES);
}

int
ag_journal_append (ag_journal_t *self, struct ag_run *run, const struct ag_draft *draft,
                   uint64_t *seq, struct ag_err *err)
{
    if (self->lost)
        return ag_fail (err, AG_E_STORE, "the store has to be read again first");
    ag_journal_begin_turn (self);
    bool imported = draft->flags & AG_IMPORTED;
    struct ag_event event = {.run = run->number,
                             .seq = run->head.tip + 1,
                             .stream = imported ? 0 : self->stream + 1,
                             .time_us = draft->time_us || imported ? draft->time_us
                                                                   : ag_journal_now (self),
                             .cause = draft->cause,
                             .flags = draft->flags,
                             .type = draft->type,
                             .actor = draft->actor,
                             .frame = draft->frame,
                             .payload = draft->payload};
    size_t at = self->bytes.n;
    ag_event_encode (&event, &self->bytes);
    event.stored = (struct ag_str){(const char *)self->bytes.p + at, self->bytes.n - at};
    if (check_size (&event, err)) {
        self->bytes.n = at;
        return -1;
    }

    ag_run_touch (self, run);
    put_checkpoint (self, run);
    ag_head_add (&run->head, run->mint, &event);
    *seq = event.seq;
    ag_buf_add (&self->bytes, run->head.chain, AG_SEED);
    put_event (self, run, &event,
               (struct ag_str){(const char *)self->bytes.p + at, self->bytes.n - at});
    if (imported) {
        self->bytes.n = at;
        return 0;
    }
    self->stream++;
    add_event (self, &event, at);
    return 0;
}

int
ag_journal_adopt (ag_journal_t *self, struct ag_run *run, const struct ag_event *event,
                  struct ag_str bytes)
{
    struct ag_run_head head = run->head;
    ag_head_add (&head, run->mint, event);
    if (memcmp (event->seed, head.chain, AG_SEED))
        return 0;
    ag_run_touch (self, run);
    put_checkpoint (self, run);
    run->head = head;
    put_event (self, run, event, bytes);
    return 1;
}

int
ag_journal_tell (ag_journal_t *self, struct ag_run *run, enum ag_type type, uint64_t cause,
                 struct ag_buf *payload, uint64_t *seq, struct ag_err *err)
{
    uint64_t unasked;
    struct ag_draft draft = {.type = ag_type_name (type),
                             .payload = ag_buf_str (payload),
                             .actor = AG_LIT ("runtime"),
                             .cause = cause};
    int rc = ag_journal_append (self, run, &draft, seq ? seq : &unasked, err);
    ag_buf_fini (payload);
    return rc;
}

/*  The end of a turn  */

static void
put_heads (ag_journal_t *self)
{
    struct ag_open *open;
    struct ag_key key;
    struct ag_buf value = {0};
    TAILQ_FOREACH (open, &self->dirty, dirty_link) {
        ag_buf_clear (&value);
        ag_key_head (&key, open->run.number);
        ag_head_encode (&open->run.head, true, &value);
        ag_batch_put (self->batch, AG_META, ag_key_str (&key), ag_buf_str (&value));
    }
    ag_buf_fini (&value);
}

//  How many events from here on lie in one run, one after the other.
static size_t
segment (const ag_journal_t *self, size_t from)
{
    const struct ag_turn_event *first = &self->events[from];
    size_t n = 1;
    while (from + n < self->event_count && first[n].run == first->run)
        n++;
    return n;
}

//  [run, first sequence, count, ...] of stretches of the stream, under the last number of them.
static void
put_stream (ag_journal_t *self)
{
    struct ag_buf value = {0};
    for (size_t i = 0; i < self->event_count;) {
        struct ag_key key;
        ag_buf_clear (&value);
        for (int segments = 0; i < self->event_count && segments < SEGMENTS; segments++) {
            size_t n = segment (self, i);
            ag_buf_be64 (&value, self->events[i].run);
            ag_buf_be64 (&value, self->events[i].seq);
            ag_buf_be64 (&value, n);
            i += n;
        }
        ag_key_stream (&key, self->stream_begin + i);
        ag_batch_put (self->batch, AG_META, ag_key_str (&key), ag_buf_str (&value));
    }
    ag_buf_fini (&value);
}

//  Not with each turn: a key less is a good part of a small one.
static bool
counters_are_due (const ag_journal_t *self)
{
    return self->count || self->next_run != self->kept_run ||
           self->stream - self->kept_stream >= COUNTED;
}

static void
put_counters (ag_journal_t *self)
{
    self->count = false;
    self->kept_run = self->next_run;
    self->kept_stream = self->stream;
    struct ag_key key;
    struct ag_buf value = {0};
    ag_key_journal (&key);
    ag_buf_be64 (&value, self->next_run);
    ag_buf_be64 (&value, self->stream);
    ag_batch_put (self->batch, AG_META, ag_key_str (&key), ag_buf_str (&value));
    ag_buf_fini (&value);
}

static void
settle (ag_journal_t *self)
{
    struct ag_open *open;
    while ((open = TAILQ_FIRST (&self->dirty))) {
        TAILQ_REMOVE (&self->dirty, open, dirty_link);
        open->dirty = false;
    }
    self->undo_count = 0;
    self->stream_begin = self->stream;
    if (self->open_count > OPEN_RUNS)
        ag_open_clear (self);
}

static void
drop_turn (ag_journal_t *self)
{
    ag_open_clear (self);
    ag_cache_clear (&self->cache);
    ag_archive_forget (&self->archive);
    ag_held_forget (&self->held);
    self->undo_count = 0;
    self->event_count = 0;
    ag_buf_clear (&self->bytes);
}

int
ag_journal_commit (ag_journal_t *self, struct ag_err *err)
{
    if (self->lost)
        return ag_fail (err, AG_E_STORE, "the store has to be read again first");
    ag_journal_begin_turn (self);
    if (ag_batch_count (self->batch) || !TAILQ_EMPTY (&self->dirty) || counters_are_due (self)) {
        put_heads (self);
        put_stream (self);
        if (counters_are_due (self))
            put_counters (self);
        if (ag_batch_write (self->batch, err)) {
            struct ag_err ignored;
            drop_turn (self);
            self->lost = true;
            self->dead = err->code != AG_E_DISK_FULL;
            ag_journal_recover (self, &ignored);
            return -1;
        }
    }
    settle (self);
    self->committed = true;
    return 0;
}

int
ag_journal_recover (ag_journal_t *self, struct ag_err *err)
{
    if (!self->lost)
        return 0;
    if (self->dead && ag_store_reopen (self->store, err))
        return -1;
    self->dead = false;
    if (ag_journal_read_counters (self, err))
        return -1;
    self->lost = false;
    return 0;
}

void
ag_journal_committed (ag_journal_t *self, ag_event_fn fn, void *arg)
{
    bool more = self->committed;
    for (size_t i = 0; more && i < self->event_count; i++) {
        const struct ag_turn_event *turn = &self->events[i];
        struct ag_event event;
        struct ag_err err;
        struct ag_str stored = {(const char *)self->bytes.p + turn->at, turn->n};
        int rc = ag_event_decode (turn->run, turn->seq, stored, &event, &err);
        assert (!rc);
        more = fn (arg, &event);
    }
}
