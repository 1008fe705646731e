/*  store_impl - what a store is inside: seen by store.c and by the implementations only.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_STORE_IMPL_H
#define AG_STORE_IMPL_H
#include "supervisor/store.h"

//  One row an implementation. Each does what the function of the same name in store.h says; what is
//  common to all stores (reserve, counting of scans, misuse) stands in store.c.
struct ag_store_ops {
    void (*destroy) (ag_store_t *self);
    int (*get) (ag_store_t *self, enum ag_table table, struct ag_str key, struct ag_buf *out,
                struct ag_err *err);
    ag_scan_t *(*scan) (ag_store_t *self, enum ag_table table, struct ag_str from,
                        struct ag_str to);
    int (*scan_next) (ag_scan_t *scan, struct ag_str *key, struct ag_str *value,
                      struct ag_err *err);
    void (*scan_destroy) (ag_scan_t *scan);
    int (*write) (ag_store_t *self, const struct ag_write *writes, size_t count,
                  struct ag_err *err);
    int (*reopen) (ag_store_t *self, struct ag_err *err);
    //  Free bytes on the disk of the store.
    int (*room) (ag_store_t *self, uint64_t *bytes, struct ag_err *err);
    void (*release) (ag_store_t *self, enum ag_table table);
};

//  Implementations put these first in their own structures.
struct ag_store {
    const struct ag_store_ops *ops;
    char identity[33];
    uint64_t epoch, reserve;
    uint64_t room;   //  free bytes when they were last asked for,
    int64_t room_ms; //  and when that was
    size_t scans;    //  open ones
};

struct ag_scan {
    ag_store_t *store;
};

void ag_store_init (ag_store_t *self, const struct ag_store_ops *ops);
//  A fresh identity: 16 random bytes in hex.
void ag_store_make_identity (char identity[33]);
#endif
