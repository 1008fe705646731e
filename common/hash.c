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

void
ag_random (void *bytes, size_t n)
{
    ready();
    randombytes_buf (bytes, n);
}

bool
ag_same_secret (struct ag_str a, struct ag_str b)
{
    return a.n == b.n && (a.n == 0 || !sodium_memcmp (a.p, b.p, a.n));
}

void
ag_hex (const void *bytes, size_t n, char *text)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *p = bytes;
    for (size_t i = 0; i < n; i++) {
        text[2 * i] = digits[p[i] >> 4];
        text[2 * i + 1] = digits[p[i] & 15];
    }
    text[2 * n] = 0;
}

static const char base32[] = "0123456789abcdefghjkmnpqrstvwxyz";

void
ag_base32 (uint64_t number, char text[14])
{
    size_t n = 1;
    for (uint64_t rest = number >> 5; rest; rest >>= 5)
        n++;
    text[n] = 0;
    for (; n > 0; number >>= 5)
        text[--n] = base32[number & 31];
}

int
ag_base32_read (struct ag_str text, uint64_t *number)
{
    if (text.n == 0 || (text.n > 1 && text.p[0] == '0'))
        return -1;
    uint64_t sum = 0;
    for (size_t i = 0; i < text.n; i++) {
        const char *digit = memchr (base32, text.p[i], sizeof base32 - 1);
        if (!digit || sum >> 59)
            return -1;
        sum = sum << 5 | (uint64_t)(digit - base32);
    }
    *number = sum;
    return 0;
}
