//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/reads.h"
#include "supervisor/arena.h"
#include "supervisor/omap.h"

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

//  Some of them as a set: a key is the kind, then the text.
struct set {
    struct ag_arena arena;
    struct ag_omap map;
};

static void
key_of (enum ag_read kind, struct ag_str text, struct ag_buf *key)
{
    ag_buf_clear (key);
    ag_buf_add (key, &(char){(char)kind}, 1);
    ag_buf_add_str (key, text);
}

//  False when it is there already.
static bool
set_add (struct set *self, const struct entry *entry, struct ag_buf *hold)
{
    key_of (entry->kind, entry->text, hold);
    struct ag_str key = ag_buf_str (hold), none = {0};
    struct ag_place before = self->arena.now;
    void *memory = ag_arena_take (&self->arena, ag_entry_size (key, none));
    bool is_new = !ag_omap_insert (&self->map, ag_entry_make (memory, key, none));
    if (!is_new)
        ag_arena_rewind (&self->arena, before);
    return is_new;
}

static void
set_fini (struct set *self)
{
    ag_arena_rewind (&self->arena, (struct ag_place){0});
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
    struct set set; //  what it asked for; made for the first event that changes the graph
    bool is_made;
    struct ag_buf hold;
    struct ag_err *err;
    int rc;
};

static bool
has (struct check *self, enum ag_read kind, struct ag_str text)
{
    key_of (kind, text, &self->hold);
    return text.n && ag_omap_find (&self->set.map, ag_buf_str (&self->hold));
}

static bool
asked_for (struct check *self, const struct touched *touched)
{
    struct entry entry;
    if (!self->is_made)
        for (size_t at = 0; entry_at (&self->invocation->reads, &at, &entry);)
            set_add (&self->set, &entry, &self->hold);
    self->is_made = true;
    return has (self, AG_READ_ENTITY, touched->id) || has (self, AG_READ_TYPE, touched->type) ||
           has (self, AG_READ_ENDPOINT, touched->source) ||
           has (self, AG_READ_ENDPOINT, touched->target);
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
        check->rc = asked_for (check, &touched);
    ag_tip_fini (&tip);
    return check->rc == 0;
}

int
ag_reads_stale (ag_journal_t *journal, struct ag_run *run, const struct ag_invocation *self,
                struct ag_err *err)
{
    struct check check = {.journal = journal, .run = run, .invocation = self, .err = err};
    if (!self->read_count || run->head.tip == self->at)
        return 0;
    int rc = ag_journal_scan (journal, run, self->at, run->head.tip, check_event, &check, err);
    set_fini (&check.set);
    ag_buf_fini (&check.hold);
    return rc ? -1 : check.rc;
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
    struct set seen = {0};
    struct ag_buf hold = {0};
    struct entry entry;
    for (size_t at = 0; ids < AG_READ_IDS && entry_at (&self->reads, &at, &entry);)
        if (entry.kind == AG_READ_ENTITY && set_add (&seen, &entry, &hold)) {
            ag_put_text (out, entry.text);
            ids++;
        }
    set_fini (&seen);
    ag_buf_fini (&hold);
    ag_close (out, list, ids);
    ag_put_lit (out, "count");
    ag_put_uint (out, self->read_count);
    ag_close (out, map, 5);
}
