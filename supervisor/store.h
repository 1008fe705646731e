/*  store - the only floor that knows a database: ordered keys, written in atomic batches.
 *
 *  Small on purpose, so that a second database is a page of code: point reads, forward scans between
 *  two keys, one atomic durable write that is refused when the store's epoch is not the writer's.
 *  Sequence numbers in the keys are the snapshots; no database snapshot is ever held.
 *  Implementations: RocksDB (store_rocks.c, the only file that sees rocksdb/c.h), memory
 *  (store_memory.c). One suite (store_test.c) tests each.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_STORE_H
#define AG_STORE_H
#include "common/buf.h"
#include "common/err.h"

//  One table a kind of record, so that each has buffers and filters that suit it.
enum ag_table {
    AG_META,    //  store, runs, heads, labels, cursors, requests, effects, promotes
    AG_EVENT,   //  run, seq -> event
    AG_VERSION, //  run, kind, id, ~seq -> one version of an entity
    AG_TIP,     //  run, kind, id -> newest version (with a bloom filter: most look-ups miss)
    AG_INDEX,   //  run, by type and by endpoint -> ids
    AG_BLOB,    //  hash -> bytes
    AG_TABLES
};

//  The form of keys and values, of every floor; raised by whatever changes one that is already written.
enum { AG_STORE_FORMAT = 3 };

typedef struct ag_store ag_store_t;
typedef struct ag_scan ag_scan_t;

struct ag_write {
    enum ag_table table;
    struct ag_str key, value; //  value.p NULL: delete
};

//  Open what dir holds, or make it. The caller holds the lock of the home. A torn last record of a crash
//  is dropped; a hole in the middle is AG_E_CORRUPT; a store that another process holds is AG_E_RUNNING, one
//  in another form AG_E_FORMAT. An empty store is made with a random identity.
ag_store_t *ag_store_rocks_new (const char *dir, struct ag_err *err);
ag_store_t *ag_store_memory_new (void);
//  Open what can be read of a damaged store, for reading only; dir is changed by that, so it is a copy. What is
//  damaged is an error at its key. why: what RocksDB refused at first, or empty; tables that it could not take
//  at all lie in dir/lost then.
ag_store_t *ag_store_rocks_salvage (const char *dir, struct ag_err *why, struct ag_err *err);
void ag_store_destroy (ag_store_t **self_p);

//  Point read: 1 and the value appended to out, 0 when absent, -1.
int ag_store_get (ag_store_t *self, enum ag_table table, struct ag_str key, struct ag_buf *out,
                  struct ag_err *err);

//  Scan of the keys from <= key < to in byte order (to empty: to the end of the table). The scan owns
//  copies of its bounds. `ag_scan_next` gives 1 with borrows that live until the next call, 0 at the
//  end, -1. Scans are short: page them.
ag_scan_t *ag_store_scan (ag_store_t *self, enum ag_table table, struct ag_str from,
                          struct ag_str to);
int ag_scan_next (ag_scan_t *scan, struct ag_str *key, struct ag_str *value, struct ag_err *err);
void ag_scan_destroy (ag_scan_t **scan_p);

//  Write everything or nothing, on disk when it returns 0. Of the same key the last write counts; keys of
//  META that begin with a zero byte are the store's own. No scan may be open, nor at reopen or destroy.
//  AG_E_DISK_FULL (the disk has less than the reserve) and AG_E_BUSY (the disk is slower than the writes)
//  are said before anything is written; the store stays usable. After any other failure it is dead: it
//  answers AG_E_STORE until `ag_store_reopen` succeeds, which may be tried again, and what was written is
//  unknown until it is read again.
int ag_store_write (ag_store_t *self, const struct ag_write *writes, size_t count,
                    struct ag_err *err);
int ag_store_reopen (ag_store_t *self, struct ag_err *err);

//  What was deleted from a table gives back its room on the disk soon, not when the table next has to be tidied
//  up. Nothing waits for that; on a disk without room, and while the store is behind, nothing is done.
void ag_store_release (ag_store_t *self, enum ag_table table);

//  Random identity made with the store (16 bytes in hex), and the epoch, which rises at every open; on a disk
//  without room a store opens too, and its epoch reaches the disk with the first write; a new one is not made there.
const char *ag_store_identity (const ag_store_t *self);
uint64_t ag_store_epoch (const ag_store_t *self);

//  0 while the disk has more than the reserve and extra bytes; else AG_E_DISK_FULL, which is how a floor above
//  stops in time.
int ag_store_room (ag_store_t *self, uint64_t extra, struct ag_err *err);
//  Free bytes kept in reserve on the disk of the store (64 MiB unless set; tests lower it).
void ag_store_set_reserve (ag_store_t *self, uint64_t bytes);
#endif
