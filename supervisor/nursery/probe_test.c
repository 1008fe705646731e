//  What `agsupd --probe` says of this machine, and that what it tries comes through where there is no wall.
//  SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common/buf.h"

//  All that it prints.
static char *
probe (void)
{
    char *command = ag_xprintf ("%s/agsupd --probe", getenv ("AG_BIN"));
    static char text[8192];
    FILE *said = popen (command, "re");
    size_t n = fread (text, 1, sizeof text - 1, said);
    text[n] = 0;
    assert_int_equal (pclose (said), 0);
    free (command);
    return text;
}

static int
inside (const char *name)
{
    int status = -1;
    char *program = ag_xprintf ("%s/agsupd", getenv ("AG_BIN")),
         *self = ag_xprintf ("%d", getpid());
    pid_t pid = fork();
    if (pid == 0) {
        execl (program, program, "--probe-inside", name, self, NULL);
        _exit (99);
    }
    waitpid (pid, &status, 0);
    free (program);
    free (self);
    return WIFEXITED (status) ? WEXITSTATUS (status) : 128 + WTERMSIG (status);
}

//  All but those that this process may already be under, or that would take long to be met.
static void
without_a_wall_what_is_tried_comes_through (void **state)
{
    static const char *const names[] = {"memory",  "file_size", "descriptors", "uid",
                                        "seccomp", "landlock",  "pidns",       "netns",
                                        "ipcns",   "mountns",   "cgroup",      "open_files"};
    (void)state;
    int extra = dup (0), segment = shmget (getpid(), 1, IPC_CREAT | IPC_EXCL | 0600);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (inside (names[i]) != 1)
            fail_msg ("%s: %d", names[i], inside (names[i]));
    assert_int_equal (inside ("no such wall"), 64);
    shmctl (segment, IPC_RMID, NULL);
    close (extra);
}

static void
each_net_and_layer_has_a_line_and_what_every_machine_has_holds (void **state)
{
    static const char *const slow[] = {"net\tcpu", "net\topen_files", "net\tfile_size"};
    static const char *const held[] = {"net\tcore", "layer\tno_new_privs", "layer\tdescriptors"};
    static const char *const told[] = {"net\tmemory\t",     "net\tmemory.max\t", "net\tprocesses\t",
                                       "net\tpids.max\t",   "layer\tuid\t",      "layer\tseccomp\t",
                                       "layer\tlandlock\t", "layer\tpidns\t",    "layer\tnetns\t",
                                       "layer\tipcns\t",    "layer\tmountns\t",  "layer\tcgroup\t"};
    (void)state;
    const char *text = probe();
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        char *line = ag_xprintf ("%s\t1\theld\n", held[i]);
        if (!strstr (text, line))
            fail_msg ("%s is not in\n%s", line, text);
        free (line);
    }
    for (size_t i = 0; i < sizeof slow / sizeof *slow;
         i++) { //  on a busy machine it runs out of time
        char *line = ag_xprintf ("%s\t1\theld\n", slow[i]);
        char *busy = ag_xprintf ("%s\t0\tnot tried to its end", slow[i]);
        if (!strstr (text, line) && !strstr (text, busy))
            fail_msg ("%s is not in\n%s", line, text);
        free (line);
        free (busy);
    }
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        assert_non_null (strstr (text, told[i]));
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (without_a_wall_what_is_tried_comes_through),
        cmocka_unit_test (each_net_and_layer_has_a_line_and_what_every_machine_has_holds),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
