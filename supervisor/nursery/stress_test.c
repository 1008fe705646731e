//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/nursery/nursery_test.h"

enum { MANY = 500, AT_ONCE = 25, ALONE = 1000 };

//  Descriptors of the nursery at rest: a whole life is over, and its acknowledgement has been read, because
//  the next life's events come after it. -1: they cannot be seen, which takes CAP_SYS_PTRACE.
static int
descriptors (struct house *house, uint64_t id)
{
    char path[32];
    for (uint64_t i = id; i < id + 2; i++) {
        sleeper (house, i, AG_CHILD_WORKER);
        struct ag_nursery_event event = await (house, AG_NURSERY_SPAWNED, i);
        shut_output (&event);
        ag_nursery_kill (house->nursery, i, 0);
        await (house, AG_NURSERY_STOPPED, i);
        if (i == id)
            ag_nursery_ack (house->nursery, i);
    }
    snprintf (path, sizeof path, "/proc/%d/fd", house->agsupd);
    DIR *dir = opendir (path);
    int n = dir ? 0 : -1;
    while (dir && readdir (dir))
        n++;
    if (dir)
        closedir (dir);
    else
        print_message ("    skipped: descriptors are not counted: %s: %s\n", path,
                       strerror (errno));
    return n;
}

//  A fork of a process with threads may find a lock that nobody holds any more, and what a child is tied to is the
//  thread that made it.
static void
assert_one_thread (pid_t pid)
{
    char path[32];
    snprintf (path, sizeof path, "/proc/%d/task", pid);
    DIR *dir = opendir (path);
    int threads = 0;
    assert_non_null (dir);
    for (struct dirent *entry; (entry = readdir (dir));)
        threads += *entry->d_name != '.';
    closedir (dir);
    assert_int_equal (threads, 1);
}

static void
start_some (struct house *house, uint64_t first, unsigned *seed)
{
    static const uint32_t ways[] = {0, 1u << AG_LAYER_CGROUP, 1u << AG_LAYER_PIDNS};
    static const char *const texts[] = {"exit 0", "exec sleep 1000",
                                        "(setsid sleep 1000 &); exit 1", "sleep 1000 & sleep 1000"};
    for (uint64_t id = first; id < first + AT_ONCE; id++) {
        shell (house, id, ways[rand_r (seed) % 3], AG_CHILD_WORKER + rand_r (seed) % 2,
               texts[rand_r (seed) % 4]);
        if (rand_r (seed) % 2)
            ag_nursery_kill (house->nursery, id, (uint32_t)rand_r (seed) % 30);
    }
}

static void
end_some (struct house *house, uint64_t first)
{
    for (uint64_t id = first; id < first + AT_ONCE; id++) {
        ag_nursery_kill (house->nursery, id, 0);
        bool ran = await_end (house, id).what == AG_NURSERY_STOPPED;
        struct ag_nursery_event event = {.output = {-1, -1}};
        assert_int_equal (forget (house, AG_NURSERY_EXITED, id, &event), ran);
        assert_int_equal (forget (house, AG_NURSERY_SPAWNED, id, &event), ran);
        if (ran)
            shut_output (&event);
        ag_nursery_ack (house->nursery, id);
    }
}

//  Seeded, so that a failure can be repeated.
static void
five_hundred_children_at_random_leave_no_zombie_and_no_descriptor (void **state)
{
    struct house *house = *state;
    unsigned seed = 20240607;
    open_house (house, NULL);
    int before = descriptors (house, ALONE);
    for (uint64_t id = 0; id < MANY; id += AT_ONCE) {
        start_some (house, id, &seed);
        assert_one_thread (house->agsupd);
        end_some (house, id);
    }
    ag_nursery_ack (house->nursery, ALONE + 1);
    int after = descriptors (house, 2 * ALONE);
    assert_int_equal (before, after);
    //  the two of the house are all that is left: no zombie, no orphan
    assert_int_equal (children_of (house->agsupd), 2);
    assert_int_equal (count_with ("AGSUP_HOME_ID", house->id, false), 2);
}

int
main (int argc, char **argv)
{
    play_if_called (argc, argv);
    const struct CMUnitTest tests[] = {
        OURS (five_hundred_children_at_random_leave_no_zombie_and_no_descriptor),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
