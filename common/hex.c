//  Text forms of bytes and numbers, apart from the hashes: who only writes them needs no libsodium.
//  SPDX-License-Identifier: Apache-2.0
#include "common/hash.h"

#include <string.h>

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
