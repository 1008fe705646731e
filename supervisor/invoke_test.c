//  What a worker is shown without asking.
//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/invoke.h"
#include "supervisor/core_graph_test.h"

//  Objects of the view of an invocation for the newest event of a run.
static const char *
view_of (struct core *core, uint64_t number)
{
    struct ag_run *run = core_run (core, number);
    struct ag_invocation invocation = {.run = number, .at = AG_NOW, .started = run->head.tip + 1};
    struct ag_buf hold = {0}, out = {0};
    struct ag_event event;
    struct ag_str objects = {0};
    must (core, ag_json_read (AG_LIT ("{\"name\":\"work\"}"), &invocation.behavior, &core->err));
    must (core, ag_journal_read (core->journal, run, run->head.tip, &hold, &event, &core->err));
    must (core, ag_invoke_write (core->journal, run, &invocation, &event, &out, &core->err));
    must (core, ag_map_path (ag_buf_str (&out), AG_LIT ("view.objects"), &objects));
    const char *seen = json_of (core, objects);
    ag_buf_fini (&invocation.behavior);
    ag_buf_fini (&hold);
    ag_buf_fini (&out);
    return seen;
}

static void
what_an_event_names_is_looked_for_in_its_first_texts (void **state)
{
    struct core *core = *state;
    uint64_t run = core_root (core, "root");
    core_apply (core, run, "[{'op':'add_object','id':'a','type':'t'}]");
    for (int before = AG_INVOKE_TEXTS - 1; before <= AG_INVOKE_TEXTS; before++) {
        struct ag_buf payload = {0};
        ag_buf_text (&payload, "{'list':[");
        for (int i = 0; i < before; i++)
            ag_buf_text (&payload, "'text',");
        ag_buf_text (&payload, "'a']}");
        core_append (core, run, "on.work", (const char *)payload.p);
        const char *seen = view_of (core, run);
        if (before < AG_INVOKE_TEXTS)
            assert_non_null (strstr (seen, "'id':'a'"));
        else
            assert_string_equal (seen, "[]");
        ag_buf_fini (&payload);
    }
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (what_an_event_names_is_looked_for_in_its_first_texts),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
