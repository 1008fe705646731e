/*  link - the worker protocol from the side of a worker: libagsup.
 *
 *  Lockstep: each function asks one thing and waits for its one answer, which stays valid until the next
 *  call. An answer of the supervisor that says `error` is -1 with its code and text. When the link is
 *  lost there is nothing left to do, since it never comes back: the process exits 69.
 *
 *      struct ag_err err;
 *      ag_link_t *link = ag_link_new (getenv ("AGSUP_WORKER"), &err);
 *      struct ag_msg_hello hello = {1, .nonce = …, .name = …, .behaviors = …};
 *      ag_link_hello (link, &hello, &answer, &err);
 *      while (!ag_link_next (link, &answer, &err) && ag_link_is (answer, "invoke"))
 *          ...
 *      ag_link_destroy (&link);
 *
 *  Values (args, ops, behaviors) are msgpack as common/value.h writes it. Not for two threads at once.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_LINK_H
#define AG_LINK_H
#include "common/log.h"
#include "common/wire.h"

typedef struct ag_link ag_link_t;

//  Connects to an ipc endpoint ($AGSUP_WORKER). The socket is watched from here on.
ag_link_t *ag_link_new (const char *endpoint, struct ag_err *err);
void ag_link_destroy (ag_link_t **self_p);

//  Called after each `done` that was sent, before its answer is waited for; it does not use the link.
typedef void ag_meanwhile_fn (void *arg);
void ag_link_meanwhile (ag_link_t *self, ag_meanwhile_fn *fn, void *arg);

//  One request of any kind, one answer: a map {do, …}, borrowed until the next call. AG_E_TOO_LARGE: it was
//  not sent, and something else may be.
int ag_link_ask (ag_link_t *self, const struct ag_msg *request, struct ag_str *answer,
                 struct ag_err *err);

//  The word of an answer is this one.
bool ag_link_is (struct ag_str answer, const char *word);

//  Each request of the protocol (ag_link_ask takes any). A struct ag_str with p NULL leaves its field out.
int ag_link_hello (ag_link_t *self, const struct ag_msg_hello *hello, struct ag_str *welcome,
                   struct ag_err *err);
int ag_link_register (ag_link_t *self, const struct ag_msg_registration *found, struct ag_err *err);
int ag_link_next (ag_link_t *self, struct ag_str *job, struct ag_err *err);
//  A depth of 0 is the least, 1.
int ag_link_get (ag_link_t *self, const struct ag_msg_get *what, struct ag_str *answer,
                 struct ag_err *err);
//  The answer is `result`, `go` (do it and call ag_link_outcome) or `refused`.
int ag_link_effect (ag_link_t *self, const char *tool, struct ag_str args, bool idempotent,
                    struct ag_str *answer, struct ag_err *err);
//  Exactly one of output and error.
int ag_link_outcome (ag_link_t *self, struct ag_str output, struct ag_str error,
                     struct ag_err *err);
//  Both answer what ag_link_next would have; a failure with job NULL asks for nothing more.
int ag_link_done (ag_link_t *self, struct ag_str ops, struct ag_str *job, struct ag_err *err);
int ag_link_fail (ag_link_t *self, struct ag_str error, struct ag_str *job, struct ag_err *err);
int ag_link_log (ag_link_t *self, enum ag_level level, struct ag_str text, struct ag_err *err);
#endif
