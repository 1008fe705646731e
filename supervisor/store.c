//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/store_impl.h"
#include "common/hash.h"
#include "common/loop.h"

#include <assert.h>
#include <inttypes.h>

enum { RESERVE_BYTES = 64 << 20, AMPLE_BYTES = 1 << 30, AMPLE_MS = 20 };

void
ag_store_init (ag_store_t *self, const struct ag_store_ops *ops)
{
    self->ops = ops;
    self->reserve = RESERVE_BYTES;
}

void
ag_store_make_identity (char identity[33])
{
    uint8_t bytes[16];
    ag_random (bytes, sizeof bytes);
    ag_hex (bytes, sizeof bytes, identity);
}

void
ag_store_destroy (ag_store_t **self_p)
{
    if (!*self_p)
        return;
    assert ((*self_p)->scans == 0);
    (*self_p)->ops->destroy (*self_p);
    *self_p = NULL;
}

int
ag_store_get (ag_store_t *self, enum ag_table table, struct ag_str key, struct ag_buf *out,
              struct ag_err *err)
{
    return self->ops->get (self, table, key, out, err);
}

ag_scan_t *
ag_store_scan (ag_store_t *self, enum ag_table table, struct ag_str from, struct ag_str to)
{
    ag_scan_t *scan = self->ops->scan (self, table, from, to);
    scan->store = self;
    self->scans++;
    return scan;
}

int
ag_scan_next (ag_scan_t *scan, struct ag_str *key, struct ag_str *value, struct ag_err *err)
{
    return scan->store->ops->scan_next (scan, key, value, err);
}

void
ag_scan_destroy (ag_scan_t **scan_p)
{
    if (!*scan_p)
        return;
    ag_store_t *store = (*scan_p)->store;
    store->scans--;
    store->ops->scan_destroy (*scan_p);
    *scan_p = NULL;
}

//  Every turn asks, and a system call is a good part of a small one. Where a GiB goes faster, the write finds out.
static bool
has_ample_room (const ag_store_t *self, uint64_t wanted)
{
    return self->room > AMPLE_BYTES && self->room - AMPLE_BYTES > wanted &&
           ag_now_ms() - self->room_ms < AMPLE_MS;
}

int
ag_store_room (ag_store_t *self, uint64_t extra, struct ag_err *err)
{
    uint64_t wanted = self->reserve < UINT64_MAX - extra ? self->reserve + extra : UINT64_MAX;
    if (has_ample_room (self, wanted))
        return 0;
    if (self->ops->room (self, &self->room, err))
        return -1;
    self->room_ms = ag_now_ms();
    if (self->room < wanted)
        return ag_fail (err, AG_E_DISK_FULL,
                        "%" PRIu64 " bytes are free on the disk of the store, %" PRIu64
                        " are kept in reserve",
                        self->room, wanted);
    return 0;
}

//  Keys of META that begin with a zero byte are the store's own.
static void
check_keys (const struct ag_write *writes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert (writes[i].key.n && (writes[i].table != AG_META || writes[i].key.p[0]));
}

int
ag_store_write (ag_store_t *self, const struct ag_write *writes, size_t count, struct ag_err *err)
{
    assert (self->scans == 0);
    check_keys (writes, count);
    if (count == 0)
        return 0;
    return ag_store_room (self, 0, err) ? -1 : self->ops->write (self, writes, count, err);
}

int
ag_store_reopen (ag_store_t *self, struct ag_err *err)
{
    assert (self->scans == 0);
    return self->ops->reopen (self, err);
}

void
ag_store_release (ag_store_t *self, enum ag_table table)
{
    struct ag_err full;
    if (!ag_store_room (self, 0, &full))
        self->ops->release (self, table);
}

const char *
ag_store_identity (const ag_store_t *self)
{
    return self->identity;
}

uint64_t
ag_store_epoch (const ag_store_t *self)
{
    return self->epoch;
}

void
ag_store_set_reserve (ag_store_t *self, uint64_t bytes)
{
    self->reserve = bytes;
}
