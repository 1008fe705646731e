/*  house - what the floors of the supervisor above the log share; made by main, passed by pointer.
 *
 *  Each floor is opaque to the others but for its header. Runs are named by their numbers: a pointer to a
 *  run does not outlive a commit.
 *  SPDX-License-Identifier: Apache-2.0
 */
#ifndef AG_HOUSE_H
#define AG_HOUSE_H
#include "common/daemon.h"
#include "common/guard.h"
#include "common/spawn.h"
#include "common/zap.h"
#include "supervisor/journal.h"
#include "supervisor/outbox.h"

struct ag_house {
    struct ag_daemon *daemon;
    ag_journal_t *journal;
    ag_outbox_t *outbox;
    ag_nursery_t *nursery;
    void *broker_socket, *worker_socket;
    ag_guard_t *broker_guard, *worker_guard;
    ag_zap_t *zap;
    int32_t broker_pid;              //  as the nursery said; 0: not yet
    struct ag_queues *queues;        //  queue.h: events to invocations
    struct ag_workers *workers;      //  workers.h: who is at the worker socket
    struct ag_fleet *fleet;          //  fleet.h: units and their processes
    struct ag_commands *commands;    //  commands.h: requests of clients
    struct ag_ticket *replays;       //  replay.h: the first one
    struct ag_ticket *verifications; //  verification.h: the first one in line
    struct ag_trial *trials;         //  trial.h: the first one
    struct ag_tree *gone;            //  private.h: directories that are being taken away
    uint64_t fleet_run;              //  the fleet's own run
    struct ag_buf filters[2][2]; //  of programs, made at the first start: strict, with the network
    struct ag_err
        lacking; //  a code: there was no room to begin; without a journal: not even to open it
    struct {
        int64_t since_ms; //  the commit is put off since then; 0: it is not
        uint64_t timer;
    } put_off;
    bool full;    //  the disk is nearly full: nothing that writes is read
    bool broken;  //  the log could not be written: this process ends, the next one reads it anew
    bool leaving; //  the fleet goes down
};
#endif
