//  A plan held against the types that are in force in the parent: canonical, or listed.
//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/declared.h"
#include "supervisor/plan.h"

#include <stdlib.h>

enum { VIOLATIONS = 100 }; //  kept of one promote; the rest is counted

struct fitter {
    ag_journal_t *journal;
    const struct ag_run *parent;
    ag_plan_t *plan;
    struct ag_declared declared;
    const struct ag_delta *delta; //  that is looked at
    struct ag_buf fitted;
    struct ag_err *err;
};

static void
add_violation (void *arg, const struct ag_toml_path *path, const char *what)
{
    struct fitter *self = arg;
    ag_plan_t *plan = self->plan;
    struct ag_buf text = {0};
    if (plan->violation_count++ >= VIOLATIONS)
        return;
    if (!plan->violations)
        plan->violations = ag_xcalloc (VIOLATIONS, sizeof *plan->violations);
    ag_toml_path_text (path, &text);
    plan->violations[plan->violation_count - 1] = (struct ag_violation){
        self->delta->id, self->delta->type, ag_plan_keep (plan, ag_buf_str (&text)),
        ag_plan_keep (plan, ag_str (what))};
    ag_buf_fini (&text);
}

static void
fit (struct fitter *self, enum ag_entity_kind kind, struct ag_delta *delta)
{
    self->delta = delta;
    if (ag_declared_look (&self->declared, kind, delta->type, delta->data, &self->fitted,
                          add_violation, self) > 0 &&
        !ag_str_eq (delta->data, ag_buf_str (&self->fitted)))
        delta->data = ag_plan_keep (self->plan, ag_buf_str (&self->fitted));
}

static void
fit_all (struct fitter *self, enum ag_entity_kind kind, struct ag_deltas *list)
{
    for (size_t i = 0; i < list->count; i++)
        fit (self, kind, &list->rows[i]);
}

static int
by_id (const void *a, const void *b)
{
    return ag_str_cmp (((const struct ag_delta *)a)->id, ((const struct ag_delta *)b)->id);
}

//  The type of an end: of what comes along, or else of what the parent has. 1, 0 when it is nowhere (a conflict
//  already), -1.
static int
type_of (struct fitter *self, struct ag_str id, struct ag_tip *tip, struct ag_str *type)
{
    const struct ag_deltas *made = &self->plan->object_creates;
    const struct ag_delta key = {.id = id};
    const struct ag_delta *found =
        made->count ? bsearch (&key, made->rows, made->count, sizeof *made->rows, by_id) : NULL;
    int rc =
        found ? 1
              : ag_state_tip (self->journal, self->parent, AG_OBJECT, id, AG_NOW, tip, self->err);
    if (rc > 0)
        *type = found ? found->type : tip->type;
    return rc;
}

static int
fit_ends (struct fitter *self, const struct ag_delta *delta)
{
    struct ag_tip from = {0}, to = {0};
    struct ag_str source = {0}, target = {0};
    int rc = type_of (self, delta->source, &from, &source);
    if (rc > 0)
        rc = type_of (self, delta->target, &to, &target);
    self->delta = delta;
    if (rc > 0)
        ag_declared_look_ends (&self->declared, delta->type, source, target, add_violation, self);
    ag_tip_fini (&from);
    ag_tip_fini (&to);
    return rc < 0 ? -1 : 0;
}

size_t
ag_plan_listed (const ag_plan_t *self)
{
    return self->violation_count < VIOLATIONS ? self->violation_count : VIOLATIONS;
}

int
ag_plan_fit (ag_journal_t *journal, const struct ag_run *parent, ag_plan_t *plan,
             struct ag_err *err)
{
    struct fitter self = {.journal = journal, .parent = parent, .plan = plan, .err = err};
    int rc = ag_declared_read (journal, parent, parent->head.tip, &self.declared, err);
    if (!rc && self.declared.count) {
        fit_all (&self, AG_OBJECT, &plan->object_creates);
        fit_all (&self, AG_OBJECT, &plan->object_patches);
        fit_all (&self, AG_RELATION, &plan->relation_creates);
        for (size_t i = 0; !rc && i < plan->relation_creates.count; i++)
            rc = fit_ends (&self, &plan->relation_creates.rows[i]);
    }
    ag_declared_fini (&self.declared);
    ag_buf_fini (&self.fitted);
    return rc;
}
