//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/shown.h"
#include "supervisor/reads.h"

void
ag_shown_fini (struct ag_shown *self)
{
    ag_buf_fini (&self->objects);
    ag_buf_fini (&self->relations);
    ag_buf_fini (&self->last);
}

static bool
is_wanted (const struct ag_shown *self, const struct ag_entity *entity)
{
    struct ag_str type;
    if (!self->types.p || entity->kind != AG_OBJECT)
        return true;
    for (uint32_t i = 0; !ag_list_nth (self->types, i, &type); i++) {
        struct ag_cursor in = ag_cursor (type);
        struct ag_head head;
        if (!ag_next (&in, &head) && ag_str_eq (head.s, entity->type))
            return true;
    }
    return false;
}

int
ag_shown_add (struct ag_shown *self, enum ag_entity_kind kind, struct ag_str id)
{
    struct ag_entity entity = {0};
    int rc = ag_state_get (self->journal, self->run, kind, id, self->at, &entity, self->err);
    if (rc > 0 && is_wanted (self, &entity)) {
        struct ag_buf *list = kind == AG_OBJECT ? &self->objects : &self->relations;
        size_t before = list->n;
        ag_entity_write (&entity, list);
        self->object_count += kind == AG_OBJECT;
        self->relation_count += kind == AG_RELATION;
        size_t bytes = list->n - before;
        self->bytes_left -= bytes < self->bytes_left ? bytes : self->bytes_left;
    }
    ag_entity_fini (&entity);
    self->rc = rc < 0 ? -1 : 0;
    return rc;
}

//  Of a scan: stops at the limit, and says that there is more.
static bool
show_listed (struct ag_shown *self, enum ag_entity_kind kind, struct ag_str id)
{
    if (self->seen >= self->limit || !self->bytes_left) {
        self->more = true;
        return false;
    }
    self->seen++;
    ag_buf_clear (&self->last);
    ag_buf_add_str (&self->last, id);
    return ag_shown_add (self, kind, id) >= 0;
}

bool
ag_shown_object (void *arg, struct ag_str id)
{
    return show_listed (arg, AG_OBJECT, id);
}

//  Walking around, a relation is met from both of its ends.
static bool
is_shown (const struct ag_shown *self, struct ag_str id)
{
    struct ag_cursor in = ag_cursor (ag_buf_str (&self->relations));
    struct ag_str relation, other;
    for (uint32_t i = 0; i < self->relation_count && !ag_take (&in, &relation); i++)
        if (!ag_map_text (relation, "id", &other) && ag_str_eq (other, id))
            return true;
    return false;
}

static bool
show_relation (void *arg, struct ag_str id)
{
    struct ag_shown *self = arg;
    return (self->around && is_shown (self, id)) || show_listed (self, AG_RELATION, id);
}

int
ag_shown_one (struct ag_shown *self, struct ag_str id)
{
    if (ag_reads_add (self->invocation, AG_READ_ENTITY, id, self->err))
        return -1;
    int rc = ag_shown_add (self, AG_OBJECT, id);
    return rc ? rc : ag_shown_add (self, AG_RELATION, id);
}

int
ag_shown_relations (struct ag_shown *self, struct ag_str object, struct ag_str after)
{
    if (ag_reads_add (self->invocation, AG_READ_ENDPOINT, object, self->err))
        return -1;
    return ag_state_relations (self->journal, self->run, object, self->at, after, show_relation,
                               self, self->err);
}

//  The ends of the relations found so far that are not among the objects yet.
static int
add_ends (struct ag_shown *self, struct ag_buf *frontier)
{
    struct ag_cursor in = ag_cursor (ag_buf_str (&self->relations));
    struct ag_str relation, end;
    for (uint32_t i = 0; i < self->relation_count && !ag_take (&in, &relation); i++)
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
            if (!self->bytes_left) {
                self->more = true;
                return 0;
            }
            ag_put_text (frontier, end);
            if (ag_shown_one (self, end) < 0)
                return -1;
        }
    return 0;
}

int
ag_shown_around (struct ag_shown *self, struct ag_str object, uint64_t depth)
{
    struct ag_buf seen = {0};
    ag_put_text (&seen, object);
    self->around = true;
    int rc = ag_shown_one (self, object);
    size_t from = 0;
    for (uint64_t step = 0; rc >= 0 && step < depth && from < seen.n && !self->more; step++) {
        size_t to = seen.n;
        struct ag_buf ring = {0};
        ag_buf_add (&ring, seen.p + from, to - from);
        struct ag_cursor in = ag_cursor (ag_buf_str (&ring));
        struct ag_head head;
        while (rc >= 0 && in.p < in.end && !ag_next (&in, &head))
            rc = ag_shown_relations (self, head.s, (struct ag_str){0});
        if (rc >= 0)
            rc = add_ends (self, &seen);
        ag_buf_fini (&ring);
        from = to;
    }
    ag_buf_fini (&seen);
    return rc < 0 ? -1 : 0;
}

void
ag_shown_put (const struct ag_shown *self, struct ag_buf *out)
{
    ag_put_lit (out, "objects");
    ag_put_list (out, self->object_count);
    ag_buf_add_str (out, ag_buf_str (&self->objects));
    ag_put_lit (out, "relations");
    ag_put_list (out, self->relation_count);
    ag_buf_add_str (out, ag_buf_str (&self->relations));
}
