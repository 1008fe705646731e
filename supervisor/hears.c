//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/hears.h"
#include "common/log.h"
#include "supervisor/fleet.h"
#include "supervisor/match.h"
#include "supervisor/queue.h"
#include "supervisor/record.h"
#include "supervisor/state.h"

#include <stdio.h>
#include <string.h>

enum { DELIVER_EVENTS = 2000, OBJECT_BYTES = 256 << 10, HEARS_MAX = 64 };

//  One hearer and one run it hears.
struct link {
    struct ag_house *house;
    struct ag_run *hearer, *source;
    struct ag_str hears; //  the hearer's list [{from, on}]
    struct ag_str from;  //  name of the source
    uint64_t heard;
    uint32_t seen;
    struct ag_err *err;
};

static bool
wants (const struct link *link, struct ag_str type)
{
    struct ag_str one;
    for (uint32_t i = 0; !ag_list_nth (link->hears, i, &one); i++)
        if (ag_map_text_is (one, "from", link->from) && ag_map_text_is (one, "on", type))
            return true;
    return false;
}

//  Where the block of a promote ended: what it brought is told as it was then, whatever became of it since.
static uint64_t
end_of_block (const struct ag_event *marker)
{
    struct ag_str last;
    uint64_t at = AG_NOW;
    if (!ag_map_text (marker->payload, "block_final_event", &last))
        ag_evt_read (last, &at);
    return at;
}

static int
put_adopted (struct link *link, struct ag_str id, uint64_t at, struct ag_buf *out, uint32_t *count)
{
    struct ag_entity entity = {0};
    int rc =
        ag_state_get (link->house->journal, link->source, AG_OBJECT, id, at, &entity, link->err);
    if (rc > 0) {
        ag_put_map (out, 3);
        ag_put_lit (out, "id");
        ag_put_text (out, entity.id);
        ag_put_lit (out, "type");
        ag_put_text (out, entity.type);
        ag_put_lit (out, "data");
        ag_put_value (out, entity.data);
        ++*count;
    }
    ag_entity_fini (&entity);
    return rc < 0 ? -1 : 0;
}

//  What a promote's block created or patched, since a worker cannot read another run. A marker too large for lists
//  has counts in their place.
static int
put_block (struct link *link, const struct ag_event *marker, struct ag_buf *out)
{
    static const char *const lists[] = {"objects_created", "objects_patched"};
    size_t list = ag_open_list (out), start = out->n;
    uint64_t at = end_of_block (marker);
    uint32_t count = 0;
    struct ag_str id;
    bool truncated = !ag_map_get (marker->payload, "counts", &id);
    int rc = 0;
    for (int i = 0; i < 2; i++) {
        struct ag_texts ids = ag_texts_of (marker->payload, lists[i]);
        while (!rc && !truncated && ag_texts_next (&ids, &id)) {
            truncated = out->n - start > OBJECT_BYTES;
            rc = truncated ? 0 : put_adopted (link, id, at, out, &count);
        }
    }
    ag_close (out, list, count);
    ag_put_lit (out, "truncated");
    ag_put_bool (out, truncated);
    return rc;
}

//  The payload of the event; of a promote with its block.
static int
put_data (struct link *link, const struct ag_event *event, struct ag_buf *out)
{
    struct ag_cursor in = ag_cursor (event->payload);
    struct ag_head head;
    if (!ag_str_eq (event->type, ag_type_name (AG_EV_PROMOTE_APPLIED)) || ag_next (&in, &head)) {
        ag_put_value (out, event->payload);
        return 0;
    }
    ag_put_map (out, head.count + 2);
    ag_buf_add (out, in.p, (size_t)(in.end - in.p));
    ag_put_lit (out, "objects");
    return put_block (link, event, out);
}

//  whole: with the event's data; else null in its place, and that it was left out.
static int
tell_as (struct link *link, const struct ag_event *event, bool whole)
{
    struct ag_buf raw = {0}, payload = {0};
    ag_put_map (&raw, whole ? 4 : 5);
    ag_put_lit (&raw, "from_run");
    ag_put_lit (&raw, link->source->id);
    ag_put_lit (&raw, "event_id");
    ag_put_evt (&raw, event->seq);
    ag_put_lit (&raw, "type");
    ag_put_text (&raw, event->type);
    if (!whole) {
        ag_put_lit (&raw, "truncated");
        ag_put_bool (&raw, true);
    }
    ag_put_lit (&raw, "data");
    int rc = whole ? put_data (link, event, &raw) : 0;
    if (!whole)
        ag_put_null (&raw);
    if (!rc)
        rc = ag_value_normalise (ag_buf_str (&raw), &payload, link->err);
    ag_buf_fini (&raw);
    if (rc)
        ag_buf_fini (&payload);
    else
        rc = ag_journal_tell (link->house->journal, link->hearer, AG_EV_MESSAGE_RECEIVED, 0,
                              &payload, NULL, link->err);
    if (!rc)
        ag_queues_touch (link->house, link->hearer->number);
    return rc;
}

//  What does not fit into an event once more, by its size or its depth, does not stop what comes after it.
static int
tell (struct link *link, const struct ag_event *event)
{
    int rc = tell_as (link, event, true);
    if (rc && (link->err->code == AG_E_TOO_LARGE || link->err->code == AG_E_BAD_VALUE))
        rc = tell_as (link, event, false);
    return rc;
}

//  Events to be told are gathered first: reading may not write.
struct gathered {
    struct link *link;
    uint64_t seqs[DELIVER_EVENTS];
    uint32_t count;
};

static bool
gather (void *arg, const struct ag_event *event)
{
    struct gathered *gathered = arg;
    struct link *link = gathered->link;
    link->heard = event->seq;
    if (wants (link, event->type))
        gathered->seqs[gathered->count++] = event->seq;
    return ++link->seen < DELIVER_EVENTS;
}

static int
deliver (struct link *link)
{
    ag_journal_t *journal = link->house->journal;
    struct gathered gathered = {.link = link};
    struct ag_buf hold = {0};
    struct ag_event event;
    char name[32];
    snprintf (name, sizeof name, "heard/%s", link->source->id);
    if (ag_count_get (journal, link->hearer->number, ag_str (name), &link->heard, link->err) < 0)
        return -1;
    if (link->heard >= link->source->head.tip)
        return 0;
    int rc = ag_journal_scan (journal, link->source, link->heard, link->source->head.tip, gather,
                              &gathered, link->err);
    for (uint32_t i = 0; i < gathered.count && !rc; i++) {
        rc = ag_journal_read (journal, link->source, gathered.seqs[i], &hold, &event, link->err);
        if (!rc)
            rc = tell (link, &event);
    }
    ag_buf_fini (&hold);
    if (!rc)
        ag_count_put (journal, link->hearer->number, ag_str (name), link->heard);
    return rc;
}

//  Each source once, whatever the number of its types that are heard.
static bool
named_before (struct ag_str hears, uint32_t n, struct ag_str from)
{
    struct ag_str one;
    for (uint32_t i = 0; i < n && !ag_list_nth (hears, i, &one); i++)
        if (ag_map_text_is (one, "from", from))
            return true;
    return false;
}

//  A link that does not deliver is said to be broken once, and once that it delivers again.
static void
note_link (struct ag_unit *unit, uint32_t place, const struct link *link, bool broken)
{
    uint64_t bit = UINT64_C (1) << place;
    if (broken && !(unit->deaf & bit))
        ag_log (AG_ERROR, "%s does not hear %.*s: %s", unit->name, AG_STR_ARG (link->from),
                link->err->text);
    if (!broken && unit->deaf & bit)
        ag_log (AG_INFO, "%s hears %.*s again", unit->name, AG_STR_ARG (link->from));
    unit->deaf = broken ? unit->deaf | bit : unit->deaf & ~bit;
}

//  Each link by itself: what one cannot deliver does not undo another's.
static void
deliver_to (struct ag_house *house, struct ag_unit *unit)
{
    struct ag_err err;
    struct link link = {.house = house, .err = &err};
    struct ag_str one;
    if (ag_map_get (ag_buf_str (&unit->spec), "hears", &link.hears))
        return;
    for (uint32_t i = 0; i < HEARS_MAX && !ag_list_nth (link.hears, i, &one); i++) {
        if (ag_map_text (one, "from", &link.from) || named_before (link.hears, i, link.from))
            continue;
        link.seen = 0;
        link.heard = 0;
        struct ag_mark mark = ag_journal_mark (house->journal);
        bool broken = ag_run_get (house->journal, unit->run, &link.hearer, &err) ||
                      ag_run_find (house->journal, link.from, &link.source, &err) ||
                      deliver (&link);
        if (broken)
            ag_journal_rollback (house->journal, &mark);
        note_link (unit, i, &link, broken);
    }
}

void
ag_hears_deliver (struct ag_house *house)
{
    for (struct ag_unit *unit = ag_fleet_first (house); unit; unit = unit->next)
        if (unit->hears)
            deliver_to (house, unit);
}
