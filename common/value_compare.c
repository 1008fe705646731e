//  SPDX-License-Identifier: Apache-2.0
#include "common/value_inside.h"

#include <assert.h>
#include <string.h>

/*  Both equality and hash stand on one canonical form: normal msgpack with the pairs of each map sorted
 *  by the bytes of their keys, doubles that are integers of the 64-bit range as integers, and the byte
 *  0xff, which no text contains, for each occurrence of what the hash is blind to. Two values are equal
 *  exactly when their canonical bytes are.
 */
struct canon {
    struct ag_buf *out;
    struct ag_str blind;
    struct ag_buf pairs; //  struct ag_pair of the maps that are open
    struct ag_buf spare; //  what is put together before it goes to out
};

//  2^63 and 2^64 are doubles, so comparing with them is exact; so is the conversion below them.
static void
settle (struct ag_head *head)
{
    const double two63 = 9223372036854775808.0;
    double f = head->f;
    if (head->kind != AG_FLOAT || !(f >= -two63 && f < 2 * two63))
        return;
    if (f < 0 && (double)(int64_t)f == f)
        *head = (struct ag_head){AG_INT, .i = (int64_t)f};
    else if (f >= 0 && (double)(uint64_t)f == f)
        *head = (struct ag_head){AG_UINT, .u = (uint64_t)f};
}

static void
text (struct canon *self, struct ag_str s)
{
    const char *hit = NULL;
    if (self->blind.n && s.n)
        hit = memmem (s.p, s.n, self->blind.p, self->blind.n);
    if (!hit) {
        ag_put_text (self->out, s);
        return;
    }

    ag_buf_clear (&self->spare);
    for (; hit; hit = memmem (s.p, s.n, self->blind.p, self->blind.n)) {
        size_t before = (size_t)(hit - s.p), gone = before + self->blind.n;
        ag_buf_add (&self->spare, s.p, before);
        ag_buf_add (&self->spare, "\xff", 1);
        s = (struct ag_str){s.p + gone, s.n - gone};
    }
    ag_buf_add_str (&self->spare, s);
    ag_put_text (self->out, ag_buf_str (&self->spare));
}

static void value (struct canon *self, struct ag_cursor *in, int depth);

//  The pairs that were written from start on, in their order.
static void
rearrange (struct canon *self, size_t start, struct ag_pair *pairs, size_t n)
{
    const uint8_t *base = self->out->p + start;
    ag_pairs_sort ((struct ag_cursor){base, self->out->p + self->out->n}, pairs, n);
    ag_buf_clear (&self->spare);
    for (size_t i = 0; i < n; i++)
        ag_buf_add (&self->spare, base + pairs[i].at, pairs[i].end - pairs[i].at);
    self->out->n = start;
    ag_buf_add_str (self->out, ag_buf_str (&self->spare));
}

//  Each pair is written where it stands and then they are sorted, so that what a pair holds is read once.
static void
map (struct canon *self, struct ag_cursor *in, uint32_t count, int depth)
{
    size_t start = self->out->n, mark = self->pairs.n;
    for (uint32_t i = 0; i < count; i++) {
        struct ag_pair pair = {.at = (uint32_t)(self->out->n - start)};
        value (self, in, depth);
        value (self, in, depth);
        pair.end = (uint32_t)(self->out->n - start);
        ag_buf_add (&self->pairs, &pair, sizeof pair);
    }
    if (count > 1)
        rearrange (self, start, (struct ag_pair *)(void *)(self->pairs.p + mark), count);
    self->pairs.n = mark;
}

static void
value (struct canon *self, struct ag_cursor *in, int depth)
{
    struct ag_head head;
    int rc = ag_next (in, &head);
    assert (!rc && depth >= 0);
    settle (&head);
    if (head.kind == AG_TEXT)
        text (self, head.s);
    else
        ag_put_head (self->out, &head);
    if (head.kind == AG_MAP)
        map (self, in, head.count, depth - 1);
    for (uint32_t i = 0; head.kind == AG_LIST && i < head.count; i++)
        value (self, in, depth - 1);
}

static void
canonical (struct ag_str bytes, struct ag_str blind, struct ag_buf *out)
{
    assert (bytes.n <= UINT32_MAX / 2); //  a float32 that was never widened doubles
    struct canon self = {.out = out, .blind = blind};
    struct ag_cursor in = ag_cursor (bytes);
    value (&self, &in, AG_DEPTH_WRAPPED);
    ag_buf_fini (&self.pairs);
    ag_buf_fini (&self.spare);
}

bool
ag_value_equal (struct ag_str a, struct ag_str b)
{
    if (ag_str_eq (a, b))
        return true;
    struct ag_buf one = {0}, two = {0};
    canonical (a, AG_LIT (""), &one);
    canonical (b, AG_LIT (""), &two);
    bool equal = ag_str_eq (ag_buf_str (&one), ag_buf_str (&two));
    ag_buf_fini (&one);
    ag_buf_fini (&two);
    return equal;
}

static int
sign (bool below, bool above)
{
    return above - below;
}

static double
real (const struct ag_head *head)
{
    return head->kind == AG_FLOAT ? head->f
           : head->kind == AG_INT ? (double)head->i
                                  : (double)head->u;
}

//  Doubles that are integers of 64 bits are settled as such. Any other is so far from every integer, or so
//  small, that one which is rounded to a double does not pass it; it only may come to 2^64, from below.
static int
order_of_numbers (const struct ag_head *a, const struct ag_head *b)
{
    if (a->kind == AG_UINT && b->kind == AG_UINT)
        return sign (a->u<b->u, a->u> b->u);
    if (a->kind == AG_INT && b->kind == AG_INT)
        return sign (a->i<b->i, a->i> b->i);
    double x = real (a), y = real (b);
    if (x == y)
        return (a->kind == AG_FLOAT) - (b->kind == AG_FLOAT);
    return sign (x<y, x> y);
}

static bool
is_number (const struct ag_head *head)
{
    return head->kind == AG_INT || head->kind == AG_UINT || head->kind == AG_FLOAT;
}

bool
ag_value_order (struct ag_str a, struct ag_str b, int *order)
{
    struct ag_cursor one = ag_cursor (a), two = ag_cursor (b);
    struct ag_head x, y;
    if (ag_next (&one, &x) || ag_next (&two, &y))
        return false;
    bool texts = x.kind == AG_TEXT && y.kind == AG_TEXT;
    if (!texts && !(is_number (&x) && is_number (&y)))
        return false;
    settle (&x);
    settle (&y);
    *order = texts ? ag_str_cmp (x.s, y.s) : order_of_numbers (&x, &y);
    return true;
}

void
ag_value_hash (struct ag_str bytes, struct ag_str blind, uint8_t hash[AG_HASH])
{
    struct ag_buf out = {0};
    canonical (bytes, blind, &out);
    ag_hash (ag_buf_str (&out), AG_LIT (""), hash);
    ag_buf_fini (&out);
}
