//  Requests about what waits for a decision.
//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/budget.h"
#include "supervisor/commands.h"
#include "supervisor/fleet.h"
#include "supervisor/queue.h"
#include "supervisor/waiting.h"

#include <string.h>

enum { WAITING = 1000 }; //  shown of each kind

//  What waits in some runs, of one kind.
struct list {
    struct ag_house *house;
    struct ag_run *run;
    enum ag_entity_kind kind;
    struct ag_buf items;
    uint32_t count;
    bool more;
    struct ag_err *err;
    int rc;
};

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
    struct ag_answer item = {.out = &list->items, .at = ag_open_map (&list->items)};
    ag_answer_key (&item, "run");
    ag_put_lit (item.out, list->run->id);
    ag_answer_key (&item, "label");
    if (list->run->label[0])
        ag_put_lit (item.out, list->run->label);
    else
        ag_put_null (item.out);
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
    list->more = list->count == WAITING || list->items.n >= AG_ANSWER_LIST_BYTES;
    if (list->more)
        return false;
    list->rc =
        ag_waiting_find (list->house->journal, list->run, list->kind, id, &hold, &event, list->err);
    if (!list->rc) {
        put_item (list, id, &event);
        list->count++;
    }
    ag_buf_fini (&hold);
    return !list->rc;
}

static int
add_run (struct list *list, struct ag_run *run)
{
    list->run = run;
    if (ag_state_waiting (list->house->journal, run, list->kind, AG_NOW, (struct ag_str){0},
                          add_one, list, list->err))
        return -1;
    return list->rc;
}

//  Of one run, or of every run that has units.
static int
add_all (struct list *list, struct ag_str only)
{
    struct ag_run *run;
    if (only.p)
        return ag_run_find (list->house->journal, only, &run, list->err) || add_run (list, run);
    struct ag_unit *unit = ag_fleet_first (list->house);
    for (; unit && !list->more; unit = unit->next)
        if (unit->run && unit->host == 0 && !unit->replay &&
            (ag_run_get (list->house->journal, unit->run, &run, list->err) || add_run (list, run)))
            return -1;
    return 0;
}

int
ag_command_approvals (struct ag_command *command, struct ag_err *err)
{
    static const struct {
        enum ag_entity_kind kind;
        const char *key;
    } kinds[] = {{AG_APPROVAL, "approvals"}, {AG_PATCH, "patches"}};
    struct ag_answer answer = ag_command_begin (command);
    bool more = false;
    int rc = 0;
    for (int i = 0; i < 2 && !rc; i++) {
        struct list list = {.house = command->house, .kind = kinds[i].kind, .err = err};
        rc = add_all (&list, command->msg->approvals.run);
        ag_answer_key (&answer, kinds[i].key);
        ag_put_list (answer.out, list.count);
        ag_buf_add_str (answer.out, ag_buf_str (&list.items));
        more = more || list.more;
        ag_buf_fini (&list.items);
    }
    ag_answer_key (&answer, "more");
    ag_put_bool (answer.out, more);
    ag_answer_end (&answer);
    return rc ? -1 : 0;
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
