//  SPDX-License-Identifier: Apache-2.0
#include "worker/files.h"

#include "common/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct place {
    char dir[64], inside[96], grants[160];
};

static void
write_file (const char *path, const char *bytes, size_t n)
{
    int fd = open (path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true (fd >= 0 && write (fd, bytes, n) == (ssize_t)n);
    close (fd);
}

static int
make (void **state)
{
    struct place *place = ag_xcalloc (1, sizeof *place);
    strcpy (place->dir, "/tmp/agsup-files-XXXXXX");
    assert_non_null (mkdtemp (place->dir));
    snprintf (place->inside, sizeof place->inside, "%s/in", place->dir);
    snprintf (place->grants, sizeof place->grants, "/nowhere/at/all:%s/", place->inside);
    assert_int_equal (mkdir (place->inside, 0700), 0);
    *state = place;
    return 0;
}

static int
sweep (void **state)
{
    struct place *place = *state;
    char *command = ag_xprintf ("rm -r %s", place->dir);
    assert_int_equal (system (command), 0);
    free (command);
    free (place);
    return 0;
}

//  The output, or the error, of one of the two as text.
static const char *
result (struct place *place, int fn (const char *, struct ag_str, struct ag_buf *, struct ag_err *),
        const char *name)
{
    static char text[600];
    struct ag_buf out = {0}, json = {0};
    struct ag_err err;
    char *path = *name == '/' ? ag_xstrdup (name) : ag_xprintf ("%s/%s", place->inside, name);
    if (fn (place->grants, ag_str (path), &out, &err))
        snprintf (text, sizeof text, "%s: %s", ag_code_name (err.code), err.text);
    else {
        ag_json_write (ag_buf_str (&out), AG_JSON_LINE, &json);
        snprintf (text, sizeof text, "%.*s", AG_STR_ARG (ag_buf_str (&json)));
    }
    ag_buf_fini (&out);
    ag_buf_fini (&json);
    free (path);
    return text;
}

static void
a_file_is_read_as_text_or_as_bytes_with_its_hash (void **state)
{
    struct place *place = *state;
    char *path = ag_xprintf ("%s/f", place->inside);
    write_file (path, "gr\xc3\xbc\xc3\x9f\n", 7);
    assert_string_equal (result (place, ag_file_read, "f"),
                         "{\"text\":\"gr\xc3\xbc\xc3\x9f\\n\",\"size\":7,\"hash\":"
                         "\"1d344271c9c6b681ed860ddefdae2ae84bf08c6d4583bdd5e1ed32f4db9a1aed\"}");
    write_file (path, "gr\xfc\xdf", 4);
    assert_non_null (
        strstr (result (place, ag_file_read, "f"), "{\"bytes\":\"6772fcdf\",\"size\":4"));
    free (path);
}

static void
names_come_sorted_by_their_bytes (void **state)
{
    static const char *const names[] = {"b", "a.lua", "a-c", "Z", "\xff"};
    struct place *place = *state;
    for (size_t i = 0; i < 5; i++) {
        char *path = ag_xprintf ("%s/%s", place->inside, names[i]);
        write_file (path, "", 0);
        free (path);
    }
    assert_string_equal (result (place, ag_file_list, ""), "[\"Z\",\"a-c\",\"a.lua\",\"b\"]");
}

static void
a_path_that_is_not_granted_is_refused_with_what_is (void **state)
{
    struct place *place = *state;
    char *sibling = ag_xprintf ("%sside", place->inside);
    const char *const outside[] = {"/etc/passwd", sibling, "../out", "x/../../out", "/nowhere/at"};
    for (size_t i = 0; i < 5; i++) {
        assert_non_null (strstr (result (place, ag_file_read, outside[i]), "not_allowed: "));
        assert_non_null (strstr (result (place, ag_file_list, outside[i]), "/nowhere/at/all:"));
    }
    free (sibling);
    struct ag_buf out = {0};
    struct ag_err err;
    assert_int_equal (ag_file_list (place->grants, AG_LIT ("texts"), &out, &err), -1);
    assert_non_null (strstr (err.text, "texts is not an absolute path"));
}

static void
what_is_no_file_has_a_reason_and_does_not_block (void **state)
{
    struct place *place = *state;
    char *fifo = ag_xprintf ("%s/fifo", place->inside);
    assert_int_equal (mkfifo (fifo, 0600), 0);
    assert_non_null (strstr (result (place, ag_file_read, "fifo"), "is no regular file"));
    assert_non_null (strstr (result (place, ag_file_read, ""), "is no regular file"));
    assert_non_null (strstr (result (place, ag_file_read, "none"), "not_found: "));
    assert_non_null (strstr (result (place, ag_file_list, "fifo"), "not_found: "));
    free (fifo);
}

static void
a_file_over_seven_mebibytes_is_refused (void **state)
{
    struct place *place = *state;
    char *path = ag_xprintf ("%s/large", place->inside);
    write_file (path, "", 0);
    assert_int_equal (truncate (path, AG_FILE_MAX + 1), 0);
    assert_non_null (strstr (result (place, ag_file_read, "large"), "too_large: "));
    free (path);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (a_file_is_read_as_text_or_as_bytes_with_its_hash, make,
                                         sweep),
        cmocka_unit_test_setup_teardown (names_come_sorted_by_their_bytes, make, sweep),
        cmocka_unit_test_setup_teardown (a_path_that_is_not_granted_is_refused_with_what_is, make,
                                         sweep),
        cmocka_unit_test_setup_teardown (what_is_no_file_has_a_reason_and_does_not_block, make,
                                         sweep),
        cmocka_unit_test_setup_teardown (a_file_over_seven_mebibytes_is_refused, make, sweep),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
