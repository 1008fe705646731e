//  Requests about the packs of runs.
//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/commands.h"
#include "supervisor/declared.h"
#include "supervisor/fleet.h"
#include "supervisor/queue.h"
#include "supervisor/record.h"
#include "supervisor/spec.h"
#include "supervisor/unit.h"

enum { LIST_RUNS = 1000, GRACE_MS = 5000 };

/*  What is in force  */

static void
put_pack (const struct ag_run *run, struct ag_str pack, struct ag_buf *out)
{
    static const char *const keys[] = {"name", "version", "description", "bundle_hash"};
    struct ag_str value, types = AG_LIT ("\x80");
    ag_put_map (out, 8);
    ag_put_pair_text (out, "run", ag_str (run->id));
    ag_put_pair_text (out, "label", ag_str (run->label));
    for (size_t i = 0; i < 4; i++) {
        ag_put_lit (out, keys[i]);
        if (ag_map_get (pack, keys[i], &value))
            ag_put_null (out);
        else
            ag_put_value (out, value);
    }
    ag_map_get (pack, "types", &types);
    ag_declared_put_names (types, out);
}

static int
put_packs (struct ag_command *command, const struct ag_run *run, uint32_t *count,
           struct ag_err *err)
{
    struct ag_buf spec = {0};
    struct ag_str pack, packs;
    uint64_t seq;
    int rc = ag_note_get (command->house->journal, run, AG_LIT ("spec"), run->head.tip, &spec, &seq,
                          err);
    if (rc > 0) {
        packs = ag_spec_packs (ag_buf_str (&spec));
        for (uint32_t i = 0; !ag_list_nth (packs, i, &pack); i++, ++*count)
            put_pack (run, pack, command->answer);
    }
    ag_buf_fini (&spec);
    return rc < 0 ? -1 : 0;
}

//  Of every run with processes: once each, by its first host.
static int
put_all_packs (struct ag_command *command, uint32_t *count, struct ag_err *err)
{
    struct ag_house *house = command->house;
    struct ag_run *run;
    uint32_t seen = 0;
    for (struct ag_unit *unit = ag_fleet_first (house); unit; unit = unit->next) {
        if (!unit->run || unit->host || unit->replay || seen++ >= LIST_RUNS)
            continue;
        if (ag_run_get (house->journal, unit->run, &run, err) ||
            put_packs (command, run, count, err))
            return -1;
    }
    return 0;
}

int
ag_command_packs (struct ag_command *command, struct ag_err *err)
{
    struct ag_str name = command->msg->packs.run;
    struct ag_run *run = NULL;
    if (name.p && ag_run_find (command->house->journal, name, &run, err))
        return -1;
    struct ag_answer answer = ag_command_begin (command);
    uint32_t count = 0;
    ag_answer_key (&answer, "packs");
    size_t list = ag_open_list (command->answer);
    int rc = run ? put_packs (command, run, &count, err) : put_all_packs (command, &count, err);
    ag_close (command->answer, list, count);
    ag_answer_end (&answer);
    return rc;
}

/*  Changes  */

//  The run starts with another spec from now on, and its script host anew.
static int
give (struct ag_command *command, struct ag_run *run, struct ag_str spec, uint32_t grace_ms,
      struct ag_err *err)
{
    struct ag_house *house = command->house;
    ag_note_put (house->journal, run, AG_LIT ("spec"), run->head.tip, spec);
    if (ag_queue_packs (house, run->number, err))
        return -1;
    for (struct ag_unit *unit = ag_fleet_first (house); unit; unit = unit->next) {
        if (unit->run != run->number || unit->replay)
            continue;
        ag_unit_set_spec (unit, spec);
        if (unit->inner)
            ag_unit_end (house, unit, AG_END_RESTART, grace_ms);
    }
    return 0;
}

//  {run, pack, version, bundle_hash, event_id, until_up, not_kept?}: of the pack that came last; event_id null when it
//  was in force already; until_up: the configuration says which packs the run has after the next one.
static void
answer_loaded (struct ag_command *command, const struct ag_run *run, struct ag_str spec,
               struct ag_str lost, uint64_t event)
{
    struct ag_answer answer = ag_command_begin (command);
    struct ag_str packs = ag_spec_packs (spec), pack = {0}, name = {0}, version = {0}, hash = {0};
    for (uint32_t i = 0; !ag_list_nth (packs, i, &pack); i++) {
        ag_map_text (pack, "name", &name);
        ag_map_text (pack, "version", &version);
        ag_map_text (pack, "bundle_hash", &hash);
    }
    ag_answer_key (&answer, "run");
    ag_put_lit (command->answer, run->id);
    ag_answer_key (&answer, "pack");
    ag_put_text (command->answer, name);
    ag_answer_key (&answer, "version");
    ag_put_text (command->answer, version);
    ag_answer_key (&answer, "bundle_hash");
    ag_put_text (command->answer, hash);
    ag_answer_key (&answer, "event_id");
    ag_put_evt (command->answer, event);
    ag_answer_key (&answer, "until_up");
    ag_put_bool (command->answer, ag_fleet_agent (command->house, run->label).p);
    ag_command_put_texts (&answer, "not_kept", lost);
    ag_answer_end (&answer);
}

int
ag_command_pack_load (struct ag_command *command, struct ag_err *err)
{
    const struct ag_msg_pack_load *msg = &command->msg->pack_load;
    ag_journal_t *journal = command->house->journal;
    const struct ag_str as_it_is = {0};
    struct ag_buf known = {0}, spec = {0}, lost = {0};
    struct ag_run *run;
    uint64_t seq;
    if (ag_command_run (command, msg->run, &run, err))
        return -1;
    uint64_t tip = run->head.tip;
    int rc = ag_note_get (journal, run, AG_LIT ("spec"), tip, &known, &seq, err);
    if (rc == 0)
        rc = ag_fail (err, AG_E_USAGE, "run %s has no packs", run->id);
    if (rc > 0)
        rc = ag_spec_of_fork (journal, ag_buf_str (&known), as_it_is, msg->packs, as_it_is, &lost,
                              &spec, err);
    if (!rc)
        rc = ag_spec_announce (journal, run, ag_buf_str (&spec), as_it_is, err);
    if (!rc && run->head.tip > tip) {
        rc = give (command, run, ag_buf_str (&spec), GRACE_MS, err);
        ag_fleet_due (command->house, run->number, 0); //  to say what it does now
    }
    if (!rc)
        answer_loaded (command, run, ag_buf_str (&spec), ag_buf_str (&lost),
                       run->head.tip > tip ? tip + 1 : 0);
    ag_buf_fini (&known);
    ag_buf_fini (&spec);
    ag_buf_fini (&lost);
    return rc;
}

static void
answer_change (struct ag_command *command, const struct ag_run *run, struct ag_str pack,
               const char *key, bool done)
{
    struct ag_answer answer = ag_command_begin (command);
    ag_answer_key (&answer, "run");
    ag_put_lit (command->answer, run->id);
    ag_answer_key (&answer, "pack");
    ag_put_text (command->answer, pack);
    ag_answer_key (&answer, key);
    ag_put_bool (command->answer, done);
    ag_answer_end (&answer);
}

//  Its process ends at once, whatever it is doing: what it had in hand is declined, the rest is not due any more.
int
ag_command_pack_disable (struct ag_command *command, struct ag_err *err)
{
    const struct ag_msg_pack_disable *msg = &command->msg->pack_disable;
    ag_journal_t *journal = command->house->journal;
    struct ag_buf known = {0}, spec = {0};
    struct ag_run *run;
    uint64_t seq;
    if (ag_command_run (command, msg->run, &run, err))
        return -1;
    int done = ag_spec_disable (journal, run, msg->pack, err), rc = done < 0 ? -1 : 0;
    if (done > 0)
        rc = ag_note_get (journal, run, AG_LIT ("spec"), run->head.tip, &known, &seq, err);
    if (rc > 0)
        rc = ag_spec_without (ag_buf_str (&known), msg->pack, &spec, err) ||
                     give (command, run, ag_buf_str (&spec), 0, err)
                 ? -1
                 : 0;
    if (!rc)
        answer_change (command, run, msg->pack, "disabled", done > 0);
    ag_buf_fini (&known);
    ag_buf_fini (&spec);
    return rc;
}
