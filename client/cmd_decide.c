//  What waits for a decision, and what is used up: approvals, approve, deny, budget.
//  SPDX-License-Identifier: Apache-2.0
#include "client/client.h"
#include "client/print.h"

//  Lists of one page after those of the pages before.
static void
add_page (struct ag_str page, const char *key, struct ag_buf *list, uint32_t *count)
{
    struct ag_str item;
    for (struct ag_items items = ag_items (page, key); ag_items_next (&items, &item); ++*count)
        ag_put_value (list, item);
}

//  All pages as one document.
int
ag_cmd_approvals (struct ag_client *self, const struct ag_args_approvals *args, struct ag_err *err)
{
    static const char *const keys[] = {"approvals", "patches"};
    struct ag_msg msg = {.type = AG_MSG_approvals, .approvals = {.run = ag_str (args->run)}};
    struct ag_buf answer = {0}, next = {0}, out = {0}, lists[2] = {0};
    uint32_t counts[2] = {0};
    bool more = true;
    int rc = 0;
    while (more && !rc && !(rc = ag_client_ask (self, &msg, &answer, err))) {
        for (int i = 0; i < 2; i++)
            add_page (ag_buf_str (&answer), keys[i], &lists[i], &counts[i]);
        rc = ag_client_go_on_text (ag_buf_str (&answer), &next, &more, err);
        msg.approvals.after = ag_buf_str (&next);
    }
    ag_put_map (&out, 2);
    for (int i = 0; i < 2; i++) {
        ag_put_lit (&out, keys[i]);
        ag_put_list (&out, counts[i]);
        ag_buf_add_str (&out, ag_buf_str (&lists[i]));
        ag_buf_fini (&lists[i]);
    }
    if (!rc)
        (self->look.json ? ag_look_json : ag_print_waiting) (&self->look, ag_buf_str (&out));
    ag_buf_fini (&answer);
    ag_buf_fini (&next);
    ag_buf_fini (&out);
    return rc;
}

int
ag_cmd_budget (struct ag_client *self, const struct ag_args_budget *args, struct ag_err *err)
{
    struct ag_msg msg = {.type = AG_MSG_budget, .budget = {ag_str (args->run)}};
    return ag_client_show (self, &msg, ag_print_budget, err);
}

//  What was decided, by a field of the answer that says it in one word.
static int
decide (struct ag_client *self, const struct ag_msg *msg, const char *field, struct ag_err *err)
{
    struct ag_buf answer = {0};
    int rc = ag_client_ask (self, msg, &answer, err);
    if (!rc && self->look.json)
        ag_client_document (self, ag_buf_str (&answer));
    else if (!rc) {
        ag_look_text (stdout, ag_pick_text (ag_buf_str (&answer), field));
        fputc ('\n', stdout);
    }
    ag_buf_fini (&answer);
    return rc;
}

int
ag_cmd_approve (struct ag_client *self, const struct ag_args_approve *args, struct ag_err *err)
{
    struct ag_msg msg = {.type = AG_MSG_approve,
                         .approve = {ag_str (args->run), ag_str (args->approval)}};
    return decide (self, &msg, "object_id", err);
}

int
ag_cmd_deny (struct ag_client *self, const struct ag_args_deny *args, struct ag_err *err)
{
    struct ag_msg msg = {
        .type = AG_MSG_deny,
        .deny = {ag_str (args->run), ag_str (args->approval), ag_str (args->reason)}};
    return decide (self, &msg, "approval_id", err);
}
