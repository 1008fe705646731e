//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/zip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static struct ag_buf
text (size_t n)
{
    struct ag_buf out = {0};
    for (size_t i = 0; i < n; i++)
        ag_buf_text (&out, "line %zu of some text\n", i % 100);
    return out;
}

static void
what_was_zipped_comes_back_and_is_smaller (void **state)
{
    (void)state;
    struct ag_buf plain = text (1000), frame = {0}, again = {0};
    ag_zip (ag_buf_str (&plain), &frame);
    assert_true (frame.n < plain.n / 4);
    assert_int_equal (ag_unzip (ag_buf_str (&frame), plain.n, &again), 0);
    assert_true (ag_str_eq (ag_buf_str (&plain), ag_buf_str (&again)));
    assert_int_equal (ag_unzip (ag_buf_str (&frame), plain.n - 1, &again), -1);
    assert_int_equal (again.n, plain.n);
    ag_buf_fini (&plain);
    ag_buf_fini (&frame);
    ag_buf_fini (&again);
}

static void
every_flipped_bit_and_every_short_frame_is_noticed (void **state)
{
    (void)state;
    struct ag_buf plain = text (40), frame = {0}, again = {0};
    ag_zip (ag_buf_str (&plain), &frame);
    for (size_t bit = 0; bit < frame.n * 8; bit++) {
        frame.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
        bool same = !ag_unzip (ag_buf_str (&frame), 1 << 20, &again) &&
                    ag_str_eq (ag_buf_str (&plain), ag_buf_str (&again));
        frame.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
        if (again.n && !same)
            fail_msg ("bit %zu of %zu gives other bytes", bit, frame.n * 8);
        ag_buf_clear (&again);
    }
    for (size_t n = 0; n < frame.n; n++)
        assert_int_equal (ag_unzip ((struct ag_str){(const char *)frame.p, n}, 1 << 20, &again),
                          -1);
    ag_buf_fini (&plain);
    ag_buf_fini (&frame);
    ag_buf_fini (&again);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (what_was_zipped_comes_back_and_is_smaller),
        cmocka_unit_test (every_flipped_bit_and_every_short_frame_is_noticed),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
