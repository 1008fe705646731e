/*  ask - one request, one answer, over the home's client socket.
 *
 *  A request carries the home's token and an id. On silence the same request goes out again under the
 *  same id, because a broker that restarted has forgotten it and whoever got it twice answers once; what
 *  arrives under another id is old and dropped. Every request ends at its deadline.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_ASK_H
#define AG_ASK_H
#include "common/wire.h"

typedef struct ag_ask ag_ask_t;

//  AG_E_NO_SUPERVISOR: no home there, or nobody in it; AG_E_NOT_ALLOWED: not ours.
ag_ask_t *ag_ask_new (const char *home, struct ag_err *err);
void ag_ask_destroy (ag_ask_t **self_p);

struct ag_ask_time {
    int64_t deadline_ms; //  from now, for the whole request
    int64_t again_ms;    //  silence after which it is sent again
};

//  Ask and put the whole answer into `answer`. The request gets token, protocol and, unless it has one,
//  an id. -1: an error answer as ag_answer_read reads it; AG_E_TOO_LARGE: it was not sent; AG_E_TIMEOUT:
//  somebody listens but did not answer in time, so it may have been done; AG_E_NO_SUPERVISOR: nobody is there.
int ag_ask (ag_ask_t *self, const struct ag_msg *msg, struct ag_ask_time time,
            struct ag_buf *answer, struct ag_err *err);

//  A SUB socket of the same context, for the monitor endpoint; ends with ag_ask_destroy.
void *ag_ask_monitor (ag_ask_t *self, const char *endpoint, struct ag_err *err);
//  Whether somebody listens on a Unix socket.
bool ag_ask_listens (const char *path);
//  Milliseconds of a clock that never goes back.
int64_t ag_ask_clock_ms (void);
#endif
