/*  core_graph_test - runs, forks and operations for tests; values are written as JSON with ' for ".
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_CORE_GRAPH_TEST_H
#define AG_CORE_GRAPH_TEST_H
#include "supervisor/core_test.h"

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
#endif
