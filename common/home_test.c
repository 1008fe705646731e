//  SPDX-License-Identifier: Apache-2.0
#include "common/home.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct bench {
    char top[32], dir[64];
};

static int
setup (void **state)
{
    static struct bench bench;
    strcpy (bench.top, "/tmp/agsup-home-XXXXXX");
    assert_non_null (mkdtemp (bench.top));
    snprintf (bench.dir, sizeof bench.dir, "%s/home", bench.top);
    *state = &bench;
    return 0;
}

static int
teardown (void **state)
{
    struct bench *self = *state;
    char command[64];
    snprintf (command, sizeof command, "rm -rf %s", self->top);
    return system (command);
}

static void
put (const char *path, const char *text)
{
    FILE *file = fopen (path, "w");
    assert_non_null (file);
    fputs (text, file);
    fclose (file);
}

//  How a caller uses it: make, open, lock, prepare; others open and read the token.
static void
a_home_is_made_once_and_found_the_same_by_everybody (void **state)
{
    struct bench *self = *state;
    struct ag_home home, other;
    struct ag_err err;
    char token[AG_TOKEN + 1], next[AG_TOKEN + 1];
    assert_int_equal (ag_home_make (self->dir, &err), 0);
    assert_int_equal (ag_home_open (&home, self->dir, &err), 0);
    assert_int_equal (ag_home_token (&home, token, &err), -1);
    assert_int_equal (err.code, AG_E_NO_SUPERVISOR);
    assert_int_equal (ag_home_prepare (&home, &err), 0);
    assert_int_equal (ag_home_token (&home, token, &err), 0);
    assert_int_equal (strlen (token), AG_TOKEN);
    struct stat st;
    assert_int_equal (stat (home.token, &st), 0);
    assert_int_equal (st.st_mode & 07777, 0600);

    assert_int_equal (ag_home_make (self->dir, &err), 0);
    assert_int_equal (ag_home_open (&other, self->dir, &err), 0);
    assert_string_equal (home.id, other.id);
    assert_string_equal (home.client, other.client);
    assert_int_equal (ag_home_prepare (&other, &err), 0);
    assert_int_equal (ag_home_token (&other, next, &err), 0);
    assert_string_not_equal (token, next);
    ag_home_leave (&home);
    ag_home_leave (&other);
    ag_home_fini (&home);
    ag_home_fini (&other);
}

//  The copy has the same file; that it is another file is what tells.
static void
a_home_that_was_moved_is_the_same_house_and_a_copy_another (void **state)
{
    struct bench *self = *state;
    struct ag_home home, moved, copy;
    struct ag_err err;
    char *path = ag_xprintf ("%s/moved", self->top);
    char *command = ag_xprintf ("cp -a %s %s", path, self->dir);
    assert_int_equal (ag_home_make (self->dir, &err), 0);
    assert_int_equal (ag_home_open (&home, self->dir, &err), 0);
    assert_int_equal (rename (self->dir, path), 0);
    assert_int_equal (system (command), 0);
    assert_int_equal (ag_home_open (&moved, path, &err), 0);
    assert_int_equal (ag_home_open (&copy, self->dir, &err), 0);
    assert_string_equal (home.id, moved.id);
    assert_string_not_equal (home.id, copy.id);
    assert_int_equal (strspn (copy.id, "0123456789abcdef"), AG_HOME_ID);
    ag_home_fini (&home);
    ag_home_fini (&moved);
    ag_home_fini (&copy);
    free (command);
    free (path);
}

static void
a_home_has_one_holder_and_the_second_is_told_who (void **state)
{
    struct bench *self = *state;
    struct ag_home home;
    struct ag_err err;
    ag_home_make (self->dir, &err);
    assert_int_equal (ag_home_open (&home, self->dir, &err), 0);
    assert_int_equal (ag_home_holder (&home, &err), 0);
    int lock = ag_home_lock (&home, &err);
    assert_true (lock >= 0);
    assert_int_equal (ag_home_holder (&home, &err), getpid());
    assert_int_equal (ag_home_lock (&home, &err), -1);
    assert_int_equal (err.code, AG_E_RUNNING);
    char pid[16];
    snprintf (pid, sizeof pid, "%d", (int)getpid());
    assert_non_null (strstr (err.text, pid));
    close (lock);
    assert_int_equal (ag_home_holder (&home, &err), 0);
    ag_home_fini (&home);
}

static void
the_lock_stays_until_the_last_who_inherited_it_is_gone (void **state)
{
    struct bench *self = *state;
    struct ag_home home;
    struct ag_err err;
    int hold[2];
    ag_home_make (self->dir, &err);
    assert_int_equal (ag_home_open (&home, self->dir, &err), 0);
    int lock = ag_home_lock (&home, &err);
    assert_int_equal (pipe (hold), 0);
    pid_t child = fork();
    if (child == 0) {
        char byte;
        close (hold[1]);
        _exit (read (hold[0], &byte, 1) != 0);
    }
    close (lock);
    assert_int_equal (ag_home_lock (&home, &err), -1);
    close (hold[0]);
    close (hold[1]);
    waitpid (child, NULL, 0);
    lock = ag_home_lock (&home, &err);
    assert_true (lock >= 0);
    close (lock);
    ag_home_fini (&home);
}

static void
sockets_move_to_the_runtime_directory_when_the_home_is_too_deep (void **state)
{
    struct bench *self = *state;
    struct ag_home home;
    struct ag_err err;
    char deep[160];
    ag_home_make (self->dir, &err);
    snprintf (deep, sizeof deep, "%s/%070d", self->dir, 0);
    assert_int_equal (ag_home_make (deep, &err), 0);
    setenv ("XDG_RUNTIME_DIR", self->top, 1);
    assert_int_equal (ag_home_open (&home, deep, &err), 0);
    assert_true (strlen (home.client) <= AG_HOME_SOCKET);
    assert_non_null (strstr (home.client, home.id));
    assert_ptr_equal (strstr (home.token, home.dir), home.token);
    assert_int_equal (ag_home_prepare (&home, &err), 0);
    char *dir = ag_xprintf ("%.*s", (int)(strrchr (home.client, '/') - home.client), home.client);
    struct stat st;
    assert_int_equal (stat (dir, &st), 0);
    assert_int_equal (st.st_mode & 07777, geteuid() ? 0700 : 0711);
    put (home.client, "left by one that was killed");
    ag_home_leave (&home);
    assert_int_equal (access (dir, F_OK), -1);
    assert_int_equal (access (home.token, F_OK), 0);
    free (dir);
    ag_home_fini (&home);
}

static void
what_is_not_a_home_or_not_ours_is_refused_by_name (void **state)
{
    struct bench *self = *state;
    struct ag_home home;
    struct ag_err err;
    char path[100], token[AG_TOKEN + 1];
    assert_int_equal (ag_home_open (&home, self->dir, &err), -1);
    assert_int_equal (err.code, AG_E_NO_SUPERVISOR);
    assert_int_equal (ag_home_open (&home, self->top, &err), -1);
    assert_non_null (strstr (err.text, "not a home"));
    put (self->dir, "a file");
    assert_int_equal (ag_home_make (self->dir, &err), -1);
    assert_int_equal (err.code, AG_E_EXISTS);
    unlink (self->dir);

    ag_home_make (self->dir, &err);
    assert_int_equal (ag_home_open (&home, self->dir, &err), 0);
    assert_int_equal (ag_home_prepare (&home, &err), 0);
    put (home.token, "0123");
    assert_int_equal (ag_home_token (&home, token, &err), -1);
    assert_int_equal (err.code, AG_E_CORRUPT);
    unlink (home.token);
    alarm (5); //  a pipe keeps nobody waiting
    assert_int_equal (mkfifo (home.token, 0600), 0);
    assert_int_equal (ag_home_token (&home, token, &err), -1);
    assert_int_equal (err.code, AG_E_CORRUPT);
    unlink (home.token);
    assert_int_equal (mkfifo (home.lock, 0600), 0);
    assert_int_equal (ag_home_lock (&home, &err), -1);
    assert_int_equal (err.code, AG_E_EXISTS);
    assert_int_equal (ag_home_holder (&home, &err), -1);
    assert_int_equal (err.code, AG_E_EXISTS);
    assert_int_equal (ag_home_open_file (home.lock, O_WRONLY | O_APPEND, &err), -1);
    assert_int_equal (err.code, AG_E_EXISTS);
    assert_non_null (strstr (err.text, home.lock));
    alarm (0);
    assert_int_equal (symlink ("/etc/hostname", home.token), 0);
    assert_int_equal (ag_home_token (&home, token, &err), -1);
    ag_home_leave (&home);
    ag_home_fini (&home);
    snprintf (path, sizeof path, "%s/id", self->dir);
    put (path, "../../../etc");
    assert_int_equal (ag_home_open (&home, self->dir, &err), -1);
    assert_int_equal (err.code, AG_E_CORRUPT);
}

//  Behind a folder that is closed to us, and closed itself.
static void
a_home_of_somebody_else_is_refused_as_such (void **state)
{
    struct bench *self = *state;
    struct ag_home home;
    struct ag_err err;
    uid_t we = geteuid();
    assert_int_equal (ag_home_make (self->dir, &err), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal (chmod (i ? self->dir : self->top, 0), 0);
        assert_int_equal (we ? 0 : seteuid (65534), 0);
        assert_int_equal (ag_home_open (&home, self->dir, &err), -1);
        assert_int_equal (err.code, AG_E_NOT_ALLOWED);
        assert_non_null (strstr (err.text, self->dir));
        assert_int_equal (we ? 0 : seteuid (we), 0);
        assert_int_equal (chmod (self->top, 0711), 0);
    }
    assert_int_equal (chmod (self->dir, 0700), 0);
}

static void
a_folder_that_holds_other_things_does_not_become_a_home (void **state)
{
    struct bench *self = *state;
    struct ag_err err;
    struct stat st;
    char *other = ag_xprintf ("%s/letters", self->dir);
    assert_int_equal (mkdir (self->dir, 0755), 0);
    assert_int_equal (mkdir (other, 0755), 0);
    assert_int_equal (chmod (self->dir, 0755), 0);
    assert_int_equal (ag_home_make (self->dir, &err), -1);
    assert_int_equal (err.code, AG_E_CONFIG);
    assert_non_null (strstr (err.text, "letters"));
    assert_int_equal (stat (self->dir, &st), 0);
    assert_int_equal (st.st_mode & 07777, 0755);
    assert_int_equal (rmdir (other), 0);
    assert_int_equal (ag_home_make (self->dir, &err), 0);
    free (other);
}

int
main (void)
{
#define T(name) cmocka_unit_test_setup_teardown (name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T (a_home_is_made_once_and_found_the_same_by_everybody),
        T (a_home_that_was_moved_is_the_same_house_and_a_copy_another),
        T (a_home_of_somebody_else_is_refused_as_such),
        T (a_folder_that_holds_other_things_does_not_become_a_home),
        T (a_home_has_one_holder_and_the_second_is_told_who),
        T (the_lock_stays_until_the_last_who_inherited_it_is_gone),
        T (sockets_move_to_the_runtime_directory_when_the_home_is_too_deep),
        T (what_is_not_a_home_or_not_ours_is_refused_by_name),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
