//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/reads.h"

#include <string.h>

//  Entries in the buffer: kind, length (4 bytes), bytes.
struct entry {
    enum ag_read kind;
    struct ag_str text;
};

static bool
entry_at (const struct ag_buf *reads, size_t *at, struct entry *entry)
{
    if (*at >= reads->n)
        return false;
    uint32_t n;
    const char *p = (const char *)reads->p + *at;
    memcpy (&n, p + 1, sizeof n);
    *entry = (struct entry){(enum ag_read) * p, {p + 5, n}};
    *at += 5 + n;
    return true;
}

int
ag_reads_add (struct ag_invocation *self, enum ag_read kind, struct ag_str text, struct ag_err *err)
{
    if (self->read_count >= AG_READS_MAX)
        return ag_fail (err, AG_E_TOO_LARGE, "an invocation asks for %d things at most",
                        AG_READS_MAX);
    char letter = (char)kind;
    uint32_t n = (uint32_t)text.n;
    ag_buf_add (&self->reads, &letter, 1);
    ag_buf_add (&self->reads, &n, sizeof n);
    ag_buf_add_str (&self->reads, text);
    self->read_count++;
    return 0;
}

//  What one graph event touches: the entity, its type, and of a relation its two ends.
struct touched {
    struct ag_str id, type, source, target;
};

static void
touched_by (const struct ag_event *event, struct touched *touched)
{
    struct ag_str thing;
    *touched = (struct touched){0};
    if (!ag_map_get (event->payload, "object", &thing) ||
        !ag_map_get (event->payload, "relation", &thing)) {
        ag_map_text (thing, "type", &touched->type);
        ag_map_text (thing, "source", &touched->source);
        ag_map_text (thing, "target", &touched->target);
    }
}

struct check {
    ag_journal_t *journal;
    struct ag_run *run;
    const struct ag_invocation *invocation;
    struct ag_err *err;
    int rc;
};

static bool
same (struct ag_str a, struct ag_str b)
{
    return a.n && ag_str_eq (a, b);
}

static bool
asked_for (const struct ag_invocation *self, const struct touched *touched)
{
    struct entry entry;
    for (size_t at = 0; entry_at (&self->reads, &at, &entry);) {
        if (entry.kind == AG_READ_ENTITY && same (touched->id, entry.text))
            return true;
        if (entry.kind == AG_READ_TYPE && same (touched->type, entry.text))
            return true;
        if (entry.kind == AG_READ_ENDPOINT &&
            (same (touched->source, entry.text) || same (touched->target, entry.text)))
            return true;
    }
    return false;
}

//  A patch or removal does not say the type and ends: the index does.
static bool
check_event (void *arg, const struct ag_event *event)
{
    struct check *check = arg;
    struct ag_change change;
    struct touched touched;
    if (!ag_change_of (event, &change))
        return true;
    touched_by (event, &touched);
    touched.id = change.id;
    struct ag_tip tip = {0};
    if (!touched.type.n) {
        check->rc = ag_state_tip (check->journal, check->run, change.kind, change.id, AG_NOW, &tip,
                                  check->err);
        touched.type = tip.type;
        touched.source = tip.source;
        touched.target = tip.target;
    }
    if (check->rc >= 0)
        check->rc = asked_for (check->invocation, &touched);
    ag_tip_fini (&tip);
    return check->rc == 0;
}

int
ag_reads_stale (ag_journal_t *journal, struct ag_run *run, const struct ag_invocation *self,
                struct ag_err *err)
{
    struct check check = {journal, run, self, err, 0};
    if (!self->read_count || run->head.tip == self->at)
        return 0;
    if (ag_journal_scan (journal, run, self->at, run->head.tip, check_event, &check, err))
        return -1;
    return check.rc;
}

static bool
seen_before (const struct ag_buf *reads, size_t end, struct ag_str text)
{
    struct entry entry;
    for (size_t at = 0; at < end && entry_at (reads, &at, &entry);)
        if (entry.kind == AG_READ_ENTITY && ag_str_eq (entry.text, text))
            return true;
    return false;
}

void
ag_reads_write (const struct ag_invocation *self, struct ag_str behavior, struct ag_buf *out)
{
    size_t map = ag_open_map (out);
    ag_put_lit (out, "behavior");
    ag_put_text (out, behavior);
    ag_put_lit (out, "event_id");
    ag_put_evt (out, self->event);
    ag_put_lit (out, "execution_event_id");
    ag_put_evt (out, self->started);
    ag_put_lit (out, "object_ids");
    size_t list = ag_open_list (out);
    uint32_t ids = 0;
    struct entry entry;
    for (size_t at = 0, before = 0; ids < AG_READ_IDS && entry_at (&self->reads, &at, &entry);
         before = at)
        if (entry.kind == AG_READ_ENTITY && !seen_before (&self->reads, before, entry.text)) {
            ag_put_text (out, entry.text);
            ids++;
        }
    ag_close (out, list, ids);
    ag_put_lit (out, "count");
    ag_put_uint (out, self->read_count);
    ag_close (out, map, 5);
}
