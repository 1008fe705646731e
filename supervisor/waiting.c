//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/waiting.h"

//  The last part of the type of the event that decided: "applied", "granted".
static struct ag_str
status_of (const struct ag_event *event)
{
    struct ag_str type = event->type;
    for (size_t i = type.n; i > 0; i--)
        if (type.p[i - 1] == '.')
            return (struct ag_str){type.p + i, type.n - i};
    return type;
}

static const char *
name_of (enum ag_entity_kind kind)
{
    return kind == AG_PATCH ? "patch" : "approval";
}

//  Nothing waits under this id, or it is of the other kind, which is decided otherwise.
static int
refuse (ag_journal_t *journal, const struct ag_run *run, enum ag_entity_kind kind, struct ag_str id,
        struct ag_err *err)
{
    struct ag_tip tip = {0};
    int rc = kind == AG_APPROVAL ? ag_state_tip (journal, run, AG_PATCH, id, AG_NOW, &tip, err) : 0;
    ag_tip_fini (&tip);
    if (rc > 0)
        ag_fail (err, AG_E_BAD_OPERATION,
                 "%.*s is a proposed patch, which `agsup apply` decides: {\"op\":\"apply_patch\","
                 "\"patch\":\"%.*s\"}, or reject_patch",
                 AG_STR_ARG (id), AG_STR_ARG (id));
    else if (rc == 0)
        ag_fail (err, AG_E_NOT_FOUND, "nothing was proposed as %s `%.*s`", name_of (kind),
                 AG_STR_ARG (id));
    return -1;
}

int
ag_waiting_find (ag_journal_t *journal, const struct ag_run *run, enum ag_entity_kind kind,
                 struct ag_str id, struct ag_buf *hold, struct ag_event *event, struct ag_err *err)
{
    struct ag_tip tip = {0};
    int rc = ag_state_tip (journal, run, kind, id, AG_NOW, &tip, err);
    if (rc == 0)
        rc = refuse (journal, run, kind, id, err);
    else if (rc > 0)
        rc = ag_journal_read (journal, tip.holder, tip.live ? tip.created : tip.seq, hold, event,
                              err);
    if (!rc && !tip.live)
        rc = ag_fail (err, AG_E_DECIDED, "%s `%.*s` is %.*s already", name_of (kind),
                      AG_STR_ARG (id), AG_STR_ARG (status_of (event)));
    ag_tip_fini (&tip);
    return rc;
}
