//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/hints.h"

#include <string.h>

static void
leave_out (struct ag_hints *self, size_t i)
{
    struct ag_event *event = &self->events[i];
    self->bytes -= event->stored.n;
    self->count--;
    memmove (event, event + 1, (self->count - i) * sizeof *event);
}

//  The newest first: most often it is that one.
static void
leave_out_topic (struct ag_hints *self, uint64_t run, struct ag_str type)
{
    for (size_t i = self->count; i-- > 0;)
        if (self->events[i].run == run && ag_str_eq (self->events[i].type, type)) {
            leave_out (self, i);
            return;
        }
}

void
ag_hints_add (struct ag_hints *self, const struct ag_event *event)
{
    leave_out_topic (self, event->run, event->type);
    while (self->count == AG_HINTS ||
           (self->count && self->bytes + event->stored.n > AG_HINTS_BYTES))
        leave_out (self, 0);
    self->events[self->count++] = *event;
    self->bytes += event->stored.n;
}
