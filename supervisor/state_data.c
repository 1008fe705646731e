//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/cache.h"
#include "supervisor/fields.h"
#include "supervisor/state_index.h"

#include <inttypes.h>

void
ag_entity_fini (struct ag_entity *entity)
{
    ag_tip_fini (&entity->tip);
    ag_buf_fini (&entity->name);
    ag_buf_fini (&entity->birth);
    ag_buf_fini (&entity->built);
    *entity = (struct ag_entity){0};
}

static int
corrupt (const struct ag_run *run, uint64_t seq, struct ag_err *err)
{
    return ag_fail (err, AG_E_CORRUPT, "event %" PRIu64 " of run %s is not what the index says",
                    seq, run->id);
}

//  A part of the thing that an event of creation holds: payload.object.data and the like.
static int
birth_part (const struct ag_event *event, enum ag_entity_kind kind, const char *part,
            struct ag_str *value)
{
    struct ag_str thing;
    return ag_map_get (event->payload, kind == AG_OBJECT ? "object" : "relation", &thing) ||
           ag_map_get (thing, part, value);
}

//  As ag_whole_get, of one version exactly and only where its event lies in the archive.
static int
whole_at (ag_journal_t *journal, const struct ag_run *run, enum ag_entity_kind kind,
          struct ag_str id, uint64_t seq, struct ag_buf *hold, struct ag_whole *whole,
          struct ag_err *err)
{
    if (seq > run->archived)
        return 0;
    int rc = ag_whole_get (journal, run, kind, id, seq, hold, whole, err);
    return rc > 0 ? whole->seq == seq : rc;
}

//  The data that a thing was made with.
static int
read_birth (ag_journal_t *journal, enum ag_entity_kind kind, struct ag_str id,
            const struct ag_tip *tip, struct ag_buf *hold, struct ag_str *value, struct ag_err *err)
{
    struct ag_event event;
    struct ag_whole whole;
    const struct ag_run *maker = ag_run_holder (tip->holder, tip->created);
    int rc = whole_at (journal, maker, kind, id, tip->created, hold, &whole, err);
    if (rc > 0)
        *value = whole.data;
    if (rc)
        return rc > 0 ? 0 : -1;
    if (ag_journal_read (journal, tip->holder, tip->created, hold, &event, err))
        return -1;
    return birth_part (&event, kind, "data", value) ? corrupt (tip->holder, tip->created, err) : 0;
}

/*  Rebuilding an object: back to a version that holds its data whole, then forward through the updates. */

struct rebuild {
    ag_journal_t *journal;
    struct ag_str id;
    const struct ag_run *level; //  where the walk back stands
    uint64_t at, created;
    uint64_t updates[AG_WHOLE]; //  sequences, newest first
    int count;
    struct ag_buf hold, data;
};

static int
patch_value (struct rebuild *self, uint64_t seq, struct ag_str *value, struct ag_err *err)
{
    struct ag_event event;
    struct ag_str patch;
    if (ag_journal_read (self->journal, self->level, seq, &self->hold, &event, err))
        return -1;
    if (ag_map_get (event.payload, "patch", &patch) || ag_map_get (patch, "value", value) ||
        ag_kind_of (*value) != AG_MAP)
        return corrupt (self->level, seq, err);
    return 0;
}

//  1: data stands in self->data now; 0: go further back.
static int
step_back (struct rebuild *self, uint64_t seq, struct ag_str stored, struct ag_err *err)
{
    struct ag_version version;
    struct ag_str value;
    if (ag_version_decode (stored, &version) || version.op == AG_VERSION_REMOVE)
        return corrupt (self->level, seq, err);
    if (!version.data.p) {
        struct ag_whole whole;
        int rc = whole_at (self->journal, self->level, AG_OBJECT, self->id, seq, &self->hold,
                           &whole, err);
        if (rc < 0)
            return -1;
        version.data = rc ? whole.data : (struct ag_str){0};
    }
    if (version.data.p) {
        ag_buf_add_str (&self->data, version.data);
        return 1;
    }
    if (version.op == AG_VERSION_REPLACE) {
        if (patch_value (self, seq, &value, err))
            return -1;
        ag_buf_add_str (&self->data, value);
        return 1;
    }
    if (self->count == AG_WHOLE)
        return corrupt (self->level, seq, err);
    self->updates[self->count++] = seq;
    return 0;
}

//  Back through the versions of one run, as far as they are of this thing: as step_back.
static int
walk_level (struct rebuild *self, struct ag_err *err)
{
    struct ag_key from, prefix;
    struct ag_str key, value;
    ag_key_version (&from, self->level->index, AG_OBJECT, self->id, self->at);
    ag_key_tip (&prefix, self->level->index, AG_OBJECT, self->id);
    struct ag_key to = ag_key_end (&prefix);
    ag_view_t *view = ag_batch_scan (ag_journal_batch (self->journal), AG_VERSION,
                                     ag_key_str (&from), ag_key_str (&to));
    int rc, found = 0;
    while (!found && (rc = ag_view_next (view, &key, &value, err)) != 0) {
        uint64_t seq = rc > 0 ? ~ag_key_last_number (key) : 0;
        if (rc > 0 && seq <= self->created)
            break;
        found = rc < 0 ? -1 : step_back (self, seq, value, err);
    }
    ag_view_destroy (&view);
    return found;
}

static int
walk_back (struct rebuild *self, const struct ag_tip *tip, struct ag_err *err)
{
    struct ag_str value;
    for (;;) {
        int found = self->at > self->level->cut ? walk_level (self, err) : 0;
        if (found)
            return found < 0 ? -1 : 0;
        if (tip->created > self->level->cut)
            break;
        self->at = self->at < self->level->cut ? self->at : self->level->cut;
        self->level = self->level->above;
    }
    if (read_birth (self->journal, AG_OBJECT, self->id, tip, &self->hold, &value, err))
        return -1;
    ag_buf_add_str (&self->data, value);
    return 0;
}

static int
walk_forward (struct rebuild *self, const struct ag_tip *tip, struct ag_err *err)
{
    struct ag_buf next = {0};
    struct ag_str value;
    self->level = tip->holder;
    while (self->count > 0) {
        if (patch_value (self, self->updates[--self->count], &value, err)) {
            ag_buf_fini (&next);
            return -1;
        }
        ag_buf_clear (&next);
        ag_fields_merge (ag_buf_str (&self->data), value, &next);
        struct ag_buf old = self->data;
        self->data = next;
        next = old;
    }
    ag_buf_fini (&next);
    return 0;
}

static int
rebuild (ag_journal_t *journal, struct ag_str id, const struct ag_tip *tip, struct ag_buf *out,
         struct ag_err *err)
{
    struct rebuild self = {.journal = journal,
                           .id = id,
                           .level = tip->holder,
                           .at = tip->seq,
                           .created = tip->created};
    int rc = walk_back (&self, tip, err) || walk_forward (&self, tip, err) ? -1 : 0;
    ag_buf_add_str (out, ag_buf_str (&self.data));
    ag_buf_fini (&self.data);
    ag_buf_fini (&self.hold);
    return rc;
}

int
ag_state_data (ag_journal_t *journal, enum ag_entity_kind kind, struct ag_str id,
               const struct ag_tip *tip, struct ag_buf *out, struct ag_err *err)
{
    struct ag_key key;
    struct ag_str data;
    ag_buf_clear (out);
    if (kind == AG_OBJECT) {
        ag_state_data_key (tip->holder, id, &key);
        if (ag_cache_get (ag_journal_cache (journal), ag_key_str (&key), tip->seq, &data)) {
            ag_buf_add_str (out, data);
            return 0;
        }
        if (tip->seq != tip->created)
            return rebuild (journal, id, tip, out, err);
    }
    struct ag_buf hold = {0};
    int rc = read_birth (journal, kind, id, tip, &hold, &data, err);
    if (!rc)
        ag_buf_add_str (out, data);
    ag_buf_fini (&hold);
    return rc;
}

/*  Whole entities  */

//  Provenance, and the data that the thing was made with unless it is whole in the version that is read: then 1.
static int
fill_birth (ag_journal_t *journal, struct ag_entity *entity, struct ag_err *err)
{
    struct ag_event event;
    struct ag_whole whole = {0};
    const struct ag_tip *tip = &entity->tip;
    int rc = 0;
    if (tip->created <= ag_run_holder (tip->holder, tip->created)->archived)
        rc = ag_whole_get (journal, tip->holder, entity->kind, ag_buf_str (&entity->name), tip->seq,
                           &entity->birth, &whole, err);
    if (rc > 0) {
        entity->data = whole.data;
        entity->provenance = whole.provenance;
        return whole.seq == tip->seq;
    }
    if (rc < 0 || ag_journal_read (journal, tip->holder, tip->created, &entity->birth, &event, err))
        return -1;
    if (birth_part (&event, entity->kind, "data", &entity->data) ||
        birth_part (&event, entity->kind, "provenance", &entity->provenance))
        return corrupt (tip->holder, tip->created, err);
    return entity->kind == AG_RELATION || tip->seq == tip->created;
}

static int
fill (ag_journal_t *journal, struct ag_entity *entity, struct ag_err *err)
{
    const struct ag_tip *tip = &entity->tip;
    int whole = fill_birth (journal, entity, err);
    if (whole < 0)
        return -1;
    entity->id = ag_buf_str (&entity->name);
    entity->type = tip->type;
    entity->source = tip->source;
    entity->target = tip->target;
    entity->version = tip->version;
    entity->seq = tip->seq;
    entity->created = tip->created;
    if (whole)
        return 0;
    int rc = ag_state_data (journal, entity->kind, entity->id, tip, &entity->built, err);
    entity->data = ag_buf_str (&entity->built);
    return rc;
}

int
ag_state_get (ag_journal_t *journal, const struct ag_run *run, enum ag_entity_kind kind,
              struct ag_str id, uint64_t at, struct ag_entity *entity, struct ag_err *err)
{
    int rc = ag_state_tip (journal, run, kind, id, at, &entity->tip, err);
    if (rc <= 0 || !entity->tip.live)
        return rc < 0 ? -1 : 0;
    entity->kind = kind;
    ag_buf_clear (&entity->name);
    ag_buf_add_str (&entity->name, id);
    return fill (journal, entity, err) ? -1 : 1;
}

void
ag_entity_write (const struct ag_entity *entity, struct ag_buf *out)
{
    bool relation = entity->kind == AG_RELATION;
    ag_put_map (out, relation ? 6 : 5);
    ag_put_pair_text (out, "id", entity->id);
    if (relation) {
        ag_put_pair_text (out, "source", entity->source);
        ag_put_pair_text (out, "target", entity->target);
    }
    ag_put_pair_text (out, "type", entity->type);
    ag_put_pair_value (out, "data", entity->data);
    if (!relation) {
        ag_put_lit (out, "version");
        ag_put_uint (out, entity->version);
    }
    ag_put_pair_value (out, "provenance", entity->provenance);
}
