//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/commands.h"
#include "common/log.h"
#include "common/net.h"
#include "supervisor/fleet.h"
#include "supervisor/hints.h"
#include "supervisor/queue.h"
#include "supervisor/record.h"
#include "supervisor/retention.h"
#include "supervisor/run.h"

#include <stdlib.h>
#include <string.h>

enum { WAITING_MAX = 4096, SWEPT = 256, SWEEP_MS = 3600 * 1000 };

//  How long an answer is kept: a week.
#define KEPT_US (UINT64_C (7) * 24 * 3600 * 1000000)

//  A request that waits, with its own copy of the bytes.
struct waiting {
    struct ag_buf bytes;
    struct ag_route route;
    int64_t until_ms;
    bool mutates;
    struct waiting *next;
};

struct ag_commands {
    struct waiting *waiting;
    size_t waiting_count;
    struct ag_route broker; //  where publications go; id_bytes 0: no broker yet
    uint64_t monitors;      //  subscriptions it holds
    uint64_t published;     //  stream number
    struct ag_buf swept;    //  how far old answers were looked for; empty: all of them were,
    int64_t sweep_ms;       //  and it begins anew then
};

static ag_command_fn *const handlers[AG_MSGS] = {
#define CLIENT_ROW(name) [AG_MSG_##name] = ag_command_##name,
#define WORKER_ROW(name)
#define BROKER_ROW(name)
#define MSG(name, word, from, doc) from##_ROW (name)
#define FIELD(...)
#define END(name)
#include "schemas/messages.def"
#undef CLIENT_ROW
#undef WORKER_ROW
#undef BROKER_ROW
};

//  Those that change nothing; of all others the answer is kept.
static const bool reads[AG_MSGS] = {
#define READS(name) [AG_MSG_##name] = true
    READS (status), READS (tree),   READS (events),   READS (log),       READS (objects),
    READS (show),   READS (why),    READS (failures), READS (wait),      READS (diff),
    READS (output), READS (verify), READS (down),     READS (approvals), READS (budget),
    READS (kept),   READS (replay), READS (packs),    READS (tried),
};

struct ag_commands *
ag_commands_new (void)
{
    return ag_xcalloc (1, sizeof (struct ag_commands));
}

static void
unpark (struct ag_commands *self, struct waiting **at)
{
    struct waiting *one = *at;
    *at = one->next;
    self->waiting_count--;
    ag_buf_fini (&one->bytes);
    free (one);
}

void
ag_commands_destroy (struct ag_commands **self_p)
{
    struct ag_commands *self = *self_p;
    if (!self)
        return;
    while (self->waiting)
        unpark (self, &self->waiting);
    ag_buf_fini (&self->swept);
    free (self);
    *self_p = NULL;
}

struct ag_answer
ag_command_begin (struct ag_command *command)
{
    return ag_answer_begin (command->answer, "ok", command->msg->id);
}

void
ag_command_label (const struct ag_run *run, struct ag_buf *out)
{
    if (run->label[0] && !run->discarded)
        ag_put_lit (out, run->label);
    else
        ag_put_null (out);
}

void
ag_command_merge (struct ag_answer *answer, struct ag_str map)
{
    struct ag_cursor in = ag_cursor (map);
    struct ag_head head;
    if (ag_next (&in, &head) || head.kind != AG_MAP)
        return;
    ag_buf_add (answer->out, in.p, (size_t)(in.end - in.p));
    answer->pairs += head.count;
}

void
ag_command_put_texts (struct ag_answer *answer, const char *key, struct ag_str texts)
{
    struct ag_cursor in = ag_cursor (texts);
    struct ag_head text;
    uint32_t count = 0;
    while (in.p < in.end && !ag_next (&in, &text))
        count++;
    if (!count)
        return;
    ag_answer_key (answer, key);
    ag_put_list (answer->out, count);
    ag_buf_add_str (answer->out, texts);
}

int
ag_command_run (struct ag_command *command, struct ag_str text, struct ag_run **run,
                struct ag_err *err)
{
    ag_journal_t *journal = command->house->journal;
    return ag_run_find (journal, text, run, err) || ag_discard_check (*run, err) ? -1 : 0;
}

bool
ag_command_hold (struct ag_command *command, uint64_t wait_ms)
{
    int64_t now = ag_now_ms();
    if (!command->until_ms)
        command->until_ms = now + (int64_t)wait_ms;
    command->parked = wait_ms && now < command->until_ms;
    return command->parked;
}

//  What the request is, whoever asks and with whatever token: equal for a repetition.
static void
hash_of (const struct ag_msg *msg, uint8_t hash[AG_HASH])
{
    struct ag_msg bare = *msg;
    struct ag_buf bytes = {0};
    bare.token = (struct ag_str){0};
    ag_wire_write (&bare, &bytes);
    ag_hash (ag_buf_str (&bytes), (struct ag_str){0}, hash);
    ag_buf_fini (&bytes);
}

//  1 when this request was answered before (the answer is there), 0, -1.
static int
answered_before (struct ag_command *command, const uint8_t hash[AG_HASH], struct ag_err *err)
{
    struct ag_request known;
    struct ag_buf hold = {0};
    int rc = ag_request_get (command->house->journal, AG_LIT ("operator"), command->msg->id, &hold,
                             &known, err);
    if (rc > 0 && memcmp (known.hash, hash, AG_HASH))
        rc = ag_fail (err, AG_E_REUSED, "request id %.*s stands for another request",
                      AG_STR_ARG (command->msg->id));
    if (rc > 0)
        ag_buf_add_str (command->answer, known.answer);
    ag_buf_fini (&hold);
    return rc;
}

int
ag_command_room (const struct ag_house *house, struct ag_err *err)
{
    return house->full
               ? ag_fail (err, AG_E_DISK_FULL, "the disk of %s is nearly full: nothing is written",
                          house->daemon->home.dir)
               : 0;
}

static int
change (struct ag_command *command, struct ag_err *err)
{
    ag_journal_t *journal = command->house->journal;
    uint8_t hash[AG_HASH];
    if (ag_command_room (command->house, err))
        return -1;
    if (!command->msg->id.p)
        return handlers[command->msg->type](command, err);
    hash_of (command->msg, hash);
    int rc = answered_before (command, hash, err);
    if (rc)
        return rc < 0 ? -1 : 0;
    rc = handlers[command->msg->type](command, err);
    if (rc || command->parked)
        return rc;
    struct ag_request request = {.time_us = ag_journal_now (journal),
                                 .answer = ag_buf_str (command->answer)};
    memcpy (request.hash, hash, AG_HASH);
    ag_request_put (journal, AG_LIT ("operator"), command->msg->id, &request);
    return 0;
}

//  Whatever the handler put in it, libzmq would cut the broker for a frame that is too long.
static int
check_fits (const struct ag_command *command, struct ag_err *err)
{
    if (command->answer->n <= AG_NET_FRAME_BYTES)
        return 0;
    return ag_fail (err, AG_E_TOO_LARGE, "the answer has %zu bytes and would be no frame of %d",
                    command->answer->n, AG_NET_FRAME_BYTES);
}

//  True when the request has been answered; false: it waits.
static bool
run (struct ag_command *command)
{
    struct ag_house *house = command->house;
    struct ag_buf answer = {0};
    struct ag_err err;
    struct ag_mark mark = ag_journal_mark (house->journal);
    command->answer = &answer;
    command->parked = false;
    bool mutates = !reads[command->msg->type];
    int rc = mutates ? change (command, &err) : handlers[command->msg->type](command, &err);
    if (!rc && !command->parked)
        rc = check_fits (command, &err);
    if (rc) {
        ag_journal_rollback (house->journal, &mark);
        if (mutates) { //  runs that it had made already
            ag_queues_forget_gone (house);
            ag_fleet_forget (house);
        }
        ag_buf_clear (&answer);
        ag_answer_error (&answer, command->msg->id, &err);
        command->parked = false;
    }
    if (!command->parked)
        ag_outbox_put (house->outbox, &command->route, ag_buf_str (&answer));
    command->answer = NULL;
    ag_buf_fini (&answer);
    return !command->parked;
}

static void
refuse (struct ag_house *house, const struct ag_route *route, struct ag_str id,
        const struct ag_err *err)
{
    struct ag_buf answer = {0};
    ag_answer_error (&answer, id, err);
    ag_outbox_put (house->outbox, route, ag_buf_str (&answer));
    ag_buf_fini (&answer);
}

static void
park (struct ag_house *house, const struct ag_command *command, struct ag_str bytes)
{
    struct ag_commands *self = house->commands;
    struct ag_err err;
    if (self->waiting_count >= WAITING_MAX) {
        ag_fail (&err, AG_E_BUSY, "%d requests are waiting already", WAITING_MAX);
        refuse (house, &command->route, command->msg->id, &err);
        return;
    }
    struct waiting *one = ag_xcalloc (1, sizeof *one);
    ag_buf_add_str (&one->bytes, bytes);
    one->route = command->route;
    one->until_ms = command->until_ms;
    one->mutates = !reads[command->msg->type];
    one->next = self->waiting;
    self->waiting = one;
    self->waiting_count++;
}

//  Nobody waits for the answer any more: of a request, by its handle; or, when the broker came anew (handle
//  0), of all that came over another connection.
static bool
is_forgotten (const struct waiting *one, const struct ag_route *route)
{
    bool same = one->route.id_bytes == route->id_bytes &&
                !memcmp (one->route.id, route->id, route->id_bytes);
    return route->handle ? same && one->route.handle == route->handle : !same;
}

static void
forget (struct ag_commands *self, const struct ag_route *route)
{
    for (struct waiting **at = &self->waiting; *at;)
        if (is_forgotten (*at, route))
            unpark (self, at);
        else
            at = &(*at)->next;
}

void
ag_commands_wake (struct ag_house *house, bool mutating)
{
    struct ag_commands *self = house->commands;
    struct ag_err err;
    for (struct waiting **at = &self->waiting; *at;) {
        struct waiting *one = *at;
        struct ag_msg msg;
        struct ag_command command = {
            .house = house, .msg = &msg, .route = one->route, .until_ms = one->until_ms};
        if (one->mutates == mutating &&
            (ag_wire_read (AG_PEER_CLIENT, ag_buf_str (&one->bytes), &msg, &err) || run (&command)))
            unpark (self, at);
        else
            at = &one->next;
    }
}

static void
link_message (struct ag_house *house, const struct ag_route *route, struct ag_str body)
{
    struct ag_msg msg;
    struct ag_err err;
    if (ag_wire_read (AG_PEER_BROKER, body, &msg, &err)) {
        ag_log_err (AG_ERROR, &err, "the broker's link");
        return;
    }
    if (!house->commands->broker.id_bytes)
        ag_log (AG_INFO, "the broker is here");
    ag_nursery_ready (house->nursery, AG_HOUSE_BROKER);
    forget (house->commands, route);
    house->commands->broker = *route;
    house->commands->monitors = msg.link.monitors;
}

//  The store is not open: why, and the way down.
static void
answer_closed (struct ag_house *house, const struct ag_route *route, const struct ag_msg *msg)
{
    struct ag_buf answer = {0};
    if (msg->type != AG_MSG_down) {
        refuse (house, route, msg->id, &house->lacking);
        return;
    }
    ag_nursery_down (house->nursery);
    ag_answer_ok (&answer, msg->id);
    ag_outbox_put (house->outbox, route, ag_buf_str (&answer));
    ag_buf_fini (&answer);
}

void
ag_commands_message (struct ag_house *house, struct ag_parts *parts)
{
    struct ag_str id = ag_part (parts, 0), handle = ag_part (parts, 1), body = ag_part (parts, 2);
    struct ag_route route = {
        .socket = house->broker_socket, .id_bytes = (uint8_t)id.n, .client = true};
    struct ag_err err;
    struct ag_msg msg;
    if (parts->count != 3 || handle.n != 8) {
        ag_log (AG_ERROR, "the broker sent %zu frames that are no request", parts->count);
        return;
    }
    memcpy (route.id, id.p, id.n);
    route.handle = ag_be64 (handle.p);
    if (!route.handle) {
        link_message (house, &route, body);
        return;
    }
    if (!body.n) {
        forget (house->commands, &route);
        return;
    }
    if (ag_wire_read (AG_PEER_CLIENT, body, &msg, &err)) {
        refuse (house, &route, (struct ag_str){0}, &err);
        return;
    }
    if (!house->journal) {
        answer_closed (house, &route, &msg);
        return;
    }
    struct ag_command command = {.house = house, .msg = &msg, .route = route};
    if (!run (&command))
        park (house, &command, body);
}

static void
put_header (struct ag_house *house, const struct ag_event *event, const struct ag_run *run,
            struct ag_buf *out)
{
    ag_store_t *store = ag_journal_store (house->journal);
    ag_put_map (out, event ? 6 : 3);
    ag_put_lit (out, "store");
    ag_put_lit (out, ag_store_identity (store));
    ag_put_lit (out, "epoch");
    ag_put_uint (out, ag_store_epoch (store));
    ag_put_lit (out, "stream");
    ag_put_uint (out, event ? event->stream : ag_journal_stream (house->journal));
    if (!event)
        return;
    ag_put_lit (out, "run");
    ag_put_lit (out, run->id);
    ag_put_lit (out, "label");
    if (run->label[0])
        ag_put_lit (out, run->label);
    else
        ag_put_null (out);
    ag_put_lit (out, "seq");
    ag_put_uint (out, event->seq);
}

static void
publish_one (struct ag_house *house, const struct ag_event *event)
{
    struct ag_buf topic = {0}, header = {0}, body = {0};
    struct ag_run *run;
    struct ag_err err;
    if (ag_run_get (house->journal, event->run, &run, &err)) {
        ag_log_err (AG_ERROR, &err, "an event is not published");
        return;
    }
    ag_buf_text (&topic, "run/%s/%.*s", run->id, AG_STR_ARG (event->type));
    put_header (house, event, run, &header);
    ag_event_write (event, run->id, run->label[0] ? run->label : NULL, &body);
    ag_outbox_publish (house->outbox, &house->commands->broker, ag_buf_str (&topic),
                       ag_buf_str (&header), ag_buf_str (&body));
    ag_buf_fini (&topic);
    ag_buf_fini (&header);
    ag_buf_fini (&body);
}

static bool
hint_at (void *hints, const struct ag_event *event)
{
    ag_hints_add (hints, event);
    return true;
}

void
ag_commands_publish (struct ag_house *house)
{
    struct ag_commands *self = house->commands;
    uint64_t stream = ag_journal_stream (house->journal);
    if (stream == self->published)
        return;
    self->published = stream;
    if (!self->broker.id_bytes || !self->monitors)
        return;
    struct ag_hints hints = {0};
    ag_journal_committed (house->journal, hint_at, &hints);
    for (size_t i = 0; i < hints.count; i++)
        publish_one (house, &hints.events[i]);
}

void
ag_commands_beat (struct ag_house *house)
{
    struct ag_buf header = {0};
    if (!house->commands->broker.id_bytes)
        return;
    put_header (house, NULL, NULL, &header);
    ag_outbox_publish (house->outbox, &house->commands->broker, AG_LIT ("beat"),
                       ag_buf_str (&header), (struct ag_str){"", 0});
    ag_buf_fini (&header);
}

void
ag_commands_sweep (struct ag_house *house)
{
    struct ag_commands *self = house->commands;
    struct ag_err err;
    uint64_t now_us = ag_journal_now (house->journal);
    if (house->full || now_us < KEPT_US || ag_now_ms() < self->sweep_ms)
        return;
    if (ag_request_sweep (house->journal, now_us - KEPT_US, SWEPT, &self->swept, &err))
        ag_log_err (AG_ERROR, &err, "old answers stay");
    if (!self->swept.n)
        self->sweep_ms = ag_now_ms() + SWEEP_MS;
}
