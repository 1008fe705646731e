//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/cypher_match.h"
#include "supervisor/ids.h"
#include "supervisor/match.h"
#include "supervisor/seek.h"

#include <assert.h>
#include <stdlib.h>

//  Something that the event touches. From a thing that is new only what is asked to exist can have become true.
struct touch {
    enum ag_entity_kind kind;
    struct ag_str id;
    bool stands; //  matches are looked for in which it stands
    bool walks;  //  and those that a NOT EXISTS with it may have hidden
    bool fresh;
};

struct touches {
    struct ag_seek *seek;
    struct touch *list;
    size_t count, room;
    int rc;
};

static void
add (struct touches *self, struct touch touch)
{
    if (self->count == self->room) {
        self->room = self->room ? 2 * self->room : 8;
        self->list = ag_xrealloc (self->list, self->room * sizeof *self->list);
    }
    touch.id = (struct ag_str){ag_str_dup (touch.id), touch.id.n};
    self->list[self->count++] = touch;
}

static void
touches_fini (struct touches *self)
{
    for (size_t i = 0; i < self->count; i++)
        free ((char *)self->list[i].id.p);
    free (self->list);
}

//  A relation that lives stands for itself, its ends only walk; one that is gone is its two ends.
static int
touch_relation (struct touches *self, struct ag_str id, bool fresh)
{
    const struct ag_thing *relation = NULL;
    if (!ag_seek_note (self->seek, AG_READ_ENTITY, id))
        relation = ag_seek_thing (self->seek, AG_RELATION, id);
    if (!relation)
        return -1;
    if (relation->alive)
        add (self, (struct touch){AG_RELATION, id, true, false, fresh});
    if (relation->tip.source.p) {
        bool stands = !relation->alive;
        add (self, (struct touch){AG_OBJECT, relation->tip.source, stands, true, fresh});
        add (self, (struct touch){AG_OBJECT, relation->tip.target, stands, true, fresh});
    }
    return 0;
}

static bool
touch_named (void *arg, struct ag_str text)
{
    struct touches *self = arg;
    struct ag_err unused;
    if (ag_id_check (text, "id", &unused))
        return false;
    const struct ag_thing *object = ag_seek_thing (self->seek, AG_OBJECT, text);
    if (object && object->alive)
        add (self, (struct touch){AG_OBJECT, text, true, true, false});
    self->rc = object ? touch_relation (self, text, false) : -1;
    return self->rc != 0;
}

static int
touch_event (struct touches *self, const struct ag_event *event)
{
    struct ag_change change;
    if (!ag_change_of (event, &change)) {
        ag_match_texts (event->payload, touch_named, self);
        return self->rc;
    }
    enum ag_type type = ag_type_of (event->type);
    bool fresh = type == AG_EV_OBJECT_CREATED || type == AG_EV_RELATION_CREATED;
    if (change.kind == AG_RELATION)
        return touch_relation (self, change.id, fresh);
    add (self, (struct touch){AG_OBJECT, change.id, true, true, fresh});
    return 0;
}

/*  Standing in the pattern's own chain  */

static int
stand (struct ag_seek *seek, const struct touch *touch)
{
    const struct ag_cypher *cypher = seek->cypher;
    uint32_t tried =
        0; //  slots, as bits: a thing that stands at one place of a variable stands at all
    static_assert (AG_CYPHER_PLACES <= 32, "slots are bits of 32");
    for (uint32_t i = touch->kind == AG_RELATION; i < cypher->chains[0].count; i += 2) {
        uint32_t slot = cypher->places[i].slot;
        if (tried & 1u << slot)
            continue;
        tried |= 1u << slot;
        if (ag_seek_from (seek, i, touch->id))
            return -1;
    }
    return 0;
}

/*  Walking the chain of a NOT EXISTS to what it shares with the pattern. What lies between may have changed its
 *  properties since, so only types and directions of relations are looked at.
 */
struct approach {
    struct ag_seek *seek;
    const struct ag_cypher_chain *chain;
    uint32_t at, to; //  places of the chain
    struct ag_str id;
    int rc;
};

static int approach (struct approach *self);

static bool
approach_by (void *arg, struct ag_str id)
{
    struct approach *self = arg;
    bool right = self->to > self->at;
    const struct ag_cypher_place *place =
        &self->seek->cypher->places[self->chain->first + (right ? self->at + 1 : self->at - 1)];
    const struct ag_thing *relation = ag_seek_thing (self->seek, AG_RELATION, id);
    if (!relation) {
        self->rc = -1;
        return false;
    }
    const struct ag_tip *tip = &relation->tip;
    bool leaves = place->forward == right;
    if (ag_str_eq (tip->type, place->type) &&
        ag_str_eq (leaves ? tip->source : tip->target, self->id)) {
        struct approach next = *self;
        next.at = right ? self->at + 2 : self->at - 2;
        next.id = leaves ? tip->target : tip->source;
        self->rc = approach (&next);
    }
    return !self->rc;
}

static int
approach (struct approach *self)
{
    const struct ag_cypher *cypher = self->seek->cypher;
    if (self->at != self->to)
        return ag_seek_relations (self->seek, self->id, approach_by, self) ? -1 : self->rc;
    uint32_t slot = cypher->places[self->chain->first + self->to].slot;
    for (uint32_t i = 0; i < cypher->chains[0].count; i += 2)
        if (cypher->places[i].slot == slot)
            return ag_seek_from (self->seek, i, self->id);
    return 0;
}

//  The nearest node that is the pattern's, or -1.
static int
nearest_shared (const struct ag_cypher *cypher, const struct ag_cypher_chain *chain, uint32_t at)
{
    int best = -1, distance = AG_CYPHER_PLACES;
    for (uint32_t i = 0; i < chain->count; i += 2) {
        int far = abs ((int)i - (int)at);
        if (cypher->places[chain->first + i].slot < chain->slots && far < distance) {
            best = (int)i;
            distance = far;
        }
    }
    return best;
}

static int
walk (struct ag_seek *seek, const struct touch *touch)
{
    const struct ag_cypher *cypher = seek->cypher;
    for (uint32_t c = 1; c < cypher->chain_count; c++) {
        const struct ag_cypher_chain *chain = &cypher->chains[c];
        if (touch->fresh && !chain->inverted)
            continue;
        for (uint32_t i = 0; i < chain->count; i += 2) {
            int to = nearest_shared (cypher, chain, i);
            struct approach from = {seek, chain, i, (uint32_t)to, touch->id, 0};
            if (to >= 0 && approach (&from))
                return -1;
        }
    }
    return 0;
}

//  A condition about what is anywhere can have become true for any match.
static bool
asks_anywhere (const struct ag_cypher *cypher, const struct touches *touches)
{
    bool fresh = touches->count && touches->list[0].fresh;
    for (uint32_t c = 1; c < cypher->chain_count; c++)
        if (nearest_shared (cypher, &cypher->chains[c], 0) < 0 &&
            (!fresh || cypher->chains[c].inverted))
            return true;
    return false;
}

static int
find (struct ag_seek *seek, struct touches *touches, const struct ag_event *event)
{
    struct ag_change change;
    if (touch_event (touches, event))
        return -1;
    bool of_graph = ag_change_of (event, &change);
    if ((!of_graph && !touches->count) || asks_anywhere (seek->cypher, touches))
        return ag_seek_everywhere (seek);
    for (size_t i = 0; i < touches->count; i++) {
        const struct touch *touch = &touches->list[i];
        if (touch->stands && stand (seek, touch))
            return -1;
        if (touch->walks && walk (seek, touch))
            return -1;
    }
    return 0;
}

int
ag_cypher_match (ag_journal_t *journal, struct ag_run *run, const struct ag_cypher *cypher,
                 const struct ag_event *event, struct ag_invocation *reader,
                 struct ag_matches *matches, struct ag_err *err)
{
    struct ag_seek *seek = ag_xcalloc (1, sizeof *seek);
    *seek = (struct ag_seek){.journal = journal,
                             .run = run,
                             .cypher = cypher,
                             .reader = reader,
                             .matches = matches,
                             .err = err};
    struct touches touches = {.seek = seek};
    matches->count = 0;
    ag_buf_clear (&matches->list);
    int rc = find (seek, &touches, event);
    touches_fini (&touches);
    ag_seek_fini (seek);
    free (seek);
    return rc ? -1 : 0;
}
