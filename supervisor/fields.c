//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/fields.h"

#include <assert.h>
#include <stdlib.h>

struct field {
    struct ag_str key, value;
};

struct fields {
    struct field *rows; //  in the order of the map
    uint32_t *by_key;   //  their places, sorted; NULL for few
    uint32_t count;
};

//  So many fields are searched one by one.
enum { FEW = 16 };

static int
compare (const void *a, const void *b, void *rows)
{
    const struct field *fields = rows;
    return ag_str_cmp (fields[*(const uint32_t *)a].key, fields[*(const uint32_t *)b].key);
}

static void
sort (struct fields *self)
{
    self->by_key = ag_xmalloc (self->count * sizeof *self->by_key);
    for (uint32_t i = 0; i < self->count; i++)
        self->by_key[i] = i;
    qsort_r (self->by_key, self->count, sizeof *self->by_key, compare, self->rows);
}

static struct fields
read_fields (struct ag_str map)
{
    struct ag_cursor in = ag_cursor (map);
    struct ag_head head, key;
    int rc = ag_next (&in, &head);
    assert (!rc && head.kind == AG_MAP);

    struct fields self = {ag_xmalloc (head.count * sizeof *self.rows), NULL, head.count};
    for (uint32_t i = 0; i < self.count; i++) {
        rc = ag_next (&in, &key) || ag_take (&in, &self.rows[i].value);
        assert (!rc && key.kind == AG_TEXT);
        self.rows[i].key = key.s;
    }
    if (self.count > FEW)
        sort (&self);
    return self;
}

static void
fields_fini (struct fields *self)
{
    free (self->rows);
    free (self->by_key);
}

static const struct field *
find_sorted (const struct fields *self, struct ag_str key)
{
    uint32_t low = 0, high = self->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct field *row = &self->rows[self->by_key[middle]];
        int order = ag_str_cmp (row->key, key);
        if (order == 0)
            return row;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static const struct field *
find (const struct fields *self, struct ag_str key)
{
    if (self->by_key)
        return find_sorted (self, key);
    for (uint32_t i = 0; i < self->count; i++)
        if (ag_str_eq (self->rows[i].key, key))
            return &self->rows[i];
    return NULL;
}

static uint32_t
count_new (const struct fields *data, const struct fields *change)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < change->count; i++)
        count += !find (data, change->rows[i].key);
    return count;
}

static void
put_pair (struct ag_buf *out, const struct field *field)
{
    ag_put_text (out, field->key);
    ag_put_value (out, field->value);
}

void
ag_fields_merge (struct ag_str map, struct ag_str with, struct ag_buf *out)
{
    struct fields data = read_fields (map), change = read_fields (with);
    ag_put_map (out, data.count + count_new (&data, &change));
    for (uint32_t i = 0; i < data.count; i++) {
        const struct field *set = find (&change, data.rows[i].key);
        put_pair (out, set ? set : &data.rows[i]);
    }
    for (uint32_t i = 0; i < change.count; i++)
        if (!find (&data, change.rows[i].key))
            put_pair (out, &change.rows[i]);
    fields_fini (&data);
    fields_fini (&change);
}

//  Pairs, with how many there are in front of them in the shortest form.
static void
put_counted (struct ag_buf *out, uint32_t count, struct ag_buf *pairs)
{
    ag_put_map (out, count);
    ag_buf_add_str (out, ag_buf_str (pairs));
    ag_buf_fini (pairs);
}

void
ag_fields_change (struct ag_str map, struct ag_str becomes, struct ag_str with, struct ag_buf *out)
{
    struct fields data = read_fields (map), after = read_fields (becomes);
    struct fields asked = read_fields (with);
    struct ag_buf pairs = {0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < after.count; i++) {
        const struct field *row = &after.rows[i], *old = find (&data, row->key);
        if (old && ag_str_eq (old->value, row->value) && !find (&asked, row->key))
            continue;
        put_pair (&pairs, row);
        count++;
    }
    put_counted (out, count, &pairs);
    fields_fini (&data);
    fields_fini (&after);
    fields_fini (&asked);
}

static void
put_side (struct ag_buf *out, const char *side, const struct field *field)
{
    ag_put_lit (out, side);
    if (field)
        ag_put_value (out, field->value);
    else
        ag_put_null (out);
}

static bool
put_difference (struct ag_buf *out, const struct field *old, const struct field *new)
{
    if (old && new &&ag_value_equal (old->value, new->value))
        return false;
    ag_put_text (out, old ? old->key : new->key);
    ag_put_map (out, 2);
    put_side (out, "old", old);
    put_side (out, "new", new);
    return true;
}

void
ag_fields_diff (struct ag_str old, struct ag_str new, struct ag_buf *out)
{
    struct fields before = read_fields (old), after = read_fields (new);
    struct ag_buf pairs = {0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < before.count; i++)
        count += put_difference (&pairs, &before.rows[i], find (&after, before.rows[i].key));
    for (uint32_t i = 0; i < after.count; i++)
        if (!find (&before, after.rows[i].key))
            count += put_difference (&pairs, NULL, &after.rows[i]);
    put_counted (out, count, &pairs);
    fields_fini (&before);
    fields_fini (&after);
}

bool
ag_fields_each (struct ag_str one, struct ag_str other, ag_fields_fn *fn, void *arg)
{
    struct fields left = read_fields (one), right = read_fields (other);
    const struct ag_str none = {0};
    bool end = false;
    for (uint32_t i = 0; i < left.count && !end; i++) {
        const struct field *row = &left.rows[i], *beside = find (&right, row->key);
        end = fn (arg, row->key, row->value, beside ? beside->value : none);
    }
    for (uint32_t i = 0; i < right.count && !end; i++)
        if (!find (&left, right.rows[i].key))
            end = fn (arg, right.rows[i].key, none, right.rows[i].value);
    fields_fini (&left);
    fields_fini (&right);
    return end;
}
