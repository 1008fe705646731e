/*  promote_test - the base that the reference's conformance cases start from, and what they look at.
 *
 *  The numbers of the cases are in the names of the tests; tests/conformance/README has the table.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_PROMOTE_TEST_H
#define AG_PROMOTE_TEST_H
#include "supervisor/core_state_test.h"

#define SET_DONE   "[{'op':'patch_object','id':'task#1','data':{'status':'done'}}]"
#define SET_GONE   "[{'op':'patch_object','id':'task#1','data':{'status':'cancelled'}}]"
#define REMOVE     "[{'op':'remove_object','id':'task#1'}]"
#define NOTE(text) "[{'op':'add_object','type':'note','id':'note#2','data':{'of':'" text "'}}]"

//  A goal was run to idle: evt_003 made task#1, evt_005 is the tip. Run 1, `r1`.
static inline uint64_t
base (struct core *self)
{
    uint64_t run = core_root (self, "p");
    core_append (self, run, "goal.created", "{'goal':'hello'}");
    core_append (self, run, "behavior.started", "{'behavior':'b','event_id':'evt_001'}");
    core_apply (self, run,
                "[{'op':'add_object','type':'task','data':{'title':'base','status':'open'}}]");
    core_append (self, run, "behavior.completed", "{'behavior':'b','event_id':'evt_001'}");
    core_append (self, run, "runtime.idle", "{}");
    assert_int_equal (core_tip (self, run), 5);
    return run;
}

//  The base, and its first fork, `r2`.
static inline uint64_t
base_fork (struct core *self, uint64_t *fork)
{
    uint64_t run = base (self);
    *fork = core_fork (self, run);
    return run;
}

static inline ag_plan_t *
plan_of (struct core *self, uint64_t fork)
{
    ag_plan_t *plan = ag_promote_plan (self->journal, core_run (self, fork), 0, &self->err);
    if (!plan)
        fail_msg ("%s", self->err.text);
    return plan;
}

//  What the plan says under one key, as JSON with ' for ".
static inline const char *
planned (struct core *self, uint64_t fork, const char *key)
{
    struct ag_buf out = {0};
    struct ag_str value;
    ag_plan_t *plan = plan_of (self, fork);
    ag_plan_write (plan, true, &out);
    assert_int_equal (ag_map_get (ag_buf_str (&out), key, &value), 0);
    const char *text = json_of (self, value);
    ag_buf_fini (&out);
    ag_plan_destroy (&plan);
    return text;
}

#define assert_planned(self, fork, key, text) assert_string_equal (planned (self, fork, key), text)

//  Promote; the whole answer lies in *out.
static inline int
promote_into (struct core *self, uint64_t fork, struct ag_buf *out)
{
    ag_plan_t *plan = plan_of (self, fork);
    int rc = ag_promote_apply (self->journal, plan, &self->err);
    if (!rc && out)
        ag_plan_write (plan, false, out);
    ag_plan_destroy (&plan);
    return rc;
}

static inline void
promote (struct core *self, uint64_t fork)
{
    must (self, promote_into (self, fork, NULL));
}

//  "type actor cause flags" of events first..last, one after the other.
static inline void
assert_log (struct core *self, uint64_t run, uint64_t first, const char *const *lines)
{
    struct ag_buf hold = {0};
    struct ag_event event;
    char text[200];
    for (uint64_t seq = first; *lines; seq++, lines++) {
        must (self, ag_journal_read (self->journal, core_run (self, run), seq, &hold, &event,
                                     &self->err));
        snprintf (text, sizeof text, "%.*s %.*s %u %u", AG_STR_ARG (event.type),
                  AG_STR_ARG (event.actor), (unsigned)event.cause, event.flags);
        assert_string_equal (text, *lines);
    }
    ag_buf_fini (&hold);
}

static inline const char *
payload_of (struct core *self, uint64_t run, uint64_t seq)
{
    struct ag_buf hold = {0};
    struct ag_event event;
    must (self,
          ag_journal_read (self->journal, core_run (self, run), seq, &hold, &event, &self->err));
    const char *text = json_of (self, event.payload);
    ag_buf_fini (&hold);
    return text;
}

static inline int
try_cut (struct core *self, uint64_t run, uint64_t at)
{
    return ag_fork_check (self->journal, core_run (self, run), at, &self->err);
}
#endif
