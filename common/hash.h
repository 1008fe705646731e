/*  hash - BLAKE2b-256, random bytes and their text forms; hash.c is the one file that sees libsodium.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_HASH_H
#define AG_HASH_H
#include "common/buf.h"

enum { AG_HASH = 32 };

//  BLAKE2b-256 over two pieces one after the other (either may be empty).
void ag_hash (struct ag_str a, struct ag_str b, uint8_t hash[AG_HASH]);

//  The same, fed piece by piece.
struct ag_hasher {
    _Alignas(64) uint8_t state[384];
};
void ag_hasher_init (struct ag_hasher *self);
void ag_hasher_add (struct ag_hasher *self, struct ag_str piece);
void ag_hasher_end (struct ag_hasher *self, uint8_t hash[AG_HASH]);

//  SHA-256, for the hashes of packs only (their format is other people's).
struct ag_sha256 {
    _Alignas(16) uint8_t state[128];
};
void ag_sha256_init (struct ag_sha256 *self);
void ag_sha256_add (struct ag_sha256 *self, struct ag_str piece);
void ag_sha256_end (struct ag_sha256 *self, uint8_t hash[AG_HASH]);

void ag_random (void *bytes, size_t n);
//  Same length and same bytes, in a time that does not tell where they differ.
bool ag_same_secret (struct ag_str a, struct ag_str b);
//  Lower-case hex with a NUL at its end: text holds 2n + 1 bytes.
void ag_hex (const void *bytes, size_t n, char *text);
//  Base32 (0-9, then a-z without i l o u) of a number, no leading zeros, with a NUL: text holds 14 bytes.
void ag_base32 (uint64_t number, char text[14]);
//  The number; -1 when text is not exactly what ag_base32 writes.
int ag_base32_read (struct ag_str text, uint64_t *number);
#endif
