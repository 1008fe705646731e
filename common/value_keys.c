//  SPDX-License-Identifier: Apache-2.0
#include "common/value_inside.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct ag_str
ag_key_at (struct ag_cursor all, uint32_t at)
{
    struct ag_cursor in = {all.p + at, all.end};
    struct ag_head head;
    int rc = ag_next (&in, &head);
    assert (!rc);
    return head.kind == AG_TEXT ? head.s : AG_LIT ("");
}

//  The first eight bytes of a key as a number: most keys differ there, and memory stays cold.
static uint64_t
prefix (struct ag_str key)
{
    uint8_t bytes[8] = {0};
    if (key.n)
        memcpy (bytes, key.p, key.n < 8 ? key.n : 8);
    return ag_be64 (bytes);
}

static int
compare (const void *a, const void *b, void *all)
{
    const struct ag_pair *one = a, *two = b;
    if (one->prefix != two->prefix)
        return one->prefix < two->prefix ? -1 : 1;
    const struct ag_cursor *in = all;
    int order = ag_str_cmp (ag_key_at (*in, one->at), ag_key_at (*in, two->at));
    return order ? order : (one->at > two->at) - (one->at < two->at);
}

void
ag_pairs_sort (struct ag_cursor all, struct ag_pair *pairs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        pairs[i].prefix = prefix (ag_key_at (all, pairs[i].at));
    qsort_r (pairs, n, sizeof *pairs, compare, &all);
}
