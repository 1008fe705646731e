/*  inside - what the files of libagsup share; agsup.h is what it promises.
 *
 *  line (the socket) < form (templates), value (reading) < link (requests) < dialogue (what is said when).
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AGSUP_INSIDE_H
#define AGSUP_INSIDE_H
#include "common/answer.h"
#include "common/json.h"
#include "worker/libagsup/agsup.h"
#include "worker/libagsup/line.h"

#include <stdarg.h>

//  Where the dialogue stands.
enum ag_at { AG_NEW, AG_REGISTERING, AG_READY, AG_OPEN, AG_GOING, AG_SENT, AG_STOPPED, AG_STATES };
#define AG_IN(state) (1u << (state))

//  Answers: the last one, and those that the caller reads.
enum { AG_ANSWER, AG_WELCOME, AG_JOB, AG_READ, AG_GIVEN, AG_SLOTS };

//  A list in the making.
struct ag_pile {
    struct ag_buf bytes;
    uint32_t count;
};

struct agsup {
    struct ag_line line;
    enum ag_at at;
    struct ag_err err;    //  of the last call that failed
    struct ag_err spoilt; //  the first bad element of a list that is not sent yet
    struct ag_pile behaviors, tools, ops;
    struct ag_buf fields, frame, made; //  requests on their way; what outcome gave
    zmq_msg_t slots[AG_SLOTS];
    struct ag_kept *kept, *kept_for_ever; //  texts that were made for the caller
    bool begun;                           //  an invocation was asked for: no text is for ever
};

//  form.c: append what a template and its arguments make.
int ag_form_fill (const char *form, va_list *args, struct ag_buf *out, struct ag_err *err);

//  link.c. The call has its turn, or fails.
int ag_due (agsup_t *self, unsigned states, const char *call);
int ag_failed (agsup_t *self, const struct ag_err *err);
//  Bytes that live as texts do; their content is the caller's to write.
char *ag_keep (agsup_t *self, size_t n);
void ag_forget (struct ag_kept **list);
//  A request: begun, filled, and sent when it is as the supervisor wants it.
void ag_begin (agsup_t *self, struct ag_answer *request, const char *word);
int ag_add_fields (agsup_t *self, struct ag_answer *request, const char *form, va_list *args);
void ag_add_pile (struct ag_answer *request, const char *key, const struct ag_pile *pile);
int ag_send (agsup_t *self, struct ag_answer *request);
//  The next answer and its word; -1 also when it says `error`.
int ag_receive (agsup_t *self, struct ag_str *word);
//  Request and answer of one template.
int ag_ask (agsup_t *self, const char *word, const char *form, va_list *args, struct ag_str *said);
int ag_expect (agsup_t *self, struct ag_str said, const char *word);
//  The last answer is the caller's to read from here on.
struct ag_str ag_hand_over (agsup_t *self, int slot);
//  Whether what was added to lists is good; from here on another list begins.
int ag_settle (agsup_t *self);

static inline struct ag_str
ag_bytes_of (struct agsup_value value)
{
    return (struct ag_str){value.bytes, value.size};
}

static inline struct agsup_value
ag_value_of (struct ag_str bytes)
{
    return (struct agsup_value){bytes.p, bytes.n};
}

static inline struct ag_str
ag_content (zmq_msg_t *msg)
{
    return (struct ag_str){zmq_msg_data (msg), zmq_msg_size (msg)};
}
#endif
