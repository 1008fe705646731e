//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/frame.h"
#include "supervisor/record.h"

static void
name_note (struct ag_str id, struct ag_buf *name)
{
    ag_buf_text (name, "frame/%.*s", AG_STR_ARG (id));
}

static int
check_list (const char *what, struct ag_str list, struct ag_err *err)
{
    struct ag_cursor in = ag_cursor (list);
    struct ag_head head, text;
    if (!list.p)
        return 0;
    if (ag_next (&in, &head) || head.kind != AG_LIST)
        return ag_fail (err, AG_E_USAGE, "%s is a list of texts", what);
    for (uint32_t i = 0; i < head.count; i++)
        if (ag_next (&in, &text) || text.kind != AG_TEXT)
            return ag_fail (err, AG_E_USAGE, "%s is a list of texts", what);
    return 0;
}

static void
put_list (struct ag_buf *out, const char *key, struct ag_str list)
{
    ag_put_lit (out, key);
    ag_put_value (out, list.p ? list : AG_LIT ("\x90"));
}

static void
put_frame (const struct ag_goal *goal, struct ag_str id, struct ag_buf *out)
{
    ag_put_map (out, 5);
    ag_put_lit (out, "id");
    ag_put_text (out, id);
    ag_put_lit (out, "goal");
    ag_put_text (out, goal->text);
    put_list (out, "constraints", goal->constraints);
    put_list (out, "success_criteria", goal->success_criteria);
    put_list (out, "permissions", goal->permissions);
}

//  The event, in the frame when there is one.
static int
append (ag_journal_t *journal, struct ag_run *run, struct ag_str text, struct ag_str id,
        struct ag_str frame, uint64_t *seq, struct ag_err *err)
{
    struct ag_buf payload = {0};
    ag_put_map (&payload, id.p ? 2 : 1);
    ag_put_lit (&payload, "goal");
    ag_put_text (&payload, text);
    if (id.p) {
        ag_put_lit (&payload, "frame");
        ag_put_value (&payload, frame);
    }
    struct ag_draft draft = {.type = ag_type_name (AG_EV_GOAL_CREATED),
                             .payload = ag_buf_str (&payload),
                             .actor = AG_LIT ("user"),
                             .frame = id};
    int rc = ag_journal_append (journal, run, &draft, seq, err);
    ag_buf_fini (&payload);
    return rc;
}

static int
append_in_frame (ag_journal_t *journal, struct ag_run *run, const struct ag_goal *goal,
                 uint64_t *seq, struct ag_err *err)
{
    struct ag_minted minted = {run->mint, run->head.minted[AG_MINTED_FRAME] + 1};
    struct ag_buf id = {0}, raw = {0}, frame = {0}, note = {0};
    ag_minted_write (AG_MINTED_FRAME, (struct ag_str){0}, &minted, &id);
    put_frame (goal, ag_buf_str (&id), &raw);
    int rc = ag_value_normalise (ag_buf_str (&raw), &frame, err);
    if (!rc)
        rc = append (journal, run, goal->text, ag_buf_str (&id), ag_buf_str (&frame), seq, err);
    if (!rc) {
        name_note (ag_buf_str (&id), &note);
        ag_note_put (journal, run, ag_buf_str (&note), *seq, ag_buf_str (&frame));
    }
    ag_buf_fini (&id);
    ag_buf_fini (&raw);
    ag_buf_fini (&frame);
    ag_buf_fini (&note);
    return rc;
}

int
ag_goal_append (ag_journal_t *journal, struct ag_run *run, const struct ag_goal *goal,
                uint64_t *seq, struct ag_err *err)
{
    if (check_list ("constraints", goal->constraints, err) ||
        check_list ("success_criteria", goal->success_criteria, err) ||
        check_list ("permissions", goal->permissions, err))
        return -1;
    if (goal->constraints.p || goal->success_criteria.p || goal->permissions.p)
        return append_in_frame (journal, run, goal, seq, err);
    return append (journal, run, goal->text, (struct ag_str){0}, (struct ag_str){0}, seq, err);
}

int
ag_frame_write (ag_journal_t *journal, const struct ag_run *run, struct ag_str id,
                struct ag_buf *out, struct ag_err *err)
{
    struct ag_buf note = {0}, hold = {0};
    uint64_t seq;
    int rc = 0;
    if (id.p) {
        name_note (id, &note);
        rc = ag_note_get (journal, run, ag_buf_str (&note), run->head.tip, &hold, &seq, err);
    }
    if (rc > 0)
        ag_put_value (out, ag_buf_str (&hold));
    else
        ag_put_null (out);
    ag_buf_fini (&note);
    ag_buf_fini (&hold);
    return rc < 0 ? -1 : 0;
}
