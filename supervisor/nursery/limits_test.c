//  Limits as the kernel has them, up to the largest that can be asked for.
//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/nursery/nursery_test.h"

#include <sys/resource.h>

//  What /proc says: "Max cpu time              unlimited            ...".
static uint64_t
limit_in (const char *text, const char *name)
{
    const char *line = strstr (text, name);
    assert_non_null (line);
    return strncmp (line + 26, "unlimited", 9) ? strtoull (line + 26, NULL, 10) : UINT64_MAX;
}

static void
a_limit_of_any_size_is_in_force_as_it_was_asked_for (void **state)
{
    struct house *house = *state;
    static const uint64_t values[] = {1ull << 33, (1ull << 33) + 1, INT64_MAX,
                                      1ull << 63, UINT64_MAX - 1,   UINT64_MAX},
                          cpu_most_s = UINT64_MAX / 1000000000 - 1;
    static const struct {
        const char *name;
        int resource;
    } rows[] = {{"Max cpu time", RLIMIT_CPU},
                {"Max address space", RLIMIT_AS},
                {"Max open files", RLIMIT_NOFILE},
                {"Max processes", RLIMIT_NPROC},
                {"Max file size", RLIMIT_FSIZE}};
    const char *const argv[] = {"cat", "/proc/self/limits", NULL};
    char text[4096];
    open_house (house, NULL);
    for (uint64_t i = 0; i < sizeof values / sizeof *values; i++) {
        uint64_t v = values[i];
        spawn (house, &(struct ag_spawn){.id = i,
                                         .kind = AG_CHILD_WORKER,
                                         .argv = argv,
                                         .limits = {.address_space_bytes = v,
                                                    .cpu_s = v,
                                                    .open_files = v,
                                                    .processes = v,
                                                    .file_bytes = v}});
        struct ag_nursery_event spawned = await (house, AG_NURSERY_SPAWNED, i);
        close (spawned.output[1]);
        drink (spawned.output[0], text, sizeof text);
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
            struct rlimit own;
            getrlimit ((__rlimit_resource_t)rows[k].resource, &own);
            uint64_t most = rows[k].resource == RLIMIT_CPU ? cpu_most_s : UINT64_MAX;
            most = own.rlim_max < most ? own.rlim_max : most;
            assert_int_equal (limit_in (text, rows[k].name), v < most ? v : most);
        }
    }
}

//  2 ^ 64 nanoseconds and 0.3 s, which a kernel that multiplies takes for 0.3 s.
static void
processor_time_beyond_what_the_kernel_counts_is_not_next_to_none (void **state)
{
    struct house *house = *state;
    const char *const argv[] = {"awk", "BEGIN { for (i = 0; i < 3e7; i++) j += i }", NULL};
    open_house (house, NULL);
    spawn (house,
           &(struct ag_spawn){
               .id = 1, .kind = AG_CHILD_WORKER, .argv = argv, .limits = {.cpu_s = 18446744074}});
    struct ag_nursery_event stopped = await (house, AG_NURSERY_STOPPED, 1);
    assert_true (stopped.user_us > 300000);
    assert_int_equal (stopped.signal, 0);
    assert_int_equal (stopped.fired, AG_FIRED_NONE);
}

int
main (int argc, char **argv)
{
    play_if_called (argc, argv);
    const struct CMUnitTest tests[] = {
        OURS (a_limit_of_any_size_is_in_force_as_it_was_asked_for),
        OURS (processor_time_beyond_what_the_kernel_counts_is_not_next_to_none),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
