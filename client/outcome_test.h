/*  Commands run in this process, and what they did, for tests.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_OUTCOME_TEST_H
#define AG_OUTCOME_TEST_H
#include "client/client.h"
#include "client/fake_test.h"

enum { WORDS = 32 };

//  What a command did.
struct outcome {
    char *out;
    int status; //  -1: an error
    struct ag_err err;
};

static inline void
outcome_fini (struct outcome *self)
{
    free (self->out);
}

//  Run "log auditor --json": words split at spaces, --home put in front.
static inline struct outcome
run (const char *dir, const char *line)
{
    struct outcome outcome = {0};
    char *text = ag_xstrdup (line), *argv[WORDS] = {"agsup", "--home", (char *)dir};
    int argc = 3;
    for (char *word = strtok (text, " "); word && argc < WORDS; word = strtok (NULL, " "))
        argv[argc++] = word;
    struct ag_call call;
    if (ag_parse (argc, argv, &call, &outcome.err))
        fail_msg ("%s", outcome.err.text);
    struct ag_started started = {0};
    struct capture capture = capture_begin();
    outcome.status = ag_start (&call, &started, &outcome.err)
                         ? -1
                         : ag_client_run (&call, &started, &outcome.err);
    outcome.out = capture_end (&capture);
    ag_call_fini (&call);
    free (text);
    return outcome;
}

//  A command against a script: its output, as JSON where that is expected, and its status.
static inline void
assert_command (const char *line, const struct fake_row *rows, size_t count, const char *out,
                int status)
{
    struct fake fake = {0};
    fake_begin (&fake, rows, count);
    struct outcome outcome = run (fake.dir, line);
    size_t seen = fake.seen_count;
    fake_end (&fake);
    if (outcome.status < 0)
        fail_msg ("%s: %s", line, outcome.err.text);
    char *expected = ag_xstrdup (out);
    for (char *p = expected; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    assert_string_equal (outcome.out, expected);
    assert_int_equal (outcome.status, status);
    assert_int_equal (seen, count);
    free (expected);
    outcome_fini (&outcome);
}

#define ROWS(...)                                                                                  \
    (const struct fake_row[]){__VA_ARGS__},                                                        \
        sizeof ((const struct fake_row[]){__VA_ARGS__}) / sizeof (struct fake_row)
#endif
