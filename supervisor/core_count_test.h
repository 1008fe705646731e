/*  core_count_test - what a piece of work asks of the store, counted.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_CORE_COUNT_TEST_H
#define AG_CORE_COUNT_TEST_H
#include "supervisor/core_test.h"
#include "supervisor/store_impl.h"

static struct {
    const struct ag_store_ops *whole;
    struct ag_store_ops ops;
    size_t gets, scans, steps, batches, writes;
} counted;

static inline int
counted_get (ag_store_t *self, enum ag_table table, struct ag_str key, struct ag_buf *out,
             struct ag_err *err)
{
    counted.gets++;
    return counted.whole->get (self, table, key, out, err);
}

static inline ag_scan_t *
counted_scan (ag_store_t *self, enum ag_table table, struct ag_str from, struct ag_str to)
{
    counted.scans++;
    return counted.whole->scan (self, table, from, to);
}

static inline int
counted_next (ag_scan_t *scan, struct ag_str *key, struct ag_str *value, struct ag_err *err)
{
    counted.steps++;
    return counted.whole->scan_next (scan, key, value, err);
}

static inline int
counted_write (ag_store_t *self, const struct ag_write *writes, size_t count, struct ag_err *err)
{
    counted.batches++;
    counted.writes += count;
    return counted.whole->write (self, writes, count, err);
}

//  From here on, from zero, with nothing in memory. Every test counts anew.
static inline void
count_from_here (struct core *self)
{
    core_again (self);
    const struct ag_store_ops *whole =
        self->store->ops == &counted.ops ? counted.whole : self->store->ops;
    memset (&counted, 0, sizeof counted);
    counted.whole = whole;
    counted.ops = *whole;
    counted.ops.get = counted_get;
    counted.ops.scan = counted_scan;
    counted.ops.scan_next = counted_next;
    counted.ops.write = counted_write;
    self->store->ops = &counted.ops;
}

//  Reads of any kind since.
static inline size_t
counted_reads (void)
{
    return counted.gets + counted.scans + counted.steps;
}
#endif
