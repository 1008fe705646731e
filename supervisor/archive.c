//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/archive.h"
#include "supervisor/event.h"
#include "supervisor/ids.h"
#include "supervisor/key.h"
#include "supervisor/zip.h"

#include <inttypes.h>
#include <string.h>

enum {
    CHUNK_EVENTS = 1000,
    CHUNK_BYTES = 256 << 10, //  the event that passes it is the last one
    CHUNK_MAX = CHUNK_BYTES + AG_EVENT_BYTES + 8 * CHUNK_EVENTS,
    NUMBER = 8, //  bytes of one
};

int
ag_retained_get (ag_batch_t *batch, uint64_t run, struct ag_retained *retained, struct ag_err *err)
{
    struct ag_key key;
    struct ag_buf hold = {0};
    *retained = (struct ag_retained){0};
    ag_key_of_run (&key, 'x', run);
    int rc = ag_batch_get (batch, AG_META, ag_key_str (&key), &hold, err);
    if (rc > 0 && hold.n != 3 * NUMBER)
        rc = ag_fail (err, AG_E_CORRUPT, "what is archived of run number %" PRIu64 " is unreadable",
                      run);
    if (rc > 0)
        *retained = (struct ag_retained){ag_be64 (hold.p), ag_be64 (hold.p + NUMBER),
                                         ag_be64 (hold.p + 2 * NUMBER)};
    ag_buf_fini (&hold);
    return rc < 0 ? -1 : 0;
}

void
ag_retained_put (ag_batch_t *batch, uint64_t run, const struct ag_retained *retained)
{
    struct ag_key key;
    struct ag_buf value = {0};
    ag_key_of_run (&key, 'x', run);
    ag_buf_be64 (&value, retained->covered);
    ag_buf_be64 (&value, retained->marker);
    ag_buf_be64 (&value, retained->archived);
    ag_batch_put (batch, AG_META, ag_key_str (&key), ag_buf_str (&value));
    ag_buf_fini (&value);
}

void
ag_archive_forget (struct ag_archive *self)
{
    for (int i = 0; i < AG_UNPACKED; i++)
        ag_buf_fini (&self->chunks[i].events);
    *self = (struct ag_archive){0};
}

/*  Reading. A chunk is the ends of its events, counted from behind these numbers, then the events.  */

static uint64_t
end_of (const struct ag_chunk *chunk, uint64_t i)
{
    return i ? ag_be64 (chunk->events.p + (i - 1) * NUMBER) : 0;
}

static bool
is_sound (const struct ag_chunk *chunk)
{
    uint64_t count = chunk->last - chunk->first + 1, end = 0;
    if (count > CHUNK_EVENTS || chunk->events.n < count * NUMBER)
        return false;
    for (uint64_t i = 1; i <= count; i++) {
        uint64_t next = end_of (chunk, i);
        if (next < end)
            return false;
        end = next;
    }
    return end == chunk->events.n - count * NUMBER;
}

static bool
holds (const struct ag_chunk *chunk, uint64_t run, uint64_t seq)
{
    return chunk->run == run && chunk->first <= seq && seq <= chunk->last;
}

//  The one that was used last is asked first.
static struct ag_chunk *
find_unpacked (struct ag_archive *self, uint64_t run, uint64_t seq)
{
    int i = self->newest;
    if (!holds (&self->chunks[i], run, seq))
        for (i = 0; i < AG_UNPACKED && !holds (&self->chunks[i], run, seq); i++)
            continue;
    if (i == AG_UNPACKED)
        return NULL;
    self->newest = i;
    self->chunks[i].used = ++self->clock;
    return &self->chunks[i];
}

static size_t
unpacked_bytes (const struct ag_archive *self)
{
    size_t bytes = 0;
    for (int i = 0; i < AG_UNPACKED; i++)
        bytes += self->chunks[i].events.room;
    return bytes;
}

//  An empty one, or the one that was not used for longest; or of those that are full.
static struct ag_chunk *
find_oldest (struct ag_archive *self, bool full)
{
    struct ag_chunk *oldest = NULL;
    for (int i = 0; i < AG_UNPACKED; i++) {
        struct ag_chunk *chunk = &self->chunks[i];
        if ((!full || chunk->used) && (!oldest || chunk->used < oldest->used))
            oldest = chunk;
    }
    return oldest;
}

static void
empty (struct ag_chunk *chunk)
{
    ag_buf_fini (&chunk->events);
    *chunk = (struct ag_chunk){0};
}

static struct ag_chunk *
make_place (struct ag_archive *self)
{
    while (unpacked_bytes (self) >= AG_UNPACKED_BYTES)
        empty (find_oldest (self, true));
    struct ag_chunk *place = find_oldest (self, false);
    empty (place);
    return place;
}

//  Into the place of the oldest one: 1, 0 when it does not hold the event, -1.
static int
unpack (struct ag_archive *self, uint64_t run, uint64_t seq, struct ag_str key, struct ag_str value,
        struct ag_chunk **chunk_p, struct ag_err *err)
{
    char id[AG_RUN_TEXT];
    uint64_t last = ag_key_last_number (key);
    uint64_t first = value.n > NUMBER ? ag_be64 (value.p) : last;
    if (value.n > NUMBER && seq < first)
        return 0;
    struct ag_chunk *chunk = make_place (self);
    chunk->first = first;
    chunk->last = last;
    if (value.n > NUMBER && first <= last &&
        !ag_unzip ((struct ag_str){value.p + NUMBER, value.n - NUMBER}, CHUNK_MAX,
                   &chunk->events) &&
        is_sound (chunk)) {
        chunk->run = run;
        chunk->used = ++self->clock;
        self->newest = (int)(chunk - self->chunks);
        *chunk_p = chunk;
        return 1;
    }
    empty (chunk);
    ag_run_id (run, id);
    return ag_fail (err, AG_E_CORRUPT,
                    "events %" PRIu64 " to %" PRIu64 " of run %s cannot be unpacked", first, last,
                    id);
}

//  The first chunk that ends at the event or after it.
static int
find_packed (struct ag_archive *self, ag_batch_t *batch, uint64_t run, uint64_t seq,
             struct ag_chunk **chunk, struct ag_err *err)
{
    struct ag_key from, all;
    struct ag_str key, value;
    ag_key_archived (&from, run, seq);
    ag_key_of_run (&all, 'a', run);
    struct ag_key to = ag_key_end (&all);
    ag_view_t *view = ag_batch_scan (batch, AG_BLOB, ag_key_str (&from), ag_key_str (&to));
    int rc = ag_view_next (view, &key, &value, err);
    if (rc > 0)
        rc = unpack (self, run, seq, key, value, chunk, err);
    ag_view_destroy (&view);
    return rc;
}

int
ag_archive_get (struct ag_archive *self, ag_batch_t *batch, uint64_t run, uint64_t seq,
                struct ag_buf *out, struct ag_err *err)
{
    struct ag_chunk *chunk = find_unpacked (self, run, seq);
    int rc = chunk ? 1 : find_packed (self, batch, run, seq, &chunk, err);
    if (rc <= 0)
        return rc;
    uint64_t i = seq - chunk->first, count = chunk->last - chunk->first + 1;
    uint64_t from = end_of (chunk, i), to = end_of (chunk, i + 1);
    ag_buf_add (out, chunk->events.p + count * NUMBER + from, to - from);
    return 1;
}

/*  Moving  */

struct move {
    uint64_t run, next; //  the event that has to come now
    uint64_t count;
    struct ag_buf ends, events;
};

static int
gather (struct move *self, ag_batch_t *batch, uint64_t until, struct ag_err *err)
{
    struct ag_key from, to;
    struct ag_str key, value;
    ag_key_event (&from, self->run, self->next);
    ag_key_event (&to, self->run, until + 1);
    ag_view_t *view = ag_batch_scan (batch, AG_EVENT, ag_key_str (&from), ag_key_str (&to));
    int rc = 1;
    while (self->count < CHUNK_EVENTS && self->events.n < CHUNK_BYTES && self->next <= until &&
           (rc = ag_view_next (view, &key, &value, err)) > 0 &&
           ag_key_last_number (key) == self->next) {
        ag_buf_add_str (&self->events, value);
        ag_buf_be64 (&self->ends, self->events.n);
        self->next++;
        self->count++;
    }
    bool hole = self->next <= until && self->count < CHUNK_EVENTS && self->events.n < CHUNK_BYTES;
    ag_view_destroy (&view);
    if (rc >= 0 && hole)
        return ag_fail (err, AG_E_CORRUPT, "event %" PRIu64 " of run number %" PRIu64 " is missing",
                        self->next, self->run);
    return rc < 0 ? -1 : 0;
}

static void
put_chunk (struct move *self, ag_batch_t *batch)
{
    struct ag_key key;
    struct ag_buf value = {0};
    ag_key_archived (&key, self->run, self->next - 1);
    ag_buf_be64 (&value, self->next - self->count);
    ag_buf_add_str (&self->ends, ag_buf_str (&self->events));
    ag_zip (ag_buf_str (&self->ends), &value);
    ag_batch_put (batch, AG_BLOB, ag_key_str (&key), ag_buf_str (&value));
    ag_buf_fini (&value);
    for (uint64_t seq = self->next - self->count; seq < self->next; seq++) {
        ag_key_event (&key, self->run, seq);
        ag_batch_delete (batch, AG_EVENT, ag_key_str (&key));
    }
}

int
ag_archive_move (ag_batch_t *batch, uint64_t run, uint64_t after, uint64_t until,
                 struct ag_err *err)
{
    struct move self = {.run = run, .next = after + 1};
    int rc = gather (&self, batch, until, err);
    if (!rc && self.count)
        put_chunk (&self, batch);
    ag_buf_fini (&self.ends);
    ag_buf_fini (&self.events);
    return rc ? -1 : (int)self.count;
}
