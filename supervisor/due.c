//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/due.h"
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
        return ag_fail (err, AG_E_TOO_LARGE, "more than %d invocations for one event", AG_DUE_MAX);
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

/*  Relations of the objects that a payload names, each once, in order of their ids  */

struct texts {
    struct ag_str *list;
    size_t count, room;
};

static void
keep_text (struct texts *texts, struct ag_str text)
{
    if (texts->count == texts->room) {
        texts->room = texts->room ? 2 * texts->room : 16;
        texts->list = ag_xrealloc (texts->list, texts->room * sizeof *texts->list);
    }
    texts->list[texts->count++] = text;
}

static int
by_bytes (const void *a, const void *b)
{
    return ag_str_cmp (*(const struct ag_str *)a, *(const struct ag_str *)b);
}

static void
put_in_order (struct texts *texts)
{
    if (texts->count)
        qsort (texts->list, texts->count, sizeof *texts->list, by_bytes);
}

//  In order, equal ones stand together.
static bool
is_repeated (const struct texts *texts, size_t i)
{
    return i > 0 && ag_str_eq (texts->list[i], texts->list[i - 1]);
}

struct found {
    ag_journal_t *journal;
    struct ag_run *run;
    uint64_t at;
    struct ag_str type;
    struct texts ids; //  ours; a relation stands here once for each of its ends that is named
    struct ag_err *err;
    int rc;
};

//  Each stands there twice at most: these are more than may be handed out.
static bool
is_enough (const struct found *found)
{
    return found->ids.count > 2 * AG_DUE_MAX;
}

static bool
keep_relation (void *arg, struct ag_str id)
{
    struct found *found = arg;
    struct ag_tip tip = {0};
    int rc =
        ag_state_tip (found->journal, found->run, AG_RELATION, id, found->at, &tip, found->err);
    if (rc > 0 && ag_str_eq (tip.type, found->type))
        keep_text (&found->ids, (struct ag_str){ag_str_dup (id), id.n});
    ag_tip_fini (&tip);
    found->rc = rc < 0 ? -1 : 0;
    return !found->rc && !is_enough (found);
}

static bool
keep_object (void *arg, struct ag_str text)
{
    if (text.n > 0 && text.n <= ID_BYTES && !memchr (text.p, 0, text.n))
        keep_text (arg, text);
    return false;
}

static int
find_relations (struct found *found, struct ag_str payload)
{
    struct texts objects = {0};
    ag_match_texts (payload, keep_object, &objects);
    put_in_order (&objects);
    for (size_t i = 0; i < objects.count && !found->rc && !is_enough (found); i++)
        if (!is_repeated (&objects, i) &&
            ag_state_relations (found->journal, found->run, objects.list[i], found->at,
                                (struct ag_str){0}, keep_relation, found, found->err))
            found->rc = -1;
    free (objects.list);
    put_in_order (&found->ids);
    return found->rc;
}

static int
add_relations (ag_journal_t *journal, struct ag_run *run, struct ag_queue *queue, uint32_t host,
               struct ag_str behavior, const struct ag_event *event, struct ag_err *err)
{
    struct found found = {.journal = journal, .run = run, .at = event->seq, .err = err};
    if (ag_map_text (behavior, "relation_type", &found.type))
        return add (queue, AG_DUE_MAX, host, event->seq, behavior, (struct ag_str){0}, err);
    int rc = find_relations (&found, event->payload);
    for (size_t i = 0; i < found.ids.count && !rc; i++)
        if (!is_repeated (&found.ids, i))
            rc = add (queue, AG_DUE_MAX, host, event->seq, behavior, found.ids.list[i], err);
    for (size_t i = 0; i < found.ids.count; i++)
        free ((char *)found.ids.list[i].p);
    free (found.ids.list);
    return rc;
}

static void
leave_out (struct ag_queue *queue, uint32_t count, struct ag_str behavior)
{
    struct ag_str name = {0};
    while (queue->count > count)
        ag_buf_fini (&queue->list[--queue->count].relation);
    ag_map_text (behavior, "name", &name);
    ag_put_text (&queue->left_out, name);
    queue->left_out_at = queue->next;
}

int
ag_due_add (ag_journal_t *journal, struct ag_run *run, struct ag_queue *queue, uint32_t host,
            struct ag_str behaviors, const struct ag_event *event, struct ag_err *err)
{
    struct ag_cursor in = ag_cursor (behaviors);
    struct ag_head list;
    struct ag_str behavior;
    if (!behaviors.n || ag_next (&in, &list))
        return 0;
    for (uint32_t i = 0; i < list.count && !ag_take (&in, &behavior); i++) {
        uint32_t count = queue->count;
        if (!ag_match_event (behavior, event->type, event->payload) ||
            !add_relations (journal, run, queue, host, behavior, event, err))
            continue;
        if (err->code != AG_E_TOO_LARGE)
            return -1;
        leave_out (queue, count, behavior);
    }
    return 0;
}

int
ag_due_add_delayed (struct ag_queue *queue, const struct ag_delay *delay, struct ag_str behaviors,
                    struct ag_err *err)
{
    struct ag_cursor in = ag_cursor (behaviors);
    struct ag_head list;
    struct ag_str behavior, name;
    if (!behaviors.n || ag_next (&in, &list))
        return 0;
    for (uint32_t i = 0; i < list.count && !ag_take (&in, &behavior); i++) {
        if (ag_map_text (behavior, "name", &name) || !ag_str_eq (name, ag_buf_str (&delay->name)))
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
