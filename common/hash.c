//  SPDX-License-Identifier: Apache-2.0
#include "common/hash.h"

#include <assert.h>
#include <sodium.h>
#include <string.h>

static_assert (sizeof (crypto_generichash_state) <= sizeof (struct ag_hasher),
               "hasher is too small");
static_assert (sizeof (crypto_hash_sha256_state) <= sizeof (struct ag_sha256),
               "sha256 is too small");

//  Chooses the implementation for this processor. The library remembers that it did, so that asking
//  before each use is a lock and a look.
static void
ready (void)
{
    int rc = sodium_init();
    assert (rc >= 0);
}

static crypto_generichash_state *
blake (struct ag_hasher *self)
{
    return (crypto_generichash_state *)(void *)self->state;
}

static crypto_hash_sha256_state *
sha (struct ag_sha256 *self)
{
    return (crypto_hash_sha256_state *)(void *)self->state;
}

void
ag_hasher_init (struct ag_hasher *self)
{
    ready();
    crypto_generichash_init (blake (self), NULL, 0, AG_HASH);
}

void
ag_hasher_add (struct ag_hasher *self, struct ag_str piece)
{
    if (piece.n)
        crypto_generichash_update (blake (self), (const uint8_t *)piece.p, piece.n);
}

void
ag_hasher_end (struct ag_hasher *self, uint8_t hash[AG_HASH])
{
    crypto_generichash_final (blake (self), hash, AG_HASH);
}

void
ag_hash (struct ag_str a, struct ag_str b, uint8_t hash[AG_HASH])
{
    struct ag_hasher hasher;
    ag_hasher_init (&hasher);
    ag_hasher_add (&hasher, a);
    ag_hasher_add (&hasher, b);
    ag_hasher_end (&hasher, hash);
}

void
ag_sha256_init (struct ag_sha256 *self)
{
    ready();
    crypto_hash_sha256_init (sha (self));
}

void
ag_sha256_add (struct ag_sha256 *self, struct ag_str piece)
{
    if (piece.n)
        crypto_hash_sha256_update (sha (self), (const uint8_t *)piece.p, piece.n);
}

void
ag_sha256_end (struct ag_sha256 *self, uint8_t hash[AG_HASH])
{
    crypto_hash_sha256_final (sha (self), hash);
}

bool
ag_same_secret (struct ag_str a, struct ag_str b)
{
    return a.n == b.n && (a.n == 0 || !sodium_memcmp (a.p, b.p, a.n));
}
