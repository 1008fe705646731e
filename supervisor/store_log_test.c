//  SPDX-License-Identifier: Apache-2.0
#include "common/tree.h"
#include "supervisor/store_log.h"
#include "supervisor/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORDS = 120, HEADER = 7, BLOCK = 32768 };

struct bench {
    char home[32];
    char *log;             //  a log as RocksDB wrote it
    struct ag_buf whole;   //  its bytes
    struct ag_buf damaged; //  what a test makes of them
    struct ag_err err;
};

//  Batches of 10 bytes to 70 kB, so that some lie in one block and some over several.
static void
fill (const char *dir)
{
    struct ag_err err;
    struct ag_buf value = {0};
    ag_store_t *store = ag_store_rocks_new (dir, &err);
    assert_non_null (store);
    for (int i = 0; i < RECORDS; i++) {
        char key[16];
        snprintf (key, sizeof key, "r%03d", i);
        ag_buf_clear (&value);
        for (int n = i % 50 == 7 ? 70000 : i; n > 0; n--)
            ag_buf_add (&value, &(uint8_t){(uint8_t)(n * 7 + i)}, 1);
        ag_buf_add (&value, ".", 1);
        const struct ag_write write = {AG_EVENT, ag_str (key), ag_buf_str (&value)};
        assert_int_equal (ag_store_write (store, &write, 1, &err), 0);
    }
    ag_buf_fini (&value);
    ag_store_destroy (&store);
}

static void
read_file (const char *path, struct ag_buf *out)
{
    FILE *file = fopen (path, "r");
    assert_non_null (file);
    char piece[4096];
    size_t n;
    while ((n = fread (piece, 1, sizeof piece, file)) > 0)
        ag_buf_add (out, piece, n);
    fclose (file);
}

static int
open_bench (void **state)
{
    struct bench *self = ag_xcalloc (1, sizeof *self);
    strcpy (self->home, "/tmp/ag_log_test.XXXXXX");
    assert_non_null (mkdtemp (self->home));
    char *dir = ag_xprintf ("%s/store", self->home), *pattern = ag_xprintf ("%s/*.log", dir);
    fill (dir);
    glob_t found;
    assert_int_equal (glob (pattern, 0, NULL, &found), 0);
    assert_int_equal (found.gl_pathc, 1);
    self->log = ag_xstrdup (found.gl_pathv[0]);
    globfree (&found);
    free (pattern);
    free (dir);
    read_file (self->log, &self->whole);
    *state = self;
    return 0;
}

static int
close_bench (void **state)
{
    struct bench *self = *state;
    ag_tree_remove (self->home);
    ag_buf_fini (&self->whole);
    ag_buf_fini (&self->damaged);
    free (self->log);
    free (self);
    return 0;
}

static int
check (struct bench *self, size_t size)
{
    FILE *file = fopen (self->log, "w");
    assert_int_equal (fwrite (self->damaged.p, 1, size, file), size);
    fclose (file);
    self->err.code = AG_OK;
    return ag_store_log_check (self->log, &self->err);
}

static void
take_whole (struct bench *self)
{
    ag_buf_clear (&self->damaged);
    ag_buf_add_str (&self->damaged, ag_buf_str (&self->whole));
}

//  Where the record after the one at this place has its header; the size of the file at the end.
static size_t
next_record (const struct bench *self, size_t at)
{
    const uint8_t *header = self->whole.p + at;
    at += HEADER + header[4] + 256u * header[5];
    if (BLOCK - at % BLOCK < HEADER)
        at += BLOCK - at % BLOCK;
    return at;
}

static void
a_log_is_good_as_it_is_and_cut_anywhere (void **state)
{
    struct bench *self = *state;
    take_whole (self);
    assert_int_equal (check (self, self->whole.n), 0);
    assert_int_equal (check (self, 0), 0);
    for (size_t size = self->whole.n; size > 1000; size -= 709)
        assert_int_equal (check (self, size), 0);
}

static void
a_log_that_goes_on_with_zeros_is_good (void **state)
{
    struct bench *self = *state;
    take_whole (self);
    memset (ag_buf_grow (&self->damaged, 100000), 0, 100000);
    assert_int_equal (check (self, self->damaged.n), 0);
}

static void
a_damaged_length_is_damage_in_the_last_record_too (void **state)
{
    struct bench *self = *state;
    size_t records = 0;
    for (size_t at = 0; at < self->whole.n; at = next_record (self, at), records++) {
        take_whole (self);
        self->damaged.p[at + 5] ^= 0x80;
        assert_int_equal (check (self, self->whole.n), -1);
        assert_int_equal (self->err.code, AG_E_CORRUPT);
        assert_non_null (strstr (self->err.text, self->log));
    }
    assert_true (records > RECORDS);
}

static void
a_header_of_zeros_is_damage_when_a_write_begins_after_it (void **state)
{
    struct bench *self = *state;
    size_t last = 0;
    for (size_t at = 0; at < self->whole.n; at = next_record (self, at))
        last = at;
    for (size_t at = 0; at < last; at = next_record (self, at)) {
        take_whole (self);
        memset (self->damaged.p + at, 0, HEADER);
        assert_int_equal (check (self, self->whole.n), -1);
        assert_int_equal (self->err.code, AG_E_CORRUPT);
    }
    take_whole (self);
    memset (self->damaged.p + last, 0, HEADER);
    assert_int_equal (check (self, self->whole.n), 0);
}

//  A crash may leave holes inside the one write that was never acknowledged: later parts of it prove nothing.
static void
a_hole_in_the_last_write_is_a_torn_write (void **state)
{
    struct bench *self = *state;
    size_t begun = 0, first = 0, size = 0;
    for (size_t at = 0; at < self->whole.n; at = next_record (self, at)) {
        uint8_t type = self->whole.p[at + 6];
        begun = type == 2 ? at : begun;
        if (type == 4 && at - begun > BLOCK) {
            first = begun;
            size = next_record (self, at);
        }
    }
    assert_true (size > 0 && size < self->whole.n);
    take_whole (self);
    memset (self->damaged.p + first, 0, 512);
    assert_int_equal (check (self, size), 0);
    assert_int_equal (check (self, next_record (self, size)), -1);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_log_is_good_as_it_is_and_cut_anywhere),
        cmocka_unit_test (a_log_that_goes_on_with_zeros_is_good),
        cmocka_unit_test (a_damaged_length_is_damage_in_the_last_record_too),
        cmocka_unit_test (a_header_of_zeros_is_damage_when_a_write_begins_after_it),
        cmocka_unit_test (a_hole_in_the_last_write_is_a_torn_write),
    };
    return cmocka_run_group_tests (tests, open_bench, close_bench);
}
