//  One suite of what every store must do, run over each; and what only a store on disk can do.
//  SPDX-License-Identifier: Apache-2.0
#include "common/hash.h"
#include "common/tree.h"
#include "supervisor/store_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <ftw.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct bench {
    char dir[40];
    char home[32];
    ag_store_t *store;
    struct ag_err err;
};

static int
open_memory (void **state)
{
    struct bench *self = ag_xcalloc (1, sizeof *self);
    self->store = ag_store_memory_new();
    *state = self;
    return 0;
}

static int
open_rocks (void **state)
{
    struct bench *self = ag_xcalloc (1, sizeof *self);
    strcpy (self->home, "/tmp/ag_store_test.XXXXXX");
    assert_non_null (mkdtemp (self->home));
    snprintf (self->dir, sizeof self->dir, "%s/store", self->home);
    self->store = ag_store_rocks_new (self->dir, &self->err);
    assert_non_null (self->store);
    *state = self;
    return 0;
}

static int
close_bench (void **state)
{
    struct bench *self = *state;
    ag_store_destroy (&self->store);
    if (self->home[0])
        ag_tree_remove (self->home);
    free (self);
    return 0;
}

static int
write_one (struct bench *self, enum ag_table table, struct ag_str key, struct ag_str value)
{
    return ag_store_write (self->store, &(struct ag_write){table, key, value}, 1, &self->err);
}

static void
put (struct bench *self, enum ag_table table, const char *key, const char *value)
{
    assert_int_equal (write_one (self, table, ag_str (key), ag_str (value)), 0);
}

static void
assert_reads (struct bench *self, enum ag_table table, const char *key, const char *wanted)
{
    struct ag_buf out = {0};
    int rc = ag_store_get (self->store, table, ag_str (key), &out, &self->err);
    assert_int_equal (rc, wanted != NULL);
    assert_true (!wanted || ag_str_is (ag_buf_str (&out), wanted));
    ag_buf_fini (&out);
}

//  A scan as one line: "a=1 b=2 ".
static void
assert_scans (struct bench *self, enum ag_table table, struct ag_str from, struct ag_str to,
              const char *wanted)
{
    struct ag_buf out = {0};
    struct ag_str key, value;
    ag_scan_t *scan = ag_store_scan (self->store, table, from, to);
    int rc;
    while ((rc = ag_scan_next (scan, &key, &value, &self->err)) == 1)
        ag_buf_text (&out, "%.*s=%.*s ", AG_STR_ARG (key), AG_STR_ARG (value));
    assert_int_equal (rc, 0);
    assert_int_equal (ag_scan_next (scan, &key, &value, &self->err), 0);
    ag_scan_destroy (&scan);
    ag_buf_add (&out, "", 1);
    assert_string_equal ((char *)out.p, wanted);
    ag_buf_fini (&out);
}

static void
what_was_written_is_read_and_the_rest_is_absent (void **state)
{
    struct bench *self = *state;
    assert_reads (self, AG_EVENT, "a", NULL);
    put (self, AG_EVENT, "a", "1");
    assert_reads (self, AG_EVENT, "a", "1");
    put (self, AG_EVENT, "a", "2");
    assert_reads (self, AG_EVENT, "a", "2");
    assert_reads (self, AG_EVENT, "aa", NULL);
    assert_int_equal (write_one (self, AG_EVENT, AG_LIT ("a"), (struct ag_str){0}), 0);
    assert_reads (self, AG_EVENT, "a", NULL);
    assert_int_equal (write_one (self, AG_EVENT, AG_LIT ("nobody"), (struct ag_str){0}), 0);
}

static void
a_read_is_appended_to_what_the_buffer_holds (void **state)
{
    struct bench *self = *state;
    struct ag_buf out = {0};
    put (self, AG_TIP, "a", "1");
    ag_buf_add_str (&out, AG_LIT ("before "));
    assert_int_equal (ag_store_get (self->store, AG_TIP, AG_LIT ("a"), &out, &self->err), 1);
    assert_true (ag_str_is (ag_buf_str (&out), "before 1"));
    ag_buf_fini (&out);
}

static void
an_empty_value_is_not_an_absent_one (void **state)
{
    struct bench *self = *state;
    put (self, AG_INDEX, "a", "");
    assert_reads (self, AG_INDEX, "a", "");
    assert_scans (self, AG_INDEX, AG_LIT (""), AG_LIT (""), "a= ");
}

static void
each_table_has_keys_of_its_own (void **state)
{
    struct bench *self = *state;
    for (enum ag_table table = 0; table < AG_TABLES; table++)
        put (self, table, "same", (char[]){(char)('0' + table), 0});
    for (enum ag_table table = 0; table < AG_TABLES; table++)
        assert_reads (self, table, "same", (char[]){(char)('0' + table), 0});
    assert_scans (self, AG_BLOB, AG_LIT ("s"), AG_LIT ("t"), "same=5 ");
}

static void
a_scan_goes_from_the_first_key_to_before_the_last_in_order_of_bytes (void **state)
{
    struct bench *self = *state;
    const char *const keys[] = {"b", "a\xff", "a", "c", "ab"};
    for (size_t i = 0; i < 5; i++)
        put (self, AG_VERSION, keys[i], "");
    assert_scans (self, AG_VERSION, (struct ag_str){0}, (struct ag_str){0}, "a= ab= a\xff= b= c= ");
    assert_scans (self, AG_VERSION, AG_LIT ("ab"), AG_LIT ("b"), "ab= a\xff= ");
    assert_scans (self, AG_VERSION, AG_LIT ("aa"), AG_LIT ("c"), "ab= a\xff= b= ");
    assert_scans (self, AG_VERSION, AG_LIT ("b"), AG_LIT (""), "b= c= ");
    assert_scans (self, AG_VERSION, AG_LIT ("b"), AG_LIT ("b"), "");
    assert_scans (self, AG_VERSION, AG_LIT ("c\0"), AG_LIT (""), "");
}

static void
a_scan_keeps_its_own_copy_of_its_bounds (void **state)
{
    struct bench *self = *state;
    put (self, AG_EVENT, "a", "1");
    put (self, AG_EVENT, "b", "2");
    struct ag_str key, value;
    char from[] = "a", to[] = "b";
    ag_scan_t *scan = ag_store_scan (self->store, AG_EVENT, ag_str (from), ag_str (to));
    from[0] = to[0] = 'z';
    assert_int_equal (ag_scan_next (scan, &key, &value, &self->err), 1);
    assert_true (ag_str_is (key, "a") && ag_str_is (value, "1"));
    assert_int_equal (ag_scan_next (scan, &key, &value, &self->err), 0);
    ag_scan_destroy (&scan);
    assert_null (scan);
}

static void
keys_and_values_are_bytes_of_any_kind_and_size (void **state)
{
    struct bench *self = *state;
    struct ag_buf value = {0}, out = {0};
    for (size_t i = 0; i < 300000; i++)
        ag_buf_add (&value, &(uint8_t){(uint8_t)(i * 7)}, 1);
    struct ag_str key = {"\1\0\0\xff\0", 5};
    assert_int_equal (write_one (self, AG_META, key, ag_buf_str (&value)), 0);
    assert_int_equal (ag_store_get (self->store, AG_META, key, &out, &self->err), 1);
    assert_true (ag_str_eq (ag_buf_str (&out), ag_buf_str (&value)));
    key.n = 4;
    assert_int_equal (ag_store_get (self->store, AG_META, key, &out, &self->err), 0);
    ag_buf_fini (&value);
    ag_buf_fini (&out);
}

static void
a_later_write_of_the_same_key_wins_inside_one_batch (void **state)
{
    struct bench *self = *state;
    struct ag_str a = AG_LIT ("a"), b = AG_LIT ("b");
    const struct ag_write writes[] = {{AG_TIP, a, AG_LIT ("1")},
                                      {AG_TIP, b, AG_LIT ("1")},
                                      {AG_TIP, a, AG_LIT ("2")},
                                      {AG_TIP, b, {0}}};
    assert_int_equal (ag_store_write (self->store, writes, 4, &self->err), 0);
    assert_scans (self, AG_TIP, AG_LIT (""), AG_LIT (""), "a=2 ");
}

static void
below_the_reserve_a_write_is_refused_by_name_and_the_store_stays_usable (void **state)
{
    struct bench *self = *state;
    put (self, AG_EVENT, "a", "1");
    ag_store_set_reserve (self->store, UINT64_MAX);
    assert_int_equal (write_one (self, AG_EVENT, AG_LIT ("b"), AG_LIT ("2")), -1);
    assert_int_equal (self->err.code, AG_E_DISK_FULL);
    assert_non_null (strstr (self->err.text, "18446744073709551615"));
    assert_reads (self, AG_EVENT, "a", "1");
    assert_reads (self, AG_EVENT, "b", NULL);
    ag_store_set_reserve (self->store, 0);
    put (self, AG_EVENT, "b", "3");
    assert_reads (self, AG_EVENT, "b", "3");
}

static void
a_reopened_store_is_the_same_one_in_a_higher_epoch (void **state)
{
    struct bench *self = *state;
    uint64_t epoch = ag_store_epoch (self->store);
    char *identity = ag_xstrdup (ag_store_identity (self->store));
    assert_int_equal (strlen (identity), 32);
    put (self, AG_EVENT, "a", "1");
    assert_int_equal (ag_store_reopen (self->store, &self->err), 0);
    assert_int_equal (ag_store_epoch (self->store), epoch + 1);
    assert_string_equal (ag_store_identity (self->store), identity);
    assert_reads (self, AG_EVENT, "a", "1");
    put (self, AG_EVENT, "b", "2");
    free (identity);
}

//  Thousands of random writes beside an array of what must be there.
static void
random_batches_agree_with_a_plain_table (void **state)
{
    enum { KEYS = 200, BATCHES = 300, SIZE = 20 };
    struct bench *self = *state;
    char keys[SIZE][8], values[SIZE][16];
    int model[KEYS] = {0};
    srand (11);
    for (int batch = 1; batch <= BATCHES; batch++) {
        struct ag_write writes[SIZE];
        for (int i = 0; i < SIZE; i++) {
            int key = rand() % KEYS;
            model[key] = rand() % 3 ? batch : 0;
            snprintf (keys[i], sizeof keys[i], "k%03d", key);
            snprintf (values[i], sizeof values[i], "%d", batch);
            struct ag_str value = model[key] ? ag_str (values[i]) : (struct ag_str){0};
            writes[i] = (struct ag_write){AG_TIP, ag_str (keys[i]), value};
        }
        assert_int_equal (ag_store_write (self->store, writes, SIZE, &self->err), 0);
        if (batch % 100 == 0)
            assert_int_equal (ag_store_reopen (self->store, &self->err), 0);
    }
    struct ag_buf wanted = {0};
    for (int key = 0; key < KEYS; key++)
        if (model[key])
            ag_buf_text (&wanted, "k%03d=%d ", key, model[key]);
    ag_buf_add (&wanted, "", 1);
    assert_scans (self, AG_TIP, AG_LIT (""), AG_LIT (""), (char *)wanted.p);
    ag_buf_fini (&wanted);
}

static void
two_stores_have_different_identities (void **state)
{
    struct bench *self = *state;
    ag_store_t *other = ag_store_memory_new();
    assert_string_not_equal (ag_store_identity (self->store), ag_store_identity (other));
    ag_store_destroy (&other);
    assert_null (other);
}

static void
a_closed_store_opens_as_it_was (void **state)
{
    struct bench *self = *state;
    char *identity = ag_xstrdup (ag_store_identity (self->store));
    assert_int_equal (ag_store_epoch (self->store), 1);
    put (self, AG_EVENT, "a", "1");
    put (self, AG_BLOB, "b", "2");
    for (uint64_t epoch = 2; epoch < 5; epoch++) {
        ag_store_destroy (&self->store);
        self->store = ag_store_rocks_new (self->dir, &self->err);
        assert_non_null (self->store);
        assert_int_equal (ag_store_epoch (self->store), epoch);
        assert_string_equal (ag_store_identity (self->store), identity);
        assert_reads (self, AG_EVENT, "a", "1");
        assert_reads (self, AG_BLOB, "b", "2");
    }
    free (identity);
}

static uint64_t bytes_seen;

static int
add_bytes (const char *path, const struct stat *info, int kind, struct FTW *ftw)
{
    (void)path;
    (void)ftw;
    bytes_seen += kind == FTW_F ? (uint64_t)info->st_size : 0;
    return 0;
}

static uint64_t
bytes_on_disk (struct bench *self)
{
    bytes_seen = 0;
    nftw (self->dir, add_bytes, 16, FTW_PHYS);
    return bytes_seen;
}

//  Values that nothing packs, or deletions of them; an opening puts them into table files.
enum { PARTS = 5, PART = 1000, VALUE_BYTES = 1000 };

static void
write_part (struct bench *self, int part, bool erase)
{
    static struct ag_write writes[PART];
    static char keys[PART][16], values[PART][VALUE_BYTES];
    ag_random (values, sizeof values);
    for (int i = 0; i < PART; i++) {
        int n = snprintf (keys[i], sizeof keys[i], "m%06d", part * PART + i);
        struct ag_str value = {erase ? NULL : values[i], erase ? 0 : VALUE_BYTES};
        writes[i] = (struct ag_write){AG_EVENT, {keys[i], (size_t)n}, value};
    }
    assert_int_equal (ag_store_write (self->store, writes, PART, &self->err), 0);
}

static void
what_was_deleted_leaves_the_disk_soon_after_it_is_released (void **state)
{
    struct bench *self = *state;
    put (self, AG_EVENT, "a", "before");
    put (self, AG_EVENT, "z", "behind");
    for (int part = 0; part < PARTS; part++) {
        write_part (self, part, false);
        ag_store_destroy (&self->store);
        self->store = ag_store_rocks_new (self->dir, &self->err);
        assert_non_null (self->store);
    }
    uint64_t all = PARTS * PART * VALUE_BYTES;
    assert_true (bytes_on_disk (self) > all);
    for (int part = 0; part < PARTS; part++)
        write_part (self, part, true);
    ag_store_release (self->store, AG_EVENT);
    for (int tenths = 0; tenths < 80 && bytes_on_disk (self) > all / 5; tenths++)
        usleep (100000);
    assert_in_range (bytes_on_disk (self), 0, all / 5);
    assert_scans (self, AG_EVENT, AG_LIT (""), AG_LIT (""), "a=before z=behind ");
}

static void
a_store_is_refused_to_whom_comes_second (void **state)
{
    struct bench *self = *state;
    assert_null (ag_store_rocks_new (self->dir, &self->err));
    assert_int_equal (self->err.code, AG_E_RUNNING);
    assert_non_null (strstr (self->err.text, self->dir));
    put (self, AG_EVENT, "a", "1");
}

//  Opens the store in dir in another process; returns the code it failed with, AG_OK when it did not.
static int
open_elsewhere (const char *dir)
{
    char *const args[] = {"store_test", (char *)dir, NULL};
    pid_t pid;
    int status;
    assert_int_equal (posix_spawn (&pid, "/proc/self/exe", NULL, NULL, args, environ), 0);
    assert_int_equal (waitpid (pid, &status, 0), pid);
    assert_true (WIFEXITED (status));
    return WEXITSTATUS (status);
}

static void
a_second_process_is_refused_until_the_first_has_closed (void **state)
{
    struct bench *self = *state;
    assert_int_equal (open_elsewhere (self->dir), AG_E_RUNNING);
    put (self, AG_EVENT, "a", "1");
    ag_store_destroy (&self->store);
    assert_int_equal (open_elsewhere (self->dir), AG_OK);
}

static void
a_place_that_cannot_be_made_is_an_error_with_its_name (void **state)
{
    struct bench *self = *state;
    assert_null (ag_store_rocks_new ("/tmp/ag_no_such/place", &self->err));
    assert_int_equal (self->err.code, AG_E_SYSTEM);
    assert_non_null (strstr (self->err.text, "/tmp/ag_no_such/place"));
}

static void
a_store_without_its_file_CURRENT_is_not_begun_anew (void **state)
{
    struct bench *self = *state;
    char path[64];
    put (self, AG_EVENT, "a", "1");
    ag_store_destroy (&self->store);
    snprintf (path, sizeof path, "%s/CURRENT", self->dir);
    assert_int_equal (unlink (path), 0);
    assert_null (ag_store_rocks_new (self->dir, &self->err));
    assert_int_equal (self->err.code, AG_E_CORRUPT);
}

//  Past the store's own guard: what another release would have left.
static void
leave_format (struct bench *self, struct ag_str value)
{
    const struct ag_write write = {AG_META, {"\0format", 7}, value};
    assert_int_equal (self->store->ops->write (self->store, &write, 1, &self->err), 0);
    ag_store_destroy (&self->store);
    assert_null (ag_store_rocks_new (self->dir, &self->err));
    assert_int_equal (self->err.code, AG_E_FORMAT);
}

static void
a_store_in_a_newer_format_is_refused_by_both_numbers (void **state)
{
    struct bench *self = *state;
    leave_format (self, (struct ag_str){"\0\0\0\0\0\0\0\x4d", 8});
    assert_non_null (strstr (self->err.text, "format 77, this program reads format 3"));
}

static void
a_store_from_before_formats_had_numbers_is_refused_as_format_1 (void **state)
{
    struct bench *self = *state;
    leave_format (self, (struct ag_str){0});
    assert_non_null (strstr (self->err.text, "format 1, this program reads format 3"));
}

//  Each life leaves a file that only compaction takes away, which has much to copy and ends with the life.
static void
lives_too_short_for_compaction_do_not_add_up_to_a_store_that_cannot_be_opened (void **state)
{
    enum { LIVES = 45, LARGE = 8, LARGE_BYTES = 2 << 20 };
    struct bench *self = *state;
    char key[16], *value = ag_xmalloc (LARGE_BYTES);
    for (int i = 0; i < LARGE; i++) {
        ag_random ((uint8_t *)value, LARGE_BYTES);
        snprintf (key, sizeof key, "k%d", i);
        assert_int_equal (
            write_one (self, AG_EVENT, ag_str (key), (struct ag_str){value, LARGE_BYTES}), 0);
    }
    for (int life = 0; life < LIVES; life++) {
        put (self, AG_EVENT, "a", "first of all keys");
        put (self, AG_EVENT, "z", "last of all keys");
        ag_store_destroy (&self->store);
        self->store = ag_store_rocks_new (self->dir, &self->err);
        if (!self->store)
            fail_msg ("life %d: %s", life, self->err.text);
    }
    free (value);
}

#define SUITE(open)                                                                                \
    EACH (open, what_was_written_is_read_and_the_rest_is_absent),                                  \
        EACH (open, a_read_is_appended_to_what_the_buffer_holds),                                  \
        EACH (open, an_empty_value_is_not_an_absent_one),                                          \
        EACH (open, each_table_has_keys_of_its_own),                                               \
        EACH (open, a_scan_goes_from_the_first_key_to_before_the_last_in_order_of_bytes),          \
        EACH (open, a_scan_keeps_its_own_copy_of_its_bounds),                                      \
        EACH (open, keys_and_values_are_bytes_of_any_kind_and_size),                               \
        EACH (open, a_later_write_of_the_same_key_wins_inside_one_batch),                          \
        EACH (open, below_the_reserve_a_write_is_refused_by_name_and_the_store_stays_usable),      \
        EACH (open, a_reopened_store_is_the_same_one_in_a_higher_epoch),                           \
        EACH (open, random_batches_agree_with_a_plain_table),                                      \
        EACH (open, two_stores_have_different_identities)

static int
open_and_tell (const char *dir)
{
    struct ag_err err = {0};
    ag_store_t *store = ag_store_rocks_new (dir, &err);
    ag_store_destroy (&store);
    return err.code;
}

int
main (int argc, char **argv)
{
    if (argc == 2)
        return open_and_tell (argv[1]);
#define EACH(open, test) cmocka_unit_test_setup_teardown (test, open, close_bench)
    const struct CMUnitTest memory[] = {SUITE (open_memory)};
    const struct CMUnitTest rocks[] = {
        SUITE (open_rocks),
        EACH (open_rocks, a_closed_store_opens_as_it_was),
        EACH (open_rocks,
              lives_too_short_for_compaction_do_not_add_up_to_a_store_that_cannot_be_opened),
        EACH (open_rocks, what_was_deleted_leaves_the_disk_soon_after_it_is_released),
        EACH (open_rocks, a_store_is_refused_to_whom_comes_second),
        EACH (open_rocks, a_second_process_is_refused_until_the_first_has_closed),
        EACH (open_rocks, a_place_that_cannot_be_made_is_an_error_with_its_name),
        EACH (open_rocks, a_store_without_its_file_CURRENT_is_not_begun_anew),
        EACH (open_rocks, a_store_in_a_newer_format_is_refused_by_both_numbers),
        EACH (open_rocks, a_store_from_before_formats_had_numbers_is_refused_as_format_1),
    };
    int failed = cmocka_run_group_tests_name ("memory", memory, NULL, NULL);
    return failed + cmocka_run_group_tests_name ("rocks", rocks, NULL, NULL);
}
