//  Doing a run again, as a fork of it: replay without --strict, and rerun. See docs/design/replay.md.
//  SPDX-License-Identifier: Apache-2.0
#include "client/again.h"
#include "client/client.h"
#include "client/print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PAGE = 500, NAME = 128, STEP_BYTES = AG_BULK_BYTES / 2 };

//  One after the other: the fork, then what came from outside after the cut, each when the fork has done what the
//  run had done before it, then the comparison.
struct again {
    struct ag_client *client;
    struct ag_str run; //  as it was named, without its point
    char until[NAME];  //  the same at its newest event
    char fork[NAME];   //  id
    uint64_t cut;
    bool moved;           //  the run did something since what is gathered
    struct ag_buf ops;    //  gathered, to be put in as one batch
    struct ag_buf events; //  and the events that they stand for
    uint32_t count;
    uint64_t put_in;
    struct ag_again_left left;
};

//  Requests of a named one are its children by the sequence of the first event that they stand for, the fork by 0:
//  the same name for the same, however far the run has gone on since.
static int
ask (struct again *self, struct ag_msg *msg, uint64_t seq, struct ag_buf *answer,
     struct ag_err *err)
{
    char child[AG_CHILD_TEXT];
    const char *id = self->client->call->change.request_id;
    if (ag_client_child (id, seq, child, &msg->id, err))
        return -1;
    return ag_client_ask (self->client, msg, answer, err);
}

static int
find_tip (struct again *self, struct ag_err *err)
{
    struct ag_buf answer = {0};
    struct ag_str event;
    struct ag_msg msg = {.type = AG_MSG_log, .log = {.run = self->run, .tail = 1}};
    int rc = ag_client_read (self->client, &msg, &answer, err);
    uint64_t tip = 0;
    for (struct ag_items items = ag_items (ag_buf_str (&answer), "events");
         !rc && ag_items_next (&items, &event);)
        tip = ag_pick_uint (event, "seq");
    if (!rc && !tip)
        rc = ag_fail (err, AG_E_NOT_FOUND, "run %.*s has no events", AG_STR_ARG (self->run));
    snprintf (self->until, sizeof self->until, "%.*s@%" PRIu64, AG_STR_ARG (self->run), tip);
    ag_buf_fini (&answer);
    return rc;
}

static int
make_fork (struct again *self, const char *point, const char *effects, struct ag_err *err)
{
    char start[NAME];
    struct ag_buf answer = {0};
    snprintf (start, sizeof start, strchr (point, '@') ? "%s" : "%s@start", point);
    struct ag_msg msg = {.type = AG_MSG_fork,
                         .fork = {.point = ag_str (start),
                                  .count = 1,
                                  .effects = ag_str (effects),
                                  .ids = AG_LIT ("continue")}};
    int rc = ask (self, &msg, 0, &answer, err);
    if (!rc) {
        struct ag_str fork = ag_pick_text (ag_buf_str (&answer), "run_id");
        snprintf (self->fork, sizeof self->fork, "%.*s", AG_STR_ARG (fork));
        self->cut = ag_pick_seq (ag_buf_str (&answer), "forked_at_event");
    }
    ag_buf_fini (&answer);
    return rc;
}

//  last: what it waits for then is said.
static int
wait_for_fork (struct again *self, bool last, struct ag_err *err)
{
    struct ag_buf states = {0};
    const char *fork = self->fork;
    self->moved = false;
    int rc = ag_client_wait (self->client, &(struct ag_words){&fork, 1}, false, &states, err);
    if (!rc && last)
        ag_client_say_idle (self->client, ag_buf_str (&states));
    ag_buf_fini (&states);
    return rc;
}

//  Why a fork, as it is now, refuses one event that the run took. Every other error is the command's.
static bool
is_refusal (enum ag_code code)
{
    static const enum ag_code codes[] = {AG_E_NOT_FOUND,     AG_E_EXISTS,  AG_E_BAD_VALUE,
                                         AG_E_BAD_OPERATION, AG_E_TYPE,    AG_E_RESERVED,
                                         AG_E_TOO_LARGE,     AG_E_WAITING, AG_E_POLICY};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (code == codes[i])
            return true;
    return false;
}

//  One event was put in, or else, where it is the fork that refuses it, that is told.
static int
settle (struct again *self, int rc, struct ag_str event, struct ag_err *err)
{
    if (rc && !is_refusal (err->code))
        return -1;
    if (rc)
        ag_again_leave_out (&self->left, event, err->text);
    self->put_in += !rc;
    return 0;
}

//  Operations, the first of which stands for this event.
static int
apply (struct again *self, uint32_t count, struct ag_str ops, struct ag_str event,
       struct ag_err *err)
{
    struct ag_buf list = {0}, answer = {0};
    ag_put_list (&list, count);
    ag_buf_add_str (&list, ops);
    struct ag_msg msg = {.type = AG_MSG_apply,
                         .apply = {.run = ag_str (self->fork), .ops = ag_buf_str (&list)}};
    int rc = ask (self, &msg, ag_pick_uint (event, "seq"), &answer, err);
    ag_buf_fini (&list);
    ag_buf_fini (&answer);
    return rc;
}

static int
apply_each (struct again *self, struct ag_err *err)
{
    struct ag_cursor ops = ag_cursor (ag_buf_str (&self->ops)),
                     events = ag_cursor (ag_buf_str (&self->events));
    struct ag_str op, event;
    int rc = 0;
    while (!rc && events.p < events.end && !ag_take (&ops, &op) && !ag_take (&events, &event))
        rc = settle (self, apply (self, 1, op, event, err), event, err);
    return rc;
}

//  As one batch, whole or not at all; 1: one by one, since the fork refuses it, or since it did when the same was
//  asked before (the name stands for the first of them alone).
static int
apply_all (struct again *self, struct ag_err *err)
{
    struct ag_cursor events = ag_cursor (ag_buf_str (&self->events));
    struct ag_str first;
    if (self->count == 1 || ag_take (&events, &first))
        return 1;
    if (apply (self, self->count, ag_buf_str (&self->ops), first, err))
        return is_refusal (err->code) || err->code == AG_E_REUSED ? 1 : -1;
    self->put_in += self->count;
    return 0;
}

//  Put in what is gathered; only what the fork refuses is left out.
static int
send_step (struct again *self, struct ag_err *err)
{
    if (!self->count)
        return 0;
    int rc = apply_all (self, err);
    if (rc > 0)
        rc = apply_each (self, err);
    ag_buf_clear (&self->ops);
    ag_buf_clear (&self->events);
    self->count = 0;
    return rc;
}

static int
send_goal (struct again *self, struct ag_str event, struct ag_err *err)
{
    struct ag_buf answer = {0};
    struct ag_str payload = ag_pick (event, "payload"), frame = ag_pick (payload, "frame");
    struct ag_msg msg = {.type = AG_MSG_goal,
                         .goal = {.run = ag_str (self->fork),
                                  .text = ag_pick_text (payload, "goal"),
                                  .constraints = ag_pick (frame, "constraints"),
                                  .success_criteria = ag_pick (frame, "success_criteria"),
                                  .permissions = ag_pick (frame, "permissions")}};
    if (send_step (self, err))
        return -1;
    int rc = ask (self, &msg, ag_pick_uint (event, "seq"), &answer, err);
    rc = settle (self, rc, event, err);
    ag_buf_fini (&answer);
    return rc;
}

static int
put_in (struct again *self, struct ag_str event, struct ag_err *err)
{
    if (self->moved && (send_step (self, err) || wait_for_fork (self, false, err)))
        return -1;
    if (ag_str_is (ag_pick_text (event, "type"), "goal.created"))
        return send_goal (self, event, err);
    if (self->ops.n > STEP_BYTES && send_step (self, err))
        return -1;
    ag_again_operation (event, &self->ops);
    ag_put_value (&self->events, event);
    self->count++;
    return 0;
}

static int
take (struct again *self, struct ag_str event, struct ag_err *err)
{
    const char *why = NULL;
    enum ag_again kind = ag_again_kind (event, &why);
    self->moved |= kind == AG_AGAIN_DONE;
    if (kind == AG_AGAIN_LEFT_OUT)
        ag_again_leave_out (&self->left, event, why);
    return kind == AG_AGAIN_PUT_IN ? put_in (self, event, err) : 0;
}

//  What the run's log has after the cut.
static int
put_in_all (struct again *self, struct ag_err *err)
{
    struct ag_buf answer = {0};
    struct ag_str event;
    uint64_t after = self->cut;
    int rc = 0;
    for (bool more = true; !rc && more;) {
        struct ag_msg msg = {.type = AG_MSG_log,
                             .log = {.run = ag_str (self->until), .after = after, .limit = PAGE}};
        rc = ag_client_read (self->client, &msg, &answer, err);
        for (struct ag_items items = ag_items (ag_buf_str (&answer), "events");
             !rc && ag_items_next (&items, &event);)
            rc = take (self, event, err);
        more = ag_pick_bool (ag_buf_str (&answer), "more");
        if (!rc)
            rc = ag_client_go_on (more, ag_pick_uint (ag_buf_str (&answer), "after"), &after, err);
    }
    ag_buf_fini (&answer);
    if (!rc)
        rc = send_step (self, err);
    return rc ? rc : wait_for_fork (self, true, err);
}

static void
put_result (const struct again *self, const char *effects, struct ag_str diff, struct ag_buf *out)
{
    ag_put_map (out, 6);
    ag_put_pair_text (out, "run", self->run);
    ag_put_pair_text (out, "fork_run_id", ag_str (self->fork));
    ag_put_pair_text (out, "effects", ag_str (effects));
    ag_put_pair_uint (out, "put_in", self->put_in);
    ag_put_lit (out, "left_out");
    ag_put_list (out, self->left.count);
    ag_buf_add_str (out, ag_buf_str (&self->left.list));
    ag_put_lit (out, "diff");
    ag_pick_rest (diff, (const char *const[]){"do", "id", NULL}, out);
}

//  alike: what differs is a conflict.
static int
compare (struct again *self, const char *effects, bool alike, struct ag_err *err)
{
    struct ag_buf answer = {0}, out = {0};
    struct ag_msg msg = {.type = AG_MSG_diff,
                         .diff = {.a = ag_str (self->until), .b = ag_str (self->fork)}};
    int rc = ag_client_read (self->client, &msg, &answer, err);
    struct ag_str diff = ag_buf_str (&answer);
    if (!rc) {
        put_result (self, effects, diff, &out);
        (self->client->look.json ? ag_look_json : ag_print_again) (&self->client->look,
                                                                   ag_buf_str (&out));
        if (alike && !self->client->status &&
            (ag_items_count (diff, "divergent_objects") ||
             ag_items_count (diff, "divergent_relations")))
            self->client->status = ag_code_status (AG_E_CONFLICT);
    }
    ag_buf_fini (&answer);
    ag_buf_fini (&out);
    return rc;
}

int
ag_again (struct ag_client *client, const char *point, const char *effects, bool alike,
          struct ag_err *err)
{
    const char *mark = strchr (point, '@');
    struct again self = {.client = client,
                         .run = {point, mark ? (size_t)(mark - point) : strlen (point)}};
    int rc = find_tip (&self, err) || make_fork (&self, point, effects, err) ||
                     put_in_all (&self, err) || compare (&self, effects, alike, err)
                 ? -1
                 : 0;
    if (rc && self.fork[0])
        ag_wrap (err, "%s", self.fork);
    ag_buf_fini (&self.ops);
    ag_buf_fini (&self.events);
    ag_buf_fini (&self.left.list);
    return rc;
}

int
ag_cmd_rerun (struct ag_client *self, const struct ag_args_rerun *args, struct ag_err *err)
{
    return ag_again (self, args->run, "live", false, err);
}
