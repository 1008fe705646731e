//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/import.h"
#include "supervisor/exchange.h"
#include "supervisor/fork.h"
#include "supervisor/import_impl.h"
#include "supervisor/state_index.h"

#include <inttypes.h>
#include <string.h>

//  Numbers of runs in tags that are not ours: so far we step over them, further nobody comes.
#define TAG_MOST (UINT64_C (1) << 40)

struct importer {
    ag_journal_t *journal;
    struct ag_str name;
    struct ag_import session;
    struct ag_buf payload;
};

/*  Runs  */

static void
put_run (struct importer *self, const struct ag_run *run, struct ag_str label)
{
    struct ag_key key;
    struct ag_buf value = {0};
    ag_key_import_run (&key, self->name, ag_str (run->origin));
    ag_buf_be64 (&value, run->number);
    ag_buf_add_str (&value, label);
    ag_batch_put (ag_journal_batch (self->journal), AG_META, ag_key_str (&key),
                  ag_buf_str (&value));
    ag_buf_fini (&value);
}

//  The run of an origin in this import: 1, 0, -1.
static int
find_run (struct importer *self, struct ag_str origin, uint64_t *number, struct ag_err *err)
{
    struct ag_key key;
    struct ag_buf value = {0};
    ag_key_import_run (&key, self->name, origin);
    int rc =
        ag_batch_get (ag_journal_batch (self->journal), AG_META, ag_key_str (&key), &value, err);
    if (rc > 0)
        *number = ag_be64 (value.p);
    ag_buf_fini (&value);
    return rc;
}

static int
begin_fork (struct importer *self, const struct ag_exchange_run *line, struct ag_birth *birth,
            struct ag_run **run, struct ag_err *err)
{
    struct ag_run *parent;
    uint64_t number;
    int rc = find_run (self, line->parent, &number, err);
    if (rc == 0)
        return ag_fail (err, AG_E_BAD_VALUE,
                        "run %.*s is a fork of %.*s, which does not come before it",
                        AG_STR_ARG (line->id), AG_STR_ARG (line->parent));
    if (rc < 0 || ag_run_get (self->journal, number, &parent, err))
        return -1;
    if (line->cut > parent->head.tip || (!line->cut && parent->head.tip))
        return ag_fail (err, AG_E_BAD_VALUE, "run %.*s is cut at event %" PRIu64 " of %" PRIu64,
                        AG_STR_ARG (line->id), line->cut, parent->head.tip);
    birth->kind = AG_FORK;
    birth->continue_ids = line->continues;
    return ag_fork (self->journal, parent, line->cut, birth, run, err);
}

static int
begin_run (struct importer *self, const struct ag_exchange_run *line, struct ag_err *err)
{
    struct ag_birth birth = {.hidden = true, .origin = line->id};
    struct ag_run *run;
    uint64_t number;
    int rc = find_run (self, line->id, &number, err);
    if (rc > 0)
        return ag_fail (err, AG_E_BAD_VALUE, "run %.*s is there twice", AG_STR_ARG (line->id));
    if (self->session.runs == AG_IMPORT_RUNS)
        return ag_fail (err, AG_E_TOO_LARGE, "more than %d runs", AG_IMPORT_RUNS);
    if (rc < 0 || (line->parent.p ? begin_fork (self, line, &birth, &run, err)
                                  : ag_run_create (self->journal, &birth, &run, err)))
        return -1;
    put_run (self, run, line->label);
    self->session.run = run->number;
    self->session.runs++;
    return 0;
}

/*  Events  */

static void
highest_tag (void *arg, enum ag_minted_kind kind, const struct ag_minted *minted)
{
    uint64_t *highest = arg;
    (void)kind;
    *highest = minted->run > *highest ? minted->run : *highest;
}

//  Ids with the tag of another store's run must not be minted again by a run of this one.
static int
step_over_tag (struct importer *self, const struct ag_event *event, struct ag_err *err)
{
    uint64_t tag = 0;
    ag_event_minted (event, highest_tag, &tag);
    if (tag > TAG_MOST)
        return ag_fail (err, AG_E_BAD_VALUE, "the tag of its id is that of run number %" PRIu64,
                        tag);
    if (tag)
        ag_run_skip (self->journal, tag);
    return 0;
}

//  What a promote brought is a block that no cut may slice, here as where it happened.
static int
mark_block (struct importer *self, const struct ag_run *run, struct ag_event *event,
            struct ag_err *err)
{
    struct ag_event marker;
    struct ag_buf hold = {0};
    if (!event->cause || !event->actor.p || !ag_str_starts (event->actor, "promote:"))
        return 0;
    int rc = ag_journal_read (self->journal, run, event->cause, &hold, &marker, err);
    if (!rc && ag_str_eq (marker.type, ag_type_name (AG_EV_PROMOTE_APPLIED)))
        event->flags |= AG_BLOCK;
    ag_buf_fini (&hold);
    return rc;
}

static int
append (struct importer *self, struct ag_run *run, struct ag_event *event, struct ag_err *err)
{
    const struct ag_draft draft = {.type = event->type,
                                   .payload = event->payload,
                                   .actor = event->actor,
                                   .frame = event->frame,
                                   .cause = event->cause,
                                   .flags = event->flags,
                                   .time_us = event->time_us};
    return ag_journal_append (self->journal, run, &draft, &event->seq, err) ||
                   ag_state_apply (self->journal, run, event, err)
               ? -1
               : 0;
}

static int
add_event (struct importer *self, struct ag_str line, struct ag_err *err)
{
    struct ag_run *run;
    struct ag_event event;
    char next[AG_EVT_TEXT], got[AG_EVT_TEXT];
    if (ag_exchange_event (line, &self->payload, &event, err) ||
        ag_run_get (self->journal, self->session.run, &run, err))
        return -1;
    ag_evt_text (run->head.tip + 1, next);
    ag_evt_text (event.seq, got);
    if (event.seq != run->head.tip + 1)
        return ag_fail (err, AG_E_BAD_VALUE,
                        "its id is %s where %s comes next: an id is the place in the run", got,
                        next);
    event.run = run->number;
    if (step_over_tag (self, &event, err) || mark_block (self, run, &event, err) ||
        append (self, run, &event, err))
        return ag_wrap (err, "%s", got);
    self->session.events++;
    return 0;
}

/*  Pages  */

static int
add_line (struct importer *self, struct ag_str line, struct ag_err *err)
{
    struct ag_exchange_run run = {.id = AG_LIT ("")};
    bool first = !self->session.run;
    if (ag_exchange_is_run (line))
        return ag_exchange_run (line, &run, err) || begin_run (self, &run, err) ? -1 : 0;
    return (first && begin_run (self, &run, err)) || add_event (self, line, err) ? -1 : 0;
}

static int
add_lines (struct importer *self, const struct ag_import_page *page, struct ag_err *err)
{
    struct ag_cursor in = ag_cursor (page->items);
    struct ag_head list, pair, place;
    struct ag_str line;
    if (ag_next (&in, &list) || list.kind != AG_LIST)
        return ag_fail (err, AG_E_BAD_MESSAGE, "items is a list");
    for (uint32_t i = 0; i < list.count; i++) {
        if (ag_next (&in, &pair) || pair.kind != AG_LIST || pair.count != 2 ||
            ag_next (&in, &place) || place.kind != AG_UINT || ag_take (&in, &line))
            return ag_fail (err, AG_E_BAD_MESSAGE, "item %" PRIu32 " is not [place, line]", i);
        if (add_line (self, line, err))
            return ag_wrap (err, "%.*s %" PRIu64, AG_STR_ARG (page->word), place.u);
    }
    return 0;
}

int
ag_import_page (ag_journal_t *journal, const struct ag_import_page *page,
                struct ag_import_count *count, struct ag_err *err)
{
    struct importer self = {.journal = journal, .name = page->name};
    if (ag_import_read (journal, page->name, &self.session, err) < 0)
        return -1;
    if (page->number != self.session.pages + 1)
        return ag_fail (err, AG_E_USAGE,
                        "page %" PRIu64 " of import %.*s comes after page %" PRIu64, page->number,
                        AG_STR_ARG (page->name), self.session.pages);
    int rc = add_lines (&self, page, err);
    self.session.pages++;
    if (!rc)
        ag_import_write (journal, page->name, &self.session);
    *count = (struct ag_import_count){self.session.runs, self.session.events};
    ag_buf_fini (&self.payload);
    return rc;
}
