//  What a run holds: log, failures, why, show, objects.
//  SPDX-License-Identifier: Apache-2.0
#include "client/client.h"
#include "client/pager.h"
#include "client/print.h"

#include <inttypes.h>
#include <string.h>

enum { PAGE = 500 };

typedef void event_fn (struct ag_client *self, struct ag_str event);

//  Each event of a log, page by page; most: 0 for all.
static int
each_event (struct ag_client *self, struct ag_msg *msg, uint64_t most, event_fn *show,
            struct ag_err *err)
{
    struct ag_buf answer = {0};
    struct ag_str event;
    int rc = 0;
    for (bool more = true; more && !rc;) {
        msg->log.limit = most && most < PAGE ? most : PAGE;
        if ((rc = ag_client_ask (self, msg, &answer, err)))
            break;
        struct ag_items items = ag_items (ag_buf_str (&answer), "events");
        uint64_t got = items.left;
        while (ag_items_next (&items, &event))
            show (self, event);
        uint64_t next = ag_pick_uint (ag_buf_str (&answer), "after");
        more = ag_pick_bool (ag_buf_str (&answer), "more") && !(most && most <= got);
        most -= most ? got : 0;
        msg->log.tail = 0;
        rc = ag_look_flush (err) || ag_client_go_on (more, next, &msg->log.after, err) ? -1 : 0;
    }
    ag_buf_fini (&answer);
    return rc;
}

static void
show_event (struct ag_client *self, struct ag_str event)
{
    if (self->look.json)
        ag_look_json_line (event);
    else
        ag_print_event (&self->look, event, false);
}

int
ag_cmd_log (struct ag_client *self, const struct ag_args_log *args, struct ag_err *err)
{
    struct ag_msg msg = {.type = AG_MSG_log,
                         .log = {.run = ag_str (args->run),
                                 .after = args->after,
                                 .type = ag_str (args->type),
                                 .tail = args->tail}};
    struct ag_pager pager;
    ag_pager_begin (&pager, &self->look);
    int rc = each_event (self, &msg, args->limit, show_event, err);
    ag_pager_end (&pager);
    return rc;
}

//  An agent whose process does not run: its deaths stand in the log of the fleet.
static void
say_stuck (struct ag_client *self, const char *run, struct ag_str answer)
{
    struct ag_str state = ag_pick_text (answer, "state"), reason = ag_pick_text (answer, "reason");
    printf ("%s is %.*s: ", run, AG_STR_ARG (state));
    ag_look_text (stdout, reason);
    fputc ('\n', stdout);
    ag_client_remark (self,
                      "`agsup output %s` shows what it printed, `agsup log fleet --type "
                      "agent.stopped` every death.",
                      run);
}

//  Pages of failures, gathered; the last answer stays. How many, or -1.
static int
each_failure (struct ag_client *self, const char *run, struct ag_buf *gathered,
              struct ag_buf *answer, struct ag_err *err)
{
    struct ag_msg msg = {.type = AG_MSG_failures, .failures = {.run = ag_str (run)}};
    struct ag_str event;
    int count = 0;
    for (bool more = true; more;) {
        if (ag_client_ask (self, &msg, answer, err))
            return -1;
        struct ag_items items = ag_items (ag_buf_str (answer), "failures");
        for (; ag_items_next (&items, &event); count++)
            ag_put_value (gathered, event);
        uint64_t next = ag_pick_uint (ag_buf_str (answer), "after");
        more = ag_pick_bool (ag_buf_str (answer), "more");
        if (ag_client_go_on (more, next, &msg.failures.after, err))
            return -1;
    }
    return count;
}

//  {failures}, and {state, reason} of what does not run.
static void
put_failures (struct ag_str events, int count, struct ag_str answer, struct ag_buf *out)
{
    static const char *const keys[] = {"state", "reason"};
    bool stuck = ag_pick_text (answer, "state").n;
    ag_put_map (out, stuck ? 3 : 1);
    ag_put_lit (out, "failures");
    ag_put_list (out, (uint32_t)count);
    ag_buf_add_str (out, events);
    for (size_t i = 0; stuck && i < 2; i++) {
        ag_put_lit (out, keys[i]);
        ag_put_value (out, ag_pick (answer, keys[i]));
    }
}

int
ag_cmd_failures (struct ag_client *self, const struct ag_args_failures *args, struct ag_err *err)
{
    struct ag_buf events = {0}, answer = {0}, out = {0};
    int count = each_failure (self, args->run, &events, &answer, err);
    struct ag_str last = ag_buf_str (&answer);
    bool stuck = count >= 0 && ag_pick_text (last, "state").n;
    if (count >= 0) {
        put_failures (ag_buf_str (&events), count, last, &out);
        (self->look.json ? ag_look_json : ag_print_failures) (&self->look, ag_buf_str (&out));
    }
    if (stuck && !self->look.json)
        say_stuck (self, args->run, last);
    self->status = count > 0 || stuck ? 1 : 0;
    ag_buf_fini (&events);
    ag_buf_fini (&answer);
    ag_buf_fini (&out);
    return count < 0 ? -1 : 0;
}

int
ag_cmd_why (struct ag_client *self, const struct ag_args_why *args, struct ag_err *err)
{
    struct ag_msg msg = {.type = AG_MSG_why, .why = {ag_str (args->run), ag_str (args->entity)}};
    return ag_client_show (self, &msg, ag_print_why, err);
}

int
ag_cmd_show (struct ag_client *self, const struct ag_args_show *args, struct ag_err *err)
{
    struct ag_msg msg = {.type = AG_MSG_show, .show = {ag_str (args->run), ag_str (args->entity)}};
    return ag_client_show (self, &msg, ag_print_thing, err);
}

//  Pages of `objects` on their way to one document.
struct things {
    struct ag_buf objects, relations;
    uint32_t object_count, relation_count;
    char run
        [200]; //  the point of the first page: later pages read there, whatever happens meanwhile
    struct ag_buf at, next;
};

static uint32_t
gather (struct ag_str answer, const char *key, struct ag_buf *out)
{
    struct ag_str thing;
    uint32_t n = 0;
    for (struct ag_items items = ag_items (answer, key); ag_items_next (&items, &thing); n++)
        ag_put_value (out, thing);
    return n;
}

//  Remember the point, in the form that a request takes: RUN@evt_042 or RUN@42.
static void
fix_point (struct things *self, struct ag_str answer)
{
    struct ag_str at = ag_pick (answer, "at"), run = ag_pick_text (answer, "run");
    ag_buf_clear (&self->at);
    ag_put_value (&self->at, at);
    snprintf (self->run, sizeof self->run, "%.*s@%" PRIu64, AG_STR_ARG (run),
              ag_pick_seq (answer, "at"));
}

static int
gather_pages (struct ag_client *self, struct ag_msg *msg, struct things *things, struct ag_err *err)
{
    struct ag_buf answer = {0};
    int rc = 0;
    bool more = true;
    while (more && !rc && !(rc = ag_client_ask (self, msg, &answer, err))) {
        struct ag_str page = ag_buf_str (&answer);
        things->object_count += gather (page, "objects", &things->objects);
        things->relation_count += gather (page, "relations", &things->relations);
        if (!*things->run)
            fix_point (things, page);
        rc = ag_client_go_on_text (page, &things->next, &more, err);
        msg->objects.after = ag_buf_str (&things->next);
        msg->objects.run = ag_str (things->run);
    }
    ag_buf_fini (&answer);
    return rc;
}

//  {run, at, objects, relations}
static void
put_things (const struct things *self, struct ag_buf *out)
{
    struct ag_str run = {self->run, strcspn (self->run, "@")};
    ag_put_map (out, 4);
    ag_put_lit (out, "run");
    ag_put_text (out, run);
    ag_put_lit (out, "at");
    if (self->at.n)
        ag_put_value (out, ag_buf_str (&self->at));
    else
        ag_put_null (out);
    ag_put_lit (out, "objects");
    ag_put_list (out, self->object_count);
    ag_buf_add_str (out, ag_buf_str (&self->objects));
    ag_put_lit (out, "relations");
    ag_put_list (out, self->relation_count);
    ag_buf_add_str (out, ag_buf_str (&self->relations));
}

int
ag_cmd_objects (struct ag_client *self, const struct ag_args_objects *args, struct ag_err *err)
{
    struct ag_msg msg = {.type = AG_MSG_objects,
                         .objects = {.run = ag_str (args->run), .type = ag_str (args->type)}};
    struct things things = {0};
    struct ag_buf out = {0};
    int rc = gather_pages (self, &msg, &things, err);
    if (!rc) {
        put_things (&things, &out);
        (self->look.json ? ag_look_json : ag_print_objects) (&self->look, ag_buf_str (&out));
    }
    ag_buf_fini (&things.objects);
    ag_buf_fini (&things.relations);
    ag_buf_fini (&things.at);
    ag_buf_fini (&things.next);
    ag_buf_fini (&out);
    return rc;
}
