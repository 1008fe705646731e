//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/held.h"
#include "supervisor/key.h"

static struct ag_stretch *
find (struct ag_held *self, uint64_t run)
{
    for (size_t i = 0; i < AG_HELD_RUNS; i++)
        if (self->runs[i].run == run) {
            self->runs[i].used = ++self->clock;
            return &self->runs[i];
        }
    return NULL;
}

static bool
add (struct ag_stretch *stretch, struct ag_str bytes)
{
    if (stretch->count == AG_HELD_EVENTS || stretch->bytes.n + bytes.n > AG_HELD_BYTES)
        return false;
    ag_buf_add_str (&stretch->bytes, bytes);
    stretch->ends[stretch->count++] = stretch->bytes.n;
    return true;
}

static void
begin (struct ag_stretch *stretch, uint64_t run, uint64_t first)
{
    stretch->run = run;
    stretch->first = first;
    stretch->count = 0;
    ag_buf_clear (&stretch->bytes);
}

struct ag_str
ag_held_get (struct ag_held *self, uint64_t run, uint64_t seq)
{
    const struct ag_stretch *stretch = find (self, run);
    if (!stretch || seq < stretch->first || seq - stretch->first >= stretch->count)
        return (struct ag_str){0};
    size_t at = seq - stretch->first, begins = at ? stretch->ends[at - 1] : 0;
    return (struct ag_str){(const char *)stretch->bytes.p + begins, stretch->ends[at] - begins};
}

static struct ag_stretch *
least_used (struct ag_held *self)
{
    struct ag_stretch *least = &self->runs[0];
    for (size_t i = 1; i < AG_HELD_RUNS; i++)
        if (self->runs[i].used < least->used)
            least = &self->runs[i];
    least->used = ++self->clock;
    return least;
}

void
ag_held_put (struct ag_held *self, uint64_t run, uint64_t seq, struct ag_str bytes)
{
    struct ag_stretch *stretch = find (self, run);
    if (!stretch)
        stretch = least_used (self);
    begin (stretch, run, seq);
    add (stretch, bytes);
}

int
ag_held_ahead (struct ag_held *self, ag_batch_t *batch, uint64_t run, uint64_t after,
               uint64_t until, struct ag_err *err)
{
    struct ag_key from, to;
    struct ag_str key, value;
    struct ag_stretch *stretch = find (self, run);
    if (!stretch || stretch->first + stretch->count != after + 1)
        return 0;
    begin (stretch, run, after + 1);
    ag_key_event (&from, run, after + 1);
    ag_key_event (&to, run, until + 1);
    ag_view_t *view = ag_batch_scan (batch, AG_EVENT, ag_key_str (&from), ag_key_str (&to));
    int rc;
    while ((rc = ag_view_next (view, &key, &value, err)) > 0)
        if (ag_key_last_number (key) != stretch->first + stretch->count || !add (stretch, value))
            break;
    ag_view_destroy (&view);
    return rc < 0 ? -1 : 0;
}

void
ag_held_forget (struct ag_held *self)
{
    for (size_t i = 0; i < AG_HELD_RUNS; i++) {
        self->runs[i].run = self->runs[i].used = 0;
        self->runs[i].count = 0;
    }
}

void
ag_held_fini (struct ag_held *self)
{
    for (size_t i = 0; i < AG_HELD_RUNS; i++)
        ag_buf_fini (&self->runs[i].bytes);
}
