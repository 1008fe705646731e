//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/core_state_test.h"
#include "supervisor/state_index.h"
#include "supervisor/store_impl.h"

/*  The model: what a graph is, made anew from the events of a lineage by the plainest of means.  */

struct thing {
    enum ag_entity_kind kind;
    struct ag_str id, type, source, target;
    bool live;
    uint64_t version, n, m;
};

struct model {
    struct thing things[600];
    size_t count;
    struct ag_buf text; //  what the texts were copied to; never moved
};

static struct ag_str
keep (struct model *self, struct ag_str map, const char *path)
{
    struct ag_str value;
    struct ag_head head;
    assert_int_equal (ag_map_path (map, ag_str (path), &value), 0);
    struct ag_cursor in = ag_cursor (value);
    assert_int_equal (ag_next (&in, &head), 0);
    char *copy = (char *)self->text.p + self->text.n;
    assert_true (self->text.room - self->text.n > head.s.n);
    ag_buf_add_str (&self->text, head.s);
    return (struct ag_str){copy, head.s.n};
}

static struct thing *
find (struct model *self, enum ag_entity_kind kind, struct ag_str id)
{
    for (size_t i = 0; i < self->count; i++)
        if (self->things[i].kind == kind && ag_str_eq (self->things[i].id, id))
            return &self->things[i];
    fail_msg ("the model does not know %.*s", AG_STR_ARG (id));
    return NULL;
}

static void
set (struct ag_str data, struct thing *thing)
{
    ag_map_uint (data, "n", &thing->n);
    ag_map_uint (data, "m", &thing->m);
}

static void
create (struct model *self, struct ag_str payload, enum ag_entity_kind kind, const char *part)
{
    struct ag_str map, data;
    struct thing *thing = &self->things[self->count++];
    assert_true (self->count < 600);
    assert_int_equal (ag_map_get (payload, part, &map), 0);
    assert_int_equal (ag_map_get (map, "data", &data), 0);
    *thing = (struct thing){
        .kind = kind, .id = keep (self, map, "id"), .type = keep (self, map, "type")};
    thing->live = true;
    thing->version = 1;
    set (data, thing);
    if (kind == AG_OBJECT)
        return;
    thing->source = keep (self, map, "source");
    thing->target = keep (self, map, "target");
}

static bool
replay (void *arg, const struct ag_event *event)
{
    struct model *self = arg;
    struct ag_str data, op;
    if (ag_str_is (event->type, "object.created"))
        create (self, event->payload, AG_OBJECT, "object");
    else if (ag_str_is (event->type, "relation.created"))
        create (self, event->payload, AG_RELATION, "relation");
    else if (ag_str_is (event->type, "object.removed"))
        find (self, AG_OBJECT, keep (self, event->payload, "id"))->live = false;
    else if (ag_str_is (event->type, "relation.removed"))
        find (self, AG_RELATION, keep (self, event->payload, "id"))->live = false;
    else if (ag_str_is (event->type, "patch.applied")) {
        struct thing *thing = find (self, AG_OBJECT, keep (self, event->payload, "target"));
        op = keep (self, event->payload, "patch.op");
        assert_int_equal (ag_map_path (event->payload, AG_LIT ("patch.value"), &data), 0);
        if (ag_str_is (op, "replace"))
            thing->n = thing->m = 0;
        thing->version++;
        set (data, thing);
    }
    return true;
}

static int
by_id (const void *a, const void *b)
{
    return ag_str_cmp (((const struct thing *)a)->id, ((const struct thing *)b)->id);
}

static void
model_make (struct model *self, struct core *core, uint64_t run, uint64_t at)
{
    self->count = 0;
    if (!self->text.p)
        ag_buf_grow (&self->text, 4 << 20);
    self->text.n = 0;
    must (core,
          ag_journal_scan (core->journal, core_run (core, run), 0, at, replay, self, &core->err));
    qsort (self->things, self->count, sizeof *self->things, by_id);
}

/*  The history: random operations on a small tree of forks  */

enum { RUNS = 7, STEPS = 500 };

struct history {
    struct core *core;
    struct model *model;
    uint64_t seed;
    uint64_t runs[RUNS];
    unsigned count;
};

static unsigned
chance (struct history *self, unsigned n)
{
    self->seed = self->seed * UINT64_C (6364136223846793005) + UINT64_C (1442695040888963407);
    return (unsigned)(self->seed >> 33) % n;
}

//  Some live thing of a kind, or NULL.
static const struct thing *
some (struct history *self, enum ag_entity_kind kind)
{
    for (int tries = 0; tries < 20 && self->model->count; tries++) {
        const struct thing *thing =
            &self->model->things[chance (self, (unsigned)self->model->count)];
        if (thing->kind == kind && thing->live)
            return thing;
    }
    return NULL;
}

static char *
some_operation (struct history *self)
{
    const struct thing *object = some (self, AG_OBJECT), *other = some (self, AG_OBJECT);
    const struct thing *relation = some (self, AG_RELATION);
    unsigned dice = chance (self, 12), n = chance (self, 1000);
    if (dice < 3 || !object)
        return ag_xprintf ("[{'op':'add_object','type':'%s','data':{'n':%u}}]", n % 3 ? "a" : "ab",
                           n);
    if (dice < 7)
        return ag_xprintf ("[{'op':'%s_object','id':'%.*s','data':{'%s':%u}}]",
                           n % 5 ? "patch" : "replace", AG_STR_ARG (object->id), n % 2 ? "n" : "m",
                           n);
    if (dice < 10 && other)
        return ag_xprintf ("[{'op':'add_relation','source':'%.*s','target':'%.*s','type':'%s'}]",
                           AG_STR_ARG (object->id), AG_STR_ARG (other->id), n % 2 ? "r" : "s");
    if (dice < 11 && relation)
        return ag_xprintf ("[{'op':'remove_relation','id':'%.*s'}]", AG_STR_ARG (relation->id));
    return ag_xprintf ("[{'op':'remove_object','id':'%.*s'}]", AG_STR_ARG (object->id));
}

static void
some_step (struct history *self)
{
    uint64_t run = self->runs[chance (self, self->count)];
    uint64_t tip = core_tip (self->core, run);
    if (self->count < RUNS && chance (self, 40) == 0 && tip) {
        self->runs[self->count++] =
            core_fork_at (self->core, run, 1 + chance (self, (unsigned)tip));
        return;
    }
    model_make (self->model, self->core, run, AG_NOW);
    char *ops = some_operation (self);
    core_apply (self->core, run, ops);
    free (ops);
    if (chance (self, 10) == 0)
        core_again (self->core);
}

/*  The comparison  */

struct check {
    struct history *history;
    const struct ag_run *run;
    uint64_t at;
    enum ag_entity_kind kind;
    struct ag_str type, object; //  only these; empty: all
    size_t next;                //  thing of the model
};

static bool
wanted (const struct check *self, const struct thing *thing)
{
    return thing->live && thing->kind == self->kind &&
           (!self->type.n || ag_str_eq (thing->type, self->type)) &&
           (!self->object.n || ag_str_eq (thing->source, self->object) ||
            ag_str_eq (thing->target, self->object));
}

static const struct thing *
next_wanted (struct check *self)
{
    struct model *model = self->history->model;
    while (self->next < model->count && !wanted (self, &model->things[self->next]))
        self->next++;
    return self->next < model->count ? &model->things[self->next++] : NULL;
}

static bool
check_id (void *arg, struct ag_str id)
{
    struct check *self = arg;
    struct core *core = self->history->core;
    const struct thing *thing = next_wanted (self);
    struct ag_entity entity = {0};
    uint64_t n = 0, m = 0;
    assert_non_null (thing);
    assert_true (ag_str_eq (thing->id, id));
    assert_int_equal (
        ag_state_get (core->journal, self->run, self->kind, id, self->at, &entity, &core->err), 1);
    ag_map_uint (entity.data, "n", &n);
    ag_map_uint (entity.data, "m", &m);
    assert_true (ag_str_eq (entity.type, thing->type));
    assert_true (ag_str_eq (entity.source, thing->source));
    assert_true (ag_str_eq (entity.target, thing->target));
    assert_int_equal (entity.version, thing->version);
    assert_int_equal (n, thing->n);
    assert_int_equal (m, thing->m);
    ag_entity_fini (&entity);
    return true;
}

static void
check_scan (struct check *self)
{
    struct core *core = self->history->core;
    struct ag_str none = AG_LIT ("");
    self->next = 0;
    if (self->object.n)
        must (core, ag_state_relations (core->journal, self->run, self->object, self->at, none,
                                        check_id, self, &core->err));
    else if (self->type.n)
        must (core, ag_state_scan_type (core->journal, self->run, self->kind, self->type, self->at,
                                        none, check_id, self, &core->err));
    else
        must (core, ag_state_scan (core->journal, self->run, self->kind, self->at, none, check_id,
                                   self, &core->err));
    assert_null (next_wanted (self));
}

static void
check_point (struct history *self, uint64_t run, uint64_t at)
{
    static const char *const types[] = {"a", "ab", "r", "s", "never"};
    struct check check = {.history = self, .run = core_run (self->core, run), .at = at};
    model_make (self->model, self->core, run, at);
    for (int relation = 0; relation < 2; relation++) {
        check.kind = relation ? AG_RELATION : AG_OBJECT;
        check.type = check.object = (struct ag_str){0};
        check_scan (&check);
        for (int i = 0; i < 5; i++) {
            check.type = ag_str (types[i]);
            check_scan (&check);
        }
    }
    check.type = (struct ag_str){0};
    for (size_t i = 0; i < self->model->count; i += 3) {
        check.object = self->model->things[i].id;
        check_scan (&check);
    }
}

static void
every_scan_at_every_kind_of_point_agrees_with_a_plain_replay (void **state)
{
    struct history self = {.core = *state, .model = ag_xcalloc (1, sizeof *self.model)};
    for (uint64_t seed = 1; seed <= 3; seed++) {
        self.seed = seed;
        self.count = 1;
        self.runs[0] = core_root (self.core, "");
        for (int step = 0; step < STEPS / 3; step++)
            some_step (&self);
        for (unsigned i = 0; i < self.count; i++) {
            uint64_t tip = core_tip (self.core, self.runs[i]);
            check_point (&self, self.runs[i], AG_NOW);
            check_point (&self, self.runs[i], tip);
            for (int point = 0; point < 5; point++)
                check_point (&self, self.runs[i], 1 + chance (&self, (unsigned)tip));
        }
    }
    ag_buf_fini (&self.model->text);
    free (self.model);
}

/*  Pages, edges, hands that are not ours  */

struct page {
    struct ag_buf text;
    int limit;
};

static bool
take_id (void *arg, struct ag_str id)
{
    struct page *page = arg;
    ag_buf_text (&page->text, "%.*s ", AG_STR_ARG (id));
    return --page->limit > 0;
}

static void
a_scan_goes_on_behind_any_id (void **state)
{
    struct core *self = *state;
    struct page page = {.limit = 2};
    uint64_t run = core_root (self, "p");
    core_apply (
        self, run,
        "[{'op':'add_object','type':'t','id':'a'},{'op':'add_object','type':'t','id':'a.b'},"
        " {'op':'add_object','type':'t','id':'ab'},{'op':'add_object','type':'t','id':'b'}]");
    uint64_t fork = core_fork (self, run);
    core_apply (self, fork, "[{'op':'remove_object','id':'ab'},{'op':'add_object','type':'t'}]");
    const struct ag_run *at = core_run (self, fork);
    must (self, ag_state_scan (self->journal, at, AG_OBJECT, AG_NOW, AG_LIT (""), take_id, &page,
                               &self->err));
    page.limit = 2;
    must (self, ag_state_scan (self->journal, at, AG_OBJECT, AG_NOW, AG_LIT ("a.b"), take_id, &page,
                               &self->err));
    page.limit = 9;
    must (self, ag_state_scan_type (self->journal, at, AG_OBJECT, AG_LIT ("t"), AG_NOW,
                                    AG_LIT ("aa"), take_id, &page, &self->err));
    ag_buf_add (&page.text, "", 1);
    assert_string_equal ((char *)page.text.p, "a a.b b t#r2.1 b t#r2.1 ");
    ag_buf_fini (&page.text);
}

static void
names_that_can_be_none_are_not_found_and_harm_nothing (void **state)
{
    struct core *self = *state;
    char long_id[400];
    memset (long_id, 'x', sizeof long_id);
    struct ag_str ids[] = {AG_LIT (""), {long_id, 257}, {long_id, 400}, {"a\0b", 3}, AG_LIT ("@a")};
    uint64_t run = core_root (self, "p");
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        struct ag_entity entity = {0};
        struct page page = {.limit = 1};
        assert_int_equal (ag_state_get (self->journal, core_run (self, run), AG_OBJECT, ids[i],
                                        AG_NOW, &entity, &self->err),
                          0);
        must (self, ag_state_relations (self->journal, core_run (self, run), ids[i], AG_NOW,
                                        AG_LIT (""), take_id, &page, &self->err));
        must (self, ag_state_scan_type (self->journal, core_run (self, run), AG_OBJECT, ids[i],
                                        AG_NOW, AG_LIT (""), take_id, &page, &self->err));
        assert_int_equal (page.text.n, 0);
        ag_entity_fini (&entity);
    }
}

static void
an_entity_is_shown_with_where_it_comes_from (void **state)
{
    struct core *self = *state;
    struct ag_entity entity = {0};
    struct ag_buf out = {0};
    uint64_t run = core_root (self, "p");
    core_apply (self, run,
                "[{'op':'add_object','type':'t','id':'x','data':{'n':1}},"
                " {'op':'add_relation','source':'x','target':'x','type':'r','data':{'w':2}}]");
    uint64_t fork = core_fork (self, run);
    core_apply (self, fork, "[{'op':'patch_object','id':'x','data':{'n':2}}]");
    core_again (self);
    assert_int_equal (ag_state_get (self->journal, core_run (self, fork), AG_OBJECT, AG_LIT ("x"),
                                    AG_NOW, &entity, &self->err),
                      1);
    ag_entity_write (&entity, &out);
    assert_string_equal (
        json_of (self, ag_buf_str (&out)),
        "{'id':'x','type':'t','data':{'n':2},'version':2,'provenance':{'created_by':'user',"
        "'caused_by_event':null,'frame_id':null,'timestamp':'2026-01-01T00:00:00.000000Z',"
        "'evidence':[],'run_id':'r1'}}");
    ag_buf_clear (&out);
    assert_int_equal (ag_state_get (self->journal, core_run (self, fork), AG_RELATION,
                                    AG_LIT ("rel_001"), AG_NOW, &entity, &self->err),
                      1);
    ag_entity_write (&entity, &out);
    assert_non_null (strstr (json_of (self, ag_buf_str (&out)),
                             "{'id':'rel_001','source':'x','target':'x','type':'r',"
                             "'data':{'w':2},'provenance':{"));
    ag_entity_fini (&entity);
    ag_buf_fini (&out);
}

//  The tip of x in the run, read through whatever remembers it: "absent", or its data.
static void
assert_x (struct core *self, uint64_t run, const char *expected)
{
    struct ag_tip tip = {0};
    struct ag_buf data = {0};
    int rc = ag_state_tip (self->journal, core_run (self, run), AG_OBJECT, AG_LIT ("x"), AG_NOW,
                           &tip, &self->err);
    assert_true (rc >= 0);
    if (rc > 0 && tip.live) {
        must (self,
              ag_state_data (self->journal, AG_OBJECT, AG_LIT ("x"), &tip, &data, &self->err));
        assert_string_equal (json_of (self, ag_buf_str (&data)), expected);
    } else {
        assert_string_equal ("absent", expected);
    }
    ag_tip_fini (&tip);
    ag_buf_fini (&data);
}

static const char *const changes[] = {
    "[{'op':'add_object','type':'t','id':'x','data':{'n':1}}]",
    "[{'op':'patch_object','id':'x','data':{'n':2}}]",
    "[{'op':'remove_object','id':'x'}]",
};
static const char *const become[] = {"absent", "{'n':1}", "{'n':2}", "absent"};

static void
what_a_request_took_back_is_not_remembered (void **state)
{
    struct core *self = *state;
    uint64_t run = core_root (self, "c");
    for (int i = 0; i < 3; i++) {
        assert_x (self, run, become[i]);
        struct ag_mark mark = ag_journal_mark (self->journal);
        core_apply (self, run, changes[i]);
        assert_x (self, run, become[i + 1]);
        ag_journal_rollback (self->journal, &mark);
        assert_x (self, run, become[i]);
        core_apply (self, run, changes[i]);
        core_commit (self);
    }
    assert_x (self, run, "absent");
}

static int
lose (ag_store_t *store, const struct ag_write *writes, size_t count, struct ag_err *err)
{
    (void)store, (void)writes, (void)count;
    return ag_fail (err, AG_E_STORE, "the write is lost");
}

static void
what_was_not_written_is_not_remembered (void **state)
{
    struct core *self = *state;
    const struct ag_store_ops *whole = self->store->ops;
    struct ag_store_ops losing = *whole;
    losing.write = lose;
    uint64_t run = core_root (self, "w");
    core_commit (self);
    for (int i = 0; i < 3; i++) {
        core_apply (self, run, changes[i]);
        self->store->ops = &losing;
        refuses (self, ag_journal_commit (self->journal, &self->err), AG_E_STORE, "lost");
        self->store->ops = whole;
        assert_x (self, run, become[i]);
        core_apply (self, run, changes[i]);
        core_commit (self);
    }
    assert_x (self, run, "absent");
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        core_test (every_scan_at_every_kind_of_point_agrees_with_a_plain_replay),
        core_test (a_scan_goes_on_behind_any_id),
        core_test (names_that_can_be_none_are_not_found_and_harm_nothing),
        core_test (an_entity_is_shown_with_where_it_comes_from),
        core_test (what_a_request_took_back_is_not_remembered),
        core_test (what_was_not_written_is_not_remembered),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
