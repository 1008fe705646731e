//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/fleet.h"
#include "common/conf.h"
#include "common/items.h"
#include "common/log.h"
#include "supervisor/cursor.h"
#include "supervisor/fleet_inside.h"
#include "supervisor/private.h"
#include "supervisor/record.h"
#include "supervisor/remark.h"
#include "supervisor/retention.h"
#include "supervisor/spec.h"
#include "supervisor/trial.h"
#include "supervisor/unit.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DISMISS_MS = 5000 }; //  until a discarded fork's processes are ended by force

struct ag_fleet *
ag_fleet_new (struct ag_house *house)
{
    struct ag_fleet *self = ag_xcalloc (1, sizeof *self);
    self->end = &self->first;
    if (house->journal)
        self->next_child = ag_store_epoch (ag_journal_store (house->journal)) << 24 | 1;
    return self;
}

void
ag_fleet_destroy (struct ag_fleet **self_p)
{
    struct ag_fleet *self = *self_p;
    if (!self)
        return;
    HASH_CLEAR (by_place, self->by_place);
    HASH_CLEAR (by_child, self->by_child);
    for (struct ag_unit *unit = self->first, *next; unit; unit = next) {
        next = unit->next;
        ag_unit_free (unit);
    }
    ag_buf_fini (&self->conf);
    free (self->ended);
    free (self);
    *self_p = NULL;
}

struct ag_unit *
ag_fleet_first (struct ag_house *house)
{
    return house->fleet->first;
}

static uint64_t
place_of (uint64_t run, uint32_t host)
{
    assert (run < UINT64_C (1) << 56 && host < 256);
    return run << 8 | host;
}

struct ag_unit *
ag_fleet_unit (struct ag_house *house, uint64_t run, uint32_t host)
{
    struct ag_unit *unit;
    uint64_t place = place_of (run, host);
    HASH_FIND (by_place, house->fleet->by_place, &place, sizeof place, unit);
    return unit;
}

struct ag_unit *
ag_fleet_named (struct ag_house *house, struct ag_str name)
{
    for (struct ag_unit *unit = house->fleet->first; unit; unit = unit->next)
        if (!unit->replay && ag_str_is (name, unit->name))
            return unit;
    return NULL;
}

struct ag_unit *
ag_fleet_by_nonce (struct ag_house *house, struct ag_str nonce)
{
    for (struct ag_unit *unit = house->fleet->first; unit; unit = unit->next)
        if (unit->child && ag_same_secret (nonce, ag_str (unit->nonce)))
            return unit;
    return NULL;
}

struct ag_unit *
ag_fleet_child (struct ag_house *house, uint64_t child)
{
    struct ag_unit *unit;
    HASH_FIND (by_child, house->fleet->by_child, &child, sizeof child, unit);
    return unit;
}

void
ag_unit_set_child (struct ag_fleet *fleet, struct ag_unit *unit, uint64_t child)
{
    if (unit->child)
        HASH_DELETE (by_child, fleet->by_child, unit);
    unit->child = child;
    if (child)
        HASH_ADD (by_child, fleet->by_child, child, sizeof unit->child, unit);
}

static struct ag_unit *
append (struct ag_house *house, const char *name, uint64_t run, uint32_t host, struct ag_str spec)
{
    struct ag_unit *unit = ag_unit_new (house, name, run, host);
    struct ag_fleet *fleet = house->fleet;
    *fleet->end = unit;
    fleet->end = &unit->next;
    ag_unit_set_spec (unit, spec);
    return unit;
}

static struct ag_unit *
add (struct ag_house *house, const char *name, uint64_t run, uint32_t host, struct ag_str spec)
{
    struct ag_unit *unit = append (house, name, run, host, spec);
    unit->place = place_of (run, host);
    if (run)
        HASH_ADD (by_place, house->fleet->by_place, place, sizeof unit->place, unit);
    return unit;
}

struct ag_unit *
ag_fleet_hide (struct ag_house *house, const char *name, uint64_t run, uint32_t host,
               struct ag_str spec)
{
    struct ag_unit *unit = append (house, name, run, host, spec);
    unit->wanted = true;
    return unit;
}

//  What an operator last wished for a unit; wanted unless it said otherwise.
static int
read_wanted (struct ag_house *house, struct ag_unit *unit, bool otherwise, struct ag_err *err)
{
    struct ag_run *fleet;
    char name[AG_UNIT_NAME + 8];
    uint64_t value = otherwise;
    snprintf (name, sizeof name, "wanted/%s", unit->name);
    if (ag_run_get (house->journal, house->fleet_run, &fleet, err) ||
        ag_count_get (house->journal, house->fleet_run, ag_str (name), &value, err) < 0)
        return -1;
    unit->wanted = value == 1;
    if (!unit->wanted)
        ag_unit_move (house, unit, AG_WHAT_STOP);
    return 0;
}

int
ag_fleet_want (struct ag_house *house, struct ag_unit *unit, bool wanted, struct ag_err *err)
{
    (void)err;
    char name[AG_UNIT_NAME + 8];
    struct ag_buf extra = {0};
    snprintf (name, sizeof name, "wanted/%s", unit->name);
    ag_count_put (house->journal, house->fleet_run, ag_str (name), wanted ? 1 : 2);
    ag_put_lit (&extra, "wanted");
    ag_put_bool (&extra, wanted);
    ag_unit_tell (house, unit, AG_EV_AGENT_WANTED, ag_buf_str (&extra), 1);
    ag_buf_fini (&extra);
    unit->wanted = wanted;
    house->fleet->stirred = true;
    return 0;
}

//  What was off with a unit when it last ran, before it runs again.
static void
recall (struct ag_house *house, struct ag_run *run)
{
    for (uint32_t host = 0; host < AG_HOSTS; host++) {
        struct ag_unit *unit = ag_fleet_unit (house, run->number, host);
        struct ag_buf remark = {0};
        if (!unit || unit->remark[0])
            continue;
        ag_remark_policy (house, unit, &remark);
        ag_remark_set (unit, ag_buf_str (&remark));
        ag_buf_fini (&remark);
    }
}

//  The units of a run, one a host, named after its label or id; a second host's name says what it is.
int
ag_fleet_adopt (struct ag_house *house, struct ag_run *run, bool wanted, struct ag_err *err)
{
    struct ag_buf spec = {0};
    struct ag_str hosts, host, kind, hears;
    uint64_t seq;
    int rc = ag_note_get (house->journal, run, AG_LIT ("spec"), run->head.tip, &spec, &seq, err);
    if (rc > 0 && ag_map_get (ag_buf_str (&spec), "hosts", &hosts))
        rc = ag_fail (err, AG_E_CORRUPT, "the spec of run %s names no hosts", run->id);
    const char *name = run->label[0] ? run->label : run->id;
    for (uint32_t i = 0; rc > 0 && i < AG_HOSTS; i++) {
        char text[AG_UNIT_NAME];
        if (ag_list_nth (hosts, i, &host) || ag_map_text (host, "kind", &kind))
            break;
        if (ag_fleet_unit (house, run->number, i))
            continue;
        snprintf (text, sizeof text, i ? "%s.%.*s" : "%s", name, AG_STR_ARG (kind));
        struct ag_unit *unit = add (house, text, run->number, i, ag_buf_str (&spec));
        unit->fork = run->parent != 0;
        unit->hears = i == 0 && !run->parent && !ag_map_get (ag_buf_str (&spec), "hears", &hears) &&
                      !ag_list_nth (hears, 0, &hears);
        rc = read_wanted (house, unit, wanted, err) ? -1 : 1;
    }
    ag_buf_fini (&spec);
    if (rc > 0) {
        ag_queues_touch (house, run->number);
        recall (house, run);
    }
    return rc < 0 ? -1 : 0;
}

//  A unit that is out of the list already.
static void
drop (struct ag_house *house, struct ag_unit *unit)
{
    if (unit->child) //  asked for in the turn that failed
        ag_nursery_kill (house->nursery, unit->child, 0);
    ag_unit_set_child (house->fleet, unit, 0);
    if (!unit->replay)
        HASH_DELETE (by_place, house->fleet->by_place, unit);
    ag_session_end (house, &unit->session);
    ag_private_remove (house, unit);
    ag_unit_free (unit);
}

static bool
is_done_with (struct ag_house *house, const struct ag_unit *unit)
{
    return unit->run && !unit->replay &&
           (ag_run_is_gone (house->journal, unit->run) || (unit->dismissed && !unit->child));
}

void
ag_fleet_forget (struct ag_house *house)
{
    struct ag_unit **at = &house->fleet->first;
    while (*at) {
        struct ag_unit *unit = *at;
        if (is_done_with (house, unit)) {
            *at = unit->next;
            drop (house, unit);
        } else
            at = &unit->next;
    }
    house->fleet->end = at;
}

void
ag_fleet_dismiss (struct ag_house *house, const struct ag_run *run)
{
    char key[AG_UNIT_NAME + 8];
    for (uint32_t host = 0; host < AG_HOSTS; host++) {
        struct ag_unit *unit = ag_fleet_unit (house, run->number, host);
        if (!unit)
            continue;
        snprintf (key, sizeof key, "wanted/%s", unit->name);
        ag_count_drop (house->journal, house->fleet_run, ag_str (key));
        snprintf (unit->name, sizeof unit->name, unit->host ? "%s.program" : "%s", run->id);
        unit->wanted = false;
        unit->dismissed = true;
        ag_unit_end (house, unit, AG_END_STOP, DISMISS_MS);
    }
    ag_fleet_forget (house);
}

void
ag_fleet_drop (struct ag_house *house, struct ag_unit *unit)
{
    struct ag_unit **at = &house->fleet->first;
    while (*at != unit)
        at = &(*at)->next;
    *at = unit->next;
    if (!*at)
        house->fleet->end = at;
    drop (house, unit);
}

static int
append_goal (struct ag_house *house, struct ag_run *run, struct ag_str agent, struct ag_err *err)
{
    struct ag_str goal, last = {0};
    struct ag_buf hold = {0}, payload = {0};
    uint64_t seq;
    if (ag_map_text (agent, "goal", &goal))
        return 0;
    int rc = ag_note_get (house->journal, run, AG_LIT ("goal"), run->head.tip, &hold, &seq, err);
    if (rc > 0)
        ag_map_text (ag_buf_str (&hold), "goal", &last);
    ag_put_map (&payload, 1);
    ag_put_lit (&payload, "goal");
    ag_put_text (&payload, goal);
    struct ag_draft draft = {.type = ag_type_name (AG_EV_GOAL_CREATED),
                             .payload = ag_buf_str (&payload),
                             .actor = AG_LIT ("user")};
    if (rc >= 0 && !ag_str_eq (goal, last)) {
        rc = ag_journal_append (house->journal, run, &draft, &seq, err);
        if (!rc)
            ag_note_put (house->journal, run, AG_LIT ("goal"), seq, ag_buf_str (&payload));
    }
    ag_buf_fini (&hold);
    ag_buf_fini (&payload);
    return rc < 0 ? -1 : 0;
}

//  The run of an agent: found by its label, or made. What its workers start with is noted anew when the
//  configuration says something else than before.
static int
begin_agent (struct ag_house *house, struct ag_str name, struct ag_str agent, bool configured,
             struct ag_err *err)
{
    struct ag_run *run;
    struct ag_buf spec = {0}, known = {0};
    struct ag_birth birth = {.label = name};
    bool other = false;
    uint64_t seq;
    int rc = ag_run_find (house->journal, name, &run, err);
    if (rc && err->code == AG_E_NOT_FOUND)
        rc = ag_run_create (house->journal, &birth, &run, err);
    if (!rc && configured) {
        rc = ag_spec_of_agent (house->journal, name, agent, ag_fleet_base (house), &spec, err);
        int noted = rc ? -1
                       : ag_note_get (house->journal, run, AG_LIT ("spec"), run->head.tip, &known,
                                      &seq, err);
        if (noted < 0)
            rc = -1;
        else if (!noted || !ag_value_equal (ag_buf_str (&spec), ag_buf_str (&known))) {
            other = true;
            rc =
                ag_spec_announce (house->journal, run, ag_buf_str (&spec), (struct ag_str){0}, err);
            if (!rc)
                ag_note_put (house->journal, run, AG_LIT ("spec"), run->head.tip,
                             ag_buf_str (&spec));
        }
        if (!rc)
            rc = append_goal (house, run, agent, err);
    }
    if (!rc)
        rc = ag_fleet_adopt (house, run, true, err);
    for (uint32_t host = 0; !rc && other && host < AG_HOSTS; host++)
        ag_fleet_due (house, run->number, host); //  to say what it does now
    ag_buf_fini (&spec);
    ag_buf_fini (&known);
    return rc ? ag_wrap (err, "agent %.*s", AG_STR_ARG (name)) : 0;
}

//  A service that the nursery kept through our restart is known by its child's number.
static int
begin_service (struct ag_house *house, struct ag_str name, struct ag_str service, bool configured,
               struct ag_err *err)
{
    (void)configured;
    char *text = ag_str_dup (name);
    struct ag_unit *unit = add (house, text, 0, 0, service);
    free (text);
    char key[AG_UNIT_NAME + 8];
    uint64_t child = 0;
    snprintf (key, sizeof key, "child/%s", unit->name);
    if (ag_count_get (house->journal, house->fleet_run, ag_str (key), &child, err) < 0)
        return -1;
    ag_unit_set_child (house->fleet, unit, child);
    unit->due = true;
    return read_wanted (house, unit, true, err);
}

struct ag_str
ag_fleet_agent (const struct ag_house *house, const char *name)
{
    struct ag_str agents, agent;
    if (ag_map_get (ag_buf_str (&house->fleet->conf), "agent", &agents) ||
        ag_map_get (agents, name, &agent))
        return (struct ag_str){0};
    return agent;
}

typedef int begin_fn (struct ag_house *, struct ag_str, struct ag_str, bool, struct ag_err *);

static int
begin_each (struct ag_house *house, const char *section, begin_fn *begin, bool configured,
            struct ag_err *err)
{
    struct ag_str table = {0}, name, entry;
    ag_map_get (ag_buf_str (&house->fleet->conf), section, &table);
    for (struct ag_items pairs = ag_pairs_of (table); ag_pairs_next (&pairs, &name, &entry);)
        if (begin (house, name, entry, configured, err))
            return -1;
    return 0;
}

static int
append_configured (struct ag_house *house, struct ag_run *fleet, struct ag_err *err)
{
    struct ag_buf payload = {0};
    struct ag_str conf = ag_buf_str (&house->fleet->conf);
    uint8_t hash[AG_HASH];
    char hex[2 * AG_HASH + 1];
    uint64_t seq;
    ag_value_hash (conf, (struct ag_str){0}, hash);
    ag_hex (hash, sizeof hash, hex);
    ag_put_map (&payload, 2);
    ag_put_lit (&payload, "config");
    ag_put_value (&payload, conf);
    ag_put_lit (&payload, "hash");
    ag_put_lit (&payload, hex);
    if (ag_journal_tell (house->journal, fleet, AG_EV_FLEET_CONFIGURED, 0, &payload, &seq, err))
        return -1;
    ag_note_put (house->journal, fleet, AG_LIT ("config"), seq, conf);
    return 0;
}

//  The file when this is the first start of an `up`; else what the log says was in force.
static int
configure (struct ag_house *house, struct ag_run *fleet, const char *path, struct ag_err *err)
{
    struct ag_buf problems = {0};
    uint64_t seq;
    int rc;
    if (!path) {
        rc = ag_note_get (house->journal, fleet, AG_LIT ("config"), fleet->head.tip,
                          &house->fleet->conf, &seq, err);
        return rc < 0 ? -1 : 0;
    }
    rc = ag_conf_load (path, &house->fleet->conf, &problems, err);
    if (rc && problems.n)
        ag_log (AG_ERROR, "%.*s", (int)problems.n, (const char *)problems.p);
    ag_buf_fini (&problems);
    return rc ? -1 : append_configured (house, fleet, err);
}

//  Forks of the fleet's agents that an earlier supervisor ran.
struct revival {
    struct ag_house *house;
    struct ag_err *err;
    int rc;
};

static bool
revive (void *arg, struct ag_str name)
{
    struct revival *revival = arg;
    struct ag_run *run;
    struct ag_str id = {name.p + 5, name.n - 5}; //  after "fork/"
    revival->rc = ag_run_find (revival->house->journal, id, &run, revival->err);
    if (!revival->rc && !run->discarded)
        revival->rc = ag_fleet_adopt (revival->house, run, true, revival->err);
    return !revival->rc;
}

static int
begin_forks (struct ag_house *house, struct ag_run *fleet, struct ag_err *err)
{
    struct revival revival = {house, err, 0};
    if (ag_note_scan (house->journal, fleet, AG_LIT ("fork/"), fleet->head.tip, revive, &revival,
                      err))
        return -1;
    return revival.rc;
}

int
ag_fleet_begin (struct ag_house *house, const char *path, struct ag_err *err)
{
    struct ag_run *fleet;
    struct ag_birth birth = {.label = AG_LIT ("fleet")};
    int rc = ag_run_find (house->journal, birth.label, &fleet, err);
    if (rc && err->code == AG_E_NOT_FOUND)
        rc = ag_run_create (house->journal, &birth, &fleet, err);
    if (rc)
        return -1;
    house->fleet_run = fleet->number;
    if (configure (house, fleet, path, err) ||
        begin_each (house, "service", begin_service, path, err) ||
        begin_each (house, "agent", begin_agent, path, err) || begin_forks (house, fleet, err) ||
        ag_trials_close (house, err))
        return -1;
    house->fleet->stirred = true;
    return 0;
}

void
ag_fleet_due (struct ag_house *house, uint64_t run, uint32_t host)
{
    struct ag_unit *unit = ag_fleet_unit (house, run, host);
    if (unit)
        ag_unit_is_due (house, unit);
}

void
ag_unit_is_due (struct ag_house *house, struct ag_unit *unit)
{
    house->fleet->stirred = house->fleet->stirred || !unit->due;
    unit->due = true;
}

static uint64_t
setting (const struct ag_unit *unit, const char *table, const char *key)
{
    struct ag_str map;
    uint64_t number;
    if (ag_map_get (ag_buf_str (&unit->spec), table, &map) || ag_map_uint (map, key, &number))
        return 0;
    return number;
}

uint64_t
ag_unit_net (const struct ag_unit *unit, const char *key)
{
    return setting (unit, "nets", key);
}

uint64_t
ag_unit_restart (const struct ag_unit *unit, const char *key)
{
    return setting (unit, "restart", key);
}

uint32_t
ag_unit_attempts (const struct ag_unit *unit)
{
    uint64_t attempts;
    return ag_map_uint (ag_buf_str (&unit->spec), "attempts", &attempts) ? 3 : (uint32_t)attempts;
}

void
ag_fleet_uids (struct ag_house *house, uint64_t *first, uint64_t *last)
{
    struct ag_str uids;
    *first = *last = 62000;
    if (!ag_map_get (ag_buf_str (&house->fleet->conf), "uids", &uids)) {
        ag_map_uint (uids, "first", first);
        ag_map_uint (uids, "last", last);
    }
}

struct ag_str
ag_fleet_base (struct ag_house *house)
{
    struct ag_str base = {0};
    ag_map_text (ag_buf_str (&house->fleet->conf), "base", &base);
    return base;
}
