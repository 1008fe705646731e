/*  workers - who is at the worker socket, and what each may say now.
 *
 *  A peer becomes a session by a hello with the nonce of a unit's live process. It asks, one request at a
 *  time. What is malformed, out of turn or another's ends that worker, with the reason in the log of its
 *  run (worker.refused); nobody else notices.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_WORKERS_H
#define AG_WORKERS_H
#include "supervisor/house.h"
#include "supervisor/invocation.h"
#include <uthash.h>

struct ag_unit;

enum ag_session_state {
    AG_SESSION_REGISTERING, //  said hello without behaviours
    AG_SESSION_READY,       //  between two requests
    AG_SESSION_WAITING,     //  asked next, not answered
    AG_SESSION_BUSY         //  has an invocation
};

struct ag_session {
    struct ag_house *house;
    struct ag_route route;
    struct ag_unit *unit;
    enum ag_session_state state;
    int64_t since_ms; //  in this state
    pid_t pid;        //  who said hello, and
    int64_t made_ms;  //  when its connection was made
    int64_t lost_ms;  //  since when it is another or none; 0: it is there
    UT_hash_handle hh;
};

struct ag_workers *ag_workers_new (void);
void ag_workers_destroy (struct ag_workers **self_p);

//  One message from the worker socket.
void ag_workers_message (struct ag_house *house, struct ag_parts *parts);
//  A message beyond the bounds: its sender is ended.
void ag_workers_oversize (struct ag_house *house, struct ag_parts *parts, const struct ag_err *why);
//  Answer a waiting session: it is handed the invocation, or told to stop.
int ag_session_invoke (struct ag_house *house, struct ag_session *session,
                       struct ag_invocation *invocation, struct ag_err *err);
void ag_session_stop (struct ag_house *house, struct ag_session *session, const char *reason);
//  The process is gone: the session too.
void ag_session_end (struct ag_house *house, struct ag_session **session_p);
//  libzmq cuts a peer whose frame is too large and tells nobody: a process that lives and has lost the
//  connection of its hello is refused.
void ag_session_look (struct ag_house *house, struct ag_session *session, int64_t now);
//  A message to this route could not be delivered.
void ag_workers_lost (void *house, const struct ag_route *route);
#endif
