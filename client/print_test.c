//  SPDX-License-Identifier: Apache-2.0
#include "client/capture_test.h"
#include "client/print.h"

#include <locale.h>

static const struct ag_look plain = {.now = 1767225600}; //  2026-01-01T00:00:00Z

typedef void print_fn (const struct ag_look *look, struct ag_str answer);

//  What a person sees of an answer, given as JSON with ' for ".
static char *
printed_as (const struct ag_look *look, print_fn *print, const char *json)
{
    struct ag_buf value = value_of (json);
    struct capture capture = capture_begin();
    print (look, ag_buf_str (&value));
    char *text = capture_end (&capture);
    ag_buf_fini (&value);
    return text;
}

static void
assert_prints (print_fn *print, const char *json, const char *expected)
{
    char *text = printed_as (&plain, print, json);
    assert_string_equal (text, expected);
    free (text);
}

static void
event (const struct ag_look *look, struct ag_str value)
{
    ag_print_event (look, value, false);
}

static void
named_event (const struct ag_look *look, struct ag_str value)
{
    ag_print_event (look, value, true);
}

#define EVENT(type, payload)                                                                       \
    "{'id':'evt_042','type':'" type "','payload':" payload                                         \
    ",'actor':'operator','frame_id':null,'caused_by':null,"                                        \
    "'timestamp':'2026-01-01T12:34:56.789012Z','run':'r1','label':'auditor','seq':42}"

static void
an_event_is_one_line_that_says_what_happened (void **state)
{
    (void)state;
    assert_prints (event, EVENT ("goal.created", "{'goal':'Audit it'}"),
                   "evt_042    12:34:56        [goal.created]  operator: \"Audit it\"\n");
    assert_prints (event,
                   EVENT ("object.created",
                          "{'object':{'id':'task#1','type':'task','data':{'title':'base',"
                          "'status':'open'}},'id':'task#1'}"),
                   "evt_042    12:34:56      [object.created]  task#1 \"base\" (open)\n");
    assert_prints (event,
                   EVENT ("relation.created",
                          "{'relation':{'id':'rel_001','source':'note#2','target':'task#1',"
                          "'type':'annotates'}}"),
                   "evt_042    12:34:56    [relation.created]  note#2 --annotates--> task#1\n");
    assert_prints (
        event,
        EVENT ("patch.applied", "{'target':'task#1','diff':{'status':{'old':'open','new':'done'},"
                                "'n':{'old':null,'new':1}}}"),
        "evt_042    12:34:56       [patch.applied]  task#1 status: open -> done, n: null -> 1\n");
    assert_prints (
        event,
        EVENT ("behavior.failed",
               "{'behavior':'scan','exception_type':'Error','message':'no','reason':null}"),
        "evt_042    12:34:56     [behavior.failed]  scan: Error: no\n");
    assert_prints (event, EVENT ("note.written", "{'text':'hi','n':[1,2]}"),
                   "evt_042    12:34:56        [note.written]  text=hi n=[1,2]\n");
    assert_prints (named_event, EVENT ("object.removed", "{'id':'task#1'}"),
                   "auditor     evt_042    12:34:56      [object.removed]  task#1\n");
}

//  cli.md promises this line.
static void
a_promote_is_printed_as_promised (void **state)
{
    (void)state;
    char *text =
        printed_as (&plain, event,
                    EVENT ("promote.applied", "{'from_run':'r3f','forked_at_event':'evt_042',"
                                              "'objects_created':['a','b'],'objects_patched':['c'],"
                                              "'objects_removed':[],'relations_created':[],"
                                              "'relations_removed':[]}"));
    assert_contains (text, "[promote.applied]  r3f -> here (+2 ~1 -0) forked_at=evt_042\n");
    free (text);
    //  A large one carries counts in place of the ids.
    text = printed_as (&plain, event,
                       EVENT ("promote.applied", "{'from_run':'r3f','forked_at_event':'evt_001',"
                                                 "'objects_created':20000,'objects_patched':0,"
                                                 "'objects_removed':3,'relations_created':7}"));
    assert_contains (text, "(+20000 ~0 -3) forked_at=evt_001 relations=+7-0\n");
    free (text);
}

static void
a_line_holds_no_control_characters_whatever_an_event_says (void **state)
{
    (void)state;
    char *text = printed_as (
        &plain, event,
        EVENT ("goal.created",
               "{'goal':'a\\u001b[31m\\nb\\u0007\\u009bc\\u007f \\u202ed\\u2066e\\u200f\\u2019'}"));
    assert_contains (text, "\"a\\x1b[31m\\nb\\x07\\x9bc\\x7f \\u202ed\\u2066e\\u200f\u2019\"\n");
    assert_null (strchr (text, '\033'));
    free (text);
}

static void
a_long_value_is_cut_between_letters (void **state)
{
    (void)state;
    char *text =
        printed_as (&plain, event,
                    EVENT ("note.written", "{'t':'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                                           "xxxxxxxxxxxxxx\\u00e9\\u00e9\\u00e9'}"));
    struct ag_str whole = ag_str (text);
    assert_contains (text, "x...\n");
    assert_true (ag_utf8 (whole));
    free (text);
}

static void
a_why_indents_causes_and_begins_anew_with_an_earlier_version (void **state)
{
    (void)state;
    char *text =
        printed_as (&plain, ag_print_why,
                    "{'chain':[{'id':'evt_009','type':'patch.applied','caused_by':'evt_008'},"
                    "{'id':'evt_008','type':'x','caused_by':'evt_007'},"
                    "{'id':'evt_007','type':'goal.created','caused_by':null},"
                    "{'id':'evt_003','type':'object.created','caused_by':'evt_002'},"
                    "{'id':'evt_002','type':'goal.created','caused_by':null}]}");
    assert_contains (text, "\n`- evt_008 ");
    assert_contains (text, "\n  `- evt_007 ");
    assert_contains (text, "\nbefore that: evt_003 ");
    assert_contains (text, "\n`- evt_002 ");
    free (text);
}

static void
a_why_of_what_no_event_caused_names_its_actor (void **state)
{
    (void)state;
    char *text =
        printed_as (&plain, ag_print_why,
                    "{'entity':'evt_042','chain':[" EVENT ("goal.created", "{'goal':'x'}") "]}");
    assert_contains (text, "\"x\"\n`- no event caused it: it came from operator\n");
    free (text);
}

//  Whatever their lengths; a type that is longer than its column pushes the rest.
static void
lines_of_a_log_have_columns (void **state)
{
    (void)state;
    static const char *const events[] = {
        "{'id':'evt_001','type':'goal.created','timestamp':'2026-01-01T12:34:56Z','label':'a',"
        "'payload':{'goal':'|'}}",
        "{'id':'evt_12345','type':'behavior.completed','timestamp':'2026-01-01T12:34:56Z',"
        "'label':'auditor','payload':{'behavior':'|'}}"};
    char *one = printed_as (&plain, named_event, events[0]),
         *two = printed_as (&plain, named_event, events[1]);
    assert_int_equal (strcspn (one, "]"), strcspn (two, "]"));
    assert_int_equal (strcspn (one, ":"), strcspn (two, ":"));
    free (one);
    free (two);
}

static void
a_line_ends_at_the_edge_of_the_terminal_by_the_width_of_its_letters (void **state)
{
    (void)state;
    setlocale (LC_CTYPE, "C.UTF-8");
    static const struct {
        int columns;
        const char *text, *shown;
    } rows[] = {{0, "abcdef", "abcdef"},
                {6, "abcdef", "abcdef"},
                {5, "abcdef", "abcd…"},
                {1, "abcdef", "…"},
                {5, "日本語", "日本…"},
                {4, "日本語", "日…"},
                {6, "日本語", "日本語"},
                {3, "\033[31mabcd\033[0m", "\033[31mab…\033[0m"},
                {4, "\033[31mabcd\033[0m", "\033[31mabcd\033[0m"},
                {3, "a\xff\xff\xff", "a\xff…"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct capture capture = capture_begin();
        ag_look_cut (stdout, ag_str (rows[i].text), rows[i].columns);
        char *text = capture_end (&capture);
        assert_string_equal (text, rows[i].shown);
        free (text);
    }
    struct ag_look narrow = plain;
    narrow.columns = 40;
    char *text = printed_as (&narrow, event, EVENT ("note.written", "{'text':'a long text'}"));
    assert_int_equal (mbstowcs (NULL, text, 0), 40 + 1);
    free (text);
}

static void
a_why_names_the_fork_whose_events_it_shows (void **state)
{
    (void)state;
    char *text = printed_as (&plain, ag_print_why,
                             "{'chain':[{'id':'evt_006','run':'r1','type':'a'},"
                             "{'id':'evt_004','run':'r2','label':'try','type':'b'}]}");
    assert_contains (text, "\n`- try ");
    assert_true (ag_str_starts (ag_str (text), "evt_006"));
    free (text);
}

static void
failures_stand_together_by_what_they_broke_in (void **state)
{
    (void)state;
#define FAILED(id, name, traceback)                                                                \
    "{'id':'" id "','type':'behavior.failed','timestamp':'2026-01-01T12:34:56Z','payload':"        \
    "{'behavior':'" name "','message':'m','traceback':'" traceback "'}}"
    char *text = printed_as (
        &plain, ag_print_failures,
        "{'failures':[" FAILED ("evt_001", "a", "x") "," FAILED ("evt_002", "b", "y") "," FAILED (
            "evt_003", "a", "one\\n\\ttwo\\u001b\\n") "]}");
    assert_contains (text, "a: 2 failures, the last:\nevt_003 ");
    assert_contains (text, "\n  | one\n  |     two\\x1b\nb: 1 failure\nevt_002 ");
    assert_true (!strstr (text, "evt_001"));
    free (text);
}

static void
status_is_a_table_with_relative_times (void **state)
{
    (void)state;
    char *text = printed_as (
        &plain, ag_print_status,
        "{'home':'/x/.agsup','epoch':3,'stream':1234,'agents':[{'name':'auditor','run':'r1',"
        "'state':'busy','pid':77,'since':'2025-12-31T23:57:00Z','restarts':2,'reason':null,"
        "'remark':'odd','invocation':{'behavior':'judge','event_id':'evt_012','attempt':2},"
        "'next_try':null,'events':40,'queue':1}],'forks':[{'name':'strict','run':'r2',"
        "'state':'parked','pid':null,'layers':[{'name':'uid','asked':'try','in_force':false,'"
        "reason':'not root'},"
        "{'name':'pidns','asked':null,'in_force':false,'reason':'not asked for'},"
        "{'name':'seccomp','asked':'strict','in_force':true,'reason':null}],'nets':[{'name':"
        "'memory','asked':5,'in_force':false,'reason':'sanitizer build'}]}],'forks_left_out':7}");
    assert_contains (text, "\nand 7 more of forks: `agsup tree` shows them\n");
    assert_contains (text, "\nstrict: no uid (not root), no net memory (sanitizer build)\n");
    assert_contains (text, "/x/.agsup, epoch 3, 1234 events\n");
    assert_contains (text, "NAME");
    assert_contains (text, "auditor busy");
    assert_contains (text, "77 3m ago");
    assert_contains (text, "judge on evt_012, attempt 2; odd\n");
    assert_contains (text, "strict  parked r2    - -");
    free (text);
}

static void
times_are_told_in_one_unit (void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"2025-12-31T23:59:58Z", "2s ago"},
                                           {"2025-12-31T22:30:00.5Z", "1h ago"},
                                           {"2025-12-20T00:00:00+00:00", "12d ago"},
                                           {"2026-01-01T00:00:05Z", "in 5s"},
                                           {"yesterday", "yesterday"},
                                           {"", "-"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char room[40];
        ag_look_when (&plain, ag_str (cases[i][0]), room);
        assert_string_equal (room, cases[i][1]);
    }
    char room[40];
    ag_look_when (&plain, (struct ag_str){0}, room);
    assert_string_equal (room, "-");
}

static void
a_tree_shows_forks_under_their_parents (void **state)
{
    (void)state;
    char *text =
        printed_as (&plain, ag_print_tree,
                    "[{'run':'r1','label':'auditor','parent_run_id':null,'state':'ready','tip':"
                    "'evt_050','kind':'root'},"
                    "{'run':'r2','label':'notes','parent_run_id':null,'state':'ready','tip':3},"
                    "{'run':'r3','label':null,'parent_run_id':'r1','forked_at_event':'evt_042',"
                    "'state':'parked','tip':44,'kind':'fork'}]");
    const char *parent = strstr (text, "auditor"), *fork = strstr (text, "r3"),
               *other = strstr (text, "notes");
    assert_true (parent && fork && other && parent < fork && fork < other);
    assert_contains (text, "evt_042");
    assert_contains (text, "50");
    free (text);
}

static void
a_replay_says_that_it_is_as_recorded_or_where_it_is_not (void **state)
{
    (void)state;
    assert_prints (
        ag_print_replay,
        "{'run':'r1','invocations':12,'compared_events':40,'skipped':0,'divergence':null}",
        "r1 as recorded: 12 invocations, 40 events compared\n");
    assert_prints (ag_print_replay,
                   "{'run':'r1','invocations':3,'compared_events':7,'skipped':2,'divergence':{"
                   "'event_id':'evt_042','path':'payload.object.data.n','recorded':1,'found':'b'}}",
                   "r1 diverges: 3 invocations, 7 events compared, 2 left out, as crashes are\n"
                   "  evt_042 payload.object.data.n: recorded 1, found b\n");
}

static void
a_run_again_says_what_was_put_in_and_what_was_left_out (void **state)
{
    (void)state;
    assert_prints (
        ag_print_again,
        "{'run':'auditor','fork_run_id':'r7','effects':'replay','put_in':3,'left_out':[{"
        "'event_id':'evt_042','type':'promote.applied','reason':'it is of another'}],'diff':{"
        "'a':'auditor','b':'r7','shared_events':3,'a_only_events':4,'b_only_events':4,"
        "'divergent_objects':[],'divergent_relations':[],'is_identical':false}}",
        "auditor again as r7: 3 events put in from outside\n"
        "  left out evt_042 [promote.applied]: it is of another\n"
        "auditor and r7 hold the same objects and relations: 3 events shared, 4 only in the first, "
        "4 only in the second\n");
}

static void
a_plan_lists_what_changes_and_what_stands_against_it (void **state)
{
    (void)state;
    assert_prints (ag_print_plan,
                   "{'from_run':'r3','into_run':'r1','forked_at_event':'evt_042','dry_run':true,"
                   "'is_promotable':false,'is_empty':false,'object_creates':[{'id':'task#r3.1',"
                   "'type':'task','data':{'a':1}}],'object_patches':[{'id':'task#1','type':'task',"
                   "'data':{'a':2}}],'object_removes':['task#2'],'relation_creates':[{'id':"
                   "'rel_r3.001','source':'task#1','target':'task#r3.1','type':'needs','data':{}}],"
                   "'relation_removes':['rel_001'],'conflicts':[{'kind':'both_changed','entity':"
                   "'object','id':'task#1','detail':'changed here too'}],'violations':[],"
                   "'warnings':['old']}",
                   "cannot promote r3 -> r1 (+1 ~1 -1) forked_at=evt_042\n"
                   "  + task#r3.1  {\"a\":1}\n"
                   "  ~ task#1  {\"a\":2}\n"
                   "  - task#2\n"
                   "  + rel_r3.001  task#1 --needs--> task#r3.1\n"
                   "  - rel_001\n"
                   "  ! both_changed  object task#1: changed here too\n"
                   "  warning: old\n");
    assert_prints (ag_print_plan,
                   "{'from_run':'r3','into_run':'r1','from_label':'strict','into_label':null,"
                   "'forked_at_event':'evt_042','is_promotable':true,'object_creates':[],'object_"
                   "patches':[],'object_removes':[],"
                   "'marker_event_id':'evt_050'}",
                   "promoted strict -> r1 (+0 ~0 -0) forked_at=evt_042 as evt_050\n");
}

static void
an_empty_promote_names_the_marker_that_it_wrote_or_that_stands_for_it (void **state)
{
    (void)state;
    assert_prints (ag_print_plan,
                   "{'from_run':'r3','into_run':'r1','forked_at_event':'evt_042','is_promotable':"
                   "true,'is_empty':true,'computed_against':'evt_049','marker_event_id':'evt_050'}",
                   "promoted r3 -> r1 (+0 ~0 -0) forked_at=evt_042 as evt_050, nothing changed\n");
    assert_prints (ag_print_plan,
                   "{'from_run':'r3','into_run':'r1','forked_at_event':'evt_042','is_promotable':"
                   "true,'is_empty':true,'computed_against':'evt_050','marker_event_id':'evt_050'}",
                   "promoted r3 -> r1 (+0 ~0 -0) forked_at=evt_042, nothing new since evt_050\n");
}

static void
what_a_rerun_leaves_out_for_one_reason_in_a_row_is_one_line (void **state)
{
    (void)state;
#define LEFT(id, reason) "{'event_id':'" id "','type':'message.received','reason':'" reason "'}"
    assert_prints (
        ag_print_again,
        "{'run':'a','fork_run_id':'r7','put_in':1,'left_out':[" LEFT ("evt_003", "x") "," LEFT (
            "evt_004", "x") "," LEFT ("evt_005",
                                      "x") "," LEFT ("evt_006",
                                                     "y") "],"
                                                          "'diff':{'a':'a','b':'r7','is_identical':"
                                                          "true,'shared_events':1}}",
        "a again as r7: 1 event put in from outside\n"
        "  left out evt_003 [message.received] and 2 more: x\n"
        "  left out evt_006 [message.received]: y\n"
        "a and r7 are identical: 1 event shared, 0 only in the first, 0 only in the "
        "second\n");
}

static void
what_waits_is_decided_by_a_line_that_can_be_typed (void **state)
{
    (void)state;
    char *text =
        printed_as (&plain, ag_print_waiting,
                    "{'approvals':[{'run':'r2','label':'books','approval_id':'approval_001'}],"
                    "'patches':[{'run':'r3','label':null,'patch_id':'patch_018'}]}");
    assert_contains (text, "agsup approve books approval_001, or deny");
    assert_contains (text, "agsup apply r3: apply_patch patch_018, or reject_patch");
    free (text);
}

static void
a_diff_shows_the_fields_that_differ (void **state)
{
    (void)state;
    assert_prints (
        ag_print_diff,
        "{'a':'r1','b':'r3','shared_events':42,'a_only_events':1,'b_only_events':2,"
        "'divergent_objects':[{'id':'t#1','a':{'data':{'s':'open','k':1}},'b':{'data':{'s':'done',"
        "'k':1,'n':2}}},{'id':'t#2','a':null,'b':{'data':{'x':1}}},"
        "{'id':'t#3','a':{'data':{'x':1},'version':2},'b':{'data':{'x':1},'version':3}}],"
        "'divergent_relations':[{'id':'rel_1','a':{'source':'t#1','target':'t#3',"
        "'type':'needs','data':{}},'b':null}],'is_identical':false}",
        "r1 and r3 differ: 42 events shared, 1 only in the first, 2 only in the second\n"
        "  ~ t#1  s: open | done  n:  | 2\n"
        "  > t#2  {\"x\":1}\n"
        "  ~ t#3  version: 2 | 3\n"
        "  < rel_1  t#1 --needs--> t#3\n");
}

static void
objects_and_relations_are_two_tables (void **state)
{
    (void)state;
    char *text = printed_as (
        &plain, ag_print_objects,
        "{'run':'r1','at':'evt_9','objects':[{'id':'task#1','type':'task','data':{'title':'base'},"
        "'version':2}],'relations':[{'id':'rel_001','source':'note#2','target':'task#1',"
        "'type':'annotates','data':{}}]}");
    assert_contains (text, "task#1 task       2 {\"title\":\"base\"}\n");
    assert_contains (text, "rel_001 note#2 annotates task#1 {}\n");
    free (text);
}

static void
a_thing_is_shown_field_by_field (void **state)
{
    (void)state;
    assert_prints (ag_print_thing,
                   "{'object':{'id':'task#1','version':2,'data':{'title':'b'}},'relation':null}",
                   "id: task#1\nversion: 2\ndata: {\n  \"title\": \"b\"\n}\n");
}

static void
states_are_coloured_for_a_person_that_sees_colours (void **state)
{
    (void)state;
    struct ag_look look = {.color = true};
    char *text = printed_as (&look, ag_print_states, "{'runs':[{'run':'r1','state':'failed'}]}");
    assert_string_equal (text, "r1  \033[31mfailed\033[0m\n");
    free (text);
    assert_prints (ag_print_states, "{'runs':[{'run':'r1','state':'failed'}]}", "r1  failed\n");
}

static void
a_bad_run_is_named_with_its_first_bad_event (void **state)
{
    (void)state;
    assert_prints (ag_print_verify,
                   "{'ok':false,'runs':[{'run':'r1','events':5,'first_bad':null,'reason':null},"
                   "{'run':'r2','events':9,'first_bad':'evt_007','reason':'its chain is broken'}]}",
                   "ok   r1 5 events\n"
                   "BAD  r2 9 events, first bad evt_007: its chain is broken\n");
}

static void
what_keeps_a_run_is_a_line_each (void **state)
{
    (void)state;
    assert_prints (ag_print_kept,
                   "{'run':'r1','tip':'evt_042','covers_through':'evt_041','archived_through':null,"
                   "'discarded':false,'reasons':[{'reason':'live-lineage','run':'r2',"
                   "'event':'evt_007'},{'reason':'pending-approvals','run':'r1','event':'evt_009',"
                   "'id':'approval_001'}]}",
                   "r1 42 events, archived to 0, covered to 41\n"
                   "live-lineage       r2  evt_007\n"
                   "pending-approvals  r1  evt_009  approval_001\n");
}

static void
a_repair_says_what_is_damaged_and_where_each_run_ends (void **state)
{
    (void)state;
    assert_prints (
        ag_print_repair,
        "{'ok':false,'from':'a','to':'b','events':7,'events_lost':2,'runs':["
        "{'run':'r1','label':'fleet','events':3,'first_lost':null,'reason':null},"
        "{'run':'r2','label':'','events':4,'first_lost':'evt_005','reason':'it is "
        "missing'},{'run':'r3','label':'b','events':2,'first_lost':null,'reason':'notes: "
        "unreadable'}],'files':[{'file':'000004.log','reason':'damaged at byte 9'}]}",
        "damaged: 000004.log: damaged at byte 9\n"
        "ok   r1 fleet: 3 events kept\n"
        "LOST r2: 4 events kept, lost from evt_005 on: it is missing\n"
        "LOST r3 b: 2 events kept, and what stood beside them is not whole: notes: unreadable\n"
        "7 events kept in b, 2 lost\n");
}

static void
packs_are_a_table_with_the_types_that_they_declare (void **state)
{
    (void)state;
    assert_prints (ag_print_packs,
                   "{'packs':[{'run':'r1','label':'auditor','name':'licences','version':'1.0.0',"
                   "'bundle_hash':'sha256:83','object_types':['finding'],'relation_types':"
                   "['found_in']},{'run':'r2','label':'','name':'xy','version':'1','bundle_hash':"
                   "'sha256:00','object_types':[],'relation_types':[]}]}",
                   "RUN     PACK     VERSION BUNDLE    TYPES\n"
                   "auditor licences 1.0.0   sha256:83 finding, found_in\n"
                   "r2      xy       1       sha256:00 -\n");
}

//  Another build may answer with less, with more, or with other kinds.
static void
an_answer_that_is_not_as_expected_is_no_accident (void **state)
{
    (void)state;
    static print_fn *const all[] = {
        event,           ag_print_why,    ag_print_status,  ag_print_tree,
        ag_print_plan,   ag_print_diff,   ag_print_objects, ag_print_thing,
        ag_print_states, ag_print_verify, ag_print_checks,  ag_print_kept,
        ag_print_replay, ag_print_again,  ag_print_repair,  ag_print_packs};
    static const char *const answers[] = {
        "{}",
        "[]",
        "1",
        "null",
        "[1,null,{}]",
        "{'runs':1,'agents':[1],'objects':{},'chain':[[]],'payload':7,'type':3,'id':[],"
        "'object_creates':[null,[1]],'conflicts':['x'],'divergent_objects':[1],'checks':[0],"
        "'object':[],'forks':null,'marker_event_id':5}"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t k = 0; k < sizeof answers / sizeof *answers; k++)
            free (printed_as (&plain, all[i], answers[k]));
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (an_event_is_one_line_that_says_what_happened),
        cmocka_unit_test (a_promote_is_printed_as_promised),
        cmocka_unit_test (a_line_holds_no_control_characters_whatever_an_event_says),
        cmocka_unit_test (a_long_value_is_cut_between_letters),
        cmocka_unit_test (a_why_indents_causes_and_begins_anew_with_an_earlier_version),
        cmocka_unit_test (a_why_of_what_no_event_caused_names_its_actor),
        cmocka_unit_test (lines_of_a_log_have_columns),
        cmocka_unit_test (a_line_ends_at_the_edge_of_the_terminal_by_the_width_of_its_letters),
        cmocka_unit_test (a_why_names_the_fork_whose_events_it_shows),
        cmocka_unit_test (failures_stand_together_by_what_they_broke_in),
        cmocka_unit_test (status_is_a_table_with_relative_times),
        cmocka_unit_test (times_are_told_in_one_unit),
        cmocka_unit_test (a_tree_shows_forks_under_their_parents),
        cmocka_unit_test (a_replay_says_that_it_is_as_recorded_or_where_it_is_not),
        cmocka_unit_test (a_run_again_says_what_was_put_in_and_what_was_left_out),
        cmocka_unit_test (a_plan_lists_what_changes_and_what_stands_against_it),
        cmocka_unit_test (an_empty_promote_names_the_marker_that_it_wrote_or_that_stands_for_it),
        cmocka_unit_test (what_a_rerun_leaves_out_for_one_reason_in_a_row_is_one_line),
        cmocka_unit_test (what_waits_is_decided_by_a_line_that_can_be_typed),
        cmocka_unit_test (a_diff_shows_the_fields_that_differ),
        cmocka_unit_test (objects_and_relations_are_two_tables),
        cmocka_unit_test (a_thing_is_shown_field_by_field),
        cmocka_unit_test (states_are_coloured_for_a_person_that_sees_colours),
        cmocka_unit_test (what_keeps_a_run_is_a_line_each),
        cmocka_unit_test (a_bad_run_is_named_with_its_first_bad_event),
        cmocka_unit_test (packs_are_a_table_with_the_types_that_they_declare),
        cmocka_unit_test (a_repair_says_what_is_damaged_and_where_each_run_ends),
        cmocka_unit_test (an_answer_that_is_not_as_expected_is_no_accident),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
