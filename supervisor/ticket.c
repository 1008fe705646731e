//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/ticket.h"
#include "common/loop.h"

#include <stdio.h>

enum { LEFT_MS = 5000 };

int
ag_ticket_room (const struct ag_ticket *first, uint32_t most, const char *what, struct ag_err *err)
{
    uint32_t count = 0;
    for (const struct ag_ticket *one = first; one; one = one->next)
        count++;
    return count < most ? 0 : ag_fail (err, AG_E_BUSY, "%u %s are running already", count, what);
}

void
ag_ticket_add (struct ag_ticket **first, struct ag_ticket *self, struct ag_str ticket)
{
    while (*first)
        first = &(*first)->next;
    *first = self;
    snprintf (self->text, sizeof self->text, "%.*s", AG_STR_ARG (ticket));
    ag_ticket_again (self);
}

void
ag_ticket_remove (struct ag_ticket **first, struct ag_ticket *self)
{
    while (*first != self)
        first = &(*first)->next;
    *first = self->next;
}

void
ag_ticket_again (struct ag_ticket *self)
{
    self->last_ms = ag_now_ms();
}

bool
ag_ticket_is_left (const struct ag_ticket *self)
{
    return ag_now_ms() - self->last_ms > LEFT_MS;
}

void
ag_ticket_break (struct ag_ticket *self, const struct ag_err *why)
{
    if (!self->over)
        self->broken = *why;
    self->over = true;
}
