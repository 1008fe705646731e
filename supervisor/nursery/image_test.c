//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/nursery/image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const argv[] = {"program", "an argument", "", NULL},
                         *const env[] = {"A=1", NULL}, *const paths[] = {"/usr", NULL};

static int
image (void)
{
    struct ag_err err;
    struct ag_spawn spawn = {.dir = "/tmp",
                             .argv = argv,
                             .env = env,
                             .readable = paths,
                             .own = paths,
                             .hidden = paths,
                             .filter = "12345678",
                             .filter_bytes = 8};
    int fd = ag_image_new (&spawn, &err);
    assert_true (fd >= 0);
    return fd;
}

static int
sealed (const void *bytes, size_t n, int seals)
{
    int fd = memfd_create ("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_int_equal (write (fd, bytes, n), (ssize_t)n);
    assert_int_equal (fcntl (fd, F_ADD_SEALS, seals), 0);
    return fd;
}

//  As a child does: in a process of its own, whose memory goes with it. 0, or the errno.
static int
read_apart (int fd)
{
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        struct ag_strings strings;
        _exit (ag_image_read (fd, &strings) ? errno : 0);
    }
    waitpid (pid, &status, 0);
    assert_true (WIFEXITED (status));
    return WEXITSTATUS (status);
}

static int
read_bytes (const void *bytes, size_t n)
{
    int fd = sealed (bytes, n, AG_IMAGE_SEALS), error = read_apart (fd);
    close (fd);
    return error;
}

static void
what_the_supervisor_wrote_is_what_the_child_reads (void **state)
{
    (void)state;
    int fd = image(), status = -1;
    assert_int_equal (ag_image_check (fd), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct ag_strings got;
        char ***list = got.list;
        bool same = !ag_image_read (fd, &got) && !strcmp (got.dir, "/tmp") &&
                    !strcmp (list[AG_IMAGE_ARGV][1], "an argument") && !*list[AG_IMAGE_ARGV][2] &&
                    !list[AG_IMAGE_ARGV][3] && !list[AG_IMAGE_ENV][-1] && !list[AG_IMAGE_ENV][-2] &&
                    !strcmp (list[AG_IMAGE_ENV][0], "A=1") && !list[AG_IMAGE_ENV][1] &&
                    !strcmp (list[AG_IMAGE_READABLE][0], "/usr") && got.filter_bytes == 8 &&
                    !memcmp (got.filter, "12345678", 8);
        _exit (same ? 0 : 1);
    }
    waitpid (pid, &status, 0);
    assert_int_equal (status, 0);
    close (fd);
}

static void
every_seal_is_required (void **state)
{
    (void)state;
    static const int each[] = {F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_WRITE};
    char bytes[64] = "";
    for (size_t i = 0; i < 4; i++) {
        int fd = sealed (bytes, sizeof bytes, AG_IMAGE_SEALS & ~each[i]);
        assert_int_equal (ag_image_check (fd), -1);
        assert_int_equal (errno, EPERM);
        close (fd);
    }
    int fd = sealed (bytes, sizeof bytes, AG_IMAGE_SEALS);
    assert_int_equal (ag_image_check (fd), 0);
    close (fd);
}

static void
what_is_no_memfd_or_of_no_fit_size_is_refused (void **state)
{
    (void)state;
    static char big[AG_IMAGE_MAX + 1];
    int ends[2], fd = sealed (big, sizeof big, AG_IMAGE_SEALS);
    assert_int_equal (ag_image_check (fd), -1);
    assert_int_equal (errno, EFBIG);
    close (fd);
    fd = sealed (big, sizeof (struct ag_image) - 1, AG_IMAGE_SEALS);
    assert_int_equal (ag_image_check (fd), -1);
    assert_int_equal (errno, EBADMSG);
    close (fd);
    assert_int_equal (ag_image_check (-1), -1);
    assert_int_equal (errno, EBADF);
    assert_int_equal (pipe (ends), 0);
    assert_int_equal (ag_image_check (ends[0]), -1);
    assert_int_equal (errno, EPERM);
    close (ends[0]);
    close (ends[1]);
}

static void
an_image_cut_anywhere_is_refused (void **state)
{
    (void)state;
    char bytes[512];
    int fd = image();
    ssize_t n = pread (fd, bytes, sizeof bytes, 0);
    close (fd);
    assert_int_equal (read_bytes (bytes, (size_t)n), 0);
    for (size_t cut = sizeof (struct ag_image); cut < (size_t)n; cut++)
        assert_int_equal (read_bytes (bytes, cut), EBADMSG);
    bytes[n] = 0;
    assert_int_equal (read_bytes (bytes, (size_t)n + 1), EBADMSG);
}

//  Each count and length, made too large, and texts that do not end where they say.
static void
counts_that_lie_are_refused (void **state)
{
    (void)state;
    char bytes[512];
    int fd = image();
    size_t n = (size_t)pread (fd, bytes, sizeof bytes, 0);
    close (fd);
    const size_t first = sizeof (struct ag_image); //  length of "/tmp"
    static const uint32_t lies[] = {0, 100, 0x7fffffff, 0xffffffff};
    for (size_t at = 0; at <= first; at += sizeof (uint32_t))
        for (size_t i = 0; i < 4; i++) {
            char copy[sizeof bytes];
            memcpy (copy, bytes, n);
            memcpy (copy + at, &lies[i], sizeof lies[i]);
            assert_int_equal (read_bytes (copy, n), EBADMSG);
        }
    bytes[first + 4 + 2] = 0; //  within "/tmp"
    assert_int_equal (read_bytes (bytes, n), EBADMSG);
    bytes[first + 4 + 2] = 'm';
    bytes[first + 4 + 4] = 'x'; //  its NUL
    assert_int_equal (read_bytes (bytes, n), EBADMSG);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (what_the_supervisor_wrote_is_what_the_child_reads),
        cmocka_unit_test (every_seal_is_required),
        cmocka_unit_test (what_is_no_memfd_or_of_no_fit_size_is_refused),
        cmocka_unit_test (an_image_cut_anywhere_is_refused),
        cmocka_unit_test (counts_that_lie_are_refused),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
