/*  ticket - long work that a client asks for again and again under a ticket, until its answer is ready.
 *
 *  It is the first member of what does the work, which stands in a list of the house from the first asking until its
 *  end was told, or until nobody has asked for it for some seconds.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_TICKET_H
#define AG_TICKET_H
#include "common/value.h"

enum { AG_TICKET_BYTES = 64 };

struct ag_ticket {
    char text[AG_TICKET_BYTES + 1];
    int64_t last_ms;      //  when it was asked for
    bool over;            //  it has come to its end,
    struct ag_err broken; //  with a code: because it could not go on
    struct ag_ticket *next;
};

//  AG_E_BUSY when a list has `most` of them, which are called so.
int ag_ticket_room (const struct ag_ticket *first, uint32_t most, const char *what,
                    struct ag_err *err);
//  The last one of a list from now on, asked for the first time; and one of it no longer.
void ag_ticket_add (struct ag_ticket **first, struct ag_ticket *self, struct ag_str ticket);
void ag_ticket_remove (struct ag_ticket **first, struct ag_ticket *self);

void ag_ticket_again (struct ag_ticket *self);
//  Nobody asks for it any more.
bool ag_ticket_is_left (const struct ag_ticket *self);
//  It cannot go on; the first reason counts.
void ag_ticket_break (struct ag_ticket *self, const struct ag_err *why);
#endif
