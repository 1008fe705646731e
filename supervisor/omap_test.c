//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/omap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 700, ROUNDS = 40, STEPS = 3000 };

//  Keys by their numbers, in the order of the map.
struct bench {
    struct ag_omap map;
    struct ag_entry *entries[KEYS]; //  NULL: it is not in the map
    unsigned drawn;
};

static unsigned
draw (struct bench *self, unsigned below)
{
    self->drawn = self->drawn * 1103515245 + 12345;
    return (self->drawn >> 8) % below;
}

static struct ag_entry *
make (unsigned number)
{
    char bytes[2] = {(char)(number >> 8), (char)number};
    struct ag_str key = {bytes, sizeof bytes};
    return ag_entry_make (ag_xmalloc (ag_entry_size (key, key)), key, key);
}

//  The map, walked from the front, holds what it should, and as a tree it is no deeper than one of its size may be.
static void
check (struct bench *self)
{
    struct ag_entry *at = ag_omap_seek (&self->map, (struct ag_str){"", 0});
    for (unsigned number = 0; number < KEYS; number++) {
        if (!self->entries[number])
            continue;
        assert_ptr_equal (at, self->entries[number]);
        unsigned depth = 0;
        for (const struct ag_entry *up = at; up; up = RB_PARENT (up, link))
            depth++;
        assert_true (depth <= 20); //  twice the logarithm of what there are
        at = ag_omap_next (at);
    }
    assert_null (at);
}

//  Behind near, before it, far from it, and what is there already.
static void
step (struct bench *self)
{
    unsigned number = draw (self, KEYS), near = draw (self, KEYS);
    if (draw (self, 2) && number)
        near = number - 1;
    if (draw (self, 4) == 0 && self->entries[number]) {
        ag_omap_remove (&self->map, self->entries[number]);
        free (self->entries[number]);
        self->entries[number] = NULL;
        return;
    }
    struct ag_entry *entry = make (number);
    struct ag_entry *other = ag_omap_insert_near (&self->map, self->entries[near], entry);
    assert_ptr_equal (other, self->entries[number]);
    if (other)
        free (entry);
    else
        self->entries[number] = entry;
}

static void
a_map_is_in_order_wherever_it_is_told_to_begin (void **state)
{
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct bench self = {.drawn = round};
        for (int i = 0; i < STEPS; i++) {
            step (&self);
            if (i % 100 == 0)
                check (&self);
        }
        check (&self);
        for (unsigned number = 0; number < KEYS; number++)
            free (self.entries[number]);
    }
}

//  As a turn puts its keys: each right behind the last one.
static void
keys_that_come_in_order_make_no_list_of_the_tree (void **state)
{
    (void)state;
    struct bench self = {0};
    struct ag_entry *near = NULL;
    for (unsigned number = 0; number < KEYS; number++) {
        self.entries[number] = make (number);
        assert_null (ag_omap_insert_near (&self.map, near, self.entries[number]));
        near = self.entries[number];
    }
    check (&self);
    for (unsigned number = 0; number < KEYS; number++)
        free (self.entries[number]);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_map_is_in_order_wherever_it_is_told_to_begin),
        cmocka_unit_test (keys_that_come_in_order_make_no_list_of_the_tree),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
