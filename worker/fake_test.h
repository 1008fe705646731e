/*  fake - a supervisor for tests: a ROUTER on a private ipc path that starts the real agsup-worker, reads
 *  what it asks as JSON lines and answers what the test says.
 *
 *  Every wait is bounded; what does not come in time fails the test.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_FAKE_TEST_H
#define AG_FAKE_TEST_H
#include "common/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <sys/types.h>

struct fake {
    char dir[32], endpoint[64];
    void *context, *router;
    pid_t pid;
    bool delimiter;
    struct ag_buf identity, heard, said, json;
    int log_lines; //  how many `log` requests fake_hear answered by itself
    char last_log[512];
};

//  Bind, and start a worker that may read below files (NULL: nothing).
static inline void fake_start (struct fake *self, const char *files);
//  The next request as a JSON line; `log` is answered here and passed over.
static inline const char *fake_hear (struct fake *self);
//  Answer with a JSON text made like printf.
static inline void fake_say (struct fake *self, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));
//  hello, welcome with one pack of one file and these limits and settings (JSON), register: what it said.
static inline const char *fake_load (struct fake *self, const char *source, const char *limits,
                                     const char *settings);
//  A worker with a pack p of these files (pairs of path and source, NULL at the end), up to its first `next`.
static inline void fake_begin (struct fake *self, const char *const *files, const char *limits);
//  Hand out an invocation of behaviour b, with more fields as JSON; the first request.
static inline const char *fake_invoke (struct fake *self, const char *more);
//  Answer its `next` with stop, and fake_end.
static inline int fake_stop (struct fake *self);
//  Answer stop if the worker still asks, wait for its end, and clean up: its exit status, or 128 + signal.
static inline int fake_end (struct fake *self);

#include "worker/fake_inside_test.h"
#endif
