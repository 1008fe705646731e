//  What is put into a run: create, goal, tell, apply.
//  SPDX-License-Identifier: Apache-2.0
#include "client/lines.h"
#include "client/print.h"
#include "common/json.h"

#include <inttypes.h>

int
ag_cmd_create (struct ag_client *self, const struct ag_args_create *args, struct ag_err *err)
{
    struct ag_buf answer = {0};
    struct ag_msg msg = {.type = AG_MSG_create, .create = {ag_str (args->label)}};
    int rc = ag_client_ask (self, &msg, &answer, err);
    if (!rc && self->look.json)
        ag_client_document (self, ag_buf_str (&answer));
    else if (!rc) {
        ag_look_text (stdout, ag_pick_text (ag_buf_str (&answer), "run_id"));
        fputc ('\n', stdout);
    }
    ag_buf_fini (&answer);
    return rc;
}

//  Until an event that is in the run has had its effect.
static int
await_effect (struct ag_client *self, const char *run, struct ag_str answer, struct ag_err *err)
{
    struct ag_buf states = {0};
    struct ag_words one = {&run, 1};
    int rc = ag_client_wait (self, &one, false, &states, err);
    if (rc)
        ag_wrap (err, "%.*s is in the run, but", AG_STR_ARG (ag_pick_text (answer, "event_id")));
    else
        ag_client_say_idle (self, ag_buf_str (&states));
    if (!rc)
        rc = ag_client_say_failures (self, ag_buf_str (&states), ag_pick_seq (answer, "event_id"),
                                     err);
    ag_buf_fini (&states);
    return rc;
}

//  An event was asked for; a document of it is shown once it has had its effect, if that is waited for.
static int
append (struct ag_client *self, const struct ag_msg *msg, const char *run, bool wait,
        struct ag_err *err)
{
    struct ag_buf answer = {0};
    int rc = ag_client_ask (self, msg, &answer, err);
    struct ag_str said = ag_buf_str (&answer);
    if (!rc && !self->look.json && ag_pick_text (said, "event_id").n) {
        ag_look_text (stdout, ag_pick_text (said, "event_id"));
        fputc ('\n', stdout);
        rc = ag_look_flush (err);
    }
    if (!rc && wait)
        rc = await_effect (self, run, said, err);
    if (!rc && self->look.json)
        ag_client_document (self, said);
    ag_buf_fini (&answer);
    return rc;
}

//  A list of what was given with an option, p NULL when it was not.
static struct ag_str
texts (const struct ag_words *words, struct ag_buf *out)
{
    if (!words->n)
        return (struct ag_str){0};
    ag_put_list (out, (uint32_t)words->n);
    for (size_t i = 0; i < words->n; i++)
        ag_put_lit (out, words->p[i]);
    return ag_buf_str (out);
}

int
ag_cmd_goal (struct ag_client *self, const struct ag_args_goal *args, struct ag_err *err)
{
    struct ag_msg msg = {.type = AG_MSG_goal,
                         .goal = {.run = ag_str (args->run), .text = ag_str (args->text)}};
    struct ag_buf lists[3] = {0};
    msg.goal.constraints = texts (&args->constraints, &lists[0]);
    msg.goal.success_criteria = texts (&args->criteria, &lists[1]);
    msg.goal.permissions = texts (&args->permissions, &lists[2]);
    int rc = append (self, &msg, args->run, args->wait, err);
    for (int i = 0; i < 3; i++)
        ag_buf_fini (&lists[i]);
    return rc;
}

int
ag_cmd_tell (struct ag_client *self, const struct ag_args_tell *args, struct ag_err *err)
{
    struct ag_buf payload = {0};
    int rc = ag_json_read (ag_str (args->payload), &payload, err);
    if (rc)
        ag_wrap (err, "JSON");
    else if (ag_kind_of (ag_buf_str (&payload)) != AG_MAP)
        rc = ag_fail (err, AG_E_BAD_VALUE, "JSON: the payload of an event is an object, not %s",
                      args->payload);
    if (!rc) {
        struct ag_msg msg = {
            .type = AG_MSG_tell,
            .tell = {ag_str (args->run), ag_str (args->type), ag_buf_str (&payload)}};
        rc = append (self, &msg, args->run, args->wait, err);
    }
    ag_buf_fini (&payload);
    return rc;
}

//  Operations as they are read: lines of a file, and those that wait to be sent.
struct ops {
    struct ag_client *client;
    const struct ag_args_apply *args;
    struct ag_lines lines;
    struct ag_buf held;
    uint32_t count;
};

//  The ids that were made, one a line.
static void
print_ids (const struct ops *self, struct ag_str answer)
{
    struct ag_str id;
    if (self->client->look.json) {
        ag_client_document (self->client, answer);
        return;
    }
    for (struct ag_items items = ag_items (answer, "ids"); ag_items_next (&items, &id);)
        if (ag_kind_of (id) == AG_TEXT) {
            ag_print_value (id, SIZE_MAX);
            fputc ('\n', stdout);
        }
}

//  Send what is held as one batch. Of several, each is a child of a named request by its line.
static int
send_ops (struct ops *self, struct ag_err *err)
{
    char child[AG_CHILD_TEXT];
    struct ag_str name = {0};
    if (self->args->each && ag_client_child (self->client->call->change.request_id,
                                             self->lines.number, child, &name, err))
        return -1;
    struct ag_buf list = {0}, answer = {0};
    ag_put_list (&list, self->count);
    ag_buf_add_str (&list, ag_buf_str (&self->held));
    struct ag_msg msg = {
        .type = AG_MSG_apply,
        .id = name,
        .apply = {ag_str (self->args->run), ag_buf_str (&list), ag_str (self->args->expect)}};
    int rc = ag_client_ask (self->client, &msg, &answer, err);
    if (!rc)
        print_ids (self, ag_buf_str (&answer));
    ag_buf_clear (&self->held);
    self->count = 0;
    ag_buf_fini (&list);
    ag_buf_fini (&answer);
    return rc;
}

static int
take_line (struct ops *self, struct ag_str line, struct ag_err *err)
{
    if (ag_json_read_line (line, self->lines.number, &self->held, err))
        return ag_wrap (err, "%s", self->lines.name);
    self->count++;
    if (self->held.n > AG_BULK_BYTES - 8)
        return ag_fail (err, AG_E_TOO_LARGE,
                        "%s, line %" PRIu64 ": more than %d bytes of operations; "
                        "--each applies every line alone",
                        self->lines.name, self->lines.number, AG_BULK_BYTES);
    if (!self->args->each)
        return 0;
    if (send_ops (self, err))
        return ag_wrap (err, "%s, line %" PRIu64, self->lines.name, self->lines.number);
    return ag_look_flush (err);
}

static int
read_ops (struct ops *self, struct ag_err *err)
{
    struct ag_str line;
    int rc;
    while ((rc = ag_lines_next (&self->lines, &line, err)) > 0)
        if ((rc = take_line (self, line, err)))
            break;
    return rc;
}

int
ag_cmd_apply (struct ag_client *self, const struct ag_args_apply *args, struct ag_err *err)
{
    struct ops ops = {.client = self, .args = args};
    if (ag_lines_open (&ops.lines, self, args->file ? args->file : "-", err))
        return -1;
    int rc = read_ops (&ops, err);
    if (!rc && !args->each && !ops.count)
        rc = ag_fail (err, AG_E_USAGE, "%s holds no operation", ops.lines.name);
    if (!rc && !args->each)
        rc = send_ops (&ops, err);
    ag_lines_close (&ops.lines);
    ag_buf_fini (&ops.held);
    return rc;
}
