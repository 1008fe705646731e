//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/hears.h"
#include "supervisor/core_graph_test.h"
#include "supervisor/fleet_inside.h"
#include "supervisor/queue.h"

#include <fcntl.h>
#include <unistd.h>

//  A run "hearer" whose one unit hears "nobody" and "source".
struct ears {
    struct core *core;
    struct ag_house house;
    struct ag_fleet fleet;
    struct ag_unit unit;
    struct ag_run *source, *hearer;
};

static struct ag_run *
make_run (struct core *core, const char *label)
{
    struct ag_birth birth = {.label = ag_str (label)};
    struct ag_run *run;
    must (core, ag_run_create (core->journal, &birth, &run, &core->err));
    return run;
}

static void
ears_init (struct ears *self, struct core *core)
{
    *self = (struct ears){.core = core, .house.journal = core->journal};
    self->source = make_run (core, "source");
    self->hearer = make_run (core, "hearer");
    self->house.queues = ag_queues_new (&self->house);
    self->house.fleet = &self->fleet;
    self->fleet.first = &self->unit;
    self->unit = (struct ag_unit){.name = "hearer", .run = self->hearer->number, .hears = true};
    must (core, ag_json_read (ag_str ("{\"hears\":[{\"from\":\"nobody\",\"on\":\"news\"},"
                                      "{\"from\":\"source\",\"on\":\"news\"},"
                                      "{\"from\":\"source\",\"on\":\"promote.applied\"}]}"),
                              &self->unit.spec, &core->err));
}

static void
ears_fini (struct ears *self)
{
    ag_queues_destroy (&self->house.queues);
    ag_buf_fini (&self->unit.spec);
}

static void
emit (struct ears *self)
{
    uint64_t seq;
    struct ag_draft draft = {.type = AG_LIT ("news"), .payload = AG_LIT ("\x80")};
    must (self->core,
          ag_journal_append (self->core->journal, self->source, &draft, &seq, &self->core->err));
}

//  Deliver twice; what was said about it.
static void
deliver_twice (struct ears *self, char said[1000])
{
    int kept = dup (STDERR_FILENO), log = open ("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    assert_true (log >= 0 && dup2 (log, STDERR_FILENO) >= 0);
    ag_hears_deliver (&self->house);
    ag_hears_deliver (&self->house);
    dup2 (kept, STDERR_FILENO);
    ssize_t n = pread (log, said, 999, 0);
    said[n > 0 ? n : 0] = 0;
    close (log);
    close (kept);
}

static void
a_link_that_fails_is_told_once_and_the_others_deliver (void **state)
{
    struct ears self;
    char said[1000];
    ears_init (&self, *state);
    emit (&self);
    deliver_twice (&self, said);
    assert_int_equal (self.hearer->head.tip, 1);
    char *first = strstr (said, "does not hear nobody");
    assert_non_null (first);
    assert_null (strstr (first + 1, "does not hear"));

    make_run (self.core, "nobody");
    emit (&self);
    deliver_twice (&self, said);
    assert_int_equal (self.hearer->head.tip, 2);
    assert_non_null (strstr (said, "hearer hears nobody again"));
    ears_fini (&self);
}

static void
what_was_adopted_is_told_as_it_was_then_whatever_became_of_it (void **state)
{
    struct ears self;
    struct core *core = *state;
    struct ag_buf hold = {0};
    struct ag_event event;
    struct ag_str objects = {0};
    ears_init (&self, core);
    core_apply (core, self.source->number,
                "[{'op':'add_object','id':'a','type':'t','data':{'n':1}}]");
    uint64_t fork = core_fork (core, self.source->number);
    core_apply (core, fork,
                "[{'op':'add_object','id':'b','type':'t'},{'op':'add_object','id':'c','type':'t'},"
                "{'op':'patch_object','id':'a','data':{'n':2}}]");
    ag_plan_t *plan = ag_promote_plan (core->journal, core_run (core, fork), 100, &core->err);
    assert_non_null (plan);
    must (core, ag_promote_apply (core->journal, plan, &core->err));
    ag_plan_destroy (&plan);
    core_apply (core, self.source->number,
                "[{'op':'remove_object','id':'b'},{'op':'patch_object','id':'a','data':{'n':3}}]");
    ag_hears_deliver (&self.house);
    must (core, ag_journal_read (core->journal, self.hearer, 1, &hold, &event, &core->err));
    must (core, ag_map_path (event.payload, AG_LIT ("data.objects"), &objects));
    assert_string_equal (json_of (core, objects),
                         "[{'id':'b','type':'t','data':{}},{'id':'c','type':'t','data':{}},"
                         "{'id':'a','type':'t','data':{'n':2}}]");
    ag_buf_fini (&hold);
    ears_fini (&self);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (a_link_that_fails_is_told_once_and_the_others_deliver),
        core_test (what_was_adopted_is_told_as_it_was_then_whatever_became_of_it),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
