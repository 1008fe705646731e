/*  core_state_test - the state of a run for tests, as JSON with ' for ".
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_CORE_STATE_TEST_H
#define AG_CORE_STATE_TEST_H
#include "supervisor/core_graph_test.h"

//  {"id": data, ...} of a kind at a point, as JSON with ' for ".
struct core_listing {
    struct core *core;
    const struct ag_run *run;
    enum ag_entity_kind kind;
    uint64_t at;
    struct ag_buf out;
    uint32_t count;
};

static inline bool
core_list_one (void *arg, struct ag_str id)
{
    struct core_listing *list = arg;
    struct ag_entity entity = {0};
    int rc = ag_state_get (list->core->journal, list->run, list->kind, id, list->at, &entity,
                           &list->core->err);
    assert_int_equal (rc, 1);
    ag_put_text (&list->out, id);
    ag_put_value (&list->out, entity.data);
    list->count++;
    ag_entity_fini (&entity);
    return true;
}

static inline const char *
core_state (struct core *self, uint64_t run, enum ag_entity_kind kind, uint64_t at)
{
    struct core_listing list = {self, core_run (self, run), kind, at, {0}, 0};
    size_t head = ag_open_map (&list.out);
    must (self, ag_state_scan (self->journal, list.run, kind, at, AG_LIT (""), core_list_one, &list,
                               &self->err));
    ag_close (&list.out, head, list.count);
    const char *text = json_of (self, ag_buf_str (&list.out));
    ag_buf_fini (&list.out);
    return text;
}

static inline const char *
objects (struct core *self, uint64_t run)
{
    return core_state (self, run, AG_OBJECT, AG_NOW);
}

static inline const char *
relations (struct core *self, uint64_t run)
{
    return core_state (self, run, AG_RELATION, AG_NOW);
}
#endif
