//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
only_the_version_that_was_kept_is_given_back (void **state)
{
    (void)state;
    struct ag_cache cache = {0};
    struct ag_str data;
    ag_cache_put (&cache, AG_LIT ("a"), 7, AG_LIT ("seven"));
    assert_true (ag_cache_get (&cache, AG_LIT ("a"), 7, &data));
    assert_true (ag_str_is (data, "seven"));
    assert_false (ag_cache_get (&cache, AG_LIT ("a"), 8, &data));
    assert_false (ag_cache_get (&cache, AG_LIT ("b"), 7, &data));
    ag_cache_put (&cache, AG_LIT ("a"), 8, AG_LIT (""));
    assert_true (ag_cache_get (&cache, AG_LIT ("a"), 8, &data));
    assert_int_equal (data.n, 0);
    assert_false (ag_cache_get (&cache, AG_LIT ("a"), 7, &data));
    ag_cache_put (&cache, AG_LIT ("a"), 9, AG_LIT ("longer than what was there"));
    assert_true (ag_cache_get (&cache, AG_LIT ("a"), 9, &data));
    assert_true (ag_str_is (data, "longer than what was there"));
    ag_cache_clear (&cache);
    assert_false (ag_cache_get (&cache, AG_LIT ("a"), 9, &data));
}

//  What is asked for again and again outlives the generations; the rest goes, and memory stays bounded.
static void
what_is_used_stays_and_memory_is_bounded (void **state)
{
    (void)state;
    struct ag_cache cache = {0};
    struct ag_str data;
    char key[32], *filler = ag_xcalloc (1, 10000);
    ag_cache_put (&cache, AG_LIT ("hot"), 1, AG_LIT ("hot"));
    ag_cache_put (&cache, AG_LIT ("cold"), 1, AG_LIT ("cold"));
    for (int i = 0; i < 10000; i++) {
        snprintf (key, sizeof key, "%d", i);
        ag_cache_put (&cache, ag_str (key), 1, (struct ag_str){filler, 10000});
        assert_true (ag_cache_get (&cache, AG_LIT ("hot"), 1, &data));
        assert_true (ag_str_is (data, "hot"));
        assert_true (cache.arenas[0].now.bytes + cache.arenas[1].now.bytes < 17 << 20);
    }
    assert_false (ag_cache_get (&cache, AG_LIT ("cold"), 1, &data));
    ag_cache_put (&cache, AG_LIT ("huge"), 1, (struct ag_str){filler, AG_CACHED_BYTES + 1});
    assert_false (ag_cache_get (&cache, AG_LIT ("huge"), 1, &data));
    ag_cache_clear (&cache);
    free (filler);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (only_the_version_that_was_kept_is_given_back),
        cmocka_unit_test (what_is_used_stays_and_memory_is_bounded),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
