//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/reads.h"
#include "supervisor/core_graph_test.h"

#include <time.h>

static double
seconds (void)
{
    struct timespec now;
    clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void
ask (struct core *self, struct ag_invocation *open, enum ag_read kind, const char *text)
{
    must (self, ag_reads_add (open, kind, ag_str (text), &self->err));
}

static int
stale (struct core *self, uint64_t run, const struct ag_invocation *open)
{
    int rc = ag_reads_stale (self->journal, core_run (self, run), open, &self->err);
    must (self, rc < 0);
    return rc;
}

static void
what_was_asked_for_and_changed_since_is_stale_and_nothing_else (void **state)
{
    static const struct {
        enum ag_read kind;
        const char *text;
        int stale;
    } rows[] = {{AG_READ_ENTITY, "a", 1},   {AG_READ_ENTITY, "b", 0},   {AG_READ_ENTITY, "t", 0},
                {AG_READ_TYPE, "t", 1},     {AG_READ_TYPE, "a", 0},     {AG_READ_ENDPOINT, "b", 1},
                {AG_READ_ENDPOINT, "c", 1}, {AG_READ_ENDPOINT, "a", 0}, {AG_READ_TYPE, "r", 1},
                {AG_READ_ENTITY, "none", 0}};
    struct core *self = *state;
    uint64_t run = core_root (self, "");
    core_apply (self, run,
                "[{'op':'add_object','type':'t','id':'a'},{'op':'add_object','type':'u','id':'b'},"
                "{'op':'add_object','type':'u','id':'c'}]");
    uint64_t at = core_tip (self, run);
    core_apply (self, run,
                "[{'op':'patch_object','id':'a','data':{'n':1}},"
                "{'op':'add_relation','type':'r','source':'b','target':'c'}]");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ag_invocation open = {.run = run, .at = at};
        ask (self, &open, AG_READ_ENTITY, "other");
        ask (self, &open, rows[i].kind, rows[i].text);
        if (stale (self, run, &open) != rows[i].stale)
            fail_msg ("%c %s is not %d", rows[i].kind, rows[i].text, rows[i].stale);
        open.at = core_tip (self, run);
        assert_int_equal (stale (self, run, &open), 0);
        ag_buf_fini (&open.reads);
    }
}

//  20,000 reads against 2,000 events would be 40 million comparisons, and the list of ids 400 million.
static void
many_reads_and_many_events_are_compared_in_no_time (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "");
    struct ag_invocation open = {.run = run, .at = 1};
    struct ag_buf out = {0};
    struct ag_str ids;
    char text[40];
    core_apply (self, run, "[{'op':'add_object','type':'t','id':'a'}]");
    for (int i = 0; i < 2000; i++)
        core_apply (self, run, "[{'op':'patch_object','id':'a','data':{'n':1}}]");
    for (int i = 0; i < 20000; i++) {
        snprintf (text, sizeof text, "type%d", i);
        ask (self, &open, AG_READ_TYPE, text);
    }
    for (int i = 0; i < 20000; i++)
        ask (self, &open, AG_READ_ENTITY, i % 2 ? "one" : "two");
    double begin = seconds();
    assert_int_equal (stale (self, run, &open), 0);
    ag_reads_write (&open, AG_LIT ("b"), &out);
    assert_true (seconds() - begin < 0.4);
    assert_int_equal (ag_map_get (ag_buf_str (&out), "object_ids", &ids), 0);
    assert_string_equal (json_of (self, ids), "['two','one']");
    ag_buf_fini (&open.reads);
    ag_buf_fini (&out);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (what_was_asked_for_and_changed_since_is_stale_and_nothing_else),
        core_test (many_reads_and_many_events_are_compared_in_no_time),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
