/*  monitors - the socket that anybody of this house may listen at.
 *
 *  An XPUB at HOME/run/monitor.sock; what is published are hints, the log is the truth. A monitor that is
 *  too slow loses publications and delays nobody. It is admitted like a client, without a token: the
 *  directory is its wall.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_MONITORS_H
#define AG_MONITORS_H
#include "common/guard.h"

enum {
    AG_MONITORS_HWM = 1000,         //  publications that wait for one monitor
    AG_MONITORS_TOPIC_BYTES = 1024, //  of a subscription
    AG_MONITORS_TOPICS = 10000      //  different ones of all monitors
};

typedef struct ag_monitors ag_monitors_t;

struct ag_monitors_setting {
    const char *path; //  of the socket
    struct ag_guard_limits limits;
};

//  Called when the number of different subscriptions changed.
typedef void ag_audience_fn (void *context, uint64_t topics);

//  Binds. The socket's ZAP domain is "monitor". Strings, loop and context outlive it.
ag_monitors_t *ag_monitors_new (void *zmq_context, ag_loop_t *loop,
                                const struct ag_monitors_setting *setting, ag_audience_fn *fn,
                                void *context, struct ag_err *err);
void ag_monitors_destroy (ag_monitors_t **self_p);
ag_guard_t *ag_monitors_guard (ag_monitors_t *self);

void ag_monitors_publish (ag_monitors_t *self, struct ag_str topic, struct ag_str header,
                          struct ag_str body);
#endif
