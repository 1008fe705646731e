//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/unit.h"
#include "common/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DELAY_FIRST_MS = 100, DELAY_MOST_MS = 30000, SILENT_S = 5 };

static const char *const state_names[] = {
#define STATE(NAME, name, doc) name,
#define MOVE(state, what, next)
#include "schemas/states.def"
};

static const struct {
    enum ag_unit_state state;
    enum ag_unit_what what;
    enum ag_unit_state next;
} moves[] = {
#define STATE(NAME, name, doc)
#define MOVE(state, what, next) {AG_UNIT_##state, AG_WHAT_##what, AG_UNIT_##next},
#include "schemas/states.def"
};

const char *
ag_unit_state_name (enum ag_unit_state state)
{
    return state_names[state];
}

void
ag_unit_move (struct ag_house *house, struct ag_unit *unit, enum ag_unit_what what)
{
    (void)house;
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        if (moves[i].state == unit->state && moves[i].what == what) {
            unit->state = moves[i].next;
            unit->since_ms = ag_now_ms();
            if (what == AG_WHAT_HELLO) //  this start did not fail
                unit->failed = 0;
            return;
        }
}

bool
ag_unit_is_coming (const struct ag_unit *unit)
{
    bool will = unit->state == AG_UNIT_PARKED || unit->state == AG_UNIT_WAITING ||
                unit->state == AG_UNIT_BACKOFF || unit->ending == AG_END_IDLE;
    return unit->state == AG_UNIT_STARTING ||
           (unit->wanted && (unit->ending == AG_END_RESTART || (unit->due && will)));
}

void
ag_unit_mend (char *words)
{
    for (size_t at = strlen (words); at > 0 && !ag_utf8 (ag_str (words)); at--)
        if (words[at - 1] & 0x80)
            words[at - 1] = '?';
}

//  What has not come yet of one that starts.
static const char *
awaited (const struct ag_unit *unit)
{
    return !unit->run      ? "is not ready"
           : unit->session ? "has not loaded its packs"
                           : "has not said hello";
}

void
ag_unit_why (const struct ag_unit *unit, struct ag_buf *out)
{
    int64_t silent_s = (ag_now_ms() - unit->since_ms) / 1000;
    bool starts = unit->state == AG_UNIT_STARTING && !unit->reason[0];
    bool silent = starts && unit->pid && silent_s >= SILENT_S;
    ag_buf_text (out, "%s", unit->reason);
    if (silent)
        ag_buf_text (out, "it %s for %d s", awaited (unit), (int)silent_s);
    if (silent && unit->run && !unit->trial) //  those have times of their own
        ag_buf_text (out, "; it is given %d", AG_HELLO_MS / 1000);
    if (starts && unit->failed)
        ag_buf_text (out, "%sits last start failed: %s", silent ? "; " : "", unit->failure);
}

struct ag_unit *
ag_unit_new (struct ag_house *house, const char *name, uint64_t run, uint32_t host)
{
    struct ag_unit *unit = ag_xcalloc (1, sizeof *unit);
    snprintf (unit->name, sizeof unit->name, "%s", name);
    unit->run = run;
    unit->host = host;
    unit->budget = ag_budget_of (AG_LIT ("")); //  no limits, as long as no spec says any
    unit->since_ms = ag_now_ms();
    unit->output = ag_output_new (house->daemon->home.log, name, house->daemon->loop);
    return unit;
}

void
ag_unit_set_spec (struct ag_unit *unit, struct ag_str spec)
{
    ag_buf_clear (&unit->spec);
    ag_buf_add_str (&unit->spec, spec);
    unit->budget = ag_budget_of (spec);
}

void
ag_unit_free (struct ag_unit *unit)
{
    ag_output_destroy (&unit->output);
    ag_buf_fini (&unit->spec);
    free (unit);
}

void
ag_unit_tell (struct ag_house *house, const struct ag_unit *unit, enum ag_type type,
              struct ag_str extra, uint32_t extra_count)
{
    struct ag_buf payload = {0};
    struct ag_run *run = NULL, *fleet;
    struct ag_err err;
    int rc = unit->run ? ag_run_get (house->journal, unit->run, &run, &err) : 0;
    ag_put_map (&payload, 3 + extra_count);
    ag_put_lit (&payload, "name");
    ag_put_lit (&payload, unit->name);
    ag_put_lit (&payload, "run");
    if (run)
        ag_put_lit (&payload, run->id);
    else
        ag_put_null (&payload);
    ag_put_lit (&payload, "host");
    ag_put_uint (&payload, unit->host);
    ag_buf_add_str (&payload, extra);
    if (rc || ag_run_get (house->journal, house->fleet_run, &fleet, &err) ||
        ag_journal_tell (house->journal, fleet, type, 0, &payload, NULL, &err))
        ag_log_err (AG_ERROR, &err, "an event of a unit is not in the fleet's log");
    ag_buf_fini (&payload);
}

//  How many of the remembered deaths lie within the period.
static uint32_t
recent (const struct ag_unit *unit, int64_t now, uint64_t within_ms)
{
    uint32_t count = 0;
    uint32_t kept = unit->death_count < AG_UNIT_DEATHS ? unit->death_count : AG_UNIT_DEATHS;
    for (uint32_t i = 0; i < kept; i++)
        count += now - unit->deaths[i] <= (int64_t)within_ms;
    return count;
}

int64_t
ag_unit_delay (struct ag_unit *unit, uint64_t at_most, uint64_t within_ms)
{
    int64_t now = ag_now_ms();
    unit->deaths[unit->death_count++ % AG_UNIT_DEATHS] = now;
    unit->failed = unit->state == AG_UNIT_STARTING ? unit->failed + 1 : 0;
    uint32_t deaths = recent (unit, now, within_ms);
    if (deaths > at_most)
        return -1;
    if (deaths <= 1 && unit->failed <= 1) //  the first in a period is answered at once
        unit->delay_ms = 0;
    else if (unit->delay_ms == 0)
        unit->delay_ms = DELAY_FIRST_MS;
    else
        unit->delay_ms = 2 * unit->delay_ms < DELAY_MOST_MS ? 2 * unit->delay_ms : DELAY_MOST_MS;
    uint32_t quarter = unit->delay_ms / 4, dice;
    ag_random (&dice, sizeof dice);
    return unit->delay_ms - quarter + (quarter ? dice % (2 * quarter) : 0);
}
