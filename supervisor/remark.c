//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/remark.h"
#include "common/log.h"
#include "supervisor/queue.h"
#include "supervisor/unit.h"

#include <stdio.h>
#include <string.h>

static const char *
name_of (const struct ag_run *run)
{
    return run->label[0] ? run->label : run->id;
}

bool
ag_is_unattended (struct ag_house *house, const struct ag_run *run)
{
    return run->kind != AG_TRIAL && !run->discarded && !ag_fleet_unit (house, run->number, 0) &&
           !ag_queue_idle (house, run->number);
}

void
ag_remark_unattended (struct ag_house *house, const struct ag_run *run, struct ag_answer *answer)
{
    if (!ag_is_unattended (house, run))
        return;
    ag_answer_key (answer, "remark");
    ag_put_textf (answer->out, "nobody works on %s: its agent is not in the configuration any more",
                  name_of (run));
}

void
ag_remark_busy (struct ag_house *house, const struct ag_run *fork, struct ag_answer *answer)
{
    if (fork->kind == AG_TRIAL ||
        ag_queue_idle (house, fork->number)) //  what has ended does no more
        return;
    ag_answer_key (answer, "remark");
    ag_put_textf (answer->out,
                  "%s has still work to do, and nothing of that is in this: `agsup wait %s` first",
                  name_of (fork), name_of (fork));
}

void
ag_remark_policy (struct ag_house *house, const struct ag_unit *unit, struct ag_buf *remark)
{
    struct ag_str name = ag_queue_policy_of_nobody (house, unit->run, ag_buf_str (&unit->spec));
    if (!name.p)
        return;
    ag_buf_text (remark, "the policy of `%.*s` is not in force: no behaviour has this name",
                 AG_STR_ARG (name));
    ag_log (AG_WARN, "unit=%s %.*s", unit->name, AG_STR_ARG (ag_buf_str (remark)));
}

void
ag_remark_set (struct ag_unit *unit, struct ag_str remark)
{
    snprintf (unit->remark, sizeof unit->remark, "%.*s", AG_STR_ARG (remark));
    ag_unit_mend (unit->remark); //  cut within a character
}
