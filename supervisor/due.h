/*  due - which behaviours an event is due to: higher priority first, then in registration order.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_DUE_H
#define AG_DUE_H
#include "supervisor/cursor.h"

enum {
    AG_DUE_MAX = 10000,            //  invocations that one event may cause
    AG_DUE_NAMED = 3 * AG_DUE_MAX, //  texts of its payload, and relations of what they name
};

//  The relations of what an event names, as the graph was at the event; `{0}`, and the same for all hosts of
//  that event. They are looked for when the first behaviour wants them.
struct ag_named {
    bool known, too_many;
    struct ag_named_relation *list;
    size_t count;
};
void ag_named_fini (struct ag_named *named);

//  Add to the queue's list what of these behaviours wants the event. A relation behaviour is due once for
//  each relation of its type, as the graph was at the event, that starts or ends at an object which any
//  text of the payload names; in order of the ids. A behaviour with which the list would exceed AG_DUE_MAX, or
//  whose relations are beyond AG_DUE_NAMED, is left out of it, and named in queue->left_out with the reason.
//  The entries borrow from `behaviors`, which stays as long as they do.
int ag_due_add (ag_journal_t *journal, struct ag_run *run, struct ag_queue *queue, uint32_t host,
                struct ag_str behaviors, const struct ag_event *event, struct ag_named *named,
                struct ag_err *err);

//  Add what was put off until now, as it is registered.
int ag_due_add_delayed (struct ag_queue *queue, const struct ag_delay *delay,
                        struct ag_str behaviors, struct ag_err *err);
//  Put what was added so far in the order of its priorities.
void ag_due_order (struct ag_queue *queue);

//  Is entry i due to this event, the behaviour of this name, for this relation (p NULL: none)?
bool ag_due_is (const struct ag_queue *queue, uint32_t i, uint64_t event, struct ag_str name,
                struct ag_str relation);
#endif
