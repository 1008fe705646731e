//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/key.h"
#include "supervisor/retention.h"
#include "supervisor/state_index.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 4, FIXED = NUMBERS * 8 + AG_HASH, PAGE_IDS = 256, PAGE_BYTES = 1 << 20 };

void
ag_snapshot_fini (struct ag_snapshot *self)
{
    ag_buf_fini (&self->after);
}

/*  Its record  */

//  1, 0 when none is being made, -1.
static int
read_begun (ag_journal_t *journal, const struct ag_run *run, struct ag_snapshot *self,
            struct ag_err *err)
{
    struct ag_key key;
    struct ag_buf hold = {0};
    ag_key_of_run (&key, 'z', run->number);
    int rc = ag_batch_get (ag_journal_batch (journal), AG_META, ag_key_str (&key), &hold, err);
    if (rc > 0 && hold.n < FIXED)
        rc = ag_fail (err, AG_E_CORRUPT, "the snapshot that run %s began is unreadable", run->id);
    if (rc > 0) {
        self->at = ag_be64 (hold.p);
        self->objects = ag_be64 (hold.p + 8);
        self->relations = ag_be64 (hold.p + 16);
        self->in_relations = ag_be64 (hold.p + 24);
        memcpy (self->hash, hold.p + NUMBERS * 8, AG_HASH);
        ag_buf_clear (&self->after);
        ag_buf_add (&self->after, hold.p + FIXED, hold.n - FIXED);
    }
    ag_buf_fini (&hold);
    return rc;
}

static void
put_begun (ag_journal_t *journal, const struct ag_run *run, const struct ag_snapshot *self)
{
    struct ag_key key;
    struct ag_buf value = {0};
    ag_key_of_run (&key, 'z', run->number);
    ag_buf_be64 (&value, self->at);
    ag_buf_be64 (&value, self->objects);
    ag_buf_be64 (&value, self->relations);
    ag_buf_be64 (&value, self->in_relations);
    ag_buf_add (&value, self->hash, AG_HASH);
    ag_buf_add_str (&value, ag_buf_str (&self->after));
    ag_batch_put (ag_journal_batch (journal), AG_META, ag_key_str (&key), ag_buf_str (&value));
    ag_buf_fini (&value);
}

/*  A page of entities: the ids first, since a scan is read only, then each into the hash.  */

struct page {
    ag_journal_t *journal;
    const struct ag_run *run;
    struct ag_snapshot *snapshot;
    bool whole; //  write what the run holds itself
    size_t bytes;
    char *ids[PAGE_IDS];
    uint32_t limit, count;
};

static bool
add_id (void *arg, struct ag_str id)
{
    struct page *page = arg;
    page->ids[page->count++] = ag_str_dup (id);
    return page->count < page->limit;
}

static void
add_to_hash (struct page *page, const struct ag_entity *entity)
{
    struct ag_snapshot *self = page->snapshot;
    struct ag_buf shown = {0};
    uint8_t before[AG_HASH], own[AG_HASH];
    ag_entity_write (entity, &shown);
    ag_value_hash (ag_buf_str (&shown), (struct ag_str){0}, own);
    memcpy (before, self->hash, AG_HASH);
    ag_hash ((struct ag_str){(const char *)before, AG_HASH},
             (struct ag_str){(const char *)own, AG_HASH}, self->hash);
    if (page->whole && entity->tip.holder->number == page->run->number)
        ag_whole_put (page->journal, entity);
    page->bytes += shown.n;
    ag_buf_fini (&shown);
}

static int
add_entity (struct page *page, enum ag_entity_kind kind, struct ag_str id, struct ag_err *err)
{
    struct ag_snapshot *self = page->snapshot;
    struct ag_entity entity = {0};
    int rc = ag_state_get (page->journal, page->run, kind, id, self->at, &entity, err);
    if (rc == 0)
        rc = ag_fail (err, AG_E_CORRUPT, "the index of run %s lists `%.*s`, which is not there",
                      page->run->id, AG_STR_ARG (id));
    if (rc > 0) {
        add_to_hash (page, &entity);
        ag_buf_clear (&self->after);
        ag_buf_add_str (&self->after, id);
        ++*(kind == AG_OBJECT ? &self->objects : &self->relations);
    }
    ag_entity_fini (&entity);
    return rc < 0 ? -1 : 0;
}

static int
add_page_of_kind (struct page *page, struct ag_err *err)
{
    struct ag_snapshot *self = page->snapshot;
    enum ag_entity_kind kind = self->in_relations ? AG_RELATION : AG_OBJECT;
    page->count = 0;
    page->bytes = 0;
    int rc = ag_state_scan (page->journal, page->run, kind, self->at, ag_buf_str (&self->after),
                            add_id, page, err);
    uint32_t used = 0;
    while (!rc && used < page->count && page->bytes < PAGE_BYTES)
        rc = add_entity (page, kind, ag_str (page->ids[used++]), err);
    bool last = page->count < page->limit && used == page->count;
    for (uint32_t i = 0; i < page->count; i++)
        free (page->ids[i]);
    if (rc)
        return -1;
    if (last && self->in_relations)
        return 0;
    if (last) {
        self->in_relations = true;
        ag_buf_clear (&self->after);
    }
    return 1;
}

//  1 when there is more, 0 after the last relation, -1. Where objects end with nothing, relations begin at once:
//  each page but the last moves on.
static int
add_page (struct page *page, struct ag_err *err)
{
    int rc;
    do
        rc = add_page_of_kind (page, err);
    while (rc > 0 && page->count == 0);
    return rc;
}

int
ag_snapshot_page (ag_journal_t *journal, const struct ag_run *run, uint32_t limit,
                  struct ag_snapshot *self, struct ag_err *err)
{
    struct page page = {.journal = journal,
                        .run = run,
                        .snapshot = self,
                        .limit = limit < PAGE_IDS ? limit : PAGE_IDS};
    return add_page (&page, err);
}

/*  The marker  */

static void
write_marker (const struct ag_snapshot *self, const struct ag_run_head *head, struct ag_buf *out)
{
    static const char *const kinds[AG_MINTED_KINDS] = {[AG_MINTED_OBJECT] = "object",
                                                       [AG_MINTED_RELATION] = "relation",
                                                       [AG_MINTED_PATCH] = "patch",
                                                       [AG_MINTED_APPROVAL] = "approval",
                                                       [AG_MINTED_FRAME] = "frame"};
    char hex[2 * AG_HASH + 1];
    ag_hex (self->hash, AG_HASH, hex);
    ag_put_map (out, 6);
    ag_put_lit (out, "state_hash");
    ag_put_textf (out, "blake2b:%s", hex);
    ag_put_lit (out, "covers_through");
    ag_put_evt (out, self->at);
    ag_put_pair_uint (out, "events_covered", self->at);
    ag_put_pair_uint (out, "objects", self->objects);
    ag_put_pair_uint (out, "relations", self->relations);
    ag_put_lit (out, "id_counters");
    ag_put_map (out, AG_MINTED_KINDS);
    for (int i = 0; i < AG_MINTED_KINDS; i++)
        ag_put_pair_uint (out, kinds[i], head->minted[i]);
}

static int
end_snapshot (ag_journal_t *journal, struct ag_run *run, struct ag_snapshot *self,
              struct ag_retained *retained, struct ag_err *err)
{
    struct ag_key key;
    struct ag_run_head head;
    struct ag_buf payload = {0};
    if (ag_run_head_at (journal, run, self->at, &head, err))
        return -1;
    write_marker (self, &head, &payload);
    if (ag_journal_tell (journal, run, AG_EV_RUNTIME_SNAPSHOT, 0, &payload, &retained->marker, err))
        return -1;
    ag_key_of_run (&key, 'z', run->number);
    ag_batch_delete (ag_journal_batch (journal), AG_META, ag_key_str (&key));
    retained->covered = self->at;
    ag_retained_put (ag_journal_batch (journal), run->number, retained);
    return 0;
}

int
ag_snapshot_step (ag_journal_t *journal, struct ag_run *run, uint32_t limit,
                  struct ag_snapshot *self, uint64_t *marker, struct ag_err *err)
{
    struct ag_retained retained;
    struct page page = {.journal = journal,
                        .run = run,
                        .snapshot = self,
                        .whole = true,
                        .limit = limit < PAGE_IDS ? limit : PAGE_IDS};
    assert (limit > 0);
    if (run->head.tip == 0)
        return ag_fail (err, AG_E_USAGE, "run %s has no events yet", run->id);
    if (ag_retained_get (ag_journal_batch (journal), run->number, &retained, err))
        return -1;
    *marker = retained.marker;
    if (run->head.tip == retained.marker)
        return 0;
    int rc = read_begun (journal, run, self, err);
    if (rc == 0)
        self->at = run->head.tip;
    if (rc >= 0)
        rc = add_page (&page, err);
    if (rc > 0)
        put_begun (journal, run, self);
    if (rc == 0)
        rc = end_snapshot (journal, run, self, &retained, err);
    *marker = retained.marker;
    return rc;
}
