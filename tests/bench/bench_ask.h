/*  bench_ask - a client of a house, for benches: whatever goes wrong ends the program with a word on stderr.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_BENCH_ASK_H
#define AG_BENCH_ASK_H
#include "common/answer.h"
#include "common/home.h"
#include "common/net.h"
#include "common/wire.h"

enum { AG_BENCH_ID = 16, AG_BENCH_WAIT_MS = 60000 };

struct bench {
    struct ag_home home;
    char token[AG_TOKEN + 1];
    void *context, *socket;
    struct ag_buf answer; //  the last one
    uint64_t asked;
    char prefix[AG_BENCH_ID + 1]; //  of request ids: another program's ids are not ours
};

_Noreturn void die (const char *what, const char *why);
void open_house (struct bench *self, const char *dir);
void close_house (struct bench *self);

void send_frame (struct bench *self, struct ag_str frame);
//  The next answer, which must be no error.
void hear (struct bench *self);
//  One request, with a token and an id of its own, and its answer.
void ask (struct bench *self, struct ag_msg msg);
//  A text of the last answer.
struct ag_str answer_text (const struct bench *self, const char *key);
#endif
