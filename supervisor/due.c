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
    *due = (struct ag_due){.host = host, .event = event, .place = queue->count++};
    ag_buf_add_str (&due->behavior, behavior);
    ag_buf_add_str (&due->relation, relation);
    return 0;
}

//  Relations found so far, each once.
struct found {
    ag_journal_t *journal;
    struct ag_run *run;
    uint64_t at;
    struct ag_str type;
    struct ag_str *ids;
    size_t count, room;
    struct ag_err *err;
    int rc;
};

static bool
known (const struct found *found, struct ag_str id)
{
    for (size_t i = 0; i < found->count; i++)
        if (ag_str_eq (found->ids[i], id))
            return true;
    return false;
}

static bool
keep_relation (void *arg, struct ag_str id)
{
    struct found *found = arg;
    struct ag_tip tip = {0};
    found->rc =
        ag_state_tip (found->journal, found->run, AG_RELATION, id, found->at, &tip, found->err);
    bool wanted = found->rc > 0 && ag_str_eq (tip.type, found->type) && !known (found, id);
    found->rc = found->rc < 0 ? -1 : 0;
    ag_tip_fini (&tip);
    if (!wanted)
        return !found->rc;
    if (found->count == found->room) {
        found->room = found->room ? 2 * found->room : 16;
        found->ids = ag_xrealloc (found->ids, found->room * sizeof *found->ids);
    }
    found->ids[found->count++] = (struct ag_str){ag_str_dup (id), id.n};
    return found->count <= AG_DUE_MAX;
}

static bool
relations_of_text (void *arg, struct ag_str text)
{
    struct found *found = arg;
    if (text.n == 0 || text.n > ID_BYTES || memchr (text.p, 0, text.n))
        return false;
    if (ag_state_relations (found->journal, found->run, text, found->at, (struct ag_str){0},
                            keep_relation, found, found->err))
        found->rc = -1;
    return found->rc != 0;
}

static int
by_bytes (const void *a, const void *b)
{
    return ag_str_cmp (*(const struct ag_str *)a, *(const struct ag_str *)b);
}

static int
add_relations (ag_journal_t *journal, struct ag_run *run, struct ag_queue *queue, uint32_t host,
               struct ag_str behavior, const struct ag_event *event, struct ag_err *err)
{
    struct found found = {.journal = journal, .run = run, .at = event->seq, .err = err};
    if (ag_map_text (behavior, "relation_type", &found.type))
        return add (queue, AG_DUE_MAX, host, event->seq, behavior, (struct ag_str){0}, err);
    ag_match_texts (event->payload, relations_of_text, &found);
    if (found.count)
        qsort (found.ids, found.count, sizeof *found.ids, by_bytes);
    for (size_t i = 0; i < found.count; i++) {
        if (!found.rc)
            found.rc = add (queue, AG_DUE_MAX, host, event->seq, behavior, found.ids[i], err);
        free ((char *)found.ids[i].p);
    }
    free (found.ids);
    return found.rc;
}

static void
leave_out (struct ag_queue *queue, uint32_t count, struct ag_str behavior)
{
    struct ag_str name = {0};
    while (queue->count > count) {
        struct ag_due *due = &queue->list[--queue->count];
        ag_buf_fini (&due->behavior);
        ag_buf_fini (&due->relation);
    }
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
    int64_t x = ag_match_priority (ag_buf_str (&one->behavior)),
            y = ag_match_priority (ag_buf_str (&two->behavior));
    return x != y ? (x < y) - (x > y) : (one->place > two->place) - (one->place < two->place);
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
    struct ag_str own = {0};
    ag_map_text (ag_buf_str (&due->behavior), "name", &own);
    return due->event == event && ag_str_eq (own, name) &&
           ag_str_eq (ag_buf_str (&due->relation), relation);
}
