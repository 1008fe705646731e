//  Running a log again: replay.
//  SPDX-License-Identifier: Apache-2.0
#include "client/client.h"
#include "client/print.h"

#include <inttypes.h>
#include <string.h>

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

static void
show_progress (const struct ag_client *self, struct ag_str said)
{
    ag_client_progress (self, "%" PRIu64 " of %" PRIu64 " events, %" PRIu64 " invocations",
                        ag_pick_uint (said, "seen"), ag_pick_uint (said, "until"),
                        ag_pick_uint (said, "invocations"));
}

static int
replay_strictly (struct ag_client *self, const char *run, struct ag_err *err)
{
    char ticket[AG_TICKET_TEXT];
    struct ag_buf answer = {0};
    struct ag_msg msg = {
        .type = AG_MSG_replay,
        .replay = {.run = ag_str (run), .ticket = ag_client_ticket (self, ticket)}};
    int rc = ag_client_await (self, &msg, &msg.replay.wait_ms, "the replay", show_progress, &answer,
                              err);
    if (!rc)
        show (self, ag_buf_str (&answer));
    ag_buf_fini (&answer);
    return rc;
}

int
ag_cmd_replay (struct ag_client *self, const struct ag_args_replay *args, struct ag_err *err)
{
    if (args->strict && strchr (args->run, '@'))
        return ag_fail (err, AG_E_USAGE,
                        "--strict takes a run, from its beginning, and no point: %s", args->run);
    return args->strict ? replay_strictly (self, args->run, err)
                        : ag_again (self, args->run, "replay", true, err);
}
