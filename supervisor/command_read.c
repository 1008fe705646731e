//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/commands.h"
#include "supervisor/cursor.h"
#include "supervisor/diff.h"
#include "supervisor/fleet.h"
#include "supervisor/state.h"

#include <string.h>

enum { PAGE_EVENTS = 500 };

//  A page of events: what fits, and where to go on.
struct page {
    struct ag_command *command;
    ag_journal_t *journal;
    struct ag_str type; //  p NULL: any
    uint64_t run;       //  0: any
    uint64_t limit, count, looked;
    uint64_t after; //  the last one looked at
    bool more;
    bool failures;                 //  of any type that tells of one
    const struct ag_run *shown_as; //  the run whose log is asked for; NULL: each event's own
    const struct ag_unit *stuck;   //  whose process does not run; NULL: none
    struct ag_buf events;
};

//  What breaks in a run: failed invocations, refused workers, spent budgets, processes that were given up.
static bool
is_failure (enum ag_type type)
{
    return type == AG_EV_BEHAVIOR_FAILED || type == AG_EV_WORKER_REFUSED ||
           type == AG_EV_RUNTIME_BUDGET_EXHAUSTED || type == AG_EV_AGENT_GAVE_UP;
}

static bool
wanted (const struct page *page, const struct ag_event *event)
{
    return (!page->type.p || ag_str_eq (page->type, event->type)) &&
           (!page->run || page->run == event->run) &&
           (!page->failures || is_failure (ag_type_of (event->type)));
}

static void
write_event (struct page *page, const struct ag_event *event)
{
    const struct ag_run *shown = page->shown_as;
    struct ag_run *own;
    struct ag_err err;
    if (!shown && !ag_run_get (page->journal, event->run, &own, &err))
        shown = own;
    ag_event_write (event, shown ? shown->id : NULL, shown && shown->label[0] ? shown->label : NULL,
                    &page->events);
    page->count++;
}

static bool
add_event (void *arg, const struct ag_event *event)
{
    struct page *page = arg;
    if (page->count >= page->limit || page->events.n >= AG_ANSWER_LIST_BYTES ||
        page->looked >= AG_LOOKED_EVENTS) {
        page->more = true;
        return false;
    }
    page->looked++;
    page->after = page->shown_as ? event->seq : event->stream;
    if (wanted (page, event))
        write_event (page, event);
    return true;
}

static void
answer_page (struct page *page, const char *list, const char *store, uint64_t stream)
{
    struct ag_command *command = page->command;
    struct ag_answer answer = ag_command_begin (command);
    if (store) {
        ag_answer_key (&answer, "store");
        ag_put_lit (command->answer, store);
        ag_answer_key (&answer, "stream");
        ag_put_uint (command->answer, stream);
    }
    ag_answer_key (&answer, list);
    ag_put_list (command->answer, (uint32_t)page->count);
    ag_buf_add_str (command->answer, ag_buf_str (&page->events));
    ag_answer_key (&answer, "after");
    ag_put_uint (command->answer, page->after);
    ag_answer_key (&answer, "more");
    ag_put_bool (command->answer, page->more);
    if (page->stuck) {
        ag_answer_key (&answer, "state");
        ag_put_lit (command->answer, ag_unit_state_name (page->stuck->state));
        ag_answer_key (&answer, "reason");
        ag_put_lit (command->answer, page->stuck->reason);
    }
    ag_answer_end (&answer);
}

int
ag_command_events (struct ag_command *command, struct ag_err *err)
{
    const struct ag_msg_events *msg = &command->msg->events;
    ag_journal_t *journal = command->house->journal;
    struct ag_run *run;
    struct page page = {.command = command,
                        .journal = journal,
                        .type = msg->type,
                        .limit = msg->limit ? msg->limit : PAGE_EVENTS,
                        .after = msg->after};
    if (msg->run.p && ag_run_find (journal, msg->run, &run, err))
        return -1;
    page.run = msg->run.p ? run->number : 0;
    int rc = ag_stream_scan (journal, msg->after, add_event, &page, err);
    if (!rc && (page.count || page.more || !ag_command_hold (command, msg->wait_ms)))
        answer_page (&page, "events", ag_store_identity (ag_journal_store (journal)),
                     ag_journal_stream (journal));
    ag_buf_fini (&page.events);
    return rc;
}

int
ag_command_log (struct ag_command *command, struct ag_err *err)
{
    const struct ag_msg_log *msg = &command->msg->log;
    ag_journal_t *journal = command->house->journal;
    struct ag_run *run;
    uint64_t at;
    if (ag_point_find (journal, msg->run, &run, &at, err))
        return -1;
    struct page page = {.command = command,
                        .journal = journal,
                        .type = msg->type,
                        .limit = msg->limit ? msg->limit : PAGE_EVENTS,
                        .after = msg->after,
                        .shown_as = run};
    if (msg->tail && msg->tail < at && at - msg->tail > page.after)
        page.after = at - msg->tail;
    int rc = page.after >= at
                 ? 0
                 : ag_journal_scan (journal, run, page.after, at, add_event, &page, err);
    if (!rc)
        answer_page (&page, "events", NULL, 0);
    ag_buf_fini (&page.events);
    return rc;
}

//  What died is told in the fleet's run, not in this one.
static const struct ag_unit *
stuck_of (struct ag_house *house, uint64_t run)
{
    for (uint32_t host = 0; host < AG_HOSTS; host++) {
        const struct ag_unit *unit = ag_fleet_unit (house, run, host);
        if (unit && (unit->state == AG_UNIT_FAILED || unit->state == AG_UNIT_BACKOFF))
            return unit;
    }
    return NULL;
}

int
ag_command_failures (struct ag_command *command, struct ag_err *err)
{
    const struct ag_msg_failures *msg = &command->msg->failures;
    ag_journal_t *journal = command->house->journal;
    struct ag_run *run;
    if (ag_run_find (journal, msg->run, &run, err))
        return -1;
    struct page page = {.command = command,
                        .journal = journal,
                        .limit = PAGE_EVENTS,
                        .after = msg->after,
                        .failures = true,
                        .shown_as = run,
                        .stuck = stuck_of (command->house, run->number)};
    int rc = ag_journal_scan (journal, run, msg->after, run->head.tip, add_event, &page, err);
    if (!rc)
        answer_page (&page, "failures", NULL, 0);
    ag_buf_fini (&page.events);
    return rc;
}

//  Objects and relations of a page. A page before ended at "o<id>" or "r<id>".
struct things {
    ag_journal_t *journal;
    struct ag_run *run;
    uint64_t at, limit;
    struct ag_buf list[2], last;
    uint32_t count[2];
    enum ag_entity_kind kind;
    bool more;
    struct ag_err *err;
    int rc;
};

static bool
add_thing (void *arg, struct ag_str id)
{
    struct things *things = arg;
    int side = things->kind == AG_RELATION;
    if (things->count[0] + things->count[1] >= things->limit ||
        things->list[0].n + things->list[1].n >= AG_ANSWER_LIST_BYTES) {
        things->more = true;
        return false;
    }
    struct ag_entity entity = {0};
    things->rc = ag_state_get (things->journal, things->run, things->kind, id, things->at, &entity,
                               things->err);
    if (things->rc > 0) {
        ag_entity_write (&entity, &things->list[side]);
        things->count[side]++;
        char letter = (char)things->kind;
        ag_buf_clear (&things->last);
        ag_buf_add (&things->last, &letter, 1);
        ag_buf_add_str (&things->last, id);
    }
    ag_entity_fini (&entity);
    return things->rc >= 0;
}

static int
scan_things (struct things *things, enum ag_entity_kind kind, struct ag_str type,
             struct ag_str after)
{
    things->kind = kind;
    int rc = type.p ? ag_state_scan_type (things->journal, things->run, kind, type, things->at,
                                          after, add_thing, things, things->err)
                    : ag_state_scan (things->journal, things->run, kind, things->at, after,
                                     add_thing, things, things->err);
    return rc || things->rc < 0 ? -1 : 0;
}

static void
answer_things (struct ag_command *command, const struct things *things)
{
    struct ag_answer answer = ag_command_begin (command);
    ag_answer_key (&answer, "run");
    ag_put_lit (command->answer, things->run->id);
    ag_answer_key (&answer, "at");
    ag_put_evt (command->answer, things->at);
    ag_answer_key (&answer, "objects");
    ag_put_list (command->answer, things->count[0]);
    ag_buf_add_str (command->answer, ag_buf_str (&things->list[0]));
    ag_answer_key (&answer, "relations");
    ag_put_list (command->answer, things->count[1]);
    ag_buf_add_str (command->answer, ag_buf_str (&things->list[1]));
    if (things->more) {
        ag_answer_key (&answer, "next");
        ag_put_text (command->answer, ag_buf_str (&things->last));
    }
    ag_answer_end (&answer);
}

int
ag_command_objects (struct ag_command *command, struct ag_err *err)
{
    const struct ag_msg_objects *msg = &command->msg->objects;
    struct things things = {.journal = command->house->journal,
                            .limit = msg->limit ? msg->limit : AG_PAGE_THINGS,
                            .err = err};
    if (ag_point_find (things.journal, msg->run, &things.run, &things.at, err))
        return -1;
    struct ag_str after = {0};
    bool relations = msg->after.n && msg->after.p[0] == AG_RELATION;
    if (msg->after.n)
        after = (struct ag_str){msg->after.p + 1, msg->after.n - 1};
    if (msg->after.n && ag_id_check (after, "what `after` names", err))
        return -1;
    int rc = relations ? 0 : scan_things (&things, AG_OBJECT, msg->type, after);
    if (!rc && !things.more)
        rc = scan_things (&things, AG_RELATION, msg->type, relations ? after : (struct ag_str){0});
    if (!rc)
        answer_things (command, &things);
    ag_buf_fini (&things.list[0]);
    ag_buf_fini (&things.list[1]);
    ag_buf_fini (&things.last);
    return rc;
}

static int
show_event (struct ag_command *command, const struct ag_run *run, uint64_t seq, uint64_t at,
            struct ag_err *err)
{
    char event_id[AG_EVT_TEXT];
    ag_evt_text (seq, event_id);
    if (seq > at)
        return ag_fail (err, AG_E_NOT_FOUND, "run %s has no event %s at this point", run->id,
                        event_id);
    struct ag_buf hold = {0};
    struct ag_event event;
    int rc = ag_journal_read (command->house->journal, run, seq, &hold, &event, err);
    if (!rc) {
        struct ag_answer answer = ag_command_begin (command);
        ag_answer_key (&answer, "event");
        ag_event_write (&event, run->id, run->label[0] ? run->label : NULL, command->answer);
        ag_answer_end (&answer);
    }
    ag_buf_fini (&hold);
    return rc;
}

int
ag_command_show (struct ag_command *command, struct ag_err *err)
{
    const struct ag_msg_show *msg = &command->msg->show;
    ag_journal_t *journal = command->house->journal;
    struct ag_entity entity = {0};
    struct ag_run *run;
    uint64_t at, seq;
    if (ag_point_find (journal, msg->run, &run, &at, err))
        return -1;
    if (!ag_evt_read (msg->entity, &seq))
        return show_event (command, run, seq, at, err);
    int rc = ag_state_get (journal, run, AG_OBJECT, msg->entity, at, &entity, err);
    if (rc == 0)
        rc = ag_state_get (journal, run, AG_RELATION, msg->entity, at, &entity, err);
    if (rc == 0 && !ag_evt_guess (msg->entity, &seq))
        return show_event (command, run, seq, at, err);
    if (rc > 0) {
        struct ag_answer answer = ag_command_begin (command);
        ag_answer_key (&answer, entity.kind == AG_OBJECT ? "object" : "relation");
        ag_entity_write (&entity, command->answer);
        ag_answer_end (&answer);
    }
    ag_entity_fini (&entity);
    if (rc == 0)
        return ag_fail (err, AG_E_NOT_FOUND, "run %s has no `%.*s`%s", run->id,
                        AG_STR_ARG (msg->entity), at < run->head.tip ? " at this point" : "");
    return rc < 0 ? -1 : 0;
}

static int
diff_points (struct ag_command *command, struct ag_run *runs[2], uint64_t at[2], struct ag_err *err)
{
    ag_journal_t *journal = command->house->journal;
    return ag_point_find (journal, command->msg->diff.a, &runs[0], &at[0], err) ||
           ag_point_find (journal, command->msg->diff.b, &runs[1], &at[1], err);
}

int
ag_command_diff (struct ag_command *command, struct ag_err *err)
{
    struct ag_run *runs[2];
    uint64_t at[2];
    struct ag_buf shape = {0};
    struct ag_diff_page page = {.limit = command->msg->diff.limit};
    if (diff_points (command, runs, at, err))
        return -1;
    int rc = ag_diff (command->house->journal, runs[0], at[0], runs[1], at[1], &page, &shape, err);
    if (!rc) {
        struct ag_answer answer = ag_command_begin (command);
        ag_command_merge (&answer, ag_buf_str (&shape));
        ag_answer_end (&answer);
    }
    ag_buf_fini (&shape);
    return rc;
}
