//  Keeping: verify.
//  SPDX-License-Identifier: Apache-2.0
#include "client/client.h"
#include "client/print.h"

//  All pages as one document.
int
ag_cmd_verify (struct ag_client *self, const struct ag_args_verify *args, struct ag_err *err)
{
    struct ag_msg msg = {.type = AG_MSG_verify,
                         .verify = {.run = ag_str (args->run), .state = args->state}};
    struct ag_buf answer = {0}, out = {0}, runs = {0};
    struct ag_str run;
    uint32_t count = 0;
    bool ok = true, more = true;
    int rc;
    while (more && !(rc = ag_client_ask (self, &msg, &answer, err))) {
        struct ag_str page = ag_buf_str (&answer);
        for (struct ag_items items = ag_items (page, "runs"); ag_items_next (&items, &run); count++)
            ag_put_value (&runs, run);
        ok = ok && ag_pick_bool (page, "ok");
        more = ag_pick_uint (page, "next") > msg.verify.after;
        msg.verify.after = ag_pick_uint (page, "next");
        ag_client_progress (self, "%u runs checked", count);
    }
    ag_client_progress (self, NULL);
    ag_put_map (&out, 2);
    ag_put_lit (&out, "ok");
    ag_put_bool (&out, ok);
    ag_put_lit (&out, "runs");
    ag_put_list (&out, count);
    ag_buf_add_str (&out, ag_buf_str (&runs));
    if (!rc)
        (self->look.json ? ag_look_json : ag_print_verify) (&self->look, ag_buf_str (&out));
    self->status = ok ? 0 : ag_code_status (AG_E_CORRUPT);
    ag_buf_fini (&answer);
    ag_buf_fini (&out);
    ag_buf_fini (&runs);
    return rc;
}
