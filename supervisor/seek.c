//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/seek.h"

#include <stdlib.h>
#include <string.h>

/*  Bookkeeping  */

struct ag_seen {
    UT_hash_handle hh;
    char key[];
};

//  True when it was there already.
static bool
seen (struct ag_seen **set, struct ag_str key)
{
    struct ag_seen *entry;
    HASH_FIND (hh, *set, key.p, key.n, entry);
    if (entry)
        return true;
    entry = ag_xmalloc (sizeof *entry + key.n);
    memcpy (entry->key, key.p, key.n);
    HASH_ADD (hh, *set, key, key.n, entry);
    return false;
}

static void
forget (struct ag_seen **set)
{
    struct ag_seen *entry = *set, *next;
    HASH_CLEAR (hh, *set);
    for (; entry; entry = next) {
        next = entry->hh.next;
        free (entry);
    }
}

void
ag_seek_fini (struct ag_seek *self)
{
    struct ag_thing *thing = self->known, *next;
    HASH_CLEAR (hh, self->known);
    for (; thing; thing = next) {
        next = thing->hh.next;
        ag_tip_fini (&thing->tip);
        ag_entity_fini (&thing->entity);
        free (thing);
    }
    forget (&self->read);
    forget (&self->found);
}

static int
too_much (struct ag_seek *self, int most, const char *what)
{
    return ag_fail (
        self->err, AG_E_TOO_LARGE,
        "the pattern looks at more than %d %s: name a type in each node, let the event's payload "
        "name the object it is about, or ask for fewer event types with `on`",
        most, what);
}

static int
spend (struct ag_seek *self)
{
    return ++self->reads <= AG_MATCH_READS ? 0 : too_much (self, AG_MATCH_READS, "things");
}

int
ag_seek_note (struct ag_seek *self, enum ag_read kind, struct ag_str text)
{
    struct ag_buf key = {0};
    char letter = (char)kind;
    ag_buf_add (&key, &letter, 1);
    ag_buf_add_str (&key, text);
    bool known = seen (&self->read, ag_buf_str (&key));
    ag_buf_fini (&key);
    return known ? 0 : ag_reads_add (self->reader, kind, text, self->err);
}

static struct ag_thing *
look (struct ag_seek *self, enum ag_entity_kind kind, struct ag_str id)
{
    struct ag_thing *thing = ag_xcalloc (1, sizeof *thing + 1 + id.n);
    thing->key[0] = (char)kind;
    memcpy (thing->key + 1, id.p, id.n);
    thing->kind = kind;
    thing->id = (struct ag_str){thing->key + 1, id.n};
    HASH_ADD (hh, self->known, key, 1 + id.n, thing);
    int rc = kind == AG_OBJECT ? ag_seek_note (self, AG_READ_ENTITY, id) : 0;
    if (!rc)
        rc = ag_state_tip (self->journal, self->run, kind, id, self->reader->at, &thing->tip,
                           self->err);
    thing->alive = rc > 0 && thing->tip.live;
    return rc < 0 ? NULL : thing;
}

const struct ag_thing *
ag_seek_thing (struct ag_seek *self, enum ag_entity_kind kind, struct ag_str id)
{
    struct ag_thing *thing;
    struct ag_buf key = {0};
    char letter = (char)kind;
    if (spend (self))
        return NULL;
    ag_buf_add (&key, &letter, 1);
    ag_buf_add_str (&key, id);
    HASH_FIND (hh, self->known, key.p, key.n, thing);
    ag_buf_fini (&key);
    return thing ? thing : look (self, kind, id);
}

int
ag_seek_relations (struct ag_seek *self, struct ag_str object, ag_id_fn fn, void *arg)
{
    if (ag_seek_note (self, AG_READ_ENDPOINT, object))
        return -1;
    return ag_state_relations (self->journal, self->run, object, self->reader->at,
                               (struct ag_str){0}, fn, arg, self->err);
}

/*  Things  */

//  Data of a thing; p NULL: failed.
static struct ag_str
data_of (struct ag_seek *self, const struct ag_thing *of)
{
    struct ag_thing *thing = (struct ag_thing *)of; //  ours; only its data is filled in
    if (thing->whole)
        return thing->entity.data;
    if (self->bytes > AG_MATCH_BYTES) {
        too_much (self, AG_MATCH_BYTES >> 20, "MiB of data");
        return (struct ag_str){0};
    }
    int rc = ag_state_get (self->journal, self->run, thing->kind, thing->id, self->reader->at,
                           &thing->entity, self->err);
    thing->whole = rc > 0;
    self->bytes += thing->entity.data.n;
    return thing->whole ? thing->entity.data : (struct ag_str){0};
}

//  1 when the thing is alive, of the place's type and has its properties, 0, -1.
static int
fits (struct ag_seek *self, const struct ag_cypher_place *place, const struct ag_thing *thing)
{
    struct ag_str data = {0};
    if (!thing->alive || (place->type.p && !ag_str_eq (place->type, thing->tip.type)))
        return 0;
    if (place->prop_count && !(data = data_of (self, thing)).p)
        return -1;
    for (uint32_t i = 0; i < place->prop_count; i++) {
        const struct ag_cypher_prop *prop = &self->cypher->props[place->props + i];
        struct ag_str value;
        if (ag_map_find (data, prop->key, &value))
            value = (struct ag_str){0};
        if (!ag_compare (value, AG_EQ, prop->value))
            return 0;
    }
    return 1;
}

//  Put a thing at a place: 1, 0 when it cannot stand there, -1. `fresh`: its slot was free, and is again after
//  `release`.
static int
bind (struct ag_seek *self, const struct ag_cypher_place *place, struct ag_str id, bool *fresh)
{
    const struct ag_thing *thing = self->slots[place->slot];
    *fresh = !thing;
    if (thing && !ag_str_eq (thing->id, id))
        return 0;
    bool relation = self->cypher->slots[place->slot].relation;
    if (!thing && !(thing = ag_seek_thing (self, relation ? AG_RELATION : AG_OBJECT, id)))
        return -1;
    int rc = fits (self, place, thing);
    if (rc > 0)
        self->slots[place->slot] = thing;
    return rc;
}

static void
release (struct ag_seek *self, const struct ag_cypher_place *place, bool fresh)
{
    if (fresh)
        self->slots[place->slot] = NULL;
}

/*  Conditions  */

static int test (struct ag_seek *self, uint32_t number);
static int chain_exists (struct ag_seek *self, const struct ag_cypher_chain *chain);

static struct ag_str
own_text (const struct ag_thing *thing, struct ag_str name)
{
    if (ag_str_is (name, "id"))
        return thing->id;
    if (ag_str_is (name, "type"))
        return thing->tip.type;
    if (thing->kind == AG_RELATION && ag_str_is (name, "source"))
        return thing->tip.source;
    if (thing->kind == AG_RELATION && ag_str_is (name, "target"))
        return thing->tip.target;
    return (struct ag_str){0};
}

//  A field of the data; where it has none of that name, `id`, `type`, `source` and `target` are the thing's own.
//  p NULL: there is none.
static int
value_of (struct ag_seek *self, const struct ag_cypher_side *side, struct ag_buf *own,
          struct ag_str *value)
{
    *value = side->text;
    if (side->slot < 0)
        return 0;
    const struct ag_thing *thing = self->slots[side->slot];
    struct ag_str data = data_of (self, thing);
    if (!data.p)
        return -1;
    if (!ag_map_path (data, side->text, value))
        return 0;
    struct ag_str text = own_text (thing, side->text);
    ag_buf_clear (own);
    if (text.p)
        ag_put_text (own, text);
    *value = ag_buf_str (own);
    if (!own->n)
        value->p = NULL;
    return 0;
}

static int
compare (struct ag_seek *self, const struct ag_cypher_test *test)
{
    struct ag_buf one = {0}, two = {0};
    struct ag_str left = {0}, right = {0};
    int rc = value_of (self, &test->left, &one, &left);
    if (!rc)
        rc = value_of (self, &test->right, &two, &right);
    if (!rc)
        rc = ag_compare (left, test->compare, right.p ? right : AG_LIT ("\xc0"));
    ag_buf_fini (&one);
    ag_buf_fini (&two);
    return rc;
}

static int
test_not_exists (struct ag_seek *self, const struct ag_cypher_test *test)
{
    int rc = chain_exists (self, &self->cypher->chains[test->a]);
    return rc < 0 ? -1 : !rc;
}

static int
test_not (struct ag_seek *self, const struct ag_cypher_test *of)
{
    int rc = test (self, of->a);
    return rc < 0 ? -1 : !rc;
}

static int
test_and (struct ag_seek *self, const struct ag_cypher_test *both)
{
    int rc = test (self, both->a);
    return rc > 0 ? test (self, both->b) : rc;
}

//  1, 0, -1.
static int
test (struct ag_seek *self, uint32_t number)
{
    static int (*const rows[]) (struct ag_seek *, const struct ag_cypher_test *) = {
        [AG_CYPHER_COMPARE] = compare,
        [AG_CYPHER_NOT_EXISTS] = test_not_exists,
        [AG_CYPHER_NOT] = test_not,
        [AG_CYPHER_AND] = test_and,
    };
    const struct ag_cypher_test *row = &self->cypher->tests[number];
    return rows[row->kind](self, row);
}

/*  Chains  */

//  A chain on its way: places from low to high are bound. 1: it is enough, 0: go on, -1.
struct walk {
    struct ag_seek *self;
    const struct ag_cypher_chain *chain;
    uint32_t low, high;
    int rc;
};

//  The whole chain is bound.
static int
complete (const struct walk *walk)
{
    struct ag_seek *self = walk->self;
    const struct ag_cypher *cypher = self->cypher;
    if (walk->chain != &cypher->chains[0])
        return 1;
    int rc = cypher->where < 0 ? 1 : test (self, (uint32_t)cypher->where);
    if (rc <= 0)
        return rc;
    struct ag_buf match = {0};
    size_t map = ag_open_map (&match);
    uint32_t pairs = 0;
    for (uint32_t i = 0; i < walk->chain->slots; i++)
        if (cypher->slots[i].name.n) {
            ag_put_text (&match, cypher->slots[i].name);
            ag_put_text (&match, self->slots[i]->id);
            pairs++;
        }
    ag_close (&match, map, pairs);
    if (!seen (&self->found, ag_buf_str (&match)) && ++self->matches->count <= AG_MATCH_SHOWN)
        ag_buf_add_str (&self->matches->list, ag_buf_str (&match));
    ag_buf_fini (&match);
    if (self->matches->count <= AG_MATCH_COUNT)
        return 0;
    return ag_fail (self->err, AG_E_TOO_LARGE,
                    "the pattern has more than %d matches: add a property or a condition",
                    AG_MATCH_COUNT);
}

static const struct ag_cypher_place *
place_at (const struct walk *walk, uint32_t i)
{
    return &walk->self->cypher->places[walk->chain->first + i];
}

static int extend (const struct walk *walk);

//  To the node behind a bound relation, and on.
static int
cross (const struct walk *walk, bool right)
{
    struct ag_seek *self = walk->self;
    struct walk wider = *walk;
    const struct ag_cypher_place *relation =
        place_at (walk, right ? walk->high + 1 : walk->low - 1);
    const struct ag_cypher_place *near = place_at (walk, right ? walk->high : walk->low);
    const struct ag_cypher_place *far = place_at (walk, right ? walk->high + 2 : walk->low - 2);
    const struct ag_tip *tip = &self->slots[relation->slot]->tip;
    bool leaves = relation->forward == right; //  it starts at the near node
    bool fresh;
    if (!ag_str_eq (leaves ? tip->source : tip->target, self->slots[near->slot]->id))
        return 0;
    int rc = bind (self, far, leaves ? tip->target : tip->source, &fresh);
    if (rc > 0) {
        wider.high += right ? 2 : 0;
        wider.low -= right ? 0 : 2;
        rc = extend (&wider);
        release (self, far, fresh);
    }
    return rc;
}

static int
try_relation (const struct walk *walk, bool right, struct ag_str id)
{
    const struct ag_cypher_place *place = place_at (walk, right ? walk->high + 1 : walk->low - 1);
    bool fresh;
    int rc = bind (walk->self, place, id, &fresh);
    if (rc > 0) {
        rc = cross (walk, right);
        release (walk->self, place, fresh);
    }
    return rc;
}

static bool
try_right (void *arg, struct ag_str id)
{
    struct walk *walk = arg;
    return !(walk->rc = try_relation (walk, true, id));
}

static bool
try_left (void *arg, struct ag_str id)
{
    struct walk *walk = arg;
    return !(walk->rc = try_relation (walk, false, id));
}

//  The next relation to the right of what is bound, then to the left; a bound one is followed, else the near
//  node's are tried.
static int
extend (const struct walk *walk)
{
    struct ag_seek *self = walk->self;
    bool right = walk->high + 1 < walk->chain->count;
    if (!right && walk->low == 0)
        return complete (walk);
    const struct ag_thing *relation =
        self->slots[place_at (walk, right ? walk->high + 1 : walk->low - 1)->slot];
    if (relation)
        return try_relation (walk, right, relation->id);
    const struct ag_thing *near =
        self->slots[place_at (walk, right ? walk->high : walk->low)->slot];
    struct walk here = *walk;
    if (ag_seek_relations (self, near->id, right ? try_right : try_left, &here))
        return -1;
    return here.rc;
}

//  A thing at a place, and the rest of the chain around it.
static int
around (struct ag_seek *self, const struct ag_cypher_chain *chain, uint32_t i, struct ag_str id)
{
    struct walk walk = {self, chain, i, i, 0};
    const struct ag_cypher_place *place = place_at (&walk, i), *left;
    bool fresh, left_fresh;
    int rc = bind (self, place, id, &fresh);
    if (rc <= 0)
        return rc;
    if (i % 2 == 0)
        rc = extend (&walk);
    else {
        const struct ag_tip *tip = &self->slots[place->slot]->tip;
        left = place_at (&walk, i - 1);
        rc = bind (self, left, place->forward ? tip->source : tip->target, &left_fresh);
        if (rc > 0) {
            walk.low = walk.high = i - 1;
            rc = cross (&walk, true);
            release (self, left, left_fresh);
        }
    }
    release (self, place, fresh);
    return rc;
}

struct scan {
    struct ag_seek *self;
    const struct ag_cypher_chain *chain;
    uint32_t place;
    int rc;
};

static bool
try_node (void *arg, struct ag_str id)
{
    struct scan *scan = arg;
    return !(scan->rc = around (scan->self, scan->chain, scan->place, id));
}

//  Begin at everything that the first node with a type can be; else at everything.
static int
everywhere (struct ag_seek *self, const struct ag_cypher_chain *chain)
{
    struct scan scan = {self, chain, 0, 0};
    const struct ag_cypher_place *places = &self->cypher->places[chain->first];
    for (uint32_t i = 0; i < chain->count; i += 2)
        if (places[i].type.p) {
            scan.place = i;
            break;
        }
    struct ag_str type = places[scan.place].type, start = {0};
    uint64_t at = self->reader->at;
    int rc = 0;
    if (type.p)
        rc = ag_seek_note (self, AG_READ_TYPE, type) ||
             ag_state_scan_type (self->journal, self->run, AG_OBJECT, type, at, start, try_node,
                                 &scan, self->err);
    else
        rc = ag_state_scan (self->journal, self->run, AG_OBJECT, at, start, try_node, &scan,
                            self->err);
    return rc ? -1 : scan.rc;
}

static int
chain_exists (struct ag_seek *self, const struct ag_cypher_chain *chain)
{
    for (uint32_t i = 0; i < chain->count; i++) {
        const struct ag_thing *thing = self->slots[self->cypher->places[chain->first + i].slot];
        if (thing)
            return around (self, chain, i, thing->id);
    }
    return everywhere (self, chain);
}

int
ag_seek_from (struct ag_seek *self, uint32_t place, struct ag_str id)
{
    return around (self, &self->cypher->chains[0], place, id);
}

int
ag_seek_everywhere (struct ag_seek *self)
{
    return everywhere (self, &self->cypher->chains[0]);
}
