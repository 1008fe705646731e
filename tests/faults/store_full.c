/*  store_full - a full disk, or a file that may not grow, costs no acknowledged record and no abort.
 *
 *  The disk is a small tmpfs in a mount name space of this process, below a user name space where it is not root's;
 *  without them it is skipped.
 *  SPDX-License-Identifier: Apache-2.0
 */
#include "supervisor/store.h"
#include "tests/faults/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { MIB = 1 << 20, VALUE = 4096, RECORDS_AT_MOST = 200000 };

struct bench {
    char home[SCRATCH];
    char dir[SCRATCH + 8];
    char ballast[SCRATCH + 8];
    bool mounted;
    ag_store_t *store;
    int acknowledged; //  records 0 .. acknowledged - 1 are on disk
    size_t value_bytes;
    struct ag_err err;
};

static int
open_bench (void **state)
{
    struct bench *self = ag_xcalloc (1, sizeof *self);
    scratch_make (self->home);
    snprintf (self->dir, sizeof self->dir, "%s/store", self->home);
    snprintf (self->ballast, sizeof self->ballast, "%s/ballast", self->home);
    self->value_bytes = VALUE;
    *state = self;
    return 0;
}

static int
close_bench (void **state)
{
    struct bench *self = *state;
    ag_store_destroy (&self->store);
    if (self->mounted)
        umount (self->home);
    scratch_remove (self->home);
    free (self);
    return 0;
}

//  A disk of this many bytes under the store, in a name space that dies with this process.
static void
mount_disk (struct bench *self, int bytes)
{
    char options[40];
    snprintf (options, sizeof options, "size=%d,mode=0700", bytes);
    if (mount ("ag_fault", self->home, "tmpfs", 0, options)) {
        print_message ("skipped: mount a tmpfs: %s\n", strerror (errno));
        skip();
    }
    self->mounted = true;
}

static void
open_store (struct bench *self)
{
    self->store = ag_store_rocks_new (self->dir, &self->err);
    assert_non_null (self->store);
}

static uint64_t
room (const struct bench *self)
{
    struct statvfs disk;
    assert_int_equal (statvfs (self->home, &disk), 0);
    return (uint64_t)disk.f_bavail * disk.f_frsize;
}

//  Fills the disk but for so many bytes.
static void
fill_disk (struct bench *self, uint64_t leave)
{
    int fd = open (self->ballast, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    assert_true (fd >= 0);
    assert_int_equal (posix_fallocate (fd, 0, (off_t)(room (self) - leave)), 0);
    close (fd);
}

static void
make_record (const struct bench *self, int number, char key[16], struct ag_buf *value)
{
    snprintf (key, 16, "r%06d", number);
    uint64_t x = (uint64_t)number + 1;
    ag_buf_clear (value);
    while (value->n < self->value_bytes)
        ag_buf_be64 (value, x = x * 6364136223846793005u + 1442695040888963407u);
}

static int
write_record (struct bench *self, int number)
{
    char key[16];
    struct ag_buf value = {0};
    make_record (self, number, key, &value);
    const struct ag_write write = {AG_EVENT, ag_str (key), ag_buf_str (&value)};
    int rc = ag_store_write (self->store, &write, 1, &self->err);
    ag_buf_fini (&value);
    return rc;
}

//  Writes records until one is refused; the error is its.
static void
write_until_refused (struct bench *self)
{
    for (; self->acknowledged < RECORDS_AT_MOST; self->acknowledged++)
        if (write_record (self, self->acknowledged))
            return;
    fail_msg ("%d records and no refusal", self->acknowledged);
}

//  Every acknowledged record is there and right, and at most the one that failed besides.
static void
assert_all_there (struct bench *self)
{
    int count = 0, rc;
    struct ag_str key, value;
    struct ag_buf wanted = {0};
    ag_scan_t *scan = ag_store_scan (self->store, AG_EVENT, AG_LIT (""), AG_LIT (""));
    while ((rc = ag_scan_next (scan, &key, &value, &self->err)) == 1) {
        char name[16];
        make_record (self, count++, name, &wanted);
        assert_true (ag_str_is (key, name));
        assert_true (ag_str_eq (value, ag_buf_str (&wanted)));
    }
    assert_int_equal (rc, 0);
    ag_scan_destroy (&scan);
    ag_buf_fini (&wanted);
    if (count != self->acknowledged && count != self->acknowledged + 1)
        fail_msg ("%d records are there, %d were acknowledged", count, self->acknowledged);
    self->acknowledged = count;
}

static void
below_the_reserve_writes_are_refused_and_go_on_by_themselves_when_there_is_room (void **state)
{
    struct bench *self = *state;
    mount_disk (self, 96 * MIB);
    open_store (self);
    assert_int_equal (write_record (self, self->acknowledged++), 0);
    fill_disk (self, 64 * MIB - 4096);
    for (int i = 0; i < 3; i++) {
        assert_int_equal (write_record (self, self->acknowledged), -1);
        assert_int_equal (self->err.code, AG_E_DISK_FULL);
    }
    assert_all_there (self);
    assert_int_equal (unlink (self->ballast), 0);
    assert_int_equal (write_record (self, self->acknowledged++), 0);
    assert_all_there (self);
}

static void
without_room_a_store_opens_and_is_read_and_enters_its_epoch_with_the_first_write (void **state)
{
    struct bench *self = *state;
    mount_disk (self, 96 * MIB);
    open_store (self);
    uint64_t epoch = ag_store_epoch (self->store);
    assert_int_equal (write_record (self, self->acknowledged++), 0);
    ag_store_destroy (&self->store);
    fill_disk (self, 32 * MIB);
    open_store (self);
    assert_all_there (self);
    assert_int_equal (write_record (self, self->acknowledged), -1);
    assert_int_equal (self->err.code, AG_E_DISK_FULL);
    assert_int_equal (ag_store_epoch (self->store), epoch + 1);
    assert_int_equal (unlink (self->ballast), 0);
    assert_int_equal (write_record (self, self->acknowledged++), 0);
    ag_store_destroy (&self->store);
    open_store (self);
    assert_int_equal (ag_store_epoch (self->store), epoch + 2);
    assert_all_there (self);
}

static void
without_room_a_store_is_not_begun_and_nothing_is_made (void **state)
{
    struct bench *self = *state;
    const int sizes[] = {4096, 16384, 100 << 10, MIB, 8 * MIB};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        mount_disk (self, sizes[i]);
        assert_null (ag_store_rocks_new (self->dir, &self->err));
        assert_int_equal (self->err.code, AG_E_DISK_FULL);
        assert_non_null (strstr (self->err.text, self->dir));
        assert_int_equal (rmdir (self->dir), 0);
        assert_int_equal (umount (self->home), 0);
        self->mounted = false;
    }
}

static void
with_little_room_a_store_opens_or_says_that_it_lacks_room (void **state)
{
    struct bench *self = *state;
    mount_disk (self, 96 * MIB);
    open_store (self);
    while (self->acknowledged < 1000)
        assert_int_equal (write_record (self, self->acknowledged++), 0);
    ag_store_destroy (&self->store);
    for (uint64_t leave = 0; leave <= 8 * MIB; leave += leave < MIB ? 8192 : MIB / 8) {
        fill_disk (self, leave);
        self->store = ag_store_rocks_new (self->dir, &self->err);
        if (self->store)
            assert_all_there (self);
        else
            assert_int_equal (self->err.code, AG_E_DISK_FULL);
        ag_store_destroy (&self->store);
        assert_int_equal (unlink (self->ballast), 0);
    }
    open_store (self);
    assert_all_there (self);
}

static void
a_store_that_writes_into_its_reserve_until_refused_opens_again (void **state)
{
    struct bench *self = *state;
    mount_disk (self, 96 * MIB);
    open_store (self);
    ag_store_set_reserve (self->store, 24 * MIB);
    write_until_refused (self);
    assert_int_equal (self->err.code, AG_E_DISK_FULL);
    assert_all_there (self);
    ag_store_destroy (&self->store);
    open_store (self);
    assert_all_there (self);
}

//  Meets ENOSPC itself, closes, opens: at once when the disk still has room for that, else after some is freed.
static void
meet_the_full_disk (struct bench *self)
{
    write_until_refused (self);
    assert_int_equal (self->err.code, AG_E_STORE);
    assert_int_equal (write_record (self, self->acknowledged), -1);
    assert_int_equal (self->err.code, AG_E_STORE);
    struct ag_buf out = {0};
    assert_int_equal (ag_store_get (self->store, AG_EVENT, AG_LIT ("r000000"), &out, &self->err),
                      -1);
    assert_int_equal (self->err.code, AG_E_STORE);
    if (ag_store_reopen (self->store, &self->err)) {
        assert_int_equal (self->err.code, AG_E_DISK_FULL);
        assert_int_equal (unlink (self->ballast), 0);
        assert_int_equal (ag_store_reopen (self->store, &self->err), 0);
    }
    assert_all_there (self);
    unlink (self->ballast);
}

static void
without_a_reserve_a_full_disk_closes_the_store_and_loses_nothing (void **state)
{
    struct bench *self = *state;
    const size_t sizes[] = {VALUE, 500, 100000};
    for (size_t i = 0; i < 3; i++) {
        self->value_bytes = sizes[i];
        self->acknowledged = 0;
        mount_disk (self, 160 * MIB);
        open_store (self);
        ag_store_set_reserve (self->store, 0);
        for (int round = 1; round <= 3; round++) {
            fill_disk (self, (uint64_t)round * 700000);
            meet_the_full_disk (self);
            assert_int_equal (write_record (self, self->acknowledged++), 0);
        }
        ag_store_destroy (&self->store);
        assert_int_equal (umount (self->home), 0);
    }
    self->mounted = false;
}

//  Here the flush of a buffer into a table meets the full disk, not the log.
static void
a_disk_that_fills_up_while_buffers_are_flushed_loses_nothing (void **state)
{
    struct bench *self = *state;
    mount_disk (self, 44 * MIB);
    open_store (self);
    ag_store_set_reserve (self->store, 0);
    write_until_refused (self);
    assert_int_equal (self->err.code, AG_E_STORE);
    if (ag_store_reopen (self->store, &self->err))
        assert_int_equal (self->err.code, AG_E_DISK_FULL);
    assert_int_equal (mount (NULL, self->home, NULL, MS_REMOUNT, "size=160m"), 0);
    assert_int_equal (ag_store_reopen (self->store, &self->err), 0);
    assert_all_there (self);
    assert_int_equal (write_record (self, self->acknowledged++), 0);
    assert_all_there (self);
}

static void
limit_files (rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal (getrlimit (RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    assert_int_equal (setrlimit (RLIMIT_FSIZE, &limit), 0);
}

static void
a_file_that_may_not_grow_closes_the_store_and_loses_nothing (void **state)
{
    struct bench *self = *state;
    open_store (self);
    ag_store_set_reserve (self->store, 0);
    for (int round = 1; round <= 3; round++) {
        limit_files ((rlim_t)round * 5 * MIB);
        write_until_refused (self);
        assert_int_equal (self->err.code, AG_E_STORE);
        if (ag_store_reopen (self->store, &self->err))
            assert_int_equal (self->err.code, AG_E_DISK_FULL);
        limit_files (RLIM_INFINITY);
        assert_int_equal (ag_store_reopen (self->store, &self->err), 0);
        assert_all_there (self);
    }
}

static void
put (const char *path, const char *text)
{
    FILE *file = fopen (path, "w");
    if (!file || fputs (text, file) < 0 || fclose (file))
        print_message ("%s: %s\n", path, strerror (errno));
}

//  Where an ordinary user may mount, under its own id.
static int
leave_mounts (void)
{
    char uids[32], gids[32];
    snprintf (uids, sizeof uids, "%u %u 1", geteuid(), geteuid());
    snprintf (gids, sizeof gids, "%u %u 1", getegid(), getegid());
    if (geteuid() == 0)
        return unshare (CLONE_NEWNS);
    if (unshare (CLONE_NEWUSER | CLONE_NEWNS))
        return -1;
    put ("/proc/self/setgroups", "deny");
    put ("/proc/self/uid_map", uids);
    put ("/proc/self/gid_map", gids);
    return 0;
}

int
main (void)
{
    signal (SIGXFSZ, SIG_IGN);
    if (leave_mounts() || mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
        print_message ("no mount name space of its own: %s\n", strerror (errno));
#define EACH(test) cmocka_unit_test_setup_teardown (test, open_bench, close_bench)
    const struct CMUnitTest tests[] = {
        EACH (below_the_reserve_writes_are_refused_and_go_on_by_themselves_when_there_is_room),
        EACH (without_room_a_store_opens_and_is_read_and_enters_its_epoch_with_the_first_write),
        EACH (without_room_a_store_is_not_begun_and_nothing_is_made),
        EACH (with_little_room_a_store_opens_or_says_that_it_lacks_room),
        EACH (a_store_that_writes_into_its_reserve_until_refused_opens_again),
        EACH (without_a_reserve_a_full_disk_closes_the_store_and_loses_nothing),
        EACH (a_disk_that_fills_up_while_buffers_are_flushed_loses_nothing),
        EACH (a_file_that_may_not_grow_closes_the_store_and_loses_nothing),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
