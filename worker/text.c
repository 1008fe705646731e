//  SPDX-License-Identifier: Apache-2.0
#include "worker/text.h"

#include "common/value.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { SHINGLE = 5 }; //  words

static bool
is_word (unsigned char c)
{
    return c >= 128 || isalnum (c);
}

bool
ag_word (struct ag_str *rest, struct ag_str *word)
{
    size_t at = 0, end;
    while (at < rest->n && !is_word ((unsigned char)rest->p[at]))
        at++;
    for (end = at; end < rest->n && is_word ((unsigned char)rest->p[end]);)
        end++;
    *word = (struct ag_str){rest->p + at, end - at};
    rest->p += end;
    rest->n -= end;
    return end > at;
}

//  FNV-1a over the lower-case word, spread by a multiplication so that shingles mix well.
static uint64_t
hash_word (struct ag_str word)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < word.n; i++)
        hash = (hash ^ (unsigned char)tolower ((unsigned char)word.p[i])) * 0x100000001b3u;
    return hash ^ hash >> 29;
}

static int
by_value (const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static size_t
unique (uint64_t *list, size_t n)
{
    size_t kept = 0;
    qsort (list, n, sizeof *list, by_value);
    for (size_t i = 0; i < n; i++)
        if (!i || list[i] != list[i - 1])
            list[kept++] = list[i];
    return kept;
}

static uint64_t
hash_shingle (const uint64_t *words, size_t n)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < n; i++)
        hash = (hash + words[i]) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

//  The different shingles of a text, in ascending order, and how many; the caller frees it. The list of words is
//  turned into that of shingles in its own memory: no word is read after a shingle took its place.
static uint64_t *
shingles (struct ag_str text, size_t *count)
{
    uint64_t *list = ag_xmalloc ((text.n / 2 + 1) * sizeof *list);
    struct ag_str word;
    size_t n = 0;
    while (ag_word (&text, &word))
        list[n++] = hash_word (word);
    size_t width = n < SHINGLE ? n : SHINGLE;
    n = n ? n - width + 1 : 0;
    for (size_t i = 0; i < n; i++)
        list[i] = hash_shingle (list + i, width);
    *count = unique (list, n);
    return list;
}

static size_t
common (const uint64_t *a, size_t an, const uint64_t *b, size_t bn)
{
    size_t n = 0;
    for (size_t i = 0, j = 0; i < an && j < bn;) {
        n += a[i] == b[j];
        uint64_t x = a[i], y = b[j];
        i += x <= y;
        j += y <= x;
    }
    return n;
}

struct overlap {
    size_t a, b, both;
};

static struct overlap
compare (struct ag_str a, struct ag_str b)
{
    struct overlap overlap;
    uint64_t *x = shingles (a, &overlap.a), *y = shingles (b, &overlap.b);
    overlap.both = common (x, overlap.a, y, overlap.b);
    free (x);
    free (y);
    return overlap;
}

double
ag_similarity (struct ag_str a, struct ag_str b)
{
    struct overlap overlap = compare (a, b);
    size_t either = overlap.a + overlap.b - overlap.both;
    return either ? (double)overlap.both / (double)either : 1;
}

double
ag_containment (struct ag_str a, struct ag_str b)
{
    struct overlap overlap = compare (a, b);
    return overlap.a ? (double)overlap.both / (double)overlap.a : 1;
}

//  Bytes of the character that text starts with; 0 when it is none.
static size_t
character (struct ag_str text)
{
    unsigned char c = (unsigned char)*text.p;
    size_t n = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    return n <= text.n && ag_utf8 ((struct ag_str){text.p, n}) ? n : 0;
}

void
ag_clean (struct ag_str text, size_t most, struct ag_buf *out)
{
    for (size_t step; text.n; text.p += step, text.n -= step) {
        size_t n = character (text);
        bool control = n == 1 && iscntrl ((unsigned char)*text.p) && !memchr ("\t\n", *text.p, 2);
        step = n ? n : 1;
        if (step > most)
            return;
        most -= step;
        ag_buf_add (out, n && !control ? text.p : "?", n && !control ? n : 1);
    }
}
