//  SPDX-License-Identifier: Apache-2.0
#include "client/feed.h"

#include <stdio.h>
#include <string.h>

enum { PAGE_BYTES = 1 << 20, PAGE_LINES = 500, NAME_RANDOM = 10, NAME_BYTES = 2 * NAME_RANDOM + 1 };
enum { DROPS = 1000000 };

static void
make_name (char name[NAME_BYTES])
{
    uint8_t random[NAME_RANDOM];
    ag_random (random, sizeof random);
    ag_hex (random, sizeof random, name);
}

int
ag_feed_begin (struct ag_feed *self, struct ag_client *client, const char *file, const char *word,
               struct ag_err *err)
{
    const char *id = client->call->change.request_id;
    char child[AG_CHILD_TEXT];
    struct ag_str end;
    *self = (struct ag_feed){.client = client, .file = file, .word = word};
    if (ag_client_child (id, 0, child, &end, err))
        return -1;
    if (id)
        snprintf (self->name, sizeof self->name, "%s", id);
    else
        make_name (self->name);
    return 0;
}

static int
send_page (struct ag_feed *self, struct ag_err *err)
{
    struct ag_buf items = {0}, answer = {0};
    struct ag_str id;
    char child[AG_CHILD_TEXT];
    if (ag_client_child (self->name, ++self->page, child, &id, err))
        return -1;
    ag_put_list (&items, self->count);
    ag_buf_add_str (&items, ag_buf_str (&self->items));
    struct ag_msg msg = {.type = AG_MSG_import,
                         .id = id,
                         .import = {.name = ag_str (self->name),
                                    .page = self->page,
                                    .word = ag_str (self->word),
                                    .items = ag_buf_str (&items)}};
    int rc = ag_client_ask (self->client, &msg, &answer, err);
    if (rc)
        ag_wrap (err, "%s", self->file);
    else
        self->events = ag_pick_uint (ag_buf_str (&answer), "events");
    ag_buf_clear (&self->items);
    self->count = 0;
    ag_buf_fini (&items);
    ag_buf_fini (&answer);
    return rc;
}

int
ag_feed_line (struct ag_feed *self, uint64_t place, struct ag_str line, struct ag_err *err)
{
    ag_put_list (&self->items, 2);
    ag_put_uint (&self->items, place);
    ag_put_value (&self->items, line);
    self->count++;
    return self->count >= PAGE_LINES || self->items.n >= PAGE_BYTES ? send_page (self, err) : 0;
}

int
ag_feed_end (struct ag_feed *self, const char *label, struct ag_buf *answer, struct ag_err *err)
{
    struct ag_str id;
    char child[AG_CHILD_TEXT];
    if (self->count && send_page (self, err))
        return -1;
    if (!self->page)
        return ag_fail (err, AG_E_USAGE, "%s holds no event", self->file);
    if (ag_client_child (self->name, 0, child, &id, err))
        return -1;
    struct ag_msg msg = {.type = AG_MSG_import_end,
                         .id = id,
                         .import_end = {.name = ag_str (self->name), .label = ag_str (label)}};
    return ag_client_ask (self->client, &msg, answer, err);
}

//  A part with each request, none of which is like one before, under whatever name.
static void
drop (struct ag_feed *self)
{
    struct ag_err ignored;
    struct ag_buf answer = {0};
    char id[NAME_BYTES];
    int rc = 0;
    bool more = true;
    for (int part = 1; !rc && more && part < DROPS; part++) {
        make_name (id);
        struct ag_msg msg = {.type = AG_MSG_import_drop,
                             .id = ag_str (id),
                             .import_drop = {.name = ag_str (self->name)}};
        rc = ag_client_ask (self->client, &msg, &answer, &ignored);
        more = ag_pick_bool (ag_buf_str (&answer), "more");
    }
    ag_buf_fini (&answer);
}

void
ag_feed_fini (struct ag_feed *self, const struct ag_err *why)
{
    //  Where the first page reached nobody, nothing was taken.
    bool taken = why && self->page > (why->code == AG_E_NO_SUPERVISOR ? 1 : 0);
    if (taken && ag_code_retryable (why->code))
        ag_client_remark (self->client,
                          "nobody sees what was taken so far; --request-id %s goes on", self->name);
    else if (taken)
        drop (self);
    ag_buf_fini (&self->items);
}
