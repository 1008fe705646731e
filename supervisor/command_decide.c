//  Requests about what waits for a decision.
//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/budget.h"
#include "supervisor/commands.h"
#include "supervisor/fleet.h"
#include "supervisor/queue.h"
#include "supervisor/waiting.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE_RUNS = 1000 };

//  A page of what waits: approvals, then patches, each by run, then by id. One before ended at "a<run>/<id>", or
//  "a<run>" where all of that run was seen; "p" for patches.
struct list {
    struct ag_house *house;
    struct ag_run *run;
    enum ag_entity_kind kind;
    struct ag_buf items[2], next;
    uint32_t count[2], runs;
    uint64_t limit;
    bool more;
    struct ag_err *err;
    int rc;
};

//  Which of the two lists of the answer it is.
static int
index_of (enum ag_entity_kind kind)
{
    return kind == AG_PATCH;
}

static void
stand_at (struct list *list, struct ag_str id)
{
    ag_buf_clear (&list->next);
    ag_buf_text (&list->next, id.p ? "%c%s/" : "%c%s", list->kind, list->run->id);
    ag_buf_add_str (&list->next, id);
}

//  The fields of a map that say what was proposed.
static void
put_fields (struct ag_str map, const char *const *keys, struct ag_answer *item)
{
    struct ag_str value;
    for (; *keys; keys++) {
        ag_answer_key (item, *keys);
        if (ag_map_get (map, *keys, &value))
            ag_put_null (item->out);
        else
            ag_put_value (item->out, value);
    }
}

static void
put_item (struct list *list, struct ag_str id, const struct ag_event *event)
{
    static const char *const approval[] = {"object_type", "behavior", "pack", "id", "data", NULL},
                             *const patch[] = {"target",    "op",       "value", "expected_version",
                                               "rationale", "evidence", NULL};
    struct ag_str map = event->payload;
    struct ag_buf *out = &list->items[index_of (list->kind)];
    struct ag_answer item = {.out = out, .at = ag_open_map (out)};
    ag_answer_key (&item, "run");
    ag_put_lit (item.out, list->run->id);
    ag_answer_key (&item, "label");
    ag_command_label (list->run, item.out);
    ag_answer_key (&item, list->kind == AG_PATCH ? "patch_id" : "approval_id");
    ag_put_text (item.out, id);
    if (list->kind == AG_PATCH)
        ag_map_get (event->payload, "patch", &map);
    put_fields (map, list->kind == AG_PATCH ? patch : approval, &item);
    ag_answer_key (&item, "proposed_by");
    ag_put_text (item.out, event->actor);
    ag_answer_key (&item, "event_id");
    ag_put_evt (item.out, event->seq);
    ag_answer_end (&item);
}

static bool
add_one (void *arg, struct ag_str id)
{
    struct list *list = arg;
    struct ag_buf hold = {0};
    struct ag_event event;
    list->more = list->count[0] + list->count[1] >= list->limit ||
                 list->items[0].n + list->items[1].n >= AG_ANSWER_LIST_BYTES;
    if (list->more)
        return false;
    list->rc =
        ag_waiting_find (list->house->journal, list->run, list->kind, id, &hold, &event, list->err);
    if (!list->rc) {
        put_item (list, id, &event);
        list->count[index_of (list->kind)]++;
        stand_at (list, id);
    }
    ag_buf_fini (&hold);
    return !list->rc;
}

//  A place that a page ended at.
struct place {
    enum ag_entity_kind kind;
    uint64_t run;
    bool whole; //  all of that run
    struct ag_str id;
};

static int
read_place (struct ag_str text, struct place *place, struct ag_err *err)
{
    *place = (struct place){.kind = AG_APPROVAL};
    if (!text.n)
        return 0;
    const char *slash = memchr (text.p + 1, '/', text.n - 1);
    struct ag_str run = {text.p + 1, slash ? (size_t)(slash - text.p - 1) : text.n - 1};
    place->kind = (enum ag_entity_kind)text.p[0];
    place->whole = !slash;
    if (slash)
        place->id = (struct ag_str){slash + 1, text.n - run.n - 2};
    if ((place->kind == AG_APPROVAL || place->kind == AG_PATCH) &&
        !ag_run_number (run, &place->run))
        return slash ? ag_id_check (place->id, "what `after` names", err) : 0;
    return ag_fail (err, AG_E_USAGE, "`%.*s` is not where a page of this list ended",
                    AG_STR_ARG (text));
}

//  A run without anything costs too.
static int
add_run (struct list *list, uint64_t run, struct ag_str after)
{
    if (ag_run_get (list->house->journal, run, &list->run, list->err))
        return -1;
    list->more = list->runs == PAGE_RUNS;
    if (list->more)
        return 0;
    list->runs++;
    if (ag_state_waiting (list->house->journal, list->run, list->kind, AG_NOW, after, add_one, list,
                          list->err))
        return -1;
    if (!list->rc && !list->more)
        stand_at (list, (struct ag_str){0});
    return list->rc;
}

static int
by_number (const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

//  Every run that has units, in order; the caller frees them.
static uint64_t *
list_runs (struct ag_house *house, size_t *count)
{
    size_t room = 0;
    uint64_t *runs = NULL;
    *count = 0;
    for (struct ag_unit *unit = ag_fleet_first (house); unit; unit = unit->next) {
        if (!unit->run || unit->host || unit->replay)
            continue;
        if (*count == room) {
            room = room ? 2 * room : 64;
            runs = ag_xrealloc (runs, room * sizeof *runs);
        }
        runs[(*count)++] = unit->run;
    }
    if (*count)
        qsort (runs, *count, sizeof *runs, by_number);
    return runs;
}

//  Of these runs, from the place on, until the page is full.
static int
add_runs (struct list *list, const uint64_t *runs, size_t count, const struct place *from)
{
    static const enum ag_entity_kind kinds[] = {AG_APPROVAL, AG_PATCH};
    int rc = 0;
    for (int k = from->kind == AG_PATCH; k < 2 && !rc && !list->more; k++) {
        list->kind = kinds[k];
        for (size_t i = 0; i < count && !rc && !list->more; i++) {
            bool in = from->kind == list->kind && runs[i] == from->run;
            bool before = from->kind == list->kind && runs[i] < from->run;
            if (!before && !(in && from->whole))
                rc = add_run (list, runs[i], in ? from->id : (struct ag_str){0});
        }
    }
    return rc ? -1 : 0;
}

static int
fill_page (struct list *list, const struct ag_msg_approvals *msg)
{
    struct ag_run *run;
    struct place from;
    if (read_place (msg->after, &from, list->err) ||
        (msg->run.p && ag_run_find (list->house->journal, msg->run, &run, list->err)))
        return -1;
    if (msg->run.p)
        return add_runs (list, &run->number, 1, &from);
    size_t count;
    uint64_t *runs = list_runs (list->house, &count);
    int rc = add_runs (list, runs, count, &from);
    free (runs);
    return rc;
}

int
ag_command_approvals (struct ag_command *command, struct ag_err *err)
{
    static const char *const keys[] = {"approvals", "patches"};
    const struct ag_msg_approvals *msg = &command->msg->approvals;
    struct list list = {
        .house = command->house, .limit = msg->limit ? msg->limit : AG_PAGE_THINGS, .err = err};
    int rc = fill_page (&list, msg);
    if (!rc) {
        struct ag_answer answer = ag_command_begin (command);
        for (int i = 0; i < 2; i++) {
            ag_answer_key (&answer, keys[i]);
            ag_put_list (answer.out, list.count[i]);
            ag_buf_add_str (answer.out, ag_buf_str (&list.items[i]));
        }
        if (list.more) {
            ag_answer_key (&answer, "next");
            ag_put_text (answer.out, ag_buf_str (&list.next));
        }
        ag_answer_end (&answer);
    }
    ag_buf_fini (&list.items[0]);
    ag_buf_fini (&list.items[1]);
    ag_buf_fini (&list.next);
    return rc;
}

int
ag_command_budget (struct ag_command *command, struct ag_err *err)
{
    struct ag_house *house = command->house;
    struct ag_run *run;
    struct ag_buf snapshot = {0};
    if (ag_run_find (house->journal, command->msg->budget.run, &run, err))
        return -1;
    struct ag_budget budget = ag_queue_budget (house, run->number);
    const char *by = ag_queue_exhausted_by (house, run->number);
    struct ag_answer answer = ag_command_begin (command);
    ag_answer_key (&answer, "run");
    ag_put_lit (answer.out, run->id);
    ag_answer_key (&answer, "exhausted_by");
    if (by)
        ag_put_lit (answer.out, by);
    else
        ag_put_null (answer.out);
    ag_budget_snapshot (&budget, run, &snapshot);
    ag_command_merge (&answer, ag_buf_str (&snapshot));
    ag_answer_end (&answer);
    ag_buf_fini (&snapshot);
    return 0;
}

static void
answer_decided (struct ag_command *command, const struct ag_run *run, struct ag_str approval,
                struct ag_str id)
{
    struct ag_answer answer = ag_command_begin (command);
    ag_answer_key (&answer, "run");
    ag_put_lit (answer.out, run->id);
    ag_answer_key (&answer, "approval_id");
    ag_put_text (answer.out, approval);
    ag_answer_key (&answer, "object_id");
    if (id.p)
        ag_put_text (answer.out, id);
    else
        ag_put_null (answer.out);
    ag_answer_key (&answer, "event_id");
    ag_put_evt (answer.out, run->head.tip);
    ag_answer_end (&answer);
}

int
ag_command_approve (struct ag_command *command, struct ag_err *err)
{
    const struct ag_msg_approve *msg = &command->msg->approve;
    struct ag_buf id = {0};
    struct ag_run *run;
    int rc = ag_command_run (command, msg->run, &run, err);
    if (!rc)
        rc = ag_approval_grant (command->house->journal, run, msg->approval, AG_LIT ("user"), &id,
                                err);
    if (!rc) {
        ag_queues_touch (command->house, run->number);
        answer_decided (command, run, msg->approval, ag_buf_str (&id));
    }
    ag_buf_fini (&id);
    return rc;
}

int
ag_command_deny (struct ag_command *command, struct ag_err *err)
{
    const struct ag_msg_deny *msg = &command->msg->deny;
    struct ag_run *run;
    if (ag_command_run (command, msg->run, &run, err) ||
        ag_approval_deny (command->house->journal, run, msg->approval, AG_LIT ("user"), msg->reason,
                          err))
        return -1;
    ag_queues_touch (command->house, run->number);
    answer_decided (command, run, msg->approval, (struct ag_str){0});
    return 0;
}
