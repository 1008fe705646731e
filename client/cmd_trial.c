//  A candidate in a fork, under nets: trial.
//  SPDX-License-Identifier: Apache-2.0
#include "client/lines.h"
#include "client/print.h"
#include "common/json.h"
#include "common/pack.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//  DIR=PIN
static int
put_extra (const char *text, struct ag_buf *out, struct ag_err *err)
{
    const char *equals = strrchr (text, '=');
    if (!equals || equals == text)
        return ag_fail (err, AG_E_USAGE, "--extra is \"%s\", not DIR=sha256:HASH", text);
    char *dir = ag_xprintf ("%.*s", (int)(equals - text), text);
    int rc = ag_pack_bundle (dir, ag_str (equals + 1), out, err);
    free (dir);
    return rc;
}

static int
put_packs (const struct ag_args_trial *args, struct ag_buf *out, struct ag_err *err)
{
    if (!args->pack)
        return ag_fail (err, AG_E_USAGE, "a trial is of a pack: --pack DIR is missing");
    if (!args->pin)
        return ag_fail (err, AG_E_USAGE,
                        "a trial is of exact bytes: --pin is missing; `agsup pack hash %s` prints "
                        "it as the bundle hash",
                        args->pack);
    ag_put_list (out, (uint32_t)args->extras.n + 1);
    for (size_t i = 0; i < args->extras.n; i++)
        if (put_extra (args->extras.p[i], out, err))
            return -1;
    return ag_pack_bundle (args->pack, ag_str (args->pin), out, err);
}

static int
put_line (const struct ag_lines *lines, struct ag_str line, struct ag_buf *out, struct ag_err *err)
{
    if (ag_json_read_line (line, lines->number, out, err))
        return ag_wrap (err, "the scenario %s", lines->name);
    if (out->n > AG_BULK_BYTES)
        return ag_fail (err, AG_E_TOO_LARGE,
                        "the scenario %s, line %" PRIu64 ": more than %d bytes", lines->name,
                        lines->number, AG_BULK_BYTES);
    return 0;
}

//  The lines of a file, each a value, as a list.
static int
read_scenario (const struct ag_client *self, const char *path, struct ag_buf *out,
               struct ag_err *err)
{
    struct ag_lines lines;
    struct ag_str line;
    uint32_t count = 0;
    if (ag_lines_open (&lines, self, path, err))
        return -1;
    size_t list = ag_open_list (out);
    int rc;
    for (; (rc = ag_lines_next (&lines, &line, err)) > 0; count++)
        if ((rc = put_line (&lines, line, out, err)))
            break;
    ag_close (out, list, count);
    ag_lines_close (&lines);
    return rc;
}

static int
begin (struct ag_client *self, const struct ag_args_trial *args, struct ag_buf *answer,
       struct ag_err *err)
{
    struct ag_buf packs = {0}, scenario = {0};
    struct ag_msg msg = {.type = AG_MSG_trial,
                         .trial = {.point = ag_str (args->point),
                                   .program = ag_str (args->program),
                                   .wall_ms = args->wall,
                                   .memory = args->memory,
                                   .events = args->events}};
    int rc = put_packs (args, &packs, err);
    if (!rc && args->scenario)
        rc = read_scenario (self, args->scenario, &scenario, err);
    msg.trial.packs = ag_buf_str (&packs);
    if (args->scenario)
        msg.trial.scenario = ag_buf_str (&scenario);
    if (!rc)
        rc = ag_client_ask (self, &msg, answer, err);
    ag_buf_fini (&packs);
    ag_buf_fini (&scenario);
    return rc;
}

static void
show_progress (const struct ag_client *self, struct ag_str said)
{
    (void)said;
    ag_client_progress (self, "the trial runs, %" PRId64 " s",
                        (ag_ask_clock_ms() - self->begun_ms) / 1000);
}

//  What to look at next; in a fork of which nothing ran there is nothing.
static void
advise (const struct ag_client *self, const char *dir, struct ag_str answer)
{
    struct ag_str outcome = ag_pick_text (answer, "outcome"),
                  run = ag_pick_text (answer, "fork_run_id");
    if (ag_str_is (outcome, "materialization_failed"))
        ag_client_remark (self,
                          "Nothing of it ran. `agsup pack check %s` names what is wrong with the "
                          "pack, `agsup pack hash %s` prints its pin, `agsup discard %.*s` hides "
                          "the trial.",
                          dir, dir, AG_STR_ARG (run));
    else if (ag_pick_uint (answer, "behavior_failures"))
        ag_client_remark (self,
                          "`agsup failures %.*s` shows what broke, `agsup log %.*s` what it did.",
                          AG_STR_ARG (run), AG_STR_ARG (run));
    else
        ag_client_remark (self, "`agsup log %.*s` shows what it did.", AG_STR_ARG (run));
    if (ag_str_is (outcome, "completed"))
        ag_client_remark (self,
                          "`agsup promote %.*s --dry-run` shows what adopting it would change.",
                          AG_STR_ARG (run));
}

static void
show (struct ag_client *self, const char *dir, struct ag_str answer)
{
    struct ag_buf report = {0};
    struct ag_str outcome = ag_pick_text (answer, "outcome");
    ag_pick_rest (answer, (const char *const[]){"do", "id", "done", NULL}, &report);
    (self->look.json ? ag_look_json : ag_print_trial) (&self->look, ag_buf_str (&report));
    if (!self->look.json)
        advise (self, dir, answer);
    if (!ag_str_is (outcome, "completed"))
        self->status = ag_str_is (outcome, "limits_exceeded") ? ag_code_status (AG_E_NET) : 1;
    ag_buf_fini (&report);
}

int
ag_cmd_trial (struct ag_client *self, const struct ag_args_trial *args, struct ag_err *err)
{
    struct ag_buf begun = {0}, answer = {0};
    int rc = begin (self, args, &begun, err);
    struct ag_msg msg = {.type = AG_MSG_tried,
                         .tried = {.run = ag_pick_text (ag_buf_str (&begun), "run_id")}};
    if (!rc)
        rc = ag_client_await (self, &msg, &msg.tried.wait_ms, "the trial", show_progress, &answer,
                              err);
    if (!rc)
        show (self, args->pack, ag_buf_str (&answer));
    ag_buf_fini (&begun);
    ag_buf_fini (&answer);
    return rc;
}
