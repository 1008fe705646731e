//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/invoke.h"
#include "common/answer.h"
#include "supervisor/cypher_match.h"
#include "supervisor/frame.h"
#include "supervisor/ids.h"
#include "supervisor/match.h"
#include "supervisor/reads.h"
#include "supervisor/shown.h"
#include "supervisor/sight.h"

#include <stdlib.h>
#include <string.h>

struct named {
    struct ag_shown *shown;
    uint32_t looked;
};

static bool
show_named (void *arg, struct ag_str text)
{
    struct named *named = arg;
    struct ag_shown *shown = named->shown;
    struct ag_err unused;
    if (named->looked++ == AG_INVOKE_TEXTS)
        return true;
    if (ag_id_check (text, "id", &unused))
        return false;
    int rc = ag_shown_add (shown, AG_OBJECT, text);
    if (rc == 0)
        rc = ag_shown_add (shown, AG_RELATION, text);
    shown->seen += rc > 0;
    return rc < 0 || shown->seen >= AG_INVOKE_NAMED;
}

static void
put_mint (const struct ag_run *run, const struct ag_invocation *self, struct ag_buf *out)
{
    ag_put_map (out, 3);
    ag_put_lit (out, "object");
    ag_put_uint (out, self->mint.object + 1);
    ag_put_lit (out, "relation");
    ag_put_uint (out, self->mint.relation + 1);
    ag_put_lit (out, "tag");
    char tag[14];
    if (run->mint)
        ag_base32 (run->mint, tag);
    if (run->mint)
        ag_put_textf (out, "r%s", tag);
    else
        ag_put_null (out);
}

static int
put_relation (const struct ag_invocation *self, struct ag_shown *shown, struct ag_answer *answer)
{
    if (!self->relation.n)
        return 0;
    ag_answer_key (answer, "relation");
    struct ag_entity entity = {0};
    int rc = ag_state_get (shown->journal, shown->run, AG_RELATION, ag_buf_str (&self->relation),
                           shown->at, &entity, shown->err);
    if (rc > 0)
        ag_entity_write (&entity, answer->out);
    else
        ag_put_null (answer->out);
    ag_entity_fini (&entity);
    return rc < 0 ? -1 : 0;
}

//  The newest events, oldest first: as many as asked for, and as fit.
static int
put_events (struct ag_shown *shown, uint64_t count, struct ag_buf *out)
{
    struct ag_buf *each = ag_xcalloc (count + 1, sizeof *each), hold = {0};
    size_t left = AG_INVOKE_EVENTS_BYTES;
    uint32_t made = 0;
    int rc = 0;
    for (uint64_t seq = shown->invocation->started - 1; !rc && seq && made < count; seq--) {
        struct ag_event event;
        rc = ag_journal_read (shown->journal, shown->run, seq, &hold, &event, shown->err);
        if (!rc)
            ag_event_write (&event, shown->run->id, shown->run->label, &each[made]);
        if (rc || each[made].n > left)
            break;
        left -= each[made++].n;
    }
    shown->more = shown->more || (made < count && each[made].n);
    ag_put_lit (out, "events");
    ag_put_list (out, made);
    for (uint32_t i = made; i--;)
        ag_put_value (out, ag_buf_str (&each[i]));
    for (uint32_t i = 0; i <= made; i++)
        ag_buf_fini (&each[i]);
    free (each);
    ag_buf_fini (&hold);
    return rc;
}

static int
put_view (struct ag_shown *shown, const struct ag_sight *sight, struct ag_answer *answer)
{
    ag_answer_key (answer, "view");
    size_t map = ag_open_map (answer->out);
    ag_shown_put (shown, answer->out);
    if (put_events (shown, sight->recent_events, answer->out))
        return -1;
    if (shown->more) {
        ag_put_lit (answer->out, "truncated");
        ag_put_bool (answer->out, true);
    }
    ag_close (answer->out, map, shown->more ? 4 : 3);
    return 0;
}

static void
put_matches (const struct ag_invocation *self, struct ag_answer *answer)
{
    struct ag_str pattern;
    uint32_t count = self->matches.count;
    if (ag_map_get (ag_buf_str (&self->behavior), "pattern", &pattern))
        return;
    ag_answer_key (answer, "matches");
    ag_put_list (answer->out, count < AG_MATCH_SHOWN ? count : AG_MATCH_SHOWN);
    ag_buf_add_str (answer->out, ag_buf_str (&self->matches.list));
    ag_answer_key (answer, "matches_count");
    ag_put_uint (answer->out, count);
}

static int
write_all (struct ag_run *run, const struct ag_invocation *self, const struct ag_event *event,
           struct ag_shown *shown, const struct ag_sight *sight, struct ag_buf *out)
{
    struct ag_str name = {0};
    char now[AG_TIME_TEXT];
    ag_map_text (ag_buf_str (&self->behavior), "name", &name);
    struct ag_answer answer = ag_answer_begin (out, "invoke", (struct ag_str){0});
    ag_answer_key (&answer, "invocation");
    ag_put_uint (out, self->started);
    ag_answer_key (&answer, "attempt");
    ag_put_uint (out, self->attempt);
    ag_answer_key (&answer, "behavior");
    ag_put_text (out, name);
    ag_answer_key (&answer, "event");
    ag_event_write (event, run->id, run->label, out);
    ag_answer_key (&answer, "frame");
    if (ag_frame_write (shown->journal, run, event->frame, out, shown->err))
        return -1;
    if (put_relation (self, shown, &answer))
        return -1;
    put_matches (self, &answer);
    if (put_view (shown, sight, &answer))
        return -1;
    ag_answer_key (&answer, "mint");
    put_mint (run, self, out);
    ag_answer_key (&answer, "seed");
    ag_put_uint (out, ag_be64 (event->seed));
    ag_answer_key (&answer, "now");
    ag_time_text (event->time_us, now);
    ag_put_lit (out, now);
    ag_answer_end (&answer);
    return 0;
}

//  Of a behaviour with a view what it asks for; else what the event names.
static int
gather (struct ag_shown *shown, const struct ag_sight *sight, const struct ag_event *event)
{
    struct ag_str object;
    struct ag_err unused;
    if (!sight->around.p) {
        ag_match_texts (event->payload, show_named, &(struct named){.shown = shown});
        return shown->rc;
    }
    shown->types = sight->types;
    if (ag_map_path (event->payload, sight->around, &object))
        return 0;
    struct ag_cursor in = ag_cursor (object);
    struct ag_head id;
    if (ag_next (&in, &id) || id.kind != AG_TEXT || ag_id_check (id.s, "id", &unused))
        return 0;
    return ag_shown_around (shown, id.s, sight->depth);
}

int
ag_invoke_write (ag_journal_t *journal, struct ag_run *run, struct ag_invocation *self,
                 const struct ag_event *event, struct ag_buf *out, struct ag_err *err)
{
    struct ag_sight sight;
    struct ag_shown shown = {.journal = journal,
                             .run = run,
                             .at = self->at,
                             .invocation = self,
                             .limit = AG_PAGE_THINGS,
                             .bytes_left = AG_SHOWN_BYTES,
                             .err = err};
    ag_sight_of (ag_buf_str (&self->behavior), &sight);
    int rc = gather (&shown, &sight, event);
    if (!rc)
        rc = write_all (run, self, event, &shown, &sight, out);
    ag_shown_fini (&shown);
    return rc;
}

static int
get (struct ag_shown *shown, struct ag_invocation *self, const struct ag_msg_get *get,
     struct ag_err *err)
{
    if (get->id.p)
        return ag_shown_one (shown, get->id) < 0 ? -1 : 0;
    if (get->relations_of.p)
        return ag_shown_relations (shown, get->relations_of, get->after);
    if (get->around.p)
        return ag_shown_around (shown, get->around, get->depth);
    if (!get->type.p)
        return ag_fail (err, AG_E_BAD_MESSAGE,
                        "get names one of id, type, relations_of and around");
    if (ag_reads_add (self, AG_READ_TYPE, get->type, err))
        return -1;
    return ag_state_scan_type (shown->journal, shown->run, AG_OBJECT, get->type, shown->at,
                               get->after, ag_shown_object, shown, err);
}

int
ag_invocation_get (struct ag_house *house, struct ag_invocation *self,
                   const struct ag_msg_get *request, struct ag_buf *out, struct ag_err *err)
{
    struct ag_run *run;
    if (ag_run_get (house->journal, self->run, &run, err))
        return -1;
    struct ag_shown shown = {.journal = house->journal,
                             .run = run,
                             .invocation = self,
                             .at = request->at && request->at < self->at ? request->at : self->at,
                             .limit = request->limit ? (uint32_t)request->limit : AG_PAGE_THINGS,
                             .bytes_left = AG_SHOWN_BYTES,
                             .err = err};
    int rc = get (&shown, self, request, err);
    if (!rc && !shown.rc) {
        struct ag_answer answer = ag_answer_begin (out, "ok", (struct ag_str){0});
        ag_shown_put (&shown, out);
        answer.pairs += 2;
        ag_answer_key (&answer, "more");
        ag_put_bool (out, shown.more);
        if (shown.more) {
            ag_answer_key (&answer, "next");
            ag_put_text (out, ag_buf_str (&shown.last));
        }
        ag_answer_end (&answer);
    }
    rc = rc || shown.rc ? -1 : 0;
    ag_shown_fini (&shown);
    return rc;
}
