//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/nursery/nursery_test.h"

#include "supervisor/nursery/resident.h"

static void
read_file (const struct house *house, const char *name, char *text, size_t size)
{
    char path[128];
    snprintf (path, sizeof path, "%s/%s", house->home, name);
    int fd = open (path, O_RDONLY | O_CLOEXEC);
    ssize_t n = read (fd, text, size - 1);
    text[n > 0 ? n : 0] = 0;
    close (fd);
}

//  Let the fake supervisor exit with this status.
static void
supervisor_exits (struct house *house, char code)
{
    assert_int_equal (write (house->control, &code, 1), 1);
}

//  As an operator and a supervisor do it.
static int
end_in_order (struct house *house)
{
    kill (house->agsupd, SIGTERM);
    await (house, AG_NURSERY_STOP, 0);
    supervisor_exits (house, 0);
    int status = status_of (house->agsupd);
    house->agsupd = 0;
    close (house->ready);
    return status;
}

static void
kill_and_greet (struct house *house, pid_t pid)
{
    kill (pid, SIGKILL);
    greet (house);
}

static void
a_home_is_made_closed_to_others_with_a_new_token_each_time (void **state)
{
    struct house *house = *state;
    char token[80], id[80], again[80];
    struct stat st;
    static const char *const names[] = {"", "run", "data", "log", "lock", "id", "run/token"};
    open_house (house, NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[128];
        snprintf (path, sizeof path, "%s/%s", house->home, names[i]);
        assert_int_equal (stat (path, &st), 0);
        assert_int_equal (st.st_mode & 0777, S_ISDIR (st.st_mode) ? 0700 : 0600);
        assert_int_equal (st.st_uid, house->uid);
    }
    read_file (house, "run/token", token, sizeof token);
    read_file (house, "id", id, sizeof id);
    assert_int_equal (strspn (token, "0123456789abcdef"), 64);
    assert_int_equal (end_in_order (house), 0);
    open_house (house, NULL);
    read_file (house, "run/token", again, sizeof again);
    assert_string_not_equal (token, again);
    read_file (house, "id", again, sizeof again);
    assert_string_equal (id, again);
}

static void
a_second_start_is_refused_and_harms_nothing (void **state)
{
    struct house *house = *state;
    char token[80], again[80];
    open_house (house, NULL);
    read_file (house, "run/token", token, sizeof token);
    sleeper (house, 1, AG_CHILD_WORKER);
    await (house, AG_NURSERY_SPAWNED, 1);
    assert_int_equal (status_of (launch (house, -1, NULL)), 75);
    read_file (house, "run/token", again, sizeof again);
    assert_string_equal (token, again);
    assert_int_equal (count_of (1), 1);
    assert_false (readable_within (house->listener, 0));
}

//  With all that lies in it: the lock, the token, the identity.
static void
a_copy_of_a_living_home_is_another_house_and_harms_nothing (void **state)
{
    struct house *house = *state;
    struct house copy = {.uid = house->uid, .control = -1, .listener = house->listener};
    char command[200];
    open_house (house, NULL);
    sleeper (house, 1, AG_CHILD_WORKER);
    await (house, AG_NURSERY_SPAWNED, 1);
    strcpy (copy.dir, house->dir);
    snprintf (copy.home, sizeof copy.home, "%s/copy", house->dir);
    snprintf (command, sizeof command, "cp -r %s %s", house->home, copy.home);
    assert_int_equal (system (command), 0);
    open_house (&copy, NULL);
    assert_string_not_equal (house->id, copy.id);
    assert_int_equal (count_of (1), 1);
    assert_int_equal (waitpid (house->agsupd, NULL, WNOHANG), 0);
    assert_int_equal (end_in_order (&copy), 0);
    assert_int_equal (count_of (1), 1);
    close (copy.control);
    ag_nursery_destroy (&copy.nursery);
    free (copy.heard);
}

static void
a_program_that_is_missing_or_an_option_that_is_wrong_stops_the_start (void **state)
{
    struct house *house = *state;
    const char *const nowhere[] = {"--programs", "/no/such", NULL},
                      *const config[] = {"--config", "/no/file", NULL},
                      *const option[] = {"--hme", NULL},
                      *const seconds[] = {"--stop-within", "soon", NULL};
    assert_int_equal (status_of (launch (house, -1, nowhere)), 1);
    assert_int_equal (status_of (launch (house, -1, config)), 78);
    assert_int_equal (status_of (launch (house, -1, option)), 2);
    assert_int_equal (status_of (launch (house, -1, seconds)), 2);
}

static void
workers_die_with_their_supervisor_and_services_are_handed_on (void **state)
{
    struct house *house = *state;
    const char *const more[] = {"--config", "/etc/hostname", NULL};
    char text[64];
    open_house (house, more);
    assert_true (house->supervisor.has_config);
    sleeper (house, 1, AG_CHILD_WORKER);
    shell (house, 2, 0, AG_CHILD_SERVICE,
           "trap 'echo after' USR1; echo before; while :; do sleep 0.01; done");
    shell (house, 3, 0, AG_CHILD_WORKER, "exit 5");
    struct ag_nursery_event first = await (house, AG_NURSERY_SPAWNED, 2);
    await (house, AG_NURSERY_SPAWNED, 1);
    await (house, AG_NURSERY_STOPPED, 3); //  and not acknowledged
    shell (house, 4, 0, AG_CHILD_WORKER, "exit 6");
    await (house, AG_NURSERY_STOPPED, 4);
    ag_nursery_ack (house->nursery, 4);
    sleeper (house, 5, AG_CHILD_SERVICE);
    await (house, AG_NURSERY_SPAWNED, 5);
    house->heard_count = 0;

    kill_and_greet (house, house->supervisor.pid);
    assert_false (house->supervisor.has_config);
    await (house, AG_NURSERY_CURRENT, 0);
    struct ag_nursery_event event = {0};
    assert_true (forget (house, AG_NURSERY_SPAWNED, 2, &event));
    assert_int_equal (event.pid, first.pid);
    shut_output (&first); //  the pipe goes on without its first reader
    assert_true (readable_within (event.output[0], PATIENCE_MS));
    assert_int_equal (read (event.output[0], text, sizeof text), 7);
    assert_memory_equal (text, "before\n", 7);
    kill (event.pid, SIGUSR1);
    assert_true (readable_within (event.output[0], PATIENCE_MS));
    assert_int_equal (read (event.output[0], text, sizeof text), 6);
    assert_memory_equal (text, "after\n", 6);
    assert_true (forget (house, AG_NURSERY_SPAWNED, 5, &event));
    assert_false (forget (house, AG_NURSERY_SPAWNED, 1, &event));
    assert_true (forget (house, AG_NURSERY_STOPPED, 1, &event));
    assert_int_equal (event.signal, SIGKILL);
    assert_true (forget (house, AG_NURSERY_STOPPED, 3, &event));
    assert_int_equal (event.code, 5);
    assert_false (forget (house, AG_NURSERY_STOPPED, 4, &event));
    assert_true (forget (house, AG_NURSERY_HOUSE, 0, &event));
    assert_int_equal (event.pid, house->broker.pid);
    assert_int_equal (count_of (1), 0);
}

//  A supervisor that dies before it has written down its configuration has to read it again.
static void
the_configuration_is_given_until_a_supervisor_was_ready (void **state)
{
    struct house *house = *state;
    const char *const more[] = {"--config", "/etc/hostname", NULL};
    house->agsupd = launch (house, -1, more);
    greet (house);
    greet (house);
    for (int i = 0; i < 2; i++) {
        assert_true (house->supervisor.has_config);
        kill_and_greet (house, house->supervisor.pid);
    }
    ag_nursery_ready (house->nursery, AG_HOUSE_SUPERVISOR);
    sleeper (house, 1, AG_CHILD_WORKER);
    await (house, AG_NURSERY_SPAWNED, 1); //  so it was heard
    kill_and_greet (house, house->supervisor.pid);
    assert_false (house->supervisor.has_config);
}

static void
a_supervisor_that_closes_its_end_may_still_say_why_it_exits (void **state)
{
    struct house *house = *state;
    open_house (house, NULL);
    ag_nursery_destroy (&house->nursery);
    poll (NULL, 0, 50);
    supervisor_exits (house, 78);
    assert_int_equal (status_of (house->agsupd), 78);
    house->agsupd = 0;
}

static void
a_broker_that_dies_is_started_again_and_introduced (void **state)
{
    struct house *house = *state;
    open_house (house, NULL);
    struct ag_nursery_event event = await (house, AG_NURSERY_HOUSE, 0);
    assert_int_equal (event.pid, house->broker.pid);
    assert_string_equal (event.nonce, house->broker.nonce);
    pid_t first = house->broker.pid;
    kill_and_greet (house, first);
    event = await (house, AG_NURSERY_HOUSE, 0);
    assert_int_equal (event.pid, house->broker.pid);
    assert_int_not_equal (event.pid, first);
    assert_string_equal (event.nonce, house->broker.nonce);
}

static void
the_delay_doubles_from_50_ms_to_5_s (void **state)
{
    (void)state;
    static const uint64_t expected[] = {0, 0, 50, 100, 200, 400, 800, 1600, 3200, 5000, 5000};
    for (unsigned i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_int_equal (ag_resident_delay_ms (i), expected[i]);
    assert_int_equal (ag_resident_delay_ms (1000000), 5000);
}

static void
deaths_without_ready_slow_the_starts_and_ready_makes_them_quick_again (void **state)
{
    struct house *house = *state;
    open_house (house, NULL); //  ready was said
    static const uint64_t least[] = {0, 50, 100, 200, 400};
    for (int i = 0; i < 5; i++) {
        uint64_t start_ms = ag_clock_ms();
        kill_and_greet (house, house->supervisor.pid);
        uint64_t took_ms = ag_clock_ms() - start_ms;
        assert_true (took_ms + 1 >= least[i]);
        //  how long a start takes is the machine's affair; the next delay but one is far away
        assert_true (took_ms < least[i] + 2000);
    }
    ag_nursery_ready (house->nursery, AG_HOUSE_SUPERVISOR);
    sleeper (house, 1, AG_CHILD_SERVICE);
    await (house, AG_NURSERY_SPAWNED, 1); //  so it was heard
    uint64_t start_ms = ag_clock_ms();
    kill_and_greet (house, house->supervisor.pid);
    assert_true (ag_clock_ms() - start_ms < 800);
}

static void
exit_status_78_or_4_of_a_house_process_is_final (void **state)
{
    struct house *house = *state;
    static const char codes[] = {78, 4};
    for (size_t i = 0; i < sizeof codes; i++) {
        open_house (house, NULL);
        sleeper (house, 1, AG_CHILD_SERVICE);
        sleeper (house, 2, AG_CHILD_WORKER);
        await (house, AG_NURSERY_SPAWNED, 2);
        supervisor_exits (house, codes[i]);
        assert_int_equal (status_of (house->agsupd), codes[i]);
        house->agsupd = 0;
        assert_int_equal (count_with ("AGSUP_HOME_ID", house->id, false), 0);
        close (house->ready);
    }
}

static void
a_supervisor_out_of_its_mind_is_replaced (void **state)
{
    struct house *house = *state;
    open_house (house, NULL);
    const struct ag_spawn_request bad[] = {
        {.what = 99},
        {.what = AG_SPAWN_READY, .value = 7},
        {.what = AG_SPAWN_START, .id = 1, .kind = AG_CHILD_WORKER, .nonce = "short"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pid_t pid = house->supervisor.pid;
        assert_int_equal (
            ag_packet_send (ag_nursery_fd (house->nursery), &bad[i], sizeof *bad, NULL, 0), 0);
        greet (house);
        assert_int_not_equal (house->supervisor.pid, pid);
    }
    assert_int_equal (ag_packet_send (ag_nursery_fd (house->nursery), "short", 5, NULL, 0), 0);
    greet (house);
    sleeper (house, 1, AG_CHILD_WORKER);
    await (house, AG_NURSERY_SPAWNED, 1);
}

//  A memfd that could still change, and none at all.
static void
an_image_without_seals_starts_nothing (void **state)
{
    struct house *house = *state;
    int image = memfd_create ("open", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    struct ag_spawn_request request = {.what = AG_SPAWN_START, .id = 1, .kind = AG_CHILD_WORKER};
    memset (request.nonce, 'a', AG_NONCE - 1);
    open_house (house, NULL);
    assert_int_equal (ftruncate (image, 4096), 0);
    assert_int_equal (
        ag_packet_send (ag_nursery_fd (house->nursery), &request, sizeof request, &image, 1), 0);
    struct ag_nursery_event event = await (house, AG_NURSERY_FAILED, 1);
    assert_int_equal (event.step, AG_STEP_IMAGE);
    assert_int_equal (event.error, EPERM);
    request.id = 2;
    assert_int_equal (
        ag_packet_send (ag_nursery_fd (house->nursery), &request, sizeof request, NULL, 0), 0);
    event = await (house, AG_NURSERY_FAILED, 2);
    assert_int_equal (event.error, EBADF);
    close (image);
}

static void
an_orderly_end_waits_for_the_supervisor_and_leaves_nothing (void **state)
{
    struct house *house = *state;
    for (int i = 0; i < 2; i++) {
        open_house (house, NULL);
        shell (house, 1, 0, AG_CHILD_SERVICE, "(setsid sleep 1000 &); exec sleep 1000");
        sleeper (house, 2, AG_CHILD_WORKER);
        await (house, AG_NURSERY_SPAWNED, 2);
        if (i)
            ag_nursery_down (house->nursery);
        else
            kill (house->agsupd, SIGINT);
        struct ag_nursery_event event = await (house, AG_NURSERY_STOP, 0);
        assert_in_range (event.value, 29000, 30000);
        assert_int_equal (count_of (2), 1); //  the supervisor decides
        ag_nursery_kill (house->nursery, 2, 1000);
        await (house, AG_NURSERY_STOPPED, 2);
        supervisor_exits (house, 0);
        assert_int_equal (status_of (house->agsupd), 0);
        house->agsupd = 0;
        assert_int_equal (count_with ("AGSUP_HOME_ID", house->id, false), 0);
        close (house->ready);
    }
}

//  Where workers with a uid of their own find their socket.
static bool
is_in_run (const struct house *house)
{
    char path[64];
    snprintf (path, sizeof path, "/run/agsup/%s", house->id);
    return !access (path, F_OK);
}

//  With more workers than fit the pair, a supervisor that does not listen, and a second signal.
static void
two_hundred_children_are_gone_at_once (void **state)
{
    struct house *house = *state;
    enum { MANY = 200 };
    open_house (house, NULL);
    for (uint64_t i = 0; i < MANY; i++)
        sleeper (house, i, i % 4 ? AG_CHILD_WORKER : AG_CHILD_SERVICE);
    for (uint64_t i = 0; i < MANY; i++) {
        struct ag_nursery_event event = await (house, AG_NURSERY_SPAWNED, i);
        shut_output (&event);
    }
    assert_true (comes_to (house, MANY));
    assert_int_equal (is_in_run (house), house->uid == 0);
    kill (house->agsupd, SIGTERM);
    await (house, AG_NURSERY_STOP, 0);
    uint64_t start_ms = ag_clock_ms();
    assert_int_equal (close_house (house, SIGTERM), 0);
    assert_int_equal (count_with ("AGSUP_HOME_ID", house->id, false), 0);
    assert_true (ag_clock_ms() - start_ms < 3000);
    assert_false (is_in_run (house));
}

static void
a_supervisor_that_does_not_end_in_time_is_killed (void **state)
{
    struct house *house = *state;
    const char *const more[] = {"--stop-within", "0", NULL};
    open_house (house, more);
    sleeper (house, 1, AG_CHILD_WORKER);
    await (house, AG_NURSERY_SPAWNED, 1);
    assert_int_equal (close_house (house, SIGTERM), 0);
    assert_int_equal (count_with ("AGSUP_HOME_ID", house->id, false), 0);
}

//  At whatever step of its birth a child stands; who was missed would be a sleeper in a moment.
static void
a_nursery_that_is_killed_while_it_spawns_leaves_no_child (void **state)
{
    enum { ROUNDS = 8, AT_ONCE = 20 };
    struct house *house = *state;
    for (int i = 0; i < ROUNDS; i++) {
        open_house (house, NULL);
        for (uint64_t id = 0; id < AT_ONCE; id++)
            sleeper (house, id, AG_CHILD_WORKER);
        poll (NULL, 0, 3 * i);
        assert_int_equal (close_house (house, SIGKILL), 256 + SIGKILL);
        poll (NULL, 0, 100);
        assert_int_equal (count_with ("AGSUP_HOME_ID", house->id, true), 0);
        close (house->ready);
        house->ready = -1;
        house->heard_count = 0;
    }
}

//  A change of uid and a pid namespace each have their own way to lose the tie to the nursery.
static void
children_of_a_killed_nursery_go_at_once_and_the_rest_at_the_next_start (void **state)
{
    struct house *house = *state;
    const char *const argv[] = {"sleep", "1000", NULL};
    open_house (house, NULL);
    shell (house, 1, 0, AG_CHILD_WORKER, "(setsid sleep 1000 &); exec sleep 1000");
    shell (house, 2, 1u << AG_LAYER_CGROUP, AG_CHILD_SERVICE, "exec sleep 1000");
    int no_groups = await (house, AG_NURSERY_SPAWNED, 2).refused[AG_LAYER_CGROUP];
    shell (house, 3, 1u << AG_LAYER_PIDNS, AG_CHILD_WORKER, "exec sleep 1000");
    spawn (house, &(struct ag_spawn){.id = 4,
                                     .kind = AG_CHILD_WORKER,
                                     .argv = argv,
                                     .uid = 62000,
                                     .gid = 62000,
                                     .layers = 1u << AG_LAYER_UID});
    //  what hides its home is found by its control group
    if (no_groups)
        print_message (
            "    skipped: a child that hides its home: no control group can be had: %s\n",
            strerror (no_groups));
    else
        shell (house, 5, 1u << AG_LAYER_CGROUP, AG_CHILD_WORKER,
               "env -u AGSUP_HOME_ID setsid sleep 1000 & exec sleep 1000");
    assert_true (comes_to (house, no_groups ? 5 : 6));
    uint64_t start_ms = ag_clock_ms();
    assert_int_equal (close_house (house, SIGKILL), 256 + SIGKILL);
    assert_true (comes_to (house, 1));
    //  milliseconds where two cores are not shared by ten
    assert_true (ag_clock_ms() - start_ms < 2000);
    assert_int_equal (count_of (1), 1);
    close (house->ready);
    open_house (house, NULL);
    for (uint64_t id = 1; id <= 5; id++)
        assert_int_equal (count_of (id), 0);
}

int
main (int argc, char **argv)
{
    play_if_called (argc, argv);
    const struct CMUnitTest ours[] = {
        OURS (a_home_is_made_closed_to_others_with_a_new_token_each_time),
        OURS (a_second_start_is_refused_and_harms_nothing),
        OURS (a_copy_of_a_living_home_is_another_house_and_harms_nothing),
        OURS (a_program_that_is_missing_or_an_option_that_is_wrong_stops_the_start),
        OURS (workers_die_with_their_supervisor_and_services_are_handed_on),
        OURS (the_configuration_is_given_until_a_supervisor_was_ready),
        OURS (a_supervisor_that_closes_its_end_may_still_say_why_it_exits),
        OURS (a_broker_that_dies_is_started_again_and_introduced),
        OURS (the_delay_doubles_from_50_ms_to_5_s),
        OURS (deaths_without_ready_slow_the_starts_and_ready_makes_them_quick_again),
        OURS (exit_status_78_or_4_of_a_house_process_is_final),
        OURS (a_supervisor_out_of_its_mind_is_replaced),
        OURS (an_image_without_seals_starts_nothing),
        OURS (an_orderly_end_waits_for_the_supervisor_and_leaves_nothing),
        OURS (two_hundred_children_are_gone_at_once),
        OURS (a_supervisor_that_does_not_end_in_time_is_killed),
        OURS (children_of_a_killed_nursery_go_at_once_and_the_rest_at_the_next_start),
        OURS (a_nursery_that_is_killed_while_it_spawns_leaves_no_child),
    };
    const struct CMUnitTest nobodys[] = {
        NOBODYS (a_home_is_made_closed_to_others_with_a_new_token_each_time),
        NOBODYS (workers_die_with_their_supervisor_and_services_are_handed_on),
        NOBODYS (an_orderly_end_waits_for_the_supervisor_and_leaves_nothing),
        NOBODYS (two_hundred_children_are_gone_at_once),
        NOBODYS (children_of_a_killed_nursery_go_at_once_and_the_rest_at_the_next_start),
    };
    int failed = cmocka_run_group_tests (ours, NULL, NULL);
    return failed + (nobody_can_come() ? cmocka_run_group_tests (nobodys, NULL, NULL) : 0);
}
