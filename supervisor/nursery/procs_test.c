//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/nursery/procs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "supervisor/nursery/clock.h"

//  A child that runs `generations` deep, each the parent of the next; the last one says its pid and all wait.
static pid_t
line (int generations, pid_t *last)
{
    int ends[2];
    assert_int_equal (pipe (ends), 0);
    pid_t first = fork();
    if (first == 0) {
        prctl (PR_SET_PDEATHSIG, SIGKILL);
        prctl (PR_SET_NAME, "a) Z 1 (b"); //  whoever counts fields from the left is lost
        for (int i = 1; i < generations && fork() == 0; i++)
            prctl (PR_SET_PDEATHSIG, SIGKILL);
        pid_t me = getpid();
        if (write (ends[1], &me, sizeof me) < 0)
            _exit (1);
        pause();
        _exit (0);
    }
    for (int i = 0; i < generations; i++) {
        pid_t pid;
        assert_int_equal (read (ends[0], &pid, sizeof pid), sizeof pid);
        *last = pid > *last ? pid : *last;
    }
    close (ends[0]);
    close (ends[1]);
    return first;
}

static void
end (pid_t pid)
{
    kill (pid, SIGKILL);
    assert_int_equal (waitpid (pid, NULL, 0), pid);
}

static void
look (struct ag_procs *procs, struct ag_top *tops, size_t count)
{
    for (int i = 0; i < 50; i++) {
        assert_int_equal (ag_procs_read (procs), 0);
        if (ag_procs_own (procs, tops, count))
            return;
    }
    fail_msg ("no look at /proc was whole");
}

static const struct ag_proc *
find (const struct ag_procs *procs, pid_t pid)
{
    for (size_t i = 0; i < procs->count; i++)
        if (procs->list[i].pid == pid)
            return &procs->list[i];
    return NULL;
}

static void
a_descendant_belongs_to_the_top_of_its_line (void **state)
{
    (void)state;
    struct ag_procs procs;
    struct ag_err err;
    pid_t deep[2] = {0}, first[2] = {line (4, &deep[0]), line (2, &deep[1])};
    assert_int_equal (ag_procs_open (&procs, &err), 0);
    struct ag_top tops[] = {{first[1], 1}, {first[0], 0}};
    ag_tops_sort (tops, 2);
    look (&procs, tops, 2);
    int owned[2] = {0};
    for (size_t i = 0; i < procs.count; i++)
        if (procs.list[i].owner >= 0)
            owned[procs.list[i].owner]++;
    assert_int_equal (owned[0], 4);
    assert_int_equal (owned[1], 2);
    assert_int_equal (find (&procs, first[0])->depth, 0);
    assert_int_equal (find (&procs, getpid())->owner, AG_OWNER_NONE);
    assert_int_equal (find (&procs, 1)->owner, AG_OWNER_NONE);
    assert_true (ag_procs_free_of_strays (&procs, tops, 2, false));

    look (&procs, tops, 1); //  one of the two is not known any more
    bool first_is_known = tops[0].pid == first[0];
    pid_t stranger = first_is_known ? first[1] : first[0];
    assert_int_equal (find (&procs, stranger)->owner, AG_OWNER_STRAY);
    assert_false (ag_procs_free_of_strays (&procs, tops, 1, false));
    bool gone = false;
    for (int i = 0; i < 1000 && !gone; i++)
        gone = ag_procs_free_of_strays (&procs, tops, 1, true);
    assert_true (gone);
    assert_int_equal (kill (stranger, 0), -1); //  killed and reaped, and nobody else
    end (tops[0].pid);
    ag_procs_close (&procs);
}

static void
only_the_process_of_the_look_is_signalled (void **state)
{
    (void)state;
    struct ag_procs procs;
    struct ag_err err;
    pid_t last = 0, first = line (1, &last);
    assert_int_equal (ag_procs_open (&procs, &err), 0);
    assert_int_equal (ag_procs_read (&procs), 0);
    struct ag_proc proc = *find (&procs, first), older = proc;
    older.start--; //  as if the number had been another's at the time
    ag_proc_signal (&procs, &older, SIGKILL);
    assert_int_equal (ag_proc_hold (&procs, &older), -1);
    poll (NULL, 0, 50);
    assert_int_equal (waitpid (first, NULL, WNOHANG), 0);
    ag_proc_signal (&procs, &proc, SIGKILL);
    assert_int_equal (waitpid (first, NULL, 0), first);
    ag_procs_close (&procs);
}

static pid_t
sleeper (char *const *env)
{
    char *argv[] = {"sleep", "1000", NULL};
    int ends[2];
    char none;
    assert_int_equal (pipe (ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        prctl (PR_SET_PDEATHSIG, SIGKILL);
        close_range (ends[1], ~0U, CLOSE_RANGE_CLOEXEC);
        execve ("/bin/sleep", argv, env);
        _exit (127);
    }
    close (ends[1]);
    assert_int_equal (read (ends[0], &none, 1), 0); //  the exec has happened
    close (ends[0]);
    return pid;
}

//  Wherever it stands: read in pieces of 32 KiB, the border falls into the name, the value, between entries.
static void
a_variable_is_found_wherever_it_stands_in_the_environment (void **state)
{
    (void)state;
    enum { PIECE = 1 << 15 };
    static char filler[PIECE + 64] = "F=";
    struct ag_procs procs;
    struct ag_err err;
    char value[40];
    assert_int_equal (ag_procs_open (&procs, &err), 0);
    for (int before = -60; before <= 4; before += 4) {
        size_t n = (size_t)(PIECE + before);
        memset (filler + 2, 'x', n);
        filler[n] = 0;
        char *env[] = {"NAMES=no",    filler, "NOT_NAME=no", "NAME=0123456789abcdef",
                       "NAME=second", NULL};
        pid_t pid = sleeper (env);
        assert_true (ag_proc_env (&procs, pid, "NAME", value, sizeof value));
        assert_string_equal (value, "0123456789abcdef");
        assert_false (ag_proc_env (&procs, pid, "NAM", value, sizeof value));
        assert_false (ag_proc_env (&procs, pid, "NAME", value, 16)); //  does not fit
        end (pid);
    }
    ag_procs_close (&procs);
}

static void
a_sweep_ends_what_belongs_to_the_home_and_nothing_else (void **state)
{
    (void)state;
    struct ag_procs procs;
    struct ag_err err;
    char mine[80], other[80];
    snprintf (mine, sizeof mine, "AGSUP_HOME_ID=sweep-test-%d", getpid());
    snprintf (other, sizeof other, "AGSUP_HOME_ID=sweep-test-%d0", getpid());
    char *env[] = {"A=b", mine, NULL}, *env_other[] = {"A=b", other, NULL};
    pid_t pid = sleeper (env), kept = sleeper (env_other);
    assert_int_equal (ag_procs_open (&procs, &err), 0);
    assert_int_equal (ag_procs_sweep (&procs, strchr (mine, '=') + 1, 5000, &err), 0);
    int status = 0;
    assert_int_equal (waitpid (pid, &status, WNOHANG), pid);
    assert_int_equal (WTERMSIG (status), SIGKILL);
    assert_int_equal (waitpid (kept, NULL, WNOHANG), 0);
    end (kept);
    ag_procs_close (&procs);
}

static void
a_sweep_that_cannot_look_at_a_process_fails (void **state)
{
    (void)state;
    struct ag_procs procs;
    struct ag_err err;
    struct rlimit usual, none = {.rlim_cur = 0};
    assert_int_equal (ag_procs_open (&procs, &err), 0);
    assert_int_equal (getrlimit (RLIMIT_NOFILE, &usual), 0);
    none.rlim_max = usual.rlim_max;
    assert_int_equal (setrlimit (RLIMIT_NOFILE, &none), 0);
    int rc = ag_procs_sweep (&procs, "nobody", 5000, &err);
    assert_int_equal (setrlimit (RLIMIT_NOFILE, &usual), 0);
    assert_int_equal (rc, -1);
    assert_string_equal (err.text, "read /proc: Too many open files");
    ag_procs_close (&procs);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_descendant_belongs_to_the_top_of_its_line),
        cmocka_unit_test (only_the_process_of_the_look_is_signalled),
        cmocka_unit_test (a_variable_is_found_wherever_it_stands_in_the_environment),
        cmocka_unit_test (a_sweep_ends_what_belongs_to_the_home_and_nothing_else),
        cmocka_unit_test (a_sweep_that_cannot_look_at_a_process_fails),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
