/*  client - what a command of agsup works with, once it needs more than its arguments.
 *
 *  A handler prints to stdout what was asked for and nothing else; remarks go to stderr through
 *  ag_client_remark. It returns 0, or -1 with the reason; an end that is no error but has an exit status
 *  of its own (a conflict, something corrupt) is left in `status`.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_CLIENT_H
#define AG_CLIENT_H
#include "client/ask.h"
#include "client/look.h"
#include "client/pick.h"
#include "client/place.h"
#include "client/start.h"

struct ag_client {
    const struct ag_call *call;
    struct ag_look look;
    struct ag_place place;
    const struct ag_started *started; //  what `up` waits for
    ag_ask_t *ask;                    //  NULL until something was asked
    int64_t begun_ms; //  by ag_ask_clock_ms; --timeout of all waiting counts from here
    int status;
};

//  The entry of the shared object: run the command; its exit status, or -1.
int ag_client_run (const struct ag_call *call, const struct ag_started *started,
                   struct ag_err *err);

//  Every handler: int ag_cmd_goal (struct ag_client *, const struct ag_args_goal *, struct ag_err *).
#define HANDLER_HERE(name)
#define HANDLER_READY(name)                                                                        \
    int ag_cmd_##name (struct ag_client *, const struct ag_args_##name *, struct ag_err *);
#define HANDLER_LATER(name)
#define HANDLER_SHARED(name)
#define GROUP(name, title)
#define CMD(name, words, stage, effect, summary) HANDLER_##stage (name)
#define ARG(...)
#define OPT(...)
#define EX(...)
#define END(name)
#include "schemas/commands.def"
#undef HANDLER_HERE
#undef HANDLER_READY
#undef HANDLER_LATER
#undef HANDLER_SHARED

//  The home that was named or found. AG_E_NO_SUPERVISOR when nothing names one.
int ag_client_home (struct ag_client *self, struct ag_err *err);
//  Ask the house, within --timeout. A command that changes something carries --request-id.
int ag_client_ask (struct ag_client *self, const struct ag_msg *msg, struct ag_buf *answer,
                   struct ag_err *err);
//  The same for a question of a command that changes something: --request-id is none of its.
int ag_client_read (struct ag_client *self, const struct ag_msg *msg, struct ag_buf *answer,
                    struct ag_err *err);
//  The same for a request that the house may keep for wait_ms before it answers.
int ag_client_poll (struct ag_client *self, const struct ag_msg *msg, uint64_t wait_ms,
                    struct ag_buf *answer, struct ag_err *err);
//  The same for long work that is asked for again and again, until the answer says `done`; until --timeout of the
//  command, if there is one: then `what` is not done. `wait_ms` is that field of the message; progress says how far
//  it came.
typedef void ag_progress_fn (const struct ag_client *self, struct ag_str answer);
int ag_client_await (struct ag_client *self, struct ag_msg *msg, uint64_t *wait_ms,
                     const char *what, ag_progress_fn *progress, struct ag_buf *answer,
                     struct ag_err *err);
//  A name for such work: --request-id, or one of our own.
enum { AG_TICKET_TEXT = 33 };
struct ag_str ag_client_ticket (const struct ag_client *self, char ticket[AG_TICKET_TEXT]);
//  What is left of the time that --timeout, or else this, gives the command from its begin; 0: it is over.
int64_t ag_client_left_ms (const struct ag_client *self, int64_t otherwise_ms);
//  The name of one request of several that make up a named one: ID/PART, which `name` borrows; nothing when there is
//  no ID. AG_E_USAGE: the ID leaves no room for a part.
enum { AG_CHILD_TEXT = 65 };
int ag_client_child (const char *id, uint64_t part, char child[AG_CHILD_TEXT], struct ag_str *name,
                     struct ag_err *err);
//  Where the next page begins, if the house has more. A house that has and goes no further would be asked for ever:
//  AG_E_BAD_MESSAGE.
int ag_client_go_on (bool more, uint64_t next, uint64_t *after, struct ag_err *err);
//  The same for pages that say by a text `next` that there is more.
int ag_client_go_on_text (struct ag_str page, struct ag_buf *after, bool *more, struct ag_err *err);
//  Wait until these runs are idle (or ended); until --timeout of the command, if there is one.
int ag_client_wait (struct ag_client *self, const struct ag_words *runs, bool ended,
                    struct ag_buf *answer, struct ag_err *err);
//  Of such an answer: idle with something to approve, or with a budget used up, is said and becomes the exit status.
void ag_client_say_idle (struct ag_client *self, struct ag_str answer);
//  To a person, how many invocations failed in the runs of such an answer after a sequence number, of their own
//  newest events and of the first runs only. What a fork inherited was told of its parent.
int ag_client_say_failures (struct ag_client *self, struct ag_str answer, uint64_t after,
                            struct ag_err *err);

//  Do a run again from a point as a fork with these effects, and show how that differs; alike: a difference is the
//  exit status. Without a point: from before its first invocation.
int ag_again (struct ag_client *self, const char *point, const char *effects, bool alike,
              struct ag_err *err);

//  Ask, and print the answer: the document, or through `print` for a person.
typedef void ag_print_fn (const struct ag_look *look, struct ag_str answer);
int ag_client_show (struct ag_client *self, const struct ag_msg *msg, ag_print_fn *print,
                    struct ag_err *err);
//  Print an answer as --json promises it: without `do` and `id`.
void ag_client_document (const struct ag_client *self, struct ag_str answer);
//  What long work is at, on one line of a terminal that is written over; NULL wipes it.
void ag_client_progress (const struct ag_client *self, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));
//  A remark for a person, on stderr, unless --quiet.
void ag_client_remark (const struct ag_client *self, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));
//  Each setting that an answer says is not kept, as such a remark.
void ag_client_warn_not_kept (const struct ag_client *self, struct ag_str answer);
#endif
