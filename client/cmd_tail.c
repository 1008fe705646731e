/*  What comes: tail, output.
 *
 *  The rule of a monitor: a publication is a hint, the log is the truth. Whatever arrives whose stream
 *  number is newer than ours, we read the log from ours on; silence for a while counts as a hint too.
 *  SPDX-License-Identifier: Apache-2.0
 */
#include "client/client.h"
#include "client/print.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

enum { PAGE = 500, SILENCE_MS = 2000, POLL_MS = 20000 };

struct tail {
    struct ag_client *client;
    const struct ag_args_tail *args;
    uint64_t after;       //  the stream number that was reached
    struct ag_buf store;  //  identity of the store it belongs to
    struct ag_buf answer; //  of the last request
};

//  Another store, or one that is behind us: what we reached means nothing there.
static bool
is_other_store (const struct tail *self, struct ag_str map)
{
    struct ag_str store = ag_pick (map, "store");
    bool other = store.p && self->store.n && !ag_str_eq (store, ag_buf_str (&self->store));
    return other || (ag_pick (map, "stream").p && ag_pick_uint (map, "stream") < self->after);
}

static void
start_over (struct tail *self)
{
    ag_client_remark (self->client, "another store: beginning at its first event");
    self->after = 0;
    ag_buf_clear (&self->store);
}

static void
show (const struct tail *self, struct ag_str events)
{
    struct ag_str event;
    for (struct ag_items items = ag_items (events, "events"); ag_items_next (&items, &event);) {
        if (self->client->look.json)
            ag_look_json_line (event);
        else
            ag_print_event (&self->client->look, event, !self->args->run);
    }
}

//  Read the log from `after` to its end.
static int
catch_up (struct tail *self, struct ag_err *err)
{
    struct ag_msg msg = {.type = AG_MSG_events,
                         .events = {.limit = PAGE,
                                    .run = ag_str (self->args->run),
                                    .type = ag_str (self->args->type)}};
    for (bool more = true; more;) {
        msg.events.after = self->after;
        if (ag_client_ask (self->client, &msg, &self->answer, err))
            return -1;
        struct ag_str answer = ag_buf_str (&self->answer);
        if (is_other_store (self, answer)) {
            start_over (self);
            continue;
        }
        if (!self->store.n)
            ag_buf_add_str (&self->store, ag_pick (answer, "store"));
        show (self, answer);
        more = ag_pick_bool (answer, "more");
        if (ag_look_flush (err) ||
            ag_client_go_on (more, ag_pick_uint (answer, "after"), &self->after, err))
            return -1;
    }
    return 0;
}

//  Whether a publication tells of something that we have not read. Its header is the second frame.
static bool
is_news (const struct tail *self, void *monitor)
{
    bool news = false;
    int more = 1;
    for (int i = 0, flags = ZMQ_DONTWAIT; more; i++, flags = 0) {
        zmq_msg_t frame;
        zmq_msg_init (&frame);
        if (zmq_msg_recv (&frame, monitor, flags) < 0) {
            zmq_msg_close (&frame);
            return false;
        }
        struct ag_str header = {zmq_msg_data (&frame), zmq_msg_size (&frame)};
        if (i == 1)
            news = ag_pick_uint (header, "stream") > self->after || is_other_store (self, header);
        more = zmq_msg_more (&frame);
        zmq_msg_close (&frame);
    }
    return news;
}

//  Until there is news, or silence has lasted so long that it is better to ask.
static void
await_news (const struct tail *self, void *monitor)
{
    int64_t until = ag_ask_clock_ms() + SILENCE_MS;
    for (int64_t left; (left = until - ag_ask_clock_ms()) > 0;) {
        zmq_pollitem_t item = {monitor, 0, ZMQ_POLLIN, 0};
        if (zmq_poll (&item, 1, (long)left) > 0 && is_news (self, monitor))
            return;
    }
}

//  "run/ID/" of the run, as a subscription; everything when no run was named. The house says the id.
static int
topic_of (struct tail *self, char topic[128], struct ag_err *err)
{
    struct ag_buf list = {0};
    *topic = 0;
    if (!self->args->run)
        return 0;
    ag_put_list (&list, 1);
    ag_put_lit (&list, self->args->run);
    struct ag_msg msg = {.type = AG_MSG_wait, .wait = {.runs = ag_buf_str (&list)}};
    int rc = ag_client_ask (self->client, &msg, &self->answer, err);
    ag_buf_fini (&list);
    struct ag_items items = ag_items (ag_buf_str (&self->answer), "runs");
    struct ag_str run;
    if (!rc && ag_items_next (&items, &run))
        snprintf (topic, 128, "run/%.*s/", AG_STR_ARG (ag_pick_text (run, "run")));
    return rc;
}

//  The monitor socket, subscribed; where it is stands in the status, and so does where "now" is.
static void *
subscribe (struct tail *self, struct ag_err *err)
{
    char topic[128];
    if (topic_of (self, topic, err) ||
        ag_client_ask (self->client, &(struct ag_msg){.type = AG_MSG_status}, &self->answer, err))
        return NULL;
    struct ag_str status = ag_buf_str (&self->answer);
    self->after = ag_pick_uint (status, "stream");
    char *endpoint = ag_str_dup (ag_pick_text (ag_pick (status, "sockets"), "monitor"));
    void *monitor = ag_ask_monitor (self->client->ask, endpoint, err);
    free (endpoint);
    if (monitor) {
        zmq_setsockopt (monitor, ZMQ_SUBSCRIBE, topic, strlen (topic));
        zmq_setsockopt (monitor, ZMQ_SUBSCRIBE, "beat", 4);
    }
    return monitor;
}

static int
read_number (const char *text, uint64_t *number, struct ag_err *err)
{
    char *end;
    errno = 0;
    *number = strtoull (text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno)
        return ag_fail (err, AG_E_USAGE, "--after is \"%s\", not a whole number", text);
    return 0;
}

int
ag_cmd_tail (struct ag_client *self, const struct ag_args_tail *args, struct ag_err *err)
{
    struct tail tail = {.client = self, .args = args};
    uint64_t after = 0;
    if (args->after && read_number (args->after, &after, err))
        return -1;
    void *monitor = subscribe (&tail, err);
    if (args->after)
        tail.after = after;
    int rc = monitor ? 0 : -1;
    while (!rc && !(rc = catch_up (&tail, err)))
        await_news (&tail, monitor);
    ag_buf_fini (&tail.store);
    ag_buf_fini (&tail.answer);
    return rc;
}

//  What a process printed need not be text.
static struct ag_str
bytes_of (struct ag_str value)
{
    struct ag_cursor in = ag_cursor (value);
    struct ag_head head;
    if (!value.p || ag_next (&in, &head) || (head.kind != AG_TEXT && head.kind != AG_BYTES))
        return (struct ag_str){0};
    return head.s;
}

static void
show_output (const struct ag_client *self, struct ag_str answer, struct ag_str text)
{
    if (self->look.json) {
        struct ag_buf out = {0};
        ag_pick_rest (answer, (const char *const[]){"do", "id", NULL}, &out);
        ag_look_json_line (ag_buf_str (&out));
        ag_buf_fini (&out);
    } else if (self->look.terminal)
        ag_look_lines (stdout, text);
    else
        fwrite (text.p, 1, text.n, stdout);
}

int
ag_cmd_output (struct ag_client *self, const struct ag_args_output *args, struct ag_err *err)
{
    struct ag_msg msg = {
        .type = AG_MSG_output,
        .output = {.run = ag_str (args->run), .wait_ms = args->follow ? POLL_MS : 0}};
    struct ag_buf answer = {0};
    int rc = 0;
    for (bool more = true; more && !rc;) {
        rc = args->follow ? ag_client_poll (self, &msg, POLL_MS, &answer, err)
                          : ag_client_ask (self, &msg, &answer, err);
        if (rc)
            break;
        struct ag_str text = bytes_of (ag_pick (ag_buf_str (&answer), "text"));
        if (text.n)
            show_output (self, ag_buf_str (&answer), text);
        more = args->follow || text.n;
        uint64_t next = ag_pick_uint (ag_buf_str (&answer), "after");
        rc = ag_look_flush (err);
        if (!rc)
            rc = ag_client_go_on (text.n > 0, next, &msg.output.after, err);
    }
    ag_buf_fini (&answer);
    return rc;
}
