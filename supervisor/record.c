//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/record.h"
#include "supervisor/arena.h"
#include "supervisor/omap.h"

#include <assert.h>
#include <string.h>

static void
put (ag_journal_t *journal, const struct ag_key *key, struct ag_str value)
{
    ag_batch_put (ag_journal_batch (journal), AG_META, ag_key_str (key), value);
}

static int
get (ag_journal_t *journal, const struct ag_key *key, struct ag_buf *hold, struct ag_err *err)
{
    ag_buf_clear (hold);
    return ag_batch_get (ag_journal_batch (journal), AG_META, ag_key_str (key), hold, err);
}

static void
put_number (ag_journal_t *journal, const struct ag_key *key, uint64_t number)
{
    struct ag_buf value = {0};
    ag_buf_be64 (&value, number);
    put (journal, key, ag_buf_str (&value));
    ag_buf_fini (&value);
}

static int
get_number (ag_journal_t *journal, const struct ag_key *key, uint64_t *number, struct ag_err *err)
{
    struct ag_buf hold = {0};
    int rc = get (journal, key, &hold, err);
    if (rc > 0)
        *number = ag_be64 (hold.p);
    ag_buf_fini (&hold);
    return rc;
}

/*  Requests: the hash, the time in 8 bytes, the answer.  */

enum { REQUEST_FIXED = AG_HASH + 8 };

void
ag_request_put (ag_journal_t *journal, struct ag_str principal, struct ag_str id,
                const struct ag_request *request)
{
    struct ag_key key;
    struct ag_buf value = {0};
    ag_key_request (&key, principal, id);
    ag_buf_add (&value, request->hash, AG_HASH);
    ag_buf_be64 (&value, request->time_us);
    ag_buf_add_str (&value, request->answer);
    put (journal, &key, ag_buf_str (&value));
    ag_buf_fini (&value);
}

static void
decode_request (struct ag_str value, struct ag_request *request)
{
    assert (value.n >= REQUEST_FIXED);
    memcpy (request->hash, value.p, AG_HASH);
    request->time_us = ag_be64 (value.p + AG_HASH);
    request->answer = (struct ag_str){value.p + REQUEST_FIXED, value.n - REQUEST_FIXED};
}

int
ag_request_get (ag_journal_t *journal, struct ag_str principal, struct ag_str id,
                struct ag_buf *hold, struct ag_request *request, struct ag_err *err)
{
    struct ag_key key;
    ag_key_request (&key, principal, id);
    int rc = get (journal, &key, hold, err);
    if (rc > 0)
        decode_request (ag_buf_str (hold), request);
    return rc;
}

//  A key in a list of keys: its length and its bytes.
static void
collect (struct ag_buf *keys, struct ag_str key)
{
    ag_buf_add (keys, &key.n, sizeof key.n);
    ag_buf_add_str (keys, key);
}

static void
delete_all (ag_journal_t *journal, const struct ag_buf *keys)
{
    for (size_t at = 0, n; at < keys->n; at += n) {
        memcpy (&n, keys->p + at, sizeof n);
        at += sizeof n;
        ag_batch_delete (ag_journal_batch (journal), AG_META,
                         (struct ag_str){(const char *)keys->p + at, n});
    }
}

int
ag_request_sweep (ag_journal_t *journal, uint64_t before_us, size_t limit, struct ag_buf *place,
                  struct ag_err *err)
{
    struct ag_key first;
    struct ag_str key, value;
    struct ag_buf old = {0};
    ag_key_requests (&first);
    struct ag_key end = ag_key_end (&first);
    struct ag_str from = place->n ? ag_buf_str (place) : ag_key_str (&first);
    ag_view_t *view = ag_batch_scan (ag_journal_batch (journal), AG_META, from, ag_key_str (&end));
    ag_buf_clear (place);
    int rc;
    while ((rc = ag_view_next (view, &key, &value, err)) > 0) {
        struct ag_request request;
        if (limit-- == 0) {
            ag_buf_add_str (place, key);
            break;
        }
        decode_request (value, &request);
        if (request.time_us < before_us)
            collect (&old, key);
    }
    ag_view_destroy (&view);
    if (rc >= 0)
        delete_all (journal, &old);
    ag_buf_fini (&old);
    return rc < 0 ? -1 : 0;
}

/*  Notes  */

void
ag_note_put (ag_journal_t *journal, const struct ag_run *run, struct ag_str name, uint64_t seq,
             struct ag_str value)
{
    struct ag_key key;
    assert (seq >= run->cut);
    ag_key_note (&key, run->number, name, seq);
    put (journal, &key, value);
}

static int
note_of_level (ag_journal_t *journal, const struct ag_run *level, struct ag_str name, uint64_t at,
               struct ag_buf *hold, uint64_t *seq, struct ag_err *err)
{
    struct ag_key from, to;
    struct ag_str key, value;
    ag_key_note (&from, level->number, name, at);
    ag_key_note (&to, level->number, name, 0);
    ag_key_next (&to);
    ag_view_t *view =
        ag_batch_scan (ag_journal_batch (journal), AG_META, ag_key_str (&from), ag_key_str (&to));
    int rc = ag_view_next (view, &key, &value, err);
    if (rc > 0) {
        *seq = ~ag_key_last_number (key);
        ag_buf_clear (hold);
        ag_buf_add_str (hold, value);
    }
    ag_view_destroy (&view);
    return rc;
}

//  A fork's own notes stand at its cut or after it.
int
ag_note_get (ag_journal_t *journal, const struct ag_run *run, struct ag_str name, uint64_t at,
             struct ag_buf *hold, uint64_t *seq, struct ag_err *err)
{
    for (const struct ag_run *level = run; level; level = level->above) {
        int rc = at >= level->cut ? note_of_level (journal, level, name, at, hold, seq, err) : 0;
        if (rc)
            return rc;
        at = at < level->cut ? at : level->cut;
    }
    return 0;
}

struct names {
    struct ag_arena arena;
    struct ag_omap all;
};

static void
add_name (struct names *self, struct ag_str name)
{
    struct ag_str none = AG_LIT ("");
    void *memory = ag_arena_take (&self->arena, ag_entry_size (name, none));
    ag_omap_insert (&self->all, ag_entry_make (memory, name, none));
}

//  Names of one run, each once: after a name the scan goes on behind its notes.
static int
collect_names (ag_journal_t *journal, uint64_t run, struct ag_str prefix, struct names *names,
               struct ag_err *err)
{
    struct ag_key from, all;
    struct ag_str key, value;
    ag_key_notes (&all, run, prefix);
    size_t head = all.n - prefix.n;
    struct ag_key to = ag_key_end (&all);
    from = all;
    for (;;) {
        ag_view_t *view = ag_batch_scan (ag_journal_batch (journal), AG_META, ag_key_str (&from),
                                         ag_key_str (&to));
        int rc = ag_view_next (view, &key, &value, err);
        if (rc > 0) {
            struct ag_str name = {key.p + head, key.n - head - 9};
            add_name (names, name);
            ag_key_note (&from, run, name, 0);
            ag_key_next (&from);
        }
        ag_view_destroy (&view);
        if (rc <= 0)
            return rc;
    }
}

int
ag_note_scan (ag_journal_t *journal, const struct ag_run *run, struct ag_str prefix, uint64_t at,
              ag_note_fn fn, void *arg, struct ag_err *err)
{
    struct names names = {0};
    struct ag_buf hold = {0};
    uint64_t seq;
    int rc = 0;
    for (const struct ag_run *level = run; level && !rc; level = level->above)
        rc = collect_names (journal, level->number, prefix, &names, err);
    struct ag_entry *entry = rc ? NULL : ag_omap_seek (&names.all, AG_LIT (""));
    for (; entry; entry = ag_omap_next (entry)) {
        rc = ag_note_get (journal, run, entry->key, at, &hold, &seq, err);
        if (rc < 0 || (rc > 0 && !fn (arg, entry->key)))
            break;
    }
    ag_buf_fini (&hold);
    ag_arena_rewind (&names.arena, (struct ag_place){0});
    return rc < 0 ? -1 : 0;
}

/*  Counters and effects  */

void
ag_count_put (ag_journal_t *journal, uint64_t run, struct ag_str name, uint64_t value)
{
    struct ag_key key;
    ag_key_count (&key, run, name);
    put_number (journal, &key, value);
}

void
ag_count_drop (ag_journal_t *journal, uint64_t run, struct ag_str name)
{
    struct ag_key key;
    ag_key_count (&key, run, name);
    ag_batch_delete (ag_journal_batch (journal), AG_META, ag_key_str (&key));
}

int
ag_count_get (ag_journal_t *journal, uint64_t run, struct ag_str name, uint64_t *value,
              struct ag_err *err)
{
    struct ag_key key;
    ag_key_count (&key, run, name);
    return get_number (journal, &key, value, err);
}

void
ag_effect_put (ag_journal_t *journal, uint64_t run, const uint8_t hash[AG_HASH], uint64_t seq)
{
    struct ag_key key;
    ag_key_effect (&key, run, hash);
    put_number (journal, &key, seq);
}

int
ag_effect_get (ag_journal_t *journal, uint64_t run, const uint8_t hash[AG_HASH], uint64_t *seq,
               struct ag_err *err)
{
    struct ag_key key;
    ag_key_effect (&key, run, hash);
    return get_number (journal, &key, seq, err);
}

/*  Blobs  */

enum { CHUNK_BYTES = 256 << 10 };

static int
get_chunk (ag_journal_t *journal, const uint8_t hash[AG_HASH], uint64_t chunk, struct ag_buf *out,
           struct ag_err *err)
{
    struct ag_key key;
    ag_key_blob (&key, hash, chunk);
    return ag_batch_get (ag_journal_batch (journal), AG_BLOB, ag_key_str (&key), out, err);
}

static void
put_chunks (ag_journal_t *journal, const uint8_t hash[AG_HASH], struct ag_str bytes)
{
    struct ag_key key;
    uint64_t chunk = 0;
    do {
        size_t n = bytes.n < CHUNK_BYTES ? bytes.n : CHUNK_BYTES;
        ag_key_blob (&key, hash, chunk++);
        ag_batch_put (ag_journal_batch (journal), AG_BLOB, ag_key_str (&key),
                      (struct ag_str){bytes.p, n});
        bytes = (struct ag_str){bytes.p + n, bytes.n - n};
    } while (bytes.n > 0);
}

int
ag_blob_put (ag_journal_t *journal, struct ag_str bytes, uint8_t hash[AG_HASH], struct ag_err *err)
{
    struct ag_buf known = {0};
    if (bytes.n > AG_BLOB_BYTES)
        return ag_fail (err, AG_E_TOO_LARGE, "a blob of %zu bytes is over the limit of %d", bytes.n,
                        AG_BLOB_BYTES);
    if (!bytes.p)
        bytes = AG_LIT ("");
    ag_hash (bytes, AG_LIT (""), hash);
    int rc = get_chunk (journal, hash, 0, &known, err);
    ag_buf_fini (&known);
    if (rc == 0)
        put_chunks (journal, hash, bytes);
    return rc < 0 ? -1 : 0;
}

int
ag_blob_get (ag_journal_t *journal, const uint8_t hash[AG_HASH], struct ag_buf *out,
             struct ag_err *err)
{
    for (uint64_t chunk = 0;; chunk++) {
        int rc = get_chunk (journal, hash, chunk, out, err);
        if (rc <= 0)
            return rc < 0 ? -1 : chunk > 0;
    }
}
