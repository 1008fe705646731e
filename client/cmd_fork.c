//  Forks: fork, diff, promote.
//  SPDX-License-Identifier: Apache-2.0
#include "client/client.h"
#include "client/print.h"
#include "common/json.h"
#include "common/pack.h"

#include <string.h>

//  PACK.KEY=VALUE taken apart; the key may hold points, the pack may not.
struct setting {
    struct ag_str pack, key;
    const char *value;
};

static int
read_setting (const char *text, struct setting *out, struct ag_err *err)
{
    const char *dot = strchr (text, '.'), *equals = strchr (text, '=');
    if (!dot || !equals || dot == text || equals <= dot + 1)
        return ag_fail (err, AG_E_USAGE, "--set is \"%s\", not PACK.KEY=VALUE", text);
    out->pack = (struct ag_str){text, (size_t)(dot - text)};
    out->key = (struct ag_str){dot + 1, (size_t)(equals - dot - 1)};
    out->value = equals + 1;
    return 0;
}

//  JSON, or else the text as it is.
static void
put_setting_value (struct ag_buf *out, const char *text)
{
    struct ag_err err;
    size_t before = out->n;
    if (ag_json_read (ag_str (text), out, &err)) {
        out->n = before;
        ag_put_lit (out, text);
    }
}

static bool
is_pack_before (const struct ag_words *words, size_t i, struct ag_str pack)
{
    struct setting other;
    struct ag_err err;
    for (size_t k = 0; k < i; k++)
        if (!read_setting (words->p[k], &other, &err) && ag_str_eq (other.pack, pack))
            return true;
    return false;
}

//  All settings of one pack, from its first on.
static int
put_pack_settings (const struct ag_words *words, size_t first, struct ag_str pack,
                   struct ag_buf *out, struct ag_err *err)
{
    struct setting setting;
    uint32_t keys = 0;
    size_t at = ag_open_map (out);
    for (size_t i = first; i < words->n; i++) {
        if (read_setting (words->p[i], &setting, err))
            return -1;
        if (!ag_str_eq (setting.pack, pack))
            continue;
        ag_put_text (out, setting.key);
        put_setting_value (out, setting.value);
        keys++;
    }
    ag_close (out, at, keys);
    return 0;
}

//  {pack: {key: value}}
static int
put_settings (const struct ag_words *words, struct ag_buf *out, struct ag_err *err)
{
    struct setting setting;
    uint32_t packs = 0;
    size_t at = ag_open_map (out);
    for (size_t i = 0; i < words->n; i++) {
        if (read_setting (words->p[i], &setting, err))
            return -1;
        if (is_pack_before (words, i, setting.pack))
            continue;
        ag_put_text (out, setting.pack);
        if (put_pack_settings (words, i, setting.pack, out, err))
            return -1;
        packs++;
    }
    ag_close (out, at, packs);
    return 0;
}

static int
put_packs (const struct ag_words *words, struct ag_buf *out, struct ag_err *err)
{
    ag_put_list (out, (uint32_t)words->n);
    for (size_t i = 0; i < words->n; i++)
        if (ag_pack_bundle (words->p[i], (struct ag_str){0}, out, err))
            return -1;
    return 0;
}

//  {KEY: value}, as many as there are KEY=VALUE.
static int
put_budget (const struct ag_words *words, struct ag_buf *out, struct ag_err *err)
{
    ag_put_map (out, (uint32_t)words->n);
    for (size_t i = 0; i < words->n; i++) {
        const char *text = words->p[i], *equals = strchr (text, '=');
        if (!equals || equals == text)
            return ag_fail (err, AG_E_USAGE, "--budget is \"%s\", not KEY=VALUE", text);
        struct ag_str key = {text, (size_t)(equals - text)};
        ag_put_text (out, key);
        if (ag_str_is (key, "max_cost_usd"))
            ag_put_lit (out, equals + 1);
        else
            put_setting_value (out, equals + 1);
    }
    return 0;
}

static void
print_id (struct ag_str run)
{
    ag_look_text (stdout, ag_pick_text (run, "run_id"));
    fputc ('\n', stdout);
}

static void
show_forks (struct ag_client *self, struct ag_str answer)
{
    struct ag_str forks = ag_pick (answer, "forks"),
                  fork; //  of --count; else the answer is the run
    if (self->look.json && forks.p)
        ag_look_json (&self->look, forks);
    else if (self->look.json)
        ag_client_document (self, answer);
    else if (!forks.p)
        print_id (answer);
    else
        for (struct ag_items items = ag_items_of (forks); ag_items_next (&items, &fork);)
            print_id (fork);
    if (!self->look.json)
        ag_client_warn_not_kept (self, answer);
}

int
ag_cmd_fork (struct ag_client *self, const struct ag_args_fork *args, struct ag_err *err)
{
    struct ag_buf set = {0}, packs = {0}, budget = {0}, answer = {0};
    struct ag_msg msg = {.type = AG_MSG_fork,
                         .fork = {.point = ag_str (args->point),
                                  .label = ag_str (args->label),
                                  .goal = ag_str (args->goal),
                                  .count = args->count,
                                  .effects = ag_str (args->effects),
                                  .ids = ag_str (args->ids),
                                  .no_start = args->no_start}};
    int rc = put_settings (&args->set, &set, err) || put_packs (&args->packs, &packs, err) ||
                     put_budget (&args->budget, &budget, err)
                 ? -1
                 : 0;
    if (args->set.n)
        msg.fork.set = ag_buf_str (&set);
    if (args->packs.n)
        msg.fork.packs = ag_buf_str (&packs);
    if (args->budget.n)
        msg.fork.budget = ag_buf_str (&budget);
    if (!rc)
        rc = ag_client_ask (self, &msg, &answer, err);
    if (!rc)
        show_forks (self, ag_buf_str (&answer));
    ag_buf_fini (&set);
    ag_buf_fini (&packs);
    ag_buf_fini (&budget);
    ag_buf_fini (&answer);
    return rc;
}

int
ag_cmd_diff (struct ag_client *self, const struct ag_args_diff *args, struct ag_err *err)
{
    struct ag_msg msg = {.type = AG_MSG_diff,
                         .diff = {.a = ag_str (args->a), .b = ag_str (args->b)}};
    return ag_client_show (self, &msg, ag_print_diff, err);
}

//  What to do about a plan that cannot be applied.
static void
advise (struct ag_client *self, struct ag_str plan)
{
    struct ag_str fork = ag_pick_called (plan, "from_label", "from_run"),
                  parent = ag_pick_called (plan, "into_label", "into_run");
    if (ag_items_count (plan, "conflicts"))
        ag_client_remark (
            self,
            "`agsup diff %.*s %.*s` shows both sides. `agsup fork %.*s` forks again from "
            "the tip, to make the change there; there is no force.",
            AG_STR_ARG (parent), AG_STR_ARG (fork), AG_STR_ARG (parent));
    if (ag_items_count (plan, "violations"))
        ag_client_remark (self, "Change in %.*s what a schema refuses, and promote again.",
                          AG_STR_ARG (fork));
}

int
ag_cmd_promote (struct ag_client *self, const struct ag_args_promote *args, struct ag_err *err)
{
    struct ag_msg msg = {.type = AG_MSG_promote,
                         .promote = {ag_str (args->fork), args->dry_run, ag_str (args->expect)}};
    struct ag_buf answer = {0};
    int rc = ag_client_ask (self, &msg, &answer, err);
    struct ag_str plan = ag_buf_str (&answer);
    if (!rc && self->look.json)
        ag_client_document (self, plan);
    else if (!rc) {
        ag_print_plan (&self->look, plan);
        advise (self, plan);
    }
    if (!rc && !ag_pick_bool (plan, "is_promotable"))
        self->status = ag_code_status (AG_E_CONFLICT);
    ag_buf_fini (&answer);
    return rc;
}
