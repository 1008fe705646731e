/*  answer - what comes back for a request: a map {do, id?, …}, written by handlers and read by askers.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_ANSWER_H
#define AG_ANSWER_H
#include "common/value.h"

//  An answer in the making: it counts its fields. Each ag_answer_key is followed by one value that the
//  caller puts into the same buffer.
//
//      struct ag_answer answer = ag_answer_begin (out, "ok", msg->id);
//      ag_answer_key (&answer, "run_id");
//      ag_put_text (out, run_id);
//      ag_answer_end (&answer);
struct ag_answer {
    struct ag_buf *out;
    size_t at;
    uint32_t pairs;
};

//  The word is ok, welcome, invoke, …; an absent id (p NULL) is left out.
struct ag_answer ag_answer_begin (struct ag_buf *out, const char *word, struct ag_str id);
void ag_answer_key (struct ag_answer *self, const char *key);
void ag_answer_end (struct ag_answer *self);

//  {do: "ok", id?}, whole.
void ag_answer_ok (struct ag_buf *out, struct ag_str id);
//  {do: "error", id?, code, message, hint, retryable}, whole; always valid UTF-8.
void ag_answer_error (struct ag_buf *out, struct ag_str id, const struct ag_err *err);

//  Look at an answer: 0 and its word as a borrow, or -1 with what an error answer said (AG_E_FAILED for
//  a code that this build does not know). AG_E_BAD_MESSAGE when it is no answer at all.
int ag_answer_read (struct ag_str answer, struct ag_str *word, struct ag_err *err);
#endif
