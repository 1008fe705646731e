//  The store on RocksDB. Debian's build has its assertions on, and an assertion there ends this process;
//  what keeps away from them stands beside the options and in `write_all`.
//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/store_impl.h"
#include "supervisor/store_closed.h"
#include "supervisor/store_files.h"
#include "supervisor/store_log.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <rocksdb/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
    MIB = 1 << 20,
    BUFFER_BYTES = 16 * MIB,  //  of one column family before it is flushed
    BUFFERS_BYTES = 64 * MIB, //  of all of them together
    CACHE_BYTES = 48 * MIB,   //  blocks, indexes and filters
    WAL_BYTES = 64 * MIB,
    FIRST_BYTES = 16 * MIB, //  on the disk when a store is made,
    OPEN_BYTES = 1 * MIB,   //  or opened
    LOG_BYTES = 1 * MIB,
    LOG_FILES = 5,
    LOG_LEVEL_FATAL = 4,
    OPEN_FILES = 256,
    OPENING_THREADS = 1, //  of each family, made for each open: sixteen cost more than the files
    BLOOM_BITS = 10,
    BLOCK_BYTES = 4 << 10,
    STRETCH = 256,                //  keys, half of them deletions
    MOST_UNFLUSHED = 1,           //  of the four buffers of a table,
    MOST_NEW_FILES = 12,          //  of the twenty at which RocksDB slows down
    EVENT_BLOCK_BYTES = 16 << 10, //  events are read in order, most of what is in a block each time
};

//  Column families; a bloom filter for those that are mostly asked for what is not there.
static const char *const family[AG_TABLES] = {
    [AG_META] = "default", [AG_EVENT] = "event", [AG_VERSION] = "version",
    [AG_TIP] = "tip",      [AG_INDEX] = "index", [AG_BLOB] = "blob",
};
static const double buffer_bloom = 0.01; //  of a buffer's size: ten bits a key, zeroed at each open
static const bool bloom[AG_TABLES] = {[AG_META] = true, [AG_TIP] = true, [AG_BLOB] = true};

static const struct ag_str identity_key = {"\0identity", 9}, epoch_key = {"\0epoch", 6},
                           format_key = {"\0format", 7};

struct rocks {
    struct ag_store base;
    char *dir;
    rocksdb_cache_t *cache;
    rocksdb_options_t *options[AG_TABLES];
    rocksdb_readoptions_t *read;
    rocksdb_writeoptions_t *write;
    rocksdb_t *db; //  NULL: dead until it is opened again
    bool entered;  //  the epoch is on disk
    bool salvage;  //  it is read and not written,
    bool past;     //  past its damage
    rocksdb_column_family_handle_t *table[AG_TABLES];
};

struct rocks_scan {
    struct ag_scan base;
    rocksdb_readoptions_t *read;
    rocksdb_iterator_t *iterator; //  NULL when the store was dead
    char *to;                     //  the iterator's bound, which it borrows
    bool given;                   //  it stands at a key that was given
};

//  RocksDB says what went wrong only in words. Takes the text.
static int
fail (struct ag_err *err, char *text)
{
    static const struct {
        const char *words;
        enum ag_code code;
    } rows[] = {
        {"lock file", AG_E_RUNNING},        {"lock hold by current process", AG_E_RUNNING},
        {"Corruption", AG_E_CORRUPT},       {"No space left", AG_E_DISK_FULL},
        {"File too large", AG_E_DISK_FULL}, {"quota exceeded", AG_E_DISK_FULL},
    };
    enum ag_code code = AG_E_STORE;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && code == AG_E_STORE; i++)
        if (strstr (text, rows[i].words))
            code = rows[i].code;
    ag_fail (err, code, "%s", text);
    rocksdb_free (text);
    return -1;
}

static int
fail_dead (const struct rocks *self, struct ag_err *err)
{
    return ag_fail (err, AG_E_STORE, "the store in %s is closed after a failed write", self->dir);
}

static int
get (ag_store_t *store, enum ag_table table, struct ag_str key, struct ag_buf *out,
     struct ag_err *err)
{
    struct rocks *self = (struct rocks *)store;
    if (!self->db)
        return fail_dead (self, err);
    char *text = NULL;
    rocksdb_pinnableslice_t *slice =
        rocksdb_get_pinned_cf (self->db, self->read, self->table[table], key.p, key.n, &text);
    if (text)
        return fail (err, text);
    if (!slice)
        return 0;
    struct ag_str value;
    value.p = rocksdb_pinnableslice_value (slice, &value.n);
    ag_buf_add_str (out, value);
    rocksdb_pinnableslice_destroy (slice);
    return 1;
}

static ag_scan_t *
scan (ag_store_t *store, enum ag_table table, struct ag_str from, struct ag_str to)
{
    struct rocks *self = (struct rocks *)store;
    struct rocks_scan *made = ag_xcalloc (1, sizeof *made);
    if (!self->db)
        return &made->base;
    made->read = rocksdb_readoptions_create();
    made->to = ag_str_dup (to);
    if (to.n)
        rocksdb_readoptions_set_iterate_upper_bound (made->read, made->to, to.n);
    made->iterator = rocksdb_create_iterator_cf (self->db, made->read, self->table[table]);
    rocksdb_iter_seek (made->iterator, from.n ? from.p : "", from.n);
    return &made->base;
}

static int
scan_next (ag_scan_t *base, struct ag_str *key, struct ag_str *value, struct ag_err *err)
{
    struct rocks_scan *self = (struct rocks_scan *)base;
    if (!self->iterator)
        return fail_dead ((struct rocks *)base->store, err);
    if (self->given)
        rocksdb_iter_next (self->iterator);
    self->given = rocksdb_iter_valid (self->iterator);
    if (!self->given) {
        char *text = NULL;
        rocksdb_iter_get_error (self->iterator, &text);
        return text ? fail (err, text) : 0;
    }
    key->p = rocksdb_iter_key (self->iterator, &key->n);
    value->p = rocksdb_iter_value (self->iterator, &value->n);
    return 1;
}

static void
scan_destroy (ag_scan_t *base)
{
    struct rocks_scan *self = (struct rocks_scan *)base;
    if (self->iterator) {
        rocksdb_iter_destroy (self->iterator);
        rocksdb_readoptions_destroy (self->read);
    }
    free (self->to);
    free (self);
}

static void
close_db (struct rocks *self)
{
    if (!self->db)
        return;
    for (int table = 0; table < AG_TABLES; table++)
        rocksdb_column_family_handle_destroy (self->table[table]);
    rocksdb_close (self->db);
    self->db = NULL;
}

//  A handle that failed once must not be used again: after a full disk the next append may meet an
//  assertion. So it is closed here and now, before RocksDB's own recovery gets a chance to clear the error.
static int
fail_write (struct rocks *self, char *text, struct ag_err *err)
{
    ag_fail (err, AG_E_STORE, "write failed: %s", text);
    rocksdb_free (text);
    close_db (self);
    return -1;
}

//  A write for which the disk is too slow waits for it, since what is refused here ends the supervisor, and one that
//  lives shortly adds a table to those that compaction is behind with.
static int
put_all (struct rocks *self, const struct ag_write *writes, size_t count, struct ag_err *err)
{
    rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
    for (size_t i = 0; i < count; i++) {
        const struct ag_write *w = &writes[i];
        rocksdb_column_family_handle_t *table = self->table[w->table];
        if (w->value.p)
            rocksdb_writebatch_put_cf (batch, table, w->key.p, w->key.n, w->value.p, w->value.n);
        else
            rocksdb_writebatch_delete_cf (batch, table, w->key.p, w->key.n);
    }
    char *text = NULL;
    rocksdb_write (self->db, self->write, batch, &text);
    rocksdb_writebatch_destroy (batch);
    return text ? fail_write (self, text, err) : 0;
}

//  Who this store is, its form and its epoch, on disk before anything of this epoch.
static int
enter (struct rocks *self, struct ag_err *err)
{
    struct ag_buf epoch = {0}, format = {0};
    ag_buf_be64 (&epoch, self->base.epoch);
    ag_buf_be64 (&format, AG_STORE_FORMAT);
    const struct ag_write own[] = {{AG_META, identity_key, ag_str (self->base.identity)},
                                   {AG_META, format_key, ag_buf_str (&format)},
                                   {AG_META, epoch_key, ag_buf_str (&epoch)}};
    int rc = put_all (self, own, sizeof own / sizeof *own, err);
    ag_buf_fini (&epoch);
    ag_buf_fini (&format);
    self->entered = !rc;
    return rc;
}

static int
write_all (ag_store_t *store, const struct ag_write *writes, size_t count, struct ag_err *err)
{
    struct rocks *self = (struct rocks *)store;
    if (!self->db)
        return fail_dead (self, err);
    if (!self->entered && enter (self, err))
        return -1;
    return put_all (self, writes, count, err);
}

//  One of the store's own keys: 0 and the value with n bytes, or no bytes when absent.
static int
get_own (struct rocks *self, struct ag_str key, size_t n, struct ag_buf *value, struct ag_err *err)
{
    ag_buf_clear (value);
    int rc = get (&self->base, AG_META, key, value, err);
    if (rc == 1 && value->n != n)
        return ag_fail (err, AG_E_CORRUPT, "%s of the store in %s has %zu bytes, not %zu",
                        key.p + 1, self->dir, value->n, n);
    return rc < 0 ? -1 : 0;
}

//  What stands in another form is not read at all: it would look like damage. The first form had no number.
static int
check_format (struct rocks *self, struct ag_err *err)
{
    struct ag_buf value = {0};
    int rc = get_own (self, format_key, 8, &value, err);
    uint64_t format = value.n ? ag_be64 (value.p) : 1;
    ag_buf_fini (&value);
    if (rc || format == AG_STORE_FORMAT)
        return rc;
    return ag_fail (err, AG_E_FORMAT,
                    "the store was written in format %" PRIu64 ", this program reads format %d",
                    format, AG_STORE_FORMAT);
}

//  Reads who this store is, or decides it, and enters the next epoch; on a disk without room that waits for the
//  first write.
static int
begin (struct rocks *self, struct ag_err *err)
{
    struct ag_buf value = {0};
    struct ag_err full;
    size_t n = sizeof self->base.identity - 1;
    int rc = get_own (self, identity_key, n, &value, err);
    if (!rc && value.n) {
        memcpy (self->base.identity, value.p, n);
        rc = check_format (self, err);
    } else if (!rc)
        ag_store_make_identity (self->base.identity);
    if (!rc)
        rc = get_own (self, epoch_key, 8, &value, err);
    self->entered = false;
    if (!rc)
        self->base.epoch = (value.n ? ag_be64 (value.p) : 0) + 1;
    if (!rc && !self->salvage && !ag_store_room (&self->base, 0, &full))
        rc = enter (self, err);
    ag_buf_fini (&value);
    return rc;
}

//  After a crash a torn last record is dropped, and a hole before the end refused; a store that was closed has no
//  torn record either.
static int
check_before (struct rocks *self, struct ag_err *err)
{
    int closed = ag_store_files_check (self->dir, ag_store_log_check, err)
                     ? -1
                     : ag_store_closed_check (self->dir, err);
    for (int table = 0; table < AG_TABLES; table++)
        rocksdb_options_set_wal_recovery_mode (
            self->options[table], closed ? rocksdb_absolute_consistency_recovery
                                         : rocksdb_tolerate_corrupted_tail_records_recovery);
    return closed < 0 ? -1 : 0;
}

//  RocksDB aborts where the disk fills up while it makes its first files, or the new list of those it has.
static int
check_room (struct rocks *self, struct ag_err *err)
{
    char *current = ag_xprintf ("%s/CURRENT", self->dir);
    uint64_t bytes, wanted = access (current, F_OK) ? FIRST_BYTES : OPEN_BYTES;
    free (current);
    if (self->base.ops->room (&self->base, &bytes, err))
        return -1;
    if (bytes >= wanted)
        return 0;
    return ag_fail (err, AG_E_DISK_FULL,
                    "%" PRIu64
                    " bytes are free on the disk of %s, to open the store takes %" PRIu64,
                    bytes, self->dir, wanted);
}

static int
open_db (struct rocks *self, struct ag_err *err)
{
    char *text = NULL;
    if (ag_store_files_make (self->dir, err) || (!self->past && check_before (self, err)) ||
        check_room (self, err))
        return -1;
    self->db = rocksdb_open_column_families (self->options[0], self->dir, AG_TABLES, family,
                                             (const rocksdb_options_t *const *)self->options,
                                             self->table, &text);
    if (text) {
        self->db = NULL;
        if (fail (err, text) && err->code == AG_E_CORRUPT) //  of which file, RocksDB does not say
            ag_store_files_check (self->dir, ag_store_log_check_records, err);
        return ag_wrap (err, "open the store in %s", self->dir);
    }
    if (begin (self, err)) {
        close_db (self);
        return ag_wrap (err, "open the store in %s", self->dir);
    }
    return 0;
}

static int
reopen (ag_store_t *store, struct ag_err *err)
{
    struct rocks *self = (struct rocks *)store;
    close_db (self);
    return open_db (self, err);
}

static int
room (ag_store_t *store, uint64_t *bytes, struct ag_err *err)
{
    struct rocks *self = (struct rocks *)store;
    struct statvfs disk;
    if (statvfs (self->dir, &disk))
        return ag_fail (err, AG_E_SYSTEM, "statvfs %s: %s", self->dir, strerror (errno));
    *bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
    return 0;
}

static unsigned long
property (const struct rocks *self, enum ag_table table, const char *name)
{
    char *text = rocksdb_property_value_cf (self->db, self->table[table], name);
    unsigned long number = text ? strtoul (text, NULL, 10) : 0;
    rocksdb_free (text);
    return number;
}

//  What was deleted goes to a table file, which RocksDB then compacts by itself; see `watch_deletions`. It
//  would make us wait where a flush more could slow down the writes, so it is not asked for then. What fails
//  here fails the next write too.
static void
release (ag_store_t *store, enum ag_table table)
{
    struct rocks *self = (struct rocks *)store;
    char *text = NULL;
    if (!self->db || property (self, table, "rocksdb.num-immutable-mem-table") > MOST_UNFLUSHED ||
        property (self, table, "rocksdb.num-files-at-level0") > MOST_NEW_FILES)
        return;
    rocksdb_flushoptions_t *soon = rocksdb_flushoptions_create();
    rocksdb_flushoptions_set_wait (soon, 0);
    rocksdb_flush_cf (self->db, soon, self->table[table], &text);
    rocksdb_flushoptions_destroy (soon);
    rocksdb_free (text);
}

static void
destroy (ag_store_t *store)
{
    struct rocks *self = (struct rocks *)store;
    bool whole = self->db && !self->salvage;
    close_db (self);
    if (whole)
        ag_store_closed_write (self->dir);
    for (int table = 0; table < AG_TABLES; table++)
        rocksdb_options_destroy (self->options[table]);
    rocksdb_cache_destroy (self->cache);
    rocksdb_readoptions_destroy (self->read);
    rocksdb_writeoptions_destroy (self->write);
    free (self->dir);
    free (self);
}

static const struct ag_store_ops ops = {destroy,   get,    scan, scan_next, scan_destroy,
                                        write_all, reopen, room, release};

//  One shard: the whole filter of a file must fit, and nobody else competes for it.
static rocksdb_cache_t *
make_cache (void)
{
    rocksdb_lru_cache_options_t *options = rocksdb_lru_cache_options_create();
    rocksdb_lru_cache_options_set_capacity (options, CACHE_BYTES);
    rocksdb_lru_cache_options_set_num_shard_bits (options, 0);
    rocksdb_cache_t *cache = rocksdb_cache_create_lru_opts (options);
    rocksdb_lru_cache_options_destroy (options);
    return cache;
}

static void
set_blocks (rocksdb_options_t *options, rocksdb_cache_t *cache, enum ag_table table)
{
    rocksdb_block_based_table_options_t *blocks = rocksdb_block_based_options_create();
    rocksdb_block_based_options_set_block_cache (blocks, cache);
    rocksdb_block_based_options_set_block_size (blocks, table == AG_EVENT ? EVENT_BLOCK_BYTES
                                                                          : BLOCK_BYTES);
    rocksdb_block_based_options_set_cache_index_and_filter_blocks (blocks, 1);
    if (bloom[table]) { //  what is not there is not looked for: neither in files nor in buffers
        rocksdb_block_based_options_set_filter_policy (
            blocks, rocksdb_filterpolicy_create_bloom_full (BLOOM_BITS));
        rocksdb_options_set_memtable_whole_key_filtering (options, 1);
        rocksdb_options_set_memtable_prefix_bloom_size_ratio (options, buffer_bloom);
    }
    rocksdb_options_set_block_based_table_factory (options, blocks);
    rocksdb_block_based_options_destroy (blocks);
}

//  A turn's keys of one run come in order: each is looked for from where the one before it went, not from the top.
//  Only the text form has this option, and reading a text takes its time; its prefix is version, kind and run.
static rocksdb_options_t *
make_hinted (void)
{
    char *text = NULL;
    rocksdb_options_t *options = rocksdb_options_create(), *hinted = rocksdb_options_create();
    rocksdb_get_options_from_string (
        options, "memtable_insert_with_hint_prefix_extractor=rocksdb.FixedPrefix.10", hinted,
        &text);
    assert (!text);
    rocksdb_options_destroy (options);
    return hinted;
}

//  What is not about memory keeps records from being lost and this process from being aborted.
static rocksdb_options_t *
make_options (rocksdb_options_t *hinted, rocksdb_cache_t *cache, enum ag_table table)
{
    rocksdb_options_t *options = rocksdb_options_create_copy (hinted);
    rocksdb_options_set_create_if_missing (options, 1);
    rocksdb_options_set_create_missing_column_families (options, 1);
    //  Its own log file on a full disk would abort us.
    rocksdb_options_set_info_log_level (options, LOG_LEVEL_FATAL);
    rocksdb_options_set_keep_log_file_num (options, LOG_FILES);
    rocksdb_options_set_max_log_file_size (options, LOG_BYTES);
    rocksdb_options_set_stats_dump_period_sec (options, 0);
    rocksdb_options_set_stats_persist_period_sec (options, 0);
    rocksdb_options_set_max_open_files (options, OPEN_FILES);
    rocksdb_options_set_max_file_opening_threads (options, OPENING_THREADS);
    rocksdb_options_set_max_total_wal_size (options, WAL_BYTES);
    rocksdb_options_set_write_buffer_size (options, BUFFER_BYTES);
    rocksdb_options_set_db_write_buffer_size (options, BUFFERS_BYTES);
    rocksdb_options_set_max_write_buffer_number (options, 4);
    rocksdb_options_set_compression (options, rocksdb_lz4_compression);
    set_blocks (options, cache, table);
    return options;
}

//  Events are deleted when they were archived, in long stretches: a file with so much of them is compacted into the
//  next level, and so on to the last, where nothing is left of them.
static rocksdb_options_t *
watch_deletions (rocksdb_options_t *options, enum ag_table table)
{
    if (table == AG_EVENT)
        rocksdb_options_add_compact_on_deletion_collector_factory (options, STRETCH, STRETCH / 2);
    return options;
}

static struct rocks *
make_store (const char *dir)
{
    struct rocks *self = ag_xcalloc (1, sizeof *self);
    ag_store_init (&self->base, &ops);
    self->dir = ag_xstrdup (dir);
    self->cache = make_cache();
    rocksdb_options_t *hinted = make_hinted();
    for (enum ag_table table = 0; table < AG_TABLES; table++)
        self->options[table] = watch_deletions (make_options (hinted, self->cache, table), table);
    rocksdb_options_destroy (hinted);
    self->read = rocksdb_readoptions_create();
    self->write = rocksdb_writeoptions_create();
    rocksdb_writeoptions_set_sync (self->write, 1);
    rocksdb_set_perf_level (rocksdb_disable); //  of this thread: it counts each comparison of keys
    return self;
}

ag_store_t *
ag_store_rocks_new (const char *dir, struct ag_err *err)
{
    struct rocks *self = make_store (dir);
    ag_store_t *store = &self->base;
    if (open_db (self, err))
        ag_store_destroy (&store);
    return store;
}

/*  Salvage  */

//  One table of each family with one key, closed.
static int
make_seeds (struct rocks *self, struct ag_err *err)
{
    char *text = NULL;
    rocksdb_flushoptions_t *now = rocksdb_flushoptions_create();
    rocksdb_t *db = rocksdb_open_column_families (self->options[0], self->dir, AG_TABLES, family,
                                                  (const rocksdb_options_t *const *)self->options,
                                                  self->table, &text);
    self->db = text ? NULL : db;
    for (int table = 0; table < AG_TABLES && !text; table++) {
        rocksdb_put_cf (db, self->write, self->table[table], "\0seed", 5, "", 0, &text);
        if (!text)
            rocksdb_flush_cf (db, now, self->table[table], &text);
    }
    close_db (self);
    rocksdb_flushoptions_destroy (now);
    return text ? fail (err, text) : 0;
}

//  RocksDB's repair knows a family only by a table of it; without one it drops what the logs hold for it.
static int
plant_seeds (const char *dir, struct ag_err *err)
{
    char *place = ag_xprintf ("%s/seeds", dir);
    struct rocks *seeds = make_store (place);
    int rc = ag_store_files_make (place, err) || make_seeds (seeds, err) ? -1 : 0;
    DIR *files = rc ? NULL : opendir (place);
    for (const struct dirent *file; files && (file = readdir (files));) {
        char *from = ag_xprintf ("%s/%s", place, file->d_name);
        char *to = ag_xprintf ("%s/9%s", dir, file->d_name); //  a number that nothing there has
        if (!rc && !fnmatch ("*.sst", file->d_name, 0) && rename (from, to))
            rc = ag_fail (err, AG_E_SYSTEM, "rename %s to %s: %s", from, to, strerror (errno));
        free (from);
        free (to);
    }
    if (files)
        closedir (files);
    ag_store_t *store = &seeds->base;
    ag_store_destroy (&store);
    free (place);
    return rc;
}

//  Without the records of the logs that are damaged; else with what RocksDB makes of the files it finds. A list of
//  files that is damaged is not believed: what it does not name would be removed.
static int
open_past (struct rocks *self, const struct ag_err *why, struct ag_err *err)
{
    char *text = NULL;
    self->past = true;
    for (int table = 0; table < AG_TABLES; table++)
        rocksdb_options_set_wal_recovery_mode (self->options[table],
                                               rocksdb_skip_any_corrupted_records_recovery);
    if (!strstr (why->text, "MANIFEST-") && !open_db (self, err))
        return 0;
    if (plant_seeds (self->dir, err))
        return -1;
    rocksdb_repair_db (self->options[0], self->dir, &text);
    return text ? fail (err, text) : open_db (self, err);
}

ag_store_t *
ag_store_rocks_salvage (const char *dir, struct ag_err *why, struct ag_err *err)
{
    struct rocks *self = make_store (dir);
    ag_store_t *store = &self->base;
    self->salvage = true;
    *why = (struct ag_err){0};
    int rc = open_db (self, why);
    if (rc && why->code == AG_E_FORMAT)
        *err = *why;
    else if (rc)
        rc = open_past (self, why, err);
    if (rc)
        ag_store_destroy (&store);
    return store;
}
