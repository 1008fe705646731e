//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/plan.h"
#include "common/json.h"

enum { WARNINGS = 100 }; //  kept of one promote; the rest is counted

struct search {
    struct ag_str name, version; //  version p NULL: any
    bool found;
};

struct warner {
    ag_journal_t *journal;
    const struct ag_run *parent, *fork;
    enum ag_entity_kind kind; //  of what waits
    ag_plan_t *plan;
    size_t more;
    struct ag_err *err;
    int rc;
};

static void
warn (struct warner *self, struct ag_str text)
{
    ag_plan_t *plan = self->plan;
    if (plan->warning_count == WARNINGS) {
        self->more++;
        return;
    }
    if (plan->warning_count == plan->warning_room) {
        plan->warning_room = plan->warning_room ? plan->warning_room * 2 : 8;
        plan->warnings = ag_xrealloc (plan->warnings, plan->warning_room * sizeof *plan->warnings);
    }
    plan->warnings[plan->warning_count++] = text;
}

static struct ag_str
text_of (struct ag_str map, const char *key)
{
    struct ag_str text;
    return ag_map_text (map, key, &text) ? AG_LIT ("?") : text;
}

static bool
is_same_pack (void *arg, const struct ag_event *event)
{
    struct search *search = arg;
    search->found =
        ag_str_eq (text_of (event->payload, "name"), search->name) &&
        (!search->version.p || ag_str_eq (text_of (event->payload, "version"), search->version));
    return !search->found;
}

//  Anywhere in the parent's log, inherited events included.
static int
parent_loaded (struct warner *self, struct search *search)
{
    uint64_t until = self->parent->head.tip;
    for (const struct ag_run *level = self->parent; level && !search->found; level = level->above) {
        if (ag_journal_scan_type (self->journal, level, ag_type_name (AG_EV_PACK_LOADED),
                                  level->cut, until, is_same_pack, search, self->err))
            return -1;
        until = until < level->cut ? until : level->cut;
    }
    return 0;
}

static bool
warn_of_pack (void *arg, const struct ag_event *event)
{
    struct warner *self = arg;
    struct search search = {text_of (event->payload, "name"), text_of (event->payload, "version"),
                            false};
    self->rc = parent_loaded (self, &search);
    if (!self->rc && !search.found)
        warn (self, ag_plan_text (self->plan,
                                  "the fork loaded pack %.*s@%.*s; code is never adopted, load it "
                                  "into the parent explicitly (`agsup pack load`)",
                                  AG_STR_ARG (search.name), AG_STR_ARG (search.version)));
    return !self->rc;
}

//  What the fork made with a pack goes where nobody looks after it any more.
static bool
warn_of_disabled (void *arg, const struct ag_event *event)
{
    struct warner *self = arg;
    struct search again = {.name = text_of (event->payload, "name")};
    self->rc =
        ag_journal_scan_type (self->journal, self->parent, ag_type_name (AG_EV_PACK_LOADED),
                              event->seq, self->parent->head.tip, is_same_pack, &again, self->err);
    if (!self->rc && !again.found)
        warn (self, ag_plan_text (
                        self->plan,
                        "the parent has put pack %.*s out of force since the cut; load it there "
                        "again if what the fork made with it is to be looked after",
                        AG_STR_ARG (again.name)));
    return !self->rc;
}

//  "a.b=v, c.d=w", or the overrides as they are when nothing was assigned.
static void
list_assignments (struct ag_str payload, struct ag_buf *out)
{
    struct ag_str list;
    struct ag_head head, text;
    if (!ag_map_get (payload, "assignments", &list)) {
        struct ag_cursor in = ag_cursor (list);
        bool some = !ag_next (&in, &head) && head.kind == AG_LIST && head.count;
        for (uint32_t i = 0; some && i < head.count; i++) {
            if (ag_next (&in, &text) || text.kind != AG_TEXT)
                break;
            ag_buf_text (out, "%s%.*s", i ? ", " : "", AG_STR_ARG (text.s));
        }
    }
    if (out->n == 0 && !ag_map_get (payload, "overrides", &list))
        ag_json_write (list, AG_JSON_LINE, out);
}

static bool
warn_of_settings (void *arg, const struct ag_event *event)
{
    struct warner *self = arg;
    struct ag_buf list = {0};
    struct ag_str pack = text_of (event->payload, "pack");
    list_assignments (event->payload, &list);
    warn (self, ag_plan_text (self->plan,
                              "settings override of pack %.*s in the fork is not adopted: %.*s; "
                              "to keep it, write it into the parent's settings in the "
                              "configuration and start the fleet anew",
                              AG_STR_ARG (pack), AG_STR_ARG (ag_buf_str (&list))));
    ag_buf_fini (&list);
    return true;
}

//  What was proposed in the fork and waits there stays there. What waited at the cut waits in the parent too.
static bool
warn_of_waiting (void *arg, struct ag_str id)
{
    struct warner *self = arg;
    struct ag_tip tip = {0};
    self->rc = ag_state_tip (self->journal, self->fork, self->kind, id, AG_NOW, &tip, self->err);
    if (self->rc > 0 && tip.created > self->fork->cut)
        warn (self, ag_plan_text (self->plan,
                                  self->kind == AG_PATCH
                                      ? "%.*s is proposed in the fork and not decided; it is not "
                                        "adopted: decide it there and promote again"
                                      : "%.*s waits for an approval in the fork; it is not "
                                        "adopted: decide it there and promote again",
                                  AG_STR_ARG (id)));
    self->rc = self->rc < 0 ? -1 : 0;
    ag_tip_fini (&tip);
    return !self->rc;
}

static int
warn_of_all_waiting (struct warner *self)
{
    static const enum ag_entity_kind kinds[] = {AG_APPROVAL, AG_PATCH};
    for (size_t i = 0; i < 2; i++) {
        self->kind = kinds[i];
        if (ag_state_waiting (self->journal, self->fork, kinds[i], AG_NOW, (struct ag_str){0},
                              warn_of_waiting, self, self->err) ||
            self->rc)
            return -1;
    }
    return 0;
}

int
ag_plan_warn (ag_journal_t *journal, const struct ag_run *fork, ag_plan_t *plan, struct ag_err *err)
{
    struct warner self = {
        .journal = journal, .parent = fork->above, .fork = fork, .plan = plan, .err = err};
    if (ag_journal_scan_type (journal, fork, ag_type_name (AG_EV_PACK_LOADED), fork->cut,
                              fork->head.tip, warn_of_pack, &self, err) ||
        self.rc ||
        ag_journal_scan_type (journal, fork->above, ag_type_name (AG_EV_PACK_DISABLED), fork->cut,
                              fork->above->head.tip, warn_of_disabled, &self, err) ||
        self.rc ||
        ag_journal_scan_type (journal, fork, ag_type_name (AG_EV_PACK_SETTINGS_OVERRIDDEN),
                              fork->cut, fork->head.tip, warn_of_settings, &self, err) ||
        warn_of_all_waiting (&self))
        return -1;
    if (self.more)
        plan->warnings[WARNINGS - 1] = ag_plan_text (plan, "... and %zu more", self.more + 1);
    return 0;
}
