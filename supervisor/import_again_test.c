//  Ids that an imported log makes again after a removal.
//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/import_test.h"

#define LINK(id, name, type, source, target, data)                                                 \
    EVENT (id, "relation.created",                                                                 \
           "{'relation':{'id':'" name "','source':'" source "','target':'" target                  \
           "','type':'" type "','data':" data ",'provenance':{}},'id':'" name "'}",                \
           "null")
#define UNLINKED(id, name) EVENT (id, "relation.removed", "{'id':'" name "'}", "null")

//  What a promote of the reference does with a relation that the fork changed.
static void
a_relation_that_a_promote_of_the_reference_made_again_is_kept_and_named (void **state)
{
    struct core *self = *state;
    static const char text[] = STORY UNLINKED ("evt_006", "rel_001")
        LINK ("evt_007", "rel_001", "by", "task#2", "task#1", "{'n':2}");
    uint64_t run = import (self, text);
    assert_exports (self, run, text);
    assert_string_equal (relations (self, run), "{'rel_001':{'n':2}}");
    assert_string_equal (core_state (self, run, AG_RELATION, 6), "{}");
    assert_string_equal (core_state (self, run, AG_RELATION, 5), "{'rel_001':{}}");
    assert_whole (self, run,
                  "[{'event':'evt_007','what':'rel_001 is made again, under an id that was "
                  "removed'}]");
    assert_int_equal (core_try (self, run,
                                "[{'op':'add_relation','type':'on','id':'rel_001',"
                                "'source':'task#1','target':'task#2'}]"),
                      -1);
    core_apply (self, run, "[{'op':'remove_relation','id':'rel_001'}]");
    assert_int_equal (core_try (self, run,
                                "[{'op':'add_relation','type':'on','id':'rel_001',"
                                "'source':'task#1','target':'task#2'}]"),
                      -1); //  here an id still names one thing
}

//  The reference puts what is made under an id in the place of what has it, and leaves no other trace of that.
static void
what_is_made_over_what_is_there_takes_its_place_and_is_named (void **state)
{
    struct core *self = *state;
    static const char text[] =
        STORY LINK ("evt_006", "rel_001", "by", "task#1", "task#1", "{'n':2}")
            EVENT ("evt_007", "object.created",
                   "{'object':{'id':'task#2','type':'note','data':{'n':7},'version':1,"
                   "'provenance':{}},'id':'task#2'}",
                   "null");
    uint64_t run = import (self, text);
    assert_exports (self, run, text);
    assert_string_equal (relations (self, run), "{'rel_001':{'n':2}}");
    assert_string_equal (core_state (self, run, AG_RELATION, 5), "{'rel_001':{}}");
    assert_non_null (strstr (objects (self, run), "'task#2':{'n':7}"));
    assert_null (strstr (core_state (self, run, AG_OBJECT, 6), "'n':7"));
    assert_whole (self, run,
                  "[{'event':'evt_006','what':'rel_001 is made again, while it was there'},"
                  "{'event':'evt_007','what':'task#2 is made again, while it was there'}]");
    uint64_t fork = core_fork_at (self, run, 6);
    assert_null (strstr (objects (self, fork), "'n':7"));
    core_sound (self, fork);
}

/*  Any order of makings and removals, against a plain replay  */

enum { THINGS = 3, EVENTS = 60 };

struct thing {
    bool live;
    char type;
    int source, target, version, data;
};

struct world {
    struct thing objects[THINGS], relations[THINGS];
};

struct story {
    unsigned seed;
    struct ag_buf text;
    struct world at[2 * EVENTS + 1]; //  after each event
    uint64_t tip;
};

static unsigned
any (struct story *self, unsigned most)
{
    self->seed = self->seed * 1103515245U + 12345U;
    return (self->seed >> 16) % most;
}

static void
tell (struct story *self, const char *type, const char *payload)
{
    ag_buf_text (&self->text,
                 "{'id':'evt_%03d','type':'%s','payload':%s,'actor':null,'frame_id':null,"
                 "'caused_by':null,'timestamp':''}\n",
                 (int)self->tip, type, payload);
}

static void
step_object (struct story *self, struct world *world, int i)
{
    char payload[256];
    struct thing *thing = &world->objects[i];
    int data = (int)self->tip;
    if (!thing->live || !any (self, 4)) { //  or over the one that is there; its relations stay
        *thing = (struct thing){true, any (self, 2) ? 't' : 'u', 0, 0, 1, data};
        snprintf (payload, sizeof payload,
                  "{'object':{'id':'o%d','type':'%c','data':{'n':%d},'version':1,'provenance':{}}}",
                  i, thing->type, data);
        tell (self, "object.created", payload);
    } else if (any (self, 2)) {
        thing->data = data;
        thing->version++;
        snprintf (payload, sizeof payload,
                  "{'patch':{'target':'o%d','op':'%s','value':{'n':%d}},'target':'o%d'}", i,
                  any (self, 2) ? "update" : "replace", data, i);
        tell (self, "patch.applied", payload);
    } else {
        thing->live = false;
        for (int k = 0; k < THINGS; k++)
            if (world->relations[k].source == i || world->relations[k].target == i)
                world->relations[k].live = false;
        snprintf (payload, sizeof payload, "{'id':'o%d'}", i);
        tell (self, "object.removed", payload);
    }
}

static void
step_relation (struct story *self, struct world *world, int i)
{
    char payload[256];
    struct thing *thing = &world->relations[i];
    if (thing->live && any (self, 3)) {
        thing->live = false;
        snprintf (payload, sizeof payload, "{'id':'r%d'}", i);
        tell (self, "relation.removed", payload);
        return;
    }
    *thing = (struct thing){true,
                            any (self, 2) ? 't' : 'u',
                            (int)any (self, THINGS),
                            (int)any (self, THINGS),
                            1,
                            (int)self->tip};
    snprintf (payload, sizeof payload,
              "{'relation':{'id':'r%d','type':'%c','source':'o%d','target':'o%d','data':{'n':%d},"
              "'provenance':{}}}",
              i, thing->type, thing->source, thing->target, thing->data);
    tell (self, "relation.created", payload);
}

//  So many events after the present one.
static void
go_on (struct story *self, int events)
{
    for (int i = 0; i < events; i++) {
        struct world world = self->at[self->tip++];
        if (any (self, 2))
            step_object (self, &world, (int)any (self, THINGS));
        else
            step_relation (self, &world, (int)any (self, THINGS));
        self->at[self->tip] = world;
    }
}

static bool
add_name (void *arg, struct ag_str id)
{
    ag_buf_text (arg, "%.*s ", AG_STR_ARG (id));
    return true;
}

static void
assert_names (const struct thing *things, char letter, char type, int end, struct ag_buf *found)
{
    struct ag_buf expected = {0};
    for (int i = 0; i < THINGS; i++)
        if (things[i].live && (!type || things[i].type == type) &&
            (end < 0 || things[i].source == end || things[i].target == end))
            ag_buf_text (&expected, "%c%d ", letter, i);
    ag_buf_add (&expected, "", 1);
    ag_buf_add (found, "", 1);
    assert_string_equal ((char *)found->p, (char *)expected.p);
    ag_buf_fini (&expected);
    ag_buf_fini (found);
}

static void
assert_scans (struct core *self, uint64_t run, const struct world *world, uint64_t at)
{
    struct ag_buf found = {0};
    static const char types[] = "tu";
    for (int kind = 0; kind < 2; kind++)
        for (const char *type = types; *type; type++) {
            must (self,
                  ag_state_scan_type (self->journal, core_run (self, run),
                                      kind ? AG_RELATION : AG_OBJECT, (struct ag_str){type, 1}, at,
                                      AG_LIT (""), add_name, &found, &self->err));
            assert_names (kind ? world->relations : world->objects, kind ? 'r' : 'o', *type, -1,
                          &found);
        }
    for (int end = 0; end < THINGS; end++) {
        char name[16];
        snprintf (name, sizeof name, "o%d", end);
        must (self, ag_state_relations (self->journal, core_run (self, run), ag_str (name), at,
                                        AG_LIT (""), add_name, &found, &self->err));
        assert_names (world->relations, 'r', 0, end, &found);
    }
}

static void
assert_world (struct core *self, uint64_t run, const struct world *world, uint64_t at)
{
    struct ag_buf found = {0};
    for (int kind = 0; kind < 2; kind++) {
        must (self,
              ag_state_scan (self->journal, core_run (self, run), kind ? AG_RELATION : AG_OBJECT,
                             at, AG_LIT (""), add_name, &found, &self->err));
        assert_names (kind ? world->relations : world->objects, kind ? 'r' : 'o', 0, -1, &found);
        for (int i = 0; i < THINGS; i++) {
            const struct thing *thing = kind ? &world->relations[i] : &world->objects[i];
            struct ag_entity entity = {0};
            char name[16], data[32];
            snprintf (name, sizeof name, "%c%d", kind ? 'r' : 'o', i);
            snprintf (data, sizeof data, "{'n':%d}", thing->data);
            int rc =
                ag_state_get (self->journal, core_run (self, run), kind ? AG_RELATION : AG_OBJECT,
                              ag_str (name), at, &entity, &self->err);
            assert_int_equal (rc, thing->live);
            if (rc) {
                assert_int_equal (entity.version, thing->version);
                assert_int_equal (entity.type.p[0], thing->type);
                assert_string_equal (json_of (self, entity.data), data);
            }
            ag_entity_fini (&entity);
        }
    }
    assert_scans (self, run, world, at);
}

//  A run, a fork of it in the same file that goes on making its ids again, and a fork that is made here.
static void
a_story (struct core *self, unsigned seed)
{
    struct story *story = ag_xcalloc (1, sizeof *story), *fork = ag_xcalloc (1, sizeof *fork);
    char line[256];
    story->seed = seed;
    ag_buf_text (&story->text, RUN ("a", "'a'", "null", "null"));
    go_on (story, EVENTS);
    *fork = *story;
    fork->text = (struct ag_buf){0};
    fork->tip = EVENTS / 2;
    snprintf (line, sizeof line, RUN ("b", "'b'", "'a'", "'evt_%03d'"), EVENTS / 2);
    ag_buf_text (&fork->text, "%s", line);
    go_on (fork, EVENTS);
    ag_buf_add_str (&story->text, ag_buf_str (&fork->text));
    ag_buf_add (&story->text, "", 1);
    must (self, page (self, 1, (const char *)story->text.p));
    end (self, "");
    core_again (self);
    for (uint64_t at = 1; at <= story->tip; at++)
        assert_world (self, 1, &story->at[at], at);
    for (uint64_t at = 1; at <= fork->tip; at++)
        assert_world (self, 2, &fork->at[at], at);
    for (uint64_t at = 1; at <= fork->tip; at += 7)
        assert_world (self, core_fork_at (self, 2, at), &fork->at[at], AG_NOW);
    core_sound (self, 1);
    core_sound (self, 2);
    ag_buf_fini (&story->text);
    ag_buf_fini (&fork->text);
    free (story);
    free (fork);
}

static void
every_point_of_a_log_that_makes_its_ids_again_is_what_a_plain_replay_gives (void **state)
{
    for (unsigned seed = 1; seed <= 12; seed++) {
        void *own;
        core_open (&own);
        a_story (own, seed);
        core_close (&own);
    }
    (void)state;
}

//  A fork of the file, cut there, has this tail; what does its promote say against that?
static const char *
conflicts_of (struct core *self, const char *cut, const char *tail)
{
    struct ag_run *fork;
    char *text = ag_xprintf ("%s%s{'run_id':'b','label':'f','parent_run_id':'a',"
                             "'forked_at_event_id':'%s','ids':'continue'}\n%s",
                             RUN ("a", "'in'", "null", "null"),
                             STORY UNLINKED ("evt_006", "rel_001"), cut, tail);
    must (self, page (self, 1, text));
    end (self, "");
    core_again (self);
    must (self, ag_run_find (self->journal, AG_LIT ("f"), &fork, &self->err));
    free (text);
    return planned (self, fork->number, "conflicts");
}

#define MADE_AGAIN "'detail':'relation rel_001 was made again by the fork"

static void
a_relation_that_the_fork_made_again_is_a_conflict_and_not_half_a_promote (void **state)
{
    const char *conflicts =
        conflicts_of (*state, "evt_005",
                      UNLINKED ("evt_006", "rel_001")
                          LINK ("evt_007", "rel_001", "on", "task#2", "task#1", "{}"));
    assert_non_null (strstr (conflicts, MADE_AGAIN));
}

static void
an_id_that_the_parent_had_removed_before_the_cut_cannot_come_back_by_a_promote (void **state)
{
    const char *conflicts = conflicts_of (
        *state, "evt_006", LINK ("evt_007", "rel_001", "on", "task#1", "task#2", "{}"));
    assert_non_null (strstr (conflicts, MADE_AGAIN));
}

static void
an_object_that_the_fork_made_again_of_its_type_is_patched (void **state)
{
    assert_string_equal (conflicts_of (*state, "evt_006",
                                       REMOVED ("evt_007", "task#1")
                                           OBJECT ("evt_008", "task#1", "{'of':'fork'}")),
                         "[]");
}

static void
an_object_that_the_fork_made_again_of_another_type_is_a_conflict (void **state)
{
    const char *conflicts = conflicts_of (
        *state, "evt_006",
        REMOVED ("evt_007", "task#1")
            EVENT ("evt_008", "object.created",
                   "{'object':{'id':'task#1','type':'note','data':{},'version':1,'provenance':{}},"
                   "'id':'task#1'}",
                   "null"));
    assert_non_null (strstr (conflicts, "'detail':'object task#1 was made again"));
}

//  What is new in both runs since the cut is unknown to neither when its id is an old one.
static void
a_diff_sees_what_an_id_named_before_it_was_made_again (void **state)
{
    struct core *self = *state;
    struct ag_buf out = {0};
    uint64_t run = import (self, STORY UNLINKED ("evt_006", "rel_001")
                                     LINK ("evt_007", "rel_001", "by", "task#2", "task#1", "{}"));
    uint64_t fork = core_fork_at (self, run, 5);
    must (self, ag_diff (self->journal, core_run (self, run), AG_NOW, core_run (self, fork), AG_NOW,
                         &(struct ag_diff_page){0}, &out, &self->err));
    const char *text = json_of (self, ag_buf_str (&out));
    assert_non_null (strstr (text, "'type':'by'"));
    assert_non_null (strstr (text, "'type':'on'"));
    ag_buf_fini (&out);
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (what_is_made_over_what_is_there_takes_its_place_and_is_named),
        core_test (a_relation_that_a_promote_of_the_reference_made_again_is_kept_and_named),
        core_test (every_point_of_a_log_that_makes_its_ids_again_is_what_a_plain_replay_gives),
        core_test (a_relation_that_the_fork_made_again_is_a_conflict_and_not_half_a_promote),
        core_test (an_id_that_the_parent_had_removed_before_the_cut_cannot_come_back_by_a_promote),
        core_test (an_object_that_the_fork_made_again_of_its_type_is_patched),
        core_test (an_object_that_the_fork_made_again_of_another_type_is_a_conflict),
        core_test (a_diff_sees_what_an_id_named_before_it_was_made_again),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
