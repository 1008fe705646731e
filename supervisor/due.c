//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/due.h"
#include "common/items.h"
#include "supervisor/match.h"
#include "supervisor/state.h"

#include <stdlib.h>
#include <string.h>

enum { ID_BYTES = 256 };

static int
add (struct ag_queue *queue, uint32_t most, uint32_t host, uint64_t event, struct ag_str behavior,
     struct ag_str relation, struct ag_err *err)
{
    if (queue->count >= most)
        return ag_fail (err, AG_E_TOO_LARGE,
                        "with it, the event would cause more than %d invocations", AG_DUE_MAX);
    if (!(queue->count & (queue->count - 1))) //  0 and powers of two: full
        queue->list =
            ag_xrealloc (queue->list, (queue->count ? 2 * queue->count : 1) * sizeof *queue->list);
    struct ag_due *due = &queue->list[queue->count];
    *due = (struct ag_due){.host = host,
                           .event = event,
                           .place = queue->count++,
                           .behavior = behavior,
                           .priority = ag_match_priority (behavior)};
    ag_map_text (behavior, "name", &due->name);
    ag_buf_add_str (&due->relation, relation);
    return 0;
}

/*  Relations of the objects that a payload names: looked for once an event, whoever asks  */

struct texts {
    struct ag_str *list;
    size_t count, room;
    bool too_many;
};

static bool
keep_text (void *arg, struct ag_str text)
{
    struct texts *texts = arg;
    if (!text.n || text.n > ID_BYTES || memchr (text.p, 0, text.n))
        return false;
    if (texts->count == AG_DUE_NAMED)
        return texts->too_many = true;
    if (texts->count == texts->room) {
        texts->room = texts->room ? 2 * texts->room : 16;
        texts->list = ag_xrealloc (texts->list, texts->room * sizeof *texts->list);
    }
    texts->list[texts->count++] = text;
    return false;
}

//  One for each of its ends that is named.
struct ag_named_relation {
    struct ag_str type, id; //  one piece of memory, ours
};

static int
by_type (const void *a, const void *b)
{
    const struct ag_named_relation *one = a, *two = b;
    int order = ag_str_cmp (one->type, two->type);
    return order ? order : ag_str_cmp (one->id, two->id);
}

struct looking {
    ag_journal_t *journal;
    struct ag_run *run;
    uint64_t at;
    struct ag_named *named;
    struct ag_err *err;
    int rc;
};

static void
keep_relation (struct ag_named *named, struct ag_str type, struct ag_str id)
{
    if (!(named->count & (named->count - 1))) //  0 and powers of two: full
        named->list =
            ag_xrealloc (named->list, (named->count ? 2 * named->count : 1) * sizeof *named->list);
    char *bytes = ag_xmalloc (type.n + id.n);
    memcpy (bytes, type.p, type.n);
    memcpy (bytes + type.n, id.p, id.n);
    named->list[named->count++] =
        (struct ag_named_relation){{bytes, type.n}, {bytes + type.n, id.n}};
}

static bool
look_at_relation (void *arg, struct ag_str id)
{
    struct looking *self = arg;
    struct ag_tip tip = {0};
    self->named->too_many = self->named->count == AG_DUE_NAMED;
    if (self->named->too_many)
        return false;
    self->rc = ag_state_tip (self->journal, self->run, AG_RELATION, id, self->at, &tip, self->err);
    if (self->rc > 0)
        keep_relation (self->named, tip.type, id);
    ag_tip_fini (&tip);
    return self->rc >= 0;
}

//  Equal texts stand together.
static int
look_at_texts (struct looking *self, struct texts *texts)
{
    if (texts->count)
        qsort (texts->list, texts->count, sizeof *texts->list, ag_str_order);
    for (size_t i = 0; i < texts->count && self->rc >= 0 && !self->named->too_many; i++)
        if ((i == 0 || !ag_str_eq (texts->list[i], texts->list[i - 1])) &&
            ag_state_relations (self->journal, self->run, texts->list[i], self->at,
                                (struct ag_str){0}, look_at_relation, self, self->err))
            self->rc = -1;
    return self->rc < 0 ? -1 : 0;
}

//  AG_E_TOO_LARGE each time when it is too much.
static int
find_named (ag_journal_t *journal, struct ag_run *run, const struct ag_event *event,
            struct ag_named *named, struct ag_err *err)
{
    struct looking looking = {
        .journal = journal, .run = run, .at = event->seq, .named = named, .err = err};
    if (!named->known) {
        struct texts texts = {0};
        ag_match_texts (event->payload, keep_text, &texts);
        named->too_many = texts.too_many;
        int rc = look_at_texts (&looking, &texts);
        free (texts.list);
        if (rc)
            return -1;
        if (named->count)
            qsort (named->list, named->count, sizeof *named->list, by_type);
        named->known = true;
    }
    if (named->too_many)
        return ag_fail (err, AG_E_TOO_LARGE,
                        "the event names more than %d things, or what has more than %d relations",
                        AG_DUE_NAMED, AG_DUE_NAMED);
    return 0;
}

void
ag_named_fini (struct ag_named *named)
{
    for (size_t i = 0; i < named->count; i++)
        free ((char *)named->list[i].type.p);
    free (named->list);
}

//  The place of the first relation of a type, or where it would be.
static size_t
first_of (const struct ag_named *named, struct ag_str type)
{
    size_t from = 0, to = named->count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (ag_str_cmp (named->list[middle].type, type) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static int
add_relations (ag_journal_t *journal, struct ag_run *run, struct ag_queue *queue, uint32_t host,
               struct ag_str behavior, const struct ag_event *event, struct ag_named *named,
               struct ag_err *err)
{
    struct ag_str type, last = {0};
    if (ag_map_text (behavior, "relation_type", &type))
        return add (queue, AG_DUE_MAX, host, event->seq, behavior, (struct ag_str){0}, err);
    int rc = find_named (journal, run, event, named, err);
    for (size_t i = rc ? 0 : first_of (named, type);
         !rc && i < named->count && ag_str_eq (named->list[i].type, type); i++) {
        const struct ag_named_relation *one = &named->list[i];
        if (ag_str_eq (one->id, last))
            continue;
        rc = add (queue, AG_DUE_MAX, host, event->seq, behavior, one->id, err);
        last = one->id;
    }
    return rc;
}

static void
leave_out (struct ag_queue *queue, uint32_t count, struct ag_str behavior, const char *why)
{
    struct ag_str name = {0};
    while (queue->count > count)
        ag_buf_fini (&queue->list[--queue->count].relation);
    ag_map_text (behavior, "name", &name);
    ag_put_text (&queue->left_out, name);
    ag_put_lit (&queue->left_out, why);
    queue->left_out_at = queue->next;
}

int
ag_due_add (ag_journal_t *journal, struct ag_run *run, struct ag_queue *queue, uint32_t host,
            struct ag_str behaviors, const struct ag_event *event, struct ag_named *named,
            struct ag_err *err)
{
    struct ag_str behavior;
    for (struct ag_items items = ag_items_of (behaviors); ag_items_next (&items, &behavior);) {
        uint32_t count = queue->count;
        if (!ag_match_event (behavior, event->type, event->payload) ||
            !add_relations (journal, run, queue, host, behavior, event, named, err))
            continue;
        if (err->code != AG_E_TOO_LARGE)
            return -1;
        leave_out (queue, count, behavior, err->text);
    }
    return 0;
}

int
ag_due_add_delayed (struct ag_queue *queue, const struct ag_delay *delay, struct ag_str behaviors,
                    struct ag_err *err)
{
    struct ag_str behavior;
    for (struct ag_items items = ag_items_of (behaviors); ag_items_next (&items, &behavior);) {
        if (!ag_map_text_is (behavior, "name", ag_buf_str (&delay->name)))
            continue;
        int rc = add (queue, AG_DUE_MAX + AG_DELAYS_MAX, delay->host, delay->event, behavior,
                      ag_buf_str (&delay->relation), err);
        queue->list[queue->count - 1].delayed = true;
        return rc;
    }
    return 0;
}

static int
by_priority (const void *a, const void *b)
{
    const struct ag_due *one = a, *two = b;
    return one->priority != two->priority
               ? (one->priority < two->priority) - (one->priority > two->priority)
               : (one->place > two->place) - (one->place < two->place);
}

void
ag_due_order (struct ag_queue *queue)
{
    if (queue->count)
        qsort (queue->list, queue->count, sizeof *queue->list, by_priority);
}

bool
ag_due_is (const struct ag_queue *queue, uint32_t i, uint64_t event, struct ag_str name,
           struct ag_str relation)
{
    const struct ag_due *due = &queue->list[i];
    return due->event == event && ag_str_eq (ag_buf_str (&due->relation), relation) &&
           ag_str_eq (due->name, name);
}
