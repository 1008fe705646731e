/*  batch - what this turn will write, readable as if it were written.
 *
 *  A turn gathers many requests into one batch with one sync. Each request sees the store plus what
 *  earlier requests of the turn put here; a request that fails takes back its own part and nothing else.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_BATCH_H
#define AG_BATCH_H
#include "supervisor/store.h"

typedef struct ag_batch ag_batch_t;

//  The store is borrowed and outlives the batch.
ag_batch_t *ag_batch_new (ag_store_t *store);
void ag_batch_destroy (ag_batch_t **self_p);

//  Both copy key and value. A later put of a key replaces the earlier one.
void ag_batch_put (ag_batch_t *self, enum ag_table table, struct ag_str key, struct ag_str value);
void ag_batch_delete (ag_batch_t *self, enum ag_table table, struct ag_str key);

//  As ag_store_get and ag_store_scan, over store and batch together. A scan is invalid after the next
//  put, delete, rollback or write.
int ag_batch_get (ag_batch_t *self, enum ag_table table, struct ag_str key, struct ag_buf *out,
                  struct ag_err *err);
typedef struct ag_view ag_view_t;
ag_view_t *ag_batch_scan (ag_batch_t *self, enum ag_table table, struct ag_str from,
                          struct ag_str to);
int ag_view_next (ag_view_t *view, struct ag_str *key, struct ag_str *value, struct ag_err *err);
void ag_view_destroy (ag_view_t **view_p);

//  A mark, and the way back to it: everything put since is gone as if it never was.
size_t ag_batch_mark (const ag_batch_t *self);
void ag_batch_rollback (ag_batch_t *self, size_t mark);

//  Bytes and writes gathered so far; the turn is cut when either grows large.
size_t ag_batch_bytes (const ag_batch_t *self);
size_t ag_batch_count (const ag_batch_t *self);

//  After the write: ag_store_release of a table, once.
void ag_batch_release (ag_batch_t *self, enum ag_table table);

//  Write all of it with one sync and be empty again. On failure the batch is emptied too and the error
//  is ag_store_write's: the caller forgets every head it holds.
int ag_batch_write (ag_batch_t *self, struct ag_err *err);
#endif
