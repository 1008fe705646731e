//  What waits for a decision, and what is used up: approvals, approve, deny, budget.
//  SPDX-License-Identifier: Apache-2.0
#include "client/client.h"
#include "client/print.h"

int
ag_cmd_approvals (struct ag_client *self, const struct ag_args_approvals *args, struct ag_err *err)
{
    struct ag_msg msg = {.type = AG_MSG_approvals, .approvals = {ag_str (args->run)}};
    return ag_client_show (self, &msg, ag_print_waiting, err);
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
