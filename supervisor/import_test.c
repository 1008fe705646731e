//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/import_test.h"

static void
what_was_imported_is_exported_as_it_was (void **state)
{
    struct core *self = *state;
    static const char text[] =
        STORY EVENT ("evt_006", "behavior.failed", "{'a':[1,-2,3.5,null,true,'\xc3\xa9']}",
                     "'evt_003'") "{'id':'evt_007','type':'any thing','payload':{},'actor':null,"
                                  "'frame_id':'frame_001','caused_by':null,'timestamp':''}\n"
                                  "{'id':'evt_008','type':'t','payload':{},'actor':'','frame_id':"
                                  "null,'caused_by':'evt_007','timestamp':'1999-12-31T23:59:59."
                                  "000001Z'}\n";
    uint64_t run = import (self, text);
    assert_exports (self, run, text);
    assert_string_equal (objects (self, run), "{'task#1':{'n':1,'m':2},'task#2':{}}");
    assert_string_equal (relations (self, run), "{'rel_001':{}}");
    assert_whole (self, run, "[]");
}

static void
nothing_imported_is_in_the_stream_or_in_a_queue (void **state)
{
    struct core *self = *state;
    struct ag_buf hold = {0};
    struct ag_event event;
    uint64_t run = import (self, STORY);
    assert_int_equal (ag_journal_stream (self->journal), 0);
    must (self,
          ag_journal_read (self->journal, core_run (self, run), 3, &hold, &event, &self->err));
    assert_int_equal (event.stream, 0);
    assert_true (event.flags & AG_QUIESCENT);
    core_apply (self, run, "[{'op':'add_object','type':'task'}]");
    assert_int_equal (ag_journal_stream (self->journal), 1);
    assert_string_equal (objects (self, run), "{'task#1':{'n':1,'m':2},'task#2':{},'task#3':{}}");
    ag_buf_fini (&hold);
}

static bool
count_waiting (void *arg, struct ag_str id)
{
    (void)id;
    ++*(int *)arg;
    return true;
}

static void
what_waited_for_a_decision_elsewhere_waits_for_none_here (void **state)
{
    struct core *self = *state;
    int waiting = 0;
    uint64_t run = import (
        self, STORY EVENT (
                  "evt_006", "patch.proposed",
                  "{'patch':{'id':'patch_007','target':'task#1','op':'update','value':{}}}", "null")
                  EVENT ("evt_007", "approval.proposed",
                         "{'approval_id':'approval_001','object_type':'task','data':{}}", "null")
                      EVENT ("evt_008", "approval.granted", "{'approval_id':'never'}", "null")
                          EVENT ("evt_009", "patch.rejected", "{}", "null"));
    for (int i = 0; i < 2; i++)
        must (self,
              ag_state_waiting (self->journal, core_run (self, run), i ? AG_PATCH : AG_APPROVAL,
                                AG_NOW, AG_LIT (""), count_waiting, &waiting, &self->err));
    assert_int_equal (waiting, 0);
    assert_int_equal (core_run (self, run)->head.minted[AG_MINTED_PATCH], 7);
    assert_whole (self, run, "[]");
}

static bool
count_run (void *arg, struct ag_run *run)
{
    (void)run;
    ++*(int *)arg;
    return true;
}

static int
runs (struct core *self)
{
    int count = 0;
    must (self, ag_run_scan (self->journal, 0, count_run, &count, &self->err));
    return count;
}

static void
an_import_of_several_pages_is_seen_with_its_end_and_not_before (void **state)
{
    struct core *self = *state;
    struct ag_run *run;
    must (self, page (self, 1, RUN ("a", "'one'", "null", "null") STORY));
    core_again (self);
    must (self, page (self, 2, EVENT ("evt_006", "t", "{}", "null")));
    must (self, page (self, 3, RUN ("b", "'two'", "'a'", "'evt_003'")));
    must (self, page (self, 4, OBJECT ("evt_004", "task#3", "{}")));
    core_again (self);
    assert_int_equal (runs (self), 0);
    refuses (self, ag_run_find (self->journal, AG_LIT ("r1"), &run, &self->err), AG_E_NOT_FOUND,
             "r1");
    refuses (self, page (self, 4, STORY), AG_E_USAGE, "page 4 of import x comes after page 4");
    assert_string_equal (
        end (self, ""),
        "{'runs':[{'run_id':'r1','label':'one','parent_run_id':null,'forked_at_event':null,"
        "'origin':'a','events':6,'refused':null},"
        "{'run_id':'r2','label':'two','parent_run_id':'r1','forked_at_event':'evt_003',"
        "'origin':'b','events':4,'refused':null}]}");
    core_again (self);
    assert_int_equal (runs (self), 2);
    must (self, ag_run_find (self->journal, AG_LIT ("two"), &run, &self->err));
    assert_string_equal (run->origin, "b");
    assert_string_equal (objects (self, 2), "{'task#1':{'n':1},'task#2':{},'task#3':{}}");
    assert_whole (self, 1, "[]");
    assert_whole (self, 2, "[]");
    refuses (self,
             ag_import_end (self->journal, AG_LIT ("x"), AG_LIT (""), NULL, NULL, &self->text,
                            &self->err),
             AG_E_NOT_FOUND, "import x");
}

static void
an_end_that_is_taken_back_leaves_its_runs_hidden (void **state)
{
    struct core *self = *state;
    must (self, page (self, 1, STORY));
    core_again (self);
    struct ag_mark mark = ag_journal_mark (self->journal);
    end (self, "in");
    assert_int_equal (runs (self), 1);
    ag_journal_rollback (self->journal, &mark);
    assert_int_equal (runs (self), 0);
    assert_true (core_run (self, 1)->hidden);
    end (self, "in");
    core_again (self);
    assert_string_equal (core_run (self, 1)->label, "in");
}

//  Keys of the store, but for the journal's own.
static int
keys (struct core *self)
{
    int count = 0;
    for (int table = 0; table < AG_TABLES; table++) {
        struct ag_str key, value;
        ag_view_t *view = ag_batch_scan (ag_journal_batch (self->journal), (enum ag_table)table,
                                         AG_LIT (""), AG_LIT ("\xff"));
        while (ag_view_next (view, &key, &value, &self->err) > 0)
            count += table != AG_META || key.p[1] != 'j';
        ag_view_destroy (&view);
    }
    return count;
}

static void
an_import_that_was_not_ended_leaves_nothing_after_the_next_start (void **state)
{
    struct core *self = *state;
    core_again (self);
    int before = keys (self);
    must (self, page (self, 1,
                      RUN ("a", "'one'", "null", "null") STORY EVENT (
                          "evt_006", "pack.loaded", "{}", "null") REMOVED ("evt_007", "task#2")));
    for (uint64_t i = 0; i < 30; i++) {
        char lines[2000] = "";
        for (uint64_t k = 0; k < 10; k++)
            snprintf (lines + strlen (lines), sizeof lines - strlen (lines),
                      EVENT ("evt_%03d", "t", "{}", "null"), (int)(8 + i * 10 + k));
        must (self, page (self, 2 + i, lines));
    }
    core_again (self);
    assert_true (keys (self) > before + 300);
    must (self, ag_import_sweep (self->journal, &self->err));
    core_again (self);
    assert_int_equal (keys (self), before);
    must (self, page (self, 1, STORY)); //  the name is free again
    assert_non_null (strstr (end (self, ""), "'run_id':'r2'"));
}

static void
a_page_with_a_bad_line_is_taken_back_whole (void **state)
{
    struct core *self = *state;
    must (self, page (self, 1, STORY));
    refuses (self, page (self, 2, EVENT ("evt_006", "t", "{}", "null") REMOVED ("evt_008", "a")),
             AG_E_BAD_VALUE, "line 2: its id is evt_008 where evt_007 comes next");
    must (self, page (self, 2, EVENT ("evt_006", "t", "{}", "null")));
    end (self, "");
    assert_int_equal (core_tip (self, 1), 6);
}

static void
what_cannot_be_kept_is_refused_with_its_line (void **state)
{
    struct core *self = *state;
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"[1]\n", "line 1: it is no object"},
        {"{'id':'evt_001','type':'t'}\n", "line 1: `payload` is missing"},
        {"{'id':'evt_001','type':'t','payload':[]}\n", "`payload` is not an object"},
        {"{'id':'evt_001','type':'t','payload':{},'run':1}\n", "field `run` is unknown"},
        {"{'id':7,'type':'t','payload':{}}\n", "`id` is not text"},
        {"{'id':'evt_1','type':'t','payload':{}}\n", "`evt_1` is no event id"},
        {"{'id':'evt_001','type':'','payload':{}}\n", "its type has 0 bytes"},
        {EVENT ("evt_002", "t", "{}", "null"), "evt_002 where evt_001 comes next"},
        {EVENT ("evt_001", "t", "{}", "'evt_001'"), "`evt_001` is no earlier event"},
        {EVENT ("evt_001", "t", "{}", "'goal'"), "`goal` is no earlier event"},
        {"{'id':'evt_001','type':'t','payload':{},'timestamp':'yesterday'}\n", "`yesterday`"},
        {"{'id':'evt_001','type':'t','payload':{},'timestamp':'2026-02-30T12:00:00Z'}\n",
         "2026-02-30"},
        {"{'id':'evt_001','type':'t','payload':{},'timestamp':'2026-01-01T12:00:00+01:00'}\n",
         "+01:00"},
        {"{'id':'evt_001','type':'t','payload':{},'timestamp':'2026-01-01T12:00:00.5Z'}\n",
         "00.5Z"},
        {EVENT ("evt_001", "object.created", "{}", "null"), "no object `object`"},
        {EVENT ("evt_001", "object.created",
                "{'object':{'id':'a','type':'t','data':{},'version':7,'provenance':{}}}", "null"),
         "its version is not 1"},
        {EVENT ("evt_001", "object.created",
                "{'object':{'id':'a','type':'t','data':{},'version':1}}", "null"),
         "no object `provenance`"},
        {EVENT ("evt_001", "object.removed", "{}", "null"), "no text `id`"},
        {PATCH ("evt_001", "a", "UPDATE", "{}"), "neither update nor replace"},
        {PATCH ("evt_001", "a", "update", "[]"), "no object `value`"},
        {OBJECT ("evt_001", "task#rzzzzzzzzzzzz.1", "{}"), "the tag of its id"},
        {RUN ("b", "null", "'a'", "'evt_001'"), "run b is a fork of a, which does not come before"},
        {RUN ("a", "null", "null", "'evt_001'"), "no event of a parent"},
        {RUN ("a", "null", "null", "null") RUN ("a", "null", "null", "null"),
         "run a is there twice"},
        {RUN ("a", "null", "null", "null") STORY RUN ("b", "null", "'a'", "'evt_009'"),
         "cut at event 9 of 5"},
        {"{'run_id':'a','ids':'mixed'}\n", "neither tagged nor continue"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        refuses (self, page (self, 1, rows[i].text), AG_E_BAD_VALUE, rows[i].says);
}

static void
what_the_reference_allowed_is_kept_and_verify_names_it (void **state)
{
    struct core *self = *state;
    static const char text[] = STORY RELATION ("evt_006", "rel_002", "task#1", "nowhere")
        REMOVED ("evt_007", "never") PATCH ("evt_008", "never", "update", "{}")
            REMOVED ("evt_009", "task#1") PATCH ("evt_010", "task#1", "replace", "{}");
    uint64_t run = import (self, text);
    assert_exports (self, run, text);
    assert_string_equal (objects (self, run), "{'task#2':{}}");
    assert_string_equal (relations (self, run), "{}"); //  taken along without events
    assert_string_equal (core_state (self, run, AG_RELATION, 8), "{'rel_001':{},'rel_002':{}}");
    assert_whole (self, run,
                  "[{'event':'evt_006','what':'the target of rel_002, nowhere, does not exist'},"
                  "{'event':'evt_007','what':'object.removed of never, which is not there'},"
                  "{'event':'evt_008','what':'patch.applied of never, which is not there'},"
                  "{'event':'evt_010','what':'patch.applied of task#1, which is not there'}]");
}

static void
a_cascade_that_events_tell_is_not_odd (void **state)
{
    struct core *self = *state;
    uint64_t run =
        import (self, STORY REMOVED ("evt_006", "task#1")
                          EVENT ("evt_007", "relation.removed", "{'id':'rel_001'}", "'evt_006'"));
    assert_string_equal (relations (self, run), "{}");
    assert_whole (self, run, "[]");
}

static void
a_diff_sees_what_an_imported_removal_took_along (void **state)
{
    struct core *self = *state;
    struct ag_buf out = {0};
    struct ag_str list;
    uint64_t run = import (self, STORY REMOVED ("evt_006", "task#1"));
    uint64_t fork = core_fork_at (self, run, 5);
    must (self, ag_diff (self->journal, core_run (self, run), AG_NOW, core_run (self, fork), AG_NOW,
                         &(struct ag_diff_page){0}, &out, &self->err));
    assert_int_equal (ag_map_get (ag_buf_str (&out), "divergent_relations", &list), 0);
    assert_non_null (strstr (json_of (self, list), "'id':'rel_001','a':null"));
    ag_buf_fini (&out);
}

static void
a_promote_that_was_imported_can_be_cut_around_but_not_sliced (void **state)
{
    struct core *self = *state;
    static const char text[] =
        STORY EVENT ("evt_006", "promote.applied", "{'from_run':'01F'}",
                     "null") "{'id':'evt_007','type':'patch.applied','payload':{'patch':{'op':'"
                             "replace','value':{}},"
                             "'target':'task#2'},'actor':'promote:01F','caused_by':'evt_006'}\n"
                             "{'id':'evt_008','type':'object.removed','payload':{'id':'task#1'},"
                             "'actor':'promote:01F','caused_by':'evt_006'}\n";
    uint64_t run = import (self, text);
    for (uint64_t at = 1; at <= 8; at++) {
        int rc = ag_fork_check (self->journal, core_run (self, run), at, &self->err);
        assert_int_equal (rc, at == 6 || at == 7 ? -1 : 0);
    }
    refuses (self, ag_fork_check (self->journal, core_run (self, run), 6, &self->err), AG_E_SLICED,
             "from its marker evt_006 to evt_008");
}

static void
an_imported_promote_gives_no_authority_and_a_fork_is_promoted_by_what_differs (void **state)
{
    struct core *self = *state;
    struct ag_run *fork;
    must (self, page (self, 1,
                      RUN ("a", "'in'", "null", "null") STORY RUN ("b", "'f'", "'a'", "'evt_005'")
                          OBJECT ("evt_006", "task#3", "{'of':'fork'}")));
    end (self, "");
    core_again (self);
    must (self, ag_run_find (self->journal, AG_LIT ("f"), &fork, &self->err));
    promote (self, fork->number);
    assert_string_equal (objects (self, 1),
                         "{'task#1':{'n':1,'m':2},'task#2':{},'task#3':{'of':'fork'}}");
    assert_whole (self, 1, "[]");
}

static void
labels_are_kept_where_they_can_be_had_and_the_answer_says_where_not (void **state)
{
    struct core *self = *state;
    core_root (self, "taken");
    must (self, page (self, 1,
                      RUN ("a", "'taken'", "null", "null") RUN ("b", "'mine'", "null", "null")
                          RUN ("c", "'two words'", "null", "null")));
    const char *text = end (self, "");
    assert_non_null (strstr (text, "'label':null,'parent_run_id':null,'forked_at_event':null,"
                                   "'origin':'a','events':0,'refused':'a run is called `taken`"));
    assert_non_null (strstr (text, "'label':'mine'"));
    assert_non_null (strstr (text, "control character, a space or"));
    must (self, page (self, 1, RUN ("a", "'x'", "null", "null") RUN ("b", "null", "null", "null")));
    text = end (self, "new");
    assert_non_null (strstr (text, "'label':'new'"));
    assert_non_null (strstr (text, "'label':'new-2'"));
}

static void
tags_of_another_store_are_never_minted_again (void **state)
{
    struct core *self = *state;
    uint64_t run = import (self, OBJECT ("evt_001", "task#r3.1", "{}"));
    assert_int_equal (run, 1);
    uint64_t fork = core_fork (self, run);
    assert_int_equal (fork, 4);
    core_apply (self, fork, "[{'op':'add_object','type':'task'}]");
    assert_string_equal (objects (self, fork), "{'task#r3.1':{},'task#r4.1':{}}");
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (what_was_imported_is_exported_as_it_was),
        core_test (nothing_imported_is_in_the_stream_or_in_a_queue),
        core_test (what_waited_for_a_decision_elsewhere_waits_for_none_here),
        core_test (an_import_of_several_pages_is_seen_with_its_end_and_not_before),
        core_test (an_end_that_is_taken_back_leaves_its_runs_hidden),
        core_test (an_import_that_was_not_ended_leaves_nothing_after_the_next_start),
        core_test (a_page_with_a_bad_line_is_taken_back_whole),
        core_test (what_cannot_be_kept_is_refused_with_its_line),
        core_test (what_the_reference_allowed_is_kept_and_verify_names_it),
        core_test (a_cascade_that_events_tell_is_not_odd),
        core_test (a_diff_sees_what_an_imported_removal_took_along),
        core_test (a_promote_that_was_imported_can_be_cut_around_but_not_sliced),
        core_test (an_imported_promote_gives_no_authority_and_a_fork_is_promoted_by_what_differs),
        core_test (labels_are_kept_where_they_can_be_had_and_the_answer_says_where_not),
        core_test (tags_of_another_store_are_never_minted_again),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
