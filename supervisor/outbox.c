//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/outbox.h"
#include "common/answer.h"
#include "common/net.h"
#include "common/value.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    struct ag_route route;
    size_t at, parts[3]; //  bytes of up to three frames from `at` on
};

struct ag_outbox {
    struct entry *entries;
    size_t count, room;
    size_t inner; //  of them: what does not wait for the sync,
    size_t sent;  //  and what is under way already
    struct ag_buf bytes;
};

ag_outbox_t *
ag_outbox_new (void)
{
    return ag_xcalloc (1, sizeof (ag_outbox_t));
}

void
ag_outbox_destroy (ag_outbox_t **self_p)
{
    ag_outbox_t *self = *self_p;
    if (!self)
        return;
    ag_buf_fini (&self->bytes);
    free (self->entries);
    free (self);
    *self_p = NULL;
}

static struct entry *
add (ag_outbox_t *self, const struct ag_route *route)
{
    if (self->count == self->room) {
        self->room = self->room ? 2 * self->room : 64;
        self->entries = ag_xrealloc (self->entries, self->room * sizeof *self->entries);
    }
    struct entry *entry = &self->entries[self->count++];
    *entry = (struct entry){.route = *route, .at = self->bytes.n};
    return entry;
}

void
ag_outbox_put (ag_outbox_t *self, const struct ag_route *route, struct ag_str body)
{
    struct entry *entry = add (self, route);
    entry->parts[0] = body.n;
    ag_buf_add_str (&self->bytes, body);
}

void
ag_outbox_put_inner (ag_outbox_t *self, const struct ag_route *route, struct ag_str body)
{
    ag_outbox_put (self, route, body);
    self->inner++;
}

bool
ag_outbox_is_inner (const ag_outbox_t *self)
{
    return self->count && self->inner == self->count;
}

void
ag_outbox_publish (ag_outbox_t *self, const struct ag_route *broker, struct ag_str topic,
                   struct ag_str header, struct ag_str body)
{
    struct entry *entry = add (self, broker);
    entry->route.client = true;
    entry->route.handle = 0;
    entry->parts[0] = topic.n;
    entry->parts[1] = header.n;
    entry->parts[2] = body.n;
    ag_buf_add_str (&self->bytes, topic);
    ag_buf_add_str (&self->bytes, header);
    ag_buf_add_str (&self->bytes, body);
}

//  Publications alone go to handle 0; they are three frames even when the last ones are empty.
static int
frames (const struct entry *entry)
{
    return entry->route.client && entry->route.handle == 0 ? 3 : 1;
}

//  Through ag_net_send, which knows when libzmq says that a queue is full and it is not.
static int
send_one (const ag_outbox_t *self, const struct entry *entry)
{
    const struct ag_route *route = &entry->route;
    struct ag_str all[5] = {{(const char *)route->id, route->id_bytes}};
    uint64_t handle = htobe64 (route->handle);
    struct ag_err err;
    size_t count = 1;
    if (route->client)
        all[count++] = (struct ag_str){(const char *)&handle, sizeof handle};
    else if (route->delimiter)
        all[count++] = (struct ag_str){"", 0};
    const char *p = (const char *)self->bytes.p + entry->at;
    for (int i = 0; i < frames (entry); p += entry->parts[i++])
        all[count++] = (struct ag_str){entry->parts[i] ? p : "", entry->parts[i]};
    return ag_net_send (route->socket, all, count, &err);
}

static void
clear (ag_outbox_t *self)
{
    self->count = self->inner = self->sent = 0;
    ag_buf_clear (&self->bytes);
}

static void
send_rest (ag_outbox_t *self, ag_lost_fn *lost, void *context)
{
    while (self->sent < self->count) {
        const struct entry *entry = &self->entries[self->sent++];
        if (send_one (self, entry) && !entry->route.client)
            lost (context, &entry->route);
    }
}

void
ag_outbox_send (ag_outbox_t *self, ag_lost_fn *lost, void *context)
{
    send_rest (self, lost, context);
    clear (self);
}

void
ag_outbox_send_inner (ag_outbox_t *self, ag_lost_fn *lost, void *context)
{
    if (ag_outbox_is_inner (self))
        send_rest (self, lost, context);
}

void
ag_outbox_fail (ag_outbox_t *self, const struct ag_err *err)
{
    struct ag_buf answer = {0};
    for (size_t i = 0; i < self->count; i++) {
        struct entry *entry = &self->entries[i];
        if (!entry->route.client || entry->route.handle == 0)
            continue;
        struct ag_str was = {(const char *)self->bytes.p + entry->at, entry->parts[0]};
        struct ag_str id = {0};
        if (ag_map_text (was, "id", &id))
            id = (struct ag_str){0};
        ag_buf_clear (&answer);
        ag_answer_error (&answer, id, err);
        entry->at = self->bytes.n;
        entry->parts[0] = answer.n;
        ag_buf_add_str (&self->bytes, ag_buf_str (&answer));
        send_one (self, entry);
    }
    ag_buf_fini (&answer);
    clear (self);
}
