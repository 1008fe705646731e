//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/shown.h"
#include "supervisor/reads.h"

void
ag_shown_fini (struct ag_shown *self)
{
    ag_buf_fini (&self->objects);
    ag_buf_fini (&self->relations);
    ag_buf_fini (&self->last);
    ag_arena_rewind (&self->arena, (struct ag_place){0});
}

static bool
is_wanted (const struct ag_shown *self, const struct ag_entity *entity)
{
    struct ag_cursor in = ag_cursor (self->types);
    struct ag_head list, type;
    if (!self->types.p || entity->kind != AG_OBJECT || ag_next (&in, &list))
        return true;
    for (uint32_t i = 0; i < list.count && !ag_next (&in, &type); i++)
        if (ag_str_eq (type.s, entity->type))
            return true;
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

//  Walking around, a thing is met from several sides: true the first time.
static bool
is_first (struct ag_shown *self, enum ag_entity_kind kind, struct ag_str id)
{
    struct ag_str one = {"", 1};
    struct ag_buf key = {0};
    ag_buf_add (&key, kind == AG_OBJECT ? "o" : "r", 1);
    ag_buf_add_str (&key, id);
    struct ag_str bytes = ag_buf_str (&key);
    bool first = !ag_omap_find (&self->met, bytes);
    if (first)
        ag_omap_insert (
            &self->met,
            ag_entry_make (ag_arena_take (&self->arena, ag_entry_size (bytes, one)), bytes, one));
    ag_buf_fini (&key);
    return first;
}

static bool
show_relation (void *arg, struct ag_str id)
{
    struct ag_shown *self = arg;
    return (self->around && !is_first (self, AG_RELATION, id)) ||
           show_listed (self, AG_RELATION, id);
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
                               self, self->err)
               ? -1
               : self->rc;
}

//  An end of a relation that was not met before: shown, and the next ring goes on from it.
static int
add_end (struct ag_shown *self, struct ag_str relation, const char *side, struct ag_buf *ring)
{
    struct ag_str id;
    if (self->more || ag_map_text (relation, side, &id) || !is_first (self, AG_OBJECT, id))
        return 0;
    self->more = !self->bytes_left;
    if (self->more)
        return 0;
    ag_put_text (ring, id);
    return ag_shown_one (self, id) < 0 ? -1 : 0;
}

//  One step further: the relations of the objects of a ring, then the ring that their other ends are.
static int
step_out (struct ag_shown *self, struct ag_buf *ring)
{
    size_t from = self->relations.n;
    struct ag_cursor in = ag_cursor (ag_buf_str (ring));
    struct ag_head head;
    struct ag_str relation;
    int rc = 0;
    while (!rc && !ag_next (&in, &head))
        rc = ag_shown_relations (self, head.s, (struct ag_str){0});
    ag_buf_clear (ring);
    in = ag_cursor (ag_buf_str (&self->relations));
    in.p += from;
    while (!rc && !ag_take (&in, &relation))
        rc = add_end (self, relation, "source", ring) || add_end (self, relation, "target", ring)
                 ? -1
                 : 0;
    return rc;
}

int
ag_shown_around (struct ag_shown *self, struct ag_str object, uint64_t depth)
{
    struct ag_buf ring = {0};
    self->around = true;
    is_first (self, AG_OBJECT, object);
    ag_put_text (&ring, object);
    int rc = ag_shown_one (self, object) < 0 ? -1 : 0;
    for (uint64_t step = 0; !rc && step < depth && ring.n && !self->more; step++)
        rc = step_out (self, &ring);
    ag_buf_fini (&ring);
    return rc;
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
