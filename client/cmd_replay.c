//  Running a log again: replay.
//  SPDX-License-Identifier: Apache-2.0
#include "client/client.h"
#include "client/print.h"

#include <inttypes.h>

enum { POLL_MS = 1000 };

static void
show (struct ag_client *self, struct ag_str answer)
{
    struct ag_buf out = {0};
    ag_pick_rest (answer, (const char *const[]){"do", "id", "done", "seen", "until", NULL}, &out);
    (self->look.json ? ag_look_json : ag_print_replay) (&self->look, ag_buf_str (&out));
    if (ag_pick (answer, "divergence").p && ag_kind_of (ag_pick (answer, "divergence")) == AG_MAP)
        self->status = ag_code_status (AG_E_CONFLICT);
    ag_buf_fini (&out);
}

//  Until it is over, or --timeout ends it; without it for as long as it takes.
static int
await (struct ag_client *self, struct ag_msg *msg, struct ag_buf *answer, struct ag_err *err)
{
    int64_t timeout = ag_client_timeout_ms (self, INT64_MAX / 2), begin = ag_ask_clock_ms();
    int rc = 0;
    bool done = false;
    while (!rc && !done) {
        int64_t left = begin + timeout - ag_ask_clock_ms();
        msg->replay.wait_ms = (uint64_t)(left < POLL_MS ? (left > 0 ? left : 0) : POLL_MS);
        rc = ag_client_poll (self, msg, msg->replay.wait_ms, answer, err);
        struct ag_str said = ag_buf_str (answer);
        done = ag_pick_bool (said, "done");
        if (!rc && !done)
            ag_client_progress (self, "%" PRIu64 " of %" PRIu64 " events, %" PRIu64 " invocations",
                                ag_pick_uint (said, "seen"), ag_pick_uint (said, "until"),
                                ag_pick_uint (said, "invocations"));
        if (!rc && !done && left <= 0)
            rc = ag_fail (err, AG_E_TIMEOUT, "the replay of %.*s is not done after %.3f s",
                          AG_STR_ARG (msg->replay.run), (double)timeout / 1000);
    }
    ag_client_progress (self, NULL);
    return rc;
}

static int
replay_strictly (struct ag_client *self, const char *run, struct ag_err *err)
{
    uint8_t random[16];
    char ticket[2 * sizeof random + 1];
    struct ag_buf answer = {0};
    ag_random (random, sizeof random);
    ag_hex (random, sizeof random, ticket);
    const char *named = self->call->change.request_id;
    struct ag_msg msg = {
        .type = AG_MSG_replay,
        .replay = {.run = ag_str (run), .ticket = ag_str (named ? named : ticket)}};
    int rc = await (self, &msg, &answer, err);
    if (!rc)
        show (self, ag_buf_str (&answer));
    ag_buf_fini (&answer);
    return rc;
}

int
ag_cmd_replay (struct ag_client *self, const struct ag_args_replay *args, struct ag_err *err)
{
    return args->strict ? replay_strictly (self, args->run, err)
                        : ag_again (self, args->run, "replay", true, err);
}
