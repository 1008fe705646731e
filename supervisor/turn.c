//  SPDX-License-Identifier: Apache-2.0
#include "supervisor/turn.h"
#include "common/log.h"
#include "common/net.h"
#include "supervisor/commands.h"
#include "supervisor/fleet.h"
#include "supervisor/hears.h"
#include "supervisor/private.h"
#include "supervisor/queue.h"
#include "supervisor/replay.h"
#include "supervisor/trial.h"
#include "supervisor/verification.h"
#include "supervisor/workers.h"

#include <assert.h>
#include <string.h>

enum {
    BEAT_MS = 1000,
    TICK_MS = 200,
    ROOM_MS = 1000,   //  between two looks for room,
    CLOSED_MS = 5000, //  and between two tries to open the store
    TRIAL_STEPS = 16, //  of a scenario that nobody reacts to, in one turn
    HWM = 10000,
    MESSAGE_BYTES = 20 << 20,
    MEMORY_BYTES = 512 << 20,
    ROOM_BYTES = 32 << 20,  //  beyond the store's reserve: more than a turn writes
    PUT_OFF_MS = 5,         //  that work inside the house waits for a sync, together with
    PUT_OFF_EVENTS = 4096,  //  at most so many events
    PUT_OFF_BYTES = 4 << 20 //  and bytes
};

static bool
read_broker (void *context)
{
    struct ag_house *house = context;
    struct ag_parts parts;
    struct ag_err err;
    int rc = ag_guard_recv (house->broker_guard, MESSAGE_BYTES, &parts, &err);
    if (rc > 0)
        ag_commands_message (house, &parts);
    if (rc < 0)
        ag_log_err (AG_ERROR, &err, "a message of the broker");
    if (rc)
        ag_parts_fini (&parts);
    return rc != 0;
}

static bool
read_workers (void *context)
{
    struct ag_house *house = context;
    struct ag_parts parts;
    struct ag_err err;
    int rc = ag_guard_recv (house->worker_guard, MESSAGE_BYTES, &parts, &err);
    if (rc > 0)
        ag_workers_message (house, &parts);
    ag_outbox_send_inner (house->outbox, ag_workers_lost,
                          house); //  its worker goes on beside the next one's message
    if (rc < 0)
        ag_workers_oversize (house, &parts, &err);
    if (rc)
        ag_parts_fini (&parts);
    return rc != 0;
}

//  The write failed, and whether it is on disk is not known. Clients get the reason (their request ids tell
//  later); everything else is read anew by the next supervisor, which the nursery starts.
static void
failed (struct ag_house *house, const struct ag_err *why)
{
    ag_log_err (AG_ERROR, why, "a turn was not written");
    ag_outbox_fail (house->outbox, why);
    house->broken = true;
    ag_loop_stop (house->daemon->loop);
}

//  While the disk is nearly full, workers and the nursery are not read from: what they say waits with them.
static void
set_full (struct ag_house *house, bool full)
{
    ag_loop_t *loop = house->daemon->loop;
    house->full = full;
    if (full) {
        ag_loop_remove_socket (loop, house->worker_socket);
        ag_loop_remove_fd (loop, ag_nursery_fd (house->nursery));
    } else {
        ag_loop_add_socket (loop, house->worker_socket, read_workers, house);
        ag_loop_add_fd (loop, ag_nursery_fd (house->nursery), ag_fleet_nursery, house);
    }
}

bool
ag_turn_lacks_room (struct ag_house *house, struct ag_err *err)
{
    return ag_store_room (ag_journal_store (house->journal), ROOM_BYTES, err) != 0;
}

static bool
has_room (struct ag_house *house)
{
    struct ag_err err;
    bool full = ag_turn_lacks_room (house, &err);
    if (full && !house->full)
        ag_log_err (AG_ERROR, &err, "writes wait");
    if (!full && house->full)
        ag_log (AG_INFO, "writes go on: there is room again");
    if (full != house->full)
        set_full (house, full);
    return !full;
}

static void
written (struct ag_house *house)
{
    ag_outbox_send (house->outbox, ag_workers_lost, house);
    ag_fleet_committed (house);
    ag_commands_publish (house);
    ag_verifications_pump (house);
    ag_commands_wake (house, false);
    assert (!ag_batch_bytes (
        ag_journal_batch (house->journal))); //  nothing is said before it is on disk
    ag_outbox_send (house->outbox, ag_workers_lost, house);
}

//  The turn's end does what is due by time.
static void
tick (void *context)
{
    struct ag_house *house = context;
    ag_nursery_flush (house->nursery);
}

//  Nobody waits for this turn's sync: it may be the next turns' too, for a moment.
static bool
put_off (struct ag_house *house)
{
    if (house->full || house->leaving || ag_journal_count (house->journal) >= PUT_OFF_EVENTS ||
        ag_batch_bytes (ag_journal_batch (house->journal)) >= PUT_OFF_BYTES)
        return false;
    int64_t now = ag_now_ms();
    if (!house->put_off.since_ms) {
        house->put_off.since_ms = now;
        house->put_off.timer = ag_loop_timer (house->daemon->loop, PUT_OFF_MS, 0, tick, house);
    }
    return now - house->put_off.since_ms < PUT_OFF_MS;
}

static void
commit (struct ag_house *house)
{
    struct ag_err err;
    if (house->put_off.since_ms)
        ag_loop_cancel (house->daemon->loop, house->put_off.timer);
    house->put_off.since_ms = 0;
    if (ag_journal_commit (house->journal, &err))
        failed (house, &err);
    else
        written (house);
}

//  A scenario that nobody reacts to goes on by itself, a few steps a turn.
static void
pump (struct ag_house *house)
{
    int steps = 0;
    ag_queues_pump (house);
    for (; steps < TRIAL_STEPS && ag_trials_pump (house); steps++)
        ag_queues_pump (house);
    if (steps == TRIAL_STEPS)
        ag_loop_again (house->daemon->loop, 0);
}

static void
turn_end (void *context)
{
    struct ag_house *house = context;
    if (has_room (house)) {
        ag_hears_deliver (house);
        pump (house);
        ag_replays_pump (house);
        ag_fleet_tick (house); //  after the queues, which say whose process is due
    }
    if (ag_private_pump (house))
        ag_loop_again (house->daemon->loop, 0);
    ag_commands_wake (house, true);
    bool inner = ag_outbox_is_inner (house->outbox);
    if (inner)
        ag_outbox_send (house->outbox, ag_workers_lost, house);
    if (!inner || !put_off (house))
        commit (house);
    if (ag_fleet_is_down (house))
        ag_loop_stop (house->daemon->loop);
}

static void
beat (void *context)
{
    struct ag_house *house = context;
    ag_commands_beat (house);
    ag_commands_sweep (house);
}

//  Only processes that the nursery made get past the handshake: the broker to its socket, a unit's tree to
//  the workers'. A process may be faster than the news of it.
static bool
is_expected (struct ag_house *house, bool worker, pid_t pid)
{
    if (!worker)
        return pid && pid == house->broker_pid;
    for (struct ag_unit *unit = ag_fleet_first (house); unit; unit = unit->next)
        if (ag_fleet_is_inside (pid, unit->pid))
            return true;
    return false;
}

static int
admit (void *context, struct ag_str domain, const struct ag_peer *peer, struct ag_err *err)
{
    struct ag_house *house = context;
    bool worker = ag_str_is (domain, "worker");
    bool expected = is_expected (house, worker, peer->pid);
    int64_t end_ms = ag_fleet_news_end();
    while (!expected && ag_fleet_news (house, end_ms))
        expected = is_expected (house, worker, peer->pid);
    if (expected)
        return 0;
    return ag_fail (err, AG_E_NOT_ALLOWED, "process %d is not one that the nursery made for this",
                    (int)peer->pid);
}

//  A socket that binds, its guard, its place on the loop.
static int
open_socket (struct ag_house *house, const char *path, mode_t mode, const char *domain,
             ag_ready_fn *read, void **socket, ag_guard_t **guard, struct ag_err *err)
{
    struct ag_net want = {.type = ZMQ_ROUTER, .hwm_in = HWM, .hwm_out = HWM, .domain = domain};
    struct ag_guard_limits limits = {MEMORY_BYTES, house->daemon->connections / 2};
    *socket = ag_net_socket (house->daemon->context, &want);
    if (read == read_broker)
        ag_net_watch (*socket);
    *guard = ag_guard_new (house->daemon->context, house->daemon->loop, *socket, limits);
    if (ag_net_bind (*socket, path, mode, err))
        return -1;
    ag_loop_add_socket (house->daemon->loop, *socket, read, house);
    return 0;
}

static void
close_socket (struct ag_house *house, const char *path, void **socket, ag_guard_t **guard)
{
    if (!*socket)
        return;
    ag_loop_remove_socket (house->daemon->loop, *socket);
    ag_guard_destroy (guard);
    ag_net_unbind (*socket, path);
    zmq_close (*socket);
    *socket = NULL;
}

//  There was no room to begin: the end of this supervisor is how the next one looks again.
static void
try_again (void *context)
{
    struct ag_house *house = context;
    struct ag_err err;
    if (!house->journal || !ag_turn_lacks_room (house, &err))
        ag_loop_stop (house->daemon->loop);
}

static void
reading_turn_end (void *context)
{
    struct ag_house *house = context;
    if (house->journal) {
        ag_verifications_pump (house);
        ag_commands_wake (house, false);
    }
    ag_outbox_send (house->outbox, ag_workers_lost, house);
    if (ag_fleet_is_down (house))
        ag_loop_stop (house->daemon->loop);
}

static void
begin_without_room (struct ag_house *house)
{
    ag_loop_t *loop = house->daemon->loop;
    int64_t look_ms = house->journal ? ROOM_MS : CLOSED_MS;
    ag_loop_timer (loop, look_ms, look_ms, try_again, house);
    ag_loop_timer (loop, TICK_MS, TICK_MS, tick, house);
    ag_loop_at_turn_end (loop, reading_turn_end, house);
}

int
ag_turn_listen (struct ag_house *house, struct ag_err *err)
{
    struct ag_daemon *daemon = house->daemon;
    house->zap = ag_zap_new (daemon->context, daemon->loop, admit, house, err);
    if (!house->zap)
        return -1;
    return open_socket (house, daemon->home.broker, 0600, "broker", read_broker,
                        &house->broker_socket, &house->broker_guard, err);
}

int
ag_turn_begin (struct ag_house *house, struct ag_err *err)
{
    ag_loop_t *loop = house->daemon->loop;
    const struct ag_home *home = &house->daemon->home;
    ag_loop_add_fd (loop, ag_nursery_fd (house->nursery), ag_fleet_nursery, house);
    if (house->lacking.code) {
        begin_without_room (house);
        return 0;
    }
    if (open_socket (house, home->worker, 0666, "worker", read_workers, &house->worker_socket,
                     &house->worker_guard, err))
        return -1;
    ag_loop_timer (loop, BEAT_MS, BEAT_MS, beat, house);
    ag_loop_timer (loop, TICK_MS, TICK_MS, tick, house);
    ag_loop_at_turn_end (loop, turn_end, house);
    return 0;
}

void
ag_turn_end (struct ag_house *house)
{
    const struct ag_home *home = &house->daemon->home;
    if (house->put_off.since_ms && !house->broken)
        commit (house);
    close_socket (house, home->broker, &house->broker_socket, &house->broker_guard);
    close_socket (house, home->worker, &house->worker_socket, &house->worker_guard);
    ag_zap_destroy (&house->zap);
}
