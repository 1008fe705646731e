//  SPDX-License-Identifier: Apache-2.0
/*  160 scenarios of applies, forks and promotes whose results come from a naive model that keeps whole
 *  states; AG_CASES names the file. Each line is {"seed", "steps"}; all run in one store, one root
 *  run each.
 */
#include "common/tree.h"
#include "supervisor/core_graph_test.h"

#include <unistd.h>

enum { RUNS = 64, SCENARIOS = 160 };

//  When everything in memory is forgotten, and when the store is closed too.
struct mode {
    int forget_every; //  steps; 0: never
    int close_every;
};

struct scenario {
    struct core *core;
    struct ag_str names[RUNS]; //  as the steps call the runs
    uint64_t runs[RUNS];
    int count;
    uint64_t seed;
    uint32_t step;
};

static uint64_t
run_called (struct scenario *self, struct ag_str name)
{
    for (int i = 0; i < self->count; i++)
        if (ag_str_eq (self->names[i], name))
            return self->runs[i];
    fail_msg ("seed %u step %u: no run %.*s", (unsigned)self->seed, self->step, AG_STR_ARG (name));
    return 0;
}

static struct ag_str
text (struct ag_str map, const char *key)
{
    struct ag_str value;
    assert_int_equal (ag_map_text (map, key, &value), 0);
    return value;
}

static struct ag_str
part (struct ag_str map, const char *key)
{
    struct ag_str value;
    assert_int_equal (ag_map_get (map, key, &value), 0);
    return value;
}

static void
assert_same (struct scenario *self, const char *what, struct ag_str got, struct ag_str wanted)
{
    if (ag_value_equal (got, wanted))
        return;
    char *shown = ag_xstrdup (json_of (self->core, wanted));
    print_error ("wanted %s\ngot    %s\n", shown, json_of (self->core, got));
    free (shown);
    fail_msg ("seed %u step %u: %s", (unsigned)self->seed, self->step, what);
}

static void
do_apply (struct scenario *self, struct ag_str step)
{
    struct ag_author author = {.actor = AG_LIT ("user")};
    struct ag_applied applied = {0};
    struct ag_run *run = core_run (self->core, run_called (self, text (step, "run")));
    must (self->core, ag_operations_apply (self->core->journal, run, part (step, "ops"), &author,
                                           &applied, &self->core->err));
    ag_applied_fini (&applied);
}

static void
do_fork (struct scenario *self, struct ag_str step)
{
    assert_true (self->count < RUNS);
    self->names[self->count] = text (step, "as");
    self->runs[self->count++] = core_fork (self->core, run_called (self, text (step, "of")));
}

//  [{kind, entity, id}] of the conflicts that the plan has written.
static void
brief_conflicts (struct ag_str conflicts, struct ag_buf *out)
{
    struct ag_cursor in = ag_cursor (conflicts);
    struct ag_head head;
    struct ag_str conflict;
    assert_int_equal (ag_next (&in, &head), 0);
    ag_put_list (out, head.count);
    for (uint32_t i = 0; i < head.count; i++) {
        assert_int_equal (ag_take (&in, &conflict), 0);
        ag_put_map (out, 3);
        static const char *const keys[] = {"kind", "entity", "id"};
        for (int key = 0; key < 3; key++) {
            ag_put_lit (out, keys[key]);
            ag_put_text (out, text (conflict, keys[key]));
        }
    }
}

static void
do_promote (struct scenario *self, struct ag_str step)
{
    static const char *const lists[] = {"object_creates", "object_patches", "object_removes",
                                        "relation_creates", "relation_removes"};
    struct core *core = self->core;
    struct ag_buf written = {0}, conflicts = {0};
    struct ag_str expect = part (step, "expect");
    struct ag_run *fork = core_run (core, run_called (self, text (step, "fork")));
    ag_plan_t *plan = ag_promote_plan (core->journal, fork, 0, &core->err);
    assert_non_null (plan);
    ag_plan_write (plan, true, &written);
    for (int i = 0; i < 5; i++)
        assert_same (self, lists[i], part (ag_buf_str (&written), lists[i]),
                     part (expect, lists[i]));
    brief_conflicts (part (ag_buf_str (&written), "conflicts"), &conflicts);
    assert_same (self, "conflicts", ag_buf_str (&conflicts), part (expect, "conflicts"));

    uint64_t tip = core_tip (core, fork->parent);
    int rc = ag_promote_apply (core->journal, plan, &core->err);
    assert_int_equal (rc, ag_plan_is_promotable (plan) ? 0 : -1);
    if (rc)
        assert_int_equal (core_tip (core, fork->parent), tip);
    ag_plan_destroy (&plan);
    ag_buf_fini (&written);
    ag_buf_fini (&conflicts);
}

struct listing {
    struct scenario *scenario;
    const struct ag_run *run;
    enum ag_entity_kind kind;
    struct ag_buf out;
    uint32_t count;
};

static void
put (struct ag_buf *out, const char *key, struct ag_str value)
{
    ag_put_lit (out, key);
    ag_put_text (out, value);
}

static bool
list_one (void *arg, struct ag_str id)
{
    struct listing *self = arg;
    struct core *core = self->scenario->core;
    struct ag_entity entity = {0};
    assert_int_equal (
        ag_state_get (core->journal, self->run, self->kind, id, AG_NOW, &entity, &core->err), 1);
    bool relation = self->kind == AG_RELATION;
    ag_put_map (&self->out, relation ? 5 : 3);
    put (&self->out, "id", entity.id);
    put (&self->out, "type", entity.type);
    if (relation) {
        put (&self->out, "source", entity.source);
        put (&self->out, "target", entity.target);
    }
    ag_put_lit (&self->out, "data");
    ag_put_value (&self->out, entity.data);
    self->count++;
    ag_entity_fini (&entity);
    return true;
}

static void
assert_state (struct scenario *self, uint64_t run, enum ag_entity_kind kind, struct ag_str wanted)
{
    struct core *core = self->core;
    struct listing list = {self, core_run (core, run), kind, {0}, 0};
    size_t head = ag_open_list (&list.out);
    must (core, ag_state_scan (core->journal, list.run, kind, AG_NOW, AG_LIT (""), list_one, &list,
                               &core->err));
    ag_close (&list.out, head, list.count);
    assert_same (self, kind == AG_OBJECT ? "objects" : "relations", ag_buf_str (&list.out), wanted);
    ag_buf_fini (&list.out);
}

static void
do_state (struct scenario *self, struct ag_str step)
{
    uint64_t run = run_called (self, text (step, "run"));
    struct ag_str expect = part (step, "expect");
    assert_state (self, run, AG_OBJECT, part (expect, "objects"));
    assert_state (self, run, AG_RELATION, part (expect, "relations"));
}

static void
do_step (struct scenario *self, struct ag_str step)
{
    static const struct {
        const char *name;
        void (*run) (struct scenario *self, struct ag_str step);
    } rows[] = {
        {"apply", do_apply}, {"fork", do_fork}, {"promote", do_promote}, {"state", do_state}};
    struct ag_str name = text (step, "do");
    for (int i = 0; i < 4; i++)
        if (ag_str_is (name, rows[i].name)) {
            rows[i].run (self, step);
            return;
        }
    fail_msg ("unknown step %.*s", AG_STR_ARG (name));
}

/*  The stores  */

struct place {
    char dir[64];
    bool on_disk;
};

static void
open_store (struct core *core, const struct place *place)
{
    core->store =
        place->on_disk ? ag_store_rocks_new (place->dir, &core->err) : ag_store_memory_new();
    assert_non_null (core->store);
    core_begin (core);
}

static void
close_store (struct core *core)
{
    core_commit (core);
    ag_journal_destroy (&core->journal);
    ag_store_destroy (&core->store);
}

static void
between_steps (struct core *core, const struct place *place, struct mode mode, uint32_t steps)
{
    if (mode.close_every && steps % (unsigned)mode.close_every == 0) {
        close_store (core);
        open_store (core, place);
    } else if (mode.forget_every && steps % (unsigned)mode.forget_every == 0) {
        core_again (core);
    }
}

static uint32_t
run_line (struct core *core, const struct place *place, struct mode mode, struct ag_str line,
          uint32_t steps)
{
    struct ag_buf value = {0};
    must (core, ag_json_read (line, &value, &core->err));
    struct scenario self = {.core = core, .names = {AG_LIT ("p")}, .count = 1};
    self.runs[0] = core_root (core, "");
    assert_int_equal (ag_map_uint (ag_buf_str (&value), "seed", &self.seed), 0);

    struct ag_cursor in = ag_cursor (part (ag_buf_str (&value), "steps"));
    struct ag_head head;
    struct ag_str step;
    assert_int_equal (ag_next (&in, &head), 0);
    for (self.step = 1; self.step <= head.count; self.step++) {
        assert_int_equal (ag_take (&in, &step), 0);
        do_step (&self, step);
        between_steps (core, place, mode, ++steps);
    }
    ag_buf_fini (&value);
    return steps;
}

static void
run_all (bool on_disk, struct mode mode)
{
    struct place place = {"/tmp/agsup-scenario-XXXXXX", on_disk};
    struct core core = {.time_us = CORE_TIME};
    const char *path = getenv ("AG_CASES");
    FILE *file = path ? fopen (path, "r") : NULL;
    if (path && !file)
        fail_msg ("%s: cannot be read", path);
    if (!file) {
        puts ("skipped: AG_CASES names no file of scenarios");
        skip();
    }
    assert_non_null (mkdtemp (place.dir));
    open_store (&core, &place);

    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    int scenarios = 0;
    uint32_t steps = 0;
    for (; (n = getline (&line, &room, file)) > 0; scenarios++)
        steps = run_line (&core, &place, mode, (struct ag_str){line, (size_t)n}, steps);
    assert_int_equal (scenarios, SCENARIOS);

    close_store (&core);
    ag_buf_fini (&core.text);
    ag_tree_remove (place.dir);
    fclose (file);
    free (line);
}

static void
every_scenario_holds_within_one_turn_in_memory (void **state)
{
    (void)state;
    run_all (false, (struct mode){0});
}

static void
every_scenario_holds_when_all_is_forgotten_between_any_two_steps (void **state)
{
    (void)state;
    run_all (false, (struct mode){.forget_every = 1});
}

static void
every_scenario_holds_on_disk_when_all_is_forgotten_now_and_then (void **state)
{
    (void)state;
    run_all (true, (struct mode){.forget_every = 23, .close_every = 300});
}

int
main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (every_scenario_holds_within_one_turn_in_memory),
        cmocka_unit_test (every_scenario_holds_when_all_is_forgotten_between_any_two_steps),
        cmocka_unit_test (every_scenario_holds_on_disk_when_all_is_forgotten_now_and_then),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
