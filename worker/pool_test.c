//  SPDX-License-Identifier: Apache-2.0
#include "worker/pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

enum { BLOCKS = 500, ROUNDS = 20000 };

static void
fill (unsigned char *block, size_t size, unsigned n)
{
    memset (block, (int)(n & 0xff), size);
}

static void
assert_filled (const unsigned char *block, size_t size, unsigned n)
{
    for (size_t i = 0; i < size; i++)
        assert_int_equal (block[i], n & 0xff);
}

//  Any order of taking, resizing and giving back.
static void
no_block_lies_on_another_and_a_resized_one_keeps_its_bytes (void **state)
{
    (void)state;
    struct ag_pool pool = {.most = SIZE_MAX};
    unsigned char *blocks[BLOCKS] = {0};
    size_t sizes[BLOCKS] = {0};
    uint32_t dice = 1;
    for (unsigned i = 0; i < ROUNDS; i++) {
        dice = dice * 1664525 + 1013904223;
        unsigned n = (dice >> 8) % BLOCKS;
        size_t size = 1 + (dice >> 17) % 1500;
        if (!blocks[n])
            blocks[n] = ag_pool_take (&pool, size);
        else {
            assert_filled (blocks[n], sizes[n], n);
            blocks[n] = ag_pool_resize (&pool, blocks[n], sizes[n], size);
            assert_filled (blocks[n], size < sizes[n] ? size : sizes[n], n);
        }
        assert_non_null (blocks[n]);
        assert_int_equal ((uintptr_t)blocks[n] % AG_POOL_STEP, 0);
        fill (blocks[n], sizes[n] = size, n);
    }
    for (unsigned n = 0; n < BLOCKS; n++)
        if (blocks[n]) {
            assert_filled (blocks[n], sizes[n], n);
            ag_pool_give (&pool, blocks[n], sizes[n]);
        }
    ag_pool_fini (&pool);
}

static void
what_came_back_is_used_before_more_is_asked_for (void **state)
{
    (void)state;
    struct ag_pool pool = {.most = SIZE_MAX};
    for (int i = 0; i < ROUNDS; i++)
        ag_pool_give (&pool, ag_pool_take (&pool, 100), 100);
    assert_true (pool.cut.used < AG_POOL_CHUNK / 2);
    ag_pool_fini (&pool);
}

static void
no_more_is_taken_of_the_system_than_the_bound_says (void **state)
{
    (void)state;
    struct ag_pool pool = {.most = 3 * AG_POOL_CHUNK};
    for (size_t size = 16; size <= AG_POOL_SMALL; size += 16) {
        void *blocks[BLOCKS];
        unsigned n = 0;
        while (n < BLOCKS && (blocks[n] = ag_pool_take (&pool, size)))
            n++;
        while (n)
            ag_pool_give (&pool, blocks[--n], size);
    }
    assert_true (ag_pool_bytes (&pool) > 2 * AG_POOL_CHUNK);
    assert_true (ag_pool_bytes (&pool) <= pool.most);
    assert_null (ag_pool_take (&pool, AG_POOL_CHUNK));
    size_t before = ag_pool_bytes (&pool);
    pool.most += 2 * AG_POOL_CHUNK;
    void *large = ag_pool_take (&pool, AG_POOL_CHUNK);
    assert_non_null (large);
    assert_null (ag_pool_resize (&pool, large, AG_POOL_CHUNK, 3 * AG_POOL_CHUNK));
    ag_pool_give (&pool, large, AG_POOL_CHUNK);
    assert_int_equal (ag_pool_bytes (&pool), before);
    ag_pool_fini (&pool);
}

//  Blocks of all sizes, of which some are gone, moved and overwritten before all is put back.
static void
what_was_marked_is_there_again_after_any_use (void **state)
{
    (void)state;
    struct ag_pool pool = {.most = SIZE_MAX};
    unsigned char *blocks[BLOCKS];
    for (unsigned n = 0; n < BLOCKS; n++)
        fill (blocks[n] = ag_pool_take (&pool, 1 + 3 * n), 1 + 3 * n, n);
    ag_pool_mark (&pool);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned n = 0; n < BLOCKS; n++) {
            fill (blocks[n], 1 + 3 * n, round);
            if (n % 3 == 0)
                ag_pool_give (&pool, blocks[n], 1 + 3 * n);
            if (n % 3 == 1)
                fill (ag_pool_resize (&pool, blocks[n], 1 + 3 * n, 7 * n + 1), 7 * n + 1, round);
            fill (ag_pool_take (&pool, 1 + 5 * n), 1 + 5 * n, round);
        }
        ag_pool_rewind (&pool);
        for (unsigned n = 0; n < BLOCKS; n++)
            assert_filled (blocks[n], 1 + 3 * n, n);
    }
    unsigned char *next = ag_pool_take (&pool, 100);
    for (unsigned n = 0; n < BLOCKS; n++)
        assert_true (next + 100 <= blocks[n] || next >= blocks[n] + 1 + 3 * n);
    ag_pool_fini (&pool);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (no_block_lies_on_another_and_a_resized_one_keeps_its_bytes),
        cmocka_unit_test (what_came_back_is_used_before_more_is_asked_for),
        cmocka_unit_test (no_more_is_taken_of_the_system_than_the_bound_says),
        cmocka_unit_test (what_was_marked_is_there_again_after_any_use),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
