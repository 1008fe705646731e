//  SPDX-License-Identifier: Apache-2.0
#include "client/client.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { TIMEOUT_MS = 30000, GRACE_MS = 1000, AGAIN_MS = 3000, POLL_MS = 20000, WORK_MS = 1000 };
enum { TOLD_RUNS = 16 };
#define FOR_EVER_MS (INT64_MAX / 2)
enum { PARENT_BYTES = AG_CHILD_TEXT - sizeof "/18446744073709551615" };

//  A handler behind one face: the row's arguments are taken out of the call.
typedef int handler_fn (struct ag_client *self, struct ag_err *err);

#define HANDLER_HERE(name)
#define HANDLER_READY(name)                                                                        \
    static int run_##name (struct ag_client *self, struct ag_err *err)                             \
    {                                                                                              \
        return ag_cmd_##name (self, &self->call->name, err);                                       \
    }
#define HANDLER_LATER(name)
#define HANDLER_SHARED(name)
#define GROUP(name, title)
#define CMD(name, words, stage, effect, summary) HANDLER_##stage (name)
#define ARG(...)
#define OPT(...)
#define EX(...)
#define END(name)
#include "schemas/commands.def"
#undef HANDLER_READY

static handler_fn *const handlers[AG_CMDS] = {
#define HANDLER_READY(name) [AG_CMD_##name] = run_##name,
#define GROUP(name, title)
#define CMD(name, words, stage, effect, summary) HANDLER_##stage (name)
#define ARG(...)
#define OPT(...)
#define EX(...)
#define END(name)
#include "schemas/commands.def"
};

//  Tables align by the width of letters, so they need to know that text is UTF-8.
static void
set_locale (void)
{
    if (!setlocale (LC_CTYPE, "") || MB_CUR_MAX == 1)
        setlocale (LC_CTYPE, "C.UTF-8");
}

int
ag_client_run (const struct ag_call *call, const struct ag_started *started, struct ag_err *err)
{
#ifndef __SANITIZE_ADDRESS__    //  whose search for leaks traces this process
    prctl (PR_SET_DUMPABLE, 0); //  it holds the token
#endif
    set_locale();
    struct ag_client self = {
        .call = call, .look = ag_look (call), .started = started, .begun_ms = ag_ask_clock_ms()};
    int rc = ag_place_find (call, &self.place, err);
    if (!rc)
        rc = handlers[call->command->cmd](&self, err);
    ag_ask_destroy (&self.ask);
    ag_place_fini (&self.place);
    return rc ? -1 : self.status;
}

int
ag_client_home (struct ag_client *self, struct ag_err *err)
{
    if (self->place.home)
        return 0;
    return ag_fail (
        err, AG_E_NO_SUPERVISOR,
        "no agsup.toml here or upwards, and neither --home nor $AGSUP_HOME names a home");
}

static int64_t
timeout_ms (const struct ag_client *self, int64_t otherwise_ms)
{
    uint64_t said = self->call->any.timeout;
    return said ? (int64_t)said : otherwise_ms;
}

int64_t
ag_client_left_ms (const struct ag_client *self, int64_t otherwise_ms)
{
    int64_t left = self->begun_ms + timeout_ms (self, otherwise_ms) - ag_ask_clock_ms();
    return left > 0 ? left : 0;
}

static int
ask (struct ag_client *self, const struct ag_msg *msg, struct ag_ask_time time,
     struct ag_buf *answer, struct ag_err *err)
{
    if (ag_client_home (self, err))
        return -1;
    if (!self->ask && !(self->ask = ag_ask_new (self->place.home, err)))
        return -1;
    return ag_ask (self->ask, msg, time, answer, err);
}

int
ag_client_ask (struct ag_client *self, const struct ag_msg *msg, struct ag_buf *answer,
               struct ag_err *err)
{
    struct ag_msg named = *msg;
    if (!named.id.p && self->call->change.request_id)
        named.id = ag_str (self->call->change.request_id);
    if (ag_client_read (self, &named, answer, err))
        return -1;
    struct ag_str remark = ag_pick_text (ag_buf_str (answer), "remark");
    if (remark.n && !self->look.json)
        ag_client_remark (self, "%.*s", AG_STR_ARG (remark));
    return 0;
}

int
ag_client_read (struct ag_client *self, const struct ag_msg *msg, struct ag_buf *answer,
                struct ag_err *err)
{
    struct ag_ask_time time = {timeout_ms (self, TIMEOUT_MS), AGAIN_MS};
    return ask (self, msg, time, answer, err);
}

int
ag_client_poll (struct ag_client *self, const struct ag_msg *msg, uint64_t wait_ms,
                struct ag_buf *answer, struct ag_err *err)
{
    int64_t wait = (int64_t)wait_ms, more = self->call->any.timeout ? GRACE_MS : TIMEOUT_MS;
    struct ag_ask_time time = {wait + more, wait + AGAIN_MS};
    return ask (self, msg, time, answer, err);
}

int
ag_client_await (struct ag_client *self, struct ag_msg *msg, uint64_t *wait_ms, const char *what,
                 ag_progress_fn *progress, struct ag_buf *answer, struct ag_err *err)
{
    int rc = 0;
    bool done = false;
    while (!rc && !done) {
        int64_t left = ag_client_left_ms (self, FOR_EVER_MS);
        *wait_ms = (uint64_t)(left < WORK_MS ? left : WORK_MS);
        rc = ag_client_poll (self, msg, *wait_ms, answer, err);
        done = ag_pick_bool (ag_buf_str (answer), "done");
        if (!rc && !done)
            progress (self, ag_buf_str (answer));
        if (!rc && !done && !left)
            rc = ag_fail (err, AG_E_TIMEOUT, "%s is not done after %.3f s", what,
                          (double)timeout_ms (self, FOR_EVER_MS) / 1000);
    }
    ag_client_progress (self, NULL);
    return rc;
}

int
ag_client_child (const char *id, uint64_t part, char child[AG_CHILD_TEXT], struct ag_str *name,
                 struct ag_err *err)
{
    *name = (struct ag_str){0};
    if (!id)
        return 0;
    if (strlen (id) > PARENT_BYTES)
        return ag_fail (
            err, AG_E_USAGE,
            "--request-id takes %d bytes at most here, where it names several requests, "
            "not %zu",
            (int)PARENT_BYTES, strlen (id));
    snprintf (child, AG_CHILD_TEXT, "%s/%" PRIu64, id, part);
    *name = ag_str (child);
    return 0;
}

int
ag_client_go_on (bool more, uint64_t next, uint64_t *after, struct ag_err *err)
{
    if (more && next <= *after)
        return ag_fail (err, AG_E_BAD_MESSAGE,
                        "the house says that there is more after %" PRIu64 " and goes no further",
                        *after);
    *after = next;
    return 0;
}

int
ag_client_go_on_text (struct ag_str page, struct ag_buf *after, bool *more, struct ag_err *err)
{
    struct ag_str next = ag_pick_text (page, "next");
    *more = next.n > 0;
    if (*more && ag_str_eq (next, ag_buf_str (after)))
        return ag_fail (err, AG_E_BAD_MESSAGE,
                        "the house says that there is more after `%.*s` and goes no further",
                        AG_STR_ARG (next));
    ag_buf_clear (after);
    ag_buf_add_str (after, next);
    return 0;
}

struct ag_str
ag_client_ticket (const struct ag_client *self, char ticket[AG_TICKET_TEXT])
{
    uint8_t random[(AG_TICKET_TEXT - 1) / 2];
    const char *named = self->call->change.request_id;
    ag_random (random, sizeof random);
    ag_hex (random, sizeof random, ticket);
    return ag_str (named ? named : ticket);
}

static void
put_runs (const struct ag_words *runs, struct ag_buf *out)
{
    ag_put_list (out, (uint32_t)runs->n);
    for (size_t i = 0; i < runs->n; i++)
        ag_put_lit (out, runs->p[i]);
}

//  Idle is not the word for a run whose processes were stopped or gave up. Runs are answered in the order in
//  which they were named.
static int
check_idle (const struct ag_words *names, struct ag_str answer, struct ag_err *err)
{
    struct ag_str run;
    struct ag_items runs = ag_items (answer, "runs");
    for (size_t i = 0; i < names->n && ag_items_next (&runs, &run); i++) {
        struct ag_str state = ag_pick_text (run, "state");
        const char *name = names->p[i];
        if (ag_str_is (state, "failed") || ag_str_is (state, "stopped"))
            return ag_fail (
                err, AG_E_FAILED,
                "%s is %.*s: `agsup output %s` and `agsup status` say why, `agsup start %s` "
                "goes on",
                name, AG_STR_ARG (state), name, name);
    }
    return 0;
}

void
ag_client_say_idle (struct ag_client *self, struct ag_str answer)
{
    struct ag_str run, one;
    for (struct ag_items runs = ag_items (answer, "runs"); ag_items_next (&runs, &run);) {
        struct ag_str name = ag_pick_called (run, "label", "run"),
                      spent = ag_pick_text (run, "exhausted_by");
        if (spent.n) {
            ag_client_remark (self,
                              "%.*s stopped: %.*s is used up. Raise it in the configuration, then "
                              "`agsup down` and `agsup up`; or fork with --budget.",
                              AG_STR_ARG (name), AG_STR_ARG (spent));
            self->status = ag_code_status (AG_E_BUDGET);
        }
        for (struct ag_items items = ag_items (run, "approvals"); ag_items_next (&items, &one);) {
            struct ag_str id = ag_pick_text (one, "approval_id");
            ag_client_remark (self, "%.*s (%.*s) waits: agsup approve %.*s %.*s", AG_STR_ARG (id),
                              AG_STR_ARG (ag_pick_text (one, "object_type")), AG_STR_ARG (name),
                              AG_STR_ARG (id));
            if (!self->status)
                self->status = ag_code_status (AG_E_WAITING);
        }
    }
}

static int
say_failures (struct ag_client *self, struct ag_str run, uint64_t after, struct ag_err *err)
{
    struct ag_buf answer = {0};
    struct ag_msg msg = {.type = AG_MSG_log,
                         .log = {.run = run,
                                 .after = after,
                                 .limit = AG_LOOKED_EVENTS,
                                 .type = AG_LIT ("behavior.failed"),
                                 .tail = AG_LOOKED_EVENTS}};
    int rc = ag_client_read (self, &msg, &answer, err);
    uint32_t count = rc ? 0 : ag_items_count (ag_buf_str (&answer), "events");
    if (count)
        ag_client_remark (self, "%" PRIu32 " invocation%s failed: agsup failures %.*s", count,
                          ag_look_s (count), AG_STR_ARG (run));
    ag_buf_fini (&answer);
    return rc;
}

int
ag_client_say_failures (struct ag_client *self, struct ag_str answer, uint64_t after,
                        struct ag_err *err)
{
    struct ag_str run;
    struct ag_items runs = ag_items (answer, "runs");
    int rc = 0;
    if (self->look.quiet || self->look.json)
        return 0;
    for (size_t i = 0; i < TOLD_RUNS && !rc && ag_items_next (&runs, &run); i++) {
        uint64_t cut = ag_pick_seq (run, "forked_at_event");
        rc = say_failures (self, ag_pick_called (run, "label", "run"), after > cut ? after : cut,
                           err);
    }
    return rc;
}

int
ag_client_wait (struct ag_client *self, const struct ag_words *runs, bool ended,
                struct ag_buf *answer, struct ag_err *err)
{
    struct ag_buf list = {0};
    put_runs (runs, &list);
    struct ag_msg msg = {.type = AG_MSG_wait, .wait = {.runs = ag_buf_str (&list), .ended = ended}};
    int rc = 0;
    do {
        ag_client_progress (self, "waiting for %s%s to be %s", runs->p[0],
                            runs->n > 1 ? " and others" : "", ended ? "ended" : "idle");
        int64_t left = ag_client_left_ms (self, FOR_EVER_MS);
        msg.wait.wait_ms = (uint64_t)(left < POLL_MS ? left : POLL_MS);
        rc = ag_client_poll (self, &msg, msg.wait.wait_ms, answer, err);
        if (!rc && !ag_pick_bool (ag_buf_str (answer), "done") && !left)
            rc = ag_fail (err, AG_E_TIMEOUT, "%s%s not %s after %.3f s", runs->p[0],
                          runs->n > 1 ? " and others" : "", ended ? "ended" : "idle",
                          (double)timeout_ms (self, FOR_EVER_MS) / 1000);
    } while (!rc && !ag_pick_bool (ag_buf_str (answer), "done"));
    ag_client_progress (self, NULL);
    ag_buf_fini (&list);
    if (!rc && !ended)
        rc = check_idle (runs, ag_buf_str (answer), err);
    return rc;
}

int
ag_client_show (struct ag_client *self, const struct ag_msg *msg, ag_print_fn *print,
                struct ag_err *err)
{
    struct ag_buf answer = {0};
    int rc = ag_client_ask (self, msg, &answer, err);
    if (!rc && self->look.json)
        ag_client_document (self, ag_buf_str (&answer));
    else if (!rc)
        print (&self->look, ag_buf_str (&answer));
    ag_buf_fini (&answer);
    return rc;
}

void
ag_client_document (const struct ag_client *self, struct ag_str answer)
{
    struct ag_buf out = {0};
    ag_pick_rest (answer, (const char *const[]){"do", "id", NULL}, &out);
    ag_look_json (&self->look, ag_buf_str (&out));
    ag_buf_fini (&out);
}

void
ag_client_progress (const struct ag_client *self, const char *format, ...)
{
    if (!self->look.progress)
        return;
    va_list list;
    va_start (list, format);
    fputs ("\r\033[K", stderr);
    if (format)
        vfprintf (stderr, format, list);
    va_end (list);
}

void
ag_client_remark (const struct ag_client *self, const char *format, ...)
{
    if (self->look.quiet)
        return;
    va_list list;
    va_start (list, format);
    char *whole = NULL;
    int n = vasprintf (&whole, format, list);
    va_end (list);
    assert (n >= 0);
    ag_look_lines (stderr, ag_str (whole));
    fputc ('\n', stderr);
    free (whole);
}

void
ag_client_warn_not_kept (const struct ag_client *self, struct ag_str answer)
{
    struct ag_str text;
    for (struct ag_texts texts = ag_texts_of (answer, "not_kept"); ag_texts_next (&texts, &text);)
        ag_client_remark (self, "What was set is not kept: %.*s", AG_STR_ARG (text));
}
