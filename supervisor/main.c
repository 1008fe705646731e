/*  agsup-supervisor --home DIR [--config FILE] - keeps the log; started by the nursery, never by hand.
 *  agsup-supervisor --repair FROM TO - for `agsup repair`: an answer on stdout, ok with the report or an error.
 *  SPDX-License-Identifier: Apache-2.0
 */
#include "common/answer.h"
#include "common/daemon.h"
#include "common/filter.h"
#include "common/log.h"
#include "supervisor/commands.h"
#include "supervisor/fleet.h"
#include "supervisor/replay.h"
#include "supervisor/trial.h"
#include "supervisor/import.h"
#include "supervisor/private.h"
#include "supervisor/queue.h"
#include "supervisor/repair.h"
#include "supervisor/turn.h"
#include "supervisor/verification.h"
#include "supervisor/workers.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

//  Started by hand it would take the socket of the living one away, before the store refuses it.
static int
check_parent (const struct ag_home *home, struct ag_err *err)
{
    pid_t holder = ag_home_holder (home, err);
    if (holder < 0 || holder == getppid())
        return holder < 0 ? -1 : 0;
    return ag_fail (err, AG_E_USAGE,
                    "agsup-supervisor is started by agsupd, which holds the home %s", home->dir);
}

static int
open_log (struct ag_house *house, ag_store_t **store, struct ag_err *err)
{
    *store = ag_store_rocks_new (house->daemon->home.data, err);
    if (!*store)
        return -1;
    house->journal = ag_journal_new (*store, err);
    return house->journal ? 0 : -1;
}

static void
make_floors (struct ag_house *house)
{
    house->outbox = ag_outbox_new();
    house->nursery = ag_nursery_new (AG_SPAWN_FD);
    house->queues = ag_queues_new (house);
    house->workers = ag_workers_new();
    house->fleet = ag_fleet_new (house);
    house->commands = ag_commands_new();
}

static void
end_floors (struct ag_house *house)
{
    ag_turn_end (house);
    ag_replays_destroy (house);
    ag_trials_destroy (house);
    ag_verifications_destroy (house);
    ag_queues_destroy (&house->queues);
    ag_workers_destroy (&house->workers);
    ag_fleet_destroy (&house->fleet);
    ag_private_end (house);
    ag_commands_destroy (&house->commands);
    ag_nursery_destroy (&house->nursery);
    ag_outbox_destroy (&house->outbox);
    for (int i = 0; i < 4; i++)
        ag_buf_fini (&house->filters[i / 2][i % 2]);
}

//  What the configuration names and what is wrong with that is final: a restart would find it again.
static int
begin_fleet (struct ag_house *house, const char *config, struct ag_err *err)
{
    if (!ag_fleet_begin (house, config, err))
        return 0;
    if (err->code == AG_E_PACK || err->code == AG_E_NOT_FOUND || err->code == AG_E_USAGE)
        err->code = AG_E_CONFIG;
    return -1;
}

//  Without room: what the log says, for those who read; nothing of this is written.
static void
begin_reading (struct ag_house *house)
{
    struct ag_run *fleet;
    struct ag_err err;
    ag_log_err (AG_ERROR, &house->lacking, "nothing is started or written until there is room");
    if (!house->journal || ag_run_find (house->journal, AG_LIT ("fleet"), &fleet, &err))
        return;
    struct ag_mark mark = ag_journal_mark (house->journal);
    if (ag_fleet_begin (house, NULL, &err))
        ag_log_err (AG_ERROR, &err, "the fleet cannot be shown");
    ag_journal_rollback (house->journal, &mark);
    ag_queues_forget_gone (house);
    ag_fleet_forget (house);
}

static int
begin (struct ag_house *house, const char *config, struct ag_err *err)
{
    if (house->journal && ag_turn_lacks_room (house, &house->lacking))
        house->full = true;
    if (house->lacking.code)
        begin_reading (house);
    else if (ag_import_sweep (house->journal, err) || begin_fleet (house, config, err) ||
             ag_journal_commit (house->journal, err))
        return -1;
    return ag_turn_begin (house, err);
}

static int
run (struct ag_house *house, const char *config, struct ag_err *err)
{
    ag_private_begin (house);
    if (begin (house, config, err) || ag_filter_enter (AG_FILTER_SUPERVISOR, err))
        return -1;
    if (!house->lacking.code) {
        ag_nursery_ready (house->nursery, AG_HOUSE_SUPERVISOR);
        ag_log (AG_INFO, "ready home=%s", house->daemon->home.dir);
    }
    if (ag_daemon_run (house->daemon, err))
        return -1;
    if (house->lacking.code && !house->leaving)
        return ag_fail (err, AG_E_DISK_FULL, "the next supervisor looks whether there is room");
    return house->broken ? ag_fail (err, AG_E_STORE, "the log could not be written") : 0;
}

static int
repair (const char *from, const char *to)
{
    struct ag_err err;
    struct ag_buf report = {0};
    int rc = ag_repair (from, to, &report, &err);
    if (rc)
        ag_answer_error (&report, (struct ag_str){0}, &err);
    fwrite (report.p, 1, report.n, stdout);
    ag_buf_fini (&report);
    return fflush (stdout) || rc ? 1 : 0;
}

int
main (int argc, char **argv)
{
    struct ag_err err;
    struct ag_daemon daemon;
    struct ag_house house = {.daemon = &daemon};
    ag_store_t *store = NULL;
    if (argc == 4 && !strcmp (argv[1], "--repair"))
        return repair (argv[2], argv[3]);
    bool told = argc == 3 || (argc == 5 && !strcmp (argv[3], "--config"));
    if (!told || strcmp (argv[1], "--home")) {
        ag_fail (&err, AG_E_USAGE,
                 "agsup-supervisor --home DIR [--config FILE] is started by agsupd");
        return ag_daemon_exit (&err);
    }
    mallopt (M_ARENA_MAX, 2); //  threads of libraries would each keep an arena
    if (ag_daemon_init (&daemon, "agsup-supervisor", argv[2], &err))
        return ag_daemon_exit (&err);
    int rc = check_parent (&daemon.home, &err) || ag_turn_listen (&house, &err)
                 ? -1
                 : open_log (&house, &store, &err);
    if (rc && err.code == AG_E_DISK_FULL)
        house.lacking = err;
    if (!rc || house.lacking.code) {
        make_floors (&house);
        rc = run (&house, argc == 5 ? argv[4] : NULL, &err);
        end_floors (&house);
    } else
        ag_turn_end (&house);
    ag_journal_destroy (&house.journal);
    ag_store_destroy (&store);
    ag_daemon_fini (&daemon);
    return rc ? ag_daemon_exit (&err) : 0;
}
