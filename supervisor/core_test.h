/*  core_test - a store with a journal for tests: operations and values are written as JSON.
 *
 *  The clock stands still at 2026-01-01T00:00:00Z unless a test moves it.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_CORE_TEST_H
#define AG_CORE_TEST_H
#include "common/json.h"
#include "supervisor/diff.h"
#include "supervisor/fork.h"
#include "supervisor/operation.h"
#include "supervisor/promote.h"
#include "supervisor/state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CORE_TIME UINT64_C (1767225600000000)

struct core {
    ag_store_t *store;
    ag_journal_t *journal;
    uint64_t time_us;
    struct ag_err err;
    struct ag_buf text; //  what the last `json_of` or `value_of` gave
};

static inline uint64_t
core_clock (void *arg)
{
    return ((struct core *)arg)->time_us;
}

static inline void
core_begin (struct core *self)
{
    self->journal = ag_journal_new (self->store, &self->err);
    assert_non_null (self->journal);
    ag_journal_set_clock (self->journal, core_clock, self);
}

static inline int
core_open (void **state)
{
    struct core *self = ag_xcalloc (1, sizeof *self);
    self->store = ag_store_memory_new();
    self->time_us = CORE_TIME;
    core_begin (self);
    *state = self;
    return 0;
}

static inline int
core_close (void **state)
{
    struct core *self = *state;
    ag_journal_destroy (&self->journal);
    ag_store_destroy (&self->store);
    ag_buf_fini (&self->text);
    free (self);
    return 0;
}

#define core_test(name) cmocka_unit_test_setup_teardown (name, core_open, core_close)

//  The call succeeded; else the test ends with its error.
#define must(self, call)                                                                           \
    do {                                                                                           \
        (self)->err.text[0] = 0;                                                                   \
        if (call)                                                                                  \
            fail_msg ("%s", (self)->err.text);                                                     \
    } while (0)

//  The call failed with this code, and its text says so.
#define refuses(self, call, expected, says)                                                        \
    do {                                                                                           \
        assert_int_equal ((call), -1);                                                             \
        assert_string_equal (ag_code_name ((self)->err.code), ag_code_name (expected));            \
        if (!strstr ((self)->err.text, says))                                                      \
            fail_msg ("`%s` does not say `%s`", (self)->err.text, says);                           \
    } while (0)

static inline void
core_commit (struct core *self)
{
    must (self, ag_journal_commit (self->journal, &self->err));
}

//  Everything in memory is forgotten and read from the store again.
static inline void
core_again (struct core *self)
{
    core_commit (self);
    ag_journal_destroy (&self->journal);
    core_begin (self);
}

//  A run with no more than a label (or none); its number.
static inline uint64_t
core_root (struct core *self, const char *label)
{
    struct ag_run *run;
    struct ag_birth birth = {.label = ag_str (label)};
    must (self, ag_run_create (self->journal, &birth, &run, &self->err));
    return run->number;
}

static inline struct ag_run *
core_run (struct core *self, uint64_t number)
{
    struct ag_run *run;
    must (self, ag_run_get (self->journal, number, &run, &self->err));
    return run;
}

static inline uint64_t
core_tip (struct core *self, uint64_t number)
{
    return core_run (self, number)->head.tip;
}

static inline uint64_t
core_fork_at (struct core *self, uint64_t parent, uint64_t at)
{
    struct ag_run *fork;
    struct ag_birth birth = {.kind = AG_FORK};
    must (self, ag_fork (self->journal, core_run (self, parent), at, &birth, &fork, &self->err));
    return fork->number;
}

static inline uint64_t
core_fork (struct core *self, uint64_t parent)
{
    return core_fork_at (self, parent, core_tip (self, parent));
}

//  JSON with ' for " as a value; the caller frees it.
static inline struct ag_buf
value_of (struct core *self, const char *json)
{
    struct ag_buf out = {0};
    char *text = ag_xstrdup (json);
    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    must (self, ag_json_read (ag_str (text), &out, &self->err));
    free (text);
    return out;
}

//  A value as JSON with ' for "; lives until the next call.
static inline const char *
json_of (struct core *self, struct ag_str value)
{
    ag_buf_clear (&self->text);
    ag_json_write (value, AG_JSON_LINE, &self->text);
    ag_buf_add (&self->text, "", 1);
    for (char *c = (char *)self->text.p; *c; c++)
        if (*c == '"')
            *c = '\'';
    return (const char *)self->text.p;
}

//  Apply a JSON list of operations as the actor `user`; 0 or -1 with the error.
static inline int
core_try (struct core *self, uint64_t run, const char *ops)
{
    struct ag_buf list = value_of (self, ops);
    struct ag_author author = {.actor = AG_LIT ("user")};
    struct ag_applied applied = {0};
    int rc = ag_operations_apply (self->journal, core_run (self, run), ag_buf_str (&list), &author,
                                  &applied, &self->err);
    ag_applied_fini (&applied);
    ag_buf_fini (&list);
    return rc;
}

static inline void
core_apply (struct core *self, uint64_t run, const char *ops)
{
    must (self, core_try (self, run, ops));
}

//  Append an event that no operation may make.
static inline uint64_t
core_append (struct core *self, uint64_t run, const char *type, const char *payload)
{
    uint64_t seq;
    struct ag_buf value = value_of (self, payload);
    struct ag_draft draft = {
        .type = ag_str (type), .payload = ag_buf_str (&value), .actor = AG_LIT ("runtime")};
    must (self, ag_journal_append (self->journal, core_run (self, run), &draft, &seq, &self->err));
    ag_buf_fini (&value);
    return seq;
}

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
#endif
