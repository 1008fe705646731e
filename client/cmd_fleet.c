//  The fleet as it is: status, tree, start, stop, restart, wait.
//  SPDX-License-Identifier: Apache-2.0
#include "client/client.h"
#include "client/print.h"

int
ag_cmd_status (struct ag_client *self, const struct ag_args_status *args, struct ag_err *err)
{
    (void)args;
    return ag_client_show (self, &(struct ag_msg){.type = AG_MSG_status}, ag_print_status, err);
}

//  The number in a run's id ("r3f"): where the next page of the tree begins.
static uint64_t
number_of (struct ag_str run)
{
    uint64_t number = 0;
    if (run.n > 1)
        (void)ag_base32_read ((struct ag_str){run.p + 1, run.n - 1}, &number);
    return number;
}

//  All pages of the tree as one list.
static int
read_tree (struct ag_client *self, bool all, struct ag_buf *list, struct ag_err *err)
{
    struct ag_msg msg = {.type = AG_MSG_tree, .tree = {.all = all}};
    struct ag_buf answer = {0};
    struct ag_str run;
    size_t at = ag_open_list (list);
    uint32_t count = 0;
    int rc = 0;
    bool more = true;
    while (more && !rc && !(rc = ag_client_ask (self, &msg, &answer, err))) {
        uint64_t next = ag_pick_uint (ag_buf_str (&answer), "after"), last = 0;
        for (struct ag_items items = ag_items (ag_buf_str (&answer), "runs");
             ag_items_next (&items, &run); count++) {
            ag_put_value (list, run);
            last = number_of (ag_pick_text (run, "run"));
        }
        more = ag_pick_bool (ag_buf_str (&answer), "more"); //  hidden ones may have come last
        rc = ag_client_go_on (more, next > last ? next : last, &msg.tree.after, err);
    }
    ag_close (list, at, count);
    ag_buf_fini (&answer);
    return rc;
}

int
ag_cmd_tree (struct ag_client *self, const struct ag_args_tree *args, struct ag_err *err)
{
    struct ag_buf runs = {0}, out = {0};
    int rc = read_tree (self, args->all, &runs, err);
    if (!rc && self->look.json) {
        ag_put_map (&out, 1);
        ag_put_lit (&out, "runs");
        ag_put_value (&out, ag_buf_str (&runs));
        ag_look_json (&self->look, ag_buf_str (&out));
    } else if (!rc)
        ag_print_tree (&self->look, ag_buf_str (&runs));
    ag_buf_fini (&runs);
    ag_buf_fini (&out);
    return rc;
}

//  A unit starts with the packs as they were loaded.
static void
warn_changed (const struct ag_client *self, struct ag_str unit)
{
    struct ag_str dir, name = ag_pick_text (unit, "name");
    for (struct ag_texts dirs = ag_texts_of (unit, "changed"); ag_texts_next (&dirs, &dir);)
        ag_client_remark (
            self,
            "It has its packs as they were loaded, and the files of %.*s are other ones "
            "now: `agsup pack load %.*s %.*s` puts them in force.",
            AG_STR_ARG (dir), AG_STR_ARG (name), AG_STR_ARG (dir));
}

//  For a person the word that it is done is a remark: "auditor is stopped".
static int
order (struct ag_client *self, const struct ag_msg *msg, struct ag_err *err)
{
    struct ag_buf answer = {0};
    int rc = ag_client_ask (self, msg, &answer, err);
    struct ag_str unit = ag_buf_str (&answer);
    if (!rc && self->look.json)
        ag_client_document (self, unit);
    else if (!rc) {
        ag_client_remark (self, "%.*s is %.*s", AG_STR_ARG (ag_pick_text (unit, "name")),
                          AG_STR_ARG (ag_pick_text (unit, "state")));
        warn_changed (self, unit);
    }
    ag_buf_fini (&answer);
    return rc;
}

int
ag_cmd_start (struct ag_client *self, const struct ag_args_start *args, struct ag_err *err)
{
    return order (self, &(struct ag_msg){.type = AG_MSG_start, .start = {ag_str (args->run)}}, err);
}

int
ag_cmd_stop (struct ag_client *self, const struct ag_args_stop *args, struct ag_err *err)
{
    return order (self, &(struct ag_msg){.type = AG_MSG_stop, .stop = {ag_str (args->run)}}, err);
}

int
ag_cmd_restart (struct ag_client *self, const struct ag_args_restart *args, struct ag_err *err)
{
    return order (self, &(struct ag_msg){.type = AG_MSG_restart, .restart = {ag_str (args->run)}},
                  err);
}

int
ag_cmd_wait (struct ag_client *self, const struct ag_args_wait *args, struct ag_err *err)
{
    if (args->idle && args->ended)
        return ag_fail (err, AG_E_USAGE, "wait: --idle and --ended exclude each other");
    struct ag_buf answer = {0};
    int rc = ag_client_wait (self, &args->runs, args->ended, &answer, err);
    if (!rc && self->look.json)
        ag_client_document (self, ag_buf_str (&answer));
    else if (!rc)
        ag_print_states (&self->look, ag_buf_str (&answer));
    if (!rc && !args->ended) {
        ag_client_say_idle (self, ag_buf_str (&answer));
        rc = ag_client_say_failures (self, ag_buf_str (&answer), 0, err);
    }
    ag_buf_fini (&answer);
    return rc;
}
