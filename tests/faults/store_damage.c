/*  store_damage - a store whose files were cut or changed says so, or has lost nothing that was synced
 *  before the last record; it never opens with less and silently.
 *  SPDX-License-Identifier: Apache-2.0
 */
#include "supervisor/store.h"
#include "tests/faults/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RECORDS = 100, LONG = 200, HEADER = 7, BLOCK = 32768 };

struct bench {
    char home[SCRATCH];
    char whole[SCRATCH + 8]; //  the store as it was written
    char copy[SCRATCH + 8];  //  the one that is damaged
    struct ag_err err;
};

static void
make_record (int number, char key[16], char value[LONG + 1])
{
    snprintf (key, 16, "r%03d", number);
    for (int i = 0; i < LONG; i++)
        value[i] = (char)('a' + (number * 31 + i * 17) % 26);
    value[LONG] = 0;
}

static void
fill (const char *dir)
{
    struct ag_err err;
    ag_store_t *store = ag_store_rocks_new (dir, &err);
    assert_non_null (store);
    for (int i = 0; i < RECORDS; i++) {
        char key[16], value[LONG + 1];
        make_record (i, key, value);
        const struct ag_write write = {AG_EVENT, ag_str (key), ag_str (value)};
        assert_int_equal (ag_store_write (store, &write, 1, &err), 0);
    }
    ag_store_destroy (&store);
}

static int
open_bench (void **state)
{
    struct bench *self = ag_xcalloc (1, sizeof *self);
    scratch_make (self->home);
    snprintf (self->whole, sizeof self->whole, "%s/whole", self->home);
    snprintf (self->copy, sizeof self->copy, "%s/copy", self->home);
    fill (self->whole);
    *state = self;
    return 0;
}

static int
close_bench (void **state)
{
    struct bench *self = *state;
    scratch_remove (self->home);
    free (self);
    return 0;
}

static void
copy_whole (struct bench *self)
{
    char *command = ag_xprintf ("rm -rf %s && cp -r %s %s", self->copy, self->whole, self->copy);
    assert_int_equal (system (command), 0);
    free (command);
}

//  The largest file of the copy with this ending (the last when equal); the caller frees the path.
static char *
find_file (const struct bench *self, const char *pattern, off_t *size)
{
    char *path = NULL, *wanted = ag_xprintf ("%s/%s", self->copy, pattern);
    glob_t found;
    *size = -1;
    assert_int_equal (glob (wanted, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct stat info;
        assert_int_equal (stat (found.gl_pathv[i], &info), 0);
        if (info.st_size < *size)
            continue;
        *size = info.st_size;
        free (path);
        path = ag_xstrdup (found.gl_pathv[i]);
    }
    globfree (&found);
    free (wanted);
    return path;
}

static void
flip_bits (const char *path, off_t at, uint8_t bits)
{
    uint8_t byte;
    int fd = open (path, O_RDWR);
    assert_int_equal (pread (fd, &byte, 1, at), 1);
    byte ^= bits;
    assert_int_equal (pwrite (fd, &byte, 1, at), 1);
    close (fd);
}

static void
flip_bit (const char *path, off_t at)
{
    flip_bits (path, at, 0x80);
}

//  How many records the damaged store has, from the first on without a gap and with the right bytes;
//  -1 and the error when it refuses to open or to read.
static int
count_records (struct bench *self)
{
    struct ag_str key, value;
    ag_store_t *store = ag_store_rocks_new (self->copy, &self->err);
    if (!store)
        return -1;
    int rc, count = 0;
    ag_scan_t *scan = ag_store_scan (store, AG_EVENT, AG_LIT (""), AG_LIT (""));
    while ((rc = ag_scan_next (scan, &key, &value, &self->err)) == 1) {
        char wanted_key[16], wanted[LONG + 1];
        make_record (count++, wanted_key, wanted);
        assert_true (ag_str_is (key, wanted_key));
        assert_true (ag_str_is (value, wanted));
    }
    ag_scan_destroy (&scan);
    ag_store_destroy (&store);
    return rc < 0 ? -1 : count;
}

//  As after a crash: nobody closed it.
static void
forget_end (struct bench *self)
{
    char *path = ag_xprintf ("%s/CLOSED", self->copy);
    assert_int_equal (unlink (path), 0);
    free (path);
}

static void
a_torn_last_record_is_dropped_and_nothing_else (void **state)
{
    struct bench *self = *state;
    for (off_t cut = 1; cut < LONG; cut += 23) {
        off_t size;
        copy_whole (self);
        forget_end (self);
        char *log = find_file (self, "*.log", &size);
        assert_true (size > RECORDS * LONG);
        assert_int_equal (truncate (log, size - cut), 0);
        free (log);
        assert_int_equal (count_records (self), RECORDS - 1);
    }
}

static void
a_closed_store_has_no_torn_record_and_a_shorter_file_is_refused_by_its_name (void **state)
{
    struct bench *self = *state;
    static const char *const patterns[] = {"*.log", "MANIFEST-*"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        off_t size;
        copy_whole (self);
        char *path = find_file (self, patterns[i], &size);
        assert_int_equal (truncate (path, size - 1), 0);
        for (int again = 0; again < 2; again++) {
            assert_int_equal (count_records (self), -1);
            assert_int_equal (self->err.code, AG_E_CORRUPT);
            assert_non_null (strstr (self->err.text, path));
        }
        free (path);
    }
}

static void
a_changed_bit_in_the_last_record_of_a_closed_store_is_refused (void **state)
{
    struct bench *self = *state;
    off_t size;
    copy_whole (self);
    char *log = find_file (self, "*.log", &size);
    flip_bit (log, size - LONG / 2);
    free (log);
    assert_int_equal (count_records (self), -1);
    assert_int_equal (self->err.code, AG_E_CORRUPT);
}

static void
a_changed_bit_before_the_last_record_is_refused (void **state)
{
    struct bench *self = *state;
    off_t size, step = 997;
    for (off_t at = 3; at < RECORDS * LONG - 2 * LONG; at += step) {
        copy_whole (self);
        char *log = find_file (self, "*.log", &size);
        flip_bit (log, at);
        free (log);
        assert_int_equal (count_records (self), -1);
        assert_int_equal (self->err.code, AG_E_CORRUPT);
        assert_non_null (strstr (self->err.text, self->copy));
    }
}

//  Opening once moves the records from the log into a table.
static void
move_into_table (struct bench *self)
{
    struct ag_err err;
    ag_store_t *store = ag_store_rocks_new (self->whole, &err);
    assert_non_null (store);
    ag_store_destroy (&store);
}

static void
assert_never_fewer (struct bench *self, const char *pattern, off_t step)
{
    off_t size = 1;
    int refused = 0;
    for (off_t at = 0; at < size; at += step) {
        copy_whole (self);
        char *path = find_file (self, pattern, &size);
        flip_bit (path, at);
        free (path);
        int count = count_records (self);
        if (count != -1 && count != RECORDS)
            fail_msg ("%s: bit at %ld of %ld: %d records", pattern, (long)at, (long)size, count);
        refused += count == -1;
    }
    print_message ("%s: %d of %ld places refused\n", pattern, refused,
                   (long)((size - 1) / step + 1));
    assert_true (refused > 0);
}

static void
a_changed_bit_in_a_table_or_in_what_names_the_tables_never_loses_records_silently (void **state)
{
    struct bench *self = *state;
    move_into_table (self);
    assert_never_fewer (self, "*.sst", 173);
    assert_never_fewer (self, "MANIFEST-*", 7);
    assert_never_fewer (self, "CURRENT", 3);
}

//  The length in the head of the record at this place (RocksDB: four bytes of checksum, two of length, one of type).
static off_t
record_length (const char *path, off_t at)
{
    uint8_t head[HEADER] = {0};
    FILE *file = fopen (path, "re");
    assert_non_null (file);
    assert_int_equal (fseek (file, at, SEEK_SET), 0);
    assert_int_equal (fread (head, 1, sizeof head, file), sizeof head);
    fclose (file);
    return head[4] + (head[5] << 8);
}

//  One bit makes a record look like one of a log that was written over an older one, for RocksDB the end of it.
static void
a_changed_type_of_any_record_is_refused_closed_or_not (void **state)
{
    struct bench *self = *state;
    static const char *const patterns[] = {"MANIFEST-*", "*.log"};
    for (size_t i = 0; i < 4; i++)
        for (off_t at = 0, size = 1; at < size;) {
            copy_whole (self);
            if (i % 2)
                forget_end (self);
            char *path = find_file (self, patterns[i / 2], &size);
            off_t next = at + HEADER + record_length (path, at);
            flip_bits (path, at + HEADER - 1, 0x04);
            assert_int_equal (count_records (self), -1);
            assert_int_equal (self->err.code, AG_E_CORRUPT);
            assert_non_null (strstr (self->err.text, path));
            free (path);
            at = next % BLOCK > BLOCK - HEADER ? (next / BLOCK + 1) * BLOCK : next;
        }
}

static void
a_missing_table_is_refused (void **state)
{
    struct bench *self = *state;
    off_t size;
    move_into_table (self);
    copy_whole (self);
    char *path = find_file (self, "*.sst", &size);
    assert_int_equal (unlink (path), 0);
    free (path);
    assert_int_equal (count_records (self), -1);
    assert_int_equal (self->err.code, AG_E_CORRUPT);
}

int
main (void)
{
#define EACH(test) cmocka_unit_test_setup_teardown (test, open_bench, close_bench)
    const struct CMUnitTest tests[] = {
        EACH (a_torn_last_record_is_dropped_and_nothing_else),
        EACH (a_closed_store_has_no_torn_record_and_a_shorter_file_is_refused_by_its_name),
        EACH (a_changed_bit_in_the_last_record_of_a_closed_store_is_refused),
        EACH (a_changed_bit_before_the_last_record_is_refused),
        EACH (a_changed_bit_in_a_table_or_in_what_names_the_tables_never_loses_records_silently),
        EACH (a_changed_type_of_any_record_is_refused_closed_or_not),
        EACH (a_missing_table_is_refused),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
