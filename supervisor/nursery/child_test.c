//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/nursery/nursery_test.h"

#include <linux/filter.h>
#include <linux/seccomp.h>

enum { WALK = 0, CGROUP = 1u << AG_LAYER_CGROUP, PIDNS = 1u << AG_LAYER_PIDNS };
static const uint32_t ways[] = {WALK, CGROUP, PIDNS};
enum { WAYS = sizeof ways / sizeof *ways };

//  How a tree ends must not depend on the way; which one it was must be said.
static void
assert_proof (const struct ag_nursery_event *stopped, uint32_t way)
{
    bool refused = stopped->refused[way == CGROUP ? AG_LAYER_CGROUP : AG_LAYER_PIDNS];
    uint32_t expected = way == WALK || refused ? AG_PROOF_WALK
                        : way == CGROUP        ? AG_PROOF_CGROUP
                                               : AG_PROOF_PIDNS;
    assert_int_equal (stopped->proof, expected);
    if (refused)
        print_message (
            "    here a tree ends by %s only: %s\n", ag_proof_name (stopped->proof),
            strerror (stopped->refused[way == CGROUP ? AG_LAYER_CGROUP : AG_LAYER_PIDNS]));
}

static void
a_child_runs_prints_and_ends_with_proof (void **state)
{
    struct house *house = *state;
    open_house (house, NULL);
    for (uint64_t i = 0; i < WAYS; i++) {
        char text[64];
        shell (house, i, ways[i], AG_CHILD_WORKER, "echo out; echo err >&2; exit 7");
        struct ag_nursery_event spawned = await (house, AG_NURSERY_SPAWNED, i);
        drink (spawned.output[0], text, sizeof text);
        assert_string_equal (text, "out\n");
        drink (spawned.output[1], text, sizeof text);
        assert_string_equal (text, "err\n");
        struct ag_nursery_event exited = await (house, AG_NURSERY_EXITED, i);
        assert_int_equal (exited.code, 7);
        assert_int_equal (exited.signal, 0);
        assert_int_equal (exited.pid, spawned.pid);
        assert_true (exited.max_rss_bytes > 100000);
        struct ag_nursery_event stopped = await (house, AG_NURSERY_STOPPED, i);
        assert_int_equal (stopped.code, 7);
        assert_proof (&stopped, ways[i]);
    }
}

static void
a_death_by_signal_is_told_as_one (void **state)
{
    struct house *house = *state;
    open_house (house, NULL);
    static const char *const commands[] = {"kill -SEGV $$", "kill -KILL $$"};
    for (uint64_t i = 0; i < 2; i++) {
        shell (house, i, WALK, AG_CHILD_WORKER, commands[i]);
        struct ag_nursery_event stopped = await (house, AG_NURSERY_STOPPED, i);
        assert_int_equal (stopped.code, -1);
        assert_int_equal (stopped.signal, i ? SIGKILL : SIGSEGV);
        assert_int_equal (stopped.fired, AG_FIRED_NONE);
    }
}

static void
a_start_that_fails_names_its_step_and_whether_to_try_again (void **state)
{
    struct house *house = *state;
    const char *const missing[] = {"/no/such/program", NULL},
                      *const nowhere[] = {"no-such-program", NULL},
                      *const data[] = {"/etc/passwd", NULL}, *const good[] = {"true", NULL};
    const struct {
        const char *const *argv, *dir;
        uint32_t step;
        int error;
    } rows[] = {{missing, NULL, AG_STEP_EXECUTABLE, ENOENT},
                {nowhere, NULL, AG_STEP_EXECUTABLE, ENOENT},
                {data, NULL, AG_STEP_EXECUTABLE, EACCES},
                {good, "/no/dir", AG_STEP_DIRECTORY, ENOENT}};
    open_house (house, NULL);
    for (uint64_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        spawn (house, &(struct ag_spawn){.id = i,
                                         .kind = AG_CHILD_WORKER,
                                         .argv = rows[i].argv,
                                         .dir = rows[i].dir,
                                         .layers = CGROUP});
        struct ag_nursery_event failed = await (house, AG_NURSERY_FAILED, i);
        assert_string_equal (ag_step_name (failed.step), ag_step_name (rows[i].step));
        assert_int_equal (failed.error, rows[i].error);
        assert_true (failed.permanent);
    }
}

//  Own sessions, double forks, SIGTERM ignored, a changed environment: five that sleep.
static const char WILD[] = "trap '' TERM; setsid sleep 1000 & "
                           "(setsid sh -c 'sleep 1000 & exec sleep 1000' &) ; "
                           "env -u AGSUP_NONCE sleep 1000 & exec sleep 1000";
enum { WILD_ONES = 5 };

static void
nothing_of_a_killed_tree_is_left (void **state)
{
    struct house *house = *state;
    open_house (house, NULL);
    for (uint64_t i = 0; i < WAYS; i++) {
        shell (house, i, ways[i], AG_CHILD_WORKER, WILD);
        struct ag_nursery_event spawned = await (house, AG_NURSERY_SPAWNED, i);
        assert_true (comes_to (house, WILD_ONES));
        assert_int_equal (children_of (house->agsupd), 3); //  its orphans are its own
        int before = count_with ("AGSUP_HOME_ID", house->id, false);
        ag_nursery_kill (house->nursery, i, 0);
        struct ag_nursery_event stopped = await (house, AG_NURSERY_STOPPED, i);
        assert_int_equal (stopped.signal, SIGKILL);
        assert_proof (&stopped, ways[i]);
        assert_int_equal (count_with ("AGSUP_HOME_ID", house->id, false), before - WILD_ONES);
        shut_output (&spawned);
    }
}

static void
what_a_program_leaves_behind_is_ended_when_it_ends (void **state)
{
    struct house *house = *state;
    open_house (house, NULL);
    for (uint64_t i = 0; i < WAYS; i++) {
        shell (house, i, ways[i], AG_CHILD_WORKER, "setsid sleep 1000 & (sleep 1000 &); exit 3");
        struct ag_nursery_event stopped = await (house, AG_NURSERY_STOPPED, i);
        assert_int_equal (stopped.code, 3);
        assert_int_equal (count_of (i), 0);
    }
}

//  No look at /proc is fast enough for it.
static void
who_runs_away_by_forking_is_caught (void **state)
{
    struct house *house = *state;
    char text[96];
    snprintf (text, sizeof text, "%s/agsup-runaway & exec sleep 1000", house->dir);
    open_house (house, NULL);
    for (uint64_t i = 0; i < 2; i++) {
        shell (house, i, ways[i], AG_CHILD_WORKER, text);
        struct ag_nursery_event spawned = await (house, AG_NURSERY_SPAWNED, i);
        assert_true (readable_within (spawned.output[0], PATIENCE_MS));
        ag_nursery_kill (house->nursery, i, 0);
        await (house, AG_NURSERY_STOPPED, i);
        assert_int_equal (count_of (i), 0);
        shut_output (&spawned);
    }
}

static void
a_tree_is_asked_before_it_is_killed (void **state)
{
    struct house *house = *state;
    char text[64];
    open_house (house, NULL);
    for (uint64_t i = 0; i < 2; i++) {
        //  the shell ends at once, what it started needs a moment: it gets it
        shell (house, i, ways[i], AG_CHILD_SERVICE,
               "sh -c 'trap \"sleep 0.1; echo bye; exit\" TERM; echo up; while :; do sleep 0.01; "
               "done' & "
               "wait");
        struct ag_nursery_event spawned = await (house, AG_NURSERY_SPAWNED, i);
        assert_true (readable_within (spawned.output[0], PATIENCE_MS));
        ag_nursery_kill (house->nursery, i, PATIENCE_MS);
        struct ag_nursery_event stopped = await (house, AG_NURSERY_STOPPED, i);
        assert_int_equal (stopped.signal, SIGTERM);
        ag_nursery_ack (house->nursery, i);
        close (spawned.output[1]);
        drink (spawned.output[0], text, sizeof text);
        assert_string_equal (text, "up\nbye\n");
    }
}

static void
who_does_not_go_in_time_is_killed_and_the_time_can_be_shortened (void **state)
{
    struct house *house = *state;
    open_house (house, NULL);
    for (uint64_t i = 0; i < 2; i++) {
        shell (house, i, WALK, AG_CHILD_WORKER, WILD);
        assert_true (comes_to (house, (int)(i + 1) * WILD_ONES));
    }
    uint64_t start_ms = ag_clock_ms();
    ag_nursery_kill (house->nursery, 0, 200);
    ag_nursery_kill (house->nursery, 1, 600000);
    struct ag_nursery_event event;
    assert_false (hears (house, AG_NURSERY_STOPPED, 0, 150, &event));
    await (house, AG_NURSERY_STOPPED, 0);
    assert_true (ag_clock_ms() - start_ms >= 200);
    assert_false (hears (house, AG_NURSERY_EXITED, 1, 50, &event));
    ag_nursery_kill (house->nursery, 1, 0);
    await (house, AG_NURSERY_STOPPED, 1);
    assert_int_equal (count_of (0) + count_of (1), 0);
}

static void
a_child_gets_its_environment_and_nothing_else (void **state)
{
    struct house *house = *state;
    char text[2048], expected[2048], nonce[AG_NONCE];
    static const char *const argv[] = {"env", NULL}, *const env[] = {"PATH=/bin", "A=b c",
                                                                     "EMPTY=", NULL};
    open_house (house, NULL);
    spawn (house, &(struct ag_spawn){.id = 9, .kind = AG_CHILD_WORKER, .argv = argv, .env = env});
    struct ag_nursery_event spawned = await (house, AG_NURSERY_SPAWNED, 9);
    drink (spawned.output[0], text, sizeof text);
    close (spawned.output[1]);
    nonce_of (9, nonce);
    snprintf (expected, sizeof expected,
              "AGSUP_HOME_ID=%s\nAGSUP_NONCE=%s\nPATH=/bin\nA=b c\nEMPTY=\n", house->id, nonce);
    assert_string_equal (text, expected);
    //  descriptors, session, directory, core limit, umask
    shell (house, 10, WALK, AG_CHILD_WORKER,
           "ls /proc/self/fd | tr '\\n' ' '; readlink /proc/self/fd/0; pwd; ulimit -c; umask; "
           "cut -d' ' -f6 /proc/$$/stat | grep -cx $$; grep NoNewPrivs /proc/self/status");
    spawned = await (house, AG_NURSERY_SPAWNED, 10);
    drink (spawned.output[0], text, sizeof text);
    close (spawned.output[1]);
    assert_string_equal (text, "0 1 2 3 /dev/null\n/\n0\n0077\n1\nNoNewPrivs:\t1\n");
}

static void
limits_are_set_and_the_one_that_fired_is_named (void **state)
{
    struct house *house = *state;
    char text[64];
    open_house (house, NULL);
    const char *const shown[] = {"sh", "-c", "ulimit -n; ulimit -v; ulimit -t; ulimit -f", NULL},
                      *const spin[] = {"sh", "-c", "while :; do :; done", NULL},
                      *const file[] = {"sh", "-c", "exec head -c 100000 /dev/zero > f", NULL},
                      *const hoard[] = {
                          "sh", "-c",
                          "exec awk 'BEGIN { for (;;) a[i++] = sprintf (\"%1000s\", \"\") }'",
                          NULL};
    const struct ag_rlimits some = {
        .open_files = 20, .address_space_bytes = 64 << 20, .cpu_s = 9, .file_bytes = 1 << 20};
    spawn (house,
           &(struct ag_spawn){.id = 1, .kind = AG_CHILD_WORKER, .argv = shown, .limits = some});
    struct ag_nursery_event spawned = await (house, AG_NURSERY_SPAWNED, 1);
    drink (spawned.output[0], text, sizeof text);
    close (spawned.output[1]);
    assert_string_equal (text, "20\n65536\n9\n2048\n");
    const struct {
        const char *const *argv;
        struct ag_rlimits limits;
        uint32_t fired;
    } rows[] = {{spin, {.cpu_s = 1}, AG_FIRED_CPU},
                {file, {.file_bytes = 5000}, AG_FIRED_FILE_SIZE},
                {hoard, {.address_space_bytes = 128 << 20}, AG_FIRED_MEMORY}};
    for (uint64_t i = 0; i < 3; i++)
        spawn (house, &(struct ag_spawn){.id = 10 + i,
                                         .kind = AG_CHILD_WORKER,
                                         .dir = house->dir,
                                         .argv = rows[i].argv,
                                         .limits = rows[i].limits});
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal (await (house, AG_NURSERY_STOPPED, 10 + i).fired, rows[i].fired);
}

static void
requests_about_unknown_children_do_nothing (void **state)
{
    struct house *house = *state;
    open_house (house, NULL);
    for (uint64_t i = 0; i < 1000; i++) {
        ag_nursery_kill (house->nursery, 1000 + i, 0);
        ag_nursery_ack (house->nursery, 1000 + i);
    }
    shell (house, 1, WALK, AG_CHILD_WORKER, "exit 0");
    await (house, AG_NURSERY_STOPPED, 1);
}

static void
a_child_killed_before_its_program_runs_has_one_end (void **state)
{
    struct house *house = *state;
    open_house (house, NULL);
    kill (house->agsupd, SIGSTOP); //  so that it finds each request with the next
    for (uint64_t i = 0; i < 50; i++) {
        shell (house, i, ways[i % WAYS], AG_CHILD_WORKER, "exec sleep 1000");
        ag_nursery_kill (house->nursery, i, 0);
    }
    kill (house->agsupd, SIGCONT);
    int never_ran = 0;
    for (uint64_t i = 0; i < 50; i++) {
        struct ag_nursery_event event = await_end (house, i), other;
        bool failed = event.what == AG_NURSERY_FAILED;
        never_ran += failed;
        assert_int_equal (failed ? event.error : event.signal, failed ? ECANCELED : SIGKILL);
        assert_int_equal (forget (house, AG_NURSERY_SPAWNED, i, &other), !failed);
        assert_int_equal (count_of (i), 0);
    }
    assert_true (never_ran > 0);
}

//  Walls.

static void
a_uid_of_its_own_reaches_a_program_it_could_not_open (void **state)
{
    struct house *house = *state;
    char text[256], path[128], command[300];
    if (house->uid)
        skip_because ("only root gives uids away");
    open_house (house, NULL);
    snprintf (path, sizeof path, "%s/home/myid", house->dir);
    snprintf (command, sizeof command, "cp /usr/bin/id %s", path);
    assert_int_equal (system (command), 0);
    const char *const argv[] = {path, NULL};
    spawn (house, &(struct ag_spawn){.id = 1,
                                     .kind = AG_CHILD_WORKER,
                                     .argv = argv,
                                     .uid = 62000,
                                     .gid = 62001,
                                     .layers = 1u << AG_LAYER_UID,
                                     .required = 1u << AG_LAYER_UID});
    struct ag_nursery_event spawned = await (house, AG_NURSERY_SPAWNED, 1);
    drink (spawned.output[0], text, sizeof text);
    close (spawned.output[1]);
    assert_string_equal (text, "uid=62000 gid=62001 groups=62001\n");
}

static void
a_layer_that_cannot_be_had_is_named_and_missed_only_when_required (void **state)
{
    struct house *house = *state;
    const char *const argv[] = {"true", NULL};
    struct ag_spawn row = {
        .id = 1, .kind = AG_CHILD_WORKER, .argv = argv, .layers = 1u << AG_LAYER_SECCOMP};
    open_house (house, NULL);
    spawn (house, &row); //  without a filter there is nothing to install
    struct ag_nursery_event event = await (house, AG_NURSERY_SPAWNED, 1);
    assert_int_equal (event.layers, 0);
    assert_int_equal (event.refused[AG_LAYER_SECCOMP], EINVAL);
    shut_output (&event);
    row.id = 2;
    row.required = row.layers;
    spawn (house, &row);
    event = await (house, AG_NURSERY_FAILED, 2);
    assert_string_equal (ag_step_name (event.step), "seccomp");
    assert_int_equal (event.error, EINVAL);
}

static void
a_filter_is_installed_as_given (void **state)
{
    struct house *house = *state;
    static const struct sock_filter filter[] = {
        BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, nr)),
        BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, SYS_mkdir, 0, 1),
        BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOTTY),
        BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const char *const argv[] = {"mkdir", "made", NULL};
    open_house (house, NULL);
    spawn (house, &(struct ag_spawn){.id = 1,
                                     .kind = AG_CHILD_WORKER,
                                     .argv = argv,
                                     .dir = house->dir,
                                     .layers = 1u << AG_LAYER_SECCOMP,
                                     .filter = filter,
                                     .filter_bytes = sizeof filter});
    struct ag_nursery_event spawned = await (house, AG_NURSERY_SPAWNED, 1);
    char text[256];
    drink (spawned.output[1], text, sizeof text);
    close (spawned.output[0]);
    assert_int_equal (spawned.layers, 1u << AG_LAYER_SECCOMP);
    assert_non_null (strstr (text, strerror (ENOTTY)));
}

static void
landlock_leaves_what_was_granted (void **state)
{
    struct house *house = *state;
    char text[512], own[128];
    snprintf (own, sizeof own, "%s/own", house->dir);
    assert_int_equal (mkdir (own, 0700), 0);
    assert_int_equal (chown (own, house->uid, (gid_t)-1), 0);
    const char *const argv[] = {"sh", "-c",
                                "echo own > own && cat own; cat /etc/hostname; ls ..; "
                                "cat /usr/share/common-licenses/BSD | wc -l; echo x >/dev/null",
                                NULL},
                      *const readable[] = {"/usr", "/bin", "/lib", "/lib64", "/no/such/path", NULL};
    open_house (house, NULL);
    spawn (house, &(struct ag_spawn){.id = 1,
                                     .kind = AG_CHILD_WORKER,
                                     .argv = argv,
                                     .dir = own,
                                     .readable = readable,
                                     .limits = {.open_files = 12}, //  fewer than the nursery has
                                     .layers = 1u << AG_LAYER_LANDLOCK});
    struct ag_nursery_event spawned = await (house, AG_NURSERY_SPAWNED, 1);
    int error = spawned.refused[AG_LAYER_LANDLOCK];
    if (error == ENOSYS || error == EOPNOTSUPP) {
        shut_output (&spawned);
        skip_because ("this kernel has no Landlock");
    }
    assert_int_equal (error, 0);
    drink (spawned.output[0], text, sizeof text);
    assert_string_equal (text, "own\n26\n");
    drink (spawned.output[1], text, sizeof text);
    assert_non_null (strstr (text, "/etc/hostname: Permission denied"));
    assert_non_null (strstr (text, "..': Permission denied"));
    await (house, AG_NURSERY_STOPPED, 1);
}

static void
a_network_namespace_has_no_way_out (void **state)
{
    struct house *house = *state;
    char text[512];
    const char *const argv[] = {"sh", "-c", "grep -c : /proc/self/net/dev; id -u", NULL};
    open_house (house, NULL);
    spawn (house,
           &(struct ag_spawn){
               .id = 1, .kind = AG_CHILD_WORKER, .argv = argv, .layers = 1u << AG_LAYER_NETNS});
    struct ag_nursery_event spawned = await (house, AG_NURSERY_SPAWNED, 1);
    drink (spawned.output[0], text, sizeof text);
    close (spawned.output[1]);
    if (spawned.refused[AG_LAYER_NETNS])
        skip_because (strerror (spawned.refused[AG_LAYER_NETNS]));
    char expected[32];
    snprintf (expected, sizeof expected, "1\n%u\n", house->uid); //  lo alone
    assert_string_equal (text, expected);
}

//  What a child that has a file system of its own finds; it must be able to make one.
static struct ag_nursery_event
spawn_apart (struct house *house, struct ag_spawn *row, const char *command)
{
    const char *const argv[] = {"sh", "-c", command, NULL};
    row->kind = AG_CHILD_WORKER;
    row->argv = argv;
    spawn (house, row);
    return await (house, AG_NURSERY_SPAWNED, row->id);
}

static void
a_file_system_of_its_own_shows_what_was_given_and_nothing_else (void **state)
{
    struct house *house = *state;
    char text[1024], own[128], command[1024];
    snprintf (own, sizeof own, "%s/home/own", house->dir);
    open_house (house, NULL);
    assert_int_equal (mkdir (own, 0700), 0);
    assert_int_equal (chown (own, house->uid, (gid_t)-1), 0);
    const char *const readable[] = {"/usr",          "/bin",     "/lib", "/lib64",
                                    "/no/such/path", house->dir, NULL},
                      *const hidden[] = {house->home, NULL}, *const owns[] = {own, NULL};
    struct ag_spawn row = {.id = 1,
                           .dir = own,
                           .readable = readable,
                           .own = owns,
                           .hidden = hidden,
                           .layers = 1u << AG_LAYER_MOUNTNS | 1u << AG_LAYER_PIDNS};
    snprintf (command, sizeof command,
              "pwd; ls /; ls %s; echo mine > %s/file && cat %s/file; cat /etc/hostname; "
              "echo x > /usr/made; echo x > /made; echo $$; set -- /proc/[0-9]*; echo $#; "
              "echo x > /dev/null && ls /dev | wc -l",
              house->home, own, own);
    struct ag_nursery_event spawned = spawn_apart (house, &row, command);
    if (spawned.refused[AG_LAYER_MOUNTNS]) {
        shut_output (&spawned);
        skip_because (strerror (spawned.refused[AG_LAYER_MOUNTNS]));
    }
    drink (spawned.output[0], text, sizeof text);
    assert_non_null (strstr (text, "/home/own\nbin\ndev\nlib\nlib64\nproc\ntmp\nusr\nown\nmine\n"));
    const char *at = strstr (text, "usr\nown\n") + 4; //  all that is left of the home
    assert_string_equal (at, "own\nmine\n1\n1\n5\n");
    drink (spawned.output[1], text, sizeof text);
    assert_non_null (strstr (text, "/etc/hostname: No such file"));
    assert_non_null (strstr (text, "/usr/made: Read-only file system"));
    assert_non_null (strstr (text, "/made: Read-only file system"));
    assert_int_equal (await (house, AG_NURSERY_STOPPED, 1).proof, AG_PROOF_PIDNS);
    assert_int_equal (access ("/usr/made", F_OK), -1);
}

static void
who_is_first_in_its_pid_namespace_and_hears_no_signal_is_not_waited_for (void **state)
{
    struct house *house = *state;
    char text[64];
    static const char *const commands[] = {"echo up; sleep 1000",
                                           "trap 'exit 3' TERM; echo up; sleep 1000 & wait"};
    open_house (house, NULL);
    for (uint64_t i = 0; i < 2; i++) {
        struct ag_spawn row = {.id = i, .layers = PIDNS};
        struct ag_nursery_event spawned = spawn_apart (house, &row, commands[i]);
        if (spawned.refused[AG_LAYER_PIDNS]) {
            shut_output (&spawned);
            skip_because (strerror (spawned.refused[AG_LAYER_PIDNS]));
        }
        assert_true (readable_within (spawned.output[0], PATIENCE_MS));
        assert_true (read (spawned.output[0], text, sizeof text) > 0); //  its trap is set
        uint64_t begin = ag_clock_ms();
        ag_nursery_kill (house->nursery, i, 6000);
        struct ag_nursery_event stopped = await (house, AG_NURSERY_STOPPED, i);
        assert_true (ag_clock_ms() - begin < 5000);
        assert_int_equal (stopped.signal, i ? 0 : SIGKILL);
        assert_int_equal (stopped.code, i ? 3 : -1);
        shut_output (&spawned);
    }
}

int
main (int argc, char **argv)
{
    play_if_called (argc, argv);
    const struct CMUnitTest ours[] = {
        OURS (a_child_runs_prints_and_ends_with_proof),
        OURS (a_death_by_signal_is_told_as_one),
        OURS (a_start_that_fails_names_its_step_and_whether_to_try_again),
        OURS (nothing_of_a_killed_tree_is_left),
        OURS (what_a_program_leaves_behind_is_ended_when_it_ends),
        OURS (who_runs_away_by_forking_is_caught),
        OURS (a_tree_is_asked_before_it_is_killed),
        OURS (who_does_not_go_in_time_is_killed_and_the_time_can_be_shortened),
        OURS (a_child_gets_its_environment_and_nothing_else),
        OURS (limits_are_set_and_the_one_that_fired_is_named),
        OURS (requests_about_unknown_children_do_nothing),
        OURS (a_child_killed_before_its_program_runs_has_one_end),
        OURS (a_uid_of_its_own_reaches_a_program_it_could_not_open),
        OURS (a_layer_that_cannot_be_had_is_named_and_missed_only_when_required),
        OURS (a_filter_is_installed_as_given),
        OURS (landlock_leaves_what_was_granted),
        OURS (a_network_namespace_has_no_way_out),
        OURS (a_file_system_of_its_own_shows_what_was_given_and_nothing_else),
        OURS (who_is_first_in_its_pid_namespace_and_hears_no_signal_is_not_waited_for),
    };
    const struct CMUnitTest nobodys[] = {
        NOBODYS (a_child_runs_prints_and_ends_with_proof),
        NOBODYS (nothing_of_a_killed_tree_is_left),
        NOBODYS (what_a_program_leaves_behind_is_ended_when_it_ends),
        NOBODYS (a_child_gets_its_environment_and_nothing_else),
        NOBODYS (a_child_killed_before_its_program_runs_has_one_end),
        NOBODYS (a_uid_of_its_own_reaches_a_program_it_could_not_open),
        NOBODYS (a_filter_is_installed_as_given),
        NOBODYS (landlock_leaves_what_was_granted),
        NOBODYS (a_network_namespace_has_no_way_out),
        NOBODYS (a_file_system_of_its_own_shows_what_was_given_and_nothing_else),
    };
    int failed = cmocka_run_group_tests (ours, NULL, NULL);
    return failed + (nobody_can_come() ? cmocka_run_group_tests (nobodys, NULL, NULL) : 0);
}
