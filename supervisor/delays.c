//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/delays.h"
#include "supervisor/record.h"

#include <stdlib.h>
#include <string.h>

#define NOTE AG_LIT ("delayed")
enum { FIELDS = 5 };

static void
drop_first (struct ag_delays *self, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        ag_buf_fini (&self->list[i].name);
        ag_buf_fini (&self->list[i].relation);
    }
    self->count -= count;
    if (count)
        memmove (self->list, self->list + count, self->count * sizeof *self->list);
    self->changed = self->changed || count;
}

void
ag_delays_fini (struct ag_delays *self)
{
    drop_first (self, self->count);
    free (self->list);
    *self = (struct ag_delays){0};
}

void
ag_delays_drop (struct ag_delays *self, uint64_t tick)
{
    uint32_t count = 0;
    while (count < self->count && self->list[count].fire_at <= tick)
        count++;
    drop_first (self, count);
}

int
ag_delays_add (struct ag_delays *self, uint64_t event, uint64_t fire_at, uint32_t host,
               struct ag_str name, struct ag_str relation, struct ag_err *err)
{
    if (self->count >= AG_DELAYS_MAX)
        return ag_fail (err, AG_E_TOO_LARGE, "%d invocations are put off already; %d at most",
                        AG_DELAYS_MAX, AG_DELAYS_MAX);
    if (!self->list)
        self->list = ag_xcalloc (AG_DELAYS_MAX, sizeof *self->list);
    uint32_t place = self->count++;
    for (; place && self->list[place - 1].fire_at > fire_at; place--)
        self->list[place] = self->list[place - 1];
    struct ag_delay *delay = &self->list[place];
    *delay = (struct ag_delay){.event = event, .fire_at = fire_at, .host = host};
    ag_buf_add_str (&delay->name, name);
    ag_buf_add_str (&delay->relation, relation);
    self->changed = true;
    return 0;
}

const struct ag_delay *
ag_delays_find (const struct ag_delays *self, uint64_t event, struct ag_str name,
                struct ag_str relation)
{
    for (uint32_t i = 0; i < self->count; i++) {
        const struct ag_delay *delay = &self->list[i];
        if (delay->event == event && ag_str_eq (ag_buf_str (&delay->name), name) &&
            ag_str_eq (ag_buf_str (&delay->relation), relation))
            return delay;
    }
    return NULL;
}

void
ag_delays_save (ag_journal_t *journal, struct ag_run *run, struct ag_delays *self)
{
    struct ag_buf value = {0};
    if (!self->changed)
        return;
    ag_put_list (&value, self->count);
    for (uint32_t i = 0; i < self->count; i++) {
        const struct ag_delay *delay = &self->list[i];
        ag_put_list (&value, FIELDS);
        ag_put_uint (&value, delay->event);
        ag_put_uint (&value, delay->fire_at);
        ag_put_uint (&value, delay->host);
        ag_put_text (&value, ag_buf_str (&delay->name));
        ag_put_text (&value, ag_buf_str (&delay->relation));
    }
    ag_note_put (journal, run, NOTE, run->head.tip, ag_buf_str (&value));
    ag_buf_fini (&value);
    self->changed = false;
}

static int
read_entry (struct ag_cursor *in, struct ag_delays *self, struct ag_err *err)
{
    struct ag_head list, numbers[3], texts[2];
    bool good = !ag_next (in, &list) && list.kind == AG_LIST && list.count == FIELDS;
    for (int i = 0; good && i < 3; i++)
        good = !ag_next (in, &numbers[i]) && numbers[i].kind == AG_UINT;
    for (int i = 0; good && i < 2; i++)
        good = !ag_next (in, &texts[i]) && texts[i].kind == AG_TEXT;
    if (!good)
        return ag_fail (err, AG_E_CORRUPT, "the note `delayed` of a run cannot be read");
    return ag_delays_add (self, numbers[0].u, numbers[1].u, (uint32_t)numbers[2].u, texts[0].s,
                          texts[1].s, err);
}

int
ag_delays_load (ag_journal_t *journal, struct ag_run *run, struct ag_delays *self,
                struct ag_err *err)
{
    struct ag_buf hold = {0};
    uint64_t seq;
    int rc = ag_note_get (journal, run, NOTE, run->head.tip, &hold, &seq, err);
    struct ag_cursor in = ag_cursor (ag_buf_str (&hold));
    struct ag_head list;
    if (rc > 0 && (ag_next (&in, &list) || list.kind != AG_LIST))
        rc = ag_fail (err, AG_E_CORRUPT, "the note `delayed` of a run is no list");
    for (uint32_t i = 0; rc > 0 && i < list.count; i++)
        if (read_entry (&in, self, err))
            rc = -1;
    ag_buf_fini (&hold);
    self->changed = false;
    return rc < 0 ? -1 : 0;
}
