//  Keeping: verify, snapshot, archive, kept, discard.
//  SPDX-License-Identifier: Apache-2.0
#include "client/client.h"
#include "client/print.h"

#include <inttypes.h>
#include <stdlib.h>

static void
show_seen (const struct ag_client *self, struct ag_str answer)
{
    ag_client_progress (self, "%" PRIu64 " events checked", ag_pick_uint (answer, "seen"));
}

//  All pages as one document.
int
ag_cmd_verify (struct ag_client *self, const struct ag_args_verify *args, struct ag_err *err)
{
    char ticket[AG_TICKET_TEXT];
    struct ag_msg msg = {.type = AG_MSG_verify,
                         .verify = {.run = ag_str (args->run),
                                    .state = args->state,
                                    .ticket = ag_client_ticket (self, ticket)}};
    struct ag_buf answer = {0}, out = {0}, runs = {0};
    struct ag_str run;
    uint32_t count = 0;
    bool ok = true, more = true;
    int rc = 0;
    while (more && !rc &&
           !(rc = ag_client_await (self, &msg, &msg.verify.wait_ms, "the verification", show_seen,
                                   &answer, err))) {
        struct ag_str page = ag_buf_str (&answer);
        for (struct ag_items items = ag_items (page, "runs"); ag_items_next (&items, &run); count++)
            ag_put_value (&runs, run);
        ok = ok && ag_pick_bool (page, "ok");
        more = ag_pick (page, "next").p;
        rc = ag_client_go_on (more, ag_pick_uint (page, "next"), &msg.verify.after, err);
    }
    ag_put_map (&out, 2);
    ag_put_lit (&out, "ok");
    ag_put_bool (&out, ok);
    ag_put_lit (&out, "runs");
    ag_put_list (&out, count);
    ag_buf_add_str (&out, ag_buf_str (&runs));
    if (!rc)
        (self->look.json ? ag_look_json : ag_print_verify) (&self->look, ag_buf_str (&out));
    self->status = ok ? 0 : ag_code_status (AG_E_CORRUPT);
    ag_buf_fini (&answer);
    ag_buf_fini (&out);
    ag_buf_fini (&runs);
    return rc;
}

//  How far it came: a number that grows from answer to answer.
static uint64_t
reached (struct ag_str answer)
{
    return ag_pick_uint (answer, "objects") + ag_pick_uint (answer, "relations") +
           ag_pick_seq (answer, "archived_through");
}

//  A bounded piece of work a request, until no more is left. The first is ID/1.
static int
ask_until_done (struct ag_client *self, struct ag_msg *msg, const char *what, struct ag_buf *answer,
                struct ag_err *err)
{
    const char *id = self->call->change.request_id;
    char child[AG_CHILD_TEXT];
    uint64_t now = 0;
    bool more = true;
    int rc = 0;
    for (uint64_t part = 1; more && !rc; part++) {
        if (ag_client_child (id, part, child, &msg->id, err) ||
            ag_client_ask (self, msg, answer, err)) {
            rc = -1;
            break;
        }
        more = ag_pick_bool (ag_buf_str (answer), "more");
        rc = ag_client_go_on (more, reached (ag_buf_str (answer)), &now, err);
        ag_client_progress (self, "%" PRIu64 " %s", now, what);
    }
    ag_client_progress (self, NULL);
    return rc;
}

//  The document, or for a person one remark.
static void
show_done (struct ag_client *self, struct ag_str answer, const char *did, const char *field)
{
    static const char *const without[] = {"do", "id", "more", NULL};
    struct ag_buf out = {0};
    if (self->look.json) {
        ag_pick_rest (answer, without, &out);
        ag_look_json (&self->look, ag_buf_str (&out));
    } else {
        struct ag_str point = ag_pick_text (answer, field),
                      run = ag_pick_called (answer, "label", "run");
        ag_client_remark (self, "%.*s %s through %.*s", AG_STR_ARG (run), did,
                          point.n ? (int)point.n : 7, point.n ? point.p : "nothing");
    }
    ag_buf_fini (&out);
}

int
ag_cmd_snapshot (struct ag_client *self, const struct ag_args_snapshot *args, struct ag_err *err)
{
    struct ag_msg msg = {.type = AG_MSG_snapshot, .snapshot = {.run = ag_str (args->run)}};
    struct ag_buf answer = {0};
    int rc = ask_until_done (self, &msg, "objects and relations", &answer, err);
    if (!rc)
        show_done (self, ag_buf_str (&answer), "is covered", "covers_through");
    ag_buf_fini (&answer);
    return rc;
}

int
ag_cmd_archive (struct ag_client *self, const struct ag_args_archive *args, struct ag_err *err)
{
    struct ag_msg msg = {.type = AG_MSG_archive, .archive = {.run = ag_str (args->run)}};
    struct ag_buf answer = {0};
    int rc = ask_until_done (self, &msg, "events archived", &answer, err);
    if (!rc)
        show_done (self, ag_buf_str (&answer), "is archived", "archived_through");
    ag_buf_fini (&answer);
    return rc;
}

int
ag_cmd_kept (struct ag_client *self, const struct ag_args_kept *args, struct ag_err *err)
{
    struct ag_msg msg = {.type = AG_MSG_kept, .kept = {.run = ag_str (args->run)}};
    return ag_client_show (self, &msg, ag_print_kept, err);
}

//  Its processes have ended when this returns.
static int
discard_one (struct ag_client *self, const char *fork, uint64_t part, struct ag_buf *answer,
             struct ag_err *err)
{
    char child[AG_CHILD_TEXT];
    struct ag_msg msg = {.type = AG_MSG_discard, .discard = {.fork = ag_str (fork)}};
    struct ag_buf ended = {0};
    if (ag_client_child (self->call->change.request_id, part, child, &msg.id, err) ||
        ag_client_ask (self, &msg, answer, err))
        return -1;
    char *run = ag_str_dup (ag_pick_text (ag_buf_str (answer), "run"));
    struct ag_words one = {.p = (const char *[]){run}, .n = 1};
    int rc = ag_client_wait (self, &one, true, &ended, err);
    ag_buf_fini (&ended);
    free (run);
    return rc;
}

//  One after the other; the first that is refused ends it.
int
ag_cmd_discard (struct ag_client *self, const struct ag_args_discard *args, struct ag_err *err)
{
    static const char *const without[] = {"do", "id", NULL};
    struct ag_buf answer = {0}, out = {0};
    size_t list = ag_open_list (&out);
    uint32_t count = 0;
    int rc = 0;
    for (; !rc && count < args->forks.n; count++) {
        rc = discard_one (self, args->forks.p[count], count + 1, &answer, err);
        if (rc)
            break;
        ag_pick_rest (ag_buf_str (&answer), without, &out);
        if (!self->look.json)
            ag_client_remark (self, "%s is discarded", args->forks.p[count]);
    }
    ag_close (&out, list, count);
    if (!rc && self->look.json)
        ag_look_json (&self->look, ag_buf_str (&out));
    ag_buf_fini (&answer);
    ag_buf_fini (&out);
    return rc;
}
