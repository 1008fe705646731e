//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/cache.h"
#include "supervisor/state_index.h"

#include <string.h>

/*  Stored forms  */

//  [seq, created, version, live, type], of a relation also its ends; and true when its id was made before.
static void
encode_tip (const struct ag_tip *tip, enum ag_entity_kind kind, struct ag_buf *out)
{
    ag_put_list (out, (kind == AG_RELATION ? 7 : 5) + tip->again);
    ag_put_uint (out, tip->seq);
    ag_put_uint (out, tip->created);
    ag_put_uint (out, tip->version);
    ag_put_bool (out, tip->live);
    ag_put_text (out, tip->type);
    if (kind == AG_RELATION) {
        ag_put_text (out, tip->source);
        ag_put_text (out, tip->target);
    }
    if (tip->again)
        ag_put_bool (out, true);
}

static bool
take (struct ag_cursor *in, enum ag_kind kind, struct ag_head *head)
{
    return !ag_next (in, head) && head->kind == kind;
}

static bool
take_uint (struct ag_cursor *in, uint64_t *number)
{
    struct ag_head head;
    bool ok = take (in, AG_UINT, &head);
    *number = ok ? head.u : 0;
    return ok;
}

static bool
take_text (struct ag_cursor *in, struct ag_str *text)
{
    struct ag_head head;
    bool ok = take (in, AG_TEXT, &head);
    *text = ok ? head.s : (struct ag_str){0};
    return ok;
}

int
ag_tip_decode (struct ag_str value, struct ag_tip *tip)
{
    struct ag_cursor in = ag_cursor (value);
    struct ag_head list, live;
    if (!take (&in, AG_LIST, &list) || !take_uint (&in, &tip->seq) ||
        !take_uint (&in, &tip->created) || !take_uint (&in, &tip->version) ||
        !take (&in, AG_BOOL, &live) || !take_text (&in, &tip->type))
        return -1;
    tip->live = live.b;
    tip->source = tip->target = (struct ag_str){0};
    tip->again = list.count % 2 == 0;
    if (list.count >= 7 && (!take_text (&in, &tip->source) || !take_text (&in, &tip->target)))
        return -1;
    return 0;
}

int
ag_version_decode (struct ag_str value, struct ag_version *version)
{
    struct ag_cursor in = ag_cursor (value);
    struct ag_head list;
    uint64_t op;
    if (!take (&in, AG_LIST, &list) || !take_uint (&in, &op) || op > AG_VERSION_CREATE ||
        !take_uint (&in, &version->version))
        return -1;
    version->op = (enum ag_version_op)op;
    version->data = (struct ag_str){0};
    return list.count == 3 ? ag_take (&in, &version->data) : 0;
}

/*  Writing  */

//  Written through the cache, under sequence 0: what is there is what the table holds.
static void
put_tip (ag_journal_t *journal, const struct ag_run *run, enum ag_entity_kind kind,
         struct ag_str id, const struct ag_tip *tip)
{
    struct ag_key key;
    struct ag_buf value = {0};
    ag_key_tip (&key, run->index, kind, id);
    encode_tip (tip, kind, &value);
    ag_batch_put (ag_journal_batch (journal), AG_TIP, ag_key_str (&key), ag_buf_str (&value));
    ag_cache_put (ag_journal_cache (journal), ag_key_str (&key), 0, ag_buf_str (&value));
    ag_buf_fini (&value);
}

static int
get_tip (ag_journal_t *journal, const struct ag_run *run, enum ag_entity_kind kind,
         struct ag_str id, struct ag_buf *hold, struct ag_err *err)
{
    struct ag_key key;
    struct ag_str value;
    ag_buf_clear (hold);
    ag_key_tip (&key, run->index, kind, id);
    if (!ag_cache_get (ag_journal_cache (journal), ag_key_str (&key), 0, &value))
        return ag_batch_get (ag_journal_batch (journal), AG_TIP, ag_key_str (&key), hold, err);
    ag_buf_add_str (hold, value);
    return 1;
}

static void
put_version (ag_journal_t *journal, const struct ag_run *run, enum ag_entity_kind kind,
             struct ag_str id, uint64_t seq, const struct ag_version *version)
{
    struct ag_key key;
    struct ag_buf value = {0};
    ag_key_version (&key, run->index, kind, id, seq);
    ag_put_list (&value, version->data.p ? 3 : 2);
    ag_put_uint (&value, version->op);
    ag_put_uint (&value, version->version);
    if (version->data.p)
        ag_put_value (&value, version->data);
    ag_batch_put (ag_journal_batch (journal), AG_VERSION, ag_key_str (&key), ag_buf_str (&value));
    ag_buf_fini (&value);
}

//  One key of the index: while live with [created], afterwards with [created, removed); one of its own for
//  each time that the id was made again.
static void
move_index (ag_journal_t *journal, struct ag_key *live, struct ag_key *gone, struct ag_str id,
            const struct ag_tip *tip, uint64_t removed)
{
    ag_batch_t *batch = ag_journal_batch (journal);
    struct ag_buf value = {0};
    ag_buf_be64 (&value, tip->created);
    ag_key_add_id (live, id);
    if (removed == 0) {
        ag_batch_put (batch, AG_INDEX, ag_key_str (live), ag_buf_str (&value));
    } else {
        ag_key_add_id (gone, id);
        if (tip->again)
            ag_key_add_number (gone, tip->created);
        ag_buf_be64 (&value, removed);
        ag_batch_delete (batch, AG_INDEX, ag_key_str (live));
        ag_batch_put (batch, AG_INDEX, ag_key_str (gone), ag_buf_str (&value));
    }
    ag_buf_fini (&value);
}

static void
index_end (ag_journal_t *journal, const struct ag_run *run, struct ag_str object, struct ag_str id,
           const struct ag_tip *tip, uint64_t removed)
{
    struct ag_key live, gone;
    ag_key_of_object (&live, true, run->index, object);
    ag_key_of_object (&gone, false, run->index, object);
    move_index (journal, &live, &gone, id, tip, removed);
}

//  By type, and a relation by both ends; only in the run that made the entity.
static void
index_entity (ag_journal_t *journal, const struct ag_run *run, enum ag_entity_kind kind,
              struct ag_str id, const struct ag_tip *tip, uint64_t removed)
{
    struct ag_key live, gone;
    if (tip->created <= run->cut)
        return;
    ag_key_of_type (&live, true, run->index, kind, tip->type);
    ag_key_of_type (&gone, false, run->index, kind, tip->type);
    move_index (journal, &live, &gone, id, tip, removed);
    if (kind != AG_RELATION)
        return;
    index_end (journal, run, tip->source, id, tip, removed);
    if (!ag_str_eq (tip->source, tip->target))
        index_end (journal, run, tip->target, id, tip, removed);
}

static void
create (ag_journal_t *journal, const struct ag_run *run, enum ag_entity_kind kind, struct ag_str id,
        const struct ag_tip *tip)
{
    put_tip (journal, run, kind, id, tip);
    index_entity (journal, run, kind, id, tip, 0);
}

void
ag_state_create (ag_journal_t *journal, const struct ag_run *run, enum ag_entity_kind kind,
                 struct ag_str id, struct ag_str type, struct ag_str source, struct ag_str target,
                 uint64_t seq)
{
    struct ag_tip tip = {.seq = seq,
                         .created = seq,
                         .version = 1,
                         .live = true,
                         .type = type,
                         .source = source,
                         .target = target};
    create (journal, run, kind, id, &tip);
}

void
ag_state_create_again (ag_journal_t *journal, const struct ag_run *run, enum ag_entity_kind kind,
                       struct ag_str id, const struct ag_tip *before, const struct ag_tip *now)
{
    struct ag_buf value = {0};
    struct ag_tip tip = *now, ended = *before;
    tip.again = true;
    if (before->live) {
        ended.seq = now->seq;
        ended.live = false;
        index_entity (journal, run, kind, id, before, now->seq);
    }
    encode_tip (&ended, kind, &value);
    put_version (
        journal, run, kind, id, before->created,
        &(struct ag_version){.op = AG_VERSION_CREATE, .version = 1, .data = ag_buf_str (&value)});
    ag_buf_fini (&value);
    create (journal, run, kind, id, &tip);
}

void
ag_state_data_key (const struct ag_run *run, struct ag_str id, struct ag_key *key)
{
    ag_key_tip (key, run->index, AG_OBJECT, id);
    ag_key_next (key);
}

void
ag_state_keep (ag_journal_t *journal, const struct ag_run *run, struct ag_str id, uint64_t seq,
               struct ag_str data)
{
    struct ag_key key;
    ag_state_data_key (run, id, &key);
    ag_cache_put (ag_journal_cache (journal), ag_key_str (&key), seq, data);
}

void
ag_state_patch (ag_journal_t *journal, const struct ag_run *run, struct ag_str id,
                const struct ag_tip *before, enum ag_patch_op op, struct ag_str data, uint64_t seq)
{
    struct ag_tip tip = *before;
    tip.seq = seq;
    tip.version++;
    put_tip (journal, run, AG_OBJECT, id, &tip);

    bool whole = tip.version % AG_WHOLE == 0;
    struct ag_version version = {.op = op == AG_UPDATE ? AG_VERSION_UPDATE : AG_VERSION_REPLACE,
                                 .version = tip.version,
                                 .data = whole ? data : (struct ag_str){0}};
    put_version (journal, run, AG_OBJECT, id, seq, &version);
    ag_state_keep (journal, run, id, seq, data);
}

void
ag_state_remove (ag_journal_t *journal, const struct ag_run *run, enum ag_entity_kind kind,
                 struct ag_str id, const struct ag_tip *before, uint64_t seq)
{
    struct ag_tip tip = *before;
    tip.seq = seq;
    tip.live = false;
    put_tip (journal, run, kind, id, &tip);
    put_version (journal, run, kind, id, seq,
                 &(struct ag_version){.op = AG_VERSION_REMOVE, .version = tip.version});
    index_entity (journal, run, kind, id, &tip, seq);
}

/*  Reading a tip  */

void
ag_tip_fini (struct ag_tip *tip)
{
    ag_buf_fini (&tip->hold);
    *tip = (struct ag_tip){0};
}

static int
corrupt (const struct ag_run *level, struct ag_str id, struct ag_err *err)
{
    return ag_fail (err, AG_E_CORRUPT, "the state index of run %s is unreadable at `%.*s`",
                    level->id, AG_STR_ARG (id));
}

//  What an id named before it was made again: the tip that stands with the next creation below.
static int
find_earlier (ag_view_t *view, const struct ag_run *level, struct ag_str id,
              struct ag_version *version, struct ag_tip *tip, struct ag_err *err)
{
    struct ag_str key, value;
    int rc = 1;
    while (rc > 0 && version->op != AG_VERSION_CREATE)
        if ((rc = ag_view_next (view, &key, &value, err)) > 0 && ag_version_decode (value, version))
            return corrupt (level, id, err);
    if (rc <= 0)
        return rc < 0 ? -1 : corrupt (level, id, err);
    ag_buf_clear (&tip->hold);
    ag_buf_add_str (&tip->hold, version->data);
    return ag_tip_decode (ag_buf_str (&tip->hold), tip) ? corrupt (level, id, err) : 0;
}

//  The version that stands in the table: 1; 0 when it is none of this run's own.
static int
take_version (ag_view_t *view, const struct ag_run *level, struct ag_str id, uint64_t seq,
              uint64_t at, struct ag_str value, struct ag_tip *tip, struct ag_err *err)
{
    struct ag_version version;
    if (seq <= level->cut || (tip->created <= at && seq < tip->created))
        return 0;
    if (ag_version_decode (value, &version))
        return corrupt (level, id, err);
    struct ag_version first = version;
    if (tip->created > at && find_earlier (view, level, id, &version, tip, err))
        return -1;
    tip->seq = seq;
    tip->version = first.version;
    tip->live = first.op != AG_VERSION_REMOVE;
    return 1;
}

//  The newest version of this run's own at or below the point; its creation is none that is stored.
static int
find_version (ag_journal_t *journal, const struct ag_run *level, enum ag_entity_kind kind,
              struct ag_str id, uint64_t at, struct ag_tip *tip, struct ag_err *err)
{
    struct ag_key from, prefix;
    struct ag_str key, value;
    ag_key_version (&from, level->index, kind, id, at);
    ag_key_tip (&prefix, level->index, kind, id);
    struct ag_key to = ag_key_end (&prefix);
    ag_view_t *view = ag_batch_scan (ag_journal_batch (journal), AG_VERSION, ag_key_str (&from),
                                     ag_key_str (&to));
    int rc = ag_view_next (view, &key, &value, err);
    if (rc > 0)
        rc = take_version (view, level, id, ~ag_key_last_number (key), at, value, tip, err);
    ag_view_destroy (&view);
    if (rc == 0 && tip->created > level->cut && tip->created <= at) {
        tip->seq = tip->created;
        tip->version = 1;
        tip->live = true;
        rc = 1;
    }
    return rc;
}

//  What this run itself knows of the entity at the point: 1, or 0 when nothing.
static int
tip_at_level (ag_journal_t *journal, const struct ag_run *level, enum ag_entity_kind kind,
              struct ag_str id, uint64_t at, struct ag_tip *tip, struct ag_err *err)
{
    int rc = get_tip (journal, level, kind, id, &tip->hold, err);
    if (rc <= 0)
        return rc;
    if (ag_tip_decode (ag_buf_str (&tip->hold), tip))
        return corrupt (level, id, err);
    tip->holder = level;
    return tip->seq <= at ? 1 : find_version (journal, level, kind, id, at, tip, err);
}

int
ag_state_tip (ag_journal_t *journal, const struct ag_run *run, enum ag_entity_kind kind,
              struct ag_str id, uint64_t at, struct ag_tip *tip, struct ag_err *err)
{
    if (id.n == 0 || id.n > AG_NAME_BYTES || memchr (id.p, 0, id.n))
        return 0;
    for (const struct ag_run *level = run; level; level = level->above) {
        int rc = at > level->cut ? tip_at_level (journal, level, kind, id, at, tip, err) : 0;
        if (rc)
            return rc;
        at = at < level->cut ? at : level->cut;
    }
    return 0;
}
