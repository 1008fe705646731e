//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/invoke.h"
#include "common/answer.h"
#include "supervisor/frame.h"
#include "supervisor/ids.h"
#include "supervisor/match.h"
#include "supervisor/reads.h"

#include <string.h>

//  Things gathered for an answer: two lists, written one after the other.
struct shown {
    ag_journal_t *journal;
    struct ag_run *run;
    uint64_t at;
    struct ag_buf objects, relations;
    uint32_t object_count, relation_count, seen;
    uint32_t limit;
    size_t bytes_left;
    struct ag_buf last; //  id of the last thing shown
    bool more, around;
    struct ag_err *err;
    int rc;
};

enum { SHOWN_BYTES = 4 << 20, SHOWN_LIMIT = 1000 };

static void
shown_fini (struct shown *shown)
{
    ag_buf_fini (&shown->objects);
    ag_buf_fini (&shown->relations);
    ag_buf_fini (&shown->last);
}

//  Add one live thing: 1 when it was there, 0, -1.
static int
show (struct shown *shown, enum ag_entity_kind kind, struct ag_str id)
{
    struct ag_entity entity = {0};
    int rc = ag_state_get (shown->journal, shown->run, kind, id, shown->at, &entity, shown->err);
    if (rc > 0) {
        struct ag_buf *list = kind == AG_OBJECT ? &shown->objects : &shown->relations;
        size_t before = list->n;
        ag_entity_write (&entity, list);
        shown->object_count += kind == AG_OBJECT;
        shown->relation_count += kind == AG_RELATION;
        size_t bytes = list->n - before;
        shown->bytes_left -= bytes < shown->bytes_left ? bytes : shown->bytes_left;
    }
    ag_entity_fini (&entity);
    shown->rc = rc < 0 ? -1 : 0;
    return rc;
}

//  Of a scan: stops at the limit, and says that there is more.
static bool
show_listed (struct shown *shown, enum ag_entity_kind kind, struct ag_str id)
{
    if (shown->seen >= shown->limit || !shown->bytes_left) {
        shown->more = true;
        return false;
    }
    shown->seen++;
    ag_buf_clear (&shown->last);
    ag_buf_add_str (&shown->last, id);
    return show (shown, kind, id) >= 0;
}

static bool
show_object (void *arg, struct ag_str id)
{
    return show_listed (arg, AG_OBJECT, id);
}

//  Walking around, a relation is met from both of its ends.
static bool
is_shown (const struct shown *shown, struct ag_str id)
{
    struct ag_cursor in = ag_cursor (ag_buf_str (&shown->relations));
    struct ag_str relation, other;
    for (uint32_t i = 0; i < shown->relation_count && !ag_take (&in, &relation); i++)
        if (!ag_map_text (relation, "id", &other) && ag_str_eq (other, id))
            return true;
    return false;
}

static bool
show_relation (void *arg, struct ag_str id)
{
    struct shown *shown = arg;
    return (shown->around && is_shown (shown, id)) || show_listed (shown, AG_RELATION, id);
}

static bool
show_named (void *arg, struct ag_str text)
{
    struct shown *shown = arg;
    struct ag_err unused;
    if (ag_id_check (text, "id", &unused))
        return false;
    int rc = show (shown, AG_OBJECT, text);
    if (rc == 0)
        rc = show (shown, AG_RELATION, text);
    shown->seen += rc > 0;
    return rc < 0 || shown->seen >= AG_INVOKE_NAMED;
}

static void
put_lists (const struct shown *shown, struct ag_buf *out)
{
    ag_put_lit (out, "objects");
    ag_put_list (out, shown->object_count);
    ag_buf_add_str (out, ag_buf_str (&shown->objects));
    ag_put_lit (out, "relations");
    ag_put_list (out, shown->relation_count);
    ag_buf_add_str (out, ag_buf_str (&shown->relations));
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
put_relation (const struct ag_invocation *self, struct shown *shown, struct ag_answer *answer)
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

static int
write_all (struct ag_run *run, const struct ag_invocation *self, const struct ag_event *event,
           struct shown *shown, struct ag_buf *out)
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
    ag_answer_key (&answer, "view");
    ag_put_map (out, 3);
    put_lists (shown, out);
    ag_put_lit (out, "events");
    ag_put_list (out, 0);
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

int
ag_invoke_write (ag_journal_t *journal, struct ag_run *run, const struct ag_invocation *self,
                 const struct ag_event *event, struct ag_buf *out, struct ag_err *err)
{
    struct shown shown = {
        .journal = journal, .run = run, .at = self->at, .bytes_left = SHOWN_BYTES, .err = err};
    ag_match_texts (event->payload, show_named, &shown);
    int rc = shown.rc ? -1 : write_all (run, self, event, &shown, out);
    shown_fini (&shown);
    return rc;
}

static int
get_one (struct shown *shown, struct ag_invocation *self, struct ag_str id, struct ag_err *err)
{
    if (ag_reads_add (self, AG_READ_ENTITY, id, err))
        return -1;
    int rc = show (shown, AG_OBJECT, id);
    return rc ? rc : show (shown, AG_RELATION, id);
}

static int
get_relations (struct shown *shown, struct ag_invocation *self, struct ag_str object,
               struct ag_str after, struct ag_err *err)
{
    if (ag_reads_add (self, AG_READ_ENDPOINT, object, err))
        return -1;
    return ag_state_relations (shown->journal, shown->run, object, shown->at, after, show_relation,
                               shown, err);
}

//  The ends of the relations found so far that are not among the objects yet.
static int
get_ends (struct shown *shown, struct ag_invocation *self, struct ag_buf *frontier,
          struct ag_err *err)
{
    struct ag_cursor in = ag_cursor (ag_buf_str (&shown->relations));
    struct ag_str relation, end;
    for (uint32_t i = 0; i < shown->relation_count && !ag_take (&in, &relation); i++)
        for (int side = 0; side < 2; side++) {
            if (ag_map_text (relation, side ? "target" : "source", &end))
                continue;
            struct ag_str known = ag_buf_str (frontier), text;
            bool seen = false;
            for (struct ag_cursor at = ag_cursor (known); at.p < at.end && !ag_take (&at, &text);) {
                struct ag_head head;
                struct ag_cursor one = ag_cursor (text);
                seen = seen || (!ag_next (&one, &head) && ag_str_eq (head.s, end));
            }
            if (seen)
                continue;
            ag_put_text (frontier, end);
            if (get_one (shown, self, end, err) < 0)
                return -1;
        }
    return 0;
}

//  Breadth first, undirected: the object, then what is connected to it, `depth` steps far.
static int
get_around (struct shown *shown, struct ag_invocation *self, struct ag_str object, uint64_t depth,
            struct ag_err *err)
{
    struct ag_buf seen = {0};
    ag_put_text (&seen, object);
    shown->around = true;
    int rc = get_one (shown, self, object, err);
    size_t from = 0;
    for (uint64_t step = 0; rc >= 0 && step < depth && from < seen.n && !shown->more; step++) {
        size_t to = seen.n;
        struct ag_buf ring = {0};
        ag_buf_add (&ring, seen.p + from, to - from);
        struct ag_cursor in = ag_cursor (ag_buf_str (&ring));
        struct ag_head head;
        while (rc >= 0 && in.p < in.end && !ag_next (&in, &head))
            rc = get_relations (shown, self, head.s, (struct ag_str){0}, err);
        if (rc >= 0)
            rc = get_ends (shown, self, &seen, err);
        ag_buf_fini (&ring);
        from = to;
    }
    ag_buf_fini (&seen);
    return rc < 0 ? -1 : 0;
}

static int
get (struct shown *shown, struct ag_invocation *self, const struct ag_msg_get *get,
     struct ag_err *err)
{
    if (get->id.p)
        return get_one (shown, self, get->id, err) < 0 ? -1 : 0;
    if (get->relations_of.p)
        return get_relations (shown, self, get->relations_of, get->after, err);
    if (get->around.p)
        return get_around (shown, self, get->around, get->depth, err);
    if (!get->type.p)
        return ag_fail (err, AG_E_BAD_MESSAGE,
                        "get names one of id, type, relations_of and around");
    if (ag_reads_add (self, AG_READ_TYPE, get->type, err))
        return -1;
    return ag_state_scan_type (shown->journal, shown->run, AG_OBJECT, get->type, shown->at,
                               get->after, show_object, shown, err);
}

int
ag_invocation_get (struct ag_house *house, struct ag_invocation *self,
                   const struct ag_msg_get *request, struct ag_buf *out, struct ag_err *err)
{
    struct ag_run *run;
    if (ag_run_get (house->journal, self->run, &run, err))
        return -1;
    struct shown shown = {.journal = house->journal,
                          .run = run,
                          .at = request->at && request->at < self->at ? request->at : self->at,
                          .limit = request->limit ? (uint32_t)request->limit : SHOWN_LIMIT,
                          .bytes_left = SHOWN_BYTES,
                          .err = err};
    int rc = get (&shown, self, request, err);
    if (!rc && !shown.rc) {
        struct ag_answer answer = ag_answer_begin (out, "ok", (struct ag_str){0});
        put_lists (&shown, out);
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
    shown_fini (&shown);
    return rc;
}
