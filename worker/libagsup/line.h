/*  line - one DEALER socket that tells when the other side is gone, for ever.
 *
 *  {0} is a closed one. Nothing here ends the process; AG_E_NO_SUPERVISOR: the line is lost.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AGSUP_LINE_H
#define AGSUP_LINE_H
#include "common/buf.h"
#include "common/err.h"

#include <zmq.h>

struct ag_line {
    void *context, *socket, *monitor;
    bool lost;
};

int ag_line_open (struct ag_line *self, const char *endpoint, struct ag_err *err);
//  What was sent gets a second to leave. A line that is closed is left alone.
void ag_line_close (struct ag_line *self);
int ag_line_send (struct ag_line *self, struct ag_str frame, struct ag_err *err);
//  Waits. The last frame of the message into msg, which the caller keeps, and how many there were.
int ag_line_receive (struct ag_line *self, zmq_msg_t *msg, int *frames, struct ag_err *err);
//  Fails when the line is lost.
int ag_line_check (const struct ag_line *self, struct ag_err *err);
#endif
