//  SPDX-License-Identifier: Apache-2.0
#include "common/value_inside.h"

#include <assert.h>
#include <stdlib.h>

struct order {
    struct ag_cursor all;
    struct ag_str blind;
};

struct ag_str
ag_key_at (struct ag_cursor all, uint32_t offset)
{
    struct ag_cursor in = {all.p + offset, all.end};
    struct ag_head head;
    int rc = ag_next (&in, &head);
    assert (!rc);
    return head.kind == AG_TEXT ? head.s : AG_LIT ("");
}

//  The next byte of text seen with blind eyes; -1 at the end.
static int
next_byte (struct ag_str *text, struct ag_str blind)
{
    if (text->n == 0)
        return -1;
    bool hidden = text->n >= blind.n && ag_str_eq ((struct ag_str){text->p, blind.n}, blind);
    int byte = hidden ? 0xff : (uint8_t)*text->p;
    size_t n = hidden ? blind.n : 1;
    *text = (struct ag_str){text->p + n, text->n - n};
    return byte;
}

static int
blind_cmp (struct ag_str a, struct ag_str b, struct ag_str blind)
{
    int x, y;
    do {
        x = next_byte (&a, blind);
        y = next_byte (&b, blind);
    } while (x == y && x >= 0);
    return x - y;
}

static int
compare (const void *a, const void *b, void *context)
{
    const struct order *order = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    struct ag_str one = ag_key_at (order->all, x), two = ag_key_at (order->all, y);
    int by_key = order->blind.n ? blind_cmp (one, two, order->blind) : ag_str_cmp (one, two);
    return by_key ? by_key : (x > y) - (x < y);
}

void
ag_keys_sort (struct ag_cursor all, uint32_t *offsets, size_t n, struct ag_str blind)
{
    struct order order = {all, blind};
    qsort_r (offsets, n, sizeof *offsets, compare, &order);
}
