//  Packs of runs: list, load, disable.
//  SPDX-License-Identifier: Apache-2.0
#include "client/client.h"
#include "client/pick.h"
#include "client/print.h"
#include "common/pack.h"

int
ag_cmd_pack_list (struct ag_client *self, const struct ag_args_pack_list *args, struct ag_err *err)
{
    struct ag_msg msg = {.type = AG_MSG_packs, .packs = {.run = ag_str (args->run)}};
    return ag_client_show (self, &msg, ag_print_packs, err);
}

static void
show_loaded (struct ag_client *self, const char *dir, struct ag_str answer)
{
    if (!ag_pick_text (answer, "event_id").n) {
        ag_client_remark (self, "It is in force already, as it is.");
        return;
    }
    ag_look_text (stdout, ag_pick_text (answer, "event_id"));
    putchar ('\n');
    ag_client_warn_not_kept (self, answer);
    if (ag_pick_bool (answer, "until_up"))
        ag_client_remark (
            self,
            "The next `agsup up` loads the packs that agsup.toml names, as they are then: %s "
            "stays if it is one of them.",
            dir);
}

int
ag_cmd_pack_load (struct ag_client *self, const struct ag_args_pack_load *args, struct ag_err *err)
{
    struct ag_buf packs = {0}, answer = {0};
    ag_put_list (&packs, 1);
    int rc = ag_pack_bundle (args->dir, ag_str (args->pin), &packs, err);
    struct ag_msg msg = {.type = AG_MSG_pack_load,
                         .pack_load = {ag_str (args->run), ag_buf_str (&packs)}};
    if (!rc)
        rc = ag_client_ask (self, &msg, &answer, err);
    if (!rc && self->look.json)
        ag_client_document (self, ag_buf_str (&answer));
    else if (!rc)
        show_loaded (self, args->dir, ag_buf_str (&answer));
    ag_buf_fini (&packs);
    ag_buf_fini (&answer);
    return rc;
}

int
ag_cmd_pack_disable (struct ag_client *self, const struct ag_args_pack_disable *args,
                     struct ag_err *err)
{
    struct ag_msg msg = {.type = AG_MSG_pack_disable,
                         .pack_disable = {ag_str (args->run), ag_str (args->pack)}};
    struct ag_buf answer = {0};
    int rc = ag_client_ask (self, &msg, &answer, err);
    if (!rc && self->look.json)
        ag_client_document (self, ag_buf_str (&answer));
    else if (!rc && !ag_pick_bool (ag_buf_str (&answer), "disabled"))
        ag_client_remark (self, "%s is out of force in %s already.", args->pack, args->run);
    else if (!rc)
        ag_client_remark (self,
                          "%s is out of force in %s. While the configuration names it, the next "
                          "`agsup up` loads it again.",
                          args->pack, args->run);
    ag_buf_fini (&answer);
    return rc;
}
